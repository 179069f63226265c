#!/usr/bin/env python3
"""Makes acetate_shells.npz and chorismate_shells.npz: where a run's waters are about its solute.

usage: make_solvation_shells.py STARPMC, in a Python that has src/qm/workers/requirements.txt

Each holds, in units of 0.001 A, `solute` (n, 3), and of 20 frames, 20,000 steps apart after 200,000,
the waters with a site within 5 A of a nucleus: `waters` (w, 3, 3), oxygen first, the frames one after
the other, and `counts` (20), how many are each frame's.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy

FOLDER = pathlib.Path(__file__).resolve().parent
FRAMES = 20
SHELL = 5.0  # angstrom
SOLUTES = {
    "acetate": {"file": FOLDER / "acetate.xyz", "charge": -1, "waters": 250, "cutoff": 9},
    "chorismate": {
        "file": FOLDER.parents[2] / "configs/chorismate.xyz",
        "charge": -2,
        "waters": 500,
        "cutoff": 10,
    },
}
RUN = """[system]
coordinates = {name}.gro
topology = {name}.top
qm-molecule = {name}
[interaction]
coulomb-cutoff = {cutoff}
vdw-cutoff = {cutoff}
[sampling]
ensemble = perturbative
equilibration-steps = 200000
steps = 400000
[qm]
charge = {charge}
interval = 100000
grid-radial = 30
grid-angular = 302
electron-tolerance = 0.01
[output]
folder = output
trajectory-interval = 20000
"""


def sampled(starpmc, name, solute, folder):
    """Sites (frames, sites, 3) and edges of the box, angstrom."""
    solvate = ["solvate", "--solute", solute["file"], "--charge", str(solute["charge"])]
    solvate += ["--waters", str(solute["waters"]), "--output", name]
    (folder / "run.cfg").write_text(RUN.format(name=name, **solute))
    environment = {"STARPMC_PYTHON": sys.executable, **os.environ}
    for command in (solvate, ["run", "run.cfg"]):
        subprocess.run([starpmc, *command], cwd=folder, env=environment, check=True)
    with h5py.File(folder / "output/trajectory.h5md") as file:
        sites = file["particles/all"]
        edges = numpy.atleast_2d(sites["box/edges/value"][:])[0].astype(float)
        return sites["position/value"][-FRAMES:].astype(float), edges


def shell(solute, sites, edges):
    """(w, 3, 3): waters in the image nearest to the nucleus that one of their sites is nearest to."""
    separations = sites[:, None] - solute[None]
    separations -= edges * numpy.rint(separations / edges)
    distances = numpy.linalg.norm(separations, axis=2)
    nucleus = distances.argmin(axis=1)
    each = numpy.arange(len(sites))
    near = (solute[nucleus] + separations[each, nucleus]).reshape(-1, 3, 3)
    nearest = distances[each, nucleus].reshape(-1, 3)
    first = nearest.argmin(axis=1)
    molecules = numpy.arange(len(near))
    anchor = near[molecules, first][:, None]
    rest = sites.reshape(-1, 3, 3) - anchor
    whole = anchor + rest - edges * numpy.rint(rest / edges)
    return whole[nearest.min(axis=1) < SHELL]


def main():
    starpmc = str(pathlib.Path(sys.argv[1]).resolve())
    for name, solute in SOLUTES.items():
        with tempfile.TemporaryDirectory() as folder:
            frames, edges = sampled(starpmc, name, solute, pathlib.Path(folder))
        atoms = int(solute["file"].read_text().split()[0])
        positions = frames[0, :atoms]
        shells = [shell(positions, frame[atoms:], edges) for frame in frames]
        numpy.savez_compressed(
            FOLDER / f"{name}_shells.npz",
            solute=numpy.rint(1000 * positions).astype(numpy.int16),
            waters=numpy.rint(1000 * numpy.vstack(shells)).astype(numpy.int16),
            counts=numpy.array([len(waters) for waters in shells], numpy.int16),
        )


if __name__ == "__main__":
    main()
