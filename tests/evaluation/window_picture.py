"""One window of steps as a picture, from a trace of StarPU's: which task ran on which worker, and what
was copied between memories.

    STARPU_FXT_TRACE=1 STARPU_FXT_PREFIX=/tmp/trace/ starpmc run molecule.cfg --run.tasks terms
    starpu_fxt_tool -i /tmp/trace/prof_file_* -c            # in /tmp/trace: paje.trace, tasks.rec
    python3 window_picture.py /tmp/trace window.png [--window N] [--windows 3] [--beside /tmp/other]

Without --window that of median length is drawn, with --windows those that follow, too. --beside: as much
time of another trace below it. Needs matplotlib.
"""

import argparse
import sys
from pathlib import Path
from statistics import median

FIRST, LAST = "propose_moves", "metropolis_decide"
COLOURS = {
    "propose_moves": "#9b59b6",
    "qmmm_coulomb_grid": "#2a9fb0",
    "qmmm_coulomb_grid_reduce": "#14576b",
    "qmmm_nuclei_vdw": "#e0a800",
    "mm_pair": "#d9534f",
    "mm_pair_table": "#f0a09d",
    "mm_pair_reduce": "#8c2f2c",
    "metropolis_decide": "#2c3e50",
}
BEGIN_COPY, END_COPY = "24", "19"


def records(path):
    """Dictionaries of a .rec file."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        yield dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)


def tasks_of(path):
    """(name, worker, memory node, start, end in ms, {handle: size}), in the order of their starts."""
    found = []
    for record in records(path):
        name = record.get("Name", "")
        if not name.startswith("starpmc_") or "StartTime" not in record:
            continue
        codelet = name.removeprefix("starpmc_").rsplit("_", 1)[0]
        if codelet not in COLOURS:
            continue
        handles = dict(zip(record["Handles"].split(), record["Sizes"].split(), strict=True))
        where = int(record["WorkerId"]), int(record["MemoryNode"])
        times = float(record["StartTime"]), float(record["EndTime"])
        found.append((codelet, *where, *times, handles))
    return sorted(found, key=lambda task: task[3])


def copies_of(path):
    """(start, end in ms, from, to, bytes)."""
    begun, found = {}, []
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if fields[0] == BEGIN_COPY:
            begun[fields[6]] = (float(fields[1]), fields[5], int(fields[4]))
        elif fields[0] == END_COPY and fields[6] in begun:
            start, source, size = begun.pop(fields[6])
            found.append((start, float(fields[1]), int(source[2:]), int(fields[5][2:]), size))
    return found


def windows_of(tasks):
    """(first task's start, the decision's end)."""
    starts = [task[3] for task in tasks if task[0] == FIRST]
    ends = [task[4] for task in tasks if task[0] == LAST]
    return [
        (start, next(end for end in ends if end > start)) for start in starts if start < max(ends)
    ]


def workers_in(tasks):
    return sorted({(task[1], task[2]) for task in tasks})


class Trace:
    """What lies in a folder, and where the window in it begins and ends."""

    def __init__(self, folder, request):
        self.tasks, self.copies = tasks_of(folder / "tasks.rec"), copies_of(folder / "paje.trace")
        windows = windows_of(self.tasks)
        if not windows:
            sys.exit(f"{folder}: no window whose terms are tasks (--run.tasks terms)")
        middle = median(sorted(end - start for start, end in windows)[: 2 * (len(windows) // 2) + 1])
        number = request.window
        if number is None:
            lengths = [abs(end - start - middle) for start, end in windows]
            number = lengths.index(min(lengths))
        self.begin = windows[number][0]
        self.end = windows[min(number + request.windows, len(windows)) - 1][1]

    def until(self, end):
        """Tasks and copies that begin before a time."""
        return ([task for task in self.tasks if self.begin <= task[3] < end],
                [copy for copy in self.copies if self.begin <= copy[0] < end])


def draw(traces, names, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plot

    span = max(trace.end - trace.begin for trace in traces)
    shown = [trace.until(trace.begin + span) for trace in traces]
    rows = sum(len(workers_in(tasks)) for tasks, _ in shown)
    figure, axes = plot.subplots(figsize=(9, 1.2 + 1.1 * rows), layout="constrained")
    titles, labels, row = [], [], 0
    for trace, (tasks, copies) in zip(traces, shown, strict=True):
        workers = workers_in(tasks)
        lane = {worker: row + index for index, (worker, _) in enumerate(workers)}
        row += len(workers)
        lane_of_node = {node: lane[worker] for worker, node in reversed(workers)}
        for name, worker, _, start, finish, _ in tasks:
            axes.barh(lane[worker], finish - start, left=start - trace.begin, height=0.5, color=COLOURS[name])
        for start, finish, source, target, _ in copies:
            if source in lane_of_node and target in lane_of_node:
                axes.annotate(
                    "",
                    (finish - trace.begin, lane_of_node[target]),
                    (start - trace.begin, lane_of_node[source]),
                    arrowprops={"arrowstyle": "->", "color": "#666666", "linewidth": 0.7},
                )
        labels += [f"worker {worker}" for worker, _ in workers]
        total = sum(copy[4] for copy in copies)
        titles.append(f"{len(tasks)} tasks, {len(copies)} copies, {total / 1000:.1f} kB")
    used = [name for name in COLOURS if any(task[0] == name for tasks, _ in shown for task in tasks)]
    handles = [plot.Rectangle((0, 0), 1, 1, color=COLOURS[name]) for name in used]
    axes.legend(handles, used, ncols=4, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.25))
    axes.set_yticks(range(rows), names[:rows] + labels[len(names):])
    axes.set_xlabel("ms")
    axes.set_xlim(0, span)
    axes.invert_yaxis()
    axes.set_title("; ".join(titles), fontsize=9)
    figure.savefig(path, dpi=130)
    print(f"{path}: {span:.2f} ms, {'; '.join(titles)}")
    for trace, (_, copies) in zip(traces, shown, strict=True):
        for start, finish, source, target, size in copies:
            print(f"  {start - trace.begin:7.2f} to {finish - trace.begin:7.2f} ms: "
                  f"{size} bytes from {source} to {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--window", type=int, help="of those in the trace, from 0")
    parser.add_argument("--windows", type=int, default=1, help="how many (%(default)s)")
    parser.add_argument("--beside", type=Path, help="another trace's folder")
    parser.add_argument("--names", default="", help="of the rows, from the top, with ; between")
    request = parser.parse_args()
    folders = [request.folder] + ([request.beside] if request.beside else [])
    draw([Trace(folder, request) for folder in folders],
         [name for name in request.names.split(";") if name], request.picture)


if __name__ == "__main__":
    main()
