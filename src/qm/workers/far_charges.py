"""Point charges inside a molecule that stand for its density (atomic units but for names).

They serve for any Coulomb function V(r) = A/r + S(r). Outside, all of V is theirs; near the solute S
is, while 1/r comes from analytic integrals. So least squares on shells about the nuclei match two
integrals over the density, of 1/r and of r: S of a shifted force is r/rc^2 and a constant, and the
trace of the second moments, of which 1/r tells nothing outside, is part of it. Where a cutoff's sphere
goes through the solute, V sees part of the density: max(0, d - r)^2 at points farther away, for spheres
of radius d through the solute, says how the density lies along each direction. The total charge is
exact.
"""

import dataclasses
import math

import numpy
import scipy.linalg
from density_potential import sphere
from density_shape import DENSITY_GRID, ROUGH_GRID, Shape, Spheres, distances_between
from pyscf.data import nist
from threads import add_gram


@dataclasses.dataclass(frozen=True)
class Fineness:
    """Radii in angstrom.

    charge_shells: (radius, points of each nucleus) of the charges; the nuclei themselves come first.
    fit_shells: where potentials are matched. Nearer than that the density is not inside, and to match
    it there costs accuracy everywhere.
    distance_shells: the same for r, which has to be right next to the solute, too.
    sphere_directions: from how many sides spheres of cutoffs go through a solute of one angstrom's
    radius, in proportion to the radius' square; sphere_spacing: between those of a side.
    density_grid: of the integrals over the density.
    """

    charge_shells: tuple
    fit_shells: tuple
    points_of_fit_shell: int
    distance_shells: tuple
    sphere_directions: float
    sphere_spacing: float
    density_grid: tuple


FINE = Fineness(
    charge_shells=((0.3, 14), (0.6, 24), (0.9, 40), (1.2, 60), (1.6, 80)),
    fit_shells=(2.8, 3.2, 3.8, 4.6, 5.4, 6.5, 8.5),
    points_of_fit_shell=80,
    distance_shells=(1.5, 2.1, 2.8, 3.8, 6.0, 10.0),
    sphere_directions=12,
    sphere_spacing=0.3,
    density_grid=DENSITY_GRID,
)
# A density that only leads to the next one.
ROUGH = Fineness(
    charge_shells=((0.5, 14), (1.0, 30)),
    fit_shells=(2.8, 3.8, 5.4, 8.5),
    points_of_fit_shell=40,
    distance_shells=(2.1, 3.8, 8.0),
    sphere_directions=2.5,
    sphere_spacing=0.8,
    density_grid=ROUGH_GRID,
)
DISTANCE_WEIGHT = 0.004  # 1/bohr^2: about 1/rc^2 for a cutoff rc of 8 angstrom
SPHERE_DISTANCE = 6.0  # angstrom, from the outermost nucleus to the centres of cutoffs
SPHERE_MARGIN = 1.0  # angstrom; so far beyond the nuclei they go
LEAST_RADIUS = 2.9  # angstrom; a smaller solute has as many spheres
SPHERE_WEIGHT = 1e-3  # 1/bohr^3: some times 1/rc^3, as most charges of a solvent are that far away
COLUMNS_AT_ONCE = 512  # of the kernel: 50 MB for a hundred atoms, some times
RIDGE = 1e-12  # of the largest eigenvalue of the normal equations: what the shells do not determine


def shell_about(nuclei, radius_angstrom, count):
    """Points of the spheres about all nuclei that are inside none of the others."""
    radius = radius_angstrom / nist.BOHR
    points = (nuclei[:, None] + radius * sphere(count)[None]).reshape(-1, 3)
    distances = numpy.linalg.norm(points[:, None] - nuclei[None], axis=2).min(axis=1)
    return points[distances > radius * (1 - 1e-9)]


def shells_about(nuclei, radii_angstrom, count):
    return numpy.vstack([shell_about(nuclei, radius, count) for radius in radii_angstrom])


def cutoff_spheres(nuclei, fineness):
    """Spheres that go through the molecule from all sides."""
    centre = nuclei.mean(axis=0)
    radius = numpy.linalg.norm(nuclei - centre, axis=1).max()
    radius_angstrom = max(LEAST_RADIUS, radius * nist.BOHR)
    directions = sphere(round(fineness.sphere_directions * radius_angstrom**2))
    centres = centre + (radius + SPHERE_DISTANCE / nist.BOHR) * directions
    distances = distances_between(centres, nuclei)
    margin = SPHERE_MARGIN / nist.BOHR
    depth_angstrom = 2 * (radius_angstrom + SPHERE_MARGIN)
    steps = numpy.linspace(0, 1, math.ceil(depth_angstrom / fineness.sphere_spacing))
    first, last = distances.min(axis=1) - margin, distances.max(axis=1) + margin
    return Spheres(centres, first[:, None] + (last - first)[:, None] * steps)


class NeutralCharges:
    """Charges on some points that add up to nothing, by an orthonormal basis of them: of the reflection
    that turns equal charges into one on the first point, the other columns."""

    def __init__(self, count):
        self._normal = numpy.full(count, count**-0.5)
        self._normal[0] -= 1
        self._normal /= numpy.linalg.norm(self._normal)

    def reduce(self, rows):
        """Of (points, k), which it overwrites, the products with the basis, (points - 1, k)."""
        rows -= numpy.multiply.outer(2 * self._normal, self._normal @ rows)
        return rows[1:]

    def expand(self, coefficients):
        """The charges, (k, points), of (points - 1, k)."""
        rows = numpy.vstack([numpy.zeros(coefficients.shape[1]), coefficients])
        return (rows - 2 * self._normal[:, None] * (self._normal @ rows)).T


def largest_eigenvalue(matrix):
    """Of a positive one, to some per cent."""
    vector = numpy.ones(len(matrix))
    for _ in range(20):
        vector = matrix @ (vector / numpy.linalg.norm(vector))
    return numpy.linalg.norm(vector)


def _slices(count, at_once):
    return [slice(first, first + at_once) for first in range(0, count, at_once)]


class FarCharges:
    """targets: where fit() wants potentials; shape: what else it wants to know of the densities.

    What a unit charge on each point gives of all that, the kernel, takes gigabytes for a hundred atoms. It
    is made in blocks of columns, whenever it is needed; only the normal equations are kept.
    """

    def __init__(self, nuclei, fineness, threads):
        self.fineness = fineness
        self.points = numpy.vstack(
            [nuclei, *(shell_about(nuclei, *shell) for shell in fineness.charge_shells)]
        )
        count = fineness.points_of_fit_shell
        self.targets = shells_about(nuclei, fineness.fit_shells, count)
        self.shape = Shape(
            shells_about(nuclei, fineness.distance_shells, count),
            cutoff_spheres(nuclei, fineness),
            threads,
        )
        self._neutral = NeutralCharges(len(self.points))
        of_equal_charges = []
        normal = numpy.zeros((len(self.points) - 1, len(self.points) - 1))
        for kernel in self._kernel():
            of_equal_charges.append(kernel.mean(axis=0))
            add_gram(normal, self._neutral.reduce(kernel), threads)
        self._of_equal_charges = numpy.hstack(of_equal_charges)
        normal[numpy.diag_indices_from(normal)] += RIDGE * largest_eigenvalue(normal)
        # As its transpose, in the order in memory that LAPACK takes without a copy.
        self._factor = scipy.linalg.cho_factor(normal.T, overwrite_a=True)

    def _kernel(self):
        """Blocks (points, some) of what a unit charge on each point gives, in the order of fit()."""
        for some in _slices(len(self.targets), COLUMNS_AT_ONCE):
            yield 1 / distances_between(self.points, self.targets[some])
        targets, spheres = self.shape.targets, self.shape.spheres
        no_spheres = Spheres(spheres.centres[:0], spheres.radii[:0])
        for some in _slices(len(targets), COLUMNS_AT_ONCE):
            yield self._weighted(self._of_part(targets[some], no_spheres))
        at_once = max(1, COLUMNS_AT_ONCE // spheres.radii.shape[1])
        for some in _slices(len(spheres.radii), at_once):
            part = Spheres(spheres.centres[some], spheres.radii[some])
            yield self._weighted(self._of_part(targets[:0], part))

    def _of_part(self, targets, spheres):
        return dataclasses.replace(self.shape, targets=targets, spheres=spheres).of_points(self.points)

    @staticmethod
    def _weighted(shapes):
        distances, beyond = shapes
        return numpy.hstack([DISTANCE_WEIGHT * distances, SPHERE_WEIGHT * beyond])

    def fit(self, potentials, shapes, total_charges):
        """(k, charges) for potentials (k, targets), what shape says of them, and k total charges."""
        wanted = numpy.hstack([potentials, self._weighted(shapes)])
        totals = numpy.asarray(total_charges, float)[:, None]
        lacks = wanted - totals * self._of_equal_charges
        products, first = 0.0, 0
        for kernel in self._kernel():
            columns = slice(first, first + kernel.shape[1])
            products = products + self._neutral.reduce(kernel) @ lacks[:, columns].T
            first = columns.stop
        coefficients = scipy.linalg.cho_solve(self._factor, products)
        return totals / len(self.points) + self._neutral.expand(coefficients)
