#!/usr/bin/env python3
"""nacre inside musl against musl's own allocators, as tables for docs/musl.md.

    figures.py [--dir DIR] [--quick] [calls|memory|speed|processes]...

Builds musl three times (nacre, mallocng, oldmalloc) under DIR, build/figures by
default, if that is not done yet, and the programs of musl/figures with each. All
runs that are compared are interleaved; a figure is the median of several. Times
want a machine with nothing else to do. strace counts the system calls.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
ALLOCS = ("nacre", "mallocng", "oldmalloc")
FORMS = {"dynamic": [], "static": ["-static"]}
SPEEDS = [(work, threads) for work in ("pairs", "mixed", "cross") for threads in (1, 2, 4, 16)
          if (work, threads) != ("cross", 1)]


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, text=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout


def build(folder, source):
    for alloc in ALLOCS:
        command = ["sh", HERE / "build.sh", "--alloc", alloc, "--work", folder / "work"]
        subprocess.run(command + (["--src", source] if source else []) + [folder / alloc],
                       check=True)
        for form, flags in FORMS.items():
            for name in [*HERE.glob("figures/*.c"), ROOT / "tests/cost/calls.c"]:
                output(folder / alloc / "bin/musl-gcc", "-O2", "-fno-builtin", *flags, name,
                       "-o", folder / f"{name.stem}-{alloc}-{form}")


def table(title, rows, unit=""):
    print(f"\n{title}\n\n| | " + " | ".join(ALLOCS) + " |\n|---" * 1 + "|---" * len(ALLOCS) + "|")
    for name, values in rows:
        print(f"| {name} | " + " | ".join(f"{v:g}{unit}" for v in values) + " |")


def calls(folder, options):
    def count(*command):
        done = subprocess.run(["strace", "-f", "-qq", *map(str, command)], check=True, text=True,
                              stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        return len(done.stderr.splitlines())

    rows = []
    for form in FORMS:
        for mode in ("empty", "first"):
            rows.append((f"{form}, {mode}", [min(count(folder / f"calls-{a}-{form}", mode)
                                                 for _ in range(5)) for a in ALLOCS]))
    table("System calls of a program that does nothing, and of one with a first malloc", rows)
    table("libc.so, KiB", [("size", [(folder / a / "lib/libc.so").stat().st_size // 1024
                                     for a in ALLOCS])])


def memory(folder, options):
    rows = []
    for form in FORMS:
        for what in (("0", "1"), ("1", "16"), ("1000", "16"), ("1000", "1000"), ("100000", "64"),
                     ("threads",)):
            name = "a thread with a block, more than without" if len(what) == 1 else \
                f"{what[0]} x {what[1]} bytes"
            rows.append((f"{form}, {name}", [
                statistics.median(int(output(folder / f"memory-{a}-{form}", *what))
                                  for _ in range(5)) for a in ALLOCS]))
    table("Anonymous memory, KiB", rows)


def interleaved(runs, commands):
    """Medians over the runs of each command's pair of figures."""
    seen = {key: [] for key in commands}
    for _ in range(runs):
        for key, command in commands.items():
            seen[key].append([float(v) for v in output(*command).split()])
    return {key: [statistics.median(column) for column in zip(*rows)]
            for key, rows in seen.items()}


def speed(folder, options):
    for form in ("dynamic",) if options.quick else FORMS:
        cpu, wall = [], []
        for work, threads in SPEEDS:
            millions = {"nacre": 4, "mallocng": 0.5, "oldmalloc": 1}
            found = interleaved(3 if options.quick else 7, {
                a: (folder / f"speed-{a}-{form}", work, threads, millions[a] / threads)
                for a in ALLOCS})
            cpu.append((f"{work}, {threads}", [found[a][0] for a in ALLOCS]))
            wall.append((f"{work}, {threads}", [found[a][1] for a in ALLOCS]))
        table(f"CPU time an operation, ns, by load and threads ({form})", cpu)
        table(f"Wall time an operation over all threads, ns ({form})", wall)


def processes(folder, options):
    rows = []
    count = 200 if options.quick else 2000
    for form in FORMS:
        for mode in ("empty", "first"):
            found = interleaved(3 if options.quick else 10, {
                a: (folder / f"spawn-nacre-{form}", count, folder / f"calls-{a}-{form}", mode)
                for a in ALLOCS})
            rows.append((f"{form}, {mode}, CPU", [found[a][0] for a in ALLOCS]))
            rows.append((f"{form}, {mode}, wall", [found[a][1] for a in ALLOCS]))
    table("Short processes, microseconds each", rows)


def main():
    kinds = {"calls": calls, "memory": memory, "speed": speed, "processes": processes}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "build/figures")
    parser.add_argument("--src", help="a tree of musl instead of Debian's")
    parser.add_argument("--quick", action="store_true", help="few runs")
    parser.add_argument("kinds", nargs="*", choices=[[], *kinds], metavar="KIND")
    options = parser.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    folder = options.dir.resolve()
    build(folder, options.src)
    for name in options.kinds or kinds:
        kinds[name](folder, options)


if __name__ == "__main__":
    sys.exit(main())
