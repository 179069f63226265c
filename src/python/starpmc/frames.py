"""A trajectory as NumPy arrays that are read from the file where they are asked for."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Self

import h5py
import numpy as np

from starpmc.trajectory import Trajectory, symbol


class FrameArray:
    """A dataset of which the first axis are frames: indexing and slicing read those from the file;
    numpy.asarray() reads all of them."""

    def __init__(self, data: h5py.Dataset, frames: int, unit: str) -> None:
        self._data = data
        self.shape: tuple[int, ...] = (frames, *data.shape[1:])
        self.dtype: np.dtype = data.dtype
        self.unit = unit

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, chosen: Any) -> np.ndarray:
        """Frames first, the other axes of these then."""
        frames, *rest = chosen if isinstance(chosen, tuple) else (chosen,)
        if frames is Ellipsis:
            return np.asarray(self)[chosen]
        indices = np.arange(len(self))[frames]
        if indices.ndim == 0:
            return self._data[int(indices)][tuple(rest)]
        wanted, places = np.unique(indices, return_inverse=True)
        found = self._read(wanted)[places.reshape(indices.shape)]
        return found[(slice(None),) * indices.ndim + tuple(rest)]

    def _read(self, rising: np.ndarray) -> np.ndarray:
        if not rising.size:
            return np.empty((0, *self.shape[1:]), self.dtype)
        gaps = np.diff(rising)
        if (gaps == gaps[:1]).all():  # much faster than a list of indices
            gap = int(gaps[0]) if gaps.size else 1
            return self._data[int(rising[0]) : int(rising[-1]) + 1 : gap]
        return self._data[rising]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._data[: len(self)], dtype)

    def __repr__(self) -> str:
        return f"<{self.shape} {self.dtype}, {self.unit}, read when asked for>"


class Frames:
    """The frames of one chain; the QM molecule's atoms come first. Also of a run that goes on.

    positions: (frames, particles, 3), angstrom; box: (frames, 3), the edges; steps: of each frame;
    centres, orientations: of the rigid molecules, exact: angstrom, and unit quaternions w, x, y, z.
    atomic_numbers, elements, charges: of the particles; 0 and "X": a site without an atom.
    molecules: the rigid molecule of each particle, by its number; -1: the QM molecule.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._reader = reader = Trajectory(path)
        self._file = file = h5py.File(path, "r", locking=False)  # as the reader: a run may go on
        frames = reader.frames
        self.steps: np.ndarray = reader.steps
        self.positions = FrameArray(file["particles/all/position/value"], frames, "angstrom")
        self.box = FrameArray(file["particles/all/box/edges/value"], frames, "angstrom")
        self.atomic_numbers: np.ndarray = reader.atomic_numbers
        self.elements: list[str] = [symbol(number) for number in reader.atomic_numbers]
        self.charges: np.ndarray = np.asarray(file["particles/all/charge"])
        self.solute_atoms: int = reader.solute_atoms
        self.molecule_types: list[str] = reader.type_names
        sizes = [self.solute_atoms, *reader.molecule_sizes]
        self.molecules: np.ndarray = np.repeat(np.arange(-1, len(sizes) - 1), sizes)
        self.centres = self.orientations = None
        if "particles/molecules/position/value" in file:
            molecules = file["particles/molecules"]
            self.centres = FrameArray(molecules["position/value"], frames, "angstrom")
            self.orientations = FrameArray(molecules["orientation/value"], frames, "quaternion")

    def __len__(self) -> int:
        return len(self.steps)

    def sites(self, name: str, molecule: str | None = None) -> np.ndarray:
        """Indices of the particles with that site name ("OW") in the rigid molecules, of the type
        `molecule` ("SOL") where one is named."""
        reader = self._reader
        found = [
            first + offset
            for kind, first in zip(reader.molecule_types, reader.first_site, strict=True)
            for offset, site in enumerate(reader.site_names[kind])
            if site == name and molecule in (None, reader.type_names[kind])
        ]
        return np.array(found, int)

    def close(self) -> None:
        self._file.close()
        self._reader.__exit__()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()
