"""Coulomb and exchange matrices of a closed shell, from density-fitting factors or exact integrals."""

import numpy
from pyscf import lib

EXCHANGE_BYTES = 2**27  # of a device, for matrices that are unpacked at a time


class FittedInteraction:
    """By factors that a device keeps: Cholesky-decomposed integrals L_Q, packed, made there of
    FittingIntegrals, or where there are none PySCF's.

    J = sum over Q of L_Q (L_Q . D), and K = sum over Q of (L_Q X)(L_Q X)^T of a density D = X X^T.
    """

    def __init__(self, density_fitting, integrals, backend):
        functions = density_fitting.mol.nao
        self._backend = backend
        pairs = functions * (functions + 1) // 2
        if integrals is None:
            self._take(density_fitting, pairs)
        else:
            self._make(integrals, pairs)
        rows, columns = numpy.tril_indices(functions)
        self._lower = backend.put(rows * functions + columns)
        place = numpy.empty((functions, functions), dtype=rows.dtype)
        place[rows, columns] = place[columns, rows] = numpy.arange(pairs)
        self._place = backend.put(place)
        self._twice = backend.put(numpy.where(rows == columns, 1.0, 2.0))
        self._at_once = max(1, EXCHANGE_BYTES // (8 * functions**2))

    def _take(self, density_fitting, pairs):
        self._factors = self._backend.xp.empty((density_fitting.get_naoaux(), pairs))
        done = 0
        for block in density_fitting.loop():
            self._factors[done : done + len(block)] = self._backend.put(block)
            done += len(block)

    def _make(self, integrals, pairs):
        inverse = self._backend.put(integrals.inverse)
        self._factors = self._backend.xp.empty((inverse.shape[0], pairs))
        for some, block in integrals.blocks:
            self._factors[:, some] = inverse @ self._backend.put(block)

    def coulomb(self, density_matrix):
        packed = density_matrix.ravel().take(self._lower) * self._twice
        return (self._factors.T @ (self._factors @ packed)).take(self._place)

    def exchange(self, root):
        """root: X, (functions, any number)."""
        factors, found = self._factors, 0.0
        for first in range(0, factors.shape[0], self._at_once):
            matrices = factors[first : first + self._at_once].take(self._place, axis=1)
            found = found + _of_half_transformed(matrices @ root)
        return found


def _of_half_transformed(half):
    """half: (factors, functions, columns of X)."""
    rows = half.transpose(1, 0, 2).reshape(half.shape[1], -1)
    return rows @ rows.T


def exchange_of_change(density_fitting, changed, occupied):
    """K of the density C' C^T + C C'^T, by factors in the host's memory; changed: C', occupied: C. PySCF, which does
    not know that so few orbitals make it up, would take three times as long."""
    both = numpy.hstack([changed, occupied])
    found = 0.0
    for block in density_fitting.loop():
        half = (lib.unpack_tril(block) @ both).transpose(1, 0, 2)
        of_changed, of_occupied = (
            part.reshape(len(part), -1) for part in numpy.split(half, 2, axis=2)
        )
        found = found + of_changed @ of_occupied.T
    return found + found.T


class HostInteraction:
    """By PySCF, of whatever integrals the mean field has; matrices are the backend's and travel."""

    def __init__(self, mean_field, backend):
        self._mean_field = mean_field
        self._backend = backend

    def coulomb(self, density_matrix):
        mean_field = self._mean_field
        return self._backend.put(mean_field.get_j(mean_field.mol, self._backend.get(density_matrix)))

    def exchange(self, root):
        mean_field, root = self._mean_field, self._backend.get(root)
        return self._backend.put(mean_field.get_k(mean_field.mol, root @ root.T))


class HostFittedInteraction(HostInteraction):
    """By factors in the host's memory: the exchange has the same bits each time, and PySCF's has not.

    precision: that it is computed in, a coarse level's being single.
    """

    def __init__(self, mean_field, backend, precision=numpy.float64):
        super().__init__(mean_field, backend)
        self._precision = precision

    def exchange(self, root):
        precision = self._precision
        root = root.astype(precision, copy=False)
        found = 0.0
        for block in self._mean_field.with_df.loop():
            matrices = lib.unpack_tril(block).astype(precision, copy=False)
            found = found + _of_half_transformed(matrices @ root).astype(float, copy=False)
        return found


def size_in_bytes(functions, auxiliary_functions):
    return 8 * auxiliary_functions * functions * (functions + 1) // 2


def make_levels(mean_field, fitted, backend, integrals=None):
    """(fine, coarse) of two_level.py. fitted: mean_field, or the same with density fitting. integrals: for
    a device, FittingIntegrals if there are any."""
    if backend.on_device:
        coarse = FittedInteraction(fitted.with_df, integrals, backend)
        return (coarse if fitted is mean_field else HostInteraction(mean_field, backend)), coarse
    fine = HostFittedInteraction if fitted is mean_field else HostInteraction
    return fine(mean_field, backend), HostFittedInteraction(fitted, backend, numpy.float32)
