"""Statistics of correlated samples, from the means of blocks that are longer than their memory."""

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
