"""The pressure of a run: its columns, its mean, and that asking for it changes nothing else.

    python3 test_pressure.py PROGRAM
"""

import csv
import json

import program

STEPS = 1200
EQUILIBRATION = 300
INTERVAL = 150


class Pressure(program.TestCase):
    def run_small(self, name, *options, interval=INTERVAL):
        config = self.config(
            **program.small_system(),
            sampling={"steps": STEPS, "equilibration_steps": EQUILIBRATION},
            output={
                "energy_interval": 50,
                "trajectory_interval": 400,
                "pressure_interval": interval,
            },
        )
        folder = self.folder / name
        summary = program.simulate(config, folder, *options)
        with open(folder / "energies.csv") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        return config, summary, rows

    def test_columns(self):
        config, summary, rows = self.run_small("with", "--run.implementation", "simd")
        virials = {int(row["step"]): row["virial"] for row in rows}
        pressures = {int(row["step"]): row["pressure"] for row in rows}
        for step, text in pressures.items():
            self.assertEqual(text != "", step % INTERVAL == 0, step)
            self.assertEqual(virials[step] != "", step % INTERVAL == 0, step)
        # The first is that of the starting configuration.
        energy = json.loads(program.succeed("energy", config).stdout)
        self.assertEqual(float(pressures[0]), energy["pressure_bar"])
        self.assertEqual(float(virials[0]), energy["virials_kj_per_mol"]["total"])
        production = [float(p) for step, p in pressures.items() if p and step > EQUILIBRATION]
        self.assertEqual(len(production), STEPS // INTERVAL)
        self.assertGreater(len(set(production)), 1)
        average = summary["averages"]["pressure_bar"]
        self.assertEqual(average["count"], len(production))
        self.assertAlmostEqual(average["mean"] / (sum(production) / len(production)), 1, delta=1e-12)
        self.assertAlmostEqual(summary["pressure_bar"]["mean"] / average["mean"], 1, delta=1e-12)

    def test_same_bits_everywhere(self):
        _, first, rows = self.run_small("simd", "--run.implementation", "simd")
        _, without, plain = self.run_small("without", interval=0)
        self.assertEqual(first["decisions_sha256"], without["decisions_sha256"])
        self.assertNotIn("pressure", plain[0])
        self.assertNotIn("pressure_bar", without)
        for options in (
            ("--run.implementation", "scalar"),
            ("--run.implementation", "simd", "--run.precision", "fixed", "--sampling.window", "7"),
            ("--run.tasks", "terms"),
            ("--run.tasks", "windows"),
        ):
            with self.subTest(options=options):
                _, other, others = self.run_small("-".join(options).replace("--", ""), *options)
                self.assertEqual(other["decisions_sha256"], first["decisions_sha256"])
                self.assertEqual(
                    [row["pressure"] for row in others], [row["pressure"] for row in rows]
                )

    def test_interval(self):
        config = self.config(**program.plain_system("argon/argon"), sampling={"steps": 10})
        result = program.start("run", config, "--output.pressure-interval", 150)
        self.assertEqual(result.returncode, 2)
        self.assertIn("write a multiple of 100", result.stderr)


if __name__ == "__main__":
    program.main()
