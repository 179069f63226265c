"""Statistics of correlated samples, from the means of blocks that are longer than their memory."""

import itertools
import math

import numpy as np


def mean_and_error(blocks):
    """Mean and standard error along the first axis."""
    blocks = np.asarray(blocks)
    return blocks.mean(axis=0), blocks.std(axis=0, ddof=1) / math.sqrt(len(blocks))


def chance_of_difference(first, second, permutations):
    """Probability of so large a difference of two means if both sets of blocks are of one
    distribution; first, second: (blocks, bins).

    From exchanging blocks between the two at random, which keeps the bins together: those of a
    distribution function are correlated, so that the mean squared deviation over them is often far
    from 1.
    """
    blocks = np.concatenate((first, second))

    def difference(order):
        ours, theirs = blocks[order[: len(first)]], blocks[order[len(first) :]]
        variance = ours.var(axis=0, ddof=1) / len(ours) + theirs.var(axis=0, ddof=1) / len(theirs)
        return ((ours.mean(axis=0) - theirs.mean(axis=0)) ** 2 / variance).mean()

    found = difference(np.arange(len(blocks)))
    random = np.random.default_rng(5)
    larger = sum(difference(random.permutation(len(blocks))) >= found for _ in range(permutations))
    return (larger + 1) / (permutations + 1)


def chance_of_vectors(first, second):
    """Probability of so large a difference of two mean vectors if both are of one distribution, and
    the chi-squared of it; first, second: (independent blocks, components).

    By Hotelling's T squared, with Yao's degrees of freedom for unlike covariances: blocks are few
    compared with infinity.
    """
    from scipy.stats import f

    means, covariances = [], []
    for blocks in (first, second):
        means.append(np.mean(blocks, axis=0))
        covariances.append(np.atleast_2d(np.cov(blocks, rowvar=False)) / len(blocks))
    difference = means[0] - means[1]
    inverse = np.linalg.inv(covariances[0] + covariances[1])
    squared = float(difference @ inverse @ difference)
    shares = [
        float(difference @ inverse @ c @ inverse @ difference) / squared for c in covariances
    ]
    freedom = 1 / sum(
        share**2 / (len(blocks) - 1) for share, blocks in zip(shares, (first, second), strict=True)
    )
    p = len(difference)
    if freedom <= p:
        raise ValueError(f"{freedom:.0f} degrees of freedom do not serve for {p} components")
    scale = (freedom - p + 1) / (freedom * p)
    return float(f.sf(squared * scale, p, freedom - p + 1)), squared


def transition_imbalance(values, edges):
    """Counts (regions, regions) of transitions between the regions that edges divide, and the chance
    of so many more in one direction than in the other, by chi-squared; values: (chains, times),
    times far enough apart that transitions are nearly independent.

    A chain has as many of both directions between two regions always, balanced or not: it takes
    three or more; the differences are then those of (regions - 1)(regions - 2)/2 circles.
    """
    from scipy.stats import chi2

    regions = len(edges) + 1
    counts = np.zeros((regions, regions))
    for chain in np.searchsorted(edges, values):
        np.add.at(counts, (chain[:-1], chain[1:]), 1)
    squared = sum(
        (counts[i, j] - counts[j, i]) ** 2 / max(counts[i, j] + counts[j, i], 1)
        for i, j in itertools.combinations(range(regions), 2)
    )
    return counts, float(chi2.sf(squared, (regions - 1) * (regions - 2) / 2))
