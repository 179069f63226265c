"""A matrix product by threads, each part with the same bits for any number of them.

BLAS itself keeps to one thread in a worker: how it splits a product would depend on their number.
"""

import numpy
from density_potential import for_each

ROWS_AT_ONCE = 512


def gram(rows, threads):
    """rows @ rows.T, half of it computed."""
    count = len(rows)
    result = numpy.empty((count, count))
    firsts = range(0, count, ROWS_AT_ONCE)

    def fill(pair):
        some, other = (slice(first, first + ROWS_AT_ONCE) for first in pair)
        result[some, other] = rows[some] @ rows[other].T
        if some != other:
            result[other, some] = result[some, other].T

    for_each(fill, [(one, other) for one in firsts for other in firsts if other <= one], threads)
    return result
