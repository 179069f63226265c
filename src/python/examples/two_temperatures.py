"""The same system at two temperatures: difference in mean energy, and heat capacity.

    python two_temperatures.py molecule.cfg results 298.15 318.15

One run after the other: each uses all cores by itself.
"""

import math
import sys

import starpmc

GAS_CONSTANT = 8.31446261815324e-3  # kJ/mol/K


def told(value):
    return "-" if value is None else f"{value:.4f}"  # too few samples for one


def main(config, folder, *temperatures):
    means = []
    for temperature in map(float, temperatures):
        run = starpmc.run(
            config,
            folder=f"{folder}/{temperature:g}",
            sampling={"temperature": temperature, "chains": 1},
        )
        # Of the true Hamiltonian: in the exact ensemble run.averages is not, and each run has a sampled
        # one of its own.
        total = run.summary["total_energy"]
        means.append((total["mean"], total["error"]))
        print(f"{temperature:g} K: {told(total['mean'])} +- {told(total['error'])} kJ/mol")
        # From the fluctuations of the potential energy; in the exact ensemble of the sampled one, which
        # has nearly the same.
        energies = run.energies.loc[0].total
        production = energies[energies.index > run.summary["equilibration_steps"]]
        capacity = production.var(ddof=0) / (GAS_CONSTANT * temperature**2)
        print(f"{temperature:g} K: heat capacity {capacity:.6f} kJ/mol/K")
    (first, first_error), (second, second_error) = means
    difference = None if None in (first, second) else second - first
    error = None if None in (first_error, second_error) else math.hypot(first_error, second_error)
    print(f"difference: {told(difference)} +- {told(error)} kJ/mol")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except starpmc.Error as error:
        sys.exit(f"{error}")
