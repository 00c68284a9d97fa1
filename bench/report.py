"""From the results of bench/run: Markdown tables, and plots of them."""
import dataclasses
import math
import statistics

DISTURBED_SHARE_MAX = 0.2   # of a benchmark's runs; with more it allows no conclusion


class Stop(Exception):
    """Nothing can be run or reported; the message says why."""


# ---- figures ----

def scaled(*units):
    """A function that writes a value in the largest unit of which it has one."""
    def text(value):
        size, unit = next((one for one in units if value >= one[0]), units[-1])
        value /= size
        return f"{value:.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}".strip()
    return text


seconds = scaled((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
kib = scaled((1 << 20, "GiB"), (1 << 10, "MiB"), (1, "KiB"))
per_second = scaled((1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1, "/s"))
times = scaled((1e6, "M"), (1e3, "k"), (1, ""))


def cpu_time(run):
    return (run["user_us"] + run["system_us"]) * 1e-6 / (run.get("operations") or 1)


def system_time(run):
    return run["system_us"] * 1e-6 / (run.get("operations") or 1)


def throughput(run):
    return run["operations"] / run["seconds"] if run.get("operations") else None


def events(field):
    def value(run):
        return run[field] / (run["operations"] / 1e6 if run.get("operations") else 1)
    return value


@dataclasses.dataclass
class Metric:
    """Costs are those of an operation where the program counts them: some programs end by
    the clock, and do the more the faster the allocator."""
    title: str
    value: object            # of a run; None: it has none
    text: object
    base: str = ""           # cpu or memory: the table has ratios to that base
    timed: bool = True       # what other processes change


MILLION = "a million operations (a run, where none are counted)"
METRICS = {
    "cpu": Metric("CPU time, user and system", cpu_time, seconds, "cpu"),
    "memory": Metric("Peak resident memory", lambda run: run["peak_kib"], kib, "memory", False),
    "throughput": Metric("Operations in a second of wall time, more is better", throughput,
                         per_second, "cpu"),
    "system": Metric("System time of an operation (a run, where none are counted)", system_time,
                     seconds),
    "wall": Metric("Wall time of a run", lambda run: run["wall_us"] * 1e-6, seconds),
    "minor": Metric(f"Minor page faults, {MILLION}", events("minor_faults"), times),
    "major": Metric(f"Major page faults, {MILLION}", events("major_faults"), times),
    "voluntary": Metric(f"Voluntary context switches, {MILLION}", events("voluntary_switches"),
                        times),
    "involuntary": Metric(f"Involuntary context switches, {MILLION}",
                          events("involuntary_switches"), times),
}


TABLES = [*METRICS, "overhead"]


def tables_named(text):
    names = TABLES if text == "all" else text.split(",")
    for name in names:
        if name not in TABLES:
            raise Stop(f"no table {name}; there are {', '.join(TABLES)} and all")
    return names


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def merge(results):
    """Several results as one. A benchmark must be whole in one of them: times of different
    sittings do not compare."""
    merged = results[0]
    for other in results[1:]:
        if any(merged["machine"][one] != other["machine"][one] for one in ("cpu", "kernel")):
            raise Stop("the files are of different machines or kernels")
        merged["date"] += " and " + other["date"]
        twice = {run["benchmark"] for run in merged["runs"]} & \
                {run["benchmark"] for run in other["runs"]}
        if twice:
            raise Stop(f"more than one file has {', '.join(sorted(twice))}; times of "
                       "different sittings do not compare")
        for name, allocator in other["allocators"].items():
            if merged["allocators"].setdefault(name, allocator) != allocator:
                raise Stop(f"{name} is not the same in all files: {allocator['version']}, "
                           f"{merged['allocators'][name]['version']}")
        merged["benchmarks"].update(other["benchmarks"])
        merged["runs"] += other["runs"]
    return merged


class Results:
    def __init__(self, results, cpu_base="", memory_base=""):
        self.results = results
        self.allocators = list(results["allocators"])
        self.benchmarks = results["benchmarks"]
        self.base = {"cpu": self.choose_base(cpu_base, "mimalloc"),
                     "memory": self.choose_base(memory_base, "glibc")}
        self.runs = {}       # (benchmark, allocator): [the best attempt of each round]
        best = {}
        for run in results["runs"]:
            key = run["benchmark"], run["allocator"], run["round"]
            # A failure stays one, even if another attempt was good.
            rank = not run["failed"], run["others_share"]
            if key not in best or rank < (not best[key]["failed"],
                                          best[key]["others_share"]):
                best[key] = run
        for (benchmark, allocator, _), run in best.items():
            self.runs.setdefault((benchmark, allocator), []).append(run)

    def choose_base(self, asked, usual):
        if asked and asked not in self.allocators:
            raise Stop(f"the base {asked} is not among {', '.join(self.allocators)}")
        return asked or next((name for name in (usual, "mallocng") if name in self.allocators),
                             self.allocators[0])

    def failure(self, benchmark, allocator):
        return next((run["failed"] for run in self.runs.get((benchmark, allocator), [])
                     if run["failed"]), "")

    def failures(self):
        return [(b, a, self.failure(b, a)) for b in self.benchmarks for a in self.allocators
                if self.failure(b, a)]

    def values(self, metric, benchmark, allocator):
        """One a round; without those of disturbed rounds as long as there are others."""
        runs = self.runs.get((benchmark, allocator), [])
        if self.failure(benchmark, allocator):
            return []
        if metric.timed:
            runs = [run for run in runs if not run["disturbed"]] or runs
        return [value for value in map(metric.value, runs) if value is not None]

    def median(self, metric, benchmark, allocator):
        values = self.values(metric, benchmark, allocator)
        return statistics.median(values) if values else None

    def ratio(self, metric, benchmark, allocator):
        one = self.median(metric, benchmark, self.base[metric.base])
        this = self.median(metric, benchmark, allocator)
        return this / one if one and this else None

    def ratios(self, metric, allocator):
        """Of the benchmarks that count for the mean."""
        found = [self.ratio(metric, name, allocator)
                 for name, about in self.benchmarks.items() if about["mean"]]
        return [ratio for ratio in found if ratio]

    def spread(self, metric, benchmark):
        """How far apart an allocator's rounds were at most: half the range, in percent."""
        found = [self.values(metric, benchmark, name) for name in self.allocators]
        return max((50 * (max(one) - min(one)) / statistics.median(one)
                    for one in found if len(one) > 1 and statistics.median(one)), default=None)

    def disturbed(self, benchmark):
        runs = [run for name in self.allocators for run in self.runs.get((benchmark, name), [])]
        return sum(run["disturbed"] for run in runs) > DISTURBED_SHARE_MAX * len(runs)

    def inconclusive(self):
        return [name for name in self.benchmarks if self.disturbed(name)]

    def plot(self, prefix):
        plot_scaling(self, f"{prefix}-scaling")
        plot_ratios(self, f"{prefix}-ratios")

    # ---- Markdown ----

    def row(self, metric, benchmark):
        cells = ["~ " * (metric.timed and self.disturbed(benchmark)) + benchmark]
        if metric.base:
            one = self.median(metric, benchmark, self.base[metric.base])
            cells.append(metric.text(one) if one else "")
        for name in self.allocators:
            if metric.base:
                value = self.ratio(metric, benchmark, name)
                cell = f"{value:.{2 if value > 0.095 else 3}f}" if value else ""
            else:
                value = self.median(metric, benchmark, name)
                cell = "" if value is None else metric.text(value)
            cells.append("failed" if self.failure(benchmark, name) else cell)
        spread = self.spread(metric, benchmark)
        return cells + ["" if spread is None else f"{spread:.0f} %"]

    def mean_row(self, metric):
        cells = ["**geometric mean**", ""]
        if metric.timed and self.inconclusive():
            cells[0] += " (not conclusive)"
        every = max(len(self.ratios(metric, name)) for name in self.allocators)
        for name in self.allocators:
            ratios = self.ratios(metric, name)
            cells.append(f"**{geometric_mean(ratios):.2f}**" if ratios else "")
            if 0 < len(ratios) < every:
                cells[-1] += f" of {len(ratios)}"
        return cells + [""]

    def table(self, metric):
        """The benchmarks of the mean and the mean, then those that are apart; and a second
        table of the scaling."""
        rows, apart, scaling = [], [], []
        for name, about in self.benchmarks.items():
            if any(self.values(metric, name, allocator) for allocator in self.allocators):
                (scaling if about["group"] == "scaling" else rows if about["mean"]
                 else apart).append(self.row(metric, name))
        if metric.base and rows:
            rows.append(self.mean_row(metric))
        one = self.base.get(metric.base)
        head = ["", *(["1.00 is"] if one else []), *self.allocators, "±"]
        title = metric.title + (f"; {one} = 1.00" if one else "")
        lines = []
        for more, body in (("", rows + apart), ("; by threads (-t)", scaling)):
            if body:
                lines += [f"### {title}{more}", "", *aligned([head] + body), ""]
        return lines

    def overhead_table(self):
        """What small_overhead says of each size, in percent."""
        found = {}   # largest size: {allocator: [percent a round]}
        for (_, name), runs in self.runs.items():
            for one in (one for run in runs for one in run.get("details", [])):
                if "overhead_percent" in one:
                    found.setdefault(one["max_size"], {}).setdefault(name, []).append(
                        one["overhead_percent"])
        rows = [[f"1 to {size} bytes", *(f"{statistics.median(by_name[name]):.1f} %"
                                         if name in by_name else "" for name in self.allocators)]
                for size, by_name in sorted(found.items())]
        head = ["blocks of", *self.allocators]
        return ["### Resident memory over what small blocks asked for", "",
                *aligned([head] + rows), ""] if rows else []

    def markdown(self, tables):
        results, about = self.results, self.results["machine"]
        attempts, runs = len(results["runs"]), sum(map(len, self.runs.values()))
        disturbed = sum(run["disturbed"] for each in self.runs.values() for run in each)
        lines = ["## Benchmarks", "",
                 f"{results['date']}, rounds: {results['rounds']}"
                 + (", short forms" if results["quick"] else "")
                 + f"; {about['cpu']}, {about['cpus']} CPUs, {about['memory']}, "
                 f"{about['system']}, {about['kernel']}; nacre {results['sources']}", ""]
        lines += [f"- {name}: {one['version']}" for name, one in results["allocators"].items()]
        lines += ["", f"Medians of {runs} runs, {attempts - runs} repeated and {disturbed} "
                  "disturbed by other processes. ±: half the range of the rounds, of the "
                  "allocator where it is largest. Below the mean: not part of it.", ""]
        for name in tables:
            lines += self.overhead_table() if name == "overhead" else self.table(METRICS[name])
        if self.inconclusive():
            lines += ["**~ Not conclusive**: more than a fifth of these runs were disturbed by "
                      "other processes, so no times of them and no mean of times should be "
                      "quoted. Memory is not concerned.", ""]
        lines += [f"- failed: {benchmark} on {name}: {message}"
                  for benchmark, name, message in self.failures()]
        return "\n".join(lines)


def aligned(rows):
    """Rows of cells as a Markdown table; the first is its head."""
    widths = [max(3, *map(len, column)) for column in zip(*rows)]
    lines = ["| " + " | ".join(cell.rjust(width) if i else cell.ljust(width)
             for i, (cell, width) in enumerate(zip(row, widths))) + " |" for row in rows]
    rule = ["-" * width if i == 0 else "-" * (width - 1) + ":" for i, width in enumerate(widths)]
    return [lines[0], "| " + " | ".join(rule) + " |", *lines[1:]]


# ---- plots ----

COLOURS = {"nacre": "#c2185b", "nacre-strict": "#7b1fa2", "nacre-plain": "#f48fb1",
           "glibc": "#616161", "mallocng": "#616161", "mimalloc": "#1f77b4",
           "jemalloc": "#2ca02c", "tcmalloc": "#ff7f0e", "tbbmalloc": "#8c564b",
           "scudo": "#bcbd22", "oldmalloc": "#17becf"}
OTHER_COLOURS = ["#e377c2", "#004d40", "#9467bd", "#d62728"]
MARKS = "osD^vP*X"


def need_matplotlib():
    try:
        import matplotlib
    except ImportError:
        raise Stop("plots need Debian's package python3-matplotlib, and /usr/bin/python3") from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 9,
                                "svg.hashsalt": "nacre",  # the same figures, the same file
                                "axes.spines.top": False, "axes.spines.right": False})
    import matplotlib.pyplot
    return matplotlib.pyplot


def colours(names):
    more = iter(OTHER_COLOURS * len(names))
    return {name: COLOURS.get(name) or next(more) for name in names}


def save(figure, path):
    figure.savefig(f"{path}.png", dpi=130)
    figure.savefig(f"{path}.svg", metadata={"Date": None})


def legend(figure, axes):
    """At the foot, outside of the data."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.35 / figure.get_figheight(), 1, 1))


def log_axis(axis, lowest, highest, most=6):
    """A logarithmic axis with round numbers on it, about as many as there is room for."""
    axis.axes.set(**{f"{axis.axis_name}scale": "log", f"{axis.axis_name}lim": (lowest, highest)})
    for steps in ((1, 1.5, 2, 3, 4, 5, 6, 8), (1, 2, 3, 5), (1, 2, 5), (1,)):
        ticks = [step * 10.0 ** power for power in range(-6, 7) for step in steps]
        ticks = [tick for tick in ticks if lowest <= tick <= highest]
        if len(ticks) <= most:
            break
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def plot_scaling(results, path):
    """CPU time of an operation over the number of threads, a panel for each program."""
    pyplot, metric, paint = need_matplotlib(), METRICS["cpu"], colours(results.allocators)
    panels = {}
    for name, about in results.benchmarks.items():
        if about["group"] == "scaling":
            panels.setdefault(about["program"], []).append((about["threads"], name))
    if not panels:
        return
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(3.3 * columns, 2.8 * rows + 0.4),
                                   squeeze=False)
    for one in axes.flat[len(panels):]:
        one.set_visible(False)
    for one, (program, points) in zip(axes.flat, panels.items()):
        shown = []
        for i, name in enumerate(results.allocators):
            line = [(t, results.median(metric, benchmark, name)) for t, benchmark in points]
            line = [(t, value * 1e9) for t, value in line if value]
            one.plot([t for t, _ in line], [value for _, value in line], color=paint[name],
                     label=name, marker=MARKS[i % len(MARKS)], markersize=4, linewidth=1.4,
                     zorder=4 if name == "nacre" else 3)
            shown += [value for _, value in line]
        if shown:
            log_axis(one.yaxis, min(shown) / 1.15, max(shown) * 1.15)
        threads = [t for t, _ in points]
        one.set_xscale("log", base=2)
        one.set_xticks(threads, threads)
        one.set_xticks([], minor=True)
        unsure = any(results.disturbed(benchmark) for _, benchmark in points)
        one.set_title(program + " (disturbed)" * unsure, fontsize=10)
        one.set(xlabel="threads", ylabel="ns CPU an operation")
        one.grid(True, color="#e6e6e6", linewidth=0.6)
    legend(figure, axes.flat[0])
    save(figure, path)


def plot_ratios(results, path):
    """Bars from 1 to each ratio; what is off the scale has its number written to it."""
    pyplot, paint = need_matplotlib(), colours(results.allocators)
    rows = [name for name, about in results.benchmarks.items() if about["group"] != "scaling"]
    rows = [None] + sorted(rows, key=lambda name: not results.benchmarks[name]["mean"])
    names, low, high = results.allocators, 0.4, 4
    bar = 0.8 / len(names)
    figure, axes = pyplot.subplots(1, 2, sharey=True, figsize=(
        10, 0.11 * len(rows) * (len(names) + 1.5) + 1.3))
    for one, metric in zip(axes, (METRICS["cpu"], METRICS["memory"])):
        for i, name in enumerate(names):
            ratios = [results.ratio(metric, row, name) if row else
                      geometric_mean(results.ratios(metric, name)) for row in rows]
            at = [(y - 0.4 + (i + 0.5) * bar, ratio) for y, ratio in enumerate(ratios) if ratio]
            one.barh([y for y, _ in at], [min(max(r, low), high) - 1 for _, r in at], left=1,
                     height=bar, color=paint[name], label=name, zorder=3)
            for y, ratio in at:
                if not low <= ratio <= high:
                    one.text(high * 1.02 if ratio > high else low / 1.02, y, f"{ratio:.2g}",
                             fontsize=6, va="center", ha="left" if ratio > high else "right")
        log_axis(one.xaxis, low / 1.3, high * 1.3, 8)
        one.axvline(1, color="#444444", linewidth=0.8, zorder=4)
        one.grid(True, axis="x", color="#e0e0e0", linewidth=0.6)
        one.axhline(0.5, color="#999999", linewidth=0.6)
        one.set_title(f"{metric.title}\n({results.base[metric.base]} = 1, less is better)",
                      fontsize=10)
    axes[0].set_yticks(range(len(rows)), [
        "geometric mean" if row is None else "~ " * results.disturbed(row) + row for row in rows])
    axes[0].get_yticklabels()[0].set_fontweight("bold")
    axes[0].set_ylim(len(rows) - 0.5, -0.5)
    legend(figure, axes[0])
    save(figure, path)
