#!/usr/bin/env python3
"""Where blocks lie, over many process starts: placement.py LIBRARY PROGRAM [STARTS]

Of so many starts, how many pairs have the first block of a size at the same place: with
2^16 places or more, STARTS^2 / 2^17 are to be expected. And how many blocks lie beside the
one that was handed out before. Prints a table; exit status 1 past the bounds, which hold
with random order and `scatter`.
"""
import collections
import math
import os
import subprocess
import sys

PAGE = 4096
# Sizes of which a page has too few blocks for the bound: what is expected by chance.
MOST_BESIDE = {16: 2.0, 48: 2.0, 100: 2.0, 500: 2.5, 4000: 20.0}


def run(library, program, what):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "MALLOC_"))}
    done = subprocess.run([program, what], env={**env, "LD_PRELOAD": library}, text=True,
                          stdout=subprocess.PIPE, check=True)
    return done.stdout


def same_pairs(places):
    return sum(math.comb(n, 2) for n in collections.Counter(places).values())


def main():
    library, program = os.path.abspath(sys.argv[1]), sys.argv[2]
    starts = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    firsts = [[int(word, 16) for word in run(library, program, "first").split()]
              for _ in range(starts)]
    beside = [line.split() for line in run(library, program, "pairs").splitlines()]
    expected = starts ** 2 / 2 / 2 ** 16
    # Above this a Poisson distribution with that mean is once in a million.
    most = expected + 5 * math.sqrt(expected) + 5
    wrong = []
    print(f"{starts} starts; same place, pairs: at most {most:.0f} for 2^16 places")
    for column, (size, count) in enumerate(beside):
        size, share = int(size), int(count) / 100
        places = [one[column] for one in firsts]
        same = same_pairs(places)
        print(f"{size:6} bytes: {same} pairs at the same place, "
              f"{len({p % PAGE for p in places})} places in a page of memory, "
              f"{share:.2f} % beside the one before")
        if same > most:
            wrong.append(f"first blocks of {size} bytes lie in few places")
        if share > MOST_BESIDE[size]:
            wrong.append(f"{size} bytes: {share} % are neighbours, at most {MOST_BESIDE[size]}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
