#!/usr/bin/env python3
"""Search a model's whole state space with Spin.

Builds the verifier for one model and one set of macros, runs it, and says whether
the outcome is the expected one: no error in a search that was complete, or, for a
mutation, an error.  A search that was cut short is always a failure.

    run.py remote_free.pml DOUBLE REUSE         expect none
    run.py --mutation remote_free.pml EXIT DROP_PUSH    expect an error
    run.py --trace remote_free.pml DOUBLE LATE_CLEAR    print how it comes to that

Exit status: 0 as expected, 1 not so, 77 Spin or a compiler is missing (skipped).
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
# Words of the verifier that mean "not everything was searched".
CUT_SHORT = ("max search depth too small", "Search not completed", "out of memory",
             "reached -DMEMLIM", "memory limit", "hash-table full")


def fail(text):
    print(text)
    sys.exit(1)


def build(args, folder, more=()):
    """Make the verifier; `more` macros go to Spin, -DREACH for them to find short traces."""
    model = os.path.abspath(args.model)
    macros = ["-D" + m for m in [*args.macro, *more]]
    made = subprocess.run([args.spin, "-a", *macros, model], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode or not os.path.exists(os.path.join(folder, "pan.c")):
        fail("spin -a failed:\n" + made.stdout)
    # NOREDUCE: every step is on shared variables, and "provided" clauses rule the
    # reduction out.  SAFETY: no search for cycles.
    command = [*shlex.split(args.cc), "-O0" if args.mutation else "-O2", "-w", "-DSAFETY",
               "-DNOREDUCE", "-DMEMLIM=%d" % args.memory_mib, "-o", "pan", "pan.c"]
    if args.collapse:
        command.insert(-3, "-DCOLLAPSE")
    if more:
        command.insert(-3, "-DREACH")
    made = subprocess.run(command, cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode:
        fail(shlex.join(command) + " failed:\n" + made.stdout)


def search(args, folder, *flags):
    # A run of DOUBLE ends with the report; nobody can move then, and that is right.
    command = ["./pan", "-m%d" % args.depth, "-w20" if args.mutation else "-w24", *flags]
    if "DOUBLE" in args.macro:
        command.append("-E")
    ran = subprocess.run(command, cwd=folder, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ran.stdout


def print_trace(args, folder):
    """Search again for a short trace, with a model that tells what it does."""
    build(args, folder, ["TRACE"])
    search(args, folder, "-I")
    model = os.path.basename(args.model)
    shutil.copy2(args.model, folder)
    ran = subprocess.run([args.spin, "-t", "-T", *["-D" + m for m in args.macro], "-DTRACE",
                          model], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(ran.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("macro", nargs="*", help="NAME or NAME=VALUE")
    parser.add_argument("--mutation", action="store_true", help="an error is expected")
    parser.add_argument("--trace", action="store_true", help="print the error's trace")
    parser.add_argument("--depth", type=int, default=8000000, help="longest path searched")
    parser.add_argument("--memory-mib", type=int, default=3500)
    parser.add_argument("--collapse", action="store_true", help="less memory, more time")
    parser.add_argument("--spin", default="spin")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    args = parser.parse_args()

    for tool in (args.spin, shlex.split(args.cc)[0]):
        if not shutil.which(tool):
            print("skipped: %s is not installed" % tool)
            sys.exit(SKIP)

    with tempfile.TemporaryDirectory(prefix="nacre-model-") as folder:
        build(args, folder)
        out = search(args, folder)
        errors = re.search(r"errors: (\d+)", out)
        states = re.search(r"(\d+) states, stored", out)
        if not errors or not states:
            fail("no outcome:\n" + out)
        depth = re.search(r"depth reached (\d+)", out).group(1)
        memory = re.search(r"([\d.]+)\s+total actual memory", out)
        took = re.search(r"elapsed time ([\d.e+]+)", out)
        print("%s %s: %s states, depth %s, %s MiB, %s s, errors: %s" % (
            os.path.basename(args.model), " ".join(args.macro), states.group(1), depth,
            memory.group(1) if memory else "?", took.group(1) if took else "?",
            errors.group(1)))
        found = int(errors.group(1)) > 0
        if found:
            print("\n".join(re.findall(r"^pan:1:.*|^pan: invalid.*", out, re.M)))
        if found and (args.trace or not args.mutation):
            print_trace(args, folder)
        if args.mutation:
            if not found:
                fail("the mutation was not noticed")
        elif found:
            fail("the protocol does not hold")
        elif any(words in out for words in CUT_SHORT):
            fail("the search was not complete:\n" + out)


main()
