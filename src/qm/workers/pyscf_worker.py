#!/usr/bin/env python3
"""QM worker on PySCF: RKS/UKS (or RHF/UHF) in the potential of the MM charges.

The embedding integrates the potential the program sends over the SCF's own quadrature points, so
any functional form of the potential will do; analytic integrals over point charges are there to
check it. Speaks ../protocol.md on standard input and output.
"""

import sys
import time

import worker_protocol

CHANNEL = worker_protocol.take_over_stdout()

try:
    import numpy
    import pyscf
    from pyscf import dft, gto, lib, scf
    from pyscf.data import nist
except ImportError as missing:
    CHANNEL.send("error", reason="missing", message=f"{missing} ({sys.executable})")
    sys.exit(1)

import cached_functional
from point_blocks import PointBlocks
from worker_protocol import (
    DEBYE_PER_ATOMIC_UNIT,
    HARTREE_IN_KJ_PER_MOL,
    WorkerError,
    bad_request,
)

ANALYTIC_CHUNK_BYTES = 200e6


def build_molecule(request, positions_angstrom):
    """Checks here give the user a sentence where PySCF would give a traceback or nonsense."""
    basis, charge = request["basis"], request["charge"]
    for element in sorted(set(request["elements"])):
        try:
            core_potential = gto.basis.load_ecp(basis, element)
        except (KeyError, RuntimeError):  # most basis sets have no core potentials at all
            core_potential = None
        if core_potential:
            raise bad_request(
                f"basis {basis} needs an effective core potential for {element}, which is not "
                "supported: use an all-electron basis"
            )
    molecule = gto.Mole()
    molecule.atom = list(zip(request["elements"], positions_angstrom / nist.BOHR, strict=True))
    molecule.unit = "Bohr"
    molecule.charge = charge
    molecule.spin = request["multiplicity"] - 1
    molecule.basis = basis
    molecule.symmetry = False
    molecule.max_memory = request["memory_mb"]
    molecule.stdout = sys.stderr
    molecule.verbose = lib.logger.INFO
    try:
        molecule.build(dump_input=False, parse_arg=False)
    except Exception as error:
        raise bad_request(
            f"elements, charge {charge}, multiplicity {request['multiplicity']} and basis {basis} "
            f"do not make a molecule: {error}"
        ) from error
    return molecule


def build_grid(molecule, radial, angular, name):
    """Not built yet: PySCF's own pruned scheme unless the caller changes it."""
    if angular not in lebedev_sizes():
        raise bad_request(
            f"{name}: no Lebedev grid of {angular} points; take one of "
            f"{', '.join(str(count) for count in lebedev_sizes())}"
        )
    if radial < 1:
        raise bad_request(f"{name}: {radial} radial shells; at least 1 is needed")
    grid = dft.gen_grid.Grids(molecule)
    grid.atom_grid = (radial, angular)
    return grid


def lebedev_sizes():
    return sorted(count for count in dft.gen_grid.LEBEDEV_NGRID if count > 1)


def build_mean_field(molecule, request, grid):
    closed_shell = request["multiplicity"] == 1
    if request["method"].lower() == "hf":
        mean_field = scf.RHF(molecule) if closed_shell else scf.UHF(molecule)
    else:
        mean_field = dft.RKS(molecule) if closed_shell else dft.UKS(molecule)
        mean_field.xc = request["method"]
        try:
            mean_field._numint._xc_type(mean_field.xc)
        except Exception as error:
            raise bad_request(
                f"PySCF does not know the functional {mean_field.xc}: {error}"
            ) from error
        mean_field.grids = grid
        mean_field.small_rho_cutoff = 0  # the points the program knows must stay
    if request["density_fitting"]:
        mean_field = mean_field.density_fit()
        # Without this a pure functional's J is made from integrals computed anew in every iteration.
        mean_field.with_df.build()
    mean_field.conv_tol = request["energy_convergence_hartree"]
    mean_field.max_cycle = request["max_iterations"]
    mean_field.chkfile = None
    return mean_field


class PyscfEngine:
    """One molecule, its last density matrix, and the points of both grids (bohr inside)."""

    def __init__(self, request, positions_angstrom):
        if request["embedding"] not in ("quadrature", "analytic"):
            raise bad_request(f"embedding {request['embedding']}: quadrature or analytic")
        lib.num_threads(request["threads"])
        self.molecule = build_molecule(request, positions_angstrom)
        self.atom_count = self.molecule.natm
        self.expected_electrons = int(self.molecule.nelectron)
        self.basis_functions = int(self.molecule.nao)
        self._analytic = request["embedding"] == "analytic"
        cache_bytes = request["memory_mb"] * 2**20 / 4
        self._build_grids(request, request["threads"], cache_bytes)
        self._bare_core = scf.hf.get_hcore(self.molecule)
        self._core = self._bare_core
        self._bare_repulsion = self.molecule.energy_nuc()
        self._repulsion = self._bare_repulsion
        self._mean_field = build_mean_field(self.molecule, request, self._scf_grid)
        self._speed_up_functional(request)
        self._mean_field.get_hcore = lambda *_: self._core
        self._mean_field.energy_nuc = lambda *_: self._repulsion
        self._density_matrix = None

    def _build_grids(self, request, threads, cache_bytes):
        self._scf_grid = build_grid(
            self.molecule, request["scf_grid_radial"], request["scf_grid_angular"], "scf grid"
        )
        self._scf_grid.build(with_non0tab=True)
        real = self._scf_grid.atm_idx >= 0  # PySCF pads the grid with points of no weight
        self._points = self._scf_grid.coords[real]
        self._weights = self._scf_grid.weights[real]
        self._scf_blocks = PointBlocks(
            self.molecule, self._points, threads, cache_bytes, gradients=True
        )
        density_grid = build_grid(
            self.molecule, request["grid_radial"], request["grid_angular"], "density grid"
        )
        density_grid.radi_method = dft.radi.mura_knowles
        density_grid.prune = None
        density_grid.build()
        real = density_grid.atm_idx >= 0
        self._density_points = density_grid.coords[real]
        self._density_weights = density_grid.weights[real]
        self._density_blocks = PointBlocks(
            self.molecule, self._density_points, threads, cache_bytes
        )

    def _speed_up_functional(self, request):
        integrator = getattr(self._mean_field, "_numint", None)
        closed_shell = request["multiplicity"] == 1
        if integrator is None or not cached_functional.serves(
            integrator, self._mean_field.xc, closed_shell
        ):
            return
        integrator.nr_rks = cached_functional.CachedFunctional(
            integrator, self._scf_blocks, self._weights
        )

    def points_angstrom(self):
        return self._points.T * nist.BOHR

    def update(self, potential, nuclear_potential, charge_positions, charges):
        start = time.perf_counter()
        if self._analytic:
            self._embed_analytically(charge_positions / nist.BOHR, charges)
        else:
            self._core = self._bare_core + self._scf_blocks.integrate(-self._weights * potential)
            self._repulsion = self._bare_repulsion + float(
                self.molecule.atom_charges() @ nuclear_potential
            )
        embedded = time.perf_counter()
        iterations, attempts = self._converge()
        converged = time.perf_counter()
        charge = -self._density_weights * self._density()
        fields = {
            "energy": float(self._mean_field.e_tot) * HARTREE_IN_KJ_PER_MOL,
            "electrons_on_grid": -float(charge.sum()),
            "iterations": iterations,
            "attempts": attempts,
            "converged": True,
            "dipole": self._dipole_debye(),
            "seconds_embedding": embedded - start,
            "seconds_scf": converged - embedded,
            "seconds_density": time.perf_counter() - converged,
        }
        return fields, numpy.vstack([self._density_points.T * nist.BOHR, charge])

    def _embed_analytically(self, positions, charges):
        """Plain Coulomb, in chunks: all three-centre integrals at once would take gigabytes."""
        core = self._bare_core.copy()
        chunk = max(1, int(ANALYTIC_CHUNK_BYTES / 8 / self.basis_functions**2))
        for first in range(0, len(charges), chunk):
            some = slice(first, first + chunk)
            integrals = self.molecule.intor("int1e_grids", hermi=1, grids=positions[some])
            core -= numpy.einsum("kpq,k->pq", integrals, charges[some])
        self._core = core
        nuclei = self.molecule.atom_coords()
        distances = numpy.linalg.norm(nuclei[:, None, :] - positions[None, :, :], axis=2)
        self._repulsion = self._bare_repulsion + float(
            self.molecule.atom_charges() @ (1 / distances) @ charges
        )

    def _converge(self):
        """Returns (iterations, attempts); the fallback is described in protocol.md."""
        mean_field = self._mean_field
        mean_field.kernel(dm0=self._density_matrix)
        iterations, attempts = mean_field.cycles, 1
        if not mean_field.converged:
            print(
                "no convergence; again from a fresh guess with level shift and damping",
                file=sys.stderr,
                flush=True,
            )
            attempts = 2
            mean_field.level_shift, mean_field.damp = 0.3, 0.4
            mean_field.kernel(dm0=None)
            iterations += mean_field.cycles
            guess = mean_field.make_rdm1()
            mean_field.level_shift, mean_field.damp = 0, 0
            mean_field.kernel(dm0=guess)
            iterations += mean_field.cycles
        if not mean_field.converged:
            self._density_matrix = None
            raise WorkerError(
                "not-converged",
                f"the SCF did not converge in two attempts of {mean_field.max_cycle} iterations "
                f"(last energy {mean_field.e_tot:.9f} Hartree)",
            )
        self._density_matrix = mean_field.make_rdm1()
        return int(iterations), attempts

    def _density(self):
        orbitals, occupations = self._mean_field.mo_coeff, self._mean_field.mo_occ
        if numpy.ndim(occupations) == 2:  # unrestricted: both spins' orbitals side by side
            orbitals, occupations = numpy.hstack(orbitals), numpy.hstack(occupations)
        occupied = occupations > 0
        scaled = orbitals[:, occupied] * numpy.sqrt(occupations[occupied])
        return self._density_blocks.sum_of_squares(scaled)

    def _dipole_debye(self):
        density = numpy.asarray(self._density_matrix)
        if density.ndim == 3:
            density = density.sum(axis=0)
        nuclear_charges = self.molecule.atom_charges()
        centre = nuclear_charges @ self.molecule.atom_coords() / nuclear_charges.sum()
        with self.molecule.with_common_orig(centre):
            integrals = self.molecule.intor_symmetric("int1e_r", comp=3)
        dipole = -numpy.einsum("xij,ji->x", integrals, density)  # the nuclei's is zero here
        return [float(component) * DEBYE_PER_ATOMIC_UNIT for component in dipole]


if __name__ == "__main__":
    sys.exit(worker_protocol.serve(CHANNEL, "pyscf", pyscf.__version__, PyscfEngine))
