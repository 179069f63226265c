"""Mean energy and pressure of the Lennard-Jones gas at T* = 0.90 against NIST's NVT Monte Carlo.

    python3 test_lennard_jones_fluid.py PROGRAM

https://mmlapps.nist.gov/srs/LJ_PURE/mc.htm: cutoff 3 sigma, truncated, with the tail corrections
    U_tail/N = (8/3) pi rho ((1/3) rc^-9 - rc^-3)
    P_tail = (16/3) pi rho^2 ((2/3) rc^-9 - rc^-3)
in reduced units. The virial expansion to the third coefficient, by quadrature here, shows that the
published values are these. sigma = 1 A and epsilon = 1 kJ/mol make energies in kJ/mol reduced ones. 500
particles, moves across the whole box. Two of the densities run side by side, one CPU worker each.
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
PUBLISHED = {
    0.001: -9.9165e-3, 0.003: -2.9787e-2, 0.005: -4.9771e-2, 0.007: -6.9805e-2, 0.009: -8.9936e-2,
}  # fmt: skip
PUBLISHED_PRESSURE = {
    0.001: 8.9429e-4, 0.003: 2.6485e-3, 0.005: 4.3569e-3, 0.007: 6.0193e-3, 0.009: 7.6363e-3,
}  # fmt: skip
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


def mayer(r, temperature):
    with np.errstate(over="ignore"):
        return np.expm1(-4 * (r**-12 - r**-6) / temperature)


def second_virial(temperature, points=6000, farthest=60):
    step = farthest / points
    r = (np.arange(points) + 0.5) * step
    return -2 * math.pi * step * np.sum(mayer(r, temperature) * r * r)


def second_virial_series(temperature):
    """The same in closed form, without a largest distance."""
    return -2 * math.pi / 3 * sum(
        2 ** (n - 1.5) * math.gamma(n / 2 - 0.25) / math.factorial(n) * temperature ** -(n / 2 + 0.25)
        for n in range(60)
    )


def third_virial(temperature, points=1000, farthest=15):
    """-(8 pi^2/3) of the integral of r f(r) s f(s) t f(t) over all triangles of sides r, s, t."""
    step = farthest / points
    middles = (np.arange(2 * points) + 0.5) * step
    moments = step * middles * mayer(middles, temperature)
    below = np.concatenate([[0], np.cumsum(moments)])
    i = np.arange(points)
    inside = below[i[:, None] + i + 1] - below[np.abs(i[:, None] - i)]
    return -8 * math.pi**2 / 3 * moments[:points] @ inside @ moments[:points]


class Published(program.TestCase):
    def test_virial_expansion(self):
        """p/(rho T) = 1 + B2 rho + B3 rho^2, U/N = -T^2 d/dT (B2 rho + B3 rho^2/2); of N particles
        each meets N - 1."""
        step = 1e-3
        second, third = (
            [virial(TEMPERATURE + d) for d in (-step, 0, step)]
            for virial in (second_virial, third_virial)
        )
        self.assertLess(abs(second[1] - second_virial_series(TEMPERATURE)), 1e-4)
        others = (PARTICLES - 1) / PARTICLES
        for density, published in PUBLISHED.items():
            slope = [(b[2] - b[0]) / (2 * step) for b in (second, third)]
            pressure = 1 + others * second[1] * density + third[1] * density**2
            energy = -(TEMPERATURE**2) * (others * slope[0] * density + slope[1] * density**2 / 2)
            relative = PUBLISHED_PRESSURE[density] / (density * TEMPERATURE * pressure) - 1
            relative_energy = published / energy - 1
            print(f"rho* {density}: p* {relative:+.1e}, U*/N {relative_energy:+.1e} relative")
            self.assertLess(abs(relative), 1e-4)
            self.assertLess(abs(relative_energy), 1e-3)


class Gas(program.TestCase):
    def simulate(self, density):
        """Mean energy per particle, its standard error, the summary."""
        edge = write_gas(self.folder, density)
        config = program.write_config(
            self.folder / f"{density}.cfg",
            system={"coordinates": f"{density}.gro", "topology": f"{density}.top"},
            interaction={"coulomb_cutoff": CUTOFF, "vdw_cutoff": CUTOFF, "vdw_modifier": "truncate"},
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
            results = dict(zip(STEPS, pool.map(self.simulate, STEPS)))
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
