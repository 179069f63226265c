"""XYZ files of a path: read with the place of every mistake, written whole or not at all."""

import contextlib
import math
import os
import re
from pathlib import Path

import numpy
from errors import PathError
from level import ANGSTROM_PER_BOHR
from pyscf import gto
from record import cannot_write

MOST_BYTES = 2**28  # as the program reads text


def read_molecule(path):
    """(elements, positions in bohr) of the first frame."""
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise PathError(path, "more than 256 MiB", "give the .xyz file of one molecule")
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise PathError(
            path, f"cannot be read: {error.strerror or error}", "give the path of an .xyz file"
        ) from error
    try:
        count = int(lines[0])
    except (IndexError, ValueError):
        raise PathError(
            f"{path}:1", "no number of atoms", "an .xyz file has it alone in its first line"
        ) from None
    if not 2 <= count <= len(lines) - 2:
        raise PathError(
            f"{path}:1",
            f"{count} atoms, and {max(len(lines) - 2, 0)} lines for them",
            "give at least two atoms, and their number in the first line",
        )
    _require_end(path, lines, count + 2)
    atoms = [_atom(f"{path}:{k + 3}", line) for k, line in enumerate(lines[2 : count + 2])]
    elements, positions = zip(*atoms, strict=True)
    return list(elements), numpy.array(positions) / ANGSTROM_PER_BOHR


def _require_end(path, lines, end):
    """Refuses more atoms than their number says, and more frames than one."""
    if len(lines) > end and len(lines[end].split()) >= 4:
        raise PathError(
            f"{path}:{end + 1}",
            f"more than {end - 2} atoms, found {lines[end].strip()!r}",
            "correct the number of atoms in line 1",
        )
    begins = []
    line = end
    while True:
        while line < len(lines) and not lines[line].strip():
            line += 1
        if len(lines) - line < 3 or not re.fullmatch("0*[1-9][0-9]*", lines[line].strip()):
            break
        begins.append(line)
        line += int(lines[line]) + 2
    if begins:
        raise PathError(
            f"{path}:{begins[0] + 1}",
            f"another frame, where one is wanted, found {len(begins) + 1} frames",
            f"give the one you mean alone: the first with 'head -n {end}'",
        )


def _atom(place, line):
    words = line.split()
    try:
        position = [float(word) for word in words[1:4]]
        if len(position) < 3 or not all(map(math.isfinite, position)):
            raise ValueError
    except ValueError:
        raise PathError(
            place, f"no element and three coordinates: {line.strip()!r}", "write 'C 0.0 0.0 0.0'"
        ) from None
    symbol = words[0].capitalize()
    if symbol not in gto.elements.ELEMENTS[1:]:
        raise PathError(place, f"unknown element {words[0]!r}", "write a symbol such as C, N, Cl")
    return symbol, position


def same_atoms(one, other):
    """Refuses two files whose atoms differ in number, element or order."""
    (first, elements), (second, others) = one, other
    if len(elements) != len(others):
        raise PathError(
            second,
            f"{len(others)} atoms, but {len(elements)} in {first}",
            "both must have the same atoms in the same order",
        )
    for k, (element, found) in enumerate(zip(elements, others, strict=True)):
        if element != found:
            raise PathError(
                f"{second}:{k + 3}",
                f"atom {k + 1} is {found}, but {element} in {first}",
                "both must have the same atoms in the same order",
            )


def write_frames(path, elements, frames):
    """frames: (positions in bohr, comment)."""
    lines = []
    for positions, comment in frames:
        lines += [str(len(elements)), comment]
        lines += [
            f"{element:<2s} {x:17.10f} {y:17.10f} {z:17.10f}"
            for element, (x, y, z) in zip(elements, positions * ANGSTROM_PER_BOHR, strict=True)
        ]
    temporary = path.with_name(f".{path.name}.{os.getpid()}.temporary")
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise cannot_write(path, error) from error
