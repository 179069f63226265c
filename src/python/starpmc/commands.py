"""What the program's subcommands do, as functions."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starpmc.errors import ResultsError
from starpmc.process import Process, Progress
from starpmc.program import find_program, options
from starpmc.results import Run
from starpmc.settings import (
    BLANKS,
    Settings,
    as_text,
    as_words,
    merged,
    normalised,
    read_settings,
    with_absolute_paths,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Path_ = str | os.PathLike[str]
Callback = Callable[[Progress], object]
_FOLDER = "output.folder"
_POSE_COLUMNS = ("w", "x", "y", "z", "tx", "ty", "tz")


@dataclass(frozen=True)
class Check:
    """What a run would simulate (text), and what it would warn of."""

    text: str
    warnings: list[str]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Scores:
    """table: a row for each pose, kJ/mol and angstrom, None with rows="none"; summary: the best
    poses, settings, times."""

    table: pd.DataFrame | None
    summary: dict[str, Any]


def _call(
    command: str,
    settings: Settings | Path_,
    overrides: Settings,
    environment: Mapping[str, str] | None,
) -> Process:
    """Starts a subcommand that takes a configuration. Relative paths in dictionaries are relative
    to the working directory."""
    if isinstance(settings, Mapping):
        complete = with_absolute_paths(merged(settings, overrides))
        return Process(find_program(), [command], environment, complete)
    words = [command, os.fspath(settings), *as_words(overrides)]
    return Process(find_program(), words, environment)


def _finished(process: Process) -> Process:
    process.wait()
    if (error := process.error()) is not None:
        raise error
    return process


def _output_folder(settings: Settings | Path_, overrides: Settings) -> str:
    section, key = _FOLDER.split(".")
    given = normalised(overrides).get(section, {}).get(key)
    if given is None:
        is_given = isinstance(settings, Mapping)
        of_all = normalised(settings) if is_given else read_settings(settings)
        given = of_all.get(section, {}).get(key)
    if given is None:
        return options()[_FOLDER].default or ""
    return as_text(given).strip(BLANKS)  # as the program reads its command line


def run(
    settings: Settings | Path_,
    *,
    folder: Path_ | None = None,
    wait: bool = True,
    progress: Callback | None = None,
    environment: Mapping[str, str] | None = None,
    **overrides: Mapping[str, Any],
) -> Run:
    """Makes a run: settings are a configuration file, or dictionaries by section and key.

        starpmc.run("molecule.cfg", folder="first", sampling={"seed": 7, "max_rotation": 10})

    folder: where the results go (output.folder); overrides: sections whose keys replace those of
    the settings; progress: called with a Progress some five times a second (print will do);
    environment: variables of the program; wait=False: comes back at once, see Run.

    Raises InputError, RunError, Stopped. Ctrl-C stops the program at a checkpoint.
    """
    changes = merged(overrides, {"output": {"folder": folder}} if folder is not None else {})
    begun = Run(
        # A file that cannot be read is what the program complains of.
        _output_folder(settings, changes) if _readable(settings) else "",
        _call("run", settings, changes, environment),
        progress,
    )
    return begun.wait() if wait else begun


def _readable(settings: Settings | Path_) -> bool:
    return isinstance(settings, Mapping) or os.path.isfile(settings)


def resume(
    folder: Path_,
    *,
    steps: int | None = None,
    wait: bool = True,
    progress: Callback | None = None,
    environment: Mapping[str, str] | None = None,
    **overrides: Mapping[str, Any],
) -> Run:
    """Goes on with a run that was stopped or killed; the results are those of one that was not.
    With `steps`, that many in all, also with a finished run. The other arguments are those of
    run(); the program says which options may be given anew."""
    more = [] if steps is None else ["--steps", as_text(steps)]
    words = ["resume", os.fspath(folder), *more, *as_words(overrides)]
    begun = Run(folder, Process(find_program(), words, environment), progress)
    return begun.wait() if wait else begun


def load(folder: Path_) -> Run:
    """The results of a run, finished or not."""
    found = Run(folder)
    found.require()
    return found


def check(
    settings: Settings | Path_,
    *,
    environment: Mapping[str, str] | None = None,
    **overrides: Mapping[str, Any],
) -> Check:
    """What a run would simulate and warn of; raises InputError for what it would refuse."""
    process = _finished(_call("check", settings, overrides, environment))
    warnings = re.findall(r"^Warning +(.*)", process.output, re.MULTILINE)
    return Check(process.output, warnings)


def energy(
    settings: Settings | Path_,
    *,
    environment: Mapping[str, str] | None = None,
    **overrides: Mapping[str, Any],
) -> dict[str, Any]:
    """Every energy term, virial and the pressure of the starting configuration: a dictionary with
    energies_kj_per_mol, virials_kj_per_mol, pressure_bar, qm."""
    return json.loads(_finished(_call("energy", settings, overrides, environment)).output)


def score(
    receptor: Path_,
    ligand: Path_,
    poses: Path_ | np.ndarray | Sequence[Sequence[float]] | None = None,
    *,
    output: Path_ | None = None,
    environment: Mapping[str, str] | None = None,
    **arguments: Any,
) -> Scores:
    """Interaction energies of poses of a ligand with a receptor, both PQR files.

    poses: a file, or rows of 7 numbers w, x, y, z, tx, ty, tz: the ligand is turned about the mean
    of its sites by a unit quaternion, then moved (angstrom). Without: the models of the ligand.
    output: name of the files to keep, NAME.csv and NAME.json; arguments: other options of `starpmc
    score`, such as terms="coulomb+12-6", cutoff=12, overwrite=True.
    """
    with tempfile.TemporaryDirectory(prefix="starpmc-python-") as scratch:
        name = os.fspath(output) if output is not None else os.path.join(scratch, "score")
        words = ["score", "--receptor", os.fspath(receptor), "--ligand", os.fspath(ligand)]
        if poses is not None:
            if not isinstance(poses, str | os.PathLike):
                poses = _written(poses, Path(scratch, "poses.csv"))
            words += ["--poses", os.fspath(poses)]
        words += ["--output", name]
        for key, value in arguments.items():
            option = "--" + key.replace("_", "-")
            if value is True:
                words.append(option)
            elif value is not None and value is not False:
                words += [option, as_text(value)]
        _finished(Process(find_program(), words, environment))
        try:
            summary = json.loads(Path(f"{name}.json").read_text(encoding="utf-8"))
            table = _read_scores(f"{name}.csv") if arguments.get("rows") != "none" else None
        except (OSError, ValueError) as error:
            raise ResultsError(f"{name}.csv, {name}.json: cannot be read: {error}") from error
    return Scores(table, summary)


def _read_scores(path: str) -> pd.DataFrame:
    """Numbers read by Python, which rounds them right."""
    import pandas as pd

    table = pd.read_csv(path, dtype=str).astype(float)
    table = table.astype({"pose": "int64"}).set_index("pose")
    table["overlap"] = table["overlap"].astype(bool)
    return table


def _written(poses: np.ndarray | Sequence[Sequence[float]], path: Path) -> Path:
    import numpy as np

    rows = np.asarray(poses, float)
    if rows.ndim != 2 or rows.shape[1] != len(_POSE_COLUMNS):
        raise ValueError(
            f"poses have the shape (N, 7), with {', '.join(_POSE_COLUMNS)} in a row, "
            f"not {rows.shape}"
        )
    lines = [",".join(map(repr, row)) for row in rows.tolist()]
    path.write_text("\n".join((",".join(_POSE_COLUMNS), *lines)) + "\n", encoding="ascii")
    return path
