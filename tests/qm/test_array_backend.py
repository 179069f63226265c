"""The worker's SCF on a device's arrays, by a module that is as strict as CuPy on the host's memory.

Run by any Python that has src/qm/workers/requirements.txt. With CuPy and a GPU the same on that.
"""

import contextlib
import functools
import gc
import importlib.util
import io
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
import unittest
import unittest.mock

from pyscf_worker_tests import REPOSITORY

# isort: split

import array_functionals
import attraction
import basis_functions
import device_choice
import fitted_interaction
import fitting_integrals
import forecast
import numpy
import pyscf_worker
import solvent_scf
from array_backend import HOST, DeviceBackend
from basis_functions import BasisFunctions
from exact_ensemble import Configuration
from extrapolation import KEPT, extrapolation_on
from followed_orbitals import FollowedOrbitals
from point_blocks import PointBlocks
from pyscf import df, dft, gto
from strict_arrays import (
    LINALG_NAMES,
    METHODS,
    NAMES,
    DeviceError,
    StrictArray,
    StrictModule,
)
from two_level import NotConverged
from worker_protocol import HARTREE_IN_KJ_PER_MOL, SolventCharges, WorkerError
from worker_request import worker_request

FORMALDEHYDE = (
    ["C", "O", "H", "H"],
    [[0, 0, 0], [1.203, 0, 0], [-0.580753, 0.935377, 0], [-0.580753, -0.935377, 0]],
)
FORMATE = (["C", "O", "O", "H"], [[0, 0, 0], [1.13, 0.54, 0], [-1.13, 0.54, 0], [0, -1.13, 0]])
WATERS = [
    [[3.65, 1.75, 0.2], [2.85, 1.23, 0.13], [4.35, 1.10, 0.17]],
    [[-1.2, 3.4, 0.6], [-0.5, 3.95, 0.25], [-1.85, 4.0, 0.95]],
    [[0.3, -0.4, 3.3], [0.35, 0.4, 3.82], [0.25, -1.1, 3.95]],
]
TIGHT = {"basis": "sto-3g", "energy_convergence_hartree": 1e-10}
ENERGY = 1e-7 * HARTREE_IN_KJ_PER_MOL
ELECTRONS = 1e-6
FUNCTIONALS = (
    "lda,vwn", "lda,pw", "lda,pw_mod", "pbe", "revpbe", "rpbe", "pbesol", "blyp", "b88,pbe", "0.3*b88+0.7*pbe,lyp",
    "pbe0", "b3lyp", "b3lyp5", "bhandhlyp", "revpbe0",
)  # fmt: skip


def strict_backend(xp=None):
    return DeviceBackend(xp or StrictModule())


def make_engine(molecule, backend, **changed):
    """backend: None for the host."""
    small = {"grid_radial": 20, "grid_angular": 110, "scf_grid_radial": 30, "scf_grid_angular": 110}
    request = worker_request(molecule[0], **{**small, "device": "gpu", **changed})
    if backend is None:
        request["device"] = "cpu"
        return pyscf_worker.PyscfEngine(request, numpy.array(molecule[1], float))

    def open_backend(*arguments):
        return device_choice.open_backend(*arguments, lambda _: (backend, "a strict one"))

    return pyscf_worker.PyscfEngine(
        request, numpy.array(molecule[1], float), open_backend=open_backend
    )


def surroundings(shift=0.0):
    positions = numpy.array(WATERS, float).reshape(-1, 3) + [0, 0, shift]
    return SolventCharges(positions, numpy.tile([-0.834, 0.417, 0.417], len(WATERS)), 1.0)


def potential_of(charges, points):
    distances = numpy.linalg.norm(points[:, None] - charges.positions[None], axis=2)
    return (0.529177210903 / distances) @ charges.charges


def solvent(engine, molecule, shift):
    """Arguments of update() and configuration()."""
    charges = surroundings(shift)
    nuclei = numpy.array(molecule[1], float)
    return (*(potential_of(charges, at) for at in (engine.points_angstrom().T, nuclei)), charges)


def update(engine, molecule, shift=0.0):
    fields, grid = engine.update(*solvent(engine, molecule, shift))
    return fields, None if grid is None else grid.copy()


def quiet(work):
    """(its result, what it said on standard error)."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        result = work()
    return result, said.getvalue()


class StrictArraysTest(unittest.TestCase):
    def test_they_do_not_mix(self):
        xp, ours = StrictModule(), numpy.ones((2, 2))
        theirs = xp.asarray(ours)
        for mix in (
            lambda: theirs + ours,
            lambda: ours @ theirs,
            lambda: ours * theirs,
            lambda: theirs[numpy.array([0])],
            lambda: xp.sqrt(ours),
            lambda: numpy.sqrt(theirs),
            lambda: numpy.asarray(theirs),
            lambda: theirs.__setitem__(0, ours[0]),
        ):
            with self.assertRaises(TypeError):
                mix()
        with self.assertRaises(AttributeError):
            _ = xp.interp
        self.assertIsInstance(2.0 * theirs @ theirs, StrictArray)

    @unittest.skipUnless(importlib.util.find_spec("cupy"), "no CuPy")
    def test_all_of_it_is_in_cupy(self):
        import cupy

        for where, names in ((cupy, NAMES), (cupy.linalg, LINALG_NAMES), (cupy.ndarray, METHODS)):
            self.assertEqual([name for name in sorted(names) if not hasattr(where, name)], [])


class FunctionalsTest(unittest.TestCase):
    """Against libxc, on the points of a molecule and on densities of all sizes."""

    def setUp(self):
        molecule = gto.M(atom=list(zip(*FORMATE, strict=True)), charge=-1, basis="def2-svp", verbose=0)
        grid = dft.gen_grid.Grids(molecule)
        grid.atom_grid = (30, 110)
        grid.build()
        self.weights = grid.weights
        values = dft.numint.eval_ao(molecule, grid.coords, deriv=1)
        matrix = dft.RKS(molecule).get_init_guess()
        self.rho = dft.numint.eval_rho(molecule, values, matrix, xctype="GGA")

    def compare(self, rho, functional):
        integrator = dft.numint.NumInt()
        kind = integrator._xc_type(functional)
        rho = rho if kind == "GGA" else rho[:1]
        backend = strict_backend()
        ours = array_functionals.ArrayFunctional(functional, backend)(backend.put(rho))
        theirs = integrator.eval_xc_eff(
            functional, rho if kind == "GGA" else rho[0], deriv=1, xctype=kind, spin=0
        )
        energy, potential = (backend.get(part) for part in ours)
        return (energy, theirs[0]), (potential, theirs[1].reshape(rho.shape))

    def test_of_a_molecule(self):
        for functional in FUNCTIONALS:
            with self.subTest(functional):
                energies, potentials = self.compare(self.rho, functional)
                charge = self.weights * self.rho[0]
                self.assertAlmostEqual(charge @ energies[0], charge @ energies[1], delta=1e-11)
                # What a potential does to the energy by a change of the density of a percent.
                error = (potentials[0] - potentials[1]) * self.rho[: len(potentials[0])]
                self.assertLess(abs(self.weights * error).sum(), 1e-9)

    def test_of_all_densities(self):
        random = numpy.random.default_rng(7)
        density = 10 ** random.uniform(-9, 2.5, 20000)
        gradient = density ** (4 / 3) * 10 ** random.uniform(-3, 1.5, density.size)
        direction = random.normal(size=(3, density.size))
        direction /= numpy.linalg.norm(direction, axis=0)
        rho = numpy.vstack([density, gradient * direction])
        rho[1:, :50] = 0
        for functional in FUNCTIONALS:
            with self.subTest(functional):
                energies, potentials = self.compare(rho, functional)
                numpy.testing.assert_allclose(*energies, rtol=1e-6, atol=1e-13)
                numpy.testing.assert_allclose(potentials[0][0], potentials[1][0], rtol=1e-5)
                numpy.testing.assert_allclose(
                    potentials[0][1:], potentials[1][1:], rtol=1e-6, atol=1e-9
                )

    def test_no_density(self):
        backend = strict_backend()
        functional = array_functionals.ArrayFunctional("blyp", backend)
        energy, potential = functional(backend.put(numpy.zeros((4, 3))))
        self.assertEqual((abs(backend.get(energy)).max(), abs(backend.get(potential)).max()), (0, 0))

    def test_what_it_does_not_know(self):
        for functional in ("camb3lyp", "x3lyp", "tpss", "bp86", "hcth407"):
            self.assertIsNone(array_functionals.parts_of(functional), functional)


class AttractionTest(unittest.TestCase):
    """Against PySCF's integrals."""

    def test_matrices(self):
        random = numpy.random.default_rng(4)
        positions = 4 * random.normal(size=(30, 3))
        charges = random.normal(size=30)
        for basis in ("sto-3g", "def2-svpd", "cc-pvdz", "def2-tzvp"):
            with self.subTest(basis):
                atoms = list(zip(*FORMALDEHYDE, strict=True))
                molecule = gto.M(atom=atoms, basis=basis, verbose=0)
                positions[:2] = molecule.atom_coords()[:2] + [[0, 0, 0], [0, 1e-4, 0]]
                positions[2] = [0, 0, 300]
                backend = strict_backend()
                matrix = attraction.AttractionMatrix(molecule, backend)
                expected = numpy.einsum(
                    "g,gmn->mn", charges, molecule.intor("int1e_grids", grids=positions)
                )
                for bytes_at_once in (attraction.BYTES_AT_ONCE, 1_000_000):
                    kept, attraction.BYTES_AT_ONCE = attraction.BYTES_AT_ONCE, bytes_at_once
                    self.addCleanup(setattr, attraction, "BYTES_AT_ONCE", kept)
                    found = backend.get(matrix(positions, charges))
                    numpy.testing.assert_allclose(found, expected, atol=1e-12)

    def test_potentials(self):
        random = numpy.random.default_rng(5)
        points = 3 * random.normal(size=(40, 3))
        for basis in ("sto-3g", "def2-svpd", "cc-pvdz", "def2-tzvp"):
            with self.subTest(basis):
                atoms = list(zip(*FORMALDEHYDE, strict=True))
                molecule = gto.M(atom=atoms, basis=basis, verbose=0)
                points[:3] = [molecule.atom_coord(0), [0, 0, 300], [0, 1e-4, 0]]
                backend = strict_backend()
                matrix = attraction.AttractionMatrix(molecule, backend)
                matrices = random.normal(size=(3, molecule.nao, molecule.nao))
                matrices += matrices.transpose(0, 2, 1)
                expected = numpy.einsum(
                    "kmn,gmn->kg", matrices, molecule.intor("int1e_grids", grids=points)
                )
                for bytes_at_once in (attraction.BYTES_AT_ONCE, 1_000_000):
                    kept, attraction.BYTES_AT_ONCE = attraction.BYTES_AT_ONCE, bytes_at_once
                    self.addCleanup(setattr, attraction, "BYTES_AT_ONCE", kept)
                    found = matrix.potentials(matrices, points)
                    numpy.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-10)
                self.assertEqual(matrix.potentials(matrices, points[:0]).shape, (3, 0))

    def test_coefficients_are_kept_for_the_same_matrices(self):
        molecule, points = gto.M(atom="He", basis="def2-svp", verbose=0), numpy.eye(3)
        matrix, matrices = attraction.AttractionMatrix(molecule, HOST), numpy.ones((1, 5, 5))
        with unittest.mock.patch.object(
            attraction._OfOrder, "coefficients", autospec=True, side_effect=attraction._OfOrder.coefficients
        ) as made:
            first = matrix.potentials(matrices, points)
            of_all_orders = made.call_count
            numpy.testing.assert_array_equal(matrix.potentials(matrices.copy(), points), first)
            self.assertEqual(made.call_count, of_all_orders)
            matrices *= 2
            numpy.testing.assert_array_equal(matrix.potentials(matrices, points), 2 * first)
            self.assertEqual(made.call_count, 2 * of_all_orders)

    def test_nothing_of_a_call_stays(self):
        """Not even until the collector of cycles runs, which on a device may be gigabytes later."""
        molecule, points = gto.M(atom="Ne", basis="cc-pvtz", verbose=0), numpy.ones((2000, 3))
        matrix = attraction.AttractionMatrix(molecule, HOST)
        matrices = numpy.eye(molecule.nao)[None]
        matrix.potentials(matrices, points)
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        matrix.potentials(matrices, points)
        self.assertLess(tracemalloc.get_traced_memory()[0], points.nbytes)

    def test_arrays_keep_to_their_bytes(self):
        """Of all orders, up to that of two f functions; and the device's forecast has them."""
        budget = 2**23
        molecule = gto.M(atom="Ne", basis="cc-pvtz", verbose=0)
        points, charges = numpy.ones((20000, 3)), numpy.ones(20000)
        matrix, matrices = attraction.AttractionMatrix(molecule, HOST), numpy.eye(molecule.nao)[None]
        request = worker_request(["Ne"])
        with unittest.mock.patch.object(attraction, "BYTES_AT_ONCE", 0):
            forecast = solvent_scf.device_bytes(molecule.nao, 1, request)
        with unittest.mock.patch.object(attraction, "BYTES_AT_ONCE", budget):
            self.assertEqual(solvent_scf.device_bytes(molecule.nao, 1, request), forecast + budget)
            for work in (lambda: matrix.potentials(matrices, points), lambda: matrix(points, charges)):
                tracemalloc.start()
                self.addCleanup(tracemalloc.stop)
                work()
                self.assertLess(tracemalloc.get_traced_memory()[1], 1.1 * budget)
                tracemalloc.stop()

    def test_no_charges(self):
        molecule = gto.M(atom="He", basis="sto-3g", verbose=0)
        backend = strict_backend()
        matrix = attraction.AttractionMatrix(molecule, backend)
        self.assertEqual(float(matrix(numpy.zeros((0, 3)), numpy.zeros(0))[0, 0]), 0)


class FollowedOrbitalsTest(unittest.TestCase):
    def test_they_become_those_of_a_near_matrix(self):
        random = numpy.random.default_rng(3)
        backend = strict_backend()
        energies = numpy.concatenate([numpy.linspace(-9, -0.4, 7), numpy.linspace(0.1, 4, 20)])
        orbitals = numpy.linalg.qr(random.normal(size=(27, 27)))[0]
        change = random.normal(scale=0.01, size=(27, 27))
        fock = (orbitals * energies) @ orbitals.T + change + change.T
        followed = FollowedOrbitals(backend, 7)
        followed.begin(backend.put(orbitals), backend.put(energies))
        expected = numpy.linalg.eigh(fock)[1][:, :7]
        errors = []
        for _ in range(4):
            occupied = backend.get(followed.of(backend.put(fock)))
            numpy.testing.assert_allclose(occupied.T @ occupied, numpy.eye(7), atol=1e-13)
            errors.append(abs(occupied @ occupied.T - expected @ expected.T).max())
        self.assertLess(errors[0], 1e-3)
        self.assertLess(errors[-1], 1e-9)
        self.assertEqual(errors, sorted(errors, reverse=True))

    def test_too_far_away(self):
        backend = strict_backend()
        followed = FollowedOrbitals(backend, 1)
        followed.begin(backend.put(numpy.eye(3)), backend.put(numpy.array([-1.0, -0.9, 1.0])))
        fock = numpy.diag([-1.0, -0.9, 1.0])
        self.assertIsNotNone(followed.of(backend.put(fock)))
        fock[0, 1] = fock[1, 0] = 1.0
        self.assertIsNone(followed.of(backend.put(fock)))


class ExtrapolationTest(unittest.TestCase):
    def test_it_is_the_hosts(self):
        """Beyond as many matrices as are kept; each is waited for once."""
        random = numpy.random.default_rng(7)
        xp = StrictModule()
        backend = strict_backend(xp)
        ours, theirs = extrapolation_on(backend), extrapolation_on(HOST)
        for step in range(KEPT + 4):
            fock, error = random.normal(size=(2, 6, 6)) * 0.5**step
            there = backend.put(fock), backend.put(error)
            xp.copies = 0
            self.assertAlmostEqual(ours.add(*there), theirs.add(fock, error), delta=1e-14)
            self.assertEqual(xp.copies, 1)
            numpy.testing.assert_allclose(backend.get(ours.best()), theirs.best(), atol=1e-9)
            if step == 2:
                ours.forget()
                theirs.forget()

    def test_no_error(self):
        backend = strict_backend()
        ours, fock = extrapolation_on(backend), numpy.ones((1, 1))
        self.assertEqual(ours.add(backend.put(fock), backend.put(0 * fock)), 0)
        numpy.testing.assert_array_equal(backend.get(ours.best()), fock)


class UpdateTest(unittest.TestCase):
    def expect_same(self, ours, theirs):
        self.assertAlmostEqual(ours[0]["energy"], theirs[0]["energy"], delta=ENERGY)
        self.assertAlmostEqual(
            ours[0]["polarisation_energy"], theirs[0]["polarisation_energy"], delta=ENERGY
        )
        numpy.testing.assert_array_equal(ours[1][:3], theirs[1][:3])
        self.assertLess(abs(ours[1][3] - theirs[1][3]).max(), ELECTRONS)

    def test_energies_and_densities_are_the_hosts(self):
        for molecule, changed in (
            (FORMALDEHYDE, {}),
            (FORMALDEHYDE, {"method": "lda,vwn", "density_fitting": False}),
            (FORMATE, {"method": "blyp", "charge": -1, "basis": "sto-3g"}),
            (FORMATE, {"method": "revpbe", "charge": -1, "basis": "sto-3g"}),
            (FORMALDEHYDE, {"method": "b3lyp", "basis": "sto-3g"}),
            (FORMATE, {"method": "pbe0", "charge": -1, "basis": "sto-3g", "density_fitting": False}),
        ):
            with self.subTest(**changed):
                # The isolated density, too: its error is one of the polarisation in first order.
                tight = {"energy_convergence_hartree": 1e-12, **changed}
                device = make_engine(molecule, strict_backend(), **tight)
                host = make_engine(molecule, None, **tight)
                self.assertEqual((device.device, host.device), ("a strict one", "CPU"))
                for shift in (0.0, 0.3):
                    self.expect_same(
                        update(device, molecule, shift), update(host, molecule, shift)
                    )

    def test_the_hosts_blocks_are_whole_blocks_of_pyscf(self):
        self.assertEqual(HOST.points_per_block, 5 * dft.gen_grid.BLKSIZE)

    def test_points_in_several_blocks(self):
        backend = strict_backend()
        backend.points_per_block, backend.distances_at_once = 700, 999
        device, host = make_engine(FORMALDEHYDE, backend), make_engine(FORMALDEHYDE, strict_backend())
        self.expect_same(update(device, FORMALDEHYDE), update(host, FORMALDEHYDE))

    def test_states_move_between_engines(self):
        device, host = make_engine(FORMALDEHYDE, strict_backend()), make_engine(FORMALDEHYDE, None)
        update(device, FORMALDEHYDE)
        update(host, FORMALDEHYDE)
        states = device.state(), host.state()
        device.restore(states[1])
        host.restore(states[0])
        ours, theirs = update(device, FORMALDEHYDE, 0.2), update(host, FORMALDEHYDE, 0.2)
        self.expect_same(ours, theirs)
        self.assertIn("previous_interaction", ours[0])
        device.restore(states[0])
        again = update(device, FORMALDEHYDE, 0.2)
        device.restore(states[0])
        numpy.testing.assert_array_equal(again[1], update(device, FORMALDEHYDE, 0.2)[1])

    def test_from_a_density_that_is_held(self):
        engine = make_engine(FORMALDEHYDE, strict_backend(), basis="sto-3g")
        update(engine, FORMALDEHYDE)
        engine.hold()
        fields, grid = update(engine, FORMALDEHYDE, 0.3)
        state = engine.state()
        update(engine, FORMALDEHYDE, 0.1)
        again, _ = update(engine, FORMALDEHYDE, 0.3)
        self.assertIsNone(grid)  # a fixed reference samples
        self.assertEqual(fields["energy"], again["energy"])
        numpy.testing.assert_array_equal(state, engine.state())


class BasisFunctionsTest(unittest.TestCase):
    def test_they_are_pyscfs(self):
        points = numpy.random.default_rng(1).normal(scale=3.0, size=(200, 3))
        for atoms, basis in (
            ("He 0 0 0", "sto-3g"),  # s alone
            ("C 0 0 0; H 0.3 1.2 0.4; O 1.1 -0.3 0.2", "def2-svp"),
            ("O 0 0 0.3; S 0.2 1.1 -0.4", "cc-pvtz"),  # general contractions
            ("N 0.1 0.2 0.3", "def2-qzvpp"),  # up to g
        ):
            with self.subTest(basis=basis):
                molecule, backend = gto.M(atom=atoms, basis=basis, spin=None), strict_backend()
                functions = BasisFunctions(molecule, backend)
                for gradients in (False, True):
                    found = backend.get(functions.at(backend.put(points), gradients))
                    expected = dft.numint.eval_ao(molecule, points, deriv=int(gradients))
                    expected = expected if gradients else expected[None]
                    numpy.testing.assert_allclose(found, expected, atol=1e-13, rtol=0)

    def test_cartesian_ones_are_refused(self):
        with self.assertRaises(ValueError):
            BasisFunctions(gto.M(atom="He 0 0 0", cart=True), strict_backend())

    def test_points_in_several_parts(self):
        def values_of(backend):
            blocks = PointBlocks(molecule, points, 1, 1e9, gradients=True, backend=backend)
            found = []
            blocks.for_each_block(lambda _block, _functions, values: found.append(values))
            return backend.get(found[0])

        molecule, points = gto.M(atom="He 0 0 0; H 0 0 1", charge=1), numpy.eye(3).repeat(40, axis=0)
        expected = values_of(strict_backend())
        with unittest.mock.patch.object(basis_functions, "BYTES_AT_ONCE", 8 * 2 * 50):
            numpy.testing.assert_array_equal(values_of(strict_backend()), expected)
        self.assertEqual(expected.shape, (4, 120, 2))


class FittedInteractionTest(unittest.TestCase):
    """Factors that a device makes of integrals, beside PySCF's."""

    def setUp(self):
        self.molecule = pyscf_worker.build_molecule(
            worker_request(FORMALDEHYDE[0]), numpy.array(FORMALDEHYDE[1], float)
        )

    def test_matrices_are_those_of_pyscfs_factors(self):
        bytes_of_few = 8 * 60 * df.make_auxmol(self.molecule).nao  # several blocks, of a shell or more
        with unittest.mock.patch.object(fitting_integrals, "BLOCK_BYTES", bytes_of_few):
            integrals = fitting_integrals.fitting_integrals(df.DF(self.molecule), 2000)
        self.assertGreater(len(integrals.blocks), 3)
        backend, pyscfs = strict_backend(), df.DF(self.molecule)
        of_pyscf = fitted_interaction.FittedInteraction(pyscfs, None, backend)
        ours = fitted_interaction.FittedInteraction(pyscfs, integrals, backend)
        functions = self.molecule.nao
        root = numpy.random.default_rng(3).normal(size=(functions, 8)) / functions
        for matrices in (
            [one.coulomb(backend.put(root @ root.T)) for one in (ours, of_pyscf)],
            [one.exchange(backend.put(root)) for one in (ours, of_pyscf)],
        ):
            found, expected = (backend.get(one) for one in matrices)
            numpy.testing.assert_allclose(found, expected, atol=1e-11, rtol=0)

    def test_what_does_not_fit_into_memory_is_left_to_pyscf(self):
        self.assertIsNone(fitting_integrals.fitting_integrals(df.DF(self.molecule), 1))

    def test_so_is_what_has_no_cholesky_factor(self):
        failure = numpy.linalg.LinAlgError("not positive definite")
        with unittest.mock.patch("scipy.linalg.cholesky", side_effect=failure):
            self.assertIsNone(fitting_integrals.fitting_integrals(df.DF(self.molecule), 2000))
        with unittest.mock.patch.object(pyscf_worker, "fitting_integrals", return_value=None):
            device = make_engine(FORMALDEHYDE, strict_backend(), **TIGHT)
        host = make_engine(FORMALDEHYDE, None, **TIGHT)
        found, expected = (update(one, FORMALDEHYDE)[0]["energy"] for one in (device, host))
        self.assertAlmostEqual(found, expected, delta=ENERGY)

    def test_pyscfs_own_scf_has_its_factors_where_it_has_to_help(self):
        """Without them it would make all integrals anew in each iteration."""
        device = make_engine(FORMALDEHYDE, strict_backend(), **TIGHT)
        host = make_engine(FORMALDEHYDE, None, **TIGHT)
        fitting = device._mean_field.with_df
        self.assertIsNone(fitting._cderi)
        two_level = device._scf.convergence._two_level
        with unittest.mock.patch.object(two_level, "converge", side_effect=NotConverged("a test", 1)):
            fields, _ = quiet(lambda: update(device, FORMALDEHYDE))[0]
        self.assertEqual(fields["fallback"], "damping")
        self.assertIsNotNone(fitting._cderi)
        expected = update(host, FORMALDEHYDE)[0]["energy"]
        self.assertAlmostEqual(fields["energy"], expected, delta=ENERGY)


class StartTest(unittest.TestCase):
    """What a worker's start on a device takes."""

    def tearDown(self):
        """What is still under way beside an engine would call what the next test replaces."""
        for thread in threading.enumerate():
            if thread.name.startswith("beside"):
                thread.join(60)

    def test_basis_functions_do_not_travel(self):
        with unittest.mock.patch.object(dft.numint, "eval_ao", side_effect=self.fail):
            make_engine(FORMALDEHYDE, strict_backend(), basis="sto-3g")

    def start(self, open_device, build_grids, announce=lambda **_: None, **changed):
        def open_backend(*arguments):
            return device_choice.open_backend(*arguments, open_device)

        request = worker_request(
            FORMALDEHYDE[0], basis="sto-3g", scf_grid_radial=20, grid_radial=10, device="gpu", **changed
        )
        with unittest.mock.patch.object(pyscf_worker.PyscfEngine, "_build_grids", build_grids):
            return pyscf_worker.PyscfEngine(
                request, numpy.array(FORMALDEHYDE[1], float), announce, open_backend=open_backend
            )

    def test_grids_are_made_while_the_device_opens(self):
        made = threading.Event()
        build = pyscf_worker.PyscfEngine._build_grids

        def build_grids(engine, *arguments):
            build(engine, *arguments)
            made.set()

        def open_device(_number):
            self.assertTrue(made.wait(60))
            return strict_backend(), "a strict one"

        engine, said = quiet(lambda: self.start(open_device, build_grids))
        self.assertEqual(engine.device, "a strict one")
        self.assertRegex(
            said,
            r"ready \d+\.\d\d s after its molecule: .*grids \d.*device \d.*functions on grids \d.*"
            r"isolated solute \d.*; Python and its imports before: \d+\.\d\d s",
        )

    def test_where_it_does_not_open_nothing_more_is_begun(self):
        refused = threading.Event()

        def build_grids(*_):
            refused.wait(60)

        def open_device(_number):
            raise device_choice.NoDevice("there is none")

        with unittest.mock.patch.object(pyscf_worker, "fitting_integrals") as integrals:
            try:
                with self.assertRaises(WorkerError) as caught:
                    self.start(open_device, build_grids)
            finally:
                refused.set()
        self.assertIn("there is none", str(caught.exception))
        integrals.assert_not_called()

    def test_on_the_cpu_a_device_that_there_is_not_leaves_no_integrals(self):
        opened = threading.Event()
        build = pyscf_worker.PyscfEngine._build_grids

        def build_grids(engine, *arguments):
            opened.wait(60)
            build(engine, *arguments)

        def open_device(_number):
            raise device_choice.NoDevice("there is none")

        def announce(**_):  # when the choice has fallen
            opened.set()

        with unittest.mock.patch.object(pyscf_worker, "fitting_integrals") as integrals:
            engine, _ = quiet(
                lambda: self.start(open_device, build_grids, announce, device_required=False)
            )
        self.assertIn("there is none", engine.device)
        integrals.assert_not_called()

    def test_integrals_under_way_are_left_where_nobody_wants_them(self):
        molecule = gto.M(atom="O 0 0 0; H 0 0 1; H 0 1 0", basis="def2-svp", verbose=0)
        fitted = dft.RKS(molecule).density_fit().with_df
        asked = []

        def stopped():
            asked.append(True)
            return len(asked) > 2

        with unittest.mock.patch.object(fitting_integrals, "BLOCK_BYTES", 1):
            self.assertIsNone(fitting_integrals.fitting_integrals(fitted, 1000, stopped))
            self.assertEqual(len(asked), 3)
            made = fitting_integrals.fitting_integrals(fitted, 1000)
        self.assertGreater(len(made.blocks), 3)

    def test_memory_of_factors_that_are_yet_to_be_made_counts(self):
        engine, _ = quiet(
            lambda: self.start(
                lambda _: (strict_backend(), "a strict one"), pyscf_worker.PyscfEngine._build_grids
            )
        )
        self.assertEqual(engine.unmade_mb(), forecast.factors_mb(engine.basis_functions))
        engine._mean_field.with_df.build()
        self.assertEqual(engine.unmade_mb(), 0)

    def test_what_grids_cannot_be_made_of_is_told(self):
        def build_grids(*_):
            raise ValueError("no grid (a test)")

        with self.assertRaisesRegex(ValueError, "no grid"):
            self.start(lambda _: (strict_backend(), "a strict one"), build_grids)


class ResponseTest(unittest.TestCase):
    TESTS = numpy.array([4, 5])

    def respond(self, backend, **changed):
        engine = make_engine(FORMALDEHYDE, backend, basis="sto-3g", **changed)
        for shift in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5):
            engine.exact.add(engine.configuration(*solvent(engine, FORMALDEHYDE, shift)))
        engine.exact.reference()
        engine.hold()
        return engine, self.again(engine, self.energies(engine))

    def energies(self, engine):
        return numpy.array([engine.exact.energy(test) for test in self.TESTS])

    def again(self, engine, energies):
        return engine.exact.respond(3, 0.0, (self.TESTS, energies), 2, lambda *_: None)

    def test_it_is_the_hosts(self):
        for changed in ({}, {"method": "lda,vwn", "density_fitting": False}):
            with self.subTest(**changed):
                tight = {"energy_convergence_hartree": 1e-12, **changed}
                _, (ours, device) = self.respond(strict_backend(), **tight)
                _, (theirs, host) = self.respond(None, **tight)
                self.assertEqual(ours["components"], theirs["components"])
                numpy.testing.assert_allclose(ours["widths"], theirs["widths"], atol=1e-5)
                scale = abs(host["mean"]).max()
                # A component's sign is free.
                signs = numpy.sign(device["mean"] * host["mean"])
                numpy.testing.assert_allclose(
                    signs * device["mean"], host["mean"], atol=1e-4 * scale
                )

    def test_changes_of_a_response_travel_together(self):
        """Each time a device is waited for, which samples meanwhile."""
        xp, applied = StrictModule(), []
        for backend in (strict_backend(xp), None):
            engine = make_engine(FORMALDEHYDE, backend)
            functions = engine.molecule.nao
            isolated = Configuration(numpy.zeros((functions, functions)), 0.0)
            density = engine._solve_without_grid(isolated)[1]
            orbitals = engine._response_equations(isolated, density, 1).response
            vectors = numpy.random.default_rng(5).normal(size=(7, orbitals.size))
            xp.copies = 0
            applied.append(orbitals.apply(vectors, 1))
            if backend is not None:
                self.assertEqual(xp.copies, 4)  # there and back, of Coulomb's part and the functional's
        numpy.testing.assert_allclose(*applied, rtol=1e-4, atol=1e-5)

    def test_the_reference_needs_no_factors_of_the_host(self):
        """The device has its own, and gives the same mean field; exact exchange is the host's."""
        for method, without in (("pbe", True), ("pbe0", False)):
            with self.subTest(method):
                engine, _ = self.respond(strict_backend(), method=method)
                self.assertEqual(engine._mean_field.with_df._cderi is None, without)
        engine, host = (make_engine(FORMALDEHYDE, one) for one in (strict_backend(), None))
        functions = engine.molecule.nao
        isolated = Configuration(numpy.zeros((functions, functions)), 0.0)
        density = engine._solve_without_grid(isolated)[1]
        theirs = numpy.asarray(host._mean_field.get_veff(host.molecule, density))
        numpy.testing.assert_allclose(engine._scf.potential(density), theirs, atol=1e-9)

    def test_memory_that_runs_out(self):
        """While it begins, or later: it is made once more, on the CPU."""
        for uses in (3, 25):
            with self.subTest(uses=uses):
                module = StrictModule()
                engine, (fields, _) = self.respond(strict_backend(module))
                energies = self.energies(engine)
                module.fail_after = uses
                (again, _), said = quiet(functools.partial(self.again, engine, energies))
                self.assertEqual(again["components"], fields["components"])
                numpy.testing.assert_allclose(again["widths"], fields["widths"], atol=1e-5)
                self.assertIn("from here on the SCF runs on the CPU", said)
                self.assertEqual(engine.device, "CPU")


class OutOfMemoryTest(unittest.TestCase):
    def check(self, fail_at_start, held):
        xp = StrictModule()
        xp.fail_after = 200 if fail_at_start else None

        def work():
            engine = make_engine(
                FORMALDEHYDE, strict_backend(xp), device_required=not fail_at_start, **TIGHT
            )
            update(engine, FORMALDEHYDE)
            if held:
                engine.hold()
                update(engine, FORMALDEHYDE, 0.4)
            if not fail_at_start:
                xp.fail_after = 40
            return engine, update(engine, FORMALDEHYDE, 0.2)

        (engine, ours), said = quiet(work)
        self.assertEqual(engine.device, "CPU")
        self.assertIn("warning: the GPU failed (DeviceMemoryError: no memory", said)
        host = make_engine(FORMALDEHYDE, None, **TIGHT)
        update(host, FORMALDEHYDE)
        theirs = update(host, FORMALDEHYDE, 0.2)
        self.assertAlmostEqual(ours[0]["energy"], theirs[0]["energy"], delta=ENERGY)
        # First order in the error of a density that has converged.
        self.assertAlmostEqual(
            ours[0]["previous_interaction"], theirs[0]["previous_interaction"], delta=100 * ENERGY
        )

    def test_at_the_start_of_a_run(self):
        """Others are on the device, and a run has one kind of worker."""
        xp = StrictModule()
        xp.fail_after = 200
        with self.assertRaises(WorkerError) as caught:
            make_engine(FORMALDEHYDE, strict_backend(xp), **TIGHT)
        self.assertEqual(caught.exception.reason, "bad-request")
        self.assertIn("DeviceMemoryError: no memory", str(caught.exception))

    def test_in_place_of_a_worker_that_was_lost(self):
        self.check(fail_at_start=True, held=False)

    def test_in_an_update(self):
        self.check(fail_at_start=False, held=False)

    def test_while_held(self):
        self.check(fail_at_start=False, held=True)

    def test_what_does_not_fit(self):
        backend = strict_backend()
        needed = 1200 * 2**20
        for workers, free, total, found in (
            (1, 9300, 80000, ""),
            (1, 9100, 80000, "1200 MiB (only 9100 of its 80000 MiB of memory are free): take fewer chains"),
            (13, 3300, 20000, ""),
            (14, 20000, 20000, "1200 MiB (14 of the QM workers find no room in its 20000 MiB of memory)"),
        ):
            backend.memory_bytes = lambda f=free, t=total: (f * 2**20, t * 2**20)

            def choose(choice, workers=workers, **more):
                request = {"device": choice, "device_workers": workers, **more}
                return device_choice.open_backend(
                    request, "", 100, needed, lambda _: (backend, "a strict one")
                )

            with self.subTest(workers=workers, free=free):
                if not found:
                    self.assertEqual(choose("gpu"), (backend, "a strict one"))
                    continue
                for chosen in (
                    lambda choose=choose: choose("auto"),
                    lambda choose=choose: choose("gpu", device_required=False),
                ):
                    ((chosen_backend, said), _) = quiet(chosen)
                    self.assertIs(chosen_backend, HOST)
                    self.assertIn(found, said)
                with self.assertRaises(WorkerError) as caught:
                    choose("gpu")
                self.assertIn(found, str(caught.exception))


@unittest.mock.patch.dict(os.environ, {device_choice.OWN_SERVER: "1"})
class ServerTest(unittest.TestCase):
    """The GPU by way of an MPS server of the program's."""

    def lost(self, work):
        with self.assertRaises(WorkerError) as caught:
            quiet(work)
        self.assertEqual(caught.exception.reason, "device-server")
        return str(caught.exception)

    def failing_backend(self, uses=None):
        xp = StrictModule()
        xp.failure = DeviceError("server lost (a test)")
        xp.fail_after = uses
        backend = strict_backend(xp)
        backend.failures = (MemoryError, DeviceError)
        return xp, backend

    def test_no_gpu_behind_it(self):
        """Whatever is asked for: there may be one without it."""

        def nothing(_number):
            raise device_choice.DeviceFailure("there is none")

        for request in ({"device": "auto"}, {"device": "gpu"}, {"device": "gpu", "device_required": False}):
            self.assertIn("there is none", self.lost(
                lambda request=request: device_choice.open_backend(request, "", 100, 1, nothing)
            ))  # fmt: skip

    def test_what_is_no_fault_of_its(self):
        """CuPy is missing; the device is too small."""
        small = strict_backend()
        small.memory_bytes = lambda: (10, 10)

        def without_cupy(_number):
            raise device_choice.NoDevice("no CuPy")

        for open_device, why in ((without_cupy, "no CuPy"), (lambda _: (small, "small"), "too little room")):
            (backend, said), _ = quiet(
                lambda open_device=open_device: device_choice.open_backend(
                    {"device": "auto"}, "", 100, 2**30, open_device
                )
            )
            self.assertIs(backend, HOST)
            self.assertIn(why, said)

    def test_it_fails_at_the_start(self):
        for required in (True, False):
            _, backend = self.failing_backend(200)
            said = self.lost(
                lambda backend=backend, required=required: make_engine(
                    FORMALDEHYDE, backend, device_required=required, **TIGHT
                )
            )
            self.assertIn("DeviceError: server lost", said)

    def test_it_fails_in_an_update(self):
        """The program has another worker make it; without a server it goes on on the CPU."""
        for served in (True, False):
            xp, backend = self.failing_backend()
            engine, _ = quiet(lambda backend=backend: make_engine(FORMALDEHYDE, backend, **TIGHT))
            xp.fail_after = 40
            if served:
                self.assertIn("server lost", self.lost(lambda engine=engine: update(engine, FORMALDEHYDE)))
                continue
            with unittest.mock.patch.dict(os.environ, {device_choice.OWN_SERVER: ""}):
                quiet(lambda engine=engine: update(engine, FORMALDEHYDE))
            self.assertEqual(engine.device, "CPU")

    def test_memory_that_runs_out_is_no_fault_of_its(self):
        xp = StrictModule()
        engine, _ = quiet(lambda: make_engine(FORMALDEHYDE, strict_backend(xp), **TIGHT))
        xp.fail_after = 40
        quiet(lambda: update(engine, FORMALDEHYDE))
        self.assertEqual(engine.device, "CPU")

    def test_it_hangs(self):
        """The worker is ended by a signal, so the program starts another one; without a server it waits."""
        script = "import time, device_choice\nwith device_choice.time_limit_of_server(1): time.sleep(3)"
        for served, status in (("1", -signal.SIGALRM), ("", 0)):
            environment = {**os.environ, device_choice.OWN_SERVER: served, "PYTHONPATH": ":".join(sys.path)}
            ended = subprocess.run([sys.executable, "-c", script], env=environment, check=False, timeout=60)
            self.assertEqual(ended.returncode, status)
        with device_choice.time_limit_of_server(60):
            pass
        self.assertEqual(signal.alarm(0), 0)


class SeveralTest(unittest.TestCase):
    """Workers take turns at them."""

    def choose(self, workers, number=0):
        backend, told = strict_backend(), []
        backend.devices = 2
        backend.memory_bytes = lambda: (20000 * 2**20, 20000 * 2**20)

        def open_device(which):
            told.append(which)
            return backend, f"number {which}"

        request = {"device": "gpu", "device_workers": workers, "device_number": number}
        device_choice.open_backend(request, "", 100, 1200 * 2**20, open_device)
        return told

    def test_each_is_told_which(self):
        self.assertEqual(self.choose(8, 5), [5])

    def test_room_for_half_of_them_on_each(self):
        self.choose(26)
        with self.assertRaises(WorkerError) as caught:
            self.choose(27)
        self.assertIn("14 of the QM workers find no room", str(caught.exception))


class ChoiceTest(unittest.TestCase):
    @staticmethod
    def nothing(_number):
        raise device_choice.NoDevice("there is none")

    def test_none_there(self):
        for request in ({"device": "auto"}, {"device": "gpu", "device_required": False}):
            (backend, _), said = quiet(
                lambda request=request: device_choice.open_backend(request, "", 100, 1, self.nothing)
            )
            self.assertIs(backend, HOST)
            self.assertIn("there is none", said)
        with self.assertRaises(WorkerError) as caught:
            device_choice.open_backend({"device": "gpu"}, "", 100, 1, self.nothing)
        self.assertEqual(caught.exception.reason, "bad-request")
        self.assertIn("qm.device = gpu, but there is none", str(caught.exception))

    def test_cpu_asks_for_none(self):
        self.assertIs(device_choice.open_backend({"device": "cpu"}, "", 100, 1, self.fail)[0], HOST)

    def test_a_small_solute_stays_on_the_cpu_unless_asked(self):
        functions = device_choice.LEAST_FUNCTIONS - 1
        chosen, _ = quiet(
            lambda: device_choice.open_backend({"device": "auto"}, "", functions, 1, self.fail)
        )
        self.assertEqual(chosen[0], HOST)
        self.assertIn("59 basis functions", chosen[1])
        there = strict_backend()
        for choice, count in (("gpu", functions), ("auto", functions + 1)):
            chosen = device_choice.open_backend(
                {"device": choice}, "", count, 1, lambda _: (there, "a strict one")
            )
            self.assertIs(chosen[0], there)

    def test_unknown(self):
        with self.assertRaises(WorkerError):
            device_choice.open_backend({"device": "fpga"}, "", 100, 1, self.fail)

    def test_what_a_gpu_does_not_serve(self):
        for changed in ({"method": "camb3lyp"}, {"method": "tpss"}, {"method": "hf"}, {"method": "bp86"}):
            with self.subTest(**changed):
                engine, said = quiet(
                    lambda changed=changed: make_engine(
                        FORMALDEHYDE, strict_backend(), basis="sto-3g", **changed
                    )
                )
                self.assertTrue(engine.device.startswith("CPU (qm.method"), engine.device)
                self.assertIn(f"the SCF runs on the CPU: qm.method = {changed['method']}", said)


def gpu_backend():
    try:
        return device_choice._open(0)[0]
    except device_choice.NoDevice as reason:
        raise unittest.SkipTest(str(reason)) from reason


class CupyTest(UpdateTest):
    """The same on a GPU."""

    def setUp(self):
        backend = gpu_backend()
        global strict_backend
        self.addCleanup(globals().__setitem__, "strict_backend", strict_backend)

        def strict_backend():
            return backend


if __name__ == "__main__":
    assert REPOSITORY.exists()
    unittest.main()
