"""Inefficiencies and equilibration beside pymbar.timeseries, of series with a known answer and of a run.

    python3 test_pymbar.py PROGRAM

pymbar sums the autocorrelation until it first crosses zero, where starpmc has Sokal's window on
blocks: on the same samples both must tell the same within what such an estimate scatters.
"""

import contextlib
import csv
import io
import logging
import pathlib
import sys
import unittest

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

sys.path.insert(0, str(program.REPOSITORY / "src" / "report"))
import block_average

try:
    logging.getLogger("pymbar").setLevel(logging.ERROR)
    with contextlib.redirect_stdout(io.StringIO()):
        from pymbar import timeseries
except ImportError:
    timeseries = None


def first_order(phi, length, seed):
    """x_{k+1} = phi x_k + noise: an inefficiency of (1 + phi) / (1 - phi)."""
    noise = numpy.random.default_rng(seed).standard_normal(length)
    series = numpy.empty(length)
    last = noise[0]
    for i, value in enumerate(noise * numpy.sqrt(1 - phi * phi)):
        series[i] = last = phi * last + value
    return series


@unittest.skipIf(timeseries is None, "no pymbar")
class KnownSeries(unittest.TestCase):
    def test_inefficiencies(self):
        """Means of 40 series: within 15 % of the truth, which at phi 0 is the least we ever tell."""
        for phi in (0, 0.5, 0.9):
            truth = (1 + phi) / (1 - phi)
            series = [first_order(phi, 5000, seed) for seed in range(40)]
            ours = numpy.array([block_average.estimate(s).statistical_inefficiency for s in series])
            theirs = numpy.array([timeseries.statistical_inefficiency(s) for s in series])
            print(f"phi {phi}: truth {truth:.2f}, ours {ours.mean():.2f} +- {ours.std():.2f}, "
                  f"pymbar {theirs.mean():.2f} +- {theirs.std():.2f}")  # fmt: skip
            self.assertLess(abs(ours.mean() / truth - 1), 0.15)
            self.assertLess(abs(ours.mean() / theirs.mean() - 1), 0.15)


@unittest.skipIf(timeseries is None, "no pymbar")
class Run(program.TestCase):
    """The summary of argon from its first configuration on, beside pymbar on its energies.csv."""

    def setUp(self):
        super().setUp()
        config = self.config(
            **program.plain_system("argon/argon"),
            sampling={"steps": 2000000},
            output={"energy_interval": 100, "trajectory_interval": 2000000},
        )
        self.summary = program.simulate(config, self.folder / "out")
        with open(self.folder / "out" / "energies.csv") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        self.total = numpy.array([float(row["total"]) for row in rows[1:]])

    def test_inefficiency_and_equilibration(self):
        average = self.summary["averages"]["total"]
        theirs = timeseries.statistical_inefficiency(self.total)
        found = self.summary["total_energy"]["equilibration"]["chains"][0]
        start, _, effective = timeseries.detect_equilibration(
            self.total, fast=False, nskip=len(self.total) // 20
        )
        print(f"inefficiency {average['statistical_inefficiency']:.1f}, pymbar {theirs:.1f}; "
              f"effective samples {found['effective_samples_without_it']:.0f} from step "
              f"{found['steps_of_production']}, pymbar {effective:.0f} from {100 * start}")  # fmt: skip
        self.assertEqual(average["count"], len(self.total))
        self.assertAlmostEqual(average["mean"], self.total.mean(), 6)
        ratio = average["statistical_inefficiency"] / theirs
        self.assertLess(abs(numpy.log(ratio)), numpy.log(1.5))
        ratio = found["effective_samples_without_it"] / effective
        self.assertLess(abs(numpy.log(ratio)), numpy.log(1.5))


if __name__ == "__main__":
    program.main()
