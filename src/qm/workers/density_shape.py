"""Integrals over densities that depend on distances (atomic units).

PySCF has no analytic integrals of these, and none are needed: they are smooth but for kinks, so that
quadrature serves. What it errs in the number of electrons would count times the distance, so each
density is brought to its own number.
"""

import dataclasses

import numpy
from point_blocks import PointBlocks, sub_matrix
from pyscf import dft

# Points per atom of the responses' quadrature, and of the density's own.
RESPONSE_GRID = (30, 110)
DENSITY_GRID = (50, 194)
TARGETS_AT_ONCE = 200
SMALLEST_CHARGE = 1e-8  # e; half of a fine quadrature's points have less


def distances_between(points, others):
    """(points, others)"""
    return numpy.linalg.norm(points[:, None] - others[None], axis=2)


@dataclasses.dataclass
class Spheres:
    """centres (c, 3), and of each its radii (c, d)."""

    centres: numpy.ndarray
    radii: numpy.ndarray


@dataclasses.dataclass
class Shape:
    """Of charges: sums of distance to (t, 3) targets, and of max(0, d - distance)^2 to spheres."""

    targets: numpy.ndarray
    spheres: Spheres

    def of_charges(self, points, charges):
        """((k, targets), (k, spheres)) of (k, points) charges."""
        counted = abs(charges).max(axis=0) > SMALLEST_CHARGE
        points, charges = points[counted], charges[:, counted]
        distances = numpy.zeros((len(charges), len(self.targets)))
        for first in range(0, len(self.targets), TARGETS_AT_ONCE):
            some = slice(first, first + TARGETS_AT_ONCE)
            distances[:, some] = charges @ _distances(points, self.targets[some])
        count, radii = self.spheres.radii.shape
        beyond = numpy.zeros((len(charges), count, radii))
        for one, centre in enumerate(self.spheres.centres):
            depth = self.spheres.radii[one] - _distances(points, centre[None])
            beyond[:, one] = charges @ numpy.maximum(depth, 0) ** 2
        return distances, beyond.reshape(len(charges), -1)


def _distances(points, others):
    """By matrix products: some 1e-7 bohr off."""
    squares = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)
    squares -= 2 * points @ others.T
    return numpy.sqrt(numpy.maximum(squares, 0))


class Quadrature:
    """Density matrices (k, n, n) as charges of electrons -1 on points."""

    def __init__(self, molecule, grid, threads):
        quadrature = dft.gen_grid.Grids(molecule)
        quadrature.atom_grid = grid
        quadrature.build()
        real = quadrature.atm_idx >= 0
        self.points, self._weights = quadrature.coords[real], quadrature.weights[real]
        # In single precision: what is wrong in the number of electrons is put right below.
        self._blocks = PointBlocks(molecule, self.points, threads, 0, precision=numpy.float32)

    def charges(self, matrices, electrons):
        """(k, points) of densities with so many electrons each."""
        result = numpy.zeros((len(matrices), len(self.points)))

        def fill(block, functions, values):
            values = values[0]
            for k, matrix in enumerate(matrices):
                part = sub_matrix(matrix, functions).astype(values.dtype)
                result[k, block] = numpy.einsum("pm,pm->p", values @ part, values)

        self._blocks.for_each_block(fill)
        result *= -self._weights
        # Brought to the right number by a share of the densities' common shape.
        shape = abs(result).sum(axis=0)
        return result - (result.sum(axis=1) + electrons)[:, None] * (shape / shape.sum())
