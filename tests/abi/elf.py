#!/usr/bin/env python3
"""What the shared library asks of a process, and what it gives: it needs libc
alone and no symbol newer than glibc 2.17, exports the allow-list and no more,
has at most one pointer of static TLS, and no page that is writable and
executable or relocated in its text.

  elf.py LIBRARY

Prints a line a check and ends with "N passed, N failed".
"""
import re
import subprocess
import sys

NEEDED = re.compile(r"libc\.so\.6|ld-linux[\w.-]*\.so\.\d")
NEWEST = (2, 17)

EXPORTS = set("""
malloc calloc realloc free reallocarray posix_memalign aligned_alloc memalign valloc pvalloc
malloc_usable_size free_sized free_aligned_sized memalignment cfree
__libc_malloc __libc_calloc __libc_realloc __libc_free __libc_memalign __libc_valloc
__libc_pvalloc
mallinfo mallinfo2 malloc_info mallopt malloc_trim malloc_stats
nacre_version nacre_get_stats nacre_print_stats nacre_check_heap nacre_report nacre_report_kind
""".split())
# Not every build has these.
OPTIONAL = {"__posix_memalign", "__libc_reallocarray", "__libc_aligned_alloc"}


def operators():
    """The mangled names of every replaceable operator new and delete."""
    size = "m" if sys.maxsize > 2**32 else "j"
    for form in ("n", "d"):
        for array in ("w", "a") if form == "n" else ("l", "a"):
            base = f"_Z{form}{array}"
            if form == "n":
                for align in ("", "St11align_val_t"):
                    for throw in ("", "RKSt9nothrow_t"):
                        yield f"{base}{size}{align}{throw}"
            else:
                for rest in ("", size, "RKSt9nothrow_t", "St11align_val_t",
                             f"{size}St11align_val_t", "St11align_val_tRKSt9nothrow_t"):
                    yield f"{base}Pv{rest}"


def readelf(option, library):
    return subprocess.run(["readelf", "-W", option, library], capture_output=True, text=True,
                          check=True).stdout


def symbols(library):
    """(name, defined, version) of every dynamic symbol."""
    for line in readelf("--dyn-syms", library).splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[4] == "LOCAL":
            continue
        name, _, version = fields[7].replace("@@", "@").partition("@")
        yield name, fields[6] != "UND", version


def check_needed(library):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", library))
    wrong = [name for name in needed if not NEEDED.fullmatch(name)]
    return f"needs {wrong}" if wrong else None


def check_versions(library):
    wrong = []
    for name, _, version in symbols(library):
        match = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version)
        if version and (not match or (int(match[1]), int(match[2])) > NEWEST):
            wrong.append(f"{name}@{version}")
    return f"newer than 2.17: {wrong}" if wrong else None


def check_exports(library):
    wanted = EXPORTS | set(operators())
    found = {name for name, defined, _ in symbols(library) if defined}
    wrong = []
    if wanted - found:
        wrong.append(f"missing {sorted(wanted - found)}")
    if found - wanted - OPTIONAL:
        wrong.append(f"too much {sorted(found - wanted - OPTIONAL)}")
    return ", ".join(wrong) or None


def check_undefined(library):
    """Weak symbols may be the C++ library's; the rest must be libc's."""
    wrong = [name for name, defined, version in symbols(library)
             if not defined and not version and not name.startswith(("_Z", "__cxa", "_ITM", "__gmon"))]
    return f"no version: {wrong}" if wrong else None


def check_tls(library):
    for line in readelf("-l", library).splitlines():
        fields = line.split()
        if fields and fields[0] == "TLS" and int(fields[5], 16) > 8:
            return f"TLS segment of {int(fields[5], 16)} bytes"
    return None


def check_segments(library):
    segments = readelf("-l", library)
    if not re.search(r"GNU_STACK\s+(\S+\s+){5}RW\s", segments):
        return "the stack would be executable"
    if re.search(r"LOAD\s+(\S+\s+){5}RWE", segments):
        return "a segment is writable and executable"
    if "GNU_RELRO" not in segments:
        return "no part becomes read-only after relocation"
    return None


def check_dynamic(library):
    dynamic = readelf("-d", library)
    if "TEXTREL" in dynamic:
        return "text relocations"
    if "BIND_NOW" not in dynamic and "NOW" not in dynamic:
        return "symbols are bound lazily: its table stays writable"
    if "RPATH" in dynamic or "RUNPATH" in dynamic:
        return "a run path"
    return None


def check_sealed(library):
    """Whatever holds an address is read-only after relocation, but the compiler's own
    __dso_handle, which holds its own."""
    relro = re.search(r"GNU_RELRO\s+\S+\s+(\S+)\s+\S+\s+\S+\s+(\S+)", readelf("-l", library))
    start = int(relro[1], 16)
    own = re.search(r"([0-9a-f]{8,16}) +0 OBJECT +LOCAL .* __dso_handle", readelf("-s", library))
    places = re.findall(r"^([0-9a-f]{8,16})\s+[0-9a-f]+\s+R_", readelf("-r", library), re.M)
    wrong = [place for place in places if not 0 <= int(place, 16) - start < int(relro[2], 16)
             and not (own and int(own[1], 16) == int(place, 16))]
    return f"stay writable: {wrong}" if wrong or not places else None


CHECKS = {
    "needs libc alone": check_needed,
    "old symbol versions alone": check_versions,
    "exports the list": check_exports,
    "undefined symbols are libc's": check_undefined,
    "one pointer of TLS": check_tls,
    "segments": check_segments,
    "addresses are sealed": check_sealed,
    "dynamic section": check_dynamic,
}


def main():
    failed = 0
    for name, check in CHECKS.items():
        wrong = check(sys.argv[1])
        failed += wrong is not None
        print(f"not ok {name}: {wrong}" if wrong else f"ok {name}")
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
