"""Run a module of CPython's test suite and write every test's outcome, sorted.

    unit.py MODULE FILE [--only=PATTERN]... [--skip=PATTERN]...

Patterns are fnmatch's, over the tests' names. A test that fails is run again by itself,
at most twice: some of these tests hold a clock to a few milliseconds, which a loaded
machine breaks. A crash or a report of the allocator's is no failed test and ends the run.
"""
import argparse
import fnmatch
import sys
import unittest


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


class Outcomes(unittest.TestResult):
    """outcome of each test by name: ok, skipped, or failed."""

    def __init__(self):
        super().__init__()
        self.outcome = {}

    def addSuccess(self, test):
        self.outcome.setdefault(test.id(), 'ok')

    def addSkip(self, test, reason):
        self.outcome[test.id()] = 'skipped'

    def addExpectedFailure(self, test, err):
        self.outcome[test.id()] = 'ok'

    def addError(self, test, err):
        self.outcome[test.id()] = 'failed'
        print(test.id(), self._exc_info_to_string(err, test), sep='\n', file=sys.stderr)

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err:
            self.addError(test, err)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('module')
    parser.add_argument('file')
    parser.add_argument('--only', action='append', default=[])
    parser.add_argument('--skip', action='append', default=[])
    options = parser.parse_args()

    def wanted(name):
        return (not any(fnmatch.fnmatchcase(name, p) for p in options.skip) and
                (not options.only or any(fnmatch.fnmatchcase(name, p) for p in options.only)))

    load = unittest.defaultTestLoader.loadTestsFromName
    tests = [test for test in flatten(load('test.' + options.module)) if wanted(test.id())]
    result = Outcomes()
    unittest.TestSuite(tests).run(result)
    for name in [n for n, outcome in result.outcome.items() if outcome == 'failed']:
        for _ in range(2):
            again = Outcomes()
            print('again:', name, file=sys.stderr)
            with_name = [t for t in flatten(load('test.' + options.module)) if t.id() == name]
            unittest.TestSuite(with_name).run(again)
            if again.outcome.get(name) == 'ok':
                result.outcome[name] = 'ok'
                break
    with open(options.file, 'w', encoding='utf-8') as file:
        for name, outcome in sorted(result.outcome.items()):
            print(outcome, name, file=file)
    sys.exit(not result.outcome or 'failed' in result.outcome.values())


if __name__ == '__main__':      # a spawned child imports this file again
    main()
