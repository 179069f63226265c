"""What the exact ensemble gains: SCF calculations and time for the mean QM/MM interaction energy of
bench-R, exact against perturbative.

    python3 -u exact_gain.py PROGRAM [--cores 2] [--steps 24800000] [--error 0.5] [--output exact-gain]

Runs configs/bench-R-exact.cfg and configs/bench-R.cfg with a chain for each core and, in all, as many
steps; then for each mode the mean of the energy of the solute and its interaction with the water,

    E_int = E - E(MM Coulomb) - E(MM van der Waals)   (zero: the isolated solute),

its standard error, and by error ~ 1/sqrt(steps) what --error (kJ/mol) takes. Of the exact ensemble from
ends of blocks, a rejected block counting the end before it again, and from all steps, less what the
sampled Hamiltonian has wrong to first order. Of the published method from all steps. What is there from
an earlier, interrupted call is not run again.
"""

import argparse
import datetime
import itertools
import math
import statistics
from pathlib import Path

import evaluation
from exact_runs import Runs, block_error, blocks_of, chain_folders, rows_of

KT = 0.00831446261815324 * 298.15
ENERGY_INTERVAL = 1000


def interaction(row):
    return row["total"] - row["mm_coulomb"] - row["mm_vdw"]


def series_of_blocks(folder):
    """Of each chain: the true E_int at block ends as they count, the sampled one there as proposed, the
    difference of both, the mean of the sampled one in each block, and the difference where it begins."""
    for path, blocks in zip(chain_folders(folder), blocks_of(folder), strict=True):
        sampled, true, differences, means = [], [], [], []
        starts = [blocks[0]["difference"]]
        by_step = {row["step"]: interaction(row) for row in rows_of(path / "energies.csv")}
        for begin, block in itertools.pairwise(blocks):
            sampled.append(by_step[block["step"]])
            differences.append(block["difference"])
            if not true:
                true.append(by_step[begin["step"]] + begin["difference"])
            true.append(sampled[-1] + differences[-1] if block["accepted"] else true[-1])
            means.append(statistics.fmean(
                value for step, value in by_step.items() if begin["step"] < step <= block["step"]))
            starts.append(differences[-1] if block["accepted"] else starts[-1])
        yield true[1:], sampled, differences, means, starts[:-1]


def wrong_over_steps(sampled, differences, means, starts):
    """What the sampled Hamiltonian has wrong of the mean over all steps, to first order. A block begins in the
    true ensemble: for what it remembers of its start nothing is wrong (src/io/qm_blocks.cpp)."""
    at_ends = statistics.covariance(sampled, differences)
    return statistics.fmean(differences) - (at_ends - statistics.covariance(means, starts)) / KT


def log_lines(folder):
    return (Path(folder) / "run.log").read_text(encoding="utf-8").splitlines()


def seconds_until(lines, words):
    """From the first line to that which has the words."""
    stamps = [datetime.datetime.fromisoformat(line[:23]) for line in lines if line[:4].isdigit()]
    found = next(line for line in lines if words in line)
    return (datetime.datetime.fromisoformat(found[:23]) - stamps[0]).total_seconds()


def tests_of(configurations):
    """Of a reference, each with an SCF: src/app/reference_preparation.cpp."""
    held_out = min(max(2, configurations // 4), configurations)
    return min(40, held_out)


def of_exact(folder, summary, configurations):
    """(name, mean, error, independent samples, SCFs once, SCFs of the sampling, s once, s) of both means."""
    ends, *others = zip(*series_of_blocks(folder), strict=True)
    wrong = wrong_over_steps(*([value for chain in chains for value in chain] for chains in others))
    means = others[2]
    lines = log_lines(folder)
    once = sum("reference, round" in line for line in lines) + 2 + tests_of(configurations)
    sampling = sum(len(chain) + 1 for chain in ends)
    prepared = seconds_until(lines, "reference density of")
    work = (once, sampling, prepared, summary["total_seconds"] - prepared)
    yield ("exact, block ends", *block_error(ends), *work)
    yield ("exact, all steps", *block_error([[m + wrong for m in chain] for chain in means]), *work)


def of_perturbative(folder, summary, equilibration):
    chains = [[interaction(row) for row in rows_of(path / "energies.csv") if row["step"] > equilibration]
              for path in chain_folders(folder)]
    parts = summary.get("chains", [summary])
    updates = sum(len(part["qm_updates"]) for part in parts)
    yield ("perturbative", *block_error(chains), 0, updates, 0.0, summary["total_seconds"])


def table(rows, error):
    columns = ["", "mean E_int, kJ/mol", "independent", "SCFs", "s", f"SCFs for {error:g}",
               f"s for {error:g}", "less exact, kJ/mol"]
    lines = []
    exact = rows[0]
    for name, mean, found, samples, once, scfs, prepared, seconds in rows:
        factor = (found / error) ** 2
        bias = f"{mean - exact[1]:.2f} ± {math.hypot(found, exact[2]):.2f}"
        lines.append([name, f"{mean:.2f} ± {found:.2f}", f"{samples:.0f}", str(once + scfs),
                      f"{prepared + seconds:.0f}", f"{once + factor * scfs:.0f}",
                      f"{prepared + factor * seconds:.0f}", "" if name == exact[0] else bias])
    return columns, lines


def show(rows, error):
    columns, lines = table(rows, error)
    print(evaluation.aligned([columns, *lines], 1), flush=True)
    return columns, lines


def body():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--cores", type=evaluation.bounded(int, 1, 1024), default=2)
    parser.add_argument("--steps", type=evaluation.bounded(float, 1e5, 1e12), default=24.8e6)
    parser.add_argument("--equilibration", type=evaluation.bounded(int, 0, 10**9), default=3000000)
    parser.add_argument("--configurations", type=evaluation.bounded(int, 8, 10**5), default=120)
    parser.add_argument("--block", type=evaluation.bounded(int, 1000, 10**9), default=620000,
                        help="steps of a block of the exact ensemble")
    parser.add_argument("--interval", type=evaluation.bounded(int, 1000, 10**9), default=50000,
                        help="steps between updates of the published method")
    parser.add_argument("--error", type=evaluation.bounded(float, 1e-3, 1e3), default=0.5)
    parser.add_argument("--output", type=Path, default=Path("exact-gain"))
    options = parser.parse_args()
    for name in ("block", "equilibration"):
        if getattr(options, name) % ENERGY_INTERVAL:
            raise evaluation.InputError(
                f"--{name}", f"is no multiple of {ENERGY_INTERVAL}, the steps from energy to energy",
                getattr(options, name), "blocks have to end where there is one")
    runs = Runs(options.program, options.output, options.cores)
    steps = max(1, round(options.steps / options.cores / options.block)) * options.block
    words = ("--sampling.chains", options.cores, "--sampling.steps", steps,
             "--sampling.equilibration-steps", options.equilibration,
             "--output.energy-interval", ENERGY_INTERVAL)
    rows = []
    summary = runs.run("exact", evaluation.CONFIGS / "bench-R-exact.cfg", *words,
                       "--qm.interval", options.block, "--qm.configurations", options.configurations)
    rows += of_exact(runs.folder / "exact", summary, options.configurations)
    show(rows, options.error)
    summary = runs.run("perturbative", evaluation.CONFIGS / "bench-R.cfg", *words,
                       "--qm.interval", options.interval)
    rows += of_perturbative(runs.folder / "perturbative", summary, options.equilibration)
    columns, lines = show(rows, options.error)
    (runs.folder / "exact-gain.csv").write_text(evaluation.csv_text(columns, lines))
    return 0


if __name__ == "__main__":
    evaluation.main(body)
