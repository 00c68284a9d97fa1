"""The benchmarks: programs of this folder with their arguments, and the loads of real
programs (programs.py). What the arguments mean stands at the head of each source.

Groups: single (one thread), threads, large (blocks of MiB), real, and scaling, in which a
program runs with several numbers of threads and the same work in all. The usual arguments
are the published ones, some with fewer or more rounds; each source's head says so.
"""
import dataclasses
import fnmatch

import programs

FLAGS = ["-O2", "-std=gnu99"]    # inside musl; otherwise meson.build has them


@dataclasses.dataclass
class Benchmark:
    name: str
    group: str
    program: str = ""            # a source without its ending; "" for a real program
    usual: str = ""              # arguments
    quick: str = ""
    mean: bool = True            # part of the geometric mean
    cpp: bool = False
    threads: int = 0             # in the group scaling
    limit_s: int = 300           # a run that takes longer has failed
    load: object = None          # of programs.py, in the group real

    def matches(self, wanted):
        return wanted == self.group or fnmatch.fnmatch(self.name, wanted)

    def arguments(self, quick):
        return self.quick if quick else self.usual


PROGRAMS = [
    Benchmark("alloc_test1", "single", "alloc_test", "1 10000000 18 10", "1 4000000 18 10"),
    Benchmark("barnes", "single", "barnes", "16384 50", "16384 10"),
    Benchmark("cfrac", "single", "cfrac", "853973422267356708801755307227067758023",
              "8539734222673567172606511345051136291"),
    Benchmark("espresso", "single", "espresso", "5", "1"),
    Benchmark("glibc_simple", "single", "glibc_simple", "16 3 2000000", "16 3 500000"),
    Benchmark("sh6bench1", "single", "sh6bench", "1 30000 1 1000", "1 9000 1 1000"),
    Benchmark("alloc_test", "threads", "alloc_test", "2 10000000 18 10", "2 4000000 18 10"),
    Benchmark("cache_scratch", "threads", "cache_scratch", "2 1000 1 2000000 2",
              "2 1000 1 200000 2"),
    Benchmark("cache_thrash", "threads", "cache_thrash", "2 1000 1 2000000 2",
              "2 1000 1 600000 2"),
    Benchmark("deserialise", "threads", "deserialise", "25", "5"),
    Benchmark("glibc_thread", "threads", "glibc_thread", "2 2", "2 0.3"),
    Benchmark("larson", "threads", "larson", "5 8 1000 5000 100 4141 8",
              "0.3 8 1000 500 100 4141 8"),
    Benchmark("larson_sized", "threads", "larson_sized", "5 8 1000 5000 100 4141 8",
              "0.3 8 1000 500 100 4141 8", cpp=True),
    Benchmark("mstress", "threads", "mstress", "2 50 200", "2 50 80"),
    Benchmark("rptest", "threads", "rptest", "2 0 1 2 500 1000 100 8 16000 20",
              "2 0 1 2 500 1000 100 8 16000 3"),
    Benchmark("sh6bench", "threads", "sh6bench", "2 30000 1 1000", "2 9000 1 1000"),
    Benchmark("sh8bench", "threads", "sh8bench", "2 10000 1 1000", "2 1500 1 1000"),
    Benchmark("xmalloc_test", "threads", "xmalloc_test", "2 2 64", "2 0.3 64"),
    # Not part of the mean: a test of memory, that also has a table of its own; and two in
    # which Debian's mimalloc, the usual base, is so slow that they would decide it.
    Benchmark("small_overhead", "single", "small_overhead", "40 0", "8 0", mean=False),
    Benchmark("malloc_large", "large", "malloc_large", "500 20 5 25 4096", "40 4 5 10 4096",
              mean=False),
    Benchmark("mleak", "threads", "mleak", "5 10", "2 10", mean=False),
]


def scaling(threads):
    """The same work in all, or the same time, for each number of threads."""
    found = []
    for t in threads:
        stress = sum(i % 8 + 1 for i in range(t))   # mstress's threads are unlike each other
        for program, usual, quick in (
                ("alloc_test", f"{t} {16000000 // t} 18 10", f"{t} {4000000 // t} 18 10"),
                ("glibc_thread", f"{t} 1", f"{t} 0.2"),
                ("larson", f"1 8 1000 2000 100 4141 {t}", f"0.2 8 1000 500 100 4141 {t}"),
                ("mstress", f"{t} 50 {720 // stress or 1}", f"{t} 50 {144 // stress or 1}"),
                ("rptest", f"{t} 0 1 2 {8000 // t} 1000 100 8 16000 1",
                 f"{t} 0 1 2 {800 // t} 1000 100 8 16000 1"),
                ("sh8bench", f"{t} {16000 // t} 1 1000", f"{t} {3200 // t} 1 1000")):
            found.append(Benchmark(f"{program}-t{t}", "scaling", program, usual, quick,
                                   mean=False, threads=t))
    return sorted(found, key=lambda one: (one.program, one.threads))


def table(threads):
    real = [Benchmark(load.name, "real", load=load) for load in programs.LOADS]
    return PROGRAMS + real + scaling(threads)
