"""A run: what its folder holds, as DataFrames and arrays, and the program while it is at work."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from starpmc import run_folder
from starpmc.errors import ResultsError, Stopped
from starpmc.frames import Frames
from starpmc.process import Process, Progress
from starpmc.settings import read_settings

if TYPE_CHECKING:
    import pandas as pd

_WITHOUT_UNIT = {"acceptance", "step", "chain"}
# Of the columns of blocks.csv, as summary.json names them.
_BLOCK_COLUMNS = {
    "true_energy": "true_energy_kj_per_mol",
    "sampled_energy": "sampled_energy_kj_per_mol",
    "difference": "difference_kj_per_mol",
}
_FIRST_COLUMNS = ["mean", "error", "effective_samples", "long_enough", "unit"]
# What summary.json says of all chains together: name here, unit.
_ENSEMBLE = {
    "total_energy": ("total", "kJ/mol"),
    "dipole_debye": ("dipole", "debye"),
    "polarisation_energy_kj_per_mol": ("polarisation_energy", "kJ/mol"),
    "jump_kj_per_mol": ("jump", "kJ/mol"),
    "pressure_bar": ("pressure", "bar"),
}


def unit_of(column: str) -> str:
    """Of a column of energies.csv, or a name among the averages."""
    if column in _WITHOUT_UNIT:
        return "1"
    return "bar" if column.startswith("pressure") else "kJ/mol"


def _averages_table(rows: dict[tuple[int, str], dict[str, Any]]) -> pd.DataFrame:
    """By chain and term; NaN: of no samples there is no mean, of one no error."""
    import pandas as pd

    found = pd.DataFrame.from_dict(rows, orient="index")
    found.index = pd.MultiIndex.from_tuples(rows, names=["chain", "term"])
    found = found.astype({"mean": float, "error": float})
    return found[_FIRST_COLUMNS + [name for name in found if name not in _FIRST_COLUMNS]]


class Run:
    """A run's folder, and the program that works in it, if it was started from here.

    Results are read from the files in `folder` when they are asked for, so those of a run that
    goes on are as far as it has got.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        process: Process | None = None,
        callback: Callable[[Progress], object] | None = None,
    ) -> None:
        self.folder = Path(os.path.abspath(folder))
        self._process = process
        self._callback = callback
        self._stop_asked_for = False

    def __repr__(self) -> str:
        state = "running" if self.running else "finished" if self.finished else "unfinished"
        return f"<starpmc run in {self.folder}, {state}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()

    # The program at work

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.running

    @property
    def finished(self) -> bool:
        """Whether all steps have been made."""
        return (self.folder / "summary.json").exists()

    @property
    def pid(self) -> int | None:
        """The program's number, where it was started from here."""
        return self._process.pid if self._process else None

    @property
    def warnings(self) -> list[str]:
        """What the program has warned of since it was started from here; of a run that was not, what
        it warned of its input and results when it had ended."""
        if self._process:
            return list(self._process.warnings)
        run = self._open()
        if self.finished:
            run_folder.read_summary(run)
        return run.warnings

    @property
    def table(self) -> str:
        """What the program has printed: at its end, the table of results."""
        return self._process.output if self._process else ""

    def progress(self) -> Iterator[Progress]:
        """Each state as the program tells it, some five a second, until it has ended. Raises what
        it died of, as wait() does, but not Stopped after stop()."""
        if self._process is None:
            return
        yield from self._process.progress()
        try:
            self._raise_error()
        except Stopped:
            if not self._stop_asked_for:
                raise

    def wait(self, timeout: float | None = None) -> Run:
        """Until the program has ended; without a timeout, the callback gets the progress.

        Raises InputError, RunError, Stopped (the run can be resumed); TimeoutError, and the run
        goes on. Ctrl-C stops the program, which writes its checkpoints, and comes back as
        KeyboardInterrupt.
        """
        if self._process is None:
            return self
        if timeout is None and self._callback is not None:
            try:
                for state in self._process.progress():
                    self._callback(state)
            except BaseException:  # of the callback, too
                self.stop()
                raise
        else:
            self._process.wait(timeout)
        self._raise_error()
        return self

    def stop(self) -> Run:
        """As Ctrl-C: the program writes its checkpoints and ends; starpmc.resume() goes on."""
        if self.running and self._process is not None:
            self._stop_asked_for = True
            self._process.stop()
        return self

    def _raise_error(self) -> None:
        error = self._process.error() if self._process else None
        if error is not None:
            raise error

    # Results

    def _open(self) -> run_folder.RunFolder:
        try:
            return run_folder.open_run(self.folder)
        except run_folder.ReportError as error:
            message, _, remedy = str(error).partition("\n  remedy: ")
            raise ResultsError(message, remedy) from error

    def require(self) -> None:
        """Raises ResultsError where no run has been."""
        self._open()

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Every option of the run, as settings.cfg has it."""
        return read_settings(self.folder / "settings.cfg")

    @property
    def summary(self) -> dict[str, Any]:
        """summary.json, which comes when all steps have been made."""
        run = self._open()
        run_folder.read_summary(run)
        if not run.summary:
            raise ResultsError(
                f"{self.folder}: has no summary.json that can be read: the run goes on, was "
                "stopped, or failed",
                "wait for its end, or go on with it: starpmc.resume(folder)",
            )
        return run.summary

    @property
    def chains(self) -> list[dict[str, Any]]:
        """What summary.json says of each chain."""
        summary = self.summary
        return summary.get("chains") or [summary]

    @property
    def energies(self) -> pd.DataFrame:
        """A row for each line of energies.csv, by chain and step; attrs["units"] has the unit of
        each column: kJ/mol; bar of a pressure; 1 of the acceptance."""
        import pandas as pd

        run = self._open()
        run_folder.read_chains(run)
        tables = {}
        for number, chain in enumerate(run.chains):
            label = f"{chain.folder.name}/" if chain.folder != self.folder else ""
            if problems := [text for text in run.problems if f"{label}energies.csv" in text]:
                raise ResultsError(f"{self.folder}: {problems[0]}")
            table = pd.DataFrame(chain.energies)
            tables[number] = table.astype({"step": "int64"}).set_index("step")
        found = pd.concat(tables, names=["chain", "step"])
        found.attrs["units"] = {column: unit_of(column) for column in found.columns}
        return found

    @property
    def averages(self) -> pd.DataFrame:
        """Means over all steps of production by chain and term, as summary.json has them: mean, error
        (with correlation), effective_samples, long_enough (to tell the error), unit. Of the exact
        ensemble they are between the sampled and the true one: see ensemble, block_averages."""
        return _averages_table(
            {
                (number, term): {**values, "unit": unit_of(term)}
                for number, chain in enumerate(self.chains)
                for term, values in chain["averages"].items()
            }
        )

    @property
    def ensemble(self) -> pd.DataFrame:
        """Means over all chains by quantity (total, dipole, polarisation_energy, jump, pressure, as
        far as there are such), with error, r_hat, long_enough, unit and what else summary.json says.
        In the exact ensemble all but the pressure are of its block ends. The dipole is the magnitude
        about the centre of nuclear charge."""
        import pandas as pd

        rows = {}
        for key, (name, unit) in _ENSEMBLE.items():
            if key in self.summary:
                values = self.summary[key]
                single = {k: v for k, v in values.items() if not isinstance(v, dict | list)}
                rows[name] = {**single, "unit": unit}
        found = pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")
        numbers = [column for column in found if column.startswith(("mean", "error", "r_hat"))]
        found = found.astype(dict.fromkeys(numbers, float))
        first = ["mean", "error", "long_enough", "r_hat", "unit"]
        return found[first + [name for name in found if name not in first]]

    @property
    def blocks(self) -> pd.DataFrame:
        """The blocks of the exact ensemble by chain and number: step of the end, true and sampled
        energy there and their difference (kJ/mol), probability, accepted. Block 0 is where production
        begins. A rejected block's end is not of the ensemble: the last accepted one counts again.
        Empty of other runs."""
        import pandas as pd

        tables = {}
        for number, folder in run_folder.places_of_chains(self._open()).items():
            path = folder / "blocks.csv"
            if path.exists():
                table = self._read_blocks(path)
                tables[number] = table.rename(columns=_BLOCK_COLUMNS).set_index("block")
        if not tables:
            columns = ["step", *_BLOCK_COLUMNS.values(), "probability", "accepted"]
            index = pd.MultiIndex.from_arrays([[], []], names=["chain", "block"])
            return pd.DataFrame(columns=columns, index=index)
        return pd.concat(tables, names=["chain", "block"])

    def _read_blocks(self, path: Path) -> pd.DataFrame:
        """A line that is still being written is left out."""
        import io

        import pandas as pd

        try:
            text = run_folder.read_text(path)
            table = pd.read_csv(io.StringIO(text[: text.rfind("\n") + 1]), comment="#")
            if missing := {"block", "step", *_BLOCK_COLUMNS, "accepted"} - set(table.columns):
                raise ValueError(f"it has no column {min(missing)}")
            return table.astype({"block": "int64", "step": "int64", "accepted": bool})
        except run_folder.DAMAGE as error:
            raise ResultsError(f"{path}: cannot be read: {error}") from error

    @property
    def block_averages(self) -> pd.DataFrame:
        """Means at block ends by chain and term, which are of the exact ensemble: as averages, and the
        dipole. Empty of other runs."""
        import pandas as pd

        rows = {}
        for number, chain in enumerate(self.chains):
            if "exact" not in chain:
                continue
            for term, values in chain["exact"]["averages_at_block_ends"].items():
                rows[(number, term)] = {**values, "unit": "kJ/mol"}
            if dipole := chain.get("qm_averages", {}).get("dipole_debye"):
                rows[(number, "dipole")] = {**dipole, "unit": "debye"}
        if not rows:
            index = pd.MultiIndex.from_arrays([[], []], names=["chain", "term"])
            return pd.DataFrame(columns=_FIRST_COLUMNS, index=index)
        return _averages_table(rows)

    @property
    def qm_updates(self) -> pd.DataFrame:
        """The QM updates by chain and step; units are in the columns' names. Empty without QM, and of
        the exact ensemble, which has blocks instead. Dipoles are about the centre of nuclear charge."""
        import pandas as pd

        rows = [
            {"chain": number, **update}
            for number, chain in enumerate(self.chains)
            for update in chain.get("qm_updates", [])
        ]
        found = pd.DataFrame(rows, columns=None if rows else ["chain", "step"])
        return found.set_index(["chain", "step"])

    @property
    def trajectories(self) -> list[Frames]:
        """The frames of each chain, open: see Frames."""
        places = run_folder.places_of_chains(self._open()).values()
        return [self._frames(folder) for folder in places]

    @property
    def trajectory(self) -> Frames:
        """The frames of the only chain."""
        places = list(run_folder.places_of_chains(self._open()).values())
        if len(places) != 1:
            raise ResultsError(
                f"{self.folder}: has {len(places)} chains, each with a trajectory of its own",
                "take one of trajectories",
            )
        return self._frames(places[0])

    def _frames(self, folder: Path) -> Frames:
        path = run_folder.trajectory_in(folder)
        try:
            return Frames(path)
        except run_folder.DAMAGE as error:
            raise ResultsError(f"{path}: cannot be read: {error}") from error
