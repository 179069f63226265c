"""What a worker's threads do together, with the same bits for any number of them.

BLAS itself keeps to one thread in a worker: how it splits a product would depend on their number.
"""

import concurrent.futures

import numpy
from pyscf import lib

ROWS_AT_ONCE = 512


def for_each(work, items, threads):
    """Calls work(item) in the threads, in each of which PySCF keeps to one."""
    if threads == 1:
        for item in items:
            work(item)
        return
    with concurrent.futures.ThreadPoolExecutor(
        threads, initializer=lib.num_threads, initargs=(1,)
    ) as pool:
        for _ in pool.map(work, items):
            pass


def gram(rows, threads):
    """rows @ rows.T, half of it computed."""
    result = numpy.zeros((len(rows), len(rows)))
    add_gram(result, rows, threads)
    return result


def add_gram(result, rows, threads):
    """Adds gram(rows) to a symmetric matrix."""
    firsts = range(0, len(rows), ROWS_AT_ONCE)

    def add(pair):
        some, other = (slice(first, first + ROWS_AT_ONCE) for first in pair)
        result[some, other] += rows[some] @ rows[other].T
        if some != other:
            result[other, some] = result[some, other].T

    for_each(add, [(one, other) for one in firsts for other in firsts if other <= one], threads)
