"""Draws the figures of paper.py from its CSV files, beside them, as SVG and PNG: figures 8 to 11 of the
paper, and the whole run, the precisions' errors and their speed (tables 5, 7 and 8). What was not
measured is not drawn.

    python3 paper_plots.py FOLDER   (needs matplotlib)
"""

import math
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from evaluation import counted, read_csv

COLOUR = "#1f5fa8"
PAPER = "#b0b0b0"
SERIES = ("#1f5fa8", "#d1730f", "#3f8f4f", "#8a4fa8", "#a83232", "#5f5f5f")


def rows(folder, name):
    return read_csv(folder / f"paper-{name}.csv")


def own(table):
    return [row for row in table if row["source"] == "starpmc"]


def short(device):
    """StarPU's names of OpenCL devices are long."""
    return re.sub(r" \([^()]*\)", "", device)


def save(figure, folder, name, bottom=0):
    """With room for a legend below where a share of the height is given."""
    figure.tight_layout(rect=(0, bottom, 1, 1))
    figure.savefig(folder / f"paper-{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"paper-{name}.png", dpi=150)
    plt.close(figure)


def bars(axis, labels, values, colours, form):
    """Horizontal bars with their numbers, the first on top."""
    places = range(len(values))
    axis.barh(places, values, color=colours)
    axis.set_yticks(places, labels, fontsize=7)
    axis.invert_yaxis()
    axis.set_xscale("log")
    # From a power of ten well below the shortest, so that no bar vanishes.
    axis.set_xlim(10 ** math.floor(math.log10(min(values) / 2)), 6 * max(values))
    for place, value in zip(places, values):
        axis.text(value, place, " " + form.format(value), va="center", fontsize=7)


def draw_speedups(folder):
    table = rows(folder, "figure-8")
    if not own(table):
        return
    names = list(dict.fromkeys(row["benchmark"] for row in own(table)))
    figure, axes = plt.subplots(1, len(names), figsize=(4.6 * len(names), 3.4), squeeze=False)
    for axis, name in zip(axes[0], names):
        chosen = [row for row in table if row["benchmark"] == name]
        colours = [COLOUR if row["source"] == "starpmc" else PAPER for row in chosen]
        bars(axis, [f"{short(row['platform'])}, {row['precision']}" for row in chosen],
             [float(row["speedup_over_paper_core"]) for row in chosen], colours, "{:.3g}")
        axis.set_title(f"{name} (the paper's figure 8)", fontsize=9)
        axis.set_xlabel("times the paper's serial program\non one i7-4770K core", fontsize=8)
    save(figure, folder, "figure-8")


def draw_devices(folder):
    table = own(rows(folder, "figure-9"))
    if not table:
        return
    devices = list(dict.fromkeys(row["device"] for row in table))
    figure, axis = plt.subplots(figsize=(6.5, 1.7 + 0.45 * len(devices)))
    kernels = list(dict.fromkeys(row["kernel"] for row in table))
    left = [0.0] * len(devices)
    for colour, kernel in zip(SERIES, kernels):
        times = [sum(float(row["microseconds_per_step"]) for row in table
                     if row["device"] == device and row["kernel"] == kernel) for device in devices]
        axis.barh(range(len(devices)), times, left=left, color=colour, label=kernel)
        left = [a + b for a, b in zip(left, times)]
    shares = {row["device"]: row["grid_share_percent"] for row in table if row["grid_share_percent"]}
    axis.set_yticks(range(len(devices)), [f"{short(d)}\n{float(shares.get(d, 0)):.0f} % of the grid"
                                          for d in devices], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlabel("microseconds per step")
    axis.set_title("kernels of each device, bench-A (the paper's figure 9)", fontsize=9)
    figure.legend(loc="lower center", ncols=len(kernels), frameon=False, fontsize=7)
    save(figure, folder, "figure-9", bottom=0.3 / figure.get_figheight())


def draw_convergence(folder):
    table = rows(folder, "figure-10")
    if not own(table):
        return
    figure, (above, below) = plt.subplots(2, 1, figsize=(6, 5), sharex=True)
    for colour, device in zip(SERIES * 50, dict.fromkeys(row["device"] for row in table)):
        chosen = [row for row in table if row["device"] == device]
        steps = [float(row["steps"]) for row in chosen]
        paper = chosen[0]["source"] == "paper"
        above.plot(steps, [float(row["grid_share_percent"]) for row in chosen],
                   "s:" if paper else "o-", color=PAPER if paper else colour,
                   label=("paper: " if paper else "") + short(device))
        if not paper:
            below.plot(steps, [float(row["microseconds_per_step"]) for row in chosen], "o-",
                       color=COLOUR)
    above.set_ylabel("share of the grid (%)")
    above.set_ylim(0, 105)
    above.set_title("convergence of the shares (the paper's figure 10, bench-C)", fontsize=9)
    above.legend(frameon=False, fontsize=7)
    below.set_ylabel("microseconds per step")
    times = [float(row["microseconds_per_step"]) for row in own(table)]
    below.set_ylim(0, 1.1 * max(times))
    below.set_xlabel("steps")
    save(figure, folder, "figure-10")


def draw_scaling(folder):
    table = rows(folder, "figure-11")
    chosen = own(table)
    if not chosen:
        return
    figure, axis = plt.subplots(figsize=(5.5, 3.8))
    millions = [float(row["grid_points"]) / 1e6 for row in chosen]
    axis.plot(millions, [float(row["speedup"]) for row in chosen], "o-", color=COLOUR,
              label=" over ".join(short(part) for part in reversed(chosen[0]["devices"].split("; "))))
    stated = [float(row["speedup"]) for row in table if row["source"] == "paper"]
    axis.axhspan(min(stated), max(stated), color=PAPER, alpha=0.5, label="paper: 2 x GTX 680")
    axis.set_xscale("log")
    axis.set_xticks(millions, [f"{size:g}" for size in millions])
    axis.minorticks_off()
    axis.set_ylim(0, max(2.2, 1.1 * max(float(row["speedup"]) for row in chosen)))
    axis.set_xlabel("million grid points")
    axis.set_ylabel("speed-up by a second device")
    axis.set_title("bench-A with other grids (the paper's figure 11)", fontsize=9)
    axis.legend(frameon=False, fontsize=8)
    save(figure, folder, "figure-11")


def draw_whole_runs(folder):
    table = [row for row in rows(folder, "table-5") if row["whole_s"]]
    if not own(table):
        return
    figure, axis = plt.subplots(figsize=(7, 1.2 + 0.32 * len(table)))
    labels = []
    for row in table:
        chains = counted(int(row["chains"]), "chain")
        labels.append(f"{short(row['platform'])}, {row['precision']}, {chains}")
    colours = [COLOUR if row["source"] == "starpmc" else PAPER for row in table]
    bars(axis, labels, [float(row["whole_s"]) for row in table], colours, "{:,.0f} s")
    axis.set_xlabel("seconds of bench-R, 24.8 million steps, 496 QM updates")
    axis.set_title("the whole run (the paper's table 5)", fontsize=9)
    save(figure, folder, "table-5")


def draw_precisions(folder):
    speeds, errors = rows(folder, "table-7"), rows(folder, "table-8")
    if not own(speeds) and not own(errors):
        return
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.6))
    for axis, table, column, label in (
        (axes[0], speeds, "speedup", "speed-up over fp64 (table 7)"),
        (axes[1], errors, "grid_max_kj_per_mol", "largest error of the grid term, kJ/mol (table 8)"),
    ):
        if not table:
            axis.set_axis_off()
            continue
        labels = [", ".join(part for part in (
            "paper" if row["source"] == "paper" else "", short(row["device"]), row["precision"])
            if part) for row in table]
        colours = [COLOUR if row["source"] == "starpmc" else PAPER for row in table]
        bars(axis, labels, [max(float(row[column]), 1e-12) for row in table], colours, "{:.2g}")
        axis.set_xlabel(label, fontsize=8)
    save(figure, folder, "precisions")


def draw(folder):
    draw_speedups(folder)
    draw_devices(folder)
    draw_convergence(folder)
    draw_scaling(folder)
    draw_whole_runs(folder)
    draw_precisions(folder)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
