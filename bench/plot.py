#!/usr/bin/python3
"""Draws results of compare.py: plot.py RESULTS.json [docs/cost.svg ...]

One row a load, one mark an allocator; the ending of each output name chooses its
form (svg, png). Needs Debian's python3-matplotlib, hence the system's Python.
"""
import json
import math
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.fonttype"] = "none"
matplotlib.rcParams["svg.hashsalt"] = "nacre"  # the same figures give the same file
import matplotlib.pyplot as plt  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[1]
MARKS = {"nacre": ("o", "#c2185b", 80), "mimalloc": ("s", "#1f77b4", 36),
         "glibc": ("^", "#555555", 40), "jemalloc": ("D", "#2ca02c", 32),
         "tcmalloc": ("v", "#ff7f0e", 40)}


def ratios(results, column, base):
    """{allocator: [ratio a load..., geometric mean]}"""
    middle = {load: {name: statistics.median(run[column] for run in runs)
                     for name, runs in by_name.items()} for load, by_name in results.items()}
    found = {}
    for name in next(iter(results.values())):
        row = [middle[load][name] / middle[load][base] for load in results]
        found[name] = row + [math.exp(statistics.fmean(map(math.log, row)))]
    return found


def draw(axes, results, column, base, title):
    rows = list(results) + ["geometric mean"]
    table = ratios(results, column, base)
    for name in sorted(table, key=lambda n: n == "nacre"):  # nacre on top
        mark, colour, size = MARKS.get(name, ("x", "#000000", 40))
        axes.scatter(table[name], range(len(rows)), marker=mark, color=colour, s=size,
                     label=name, zorder=4 if name == "nacre" else 3)
    axes.set_xscale("log")
    top = max(max(row) for row in table.values()) * 1.1
    low = min(min(row) for row in table.values()) / 1.1
    axes.set_xlim(low, top)
    ticks = [t for t in (0.25, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20) if low <= t <= top]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(rows)), rows)
    for label in axes.get_yticklabels()[-1:]:
        label.set_fontweight("bold")
    axes.axvline(1, color="#999999", linewidth=1)
    axes.axhline(len(rows) - 1.5, color="#999999", linewidth=0.6)
    axes.grid(True, axis="both", color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(f"{title}\n({base} = 1, less is better)", fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    results = json.loads(pathlib.Path(sys.argv[1]).read_text())
    names = list(next(iter(results.values())))
    figure, axes = plt.subplots(1, 2, figsize=(9, 0.36 * len(results) + 1.9), sharey=True)
    for one, column, base, title in ((axes[0], 0, "mimalloc", "CPU time"),
                                     (axes[1], 1, "glibc", "peak resident memory")):
        draw(one, results, column, base if base in names else names[0], title)
    axes[0].invert_yaxis()  # shared
    handles, labels = axes[0].get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: (labels[i] != "nacre", labels[i]))
    figure.legend([handles[i] for i in order], [labels[i] for i in order], loc="lower center",
                  ncols=len(labels), frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    for output in sys.argv[2:] or [ROOT / "docs/cost.svg"]:
        options = {"metadata": {"Date": None}} if str(output).endswith(".svg") else {"dpi": 130}
        figure.savefig(output, **options)


if __name__ == "__main__":
    main()
