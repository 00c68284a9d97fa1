"""Loads of real programs from Debian, for bench/run; by itself it runs them once each:

    python3 bench/programs.py [--measure PROGRAM] [--preload LIBRARY] [--quick] [NAME ...]

A load prepares its input files in a folder, names the command to be measured, and checks
what came out; where the command is a server, it also has a client, and what is measured is
the server alone. Each takes 1 to 4 seconds of CPU time, or about 0.5 in its quick form.
Inputs are made here or lie in data/; nothing is fetched.

How the runner uses it:

    load.missing()                  Debian packages to install first; [] when it can run
    load.prepare(folder, quick)     once, into an empty folder
    load.run(prefix, **popen)       each time: prefix (measure and its options) goes before
                                    the command, popen to subprocess.Popen; True if the
                                    status is 0, Wrong if the client saw wrong answers
    load.check(output)              after each run, with what was written to stdout; Wrong
    load.environment                variables the command needs
    load.baseline                   what to preload when it would be nothing

redis: Debian's redis-server is linked with libjemalloc.so.2, as a shared library and by the
plain names malloc, free and so on; so a preloaded library does take them over (LD_DEBUG=
bindings shows it), but without one it runs on jemalloc. For figures of glibc libc.so.6
itself is preloaded, which puts it before jemalloc in the search. What remains of jemalloc
is nallocx(), a pure function that says how a string's size would be rounded, and its start.
memcached would be no better load: it has its own slabs and hardly calls malloc.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

DATA = pathlib.Path(__file__).resolve().parent / "data"
PATH = "/usr/bin:/bin:/usr/sbin:/sbin"   # Debian's programs, whatever else is first
START_S = 20                             # a server that answers later has failed


class Wrong(Exception):
    """A program's result is not what it must be."""


def demand(right, what):
    if not right:
        raise Wrong(what)


class Load:
    name = ""
    needs = {}          # program: Debian's package
    environment = {}
    baseline = ""

    def __init__(self):
        self.folder = self.quick = None

    def missing(self):
        return sorted({package for program, package in self.needs.items()
                       if not shutil.which(program, path=PATH)})

    def prepare(self, folder, quick=False):
        self.folder, self.quick = pathlib.Path(folder), quick
        self.make_files()

    def make_files(self):
        """The inputs; those of the quick form if self.quick."""

    def command(self):
        raise NotImplementedError

    def started(self, prefix, popen):
        program, *arguments = self.command()
        environment = {**popen.pop("env", os.environ), **self.environment}
        return subprocess.Popen([*prefix, shutil.which(program, path=PATH), *arguments],
                                cwd=self.folder, env=environment, **popen)

    def run(self, prefix=(), **popen):
        return self.started(prefix, popen).wait() == 0

    def check(self, output):
        pass


class Server(Load):
    """SIGTERM ends it, in good order."""
    port = 0

    def client(self):
        raise NotImplementedError

    def run(self, prefix=(), **popen):
        self.port = free_port()
        process = self.started(prefix, popen)
        try:
            self.wait_for_answer(process)
            self.client()
        finally:
            # measure hands the signal on to the command.
            process.send_signal(signal.SIGTERM)
            status = process.wait()
        return status == 0

    def wait_for_answer(self, process):
        end = time.monotonic() + START_S
        while time.monotonic() < end and process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise Wrong(f"{self.name} does not answer")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def output_of(*command, stdin=None):
    """Of a client, that has no preload."""
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([str(word) for word in command], env={**environment, "PATH": PATH},
                          stdin=stdin or subprocess.DEVNULL, capture_output=True, text=True)
    demand(done.returncode == 0, f"{command[0]} failed: {done.stderr[-200:]}")
    return done.stdout


class Gcc(Load):
    """C++ of many headers, to assembler; what g++ starts is measured with it."""
    name = "gcc"
    needs = {"g++": "g++"}

    def command(self):
        return ["g++", "-std=c++17", "-O0", "-S", *(["-DSMALL"] if self.quick else []),
                DATA / "load.cc", "-o", "load.s"]

    def check(self, output):
        program = self.folder / "load"
        output_of("g++", self.folder / "load.s", "-pthread", "-o", program)
        demand(output_of(program) == "right\n", "the compiled program is wrong")


class Lua(Load):
    """Strings, tables, coroutines and closures: data/load.lua."""
    name = "lua"
    needs = {"lua5.4": "lua5.4"}

    def command(self):
        return ["lua5.4", DATA / "load.lua", "40" if self.quick else "200"]

    def check(self, output):
        demand(output == "4 parts right\n", output)


class Python(Load):
    """JSON, words, an interpreter, sets and big integers: data/load.py."""
    name = "python"
    needs = {"python3": "python3-minimal"}
    # Otherwise small objects come from CPython's own allocator.
    environment = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}

    def command(self):
        return ["python3", "-S", DATA / "load.py", "60" if self.quick else "300"]

    def check(self, output):
        demand(output == "5 parts right\n", output)


class Sqlite(Load):
    """Rows inserted one statement each into a database in memory, indexed, and asked."""
    name = "sqlite"
    needs = {"sqlite3": "sqlite3"}
    groups = 97

    def make_files(self):
        rng = random.Random(3)
        rows = 40000 if self.quick else 160000
        people = [(i, f"person {rng.randrange(10 ** 6)}", rng.randrange(self.groups),
                   rng.randrange(10 ** 4)) for i in range(rows)]
        with open(self.folder / "load.sql", "w", encoding="ascii") as script:
            script.write("CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, team INTEGER, "
                         "score INTEGER, note TEXT);\nBEGIN;\n")
            for number, name, team, score in people:
                script.write(f"INSERT INTO person VALUES({number},'{name}',{team},{score},"
                             f"'note of {name}, team {team}');\n")
            script.write(SQL_QUESTIONS)
        scores = [[score for _, _, team, score in people if team == group]
                  for group in range(self.groups)]
        names = {name for _, name, _, _ in people}
        self.answers = [f"{group}|{len(own)}|{sum(own)}|{max(own)}"
                        for group, own in enumerate(scores)]
        self.answers += [
            str(len(names)), str(sum(map(len, names))),
            str(sum(name.endswith("7") for _, name, _, _ in people)),
            str(sum(len([s for s in own if s > 9000]) ** 2 for own in scores)),
            str(rows - sum(score % 3 == 0 for _, _, _, score in people)), "ok"]

    def command(self):
        return ["sqlite3", "-batch", ":memory:", ".read load.sql"]

    def check(self, output):
        demand(output.splitlines() == self.answers, "other answers to the questions")


SQL_QUESTIONS = """COMMIT;
CREATE INDEX by_name ON person(name);
CREATE INDEX by_team ON person(team, score);
SELECT team, count(*), sum(score), max(score) FROM person GROUP BY team ORDER BY team;
SELECT count(DISTINCT name) FROM person;
SELECT sum(length(name)) FROM (SELECT name FROM person UNION SELECT name FROM person);
SELECT count(*) FROM person WHERE note LIKE '%7, team%';
SELECT count(*) FROM person AS a JOIN person AS b ON a.team = b.team
    WHERE a.score > 9000 AND b.score > 9000;
UPDATE person SET note = replace(upper(note), 'NOTE', 'remark') || json_array(id, team);
DELETE FROM person WHERE score % 3 = 0;
SELECT count(*) FROM person WHERE json_extract(substr(note, instr(note, '[')), '$[0]') = id;
PRAGMA integrity_check;
"""


class Z3(Load):
    """A proof, of pigeons, and models: factors in bit vectors, a magic square, a sudoku."""
    name = "z3"
    needs = {"z3": "z3"}

    def make_files(self):
        self.holes, self.side = (7, 3) if self.quick else (8, 4)
        self.factors = ([(64879, 65521)] if self.quick
                        else [(100003, 104729), (200003, 262139)])
        self.given = {at: value for at, value in sudoku(6)
                      if at % 5 in ((0, 2) if self.quick else (0,))}
        goals = [pigeons(self.holes), *(bit_vectors(*pair) for pair in self.factors),
                 magic_square(self.side), sudoku_goal(self.given)]
        (self.folder / "load.smt2").write_text("(reset)\n".join(goals))

    def command(self):
        return ["z3", "load.smt2"]

    def check(self, output):
        demand(re.findall(r"^(?:un)?sat", output, re.M)
               == ["unsat"] + ["sat"] * (2 + len(self.factors)), "other answers")
        numbers = [int(digits, 2) for digits in re.findall(r"#b([01]+)", output)]
        demand(numbers == [n for pair in self.factors for n in pair], "these are no factors")
        square, side = [int(n) for n in re.findall(r"c\d+ (\d+)", output)], self.side
        demand(sorted(square) == list(range(1, side * side + 1)), "not all numbers once")
        demand({sum(square[at] for at in line) for line in lines_of(side)}
               == {side * (side * side + 1) // 2}, "this is no magic square")
        cells = [int(n) for n in re.findall(r"s\d+ (\d+)", output)]
        demand(all(sorted(cells[at] for at in group) == list(range(1, 10))
                   for group in sudoku_groups()), "this is no sudoku")
        demand(all(cells[at] == value for at, value in self.given.items()), "another sudoku")


def pigeons(holes):
    """One pigeon too many."""
    names = [[f"p{i}h{j}" for j in range(holes)] for i in range(holes + 1)]
    goal = [f"(declare-const {name} Bool)" for row in names for name in row]
    goal += [f"(assert (or {' '.join(row)}))" for row in names]
    goal += [f"(assert (not (and {names[i][j]} {names[k][j]})))"
             for j in range(holes) for i in range(holes + 1) for k in range(i)]
    return "\n".join(goal) + "\n(check-sat)\n"


def bit_vectors(small, large):
    """Find them from their product."""
    half = large.bit_length()
    bits = 2 * half + 1     # an odd number of bits is printed in binary
    sort = f"(_ BitVec {bits})"
    return f"""(declare-const x {sort})
(declare-const y {sort})
(assert (bvugt x (_ bv1 {bits})))
(assert (bvule x y))
(assert (bvult y (_ bv{1 << half} {bits})))
(assert (= (bvmul x y) (_ bv{small * large} {bits})))
(check-sat)
(get-value (x y))
"""


def sudoku(seed):
    """A solved one, as pairs of place and number."""
    rng = random.Random(seed)
    digits = rng.sample(range(1, 10), 9)
    rows = [3 * band + row for band in rng.sample(range(3), 3)
            for row in rng.sample(range(3), 3)]
    return [(9 * i + j, digits[(3 * (row % 3) + row // 3 + j) % 9])
            for i, row in enumerate(rows) for j in range(9)]


def sudoku_groups():
    rows = [[9 * i + j for j in range(9)] for i in range(9)]
    boxes = [[27 * i + 3 * j + 9 * k + m for k in range(3) for m in range(3)]
             for i in range(3) for j in range(3)]
    return [*rows, *map(list, zip(*rows)), *boxes]


def sudoku_goal(given):
    cells = [f"s{i}" for i in range(81)]
    goal = [f"(declare-const {cell} Int)\n(assert (<= 1 {cell} 9))" for cell in cells]
    goal += [f"(assert (distinct {' '.join(cells[at] for at in group)}))"
             for group in sudoku_groups()]
    goal += [f"(assert (= {cells[at]} {value}))" for at, value in given.items()]
    return "\n".join(goal) + f"\n(check-sat)\n(get-value ({' '.join(cells)}))\n"


def lines_of(side):
    """Rows, columns and diagonals of a square, as indices."""
    rows = [[i * side + j for j in range(side)] for i in range(side)]
    return [*rows, *map(list, zip(*rows)), [rows[i][i] for i in range(side)],
            [rows[i][side - 1 - i] for i in range(side)]]


def magic_square(side):
    cells = [f"c{i}" for i in range(side * side)]
    goal = [f"(declare-const {cell} Int)\n(assert (<= 1 {cell} {side * side}))"
            for cell in cells]
    goal += [f"(assert (distinct {' '.join(cells)}))"]
    total = side * (side * side + 1) // 2
    goal += [f"(assert (= {total} (+ {' '.join(cells[at] for at in line)})))"
             for line in lines_of(side)]
    return "\n".join(goal) + f"\n(check-sat)\n(get-value ({' '.join(cells)}))\n"


class Redis(Server):
    """Commands of all types, loaded in one go, then redis-benchmark."""
    name = "redis"
    needs = {"redis-server": "redis-server", "redis-cli": "redis-tools",
             "redis-benchmark": "redis-tools"}
    baseline = "libc.so.6"

    def make_files(self):
        rng = random.Random(4)
        self.count = 4000 if self.quick else 25000
        with open(self.folder / "commands", "wb") as file:
            for i in range(self.count):
                for words in (("SET", f"string:{i}", "x" * rng.randrange(1, 200)),
                              ("RPUSH", f"list:{i % 100}", f"item {i}"),
                              ("HSET", f"hash:{i % 1000}", f"field{i}", str(i)),
                              ("ZADD", f"sorted:{i % 50}", str(i), f"member {i}"),
                              ("SADD", f"set:{i % 200}", f"member {i}"),
                              ("APPEND", f"string:{i // 2}", "tail")):
                    file.write(b"*%d\r\n" % len(words) + b"".join(
                        b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words))

    def command(self):
        return ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                "--appendonly", "no", "--jemalloc-bg-thread", "no", "--dir", str(self.folder)]

    def client(self):
        def ask(*words):
            return output_of("redis-cli", "-p", self.port, *words).strip()

        with open(self.folder / "commands", "rb") as commands:
            done = output_of("redis-cli", "-p", self.port, "--pipe", stdin=commands)
        demand(f"errors: 0, replies: {6 * self.count}" in done, done)
        demand(ask("DBSIZE") == str(self.count + 100 + 1000 + 50 + 200), "keys are missing")
        demand(ask("LRANGE", "list:7", "1", "1") == "item 107", "a list is wrong")
        demand(ask("HGET", "hash:3", "field1003") == "1003", "a hash is wrong")
        demand(ask("ZSCORE", "sorted:1", "member 1001") == "1001", "a sorted set is wrong")
        demand(ask("GET", "string:1").endswith("xtailtail"), "a string is wrong")
        requests = 15000 if self.quick else 100000
        done = output_of("redis-benchmark", "-p", self.port, "-q", "-n", requests, "-c", "20",
                         "-P", "16", "-r", "100000", "-d", "100", "-t",
                         "set,get,incr,lpush,rpop,sadd,hset,zadd,lrange_100")
        finished = re.findall(r"^([A-Z]+)[^:\r\n]*: [0-9.]+ requests", done.replace("\r", "\n"),
                              re.M)
        demand({"SET", "GET", "INCR", "LPUSH", "RPOP", "SADD", "HSET", "ZADD", "LRANGE"}
               <= set(finished), done)
        demand(ask("HGET", "hash:3", "field1003") == "1003", "a hash has changed")
        demand(ask("PING") == "PONG", "no answer")


NGINX_CONF = """daemon off;
{user}
worker_processes 1;
error_log stderr error;
pid {folder}/nginx.pid;
events {{ worker_connections 256; }}
http {{
    types {{ text/html html; }}
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    gzip on;
    gzip_comp_level 2;
    keepalive_requests 100;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/www;
        location /through/ {{ proxy_pass http://127.0.0.1:{port}/; }}
    }}
}}
"""


class Nginx(Server):
    """Small and compressed pages, straight and through a proxy, to ab. One worker; the
    master's waiting for it is measured as well."""
    name = "nginx"
    needs = {"nginx": "nginx-light", "ab": "apache2-utils"}

    def make_files(self):
        rng = random.Random(5)
        www = self.folder / "www"
        www.mkdir(exist_ok=True)
        (www / "small.html").write_text("<p>A page of one line.</p>\n")
        (www / "text.html").write_text("".join(
            f"<p>{rng.randrange(10 ** 6)} {'nacre' * rng.randrange(4)}</p>\n"
            for _ in range(400)))

    def command(self):
        conf = self.folder / "nginx.conf"
        conf.write_text(NGINX_CONF.format(
            folder=self.folder, port=self.port,
            # Otherwise the worker may not read the folder.
            user="user root;" if os.geteuid() == 0 else ""))
        return ["nginx", "-e", "stderr", "-p", str(self.folder), "-c", str(conf)]

    def client(self):
        at = f"http://127.0.0.1:{self.port}"
        for page, number in (("small.html", 40000), ("text.html", 3000),
                             ("through/small.html", 12000), ("through/text.html", 1500)):
            number = number // 6 if self.quick else number
            done = output_of("ab", "-q", "-k", "-n", number, "-c", "20", "-H",
                             "Accept-Encoding: gzip", f"{at}/{page}")
            demand(re.search(rf"^Complete requests: +{number}$", done, re.M)
                   and re.search(r"^Failed requests: +0$", done, re.M)
                   and "Non-2xx" not in done, done)
            with urllib.request.urlopen(f"{at}/{page}") as answer:
                demand(answer.read() == (self.folder / "www" / page.split("/")[-1]).read_bytes(),
                       f"{page} is not what it was")


LOADS = [Gcc(), Lua(), Nginx(), Python(), Redis(), Sqlite(), Z3()]


def run_once(load, measure, preload, quick):
    """What measure says, or the wall time alone if there is no measure."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+") as output:
        load.prepare(folder, quick)
        reader, writer = os.pipe()
        prefix = [measure, "-f", str(writer), "-l", "300"] if measure else ["/usr/bin/env"]
        library = preload or load.baseline
        if library:
            prefix += ["-p", library] if measure else [f"LD_PRELOAD={library}"]
        start = time.monotonic()
        right = load.run(prefix, stdout=output, stdin=subprocess.DEVNULL, pass_fds=[writer])
        wall_s = time.monotonic() - start
        os.close(writer)
        with os.fdopen(reader) as line:
            used = json.loads(line.readline() or "{}")
        demand(right and not used.get("status") and not used.get("signal"), f"failed: {used}")
        output.seek(0)
        load.check(output.read())
        return used or {"wall_us": int(wall_s * 1e6)}


def main():
    parser = argparse.ArgumentParser(description="Runs loads of real programs once each.")
    parser.add_argument("--measure", metavar="PROGRAM", help="what bench/measure.c makes")
    parser.add_argument("--preload", metavar="LIBRARY", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    failed = False
    for load in LOADS:
        if args.names and load.name not in args.names:
            continue
        missing = load.missing()
        if missing:
            print(f"{load.name} is skipped: install {' '.join(missing)}", flush=True)
            continue
        try:
            used = run_once(load, args.measure, args.preload, args.quick)
            print(json.dumps({"load": load.name, **used}), flush=True)
        except Wrong as problem:
            failed = True
            print(f"{load.name}: {problem}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
