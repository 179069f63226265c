"""The embedding's energy against analytic integrals, with waters where a run has put them.

Run by any Python that has src/qm/workers/requirements.txt:

  test_embedding.py         three frames of each solute, small bases
  test_embedding.py --all   twenty, def2-svp; some ten minutes
"""

import itertools
import sys
import unittest

from pyscf_worker_tests import REPOSITORY

# isort: split

import numpy
import pyscf_worker
from exact_ensemble import Configuration
from near_charges import NEAR_ANGSTROM, NearCharges
from point_blocks import PointBlocks
from pyscf import dft
from pyscf.data import nist
from worker_protocol import SolventCharges
from worker_request import worker_request

DATA = REPOSITORY / "tests/data/qm"
TIP3P_CHARGES = [-0.834, 0.417, 0.417]
CUTOFF = 9.0  # angstrom
FRAMES_OF_ALL = 20
SOLUTES = {
    "acetate": {"file": DATA / "acetate.xyz", "charge": -1, "basis": "def2-svp"},
    "chorismate": {"file": REPOSITORY / "configs/chorismate.xyz", "charge": -2, "basis": "sto-3g"},
}
LARGEST_ERROR = 0.05  # kJ/mol


def shifted_force_remainder(r):
    """r in angstrom; what the shifted force has besides 1/r inside the cutoff, and less 1/r beyond."""
    return numpy.where(r < CUTOFF, -2 / CUTOFF + r / CUTOFF**2, -1 / r)


def damped_remainder(r):
    """0.7/r + (1 - exp(-r))/r - 1.2/(r + 2), as a user may write it, less its 0.7/r."""
    return -numpy.expm1(-r) / r - 1.2 / (r + 2)


def sum_over(function, points, charges):
    """Sum of charge times function(distance), at (p, 3) points; Hartree for a function in 1/A."""
    result = numpy.zeros(len(points))
    for first in range(0, len(points), 2048):
        some = slice(first, first + 2048)
        separations = points[some, None] - charges.positions[None]
        result[some] = function(numpy.linalg.norm(separations, axis=2)) @ charges.charges
    return result * nist.BOHR


class PlainQuadrature(pyscf_worker.PyscfEngine):
    """As it was before: all of the potential on the SCF's grid."""

    def _embed_by_quadrature(self, potential, nuclear_potential, _):
        return Configuration(
            self._scf._scf_blocks.integrate(-self._grids.weights * potential),
            float(self.molecule.atom_charges() @ nuclear_potential),
        )


class FullyAnalytic(pyscf_worker.PyscfEngine):
    """1/r of every charge by int1e_rinv, the rest on 99 x 590 points an atom (2e-7 electrons off)."""

    def __init__(self, request, positions, remainder):
        super().__init__(request, positions)
        self._remainder = remainder
        grid = dft.gen_grid.Grids(self.molecule)
        grid.atom_grid = (99, 590)
        grid.build(with_non0tab=True)
        real = grid.atm_idx >= 0
        self._fine_points, self._fine_weights = grid.coords[real], grid.weights[real]
        self._fine_blocks = PointBlocks(self.molecule, self._fine_points, 1, 5e8)

    def _embed_by_quadrature(self, _, nuclear_potential, charges):
        smooth = sum_over(self._remainder, self._fine_points * nist.BOHR, charges)
        embedding = self._fine_blocks.integrate(-self._fine_weights * smooth)
        for position, charge in zip(charges.positions, charges.charges, strict=True):
            with self.molecule.with_rinv_origin(position / nist.BOHR):
                integrals = self.molecule.intor("int1e_rinv")
            embedding -= charges.coulomb_pole * charge * integrals
        return Configuration(embedding, float(self.molecule.atom_charges() @ nuclear_potential))


class Solute:
    def __init__(self, name, basis, **changed):
        properties = SOLUTES[name]
        lines = properties["file"].read_text().splitlines()
        stored = numpy.load(DATA / f"{name}_shells.npz")
        self.positions = stored["solute"] / 1000.0
        ends = numpy.cumsum(stored["counts"])[:-1]
        self._shells = numpy.split(stored["waters"] / 1000.0, ends)
        self.request = worker_request(
            [line.split()[0] for line in lines[2 : 2 + int(lines[0])]],
            charge=properties["charge"],
            basis=basis,
            **{"grid_radial": 10, "grid_angular": 50, **changed},
        )

    def charges(self, frame, pole):
        waters = self._shells[frame]
        return SolventCharges(waters.reshape(-1, 3), numpy.tile(TIP3P_CHARGES, len(waters)), pole)

    def update(self, engine, charges, remainder):
        def potential(points):
            return sum_over(lambda r: charges.coulomb_pole / r + remainder(r), points, charges)

        return engine.update(
            potential(engine.points_angstrom().T), potential(self.positions), charges
        )[0]


def errors(engine, reference, solute, frames, remainder, pole=1.0):
    """Of the energies and of the electrons' interactions, kJ/mol."""
    found = []
    for frame in range(frames):
        charges = solute.charges(frame, pole)
        ours = solute.update(engine, charges, remainder)
        exact = solute.update(reference, charges, remainder)
        names = ("energy", "interaction_electrons")
        found.append([ours[name] - exact[name] for name in names])
    return numpy.array(found)


class EmbeddingTest(unittest.TestCase):
    frames = 3

    def check(self, name, basis, remainder=shifted_force_remainder, pole=1.0):
        solute = Solute(name, basis)
        reference = FullyAnalytic(solute.request, solute.positions, remainder)
        for engine_class in (pyscf_worker.PyscfEngine, PlainQuadrature):
            engine = engine_class(solute.request, solute.positions)
            found = errors(engine, reference, solute, self.frames, remainder, pole)
            rms = numpy.sqrt((found**2).mean(axis=0))
            print(
                f"{engine_class.__name__}: {name}, {basis}, {self.frames} frames, errors of energy "
                f"and electrons' interaction: rms {rms.round(4)}, "
                f"largest {abs(found).max(axis=0).round(4)} kJ/mol",
                flush=True,
            )
            if engine_class is PlainQuadrature:
                self.assertGreater(rms[0], 4 * LARGEST_ERROR)  # or the frames test nothing
            else:
                self.assertLess(abs(found).max(), LARGEST_ERROR)

    def test_acetate(self):
        self.check("acetate", "def2-svp")

    def test_chorismate(self):
        self.check("chorismate", "def2-svp" if self.frames == FRAMES_OF_ALL else "sto-3g")

    def test_users_function(self):
        if self.frames < FRAMES_OF_ALL:
            self.check("acetate", "sto-3g", damped_remainder, 0.7)


class NearChargesTest(unittest.TestCase):
    def test_every_near_image_once(self):
        """Against all 27 images; a long solute, so that some charges are near it from two sides."""
        random = numpy.random.default_rng(3)
        box = numpy.array([12.0, 11.0, 14.0])
        nuclei = numpy.array([[0.5, 3, 3], [3, 3, 3], [6, 3, 3], [9, 3, 3], [11, 3, 3]])
        positions = random.uniform(-1, 2, (300, 3)) * box
        charges = random.normal(size=300)
        near = NearCharges.among(SolventCharges(positions, charges, 0.5, box), nuclei)
        home = positions - box * numpy.floor(positions / box)
        expected, twice = [], 0
        for position, charge in zip(home, charges, strict=True):
            images = position + box * numpy.array(list(itertools.product((-1, 0, 1), repeat=3)))
            distances = numpy.linalg.norm(images[:, None] - nuclei[None], axis=2).min(axis=1)
            close = images[distances < NEAR_ANGSTROM]
            twice += len(close) > 1
            expected += [(*image, 0.5 * charge) for image in close]
        found = numpy.column_stack([near.positions, near.strengths])
        expected = numpy.array(expected)
        self.assertGreater(twice, 5)
        self.assertEqual(found.shape, expected.shape)
        order = [rows[numpy.lexsort(rows.round(6).T)] for rows in (found, expected)]
        numpy.testing.assert_allclose(*order, atol=1e-9)

    def test_no_pole_no_near_charges(self):
        charges = SolventCharges(numpy.ones((4, 3)), numpy.ones(4), 0.0)
        near = NearCharges.among(charges, numpy.zeros((1, 3)))
        self.assertEqual(len(near.strengths), 0)

    def test_distances_below_the_least_count_as_it(self):
        near = NearCharges(numpy.zeros((1, 3)), numpy.array([2.0]))
        points = numpy.array([[0, 0, 0], [0.001, 0, 0], [0, 0.5, 0]])
        numpy.testing.assert_allclose(near.inverse_distances(points), [200, 200, 4])


if __name__ == "__main__":
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        EmbeddingTest.frames = FRAMES_OF_ALL
    unittest.main()
