"""Point charges inside a molecule that have its potential outside (atomic units but for names).

Least squares on shells about the nuclei, total charge exact.
"""

import numpy
from density_potential import sphere
from pyscf.data import nist

# (radius in angstrom, points of each nucleus) of the charges; the nuclei themselves come first.
CHARGE_SHELLS = ((1.2, 30),)
# Where potentials are matched. Nearer than that the density is not inside, and to match it there
# costs accuracy everywhere.
FIT_SHELLS = (2.8, 3.2, 3.8, 4.6, 6.0)
POINTS_OF_FIT_SHELL = 80
RIDGE = 1e-12  # of the largest eigenvalue of the normal equations: what the shells do not determine


def shell_about(nuclei, radius_angstrom, count):
    """Points of the spheres about all nuclei that are inside none of the others."""
    radius = radius_angstrom / nist.BOHR
    points = (nuclei[:, None] + radius * sphere(count)[None]).reshape(-1, 3)
    distances = numpy.linalg.norm(points[:, None] - nuclei[None], axis=2).min(axis=1)
    return points[distances > radius * (1 - 1e-9)]


class FarCharges:
    def __init__(self, nuclei):
        self.points = numpy.vstack(
            [nuclei, *(shell_about(nuclei, *shell) for shell in CHARGE_SHELLS)]
        )
        self.targets = numpy.vstack(
            [shell_about(nuclei, radius, POINTS_OF_FIT_SHELL) for radius in FIT_SHELLS]
        )
        distances = numpy.linalg.norm(self.targets[:, None] - self.points[None], axis=2)
        # Charges that add up to nothing: an orthonormal basis of them.
        count = len(self.points)
        constraint = numpy.linalg.qr(
            numpy.column_stack([numpy.ones(count), numpy.eye(count)[:, 1:]])
        )[0]
        self._neutral = constraint[:, 1:]
        self._kernel = 1 / distances
        reduced = self._kernel @ self._neutral
        values, vectors = numpy.linalg.eigh(reduced.T @ reduced)
        inverse = vectors / (values + RIDGE * values[-1])
        self._solve = self._neutral @ (inverse @ (vectors.T @ reduced.T))

    def fit(self, potentials, total_charges):
        """(k, charges) for potentials (k, targets) and k total charges."""
        even = numpy.asarray(total_charges, float)[:, None] / len(self.points)
        even = numpy.broadcast_to(even, (len(potentials), len(self.points)))
        return even + (potentials - even @ self._kernel.T) @ self._solve.T
