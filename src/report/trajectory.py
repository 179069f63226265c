"""Particles, their names and their positions from a run's trajectory.h5md (H5MD)."""

from dataclasses import dataclass

import h5py
import numpy

# fmt: off
SYMBOLS = (  # by atomic number
    "X", "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P",
    "S", "Cl", "Ar", "K", "Ca", "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga",
    "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y", "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag",
    "Cd", "In", "Sn", "Sb", "Te", "I", "Xe",
)
# fmt: on


def symbol(atomic_number):
    return SYMBOLS[atomic_number] if 0 <= atomic_number < len(SYMBOLS) else "X"


@dataclass
class Solvent:
    """The most frequent kind of molecule: sites of each by what they are called in a plot."""

    name: str
    molecules: int
    sites: dict  # "O" -> particle indices, the first one the molecule's centre
    water: bool

    @property
    def centre(self):
        return next(iter(self.sites))


class Trajectory:
    """An open trajectory. Positions: (particles, 3), angstrom; the solute's atoms come first."""

    def __init__(self, path):
        # A run that writes to it holds a lock; what it has flushed can be read all the same.
        self._file = h5py.File(path, "r", locking=False)
        group = self._file["particles/all"]
        self._positions = group["position/value"]
        steps = numpy.asarray(group["position/step"])
        self.frames = min(len(steps), len(self._positions))
        self.steps = steps[: self.frames]
        self.edges = numpy.asarray(group["box/edges/value"][0], float)
        self.atomic_numbers = numpy.asarray(group["species"])
        self._read_molecules()
        particles = len(self.atomic_numbers)
        if self._positions.shape[1:] != (particles, 3) or not self._sites_fit(particles):
            raise ValueError("its arrays do not fit each other")
        if not (numpy.isfinite(self.edges) & (self.edges > 0)).all():
            raise ValueError("its box has no volume")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def _read_molecules(self):
        types = self._file["parameters/molecule_types"]
        self.type_names, self.site_names = [], []
        for index in range(len(types)):
            group = types[str(index)]
            name = group.attrs["name"]
            self.type_names.append(name.decode() if isinstance(name, bytes) else str(name))
            names = group["site_names"][()] if "site_names" in group else []
            self.site_names.append([n.decode(errors="replace") for n in names])
        molecules = self._file.get("particles/molecules/species")
        self.molecule_types = numpy.asarray(molecules if molecules is not None else [], int)
        sizes = numpy.array([len(names) for names in self.site_names], int)
        sizes = sizes[self.molecule_types] if len(self.molecule_types) else sizes[:0]
        self.solute_atoms = len(self.atomic_numbers) - int(sizes.sum())
        self.first_site = self.solute_atoms + numpy.concatenate(([0], numpy.cumsum(sizes)))[:-1]
        self.molecule_sizes = sizes

    def _sites_fit(self, particles):
        return 0 <= self.solute_atoms <= particles

    def positions(self, frame):
        return numpy.asarray(self._positions[frame], float)

    def solute_names(self):
        """Element and number, as in system.pdb: C1, C2, ..."""
        numbers = self.atomic_numbers[: self.solute_atoms]
        return [f"{symbol(z)}{i}" for i, z in enumerate(numbers, 1)]

    def solvent(self):
        """None: there are no molecules."""
        if not len(self.molecule_types):
            return None
        kinds, counts = numpy.unique(self.molecule_types, return_counts=True)
        kind = kinds[counts.argmax()]
        firsts = self.first_site[self.molecule_types == kind]
        names = self.site_names[kind]
        numbers = self.atomic_numbers[firsts[0] : firsts[0] + len(names)]
        water = sorted(z for z in numbers if z) == [1, 1, 8]
        sites = {}
        for offset, (name, z) in enumerate(zip(names, numbers, strict=True)):
            if z == 0 and len(names) > 1:  # no atom
                continue
            if not water and sites:
                break
            label = symbol(z) if z else name
            sites.setdefault(label, []).append(firsts + offset)
        sites = {label: numpy.concatenate(found) for label, found in sites.items()}
        if water:
            sites = {"O": sites["O"], "H": sites["H"]}
        return Solvent(self.type_names[kind], len(firsts), sites, water)
