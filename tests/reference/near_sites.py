"""The sites near a solute of a run's frames, small enough to carry from one machine to another, and
what can be counted of them. Needs h5py to make, only NumPy and SciPy to use.
"""

import csv
import dataclasses

import numpy as np
from scipy.spatial import KDTree

REACH = 3.5  # A from the nearest nucleus
UNIT = 2.0**-12  # A: of the stored coordinates, relative to the first nucleus
WHOLE_FRAMES = 4


@dataclasses.dataclass
class NearSites:
    """Of all chains of a run, equilibration left out. A site is a row: the frame (counted through the
    chains one after the other), its number in the box, its position relative to the first nucleus."""

    nuclei: np.ndarray  # (atoms, 3), relative to the first
    charges: np.ndarray  # of all sites of the box
    edges: np.ndarray  # of the box
    interval: int  # steps between frames
    chains: np.ndarray  # (frames,) chain of each frame
    frame: np.ndarray  # (n,)
    site: np.ndarray  # (n,)
    position: np.ndarray  # (n, 3)
    whole: np.ndarray  # (WHOLE_FRAMES, sites, 3): all sites of some frames
    whole_energy: np.ndarray  # (WHOLE_FRAMES,) the run's energy with the density grid, kJ/mol

    def distances(self):
        """(n,): to the nearest nucleus."""
        return KDTree(self.nuclei).query(self.position)[0]

    def hydrogen(self):
        """(n,): whether it is one of a water, whose sites are O, H, H."""
        return (self.site - len(self.nuclei)) % 3 > 0

    def blocks(self, count):
        """(frames,): block of each frame, `count` in all, none with frames of two chains."""
        chains = int(self.chains[-1]) + 1
        if count % chains:
            raise ValueError(f"{count} blocks of {chains} chains")
        inside = np.concatenate(
            [
                np.arange(frames) * (count // chains) // frames
                for frames in np.bincount(self.chains)
            ]
        )
        return self.chains * (count // chains) + inside


def minimum_image(vectors, edges):
    return vectors - edges * np.rint(vectors / edges)


def read_run(folder, equilibration_steps):
    """From the trajectories of one run's folder."""
    parts = sorted(folder.glob("chain-*"), key=lambda part: int(part.name[6:])) or [folder]
    rows, chains, whole, energies = [], [], [], []
    for chain, part in enumerate(parts):
        facts, frames = read_chain(part, equilibration_steps)
        first = len(chains)
        for number, positions in enumerate(frames):
            relative = minimum_image(positions - positions[0], facts["edges"])
            atoms = facts["atoms"]
            near = KDTree(relative[:atoms]).query(relative, distance_upper_bound=REACH)[0]
            sites = np.flatnonzero(np.isfinite(near))
            sites = sites[sites >= atoms]
            rows.append((np.full(len(sites), first + number), sites, relative[sites]))
        chains += [chain] * len(frames)
        if chain == 0:
            chosen = np.linspace(0, len(frames) - 1, WHOLE_FRAMES).astype(int)
            whole = minimum_image(frames[chosen] - frames[chosen][:, :1], facts["edges"])
            energies = facts["grid_energy"][chosen]
    frame, site, position = (np.concatenate(part) for part in zip(*rows, strict=True))
    return NearSites(
        whole[0, : facts["atoms"]],
        facts["charges"],
        facts["edges"],
        facts["interval"],
        np.array(chains),
        frame,
        site,
        position,
        whole,
        energies,
    )


def read_chain(folder, equilibration_steps):
    """What does not change, with the grid's energy of every frame; and the frames' positions."""
    import h5py

    with open(folder / "energies.csv", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        energies = {int(row["step"]): float(row["qmmm_grid"]) for row in rows}
    with h5py.File(folder / "trajectory.h5md") as file:
        particles = file["particles/all"]
        steps = particles["box/edges/step"][:]
        chosen = np.flatnonzero(steps > equilibration_steps)
        molecules = file["particles/molecules/position/value"].shape[1]
        charges = particles["charge"][:]
        facts = {
            "edges": particles["box/edges/value"][0],
            "charges": charges,
            "atoms": len(charges) - 3 * molecules,
            "interval": int(steps[chosen[1]] - steps[chosen[0]]),
            "grid_energy": np.array([energies[int(step)] for step in steps[chosen]]),
        }
        return facts, particles["position/value"][chosen[0] :].astype(float)


def write(path, sites):
    """Coordinates in units of 2^-12 A."""
    fields = dataclasses.asdict(sites)
    fields["frame"] = sites.frame.astype(np.uint32)
    fields["site"] = sites.site.astype(np.uint16)
    fields["position"] = np.rint(sites.position / UNIT).astype(np.int16)
    np.savez_compressed(path, **fields)


def read(path):
    with np.load(path) as file:
        fields = {name: file[name] for name in file.files}
    fields["frame"] = fields["frame"].astype(int)
    fields["site"] = fields["site"].astype(int)
    fields["position"] = fields["position"] * UNIT
    fields["interval"] = int(fields["interval"])
    return NearSites(**fields)


def visits(points, sites, radius):
    """Number of (frame, site) within `radius` of a point, and the most frames in a row that a site
    was near the same point."""
    point = KDTree(points).query(sites.position, distance_upper_bound=radius)[1]
    near = np.flatnonzero(point < len(points))
    order = near[np.lexsort((sites.frame[near], sites.site[near]))]
    goes_on = (
        (np.diff(sites.site[order]) == 0)
        & (np.diff(sites.frame[order]) == 1)
        & (np.diff(sites.chains[sites.frame[order]]) == 0)
        & (np.diff(point[order]) == 0)
    )
    longest = current = min(1, len(order))
    for one_more in goes_on:
        current = current + 1 if one_more else 1
        longest = max(longest, current)
    return len(order), longest


def turned(points, nuclei, random, largest_angle):
    """The points, those nearest to each nucleus turned together about it by a small rotation: as
    dense a set at the same distances that nothing was attracted to."""
    from scipy.spatial.transform import Rotation

    owner = KDTree(nuclei).query(points)[1]
    result = np.empty_like(points)
    for atom, nucleus in enumerate(nuclei):
        axis = random.normal(size=3)
        angle = largest_angle * random.random() ** (1 / 3)  # uniform in a ball of vectors
        rotation = Rotation.from_rotvec(axis / np.linalg.norm(axis) * angle)
        mine = owner == atom
        result[mine] = nucleus + rotation.apply(points[mine] - nucleus)
    return result


def distribution(sites, centres, bins, weights, blocks):
    """g of the water's hydrogens about the nuclei `centres`: (blocks, bins), each block's frames
    weighted."""
    hydrogen = sites.hydrogen()
    frame, position = sites.frame[hydrogen], sites.position[hydrogen]
    count = int(blocks.max()) + 1
    total = np.zeros((count, len(bins) - 1))
    for centre in centres:
        distance = np.linalg.norm(position - sites.nuclei[centre], axis=1)
        total += np.histogram2d(
            blocks[frame],
            distance,
            (np.arange(count + 1) - 0.5, bins),
            weights=weights[frame],
        )[0]
    shells = 4 / 3 * np.pi * (bins[1:] ** 3 - bins[:-1] ** 3)
    hydrogens = 2 * (len(sites.charges) - len(sites.nuclei)) / 3
    ideal = len(centres) * shells * hydrogens / sites.edges.prod()
    return total / np.bincount(blocks, weights, count)[:, None] / ideal
