"""Particles, their names and their positions from a run's trajectory.h5md (H5MD)."""

import h5py
import numpy

# fmt: off
SYMBOLS = (  # by atomic number
    "X", "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P",
    "S", "Cl", "Ar", "K", "Ca", "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga",
    "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y", "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag",
    "Cd", "In", "Sn", "Sb", "Te", "I", "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu",
    "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W", "Re", "Os", "Ir", "Pt", "Au",
    "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn",
)
# fmt: on


def symbol(atomic_number):
    return SYMBOLS[atomic_number] if 0 <= atomic_number < len(SYMBOLS) else "X"


def _printable(name):
    return "".join(letter if letter.isprintable() else "?" for letter in name)


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
        self._edges = group["box/edges/value"]
        self.edges = numpy.asarray(self._edges[0], float)
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
            name = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
            self.type_names.append(_printable(name))
            names = group["site_names"][()] if "site_names" in group else []
            self.site_names.append([_printable(name.decode(errors="replace")) for name in names])
        molecules = self._file.get("particles/molecules/species")
        self.molecule_types = numpy.asarray(molecules if molecules is not None else [], int)
        sizes = numpy.array([len(names) for names in self.site_names], int)
        sizes = sizes[self.molecule_types] if len(self.molecule_types) else sizes[:0]
        self.solute_atoms = len(self.atomic_numbers) - int(sizes.sum())
        self.first_site = self.solute_atoms + numpy.concatenate(([0], numpy.cumsum(sizes)))[:-1]
        self.molecule_sizes = sizes

    def _sites_fit(self, particles):
        return 0 <= self.solute_atoms <= particles

    def has_molecules_of(self, other):
        """The same, in the same order."""
        return (
            numpy.array_equal(self.atomic_numbers, other.atomic_numbers)
            and numpy.array_equal(self.molecule_types, other.molecule_types)
            and (self.type_names, self.site_names) == (other.type_names, other.site_names)
        )

    def positions(self, frame):
        return numpy.asarray(self._positions[frame], float)

    def edges_of(self, frame):
        return numpy.asarray(self._edges[frame], float)

    def reference(self, index):
        """Charges and positions of the sites of a kind of molecules in their own frame."""
        group = self._file[f"parameters/molecule_types/{index}"]
        count = len(self.site_names[index])
        charges, positions = group["charge"][()], group["reference_position"][()]
        if charges.shape != (count,) or positions.shape != (count, 3):
            raise ValueError("sites of a kind of molecules do not fit each other")
        return charges, positions

    def solute_names(self):
        """Element and number, as in system.pdb: C1, C2, ..."""
        numbers = self.atomic_numbers[: self.solute_atoms]
        return [f"{symbol(z)}{i}" for i, z in enumerate(numbers, 1)]
