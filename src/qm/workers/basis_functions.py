"""Basis functions and their gradients at points, as array expressions: on a device they are made in less
time than PySCF's take to get there."""

import numpy
from pyscf import gto

BYTES_AT_ONCE = 2**24  # of one array of them; some fifteen live at a time
# Of e: what is less is nothing to any sum, but subnormal, which takes a core a hundred times as long.
LEAST_POWER = -200.0


def _cartesian(momentum):
    return [(x, y, momentum - x - y) for x in range(momentum, -1, -1) for y in range(momentum - x, -1, -1)]


class BasisFunctions:
    """Of a molecule, in double precision, on one backend.

    All are sums over Cartesian ones, x^i y^j z^k from a centre times a contraction of Gaussians.
    """

    def __init__(self, molecule, backend):
        if molecule.cart:
            raise ValueError("Cartesian basis functions")
        self._backend = backend
        centres, exponents, coefficients, powers, blocks = [], [], [], [], []
        for shell in range(molecule.nbas):
            momentum = int(molecule.bas_angular(shell))
            for contraction in molecule._libcint_ctr_coeff(shell).T:
                centres.append(molecule.bas_coord(shell))
                exponents.append(molecule.bas_exp(shell))
                coefficients.append(contraction)
                powers.append(_cartesian(momentum))
                blocks.append(gto.cart2sph(momentum))
        put, shells = backend.put, numpy.arange(len(centres))
        self._centres = [put(column[None]) for column in numpy.ascontiguousarray(numpy.array(centres).T)]
        lengths = [len(one) for one in exponents]
        of_primitives = numpy.repeat(shells, lengths)
        self._of_primitives = put(of_primitives)
        exponents = numpy.concatenate(exponents)
        self._exponents = put(-exponents[None])
        contraction = numpy.zeros((len(exponents), len(shells)))
        contraction[numpy.arange(len(exponents)), of_primitives] = numpy.concatenate(coefficients)
        self._contraction = put(contraction)
        self._slopes = put(-2 * exponents[:, None] * contraction)
        self._of_functions = put(numpy.repeat(shells, [len(one) for one in powers]))
        self._powers = numpy.concatenate(powers)
        self._spherical = self._combination(blocks)
        self._masks = [self._put_masks(self._powers[:, axis]) for axis in range(3)]
        self._lower_masks = [self._put_masks(self._powers[:, axis] - 1) for axis in range(3)]
        self._factors = [put(self._powers[None, :, axis].astype(float)) for axis in range(3)]
        self.points_at_once = max(1, BYTES_AT_ONCE // (8 * len(self._powers)))

    def _combination(self, blocks):
        """Of the Cartesian functions, in the order of the basis."""
        ends = numpy.cumsum([(0, 0), *(block.shape for block in blocks)], axis=0)
        matrix = numpy.zeros(ends[-1])
        for block, first, last in zip(blocks, ends[:-1], ends[1:], strict=True):
            matrix[first[0] : last[0], first[1] : last[1]] = block
        return self._backend.put(matrix)

    def _put_masks(self, powers):
        """Of the functions that have a first, a second, ... factor."""
        return [self._backend.put(powers[None] >= n) for n in range(1, int(powers.max(initial=0)) + 1)]

    def at(self, points, gradients):
        """(1 or 4, points, functions); points: (p, 3) of the backend's, in bohr."""
        xp = self._backend.xp
        places = [points[:, axis : axis + 1] - centre for axis, centre in enumerate(self._centres)]
        squares = places[0] * places[0] + places[1] * places[1] + places[2] * places[2]
        powers = squares.take(self._of_primitives, axis=1) * self._exponents
        gaussians = xp.exp(xp.maximum(powers, LEAST_POWER))
        radial = (gaussians @ self._contraction).take(self._of_functions, axis=1)
        places = [place.take(self._of_functions, axis=1) for place in places]
        x, y, z = (self._product(place, masks) for place, masks in zip(places, self._masks, strict=True))
        angular = x * y * z
        found = [angular * radial]
        if gradients:
            slope = (gaussians @ self._slopes).take(self._of_functions, axis=1) * angular
            lower = [
                self._product(place, masks) * factor
                for place, masks, factor in zip(places, self._lower_masks, self._factors, strict=True)
            ]
            found += [
                lower[0] * y * z * radial + places[0] * slope,
                x * lower[1] * z * radial + places[1] * slope,
                x * y * lower[2] * radial + places[2] * slope,
            ]
        return xp.stack([one @ self._spherical for one in found])

    def _product(self, place, masks):
        xp = self._backend.xp
        product = xp.where(masks[0], place, 1.0) if masks else xp.zeros(place.shape) + 1.0
        for mask in masks[1:]:
            product = product * xp.where(mask, place, 1.0)
        return product
