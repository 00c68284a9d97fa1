#!/usr/bin/env python3
"""Checks that src/ is ranked: a file includes only files of lower rank.

The ranks are the table in src/README.md whose header has the columns `rank` and
`files`; the files of a row stand in backticks. A .c file may include its own
header besides (page.c: page.h), whatever their ranks.
Exit status 1 with a line for each fault. `check_layers.py DIR` checks another src/.
"""
import pathlib
import re
import sys


def read_ranks(readme):
    """{file: rank} and a list of faults in the table itself."""
    ranks, faults, columns = {}, [], None
    for number, line in enumerate(readme.read_text().splitlines(), 1):
        if not line.lstrip().startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if columns is None:
            columns = [cell.lower() for cell in cells]
            continue
        if "rank" not in columns or "files" not in columns or set(cells[0]) <= set(":- "):
            continue
        rank = cells[columns.index("rank")]
        if not rank.isdigit():
            faults.append(f"{readme}:{number}: rank '{rank}' is not a number")
            continue
        for name in re.findall(r"`([^`]+\.[chS])`", cells[columns.index("files")]):
            if name in ranks:
                faults.append(f"{readme}:{number}: {name} stands in the table twice")
            ranks[name] = int(rank)
    return ranks, faults


def check_file(path, src, ranks):
    name = path.relative_to(src).as_posix()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not found:
            continue
        target = found.group(1)
        own = pathlib.PurePosixPath(target).stem == path.stem and path.suffix != ".h"
        if target not in ranks:
            # The public interface and generated headers stand outside the ranks.
            if (src / target).exists():
                yield f"{path}:{number}: includes {target}, which has no rank"
        elif not own and ranks[target] >= ranks[name]:
            yield (f"{path}:{number}: {name} (rank {ranks[name]}) includes {target} "
                   f"(rank {ranks[target]}); it may include only lower ranks")


def main():
    src = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                       else pathlib.Path(__file__).resolve().parents[1] / "src")
    readme = src / "README.md"
    if not readme.exists():
        sys.exit(f"{readme} is missing: it holds the table of ranks")
    ranks, faults = read_ranks(readme)
    if not ranks:
        sys.exit(f"{readme}: no table with the columns 'rank' and 'files'")

    files = sorted(p for p in src.rglob("*") if p.suffix in (".c", ".h", ".S"))
    for path in files:
        name = path.relative_to(src).as_posix()
        if name not in ranks:
            faults.append(f"{path}: not in the table of {readme}")
        else:
            faults += check_file(path, src, ranks)
    have = {p.relative_to(src).as_posix() for p in files}
    faults += [f"{readme}: {name} is in the table but not in src/"
               for name in sorted(ranks.keys() - have)]
    if faults:
        sys.exit("\n".join(faults))
    print(f"layers: {len(files)} files in {len(set(ranks.values()))} ranks, "
          "none includes its own rank or a higher one")


if __name__ == "__main__":
    main()
