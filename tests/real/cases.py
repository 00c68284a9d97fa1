"""The cases: real programs, each doing some seconds of its usual work.

A case is a function that gets a Side and runs its programs through it; the runner calls
it once without and once with the preload and compares. CASES lists them in order, and
the file prints it when it is run by itself.

Where an output is cleaned before it is compared, the reason stands beside it.
"""
import dataclasses
import glob
import hashlib
import os
import re
import signal
import urllib.request

import inputs
from side import free_port

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = os.path.join(HERE, 'scripts')
PYTHON = '/usr/bin/python3'          # Debian's own, whatever else is first in PATH
POSTGRES = (sorted(glob.glob('/usr/lib/postgresql/*/bin'))
            or ['/usr/lib/postgresql/15/bin'])[-1]


@dataclasses.dataclass
class Case:
    name: str
    body: object
    needs: list                      # programs: names in PATH, or paths
    quick: bool = False              # part of --quick
    full: bool = False               # only part of --full
    limit_s: int = 240               # a side that takes longer is killed
    user: str = None                 # what root becomes to run it


CASES = []


def case(name, *needs, **more):
    def keep(body):
        CASES.append(Case(name, body, list(needs), **more))
        return body
    return keep


def script(name):
    return os.path.join(SCRIPTS, name)


def digest(*paths):
    """One line a file: hash and name, for a note."""
    return ''.join(f'{hashlib.sha256(open(path, "rb").read()).hexdigest()} '
                   f'{os.path.basename(path)}\n' for path in paths)


def input_of(side, name, make):
    """An input, made when first asked for."""
    path = os.path.join(side.inputs, name)
    if not os.path.exists(path):
        make(path)
    return path


# -- shell and languages -------------------------------------------------------------

@case('bash-coreutils', 'bash', 'find', 'tar', 'grep', 'diff', 'awk', 'sed', quick=True)
def shell(side):
    """bash and coreutils over a tree of 3,000 files."""
    tree = input_of(side, 'tree', inputs.tree)
    side.prove(['bash', '-c', 'ls / | sort | xargs -n9 echo | awk 1 | grep -c .; :'],
               'bash', 'ls', 'sort', 'xargs', 'grep')
    side.run(['bash', script('tree.sh'), tree])


def python_tests(module, *skip, only=()):
    """A module of CPython's own test suite; every test's outcome is compared."""
    def body(side):
        side.prove([PYTHON, '-c', 'import subprocess, sys\n'
                    'subprocess.run([sys.executable, "-c", "pass"], check=True)'],
                   'python3')
        outcomes = side.path('outcomes')
        argv = [PYTHON, script('unit.py'), module, outcomes]
        argv += [f'--only={pattern}' for pattern in only]
        if not side.full:
            argv += [f'--skip={pattern}' for pattern in skip]
        # The tests themselves print pids, random numbers and lines of several threads in
        # whatever order; what each test came to is in the file.
        side.run(argv, label=module, clean=lambda text: b'')
        with open(outcomes, 'rb') as file:
            side.note(f'outcomes of {module}', file.read())
    return body


TESTSUITE = '/usr/lib/python3.11/test/test_json/__init__.py'

# Left out (but with --full): tests that wait for a clock, a second or more each, and
# classes that run the same tests again over another transport.
case('python-json', PYTHON, TESTSUITE, quick=True)(python_tests('test_json'))
case('python-threading', PYTHON, TESTSUITE)(python_tests(
    'test_threading', '*timeout*', '*test_join_nondaemon_on_shutdown'))
case('python-subprocess', PYTHON, TESTSUITE, limit_s=400)(python_tests(
    'test_subprocess', '*timeout*', '*_dead', '*_repeated_call_after_stdout_close',
    '*ProcessTestCaseNoPoll*'))
case('python-multiprocessing', PYTHON, TESTSUITE, limit_s=400)(python_tests(
    'test_multiprocessing_fork', '*timeout*', '*Wait*', '*Barrier*', '*Condition*',
    '*Poll*', '*Finalize*', '*ResourceTracker*', '*ThreadsTest*', '*ManagerTestPool*',
    '*test_many_processes', '*test_map_no_failfast', '*IgnoreEINTR*'))
case('python-multiprocessing-spawn', PYTHON, TESTSUITE, full=True, limit_s=900)(
    python_tests('test_multiprocessing_spawn'))
case('python-ctypes', PYTHON, TESTSUITE)(python_tests('test_ctypes'))
case('python-mmap', PYTHON, TESTSUITE)(python_tests('test_mmap'))


@case('perl', 'perl', quick=True)
def perl(side):
    """Hashes, sorting, regular expressions, closures, four interpreter threads."""
    side.prove(['perl', '-e', '1'], 'perl')
    side.run(['perl', script('words.pl')])


@case('lua', 'lua5.4', quick=True)
def lua(side):
    """Tables, strings, coroutines, and full collections."""
    side.prove(['lua5.4', '-e', 'x = 1'], 'lua5.4')
    side.run(['lua5.4', script('words.lua')])


@case('node', 'node', quick=True)
def node(side):
    """Four worker threads: maps, JSON, buffers, zlib, digests, messages."""
    side.prove(['node', '-e', '1'], 'node')
    side.run(['node', script('workers.js')])


@case('java', 'java', 'javac')
def java(side):
    """javac, then a program with eight threads, parallel streams and direct buffers.

    The heap's size and its collector are fixed: by default both follow the machine.
    """
    flags = ['-Xmx128m', '-XX:+UseParallelGC']
    side.prove(['java', *flags, '-version'], 'java')
    side.run(['javac', *('-J' + flag for flag in flags), '-d', side.path(),
              script('Threads.java')])
    side.note('class file', digest(side.path('Threads.class')))
    side.run(['java', *flags, '-cp', side.path(), 'Threads'])


# -- compilers and version control -----------------------------------------------------

def compiler(name, inner, *link):
    def body(side):
        source = input_of(side, 'large.c', inputs.c_source)
        tiny = side.write('tiny.c', 'int main(void) { return 0; }\n')
        side.prove([name, '-O2', '-o', side.path('tiny'), *link, tiny], *inner)
        side.run([name, '-O2', '-g', '-c', source, '-o', side.path('large.o')])
        side.note('object file', digest(side.path('large.o')))
        side.run([name, *link, side.path('large.o'), '-o', side.path('large')])
        side.note('executable', digest(side.path('large')))
        side.run([side.path('large')])
    return body


case('gcc', 'gcc', quick=True)(compiler('gcc', ('cc1', 'as')))
case('clang', 'clang', 'ld.lld')(compiler('clang', ('clang', 'ld.lld'), '-fuse-ld=lld'))


@case('git', 'git')
def git(side):
    """Import 400 commits, commit some more, clone, gc --aggressive, fsck, read it all."""
    stream = input_of(side, 'history', inputs.git_stream)
    who = {f'GIT_{role}_{key}': value for role in ('AUTHOR', 'COMMITTER') for key, value
           in (('NAME', 'A B'), ('EMAIL', 'a@example.org'), ('DATE', '1800000000 +0000'))}
    side.prove(['git', '--version'], 'git')
    side.run(['git', 'init', '-q', '-b', 'main', 'one'])
    # The statistics at the end of an import say how much memory it took.
    side.run(['git', '-C', 'one', 'fast-import', '--quiet', '--done'], stdin=stream)
    side.run(['git', '-C', 'one', 'checkout', '-q', '-f', 'main'])
    for number in range(20):
        side.write('one/src/new.c', f'int version = {number};\n' * 50)
        side.run(['git', '-C', 'one', 'add', '.'])
        side.run(['git', '-C', 'one', 'commit', '-q', '-m', f'more {number}'], env=who)
    side.run(['git', 'clone', '-q', '--no-local', 'one', 'two'])
    side.run(['git', '-C', 'two', 'gc', '-q', '--aggressive', '--prune=now'])
    side.run(['git', '-C', 'two', 'fsck', '--full', '--strict', '--no-progress'])
    side.run(['git', '-C', 'two', 'log', '--stat', '--topo-order', '-M', '-C'])
    side.run(['git', '-C', 'two', 'blame', 'src/m0/file00.c'])
    # Which delta a pack holds depends on how its threads shared the work, so the packs
    # are not compared: every object's name, type and length is.
    side.run(['git', '-C', 'two', 'cat-file', '--batch-all-objects', '--batch-check'])


# -- databases and servers -------------------------------------------------------------

@case('sqlite', 'sqlite3', quick=True)
def sqlite(side):
    """300,000 rows: indices, joins, updates, deletes, vacuum, integrity check."""
    side.prove(['sqlite3', ':memory:', 'select 1;'], 'sqlite3')
    side.run(['sqlite3', '-batch', side.path('rows.db')], stdin=script('rows.sql'))
    side.note('database', digest(side.path('rows.db')))


@case('redis', 'redis-server', 'redis-cli', 'redis-benchmark', quick=True)
def redis(side):
    """Load 100,000 commands, run redis-benchmark, save in a fork, reload, compare.

    Debian's redis-server links jemalloc, so the plain side preloads glibc itself: the
    memory and time of both sides are then against glibc's malloc, as everywhere else.
    """
    commands = input_of(side, 'redis-commands', inputs.redis_commands)
    port = free_port()
    client = ['redis-cli', '-p', str(port)]
    side.prove(['redis-server', '--version'], 'redis-server')
    with side.server(['redis-server', '--port', str(port), '--bind', '127.0.0.1',
                      '--dir', side.path(), '--save', '', '--appendonly', 'no',
                      '--enable-debug-command', 'local'], port, baseline='libc.so.6'):
        def ask(*words):
            # The port is another one in each run, and not of interest.
            side.run([*client, *words], label='redis-cli ' + ' '.join(words))

        side.run([*client, '--pipe'], stdin=commands, label='redis-cli --pipe')
        for test in ('ping_mbulk,set,get,incr', 'lpush,rpush,lpop,sadd,hset,zadd',
                     'lrange_100,mset'):
            # Rates differ from run to run; that every test came to its end is compared.
            side.run(['redis-benchmark', '-p', str(port), '-q', '-n', '20000', '-P', '8',
                      '-t', test], label=f'redis-benchmark {test}',
                     clean=lambda text: b'\n'.join(sorted(set(
                         re.findall(rb'^([A-Z_]+.*): [0-9.]+ requests', text, re.M)))))
        ask('EVAL', 'local t = {} for i = 1, 20000 do t[#t + 1] = i .. ":" end '
            'return redis.sha1hex(table.concat(t))', '0')
        ask('DBSIZE')
        ask('DEBUG', 'DIGEST')
        ask('SAVE')
        ask('DEBUG', 'RELOAD')
        ask('DEBUG', 'DIGEST')
        ask('FLUSHALL')
        ask('DBSIZE')


NGINX_CONF = '''
daemon off;
worker_processes 2;
error_log stderr;
pid {work}/nginx.pid;
events {{ worker_connections 256; }}
http {{
    types {{ text/html html; }}
    access_log {work}/access.log;
    client_body_temp_path {work}/t1;
    proxy_temp_path {work}/t2;
    fastcgi_temp_path {work}/t3;
    uwsgi_temp_path {work}/t4;
    scgi_temp_path {work}/t5;
    gzip on;
    keepalive_requests 100;
    server {{ listen 127.0.0.1:{port}; root {root}; autoindex on; }}
    server {{ listen 127.0.0.1:{front}; location / {{
        proxy_pass http://127.0.0.1:{port}; proxy_buffers 16 8k; }} }}
}}
'''


@case('nginx', 'nginx', 'ab', user='nobody')
def nginx(side):
    """Two workers: 30,000 requests of ab's, plain, compressed, and through a proxy."""
    root = input_of(side, 'www', inputs.web_root)
    port, front = free_port(), free_port()
    conf = side.write('nginx.conf', NGINX_CONF.format(
        work=side.path(), port=port, front=front, root=root))
    start = ['nginx', '-e', 'stderr', '-p', side.path(), '-c', conf]
    side.prove([*start, '-t'], 'nginx')
    with side.server(start, port, stop=signal.SIGQUIT):
        for name, at, count in (('small.html', port, 20000), ('text.html', port, 4000),
                                ('small.html', front, 6000)):
            # Times and rates differ; the counts and sizes are compared.
            side.run(['ab', '-q', '-k', '-n', str(count), '-c', '20', '-H',
                      'Accept-Encoding: gzip', f'http://127.0.0.1:{at}/{name}'],
                     label=f'ab {name}', clean=lambda text: b'\n'.join(re.findall(
                         rb'^(?:Document|Complete|Failed|Non-2xx).*', text, re.M)))
        for name in ('small.html', 'text.html', 'big.bin'):
            for at in (port, front):
                with urllib.request.urlopen(f'http://127.0.0.1:{at}/{name}') as answer:
                    side.note(name, hashlib.sha256(answer.read()).hexdigest())
    lines = open(side.path('access.log'), 'rb').read().count(b'\n')
    side.note('lines in the access log', str(lines))


@case('postgresql', POSTGRES + '/initdb', POSTGRES + '/pgbench', user='postgres')
def postgresql(side):
    """initdb, pgbench with 4 clients, then queries with sorts, hashes, JSON and the JIT."""
    def tool(name, *arguments):
        return [f'{POSTGRES}/{name}', *arguments]

    data, port = side.path('data'), free_port()
    options = [word for setting in (
        f'port={port}', 'listen_addresses=127.0.0.1', f'unix_socket_directories={data}',
        'shared_buffers=16MB', 'fsync=off', 'autovacuum=off') for word in ('-c', setting)]
    at = ['-h', data, '-p', str(port), '-U', 'postgres']
    side.prove(tool('postgres', '--version'), 'postgres')
    side.prove(tool('psql', '--version'), 'psql')
    side.run(tool('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'))
    with side.server(tool('postgres', '-D', data, *options), port, signal.SIGINT,
                     ready=tool('pg_isready', '-q', *at)):
        # Both print times and rates. What they left in the tables is compared below.
        side.run(tool('pgbench', *at, '-i', '-q', '-s', '3', 'postgres'),
                 label='pgbench -i', clean=lambda text: b'')
        # Deadlock-free and seeded: the same transactions in another order have the same sums.
        side.run(tool('pgbench', *at, '-c', '4', '-j', '2', '-t', '400', '-n',
                      '--random-seed=7', 'postgres'), label='pgbench',
                 clean=lambda text: b'\n'.join(re.findall(
                     rb'^number of (?:trans|failed).*', text, re.M)))
        side.run(tool('psql', *at, '-X', '-v', 'ON_ERROR_STOP=1', 'postgres'),
                 stdin=script('queries.sql'), label='psql')


# -- packers and pictures ---------------------------------------------------------------

def packer(name, pack):
    def body(side):
        source = input_of(side, 'mixed', inputs.mixed_bytes)
        side.prove([name, '--version'], name)
        packed = side.run([name, '-T2', '-c', *pack, source])
        with open(side.path('packed'), 'wb') as file:
            file.write(packed)
        side.run([name, '-T2', '-d', '-c'], stdin=side.path('packed'))
    return body


case('xz', 'xz')(packer('xz', ['-2', '--block-size=4MiB']))
case('zstd', 'zstd', quick=True)(packer('zstd', ['-9', '-q']))


@case('imagemagick', 'convert', 'identify')
def imagemagick(side):
    """Draw, resize, blur, rotate and write pictures, with its threads."""
    picture, small, other = (side.path(name) for name in ('a.png', 'b.png', 'c.jpg'))
    # A PNG holds the time it was made.
    undated = ['-define', 'png:exclude-chunks=date,time,tIME']
    side.prove(['convert', '-version'], 'convert')
    side.run(['convert', '-size', '1000x800', 'gradient:navy-gold', '-seed', '5',
              '-attenuate', '0.3', '-fill', 'white', '-draw', 'circle 400,300 500,380',
              *undated, picture])
    side.run(['convert', picture, '-resize', '60%', '-blur', '0x3', '-rotate', '17',
              '-sharpen', '0x1', '-colors', '200', *undated, small])
    side.run(['convert', picture, small, '-append', '-quality', '85', other])
    side.run(['identify', '-format', '%m %w %h %#\n', picture, small, other])
    side.note('pictures', digest(picture, small, other))


if __name__ == '__main__':           # for meson.build
    print('\n'.join(one.name for one in CASES if not one.full))
