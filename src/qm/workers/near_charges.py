"""MM charges near the solute, whose 1/r quadrature does badly.

Within some 3 A of a nucleus a charge lies where the density still is, and 1/r about it is steep
between the quadrature's points: the energy would depend on where a point happens to lie. For these
charges 1/r is left to analytic integrals; what remains of their potential is smooth.
"""

import numpy
from array_backend import HOST

# From here on quadrature is as good: of chorismate's energy 0.01 kJ/mol is left (3.0: 0.05).
NEAR_ANGSTROM = 3.5
ROUNDED_ANGSTROM = 1e-6  # more than rounding errors
# The program takes shorter distances for this one (STARPMC_MINIMUM_DISTANCE_SQUARED).
MINIMUM_DISTANCE_ANGSTROM = 0.01


def _within_reach(charges, nuclei):
    """Indices of the sites, among which are all that have an image near a nucleus: most are too far away
    along one axis, and need no distance from every nucleus."""
    low, high = nuclei.min(axis=0), nuclei.max(axis=0)
    centre = (low + high) / 2
    reach = (high - low) / 2 + NEAR_ANGSTROM + ROUNDED_ANGSTROM
    offsets = charges.positions - centre
    if charges.box is not None:
        offsets -= numpy.rint(offsets / charges.box) * charges.box
    return numpy.flatnonzero((abs(offsets) < reach).all(axis=1))


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
        within_reach = _within_reach(charges, nuclei)
        separations = charges.positions[within_reach, None] - nuclei[None]
        shifts = numpy.zeros_like(separations)
        if charges.box is not None:
            shifts = numpy.rint(separations / charges.box) * charges.box
        distances = numpy.linalg.norm(separations - shifts, axis=2)
        some, atoms = numpy.nonzero(distances < NEAR_ANGSTROM)
        images = numpy.column_stack([within_reach[some], shifts[some, atoms]])
        images = numpy.unique(images, axis=0)
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
        charges_squares = backend.row_squares(charges)
        for first in range(0, len(points), backend.distances_at_once):
            some = slice(first, first + backend.distances_at_once)
            # |p|^2 + |r|^2 - 2 p r with an origin nearby: exact to 1e-13 A^2, and a matrix product.
            here = points[some] - centre
            squares = here @ (-2 * charges.T)
            squares += backend.row_squares(here)[:, None]
            squares += charges_squares
            xp.maximum(squares, MINIMUM_DISTANCE_ANGSTROM**2, out=squares)
            xp.sqrt(squares, out=squares)
            xp.reciprocal(squares, out=squares)
            result[some] = squares @ strengths
        return result
