"""Averages of liquid argon and of SPC/E water by starpmc's Monte Carlo against GROMACS' dynamics of
the same potential: potential energy and pressure, with the dispersion correction.

    python3 averages_against_gromacs.py PROGRAM [--systems spce,argon] [--length 1] [--runs 1]
                                        [--jobs 2] [--output FOLDER]

At constant volume and temperature. Argon is Rahman's of 1964: 864 atoms, 94.4 K, 1.374 g/cm3. Water
has a reaction field, whose part within a molecule, which starpmc does not count, is taken out of
GROMACS' energy. GROMACS' energies are those of its frames in double precision, its pressure is the
change of that energy when the box is scaled with the molecules' places but not their shapes: so
neither has an error of the velocities of a finite time step. What the correction adds is a
constant, compared by itself. Errors are standard errors from blocks that are longer than the
samples' memory. FOLDER gets the samples of each run as .npz.
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import json
import math
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

try:
    import gromacs
    import numpy as np
    from block_statistics import mean_and_error
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(program.SKIPPED)

BLOCKS = 20  # of a run; an even number
STANDARD_ERRORS = 3
NEAR_ENOUGH = 5  # bar
SCALING = 1e-4  # of the box, for the pressure
SWEEPS_PER_SAMPLE = 10
# nm. With GROMACS' own (verlet-buffer-tolerance) argon has 0.05 % less energy, 5.5 bar less: atoms
# that meet unseen lose the energy of the attraction, but gain no speed.
PAIR_LIST_BUFFER = 0.1
CORRECTION = 1e-6  # relative, of what the dispersion correction adds


@dataclasses.dataclass
class State:
    temperature: float  # K
    cutoff: float  # nm
    masses: tuple
    charges: tuple
    coulomb: str  # for [potential]
    # Monte Carlo: its runs for each of dynamics, their sweeps, those of the start, which are left
    # out, and the acceptance that moves are tuned to.
    chains: int
    sweeps: int
    equilibration_sweeps: int
    acceptance: float
    # Dynamics, in ps.
    time_step: float
    friction_time: float
    picoseconds: float
    equilibration_picoseconds: float
    interval: float
    # What makes the comparison say something: of the difference, at length 1.
    largest_energy_error: float  # relative
    largest_pressure_error: float  # bar


STATES = {
    "argon": State(
        temperature=94.4, cutoff=0.85, masses=(39.948,), charges=(0,), coulomb="none",
        chains=1, sweeps=60000, equilibration_sweeps=3000, acceptance=0.25,
        time_step=0.005, friction_time=1, picoseconds=3000, equilibration_picoseconds=100,
        interval=0.5, largest_energy_error=2.5e-4, largest_pressure_error=5,
    ),
    "spce": State(
        temperature=298.15, cutoff=0.8, masses=(15.9994, 1.008, 1.008),
        charges=(-0.8476, 0.4238, 0.4238), coulomb=gromacs.REACTION_FIELD,
        chains=2, sweeps=300000, equilibration_sweeps=5000, acceptance=0.4,
        time_step=0.002, friction_time=0.5, picoseconds=2000, equilibration_picoseconds=50,
        interval=0.4, largest_energy_error=1e-3, largest_pressure_error=60,
    ),
}  # fmt: skip
WATERS = 256


def write_argon(folder):
    """Eight times the box of the other tests."""
    data = program.DATA / "argon"
    top = (data / "argon.top").read_text()
    count = "argon  108"
    if top.count(count) != 1:
        raise ValueError(f"{data}/argon.top: not one line '{count}'")
    (folder / "box.top").write_text(top.replace(count, "argon  864"))
    words = ("genconf", "-f", data / "argon.gro", "-nbox", 2, 2, 2, "-o", "box.gro")
    gromacs.Gromacs(folder, folder / "box.top").call(gromacs.DOUBLE, *words)


def write_water(folder):
    words = ("solvate", "--waters", WATERS, "--model", "spce", "--output", folder / "box")
    program.succeed(*words)


@dataclasses.dataclass
class Samples:
    """Of one run: energy in kJ/mol and molecule, pressure in bar, and what the dispersion
    correction adds to each, which they contain."""

    energy: np.ndarray
    pressure: np.ndarray
    correction: dict

    def save(self, path):
        np.savez(path, energy=self.energy, pressure=self.pressure, **{
            f"{quantity}_correction": added for quantity, added in self.correction.items()
        })  # fmt: skip
        return self


class MonteCarlo:
    """starpmc's runs of a state."""

    def __init__(self, state, folder, length):
        self.state, self.folder = state, folder
        self.molecules, self.edge = read_box(folder / "box.gro", len(state.masses))
        equilibration = state.equilibration_sweeps * self.molecules
        steps = round(state.sweeps * length) * self.molecules
        interval = SWEEPS_PER_SAMPLE * self.molecules
        self.first_sample = equilibration + interval
        self.config = program.write_config(
            folder / "monte-carlo.cfg",
            system={"coordinates": "box.gro", "topology": "box.top"},
            interaction={
                "coulomb_cutoff": 10 * state.cutoff, "vdw_cutoff": 10 * state.cutoff,
                "dispersion_correction": "energy-pressure",
            },
            potential={"coulomb": state.coulomb},
            sampling={
                "temperature": state.temperature, "equilibration_steps": equilibration,
                "steps": steps, "target_acceptance": state.acceptance,
            },
            run={"implementation": "simd", "precision": "mixed"},
            output={
                "energy_interval": interval, "pressure_interval": interval,
                "trajectory_interval": equilibration + steps,
            },
        )  # fmt: skip

    def run(self, seed):
        name = f"monte-carlo-{seed}"
        program.simulate(
            self.config.name, name, "--sampling.seed", seed, env={"STARPU_NCPU": 1}, timeout=None,
            cwd=self.folder,
        )  # fmt: skip
        samples = self.samples(self.folder / name / "energies.csv")
        return samples.save(self.folder / f"{name}.npz")

    def samples(self, path):
        with open(path) as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        rows = [row for row in rows if int(row["step"]) >= self.first_sample]
        energy = np.array([float(row["total"]) for row in rows])
        pressure = np.array([float(row["pressure"]) for row in rows])
        result = program.succeed("energy", self.config.name, cwd=self.folder)
        start = json.loads(result.stdout)
        added = start["energies_kj_per_mol"]["dispersion_correction"]
        virial = start["virials_kj_per_mol"]["dispersion_correction"]
        correction = {
            "energy": added / self.molecules,
            "pressure": virial / 3 / self.edge**3 / gromacs.BAR,
        }
        return Samples(energy / self.molecules, pressure, correction)


class Dynamics:
    """GROMACS' runs of a state."""

    def __init__(self, state, folder, length):
        self.state, self.folder, self.length = state, folder, length

    def run(self, seed):
        """The start is left out."""
        state = self.state
        folder = self.folder / f"dynamics-{seed}"
        folder.mkdir()
        simulation = gromacs.Gromacs(folder, self.folder / "box.top", timeout=None)
        picoseconds = state.equilibration_picoseconds + state.picoseconds * self.length
        positions, edges = simulation.dynamics(
            self.folder / "box.gro", gromacs.potential(state.cutoff),
            time_step=state.time_step, steps=round(picoseconds / state.time_step),
            interval=round(state.interval / state.time_step), temperature=state.temperature,
            friction_time=state.friction_time, seed=seed,
            list_cutoff=state.cutoff + PAIR_LIST_BUFFER,
        )  # fmt: skip
        (folder / "dynamics.trr").unlink()
        first = round(state.equilibration_picoseconds / state.interval) + 1
        samples = self.samples(simulation, positions[first:], edges[first:])
        return samples.save(self.folder / f"{folder.name}.npz")

    def samples(self, simulation, positions, edges):
        state = self.state
        molecules = gromacs.whole_molecules(positions, edges, len(state.masses))
        count = molecules.shape[1]
        volume = edges.prod(axis=1)
        ideal = count * gromacs.GAS_CONSTANT * state.temperature / volume
        energy, correction = self.energies(simulation, molecules, edges, 1)
        smaller, larger = (
            np.array(self.energies(simulation, molecules, edges, scale))
            for scale in (1 - SCALING, 1 + SCALING)
        )
        change = volume * ((1 + SCALING) ** 3 - (1 - SCALING) ** 3)
        pressure, correction_pressure = (smaller - larger) / change / gromacs.BAR
        added = {"energy": correction.mean() / count, "pressure": correction_pressure.mean()}
        return Samples(energy / count, ideal / gromacs.BAR + pressure, added)

    def energies(self, simulation, molecules, edges, scale):
        """Of all frames, with box and centres of mass scaled: all of it, the correction."""
        state = self.state
        masses = np.array(state.masses)
        centres = np.einsum("s,fmsx->fmx", masses, molecules) / masses.sum()
        scaled = molecules + (scale - 1) * centres[:, :, None]
        terms = simulation.energies(
            self.folder / "box.gro", gromacs.potential(state.cutoff), state.cutoff,
            scaled.reshape(len(scaled), -1, 3), scale * edges,
        )  # fmt: skip
        excluded = gromacs.excluded_energy(molecules, state.charges, state.cutoff)
        return terms["Potential"] - excluded, terms["Disper. corr."]


def read_box(gro, sites):
    """Molecules, and the cube's edge in nm."""
    lines = gro.read_text().split("\n")
    return int(lines[1]) // sites, float(lines[-2].split()[0])


def mean_of(runs):
    """Mean, standard error and the number of independent samples that it would come from. The error
    is the larger of those from blocks and from pairs of blocks, which differ where blocks remember
    the one before."""
    blocks = np.array([
        [block.mean() for block in np.array_split(run, BLOCKS)] for run in runs
    ])  # fmt: skip
    pairs = (blocks[:, ::2] + blocks[:, 1::2]) / 2
    mean, error = mean_and_error(blocks.reshape(-1))
    error = max(error, mean_and_error(pairs.reshape(-1))[1])
    return mean, error, np.concatenate(runs).var() / error**2


def compare(name, monte_carlo, dynamics, length):
    """What is wrong, one line each. length: of all runs together"""
    state = STATES[name]
    largest_errors = {
        "energy": state.largest_energy_error / math.sqrt(length),
        "pressure": state.largest_pressure_error / math.sqrt(length),
    }
    for quantity, unit in (("energy", "kJ/mol"), ("pressure", "bar")):
        added, expected = (run[0].correction[quantity] for run in (monte_carlo, dynamics))
        print(f"{name}, {quantity}, correction: starpmc {added:.7g}, GROMACS {expected:.7g} {unit}")
        if not abs(added / expected - 1) < CORRECTION:
            yield f"{name}, {quantity}, correction: {added:.9g}, GROMACS {expected:.9g} {unit}"
        ours, our_error, our_count = mean_of([getattr(run, quantity) for run in monte_carlo])
        theirs, their_error, their_count = mean_of([getattr(run, quantity) for run in dynamics])
        text = (
            f"{name}, {quantity}: starpmc {ours:.5f} +- {our_error:.5f},"
            f" GROMACS {theirs:.5f} +- {their_error:.5f} {unit}"
        )
        error, difference = math.hypot(our_error, their_error), ours - theirs
        unit_of_error = abs(theirs) if quantity == "energy" else 1  # relative, or bar
        print(
            f"{text}\n  from {our_count:.0f} and {their_count:.0f} independent samples; difference"
            f" {difference / unit_of_error:+.2g} +- {error / unit_of_error:.2g},"
            f" {difference / error:+.2f} standard errors",
            flush=True,
        )
        allowed = NEAR_ENOUGH if quantity == "pressure" else 0
        largest = largest_errors[quantity] * unit_of_error
        if error > largest:
            yield f"{text}: the error of the difference, {error:.3g}, is above {largest:.3g}"
        if abs(difference) > max(allowed, STANDARD_ERRORS * error):
            yield f"{text}: they differ by {difference:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--systems", default="spce,argon", type=lambda text: text.split(","))
    parser.add_argument("--length", default=1.0, type=float, help="of each run, as a factor")
    parser.add_argument("--runs", default=1, type=int, help="of each program, with different seeds")
    parser.add_argument("--jobs", default=2, type=int, help="runs at a time, a core each")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    if unknown := set(options.systems) - set(STATES):
        parser.error(f"--systems: no {', '.join(unknown)}; known: {', '.join(STATES)}")
    if gromacs.MISSING:
        print(f"skipped: {gromacs.MISSING}")
        return program.SKIPPED
    failures = []
    with tempfile.TemporaryDirectory(prefix="starpmc-test-") as temporary:
        folder = (options.output or pathlib.Path(temporary)).resolve()
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            jobs = {name: submit(pool, name, folder / name, options) for name in options.systems}
            for name, of_programs in jobs.items():
                results = [[job.result() for job in runs] for runs in of_programs]
                failures += compare(name, *results, options.length * options.runs)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


def submit(pool, name, folder, options):
    """starpmc's runs and GROMACS'."""
    folder.mkdir(parents=True)
    {"argon": write_argon, "spce": write_water}[name](folder)
    state = STATES[name]
    return [
        [pool.submit(kind(state, folder, options.length).run, seed) for seed in range(1, runs + 1)]
        for kind, runs in ((MonteCarlo, state.chains * options.runs), (Dynamics, options.runs))
    ]


if __name__ == "__main__":
    sys.exit(main())
