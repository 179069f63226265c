"""Files of the system of model_ensemble.py for starpmc."""

import model_ensemble
import model_solute
import numpy as np

ATOM_TYPE = "{name}  {name}  {number}  {mass}  0.0  A  {sigma:.6f}  {epsilon:.6f}\n"
MASSES = (32.06, 12.011, 15.999)


def write(folder, system, sites):
    """box.gro and box.top of one configuration, (waters, 3, 3). Returns the section [system]."""
    (folder / "box.top").write_text(_topology(len(sites)))
    (folder / "box.gro").write_text(_coordinates(system, sites))
    return {
        "coordinates": folder / "box.gro",
        "topology": folder / "box.top",
        "qm_molecule": "model",
    }


def _topology(waters):
    types = [
        ATOM_TYPE.format(
            name=f"M{symbol}",
            number=number,
            mass=mass,
            sigma=model_ensemble.SOLUTE_SIGMA[i] / 10,
            epsilon=model_ensemble.SOLUTE_EPSILON[i],
        )
        for i, (symbol, number, mass) in enumerate(
            zip(model_solute.ELEMENTS, model_solute.NUCLEAR_CHARGES, MASSES, strict=True)
        )
    ]
    for i, (name, number, mass) in enumerate((("WO", 8, 15.9994), ("WH", 1, 1.008))):
        sigma, epsilon = model_ensemble.WATER_SIGMA[i] / 10, model_ensemble.WATER_EPSILON[i]
        types.append(
            ATOM_TYPE.format(name=name, number=number, mass=mass, sigma=sigma, epsilon=epsilon)
        )
    atoms = [
        f"{i + 1}  M{symbol}  1  MOD  {symbol}{i + 1}  {i + 1}  0.0  {MASSES[i]}\n"
        for i, symbol in enumerate(model_solute.ELEMENTS)
    ]
    water = [
        f"{i + 1}  {kind}  1  SOL  {name}  1  {charge}\n"
        for i, (kind, name, charge) in enumerate(
            zip(("WO", "WH", "WH"), ("OW", "HW1", "HW2"), model_ensemble.WATER_CHARGES, strict=True)
        )
    ]
    return "".join(
        [
            "[ defaults ]\n1  3\n\n[ atomtypes ]\n",
            *types,
            "\n[ moleculetype ]\nmodel  3\n\n[ atoms ]\n",
            *atoms,
            "\n[ moleculetype ]\nSOL  2\n\n[ atoms ]\n",
            *water,
            f"\n[ settles ]\n1  1  {model_ensemble.OH / 10:.6f}  {model_ensemble.HH / 10:.6f}\n",
            f"\n[ system ]\nmodel solute\n\n[ molecules ]\nmodel  1\nSOL  {waters}\n",
        ]
    )


def _coordinates(system, sites):
    names = [(1, "MOD", f"{s}{i + 1}", x) for i, (s, x) in enumerate(
        zip(model_solute.ELEMENTS, system.atoms, strict=True))]  # fmt: skip
    for m, molecule in enumerate(sites):
        # Whole: the program takes molecules as they are.
        names += [
            (m + 2, "SOL", name, x)
            for name, x in zip(("OW", "HW1", "HW2"), molecule, strict=True)
        ]
    lines = [
        f"{number:5d}{residue:<5s}{name:>5s}{i + 1:5d}" + "".join(f"{c / 10:14.9f}" for c in x)
        for i, (number, residue, name, x) in enumerate(names)
    ]
    edge = f"{system.box / 10:14.9f}" * 3
    return "\n".join(["model solute", str(len(names)), *lines, edge, ""])


def read_trajectory(path, waters):
    """Configurations (frames, waters, 3, 3), angstrom, and their steps."""
    import h5py

    with h5py.File(path) as file:
        position = file["particles/all/position"]
        values, steps = position["value"][:], position["step"][:]
    atoms = len(model_solute.ELEMENTS)
    return values[:, atoms:].reshape(len(values), waters, 3, 3).astype(np.float64), steps
