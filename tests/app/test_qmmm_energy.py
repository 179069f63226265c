"""The reported energy is the QM/MM energy: it adds up, and knows of the solute's own energy.

    python3 test_qmmm_energy.py PROGRAM

With a stand-in for PySCF whose energy is a formula (workers/pyscf_worker.py).
"""

import csv
import itertools
import math
import pathlib
import statistics
import sys

import program

WORKERS = pathlib.Path(__file__).resolve().parent / "workers"
ENVIRONMENT = {"STARPU_NCPU": 2, "STARPU_NOPENCL": 0, "STARPMC_WORKERS": WORKERS}
UNSPOKEN = {"STARPMC_TEST_UNSPOKEN": "1"}
INTERVAL = 300
STEPS = 1500
ISOLATED_ENERGY = -1000.0
# The stand-in's points are summed in fp64, but to what a lattice keeps of the positions.
TOLERANCE = 1e-6  # kJ/mol
STILL = ("--sampling.max-translation", 1e-12, "--sampling.max-rotation", 0)  # as good as


class QmmmEnergy(program.TestCase):
    def setUp(self):
        super().setUp()
        small = program.small_system()
        small["qm"] = {
            "engine": "pyscf",
            "python": sys.executable,
            "interval": INTERVAL,
            "charge_threshold": 0,
        }
        self.small = self.config(
            **small,
            sampling={"steps": STEPS},
            run={"precision": "fp64", "implementation": "simd"},
            output={"energy_interval": 1, "trajectory_interval": STEPS},
        )
        self.out = self.folder / "out"

    def simulate(self, *options, env=None):
        """summary.json, and the rows of energies.csv by step."""
        summary = program.simulate(
            self.small, self.out, *options, env=ENVIRONMENT | (env or {})
        )
        with open(self.out / "energies.csv") as file:
            table = csv.DictReader(line for line in file if not line.startswith("#"))
            rows = [{name: float(value) for name, value in row.items()} for row in table]
        self.assertEqual([row["step"] for row in rows], list(range(STEPS + 1)))
        return summary, rows


class Columns(QmmmEnergy):
    def test_add_up(self):
        summary, rows = self.simulate()
        for row in rows:
            parts = sum(row[term] for term in program.TERMS) + row["solute"]
            self.assertAlmostEqual(row["total"], parts, 8)
            self.assertAlmostEqual(row["qmmm_coulomb"], row["qmmm_nuclei"] + row["qmmm_grid"], 9)
        averages = summary["averages"]
        for column in (*program.TERMS, "qmmm_coulomb", "solute", "total"):
            mean = sum(row[column] for row in rows[1:]) / STEPS
            self.assertAlmostEqual(averages[column]["mean"], mean, 7, column)
        # Nuclei and electrons nearly cancel: their sum has an error of its own.
        self.assertLess(averages["qmmm_coulomb"]["error"], averages["qmmm_nuclei"]["error"])
        self.assertAlmostEqual(summary["total_energy"]["mean"], averages["total"]["mean"], 9)
        final = summary["final_energies"]
        self.assertAlmostEqual(
            final["total"], sum(final[term] for term in program.TERMS) + final["solute"], 9
        )
        self.assertAlmostEqual(final["total"], rows[-1]["total"], 6)


class Energy(QmmmEnergy):
    def check_solute(self, summary, rows, zero):
        """The solute's own energy is what the worker says, less all that is sampled."""
        updates = summary["qm_updates"]
        self.assertEqual([u["step"] for u in updates], list(range(0, STEPS, INTERVAL)))
        for update, end in zip(updates, range(INTERVAL, STEPS + 1, INTERVAL), strict=True):
            own = update["qm_energy_kj_per_mol"] - zero - update["interaction_kj_per_mol"]
            for row in rows[end - INTERVAL + 1 : end + 1]:
                self.assertAlmostEqual(row["solute"], own, delta=TOLERANCE)

    def test_is_the_worker_s(self):
        summary, rows = self.simulate()
        self.assertEqual(summary["energy_zero"], "isolated solute")
        self.assertEqual(summary["isolated_energy_kj_per_mol"], ISOLATED_ENERGY)
        self.check_solute(summary, rows, ISOLATED_ENERGY)
        # At the first step, where the row is of the density of the update.
        terms = sum(rows[0][term] for term in ("mm_coulomb", "mm_vdw", "qmmm_vdw"))
        embedded = summary["qm_updates"][0]["qm_energy_kj_per_mol"] - ISOLATED_ENERGY
        self.assertAlmostEqual(rows[0]["total"], terms + embedded, delta=TOLERANCE)

    def test_of_the_energy_command(self):
        _, rows = self.simulate()
        words = (self.small, "--precision", "fp64", "--implementation", "simd")
        result = program.json.loads(program.succeed("energy", *words, env=ENVIRONMENT).stdout)
        found = result["energies_kj_per_mol"]
        for column in (*program.TERMS, "qmmm_coulomb", "solute", "total"):
            self.assertAlmostEqual(found[column], rows[0][column], delta=TOLERANCE, msg=column)
        self.assertEqual(result["qm"]["isolated_energy_kj_per_mol"], ISOLATED_ENERGY)
        self.assertLess(result["qm"]["polarisation_energy_kj_per_mol"], 0)

    def test_jumps_by_the_relaxation_alone(self):
        """Between the last row of a density and the first of the next nothing else changes."""
        summary, rows = self.simulate(*STILL)
        updates = summary["qm_updates"]
        first = rows[0]["total"]
        relaxation = 0
        for update in updates[1:]:
            before, after = rows[update["step"]], rows[update["step"] + 1]
            jump = update["jump_kj_per_mol"]
            self.assertLess(jump, 0)
            self.assertAlmostEqual(after["total"] - before["total"], jump, delta=TOLERANCE)
            self.assertAlmostEqual(update["sampling_error_kj_per_mol"], 0, delta=TOLERANCE)
            relaxation += jump
        # Half the way to the minimum each time, of an energy that is quadratic.
        for update, last in zip(updates[2:], updates[1:], strict=False):
            self.assertAlmostEqual(
                update["jump_kj_per_mol"] / last["jump_kj_per_mol"], 0.25, delta=1e-4
            )
        self.assertAlmostEqual(rows[-1]["total"] - first, relaxation, delta=TOLERANCE)
        # What the density grid alone gains is no measure of it.
        gain = rows[-1]["qmmm_coulomb"] - rows[0]["qmmm_coulomb"]
        self.assertGreater(abs(gain), 1.5 * abs(relaxation))

    def test_jump_of_moving_waters(self):
        """By one quadrature, which here is that of the sampling."""
        summary, rows = self.simulate()
        updates = summary["qm_updates"]
        for update, last in zip(updates[1:], updates, strict=False):
            sampled = rows[update["step"]]["qmmm_coulomb"] - last["interaction_kj_per_mol"]
            change = update["qm_energy_kj_per_mol"] - last["qm_energy_kj_per_mol"]
            self.assertAlmostEqual(update["jump_kj_per_mol"], change - sampled, delta=TOLERANCE)
            self.assertAlmostEqual(update["sampling_error_kj_per_mol"], 0, delta=TOLERANCE)
            self.assertLessEqual(update["jump_kj_per_mol"], 0)

    def test_program_without_an_isolated_energy(self):
        """Its own zero, which is said; the same energies otherwise."""
        spoken, _ = self.simulate()
        self.out = self.folder / "unspoken"
        summary, _ = self.simulate(env=UNSPOKEN)
        self.assertEqual(summary["energy_zero"], "QM program")
        self.assertNotIn("isolated_energy_kj_per_mol", summary)
        self.assertNotIn("polarisation_energy_kj_per_mol", summary)
        self.assertEqual(summary["decisions_sha256"], spoken["decisions_sha256"])
        self.assertAlmostEqual(
            summary["averages"]["total"]["mean"],
            spoken["averages"]["total"]["mean"] + ISOLATED_ENERGY,
            delta=TOLERANCE,
        )
        self.assertIn("the zero of the total energy is its own", (self.out / "run.log").read_text())
        for update, other in zip(summary["qm_updates"], spoken["qm_updates"], strict=True):
            self.assertNotIn("sampling_error_kj_per_mol", update)
            self.assertAlmostEqual(
                update["jump_kj_per_mol"], other["jump_kj_per_mol"], delta=TOLERANCE
            )

    def test_stored_density(self):
        """There is no energy of the solute: it is left out."""
        grid = program.DATA / "small/small.grid"
        summary, rows = self.simulate("--qm.engine", "frozen", "--qm.grid-file", grid)
        self.assertEqual(summary["energy_zero"], "stored density")
        self.assertEqual({row["solute"] for row in rows}, {0})
        self.assertEqual(summary["qm_averages"], {})


class Rise(QmmmEnergy):
    """An energy that rises at an update, as it cannot."""

    def log(self, **environment):
        self.simulate("--output.overwrite", "true", env=environment)
        return (self.out / "run.log").read_text()

    def test_is_warned_of(self):
        text = "the energy rose by"
        self.assertNotIn(text, self.log())
        said = self.log(STARPMC_TEST_RISE=5)
        self.assertEqual(said.count(text), STEPS // INTERVAL - 1)
        self.assertIn("qm.energy-convergence", said)
        said = self.log(STARPMC_TEST_RISE=5, **UNSPOKEN)
        self.assertIn("qm.grid-angular", said)


class AutomaticInterval(QmmmEnergy):
    """From the jumps of equilibration; the same in a run that was stopped."""

    EQUILIBRATION = 12000
    AUTO = ("--qm.interval", "auto", "--sampling.equilibration-steps", EQUILIBRATION,
            "--sampling.steps", 3000, "--output.energy-interval", 100)  # fmt: skip

    def run_auto(self, folder, *options, **environment):
        words = ("run", self.small, "--output.folder", folder, *self.AUTO, *options)
        return program.start(*words, env=ENVIRONMENT | environment)

    def results(self, folder):
        summary = program.json.loads((folder / "summary.json").read_text())
        updates = [(u["step"], u["jump_kj_per_mol"]) for u in summary["qm_updates"]]
        table = (folder / "energies.csv").read_bytes()
        return updates, summary["qm_interval_steps"], summary["decisions_sha256"], table

    def test_is_found_and_kept(self):
        result = self.run_auto(self.out)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        updates, interval, _, _ = self.results(self.out)
        steps = [step for step, _ in updates]
        intervals = [end - begin for begin, end in itertools.pairwise(steps)]
        # The jumps are far below kT, so that the interval doubles from 12000/32 on.
        self.assertTrue(all(abs(jump) < 0.6 for _, jump in updates), updates)
        self.assertEqual(intervals[:4], [375, 750, 1500, 3000])
        self.assertIn(self.EQUILIBRATION, steps)
        production = [step for step in steps if step >= self.EQUILIBRATION]
        self.assertEqual(
            production, list(range(self.EQUILIBRATION, self.EQUILIBRATION + 3000, interval))
        )
        self.assertIn(
            f"qm.interval auto is {interval} steps from here on", (self.out / "run.log").read_text()
        )

    def test_is_the_same_in_a_resumed_run(self):
        whole, stopped = self.folder / "whole", self.folder / "stopped"
        self.assertEqual(self.run_auto(whole).returncode, 0)
        fault = f"not-converged 3 1 {self.folder / 'faults'}"
        few = ("--qm.max-iterations", 10)
        result = self.run_auto(stopped, *few, STARPMC_TEST_FAULT=fault)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        program.succeed("resume", stopped, env=ENVIRONMENT)
        self.assertEqual(self.results(stopped), self.results(whole))

    def test_with_automatic_equilibration(self):
        """Production begins with an update where equilibration is found to end, or has to."""
        steps = 9000
        words = ("--sampling.equilibration-steps", "auto", "--sampling.steps", steps)
        self.AUTO = ("--qm.interval", "auto", *words, "--output.energy-interval", 100)
        whole, stopped = self.folder / "whole", self.folder / "stopped"
        self.assertEqual(self.run_auto(whole).returncode, 0)
        summary = program.json.loads((whole / "summary.json").read_text())
        end = summary["equilibration_steps"]
        self.assertEqual((end, summary["equilibration_end"]), (steps, "not settled"))
        production = [u["step"] for u in summary["qm_updates"] if u["step"] >= end]
        interval = summary["qm_interval_steps"]
        self.assertEqual(production, list(range(end, end + steps, interval)))
        fault = f"not-converged 3 1 {self.folder / 'faults'}"
        result = self.run_auto(stopped, "--qm.max-iterations", 10, STARPMC_TEST_FAULT=fault)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        program.succeed("resume", stopped, env=ENVIRONMENT)
        self.assertEqual(self.results(stopped), self.results(whole))

    def test_needs_an_equilibration(self):
        words = ("--output.folder", self.out, "--qm.interval", "auto")
        words += ("--sampling.equilibration-steps", 0)
        result = program.start("run", self.small, *words, env=ENVIRONMENT)
        self.assertEqual(result.returncode, 2)
        for part in ("qm.interval", "equilibration", "remedy"):
            self.assertIn(part, result.stderr)
        self.assertFalse(self.out.exists())


class Means(QmmmEnergy):
    def test_of_updates(self):
        summary, _ = self.simulate("--sampling.equilibration-steps", 300, "--sampling.steps", 1200)
        updates = [u for u in summary["qm_updates"] if u["step"] >= 300]
        self.assertEqual(len(updates), 4)
        averages = summary["qm_averages"]
        dipoles = [sum(x * x for x in u["dipole_debye"]) ** 0.5 for u in updates]
        gains = [u["polarisation_energy_kj_per_mol"] for u in updates]
        self.assertAlmostEqual(averages["dipole_debye"]["mean"], sum(dipoles) / 4, 12)
        mean = averages["polarisation_energy_kj_per_mol"]["mean"]
        self.assertAlmostEqual(mean, sum(gains) / 4, 9)
        self.assertLess(max(gains), 0)
        self.assertAlmostEqual(summary["polarisation_energy_kj_per_mol"]["mean"], mean, 12)
        for k in range(3):
            self.assertAlmostEqual(
                averages["dipole_components_debye"][k]["mean"],
                sum(u["dipole_debye"][k] for u in updates) / 4,
                12,
            )

    def test_of_two_chains(self):
        words = ("--output.folder", self.out, "--sampling.chains", 2)
        result = program.succeed("run", self.small, *words, env=ENVIRONMENT)
        summary = program.json.loads((self.out / "summary.json").read_text())
        for name in ("dipole_debye", "polarisation_energy_kj_per_mol"):
            means = [chain["qm_averages"][name]["mean"] for chain in summary["chains"]]
            self.assertNotEqual(*means)
            self.assertAlmostEqual(summary[name]["mean"], sum(means) / 2, 9)
            # Student's factor of two chains: a Cauchy distribution's 68 % interval.
            factor = math.tan(math.pi * (statistics.NormalDist().cdf(1) - 0.5))
            self.assertAlmostEqual(
                summary[name]["error_between_chains"], factor * abs(means[0] - means[1]) / 2, 6
            )
        for text in ("Mean dipole", "Polarisation energy", "the isolated solute, -1000.000 kJ/mol"):
            self.assertIn(text, result.stdout)


if __name__ == "__main__":
    program.main()
