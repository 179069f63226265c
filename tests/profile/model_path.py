"""A path of the solute of tests/reference/model_solute.py on which its charges, its response and its
own energy change, and the free energy along it by quadrature: one ion is all its solvent.

The distance of S and C says where on the path a geometry is: `place` from 0 to 1.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))

import model_solute as model
import numpy as np

GAS_CONSTANT = 0.00831446261815324
FIRST_DISTANCE, CHANGE = 1.4, 0.3  # angstrom
FIRST_CHARGES = np.array([0.3, 0.1, -0.4])
LAST_CHARGES = np.array([-0.25, 0.15, 0.1])
BARRIER = 12.0  # kJ/mol
ION_CHARGE, ION_SIGMA, ION_EPSILON = 0.3, 3.2, 0.5
SOLUTE_SIGMA, SOLUTE_EPSILON = np.array([3.6, 3.8, 3.2]), np.array([0.6, 0.6, 0.6])


def atoms(place):
    """About the carbon."""
    return model.ATOMS + np.array([[0, 0, CHANGE * place], [0, 0, 0], [0, 0, 0]])


def place_of(positions):
    apart = np.linalg.norm(np.asarray(positions[0]) - np.asarray(positions[1]))
    return (apart - FIRST_DISTANCE) / CHANGE


def take_place(place):
    """The model is that of a place from here on."""
    model.FIXED_CHARGES = tuple(FIRST_CHARGES + place * (LAST_CHARGES - FIRST_CHARGES))
    model.A = (8.0 + 6.0 * place) / model.COULOMB
    model.B = 4e-7 * (1 + place)
    model.ISOLATED_ENERGY = -1000.0 + BARRIER * np.sin(np.pi * place) ** 2 - 5.0 * place


def energies(place, ion, centre, box, solute_sigma=SOLUTE_SIGMA):
    """Solute's and interaction energy of an ion at positions (n, 3), kJ/mol."""
    take_place(place)
    cutoff = box / 2
    sites = np.vstack([centre + model.D * model.AXES, centre + atoms(place)])
    apart = ion[:, None] - sites
    apart -= box * np.rint(apart / box)
    r = np.maximum(np.linalg.norm(apart, axis=2), 0.5)
    inside = np.minimum(r, cutoff)
    potential = ION_CHARGE * model.COULOMB * (1 / inside - 2 / cutoff + inside / cutoff**2)
    field = potential[:, :6] @ model.FIELD_OF_POTENTIAL.T
    electronic = potential[:, 6:] @ np.array(model.FIXED_CHARGES) + model.energy(field)
    sigma = np.sqrt(solute_sigma * ION_SIGMA)
    epsilon = np.sqrt(SOLUTE_EPSILON * ION_EPSILON)
    x, shift = (sigma / inside[:, 6:]) ** 6, (sigma / cutoff) ** 6
    vdw = (4 * epsilon * (x * x - x - shift * shift + shift)).sum(axis=1)
    return model.ISOLATED_ENERGY + electronic + vdw


def free_energies(places, box, temperature, spacing=0.15, sigmas=None):
    """Of each place, that of the first being 0, by the midpoint rule over the box. sigmas: of the
    solute's atoms at each place, angstrom."""
    sigmas = [SOLUTE_SIGMA] * len(places) if sigmas is None else sigmas
    kt = GAS_CONSTANT * temperature
    cells = round(box / spacing)
    along = (np.arange(cells) + 0.5) * box / cells
    centre = np.full(3, box / 2)
    found = []
    for place, sigma in zip(places, sigmas, strict=True):
        least, total = None, 0.0
        for x in along:
            plane = np.stack(np.meshgrid([x], along, along, indexing="ij"), axis=-1).reshape(-1, 3)
            e = energies(place, plane, centre, box, sigma)
            # Within the repulsion the field's fourth power would win; nothing gets there.
            near = np.linalg.norm(plane[:, None] - (centre + atoms(place)), axis=2).min(axis=1)
            e = np.where(near < 2.0, np.inf, e)
            if least is None:
                least = e.min()
            total += np.exp(-(e - least) / kt).sum()
        found.append(least - kt * np.log(total))
    return np.array(found) - found[0]


def dispersion_correction(sigma, box):
    """kJ/mol, with the cutoff at half the box and a shifted potential: what src/potential adds for the
    pairs of one ion with the solute's atoms."""
    cutoff, sites = box / 2, 1 + len(sigma)
    c6 = 4 * np.sqrt(SOLUTE_EPSILON * ION_EPSILON) * np.sqrt(sigma * ION_SIGMA) ** 6
    left_out = -8 * np.pi / 3 * sites / box**3 / cutoff**3 + 1 / cutoff**6
    return sites / 2 * c6.mean() * left_out


def write_path(path, places):
    frames = []
    for place in places:
        lines = [f"{symbol} {x:.10f} {y:.10f} {z:.10f}"
                 for symbol, (x, y, z) in zip(model.ELEMENTS, atoms(place), strict=True)]  # fmt: skip
        frames.append("\n".join(["3", f"place={place}", *lines]))
    path.write_text("\n".join(frames) + "\n")


def topology(solute_sigma):
    masses = (32.06, 12.011, 15.999)
    types = "".join(
        f"M{symbol} M{symbol} {number} {mass} 0.0 A {sigma / 10:.6f} {epsilon:.6f}\n"
        for symbol, number, mass, sigma, epsilon in zip(
            model.ELEMENTS,
            model.NUCLEAR_CHARGES,
            masses,
            solute_sigma,
            SOLUTE_EPSILON,
            strict=True,
        )
    )
    atoms_of_model = "".join(
        f"{i + 1} M{symbol} 1 MOD {symbol}{i + 1} {i + 1} 0.0 {mass}\n"
        for i, (symbol, mass) in enumerate(zip(model.ELEMENTS, masses, strict=True))
    )
    return (
        "[ defaults ]\n1 3\n\n[ atomtypes ]\n"
        + types
        + f"Na Na 11 22.99 0.0 A {ION_SIGMA / 10:.6f} {ION_EPSILON:.6f}\n"
        + "\n[ moleculetype ]\nmodel 3\n\n[ atoms ]\n"
        + atoms_of_model
        + f"\n[ moleculetype ]\nION 1\n\n[ atoms ]\n1 Na 1 ION ION 1 {ION_CHARGE} 22.99\n"
        + "\n[ system ]\nmodel path\n\n[ molecules ]\nmodel 1\nION 1\n"
    )


def write_box(folder, box, ion):
    """ion.gro and ion.top: the first geometry in the middle of the box, the ion at `ion`."""
    centre = np.full(3, box / 2)
    placed = [(1, "MOD", f"{symbol}{i + 1}", position) for i, (symbol, position) in enumerate(
        zip(model.ELEMENTS, centre + atoms(0), strict=True))]  # fmt: skip
    placed.append((2, "ION", "ION", ion))
    lines = [
        f"{number:5d}{residue:<5s}{name:>5s}{i + 1:5d}" + "".join(f"{x / 10:14.9f}" for x in at)
        for i, (number, residue, name, at) in enumerate(placed)
    ]
    edge = f"{box / 10:14.9f}" * 3
    (folder / "ion.gro").write_text("\n".join(["model path", "4", *lines, edge, ""]))
    (folder / "ion.top").write_text(topology(SOLUTE_SIGMA))
    return {
        "coordinates": folder / "ion.gro",
        "topology": folder / "ion.top",
        "qm_molecule": "model",
    }
