#!/usr/bin/env python3
"""Compares allocators by time and memory, in interleaved runs of one sitting.

    compare.py                        the whole set, 5 rounds
    compare.py -n 11 larson mixed     only loads whose name begins with these
    compare.py --run 'name=command'   your own command instead (repeatable)
    compare.py -o results.json        keep the figures; bench/plot.py draws them
    compare.py --library nacre=build/libnacre.so --library ...

Reported: the median of CPU time (user + system) with mimalloc's as 1.00, and of
peak resident memory with glibc's as 1.00, their geometric means, and the speed of
two threads against one. CPU times suffer less from a busy machine than wall
times, but compare only figures of one sitting.
"""
import argparse
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
CPU_BASE, MEMORY_BASE = "mimalloc", "glibc"

SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000)
 insert into t select i, hex(i * 7919 % 100003), i / 3.0 from n;
create index tb on t(b); select count(distinct b), sum(c) from t where b > '4';"""
PYTHON = """import json
d = [{'id': i, 'name': 'n%d' % i, 'tags': [str(j) for j in range(i % 7)]} for i in range(60000)]
for _ in range(3): d = json.loads(json.dumps(d))
print(len(d), sum(len(x['tags']) for x in d))"""
PERL = """my %h; for my $i (1..400000) { push @{$h{$i * 7919 % 50021}}, "value $i"; }
my $n = 0; $n += @{$h{$_}} for sort keys %h; print "$n\\n";"""


def loads(build, scratch):
    """{name: command}. Commands that are not installed are left out."""
    (scratch / "load.sql").write_text(SQL)
    (scratch / "load.cc").write_text("#include <bits/stdc++.h>\n"
                                     "int main() { std::map<std::string, std::regex> m; }\n")
    own = {
        "larson 1": ["larson", "1", "20"],
        "larson 2": ["larson", "2", "20"],
        "xmalloc": ["xmalloc", "1", "50000"],
        "mixed": ["mixed", "realistic", "10000000"],
        "large": ["mixed", "large", "60"],
    }
    programs = {
        "python": ["env", "PYTHONMALLOC=malloc", "/usr/bin/python3", "-c", PYTHON],
        "perl": ["perl", "-e", PERL],
        "sqlite": ["sqlite3", "-init", str(scratch / "load.sql"), ":memory:", ".quit"],
        "g++": ["g++", "-O1", "-c", "-o", "/dev/null", str(scratch / "load.cc")],
        "xz": ["xz", "-T2", "-3", "-c", "/usr/bin/perl"],
    }
    found = {name: [str(build / "bench" / command[0])] + command[1:]
             for name, command in own.items()}
    found.update((n, c) for n, c in programs.items() if all(
        shutil.which(tool) for tool in [c[2] if c[0] == "env" else c[0]]))
    return found


def libraries(build):
    found = {"glibc": "", "nacre": str(build / "libnacre.so")}
    for name in ("mimalloc.so.2", "jemalloc.so.2", "tcmalloc_minimal.so.4"):
        # The loader finds these by name, or says so on standard error.
        probe = subprocess.run(["/bin/true"], env={**os.environ, "LD_PRELOAD": f"lib{name}"},
                               capture_output=True)
        if not probe.stderr:
            found[name.split(".")[0].split("_")[0]] = f"lib{name}"
    return found


def measure(build, preload, command):
    """(CPU seconds, peak resident KiB, wall seconds)"""
    reader, writer = os.pipe()

    def at_three():
        os.dup2(writer, 3)

    with os.fdopen(reader) as results:
        done = subprocess.run([build / "bench/measure", preload, *command], preexec_fn=at_three,
                              pass_fds=[3], stderr=subprocess.PIPE, text=True)
        os.close(writer)
        line = results.readline()
    if done.returncode or "cannot be preloaded" in done.stderr:
        sys.exit(f"{preload or 'glibc'}: {' '.join(command)[:80]}: "
                 f"exit status {done.returncode}\n{done.stderr}")
    user, system, peak, wall = map(int, line.split())
    return (user + system) / 1e6, peak, wall / 1e6


def medians(results, load, library):
    return [statistics.median(column) for column in zip(*results[load][library])]


def report(results):
    names = list(next(iter(results.values())))
    for title, column, base in (("CPU time", 0, CPU_BASE), ("peak memory", 1, MEMORY_BASE)):
        base = base if base in names else names[0]
        print(f"\n{title}, {base} = 1.00\n{'':14}" + "".join(f"{n:>11}" for n in names))
        ratios = {n: [] for n in names}
        for load in results:
            one = medians(results, load, base)[column]
            for name in names:
                ratios[name].append(medians(results, load, name)[column] / one)
            print(f"{load:14}" + "".join(f"{ratios[n][-1]:11.2f}" for n in names))
        print(f"{'geometric mean':14}" + "".join(
            f"{math.exp(statistics.fmean(map(math.log, ratios[n]))):11.2f}" for n in names))
    if "larson 1" in results and "larson 2" in results:
        # Twice the work is done, so equal wall times are a speed of 2. The best
        # run of each counts: another program's time on a core is not ours.
        best = {n: [min(run[2] for run in results[load][n]) for load in ("larson 1", "larson 2")]
                for n in names}
        print(f"\nspeed of two threads, larson; one thread = 1.00\n{'':14}"
              + "".join(f"{2 * best[n][0] / best[n][1]:11.2f}" for n in names))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--rounds", type=int, default=5)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--library", action="append", metavar="NAME=PATH",
                        help="in place of glibc, nacre and what is installed; glibc= is none")
    parser.add_argument("--run", action="append", metavar="NAME=COMMAND")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    build = args.build.resolve()

    with tempfile.TemporaryDirectory() as scratch:
        if args.run:
            chosen = {n: ["sh", "-c", "exec " + c]
                      for n, _, c in (run.partition("=") for run in args.run)}
        else:
            chosen = {n: c for n, c in loads(build, pathlib.Path(scratch)).items()
                      if not args.names or n.startswith(tuple(args.names))}
        preloads = (dict(pair.split("=", 1) for pair in args.library) if args.library
                    else libraries(build))
        if not chosen:
            parser.error("no load of that name")

        results = {load: {name: [] for name in preloads} for load in chosen}
        order = list(preloads)
        for n in range(args.rounds):
            for load, command in chosen.items():
                if sys.stderr.isatty():
                    print(f"\rround {n + 1} of {args.rounds}: {load:20}\r", end="",
                          file=sys.stderr)
                for name in order:
                    results[load][name].append(measure(build, preloads[name], command))
                order.append(order.pop(0))  # nobody always runs after the same one

    report(results)
    if args.output:
        args.output.write_text(json.dumps(results) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
