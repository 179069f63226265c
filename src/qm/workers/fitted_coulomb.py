"""Coulomb matrices from density-fitting factors that a device keeps."""

import numpy


class FittedCoulomb:
    """J = sum over Q of L_Q (L_Q . D), L_Q being PySCF's Cholesky-decomposed integrals, packed."""

    def __init__(self, density_fitting, backend):
        functions = density_fitting.mol.nao
        self._backend = backend
        pairs = functions * (functions + 1) // 2
        count = density_fitting.get_naoaux()
        self._factors = backend.xp.empty((count, pairs))
        done = 0
        for block in density_fitting.loop():
            self._factors[done : done + len(block)] = backend.put(block)
            done += len(block)
        rows, columns = numpy.tril_indices(functions)
        self._lower = backend.put(rows * functions + columns)
        place = numpy.empty((functions, functions), dtype=rows.dtype)
        place[rows, columns] = place[columns, rows] = numpy.arange(pairs)
        self._place = backend.put(place)
        self._twice = backend.put(numpy.where(rows == columns, 1.0, 2.0))

    def __call__(self, density_matrix):
        packed = density_matrix.ravel().take(self._lower) * self._twice
        return (self._factors.T @ (self._factors @ packed)).take(self._place)


def size_in_bytes(functions, auxiliary_functions):
    return 8 * auxiliary_functions * functions * (functions + 1) // 2


def make(fitted_mean_field, backend):
    """density matrix -> Coulomb matrix, of the backend's arrays."""
    if backend.on_device:
        return FittedCoulomb(fitted_mean_field.with_df, backend)
    return on_host(fitted_mean_field, backend)


def on_host(mean_field, backend):
    """By PySCF's get_j, which may be that of exact integrals: the matrices travel."""
    molecule = mean_field.mol

    def coulomb(density_matrix):
        return backend.put(mean_field.get_j(molecule, backend.get(density_matrix)))

    return coulomb
