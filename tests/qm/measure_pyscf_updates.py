#!/usr/bin/env python3
"""Developer's measurement: where the time of a PySCF update goes, and what its settings cost.

Samples chorismate in water with starpmc (once; the folder is kept), then drives the worker by its
protocol through the chain's densities, one update for each frame of the trajectory, on one core:

  measure_pyscf_updates.py --starpmc build/starpmc
  measure_pyscf_updates.py --starpmc build/starpmc --settings scf_grid_radial=75 scf_grid_angular=302 \\
      --reference scf_grid_radial=99 scf_grid_angular=590 energy_convergence_hartree=1e-10

With --reference the same frames are done again with those settings, and the differences printed.
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import time

# Before numpy: it is the worker that is measured, on one core, and this is not to disturb it.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import h5py
import numpy

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WORKERS = REPOSITORY / "src/qm/workers"
sys.path.insert(0, str(WORKERS))
from worker_protocol import Channel
from worker_request import DEFAULTS

COULOMB = 1389.35457644  # kJ mol^-1 A e^-2
CUTOFF = 10.0  # angstrom
NEAR_WATERS = 40
TICKS = os.sysconf("SC_CLK_TCK")
PARTS = ("embedding", "coulomb", "functional", "diagonalisation", "scf", "density")

CHAIN = """[system]
coordinates = chorismate.gro
topology = chorismate.top
qm-molecule = chorismate
[interaction]
coulomb-cutoff = {cutoff}
vdw-cutoff = {cutoff}
[sampling]
ensemble = perturbative
equilibration-steps = {interval}
steps = {steps}
[qm]
charge = -2
interval = {interval}
grid-radial = 30
grid-angular = 302
scf-grid-radial = 50
scf-grid-angular = 194
electron-tolerance = 0.01
[output]
folder = chain
overwrite = true
trajectory-interval = {interval}
"""

REQUEST = {**DEFAULTS, "charge": -2, "memory_mb": 4000}


def make_chain(options):
    """Waters and solute of a chain, a frame each interval; made where the folder has none."""
    folder = options.folder
    trajectory = folder / "chain/trajectory.h5md"
    if not trajectory.exists():
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "STARPMC_WORKERS": str(WORKERS)}
        environment.setdefault("STARPMC_PYTHON", sys.executable)
        solute = REPOSITORY / "configs/chorismate.xyz"
        starpmc = str(options.starpmc.resolve())
        solvate = ["solvate", "--solute", solute, "--charge", "-2", "--output", "chorismate"]
        solvate += ["--waters", str(options.waters), "--overwrite"]
        steps = options.interval * options.updates
        config = CHAIN.format(cutoff=CUTOFF, interval=options.interval, steps=steps)
        (folder / "chain.cfg").write_text(config)
        for command in (solvate, ["run", "chain.cfg"]):
            subprocess.run([starpmc, *command], cwd=folder, env=environment, check=True)
    lines = (REPOSITORY / "configs/chorismate.xyz").read_text().splitlines()
    elements = [line.split()[0] for line in lines[2 : 2 + int(lines[0])]]
    with h5py.File(trajectory) as file:
        sites = file["particles/all"]
        positions = sites["position/value"][:].astype(float)
        return (
            elements,
            positions[0, : len(elements)],
            positions[:, len(elements) :],
            sites["charge"][len(elements) :].astype(float),
            sites["box/edges/value"][0].astype(float),
        )


def potential(points, positions, charges, box):
    """Shifted force, minimum image, as in the sampling; kJ/mol per charge at (p, 3) points."""
    result = numpy.empty(len(points))
    for first in range(0, len(points), 2048):
        some = slice(first, first + 2048)
        squares = 0.0
        for axis in range(3):
            difference = points[some, axis, None] - positions[None, :, axis]
            difference -= box[axis] * numpy.rint(difference / box[axis])
            squares = squares + difference**2
        r = numpy.sqrt(squares)
        pair = numpy.where(r < CUTOFF, 1 / r - 1 / CUTOFF + (r - CUTOFF) / CUTOFF**2, 0.0)
        result[some] = COULOMB * pair @ charges
    return result


def potentials(options, points, waters, charges, box):
    """(frames, p); kept in the folder, for it takes longer than the updates."""
    digest = hashlib.sha256(points.tobytes() + waters.tobytes()).hexdigest()[:16]
    file = options.folder / f"potential-{digest}.npy"
    if not file.exists():
        numpy.save(file, [potential(points, frame, charges, box) for frame in waters])
    return numpy.load(file)


class Worker:
    """The worker's process, spoken to as the program does."""

    def __init__(self, log):
        environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
        self._process = subprocess.Popen(
            [sys.executable, str(WORKERS / "pyscf_worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
        )
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._channel.receive()

    def ask(self, request, arrays, **fields):
        """(header, arrays, wall seconds, processor seconds) of the answer."""
        processor, wall = self._processor_seconds(), time.perf_counter()
        self._channel.send(request, arrays, **fields)
        header, answer = self._channel.receive()
        wall = time.perf_counter() - wall
        if header["type"] == "error":
            sys.exit(f"the worker: {header['message']}")
        return header, answer, wall, self._processor_seconds() - processor

    def quit(self):
        self._channel.send("quit")
        self._process.wait()

    def _processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2]
        return sum(int(field) for field in fields.split()[11:13]) / TICKS


def run_updates(options, chain, changed):
    """Prints a line for each update; returns energies and charges of the density grid."""
    elements, solute, waters, charges, box = chain
    waters = waters[: options.updates + 1]
    with open(options.folder / "worker.log", "w", encoding="utf-8") as log:
        worker = Worker(log)
    request = {**REQUEST, **changed}
    _, arrays, wall, processor = worker.ask(
        "init", {"positions": solute}, elements=elements, **request
    )
    points = arrays["points"].T
    print(f"{request}\n{len(points)} points; init {wall:.2f} s, processor {processor:.2f} s")
    at_points = potentials(options, points, waters, charges, box)
    at_nuclei = [potential(solute, frame, charges, box) for frame in waters]
    print("update  cycles  wall   processor " + " ".join(f"{part:>15}" for part in PARTS), end="")
    print("   pipe   energy (kJ/mol)  memory, peak (MiB)")
    energies, densities, times = [], [], []
    for number, (points_potential, nuclear) in enumerate(zip(at_points, at_nuclei, strict=True)):
        arrays = {
            "potential": points_potential,
            "nuclear_potential": nuclear,
            "charge_positions": waters[number],
            "charges": charges,
        }
        header, arrays, wall, processor = worker.ask(
            "update", arrays, coulomb_pole=1.0, box=list(box)
        )
        parts = [header.get(f"seconds_{part}", 0.0) for part in PARTS]
        pipe = wall - sum(header[f"seconds_{part}"] for part in ("embedding", "scf", "density"))
        print(f"{number:6} {header['iterations']:7} {wall:6.2f} {processor:10.2f}  ", end="")
        print(" ".join(f"{seconds:15.2f}" for seconds in parts), f"{pipe:6.2f}", end="")
        print(f" {header['energy']:17.5f}  {header['memory_mb']:.0f}", end="")
        print(f", {header.get('peak_memory_mb', 0):.0f} {header.get('fallback', '')}", flush=True)
        energies.append(header["energy"])
        densities.append(arrays["grid"])
        times.append((wall, processor))
    worker.quit()
    warm = numpy.mean(times[1:], axis=0)
    print(f"warm: {warm[0]:.2f} s wall, {warm[1]:.2f} s of a processor\n")
    return numpy.array(energies), numpy.array(densities)


def compare(chain, ours, reference):
    """kJ/mol. The grid must be the same in both."""
    _, solute, waters, charges, box = chain
    energies, densities = ours
    frames = len(energies)
    offset = energies - reference[0]
    print(f"energy: constant difference {offset.mean():.6f} kJ/mol")
    print(f"energy differences between frames: error rms {offset.std():.1e}, ", end="")
    print(f"largest {numpy.ptp(offset):.1e} kJ/mol")
    points = densities[0][:3].T
    errors = densities[:, 3] - reference[1][:, 3]
    print(f"density: sum |dq| {abs(errors).sum(axis=1).max():.1e} e")
    own = numpy.array([potential(points, frame, charges, box) for frame in waters[:frames]])
    terms = errors @ own.T
    print(f"grid term of a frame: error rms {numpy.diag(terms).std():.1e} about ", end="")
    print(f"{numpy.diag(terms).mean():.1e} kJ/mol")
    drift = terms - numpy.diag(terms)[:, None]
    print(f"its change to another frame's waters: error at most {abs(drift).max():.1e} kJ/mol")
    moves = []
    for k in range(frames - 1):
        molecules = waters[k].reshape(-1, 3, 3)
        distances = molecules[:, None, 0] - solute[None]
        distances -= box * numpy.rint(distances / box)
        nearest = numpy.linalg.norm(distances, axis=2).min(axis=1).argsort()[:NEAR_WATERS]
        for i in nearest:
            site = slice(3 * i, 3 * i + 3)
            after = potential(points, waters[k + 1][site], charges[site], box)
            before = potential(points, waters[k][site], charges[site], box)
            moves.append(errors[k] @ (after - before))
    moves = numpy.array(moves)
    print(
        f"moves of single waters, the {NEAR_WATERS} nearest, each to its place in the next ", end=""
    )
    print(f"frame: error rms {moves.std():.1e}, largest {abs(moves).max():.1e} kJ/mol")


def setting(text):
    name, _, value = text.partition("=")
    if name not in REQUEST:
        raise argparse.ArgumentTypeError(f"{name}: one of {', '.join(REQUEST)}")
    kind = type(REQUEST[name])
    return name, value == "true" if kind is bool else kind(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starpmc", type=pathlib.Path, default=REPOSITORY / "build/starpmc")
    parser.add_argument("--folder", type=pathlib.Path, default=REPOSITORY / "build/pyscf-updates")
    parser.add_argument("--waters", type=int, default=500)
    parser.add_argument("--interval", type=int, default=50000, help="steps between updates")
    parser.add_argument("--updates", type=int, default=7, help="warm ones")
    parser.add_argument("--settings", type=setting, nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--reference", type=setting, nargs="*", metavar="NAME=VALUE")
    options = parser.parse_args()
    chain = make_chain(options)
    ours = run_updates(options, chain, dict(options.settings))
    if options.reference is not None:
        compare(chain, ours, run_updates(options, chain, dict(options.reference)))


if __name__ == "__main__":
    main()
