"""Dispersion corrections by their authors' libraries: of the solute alone, so a constant."""

from worker_protocol import WorkerError, bad_request

LIBRARIES = ("dftd3", "dftd4")


def energy(method, functional, correction, atomic_numbers, positions, charge):
    """Hartree; positions in bohr. D3 without the three-body term, D4 with it, as is usual."""
    arguments = (method, functional, correction, atomic_numbers, positions, charge)
    return float(_compute(*arguments, gradient=False)["energy"])


def energy_and_gradient(method, functional, correction, atomic_numbers, positions, charge):
    """The same, and its gradient in Hartree/bohr (atoms, 3)."""
    arguments = (method, functional, correction, atomic_numbers, positions, charge)
    result = _compute(*arguments, gradient=True)
    return float(result["energy"]), result["gradient"]


def _compute(method, functional, correction, atomic_numbers, positions, charge, *, gradient):
    try:
        if correction == "d4":
            from dftd4.interface import DampingParam, DispersionModel
        else:
            from dftd3.interface import (
                DispersionModel,
                RationalDampingParam,
                ZeroDampingParam,
            )
    except ImportError as missing:
        raise WorkerError("missing", f"{missing}, which qm.method = {method} needs") from missing
    try:
        if correction == "d4":
            model = DispersionModel(atomic_numbers, positions, charge=float(charge))
            parameters = DampingParam(method=functional)
        else:
            model = DispersionModel(atomic_numbers, positions)
            damping = RationalDampingParam if correction == "d3bj" else ZeroDampingParam
            parameters = damping(method=functional, atm=False)
    except RuntimeError as error:
        raise bad_request(
            f"qm.method = {method}: there are no parameters of {correction} for {functional} or an "
            f"element of the solute ({error}); take another functional or correction"
        ) from error
    return model.get_dispersion(parameters, grad=gradient)
