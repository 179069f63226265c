"""PySCF's molecule, grids and mean field for a request; what cannot be is refused in a sentence."""

import sys

import dispersion
import method_names
import numpy
from basis_check import check_basis
from fitting_basis import fitting_basis
from pyscf import dft, gto, lib, scf
from pyscf.data import nist
from worker_protocol import bad_request

# What a worker holds before a calculation, MB.
HELD_BEFORE_MB = 150.0


def _memory_held():
    """In place of PySCF's own, which asks the system.

    PySCF goes by what is left of max_memory when it chooses between memory and files, and the lengths
    of blocks: that decides the order of sums. What a process really holds depends on what it has served
    before, and the bits of a result must not.
    """
    return HELD_BEFORE_MB, HELD_BEFORE_MB


lib.current_memory = _memory_held


def build_molecule(request, positions_angstrom):
    """Checks here give the user a sentence where PySCF would give a traceback or nonsense."""
    basis, charge = request["basis"], request["charge"]
    check_basis(basis, request["elements"])
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


def choose_mean_field(molecule, request, grid):
    """Nothing of it is computed yet."""
    closed_shell = request["multiplicity"] == 1
    functional = method_names.split(request["method"])[0]
    if functional == "hf":
        mean_field = scf.RHF(molecule) if closed_shell else scf.UHF(molecule)
    else:
        mean_field = dft.RKS(molecule) if closed_shell else dft.UKS(molecule)
        mean_field.xc = functional
        try:
            mean_field._numint._xc_type(functional)
        except Exception as error:
            raise bad_request(f"PySCF does not know the functional {functional}: {error}") from error
        method_names.check_functional(request["method"], functional, mean_field._numint.libxc)
        mean_field.grids = grid
        mean_field.small_rho_cutoff = 0  # the points the program knows must stay
    return mean_field


def build_factors(mean_field):
    """Of density fitting, where it has any and they are not there yet: without these a pure functional's J
    is made from integrals computed anew in every iteration."""
    fitting = getattr(mean_field, "with_df", None)
    if fitting is not None and fitting._cderi is None:
        fitting.build()


def build_mean_field(molecule, request, grid):
    """build_factors() is left to those who need them."""
    mean_field = choose_mean_field(molecule, request, grid)
    if request["density_fitting"]:
        mean_field = mean_field.density_fit(auxbasis=fitting_basis(molecule))
    mean_field.conv_tol = request["energy_convergence_hartree"]
    mean_field.max_cycle = request["max_iterations"]
    mean_field.chkfile = None
    return mean_field


def is_gga(request):
    """Of a closed shell, LDA, GGA or a global hybrid of theirs, without non-local correlation: what
    two_level.py is for. Unknown functionals are refused elsewhere."""
    try:
        functional = method_names.split(request["method"])[0]
        return (
            request["multiplicity"] == 1
            and functional != "hf"
            and dft.libxc.xc_type(functional) in ("LDA", "GGA")
            and not dft.libxc.is_nlc(functional)
            and dft.numint.NumInt().rsh_and_hybrid_coeff(functional)[0] == 0
        )
    except Exception:  # noqa: BLE001  whatever libxc makes of a name that it does not know
        return False


def is_repeatable(request):
    """Whether an SCF has the same bits each time: what is PySCF's own, range-separated exchange,
    integrals without density fitting, open shells, meta-GGAs, adds up in the order in which its threads
    end."""
    own = is_gga(request) and request["density_fitting"]
    return own or request["threads"] == 1


def dispersion_energy(molecule, request):
    """Hartree; 0 without a correction."""
    functional, correction = method_names.split(request["method"])
    if correction is None:
        return 0.0
    numbers = numpy.array([gto.charge(element) for element in request["elements"]])
    return dispersion.energy(
        request["method"],
        functional,
        correction,
        numbers,
        molecule.atom_coords(),
        request["charge"],
    )
