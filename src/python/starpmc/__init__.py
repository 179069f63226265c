"""Runs starpmc, a perturbative Monte Carlo QM/MM program, and reads its results.

    import starpmc

    run = starpmc.run("molecule.cfg", folder="first", sampling={"seed": 7}, progress=print)
    run.averages          # DataFrame: mean and error of each term, kJ/mol
    run.energies          # DataFrame: a row per line of energies.csv, by chain and step

Units are the program's: angstrom, kJ/mol, elementary charges, kelvin.
"""

from starpmc.commands import Check, Scores, check, energy, load, resume, run, score
from starpmc.errors import (
    Error,
    InputError,
    ProgramNotFound,
    ResultsError,
    RunError,
    Stopped,
    VersionMismatch,
)
from starpmc.frames import Frames
from starpmc.process import Progress
from starpmc.program import find_program, options
from starpmc.results import Run
from starpmc.settings import read_settings, write_settings
from starpmc.version import __version__

__all__ = [
    "Check",
    "Error",
    "Frames",
    "InputError",
    "ProgramNotFound",
    "Progress",
    "ResultsError",
    "Run",
    "RunError",
    "Scores",
    "Stopped",
    "VersionMismatch",
    "__version__",
    "check",
    "energy",
    "find_program",
    "load",
    "options",
    "read_settings",
    "resume",
    "run",
    "score",
    "write_settings",
]
