"""Coulomb potential of density matrices at points outside and inside a molecule (atomic units).

Analytic integrals, pair of atoms by pair of atoms: a pair whose functions do not overlap is left out,
and the integrals of one pair at a chunk of points stay in a core's cache until all the matrices have
used them.

For a lattice the potential of the electrons is too steep at the nuclei. ElectronsAndNuclei therefore
replaces the core: each nucleus has Gaussian charges that follow the density's potential nearby, and
these, together with the nuclear charge, become one wide Gaussian. Beyond SMOOTH_ANGSTROM of all
nuclei all of these are point charges, so nothing changes there.
"""

import numpy
import scipy.optimize
import scipy.special
from pyscf.data import nist
from threads import for_each

LEAST_OVERLAP = 1e-7  # of two atoms' functions; less leaves out some 1e-7 Hartree
POINTS_AT_ONCE = 520  # a multiple of the 104 that the integrals' library takes together
SMOOTH_ANGSTROM = 1.4
# Of the wide Gaussian exp(-(b r)^2), b in 1/angstrom: at 1.4 angstrom it is off a point charge of one
# by 0.005 kJ/mol, and a cubic spline on 0.25 angstrom follows it.
WIDE_PER_ANGSTROM = 2.3
LEAST_CORE_EXPONENT, CORE_EXPONENT_RATIO = 1.6, 2.5  # 1/bohr^2
STEEPEST_CORE = 8.0  # exponent over the squared nuclear charge


def _pairs_that_overlap(molecule):
    """((shells of atom a, of atom b), (functions of a, of b)), a >= b."""
    overlap = abs(molecule.intor_symmetric("int1e_ovlp"))
    atoms = molecule.aoslice_by_atom()
    found = []
    for a, (a_first, a_last, a_begin, a_end) in enumerate(atoms):
        for b_first, b_last, b_begin, b_end in atoms[: a + 1]:
            functions = (slice(a_begin, a_end), slice(b_begin, b_end))
            if overlap[functions].max(initial=0) >= LEAST_OVERLAP:
                found.append(((a_first, a_last, b_first, b_last), functions))
    return found


class DensityPotential:
    """Of symmetric matrices: sum over m, n of D_mn (phi_m| 1/|r - R| |phi_n)."""

    def __init__(self, molecule):
        self._molecule = molecule
        self._pairs = _pairs_that_overlap(molecule)

    def at(self, matrices, points, threads=1):
        """(matrices, points); points (n, 3) in bohr. The same bits for any number of threads."""
        # Of each pair of atoms: (matrices, pairs of functions), the second atom's running slowest.
        blocks = []
        for shells, (rows, columns) in self._pairs:
            block = matrices[:, rows, columns] * (1.0 if rows == columns else 2.0)
            blocks.append((shells, block.transpose(0, 2, 1).reshape(len(matrices), -1)))
        result = numpy.zeros((len(matrices), len(points)))

        def fill(first):
            some = slice(first, first + POINTS_AT_ONCE)
            here = numpy.ascontiguousarray(points[some])
            for shells, block in blocks:
                integrals = self._molecule.intor("int1e_grids", grids=here, shls_slice=shells)
                # The points run fastest, then the first atom's functions.
                flat = integrals.transpose(2, 1, 0).reshape(-1, len(here))
                result[:, some] += block @ flat

        for_each(fill, range(0, len(points), POINTS_AT_ONCE), threads)
        return result


def gaussian_potentials(distances, exponents):
    """Of unit charges (a/pi)^(3/2) exp(-a r^2): (exponents, *distances), finite at 0."""
    roots = numpy.sqrt(numpy.reshape(exponents, (-1,) + (1,) * distances.ndim))
    scaled = roots * distances
    small = scaled < 1e-6
    safe = numpy.where(small, 1.0, distances)
    return numpy.where(small, roots * 2 / numpy.pi**0.5, scipy.special.erf(scaled) / safe)


def core_exponents(nuclear_charge):
    steepest = max(STEEPEST_CORE * nuclear_charge**2, 2 * LEAST_CORE_EXPONENT)
    count = int(numpy.ceil(numpy.log(steepest / LEAST_CORE_EXPONENT) / numpy.log(CORE_EXPONENT_RATIO)))
    return LEAST_CORE_EXPONENT * CORE_EXPONENT_RATIO ** numpy.arange(count + 1)


class ElectronsAndNuclei:
    """Potential of a positive charge in the field of a density and the nuclei, smooth inside.

    The cores are those of one density, by fit_cores() or, where that is known, set_core_weights().
    potential(matrices, points, threads): as DensityPotential.at().
    """

    def __init__(self, molecule, potential):
        self._nuclei = molecule.atom_coords()
        self._charges = molecule.atom_charges()
        self._potential = potential
        self._exponents = [core_exponents(charge) for charge in self._charges]
        self._weights = None

    def core_weights(self):
        """One row of numbers."""
        return numpy.concatenate(self._weights)

    def set_core_weights(self, weights):
        ends = numpy.cumsum([len(exponents) for exponents in self._exponents])
        if weights.shape != (ends[-1],):
            raise ValueError(f"{weights.shape} weights of cores instead of {ends[-1]}")
        self._weights = numpy.split(weights, ends[:-1])

    def given_electrons(self, points, electrons):
        """Hartree per charge, from what DensityPotential gives at points (n, 3), in bohr."""
        wide = (WIDE_PER_ANGSTROM * nist.BOHR) ** 2
        result = -electrons
        for nucleus, charge, exponents, weights in zip(
            self._nuclei, self._charges, self._exponents, self._weights, strict=True
        ):
            distances = numpy.linalg.norm(points - nucleus, axis=1)
            result += weights @ gaussian_potentials(distances, exponents)
            result += (charge - weights.sum()) * gaussian_potentials(distances, [wide])[0]
        return result

    def fit_cores(self, density_matrix, threads):
        points = points_around(self._nuclei)
        electrons = self._potential(density_matrix[None], points, threads)[0]
        functions = numpy.vstack(
            [
                gaussian_potentials(numpy.linalg.norm(points - nucleus, axis=1), exponents)
                for nucleus, exponents in zip(self._nuclei, self._exponents, strict=True)
            ]
        )
        # No weight below 0: else those of neighbouring exponents are large and cancel, and what they
        # are off a point charge at SMOOTH_ANGSTROM does not.
        self.set_core_weights(scipy.optimize.nnls(functions.T, electrons)[0])


def sphere(count):
    """Points of a unit sphere, evenly (Fibonacci's spiral)."""
    index = numpy.arange(count) + 0.5
    z = 1 - 2 * index / count
    angle = numpy.pi * (1 + 5**0.5) * index
    radius = numpy.sqrt(1 - z * z)
    return numpy.column_stack([radius * numpy.cos(angle), radius * numpy.sin(angle), z])


def points_around(nuclei):
    """Where the cores' potential is fitted: 12 shells of 14 points, from 0.03 to 1.6 angstrom."""
    radii = numpy.geomspace(0.03, 1.6, 12) / nist.BOHR
    around = (radii[:, None, None] * sphere(14)).reshape(-1, 3)
    return (nuclei[:, None] + around[None]).reshape(-1, 3)
