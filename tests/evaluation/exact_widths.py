"""How well the sampled energy follows the true one: width of their difference and share of the blocks
that are accepted, for acetone and chorismate in 500 waters and blocks of two lengths.

    python3 -u exact_widths.py PROGRAM [--cores 2] [--blocks 40] [--solutes acetone,chorismate]
                               [--lengths 50000,500000] [--output exact-widths]

The blocks of a length are shared out over as many chains as there are cores. A solute's reference
density is made by its first run, and used by the others. What is there from an earlier, interrupted
call is not run again.
"""

import argparse
import math
import statistics
from pathlib import Path

import evaluation
from exact_runs import Runs, blocks_of

WATERS = 500
# Charge, equilibration steps, and options that the solute asks for.
SOLUTES = {
    "acetone": (0, 300000, {"response-tolerance": 0.01, "configurations": 240}),
    "chorismate": (-2, 300000, {"response-tolerance": 0.1, "configurations": 240}),
}
CONFIGURATION = """[system]
coordinates = {solute}.gro
topology = {solute}.top
qm-molecule = {solute}
[interaction]
coulomb-cutoff = 10
vdw-cutoff = 10
[sampling]
ensemble = exact
equilibration-steps = {equilibration}
seed = {seed}
[qm]
charge = {charge}
method = pbe
basis = def2-svp
{qm}
[output]
energy-interval = 1000
trajectory-interval = 50000
"""


def configuration(runs, solute, length):
    charge, equilibration, options = SOLUTES[solute]
    path = runs.folder / f"{solute}-{length}.cfg"
    path.write_text(CONFIGURATION.format(
        solute=solute, equilibration=equilibration, seed=length % 65521, charge=charge,
        qm="\n".join(f"{name} = {value}" for name, value in options.items())))
    return path


def measure(runs, solute, length, blocks, kt):
    """A row of the table."""
    name = f"{solute}-{length}"
    chains = min(runs.cores, blocks)
    each = math.ceil(blocks / chains)
    words = ["--sampling.chains", chains, "--sampling.steps", each * length, "--qm.interval", length]
    first = runs.folder / f"{solute}-reference.h5"
    summary = runs.run(name, configuration(runs, solute, length), *words,
                       reference=first if first.exists() else None)
    if not first.exists():
        first.write_bytes((runs.folder / name / "reference.h5").read_bytes())
    chains = blocks_of(runs.folder / name)
    tested = [block for chain in chains for block in chain[1:]]
    differences = [block["difference"] for block in tested]
    width = statistics.stdev(differences)
    accepted = sum(block["accepted"] for block in tested) / len(tested)
    # Of two ends that are independent of each other, by the differences seen.
    pairs = [min(1.0, math.exp(-(b - a) / kt)) for a in differences for b in differences]
    return [solute, length, len(tested), summary_components(summary),
            f"{statistics.fmean(differences):.3f}",
            f"{width:.3f} ± {width / math.sqrt(2 * (len(tested) - 1)):.3f}",
            f"{100 * accepted:.1f} ± {100 * math.sqrt(accepted * (1 - accepted) / len(tested)):.1f} %",
            f"{100 * statistics.fmean(pairs):.1f} %", f"{summary['total_seconds']:.0f}"]


def summary_components(summary):
    chain = summary.get("chains", [summary])[0]
    return chain["exact"]["response_components"]


def body():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--cores", type=evaluation.bounded(int, 1, 1024), default=2)
    parser.add_argument("--blocks", type=evaluation.bounded(int, 4, 10**6), default=40)
    parser.add_argument("--solutes", default=",".join(SOLUTES))
    parser.add_argument("--lengths", type=evaluation.numbers(10**9), default="50000,500000")
    parser.add_argument("--output", type=Path, default=Path("exact-widths"))
    options = parser.parse_args()
    solutes = evaluation.choose("--solutes", options.solutes, {name: name for name in SOLUTES})
    runs = Runs(options.program, options.output, options.cores)
    kt = 0.00831446261815324 * 298.15
    columns = ["solute", "steps a block", "blocks", "components", "true less sampled, kJ/mol",
               "width, kJ/mol", "accepted", "of independent ends", "s"]
    rows = []
    for solute in solutes:
        runs.box(solute, SOLUTES[solute][0], WATERS)
        for length in options.lengths:
            rows.append([str(cell) for cell in measure(runs, solute, length, options.blocks, kt)])
            print(evaluation.aligned([columns, *rows], 1), flush=True)
    (runs.folder / "exact-widths.csv").write_text(evaluation.csv_text(columns, rows))
    return 0


if __name__ == "__main__":
    evaluation.main(body)
