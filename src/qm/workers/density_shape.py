"""Integrals over densities that depend on distances (atomic units).

PySCF has no analytic integrals of these, and none are needed: they are smooth but for kinks, so that
quadrature serves. What it errs in the number of electrons would count times the distance, so each
density is brought to its own number.
"""

import concurrent.futures
import dataclasses

import numpy
from array_backend import HOST
from point_blocks import PointBlocks
from pyscf import dft

# Points per atom of the responses' quadrature, and of the density's own.
RESPONSE_GRID = (30, 110)
DENSITY_GRID = (50, 302)
ROUGH_GRID = (30, 110)
TARGETS_AT_ONCE, POINTS_AT_ONCE = 50, 2048
DEVICE_TARGETS_AT_ONCE, DEVICE_POINTS_AT_ONCE = 1000, 32768  # 0.25 GiB
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

    def of_charges(self, points, charges, backend=HOST):
        """((k, targets), (k, spheres)) of (k, points) charges; all are the host's."""
        counted = abs(charges).max(axis=0) > SMALLEST_CHARGE
        points, charges = points[counted], backend.put(charges[:, counted])
        # The shorter arrays are, the longer they stay in a core's cache; a device wants them long.
        places = _places(points, DEVICE_POINTS_AT_ONCE if backend.on_device else POINTS_AT_ONCE, backend)

        def summed(values_of):
            total = sum(charges[:, some] @ values_of(place) for some, place in places)
            return backend.get(total)

        return self._of(summed, len(charges), backend)

    def of_points(self, points):
        """The same of a unit charge on each point."""
        ((_, place),) = _places(points, len(points), HOST)
        return self._of(lambda values_of: values_of(place), len(points), HOST)

    def _of(self, summed, rows, backend):
        xp, none = backend.xp, numpy.zeros((rows, 0))  # of a shape without targets or spheres
        targets, centres, radii = (
            backend.put(array) for array in (self.targets, self.spheres.centres, self.spheres.radii)
        )
        at_once = DEVICE_TARGETS_AT_ONCE if backend.on_device else TARGETS_AT_ONCE

        def distances(first):
            return summed(lambda place: _distances(xp, place, targets[first : first + at_once]))

        def beyond(one):
            def squares(place):
                depth = radii[one] - _distances(xp, place, centres[one : one + 1])
                xp.maximum(depth, 0, out=depth)
                depth *= depth
                return depth

            return summed(squares)

        firsts, spheres = range(0, len(self.targets), at_once), range(len(self.spheres.radii))
        if backend.on_device:  # which another thread would not know: each has one of its own
            of_targets, of_spheres = map(distances, firsts), map(beyond, spheres)
            return numpy.hstack([none, *of_targets]), numpy.hstack([none, *of_spheres])
        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            of_targets, of_spheres = pool.map(distances, firsts), pool.map(beyond, spheres)
            return numpy.hstack([none, *of_targets]), numpy.hstack([none, *of_spheres])


def _places(points, at_once, backend):
    """[(slice, (the points there, their squares))]"""
    slices = [slice(first, first + at_once) for first in range(0, len(points), at_once)]
    return [
        (some, (backend.put(points[some]), backend.put((points[some] ** 2).sum(axis=1)[:, None])))
        for some in slices
    ]


def _distances(xp, place, others):
    """By matrix products: some 1e-7 bohr off."""
    points, squares = place
    values = points @ others.T
    values *= -2
    values += squares
    values += (others**2).sum(axis=1)
    xp.maximum(values, 0, out=values)
    return xp.sqrt(values, out=values)


class Quadrature:
    """Density matrices (k, n, n) as charges of electrons -1 on points."""

    def __init__(self, molecule, grid, threads, backend=HOST):
        quadrature = dft.gen_grid.Grids(molecule)
        quadrature.atom_grid = grid
        quadrature.build()
        real = quadrature.atm_idx >= 0
        self.points, self._weights = quadrature.coords[real], quadrature.weights[real]
        # In single precision: what is wrong in the number of electrons is put right below.
        self._blocks = PointBlocks(
            molecule, self.points, threads, 0, precision=numpy.float32, backend=backend
        )

    def charges(self, matrices, electrons):
        """(k, points) of densities with so many electrons each; all are the host's."""
        backend = self._blocks.backend
        result = backend.xp.zeros((len(matrices), len(self.points)))
        singles = [backend.put(matrix, numpy.float32) for matrix in matrices]

        def fill(block, functions, values):
            for k, matrix in enumerate(singles):
                half = values[0] @ backend.sub_matrix(matrix, functions)
                backend.row_products(values, half, result[k : k + 1, block])

        self._blocks.for_each_block(fill)
        result = -self._weights * backend.get(result)
        # Brought to the right number by a share of the densities' common shape.
        shape = abs(result).sum(axis=0)
        return result - (result.sum(axis=1) + electrons)[:, None] * (shape / shape.sum())
