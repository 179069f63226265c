"""Folders of runs that never were: a trajectory.h5md of given positions, as starpmc writes it."""

import h5py
import numpy


class Kind:
    """sites: (name, atomic number, charge, reference position)."""

    def __init__(self, name, molecules, *sites):
        self.name, self.molecules, self.sites = name, molecules, sites


WATER = (("OW", 8, -0.834, (0, 0, 0)), ("HW1", 1, 0.417, (0.9572, 0, 0)),
         ("HW2", 1, 0.417, (-0.24, 0.9266, 0)))  # fmt: skip


def particles(solute, kinds):
    """Atomic number and molecule of each."""
    numbers = list(solute)
    molecules = [0] * len(solute)
    for kind in kinds:
        for _ in range(kind.molecules):
            numbers += [z for _, z, *_ in kind.sites]
            molecules += [molecules[-1] + 1 if molecules else 0] * len(kind.sites)
    return numpy.array(numbers), numpy.array(molecules)


def write(folder, solute, kinds, frames, edges):
    """frames: (frames, particles, 3); edges: of each frame, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.cfg").write_text("[sampling]\nequilibration-steps = 0\n")
    count = len(frames)
    edges = numpy.broadcast_to(numpy.asarray(edges, float), (count, 3))
    with h5py.File(folder / "trajectory.h5md", "w") as file:
        everything = file.create_group("particles/all")
        everything["species"] = particles(solute, kinds)[0].astype("i4")
        everything["position/value"] = numpy.asarray(frames, "f4")
        everything["position/step"] = 10 * numpy.arange(1, count + 1)
        everything["box/edges/value"] = edges
        types = file.create_group("parameters/molecule_types")
        if solute:  # the QM molecule has a kind without sites
            types.create_group("0").attrs["name"] = "qm"
        species = []
        for index, kind in enumerate(kinds, len(types)):
            group = types.create_group(str(index))
            group.attrs["name"] = kind.name
            names, _, charges, positions = zip(*kind.sites, strict=True)
            group["site_names"] = [name.encode() for name in names]
            group["charge"] = numpy.array(charges, float)
            group["reference_position"] = numpy.array(positions, float)
            species += [index] * kind.molecules
        file["particles/molecules/species"] = numpy.array(species, "i4")
    return folder
