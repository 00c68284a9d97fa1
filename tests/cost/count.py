#!/usr/bin/env python3
"""Counts what nacre costs: instructions a malloc/free pair, and system calls.

    count.py [instructions|calls] [LIBRARY ...]   print the tables
    count.py --check ...     compare with golden.json; exit 1 past the tolerance
    count.py --update ...    write what was measured into golden.json
    count.py where LIBRARY [PATTERN SIZE]
                             where the instructions, or the start's calls, go

Instructions are the slope between two run lengths under callgrind, so they do
not depend on the machine's load, and start-up and warm-up cancel out. They do
depend on the compiler: golden.json says which it holds for, and with any other
--check skips (exit 77), as it does where valgrind or strace is missing.
LIBRARY is a name from the build's conf.json, or NAME=/PATH for any other.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "golden.json"
SKIP = 77

BATCH = 256  # pairs a round, as in pairs.c
ROUNDS = (400, 1200)  # the shorter run must get past warm-up
LOADS = [(p, s) for p in ("batch", "lifo", "pair", "cross") for s in (16, 48, 512, 4096)]
NOTHING = 3  # instructions of nothing.c's two functions together

STEADY = (300_000, 600_000)
THREADS = (8, 40)


def run(command, preload=None):
    """Run to completion; the preload goes to the program alone via its tool."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "NACRE_", "MALLOC_"))}
    env["LD_BIND_NOW"] = "1"
    if preload:
        env["LD_PRELOAD"] = preload
    done = subprocess.run(command, env=env, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stderr


# ---- instructions ----

def callgrind(program, preload, pattern, size, rounds, out="/dev/null"):
    text = run(["valgrind", "--tool=callgrind", "--vgdb=no", f"--callgrind-out-file={out}",
                program, pattern, str(size), str(rounds)], preload)
    # Without the library the figures would be another allocator's.
    if "cannot be preloaded" in text:
        sys.exit(text)
    return int(re.search(r"Collected : (\d+)", text).group(1))


def slope(program, preload, pattern, size):
    short, long = (callgrind(program, preload, pattern, size, r) for r in ROUNDS)
    return (long - short) / ((ROUNDS[1] - ROUNDS[0]) * BATCH)


def count_instructions(conf, path):
    return {f"{p} {s}": round(slope(conf["pairs"], path, p, s), 1) for p, s in LOADS}


def count_loop(conf):
    return {p: round(slope(conf["pairs_nothing"], None, p, 48) - NOTHING, 1)
            for p in dict.fromkeys(p for p, _ in LOADS)}


def by_function(conf, path, pattern, size):
    def once(rounds):
        with tempfile.NamedTemporaryFile() as out:
            callgrind(conf["pairs"], path, pattern, size, rounds, out.name)
            text = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no",
                                   "--show-percs=no", out.name],
                                  text=True, capture_output=True, check=True).stdout
        found = collections.Counter()
        for number, name in re.findall(r"^\s*([\d,]+)\s+\S*?:(\S+)", text, re.M):
            found[name.split("'")[0]] += int(number.replace(",", ""))
        return found

    short, long = once(ROUNDS[0]), once(ROUNDS[1])
    pairs = (ROUNDS[1] - ROUNDS[0]) * BATCH
    return {name: (long[name] - short[name]) / pairs for name in long}


# ---- system calls ----

def strace(conf, preload, *args, ignore=()):
    """The fewest calls of three runs: where address randomisation lays the first
    arena across a border of the page map (one run in 250), there is one more."""
    runs = (strace_once(conf, preload, *args, ignore=ignore) for _ in range(3))
    return min(runs, key=lambda calls: sum(calls.values()))


def strace_once(conf, preload, *args, ignore=()):
    with tempfile.NamedTemporaryFile("r") as out:
        run(["strace", "-f", "-qq", "-e", "signal=none", "-o", out.name]
            + (["-E", f"LD_PRELOAD={preload}"] if preload else [])
            + [conf["calls"], *map(str, args)])
        names = re.findall(r"^\d+ +(\w+)\(", out.read(), re.M)
    return collections.Counter(n for n in names if n not in ignore)


def per_unit(conf, preload, mode, lengths, ignore=()):
    short, long = (sum(strace(conf, preload, mode, n, ignore=ignore).values()) for n in lengths)
    return (long - short) / (lengths[1] - lengths[0])


def count_calls(conf, path):
    # The loader itself needs about 9 calls to load any library, so the figure to
    # watch is the one against an empty library; the sum is shown as well.
    none = sum(strace(conf, None, "empty").values())
    loader = sum(strace(conf, conf["nothing"], "empty").values())
    empty = sum(strace(conf, path, "empty").values())
    first = sum(strace(conf, path, "first").values())
    steady = [sum(strace(conf, path, "steady", n).values()) for n in STEADY]
    found = {
        "start": empty - loader,
        "start and loading": empty - none,
        "first malloc": first - empty,
        "steady state": steady[1] - steady[0],
    }
    for name, ours, idle in (("thread", "threads", "idle"),
                             ("living thread", "threads-alive", "idle-alive")):
        found[name] = round(per_unit(conf, path, ours, THREADS, {"futex"})
                            - per_unit(conf, None, idle, THREADS, {"futex"}), 1) + 0.0  # no -0
    return found


# ---- golden file ----

def deviation(now, then, percent):
    """None within the tolerance (in per cent; 0: exact), else a few words. A golden value of
    two figures is a span: where the random order makes a count differ from run to run."""
    if then is None:
        return "not in golden.json"
    low, high = then if isinstance(then, list) else (then, then)
    if low - abs(low) * percent / 100 <= now <= high + abs(high) * percent / 100:
        return None
    return (f"{'worse' if now > high else 'better'} than {high if now > high else low:g}, "
            "run --update and commit it")


def table(title, kind, names, rows, golden):
    """Print one table; return the list of deviations from the golden file."""
    percent = golden["tolerance_percent"] if kind == "instructions" else 0
    limits = golden["limits"].get(kind, {})
    wrong = []
    width = max(map(len, rows[names[0]])) + 2
    print(f"\n{title}\n{'':{width}}" + "".join(f"{n:>18}" for n in names))
    for key in rows[names[0]]:
        line = f"{key:{width}}"
        for name in names:
            now = rows[name][key]
            limit = limits.get(name, {}).get(key)
            mark = "" if limit is None else f" {'<=' if now <= limit else 'OVER'} {limit:g}"
            line += f"{f'{now:g}' + mark:>18}"
            words = deviation(now, golden[kind].get(name, {}).get(key), percent)
            if words:
                wrong.append(f"{name}, {key}: {now:g} is {words}")
        print(line)
    return wrong


def measure(kind, conf, libraries, golden, args):
    tool = "valgrind" if kind == "instructions" else "strace"
    if not shutil.which(tool):
        print(f"{tool} is not installed: {kind} not counted")
        return SKIP
    if args.check and kind == "instructions" and conf["compiler"] != golden["compiler"]:
        print(f"golden.json holds for {golden['compiler']}, this build is by {conf['compiler']}")
        return SKIP
    if args.check and not any(name in golden[kind] for name in libraries):
        print(f"{', '.join(libraries)}: not in golden.json")
        return SKIP

    counter = count_instructions if kind == "instructions" else count_calls
    rows = {name: counter(conf, path) for name, path in libraries.items()}
    if kind == "instructions":
        title = f"instructions a malloc+free pair ({conf['compiler']}), caller's loop included"
        print("\ncaller's loop: "
              + ", ".join(f"{p} {n:g}" for p, n in count_loop(conf).items()))
    else:
        title = "system calls more than without a preload (start: than with an empty one)"
    wrong = table(title, kind, list(rows), rows, golden)
    if args.update:
        if kind == "instructions":
            golden["compiler"] = conf["compiler"]
        golden[kind].update(rows)
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n")
    elif args.check and wrong:
        print("\n" + "\n".join(wrong))
        return 1
    return 0


def where(conf, libraries, rest):
    for name, path in libraries.items():
        if not rest:
            for mode in ("empty", "first"):
                more = strace(conf, path, mode)
                more.subtract(strace(conf, conf["nothing"], mode))
                print(f"{name}, {mode}: "
                      + (", ".join(f"{n} {c:+d}" for n, c in sorted(more.items()) if c) or "none"))
            continue
        print(f"\n{name}, {rest[0]} {rest[1]}, instructions a pair:")
        found = by_function(conf, path, rest[0], int(rest[1]))
        for function, count in sorted(found.items(), key=lambda item: -item[1]):
            if count >= 0.05:
                print(f"{count:8.1f}  {function}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conf", default=HERE.parents[1] / "build/tests/cost/conf.json",
                        help="the build's conf.json (default: that of build/)")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("rest", nargs="*", metavar="[instructions|calls|where] LIBRARY")
    args = parser.parse_args()

    conf = json.loads(pathlib.Path(args.conf).read_text())
    rest = list(args.rest)
    what = rest.pop(0) if rest and rest[0] in ("instructions", "calls", "where") else None
    libraries = {}
    while rest and (rest[0] in conf["libraries"] or "=/" in rest[0]):
        name = rest.pop(0)
        path = conf["libraries"].get(name)
        if not path:
            name, path = name.split("=/", 1)
            path = "/" + path
        libraries[name] = path
    libraries = libraries or conf["libraries"]
    if what == "where":
        return where(conf, libraries, rest)
    if rest:
        parser.error(f"no library {rest[0]} in {args.conf}")

    golden = json.loads(GOLDEN.read_text())
    kinds = [what] if what else ["instructions", "calls"]
    return max(measure(kind, conf, libraries, golden, args) for kind in kinds)


if __name__ == "__main__":
    sys.exit(main())
