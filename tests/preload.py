#!/usr/bin/env python3
"""Run a correct program under a preloaded nacre: it must end with status 0 and
say nothing on standard error.

  preload.py [--lib LIBRARY] [--timeout SECONDS] PROGRAM [ARGUMENT]...

Standard output passes through. Status 0 (right), 1 (wrong), 77 (the program
says that the host lacks what it needs).
"""
import argparse
import os
import resource
import signal
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lib")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    env = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    if options.lib:
        env["LD_PRELOAD"] = os.path.abspath(options.lib)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        result = subprocess.run(options.command, env=env, stdin=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired as late:
        print(f"did not end within {options.timeout} s; said {late.stderr!r}")
        return 1
    if result.stderr:
        print(f"standard error: {result.stderr.decode(errors='backslashreplace')}")
    if result.returncode < 0:
        print(f"ended by {signal.Signals(-result.returncode).name}")
    elif result.returncode == 77:
        return 77
    elif result.returncode:
        print(f"status {result.returncode}")
    return 1 if result.returncode or result.stderr else 0


if __name__ == "__main__":
    sys.exit(main())
