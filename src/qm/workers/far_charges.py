"""Point charges inside a molecule that stand for its density (atomic units but for names).

They serve for any Coulomb function V(r) = A/r + S(r). Outside, all of V is theirs; near the solute S
is, while 1/r comes from analytic integrals. So least squares on shells about the nuclei match two
integrals over the density, of 1/r and of r: S of a shifted force is r/rc^2 and a constant, and the
trace of the second moments, of which 1/r tells nothing outside, is part of it. Where a cutoff's sphere
goes through the solute, V sees part of the density: max(0, d - r)^2 at points farther away, for spheres
of radius d through the solute, says how the density lies along each direction. The total charge is
exact.
"""

import numpy
from density_potential import sphere
from density_shape import Shape, Spheres, distances_between
from pyscf.data import nist

# (radius in angstrom, points of each nucleus) of the charges; the nuclei themselves come first.
CHARGE_SHELLS = ((0.3, 14), (0.6, 24), (0.9, 40), (1.2, 60), (1.6, 80))
# Where potentials are matched. Nearer than that the density is not inside, and to match it there
# costs accuracy everywhere.
FIT_SHELLS = (2.8, 3.2, 3.8, 4.6, 5.4, 6.5, 8.5)
POINTS_OF_FIT_SHELL = 80
# The same for r, which has to be right next to the solute, too.
DISTANCE_SHELLS = (1.5, 2.1, 2.8, 3.8, 6.0, 10.0)
DISTANCE_WEIGHT = 0.004  # 1/bohr^2: about 1/rc^2 for a cutoff rc of 8 angstrom
# Spheres of cutoffs: centres so far from the outermost nucleus, and how many of them and of radii.
SPHERE_DISTANCE = 6.0
SPHERE_DIRECTIONS, SPHERE_RADII = 100, 24
SPHERE_MARGIN = 1.0  # angstrom; so far beyond the nuclei they go
SPHERE_WEIGHT = 1e-3  # 1/bohr^3: some times 1/rc^3, as most charges of a solvent are that far away
RIDGE = 1e-12  # of the largest eigenvalue of the normal equations: what the shells do not determine


def shell_about(nuclei, radius_angstrom, count):
    """Points of the spheres about all nuclei that are inside none of the others."""
    radius = radius_angstrom / nist.BOHR
    points = (nuclei[:, None] + radius * sphere(count)[None]).reshape(-1, 3)
    distances = numpy.linalg.norm(points[:, None] - nuclei[None], axis=2).min(axis=1)
    return points[distances > radius * (1 - 1e-9)]


def shells_about(nuclei, radii_angstrom):
    return numpy.vstack([shell_about(nuclei, radius, POINTS_OF_FIT_SHELL) for radius in radii_angstrom])


def cutoff_spheres(nuclei):
    """Spheres that go through the molecule from all sides."""
    centre = nuclei.mean(axis=0)
    radius = numpy.linalg.norm(nuclei - centre, axis=1).max()
    centres = centre + (radius + SPHERE_DISTANCE / nist.BOHR) * sphere(SPHERE_DIRECTIONS)
    distances = distances_between(centres, nuclei)
    margin = SPHERE_MARGIN / nist.BOHR
    steps = numpy.linspace(0, 1, SPHERE_RADII)
    first, last = distances.min(axis=1) - margin, distances.max(axis=1) + margin
    return Spheres(centres, first[:, None] + (last - first)[:, None] * steps)


class FarCharges:
    """targets: where fit() wants potentials; shape: what else it wants to know of the densities."""

    def __init__(self, nuclei):
        self.points = numpy.vstack(
            [nuclei, *(shell_about(nuclei, *shell) for shell in CHARGE_SHELLS)]
        )
        self.targets = shells_about(nuclei, FIT_SHELLS)
        self.shape = Shape(shells_about(nuclei, DISTANCE_SHELLS), cutoff_spheres(nuclei))
        unit_charges = self.shape.of_charges(self.points, numpy.eye(len(self.points)))
        self._kernel = numpy.hstack(
            [1 / distances_between(self.points, self.targets), self._weighted(unit_charges)]
        )
        # Charges that add up to nothing: an orthonormal basis of them.
        count = len(self.points)
        constraint = numpy.linalg.qr(
            numpy.column_stack([numpy.ones(count), numpy.eye(count)[:, 1:]])
        )[0]
        self._neutral = constraint[:, 1:]
        reduced = self._kernel.T @ self._neutral
        values, vectors = numpy.linalg.eigh(reduced.T @ reduced)
        inverse = vectors / (values + RIDGE * values[-1])
        self._solve = self._neutral @ (inverse @ (vectors.T @ reduced.T))

    @staticmethod
    def _weighted(shapes):
        distances, beyond = shapes
        return numpy.hstack([DISTANCE_WEIGHT * distances, SPHERE_WEIGHT * beyond])

    def fit(self, potentials, shapes, total_charges):
        """(k, charges) for potentials (k, targets), what shape says of them, and k total charges."""
        wanted = numpy.hstack([potentials, self._weighted(shapes)])
        even = numpy.asarray(total_charges, float)[:, None] / len(self.points)
        even = numpy.broadcast_to(even, (len(potentials), len(self.points)))
        return even + (wanted - even @ self._kernel) @ self._solve.T
