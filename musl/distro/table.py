#!/usr/bin/python3
"""The results of the suites against the known failures.

    table.py --known FILE --results DIR [--compare] PACKAGE...

FILE has a line "PACKAGE TEST" for each test that fails with mallocng as well. Exit
status 1 when another one fails, or when a suite ran nothing. With --compare also
peak memory, written to DIR/memory.tsv.
"""
import argparse
import math
import os
import sys


def read(path):
    """{passed: set, failed: set} of a result; its first line is a stamp."""
    result = {'passed': set(), 'failed': set()}
    with open(path, errors='replace') as file:
        for line in list(file)[1:]:
            word, name = line.rstrip('\n').split(' ', 1)
            result[word].add(name)
    result['passed'] -= result['failed']
    return result


def peak(path):
    with open(path) as file:
        return int(file.read())


def memory(results, packages):
    """Peak of each suite on both, and the geometric mean of the ratios."""
    logs = []
    with open(os.path.join(results, 'memory.tsv'), 'w') as tsv:
        print('package\tnacre_kib\tmallocng_kib\tratio', file=tsv)
        print(f'\n{"peak memory, KiB":<16}{"nacre":>10}{"mallocng":>10}{"ratio":>8}')
        for name in packages:
            ours, theirs = (peak(os.path.join(results, f'{name}.{libc}.peak'))
                            for libc in ('nacre', 'mallocng'))
            if ours and theirs:
                logs.append(math.log(ours / theirs))
                print(f'{name}\t{ours}\t{theirs}\t{ours / theirs:.3f}', file=tsv)
                print(f'{name:<16}{ours:>10}{theirs:>10}{ours / theirs:>8.2f}')
    if logs:
        print(f'{"geometric mean":<36}{math.exp(sum(logs) / len(logs)):>8.2f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--known', required=True)
    parser.add_argument('--results', required=True)
    parser.add_argument('--compare', action='store_true')
    parser.add_argument('packages', nargs='*')
    args = parser.parse_args()
    known, news, total = {}, [], [0, 0]
    with open(args.known) as file:
        for line in file:
            if line.strip() and not line.startswith('#'):
                package, name = line.rstrip('\n').split(' ', 1)
                known.setdefault(package, set()).add(name)
    head = f'{"package":<12}{"passed":>8}{"failed":>8}{"known":>8}'
    print('\n' + head + (f'{"alike with mallocng":>21}' if args.compare else ''))
    for package in args.packages:
        ours = read(os.path.join(args.results, f'{package}.nacre'))
        passed, failed = ours['passed'], ours['failed']
        new = failed - known.get(package, set())
        line = f'{package:<12}{len(passed):>8}{len(failed):>8}{len(failed) - len(new):>8}'
        if args.compare:
            theirs = read(os.path.join(args.results, f'{package}.mallocng'))
            line += f'{len(failed & theirs["failed"]):>21}'
            news += [f'{package}: only with mallocng fails {name}'
                     for name in sorted(theirs['failed'] - failed)]
        print(line)
        if not passed:
            new.add('ran nothing')
        total[0] += len(passed)
        total[1] += len(new)
        news += [f'{package}: NEW FAILURE {name}' for name in sorted(new)]
    if args.compare:
        memory(args.results, args.packages)
    print('\n'.join([''] * bool(news) + news))
    print(f'suites: {total[0]} passed, {total[1]} failed')
    return total[1] > 0


if __name__ == '__main__':
    sys.exit(main())
