"""The radial distribution function of two kinds of sites, from the trajectory by NumPy.

    python radial_distribution.py results OW OW g.csv

`results` is the folder of a run; names of sites are those of the topology. Pairs within a molecule,
which is rigid, do not count. Frames of the exact ensemble are between the sampled and the true one, as
run.averages are.
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


def count_pairs(frames, first, second, after_step, edges):
    """In the bins between `edges`, and how many an ideal gas would have there."""
    chosen = np.flatnonzero(frames.steps > after_step)
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
    return counts, len(chosen) * pairs * shells / frames.box[0].prod()


def radial_distribution(run, first, second):
    """Middles of the bins, angstrom, and g there, over the production of all chains, each of which
    begins after its own equilibration."""
    counts = ideal = 0
    for frames, chain in zip(run.trajectories, run.chains, strict=True):
        with frames:
            edges = np.arange(0, frames.box[0].min() / 2, BIN_WIDTH)
            sites = [frames.sites(name) for name in (first, second)]
            found, expected = count_pairs(frames, *sites, chain["equilibration_steps"], edges)
            counts, ideal = counts + found, ideal + expected
    if not np.any(ideal):
        raise starpmc.ResultsError(
            f"{run.folder}: no frame of production has {first} and {second} in different molecules",
            "name sites as the topology does; frames come every output.trajectory-interval steps",
        )
    return (edges[1:] + edges[:-1]) / 2, counts / ideal


def main(folder, first, second, output):
    run = starpmc.load(folder)
    r, g = radial_distribution(run, first, second)
    header = f"r_angstrom,g_{first}_{second}"
    np.savetxt(output, np.column_stack((r, g)), delimiter=",", header=header, comments="")
    print(f"highest: g = {g.max():.3f} at {r[g.argmax()]:.2f} A")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except starpmc.Error as error:
        sys.exit(f"{error}")
