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


def unit_of(column: str) -> str:
    """Of a column of energies.csv, or a name among the averages."""
    if column in _WITHOUT_UNIT:
        return "1"
    return "bar" if column.startswith("pressure") else "kJ/mol"


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
        """What the program has warned of since it was started from here."""
        return list(self._process.warnings) if self._process else []

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
        """Means over production by chain and term, as summary.json has them: mean, error (with
        correlation), effective_samples, long_enough (to tell the error), unit."""
        import pandas as pd

        rows = {
            (number, term): {**values, "unit": unit_of(term)}
            for number, chain in enumerate(self.chains)
            for term, values in chain["averages"].items()
        }
        found = pd.DataFrame.from_dict(rows, orient="index")
        found.index = pd.MultiIndex.from_tuples(rows, names=["chain", "term"])
        first = ["mean", "error", "effective_samples", "long_enough", "unit"]
        return found[first + [name for name in found.columns if name not in first]]

    @property
    def qm_updates(self) -> pd.DataFrame:
        """The QM updates by chain and step; units are in the columns' names. Empty without QM."""
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
