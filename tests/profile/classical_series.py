"""Series of classical Hamiltonians of a rigid solute in SPC/E water, which `starpmc profile` and OpenMM
both sample: charging a linear molecule of three sites, and growing a Lennard-Jones particle.

The solute is that of ../reference/model_solute.py. Where in its series an image is, its `place` from 0
to 1, is told by the distance of its first two atoms, which changes by a hundredth of an angstrom:
that is how the program tells its QM worker.
"""

import dataclasses

import numpy as np

COULOMB = 1389.35457644  # kJ mol^-1 A e^-2
ELEMENTS, NUCLEAR_CHARGES, MASSES = ("S", "C", "O"), (16, 6, 8), (32.06, 12.011, 15.999)
DISTANCE, CHANGE = 1.4, 0.01  # angstrom
# SPC/E: Berendsen, Grigera and Straatsma, J. Phys. Chem. 91, 6269 (1987).
WATER_CHARGES = np.array([-0.8476, 0.4238, 0.4238])
WATER_SIGMA, WATER_EPSILON = 3.16557, 0.650194  # angstrom, kJ/mol; of the oxygen
BOND, ANGLE = 1.0, 109.47  # angstrom, degrees


def geometry(place):
    """(3, 3), angstrom, about the centre of mass, on which the program lays images."""
    atoms = np.array([[0, 0, DISTANCE + CHANGE * place], [0, 0, 0], [0, 0, -DISTANCE]])
    return atoms - np.average(atoms, axis=0, weights=MASSES)


def place_of(positions):
    apart = np.linalg.norm(np.asarray(positions[0]) - np.asarray(positions[1]))
    return (apart - DISTANCE) / CHANGE


@dataclasses.dataclass
class Series:
    places: np.ndarray
    last_charges: np.ndarray
    sigmas: np.ndarray  # (images, atoms), angstrom
    epsilons: np.ndarray  # kJ/mol

    def charges(self, place):
        """They grow with the place, from 0."""
        return np.round(place, 3) * self.last_charges


def charging(images=6):
    sigmas, epsilons = np.array([3.6, 3.8, 3.2]), np.array([0.6, 0.6, 0.6])
    return Series(
        np.linspace(0, 1, images), np.array([0.4, 0.0, -0.4]),
        np.tile(sigmas, (images, 1)), np.tile(epsilons, (images, 1)),
    )  # fmt: skip


def growth():
    """From nothing: the other two atoms have no interaction at all."""
    sigma = np.array([0.0, 0.3, 0.8, 1.4, 2.0, 2.6, 3.1, 3.6])
    none = np.zeros_like(sigma)
    epsilon = np.where(sigma > 0, 1.0, 0.0)
    return Series(
        np.linspace(0, 1, len(sigma)), np.zeros(3),
        np.stack([none, sigma, none], axis=1), np.stack([none, epsilon, none], axis=1),
    )  # fmt: skip


SERIES = {"charging": charging(), "growth": growth()}


def interaction(series, image, solute, waters, edge, cutoff):
    """Energy of the solute (3, 3) with waters (n, 3, 3) in kJ/mol, all in angstrom: shifted-force
    Coulomb, Lennard-Jones shifted to 0 at the cutoff, geometric means, nearest images."""
    apart = waters[:, :, None] - solute
    apart -= edge * np.rint(apart / edge)
    r = np.sqrt((apart**2).sum(axis=-1))  # (n, 3 sites, 3 atoms)
    inside = r < cutoff
    charges = WATER_CHARGES[:, None] * series.charges(series.places[image])
    coulomb = COULOMB * charges * (1 / r - 2 / cutoff + r / cutoff**2)
    sigma = np.sqrt(WATER_SIGMA * series.sigmas[image])
    four_epsilon = 4 * np.sqrt(WATER_EPSILON * series.epsilons[image])
    x, shift = (sigma / r[:, 0]) ** 6, (sigma / cutoff) ** 6
    vdw = four_epsilon * (x * x - x - shift * shift + shift)
    return float((coulomb * inside).sum() + (vdw * inside[:, 0]).sum())


def topology(series, image, waters):
    """GROMACS topology text of an image."""
    types = "".join(
        f"M{symbol} {number} {mass} 0.0 A {sigma / 10:.8f} {epsilon:.8f}\n"
        for symbol, number, mass, sigma, epsilon in zip(
            ELEMENTS, NUCLEAR_CHARGES, MASSES, series.sigmas[image], series.epsilons[image],
            strict=True,
        )
    )  # fmt: skip
    solute = "".join(
        f"{i + 1} M{symbol} 1 MOD {symbol}{i + 1} {i + 1} 0.0 {mass}\n"
        for i, (symbol, mass) in enumerate(zip(ELEMENTS, MASSES, strict=True))
    )
    oxygen, hydrogen = WATER_CHARGES[:2]
    apart = 2 * BOND * np.sin(np.radians(ANGLE) / 2)
    return (
        f"[ defaults ]\n1 3\n\n[ atomtypes ]\n{types}"
        f"OW 8 15.9994 0.0 A {WATER_SIGMA / 10:.8f} {WATER_EPSILON:.8f}\nHW 1 1.008 0.0 A 0.0 0.0\n"
        f"\n[ moleculetype ]\nmodel 3\n\n[ atoms ]\n{solute}"
        "\n[ moleculetype ]\nSOL 2\n\n[ atoms ]\n"
        f"1 OW 1 SOL OW 1 {oxygen} 15.9994\n2 HW 1 SOL HW1 1 {hydrogen} 1.008\n"
        f"3 HW 1 SOL HW2 1 {hydrogen} 1.008\n"
        f"\n[ settles ]\n1 1 {BOND / 10} {apart / 10:.8f}\n\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n"
        f"\n[ system ]\nmodel in SPC/E water\n\n[ molecules ]\nmodel 1\nSOL {waters}\n"
    )


def read_gro(path):
    """(positions in angstrom, edge of the box)"""
    lines = path.read_text().splitlines()
    atoms = lines[2 : 2 + int(lines[1])]
    return (
        10 * np.array([[float(word) for word in line[20:].split()[:3]] for line in atoms]),
        10 * float(lines[2 + len(atoms)].split()[0]),
    )


def gro_text(solute, waters, edge):
    """Solute (3, 3) and waters (n, 3, 3), angstrom."""
    rows = [(1, "MOD", f"{symbol}{i + 1}", at) for i, (symbol, at) in enumerate(
        zip(ELEMENTS, solute, strict=True))]  # fmt: skip
    for number, water in enumerate(waters, 2):
        rows += [(number, "SOL", name, at) for name, at in zip(("OW", "HW1", "HW2"), water, strict=True)]
    lines = [
        f"{number % 100000:5d}{residue:<5s}{name:>5s}{(i + 1) % 100000:5d}"
        + "".join(f"{x / 10:14.9f}" for x in at)
        for i, (number, residue, name, at) in enumerate(rows)
    ]
    return "\n".join(["model in SPC/E water", str(len(rows)), *lines, 3 * f"{edge / 10:14.9f}", ""])


def path_text(series, centre):
    frames = []
    for place in series.places:
        lines = [
            f"{symbol} {x:.10f} {y:.10f} {z:.10f}"
            for symbol, (x, y, z) in zip(ELEMENTS, centre + geometry(place), strict=True)
        ]
        frames.append("\n".join(["3", f"place={place:.4f}", *lines]))
    return "\n".join(frames) + "\n"
