"""Draws the figures of `starpmc bench --experiment cell` from its CSV files, beside them.

usage: cell_figures.py FOLDER   (needs matplotlib)
"""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def rows(path):
    with open(path, newline="", encoding="ascii") as file:
        return list(csv.DictReader(file))


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_workers(folder):
    figure, axis = plt.subplots(figsize=(5, 4))
    table = rows(folder / "cell-workers.csv")
    for name, label, face in (("scalar", "not optimised", "white"), ("simd", "optimised", "black")):
        chosen = [row for row in table if row["implementation"] == name]
        workers = [int(row["workers"]) for row in chosen]
        axis.plot(workers, [float(row["speedup"]) for row in chosen], "D-", color="black", mfc=face,
                  label=label)
        axis.plot(workers, [float(row["cores_speedup"]) for row in chosen], ":", color="#888888",
                  label="the same cores without tasks" if name == "simd" else None)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log", base=2)
    axis.set_xlabel("workers")
    axis.set_ylabel("speed-up over the plain kernel on one core")
    axis.set_title("128 particles (the paper's figure 4)", fontsize=10)
    axis.legend(frameon=False)
    save(figure, folder / "cell-workers.svg")


def draw_granularity(folder):
    figure, axis = plt.subplots(figsize=(5, 4))
    table = rows(folder / "cell-granularity.csv")
    for particles in dict.fromkeys(row["particles"] for row in table):
        chosen = [row for row in table if row["particles"] == particles]
        axis.plot([int(row["evaluations_per_task"]) for row in chosen],
                  [float(row["speedup"]) for row in chosen], "o-", label=f"{particles} particles")
    axis.set_xscale("log", base=2)
    axis.set_xlabel("granularity (evaluations in a task)")
    axis.set_ylabel("speed-up of one worker")
    axis.set_title("one worker (the paper's figure 5)", fontsize=10)
    axis.legend(frameon=False)
    save(figure, folder / "cell-granularity.svg")


def draw_tasks(folder):
    figure, axis = plt.subplots(figsize=(7, 3.5))
    table = rows(folder / "cell-tasks.csv")
    workers = sorted({int(row["worker"]) for row in table})
    submitted = [float(row["submitted_ms"]) for row in table]
    axis.broken_barh([(min(submitted), max(submitted) - min(submitted))], (-0.4, 0.8),
                     color="#888888")
    for line, worker in enumerate(workers, 1):
        spans = [(float(row["started_ms"]), float(row["ended_ms"]) - float(row["started_ms"]))
                 for row in table if int(row["worker"]) == worker]
        axis.broken_barh(spans, (line - 0.4, 0.8), color="#1f5fa8", edgecolor="white", lw=0.3)
    axis.set_yticks(range(len(workers) + 1), ["submission", *(f"worker {w}" for w in workers)])
    axis.invert_yaxis()
    axis.set_xlabel("time (ms)")
    axis.set_title("tasks of each worker (the paper's figure 6)", fontsize=10)
    save(figure, folder / "cell-tasks.svg")


def main():
    folder = Path(sys.argv[1])
    draw_workers(folder)
    draw_granularity(folder)
    draw_tasks(folder)


if __name__ == "__main__":
    main()
