"""A small load for CPython: python3 load.py SCALE (percent).

JSON of nested records there and back, words counted with dictionaries and regular
expressions, an interpreter of a toy language written with classes and tuples, sets and
big integers. Each part checks its own result; the last line tells how many were right.
"""
import json
import random
import re
import sys

WORDS = ("shell pearl layer nacre mussel plate inner thread block page slice arena heap list "
         "free guard canary bitmap claim epoch").split()


def record(rng, depth):
    """A tree of what JSON has."""
    if depth == 0:
        return rng.choice((rng.randrange(10 ** 6), rng.random(), None, True,
                           " ".join(rng.choices(WORDS, k=3))))
    if rng.random() < 0.5:
        return [record(rng, depth - 1) for _ in range(rng.randrange(2, 6))]
    return {f"{rng.choice(WORDS)}{i}": record(rng, depth - 1)
            for i in range(rng.randrange(2, 6))}


def json_there_and_back(count):
    rng = random.Random(1)
    for _ in range(count):
        before = [record(rng, 4) for _ in range(20)]
        text = json.dumps(before, sort_keys=True)
        after = json.loads(text)
        assert after == before
        assert json.dumps(after, sort_keys=True, indent=1).split() == json.dumps(
            before, sort_keys=True, indent=1).split()


def count_words(count):
    rng = random.Random(2)
    chosen = [rng.choice(WORDS) for _ in range(count)]
    text = ", ".join(f"{word}-{i}" for i, word in enumerate(chosen))
    found, places = {}, {}
    for match in re.finditer(r"([a-z]+)-(\d+)", text):
        word, place = match.groups()
        found[word] = found.get(word, 0) + 1
        places.setdefault(word, []).append(place)
    assert sum(found.values()) == count
    assert all(found[word] == chosen.count(word) for word in found)
    order = sorted((int(place), word) for word in places for place in places[word])
    assert [word for _, word in order] == chosen


class Environment:
    def __init__(self, names, values, outer):
        self.values, self.outer = dict(zip(names, values)), outer

    def look_up(self, name):
        scope = self
        while name not in scope.values:
            scope = scope.outer
        return scope.values[name]


def parse(text):
    """A Lisp of numbers and names, as tuples."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def form(at):
        if tokens[at] != "(":
            word = tokens[at]
            return (int(word) if word.lstrip("-").isdigit() else word), at + 1
        items, at = [], at + 1
        while tokens[at] != ")":
            item, at = form(at)
            items.append(item)
        return tuple(items), at + 1

    return form(0)[0]


def evaluate(form, scope):
    if isinstance(form, int):
        return form
    if isinstance(form, str):
        return scope.look_up(form)
    if form[0] == "if":
        return evaluate(form[2] if evaluate(form[1], scope) else form[3], scope)
    if form[0] == "lambda":
        return lambda *values: evaluate(form[2], Environment(form[1], values, scope))
    function, *arguments = [evaluate(part, scope) for part in form]
    return function(*arguments)


def interpret(n):
    scope = Environment(("+", "-", "<"), (lambda a, b: a + b, lambda a, b: a - b,
                                          lambda a, b: a < b), None)
    scope.values["fib"] = evaluate(parse(
        "(lambda (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))"), scope)
    before, after = 0, 1
    for _ in range(n):
        before, after = after, before + after
    assert evaluate(("fib", n), scope) == before


def place_queens(n, solutions):
    """Row by row, with sets of the columns and diagonals taken."""
    def rows(placed, columns, rising, falling):
        row = len(placed)
        if row == n:
            return 1
        return sum(rows(placed + (column,), columns | {column}, rising | {row + column},
                        falling | {row - column})
                   for column in range(n) if column not in columns
                   and row + column not in rising and row - column not in falling)

    assert rows((), frozenset(), frozenset(), frozenset()) == solutions


def big_integers(n):
    product = 1
    for i in range(2, n):
        product *= i
    text = str(product)
    assert int(text) == product
    for i in range(2, n):
        product, rest = divmod(product, i)
        assert rest == 0
    assert product == 1


def main():
    scale = int(sys.argv[1]) / 100
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    parts = ((json_there_and_back, int(20 * scale)), (count_words, int(120000 * scale)),
             (interpret, 19 if scale > 0.5 else 15), (big_integers, int(700 * scale)))
    sys.setrecursionlimit(10000)
    for part, size in parts:
        part(size)
    place_queens(*((8, 92) if scale > 0.5 else (6, 4)))
    print(f"{len(parts) + 1} parts right")


main()
