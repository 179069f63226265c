"""Reference density and response of the PySCF worker against plain PySCF.

The solvent is charges that fluctuate about their places. Expected values come from SCF calculations
by PySCF's own qmmm with those charges, or from analytic integrals. Run by any Python that has
src/qm/workers/requirements.txt:

  test_exact_ensemble.py         a quarter of a minute
  test_exact_ensemble.py --all   other methods and open shells, too; some minutes
"""

import sys
import unittest

from pyscf_worker_tests import REPOSITORY, WORKERS

# isort: split

import gc
import subprocess
import tracemalloc
import unittest.mock
import weakref

import exact_ensemble
import far_charges
import galerkin
import linear_response
import numpy
import pyscf_worker
import scipy.ndimage
from pyscf import dft, gto, qmmm, scf
from pyscf.data import nist
from worker_protocol import HARTREE_IN_KJ_PER_MOL, Channel, SolventCharges, WorkerError
from worker_request import worker_request

COULOMB = 1389.35457644  # kJ mol^-1 A e^-2
WATER = (["O", "H", "H"], [[0, 0, 0.117], [0, 0.757, -0.471], [0, -0.757, -0.471]])
FORMALDEHYDE = (
    ["C", "O", "H", "H"],
    [[0, 0, 0], [1.203, 0, 0], [-0.580753, 0.935377, 0], [-0.580753, -0.935377, 0]],
)
NITROGEN_DIOXIDE = (["N", "O", "O"], [[0, 0, 0], [1.09, 0.47, 0], [-1.09, 0.47, 0]])
HYDROXYL = (["O", "H"], [[0, 0, 0], [0.97, 0, 0]])
TIP3P_CHARGES = [-0.834, 0.417, 0.417]
WATERS = numpy.array(
    [
        [[3.65, 1.75, 0.2], [2.85, 1.23, 0.13], [4.35, 1.10, 0.17]],
        [[-1.2, 3.4, 0.6], [-0.5, 3.95, 0.25], [-1.85, 4.0, 0.95]],
        [[0.3, -0.4, 3.3], [0.35, 0.4, 3.82], [0.25, -1.1, 3.95]],
        [[-3.3, -1.9, -0.4], [-4.1, -1.4, -0.2], [-3.5, -2.8, -0.1]],
    ]
)
CONFIGURATIONS = 45
# kJ/mol: the SCF's convergence, and the potential's smoothness near the nuclei.
SAME_ENERGY = 2e-3
ALL = "--all" in sys.argv


def solvents(count, seed):
    """Every water turned about its oxygen by some 20 degrees and shifted by some 0.1 A."""
    random = numpy.random.default_rng(seed)
    for _ in range(count):
        waters = []
        for water in WATERS:
            turn = numpy.linalg.qr(numpy.eye(3) + 0.35 * random.normal(size=(3, 3)))[0]
            waters.append(water[0] + (water - water[0]) @ turn.T + random.normal(0, 0.12, 3))
        yield numpy.concatenate(waters), numpy.tile(TIP3P_CHARGES, len(waters))


def make_engine(molecule, **changed):
    settings = {
        "grid_radial": 10,
        "grid_angular": 50,
        "scf_grid_radial": 40,
        "scf_grid_angular": 110,
        "embedding": "analytic",
        "energy_convergence_hartree": 1e-9,
        "basis": "6-31g*",
    }
    request = worker_request(molecule[0], **{**settings, **changed})
    return pyscf_worker.PyscfEngine(request, numpy.array(molecule[1], float))


def solvent(engine, positions, charges):
    """Arguments of update() and configuration(); with analytic embedding potentials do not count."""
    return {
        "potential": numpy.zeros(engine.points_angstrom().shape[1]),
        "nuclear_potential": numpy.zeros(engine.atom_count),
        "charges": SolventCharges(positions, charges, 1.0),
    }


def prepared(molecule, count=CONFIGURATIONS, seed=1, **changed):
    """(engine with a reference, fields of the reference)."""
    engine = make_engine(molecule, **changed)
    for positions, charges in solvents(count, seed):
        engine.exact.add(engine.configuration(**solvent(engine, positions, charges)))
    return engine, engine.exact.reference()


def respond(engine, components, tolerance=1e-9, told=None, threads=1, others=None):
    def progress(*what):
        if told is not None:
            told.append(what)

    tests = held_out(len(engine.exact._configurations)) if components else []
    energies = energies_of(engine, tests)
    asked = numpy.array(tests, int), numpy.array(energies)
    return engine.exact.respond(
        components, tolerance, asked, threads, progress, others=others
    )


def held_out(count):
    return range(count - max(2, round(0.33 * count)), count) if count else []


def energies_of(engine, tests):
    if not len(tests):
        return []
    state = engine.state()
    engine.hold()
    energies = [engine.exact.energy(one) for one in tests]
    engine.restore(state)
    return energies


def plain_pyscf(engine, molecule, positions, charges, guess=None):
    """PySCF's own SCF with point charges, nothing of the worker in it."""
    ours = engine._mean_field
    built = gto.M(
        atom=list(zip(*molecule, strict=True)),
        basis=engine.molecule.basis,
        charge=engine.molecule.charge,
        spin=engine.molecule.spin,
        verbose=0,
    )
    if hasattr(ours, "xc"):
        mean_field = dft.RKS(built) if built.spin == 0 else dft.UKS(built)
        mean_field.xc = ours.xc
        mean_field.grids.atom_grid = ours.grids.atom_grid
    else:
        mean_field = scf.RHF(built) if built.spin == 0 else scf.UHF(built)
    if hasattr(ours, "with_df"):
        mean_field = mean_field.density_fit()
        mean_field.with_df.build()
    mean_field.conv_tol = 1e-10
    mean_field = qmmm.mm_charge(mean_field, positions, charges)
    mean_field.kernel(dm0=guess)
    if not mean_field.converged:
        raise AssertionError("PySCF's own SCF does not converge")
    return mean_field


def mean_charges(count, seed):
    """The point charges whose potential is the mean of the configurations' potentials."""
    found = list(solvents(count, seed))
    positions = numpy.concatenate([one for one, _ in found])
    return positions, numpy.concatenate([charges for _, charges in found]) / count


def predicted(engine, fields, arrays, positions, charges):
    """kJ/mol, from what goes over the protocol only."""
    at_charges = engine.exact.potentials(positions) @ charges
    response = at_charges[1:] - arrays["mean"]
    return fields["solute_energy"] + at_charges[0] - 0.5 * response @ response


def nuclear_distances(engine, points):
    nuclei = engine.molecule.atom_coords() * nist.BOHR
    return numpy.linalg.norm(points[:, None] - nuclei[None], axis=2).min(axis=1)


class EnergyTest(unittest.TestCase):
    """True energies of configurations that the worker has not seen, by plain PySCF."""

    def check(self, molecule, components=24, width=0.01, count=10, **changed):
        engine, reference = prepared(molecule, **changed)
        fields, arrays = respond(engine, components)
        density = engine.exact._reference.density

        def true_less_predicted(some):
            """(response, frozen) by plain PySCF."""
            errors, frozen = [], []
            for positions, charges in some:
                true = plain_pyscf(engine, molecule, positions, charges, density).e_tot
                true *= HARTREE_IN_KJ_PER_MOL
                errors.append(true - predicted(engine, reference, arrays, positions, charges))
                first_order = engine.exact.potentials(positions)[0] @ charges
                frozen.append(true - reference["solute_energy"] - first_order)
            return numpy.array(errors), numpy.array(frozen)

        errors, frozen = true_less_predicted(solvents(count, seed=2))
        print(
            f"{molecule[0]} {changed}: {fields['widths']}, residual {fields['largest_residual']:.0e}; "
            f"plain PySCF: {errors.mean():.4f} +- {errors.std():.4f}, "
            f"frozen {frozen.mean():.3f} +- {frozen.std():.3f}",
            flush=True,
        )
        self.assertEqual(fields["components"], components)
        self.assertLess(errors.std(), width)
        self.assertLess(abs(errors.mean()), 2 * width)
        self.assertGreater(frozen.std(), 10 * width)
        # What the worker says of the configurations held out. Other configurations would tell less:
        # the widths of so few differ by a factor of two or three by themselves.
        told = {step: deviations for step, *deviations in fields["widths"]}
        tested = [list(solvents(CONFIGURATIONS, seed=1))[one] for one in held_out(CONFIGURATIONS)]
        for step, found in zip((components, 0), true_less_predicted(tested), strict=True):
            expected = [found.mean(), found.std(ddof=1)]
            numpy.testing.assert_allclose(told[step], expected, rtol=0, atol=SAME_ENERGY)
        return engine, reference, fields, arrays

    def test_formaldehyde(self):
        engine, reference, _, _ = self.check(FORMALDEHYDE)
        # E_QM[D0], without any charges.
        plain = plain_pyscf(engine, FORMALDEHYDE, numpy.full((1, 3), 1e6), numpy.zeros(1))
        energy = plain.energy_tot(dm=engine.exact._reference.density)
        energy *= HARTREE_IN_KJ_PER_MOL
        self.assertAlmostEqual(reference["solute_energy"], energy, delta=1e-3)
        self.assertGreater(energy, plain.e_tot * HARTREE_IN_KJ_PER_MOL + 0.5)

    def test_open_shell_hartree_fock(self):
        self.check(NITROGEN_DIOXIDE, multiplicity=2, method="hf", density_fitting=False, count=6)

    @unittest.skipUnless(ALL, "slow")
    def test_other_methods(self):
        for molecule, changed in (
            (WATER, {"basis": "def2-svpd"}),
            (FORMALDEHYDE, {"density_fitting": False}),
            (FORMALDEHYDE, {"method": "lda,vwn"}),
            (FORMALDEHYDE, {"method": "pbe0"}),
            (FORMALDEHYDE, {"method": "camb3lyp"}),
            (FORMALDEHYDE, {"method": "tpss"}),
            (FORMALDEHYDE, {"method": "hf", "density_fitting": False}),
            (NITROGEN_DIOXIDE, {"method": "pbe", "multiplicity": 2}),
            (NITROGEN_DIOXIDE, {"method": "b3lyp", "multiplicity": 2}),
        ):
            with self.subTest(molecule=molecule[0], **changed):
                self.check(molecule, **changed)


class ResponseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.engine, cls.reference = prepared(FORMALDEHYDE)
        cls.told = []
        cls.fields, cls.arrays = respond(cls.engine, 24, told=cls.told)

    def points(self, least, most, count=300):
        random = numpy.random.default_rng(5)
        points = random.uniform(-most - 1, most + 1, (40 * count, 3))
        distances = nuclear_distances(self.engine, points)
        return points[(distances > least) & (distances < most)][:count]

    def test_potentials_of_the_responses_are_those_of_changing_densities(self):
        """Of the SCF density with a field, by central differences; plain PySCF."""
        first, second = list(solvents(2, seed=1))
        mean = mean_charges(CONFIGURATIONS, 1)
        step = 0.02
        change = (first[0], step * first[1]), (second[0], -step * second[1])
        densities = []
        for sign in (1, -1):
            positions = numpy.concatenate([mean[0], *(one for one, _ in change)])
            charges = numpy.concatenate([mean[1], *(sign * charges for _, charges in change)])
            plain = plain_pyscf(self.engine, FORMALDEHYDE, positions, charges)
            densities.append(plain.make_rdm1())
        difference = (densities[0] - densities[1]) / (2 * step)
        points = self.points(1.5, 5.0)
        integrals = self.engine.molecule.intor("int1e_grids", grids=points / nist.BOHR)
        expected = -numpy.einsum("gij,ij->g", integrals, difference) * HARTREE_IN_KJ_PER_MOL
        fields = sum(
            sign * self.engine.exact.potentials(positions)[1:] @ charges
            for sign, (positions, charges) in ((1, first), (-1, second))
        )
        ours = -fields @ self.engine.exact.potentials(points)[1:]
        error = abs(ours - expected).max() / abs(expected).max()
        print(f"potential of the induced density: {error:.1e} off, of {abs(expected).max():.2f}")
        self.assertLess(error, 0.01)
        self.assertGreater(abs(expected).max(), 1)

    def test_potentials_are_the_analytic_ones(self):
        points = self.points(1.5, 8.0)
        found = self.engine.exact.potentials(points)
        integrals = self.engine.molecule.intor("int1e_grids", grids=points / nist.BOHR)
        matrices = self.engine.exact._field.matrices
        expected = -numpy.einsum("gij,kij->kg", integrals, matrices)
        nuclei = self.engine.molecule.atom_coords() * nist.BOHR
        distances = numpy.linalg.norm(points[:, None] - nuclei[None], axis=2) / nist.BOHR
        expected[0] += (self.engine.molecule.atom_charges() / distances).sum(axis=1)
        expected[0] *= HARTREE_IN_KJ_PER_MOL
        expected[1:] *= HARTREE_IN_KJ_PER_MOL**0.5
        self.assertLess(abs(found[0] - expected[0]).max(), 0.01)
        self.assertLess(abs(found[1:] - expected[1:]).max(), 1e-5 * abs(expected[1:]).max())

    def spline_errors(self, spacing, least, rows):
        points = self.points(least, 3.0)
        origin = numpy.full(3, -6.0)
        nodes = (numpy.full(3, 12.0) / spacing).astype(int) + 1
        axes = [spacing * numpy.arange(count) for count in nodes]
        lattice = numpy.stack(numpy.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3) + origin
        at_nodes = self.engine.exact.potentials(lattice)[rows].reshape(-1, *nodes)
        exact = self.engine.exact.potentials(points)[rows]
        places = ((points - origin) / spacing).T
        return numpy.array(
            [
                scipy.ndimage.map_coordinates(values, places, order=3) - expected
                for values, expected in zip(at_nodes, exact, strict=True)
            ]
        ), abs(exact).max()

    def test_inside_it_is_smooth(self):
        """A cubic spline through nodes all over the solute: the error 1.6 to 3 A from the nuclei."""
        errors, _ = self.spline_errors(0.3, 1.8, slice(0, 1))
        print(f"spline of the reference, 0.3 A: rms {errors.std():.4f}, {abs(errors).max():.3f}")
        self.assertLess(errors.std(), 0.05)  # kJ/mol; 3 with the bare potential
        at_nuclei = self.engine.exact.potentials(self.engine.molecule.atom_coords() * nist.BOHR)
        self.assertTrue(numpy.isfinite(at_nuclei).all())

    def test_responses_are_smooth(self):
        errors, size = self.spline_errors(0.5, 1.5, slice(1, 9))
        print(f"spline of the responses, 0.5 A: {abs(errors).max() / size:.1e} of the largest")
        self.assertLess(errors.std(), 2e-3 * size)

    def test_charges_inside_have_the_potential_outside(self):
        strengths, places = self.arrays["strengths"], self.arrays["points"]
        self.assertEqual(strengths.shape, (25, len(places)))
        numpy.testing.assert_allclose(strengths.sum(axis=1), numpy.zeros(25), atol=1e-11)
        for least, bound in ((3.0, 0.06), (4.5, 0.01)):
            points = self.points(least, 9.0)
            distances = numpy.linalg.norm(points[:, None] - places[None], axis=2)
            errors = COULOMB * strengths @ (1 / distances).T - self.engine.exact.potentials(points)
            print(f"charges beyond {least} A: {abs(errors[0]).max():.4f} kJ/mol, of responses ", end="")
            print(f"{abs(errors[1:]).max():.5f}")
            self.assertLess(abs(errors).max(), bound)
        self.assertEqual(places.shape[1], 3)

    def test_charged_solute_keeps_its_charge(self):
        engine, _ = prepared(HYDROXYL, 3, charge=-1, basis="sto-3g")
        _, arrays = respond(engine, 0)
        self.assertEqual(arrays["strengths"].shape[0], 1)
        self.assertEqual(arrays["mean"].shape, (0,))
        self.assertAlmostEqual(arrays["strengths"].sum(), -1, delta=1e-11)

    def test_it_has_the_same_bits_for_any_number_of_threads(self):
        """All cores of a machine make it, and a trajectory must not tell how many there were."""
        fields, arrays = respond(self.engine, 24, threads=3)
        self.assertEqual(fields["widths"], self.fields["widths"])
        for name, array in self.arrays.items():
            numpy.testing.assert_array_equal(arrays[name], array, name)
        field = self.engine.exact._field.reference
        density = self.engine.exact._reference.density
        weights = []
        for threads in (1, 3):
            field.fit_cores(density, threads)
            weights.append(field.core_weights())
        numpy.testing.assert_array_equal(*weights)

    def test_fewest_components_that_meet_the_tolerance(self):
        steps = [step for step, _, _ in self.fields["widths"]]
        self.assertEqual(steps, [0, 8, 16, 24])
        widths = [numpy.hypot(mean, width) for _, mean, width in self.fields["widths"]]
        margin = linear_response.upper_limit(len(held_out(CONFIGURATIONS)))
        tolerance = margin * (widths[1] + widths[2]) / 2
        fields, arrays = respond(self.engine, 24, tolerance)
        self.assertEqual((fields["components"], fields["note"]), (16, ""))
        self.assertEqual(arrays["strengths"].shape[0], 17)
        self.assertEqual(respond(self.engine, 24, 2 * margin * widths[0])[0]["components"], 0)
        respond(self.engine, 24)
        self.assertIn("more than the tolerance", self.fields["note"])
        self.assertEqual(self.told[-1], ("response", 24, 24))
        self.assertEqual(self.told[0], ("equations", 1, 1))


class ManyCalculationsTest(unittest.TestCase):
    def test_nothing_of_one_stays(self):
        """A worker's process serves several solutes, one after the other."""
        for rough in (True, False):
            engine, _ = prepared(WATER, 12, basis="sto-3g")
            engine.exact.respond(0, 1e-9, (numpy.zeros(0, int), numpy.zeros(0)), 1, print, rough)
            if not rough:
                respond(engine, 2)
            kept = weakref.ref(engine), weakref.ref(engine.exact)
            del engine
            gc.collect()
            self.assertEqual([one() for one in kept], [None, None], rough)


class ChoiceTest(unittest.TestCase):
    def test_tests_that_are_alike(self):
        """What all of them lack, none of them shows by its scatter."""

        class Predictor:
            _mean = numpy.zeros((2, 2))
            lacking = ((0, -0.4), (8, -0.3), (16, -0.01))

            def errors(self, densities):
                return dict(self.lacking)[len(densities)] + 1e-3 * numpy.arange(4)

            def respond(self, count):
                return numpy.zeros((count, 2, 2)), 0.0

        densities, fields = linear_response.choose(Predictor(), 24, 0.1, lambda *_: None)
        self.assertEqual((len(densities), fields["note"]), (16, ""))

    def test_more_components_that_predict_worse(self):
        """As of a radical that is nearly degenerate."""

        class Predictor:
            _mean = numpy.zeros((2, 2))

            def __init__(self, **lacking):
                self._lacking = {int(key[1:]): value for key, value in lacking.items()}

            def errors(self, densities):
                return self._lacking[len(densities)] * numpy.array([1.0, -1.0, 1.0, -1.0])

            def respond(self, count):
                return numpy.zeros((count, 2, 2)), 1e-6 * count

        for lacking, best in (
            ({"r0": 2.0, "r8": 8.0, "r16": 8.1, "r24": 8.2}, 0),
            ({"r0": 2.0, "r8": 1.0, "r16": 3.0, "r24": 2.5}, 8),
            ({"r0": 2.0, "r8": 3.0, "r16": 1.5, "r24": 1.4}, 24),
        ):
            with self.subTest(best=best):
                found = linear_response.choose(Predictor(**lacking), 24, 0.5, lambda *_: None)
                densities, fields = found
                self.assertEqual((len(densities), fields["components"]), (best, best))
                self.assertEqual(fields["widths"][-1][0], best)
                self.assertEqual(fields["largest_residual"], 1e-6 * best)
                self.assertIn(f"{best} components", fields["note"])
                self.assertEqual("24 leave" in fields["note"], best < 24)

    def test_a_solvent_without_charges(self):
        """It has no components, and leaves nothing out."""
        engine = make_engine(WATER, basis="sto-3g")
        for _ in range(24):
            nowhere = solvent(engine, numpy.zeros((0, 3)), numpy.zeros(0))
            engine.exact.add(engine.configuration(**nowhere))
        engine.exact.reference()
        fields, arrays = respond(engine, 8, tolerance=0.5)
        self.assertEqual((fields["components"], fields["note"]), (0, ""))
        numpy.testing.assert_allclose(fields["widths"], [[0, 0, 0]], atol=SAME_ENERGY)
        self.assertTrue(numpy.isfinite(arrays["spectrum"]).all())
        self.assertEqual(arrays["strengths"].shape[0], 1)


class DensityStaysTest(unittest.TestCase):
    def test_hold(self):
        """An update's result is a function of its configuration alone, to the last bit."""
        for changed in ({"energy_convergence_hartree": 1e-6}, {"method": "pbe0", "basis": "sto-3g"}):
            with self.subTest(**changed):
                engine, _ = prepared(FORMALDEHYDE, 3, **changed)
                state = engine.state()
                some = [solvent(engine, *one) for one in solvents(3, seed=4)]

                def results(engine, order, some=some):
                    found = []
                    for one in order:
                        fields, _ = engine.update(**some[one])
                        numbers = fields["energy"], fields["previous_interaction"]
                        found.append((*numbers, engine.state().tobytes()))
                    return found

                free = results(engine, (0, 1, 2, 1))
                self.assertNotEqual(free[1], free[3])
                engine.restore(state)
                engine.hold()
                held = results(engine, (0, 1, 2, 1, 0))
                self.assertEqual(held[1], held[3])
                self.assertEqual(held[0], held[4])
                other = make_engine(FORMALDEHYDE, **changed)
                other.restore(state)
                other.hold()
                self.assertEqual(results(other, (2, 1)), [held[2], held[1]])

    def test_response_leaves_the_density(self):
        engine, _ = prepared(WATER, 20, basis="sto-3g")
        before = engine.state().tobytes()
        respond(engine, 8)
        self.assertEqual(engine.state().tobytes(), before)

    def test_energies_are_those_of_updates(self):
        """Of another process, which has the state only, to the last bit."""
        engine, _ = prepared(FORMALDEHYDE, 6)
        state = engine.state()
        energies = energies_of(engine, range(3, 6))
        other = make_engine(FORMALDEHYDE)
        other.restore(state)
        other.hold()
        some = list(solvents(6, seed=1))
        for index, energy in zip((3, 5), (energies[0], energies[2]), strict=True):
            other.exact.forget()
            other.exact.add(other.configuration(**solvent(other, *some[index])))
            self.assertEqual(other.exact.energy(0), energy)
        fields, _ = other.update(**solvent(other, *some[4]))
        self.assertEqual(fields["energy"], energies[1])

    def test_potentials_are_shared(self):
        """Another process tells the same potentials, to the last bit."""
        points = numpy.random.default_rng(3).normal(0, 2.5, (700, 3))
        for molecule, changed in (
            (FORMALDEHYDE, {}),
            (NITROGEN_DIOXIDE, {"multiplicity": 2, "method": "hf", "density_fitting": False}),
        ):
            engine, _ = prepared(molecule, 12, **changed)
            for components in (0, 2):
                respond(engine, components)
                other = make_engine(molecule, **changed)
                other.exact.adopt(engine.exact.share())
                ours = engine.exact.potentials(points)
                self.assertEqual(ours.shape, (1 + components, len(points)))
                self.assertEqual(other.exact.potentials(points).tobytes(), ours.tobytes())

    def test_same_bytes_twice(self):
        found = []
        for _ in range(2):
            engine, _ = prepared(WATER, 20)
            fields, arrays = respond(engine, 8)
            points = engine.exact.potentials(numpy.array([[0.0, 2.5, 1.0], [3.0, 0.2, 0.1]]))
            found.append((fields, [one.tobytes() for one in (*arrays.values(), points)]))
        self.assertEqual(*found)


class FarChargesTest(unittest.TestCase):
    def test_cutoffs_through_a_large_solute(self):
        """Charges about chorismate's nuclei, and those that stand for them in a shifted force."""
        solute = gto.M(atom=str(REPOSITORY / "configs/chorismate.xyz"), charge=-2, verbose=0)
        nuclei = solute.atom_coords()
        random = numpy.random.default_rng(2)
        clouds = nuclei.repeat(30, axis=0) + random.normal(0, 0.5, (30 * len(nuclei), 3))
        places = numpy.concatenate([nuclei, clouds])
        charges = numpy.append(solute.atom_charges(), -solute.atom_charges().repeat(30) / 30)
        charges[len(nuclei) :] *= 1 + 2 / solute.atom_charges().sum()

        far = far_charges.FarCharges(nuclei, far_charges.FINE, 2)
        wanted = charges @ (1 / numpy.linalg.norm(places[:, None] - far.targets, axis=2))
        shapes = far.shape.of_charges(places, charges[None])
        fitted = far.fit(wanted[None], shapes, [-2])[0]
        self.assertAlmostEqual(fitted.sum(), -2, delta=1e-11)

        points = nuclei.mean(axis=0) + random.uniform(-26, 26, (4000, 3))
        distances = numpy.linalg.norm(points[:, None] - nuclei[None], axis=2)
        cutoff = 10 / nist.BOHR
        through = (distances.min(axis=1) < cutoff) & (distances.max(axis=1) > cutoff)
        points = points[through & (distances.min(axis=1) > 7)][:600]

        def shifted_force(places, charges):
            r = numpy.linalg.norm(points[:, None] - places[None], axis=2)
            values = numpy.where(r < cutoff, 1 / r - 2 / cutoff + r / cutoff**2, 0)
            return COULOMB / nist.BOHR * values @ charges

        true = shifted_force(places, charges)
        errors = shifted_force(far.points, fitted) - true
        print(f"cutoffs through chorismate: {errors.std():.4f} of {true.std():.2f} kJ/mol per e")
        self.assertLess(errors.std(), 0.015)


    def test_memory(self):
        """Of a large solute the kernel would take gigabytes, of this one 0.3."""
        solute = gto.M(atom=str(REPOSITORY / "configs/chorismate.xyz"), charge=-2, verbose=0)
        nuclei = solute.atom_coords()
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        far = far_charges.FarCharges(nuclei, far_charges.FINE, 2)
        kept, most = tracemalloc.get_traced_memory()
        self.assertLess(kept, 1.1 * 8 * len(far.points) ** 2)
        self.assertLess(most, 0.2e9)

        columns = len(far.targets), len(far.shape.targets), far.shape.spheres.radii.size
        potential, *shapes = (numpy.ones((1, count)) for count in columns)
        far.fit(potential, shapes, [0])
        self.assertLess(tracemalloc.get_traced_memory()[1], 0.2e9)


class EquationsTest(unittest.TestCase):
    def test_subspace_solves(self):
        """A poor preconditioner, right-hand sides that depend on each other."""
        random = numpy.random.default_rng(8)
        matrix = random.normal(size=(60, 60))
        matrix = matrix @ matrix.T / 60 + numpy.diag(numpy.linspace(1, 20, 60))
        right = random.normal(size=(6, 60))
        right[5] = right[0] - right[1]
        subspace = galerkin.Subspace(60, lambda rows: rows @ matrix, lambda rows: rows / 10)
        solution = subspace.solve(right, 1e-10, 60)
        numpy.testing.assert_allclose(solution.vectors @ matrix, right, atol=2e-3)
        energies = numpy.einsum("kx,kx->k", right, solution.vectors)
        exact = numpy.einsum("kx,kx->k", right, numpy.linalg.solve(matrix, right.T).T)
        self.assertTrue((energies <= exact * (1 + 1e-12)).all())
        numpy.testing.assert_allclose(energies, exact, rtol=1e-7)
        indefinite = galerkin.Subspace(60, lambda rows: -rows, lambda rows: rows)
        with self.assertRaises(galerkin.NotPositive):
            indefinite.solve(right, 1e-10, 5)


class RefusalTest(unittest.TestCase):
    def refused(self, reason, text, ask):
        with self.assertRaisesRegex(WorkerError, text) as caught:
            ask()
        self.assertEqual(caught.exception.reason, reason)

    def test_what_cannot_be_done_is_said(self):
        engine = make_engine(WATER, basis="sto-3g")
        self.refused("failure", "no configurations", engine.exact.reference)
        self.refused("failure", "no reference", lambda: respond(engine, 0))
        self.refused("failure", "no reference", lambda: engine.exact.potentials(numpy.ones((1, 3))))
        self.refused("failure", "no density", engine.hold)
        engine, _ = prepared(WATER, 12, basis="sto-3g")
        self.refused("bad-request", "8 components need more than 8 conf", lambda: respond(engine, 8))
        self.refused("bad-request", "tolerance -1", lambda: respond(engine, 4, -1.0))
        engine.exact.forget()
        self.refused("bad-request", "0 tests of 0 conf", lambda: respond(engine, 4))
        self.refused("failure", "no configurations", engine.exact.reference)

    def test_a_solution_that_is_no_minimum_has_no_response(self):
        """He2+ with the hole on both atoms alike, where it would rather be on one."""
        engine, _ = prepared(
            (["He", "He"], [[0, 0, 0], [2.5, 0, 0]]), 30, charge=1, multiplicity=2, method="hf"
        )
        self.refused("not-converged", "is not negative definite", lambda: respond(engine, 16))
        positions, charges = next(solvents(1, seed=2))
        engine.update(**solvent(engine, positions, charges))  # the worker goes on

    def test_occupied_above_empty(self):
        """Of oxygen's singlet, whose solution needs a level shift."""
        engine, _ = prepared(
            (["O", "O"], [[0, 0, 0], [1.21, 0, 0]]), 12, basis="sto-3g", energy_convergence_hartree=1e-6
        )
        self.refused("not-converged", "no response of the solute's ref", lambda: respond(engine, 4))

    def test_smaller_r_where_more_cannot_be(self):
        class Failing:
            """Fails at 24 components."""

            _mean = numpy.zeros((2, 2))

            def errors(self, densities):
                return numpy.array([1.0, -1.0]) / (1 + len(densities))

            def respond(self, count):
                if count < 24:
                    return numpy.zeros((count, 2, 2)), 0.0
                return self.fail(count)

        for failure, text in (
            (galerkin.NotPositive("here"), "24 components: the response is not negative definite"),
            (None, "24 components: the coupled-perturbed equations did not converge"),
        ):
            predictor = Failing()

            def fail(count, failure=failure):
                if failure is not None:
                    raise failure
                return numpy.zeros((count, 2, 2)), 1.0

            predictor.fail = fail
            densities, fields = linear_response.choose(predictor, 32, 1e-3, lambda *_: None)
            self.assertEqual((len(densities), fields["components"]), (16, 16))
            self.assertIn(text, fields["note"])

    def test_few_tests_do_not_deceive(self):
        """Of responses that are too rough few are taken, however few the tests: the width is 1."""

        class Rough:
            _mean = numpy.zeros((2, 2))

            def __init__(self, errors):
                self._errors = errors

            def errors(self, densities):
                return self._errors if len(densities) == 0 else 1e-9 * self._errors

            def respond(self, count):
                return numpy.zeros((count, 2, 2)), 0.0

        random = numpy.random.default_rng(3)
        for tests in (2, 5, 24):
            taken = 0
            for _ in range(2000):
                rough = Rough(random.normal(0, 1, tests))
                densities, _ = linear_response.choose(rough, 8, 1.0, lambda *_: None)
                taken += len(densities) == 0
            # 100 expected, with a standard deviation of 10.
            self.assertLess(abs(taken - 100), 40, tests)
        # Where the few that there are cannot tell, the note does.
        _, fields = linear_response.choose(
            Rough(numpy.array([0.9, -0.9])), 0, 1.5, lambda *_: None
        )
        self.assertIn("0 components, the most allowed, leave what so few tests", fields["note"])

    def test_components_beyond_the_basis(self):
        engine, _ = prepared(WATER, 45, basis="sto-3g")
        fields, _ = respond(engine, 24)
        self.assertEqual(fields["components"], 10)  # five occupied orbitals, two empty ones
        self.assertIn("10 components", fields["note"])


    def test_components_find_room_in_a_message(self):
        """share() puts all matrices into one array."""
        self.assertEqual(exact_ensemble.most_components(1500), 118)
        self.assertEqual(exact_ensemble.most_components(20000), 0)
        functions = 7  # 28 numbers each
        with unittest.mock.patch.object(exact_ensemble, "MAX_ARRAY_NUMBERS", 6 * 28 + 1):
            engine, _ = prepared(WATER, 45, basis="sto-3g")
            fields, _ = respond(engine, 24)
        self.assertEqual(engine.basis_functions, functions)
        self.assertEqual(fields["components"], 5)
        self.assertIn("5 components, the most allowed", fields["note"])
        self.assertIn("no room in a message", fields["note"])
        self.assertEqual(engine.exact.share()["matrices"].shape, (6, 28))


class ProtocolTest(unittest.TestCase):
    """The worker's process, by messages."""

    def test_conversation(self):
        process = subprocess.Popen(
            [sys.executable, str(WORKERS / "pyscf_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        channel = Channel(process.stdout, process.stdin)
        answers = []

        def ask(request, arrays=None, **fields):
            channel.send(request, arrays, **fields)
            while True:
                answers.append(channel.receive())
                if answers[-1][0]["type"] not in ("hello", "forecast", "progress"):
                    return answers[-1]

        request = worker_request(
            WATER[0], basis="sto-3g", embedding="analytic", grid_radial=10, grid_angular=50
        )
        ready, arrays = ask("init", {"positions": numpy.array(WATER[1])}, **request)
        self.assertTrue(ready["exact"])
        points = arrays["points"].shape[1]
        for count, (positions, charges) in enumerate(solvents(14, seed=1)):
            sent = {
                "potential": numpy.zeros(points),
                "nuclear_potential": numpy.zeros(3),
                "charge_positions": positions,
                "charges": charges,
            }
            embedded, made = ask("embed", sent, coulomb_pole=1.0)
            self.assertEqual((embedded["type"], list(made)), ("embedded", ["embedding"]))
            answer, _ = ask("configuration", made)
            self.assertEqual((answer["type"], answer["configurations"]), ("configured", count + 1))
        reference, arrays = ask("reference")
        self.assertEqual((reference["type"], list(arrays)), ("result", ["state"]))
        self.assertIn("solute_energy", reference)
        self.assertEqual(ask("hold")[0]["type"], "held")
        tests = {"tests": numpy.arange(10.0, 14.0), "energies": numpy.zeros(4)}
        for k, index in enumerate(range(10, 14)):
            tests["energies"][k] = ask("energy", configuration=index)[0]["energy"]
        asked = {"tolerance": 1e-6, "threads": 2}
        response, arrays = ask("response", tests, components=8, **asked)
        self.assertEqual((response["type"], response["components"]), ("response", 8))
        progress = [header for header, _ in answers if header["type"] == "progress"]
        self.assertEqual(progress[-1]["done"], progress[-1]["total"])
        self.assertEqual(len(response["widths"]), 2)
        self.assertEqual(list(arrays), ["points", "strengths", "mean", "spectrum"])
        _, arrays = ask("potentials", {"positions": numpy.array([[0.0, 0.0, 5.0]])})
        self.assertEqual(arrays["values"].shape, (9, 1))
        self.assertEqual(ask("hold")[0]["type"], "held")
        _, arrays = ask("update", sent, coulomb_pole=1.0)
        self.assertEqual(list(arrays), ["state"])
        self.assertEqual(ask("forget")[0]["type"], "forgotten")
        refused, _ = ask("response", tests, components=8, **asked)
        self.assertEqual((refused["type"], refused["reason"]), ("error", "bad-request"))
        self.assertEqual(ask("reference")[0]["reason"], "failure")
        self.assertEqual(process.wait(20), 1)
        process.stdin.close()
        process.stdout.close()


if __name__ == "__main__":
    if ALL:
        sys.argv.remove("--all")
    unittest.main()
