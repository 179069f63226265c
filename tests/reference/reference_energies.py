"""The five energy terms of a configuration and their virials in plain NumPy, written from the
equations alone.

Independent of the program: own readers (the subset of .gro and .top that the test systems use), own
superposition, a straightforward minimum image per pair of sites, no cut of the work. Lengths in
angstrom, energies in kJ/mol, charges in e.

    python3 reference_energies.py FILE.gro FILE.top [--qm NAME] [--grid FILE] [--coulomb-cutoff RC]
                                  [--vdw-cutoff RC] [--vdw-modifier truncate|...]

The equations, rc being the cutoff, V = 0 at and beyond it:
  Coulomb   V = k q q' (1/r - 1/rc + (r - rc)/rc^2)      (Fennell and Gezelter 2006)
  vdW       V = 4 eps ((s/r)^12 - (s/r)^6)  truncate
            V - V(rc)                       potential-shift
            V - V(rc) - (r - rc) V'(rc)     force-shift
Molecules are rigid: the model's geometry is laid onto the file's coordinates by least squares. A
distance below 0.01 A counts as 0.01 A.

Molecular virial: W = - sum over pairs of sites of V'(r)/r (r . R), R between the centres of mass of
their molecules by the image that r is taken by; the QM molecule is one molecule.
"""

import argparse
import json
import pathlib
import struct
import zlib
from dataclasses import dataclass, field

import numpy as np

COULOMB = 1389.35457644  # kJ mol^-1 A e^-2
LEAST_DISTANCE = 0.01
TERMS = ("mm_coulomb", "mm_vdw", "qmmm_vdw", "qmmm_nuclei", "qmmm_grid")


# ---------------------------------------------------------------- readers


def read_gro(path):
    """Positions (n, 3) and the edges of the box (3,), in angstrom."""
    lines = pathlib.Path(path).read_text().split("\n")
    count = int(lines[1])
    # The width of a coordinate follows from the distance between two decimal points.
    first = lines[2].index(".", 20)
    width = lines[2].index(".", first + 1) - first
    rows = [
        [float(line[20 + width * k : 20 + width * (k + 1)]) for k in range(3)]
        for line in lines[2 : 2 + count]
    ]
    edges = [float(word) for word in lines[2 + count].split()]
    return 10 * np.array(rows), 10 * np.array(edges[:3])


@dataclass
class AtomType:
    atomic_number: int
    sigma: float  # angstrom
    epsilon: float
    mass: float


@dataclass
class Moleculetype:
    types: list = field(default_factory=list)
    masses: dict = field(default_factory=dict)  # where [ atoms ] gives them
    charges: list = field(default_factory=list)
    settle: tuple = ()


@dataclass
class Topology:
    combination: int = 0
    atom_types: dict = field(default_factory=dict)
    molecules: dict = field(default_factory=dict)
    content: list = field(default_factory=list)


def topology_lines(path):
    for line in path.read_text().split("\n"):
        line = line.split(";")[0].strip()
        if line.startswith("#include"):
            yield from topology_lines(path.parent / line.split('"')[1])
        elif line:
            assert not line.startswith("#"), f"{path}: not in the subset: {line}"
            yield line


def read_top(path):
    topology = Topology()
    section, current = "", None
    for line in topology_lines(pathlib.Path(path)):
        words = line.split()
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == "defaults":
            topology.combination = int(words[1])
        elif section == "atomtypes":
            number = next(int(word) for word in words[1:] if word.isdigit())
            sigma, epsilon = float(words[-2]), float(words[-1])
            topology.atom_types[words[0]] = AtomType(number, 10 * sigma, epsilon, float(words[-5]))
        elif section == "moleculetype":
            current = topology.molecules[words[0]] = Moleculetype()
        elif section == "atoms":
            current.types.append(words[1])
            current.charges.append(float(words[6]))
            if len(words) > 7:
                current.masses[len(current.types) - 1] = float(words[7])
        elif section == "settles":
            current.settle = (10 * float(words[2]), 10 * float(words[3]))
        elif section == "molecules":
            topology.content.append((words[0], int(words[1])))
        else:
            assert section == "system", f"{path}: section not in the subset: {section}"
    assert topology.combination in (2, 3), "sigma and epsilon are expected"
    return topology


def read_grid(path):
    """Points (n, 4): x, y, z, charge."""
    data = pathlib.Path(path).read_bytes()
    magic, version, _, count = struct.unpack_from("<8sIIQ", data)
    assert magic == b"STARPMCG" and version == 1
    assert struct.unpack("<I", data[-4:])[0] == zlib.crc32(data[:-4])
    return np.frombuffer(data, "<f8", 4 * count, 24).reshape(-1, 4)


def write_grid(path, points):
    points = np.ascontiguousarray(points, dtype="<f8")
    data = b"STARPMCG" + struct.pack("<IIQ", 1, 0, len(points)) + points.tobytes()
    pathlib.Path(path).write_bytes(data + struct.pack("<I", zlib.crc32(data)))


# ---------------------------------------------------------------- the system


def water_model(oh, hh):
    """Oxygen and two hydrogens with the distances of [ settles ]."""
    height = np.sqrt(oh**2 - (hh / 2) ** 2)
    return np.array([[0, 0, 0], [height, hh / 2, 0], [height, -hh / 2, 0]])


def laid_onto(model, target):
    """The rigid model on the target points: least squares by singular values (Kabsch 1976)."""
    a, b = model - model.mean(0), target - target.mean(0)
    u, _, vt = np.linalg.svd(a.T @ b)
    u[:, 2] *= np.sign(np.linalg.det(u @ vt))
    return a @ (u @ vt) + target.mean(0)


@dataclass
class Sites:
    """Interaction sites: positions (n, 3), charges (n), the molecule each belongs to (n)."""

    position: np.ndarray
    charge: np.ndarray
    sigma: np.ndarray
    epsilon: np.ndarray
    molecule: np.ndarray
    centre: np.ndarray  # (n, 3): of mass, of the site's molecule


@dataclass
class Reference:
    """A system, the five terms of its energy and their virials."""

    box: np.ndarray
    mm: Sites
    solute: Sites  # its charges are the nuclear ones
    combination: int
    grid: np.ndarray
    coulomb_cutoff: float
    vdw_cutoff: float
    modifier: str = "truncate"

    def distances(self, a, b):
        d = a[:, None, :] - b[None, :, :]
        d -= self.box * np.round(d / self.box)
        return np.maximum(np.sqrt(np.sum(d * d, axis=2)), LEAST_DISTANCE)

    def coulomb(self, r, charges, other_charges):
        rc = self.coulomb_cutoff
        v = np.where(r < rc, 1 / r - 1 / rc + (r - rc) / rc**2, 0)
        return COULOMB * np.sum(charges[:, None] * other_charges[None, :] * v)

    def lennard_jones(self, r, a, chosen, b, others):
        """Energy of the sites `chosen` of a with the sites `others` of b, distances r."""
        if self.combination == 3:
            sigma = np.sqrt(a.sigma[chosen][:, None] * b.sigma[others][None, :])
        else:
            sigma = (a.sigma[chosen][:, None] + b.sigma[others][None, :]) / 2
        epsilon = np.sqrt(a.epsilon[chosen][:, None] * b.epsilon[others][None, :])
        rc = self.vdw_cutoff
        v = truncated(r, sigma, epsilon)
        if self.modifier != "truncate":
            v -= truncated(rc, sigma, epsilon)
        if self.modifier == "force-shift":
            slope = -24 * epsilon / rc * (2 * (sigma / rc) ** 12 - (sigma / rc) ** 6)
            v -= (r - rc) * slope
        return np.sum(np.where(r < rc, v, 0))

    def energies(self):
        terms = dict.fromkeys(TERMS, 0.0)
        mm, solute = self.mm, self.solute
        everything = np.arange(len(solute.charge))
        for m in range(mm.molecule.max() + 1 if len(mm.molecule) else 0):
            own = np.flatnonzero(mm.molecule == m)
            later = np.flatnonzero(mm.molecule > m)
            r = self.distances(mm.position[own], mm.position[later])
            terms["mm_coulomb"] += self.coulomb(r, mm.charge[own], mm.charge[later])
            terms["mm_vdw"] += self.lennard_jones(r, mm, own, mm, later)
            r = self.distances(mm.position[own], solute.position)
            terms["qmmm_nuclei"] += self.coulomb(r, mm.charge[own], solute.charge)
            terms["qmmm_vdw"] += self.lennard_jones(r, mm, own, solute, everything)
            r = self.distances(mm.position[own], self.grid[:, :3])
            terms["qmmm_grid"] += self.coulomb(r, mm.charge[own], self.grid[:, 3])
        terms["total"] = sum(terms.values())
        return terms

    def pair(self, a, centres_a, b, centres_b):
        """Distances, and r . R of every pair."""
        plain = a[:, None, :] - b[None, :, :]
        image = self.box * np.round(plain / self.box)
        d = plain - image
        between_centres = centres_a[:, None, :] - centres_b[None, :, :] - image
        r = np.maximum(np.sqrt(np.sum(d * d, axis=2)), LEAST_DISTANCE)
        return r, np.sum(d * between_centres, axis=2)

    def coulomb_virial(self, pair, charges, other_charges):
        r, product = pair
        rc = self.coulomb_cutoff
        slope = np.where(r < rc, 1 / rc**2 - 1 / r**2, 0)
        return -COULOMB * np.sum(charges[:, None] * other_charges[None, :] * slope / r * product)

    def lennard_jones_virial(self, pair, a, chosen, b, others):
        r, product = pair
        if self.combination == 3:
            sigma = np.sqrt(a.sigma[chosen][:, None] * b.sigma[others][None, :])
        else:
            sigma = (a.sigma[chosen][:, None] + b.sigma[others][None, :]) / 2
        epsilon = np.sqrt(a.epsilon[chosen][:, None] * b.epsilon[others][None, :])
        rc = self.vdw_cutoff
        slope = truncated_slope(r, sigma, epsilon)
        if self.modifier == "force-shift":
            slope = slope - truncated_slope(rc, sigma, epsilon)
        return -np.sum(np.where(r < rc, slope / r * product, 0))

    def virials(self):
        terms = dict.fromkeys(TERMS, 0.0)
        mm, solute = self.mm, self.solute
        everything = np.arange(len(solute.charge))
        grid_centre = np.repeat(solute.centre[:1], len(self.grid), axis=0)
        for m in range(mm.molecule.max() + 1 if len(mm.molecule) else 0):
            own = np.flatnonzero(mm.molecule == m)
            later = np.flatnonzero(mm.molecule > m)
            x, centre, q = mm.position[own], mm.centre[own], mm.charge[own]
            pair = self.pair(x, centre, mm.position[later], mm.centre[later])
            terms["mm_coulomb"] += self.coulomb_virial(pair, q, mm.charge[later])
            terms["mm_vdw"] += self.lennard_jones_virial(pair, mm, own, mm, later)
            pair = self.pair(x, centre, solute.position, solute.centre)
            terms["qmmm_nuclei"] += self.coulomb_virial(pair, q, solute.charge)
            terms["qmmm_vdw"] += self.lennard_jones_virial(pair, mm, own, solute, everything)
            if len(self.grid):
                pair = self.pair(x, centre, self.grid[:, :3], grid_centre)
                terms["qmmm_grid"] += self.coulomb_virial(pair, q, self.grid[:, 3])
        terms["total"] = sum(terms.values())
        return terms


def truncated(r, sigma, epsilon):
    x6 = (sigma / r) ** 6
    return 4 * epsilon * (x6 * x6 - x6)


def truncated_slope(r, sigma, epsilon):
    x6 = (sigma / r) ** 6
    return -24 * epsilon / r * (2 * x6 * x6 - x6)


def sites_of(topology, rows):
    """rows: (position, type, charge, molecule, centre)"""
    types = [topology.atom_types[row[1]] for row in rows]
    return Sites(
        np.array([row[0] for row in rows]).reshape(-1, 3),
        np.array([row[2] for row in rows], dtype=float),
        np.array([t.sigma for t in types]),
        np.array([t.epsilon for t in types]),
        np.array([row[3] for row in rows], dtype=int),
        np.array([row[4] for row in rows]).reshape(-1, 3),
    )


def make_reference(gro, top, qm="", grid=None, coulomb=0, vdw=0, modifier="truncate"):
    """Cutoffs as the program's options: 0 is half the shortest edge, or the Coulomb cutoff."""
    positions, box = read_gro(gro)
    topology = read_top(top)
    mm, solute = [], []
    first, number = 0, 0
    for name, count in topology.content:
        kind = topology.molecules[name]
        for _ in range(count):
            x = positions[first : first + len(kind.types)]
            x = x - box * np.round((x - x[0]) / box)
            first += len(x)
            masses = np.array(
                [kind.masses.get(i, topology.atom_types[t].mass) for i, t in enumerate(kind.types)]
            )
            if name == qm:
                centre = masses @ x / masses.sum()
                for position, kind_of_atom in zip(x, kind.types):
                    nucleus = topology.atom_types[kind_of_atom].atomic_number
                    solute.append((position, kind_of_atom, nucleus, 0, centre))
                continue
            if kind.settle:
                x = laid_onto(water_model(*kind.settle), x)
            else:
                assert len(x) == 1, f"{name}: only rigid waters and single sites"
            centre = masses @ x / masses.sum()
            for row in zip(x, kind.types, kind.charges):
                mm.append((*row, number, centre))
            number += 1
    assert first == len(positions)
    coulomb = coulomb or min(box) / 2
    return Reference(
        box,
        sites_of(topology, mm),
        sites_of(topology, solute),
        topology.combination,
        np.zeros((0, 4)) if grid is None else read_grid(grid),
        coulomb,
        vdw or coulomb,
        modifier,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gro")
    parser.add_argument("top")
    parser.add_argument("--qm", default="")
    parser.add_argument("--grid")
    parser.add_argument("--coulomb-cutoff", type=float, default=0)
    parser.add_argument("--vdw-cutoff", type=float, default=0)
    parser.add_argument("--vdw-modifier", default="truncate")
    a = parser.parse_args()
    reference = make_reference(
        a.gro, a.top, a.qm, a.grid, a.coulomb_cutoff, a.vdw_cutoff, a.vdw_modifier
    )
    print(json.dumps(reference.energies(), indent=2))


if __name__ == "__main__":
    main()
