"""Radial distribution functions g(r) and coordination numbers of a periodic, orthorhombic box.

Minimum image, r up to half the shortest edge. With P pairs of sites in different molecules, counted
from either side, mean volume V and <c> of them a frame with distances in a shell of volume v,

    g = V <c> / (P v),

1 without correlation; the coordination number n(r) is how many are within r, over the number of
central sites.
"""

from dataclasses import dataclass

import block_average
import numpy
import scipy.ndimage
import scipy.spatial

LARGEST_RADIUS = 12.0  # angstrom
WIDE_BIN = 0.1  # one atom has few neighbours
NARROW_BIN = 0.05
MANY_PAIRS = 10_000
MOST_FRAMES = 4000
FEWEST_FRAMES = 50  # unless there are fewer
SECONDS = 15.0  # for all pairs, about
MOST_ROWS = 1000  # of all chains: frames, or sums of some that follow each other
MOST_COUNTS = 4e7  # in memory, of all pairs
# With so many chains their means tell the error, and faster than each chain's correlation.
MANY_CHAINS = 8
SMOOTHING = 0.15  # angstrom, of the curve in which extrema are looked for, and of its errors
LEAST_CHANGE = 0.03  # of g, beyond an extremum


def largest_radius(edges):
    """The minimum image holds up to half the shortest edge."""
    return float(min(LARGEST_RADIUS, edges.min() / 2))


def evenly(items, count):
    """At most `count` of them, evenly spaced, the last included."""
    if len(items) <= count:
        return list(items)
    chosen = numpy.unique(numpy.linspace(0, len(items) - 1, count).round().astype(int))
    return [items[index] for index in chosen]


class Frame:
    """Positions of one frame; trees of sites are made once."""

    def __init__(self, positions, edges):
        self.positions, self.edges = positions, edges
        self._trees = {}

    def direct(self, first, second):
        """Distances of all pairs: (first, second)."""
        between = self.positions[second][None] - self.positions[first][:, None]
        between -= self.edges * numpy.rint(between / self.edges)
        return numpy.sqrt((between**2).sum(axis=2))

    def near(self, first, second, radius):
        """Places and distances of the pairs within the radius."""
        found = self._tree(first).sparse_distance_matrix(
            self._tree(second), radius, output_type="ndarray"
        )
        return found["i"], found["j"], found["v"]

    def _tree(self, particles):
        key = id(particles)
        if key not in self._trees:
            wrapped = self.positions[particles] % self.edges
            wrapped[wrapped >= self.edges] = 0  # a rounded remainder
            self._trees[key] = scipy.spatial.cKDTree(wrapped, boxsize=self.edges)
        return self._trees[key]


class Counter:
    """Distances of one pair of sites, frame by frame and chain by chain, by bins from 0."""

    def __init__(self, pair, catalogue, edges):
        self.pair = pair
        self.pairs = catalogue.pairs_in(pair)
        self._first, self._second = pair.centre.particles, pair.around.particles
        self._molecules = [catalogue.molecule_of(side) for side in (self._first, self._second)]
        self._all_differ = self.pairs == len(self._first) * len(self._second)
        self.bin_width = NARROW_BIN if self.pairs > MANY_PAIRS else WIDE_BIN
        self.bins = int(largest_radius(edges) / self.bin_width + 1e-9)
        self.radius = self.bins * self.bin_width
        self.frames, self.frames_per_row = 0, 1
        self._volumes = 0.0
        self._sums, self._summed, self.rows = {}, {}, {}
        all_pairs = len(self._first) * len(self._second)
        near = all_pairs * min(1, 4 / 3 * numpy.pi * self.radius**3 / float(numpy.prod(edges)))
        direct = 3e-5 + 6e-8 * all_pairs
        by_trees = 2e-4 + 1e-6 * (len(self._first) + len(self._second)) + 2e-7 * near
        self._is_direct = direct < by_trees
        self.seconds_per_frame = min(direct, by_trees)

    def _distances(self, frame):
        if self._is_direct:
            distances = frame.direct(self._first, self._second)
            if self._all_differ:
                return distances[distances < self.radius]
            first, second = self._molecules
            return distances[(first[:, None] != second) & (distances < self.radius)]
        first, second, distances = frame.near(self._first, self._second, self.radius)
        if not self._all_differ:
            distances = distances[self._molecules[0][first] != self._molecules[1][second]]
        return distances[distances < self.radius]

    def add(self, chain, frame):
        bins = (self._distances(frame) / self.bin_width).astype(int)
        counts = numpy.bincount(bins, minlength=self.bins)[: self.bins]
        self._volumes += float(numpy.prod(frame.edges))
        self.frames += 1
        self._sums[chain] = self._sums.get(chain, 0) + counts
        self._summed[chain] = self._summed.get(chain, 0) + 1
        if self._summed[chain] == self.frames_per_row:
            self._end_row(chain)

    def _end_row(self, chain):
        row = self._sums.pop(chain) / self._summed.pop(chain)
        self.rows.setdefault(chain, []).append(row.astype("f4"))

    def curve(self):
        """What the frames say; the counts are let go."""
        # A last row of fewer frames counts only where there is no other.
        for chain in [chain for chain in self._sums if chain not in self.rows]:
            self._end_row(chain)
        chains = [numpy.array(rows, float) for _, rows in sorted(self.rows.items())]
        found = Curve(self, self._volumes / self.frames, chains)
        self.rows, self._sums, self._summed = {}, {}, {}
        return found


def plan(counters, available):
    """Frames for each counter, so that all take about SECONDS; leftovers go to the dear ones."""
    frames, left = {}, SECONDS
    order = sorted(counters, key=lambda counter: counter.seconds_per_frame)
    for index, counter in enumerate(order):
        affordable = left / (len(order) - index) / counter.seconds_per_frame
        count = int(min(available, MOST_FRAMES, max(FEWEST_FRAMES, affordable)))
        left -= count * counter.seconds_per_frame
        frames[counter] = count
    cells = sum(counter.bins for counter in counters)
    rows = int(max(FEWEST_FRAMES, min(MOST_ROWS, MOST_COUNTS / cells)))
    for counter, count in frames.items():
        counter.frames_per_row = -(-count // rows)
    return frames


def _mean_and_error(chains):
    """Of each column, over chains of rows."""
    if len(chains) >= MANY_CHAINS:
        estimates = [block_average.means(rows) for rows in chains]
        return block_average.between(*zip(*estimates, strict=True))
    found = [
        block_average.together([block_average.estimate(rows[:, column]) for rows in chains])
        for column in range(chains[0].shape[1])
    ]
    return (numpy.array([getattr(column, key) for column in found]) for key in ("mean", "error"))


def _unknown_where_constant(mean, error):
    """From the first bin with counts on: those that never changed have an error of 0, which is none. Nearer
    together no two sites have ever been, and are not expected to be."""
    reached = numpy.cumsum(mean) > 0
    return numpy.where(reached & (error == 0), numpy.nan, error)


def _first_maximum(curve, noise, start):
    """Its place, and whether the curve falls beyond it by more than noise does."""
    highest = start
    for place in range(start + 1, len(curve)):
        if curve[place] > curve[highest]:
            highest = place
        fall = curve[highest] - curve[place]
        if fall > max(LEAST_CHANGE, numpy.hypot(noise[place], noise[highest])):
            return highest, True
    return highest, False


@dataclass
class Shell:
    """First maximum and minimum of g, and the sites within the minimum. Angstrom."""

    maximum: float
    g_maximum: float
    minimum: float
    g_minimum: float
    clear: bool  # beyond the minimum g rises by more than three times its error
    number: object  # block_average's estimate


class Curve:
    """r (middle of a bin), g and n(outer end of the bin), with errors."""

    def __init__(self, counter, volume, chains):
        self.pair, self.frames = counter.pair, counter.frames
        self.radius, self.bin_width = counter.radius, counter.bin_width
        self.outer = numpy.arange(1, counter.bins + 1) * counter.bin_width
        self.r = self.outer - counter.bin_width / 2
        shells = 4 / 3 * numpy.pi * (self.outer**3 - (self.outer - counter.bin_width) ** 3)
        mean, error = _mean_and_error(chains)
        scale = volume / (counter.pairs * shells)
        self.g, self.g_error = scale * mean, _unknown_where_constant(mean, scale * error)
        centres = len(counter.pair.centre.particles)
        cumulative = [numpy.cumsum(rows, axis=1) / centres for rows in chains]
        mean, error = _mean_and_error(cumulative)
        self.n, self.n_error = mean, _unknown_where_constant(mean, error)
        smoothed = [
            scipy.ndimage.gaussian_filter1d(scale * rows, SMOOTHING / counter.bin_width)
            for rows in chains
        ]
        self.shell = self._first_shell(*_mean_and_error(smoothed), cumulative)

    def _first_shell(self, smooth, error, cumulative):
        """None: no maximum, or no minimum after it within the radius."""
        noise = numpy.where(numpy.isfinite(error), error, 0)
        first, falls = _first_maximum(smooth, noise, 0)
        if not falls:
            return None
        lowest, _ = _first_maximum(-smooth, noise, first)
        if lowest >= len(smooth) - 1:
            return None
        # The end of the bin that is nearer to the minimum.
        bins = lowest if smooth[lowest - 1] < smooth[lowest + 1] else lowest + 1
        top = lowest + int(smooth[lowest:].argmax())
        rise = smooth[top] - smooth[lowest]
        number = block_average.together(
            [block_average.estimate(rows[:, bins - 1]) for rows in cumulative]
        )
        highest = max(first - 1, 0) + int(self.g[max(first - 1, 0) : first + 2].argmax())
        return Shell(
            float(self.r[highest]), float(self.g[highest]), float(self.outer[bins - 1]),
            float(smooth[lowest]), bool(rise > 3 * numpy.hypot(noise[top], noise[lowest])), number,
        )  # fmt: skip
