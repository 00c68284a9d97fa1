#!/usr/bin/python3
"""Runs a command with a time limit, ends all it leaves, notes the peak memory.

    measure.py --limit SECONDS --under DIR --peak FILE COMMAND...

The peak is the largest resident size, in KiB, of any process below the command whose
program is a file under DIR: those on the libc in test, not the host's shells. Looked at
every 10 ms (VmHWM), so what lives shorter may be missed. Exit status: the command's, 124
for the limit.
"""
import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def below(pid):
    """Every process below this one."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        try:
            for task in os.listdir(f'/proc/{one}/task'):
                with open(f'/proc/{one}/task/{task}/children') as file:
                    children = [int(word) for word in file.read().split()]
                found += children
                todo += children
        except OSError:
            pass
    return found


def high_water(pid, under):
    """VmHWM in KiB, 0 when the program is not under that folder or is gone."""
    try:
        if not os.readlink(f'/proc/{pid}/exe').startswith(under):
            return 0
        with open(f'/proc/{pid}/status') as file:
            for line in file:
                if line.startswith('VmHWM:'):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def end_all():
    """Whatever the command left behind, also what made itself a daemon."""
    for _ in range(100):
        left = below(os.getpid())
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.02)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--limit', type=float, required=True)
    parser.add_argument('--under', required=True)
    parser.add_argument('--peak', required=True)
    parser.add_argument('command', nargs=argparse.REMAINDER)
    args = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: (end_all(), os._exit(130)))
    under = os.path.realpath(args.under) + '/'
    begin, peak, status = time.monotonic(), 0, None
    child = subprocess.Popen(args.command, start_new_session=True)
    while status is None:
        for pid in below(os.getpid()):
            peak = max(peak, high_water(pid, under))
        try:
            status = child.wait(0.01)
        except subprocess.TimeoutExpired:
            if time.monotonic() - begin > args.limit:
                print(f'measure.py: ended after {args.limit:g} s', flush=True)
                status = 124
    end_all()
    with open(args.peak, 'w') as file:
        print(peak, file=file)
    return status if status >= 0 else 128 - status


if __name__ == '__main__':
    sys.exit(main())
