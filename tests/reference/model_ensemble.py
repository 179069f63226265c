"""A few rigid waters around the solute of model_solute.py, in plain NumPy: energies, sampled by brute
force with the exact energy in every step, and, for one water, integrated.

    python3 model_ensemble.py [--waters 2] [--chains 2000] [--sweeps 200] [--seed 1]

Independent of the program, written from the equations alone (see reference_energies.py): TIP3P with
Lennard-Jones sites on the hydrogens, shifted-force Coulomb, Lennard-Jones shifted to 0 at the
cutoff, half the edge of a cubic box. Angstrom, kJ/mol, e, K. Arrays of configurations have the shape
(configurations, waters, 3 sites, 3).
"""

import argparse
import dataclasses
import itertools
import math

import model_solute as model
import numpy as np
from model_solute import COULOMB

GAS_CONSTANT = 0.00831446261815324
WATER_CHARGES = np.array([-0.834, 0.417, 0.417])
OH, HH = 0.9572, 1.5139
# Of a water's sites and of the solute's atoms; geometric means for pairs. TIP3P's hydrogens have
# none, so that they could reach the solute's points.
WATER_SIGMA, WATER_EPSILON = np.array([3.15061, 1.4, 1.4]), np.array([0.636386, 0.6, 0.6])
SOLUTE_SIGMA, SOLUTE_EPSILON = np.array([3.6, 3.8, 3.2]), np.array([0.6, 0.6, 0.6])
WATER, SOLUTE = (WATER_SIGMA, WATER_EPSILON), (SOLUTE_SIGMA, SOLUTE_EPSILON)
LEAST_DISTANCE = 0.01
NEAREST = 2.2  # nearer to an atom of the solute no oxygen comes
# There the field's fourth power would win against the Lennard-Jones energy; no chain of small moves
# gets through the thousands of kJ/mol around it.
CORE = 1.2
REINSERTIONS = 3
START = 2.9  # of oxygens from atoms and oxygens at the start


def pairs(one, other):
    """sigma and epsilon of all pairs."""
    return [np.sqrt(np.multiply.outer(a, b)) for a, b in zip(one, other, strict=True)]


def water():
    """Sites of a water, (3, 3), the oxygen at the origin."""
    height = math.sqrt(OH**2 - (HH / 2) ** 2)
    return np.array([[0, 0, 0], [height, HH / 2, 0], [height, -HH / 2, 0]])


def turns(axes, angles):
    """Rotation matrices (n, 3, 3) about unit vectors (Rodrigues)."""
    c, s = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
    x, y, z = axes.T
    zero = np.zeros_like(x)
    cross = np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
    return c * np.eye(3) + s * cross + (1 - c) * axes[:, :, None] * axes[:, None, :]


@dataclasses.dataclass
class Model:
    """The solute in the middle of a cubic box, its axis along z."""

    box: float = 9.0
    temperature: float = 500.0

    def __post_init__(self):
        self.cutoff = self.box / 2
        self.kt = GAS_CONSTANT * self.temperature
        self.centre = np.full(3, self.box / 2)
        self.atoms = self.centre + model.ATOMS
        self.points = np.vstack([self.centre + model.D * model.AXES, self.atoms])

    def distances(self, a, b):
        """Of the nearest images; a, b: (..., 3), shapes that fit."""
        square = 0.0
        for k in range(3):
            d = (a[..., k] - b[..., k]) / self.box
            d -= np.rint(d)
            square = square + d * d
        return np.maximum(self.box * np.sqrt(square), LEAST_DISTANCE)

    def coulomb(self, r):
        """Of two unit charges."""
        rc = self.cutoff
        inside = np.minimum(r, rc)
        return COULOMB * (1 / inside - 2 / rc + inside / rc**2)

    def lennard_jones(self, r, sigma, epsilon):
        square = (sigma / np.minimum(r, self.cutoff)) ** 2
        shift = (sigma / self.cutoff) ** 6
        x = square * square * square
        return 4 * epsilon * (x * x - x - shift * shift + shift)

    def between(self, one, other):
        """Energy of two waters, (..., 3, 3) each."""
        r = self.distances(one[..., :, None, :], other[..., None, :, :])
        energy = np.einsum("...ij,i,j", self.coulomb(r), WATER_CHARGES, WATER_CHARGES)
        return energy + self.lennard_jones(r, *pairs(WATER, WATER)).sum(axis=(-2, -1))

    def at_solute(self, sites):
        """Of one water, (..., 3, 3): its potential at the solute's points (..., 9), its van der
        Waals energy with it (...)."""
        r = self.distances(sites[..., :, None, :], self.points)
        potential = np.einsum("...ip,i", self.coulomb(r), WATER_CHARGES)
        vdw = self.lennard_jones(r[..., 6:], *pairs(WATER, SOLUTE))
        return potential, vdw.sum(axis=(-2, -1))

    def electronic(self, potential):
        """Embedded energy less the isolated solute's; potential: (..., 9)."""
        field = potential[..., :6] @ model.FIELD_OF_POTENTIAL.T
        return potential[..., 6:] @ np.array(model.FIXED_CHARGES) + model.energy(field)

    def observables(self, sites):
        """Of configurations (n, waters, 3, 3): a dictionary of arrays (n) or (n, waters)."""
        count = sites.shape[1]
        potential, vdw = self.at_solute(sites)
        total = self.electronic(potential.sum(axis=1))
        field = potential.sum(axis=1)[:, :6] @ model.FIELD_OF_POTENTIAL.T
        mm = np.zeros(len(sites))
        for i, j in itertools.combinations(range(count), 2):
            mm += self.between(sites[:, i], sites[:, j])
        fixed = np.array(model.FIXED_CHARGES) @ (self.atoms - self.centre)
        dipole = (model.dipole(field) + fixed) * model.DEBYE_PER_E_ANGSTROM
        return {
            "energy": total + vdw.sum(axis=1) + mm,
            "embedded energy": total,
            "mm energy": mm,
            "dipole": np.linalg.norm(dipole, axis=1),
            "dipole along the axis": dipole[:, 2],
            "field": np.linalg.norm(field, axis=1),
            "distance from S": self.distances(sites[:, :, 0], self.atoms[0]),
            "distance from O": self.distances(sites[:, :, 0], self.atoms[2]),
            "nearest hydrogen": self.distances(sites[:, :, 1:], self.centre).min(axis=(1, 2)),
        }


class BruteForce:
    """Many chains at once, each with the exact energy in every step."""

    def __init__(self, system, waters, chains, seed, translation=0.4, rotation=0.6):
        self.system, self.waters = system, waters
        self.translation, self.rotation = translation, rotation  # angstrom, radians
        self.random = np.random.default_rng(seed)
        self.sites = self._start(chains)
        self.potential, self.vdw = system.at_solute(self.sites)
        self.electronic = system.electronic(self.potential.sum(axis=1))
        self.pairs = np.zeros((chains, waters, waters))
        for i, j in itertools.combinations(range(waters), 2):
            self.pairs[:, i, j] = system.between(self.sites[:, i], self.sites[:, j])
        self.pairs += self.pairs.transpose(0, 2, 1)
        self.moves = self.accepted = 0

    def _start(self, chains):
        """At random where nothing overlaps: the charges have no core of their own."""
        sites = np.empty((chains, self.waters, 3, 3))
        for m in range(self.waters):
            missing = np.arange(chains)
            while len(missing):
                turn = turns(
                    self._directions(len(missing)),
                    self.random.uniform(0, 2 * np.pi, len(missing)),
                )
                places = self.random.uniform(0, self.system.box, (len(missing), 1, 3))
                sites[missing, m] = water() @ turn + places
                missing = missing[self._too_near(sites[missing, : m + 1])]
        return sites

    def _too_near(self, sites):
        """Whether the last water is, to the solute or to another one."""
        oxygens = sites[:, :, 0]
        to_solute = self.system.distances(oxygens[:, -1:], self.system.atoms).min(axis=1)
        to_others = self.system.distances(oxygens[:, -1:], oxygens[:, :-1])
        return (to_solute < START) | np.any(to_others < START, axis=1)

    def _directions(self, count):
        vectors = self.random.normal(size=(count, 3))
        return vectors / np.linalg.norm(vectors, axis=1)[:, None]

    def _proposals(self, m):
        """Near the old place, and in one of REINSERTIONS steps anywhere."""
        old, chains = self.sites[:, m], len(self.sites)
        anywhere = self.random.random() * REINSERTIONS < 1
        translation = self.system.box / 2 if anywhere else self.translation
        rotation = np.pi if anywhere else self.rotation
        # Turned from the old orientation: a random turn by itself would not be uniform.
        shift = self.random.uniform(-translation, translation, (chains, 1, 3))
        angles = self.random.uniform(-rotation, rotation, chains)
        turn = turns(self._directions(chains), angles)
        return (old - old[:, :1]) @ turn + old[:, :1] + shift

    def step(self, m):
        """Tries to move water m of every chain."""
        new, chains = self._proposals(m), len(self.sites)
        potential, vdw = self.system.at_solute(new)
        change = vdw - self.vdw[:, m]
        pairs = np.zeros((chains, self.waters))
        for k in range(self.waters):
            if k != m:
                pairs[:, k] = self.system.between(new, self.sites[:, k])
        change += (pairs - self.pairs[:, m]).sum(axis=1)
        total = self.potential.sum(axis=1) - self.potential[:, m] + potential
        electronic = self.system.electronic(total)
        change += electronic - self.electronic
        near = self.system.distances(new, self.system.centre).min(axis=1) < CORE
        change[near] = np.inf
        with np.errstate(over="ignore"):
            taken = self.random.random(chains) < np.exp(-change / self.system.kt)
        self.sites[taken, m] = new[taken]
        self.potential[taken, m], self.vdw[taken, m] = potential[taken], vdw[taken]
        self.electronic[taken] = electronic[taken]
        self.pairs[taken, m] = self.pairs[taken, :, m] = pairs[taken]
        self.moves += chains
        self.accepted += int(taken.sum())

    def sweep(self, count=1):
        for _ in range(count):
            for m in range(self.waters):
                self.step(m)


def integral(system, spacing=0.25, turn_points=(12, 10, 6)):
    """Averages with one water by quadrature over its six coordinates: mean energy, its standard
    deviation, mean dipole along the axis, mean field.

    Place: midpoints of cells in an eighth of the box, x > y > 0 by reflections that the cube, the
    solute's points and a flat water share; orientation: Euler angles, by periodic rules and
    Gauss-Legendre's.
    """
    count = round(system.box / 2 / spacing)  # whole cells
    half = (np.arange(count) + 0.5) * system.box / 2 / count
    along = np.concatenate([-half[::-1], half])
    places = np.array([[x, y, z] for x in half for y in half if y <= x for z in along])
    weights = np.where(places[:, 0] == places[:, 1], 0.5, 1.0)
    near = system.distances(places[:, None, :] + system.centre, system.atoms).min(axis=1)
    places, weights = places[near > NEAREST], weights[near > NEAREST]
    orientations, turn_weights = _orientations(*turn_points)
    sums = np.zeros(5)
    for orientation, weight in zip(orientations, turn_weights, strict=True):
        sites = (places + system.centre)[:, None, None, :] + water() @ orientation
        seen = system.observables(sites)
        w = weight * weights * np.exp(-seen["energy"] / system.kt)
        e = seen["energy"]
        sums += [w @ x for x in (1 + 0 * e, e, e * e, seen["dipole along the axis"], seen["field"])]
    # Where the solute is, the weight is 0.
    mean = sums / sums[0]
    return {
        "energy": mean[1],
        "width": math.sqrt(mean[2] - mean[1] ** 2),
        "dipole along the axis": mean[3],
        "field": mean[4],
    }


def _orientations(first, second, third):
    """Matrices and weights; a half turn about the water's own axis changes nothing."""
    cosines, gauss = np.polynomial.legendre.leggauss(second)
    matrices, weights = [], []
    for a in 2 * np.pi * (np.arange(first) + 0.25) / first:
        for cosine, g in zip(cosines, gauss, strict=True):
            for c in np.pi * (np.arange(third) + 0.5) / third:
                matrices.append(_euler(a, math.acos(cosine), c))
                weights.append(g)
    return np.array(matrices), np.array(weights)


def _euler(a, b, c):
    """Row vectors: first about the water's axis (x) by c, then tilted by b, then about z by a."""
    about = lambda axis, angle: turns(np.array([axis], float), np.array([angle]))[0]
    # The axis x goes to z first, so that c turns about the axis that b tilts.
    up = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    return up @ about([0, 0, 1], c) @ about([0, 1, 0], b) @ about([0, 0, 1], a)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waters", type=int, default=2)
    parser.add_argument("--chains", type=int, default=2000)
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chains = BruteForce(Model(), options.waters, options.chains, options.seed)
    chains.sweep(options.sweeps)
    seen = chains.system.observables(chains.sites)
    for name, values in seen.items():
        error = values.std() / math.sqrt(values.size)
        print(f"{name:24s} {values.mean():10.4f} +- {error:.4f}, width {values.std():.4f}")
    print(f"accepted: {chains.accepted / chains.moves:.3f}")


if __name__ == "__main__":
    main()
