"""The radial distribution function of two kinds of sites, from the trajectory by NumPy.

    python radial_distribution.py results OW OW g.csv

`results` is the folder of a run; names of sites are those of the topology. Pairs within a molecule,
which is rigid, do not count.
"""

import sys

import numpy as np
import starpmc

BIN_WIDTH = 0.1  # angstrom


def distances(first, second, box):
    """Of all pairs, to the nearest images."""
    apart = first[:, None, :] - second[None, :, :]
    apart -= box * np.round(apart / box)
    return np.sqrt((apart**2).sum(axis=2))


def radial_distribution(frames, first, second, after_step):
    """Middles of the bins, angstrom, and g there."""
    chosen = np.flatnonzero(frames.steps > after_step)
    edges = np.arange(0, frames.box[0].min() / 2, BIN_WIDTH)
    counts = np.zeros(len(edges) - 1)
    between = frames.molecules[first][:, None] != frames.molecules[second][None, :]
    for frame in chosen:
        found = distances(
            frames.positions[frame, first].astype(float),
            frames.positions[frame, second].astype(float),
            frames.box[frame],
        )
        counts += np.histogram(found[between], edges)[0]
    pairs = between.sum()
    shells = 4 / 3 * np.pi * np.diff(edges**3)
    ideal = len(chosen) * pairs * shells / frames.box[0].prod()
    return (edges[1:] + edges[:-1]) / 2, counts / ideal


def main(folder, first, second, output):
    run = starpmc.load(folder)
    with run.trajectory as frames:
        sites = [frames.sites(name) for name in (first, second)]
        equilibration = run.summary["equilibration_steps"]
        r, g = radial_distribution(frames, *sites, equilibration)
    header = f"r_angstrom,g_{first}_{second}"
    np.savetxt(output, np.column_stack((r, g)), delimiter=",", header=header, comments="")
    print(f"highest: g = {g.max():.3f} at {r[g.argmax()]:.2f} A")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except starpmc.Error as error:
        sys.exit(f"{error}")
