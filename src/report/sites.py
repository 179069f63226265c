"""Kinds of molecules of a trajectory, their equivalent sites, and the pairs that a user names.

Sites of a kind are equivalent if bonds (by covalent radii) and elements, and of MM molecules the
charges, cannot tell them apart: the six hydrogens of acetone, the two oxygens of a carboxylate.
"""

import re
from dataclasses import dataclass

import box_picture
import numpy
from run_folder import ReportError
from trajectory import symbol

SOLUTE = "solute"  # what the QM molecule is called where a name needs its molecule before it
MOST_LISTED = 40  # names in a message
PLUS = re.compile(r"\+(?!\s*(?:\+|$))")  # between two names; NA+ is one


@dataclass(eq=False)
class Sites:
    """Particles that count as one, of one or more kinds of molecules."""

    label: str
    particles: numpy.ndarray


@dataclass(eq=False)
class Pair:
    """Sites `around` those of `centre`: a coordination number is of them around one of these."""

    centre: Sites
    around: Sites

    @property
    def label(self):
        return f"{self.centre.label}:{self.around.label}"


@dataclass(eq=False)
class Kind:
    """One kind of molecules. groups: places of equivalent sites, virtual sites left out."""

    name: str
    names: list
    numbers: numpy.ndarray
    firsts: numpy.ndarray  # first particle of each molecule
    groups: list

    @property
    def water(self):
        return sorted(z for z in self.numbers if z) == [1, 1, 8]

    @property
    def called(self):
        return "water" if self.water else self.name

    def elements(self):
        return [symbol(z) if z else "" for z in self.numbers]

    def particles(self, places):
        return (self.firsts[:, None] + numpy.asarray(places, int)).reshape(-1)


def equivalent(keys, bonds):
    """Places of atoms that neither their keys nor their neighbours, theirs and so on, tell apart."""
    neighbours = [[] for _ in keys]
    for a, b in bonds:
        neighbours[a].append(b)
        neighbours[b].append(a)
    colours = _numbered(keys)
    while True:
        refined = _numbered(
            [(colours[i], *sorted(colours[j] for j in near)) for i, near in enumerate(neighbours)]
        )
        if len(set(refined)) == len(set(colours)):
            break
        colours = refined
    groups = {}
    for place, colour in enumerate(colours):
        groups.setdefault(colour, []).append(place)
    return list(groups.values())


def _numbered(keys):
    numbers = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _groups(names, numbers, charges, positions):
    bonds = box_picture.bonds(positions, numbers, [numpy.arange(len(numbers))])
    keys = [
        (int(z), "" if z else name, round(float(charge), 6))
        for name, z, charge in zip(names, numbers, charges, strict=True)
    ]
    virtual = [z == 0 and len(names) > 1 for z in numbers]
    return [group for group in equivalent(keys, bonds) if not virtual[group[0]]]


def kinds_of(trajectory):
    """The QM molecule first, then the others in the order of the topology."""
    kinds = []
    count = trajectory.solute_atoms
    if count:
        numbers = trajectory.atomic_numbers[:count]
        names = trajectory.solute_names()
        positions = trajectory.positions(0)[:count] if trajectory.frames else numpy.zeros((count, 3))
        groups = _groups(names, numbers, numpy.zeros(count), positions)
        kinds.append(Kind(SOLUTE, names, numbers, numpy.zeros(1, int), groups))
    for index, name in enumerate(trajectory.type_names):
        firsts = trajectory.first_site[trajectory.molecule_types == index]
        if not len(firsts):
            continue
        names = trajectory.site_names[index]
        numbers = trajectory.atomic_numbers[firsts[0] : firsts[0] + len(names)]
        groups = _groups(names, numbers, *trajectory.reference(index))
        kinds.append(Kind(name, names, numbers, firsts, groups))
    return kinds


class Catalogue:
    """All sites of a trajectory by what a user calls them."""

    def __init__(self, trajectory):
        self.kinds = kinds_of(trajectory)
        self.solute = self.kinds[0] if trajectory.solute_atoms else None
        others = self.kinds[1:] if self.solute else self.kinds
        self.solvent = max(others, key=lambda kind: len(kind.firsts), default=None)
        self._molecule = numpy.zeros(len(trajectory.atomic_numbers), int)
        self._molecule[trajectory.solute_atoms :] = 1 + numpy.repeat(
            numpy.arange(len(trajectory.molecule_sizes)), trajectory.molecule_sizes
        )

    def molecule_of(self, particles):
        return self._molecule[particles]

    def pairs_in(self, pair):
        """Pairs of particles in different molecules, each once from either side."""
        first, second = (self.molecule_of(side.particles) for side in (pair.centre, pair.around))
        molecules = len(self._molecule) + 1
        together = numpy.bincount(first, minlength=molecules) @ numpy.bincount(
            second, minlength=molecules
        )
        return len(first) * len(second) - int(together)

    def name_of(self, kind, place):
        """With the molecule's name before it where another kind has a site of this name."""
        name = kind.names[place]
        shared = any(name in other.names for other in self.kinds if other is not kind)
        return f"{kind.name}.{name}" if shared else name

    def sites(self, kind, places):
        label = "+".join(self.name_of(kind, place) for place in places)
        return Sites(label, kind.particles(places))

    def sides(self, kind):
        return [self.sites(kind, group) for group in kind.groups]

    def default_pairs(self):
        """All of ions and solutes with themselves and with the solvent, and of the solvent the
        first sites of two molecules."""
        solvent = self.solvent
        solutes = [side for kind in self.kinds if kind is not solvent for side in self.sides(kind)]
        pairs = []
        if solvent:
            around = self.sides(solvent)
            pairs += [Pair(side, other) for side in solutes for other in around]
            if around:
                pairs.append(Pair(around[0], around[0]))
        for index, side in enumerate(solutes):
            pairs += [Pair(side, other) for other in solutes[index:]]
        return [pair for pair in pairs if self.pairs_in(pair)]

    def named_pairs(self, text):
        """Of `A:B,C+D:E`: sites of A and of B, of C or D and of E."""
        pairs = []
        for word in filter(None, (word.strip() for word in text.split(","))):
            sides = [self._side(word, side) for side in word.split(":")]
            if len(sides) != 2:
                raise self._mistake(word, "is not two sites with a colon between them")
            pair = Pair(*sides)
            if not self.pairs_in(pair):
                raise self._mistake(word, "is a pair within one molecule, whose shape is fixed")
            if pair.label not in [earlier.label for earlier in pairs]:
                pairs.append(pair)
        if not pairs:
            raise self._mistake(text, "names no pair")
        return pairs

    def _side(self, word, text):
        names = [name.strip() for name in PLUS.split(text)]
        particles = [self._find(word, name) for name in names]
        return Sites("+".join(names), numpy.unique(numpy.concatenate(particles)))

    def _find(self, word, name):
        """Sites of this name; else, of this element; in the molecules named before a point."""
        kinds = self.kinds
        # Names of molecules may have points themselves.
        before = [kind for kind in kinds if name.lower().startswith(f"{kind.name.lower()}.")]
        if before:
            kinds = [max(before, key=lambda kind: len(kind.name))]
        wanted = name[len(kinds[0].name) + 1 :].lower() if before else name.lower()
        for words_of in (lambda kind: kind.names, lambda kind: kind.elements()):
            found = [
                (kind, [i for i, text in enumerate(words_of(kind)) if text.lower() == wanted])
                for kind in kinds
            ]
            found = [(kind, places) for kind, places in found if places and wanted]
            if len(found) > 1:
                remedy = " or ".join(f"{kind.name}.{name}" for kind, _ in found)
                raise self._mistake(word, f"{name[:40]!r} is in several molecules", remedy)
            if found:
                kind, places = found[0]
                return kind.particles(places)
        raise self._mistake(word, f"there is no {name[:40]!r}")

    def _mistake(self, word, problem, remedy=None):
        names = [self.name_of(kind, i) for kind in self.kinds for i in range(len(kind.names))]
        more = ", ..." if len(names) > MOST_LISTED else ""
        remedy = remedy or f"for example {self._example()}; sites are {', '.join(names[:MOST_LISTED])}{more}"
        return ReportError(f"--pairs: {word[:80]!r}: {problem}\n  remedy: {remedy}")

    def _example(self):
        return next((pair.label for pair in self.default_pairs()), "O1:OW")
