"""Free energies of `starpmc profile` against OpenMM's molecular dynamics of the same potential.

    python3 profile_against_openmm.py PROGRAM [--series charging,growth] [--waters 500]

Charging a rigid solute and growing a Lennard-Jones particle from nothing in SPC/E water
(classical_series.py). The program knows no classical images: a QM worker whose density is a set of
fixed charges stands for PySCF, and profile.topologies gives each image its Lennard-Jones parameters,
so what is tested is all of the profile's way: references, blocks, energies under all images, estimates.
Compared are

1. energies of the program's own frames under all images, dhdl.xvg, with NumPy's from the positions;
2. the free energies of all images. Those of OpenMM: dynamics of every image, energies by NumPy, MBAR
   from decorrelated frames by pymbar.

--output keeps everything; dynamics that are there are not computed again (--platform, --picoseconds).
With several --processes they are computed beside each other, on --devices devices of the platform.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

SKIPPED = 77
try:
    import h5py
    import numpy as np
    import openmm
    from openmm import unit

    warnings.simplefilter("ignore")
    import logging

    logging.disable(logging.WARNING)
    import pymbar
    from pymbar import timeseries
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(SKIPPED)

import classical_series as classical

WORKERS = pathlib.Path(__file__).resolve().parent / "classical_workers"
TEMPERATURE = 298.15
KT = 0.00831446261815324 * TEMPERATURE
DENSITY = 0.0333  # waters per cubic angstrom
TIME_STEP = 0.004  # ps: the hydrogens are heavy, which changes no average of positions
OXYGEN_MASS, HYDROGEN_MASS = 10.0154, 4.0
STANDARD_ERRORS = 3.5
# Root mean square of frames' energy differences, kJ/mol: the program samples by a table of the
# solute's potential, and the step to the true energy makes up for its interpolation.
LARGEST_ENERGY_DEVIATION = 0.1
FRAMES_BETWEEN_FILES = 100


def run_program(program, folder, *words, **environment):
    result = subprocess.run(
        [program, *map(str, words)], cwd=folder, check=False, capture_output=True, text=True,
        env=dict(os.environ, STARPMC_WORKERS=str(WORKERS), STARPMC_PYTHON=sys.executable,
                 **environment),
    )  # fmt: skip
    if result.returncode != 0:
        raise RuntimeError(f"starpmc {words[0]} ended with {result.returncode}\n{result.stderr}")


def make_box(program, folder, series, waters):
    """(solute of the last image, waters, edge): an equilibrated cube, as many waters as are wanted
    but those nearest to the solute."""
    extra = 3
    run_program(
        program, folder, "solvate", "--waters", waters + extra, "--model", "spce", "--output",
        "water", "--overwrite",
    )  # fmt: skip
    positions, edge = classical.read_gro(folder / "water.gro")
    centre = np.full(3, edge / 2)
    solute = centre + classical.geometry(series.places[-1])
    molecules = positions.reshape(-1, 3, 3)
    for molecule in molecules:  # whole, about the oxygen nearest to the centre
        molecule -= edge * np.rint((molecule - molecule[:1]) / edge)
        molecule -= edge * np.rint((molecule[0] - centre) / edge)
    near = np.linalg.norm(molecules[:, :1] - solute, axis=2).min(axis=1)
    return solute, molecules[near.argsort()[extra:]], edge


def write_inputs(folder, name, series, box, options):
    solute, waters, edge = box
    (folder / "box.gro").write_text(classical.gro_text(solute, waters, edge))
    (folder / "path.xyz").write_text(classical.path_text(series, np.full(3, edge / 2)))
    images = range(len(series.places))
    for image in images:
        text = classical.topology(series, image, len(waters))
        (folder / f"image-{image + 1}.top").write_text(text)
    topologies = ", ".join(f"image-{image + 1}.top" for image in images)
    sweep = len(waters)
    (folder / "profile.cfg").write_text(f"""# {name}
[system]
coordinates = box.gro
topology = image-{len(series.places)}.top
qm-molecule = model
[interaction]
coulomb-cutoff = {options.cutoff}
vdw-cutoff = {options.cutoff}
[profile]
path = path.xyz
topologies = {topologies}
[sampling]
ensemble = exact
temperature = {TEMPERATURE}
seed = {options.seed}
chains = {options.chains}
equilibration-steps = {options.equilibration_sweeps * sweep}
steps = {options.sweeps // options.chains * sweep}
target-acceptance = 0.3
near-share = {options.near_share}
[qm]
engine = pyscf
interval = {20 * sweep}
configurations = 8
response-components = 0
charge-threshold = 0
[output]
folder = profile
energy-interval = {20 * sweep}
trajectory-interval = {options.frame_sweeps * sweep}
checkpoint-interval = 600
""")


def rotated(quaternions, vectors):
    """(n, sites, 3): unit quaternions (n, 4), scalar first, applied to (sites, 3)."""
    scalar, axis = quaternions[:, None, :1], quaternions[:, None, 1:]
    cross = np.cross(axis, vectors[None])
    return vectors + 2 * (scalar * cross + np.cross(axis, cross))


def energy_deviation(folder, series, box, options):
    """Of ten frames' energies under all images less those under their own: root mean square, and the
    largest."""
    edge = box[2]
    centre = np.full(3, edge / 2)
    geometries = [centre + classical.geometry(place) for place in series.places]
    found = []
    for own in range(len(series.places)):
        image = folder / "profile" / f"image-{own + 1:02d}"
        image = image / "chain-0" if (image / "chain-0").exists() else image
        table = np.loadtxt(image / "dhdl.xvg", comments=("#", "@"))
        with h5py.File(image / "trajectory.h5md") as file:
            steps = file["particles/molecules/position/step"][:].tolist()
            sites = file["parameters/molecule_types/0/reference_position"][:]
            for row in table[:: max(1, len(table) // 10)]:
                frame = steps.index(int(row[0]))
                centres = file["particles/molecules/position/value"][frame]
                turned = rotated(file["particles/molecules/orientation/value"][frame], sites)
                waters = centres[:, None] + turned
                energies = np.array([
                    classical.interaction(series, k, geometries[k], waters, edge, options.cutoff)
                    for k in range(len(series.places))
                ])  # fmt: skip
                expected = energies - energies[own]
                sane = np.abs(expected) < 100  # two atoms in one place need no more digits
                sane[own] = False
                found += np.abs(row[1:] - expected)[sane].tolist()
    return math.sqrt(np.mean(np.square(found))), max(found)


def make_context(series, waters, edge, options, seed):
    """The potential in OpenMM, nanometre; its solute does not move."""
    cutoff = options.cutoff / 10
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors(*(edge / 10 * np.eye(3)))
    force = openmm.CustomNonbondedForce(
        f"{classical.COULOMB / 10}*q1*q2*(1/r + r*{1 / cutoff**2} - {2 / cutoff})"
        f" + root1*root2*(x*x - x - shift*shift + shift);"
        f" x = s6/(r2*r2*r2); r2 = r*r; shift = s6*{cutoff**-6}; s6 = cube1*cube2"
    )
    for parameter in ("q", "root", "cube"):
        force.addPerParticleParameter(parameter)
    force.setNonbondedMethod(openmm.CustomNonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(cutoff)
    for _ in classical.ELEMENTS:
        system.addParticle(0)
        force.addParticle([0, 0, 0])
    for a, b in ((0, 1), (0, 2), (1, 2)):
        force.addExclusion(a, b)
    bond = classical.BOND / 10
    opposite = 2 * bond * math.sin(math.radians(classical.ANGLE) / 2)
    oxygen = [math.sqrt(4 * classical.WATER_EPSILON), (classical.WATER_SIGMA / 10) ** 3]
    for first in range(3, 3 + 3 * waters, 3):
        for mass, charge, vdw in zip(
            (OXYGEN_MASS, HYDROGEN_MASS, HYDROGEN_MASS), classical.WATER_CHARGES,
            (oxygen, [0, 0], [0, 0]), strict=True,
        ):  # fmt: skip
            system.addParticle(mass)
            force.addParticle([charge, *vdw])
        for a, b, length in ((0, 1, bond), (0, 2, bond), (1, 2, opposite)):
            system.addConstraint(first + a, first + b, length)
            force.addExclusion(first + a, first + b)
    system.addForce(force)
    integrator = openmm.LangevinMiddleIntegrator(TEMPERATURE, 1.0, TIME_STEP)
    integrator.setRandomNumberSeed(seed)
    integrator.setConstraintTolerance(1e-6)
    platform = openmm.Platform.getPlatformByName(options.platform)
    device = options.devices[seed % len(options.devices)]
    properties = {"DeviceIndex": device, "Precision": "mixed"}
    if options.platform == "OpenCL":
        properties["OpenCLPlatformIndex"] = str(options.opencl_platform)
    if options.platform == "CPU":
        properties = {"Threads": str(max(1, options.threads // options.processes))}
    return openmm.Context(system, integrator, platform, properties), force


def take_image(force, context, series, image):
    """A geometric mean of sigma, to the sixth power, is a product of cubes."""
    charges = series.charges(series.places[image])
    for atom, charge in enumerate(charges):
        root = math.sqrt(4 * series.epsilons[image][atom])
        cube = (series.sigmas[image][atom] / 10) ** 3
        force.setParticleParameters(atom, [charge, root, cube])
    force.updateParametersInContext(context)


def dynamics_of_image(folder, series, box, options, image):
    """(frames, images) energies of frames under all images, kJ/mol. Each image begins in the box's
    waters; what an earlier call has got to is gone on with."""
    _, start, edge = box
    centre = np.full(3, edge / 2)
    geometries = [centre + classical.geometry(place) for place in series.places]
    kept, energies, waters = folder / f"dynamics-{image + 1}.npz", [], start.reshape(-1, 3)
    if kept.exists():
        energies, waters = np.load(kept)["energies"].tolist(), np.load(kept)["waters"]
    frames = round(options.picoseconds / options.frame_picoseconds)
    if len(energies) >= frames:
        return np.array(energies[:frames])
    context, force = make_context(series, len(start), edge, options, options.seed + image)
    integrator = context.getIntegrator()
    take_image(force, context, series, image)
    context.setPositions(np.concatenate([geometries[image], waters]) / 10)
    context.applyConstraints(1e-6)
    if not energies:
        openmm.LocalEnergyMinimizer.minimize(context, maxIterations=50)
    context.setVelocitiesToTemperature(TEMPERATURE, options.seed + image + len(energies))
    integrator.step(round(options.equilibration_picoseconds / TIME_STEP))
    while len(energies) < frames:
        integrator.step(round(options.frame_picoseconds / TIME_STEP))
        state = context.getState(getPositions=True)
        positions = state.getPositions(asNumpy=True).value_in_unit(unit.angstrom)[3:]
        molecules = positions.reshape(-1, 3, 3)
        energies.append([
            classical.interaction(series, k, geometries[k], molecules, edge, options.cutoff)
            for k in range(len(series.places))
        ])  # fmt: skip
        if len(energies) % FRAMES_BETWEEN_FILES == 0 or len(energies) == frames:
            unfinished = folder / f"unfinished-{image + 1}.npz"
            np.savez(unfinished, energies=energies, waters=positions)
            unfinished.replace(kept)
    print(f"dynamics of image {image + 1} done", flush=True)
    return np.array(energies)


def dynamics(pool, folder, series, box, options):
    """[image]: futures of dynamics_of_image."""
    return [
        pool.submit(dynamics_of_image, folder, series, box, options, image)
        for image in range(len(series.places))
    ]


def inefficiency(series):
    """The slower of the series and of its ranks: a few frames with a huge energy say nothing of how
    long the others remember."""
    ranks = np.argsort(np.argsort(series)).astype(float)
    return max(timeseries.statistical_inefficiency(one) for one in (series, ranks))


def free_energies(energies):
    """(of the images, that of the first being 0; errors) by MBAR from independent frames."""
    chosen = []
    for own, table in enumerate(energies):
        differences = table - table[:, own : own + 1]
        neighbours = [k for k in (own - 1, own + 1) if 0 <= k < table.shape[1]]
        slowest = max(inefficiency(differences[:, k]) for k in neighbours)
        chosen.append(table[timeseries.subsample_correlated_data(table[:, 0], g=slowest)])
    counts = [len(table) for table in chosen]
    print(f"independent frames of the dynamics: {counts}")
    # Its default solver gives up at times where all is well.
    solved = pymbar.MBAR(np.concatenate(chosen).T / KT, counts, solver_protocol="robust")
    found = solved.compute_free_energy_differences()
    return KT * found["Delta_f"][0], KT * found["dDelta_f"][0]


def compare(pool, program, name, folder, options):
    """Problems, as sentences."""
    series = classical.SERIES[name]
    folder.mkdir(parents=True, exist_ok=True)
    box = make_box(program, folder, series, options.waters)
    write_inputs(folder, name, series, box, options)
    of_images = dynamics(pool, folder, series, box, options)
    if options.platform == "CPU":  # the program has the cores then
        concurrent.futures.wait(of_images)
    run_program(program, folder, "profile", "profile.cfg", STARPMC_CLASSICAL_SERIES=name)
    theirs, their_error = free_energies([one.result() for one in of_images])
    deviation, largest = energy_deviation(folder, series, box, options)
    with open(folder / "profile/profile.csv") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    ours, our_error = (np.array([float(row[key]) for row in rows]) for key in ("free_energy", "error"))
    error = np.hypot(our_error, their_error)
    print(f"{name}, {options.waters} waters: free energy of each image, kJ/mol")
    for k in range(1, len(rows)):
        print(
            f"  image {k + 1}: profile {ours[k]:8.3f} +- {our_error[k]:.3f}, OpenMM {theirs[k]:8.3f} "
            f"+- {their_error[k]:.3f}: {ours[k] - theirs[k]:+.3f} +- {error[k]:.3f}"
        )
    print(
        f"{name}: energy differences of frames deviate by {deviation:.4f} kJ/mol (rms), {largest:.4f} "
        "at most",
        flush=True,
    )
    results = {"profile": [ours.tolist(), our_error.tolist()],
               "openmm": [theirs.tolist(), their_error.tolist()]}  # fmt: skip
    (folder / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    problems = []
    if deviation > LARGEST_ENERGY_DEVIATION:
        problems.append(f"{name}: energies of frames differ by {deviation:.3g} kJ/mol")
    if error.max() > options.largest_error:
        problems.append(f"{name}: the error of the difference is {error.max():.3f} kJ/mol")
    if (np.abs(ours - theirs)[1:] > STANDARD_ERRORS * error[1:]).any():
        problems.append(f"{name}: free energies differ by more than their errors")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--series", default="charging,growth", type=lambda text: text.split(","))
    parser.add_argument("--waters", default=500, type=int)
    parser.add_argument("--cutoff", default=9.0, type=float, help="angstrom")
    parser.add_argument("--sweeps", default=60000, type=int, help="steps per molecule, of all chains of an image")
    parser.add_argument("--equilibration-sweeps", default=2000, type=int)
    parser.add_argument("--near-share", default=0.0, type=float, help="of the program's steps")
    parser.add_argument("--frame-sweeps", default=20, type=int)
    parser.add_argument("--picoseconds", default=800.0, type=float, help="of an image")
    parser.add_argument("--equilibration-picoseconds", default=40.0, type=float)
    parser.add_argument("--frame-picoseconds", default=0.2, type=float)
    parser.add_argument("--platform", default="CPU")
    parser.add_argument("--threads", default=os.cpu_count(), type=int)
    parser.add_argument("--opencl-platform", default=0, type=int, help="its index")
    parser.add_argument("--processes", default=1, type=int)
    parser.add_argument("--devices", default="0", type=lambda text: text.split(","))
    parser.add_argument("--chains", default=1, type=int)
    parser.add_argument("--largest-error", default=0.3, type=float, help="kJ/mol")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--output", type=lambda path: pathlib.Path(path).resolve())
    options = parser.parse_args()
    problems = []
    spawn = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="starpmc-test-") as temporary,
        concurrent.futures.ProcessPoolExecutor(options.processes, spawn) as pool,
    ):
        for name in options.series:
            folder = (options.output or pathlib.Path(temporary)) / name
            problems += compare(pool, options.program, name, folder, options)
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
