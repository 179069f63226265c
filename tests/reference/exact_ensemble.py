"""The exact ensemble is exact: a model solute with a few waters by starpmc against brute force.

    python3 exact_ensemble.py PROGRAM [--samples 20000] [--blocks 4000] [--waters 2] [--seed 1]

model_solute.py is the solute, model_ensemble.py the brute force in NumPy: the true energy in every
step. Compared are mean energies, dipole and field, and histograms of the energy, the field and
distances, by chi-squared. The exact ensemble has to agree, p > 0.01 for all of them together, with
a good response and with wrong ones; the perturbative one must not. Transitions between regions of the
exact ensemble have to be as many forwards as backwards. --samples: independent ones of the brute
force; --blocks: of each run, of all chains.
"""

import argparse
import concurrent.futures
import csv
import dataclasses
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

try:
    import model_box
    import model_ensemble
    import numpy as np
    from block_statistics import chance_of_vectors, mean_and_error, transition_imbalance
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(program.SKIPPED)

WORKERS = pathlib.Path(__file__).resolve().parent / "model_workers"
LEAST_CHANCE = 0.01  # of a difference by chance
SURELY = 1e-5  # what is not by chance
BLOCK_STEPS = 100
EQUILIBRATION_STEPS = 5000
UNTUNED = 10**9  # steps; what is tuned in a well of a wrong response is too short elsewhere
# Runs of one chain each, with references of their own: what they sample must not depend on it.
SEEDS = (1, 2)
BATCHES = 40  # of a run; longer than its samples' memory
SWEEPS_OF_START = 300
SWEEPS_BETWEEN = 10
SCALARS = ("energy", "embedded energy", "dipole", "dipole along the axis", "field")
HISTOGRAMS = ("energy", "field", "distance from S", "distance from O", "nearest hydrogen")
BINS = 10
TOLERANCE = 2e-3  # kJ/mol: frames have positions in single precision

NEAR_SHELL = 1.5  # angstrom: waters are as often within as without

# Name, ensemble, STARPMC_MODEL_RESPONSE, share of the steps that are near the solute
RUNS = (
    ("exact", "exact", "1 3", 0),
    ("exact, 0.4 of the response", "exact", "0.4 3", 0),
    ("exact, 1.3 times the response in 1 of 3 directions", "exact", "1.3 1", 0),
    ("perturbative", "perturbative", "1 3", 0),
    ("exact, 0.4 of the response, half of the steps near the solute", "exact", "0.4 3", 0.5),
)
EXACT_RUNS = sum(ensemble == "exact" for _, ensemble, *_ in RUNS)


def brute_force(waters, samples, seed):
    """Observables (chains, times) or (chains, times, ...)."""
    chains = max(200, min(2000, samples // 20))
    made = model_ensemble.BruteForce(model_ensemble.Model(), waters, chains, seed)
    made.sweep(SWEEPS_OF_START)
    seen = []
    effective = 0.0
    while effective < samples:
        for _ in range(10):
            made.sweep(SWEEPS_BETWEEN)
            seen.append(made.system.observables(made.sites))
        effective = effective_samples(np.array([one["energy"] for one in seen]).T)
    return {name: np.stack([one[name] for one in seen], axis=1) for name in seen[0]}


def effective_samples(values):
    """Independent samples that give the mean the error it has; values: (chains, times)."""
    return values.var() / (values.mean(axis=1).var(ddof=1) / len(values))


class Histogram:
    """Bins of equal probability, by the brute force; a bin for a component, but the last."""

    def __init__(self, values):
        self.edges = np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1])

    def shares(self, values):
        """Of the samples in each bin; values: (blocks, samples)."""
        found = np.searchsorted(self.edges, values)
        return np.stack([(found == k).mean(axis=1) for k in range(BINS - 1)], axis=1)


@dataclasses.dataclass
class Run:
    """What a run of starpmc has sampled at the ends of its blocks."""

    observables: dict  # (chains, blocks) or (chains, blocks, waters)
    accepted: float  # share of the blocks
    largest_error: float  # kJ/mol, of the energies of blocks.csv


def blocks_of(run, blocks):
    """Few serve where a difference is to be seen; the more updates, the longer each takes."""
    return blocks if run[1] == "exact" else min(blocks, 8000)


def seeds_of(run):
    """Others for each run: with the same random numbers chains of like energies come together, and
    the comparisons are no longer independent."""
    return [10 * RUNS.index(run) + seed for seed in SEEDS]


def run_starpmc(folder, box, waters, run, blocks):
    """Runs of all seeds, at the same time."""
    with concurrent.futures.ThreadPoolExecutor(len(SEEDS)) as pool:
        seen = list(
            pool.map(lambda seed: run_chain(folder, box, waters, run, blocks, seed), seeds_of(run))
        )
    return Run(
        {name: np.stack([one[0][name] for one in seen]) for name in seen[0][0]},
        float(np.mean([one[1] for one in seen])),
        max(one[2] for one in seen),
    )


def run_chain(folder, box, waters, run, blocks, seed):
    name, ensemble, response, near_share = run
    sections = {
        "system": box,
        "sampling": {
            "temperature": model_ensemble.Model().temperature,
            "ensemble": ensemble,
            "steps": blocks // len(SEEDS) * BLOCK_STEPS,
            "equilibration_steps": EQUILIBRATION_STEPS,
            "seed": seed,
            "max_translation": 0.9,
            "max_rotation": 70,
            "tune_interval": UNTUNED,
            "near_share": near_share,
            "near_shell": NEAR_SHELL,
        },
        "qm": {
            "engine": "pyscf",
            "python": sys.executable,
            "interval": BLOCK_STEPS,
            "response_components": 3,
            "charge_threshold": 0,
        },
        "run": {"precision": "fp64"},
        "output": {"energy_interval": BLOCK_STEPS, "trajectory_interval": BLOCK_STEPS},
    }
    file = folder / f"{name.replace(' ', '-')}-{seed}.cfg"
    program.write_config(file, **sections)
    environment = {"STARPMC_WORKERS": WORKERS, "STARPMC_MODEL_RESPONSE": response}
    program.simulate(file, file.with_suffix(""), timeout=7200, env=environment)
    return read_chain(file.with_suffix(""), waters, ensemble == "exact")


def table(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def read_chain(folder, waters, exact):
    """Observables of the ends of blocks, a rejected block counting the end before it again."""
    sites, steps = model_box.read_trajectory(folder / "trajectory.h5md", waters)
    seen = model_ensemble.Model().observables(sites)
    if not exact:
        kept = steps > EQUILIBRATION_STEPS
        return {name: values[kept] for name, values in seen.items()}, 1.0, 0.0
    blocks = table(folder / "blocks.csv")
    frame_of = {int(step): i for i, step in enumerate(steps)}
    frames = [frame_of[int(block["step"])] for block in blocks]
    true = np.array([float(block["true_energy"]) for block in blocks])
    accepted = np.array([block["accepted"] == "1" for block in blocks])
    last = np.maximum.accumulate(np.where(accepted, np.arange(len(blocks)), 0))[1:]
    # The energy's last digits where a steep wall makes 1e-6 A of a frame worth more.
    errors = np.sort(np.abs(seen["energy"][frames] - true))
    kept = np.array(frames)[last]
    return (
        {name: values[kept] for name, values in seen.items()},
        accepted[1:].mean(),
        errors[int(0.99 * len(errors))],
    )


def batches(values):
    """(chains, times, ...) -> (chains * batches, samples)."""
    size = values.shape[1] // BATCHES
    return values[:, : BATCHES * size].reshape(len(values) * BATCHES, -1)


def compare(reference, run):
    """(name, chance, chi-squared, components) of each observable."""
    for name in SCALARS:
        ours = batches(run[name]).mean(axis=1, keepdims=True)
        theirs = reference[name].mean(axis=1, keepdims=True)
        yield (name, *chance_of_vectors(theirs, ours), 1)
    for name in HISTOGRAMS:
        histogram = Histogram(reference[name])
        theirs = histogram.shares(reference[name].reshape(len(reference[name]), -1))
        ours = histogram.shares(batches(run[name]))
        yield (f"histogram, {name}", *chance_of_vectors(theirs, ours), BINS - 1)


def report(name, reference, run):
    """Prints a run's comparison; the smallest chance, for so many comparisons."""
    print(f"\n{name}: {100 * run.accepted:.1f} % of the blocks accepted,", end=" ")
    independent = effective_samples(batches(run.observables["energy"]))
    print(f"{independent:.0f} independent samples of the energy")
    chances = []
    for what, chance, squared, components in compare(reference, run.observables):
        text = f"  {what:30s} chi-squared {squared:9.2f} of {components}, p = {chance:.3g}"
        if components == 1:
            ours = mean_and_error(batches(run.observables[what]).mean(axis=1))
            theirs = mean_and_error(reference[what].mean(axis=1))
            text += f": {ours[0]:.4f} +- {ours[1]:.4f}"
            text += f", brute force {theirs[0]:.4f} +- {theirs[1]:.4f}"
        print(text, flush=True)
        chances.append(chance)
    return chances


def problems(runs, reference):
    for name, ensemble, *_ in RUNS:
        chances = report(name, reference, runs[name])
        if ensemble != "exact":
            if min(chances) > SURELY:
                yield f"{name}: it agrees as well, p = {min(chances):.2g}: nothing is shown"
            continue
        # Of so many comparisons one is below the limit by chance more often than a single one.
        if min(chances) < LEAST_CHANCE / len(chances):
            yield f"{name}: p = {min(chances):.2g}"
        if runs[name].largest_error > TOLERANCE:
            yield f"{name}: energies of blocks.csv are {runs[name].largest_error:.2g} kJ/mol off"
        energy = runs[name].observables["embedded energy"]
        edges = np.quantile(reference["embedded energy"], (0.25, 0.5, 0.75))
        counts, chance = transition_imbalance(energy, edges)
        print(f"  transitions between quarters of the embedded energy, p = {chance:.3g}")
        for row in counts:
            print("    " + " ".join(f"{n:8.0f}" for n in row))
        if chance < LEAST_CHANCE / EXACT_RUNS:
            yield f"{name}: not as many transitions in both directions, p = {chance:.2g}"
    exact, poor = runs[RUNS[0][0]], runs[RUNS[1][0]]
    if not poor.accepted < exact.accepted - 0.05:
        yield "the poor response does not cost acceptance"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=20000)
    parser.add_argument("--blocks", type=int, default=4000)
    parser.add_argument("--waters", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="starpmc-test-") as name,
        concurrent.futures.ProcessPoolExecutor(1) as pool,
    ):
        folder = pathlib.Path(name)
        start = model_ensemble.BruteForce(model_ensemble.Model(), options.waters, 1, options.seed)
        start.sweep(100)
        box = model_box.write(folder, start.system, start.sites[0])
        brute = pool.submit(brute_force, options.waters, options.samples, options.seed)
        runs = {
            run[0]: run_starpmc(folder, box, options.waters, run, blocks_of(run, options.blocks))
            for run in RUNS
        }
        reference = brute.result()
    print(
        f"brute force: {reference['energy'].shape[0]} chains, "
        f"{effective_samples(reference['energy']):.0f} independent samples of the energy"
    )
    sys.exit("\n".join(problems(runs, reference)) or 0)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
