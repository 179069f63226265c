"""The level of theory of a path: energy, gradient and Hessian of a geometry by PySCF or, on a GPU, GPU4PySCF.

Atomic units inside. Names of methods and basis sets are judged as the QM worker judges them.
"""

import sys

import dispersion
import method_names
import numpy
import pyscf
from basis_check import check_basis
from errors import FAILURE, INPUT_ERROR, PathError
from fitting_basis import fitting_basis
from pyscf import dft, gto, lib, scf
from pyscf.data import nist, radii
from pyscf.solvent import smd
from worker_protocol import WorkerError

PERMITTIVITY_COLUMN = 5  # of the SMD's table of solvents
ENERGY_CONVERGENCE = 1e-10  # Hartree; gradients then have some 1e-6
DISPERSION_STEP = 1e-3  # bohr, of the numerical Hessian of the dispersion energy


class NotConverged(Exception):
    """An SCF that found no solution."""


class Level:
    """What PySCF computes for one molecule at any geometry, each from the density of the last.

    gpu_program: what find_gpu_program() says.
    """

    def __init__(self, request, elements, gpu_program=None):
        self._request = request
        self._on_gpu = gpu_program is not None
        self.program = ", ".join(filter(None, [f"PySCF {pyscf.__version__}", gpu_program]))
        self.elements = elements
        self._density = None
        try:
            self._functional, self._correction = method_names.split(request.method)
            check_basis(request.basis, elements)
        except WorkerError as error:
            raise refused(error) from error
        self.permittivity = permittivity(request.solvent)
        molecule = self._molecule(numpy.arange(3 * len(elements)).reshape(-1, 3) * 2.0)
        self.masses = molecule.atom_mass_list(isotope_avg=True)
        self.radii_bohr = radii.COVALENT[molecule.atom_charges()]
        self._numbers = molecule.atom_charges()
        self._mean_field(molecule)

    def describe(self):
        """One line, as comments and the record have it."""
        text = f"{self._request.method}/{self._request.basis}"
        if self._request.density_fitting:
            text += ", density fitting"
        if self.permittivity is not None:
            text += f", C-PCM with permittivity {self.permittivity:g}"
        return text

    def energy(self, positions):
        return self._solve(positions).e_tot + self._dispersion(positions)[0]

    def gradient(self, positions):
        """(energy, gradient (atoms, 3))."""
        solved = self._solve(positions)
        energy, gradient = self._dispersion(positions)
        return solved.e_tot + energy, on_host(solved.nuc_grad_method().kernel()) + gradient

    def hessian(self, positions):
        """(3 atoms, 3 atoms)."""
        size = 3 * len(self.elements)
        try:
            hessian = on_host(self._solve(positions).Hessian().kernel())
        except NotImplementedError as missing:
            raise self._no_hessian(f"its Hessian is not to be had: {missing}", FAILURE) from missing
        hessian = hessian.transpose(0, 2, 1, 3).reshape(size, size)
        if self._correction:
            for k in range(size):
                step = numpy.zeros(size)
                step[k] = DISPERSION_STEP
                above, below = (
                    self._dispersion(positions + sign * step.reshape(-1, 3))[1].ravel()
                    for sign in (1, -1)
                )
                hessian[k] += (above - below) / (2 * DISPERSION_STEP)
        return (hessian + hessian.T) / 2

    def forget_density(self):
        """The next SCF begins afresh."""
        self._density = None

    def _molecule(self, positions):
        request = self._request
        molecule = gto.Mole()
        molecule.atom = list(zip(self.elements, positions, strict=True))
        molecule.unit = "Bohr"
        molecule.charge, molecule.spin = request.charge, request.multiplicity - 1
        molecule.basis = request.basis
        molecule.symmetry = False
        molecule.verbose = 0
        electrons = sum(gto.charge(element) for element in self.elements) - request.charge
        if electrons < max(1, molecule.spin) or (electrons - molecule.spin) % 2:
            fits = "odd" if electrons % 2 == 0 else "even"
            raise PathError(
                f"--charge {request.charge}, --multiplicity {request.multiplicity}",
                f"do not fit each other: they leave {electrons} electrons",
                f"with these the multiplicity is {fits}; correct one of the two",
            )
        try:
            return molecule.build(dump_input=False, parse_arg=False)
        except Exception as error:
            raise PathError(
                f"--basis {request.basis}",
                f"PySCF makes no molecule with it: {error}",
                "take a basis that has all elements of the molecule, such as def2-svp",
            ) from error

    def _mean_field(self, molecule):
        closed = self._request.multiplicity == 1
        if self._functional == "hf":
            field = scf.RHF(molecule) if closed else scf.UHF(molecule)
        else:
            field = dft.RKS(molecule) if closed else dft.UKS(molecule)
            field.xc = self._functional
            self._check_functional(field)
        if self._request.density_fitting:
            field = field.density_fit(auxbasis=fitting_basis(molecule))
        if self.permittivity is not None:
            field = field.PCM()
            field.with_solvent.method = "C-PCM"
            field.with_solvent.eps = self.permittivity
        field.conv_tol = ENERGY_CONVERGENCE
        field.max_cycle = self._request.max_iterations
        field.chkfile = None
        return field.to_gpu() if self._on_gpu else field

    def _check_functional(self, field):
        try:
            field._numint._xc_type(self._functional)
            method_names.check_functional(
                self._request.method, self._functional, field._numint.libxc
            )
        except WorkerError as error:
            raise refused(error) from error
        except Exception as error:
            raise PathError(
                f"--method {self._request.method}",
                f"PySCF does not know the functional: {error}",
                "take one that it knows, such as pbe, b3lyp or pbe0, or hf",
            ) from error
        if field._numint.libxc.is_nlc(self._functional):
            raise self._no_hessian("PySCF has no Hessian of non-local correlation (VV10)", INPUT_ERROR)

    def _no_hessian(self, problem, status):
        return PathError(
            f"--method {self._request.method}",
            f"{problem}, which the transition state needs",
            "take another, such as pbe-d3bj, b3lyp-d4 or camb3lyp",
            status,
        )

    def _solve(self, positions):
        """The converged SCF; from the last density, then afresh, then by the second-order solver."""
        field = self._mean_field(self._molecule(positions))
        for guess in (self._density, None) if self._density is not None else (None,):
            # Never None, which PySCF takes to be the orbitals of the attempt before, however bad.
            field.kernel(dm0=field.get_init_guess() if guess is None else guess)
            if field.converged:
                break
        if not field.converged and not self._on_gpu:
            field = field.newton()
            field.kernel(dm0=field.make_rdm1())
        if not field.converged:
            self._density = None
            raise NotConverged(
                f"the SCF does not converge in {self._request.max_iterations} iterations"
                f"{'' if self._on_gpu else ', nor by the second-order solver'}; last energy "
                f"{field.e_tot:.6f} Hartree"
            )
        field = field.undo_newton() if hasattr(field, "undo_newton") else field
        self._density = field.make_rdm1()
        return field

    def _dispersion(self, positions):
        """(energy, gradient)."""
        if self._correction is None:
            return 0.0, numpy.zeros_like(positions)
        try:
            return dispersion.energy_and_gradient(
                self._request.method,
                self._functional,
                self._correction,
                self._numbers,
                positions,
                self._request.charge,
            )
        except WorkerError as error:
            raise refused(error) from error


def find_gpu_program(request, progress):
    """"GPU4PySCF" and its version where it computes: with --device gpu, or auto where it and a GPU are
    there; None: the CPU does."""
    if request.device == "cpu":
        return None
    try:
        import cupy
        import gpu4pyscf

        cupy.cuda.Device().use()
        program = f"GPU4PySCF {gpu4pyscf.__version__}"
        progress(f"{program} on GPU {cupy.cuda.Device().pci_bus_id}")
        return program
    except Exception as missing:  # CuPy's errors are of many kinds, and come at import, too
        if request.device != "gpu":
            return None
        raise PathError(
            "--device gpu",
            f"GPU4PySCF cannot be used: {missing}",
            f"{sys.executable} -m pip install gpu4pyscf-cuda12x (or -cuda13x, as your CUDA is), or "
            "--device cpu",
        ) from missing


def on_host(array):
    """Of NumPy, where it came from CuPy, too."""
    return array.get() if hasattr(array, "get") else array


def permittivity(solvent):
    """Of a name that PySCF knows, or of a number; None without a solvent."""
    if solvent == "none":
        return None
    try:
        value = float(solvent)
    except ValueError:
        known = smd.solvent_db.get(solvent)
        if known is None:
            raise PathError(
                f"--solvent {solvent}",
                "this solvent is not known",
                "none, water, a name as PySCF's SMD has it (methanol, acetonitrile, dmso), or the "
                "relative permittivity, a number above 1",
            ) from None
        value = known[PERMITTIVITY_COLUMN]
    if not 1 < value < float("inf"):
        raise PathError(
            f"--solvent {solvent}", "no relative permittivity", "give a number above 1, or none"
        )
    return value


def refused(error):
    """What the worker's modules refuse, in the words of this command's options."""
    text = str(error).replace("qm.method = ", "--method ").replace("qm.basis = ", "--basis ")
    return PathError("starpmc path", text, "see the options --method and --basis", 2)


def not_converged(what, error, output):
    return PathError(
        what,
        str(error),
        "look at this geometry; give more --max-iterations, another --method (hf is most robust) or "
        f"the right --charge and --multiplicity; what has been computed is kept in {output}, and "
        "the same command goes on from there",
        FAILURE,
    )


def use_threads(count):
    if count:
        lib.num_threads(count)


ANGSTROM_PER_BOHR = nist.BOHR
