"""Draws the README's picture of a run: energies against step, and solute with its first shell.

usage: quickstart_picture.py OUTPUT_FOLDER PICTURE.png   (needs numpy, h5py, matplotlib)
"""

import csv
import json
import sys
from pathlib import Path

import h5py
import matplotlib
import matplotlib.ticker
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"H": "#dddddd", "C": "#444444", "N": "#3050f8", "O": "#e03020"}
SIZES = {"H": 60, "C": 170, "N": 160, "O": 150}


def read_energies(folder):
    with open(folder / "energies.csv", encoding="ascii") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def read_last_frame(folder):
    """Positions, edges, and the solute's elements from the PDB of the same order."""
    elements, residues = [], []
    with open(folder / "system.pdb", encoding="ascii") as file:
        for line in file:
            if line.startswith(("ATOM", "HETATM")):
                elements.append(line[76:78].strip())
                residues.append((line[17:21].strip(), line[22:26]))
    with h5py.File(folder / "trajectory.h5md") as file:
        group = file["particles/all"]
        box = group["box/edges"]
        edges = np.array(box if isinstance(box, h5py.Dataset) else box["value"])
        positions = np.array(group["position/value"][-1])
    edges = edges[-1] if edges.ndim > 1 else edges
    return np.array(elements), residues, positions, edges


def draw_energies(axis, energies, updates):
    axis.plot(energies["step"], energies["total"] / 1000, color="#1f5fa8", lw=1.2)
    for i, update in enumerate(updates):
        axis.axvline(update["step"], color="#d08020", lw=0.8, ls="--",
                     label="QM update" if i == 0 else None)
    axis.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5))
    axis.set_xlabel("Monte Carlo step")
    axis.set_ylabel("total energy (MJ/mol)")
    axis.legend(frameon=False)


def draw_solute(axis, elements, residues, positions, edges):
    solute = np.array([residue == residues[0] for residue in residues])
    centre = positions[solute].mean(axis=0)
    relative = positions - centre
    relative -= edges * np.rint(relative / edges)
    near = np.zeros(len(elements), bool)
    for i in np.flatnonzero(~solute & (elements == "O")):
        if np.linalg.norm(relative[i] - relative[solute], axis=1).min() < 3.5:
            near[i : i + 3] = True
    for chosen, alpha in ((near, 0.35), (solute, 1.0)):
        indices = np.flatnonzero(chosen)
        for a in indices:
            for b in indices[indices > a]:
                limit = 1.25 if "H" in (elements[a], elements[b]) else 1.75
                if residues[a] == residues[b] and (
                    np.linalg.norm(relative[a] - relative[b]) < limit
                ):
                    axis.plot(*relative[[a, b], :2].T, color="#888888", lw=2, alpha=alpha,
                              zorder=1)
        order = indices[np.argsort(relative[indices, 2])]
        axis.scatter(relative[order, 0], relative[order, 1], alpha=alpha, zorder=2,
                     s=[SIZES.get(e, 150) * (0.5 if alpha < 1 else 1) for e in elements[order]],
                     c=[COLOURS.get(e, "#a0a000") for e in elements[order]], edgecolors="k",
                     linewidths=0.6)
    axis.set_aspect("equal")
    axis.set_axis_off()
    axis.set_title("solute and first shell, last frame", fontsize=10)


def main():
    folder, picture = Path(sys.argv[1]), Path(sys.argv[2])
    updates = json.loads((folder / "summary.json").read_text())["qm_updates"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), width_ratios=[1.3, 1])
    draw_energies(left, read_energies(folder), updates)
    draw_solute(right, *read_last_frame(folder))
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main()
