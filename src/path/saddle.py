"""The transition state: geomeTRIC's search from a guess, with exact second derivatives at its start.

Before it, where the user names distances to be held, everything else is relaxed around them.
"""

import contextlib
import logging
import os
import tempfile

import numpy
from descent import Point
from errors import FAILURE, PathError
from level import ANGSTROM_PER_BOHR
from modes import imaginary, normal_modes

# Hartree, Hartree/bohr, angstrom. Tighter gradients than usual: the reaction path starts here.
CONVERGENCE = {
    "convergence_energy": 1e-6,
    "convergence_grms": 1e-4,
    "convergence_gmax": 1.5e-4,
    "convergence_drms": 1.2e-3,
    "convergence_dmax": 1.8e-3,
}
HELD_CONVERGENCE = {  # what is found here is a guess
    "convergence_energy": 1e-4,
    "convergence_grms": 1.7e-3,
    "convergence_gmax": 2.5e-3,
    "convergence_drms": 6.7e-3,
    "convergence_dmax": 1e-2,
}


def load_geometric():
    """Imported late: it takes a second. PySCF's module gives geomeTRIC PySCF's angstrom."""
    try:
        import geometric.engine
        import geometric.errors
        import geometric.internal
        import geometric.molecule
        import geometric.optimize
        import geometric.prepare
        import pyscf.geomopt.geometric_solver  # noqa: F401
    except ImportError as missing:
        raise PathError(
            "starpmc path",
            f"the Python of starpmc has no geomeTRIC: {missing}",
            "./quickstart setup, or pip install geometric",
        ) from missing
    logging.getLogger("geometric").setLevel(logging.CRITICAL)
    return geometric


def find_saddle(evaluations, guess, most_steps, tell):
    """Point of the stationary point that geomeTRIC finds from `guess` (bohr)."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "hessian.txt")
        numpy.savetxt(file, evaluations.hessian(guess))
        return _search(
            evaluations,
            guess,
            most_steps,
            tell,
            folder,
            what="transition state",
            instead="begin nearer to it (--transition-state, --hold)",
            transition=True,
            hessian=f"file:{file}",
            **CONVERGENCE,
        )


def relax_held(evaluations, guess, holds, most_steps, tell):
    """Positions (bohr) of the lowest energy near `guess` where `holds` are as long as they say.

    holds: [(atom, atom, distance in angstrom)], atoms from 0.
    """
    lines = [f"distance {i + 1} {j + 1} {length!r}" for i, j, length in holds]
    with tempfile.TemporaryDirectory() as folder:
        return _search(
            evaluations,
            guess,
            most_steps,
            tell,
            folder,
            what="held distances",
            instead="hold fewer or others",
            constraints="\n".join(["$set", *lines, ""]),
            **HELD_CONVERGENCE,
        ).positions


def _search(
    evaluations, guess, most_steps, tell, folder, *, what, instead, constraints=None, **parameters
):
    """The Point where geomeTRIC's search ends. constraints: as its files have them; what, instead: for
    the error where it does not end in time."""
    geometric = load_geometric()
    engine = _engine(geometric, evaluations, guess, tell)
    held = {}
    if constraints:
        kinds, values = geometric.prepare.parse_constraints(engine.M, constraints)
        held = {"constraints": kinds, "cvals": values[0]}
    coordinates = geometric.internal.DelocalizedInternalCoordinates(
        engine.M, build=True, connect=False, addcart=False, **held
    )
    options = geometric.optimize.OptParams(frequency=False, maxiter=most_steps, **parameters)
    options.xyzout = os.path.join(folder, "search_optim.xyz")
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            geometric.optimize.Optimize(
                guess.ravel(), engine.M, coordinates, engine, folder, options, False
            )
    except geometric.errors.GeomOptNotConvergedError as error:
        raise PathError(
            what,
            f"not found in {most_steps} steps; the largest gradient is "
            f"{numpy.abs(engine.last.gradient).max():.5f} Hartree/bohr",
            f"{instead}, or give more --max-steps; the same command goes on from what has been computed",
            FAILURE,
        ) from error
    return engine.last


def _engine(geometric, evaluations, guess, tell):
    molecule = geometric.molecule.Molecule()
    molecule.elem = list(evaluations.level.elements)
    molecule.xyzs = [guess * ANGSTROM_PER_BOHR]

    class Engine(geometric.engine.Engine):
        """What geomeTRIC asks for energies and gradients."""

        def __init__(self):
            super().__init__(molecule)
            self.last = None
            self.count = 0

        def calc_new(self, coordinates, _folder):
            positions = numpy.array(coordinates).reshape(-1, 3)
            self.last = Point(positions, *evaluations.gradient(positions))
            self.count += 1
            tell(self.count, self.last)
            return {"energy": self.last.energy, "gradient": self.last.gradient.ravel()}

    return Engine()


def reaction_mode(evaluations, saddle):
    """(its wavenumber, mass-weighted direction, Hessian) of a point with one imaginary mode."""
    level = evaluations.level
    hessian = evaluations.hessian(saddle.positions)
    wavenumbers, modes = normal_modes(hessian, saddle.positions, level.masses)
    found = imaginary(wavenumbers)
    if len(found) == 0:
        raise PathError(
            "transition state",
            f"what the search found has no imaginary frequency (lowest {wavenumbers[0]:.0f} 1/cm): "
            "it is a minimum",
            "begin nearer to the transition state (--transition-state), with the bonds that change "
            "half broken",
            FAILURE,
        )
    if len(found) > 1:
        second = (modes[:, 1].reshape(-1, 3) ** 2).sum(axis=1)
        atom = int(second.argmax())
        listed = ", ".join(f"{-value:.0f}i" for value in found)
        raise PathError(
            "transition state",
            f"{len(found)} imaginary frequencies instead of one: {listed} 1/cm; the second moves "
            f"atom {atom + 1} ({level.elements[atom]}) most",
            "move that atom in --transition-state out of its symmetric place, by some 0.1 angstrom",
            FAILURE,
        )
    mode = modes[:, 0]
    return wavenumbers[0], mode * numpy.sign(mode[numpy.abs(mode).argmax()]), hessian
