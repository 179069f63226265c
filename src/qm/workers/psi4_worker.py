#!/usr/bin/python3
"""QM worker on Psi4 (1.3.2, as Debian packages it): RKS in the potential of the MM charges.

Closed shells, LDA and GGA functionals and their hybrids, density fitting always. Speaks
../protocol.md on standard input and output. The SCF object is kept and driven by hand: Psi4's own
energy() would rebuild the integrals for every update.
"""

import os
import sys
import time

import worker_protocol

CHANNEL = worker_protocol.take_over_stdout()
os.chdir(os.environ.get("TMPDIR", "/tmp"))  # Psi4 leaves timer.dat where it stands
sys.path.insert(0, "/usr/lib/x86_64-linux-gnu")  # where Debian keeps the module

try:
    import numpy
    import psi4
except ImportError as missing:
    CHANNEL.send("error", reason="missing", message=f"{missing} ({sys.executable})")
    sys.exit(1)

import method_names
from near_charges import NearCharges
from worker_protocol import (
    DEBYE_PER_ATOMIC_UNIT,
    HARTREE_IN_KJ_PER_MOL,
    WorkerError,
    bad_request,
)

CORE = psi4.core
BOHR = psi4.constants.bohr2angstroms
DENSITY_BLOCK_POINTS = 200
VERSION = "1.3."  # any patch of it


def grid_options(radial, angular, scheme, pruning):
    return {
        "dft_radial_points": radial,
        "dft_spherical_points": angular,
        "dft_radial_scheme": scheme,
        "dft_pruning_scheme": pruning,
    }


def check_version():
    """A later Psi4 would take what is given in angstrom for bohr without a word (charges, from 1.6 on), and
    keeps its DIIS elsewhere."""
    if not psi4.__version__.startswith(VERSION):
        raise bad_request(
            f"qm.engine = psi4: found Psi4 {psi4.__version__} ({sys.executable}), which the worker does not "
            f"know: {VERSION}x is needed. Let qm.python be one that has it (Debian and Ubuntu: apt install "
            "psi4, qm.python = /usr/bin/python3), or write qm.engine = pyscf"
        )


def check_request(request):
    if request["multiplicity"] != 1:
        raise bad_request("the Psi4 worker does closed shells only: qm.multiplicity 1")
    if not request["density_fitting"]:
        raise bad_request("the Psi4 worker always uses density fitting: qm.density-fitting true")
    if request.get("device") == "gpu":
        raise bad_request("the Psi4 worker runs on the CPU: qm.device auto or cpu, or qm.engine pyscf")
    if method_names.split(request["method"])[1]:
        raise bad_request(
            f"qm.method = {request['method']}: the Psi4 worker has no dispersion corrections; take "
            "the functional alone, or qm.engine pyscf"
        )
    if request["method"].lower() in ("hf", "scf"):
        raise bad_request("the Psi4 worker needs a density functional: qm.method pbe, b3lyp, ...")
    if request["embedding"] not in ("quadrature", "analytic"):
        raise bad_request(f"embedding {request['embedding']}: quadrature or analytic")


def build_molecule(request, positions_angstrom):
    lines = [f"{request['charge']} 1"]
    for element, position in zip(request["elements"], positions_angstrom):
        lines.append(f"{element} " + " ".join(f"{x:.15f}" for x in position))
    lines += ["units angstrom", "no_reorient", "no_com", "symmetry c1"]
    molecule = psi4.geometry("\n".join(lines))
    electrons = sum(int(molecule.Z(i)) for i in range(molecule.natom())) - request["charge"]
    if electrons <= 0 or electrons % 2:
        raise bad_request(f"{electrons} electrons are not a closed shell: check qm.charge")
    return molecule, electrons


class Psi4Engine:
    """One wave function, driven by hand, and the points of both grids (bohr inside)."""

    def __init__(self, request, positions_angstrom):
        check_version()
        check_request(request)
        psi4.set_num_threads(request["threads"])
        psi4.set_memory(f"{request['memory_mb']} MB")
        CORE.set_output_file("/dev/stderr", True)
        self._molecule, self.expected_electrons = build_molecule(request, positions_angstrom)
        self.atom_count = self._molecule.natom()
        self._analytic = request["embedding"] == "analytic"
        self._set_options(request)
        self._wavefunction = self._build_wavefunction(request)
        self._basis = self._wavefunction.basisset()
        self.basis_functions = self._basis.nbf()
        self._bare_core = self._wavefunction.H().clone()
        self._nuclear_charges = numpy.array([self._molecule.Z(i) for i in range(self.atom_count)])
        self._positions = numpy.array(self._molecule.geometry().np)
        x, y, z, weights = self._wavefunction.V_potential().get_np_xyzw()
        self._points = numpy.vstack([x, y, z])
        self._weights = numpy.array(weights)
        self._grid = self._build_density_grid(request["grid_radial"], request["grid_angular"])
        self._density_properties, self._density_potential = self._build_density_properties()
        self._extents = CORE.BasisExtents(
            self._basis, CORE.get_option("SCF", "DFT_BASIS_TOLERANCE")
        )
        self._warm = False

    def _set_options(self, request):
        convergence = request["energy_convergence_hartree"]
        psi4.set_options(
            {
                "basis": request["basis"],
                "scf_type": "df",
                "reference": "rks",
                "e_convergence": convergence,
                "d_convergence": max(1e-8, 10 * convergence),
                "maxiter": request["max_iterations"],
                "dft_radial_points": request["scf_grid_radial"],
                "dft_spherical_points": request["scf_grid_angular"],
            }
        )

    def _build_wavefunction(self, request):
        try:
            CORE.prepare_options_for_module("SCF")
            base = CORE.Wavefunction.build(self._molecule, CORE.get_global_option("BASIS"))
            CORE.set_global_option("GUESS", "SAD")
            CORE.set_local_option("SCF", "GUESS", "SAD")
            wavefunction = psi4.driver.scf_wavefunction_factory(request["method"], base, "RKS")
        except Exception as error:
            raise bad_request(
                f"Psi4 cannot use method {request['method']} with basis {request['basis']}: {error}"
            ) from error
        wavefunction.initialize()
        return wavefunction

    def _foreign_potential(self, options):
        """A second DFT integrator; Psi4 1.3.2 crashes when asked for the grid alone."""
        names = [name.upper() for name in options]
        before = {name: CORE.get_option("SCF", name) for name in names}
        psi4.set_options(options)
        potential = CORE.VBase.build(self._basis, self._wavefunction.functional(), "RV")
        potential.initialize()
        psi4.set_options(before)
        return potential

    def _point_extents(self):
        """Of the weights' own volumes: Psi4 does not give those of the cells."""
        return 2 * (3 * numpy.abs(self._grid[3]) / (4 * numpy.pi)) ** (1 / 3)

    def _build_density_grid(self, radial, angular):
        potential = self._foreign_potential(grid_options(radial, angular, "MURA", "FLAT"))
        grid = numpy.vstack([numpy.array(row) for row in potential.get_np_xyzw()])
        potential.finalize()
        return grid

    def _build_density_properties(self):
        """Buffers for all basis functions: the SCF grid's own fit its own blocks only, and Psi4
        writes past their end when given a larger one."""
        options = {
            **grid_options(20, 26, "TREUTLER", "FLAT"),
            "dft_block_scheme": "NAIVE",
            "dft_block_max_points": 1000,
            "dft_block_min_points": 900,
        }
        potential = self._foreign_potential(options)
        return potential.properties()[0], potential

    def points_angstrom(self):
        return self._points * BOHR

    def update(self, potential, nuclear_potential, charges):
        start = time.perf_counter()
        if self._analytic:
            matrix, nuclear = self._embed_analytically(charges.positions, charges.charges)
        else:
            matrix = self._embed_by_quadrature(potential, nuclear_potential, charges)
            nuclear = float(self._nuclear_charges @ nuclear_potential)
        core = self._wavefunction.H()
        core.copy(self._bare_core)
        core.add(matrix)
        embedded = time.perf_counter()
        iterations, attempts = self._converge()
        converged = time.perf_counter()
        charge = -self._grid[3] * self._density()
        fields = {
            "energy": (self._electronic_energy() + nuclear) * HARTREE_IN_KJ_PER_MOL,
            "electrons_on_grid": -float(charge.sum()),
            "iterations": iterations,
            "attempts": attempts,
            "converged": True,
            "dipole": self._dipole_debye(),
            "seconds_embedding": embedded - start,
            "seconds_scf": converged - embedded,
            "seconds_density": time.perf_counter() - converged,
        }
        extents = self._point_extents() * BOHR
        return fields, numpy.vstack([self._grid[:3] * BOHR, charge, extents])

    def _electronic_energy(self):
        """With the repulsion among the nuclei, which may have been left out of the total."""
        wavefunction = self._wavefunction
        repulsion = self._molecule.nuclear_repulsion_energy()
        return (
            wavefunction.get_energies("Total Energy")
            - wavefunction.get_energies("Nuclear")
            + repulsion
        )

    def _embed_by_quadrature(self, potential, nuclear_potential, charges):
        """As the PySCF worker does: 1/r of near charges and a constant not by quadrature."""
        nuclei = self._positions * BOHR
        near = NearCharges.among(charges, nuclei)
        at_points = near.inverse_distances(self._points.T * BOHR) * BOHR
        at_nuclei = near.inverse_distances(nuclei) * BOHR
        mean = float((nuclear_potential - at_nuclei).mean())
        matrix = self._integrate(-self._weights * (potential - at_points - mean))
        constant = self._wavefunction.S().clone()
        constant.scale(-mean)
        matrix.add(constant)
        if len(near.strengths):
            matrix.add(self._coulomb_matrix(near.positions, near.strengths))
        return matrix

    def _coulomb_matrix(self, positions, charges):
        external = CORE.ExternalPotential()
        for charge, position in zip(charges, positions):
            # Psi4 1.3 takes the molecule's units, here angstrom: see check_version().
            external.addCharge(float(charge), *(float(x) for x in position))
        return external.computePotentialMatrix(self._basis)

    def _embed_analytically(self, positions, charges):
        distances = numpy.linalg.norm(self._positions[:, None] - positions[None] / BOHR, axis=2)
        nuclear = float(self._nuclear_charges @ (1 / distances) @ charges)
        return self._coulomb_matrix(positions, charges), nuclear

    def _integrate(self, weighted):
        potential = self._wavefunction.V_potential()
        functions = potential.properties()[0]
        matrix = numpy.zeros((self.basis_functions, self.basis_functions))
        first = 0
        for number in range(potential.nblocks()):
            block = potential.get_block(number)
            count = block.npoints()
            local = numpy.array(block.functions_local_to_global())
            functions.compute_functions(block)
            values = functions.basis_values()["PHI"].np[:count, : len(local)]
            some = weighted[first : first + count, None]
            matrix[numpy.ix_(local, local)] += values.T @ (values * some)
            first += count
        return CORE.Matrix.from_array(matrix)

    def _iterate(self):
        """Returns (converged, iterations)."""
        wavefunction = self._wavefunction
        if self._warm:  # a SAD guess counts from -1, which makes Psi4 reset its occupations
            wavefunction.iteration_ = 0
        self._warm = True
        if wavefunction.initialized_diis_manager_:
            wavefunction.diis_manager().reset_subspace()
        try:
            wavefunction.iterations()
        except psi4.driver.SCFConvergenceError:
            return False, wavefunction.iteration_
        return True, wavefunction.iteration_

    def _converge(self):
        converged, iterations = self._iterate()
        attempts = 1
        if not converged:
            attempts = 2
            psi4.set_options({"damping_percentage": 40})
            self._wavefunction.iteration_ = -1
            self._wavefunction.guess()
            self._warm = False
            _, damped = self._iterate()
            psi4.set_options({"damping_percentage": 0})
            converged, more = self._iterate()
            iterations += damped + more
        if not converged:
            raise WorkerError(
                "not-converged",
                f"the SCF did not converge in two attempts ({iterations} iterations in all)",
            )
        return int(iterations), attempts

    def _density(self):
        """Points are bisected along their longest axis into compact blocks: Psi4 screens by block."""
        points, functions = self._grid[:3].T, self._density_properties
        functions.set_pointers(self._wavefunction.Da())
        density = numpy.zeros(len(points))
        most_points = min(DENSITY_BLOCK_POINTS, functions.max_points())
        stack = [numpy.arange(len(points))]
        while stack:
            some = stack.pop()
            if len(some) <= most_points and self._fill(density, points, some):
                continue
            if len(some) == 1:
                raise WorkerError("failure", "Psi4's buffers are too small for the density")
            axis = numpy.argmax(numpy.ptp(points[some], axis=0))
            half = len(some) // 2
            order = numpy.argpartition(points[some, axis], half)
            stack += [some[order[:half]], some[order[half:]]]
        return density

    def _fill(self, density, points, some):
        """False where the block has more functions than the buffers hold."""
        functions = self._density_properties
        columns = [
            CORE.Vector.from_array(numpy.ascontiguousarray(points[some, axis])) for axis in range(3)
        ]
        ones = CORE.Vector.from_array(numpy.ones(len(some)))
        block = CORE.BlockOPoints(*columns, ones, self._extents)
        count = len(block.functions_local_to_global())
        if count > functions.max_functions():
            return False
        if count:
            functions.compute_points(block, True)
            density[some] = functions.point_values()["RHO_A"].np[: len(some)]
        return True

    def _dipole_debye(self):
        nuclear_charges = self._nuclear_charges
        centre = nuclear_charges @ self._positions / nuclear_charges.sum()
        integrals = psi4.core.MintsHelper(self._basis).ao_dipole()  # -r: electrons' sign included
        density = 2 * self._wavefunction.Da().np
        electrons = numpy.array([(component.np * density).sum() for component in integrals])
        dipole = electrons + self.expected_electrons * centre
        return [float(component) * DEBYE_PER_ATOMIC_UNIT for component in dipole]


if __name__ == "__main__":
    sys.exit(worker_protocol.serve(CHANNEL, "psi4", psi4.__version__, Psi4Engine))
