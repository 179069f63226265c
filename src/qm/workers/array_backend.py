"""What the worker's array programs run on: NumPy on the host, or a module like it on a device.

The programs are written once, over `xp`, in operations that NumPy and CuPy share. Where each has a
better way of its own the backend has a method. Arrays of the two never mix: put() and get() are the
only ways between them, and on the host both leave an array as it is.

Psi4's worker imports this, too: its Python has NumPy, but neither PySCF nor SciPy.
"""

import numpy

HOST_POINTS_PER_BLOCK = 5 * 56  # five of PySCF's own blocks, dft.gen_grid.BLKSIZE
# In single precision what is below this is zero on the host, so that no product of three factors is
# subnormal: those cost an Intel core a hundred times what others do (a third of an SCF iteration's time).
SMALLEST_SINGLE = 1e-12
# Large matrix products, but temporary matrices of no more than 35 MB for 264 functions.
DEVICE_POINTS_PER_BLOCK = 16384  # and in single precision twice as many


class HostBackend:
    """BLAS and LAPACK on cores. A block's matrices stay in a core's cache."""

    xp = numpy
    name = "cpu"
    failures = ()
    on_device = False
    # Orbitals by followed_orbitals.py: a core diagonalises in a small part of an iteration.
    follows_orbitals = False
    points_per_block = HOST_POINTS_PER_BLOCK  # in any precision
    # Of the density on its grid: what the sampling makes of the charges, too; half the memory.
    density_precision = numpy.float32
    distances_at_once = 512  # from some tens of charges: they stay in a core's cache

    def points_of_block(self, _precision):
        return self.points_per_block

    def put(self, array, dtype=None):
        return array if dtype is None else array.astype(dtype, copy=False)

    def get(self, array):
        return array

    def get_product(self, one, other, result):
        """Of two arrays, into one of the host's: new ones of a megabyte cost it more than what they hold."""
        numpy.multiply(one, other, out=result)

    def eigh(self, matrix):
        import scipy.linalg  # not at the top: see there

        return scipy.linalg.eigh(matrix)

    def functions_of_block(self, values, smallest):
        """Indices of the functions that somewhere in a block reach `smallest`."""
        return numpy.flatnonzero(abs(values).max(axis=(0, 1)) > smallest)

    def values_of(self, values, functions, precision):
        """Of (c, p, f) as PySCF has them, which may be points last in memory, those of some functions."""
        return self.without_tiny(numpy.ascontiguousarray(values[:, :, functions], dtype=precision))

    def sub_matrix(self, matrix, functions):
        """Twice take: four times as fast as one index of rows and columns."""
        return matrix.take(functions, axis=0).take(functions, axis=1)

    def add_transposed(self, matrix, functions, contribution):
        """contribution is one over the functions."""
        columns = numpy.zeros((len(matrix), len(functions)))
        columns[functions] = contribution
        matrix[functions] += columns.T  # whole rows: twice as fast as scattered elements

    def without_tiny(self, values):
        """values itself, changed in place if it is in single precision."""
        if values.dtype == numpy.float32:
            values[abs(values) < SMALLEST_SINGLE] = 0
        return values

    def row_products(self, values, half, result):
        """Sum over f of values(c, p, f) half(p, f) becomes result(c, p), in double precision."""
        # Point by point a product of a small matrix and a vector: faster than einsum.
        result[...] = (values.transpose(1, 0, 2) @ half[:, :, None])[:, :, 0].T

    def combined_rows(self, weights, values):
        """Sum over c of weights(c, p) values(c, p, f): (p, f)."""
        return (weights.T[:, None, :] @ values.transpose(1, 0, 2))[:, 0]

    def row_squares(self, values):
        """Sum over f of values(p, f)^2."""
        return numpy.einsum("pi,pi->p", values, values)

    def weighted_square(self, values, weights):
        """values^T diag(weights) values."""
        signs = numpy.sign(weights[[abs(weights).argmax()]])
        if (weights * signs < 0).any():
            return values.T @ (values * weights[:, None])
        scaled = values * numpy.sqrt(abs(weights))[:, None]
        return signs * (scaled.T @ scaled)  # BLAS sees the symmetry: half the work

    def fused(self, function):
        """function of arrays, element by element, as one pass over them."""
        return function


HOST = HostBackend()


class DeviceBackend:
    """xp: CuPy or its like. All on the device's default stream, so in the order of the calls."""

    on_device = True
    follows_orbitals = True
    name = "gpu"
    points_per_block = DEVICE_POINTS_PER_BLOCK  # in double precision
    density_precision = numpy.float64
    distances_at_once = 65536

    failures = (MemoryError,)  # that a calculation can survive on the host

    devices = 1  # that workers share, each one of them

    def __init__(self, xp):
        self.xp = xp

    def points_of_block(self, precision):
        return self.points_per_block * 8 // numpy.dtype(precision).itemsize

    def put(self, array, dtype=None):
        return self.xp.asarray(numpy.ascontiguousarray(array, dtype=dtype))

    def get(self, array):
        return self.xp.asnumpy(array)

    def get_product(self, one, other, result):
        self.xp.asnumpy(one * other, out=result)

    def eigh(self, matrix):
        return self.xp.linalg.eigh(matrix)

    def functions_of_block(self, _values, _smallest):
        return slice(None)  # most of a large block's reach it: all are less work than a choice

    def sub_matrix(self, matrix, _functions):
        return matrix

    def add_transposed(self, matrix, _functions, contribution):
        matrix += contribution.T

    def without_tiny(self, values):
        return values

    def row_products(self, values, half, result):
        result[...] = (values * half[None]).sum(axis=2)

    def combined_rows(self, weights, values):
        return (weights[:, :, None] * values).sum(axis=0)

    def row_squares(self, values):
        return (values * values).sum(axis=1)

    def weighted_square(self, values, weights):
        return values.T @ (values * weights[:, None])

    def fused(self, function):
        return function

    def release(self):
        """What is no longer used is free for others."""

    def memory_bytes(self):
        """(free, in all) of the device."""
        return float("inf"), float("inf")
