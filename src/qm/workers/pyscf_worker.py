#!/usr/bin/env python3
"""QM worker on PySCF: RKS/UKS (or RHF/UHF) in the potential of the MM charges.

The embedding integrates the potential the program sends over the SCF's own quadrature points, so
any functional form of the potential will do; only the 1/r part of charges near the solute goes by
analytic integrals. Those of all charges are there to check it. Speaks ../protocol.md on standard
input and output.
"""

import functools
import sys
import time

import delayed_modules
import worker_protocol

CHANNEL = worker_protocol.take_over_stdout()

try:
    delayed_modules.delay("scipy.optimize")  # of PySCF's extrapolations that nobody asks for
    import numpy
    import pyscf
    from pyscf import dft, lib, scf
    from pyscf.data import nist
except ImportError as missing:
    CHANNEL.send("error", reason="missing", message=f"{missing} ({sys.executable})")
    sys.exit(1)

import device_choice
import dispersion
import response_equations
from array_backend import HOST
from beside import Beside
from exact_ensemble import Configuration, Equations, ExactEnsemble
from fitted_kernel import FittedKernel
from fitting_basis import fitting_basis
from fitting_integrals import fitting_integrals
from forecast import factors_mb, forecast
from mean_field import (
    build_factors,
    build_grid,
    build_mean_field,
    build_molecule,
    choose_mean_field,
    dispersion_energy,
    is_gga,
    is_repeatable,
)
from orbital_response import diagonalised, exchange_of
from solvent_scf import (
    Grids,
    SolventScf,
    coarse_points,
    device_bytes,
    real_points,
    why_not_on_device,
)
from stopwatch import Stopwatch, seconds_of_process
from two_level import NotConverged
from worker_protocol import (
    DEBYE_PER_ATOMIC_UNIT,
    HARTREE_IN_KJ_PER_MOL,
    SolventCharges,
    WorkerError,
    bad_request,
    point_extents,
)

IMPORT_SECONDS = seconds_of_process()
# The density's, where nobody asks for it: its values would take most of the memory.
UNUSED_RADIAL, UNUSED_ANGULAR = 10, 50


class PyscfEngine:
    """One molecule, its last density, and the points of both grids (bohr inside).

    orbitals: the occupied ones of the last update, scaled by the root of their occupation.
    device: where the SCF runs, as it is told to the user.
    """

    def __init__(
        self,
        request,
        positions_angstrom,
        announce=lambda **_: None,
        open_backend=device_choice.open_backend,
    ):
        """announce(**fields of the message `forecast`): before what may take long begins."""
        begun = time.perf_counter()
        if request["embedding"] not in ("quadrature", "analytic"):
            raise bad_request(f"embedding {request['embedding']}: quadrature or analytic")
        if not request.get("grid_needed", True):
            request = {**request, "grid_radial": UNUSED_RADIAL, "grid_angular": UNUSED_ANGULAR}
        lib.num_threads(request["threads"])
        self.molecule = build_molecule(request, positions_angstrom)
        self.atom_count = self.molecule.natm
        self.expected_electrons = int(self.molecule.nelectron)
        self.basis_functions = int(self.molecule.nao)
        self._scf_grid = build_grid(
            self.molecule, request["scf_grid_radial"], request["scf_grid_angular"], "scf grid"
        )
        density_grid = build_grid(
            self.molecule, request["grid_radial"], request["grid_angular"], "density grid"
        )
        mean_field = choose_mean_field(self.molecule, request, self._scf_grid)
        # The solute is rigid: its dispersion energy is as constant as that of its nuclei.
        constant_energy = dispersion_energy(self.molecule, request)
        self._request = request
        self._start = Stopwatch()
        why_not = why_not_on_device(mean_field, request)
        asked = device_choice.asks_for_device(request, why_not, self.basis_functions)
        # A context and a device's libraries take as long as what the host makes meanwhile.
        beside = Beside(request["threads"] if asked else 0)
        with beside:
            grids = beside.begin(self._build_grids, density_grid, request["grid_angular"])
            integrals = beside.begin(self._fitting_integrals, mean_field, beside.stopped)
            with self._start.measure("device"):
                backend, self.device = open_backend(
                    request,
                    why_not,
                    self.basis_functions,
                    device_bytes(self.basis_functions, self.atom_count, request),
                )
            if not backend.on_device:
                beside.stopped.set()
            # What is refused has been refused.
            announce(
                exact=True,
                device=self.device,
                repeatable=is_repeatable(request),
                **forecast(
                    self.basis_functions,
                    self.atom_count,
                    request,
                    is_gga(request),
                    exchange_of(mean_field)[2] != 0,
                ),
            )
            self._device_warning = ""
            self._analytic = request["embedding"] == "analytic"
            self._cache_bytes = request["memory_mb"] * 2**20 / 4
            grids.result()
            self._bare_core = scf.hf.get_hcore(self.molecule)
            self._core = self._bare_core
            self._bare_repulsion = self.molecule.energy_nuc() + constant_energy
            self._repulsion = self._bare_repulsion
            self._embedding = None  # the electrons' matrix in the potential of the MM charges
            self._nuclear_interaction = 0.0  # Hartree
            self._mean_field = build_mean_field(self.molecule, request, self._scf_grid)
            self._mean_field.get_hcore = lambda *_: self._core
            self._mean_field.energy_nuc = lambda *_: self._repulsion
            self.orbitals = None
            self._stopwatch = Stopwatch()
            self._held = None  # the start of every update, after hold()
            self._held_state = self._state_before = numpy.zeros(0)
            self._scf = None
            made = integrals.result() if backend.on_device else None
        if made is None:
            build_factors(self._mean_field)  # before the grids' functions: it takes memory meanwhile
        self._begin_on(backend, made)
        self._say_what_took_how_long(time.perf_counter() - begun)
        self.exact = ExactEnsemble(
            self.molecule,
            functools.partial(self._guarded, self._solve_without_grid),
            self._response_equations,
            self._equations_of_others,
            request["threads"],
            self._guarded,
            lambda: self._scf.backend,
            lambda: self._scf.embedding.attraction,
        )

    def take_device_warning(self):
        """What has kept or driven the SCF off a GPU since the last call; empty: nothing."""
        warning, self._device_warning = self._device_warning, ""
        return warning

    def unmade_mb(self):
        """What it will hold besides, if a response or an SCF on the host needs factors: on a device they are
        not made at the start."""
        fitting = getattr(self._mean_field, "with_df", None)
        if fitting is None or fitting._cderi is not None:
            return 0.0
        return min(float(self._request["memory_mb"]), factors_mb(self.basis_functions))

    def _warn(self, text):
        device_choice.say(f"warning: {text}")
        self._device_warning = text
        self.device = device_choice.CPU

    def _say_what_took_how_long(self, seconds):
        parts = ", ".join(f"{part} {time:.2f}" for part, time in list(self._start.seconds.items()))
        device_choice.say(
            f"ready {seconds:.2f} s after its molecule: {parts}; Python and its imports before: "
            f"{IMPORT_SECONDS:.2f} s"
        )

    def _fitting_integrals(self, mean_field, stopped):
        if stopped.is_set():
            return None
        with self._start.measure("integrals"):
            # The auxiliary functions depend on the functional, too.
            fitted = mean_field.density_fit(auxbasis=fitting_basis(self.molecule))
            return fitting_integrals(fitted.with_df, self._request["memory_mb"], stopped.is_set)

    def _build_grids(self, density_grid, angular_points):
        with self._start.measure("grids"):
            self._make_grids(density_grid, angular_points)

    def _make_grids(self, density_grid, angular_points):
        self._scf_grid.build(with_non0tab=True)
        density_grid.radi_method = dft.radi.mura_knowles
        density_grid.prune = None
        density_grid.build()
        self._grids = Grids(
            *real_points(self._scf_grid), *coarse_points(self.molecule), *real_points(density_grid)
        )
        self._points_angstrom = self._grids.points.T * nist.BOHR
        real = density_grid.atm_idx >= 0
        points = self._grids.density_points
        atoms = self.molecule.atom_coords()[density_grid.atm_idx[real]]
        extents = point_extents(
            numpy.linalg.norm(points - atoms, axis=1),
            density_grid.quadrature_weights[real],
            angular_points,
        )
        # The answers' array `grid`, of which only the charges, its fourth row, ever change: a copy for
        # each would take longer than a GPU takes for the density. Row by row, as it is sent.
        self._density_rows = numpy.ascontiguousarray(
            numpy.vstack([points.T * nist.BOHR, numpy.zeros(len(points)), extents * nist.BOHR])
        )

    def _begin_on(self, backend, integrals):
        """Other workers are told that this one runs on the device: at its start it may not leave it."""
        try:
            self._use(backend, integrals)
            return
        except backend.failures as failure:
            reason = self._reason_of(failure)
            if self._request.get("device_required", True):
                raise bad_request(
                    f"the GPU failed while the QM worker started ({reason}); end what else uses it, take "
                    "fewer chains, or set qm.device = cpu"
                ) from failure
        self._leave_device(backend, reason)

    def _use(self, backend, integrals=None):
        """All that a backend computes is made anew on this one."""
        with self._start.measure("functions on grids"):
            self._scf = SolventScf(
                backend,
                self.molecule,
                self._mean_field,
                self._grids,
                self._request,
                self._stopwatch,
                integrals,
            )
        with self._start.measure("isolated solute"):
            self._isolated = self._isolate()
        if backend.on_device:
            with self._start.measure("kernels"):
                self._warm_up()

    def _warm_up(self):
        """The parts of an update that the isolated solute has no use for: kernels are compiled."""
        points = self._grids.points
        nuclei = self.molecule.atom_coords()
        charges = SolventCharges(nuclei * nist.BOHR + 1.5, numpy.ones(self.atom_count), 1.0)
        self._scf.embedding.by_quadrature(numpy.zeros(len(points)), numpy.zeros(len(nuclei)), charges)
        orbitals = numpy.zeros((self.basis_functions, self.expected_electrons // 2))
        self._scf.charges(orbitals, self._density_rows[3])

    def _leave_device(self, backend, reason):
        """For the CPU, for good."""
        self._warn(f"the GPU failed ({reason}); from here on the SCF runs on the CPU")
        self._scf = None  # and with it what it has on the device
        backend.release()
        self._use(HOST)
        if self._held is not None:
            self._scf.convergence.restore(self._held_state)
            self._held = self._scf.convergence.snapshot()
        self._scf.convergence.restore(self._state_before)

    def _guarded(self, work, *arguments):
        """work(*arguments), once more on the CPU where the device fails."""
        backend = self._scf.backend
        try:
            return work(*arguments)
        except backend.failures as failure:
            reason = self._reason_of(failure)
        self._leave_device(backend, reason)
        return work(*arguments)

    @staticmethod
    def _reason_of(failure):
        """In a text. Raises WorkerError where it may be the MPS server's: it fails with any of its clients,
        and a fresh worker without it finds the GPU again."""
        reason = f"{type(failure).__name__}: {failure}"
        lacks_memory = isinstance(failure, MemoryError)
        if not lacks_memory and (lost := device_choice.server_lost(f"the GPU failed ({reason})")):
            raise lost from failure
        return reason

    def _isolate(self):
        """The solute without a solvent; None where its SCF does not converge."""
        self._core, self._repulsion = self._bare_core, self._bare_repulsion
        try:
            return self._scf.convergence.isolate()
        except self._scf.backend.failures:
            raise
        except Exception as failure:  # noqa: BLE001  whatever it is, the run can do without
            print(
                f"the isolated solute's SCF did not converge ({failure}): no polarisation energy; "
                "the first update starts from a superposition of atoms",
                file=sys.stderr,
                flush=True,
            )
            return None

    def points_angstrom(self):
        return self._points_angstrom

    def coarse_points_angstrom(self):
        return self._grids.coarse_points.T * nist.BOHR

    def update(self, potential, nuclear_potential, charges):
        """(fields, grid); the next update overwrites the grid."""
        return self._guarded(self._update, potential, nuclear_potential, charges)

    def _update(self, potential, nuclear_potential, charges):
        self._stopwatch.reset()
        with self._stopwatch.measure("embedding"):
            configuration = self._configuration(potential, nuclear_potential, charges)
        fields, solution = self._solve(configuration)
        if self._held is not None:
            # Of a fixed reference: nobody takes this one's density.
            return {**fields, **self._seconds()}, None
        charges = self._density_rows[3]
        with self._stopwatch.measure("density"):
            self._scf.charges(solution.orbitals, charges)
        fields["electrons_on_grid"] = -float(charges.sum())
        return {**fields, **self._seconds()}, self._density_rows

    def configuration(self, potential, nuclear_potential, charges, coarse=False):
        """The solvent's potential as the SCF takes it. coarse: it is given at the coarse points."""
        return self._guarded(self._configuration, potential, nuclear_potential, charges, coarse)

    def _configuration(self, potential, nuclear_potential, charges, coarse=False):
        if self._analytic:
            return self._embed_analytically(charges.positions / nist.BOHR, charges.charges)
        if coarse:
            return self._embed_by_coarse_quadrature(potential, nuclear_potential, charges)
        return self._embed_by_quadrature(potential, nuclear_potential, charges)

    def hold(self):
        """From now on each update starts from the present density."""
        if self._scf.convergence.delivered() is None:
            raise WorkerError("failure", "hold: there is no density yet")
        self._held = self._scf.convergence.snapshot()
        self._held_state = self.state()

    def _solve(self, configuration):
        """(fields of a result, Converged) of the SCF in a configuration's potential."""
        convergence = self._scf.convergence
        if self._held is not None:
            convergence.go_on_from(self._held)
        self._state_before = convergence.state()
        self._embedding = configuration.embedding
        self._nuclear_interaction = configuration.nuclear_interaction
        self._core = self._bare_core + self._embedding
        self._repulsion = self._bare_repulsion + self._nuclear_interaction
        previous = convergence.delivered()
        with self._stopwatch.measure("scf"):
            solution = self._converge()
        self.orbitals = solution.orbitals
        return {
            "energy": solution.energy * HARTREE_IN_KJ_PER_MOL,
            "iterations": solution.iterations,
            "attempts": solution.attempts,
            "fallback": solution.fallback,
            "converged": True,
            "dipole": self._dipole_debye(solution.matrix),
            **self._interactions(solution, previous),
        }, solution

    def _solve_without_grid(self, configuration):
        """For ExactEnsemble: the same without a density on the grid, (fields, density matrix)."""
        self._stopwatch.reset()
        fields, solution = self._solve(configuration)
        return {**fields, **self._seconds()}, solution.matrix

    def _response_equations(self, configuration, density, threads):
        """Equations at a converged density, what is long on the SCF's backend."""
        mean_field, backend = self._mean_field, self._scf.backend
        by_pyscf = response_equations.needs_pyscf(mean_field)
        # A device has factors of its own, and those of the host would take longer than all else here.
        without_host = backend.on_device and not by_pyscf and not any(exchange_of(mean_field))
        if not without_host:
            build_factors(mean_field)
        density = numpy.ascontiguousarray(density)
        core = self._bare_core + configuration.embedding
        orbitals = diagonalised(
            mean_field, core, density, self._scf.potential if without_host else None
        )
        begun = time.perf_counter()
        kernel, points = response_equations.make_kernel(
            mean_field, density, self._cache_bytes, backend
        )
        response = response_equations.make_response(
            mean_field, orbitals, kernel, self._scf.coulomb if backend.on_device else None
        )
        seconds = time.perf_counter() - begun
        fitted = FittedKernel(response, self.molecule, kernel, points, threads)
        shared = None if backend.on_device else response_equations.pack(orbitals, density)
        return Equations(response, fitted.precondition, shared, seconds)

    def _equations_of_others(self, numbers):
        """OrbitalResponse of what Equations share."""
        spins = 1 if self._request["multiplicity"] == 1 else 2
        return response_equations.take_over(
            numbers, self._mean_field, spins, self._cache_bytes, HOST
        )

    def _seconds(self):
        parts = {"embedding": 0.0, "scf": 0.0, "density": 0.0, **self._stopwatch.seconds}
        return {f"seconds_{part}": time for part, time in parts.items()}

    def state(self):
        return self._scf.convergence.state()

    def restore(self, state):
        """Ends hold(), too."""
        self._held = None
        self._state_before = state
        self._guarded(lambda: self._scf.convergence.restore(state))

    def _interactions(self, solution, previous):
        """Of this, the previous and the isolated density with this potential: kJ/mol, one matrix
        for all, so that no difference of two quadratures is among them."""

        def with_electrons(orbitals):
            half = self._embedding @ orbitals
            return float(numpy.vdot(orbitals, half)) * HARTREE_IN_KJ_PER_MOL

        nuclei = self._nuclear_interaction * HARTREE_IN_KJ_PER_MOL
        fields = {
            "interaction_electrons": with_electrons(solution.orbitals),
            "interaction_nuclei": nuclei,
        }
        if previous is not None:
            fields["previous_interaction"] = with_electrons(previous) + nuclei
        if self._isolated is not None:
            isolated = self._isolated
            unpolarised = with_electrons(isolated.orbitals) + nuclei
            fields["isolated_energy"] = isolated.energy * HARTREE_IN_KJ_PER_MOL
            fields["isolated_dipole"] = self._isolated_dipole
            gain = float(solution.energy - isolated.energy) * HARTREE_IN_KJ_PER_MOL
            fields["polarisation_energy"] = gain - unpolarised
        return fields

    def _embed_by_quadrature(self, *solvent):
        return self._embed_by(self._scf.embedding, *solvent)

    def _embed_by_coarse_quadrature(self, *solvent):
        return self._embed_by(self._scf.coarse_embedding, *solvent)

    def _embed_by(self, embedding, potential, nuclear_potential, charges):
        return Configuration(
            embedding.by_quadrature(potential, nuclear_potential, charges),
            float(self.molecule.atom_charges() @ nuclear_potential),
        )

    def _embed_analytically(self, positions, charges):
        nuclei = self.molecule.atom_coords()
        distances = numpy.linalg.norm(nuclei[:, None, :] - positions[None, :, :], axis=2)
        return Configuration(
            -self._scf.embedding.coulomb_matrix(positions, charges),
            float(self.molecule.atom_charges() @ (1 / distances) @ charges),
        )

    def _converge(self):
        try:
            return self._scf.convergence.converge()
        except NotConverged as failure:
            raise WorkerError("not-converged", f"the SCF did not converge ({failure})") from failure

    @functools.cached_property
    def _isolated_dipole(self):
        return self._dipole_debye(self._isolated.matrix)

    @functools.cached_property
    def _dipole_integrals(self):
        """About the centre of nuclear charge."""
        nuclear_charges = self.molecule.atom_charges()
        centre = nuclear_charges @ self.molecule.atom_coords() / nuclear_charges.sum()
        with self.molecule.with_common_orig(centre):
            return self.molecule.intor_symmetric("int1e_r", comp=3)

    def _dipole_debye(self, density):
        if density.ndim == 3:
            density = density.sum(axis=0)
        # The nuclei's is zero here.
        dipole = -numpy.einsum("xij,ji->x", self._dipole_integrals, density)
        return [float(component) * DEBYE_PER_ATOMIC_UNIT for component in dipole]


if __name__ == "__main__":
    announce = functools.partial(CHANNEL.send, "forecast")
    make_engine = functools.partial(PyscfEngine, announce=announce)
    sys.exit(
        worker_protocol.serve(
            CHANNEL, "pyscf", pyscf.__version__, make_engine, dispersion.LIBRARIES
        )
    )
