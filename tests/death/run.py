#!/usr/bin/env python3
"""Run the death programs under a preloaded nacre and compare what they say.

Each case is one program with arguments. Its mistake must end it by the expected
signal, with exactly one line on standard error, which must be one of the lines
of docs/reports.md with the very address the program passed; where the library
keeps the line and the kind word, those must agree. Each case's innocent
neighbour must end with status 0 and an empty standard error.

  run.py --lib build/libnacre.so --dir build/tests/death [--program NAME]...
         [--profile standard|strict|fuzz] [--repeat N] [--every N] [--jobs N] [--innocent]
         [--list]
  run.py --inside --dir ...               nacre is in the programs' own libc
  run.py --dir build/tests/death          only the innocents, on the host's malloc

Prints a line a case and ends with "N passed, N failed". Status 0 when none failed.
"""
import argparse
import concurrent.futures
import os
import re
import resource
import signal
import subprocess
import sys

KIB, MIB = 1 << 10, 1 << 20
SMALL = (1, 16, 48, 100, 512, 1000)
MEDIUM = (8192, 20000, 60000)
LARGE = (100000, 3 * MIB, 40 * MIB)
PAGED = SMALL + MEDIUM  # certainly blocks of a shared page
SIZES = PAGED + LARGE
FEW = (48, 1000, 20000, 3 * MIB)

# Status words of the programs, see death.h.
UNNOTICED, SKIP = 3, 77

# The contract. {P} an address the program printed, {N} a block size, {M} the
# distance the program printed, {G} and {A} the size and alignment it passed,
# {D} any number.
BLOCK = "block of {N} bytes"
DOUBLE = "double free of {P} "
DOUBLE_PLAIN = DOUBLE + f"({BLOCK})"
DOUBLE_REMOTE = DOUBLE + f"({BLOCK}, freed before by another thread)"
DOUBLE_ONCE = DOUBLE + f"({BLOCK}, freed by two threads at once)"
DOUBLE_GONE = DOUBLE + "(its memory was already given back)"
NOT_OURS = "invalid {call} of {P} (not a block of nacre)"
INSIDE = "invalid {call} of {P} ({M} bytes into a block of {N} bytes)"
FREED_INSIDE = "invalid {call} of {P} ({M} bytes into a freed block of {N} bytes)"
SOMEWHERE = "invalid {call} of {P} ({D} bytes into a block of {N} bytes)"
FREED_SOMEWHERE = "invalid {call} of {P} ({D} bytes into a freed block of {N} bytes)"
LIBC_BLOCK = "invalid {call} of {P} ({D} bytes into a block of {D} bytes)"
NEVER = f"invalid {{call}} of {{P}} ({BLOCK}, never handed out)"
OUTSIDE = "invalid {call} of {P} (outside the blocks of its page)"
STALE = "{call} of freed block {P} " + f"({BLOCK})"
GONE = "invalid {call} of {P} (its memory was already given back)"
MISMATCH = f"size mismatch in free of {{P}} ({BLOCK}, given size {{G}}, alignment {{A}})"
OVERFLOW = f"overflow of block {{P}} ({BLOCK}, its last 4 bytes were overwritten)"
OVERFLOW_EXACT = f"overflow of block {{P}} ({BLOCK}, written past its end)"
WRITTEN = f"write after free to {{P}} ({BLOCK}, found when it was handed out)"
WRITTEN_AT = (f"write after free to {{P}} ({BLOCK}, found when it was handed out, "
              "1 bytes from byte {B} on)")
WRITTEN_EXIT = f"write after free to {{P}} ({BLOCK}, found at exit, 1 bytes from byte {{B}} on)"
WRITTEN_PAGE = (f"write after free to {{P}} ({BLOCK}, found before its memory served again, "
                "1 bytes from byte {B} on)")

# The profiles whose blocks are checked to the byte.
EXACT = False

KINDS = (
    ("double free", "double-free"),
    ("invalid", "invalid-pointer"),
    ("size mismatch", "size-mismatch"),
    ("overflow", "overflow"),
    ("write after free", "write-after-free"),
    ("", "use-after-free"),
)

CALL_WORD = {
    "realloc": "realloc", "realloc_big": "realloc", "realloc_same": "realloc",
    "reallocarray": "realloc", "realloc_zero": "(?:realloc|free)",
    "malloc_usable_size": "malloc_usable_size",
}


def kind_of(line):
    text = line.removeprefix("nacre: ")
    return next(kind for start, kind in KINDS if text.startswith(start))


class Case:
    """One program run. `lines` are alternatives that the contract allows."""

    def __init__(self, program, args, lines=(), fault=None, may_skip=False, status=None,
                 unseen=False, repeat=False, dull=()):
        self.program = program
        self.args = {key: str(value) for key, value in args.items() if value is not None}
        self.lines = tuple(lines)
        self.fault = fault          # (lowest, highest) distance of the fault from P
        self.may_skip = may_skip
        self.status = status        # an exit status instead of a death
        self.unseen = unseen        # standard error is closed
        self.repeat = repeat        # a race: run it many times
        self.dull = dull            # arguments that the innocent does not look at

    def command(self, innocent):
        args = dict(self.args)
        if innocent:
            for key in self.dull:
                args.pop(key, None)
            args["innocent"] = "1"
        return [self.program] + [f"{key}={value}" for key, value in args.items()]


def pattern(template, case, said):
    """The regular expression of a line, with the run's own addresses in it."""
    call = case.args.get("call") or case.args.get("via") or "free"
    fields = {
        "{call}": CALL_WORD.get(call, "free"),
        "{P}": "(?:" + "|".join(said.get("P", ["0x0"])) + ")",
        "{N}": r"(?P<N>[1-9]\d*)",
        "{M}": said.get("M", ["0"])[0],
        "{D}": r"\d+",
        "{B}": case.args.get("byte", ""),
        "{G}": case.args.get("given", case.args.get("size", "")),
        "{A}": case.args.get("given_align") or r"\d+",
    }
    if fields["{A}"] == "0":
        fields["{A}"] = r"\d+"
    parts = re.split(r"(\{\w+\})", "nacre: " + template)
    return "".join(fields[part] if part in fields else re.escape(part) for part in parts)


def block_size_fault(match, said):
    """The size in the line against what malloc_usable_size said."""
    if "N" not in match.groupdict() or "U" not in said:
        return None
    size, usable = int(match["N"]), int(said["U"][0])
    if usable <= size <= usable + max(16, usable // 4) or (EXACT and usable < size):
        return None
    return f"the line says {size} bytes, the usable size is {usable}"


def run(command, lib, directory):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("LD_", "NACRE", "MALLOC_", "GLIBC_TUNABLES"))}
    if lib:
        env["LD_PRELOAD"] = lib
    return subprocess.run([os.path.join(directory, command[0])] + command[1:], env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="backslashreplace", timeout=120, check=False)


def sayings(output):
    said = {}
    for line in output.splitlines():
        name, _, value = line.partition("=")
        said.setdefault(name, []).append(value)
    return said


def ending(code):
    if code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return {UNNOTICED: "not noticed", SKIP: "skipped"}.get(code, f"status {code}")


def judge_fault(case, said):
    if not case.fault or "F" not in said:
        return None
    # Right below an arena the writing thread's own stack may lie: it is lost first.
    if case.args.get("way") == "down" and int(said["F"][0], 16) == 0:
        return None
    distance = int(said["F"][0], 16) - int(said["P"][0], 16)
    past = distance - int(said["U"][0]) if case.fault[0] >= 0 else distance
    if case.fault[0] <= past <= case.fault[1]:
        return None
    return f"the fault lies {past} bytes off"


def judge(case, result):
    """None when the run is right, else what is wrong."""
    said = sayings(result.stdout)
    if case.status is not None:
        if result.returncode != case.status or result.stderr:
            return f"{ending(result.returncode)} {said.get('!', '')} {result.stderr!r}"
        return None
    if result.returncode == SKIP and case.may_skip:
        return None
    if result.returncode == -signal.SIGSEGV and case.fault:
        return judge_fault(case, said) or (result.stderr and f"said {result.stderr!r}") or None
    if result.returncode != -signal.SIGABRT or not case.lines:
        return f"ended by {ending(result.returncode)}, said {result.stderr!r}"

    first, newline, rest = result.stderr.partition("\n")
    if case.unseen:
        first, newline = said.get("R", [""])[0], "\n"
    if rest or not newline:
        return f"more or less than one line: {result.stderr!r}"
    for template in case.lines:
        match = re.fullmatch(pattern(template, case, said), first)
        if match:
            break
    else:
        return f"said {first!r}, P={said.get('P')} M={said.get('M')} U={said.get('U')}"
    if "K" in said and said["K"] != [kind_of(first)]:
        return f"kind word {said['K']}, not {kind_of(first)}"
    if "R" in said and said["R"] != [first]:
        return f"kept line {said['R']}"
    return block_size_fault(match, said)


def judge_innocent(result, hosted):
    # The host's malloc may lack a function, or keep a freed block for itself.
    if hosted and result.returncode in (SKIP, UNNOTICED):
        return None
    if result.returncode or result.stderr:
        return f"{ending(result.returncode)}, said {result.stderr!r} {sayings(result.stdout).get('!', '')}"
    return None


# ---- the table ----

# owner, first, second: who allocates, frees, frees again.
THREADS = {
    "same": ("main", "main", "main"),
    "other twice": ("main", "other", "other"),
    "other, owner": ("main", "other", "main"),
    "owner, other": ("main", "main", "other"),
    "owner gone": ("other", "main", "main"),
    "owner gone, others": ("other", "other", "other"),
}


def thread_args(name):
    owner, first, second = THREADS[name]
    return {"owner": owner, "first": first, "second": second}


def double_lines(thread, size, alone=False):
    if size in LARGE or alone:
        return [DOUBLE_PLAIN, DOUBLE_REMOTE, DOUBLE_GONE]
    if thread in ("same", "owner, other"):
        return [DOUBLE_PLAIN]
    if thread in ("other, owner", "other twice"):
        return [DOUBLE_REMOTE]
    return [DOUBLE_PLAIN, DOUBLE_REMOTE]


def stale_lines(size):
    return [STALE, GONE] if size in LARGE else [STALE]


ALLOCS = ("calloc", "realloc", "realloc_null", "reallocarray", "memalign", "memalign_page",
          "aligned_alloc", "posix_memalign", "valloc", "pvalloc")


def cases_double_free():
    for size in SIZES:
        for thread in THREADS:
            args = {"size": size, **thread_args(thread)}
            yield Case("double_free", args, double_lines(thread, size))
            yield Case("double_free", {**args, "herd": 1}, double_lines(thread, size, True))
            yield Case("double_free", {**args, "how": "realloc_zero"}, double_lines(thread, size))
            collected = double_lines(thread, size) + [DOUBLE_PLAIN]
            for how in ("between_frees", "between_mallocs"):
                yield Case("double_free", {**args, "how": how}, collected)
        for second in ("main", "other"):
            args = {"size": size, "second": second}
            moved = [DOUBLE_PLAIN, DOUBLE_GONE] if size in LARGE else [DOUBLE_PLAIN]
            yield Case("double_free", {**args, "how": "realloc_moved"}, moved,
                       may_skip=size in LARGE)
            yield Case("double_free", {**args, "how": "then_realloc", "call": "realloc"},
                       stale_lines(size))
    for size in FEW:
        for alloc in ALLOCS:
            for thread in ("same", "other, owner", "owner gone"):
                yield Case("double_free", {"size": size, "alloc": alloc, **thread_args(thread)},
                           double_lines(thread, size, alone=True))


WILD = (1, 8, 16, 0x1000, 0xfff0, 0x10000, 1 << 30, 0x7ffffffff000, (1 << 46) + 16,
        (1 << 47) - 16, 1 << 47, (1 << 47) + 65536, 1 << 48, 1 << 52, 1 << 56, 1 << 57,
        1 << 63, 0xffff800000000000, 0xffffffff80000000, 0xdeadbeefdeadbee0,
        0x4141414141414140, 0x4141414141414141, -1 % 2**64, -16 % 2**64, -4096 % 2**64,
        -65536 % 2**64)
CALLS = ("free", "realloc", "malloc_usable_size")
MORE_CALLS = ("realloc_big", "realloc_zero", "reallocarray", "cfree", "__libc_free",
              "free_sized", "free_aligned_sized")


def bad_pointer(args, lines, **more):
    return Case("bad_pointer", args, lines, dull=("what", "offset", "value", "first"), **more)


def inside_offsets(size):
    room = max(size, 12)
    wanted = {1, 4, 8, 16, size // 2, size - 1, 4096, 4097, 65536, MIB}
    return sorted(offset for offset in wanted if 0 < offset < room)


def cases_bad_inside():
    anything = [SOMEWHERE, FREED_SOMEWHERE, NEVER, OUTSIDE, NOT_OURS, GONE]
    for size in SIZES:
        for call in CALLS:
            for by, owner in (("main", "main"), ("other", "main"), ("main", "other")):
                args = {"size": size, "call": call, "by": by, "owner": owner}
                for offset in inside_offsets(size):
                    yield bad_pointer({**args, "what": "inside", "offset": offset}, [INSIDE])
                for offset in (1, 8):
                    yield bad_pointer({**args, "what": "before", "offset": offset}, anything)
            for first in ("main", "other"):
                for offset in inside_offsets(size)[:4]:
                    gone = DOUBLE_GONE if call == "free" else GONE
                    lines = [FREED_INSIDE] + ([gone] if size in LARGE else [])
                    yield bad_pointer({"size": size, "call": call, "what": "freed_inside",
                                       "offset": offset, "first": first}, lines)
    for size in FEW:
        for call in MORE_CALLS:
            yield bad_pointer({"size": size, "call": call, "what": "inside", "offset": 8},
                              [INSIDE])


def cases_bad_unissued():
    # A block that lies on a free list already counts as freed.
    for call in CALLS:
        never = [NEVER, DOUBLE_PLAIN if call == "free" else STALE]
        near = never + [OUTSIDE, SOMEWHERE, FREED_SOMEWHERE, NOT_OURS]
        for by in ("main", "other"):
            for size in PAGED:
                args = {"size": size, "call": call, "by": by}
                yield bad_pointer({**args, "what": "unissued_near"}, near)
                if size in SMALL:
                    yield bad_pointer({**args, "what": "unissued", "herd": 12}, never)
                    yield bad_pointer({**args, "what": "tail", "offset": 15}, [OUTSIDE])
                    yield bad_pointer({**args, "what": "tail", "offset": 0}, [OUTSIDE])


def cases_bad_elsewhere():
    places = [("stack", 0), ("stack", 8), ("data", 0), ("data", 16), ("bss", 0), ("rodata", 0),
              ("tls", 0), ("code", 0), ("argv", 0), ("brk", 0), ("mmap", 0), ("mmap", 64),
              ("mmap", 65536)]
    for call in CALLS + MORE_CALLS:
        for by in ("main", "other"):
            for what, offset in places:
                yield bad_pointer({"call": call, "by": by, "what": what, "offset": offset},
                                  [NOT_OURS])
            for value in WILD if call in CALLS else WILD[::4]:
                yield bad_pointer({"call": call, "by": by, "what": "wild", "value": hex(value)},
                                  [NOT_OURS])


def cases_bad_pointer():
    yield from cases_bad_inside()
    yield from cases_bad_unissued()
    yield from cases_bad_elsewhere()


def cases_stale():
    for size in SIZES:
        for thread in THREADS:
            for call in ("realloc", "realloc_same", "reallocarray", "malloc_usable_size"):
                yield Case("stale", {"size": size, "call": call, **thread_args(thread)},
                           stale_lines(size))


def cases_size_mismatch():
    for size in SIZES:
        wrong = {size * 2 + 64, size * 4 + 100, size * 100, 2**64 - 1, 2**63 - 1, 2**64 - 4096}
        wrong |= {0, size // 4, size // 2 - 16} if size >= 100 else set()
        for given in sorted(wrong):
            for by in ("main", "other"):
                yield Case("size_mismatch", {"size": size, "given": given, "by": by}, [MISMATCH],
                           dull=("given",))
        for by in ("main", "other"):
            args = {"size": size, "by": by, "align": 64}
            for given in (size * 3 + 200, size * 100):
                yield Case("size_mismatch", {**args, "given": given, "given_align": 64},
                           [MISMATCH], dull=("given",))
            if size not in LARGE:  # a large block may have any alignment
                yield Case("size_mismatch", {**args, "given": size, "given_align": MIB},
                           [MISMATCH], dull=("given", "given_align"))
                yield Case("size_mismatch", {"size": size, "by": by, "given": size,
                                             "given_align": MIB},
                           [MISMATCH], dull=("given", "given_align"))


def cases_cxx_delete():
    for size in FEW:
        for form in ("plain", "array"):
            args = {"size": size, "form": form}
            for call in ("plain", "sized", "nothrow"):
                for first, second in (("main", "main"), ("other", "main"), ("main", "other")):
                    yield Case("cxx_delete", {**args, "call": call, "how": "twice",
                                              "first": first, "second": second},
                               [DOUBLE_PLAIN, DOUBLE_REMOTE] +
                               ([DOUBLE_GONE] if size in LARGE else []))
                yield Case("cxx_delete", {**args, "call": call, "how": "inside", "offset": 16},
                           [INSIDE])
            for call in ("aligned", "sized_aligned", "aligned_nothrow"):
                yield Case("cxx_delete", {**args, "call": call, "how": "twice", "align": 64,
                                          "given_align": 64},
                           [DOUBLE_PLAIN] + ([DOUBLE_GONE] if size in LARGE else []))
                if size not in LARGE and call == "sized_aligned":
                    yield Case("cxx_delete", {**args, "call": call, "align": 64,
                                              "given": size, "given_align": MIB},
                               [MISMATCH], dull=("given", "given_align"))
            for second in ("main", "other"):
                for given in (size * 3 + 200, size * 100):
                    yield Case("cxx_delete", {**args, "call": "sized", "given": given,
                                              "second": second}, [MISMATCH], dull=("given",))
                    yield Case("cxx_delete", {**args, "call": "sized_aligned", "given": given,
                                              "align": 64, "given_align": 64, "second": second},
                               [MISMATCH], dull=("given",))


def cases_write_after_free():
    for size in PAGED:
        for how in ("fill", "zero", "self", "copy_link"):
            yield Case("write_after_free", {"size": size, "how": how}, [WRITTEN], dull=("how",))
            for owner in ("main", "other"):
                yield Case("write_after_free", {"size": size, "how": how, "owner": owner,
                                                "first": "other"},
                           [WRITTEN], dull=("how",))
        for byte in range(8):
            for how in ("byte", "bit"):
                yield Case("write_after_free", {"size": size, "how": how, "byte": byte},
                           [WRITTEN], dull=("how", "byte"))
        for byte in sorted({8, 9, 15, size // 2, size - 1}):
            if EXACT and 8 <= byte < size:
                for owner in (None, "main", "other"):
                    yield Case("write_after_free",
                               {"size": size, "how": "byte", "byte": byte, "owner": owner,
                                "first": owner and "other"},
                               [WRITTEN_AT], dull=("how", "byte"))
    for size in LARGE:
        yield Case("write_after_free", {"size": size}, [WRITTEN], fault=(-MIB, 64 * MIB))


def cases_overflow():
    damages = ((0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (2, 1), (3, 1))
    threads = (("main", "main"), ("main", "other"), ("other", "main"), ("other", "other"))
    dull = ("from", "bytes", "how")

    def case(args):
        fault = (0, 2 * MIB) if int(args["size"]) in LARGE else None
        return Case("overflow", args, [OVERFLOW_EXACT if EXACT else OVERFLOW], fault=fault,
                    dull=dull)

    for size in SIZES:
        for owner, by in threads:
            for start, count in damages:
                yield case({"size": size, "from": start, "bytes": count, "owner": owner, "by": by})
        for via in ("realloc_same", "realloc_grow", "realloc_shrink", "realloc_zero",
                    "reallocarray", "free_sized", "cfree", "__libc_free"):
            for by in ("main", "other"):
                yield case({"size": size, "bytes": 1, "how": "fill", "via": via, "by": by})
        for alloc in ALLOCS:
            yield case({"size": size, "bytes": 1, "how": "fill", "alloc": alloc})


def cases_underflow():
    for size in PAGED:
        for owner, by in (("main", "main"), ("main", "other"), ("other", "main")):
            for count in (1, 2, 3, 4):
                for via in ("free", "realloc"):
                    yield Case("underflow", {"size": size, "bytes": count, "via": via,
                                             "owner": owner, "by": by},
                               [OVERFLOW_EXACT if EXACT else OVERFLOW], may_skip=size in MEDIUM, dull=("bytes",))


def cases_run_off():
    for size in SIZES:
        reach = 64 * KIB if size in SMALL else 2 * MIB
        for owner, by in (("main", "main"), ("main", "other"), ("other", "main")):
            args = {"size": size, "owner": owner, "by": by}
            yield Case("run_off", {**args, "way": "up"}, fault=(0, reach))
            # Below the first page of an arena, unused slices may lie.
            below = reach if size in LARGE else 16 * MIB
            yield Case("run_off", {**args, "way": "down"}, fault=(-below, -1))


def cases_no_access():
    for access in ("read", "write") if EXACT else ():
        for alloc in ("malloc", "calloc", "realloc", "memalign"):
            for offset in (0, 1, 15):
                yield Case("no_access", {"what": "zero", "alloc": alloc, "offset": offset,
                                         "access": access, "by": "other" if offset else "main"},
                           fault=(0, 16), dull=("access", "offset"))
        for size in LARGE:
            for offset in (0, 8, 4096, size // 2, size - 1):
                for first in ("main", "other"):
                    yield Case("no_access", {"what": "freed", "size": size, "offset": offset,
                                             "access": access, "first": first},
                               fault=(-size, size), dull=("access", "offset"))


def cases_late_write():
    for size in PAGED if EXACT else ():
        for byte in sorted({8, 15, size // 2, size - 1}):
            if 8 <= byte < size:
                yield Case("late_write", {"what": "freed", "size": size, "byte": byte},
                           [WRITTEN_EXIT], dull=("byte",))
        for byte in (size, size + 1, size + 3):
            yield Case("late_write", {"what": "live", "size": size, "byte": byte},
                       [OVERFLOW_EXACT], dull=("byte",))
    for size in (100, 1000, 8192) if EXACT else ():
        for byte in (8, size - 1):
            yield Case("late_write", {"what": "page", "size": size, "byte": byte},
                       [WRITTEN_AT, WRITTEN_PAGE], dull=("byte",))


def cases_race_free():
    for size in SIZES:
        for first in ("main", "other"):
            yield Case("race_free", {"size": size, "first": first},
                       [DOUBLE_PLAIN, DOUBLE_REMOTE, DOUBLE_ONCE, DOUBLE_GONE], repeat=True)


def cases_circumstance():
    for how in ("abrt_default", "abrt_ignored", "abrt_handled", "abrt_blocked", "stderr_closed",
                "no_descriptors", "in_atexit", "in_handler", "in_thread", "in_key_destructor",
                "in_child", "freed_before_fork"):
        for size in (48, 20000):
            yield Case("circumstance", {"how": how, "size": size}, [DOUBLE_PLAIN],
                       unseen=how == "stderr_closed")


def cases_constructor():
    for size in SIZES:
        yield Case("constructor", {"size": size}, [DOUBLE_PLAIN, DOUBLE_GONE])


def cases_limits():
    yield Case("limits", {}, status=0)


def cases_cxx_limits():
    yield Case("cxx_limits", {}, status=0)


PROGRAMS = {name.removeprefix("cases_"): make for name, make in list(globals().items())
            if name.startswith("cases_") and not name.startswith("cases_bad_")
            or name == "cases_bad_pointer"}


# ---- running ----

def work_list(programs, mistakes, repeat):
    """(label, case, innocent, times) for every run; each innocent once."""
    seen = set()
    for program in programs:
        for case in PROGRAMS[program]():
            command = case.command(False)
            if mistakes and tuple(command) not in seen:
                seen.add(tuple(command))
                yield " ".join(command), case, False, repeat if case.repeat else 1
            if case.status is None:
                command = case.command(True)
                if tuple(command) not in seen:
                    seen.add(tuple(command))
                    yield " ".join(command), case, True, 1


def perform(item, lib, directory, inside):
    """None when all went well, "skipped", or what is wrong."""
    label, case, innocent, times = item
    for _ in range(times):
        try:
            result = run(case.command(innocent), lib, directory)
        except subprocess.TimeoutExpired:
            return label, "did not end within 120 s"
        if inside and result.returncode == SKIP:
            return label, "skipped"
        if inside and case.args.get("what") == "tls": # musl takes it from its malloc
            case.lines += (LIBC_BLOCK,)
        if innocent:
            wrong = judge_innocent(result, not lib and not inside)
        elif inside and case.unseen: # libc keeps no line for others
            wrong = None if result.returncode == -signal.SIGABRT else ending(result.returncode)
        else:
            wrong = judge(case, result)
        if wrong:
            return label, wrong
    return label, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lib", help="the library to preload; without it only innocents run")
    parser.add_argument("--inside", action="store_true", help="without a preload")
    parser.add_argument("--dir", required=True, help="where the programs lie")
    parser.add_argument("--program", action="append", choices=sorted(PROGRAMS))
    parser.add_argument("--profile", default="standard", choices=("standard", "strict", "fuzz"))
    parser.add_argument("--repeat", type=int, default=20, help="runs of each race")
    parser.add_argument("--every", type=int, default=1, help="run one case in so many")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--innocent", action="store_true", help="run no mistakes")
    parser.add_argument("--list", action="store_true", help="print the cases and end")
    options = parser.parse_args()

    global EXACT # the generators of cases ask for it
    EXACT = options.profile in ("strict", "fuzz")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    lib = os.path.abspath(options.lib) if options.lib else None
    checked = lib or options.inside
    items = list(work_list(options.program or list(PROGRAMS), checked and not options.innocent,
                           options.repeat))
    items = items[::options.every]
    if options.list:
        print("\n".join(item[0] for item in items))
        return 0
    failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for label, wrong in pool.map(lambda item: perform(item, lib, options.dir, options.inside), items):
            if wrong == "skipped":
                skipped += 1
                print(f"ok {label} # skipped: libc has no such call")
            else:
                failed += wrong is not None
                print(f"not ok {label}: {wrong}" if wrong else f"ok {label}")
    print(f"{len(items) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    if skipped == len(items):
        return SKIP
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
