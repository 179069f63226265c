"""MM charges near the solute, whose 1/r quadrature does badly.

Within some 3 A of a nucleus a charge lies where the density still is, and 1/r about it is steep
between the quadrature's points: the energy would depend on where a point happens to lie. For these
charges 1/r is left to analytic integrals; what remains of their potential is smooth.
"""

import numpy
from array_backend import HOST

# From here on quadrature is as good: of chorismate's energy 0.01 kJ/mol is left (3.0: 0.05).
NEAR_ANGSTROM = 3.5
# The program takes shorter distances for this one (STARPMC_MINIMUM_DISTANCE_SQUARED).
MINIMUM_DISTANCE_ANGSTROM = 0.01


class NearCharges:
    """positions (n, 3) in angstrom, and strengths: charge times the coefficient of 1/r."""

    def __init__(self, positions, strengths):
        self.positions = positions
        self.strengths = strengths

    @staticmethod
    def none():
        return NearCharges(numpy.empty((0, 3)), numpy.empty(0))

    @staticmethod
    def among(charges, nuclei):
        """Of a SolventCharges; in a periodic box every image that is near one of the nuclei."""
        if not charges.count or charges.coulomb_pole == 0:
            return NearCharges.none()
        separations = charges.positions[:, None] - nuclei[None]
        shifts = numpy.zeros_like(separations)
        if charges.box is not None:
            shifts = numpy.rint(separations / charges.box) * charges.box
        distances = numpy.linalg.norm(separations - shifts, axis=2)
        sites, atoms = numpy.nonzero(distances < NEAR_ANGSTROM)
        images = numpy.unique(numpy.column_stack([sites, shifts[sites, atoms]]), axis=0)
        sites = images[:, 0].astype(int)
        return NearCharges(
            charges.positions[sites] - images[:, 1:], charges.coulomb_pole * charges.charges[sites]
        )

    def inverse_distances(self, points, backend=HOST):
        """Sum of strength / distance at (p, 3) points of the backend's, both in angstrom."""
        xp = backend.xp
        result = xp.zeros(len(points))
        if not len(self.strengths):
            return result
        centre = self.positions.mean(axis=0)
        charges = backend.put(self.positions - centre)
        centre, strengths = backend.put(centre), backend.put(self.strengths)
        for first in range(0, len(points), backend.distances_at_once):
            some = slice(first, first + backend.distances_at_once)
            # |p|^2 + |r|^2 - 2 p r with an origin nearby: exact to 1e-13 A^2, and a matrix product.
            here = points[some] - centre
            squares = here @ (-2 * charges.T)
            squares += xp.einsum("pk,pk->p", here, here)[:, None]
            squares += xp.einsum("ck,ck->c", charges, charges)
            xp.maximum(squares, MINIMUM_DISTANCE_ANGSTROM**2, out=squares)
            xp.sqrt(squares, out=squares)
            xp.reciprocal(squares, out=squares)
            result[some] = squares @ strengths
        return result
