"""Basis functions on a fixed set of points, block by block, small values left out."""

import concurrent.futures

import numpy
from pyscf import dft

POINTS_PER_BLOCK = 20 * dft.gen_grid.BLKSIZE
SMALLEST_VALUE = 1e-10  # a basis function below this on a whole block does not count there


class PointBlocks:
    """The points (bohr) must be sorted so that neighbours in the list are neighbours in space.

    Points and basis never change in a worker's life, so the values are kept as long as they fit
    into cache_bytes; blocks beyond that are evaluated anew every time.
    """

    def __init__(self, molecule, points, threads, cache_bytes):
        self._molecule = molecule
        self._points = points
        self._blocks = []
        self._pool = concurrent.futures.ThreadPoolExecutor(threads)
        for first in range(0, len(points), POINTS_PER_BLOCK):
            block = slice(first, min(first + POINTS_PER_BLOCK, len(points)))
            values = self._evaluate(block)
            functions = numpy.flatnonzero(abs(values).max(axis=0) > SMALLEST_VALUE)
            kept = None
            if cache_bytes > 0:
                kept = numpy.ascontiguousarray(values[:, functions])
                cache_bytes -= kept.nbytes
            self._blocks.append((block, functions, kept))

    def _evaluate(self, block):
        return dft.numint.eval_ao(self._molecule, self._points[block])

    def _values(self, block, functions, kept):
        return kept if kept is not None else self._evaluate(block)[:, functions]

    def integrate(self, weighted):
        """sum over points of weighted(p) phi_m(p) phi_n(p), all pairs of functions."""

        def partial(blocks):
            matrix = numpy.zeros((self._molecule.nao, self._molecule.nao))
            for block, functions, kept in blocks:
                values = self._values(block, functions, kept)
                matrix[numpy.ix_(functions, functions)] += values.T @ (
                    values * weighted[block, None]
                )
            return matrix

        # Strided shares, summed in a fixed order: the same bits whatever thread is quicker.
        count = self._pool._max_workers
        shares = [self._blocks[first::count] for first in range(count)]
        return sum(self._pool.map(partial, shares))

    def sum_of_squares(self, orbitals):
        """sum over orbitals of (sum over m of C_mi phi_m(p))^2 at every point."""
        result = numpy.zeros(len(self._points))

        def fill(entry):
            block, functions, kept = entry
            amplitudes = self._values(block, functions, kept) @ orbitals[functions]
            result[block] = numpy.einsum("pi,pi->p", amplitudes, amplitudes)

        for _ in self._pool.map(fill, self._blocks):
            pass
        return result
