"""What the workers did: a Gantt chart from timeline.csv, or each one's shares of the time."""

import re

import charts
import numpy

MOST_EXACT_TASKS = 1200  # more are merged into shares of short spans of time
MOST_CODELETS = 7  # with a colour of their own
MOST_VERTICES = 24_000
LEAST_SHARE = 0.02
LONGEST_NAME = 24
OTHER = "#8a8a8a"


def codelet_name(name):
    """Without what all names of a run share: the program and the precision."""
    return re.sub(r"^starpmc_|_(mixed|fixed|fp64)$", "", name)


def short(name):
    """No longer than there is room for."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _height(workers):
    return 0.9 + 0.32 * workers


WAITS = (
    ("waiting for data", "share_waiting_for_data", "#c9a227b0"),
    ("waiting for tasks", "share_waiting_for_tasks", "#80808080"),
    ("nothing to do", "share_nothing_to_do", "#80808030"),
)
IDLE = (("idle", "share_idle", "#80808040"),)  # all that a summary of an older program tells


def shares(summary):
    """Time of each worker in QM, in sampling and idle, and why, from summary.json."""
    workers = summary["worker_tasks"]
    figure, axis = charts.new_figure((charts.SMALL[0], max(1.7, _height(len(workers)))))
    left = numpy.zeros(len(workers))
    kinds = (("QM", "share_qm", charts.PALETTE[1]), ("sampling", "share_sampling", charts.PALETTE[0]))
    known = all(key in worker for worker in workers for _, key, _ in WAITS)
    for label, key, colour in (*kinds, *(WAITS if known else IDLE)):
        width = numpy.array([100 * worker[key] for worker in workers])
        axis.barh(range(len(workers)), width, left=left, color=colour, label=label, height=0.7)
        left += width
    axis.set_yticks(range(len(workers)), [short(str(worker["worker"])) for worker in workers])
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    axis.set_xlabel("% of the run's time")
    axis.grid(visible=False, axis="y")
    charts.name_lines(figure, axis)
    return figure


def busy_shares(timeline, bins):
    """Share of each of `bins` spans of time that each worker spent in each codelet.

    Shape (workers, codelets, bins), and the spans' edges in ms from 0 to the last task's end.
    """
    last = float(timeline.end.max())
    width = last / bins if last > 0 else 1.0
    shape = (len(timeline.workers), len(timeline.codelets), bins)
    row = (timeline.worker.astype(numpy.int64) * shape[1] + timeline.codelet) * (bins + 1)
    start, end = timeline.start / width, timeline.end / width
    first = numpy.clip(start.astype(numpy.int64), 0, bins - 1)
    final = numpy.clip(end.astype(numpy.int64), 0, bins - 1)
    size = shape[0] * shape[1] * (bins + 1)

    def sums(place, weights):
        return numpy.bincount(row + place, weights, size)

    # As if it lasted from the first span's start to the final one's end, less what is too much.
    changes = sums(first, numpy.ones(len(row))) - sums(final + 1, numpy.ones(len(row)))
    busy = numpy.cumsum(changes.reshape(*shape[:2], bins + 1), axis=2)
    busy -= (sums(first, start - first) + sums(final, final + 1 - end)).reshape(busy.shape)
    return numpy.clip(busy[:, :, :bins], 0, 1), numpy.linspace(0, last, bins + 1)


def _codelets_by_time(timeline):
    """Indices of codelets, the busiest first."""
    times = numpy.bincount(
        timeline.codelet, timeline.end - timeline.start, len(timeline.codelets)
    )
    return list(times.argsort()[::-1])


def _draw_exact(axis, timeline, codelet, colour, label):
    for worker in range(len(timeline.workers)):
        mine = (timeline.worker == worker) & (timeline.codelet == codelet)
        spans = numpy.column_stack((timeline.start, timeline.end - timeline.start))[mine]
        axis.broken_barh(spans / 1000, (worker - 0.4, 0.8), color=colour, lw=0, label=label)
        label = None


def _corners(edges, lower, upper):
    """The outline of steps; stretches of the same height as one."""
    turns = numpy.flatnonzero((numpy.diff(lower) != 0) | (numpy.diff(upper) != 0)) + 1
    begins, ends = numpy.concatenate(([0], turns)), numpy.concatenate((turns, [len(lower)]))
    x = numpy.column_stack((edges[begins], edges[ends])).ravel()
    return x, numpy.repeat(lower[begins], 2), numpy.repeat(upper[begins], 2)


def _draw_merged(axis, timeline, groups):
    """The height of a colour is its share of the time."""
    count = max(1, len(timeline.workers) * len(groups))
    bins = int(numpy.clip(MOST_VERTICES / (4 * count), 60, 300))
    busy, edges = busy_shares(timeline, bins)
    busy = numpy.round(busy / LEAST_SHARE) * LEAST_SHARE
    for worker in range(len(timeline.workers)):
        below = numpy.zeros(bins)
        for members, colour, label in groups:
            above = numpy.minimum(1, below + busy[worker, members].sum(axis=0))
            if (above > below).any():
                x, low, high = _corners(edges / 1000, below, above)
                bottom = worker + 0.4
                axis.fill_between(
                    x, bottom - 0.8 * low, bottom - 0.8 * high, color=colour, lw=0,
                    label=label if worker == 0 else None,
                )  # fmt: skip
            below = above


def gantt(timeline):
    """A row of bars for each worker."""
    order = _codelets_by_time(timeline)
    groups = [
        ([index], charts.PALETTE[place], short(codelet_name(timeline.codelets[index])))
        for place, index in enumerate(order[:MOST_CODELETS])
    ]
    if order[MOST_CODELETS:]:
        groups.append((order[MOST_CODELETS:], OTHER, "other"))
    workers = len(timeline.workers)
    figure, axis = charts.new_figure((charts.WIDE, _height(workers) + 0.6))
    last = float(timeline.end.max()) / 1000
    axis.barh(range(workers), [last] * workers, height=0.8, color="#80808030", lw=0)
    if len(timeline.start) <= MOST_EXACT_TASKS:
        for members, colour, label in groups:
            for index in members:
                _draw_exact(axis, timeline, index, colour, label)
                label = None
    else:
        _draw_merged(axis, timeline, groups)
    axis.set_xlim(0, last or 1)
    axis.set_ylim(workers - 0.5, -0.5)
    axis.set_yticks(range(workers), [short(name) for name in timeline.workers])
    axis.grid(visible=False, axis="y")
    axis.set_xlabel("time (s)")
    handles = [
        charts.plt.Rectangle((0, 0), 1, 1, color=colour, label=label) for _, colour, label in groups
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def codelet_rows(timeline):
    """Name, tasks, seconds in all and microseconds each, of every codelet; the busiest first."""
    duration = timeline.end - timeline.start
    times = numpy.bincount(timeline.codelet, duration, len(timeline.codelets))
    tasks = numpy.bincount(timeline.codelet, minlength=len(timeline.codelets))
    return [
        (codelet_name(timeline.codelets[i]), int(tasks[i]), times[i] / 1000, 1000 * times[i] / tasks[i])
        for i in _codelets_by_time(timeline)
    ]
