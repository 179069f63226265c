"""Errors of correlated series, as src/analysis says (and finds).

The variance of the mean is that of the means of equal blocks with their correlation summed up to
Sokal's automatic window; src/analysis/integrated_covariance.hpp has the equations and who found
them, src/analysis/block_average.hpp how long blocks are.
"""

import math
from dataclasses import dataclass, field

import numpy
import scipy.special

FEWEST_EFFECTIVE_SAMPLES = 100
MANY_CHAINS = 8  # say more of an error by their scatter than each does of itself where they are short
AGREEMENT = 0.05  # of chains, by the F test, from which on the error from within them is believed
ONE_DEVIATION = 0.8413447460685429


@dataclass
class Estimate:
    """mean, its error with correlation, and the standard errors by window (samples)."""

    count: int = 0
    mean: float = 0.0
    error: float = 0.0
    statistical_inefficiency: float = 1.0
    effective_samples: float = 0.0
    long_enough: bool = False
    window: int = 0
    standard_error: float = 0.0
    degrees_of_freedom: float = 0.0
    windows: list = field(default_factory=list)
    standard_errors: list = field(default_factory=list)


@dataclass
class _Sum:
    total: float
    degrees_of_freedom: float
    window: int = 0
    closed: bool = False
    by_window: numpy.ndarray = field(default_factory=lambda: numpy.zeros(0))


def _blocks(series):
    length = 1
    while len(series) // length >= 512:
        length *= 2
    whole = len(series) // length * length
    return series[:whole].reshape(-1, length).mean(axis=1), length


def _covariances(series, most):
    """At distances 0 to `most`, by the Fourier transform."""
    n = len(series)
    size = 1 << (2 * n - 1).bit_length()
    transform = numpy.fft.rfft(series - series.mean(), size)
    sums = numpy.fft.irfft(transform * transform.conj(), size)[: most + 1]
    return sums / (n - numpy.arange(most + 1))


def _integrated(series):
    n = len(series)
    most = n // 3
    covariances = _covariances(series, most)
    observed = covariances[0]
    if n < 6 or observed == 0:
        return _Sum(observed * n / (n - 1), n - 1)
    lengths = 2 * numpy.arange(1, most + 1) + 1
    sums = (observed + 2 * numpy.cumsum(covariances[1:])) / (1 - lengths / n)
    variances = observed + sums / n
    closed = numpy.arange(1, most + 1) * 2 * variances >= 5 * sums
    at = int(closed.argmax()) if closed.any() else most - 1
    variance = max(variances[at], observed)
    total = max(sums[at], variance)
    if not closed.any():
        r = (n * covariances[1] / observed + 1) / (n - 3)
        r = min(max(r, 0), 1 - 0.5 / n)
        total = max(total, variance * (1 + r) / (1 - r))
    return _Sum(total, n / lengths[at], at + 1, bool(closed.any()), sums)


def _student_factor(degrees_of_freedom):
    return float(scipy.special.stdtrit(degrees_of_freedom, ONE_DEVIATION))


def _chi_squared_quantile(probability, degrees_of_freedom):
    return float(2 * scipy.special.gammaincinv(degrees_of_freedom / 2, probability))


def estimate(series):
    """What BlockAverage::estimate() finds of the same samples."""
    series = numpy.asarray(series, float)
    n = len(series)
    result = Estimate(n, float(series.mean()) if n else 0.0)
    if n < 2:
        result.effective_samples = float(n)
        return result
    result.effective_samples = float(n)
    if numpy.ptp(series) == 0:  # which says nothing of its error, unless it cannot change
        return result
    blocks, length = _blocks(series)
    found = _integrated(blocks)
    variance = series.var(ddof=1)
    total = max(found.total * length, variance)
    result.statistical_inefficiency = max(1.0, float(total / (series.var() + total / n)))
    result.effective_samples = n / result.statistical_inefficiency
    independent = found.closed and found.total * length <= variance
    freedom = n - 1 if independent else found.degrees_of_freedom
    result.standard_error = float(numpy.sqrt(total / n))
    result.degrees_of_freedom = float(freedom)
    result.error = _student_factor(freedom) * result.standard_error
    upper = found.degrees_of_freedom / _chi_squared_quantile(0.01, found.degrees_of_freedom)
    # No reversible chain is less inefficient than its neighbours' correlation alone makes it.
    half_difference = (numpy.diff(series) ** 2).mean() / 2
    least = max(1.0, 2 * (series.var() + total / n) / half_difference - 1)
    effective = n / max(result.statistical_inefficiency, least)
    enough = effective >= FEWEST_EFFECTIVE_SAMPLES * upper
    result.long_enough = bool(found.closed and enough)
    result.window = found.window * length
    shown = numpy.arange(1, min(len(found.by_window), 4 * found.window) + 1)
    positive = numpy.maximum(found.by_window[: len(shown)] * length, 0)
    result.windows = [int(window) * length for window in shown]
    result.standard_errors = [float(error) for error in numpy.sqrt(positive / n)]
    return result


def running(series, points):
    """Ends (numbers of samples), means and errors of at most `points` beginnings of the series."""
    ends = numpy.unique(numpy.linspace(0, len(series), points + 1).round().astype(int)[1:])
    ends = ends[ends > 1]
    estimates = [estimate(series[:end]) for end in ends]
    means = numpy.array([found.mean for found in estimates])
    errors = numpy.array([found.error for found in estimates])
    return ends, means, errors


def _satterthwaite(variances, degrees_of_freedom):
    """Degrees of freedom of a sum of independent estimates of variances."""
    squares = numpy.divide(
        variances**2, degrees_of_freedom, out=numpy.zeros_like(variances), where=variances > 0
    )
    return variances.sum() ** 2 / squares.sum() if squares.sum() > 0 else 0.0


def together(estimates):
    """Mean over several chains, its error as in src/analysis/ensemble.hpp; NaN: it is not known."""
    chains = [found for found in estimates if found.count]
    counts = numpy.array([found.count for found in chains], float)
    means = numpy.array([found.mean for found in chains])
    variances = numpy.array([found.standard_error for found in chains]) ** 2
    freedom = numpy.array([found.degrees_of_freedom for found in chains])
    shares = counts / counts.sum()
    result = Estimate(int(counts.sum()), float(shares @ means))
    result.effective_samples = sum(found.effective_samples for found in chains)
    result.long_enough = all(found.long_enough and found.error > 0 for found in chains)
    within = between = math.nan
    agree = len(chains) == 1
    if counts.min() > 1:
        parts = shares**2 * variances
        within = 0.0
        if parts.sum() > 0:
            within = _student_factor(_satterthwaite(parts, freedom)) * math.sqrt(parts.sum())
    if len(chains) > 1:
        between = float(_between(counts, means))
        expected = shares * (1 - shares) * counts.sum() * variances
        if counts.min() > 1 and expected.sum() > 0:
            f = counts @ (means - result.mean) ** 2 / expected.sum()
            below = _satterthwaite(expected, freedom)
            agree = scipy.special.fdtrc(len(chains) - 1, below, f) >= AGREEMENT
    if agree:
        short = len(chains) >= MANY_CHAINS and not result.long_enough
        result.error = between if short else within
    else:
        result.error = float(numpy.fmax(within, between))
    return result


def _between(counts, means):
    """Error of the mean of all samples by the scatter of the chains' means (first axis)."""
    weights = counts / counts.sum()
    spread = numpy.tensordot(weights, (means - numpy.tensordot(weights, means, 1)) ** 2, 1)
    return _student_factor(len(counts) - 1) * numpy.sqrt(spread / (len(counts) - 1))


def means(rows):
    """Their number, and the mean of each column."""
    return len(rows), rows.mean(axis=0)


def between(counts, means):
    """Mean and error of each column over many chains, by the scatter of their means alone."""
    counts, means = numpy.array(counts, float), numpy.array(means)
    return numpy.tensordot(counts / counts.sum(), means, 1), _between(counts, means)
