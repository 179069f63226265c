"""Superposition, equal distances, interpolation, normal modes and the way down, against NumPy,
SciPy and surfaces whose answer is known."""

import itertools
import types
import unittest
import unittest.mock

import path_modules  # noqa: F401

# isort: split

import descent
import geometry
import level
import modes
import numpy
import reaction
import record
import saddle
from errors import PathError
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

MASSES = numpy.array([1.008, 12.011, 14.007, 35.45, 15.999])


def molecule(seed=3):
    return numpy.random.default_rng(seed).normal(size=(len(MASSES), 3)) * 2


def weighted_rotation(positions, onto):
    """SciPy's answer to the same question, with its own algorithm around the centres of mass."""
    centre, target = (numpy.average(p, axis=0, weights=MASSES) for p in (positions, onto))
    rotation, _ = Rotation.align_vectors(onto - target, positions - centre, weights=MASSES)
    return rotation.apply(positions - centre) + target


class LevelTest(unittest.TestCase):
    def test_no_hessian(self):
        """Whatever PySCF has none of is said in a sentence."""
        request = types.SimpleNamespace(
            method="hf", basis="sto-3g", charge=0, multiplicity=1, density_fitting=False,
            solvent="none", max_iterations=100,
        )  # fmt: skip
        of_helium = level.Level(request, ["He"])
        missing = NotImplementedError("UKS Hessian for NLC functional")
        with (
            unittest.mock.patch("pyscf.hessian.rhf.Hessian.kernel", side_effect=missing),
            self.assertRaises(PathError) as caught,
        ):
            of_helium.hessian(numpy.zeros((1, 3)))
        self.assertEqual(caught.exception.status, 1)
        for part in ("--method hf", "UKS Hessian for NLC", "take another"):
            self.assertIn(part, str(caught.exception))


class SuperpositionTest(unittest.TestCase):
    def test_undoes_a_motion(self):
        still = molecule()
        for seed in range(20):
            moved = Rotation.random(random_state=seed).apply(still) + [3.0, -1.0, seed]
            numpy.testing.assert_allclose(
                geometry.superpose(moved, still, MASSES), still, atol=1e-12
            )

    def test_distorted_as_scipy(self):
        for seed in range(20):
            one, other = molecule(seed), molecule(seed) + 0.4 * molecule(seed + 100)
            one = Rotation.random(random_state=seed).apply(one) + 2.0
            numpy.testing.assert_allclose(
                geometry.superpose(one, other, MASSES), weighted_rotation(one, other), atol=1e-7
            )

    def test_a_mirror_image_is_not_reached(self):
        still = molecule()
        mirrored = still * [1, 1, -1]
        found = geometry.superpose(mirrored, still, MASSES)
        self.assertGreater(geometry.distance(found, still, MASSES), 1.0)


class EqualDistancesTest(unittest.TestCase):
    def test_along_a_bent_way(self):
        """Points at uneven distances, each turned away: equal distances come out, superposed."""
        start, change = molecule(1), 0.3 * molecule(2)
        parameter = numpy.linspace(0, 1, 60) ** 1.7
        bend = 0.1 * molecule(3)
        points = [
            Rotation.random(random_state=k).apply(start + t * change + t * t * bend) + k
            for k, t in enumerate(parameter)
        ]
        fixed = 30
        coordinates, images = geometry.equal_images(points, MASSES, 21, fixed)
        chords = []
        for a, b in itertools.pairwise(images):
            numpy.testing.assert_allclose(weighted_rotation(b, a), b, atol=1e-5)
            chords.append(numpy.sqrt((MASSES[:, None] * (a - b) ** 2).sum()))
        self.assertLess(max(chords) / min(chords), 1.03)
        self.assertLessEqual(21, len(images))
        self.assertLessEqual(len(images), 25)
        fine = [start + t * change + t * t * bend for t in numpy.linspace(0, 1, 2000)]
        for k in range(1, len(fine)):
            fine[k] = weighted_rotation(fine[k], fine[k - 1])
        length = sum(
            numpy.sqrt((MASSES[:, None] * (a - b) ** 2).sum()) for a, b in itertools.pairwise(fine)
        )
        self.assertAlmostEqual((coordinates[-1] - coordinates[0]) / length, 1, places=3)
        numpy.testing.assert_allclose(numpy.diff(coordinates), chords, rtol=5e-3)
        middle = int(numpy.flatnonzero(coordinates == 0)[0])
        for image, point in ((middle, fixed), (0, 0), (-1, -1)):
            fitted = weighted_rotation(images[image], points[point])
            numpy.testing.assert_allclose(fitted, points[point], atol=1e-7)

    def test_both_sides_have_whole_numbers(self):
        self.assertEqual(geometry.division(2.0, 2.0, 11), (5, 5))
        self.assertEqual(geometry.division(2.0, 2.0, 10), (5, 5))
        before, after = geometry.division(1.0, 2.0, 11)
        self.assertEqual((before, after), (4, 8))


class InterpolationTest(unittest.TestCase):
    def test_no_atom_passes_through_another(self):
        """H wanders along a line from one end of CN to the other."""
        start = numpy.array([[-2.0, 0, 0], [0, 0, 0], [2.2, 0, 0]])
        end = numpy.array([[4.1, 0, 0], [0, 0, 0], [2.2, 0, 0]])
        radii = numpy.array([0.6, 1.4, 1.3])
        images = geometry.interpolate(start, end, numpy.array([1.0, 12.0, 14.0]), radii, 5)
        for image in images:
            apart = numpy.linalg.norm(image[:, None] - image[None], axis=2)[
                numpy.triu_indices(3, 1)
            ]
            self.assertGreater(apart.min(), 1.5)


def double_well(flat):
    """Energy and gradient of a bent valley with a saddle at the origin; two dimensions are used."""
    x, y = flat[0], flat[1]
    bent = y - 0.4 * x * x
    energy = x**4 / 4 - x**2 / 2 + 3 * bent**2
    slope = numpy.zeros_like(flat)
    slope[0] = x**3 - x - 4.8 * x * bent
    slope[1] = 6 * bent
    return energy, slope


class DescentTest(unittest.TestCase):
    def test_quadratic_step_as_integrated(self):
        rng = numpy.random.default_rng(5)
        matrix = rng.normal(size=(6, 6))
        curvature, slope = matrix + matrix.T, rng.normal(size=6)
        found, whole = descent.downhill(slope, curvature, 0.3)

        def steepest(_, q):
            gradient = slope + curvature @ q
            return -gradient / numpy.linalg.norm(gradient)

        expected = solve_ivp(steepest, (0, 0.3), numpy.zeros(6), rtol=1e-10, atol=1e-12).y[:, -1]
        self.assertTrue(whole)
        numpy.testing.assert_allclose(found, expected, atol=2e-5)

    def test_stops_at_the_minimum_of_the_expansion(self):
        found, whole = descent.downhill(numpy.array([0.1, 0.0]), numpy.diag([1.0, 2.0]), 0.5)
        self.assertFalse(whole)
        numpy.testing.assert_allclose(found, [-0.1, 0.0], atol=1e-6)

    def test_bofill_fulfils_the_secant_condition(self):
        rng = numpy.random.default_rng(6)
        step, change = rng.normal(size=9), rng.normal(size=9)
        updated = descent.bofill(numpy.eye(9), step, change)
        numpy.testing.assert_allclose(updated, updated.T, atol=1e-12)
        numpy.testing.assert_allclose(updated @ step, change, atol=1e-12)

    def valley(self, raised=lambda x: 0.0, forget=lambda: None):
        """(way, points, End) of follow() in the double well, whose energy is raised at x."""
        masses = numpy.ones(4)
        basis = modes.internal_directions(molecule()[:4], masses)

        def flat(positions):
            return basis.T @ (positions - molecule()[:4]).ravel()

        def evaluate(positions):
            energy, slope = double_well(flat(positions))
            return energy + raised(flat(positions)[0]), (basis @ slope).reshape(-1, 3)

        def differences(positions):
            steps = 1e-4 * numpy.eye(positions.size).reshape(-1, *positions.shape)
            return numpy.array(
                [
                    (evaluate(positions + h)[1] - evaluate(positions - h)[1]).ravel() / 2e-4
                    for h in steps
                ]
            )

        surface = types.SimpleNamespace(
            gradient=evaluate, hessian=differences, forget_density=forget
        )
        hessian = numpy.diag([-1.0, 6.0] + [0.0] * (basis.shape[1] - 2))
        top = descent.Point(molecule()[:4], *evaluate(molecule()[:4]))
        points, end = descent.follow(
            surface, top, basis[:, 0], basis @ hessian @ basis.T, masses, 0.05, 100,
            lambda *_: None,
        )
        return numpy.array([flat(p.positions) for p in points]), points, end

    def test_follows_a_bent_valley(self):
        """To the minimum, along the way that a fine integration takes."""
        way, _, end = self.valley()
        self.assertIs(end, descent.End.MINIMUM)
        numpy.testing.assert_allclose(way[-1, :2], [1.0, 0.4], atol=2e-3)

        def steepest(_, q):
            slope = double_well(q)[1]
            return -slope / max(numpy.linalg.norm(slope), 1e-12)

        fine = solve_ivp(steepest, (0, 0.9), way[0, :2], rtol=1e-8, max_step=1e-3)
        for q in way[1:17]:
            nearest = numpy.linalg.norm(fine.y.T - q[:2], axis=1).min()
            self.assertLess(nearest, 2e-3)

    def test_a_wall_on_a_slope_is_no_minimum(self):
        """Where the SCF has only a higher state from somewhere on."""
        way, points, end = self.valley(lambda x: 0.1 if x > 0.5 else 0.0)
        self.assertIs(end, descent.End.RISE)
        self.assertAlmostEqual(way[-1, 0], 0.5, delta=0.05)
        self.assertGreater(points[-1].slope(), 0.1)

    def test_a_higher_state_is_left_again(self):
        """An SCF falls into it once, and stays there from its density."""
        begun = []
        stays = False

        def raised(x):
            nonlocal stays
            if x > 0.5 and not begun:
                begun.append(x)
                stays = True
            return 0.1 if stays else 0.0

        def forget():
            nonlocal stays
            stays = False

        way, _, end = self.valley(raised, forget)
        self.assertTrue(begun)
        self.assertIs(end, descent.End.MINIMUM)
        numpy.testing.assert_allclose(way[-1, :2], [1.0, 0.4], atol=2e-3)

    def test_what_begins_afresh(self):
        """Level's next SCF after forget_density()."""
        guesses = []
        field = types.SimpleNamespace(
            converged=True, get_init_guess=lambda: "fresh", make_rdm1=lambda: "last",
            kernel=lambda dm0: guesses.append(dm0), e_tot=-1.0,
        )
        made = object.__new__(level.Level)
        made._density, made._on_gpu, made._correction = None, False, None
        made._molecule, made._mean_field = lambda _: None, lambda _: field
        evaluations = record.Evaluations(made, types.SimpleNamespace(), None)
        for _ in range(2):
            made.energy(molecule())
        evaluations.forget_density()
        made.energy(molecule())
        self.assertEqual(guesses, ["fresh", "last", "fresh"])

    def test_the_user_is_told(self):
        """How each side ends, in the lines of progress."""
        told = []

        def progress(text):
            told.append(text)

        progress.steps = lambda _: None
        maker = object.__new__(reaction.Maker)
        maker.request = types.SimpleNamespace(step=0.1, max_steps=7)
        maker.progress, maker.evaluations, maker.masses = progress, None, MASSES
        maker.start = maker.end = None
        top = descent.Point(molecule(), 0.0, numpy.zeros((5, 3)))
        last = descent.Point(molecule(), -1.0, numpy.full((5, 3), 0.01))
        ends = iter(
            [([last], descent.End.RISE), ([last, last], descent.End.MOST_STEPS)]
            + 2 * [([last], descent.End.MINIMUM)]
        )
        with unittest.mock.patch.object(reaction, "follow", lambda *_: next(ends)):
            points, middle = maker.both_ways(top, numpy.zeros(15), None)
            self.assertEqual((len(points), middle), (4, 1))
            rise, steps = told
            for part in ("first side: not at a minimum after 1 steps", "breaks off", "0.01000"):
                self.assertIn(part, rise)
            self.assertIn("second side: not at a minimum after 2 steps", steps)
            self.assertIn("more --max-steps", steps)
            maker.both_ways(top, numpy.zeros(15), None)
        self.assertEqual(len(told), 2)


class ModesTest(unittest.TestCase):
    def test_a_diatomic_oscillator(self):
        """HCl with k = 516 N/m: the textbook's 2990 1/cm, and no overall motion."""
        masses = numpy.array([1.008, 34.969])
        positions = numpy.array([[0.0, 0, 0], [0, 0, 2.41]])
        constant = 516.0 / 1556.893
        hessian = numpy.zeros((6, 6))
        hessian[2, 2] = hessian[5, 5] = constant
        hessian[2, 5] = hessian[5, 2] = -constant
        wavenumbers, vectors = modes.normal_modes(hessian, positions, masses)
        self.assertEqual(len(wavenumbers), 1)
        reduced = masses.prod() / masses.sum() * 1.66053907e-27
        expected = (516.0 / reduced) ** 0.5 / (2 * numpy.pi * 2.99792458e10)
        self.assertAlmostEqual(wavenumbers[0] / expected, 1, places=4)
        self.assertEqual(vectors.shape, (6, 1))

    def evaluations(self, *values):
        masses, positions = MASSES, molecule()
        inside = modes.internal_directions(positions, masses)
        curvature = inside @ numpy.diag([*values, *[0.3] * (9 - len(values))]) @ inside.T
        root = numpy.repeat(numpy.sqrt(masses), 3)
        level = types.SimpleNamespace(masses=masses, elements=["H", "C", "N", "Cl", "O"])
        return types.SimpleNamespace(
            level=level, hessian=lambda _: root[:, None] * curvature * root[None]
        )

    def test_one_imaginary_frequency_is_asked_for(self):
        top = descent.Point(molecule(), 0.0, numpy.zeros((5, 3)))
        wavenumber, mode, _ = saddle.reaction_mode(self.evaluations(-0.01), top)
        self.assertLess(wavenumber, -100)
        self.assertAlmostEqual(numpy.linalg.norm(mode), 1)
        with self.assertRaisesRegex(PathError, "no imaginary frequency.*minimum"):
            saddle.reaction_mode(self.evaluations(0.1), top)
        with self.assertRaisesRegex(PathError, "2 imaginary frequencies.*second moves atom"):
            saddle.reaction_mode(self.evaluations(-0.1, -0.02), top)


if __name__ == "__main__":
    unittest.main()
