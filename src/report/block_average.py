"""Errors of correlated series by blocks, as src/analysis/block_average.hpp says (and finds).

H. Flyvbjerg, H. G. Petersen, J. Chem. Phys. 91, 461 (1989); the choice of the block length is that
of U. Wolff, Comput. Phys. Commun. 156, 143 (2004).
"""

from dataclasses import dataclass, field

import numpy


@dataclass
class Estimate:
    """mean, its standard error with correlation, and the errors by block length (samples)."""

    count: int = 0
    mean: float = 0.0
    error: float = 0.0
    statistical_inefficiency: float = 1.0
    block_length: int = 1
    plateau_reached: bool = False
    lengths: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    blocks: list = field(default_factory=list)


def _levels(series):
    """Block length, number of blocks, variance of the mean; down to two blocks."""
    length = 1
    while len(series) > 1:
        blocks = len(series)
        deviations = series - series.mean()
        yield length, blocks, float(deviations @ deviations) / (blocks * (blocks - 1))
        pairs = series[: blocks // 2 * 2].reshape(-1, 2)
        series = pairs[:, 0] + (pairs[:, 1] - pairs[:, 0]) / 2
        length *= 2


def estimate(series):
    """The error at the smallest block length B with B^3 > 2 n (e_B / e_1)^4; else the largest."""
    series = numpy.asarray(series, float)
    result = Estimate(len(series), float(series.mean()) if len(series) else 0.0)
    uncorrelated, settled = 0.0, False
    for length, blocks, variance in _levels(series):
        result.lengths.append(length)
        result.errors.append(variance**0.5)
        result.blocks.append(blocks)
        if length == 1:
            uncorrelated = variance
        if settled:
            continue
        ratio = variance / uncorrelated if uncorrelated > 0 else 1.0
        on_plateau = length**3 > 2 * len(series) * ratio**2
        if on_plateau or variance**0.5 > result.error:
            result.error = variance**0.5
            result.statistical_inefficiency = ratio
            result.block_length = length
        if on_plateau or uncorrelated == 0:
            result.plateau_reached = True
            settled = True
    return result


def running(series, points):
    """Ends (numbers of samples), means and errors of at most `points` beginnings of the series."""
    ends = numpy.unique(numpy.linspace(0, len(series), points + 1).round().astype(int)[1:])
    ends = ends[ends > 1]
    estimates = [estimate(series[:end]) for end in ends]
    means = numpy.array([found.mean for found in estimates])
    errors = numpy.array([found.error for found in estimates])
    return ends, means, errors
