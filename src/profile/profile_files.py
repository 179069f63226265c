"""What a profile's folder holds: read, and results written whole or not at all."""

import contextlib
import csv
import dataclasses
import json
import os
from pathlib import Path

import numpy

INPUT_ERROR, FAILURE = 2, 1
INPUT = "profile-input.json"


class ProfileError(Exception):
    """One sentence for the user; status: 2 for bad input, 1 for a failure at run time."""

    def __init__(self, place, problem, remedy, status=INPUT_ERROR):
        super().__init__(f"{place}: {problem}\n  remedy: {remedy}")
        self.status = status


@dataclasses.dataclass
class Chain:
    """One chain of an image's run."""

    steps: numpy.ndarray  # of the frames
    differences: numpy.ndarray  # (frames, images), kJ/mol: under each image less under its own
    block_steps: numpy.ndarray  # of the blocks' ends, the first being where production begins
    block_differences: numpy.ndarray  # true less sampled energy at block ends, as proposed
    accepted: numpy.ndarray  # of the same
    header: str = ""  # of its dhdl.xvg


@dataclasses.dataclass
class Image:
    folder: str
    reaction_coordinate: float  # angstrom u^1/2
    isolated_energy: float  # kJ/mol, absolute
    reference_dipole: float  # debye
    chains: list
    summary: dict
    no_image_to_next: str = ""  # why none was put between it and the next, though it should


@dataclasses.dataclass
class Profile:
    title: str
    version: str
    temperature: float
    kt: float  # kJ/mol
    images: list


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ProfileError(path, f"cannot be read: {error}", "give the profile again") from error


def read_profile(folder):
    data = read_json(folder / INPUT)
    images = [_image(folder, one) for one in data["images"]]
    return Profile(
        data["title"],
        data["starpmc_version"],
        data["temperature_kelvin"],
        data["kt_kj_per_mol"],
        images,
    )


def _image(folder, data):
    return Image(
        data["folder"],
        data["reaction_coordinate"],
        data["isolated_energy_kj_per_mol"],
        float(numpy.linalg.norm(data["reference_dipole_debye"])),
        [_chain(folder / name) for name in data["chains"]],
        read_json(folder / data["folder"] / "summary.json"),
        data.get("no_image_to_next", ""),
    )


def _chain(folder):
    header, table = read_xvg(folder / "dhdl.xvg")
    with open(folder / "blocks.csv", encoding="utf-8") as file:
        blocks = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return Chain(
        table[:, 0],
        table[:, 1:],
        numpy.array([float(block["step"]) for block in blocks]),
        numpy.array([float(block["difference"]) for block in blocks]),
        numpy.array([block["accepted"] == "1" for block in blocks]),
        header,
    )


def read_xvg(path):
    """(its "@" lines; its numbers, a row for a line)"""
    rows, header = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith(("#", "@")):
            header += [line] if line.startswith("@") else []
            continue
        try:
            rows.append([float(word) for word in line.split()])
        except ValueError:
            raise ProfileError(
                f"{path}:{number}", "no line of numbers", "give the profile again"
            ) from None
    if not rows:
        raise ProfileError(path, "has no frames", "more sampling.steps")
    return "\n".join(header), numpy.array(rows)


def weighted_frames_text(image, frames):
    """A .xvg file like the image's dhdl.xvg. frames: (frames, images), kJ/mol."""
    lines = [
        "# Frames of dhdl.xvg that BAR and MBAR of profile.csv come from, each as often as its weight",
        "# in the sampled ensemble says. Neighbours remember each other. Their number stands for the",
        "# time.",
        image.chains[0].header,
    ]
    for number, row in enumerate(frames):
        lines.append(" ".join([f"{number:.4f}", *(f"{value:.6f}" for value in row)]))
    return "\n".join(lines) + "\n"


def write_whole(path, content):
    """content: text or bytes."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.temporary")
    content = content.encode() if isinstance(content, str) else content
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise ProfileError(
            path, f"cannot be written: {error.strerror or error}", "make room", FAILURE
        ) from error
