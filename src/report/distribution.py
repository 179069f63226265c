"""Radial distribution functions g(r) of a periodic, orthorhombic box: minimum image, r up to half
the shortest edge; normalised by the mean density of the sites around in the whole box."""

from dataclasses import dataclass

import numpy
import scipy.spatial

LARGEST_RADIUS = 12.0  # angstrom
SOLUTE_BIN = 0.1  # one atom has few neighbours
SOLVENT_BIN = 0.05
MOST_FRAMES = 4000  # for pairs with the solute
MOST_PAIRS = 4e7  # of solvent molecules, over all frames


@dataclass
class Histogram:
    """Distances between sites: counts by bins from 0, and what normalises them. Angstrom."""

    radius: float
    bin_width: float
    counts: numpy.ndarray = None
    expected: float = 0.0  # pairs per A^3 of an uncorrelated fluid, summed over the frames
    frames: int = 0

    def __post_init__(self):
        self.counts = numpy.zeros(int(self.radius / self.bin_width + 1e-9))
        self.radius = len(self.counts) * self.bin_width

    def add(self, distances, pairs_per_volume):
        bins = (distances[distances < self.radius] / self.bin_width).astype(int)
        found = numpy.bincount(bins, minlength=len(self.counts))
        self.counts += found[: len(self.counts)]
        self.expected += pairs_per_volume
        self.frames += 1

    def centres(self):
        return (numpy.arange(len(self.counts)) + 0.5) * self.bin_width

    def g(self):
        edges = numpy.arange(len(self.counts) + 1) * self.bin_width
        shells = 4 / 3 * numpy.pi * (edges[1:] ** 3 - edges[:-1] ** 3)
        return self.counts / (shells * self.expected) if self.expected else 0 * self.counts


def largest_radius(edges):
    """The minimum image holds up to half the shortest edge."""
    return float(min(LARGEST_RADIUS, edges.min() / 2))


def around(positions, edges, atom, sites):
    """Distances of one particle from others."""
    between = positions[sites] - positions[atom]
    between -= edges * numpy.rint(between / edges)
    return numpy.sqrt((between**2).sum(axis=1))


def among(positions, edges, sites, radius):
    """Distances below the radius of all pairs of the sites."""
    wrapped = positions[sites] % edges
    wrapped[wrapped >= edges] = 0  # a rounded remainder
    tree = scipy.spatial.cKDTree(wrapped, boxsize=edges)
    # A little beyond: the tree's own rounding decides nothing.
    pairs = tree.query_pairs(radius * (1 + 1e-9), output_type="ndarray")
    between = wrapped[pairs[:, 0]] - wrapped[pairs[:, 1]]
    between -= edges * numpy.rint(between / edges)
    return numpy.sqrt((between**2).sum(axis=1))


def add_solute_frame(histograms, positions, edges, solvent):
    """histograms: (atom, label of the solvent's sites) -> Histogram."""
    volume = float(numpy.prod(edges))
    for (atom, label), histogram in histograms.items():
        sites = solvent.sites[label]
        histogram.add(around(positions, edges, atom, sites), len(sites) / volume)


def add_solvent_frame(histogram, positions, edges, solvent):
    """Each of n molecules sees n - 1 others: n (n - 1) / 2 pairs in the volume."""
    sites = solvent.sites[solvent.centre]
    count = len(sites)
    distances = among(positions, edges, sites, histogram.radius)
    histogram.add(distances, count * (count - 1) / 2 / float(numpy.prod(edges)))


def frames_for_solvent(solvent, edges, radius, available):
    """How many frames' pairs of solvent molecules are worth their time."""
    density = solvent.molecules / float(numpy.prod(edges))
    pairs = max(1.0, solvent.molecules * density * 2 / 3 * numpy.pi * radius**3)
    return int(min(available, max(50, MOST_PAIRS / pairs)))


def evenly(items, count):
    """At most `count` of them, evenly spaced, the last included."""
    if len(items) <= count:
        return list(items)
    chosen = numpy.unique(numpy.linspace(0, len(items) - 1, count).round().astype(int))
    return [items[index] for index in chosen]
