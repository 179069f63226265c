"""Basis functions on a fixed set of points, block by block, small values left out."""

import concurrent.futures
import functools
import operator

import numpy
from array_backend import HOST
from basis_functions import BasisFunctions
from pyscf import dft

SMALLEST_VALUE = 1e-9  # a basis function below this on a whole block does not count there
# Of the sums of a response, which all the machine's cores make: as many threads at most are at work.
KERNEL_SHARES = 32


class PointBlocks:
    """The points (bohr) must be sorted so that neighbours in the list are neighbours in space.

    Values, weights, matrices and results are arrays of the backend; the points are the host's.

    Points and basis never change in a worker's life, so the values are kept as long as they fit
    into cache_bytes; blocks beyond that are evaluated anew every time. Threads take whole blocks:
    each block's matrices are too small for a threaded BLAS.

    shares: into which a sum of matrices is split, by default one for each thread. With a number of
    their own the result has the same bits for any number of threads.
    """

    def __init__(
        self,
        molecule,
        points,
        threads,
        cache_bytes,
        gradients=False,
        precision=numpy.float64,
        smallest_value=SMALLEST_VALUE,
        backend=HOST,
        shares=None,
    ):
        self._molecule = molecule
        self.backend = backend
        self._points = points
        self._gradients = gradients
        if backend.on_device:
            threads = 1  # it has its own
            self._functions = BasisFunctions(molecule, backend)
        self.precision = precision
        self._shares = shares or threads
        # One thread needs no other: handing over some hundred blocks takes longer than some of them.
        self._map = map if threads == 1 else concurrent.futures.ThreadPoolExecutor(threads).map
        self._blocks = []
        at_once = backend.points_of_block(precision)
        for first in range(0, len(points), at_once):
            block = slice(first, min(first + at_once, len(points)))
            values = None if backend.on_device else self._evaluate(block)
            functions = backend.functions_of_block(values, smallest_value)
            kept = None
            if cache_bytes > 0:
                kept = self._chosen(block, functions, values)
                cache_bytes -= kept.nbytes
            self._blocks.append((block, functions, kept))

    def _evaluate(self, block):
        """(1 or 4, points, functions): value, and with gradients its x, y, z derivatives."""
        points = self._points[block]
        values = dft.numint.eval_ao(
            self._molecule,
            points,
            deriv=1 if self._gradients else 0,
            non0tab=dft.gen_grid.make_mask(self._molecule, points),
        )
        return values if self._gradients else values[None]

    def _chosen(self, block, functions, values=None):
        """values: of the block, where the host has them already."""
        if self.backend.on_device:
            return self._made_there(block)
        values = self._evaluate(block) if values is None else values
        return self.backend.values_of(values, functions, self.precision)

    def _made_there(self, block):
        """Of all functions."""
        points = self.backend.put(self._points[block])
        shape = (4 if self._gradients else 1, len(points), self._molecule.nao)
        values = self.backend.xp.empty(shape, dtype=self.precision)
        for first in range(0, len(points), self._functions.points_at_once):
            some = slice(first, first + self._functions.points_at_once)
            made = self._functions.at(points[some], self._gradients)
            values[:, some] = made.astype(self.precision, copy=False)
        return values

    def _values(self, block, functions, kept):
        if kept is not None:
            return kept
        return self._chosen(block, functions)

    def for_each_block(self, work):
        """Calls work(block, functions, values) in the threads; order and thread do not matter."""
        for _ in self._map(
            lambda entry: work(entry[0], entry[1], self._values(*entry)), self._blocks
        ):
            pass

    def sum_matrix(self, contribution):
        """Sum of contribution(block, functions, values), each a matrix over those functions."""

        count = self._molecule.nao
        xp = self.backend.xp

        def transposed_share(blocks):
            matrix = xp.zeros((count, count))
            for block, functions, kept in blocks:
                values = self._values(block, functions, kept)
                self.backend.add_transposed(
                    matrix, functions, contribution(block, functions, values)
                )
            return matrix

        # Strided shares, summed in a fixed order: the same bits whichever thread is quicker.
        parts = min(self._shares, len(self._blocks))
        shares = [self._blocks[first::parts] for first in range(parts)]
        return functools.reduce(operator.add, self._map(transposed_share, shares)).T

    def integrate(self, weighted):
        """sum over points of weighted(p) phi_m(p) phi_n(p), all pairs of functions."""

        weighted = self.backend.without_tiny(weighted.astype(self.precision))

        def contribution(block, _functions, values):
            return self.backend.weighted_square(values[0], weighted[block])

        return self.sum_matrix(contribution)

    def sum_of_squares(self, orbitals):
        """sum over orbitals i of (sum over m of C_mi phi_m(p))^2 at every point."""
        result = self.backend.xp.zeros(len(self._points))
        orbitals = self.backend.without_tiny(orbitals.astype(self.precision))

        def fill(block, functions, values):
            result[block] = self.backend.row_squares(values[0] @ orbitals[functions])

        self.for_each_block(fill)
        return result
