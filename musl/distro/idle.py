#!/usr/bin/env python3
"""Memory of the distribution's idle services and of a short program, on nacre and mallocng.

    idle.py [WORK]      what musl/distro/build.sh --compare made (default: build/distro)

The same files run on each libc: the link WORK/lib/ld-musl-*.so.1 is turned, and back. A
program is asked for its private memory once it is idle, `ls -l` of 1000 files while it waits
for a reader. Medians of five runs, KiB, as a Markdown table.
"""
import fcntl
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
WORK = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                    else HERE.parents[1] / "build" / "distro").resolve()
RUNS = 5
PROGRAMS = {
    "shell (dash)": ["dash/src/dash"],
    "busybox httpd": ["busybox/busybox", "httpd", "-f", "-p", "127.0.0.1:18080"],
    "redis": ["redis/src/redis-server", "--port", "0", "--save", "", "--unixsocket", "s"],
    "ls -l of 1000 files": ["coreutils/src/ls", "-l"],
}


def private_kib(pid):
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(n) for n in re.findall(r"^Private_(?:Clean|Dirty): +(\d+) kB", text, re.M))


def idle(command, folder):
    with subprocess.Popen([WORK / "tree" / command[0], *command[1:]], cwd=folder,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
        time.sleep(1.5)
        kib = private_kib(process.pid)
        process.kill()
    return kib


def measure():
    with tempfile.TemporaryDirectory() as folder:
        for i in range(1000):
            pathlib.Path(f"{folder}/{i}").touch()
        return {name: idle(command, folder) for name, command in PROGRAMS.items()}


def main():
    link = next((WORK / "lib").glob("ld-musl-*.so.1"))
    nacre = os.readlink(link)
    libcs = {"nacre": nacre, "mallocng": WORK / "mallocng/lib/libc.so"}
    found = {name: [] for name in libcs}
    try:
        for _ in range(RUNS):
            for name, libc in libcs.items():
                link.unlink()
                link.symlink_to(libc)
                found[name].append(measure())
    finally:
        link.unlink(missing_ok=True)
        link.symlink_to(nacre)
    print("| KiB | nacre | mallocng |\n|---|---|---|")
    for row in found["nacre"][0]:
        cells = [statistics.median(one[row] for one in found[name]) for name in libcs]
        print(f"| {row} | " + " | ".join(str(cell) for cell in cells) + " |")


if __name__ == "__main__":
    main()
