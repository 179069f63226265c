"""Integrals over densities that depend on distances (atomic units).

PySCF has no analytic integrals of these, and none are needed: they are smooth but for kinks, so that
quadrature serves. What it errs in the number of electrons would count times the distance, so each
density is brought to its own number.
"""

import concurrent.futures
import dataclasses

import numpy
from point_blocks import PointBlocks, sub_matrix
from pyscf import dft

# Points per atom of the responses' quadrature, and of the density's own.
RESPONSE_GRID = (30, 110)
DENSITY_GRID = (50, 302)
ROUGH_GRID = (30, 110)
TARGETS_AT_ONCE = 50
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
    """Of charges, by some threads: sums of distance to (t, 3) targets, and of max(0, d - distance)^2 to spheres."""

    targets: numpy.ndarray
    spheres: Spheres
    threads: int

    def of_charges(self, points, charges):
        """((k, targets), (k, spheres)) of (k, points) charges."""
        counted = abs(charges).max(axis=0) > SMALLEST_CHARGE
        points, charges = points[counted], charges[:, counted]
        return self._of(points, lambda values: charges @ values)

    def of_points(self, points):
        """The same of a unit charge on each point."""
        return self._of(points, lambda values: values)

    def _of(self, points, summed):
        def distances(first):
            return summed(_distances(points, self.targets[first : first + TARGETS_AT_ONCE]))

        def beyond(one):
            depth = self.spheres.radii[one] - _distances(points, self.spheres.centres[one][None])
            return summed(numpy.maximum(depth, 0) ** 2)

        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            of_targets = pool.map(distances, range(0, len(self.targets), TARGETS_AT_ONCE))
            of_spheres = pool.map(beyond, range(len(self.spheres.radii)))
            return numpy.hstack([*of_targets]), numpy.hstack([*of_spheres])


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
