"""Mean energy and pressure of the Lennard-Jones gas at T* = 0.90 against NIST's NVT Monte Carlo.

    python3 test_lennard_jones_fluid.py PROGRAM

https://mmlapps.nist.gov/srs/LJ_PURE/mc.htm: cutoff 3 sigma, truncated, with the tail corrections
    U_tail/N = (8/3) pi rho ((1/3) rc^-9 - rc^-3)
    P_tail = (16/3) pi rho^2 ((2/3) rc^-9 - rc^-3)
in reduced units; sigma = 1 A and epsilon = 1 kJ/mol make energies in kJ/mol reduced ones. 500
particles, moves across the whole box. The two densities run side by side, one CPU worker each.
"""

import concurrent.futures
import csv
import math
import sys

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(77)

import program

PARTICLES = 500
TEMPERATURE = 0.90
CUTOFF = 3.0
GAS_CONSTANT = 0.00831446261815324  # kJ/mol/K
PUBLISHED = {0.005: -4.9771e-2, 0.009: -8.9936e-2}
PUBLISHED_PRESSURE = {0.005: 4.3569e-3, 0.009: 7.6363e-3}
BAR = 1e5 / 6.02214076  # per kJ/mol/A^3
STEPS = {0.005: 4_000_000, 0.009: 4_000_000}
EQUILIBRATION = 50_000
LARGEST_RELATIVE_ERROR = 0.006  # or the comparison would say little
LARGEST_EXCESS_ERROR = 0.02  # the same, of what the pressure differs from the ideal gas's by


def write_gas(folder, density):
    """A simple cubic lattice; the first moves make a gas of it."""
    edge = (PARTICLES / density) ** (1 / 3)
    cells = math.ceil(PARTICLES ** (1 / 3))
    lines = [f"Lennard-Jones gas, rho* = {density}", str(PARTICLES)]
    for i in range(PARTICLES):
        place = (i // cells**2, i // cells % cells, i % cells)
        row = "".join(f"{(k + 0.5) * edge / cells / 10:14.9f}" for k in place)
        lines.append(f"{i + 1:5d}{'LJ':5s}{'LJ':>5s}{i + 1:5d}{row}")
    lines.append(f"{edge / 10:14.9f}" * 3)
    (folder / f"{density}.gro").write_text("\n".join(lines) + "\n")
    (folder / f"{density}.top").write_text(
        f'#include "{program.DATA}/nist/lj.itp"\n[ system ]\nLennard-Jones gas\n'
        f"[ molecules ]\nLJ {PARTICLES}\n"
    )
    return edge


def blocked_error(values):
    """Standard error of the mean from 50 blocks, each many correlation times long."""
    blocks = np.array_split(values, 50)
    means = np.array([block.mean() for block in blocks])
    return means.std(ddof=1) / math.sqrt(len(means))


def tail(density):
    return 8 / 3 * math.pi * density * (CUTOFF**-9 / 3 - CUTOFF**-3)


def pressure_tail(density):
    return 16 / 3 * math.pi * density**2 * (2 * CUTOFF**-9 / 3 - CUTOFF**-3)


class Gas(program.TestCase):
    def simulate(self, density):
        """Mean energy per particle, its standard error, the summary."""
        edge = write_gas(self.folder, density)
        config = program.write_config(
            self.folder / f"{density}.cfg",
            system={"coordinates": f"{density}.gro", "topology": f"{density}.top"},
            interaction={"coulomb_cutoff": CUTOFF, "vdw_cutoff": CUTOFF},
            sampling={
                "temperature": TEMPERATURE / GAS_CONSTANT,
                "steps": STEPS[density],
                "equilibration_steps": EQUILIBRATION,
                "tune_interval": EQUILIBRATION,
                "max_translation": edge / 2,
                "seed": 5,
                "window": 50,
            },
            run={"precision": "fp64", "implementation": "simd"},
            output={
                "energy_interval": 100,
                "trajectory_interval": STEPS[density],
                "pressure_interval": 1000,
            },
        )
        summary = program.simulate(config, self.folder / f"{density}", env={"STARPU_NCPU": 1})
        with open(self.folder / f"{density}/energies.csv") as file:
            rows = csv.DictReader(line for line in file if not line.startswith("#"))
            energies = [float(r["total"]) for r in rows if int(r["step"]) > EQUILIBRATION]
        energies = np.array(energies) / PARTICLES
        error = max(blocked_error(energies), summary["averages"]["total"]["error"] / PARTICLES)
        self.assertAlmostEqual(
            energies.mean(), summary["averages"]["total"]["mean"] / PARTICLES, places=12
        )
        return energies.mean() + tail(density), error, summary

    def test_nist(self):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            results = dict(zip(PUBLISHED, pool.map(self.simulate, PUBLISHED)))
        for density, (energy, error, summary) in results.items():
            with self.subTest(density=density):
                published = PUBLISHED[density]
                print(
                    f"rho* {density}: U*/N {energy:.5e} +- {error:.1e}, NIST {published:.5e}, "
                    f"{(energy - published) / error:+.1f} standard errors, acceptance "
                    f"{summary['acceptance']:.3f}, {summary['wall_seconds']:.0f} s"
                )
                self.assertLess(error, LARGEST_RELATIVE_ERROR * abs(published))
                self.assertLess(abs(energy - published), 3 * error)
                self.check_pressure(density, summary["averages"]["pressure_bar"])

    def check_pressure(self, density, average):
        pressure = average["mean"] / BAR + pressure_tail(density)
        error = average["error"] / BAR
        published = PUBLISHED_PRESSURE[density]
        print(
            f"rho* {density}: p* {pressure:.5e} +- {error:.1e}, NIST {published:.5e}, "
            f"{(pressure - published) / error:+.1f} standard errors"
        )
        ideal = density * TEMPERATURE
        self.assertLess(error, LARGEST_EXCESS_ERROR * abs(published - ideal))
        self.assertLess(abs(pressure - published), 3 * error)


if __name__ == "__main__":
    program.main()
