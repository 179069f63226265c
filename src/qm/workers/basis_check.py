"""Refuses basis sets that leave the core electrons to an effective core potential."""

from pyscf import gto
from worker_protocol import bad_request

# Steepest s exponent over the squared nuclear charge: 2.0 and more where the core's orbital is there
# (STO-3G), 0.9 and less where it is not (ccECP, BFD, GTH). Of Li and Be both have 1.8.
LEAST_CORE_EXPONENT = 1.5
FIRST_TOLD_APART = 5
VALENCE_FAMILIES = ("ccecp", "bfd", "gth")


def check_basis(basis, elements):
    """The density grid and the nuclei's charges are those of all electrons."""
    for element in sorted(set(elements)):
        if _has_core_potential(basis, element) or _lacks_core_functions(basis, element):
            raise bad_request(
                f"qm.basis = {basis} replaces the core electrons of {element} by an effective core "
                "potential, which is not supported; take an all-electron basis (def2-svp up to Kr, "
                "dzp or sto-3g up to Xe), or describe that atom by MM"
            )


def _has_core_potential(basis, element):
    try:
        return bool(gto.basis.load_ecp(basis, element))
    except (KeyError, RuntimeError):  # most basis sets have no core potentials at all
        return False


def _lacks_core_functions(basis, element):
    """Where the core potential goes by another name than the basis."""
    if basis.lower().startswith(VALENCE_FAMILIES):
        return True
    charge = gto.charge(element)
    if charge < FIRST_TOLD_APART:
        return False
    try:
        shells = gto.basis.load(basis, element)
    except (KeyError, RuntimeError):
        return False  # what PySCF says of it when the molecule is built is as clear
    exponents = [
        primitive[0]
        for angular_momentum, *primitives in shells
        if angular_momentum == 0
        for primitive in primitives
        if isinstance(primitive, list)  # in front of them there may be a spinor's number
    ]
    return bool(exponents) and max(exponents) < LEAST_CORE_EXPONENT * charge**2
