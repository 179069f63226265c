"""Draws the README's picture of a run: g(r) of its report, and solute with its first shell.

usage: quickstart_picture.py OUTPUT_FOLDER PICTURE.png   (needs numpy, h5py, matplotlib)

The folder has the report-rdf.csv of `starpmc report OUTPUT_FOLDER --pairs O2:HW1+HW2`.
"""

import csv
import sys
from pathlib import Path

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"H": "#dddddd", "C": "#444444", "N": "#3050f8", "O": "#e03020"}
SIZES = {"H": 60, "C": 170, "N": 160, "O": 150}


def read_rdf(folder):
    """r, g, its error and the running coordination number of the first pair."""
    with open(folder / "report-rdf.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rows = [row for row in rows if row["pair"] == rows[0]["pair"]]
    names = ("r_angstrom", "g", "g_error", "coordination")
    return [np.array([float(row[name]) for row in rows]) for name in names]


def read_last_frame(folder):
    """Positions, edges, and the solute's elements from the PDB of the same order."""
    elements, residues = [], []
    with open(folder / "system.pdb", encoding="ascii") as file:
        for line in file:
            if line.startswith(("ATOM", "HETATM")):
                elements.append(line[76:78].strip())
                residues.append((line[17:21].strip(), line[22:26]))
    chains = sorted(folder.glob("chain-*/trajectory.h5md"))
    with h5py.File(chains[0] if chains else folder / "trajectory.h5md") as file:
        group = file["particles/all"]
        box = group["box/edges"]
        edges = np.array(box if isinstance(box, h5py.Dataset) else box["value"])
        positions = np.array(group["position/value"][-1])
    edges = edges[-1] if edges.ndim > 1 else edges
    return np.array(elements), residues, positions, edges


def draw_rdf(axis, r, g, error, coordination):
    shown = r < 6
    axis.fill_between(r[shown], (g - error)[shown], (g + error)[shown], color="#1f5fa8", alpha=0.25, lw=0)
    axis.plot(r[shown], g[shown], color="#1f5fa8", lw=1.2)
    axis.set_xlabel("distance of water's hydrogens from acetone's oxygen (A)")
    axis.set_ylabel("g(r)", color="#1f5fa8")
    axis.set_ylim(bottom=0)
    number = axis.twinx()
    near = r < 3.2
    number.plot(r[near], coordination[near], color="#d08020", lw=1.2, ls="--")
    number.set_ylabel("hydrogens within r", color="#d08020")
    number.set_ylim(bottom=0)


def draw_solute(axis, elements, residues, positions, edges):
    solute = np.array([residue == residues[0] for residue in residues])
    centre = positions[solute].mean(axis=0)
    relative = positions - centre
    relative -= edges * np.rint(relative / edges)
    # Seen so that the solute lies in the picture's plane.
    relative = relative @ np.linalg.svd(relative[solute])[2].T
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
    chain = folder / "chain-0" if (folder / "chain-0").is_dir() else folder
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), width_ratios=[1.3, 1])
    draw_rdf(left, *read_rdf(folder))
    draw_solute(right, *read_last_frame(chain))
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main()
