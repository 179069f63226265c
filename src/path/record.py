"""What has been computed, kept line by line, so that a path that was interrupted goes on.

Each result is on disk (fsync) before the next is begun. The steps of the search and of the path
follow from the results alone, so repeating them reads what is there and computes what is not. A line
torn by a power cut is computed anew.
"""

import json
import os

import numpy
from errors import FAILURE, PathError

NAME = "evaluations.jsonl"
SAME = 1e-7  # bohr: positions that differ less are the same


class Record:
    """identity: what the results belong to; anew: begin again where they belong to something else."""

    def __init__(self, folder, identity, *, anew=False):
        self.path = folder / NAME
        self._kept = {}  # kind: [(positions, result)]
        self.reused = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            whole = self._read_or_forget(identity, anew)
            mode = "r+b" if self.path.exists() else "xb"
            self._file = open(self.path, mode)  # noqa: SIM115  open as long as the program runs
            self._file.truncate(whole)
            self._file.seek(whole)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        if whole == 0:
            self._append(identity)

    def _read_or_forget(self, identity, anew):
        try:
            return self._read(identity)
        except PathError:
            if not anew:
                raise
            return 0

    def _read(self, identity):
        """Bytes of whole lines."""
        whole = 0
        if not self.path.exists():
            return whole
        with open(self.path, "rb") as file:
            for number, line in enumerate(file):
                try:
                    entry = json.loads(line) if line.endswith(b"\n") else None
                except ValueError:
                    entry = None
                if entry is None:
                    break
                if number == 0:
                    self._compare(entry, identity)
                else:
                    self._remember(entry)
                whole += len(line)
        if whole == 0 and self.path.stat().st_size > 0:
            raise PathError(
                self.path,
                "no record of starpmc path, or its first line is damaged",
                "name another folder by --output, or start anew with --overwrite",
            )
        return whole

    def _compare(self, found, identity):
        different = [
            f"{key} {found.get(key)!r} instead of {value!r}"
            for key, value in identity.items()
            if not isinstance(found, dict) or found.get(key) != value
        ]
        if different:
            raise PathError(
                self.path,
                f"was computed for something else: {'; '.join(different)}",
                "name another folder by --output, or start anew with --overwrite",
            )

    def _remember(self, entry):
        positions = numpy.array(entry["positions"])
        self._kept.setdefault(entry["kind"], []).append((positions, entry["result"]))

    def lookup(self, kind, positions):
        for kept, result in self._kept.get(kind, ()):
            if kept.shape == positions.shape and numpy.abs(kept - positions).max() < SAME:
                self.reused += 1
                return result
        return None

    def keep(self, kind, positions, result):
        entry = {"kind": kind, "positions": positions.tolist(), "result": result}
        self._append(entry)
        self._remember(entry)

    def _append(self, entry):
        try:
            self._file.write(json.dumps(entry).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise cannot_write(self.path, error) from error


def cannot_write(path, error):
    return PathError(
        path,
        f"cannot be written: {error.strerror or error}",
        "make room or name another folder by --output; what is there is kept",
        FAILURE,
    )


class Evaluations:
    """A level of theory whose results are kept. tell(text): the user's line of progress."""

    def __init__(self, level, record, tell):
        self.level = level
        self._record = record
        self._tell = tell

    def energy(self, positions):
        return self._once("energy", positions, self.level.energy)

    def gradient(self, positions):
        def compute(at):
            energy, gradient = self.level.gradient(at)
            return [float(energy), gradient.tolist()]

        energy, gradient = self._once("gradient", positions, compute)
        return energy, numpy.array(gradient)

    def hessian(self, positions):
        found = self._once("hessian", positions, lambda at: self.level.hessian(at).tolist())
        return numpy.array(found)

    def forget_density(self):
        self.level.forget_density()

    def _once(self, kind, positions, compute):
        result = self._record.lookup(kind, positions)
        if result is None:
            if kind == "hessian":
                self._tell("second derivatives (Hessian)")
            result = compute(positions)
            self._record.keep(kind, positions, result)
        return result
