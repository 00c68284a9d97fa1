"""One side of a case: its programs with, or without, the allocator preloaded.

Owns: starting programs through ./launch, what they wrote and cost, the proof that the
preload was active, comparing two sides. Knows no program by name (cases.py does).

Both sides of a case run in the same directory, made anew, with the same small
environment: so a program that prints a path, or puts one into an object file, needs no
normalising.
"""
import contextlib
import dataclasses
import difflib
import glob
import os
import pwd
import re
import select
import shutil
import signal
import socket
import subprocess
import time

# What a correct program never prints: the allocator's reports.
REPORT = re.compile(rb'^nacre:.*$', re.M)

# The names a preloaded allocator must have taken over, wherever a process binds them.
ALLOCATOR = ('malloc', 'calloc', 'realloc', 'free', 'posix_memalign', 'aligned_alloc')
BINDING = re.compile(r"binding file (\S+) \[0\] to (\S+) \[0\]: normal symbol `(%s)'"
                     % '|'.join(ALLOCATOR))
STARTED = re.compile(r'initialize program: (\S+)')


class Failed(Exception):
    """The side cannot go on: a program failed, ran too long, or was not preloaded."""


@dataclasses.dataclass
class Step:
    """A program that ran to its end. out and err are what is compared."""
    label: str
    status: object              # as a shell has it, or 'time out'
    out: bytes = b''
    err: bytes = b''
    cpu_s: float = 0.0
    peak_kib: int = 0
    reports: list = dataclasses.field(default_factory=list)
    server: bool = False


class Process:
    """A program under ./launch. pid is the program's, not launch's."""

    def __init__(self, side, argv, variables, stdin, cwd):
        side.count += 1
        self.argv = argv
        self.paths = [os.path.join(side.logs, f'{side.count}.{kind}')
                      for kind in ('out', 'err')]
        read_fd, write_fd = os.pipe()
        with open(self.paths[0], 'wb') as out, open(self.paths[1], 'wb') as err, \
             open(stdin or '/dev/null', 'rb') as source:
            self.launch = subprocess.Popen(
                [side.launch, str(write_fd), *variables, '--', *argv],
                stdin=source, stdout=out, stderr=err, cwd=cwd or side.work,
                env=side.environment, pass_fds=[write_fd], start_new_session=True,
                **side.identity)
        os.close(write_fd)
        self.result = os.fdopen(read_fd, 'rb', 0)
        self.pid = int(self.result.readline() or 0)

    def running(self):
        return not select.select([self.result], [], [], 0)[0]

    def end(self, seconds):
        """Wait for the end, kill it all after that many seconds; status, CPU, peak."""
        timely = select.select([self.result], [], [], max(seconds, 0))[0]
        if not timely:
            self.launch.terminate()
        line = self.result.readline().split()
        self.launch.wait()
        self.result.close()
        if len(line) != 3:
            raise Failed(f'{self.argv[0]}: the launcher was killed')
        status, cpu_us, peak_kib = map(int, line)
        return status if timely else 'time out', cpu_us / 1e6, peak_kib

    def written(self):
        return [open(path, 'rb').read() for path in self.paths]


class Side:
    """lib: the library to preload, or None for the plain side. full: leave nothing out."""

    def __init__(self, root, lib, limit_s, user=None, full=False):
        self.lib, self.full = lib, full
        self.work = os.path.join(root, 'work')
        self.logs = os.path.join(root, 'logs', 'preload' if lib else 'plain')
        self.inputs = os.path.join(root, 'inputs')
        self.launch = os.path.join(root, 'launch')
        self.deadline = time.monotonic() + limit_s
        self.steps, self.proved, self.count = [], [], 0
        self.identity, self.environment = {}, {
            'PATH': '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
            'HOME': os.path.join(self.work, 'home'),
            'TMPDIR': os.path.join(self.work, 'tmp'),
            'LC_ALL': 'C.UTF-8', 'TZ': 'UTC',
        }
        for path in (self.work, self.logs):
            shutil.rmtree(path, ignore_errors=True)
        for path in (self.work, self.logs, self.environment['HOME'],
                     self.environment['TMPDIR']):
            os.makedirs(path)
        if user and os.geteuid() == 0:
            self._become(user)

    def _become(self, user):
        entry = pwd.getpwnam(user)
        self.identity = {'user': entry.pw_uid, 'group': entry.pw_gid, 'extra_groups': []}
        for path in (self.work, self.environment['HOME'], self.environment['TMPDIR']):
            os.chown(path, entry.pw_uid, entry.pw_gid)

    # -- what a case calls ---------------------------------------------------------

    def path(self, *names):
        return os.path.join(self.work, *names)

    def write(self, name, text):
        """A file of the case's own in the work directory; its path."""
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    def run(self, argv, stdin=None, env=None, cwd=None, clean=None, label=None):
        """Run a program to its end; it must exit 0. Returns its standard output.

        clean(bytes) is applied to both of its outputs before they are compared.
        """
        process = self._start(argv, env, stdin, cwd)
        step = self._finish(process, label or self._name(argv))
        self._check(step)
        if clean:
            step.out, step.err = clean(step.out), clean(step.err)
        return step.out

    @contextlib.contextmanager
    def server(self, argv, port, stop=signal.SIGTERM, baseline=None, ready=None):
        """Run the with-block beside a server that listens on a loopback port.

        ready: a command that exits 0 once the server does more than listen.

        Its output is not compared (pids, times), only searched for reports; its exit
        status is. baseline: what the plain side preloads, if anything.
        """
        process = self._start(argv, None, None, None, baseline)
        try:
            self._await_server(process, port, ready)
            yield process
            self._prove_tree(process)
            os.kill(process.pid, stop)
        except BaseException:
            process.launch.terminate()
            with contextlib.suppress(Failed):
                self._finish(process, argv[0])
            raise
        step = self._finish(process, os.path.basename(argv[0]) + ' (server)')
        step.out, step.err, step.server = b'', b'', True
        self._check(step)

    def note(self, label, content):
        """Something to compare that no program printed: a file, an answer, a count."""
        if isinstance(content, str):
            content = content.encode()
        self.steps.append(Step(label, 0, content))

    def prove(self, argv, *programs):
        """Show that this command's processes, children too, allocate from the library.

        The loader itself says to which file it bound malloc, in every process; each of
        `programs` must be among them. The plain side has nothing to prove.
        """
        if not self.lib:
            return
        report = self.path('proof')
        process = self._start(argv, {'LD_DEBUG': 'files,bindings',
                                     'LD_DEBUG_OUTPUT': report}, None, None)
        step = self._finish(process, 'preload probe of ' + self._name(argv))
        self._check(step)
        self.steps.remove(step)
        seen = set()
        for name in glob.glob(report + '.*'):
            seen.update(self._prove_bindings(name))
            os.unlink(name)
        missing = set(programs) - seen
        if missing or not seen:
            raise Failed(f'preload not shown in {", ".join(missing) or argv[0]}')
        self.proved += sorted(seen - set(self.proved))

    # -- how -----------------------------------------------------------------------

    def _name(self, argv):
        """A command without the temporary directories, for a person."""
        text = ' '.join(argv).replace(self.work, '.').replace(self.inputs, 'inputs')
        return text if len(text) <= 70 else text[:67] + '...'

    def _left(self):
        return self.deadline - time.monotonic()

    def _start(self, argv, env, stdin, cwd, baseline=None):
        variables = [f'{name}={value}' for name, value in (env or {}).items()]
        if self.lib or baseline:
            variables.append(f'LD_PRELOAD={self.lib or baseline}')
        return Process(self, argv, variables, stdin, cwd)

    def _finish(self, process, label):
        status, cpu_s, peak_kib = process.end(self._left())
        out, err = process.written()
        step = Step(label, status, out, err, cpu_s, peak_kib,
                    [line.decode(errors='replace')
                     for text in (out, err) for line in REPORT.findall(text)])
        self.steps.append(step)
        return step

    def _check(self, step):
        if step.reports:
            raise Failed(f'{step.label}: {step.reports[0]}')
        if step.status != 0:
            tail = (step.err or step.out).decode(errors='replace').strip()[-600:]
            raise Failed(f'{step.label}: status {step.status}\n{tail}'.rstrip())

    def _await_server(self, process, port, ready):
        while process.running() and self._left() > 0:
            with contextlib.suppress(OSError):
                socket.create_connection(('127.0.0.1', port), 1).close()
                if not ready or subprocess.run(ready, stdout=subprocess.DEVNULL,
                                               check=False).returncode == 0:
                    return
            time.sleep(0.05)
        tail = b''.join(process.written()).decode(errors='replace').strip()[-600:]
        raise Failed(f'{process.argv[0]}: not ready\n{tail}'.rstrip())

    def _prove_bindings(self, name):
        """The programs of one LD_DEBUG file; every allocator name must be the library's."""
        with open(name, encoding='utf-8', errors='replace') as file:
            text = file.read()
        bound, programs = BINDING.findall(text), STARTED.findall(text)
        # A program linked at a fixed address that takes malloc's address offers its own
        # jump through its PLT to everyone: right where that jump goes to the library.
        jumps = {who for who, where, _ in bound if who in programs and where == self.lib}
        for who, where, symbol in bound:
            if where != self.lib and where not in jumps:
                raise Failed(f'{who} binds {symbol} to {where}, not to the preload')
        if not any(symbol == 'malloc' for _, _, symbol in bound):
            raise Failed(f'no malloc bound to the preload in {programs}')
        return {os.path.basename(program) for program in programs}

    def _prove_tree(self, process):
        """A server and its workers have the library mapped."""
        if not self.lib:
            return
        for pid in descendants(process.pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f'/proc/{pid}/maps', encoding='utf-8') as file:
                    maps = file.read()
                if maps and self.lib not in maps:
                    raise Failed(f'{process.argv[0]}: process {pid} is not preloaded')
        self.proved.append(os.path.basename(process.argv[0]) + ' (server)')

    # -- results -------------------------------------------------------------------

    def peak_kib(self):
        """The largest process of the case; where there is a server, of the server."""
        servers = [step for step in self.steps if step.server]
        return max((step.peak_kib for step in servers or self.steps), default=0)

    def cpu_s(self):
        return sum(step.cpu_s for step in self.steps)

    def status(self):
        """0, or the status of the first program that did not exit with 0."""
        return next((step.status for step in self.steps if step.status != 0), 0)


def descendants(pid):
    """pid and the processes below it."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            with open(f'/proc/{parent}/task/{parent}/children', encoding='utf-8') as file:
                found += map(int, file.read().split())
    return found


def free_port():
    """A loopback port that nothing listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def difference(plain, preload):
    """The first difference between two sides, for a person; '' when there is none."""
    for one, two in zip(plain.steps, preload.steps):
        if one.label != two.label:
            return f'ran "{one.label}" plain, "{two.label}" preloaded'
        if one.status != two.status:
            return f'{one.label}: status {one.status} plain, {two.status} preloaded'
        for kind in ('out', 'err'):
            if getattr(one, kind) != getattr(two, kind):
                return f'{one.label}:\n' + _diff(getattr(one, kind), getattr(two, kind))
    if len(plain.steps) != len(preload.steps):
        return f'{len(plain.steps)} programs plain, {len(preload.steps)} preloaded'
    return ''


def _diff(one, two):
    lines = [text.decode(errors='replace').splitlines()[:20000] for text in (one, two)]
    found = difflib.unified_diff(*lines, 'plain', 'preloaded', n=1, lineterm='')
    return '\n'.join(line[:100] for _, line in zip(range(20), found))
