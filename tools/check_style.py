#!/usr/bin/env python3
"""Checks the shape of src/: function length, #if in functions, core size, format.

A function of more than 60 lines is a fault unless the comment before it says
"long:" and why. #if inside a function is a warning. The format is checked with
clang-format where that is installed.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MAX_FUNCTION_LINES = 60  # from the line of its name to its closing brace
# The aim is about 5000 in all. The core is what every profile has; the mitigations that have
# files of their own are counted apart. Raise either with a reason only.
MAX_CORE_LINES = 5650
MAX_MITIGATION_LINES = 800
MITIGATIONS = {"limbo", "zero", "quarantine", "inspect"}
# What only a library beside libc has; musl/dropin.sh leaves the same files out.
NOT_CORE = {"cxx.c", "glibc.c", "preload.c", "names_cxx.h", "port_posix.c", "stats.c", "stats.h"}


def functions(lines):
    """(name, first line number, comment before it, body) for each, braces in column 0."""
    start = None
    for i, line in enumerate(lines):
        if line == "{":
            start = i
        elif line == "}" and start is not None:
            head = start
            while head > 0 and lines[head - 1].strip() and not lines[head - 1].endswith(("*/", ";")):
                head -= 1
            names = re.findall(r"(\w+)\(", " ".join(lines[head:start]))
            names = [n for n in names if n != "__attribute__"]
            comment = head
            while comment > 0 and re.match(r"\s*/?\*", lines[comment - 1]):
                comment -= 1
            yield (names[0] if names else "?", head + 1, "\n".join(lines[comment:head]),
                   lines[head:i + 1])
            start = None


def main():
    faults, warnings, longest = [], [], (0, "none")
    total = mitigations = 0
    files = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".c", ".h"))
    for path in files:
        lines = path.read_text().splitlines()
        if path.stem.startswith("mit_") or path.stem in MITIGATIONS:
            mitigations += len(lines)
        elif path.name not in NOT_CORE:
            total += len(lines)
        for name, number, comment, body in functions(lines):
            at = f"{path.relative_to(ROOT)}:{number}: {name}"
            longest = max(longest, (len(body), name))
            if len(body) > MAX_FUNCTION_LINES and "long:" not in comment:
                faults.append(f"{at} has {len(body)} lines, more than {MAX_FUNCTION_LINES}")
            if any(re.match(r"\s*#\s*if", line) for line in body):
                warnings.append(f"{at} has #if in its body")
    if total > MAX_CORE_LINES:
        faults.append(f"the core has {total} lines, more than {MAX_CORE_LINES}")
    if mitigations > MAX_MITIGATION_LINES:
        faults.append(f"mitigations have {mitigations} lines, more than {MAX_MITIGATION_LINES}")

    if shutil.which("clang-format"):
        done = subprocess.run(["clang-format", "--dry-run", "-Werror", *map(str, files)],
                              cwd=ROOT, text=True, capture_output=True)
        places = re.findall(r"^(\S+?):(\d+):\d+: error: code should be clang-formatted",
                            done.stderr, re.M)
        faults += [f"{path}:{number}: not as clang-format has it"
                   for path, number in dict((p, n) for p, n in reversed(places)).items()]
    else:
        warnings.append("clang-format is not installed: format not checked")

    for line in warnings:
        print(f"warning: {line}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"style: {total} lines in the core, {mitigations} in mitigations, longest function {longest[1]} with {longest[0]}")


if __name__ == "__main__":
    main()
