"""What `starpmc profile` has left in its folder, read as far as it is there and whole."""

import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import run_folder

RESULT, SETTINGS = "profile.json", "profile.cfg"
NORMAL_95 = 1.96


@dataclass
class Place:
    """An image that is worth a look."""

    name: str
    image: int  # from 0


@dataclass
class ProfileFolder:
    path: Path
    document: dict = field(default_factory=dict)  # profile.json; empty: not there yet
    settings_text: str = ""
    folders: list = field(default_factory=list)  # of the images that have been begun
    problems: list = field(default_factory=list)

    def problem(self, text):
        self.problems.append(text)

    @property
    def images(self):
        return self.document["images"]

    def column(self, name):
        """NaN where an image has none."""
        return numpy.array([numpy.nan if row[name] is None else row[name] for row in self.images])

    def matrix(self, name):
        found = numpy.array(self.document[name], float)
        if found.shape != (len(self.images),) * 2:
            raise ValueError(f"{name} has another number of images")
        return found

    def half_widths(self):
        """Of all differences, of intervals that hold at 95 %. A profile of an earlier version has none."""
        if "half_widths_95_of_differences" in self.document:
            return self.matrix("half_widths_95_of_differences")
        return NORMAL_95 * self.matrix("errors_of_differences")

    def difference(self, start, end):
        """(free energy of image `end` above image `start`, its error, half its interval at 95 %)"""
        energies = self.column("free_energy")
        errors, half_widths = self.matrix("errors_of_differences"), self.half_widths()
        return energies[end] - energies[start], errors[start, end], half_widths[start, end]

    def places(self):
        """Minimum, transition state and product: the highest image between the ends and the lowest
        ones on either side of it; the ends, where the highest is one of them."""
        energies = self.column("free_energy")
        highest, last = int(energies.argmax()), len(energies) - 1
        if not 0 < highest < last:
            return [Place("first image", 0), Place("last image", last)]
        return [
            Place("minimum", int(energies[:highest].argmin())),
            Place("transition state", highest),
            Place("product", highest + 1 + int(energies[highest + 1 :].argmin())),
        ]


def is_profile(path):
    return any((path / name).is_file() for name in (RESULT, SETTINGS))


def _number(path):
    return int(path.name.removeprefix("image-"))


def _image_folders(path):
    found = [one for one in path.glob("image-*") if one.is_dir()]
    return sorted((one for one in found if one.name.removeprefix("image-").isdecimal()), key=_number)


def _check(document):
    images = document["images"]
    if len(images) < 2:
        raise ValueError("it has fewer than two images")
    for row in images:
        for name in ("reaction_coordinate", "free_energy", "error"):
            if not math.isfinite(row[name]):
                raise ValueError(f"{name} is no number")


def _read_result(found):
    path = found.path / RESULT
    if not path.exists():
        found.problem(
            f"There is no {RESULT}: the profile goes on, was interrupted or failed. It comes with all "
            "images; starpmc report of an image's folder shows what that one has sampled."
        )
        return
    try:
        document = json.loads(run_folder.read_text(path))
        _check(document)
        found.document = document
    except run_folder.DAMAGE as error:
        found.problem(f"{RESULT} cannot be read: {error}")


def read_profile(path):
    found = ProfileFolder(path, folders=_image_folders(path))
    try:
        found.settings_text = run_folder.read_text(path / SETTINGS)
    except run_folder.DAMAGE as error:
        found.problem(f"{SETTINGS} cannot be read: {error}")
    _read_result(found)
    if found.document:
        _take_folders_of_images(found)
    return found


def _take_folders_of_images(found):
    """In their order: an image that was added between others has a later number. Others than those of
    the result are being sampled."""
    names = [row.get("folder", f"image-{k:02d}") for k, row in enumerate(found.images, 1)]
    there = {one.name for one in found.folders}
    if not there.issuperset(names):
        found.problem("There is not a folder for each image of the profile.")
    elif there.difference(names):
        found.problem(
            f"{', '.join(sorted(there.difference(names)))}: not in the result, which is of before they "
            "were added."
        )
    found.folders = [found.path / name for name in names]
