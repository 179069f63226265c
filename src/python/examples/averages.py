"""A run, and its averages with their errors.

    python averages.py molecule.cfg results

Progress goes to standard error, the table of averages to standard output.
"""

import sys

import starpmc


def show(state):
    print(f"\r{state!s:<78}", end="", file=sys.stderr, flush=True)


def main(config, folder):
    run = starpmc.run(config, folder=folder, progress=show)
    print(file=sys.stderr)
    for warning in run.warnings:
        print("warning:", warning, file=sys.stderr)
    print("of all chains:")
    print(run.ensemble[["mean", "error", "long_enough", "unit"]].to_string())
    print("over all steps:")
    print(run.averages[["mean", "error", "effective_samples", "unit"]].to_string())
    if len(run.blocks):
        print("at the ends of the exact ensemble's blocks:")
        print(run.block_averages[["mean", "error", "effective_samples", "unit"]].to_string())

    # The mean over all steps from the table of energies: production begins after equilibration.
    for number, chain in enumerate(run.chains):
        energies = run.energies.loc[number]
        production = energies[energies.index > chain["equilibration_steps"]]
        unit = energies.attrs["units"]["total"]
        print(f"chain {number}: mean of {len(production)} totals {production.total.mean():.6f} {unit}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except starpmc.Error as error:
        sys.exit(f"{error}")
