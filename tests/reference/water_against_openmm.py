"""Rigid water by starpmc's Monte Carlo against OpenMM's molecular dynamics of the same potential.

    python3 water_against_openmm.py PROGRAM [--models tip3p,spce] [--output FOLDER]

Shifted-force Coulomb and force-shifted Lennard-Jones between sites nearer than the cutoff, at
298.15 K, written down here for OpenMM from the models' publications' numbers, not read from
starpmc's topology. Three comparisons per model:

1. The potential: energies of starpmc's own frames, computed by OpenMM's Reference platform (fp64),
   and the pressure from OpenMM's energies of a slightly smaller and a slightly larger box.
2. Potential energy per molecule and pressure, averaged over both runs.
3. The O-O radial distribution function of both runs.

Langevin dynamics by the middle scheme (BAOAB): its positions of harmonic motion have no error of the
time step (Leimkuhler and Matthews 2013), so 2 fs are short enough for the librations of water. All
errors are standard errors from blocks. FOLDER gets the samples as .npz, g(r) as .csv and a picture.
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import h5py
    import numpy as np
    import openmm
    from block_statistics import chance_of_difference, mean_and_error
    from openmm import unit
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(SKIPPED)

TEMPERATURE = 298.15  # K
GAS_CONSTANT = 0.00831446261815324  # kJ/mol/K
COULOMB_CONSTANT = 138.935457644  # kJ/mol nm/e^2, CODATA 2018
BAR = 1e5 * 1e-27 * 6.02214076e23 / 1000  # kJ/mol/nm^3
TIME_STEP = 0.002  # ps
BIN_WIDTH = 0.005  # nm
BLOCKS = 20
SITES = 3
# What makes the comparison say something, and what it has to meet.
LARGEST_ENERGY_ERROR = 0.1  # kJ/mol and molecule
LARGEST_PRESSURE_ERROR = 120  # bar
LARGEST_DISTRIBUTION_ERROR = 0.05  # of g(r), in its worst bin
STANDARD_ERRORS = 3.5
LEAST_PROBABILITY = 0.001  # of so large a difference of g(r) by chance
PERMUTATIONS = 10000


@dataclasses.dataclass
class Model:
    """Charges in e, lengths in nm, energies in kJ/mol."""

    hydrogen_charge: float
    sigma: float
    epsilon: float
    bond: float
    angle: float  # degrees


MODELS = {
    # Jorgensen et al., J. Chem. Phys. 79, 926 (1983); sigma and epsilon from A and C as in OPLS-AA.
    "tip3p": Model(0.417, 0.315061, 0.636386, 0.09572, 104.52),
    # Berendsen, Grigera and Straatsma, J. Phys. Chem. 91, 6269 (1987).
    "spce": Model(0.4238, 0.316557, 0.650194, 0.1, 109.47),
}


def make_context(model, waters, edge, cutoff, platform, seed=1):
    """The potential in OpenMM. Only oxygen has a Lennard-Jones site: `oxygen` is 1 there, else 0."""
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors(*(edge * np.eye(3)))
    sixth = (model.sigma / cutoff) ** 6
    force = openmm.CustomNonbondedForce(
        f"{COULOMB_CONSTANT}*charge1*charge2*(1/r + r*{1 / cutoff**2} - {2 / cutoff})"
        f" + oxygen1*oxygen2*{4 * model.epsilon}*(s6*s6 - s6"
        f" + r*{(12 * sixth**2 - 6 * sixth) / cutoff} - {13 * sixth**2 - 7 * sixth});"
        f" s6 = {model.sigma**6}/(r2*r2*r2); r2 = r*r"
    )
    force.addPerParticleParameter("charge")
    force.addPerParticleParameter("oxygen")
    force.setNonbondedMethod(openmm.CustomNonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(cutoff)
    opposite = 2 * model.bond * math.sin(math.radians(model.angle) / 2)
    for first in range(0, SITES * waters, SITES):
        for mass, charge, oxygen in ((15.9994, -2, 1), (1.008, 1, 0), (1.008, 1, 0)):
            system.addParticle(mass)
            force.addParticle([charge * model.hydrogen_charge, oxygen])
        for a, b, length in ((0, 1, model.bond), (0, 2, model.bond), (1, 2, opposite)):
            system.addConstraint(first + a, first + b, length)
            force.addExclusion(first + a, first + b)
    system.addForce(force)
    integrator = openmm.LangevinMiddleIntegrator(TEMPERATURE, 1.0, TIME_STEP)
    integrator.setRandomNumberSeed(seed)
    integrator.setConstraintTolerance(1e-7)
    properties = {"Threads": "1"} if platform == "CPU" else {}
    platform = openmm.Platform.getPlatformByName(platform)
    return openmm.Context(system, integrator, platform, properties)


def potential_energy(context):
    state = context.getState(getEnergy=True)
    return state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


def pressure(context, positions, centres, edge):
    """Bar, from the change of the energy when box and centres (with their molecules) are scaled.

    Which point of a molecule is its centre matters for a frame, not for the mean.
    """
    waters = len(centres)
    energies = []
    change = 1e-4
    for scale in (1 - change, 1 + change):
        shifts = (scale - 1) * centres
        context.setPeriodicBoxVectors(*(scale * edge * np.eye(3)))
        context.setPositions(positions + np.repeat(shifts, SITES, axis=0))
        energies.append(potential_energy(context))
    context.setPeriodicBoxVectors(*(edge * np.eye(3)))
    context.setPositions(positions)
    volumes = [(edge * scale) ** 3 for scale in (1 - change, 1 + change)]
    slope = (energies[1] - energies[0]) / (volumes[1] - volumes[0])
    return (waters * GAS_CONSTANT * TEMPERATURE / edge**3 - slope) / BAR


def pair_counts(oxygens, edge, bins):
    """Pairs of oxygens per bin of their smallest periodic distance, of one frame."""
    i, j = np.triu_indices(len(oxygens), 1)
    distance = oxygens[i] - oxygens[j]
    distance -= edge * np.rint(distance / edge)
    return np.histogram(np.sqrt((distance**2).sum(axis=1)), bins)[0]


def radial_distribution(counts, waters, edge, bins):
    """g(r) per frame: counts over those of an ideal gas of the same density."""
    shells = 4 / 3 * math.pi * (bins[1:] ** 3 - bins[:-1] ** 3)
    return counts / (shells * waters * (waters - 1) / 2 / edge**3)


@dataclasses.dataclass
class Samples:
    """Per frame; energy in kJ/mol and molecule, pressure in bar, g without unit."""

    energy: np.ndarray
    pressure: np.ndarray
    distribution: np.ndarray


def blocks_of(samples):
    """(BLOCKS, ...): means of BLOCKS blocks along the first axis."""
    return np.array([block.mean(axis=0) for block in np.array_split(samples, BLOCKS)])


class Comparison:
    def __init__(self, program, name, options, folder):
        self.program = program
        self.name = name
        self.model = MODELS[name]
        self.options = options
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.cutoff = options.cutoff
        self.failures = []

    def starpmc(self, *words):
        environment = dict(os.environ, STARPU_NCPU="1")
        result = subprocess.run(
            [self.program, *map(str, words)],
            cwd=self.folder,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if result.returncode != 0:
            raise RuntimeError(
                f"starpmc {words[0]} ended with {result.returncode}\n{result.stderr}"
            )

    def monte_carlo(self):
        options = self.options
        self.starpmc(
            "solvate",
            "--waters",
            options.waters,
            "--model",
            self.name,
            "--output",
            self.name,
            "--overwrite",
        )
        frames_interval = 10 * options.waters
        (self.folder / f"{self.name}.cfg").write_text(
            f"""[system]
coordinates = {self.name}.gro
topology = {self.name}.top
[interaction]
coulomb-cutoff = {10 * self.cutoff}
vdw-cutoff = {10 * self.cutoff}
vdw-modifier = force-shift
[sampling]
temperature = {TEMPERATURE}
seed = {options.seed}
equilibration-steps = {options.equilibration_sweeps * options.waters}
steps = {options.sweeps * options.waters}
[run]
implementation = simd
precision = fp64
[output]
folder = monte-carlo
overwrite = true
energy-interval = {frames_interval}
pressure-interval = {frames_interval}
trajectory-interval = {frames_interval}
"""
        )
        self.starpmc("run", f"{self.name}.cfg")
        return self.read_run(self.folder / "monte-carlo")

    def read_run(self, folder):
        """Samples of production; starpmc's lengths are in angstrom."""
        equilibration = self.options.equilibration_sweeps * self.options.waters
        with open(folder / "energies.csv") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        rows = [row for row in rows if int(row["step"]) > equilibration]
        with h5py.File(folder / "trajectory.h5md") as file:
            self.edge = file["particles/all/box/edges/value"][0, 0] / 10
            steps = file["particles/all/box/edges/step"][:]
            geometry = file["parameters/molecule_types/0/reference_position"][:] / 10
            chosen = steps > equilibration
            centres = file["particles/molecules/position/value"][:][chosen] / 10
            orientations = file["particles/molecules/orientation/value"][:][chosen]
        if [int(row["step"]) for row in rows] != steps[chosen].tolist():
            raise RuntimeError(f"{folder}: energies and frames are of different steps")
        energies = np.array([float(row["total"]) for row in rows])
        pressures = np.array([float(row["pressure"]) for row in rows])
        self.check_potential(centres, orientations, geometry, energies, pressures)
        oxygens = centres + rotate(orientations, geometry[0])
        return self.samples(energies, pressures, oxygens)

    def samples(self, energies, pressures, oxygens):
        waters = self.options.waters
        bins = np.arange(0.2, self.edge / 2, BIN_WIDTH)
        counts = np.array([pair_counts(frame, self.edge, bins) for frame in oxygens])
        distribution = radial_distribution(counts, waters, self.edge, bins)
        return Samples(energies / waters, pressures, distribution)

    def check_potential(self, centres, orientations, geometry, energies, pressures):
        """Comparison 1, on ten frames over the run."""
        context = make_context(self.model, self.options.waters, self.edge, self.cutoff, "Reference")
        energy_deviation = 0.0
        pressure_deviation = 0.0
        for frame in np.linspace(0, len(energies) - 1, 10).astype(int):
            sites = [centres[frame] + rotate(orientations[frame], site) for site in geometry]
            positions = np.stack(sites, axis=1).reshape(-1, 3)
            context.setPositions(positions)
            energy = potential_energy(context)
            energy_deviation = max(energy_deviation, abs(energies[frame] / energy - 1))
            difference = pressures[frame] - pressure(context, positions, centres[frame], self.edge)
            pressure_deviation = max(pressure_deviation, abs(difference))
        self.report("energy of a frame, largest relative deviation", energy_deviation, 2e-6)
        self.report("pressure of a frame, largest deviation (bar)", pressure_deviation, 0.5)

    def molecular_dynamics(self, start):
        options = self.options
        context = make_context(
            self.model, options.waters, self.edge, self.cutoff, "CPU", options.seed + 4
        )
        context.setPositions(start)
        context.applyConstraints(1e-8)
        context.setVelocitiesToTemperature(TEMPERATURE, options.seed + 8)
        integrator = context.getIntegrator()
        integrator.step(round(options.equilibration_picoseconds / TIME_STEP))
        energies, pressures, oxygens = [], [], []
        for frame in range(round(options.picoseconds / options.interval)):
            integrator.step(round(options.interval / TIME_STEP))
            state = context.getState(getPositions=True)
            positions = state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
            energies.append(potential_energy(context))
            oxygens.append(positions[::SITES].copy())
            if frame % options.pressure_frames == 0:
                pressures.append(pressure(context, positions, positions[::SITES], self.edge))
        return self.samples(np.array(energies), np.array(pressures), np.array(oxygens))

    def start_of_dynamics(self):
        """The box that solvate wrote, its oxygens and hydrogens in GROMACS's order."""
        lines = (self.folder / f"{self.name}.gro").read_text().splitlines()
        sites = lines[2 : 2 + SITES * self.options.waters]
        return np.array([[float(word) for word in line[20:].split()] for line in sites])

    def report(self, what, value, limit):
        verdict = "" if value <= limit else "   <-- too large"
        print(f"{self.name}: {what}: {value:.3g} (at most {limit:g}){verdict}", flush=True)
        if verdict:
            self.failures.append(f"{self.name}: {what} is {value:.3g}, above {limit:g}")

    def compare(self, name, unit_name, monte_carlo, dynamics, largest_error):
        ours, our_error = mean_and_error(blocks_of(monte_carlo))
        theirs, their_error = mean_and_error(blocks_of(dynamics))
        error = math.hypot(our_error, their_error)
        print(
            f"{self.name}: {name}: Monte Carlo {ours:.4f} +- {our_error:.4f}, molecular dynamics "
            f"{theirs:.4f} +- {their_error:.4f} {unit_name}",
            flush=True,
        )
        self.report(f"error of the difference of {name} ({unit_name})", error, largest_error)
        self.report(
            f"difference of {name} in standard errors", abs(ours - theirs) / error, STANDARD_ERRORS
        )
        return {"monte_carlo": [ours, our_error], "molecular_dynamics": [theirs, their_error]}

    def compare_distributions(self, monte_carlo, dynamics):
        ours, our_error = mean_and_error(blocks_of(monte_carlo))
        theirs, their_error = mean_and_error(blocks_of(dynamics))
        bins = np.arange(0.2, self.edge / 2, BIN_WIDTH)
        centres = (bins[1:] + bins[:-1]) / 2
        error = np.hypot(our_error, their_error)
        compared = (ours > 0.05) & (theirs > 0.05)  # bins that hold pairs in every block
        deviation = (ours - theirs)[compared] / error[compared]
        self.report("error of g(r), worst bin", error[compared].max(), LARGEST_DISTRIBUTION_ERROR)
        probability = chance_of_difference(
            blocks_of(monte_carlo[:, compared]), blocks_of(dynamics[:, compared]), PERMUTATIONS
        )
        print(f"{self.name}: g(r), probability of such a difference by chance: {probability:.3g}")
        if probability < LEAST_PROBABILITY:
            self.failures.append(f"{self.name}: the two g(r) differ (p = {probability:.1g})")
        self.report("g(r), largest deviation in standard errors", np.abs(deviation).max(), 5.5)
        peak = int(ours.argmax())
        print(
            f"{self.name}: first peak of g(r): {centres[peak]:.4f} nm, Monte Carlo "
            f"{ours[peak]:.3f}, molecular dynamics {theirs[peak]:.3f}; largest difference "
            f"{np.abs(ours - theirs).max():.3f}",
            flush=True,
        )
        table = np.column_stack((centres, ours, our_error, theirs, their_error))
        np.savetxt(
            self.folder / "oxygen-oxygen.csv",
            table,
            "%.6g",
            ",",
            comments="",
            header=(
                "r_nm,monte_carlo,monte_carlo_error,molecular_dynamics,molecular_dynamics_error"
            ),
        )
        return table

    def run(self):
        monte_carlo = self.monte_carlo()
        dynamics = self.molecular_dynamics(self.start_of_dynamics())
        for name, samples in (("monte-carlo", monte_carlo), ("molecular-dynamics", dynamics)):
            np.savez(self.folder / f"{name}.npz", **dataclasses.asdict(samples))
        results = {
            "energy_kj_per_mol": self.compare(
                "potential energy",
                "kJ/mol",
                monte_carlo.energy,
                dynamics.energy,
                LARGEST_ENERGY_ERROR,
            ),
            "pressure_bar": self.compare(
                "pressure", "bar", monte_carlo.pressure, dynamics.pressure, LARGEST_PRESSURE_ERROR
            ),
        }
        (self.folder / "results.json").write_text(json.dumps(results, indent=2) + "\n")
        self.compare_distributions(monte_carlo.distribution, dynamics.distribution)
        return self.failures


def rotate(quaternions, vector):
    """Unit quaternions (..., 4), scalar first, applied to one vector."""
    scalar, axis = quaternions[..., :1], quaternions[..., 1:]
    cross = np.cross(axis, vector)
    return vector + 2 * (scalar * cross + np.cross(axis, cross))


def picture(folder, models):
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: matplotlib is missing")
        return
    figure, axes = plt.subplots(
        len(models), 1, figsize=(6, 2.6 * len(models)), sharex=True, squeeze=False
    )
    for name, axis in zip(models, axes[:, 0]):
        table = np.loadtxt(folder / name / "oxygen-oxygen.csv", delimiter=",", skiprows=1)
        axis.plot(table[:, 0] * 10, table[:, 1], label="starpmc, Monte Carlo")
        axis.plot(table[:, 0] * 10, table[:, 3], "--", label="OpenMM, molecular dynamics")
        axis.set_ylabel(f"g(O-O), {name}")
    axes[0, 0].legend(frameon=False)
    axes[-1, 0].set_xlabel("r (angstrom)")
    figure.tight_layout()
    figure.savefig(folder / "water.png", dpi=100)


def compare_model(program, name, options, folder):
    return Comparison(program, name, options, folder / name).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--models", default="tip3p,spce", type=lambda text: text.split(","))
    parser.add_argument("--waters", default=216, type=int)
    parser.add_argument("--cutoff", default=0.9, type=float, help="nm")
    parser.add_argument("--sweeps", default=150000, type=int, help="steps per molecule")
    parser.add_argument("--equilibration-sweeps", default=5000, type=int)
    parser.add_argument("--picoseconds", default=400.0, type=float)
    parser.add_argument("--equilibration-picoseconds", default=20.0, type=float)
    parser.add_argument("--interval", default=0.1, type=float, help="ps between two samples")
    parser.add_argument("--pressure-frames", default=5, type=int, help="samples per pressure")
    parser.add_argument("--seed", default=3, type=int)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    unknown = set(options.models) - set(MODELS)
    if unknown:
        parser.error(f"--models: no model {', '.join(unknown)}; known: {', '.join(MODELS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.output or pathlib.Path(temporary)).resolve()
        with concurrent.futures.ProcessPoolExecutor() as pool:
            jobs = [
                pool.submit(compare_model, options.program, name, options, folder)
                for name in options.models
            ]
            failures = [failure for job in jobs for failure in job.result()]
        picture(folder, options.models)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
