#!/usr/bin/env python3
"""QM worker on PySCF: RKS/UKS (or RHF/UHF) in the potential of the MM charges.

The embedding integrates the potential the program sends over the SCF's own quadrature points, so
any functional form of the potential will do; only the 1/r part of charges near the solute goes by
analytic integrals. Those of all charges are there to check it. Speaks ../protocol.md on standard
input and output.
"""

import functools
import sys

import worker_protocol

CHANNEL = worker_protocol.take_over_stdout()

try:
    import numpy
    import pyscf
    from pyscf import dft, lib, scf
    from pyscf.data import nist
except ImportError as missing:
    CHANNEL.send("error", reason="missing", message=f"{missing} ({sys.executable})")
    sys.exit(1)

import cached_functional
import dispersion
from convergence import Convergence
from embedding import Embedding
from exact_ensemble import Configuration, ExactEnsemble
from fitted_kernel import FittedKernel
from forecast import forecast
from mean_field import (
    build_grid,
    build_mean_field,
    build_molecule,
    choose_mean_field,
    dispersion_energy,
    is_pure_gga,
)
from orbital_response import OrbitalResponse
from point_blocks import PointBlocks
from stopwatch import Stopwatch
from two_level import NotConverged, TwoLevelScf
from worker_protocol import (
    DEBYE_PER_ATOMIC_UNIT,
    HARTREE_IN_KJ_PER_MOL,
    WorkerError,
    bad_request,
    point_extents,
)

FACTOR_BLOCK_BYTES = 2**20  # of the density fitting's three-centre integrals
# The coarse level of two_level.py: it has to know changes to a percent or so.
COARSE_RADIAL, COARSE_ANGULAR = 20, 50
COARSE_SMALLEST_VALUE = 1e-3
# Of the functional's part in the response, of which the energy is a second-order quantity.
KERNEL_RADIAL, KERNEL_ANGULAR = 30, 110


def stream_factors_once(density_fitting):
    """A Coulomb matrix reads each block of the factors twice: small blocks, from the core's cache.

    Not where they lie in a file, which has larger blocks of its own.
    """
    if not isinstance(density_fitting._cderi, numpy.ndarray):
        return
    pairs = density_fitting.mol.nao * (density_fitting.mol.nao + 1) // 2
    density_fitting.blockdim = max(4, FACTOR_BLOCK_BYTES // (8 * pairs))


class PyscfEngine:
    """One molecule, its last density, and the points of both grids (bohr inside).

    orbitals: the occupied ones of the last update, scaled by the root of their occupation.
    """

    def __init__(self, request, positions_angstrom, announce=lambda **_: None):
        """announce(**fields of the message `forecast`): before what may take long begins."""
        if request["embedding"] not in ("quadrature", "analytic"):
            raise bad_request(f"embedding {request['embedding']}: quadrature or analytic")
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
        choose_mean_field(self.molecule, request, self._scf_grid)
        # The solute is rigid: its dispersion energy is as constant as that of its nuclei.
        constant_energy = dispersion_energy(self.molecule, request)
        # What is refused has been refused.
        announce(
            exact=True,
            **forecast(self.basis_functions, self.atom_count, request, is_pure_gga(request)),
        )
        self._analytic = request["embedding"] == "analytic"
        self._cache_bytes = request["memory_mb"] * 2**20 / 4
        self._build_grids(
            density_grid, request["grid_angular"], request["threads"], self._cache_bytes
        )
        self._bare_core = scf.hf.get_hcore(self.molecule)
        self._integrals = Embedding(
            self.molecule, self._points, self._weights, self._scf_blocks
        )
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
        self._convergence = Convergence(self._mean_field, self._two_level(request))
        self._isolated = self._isolate()
        self._held = None  # the start of every update, after hold()
        self.exact = ExactEnsemble(
            self.molecule,
            self._solve_without_grid,
            self._response_equations,
            request["threads"],
        )

    def _build_grids(self, density_grid, angular_points, threads, cache_bytes):
        self._scf_grid.build(with_non0tab=True)
        real = self._scf_grid.atm_idx >= 0  # PySCF pads the grid with points of no weight
        self._points = self._scf_grid.coords[real]
        self._weights = self._scf_grid.weights[real]
        self._scf_blocks = PointBlocks(
            self.molecule, self._points, threads, cache_bytes, gradients=True
        )
        density_grid.radi_method = dft.radi.mura_knowles
        density_grid.prune = None
        density_grid.build()
        real = density_grid.atm_idx >= 0
        self._density_points = density_grid.coords[real]
        self._density_weights = density_grid.weights[real]
        atoms = self.molecule.atom_coords()[density_grid.atm_idx[real]]
        self._density_extents = point_extents(
            numpy.linalg.norm(self._density_points - atoms, axis=1),
            density_grid.quadrature_weights[real],
            angular_points,
        )
        self._density_blocks = PointBlocks(
            self.molecule,
            self._density_points,
            threads,
            cache_bytes,
            precision=numpy.float32,  # what the sampling makes of the charges, too
        )

    def _two_level(self, request):
        """None where PySCF's own SCF has to do: open shells, exact exchange, meta-GGAs, ..."""
        mean_field = self._mean_field
        integrator = getattr(mean_field, "_numint", None)
        closed_shell = request["multiplicity"] == 1
        if integrator is None or not cached_functional.serves(
            integrator, mean_field.xc, closed_shell
        ):
            return None
        functional = cached_functional.CachedFunctional(integrator, self._scf_blocks, self._weights)
        integrator.nr_rks = functional
        if integrator.libxc.is_hybrid_xc(mean_field.xc):
            return None
        coarse_functional = self._coarse_functional(integrator, request["threads"])
        fitted = mean_field if request["density_fitting"] else mean_field.density_fit()
        if fitted is not mean_field:
            fitted.with_df.build()
        stream_factors_once(fitted.with_df)

        def level(coulomb_of, functional):
            def interaction(density_matrix):
                with self._stopwatch.measure("coulomb"):
                    coulomb = coulomb_of.get_j(self.molecule, density_matrix)
                with self._stopwatch.measure("functional"):
                    _, energy, potential = functional(None, None, mean_field.xc, density_matrix)
                energy += 0.5 * float(numpy.vdot(coulomb, density_matrix))
                return energy, coulomb + potential

            return interaction

        coarse = level(fitted, coarse_functional)
        return TwoLevelScf(
            level(mean_field, functional),
            lambda density_matrix: coarse(density_matrix)[1],
            mean_field.get_ovlp(),
            self.expected_electrons // 2,
            self._stopwatch,
        )

    def _coarse_functional(self, integrator, threads):
        points, weights = self._grid_points(COARSE_RADIAL, COARSE_ANGULAR, "coarse grid")
        blocks = PointBlocks(
            self.molecule,
            points,
            threads,
            float("inf"),
            gradients=True,
            precision=numpy.float32,
            smallest_value=COARSE_SMALLEST_VALUE,
        )
        return cached_functional.CachedFunctional(integrator, blocks, weights)

    def _isolate(self):
        """The solute without a solvent; None where its SCF does not converge."""
        try:
            return self._convergence.isolate()
        except Exception as failure:  # noqa: BLE001  whatever it is, the run can do without
            print(
                f"the isolated solute's SCF did not converge ({failure}): no polarisation energy; "
                "the first update starts from a superposition of atoms",
                file=sys.stderr,
                flush=True,
            )
            return None

    def points_angstrom(self):
        return self._points.T * nist.BOHR

    def update(self, potential, nuclear_potential, charges):
        self._stopwatch.reset()
        with self._stopwatch.measure("embedding"):
            configuration = self.configuration(potential, nuclear_potential, charges)
        fields, solution = self._solve(configuration)
        with self._stopwatch.measure("density"):
            density = self._density_blocks.sum_of_squares(solution.orbitals)
        charge = -self._density_weights * density
        fields["electrons_on_grid"] = -float(charge.sum())
        grid = [self._density_points.T * nist.BOHR, charge, self._density_extents * nist.BOHR]
        return {**fields, **self._seconds()}, numpy.vstack(grid)

    def configuration(self, potential, nuclear_potential, charges):
        """The solvent's potential as the SCF takes it."""
        if self._analytic:
            return self._embed_analytically(charges.positions / nist.BOHR, charges.charges)
        return self._embed_by_quadrature(potential, nuclear_potential, charges)

    def hold(self):
        """From now on each update starts from the present density."""
        if self._convergence.delivered() is None:
            raise WorkerError("failure", "hold: there is no density yet")
        self._held = self._convergence.snapshot()

    def _solve(self, configuration):
        """(fields of a result, Converged) of the SCF in a configuration's potential."""
        if self._held is not None:
            self._convergence.go_on_from(self._held)
        self._embedding = configuration.embedding
        self._nuclear_interaction = configuration.nuclear_interaction
        self._core = self._bare_core + self._embedding
        self._repulsion = self._bare_repulsion + self._nuclear_interaction
        previous = self._convergence.delivered()
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
        """(OrbitalResponse, preconditioner) at a converged density."""
        mean_field = self._mean_field
        integrator = getattr(mean_field, "_numint", None)
        kernel, by_pyscf, points = None, False, None
        if integrator is not None:
            by_pyscf = not cached_functional.serves(integrator, mean_field.xc, True)
        if integrator is not None and not by_pyscf:
            points, weights = self._grid_points(KERNEL_RADIAL, KERNEL_ANGULAR, "kernel grid")
            blocks = PointBlocks(
                self.molecule,
                points,
                threads,
                self._cache_bytes,
                gradients=True,
                precision=numpy.float32,
            )
            kernel = cached_functional.CachedKernel(
                integrator, blocks, weights, mean_field.xc, density
            )
        core = self._bare_core + configuration.embedding
        orbitals = OrbitalResponse(mean_field, core, density, kernel, by_pyscf)
        fitted = FittedKernel(orbitals, self.molecule, kernel, points, threads)
        return orbitals, fitted.precondition

    def _grid_points(self, radial, angular, name):
        grid = build_grid(self.molecule, radial, angular, name)
        grid.build(with_non0tab=True)
        real = grid.atm_idx >= 0
        return grid.coords[real], grid.weights[real]

    def _seconds(self):
        parts = {"embedding": 0.0, "scf": 0.0, "density": 0.0, **self._stopwatch.seconds}
        return {f"seconds_{part}": time for part, time in parts.items()}

    def state(self):
        return self._convergence.state()

    def restore(self, state):
        """Ends hold(), too."""
        self._held = None
        self._convergence.restore(state)

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
            fields["isolated_dipole"] = self._dipole_debye(isolated.matrix)
            gain = float(solution.energy - isolated.energy) * HARTREE_IN_KJ_PER_MOL
            fields["polarisation_energy"] = gain - unpolarised
        return fields

    def _embed_by_quadrature(self, potential, nuclear_potential, charges):
        return Configuration(
            self._integrals.by_quadrature(potential, nuclear_potential, charges),
            float(self.molecule.atom_charges() @ nuclear_potential),
        )

    def _embed_analytically(self, positions, charges):
        nuclei = self.molecule.atom_coords()
        distances = numpy.linalg.norm(nuclei[:, None, :] - positions[None, :, :], axis=2)
        return Configuration(
            -self._integrals.coulomb_matrix(positions, charges),
            float(self.molecule.atom_charges() @ (1 / distances) @ charges),
        )

    def _converge(self):
        try:
            return self._convergence.converge()
        except NotConverged as failure:
            raise WorkerError("not-converged", f"the SCF did not converge ({failure})") from failure

    def _dipole_debye(self, density):
        if density.ndim == 3:
            density = density.sum(axis=0)
        nuclear_charges = self.molecule.atom_charges()
        centre = nuclear_charges @ self.molecule.atom_coords() / nuclear_charges.sum()
        with self.molecule.with_common_orig(centre):
            integrals = self.molecule.intor_symmetric("int1e_r", comp=3)
        dipole = -numpy.einsum("xij,ji->x", integrals, density)  # the nuclei's is zero here
        return [float(component) * DEBYE_PER_ATOMIC_UNIT for component in dipole]


if __name__ == "__main__":
    announce = functools.partial(CHANNEL.send, "forecast")
    make_engine = functools.partial(PyscfEngine, announce=announce)
    sys.exit(
        worker_protocol.serve(
            CHANNEL, "pyscf", pyscf.__version__, make_engine, dispersion.LIBRARIES
        )
    )
