#!/usr/bin/env python3
"""Adds up test runs: tally.py NAME=FILE ...

A NAME given twice is one run. FILE is a meson testlog.json, or holds lines 'passed NAME', 'failed NAME' or
'skipped NAME' of our own. Prints a row a run, what failed and what was skipped,
and as the last line 'N passed, N failed'. Exit status 1 when anything failed or
nothing ran.
"""
import json
import pathlib
import sys

KIND = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}  # the rest: failed


def read(path):
    """(kind, test name) for every test in the file."""
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("{"):
            test = json.loads(line)
            yield KIND.get(test["result"], "failed"), test["name"].split(" / ")[-1]
        elif line.strip():
            yield tuple(line.split(" ", 1))


def main():
    total = {"passed": 0, "failed": 0, "skipped": 0}
    notes = {"failed": [], "skipped": []}
    runs = {}
    for argument in sys.argv[1:]:
        run, path = argument.split("=", 1)
        count = runs.setdefault(run, dict.fromkeys(total, 0))
        for kind, name in read(path):
            count[kind] += 1
            total[kind] += 1
            if kind in notes:
                notes[kind].append(f"{name} ({run})")
    print(f"{'run':<12}{'passed':>8}{'failed':>8}{'skipped':>9}")
    for run, count in runs.items():
        print(f"{run:<12}{count['passed']:>8}{count['failed']:>8}{count['skipped']:>9}")
    for kind, names in notes.items():
        if names:
            print(f"{kind}: " + ", ".join(names))
    print(f"{total['passed']} passed, {total['failed']} failed")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
