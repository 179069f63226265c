"""How many frames or blocks of a chain are worth one independent sample.

The statistical inefficiency g = 1 + 2 sum over t of (1 - t/n) rho(t), rho being the autocorrelation
(J. D. Chodera et al., J. Chem. Theory Comput. 3, 26 (2007)): the variance of a mean of n values is that
of one, times g/n.
"""

import numpy
from pymbar.timeseries import statistical_inefficiency_multiple
from scipy.special import stdtrit

FEWEST_LAGS = 5  # values apart; a chain with no more tells nothing of its correlation
WINDOW = 3  # times g: so far the correlation is summed, what follows is noise
MOST_ROUNDS = 200
ONE_DEVIATION = 0.8413447460685429  # of a normal distribution
TWO_SIDED_95 = 0.975


def inefficiency(series):
    """Values for one independent sample, of all chains of an image together: correlation about their
    common mean.

    About its own mean a chain does not see what is slower than itself; and a number of samples from
    each chain's own noisy inefficiency would be too large, being a mean of reciprocals.
    """
    long_enough = [one for one in series if len(one) > FEWEST_LAGS]
    if not long_enough or numpy.ptp(numpy.concatenate(long_enough)) == 0:
        return 1.0
    return float(statistical_inefficiency_multiple(long_enough))


def ranks_of(series):
    """Where a few frames have a huge energy, as where an atom of the image overlaps with a solvent
    molecule, the energies themselves say nothing of how long the others remember."""
    ranks = numpy.argsort(numpy.argsort(numpy.concatenate(series), kind="stable")).astype(float)
    return numpy.split(ranks, numpy.cumsum([len(one) for one in series])[:-1])


def _correlation(images):
    """Autocorrelation about the mean of each image, over its variance, of all of them together."""
    longest = max(len(one) for chains in images for one in chains)
    products, pairs = numpy.zeros(longest), numpy.zeros(longest)
    for chains in images:
        every = numpy.concatenate(chains)
        for one in chains:
            values, count = (one - every.mean()) / every.std(), len(one)
            transform = numpy.fft.rfft(values, 2 * count)
            products[:count] += numpy.fft.irfft(abs(transform) ** 2, 2 * count)[:count]
            pairs[:count] += count - numpy.arange(count)
    return products / pairs


def common_inefficiency(images):
    """Of several images ([image][chain]: series) that remember as long as each other, as those of one
    solvent about one solute do: one chain is too short to tell it well, and tells too little of it.

    The mean that a series of N values has is off by what g/N of its variance is, which its
    autocorrelation about this mean lacks, and which is put back: rho = r (1 - g/N) + g/N.
    """
    images = [chains for chains in images if numpy.ptp(numpy.concatenate(chains)) > 0]
    if not images:
        return 1.0
    found = _correlation(images)
    lengths = [len(one) for chains in images for one in chains]
    lags = numpy.arange(len(found))
    shares = numpy.array([sum(max(0, one - lag) for one in lengths) for lag in lags]) / sum(lengths)
    count = sum(lengths) / len(images)
    g = 1.0
    for _ in range(MOST_ROUNDS):
        rho = found * (1 - g / count) + g / count
        sums = 1 + 2 * numpy.append(0, numpy.cumsum((shares * rho)[1:]))
        enough = numpy.flatnonzero(lags >= WINDOW * numpy.maximum(sums, 1))
        last, g = g, float(numpy.clip(sums[enough[0] if len(enough) else -1], 1, count))
        if abs(g - last) < 1e-6 * g:
            break
    return g


def upper_limit(g, values):
    """What an inefficiency may well be that comes from so many values: nine times in ten it is less.
    Its relative variance is 2 (2 WINDOW g + 1)/N (N. Madras, A. D. Sokal, J. Stat. Phys. 50, 109 (1988))."""
    return g * (1 + 2 * numpy.sqrt(2 * WINDOW * g / values))


def student_factor(samples, probability=ONE_DEVIATION):
    """By which an error is larger that comes from the scatter of so few samples: a deviation is less
    than the error with this probability. As it stands, 68 % are between the two."""
    return float(stdtrit(max(1.0, samples - 1), probability))


def to_95(samples):
    """By which half an interval that holds at 95 % is wider than an error with student_factor(): 1.96
    for many samples, 3.3 for three."""
    return student_factor(samples, TWO_SIDED_95) / student_factor(samples)
