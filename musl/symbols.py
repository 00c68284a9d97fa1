#!/usr/bin/env python3
"""What nacre's objects inside libc may define, need and contain.

    symbols.py PREFIX      the prefix that musl/build.sh made

A program may have any name but those that the C and POSIX standards and musl
reserve, so every global of nacre begins with two underscores; it calls only what
lies inside libc; it has no constructor and no thread-local variable. And libc.so
exports no name that musl does not. Exit status 1 with a line for each fault.
"""
import pathlib
import re
import subprocess
import sys

DEFINES = {"aligned_alloc", "malloc_usable_size"}
NEEDS = {
    "memcpy", "memset", "__popcountdi2", "__popcountsi2",  # made by the compiler
    "__errno_location", "___errno_location",
    "__libc", "__malloc_replaced", "__aligned_alloc_replaced",
    "__mmap", "__munmap", "__mprotect", "__mremap", "__madvise",
    "__syscall_cp", "__syscall_ret",
    "_GLOBAL_OFFSET_TABLE_",
}
HOOKS = {"__libc_malloc_impl", "__libc_realloc", "__libc_free", "__malloc_allzerop",
         "__malloc_atfork", "__malloc_donate", "__malloc_thread_exit"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    prefix = pathlib.Path(sys.argv[1]).resolve()
    tree = next(iter(prefix.parent.glob("musl*.work/tree-nacre")), None)
    if not tree:
        sys.exit(f"no musl.work/tree-nacre beside {prefix}")
    objects = sorted((tree / "obj/src/malloc/nacre").glob("*.o")) or sorted(
        (tree / "obj/src/malloc/nacre").glob("*.lo"))
    faults, defined, needed = [], set(), set()
    for path in objects:
        for line in output("nm", "-g", str(path)).splitlines():
            kind, symbol = line.split()[-2:]
            (needed if kind in "Uwv" else defined).add(symbol)
        sections = re.findall(r"^ +\d+ (\S+) +([0-9a-f]+)", output("objdump", "-h", str(path)), re.M)
        faults += [f"{path.name} has a section {name}" for name, size in sections if int(size, 16)
                   and re.match(r"\.(init_array|ctors|preinit|tdata|tbss)", name)]
    faults += [f"defines {s}" for s in sorted(defined - DEFINES) if not s.startswith("__")]
    faults += [f"needs {s}" for s in sorted(needed - defined - NEEDS)]
    faults += [f"does not define {s}" for s in sorted((HOOKS | DEFINES) - defined)]

    exported = {line.split()[-1] for line in
                output("nm", "-D", "--defined-only", str(prefix / "lib/libc.so")).splitlines()}
    faults += [f"libc.so exports {s}" for s in sorted(exported) if re.search(r"nacre|_nc_", s)]
    faults += [f"libc.so exports {s}" for s in sorted(exported & HOOKS)]
    faults += [f"libc.so lacks {s}" for s in ("malloc", "free", "calloc", "realloc", *DEFINES)
               if s not in exported]
    if faults:
        sys.exit("\n".join(faults))
    print(f"symbols: {len(objects)} objects define {len(defined)} reserved names, "
          f"need {len(needed - defined)} of libc")


if __name__ == "__main__":
    main()
