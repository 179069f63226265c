"""The exact ensemble as a run: preparation, blocks, files, resuming, bad input. The QM program is the
model solute of tests/reference/model_workers, which answers at once or as slowly as is told.

usage: test_exact.py PROGRAM [TEST ...]
"""

import contextlib
import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest.mock

import h5py
import numpy as np
import program

sys.path.insert(0, str(program.TESTS / "reference"))
import model_solute

WORKERS = program.TESTS / "app/slow_model_workers"
MODEL = {"STARPMC_WORKERS": WORKERS}
XYZ = """3
S, C, O as in tests/reference/model_solute.py
S 0 0 1.4
C 0 0 0
O 0 0 -1.4
"""
# So large that no hydrogen, which has no Lennard-Jones site, comes near the model's point charges.
ATOM_TYPES = """
[ atomtypes ]
large_S  S  16  32.06   0.0  A  0.40  4.0
large_C  C   6  12.011  0.0  A  0.40  4.0
large_O  O   8  15.999  0.0  A  0.40  4.0
"""
KT = 0.00831446261815324 * 298.15


def make_box(folder, waters=60):
    (folder / "ocs.xyz").write_text(XYZ)
    program.succeed(
        "solvate",
        "--solute",
        folder / "ocs.xyz",
        "--waters",
        waters,
        "--output",
        folder / "ocs",
    )
    topology = (folder / "ocs.top").read_text()
    head, rest = topology.split('forcefield.itp"\n', 1)
    rest = re.sub(r"opls_\d+( .* ([SCO])\d)", r"large_\2\1", rest)
    (folder / "ocs.top").write_text(head + 'forcefield.itp"\n' + ATOM_TYPES + rest)
    return {
        "system": {
            "coordinates": folder / "ocs.gro",
            "topology": folder / "ocs.top",
            "qm_molecule": "ocs",
        }
    }


def contents(reference_file):
    """Of reference.h5, but for how long it took and the memory of a worker."""
    with h5py.File(reference_file) as file:
        data = {name: file[name][()].tobytes() for name in file}
    header = json.loads(data.pop("header"))
    del header["seconds"], header["worker_memory_mb"], data["sha256"]
    return header, data


def read_gro(path):
    """The solute's sites, those of the waters (n, 3, 3) and the box, angstrom."""
    lines = path.read_text().splitlines()
    atoms = lines[2 : 2 + int(lines[1])]
    sites = 10 * np.array([[float(word) for word in line[20:].split()[:3]] for line in atoms])
    box = 10 * np.array([float(word) for word in lines[-1].split()[:3]])
    solute = np.array([line[5:10].strip() not in ("SOL", "HOH", "WAT") for line in atoms])
    return sites[solute], sites[~solute].reshape(-1, 3, 3), box


def table(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class Exact(program.TestCase):
    def setUp(self):
        super().setUp()
        self.box = make_box(self.folder)

    def settings(self, **qm):
        return self.box | {
            "sampling": {
                "ensemble": "exact",
                "steps": 3000,
                "equilibration_steps": 600,
                "seed": 3,
                "near_share": 0.5,
            },
            "qm": {
                "engine": "pyscf",
                "interval": 100,
                "configurations": 12,
                "response_tolerance": 0,
            }
            | qm,
            "output": {"energy_interval": 20, "trajectory_interval": 200},
        }

    def run_model(self, name, *words, sections=None, **env):
        config = self.config(**(sections or self.settings()))
        return program.simulate(config, self.folder / name, *words, env=MODEL | env)

    def assert_same_results(self, one, other):
        for name in ("energies.csv", "blocks.csv", "final.gro"):
            self.assertEqual(
                (one / name).read_bytes(), (other / name).read_bytes(), name
            )

    def test_blocks_and_summary(self):
        summary = self.run_model("run")
        blocks = table(self.folder / "run/blocks.csv")
        self.assertEqual([int(b["step"]) for b in blocks], list(range(600, 3601, 100)))
        exact = summary["exact"]
        self.assertEqual(exact["blocks"], 30)
        error = exact["table_error"]
        # To the places in the next two of 12 configurations.
        self.assertEqual(error["moves"], 21 * 60)
        # A response so near to its charges takes a finer table than the first.
        response = exact["response_table_error"]
        self.assertEqual(response["moves"], 21 * 60)
        self.assertLessEqual(response["rms_kj_per_mol"], 0.007)
        log = (self.folder / "run/run.log").read_text()
        self.assertIn("finer table of the response", log)
        self.assertGreater(error["rms_kj_per_mol"], 0)
        self.assertLess(error["rms_kj_per_mol"], 0.01)
        self.assertLess(error["rms_kj_per_mol"], error["largest_kj_per_mol"])
        self.assertEqual(
            exact["accepted_blocks"], sum(int(b["accepted"]) for b in blocks[1:])
        )
        start, kept = float(blocks[0]["difference"]), [float(blocks[0]["true_energy"])]
        for block in blocks[1:]:
            difference = float(block["difference"])
            expected = min(1.0, math.exp(-(difference - start) / KT))
            self.assertAlmostEqual(
                float(block["probability"]), expected, delta=2e-5 * expected + 1e-9
            )
            self.assertAlmostEqual(
                float(block["true_energy"]) - float(block["sampled_energy"]),
                difference,
                delta=3e-6,
            )
            if block["accepted"] == "1":
                start = difference
                kept.append(float(block["true_energy"]))
            else:
                kept.append(kept[-1])
        # Production begins in the sampled ensemble, which the first blocks forget: as many as it takes
        # to accept two, and more where the differences have a long memory, up to a quarter.
        counted = exact["averages_at_block_ends"]["total"]["count"]
        least = min(math.ceil(2 * 30 / exact["accepted_blocks"]), 30 // 4)
        self.assertLessEqual(least, 30 - counted)
        self.assertLessEqual(30 - counted, 30 // 4)
        if any("not forget" in warning for warning in summary["warnings"]):
            self.assertEqual(30 - counted, 30 // 4)
        self.assertAlmostEqual(
            summary["total_energy"]["mean"], sum(kept[-counted:]) / counted, places=5
        )
        self.assertEqual(summary["ensemble"], "exact")
        # Preparation takes other times than updates: it has models of its own.
        tasks = {timing["codelet"]: timing["count"] for timing in summary["codelet_timings"]}
        self.assertGreaterEqual(tasks["starpmc_qm_preparation"], 12)
        self.assertGreaterEqual(tasks["starpmc_qm_update"], 31)
        rows = table(self.folder / "run/energies.csv")
        self.assertEqual([int(row["step"]) for row in rows], list(range(0, 3601, 20)))
        at_end = {int(row["step"]): float(row["total"]) for row in rows}
        for block in blocks:
            self.assertAlmostEqual(
                at_end[int(block["step"])], float(block["sampled_energy"]), delta=2e-3
            )

    def test_report(self):
        self.run_model("run", "--sampling.chains", "2")
        program.succeed("report", self.folder / "run", "--png", timeout=300)
        page = (self.folder / "run/report.html").read_text()
        self.assertIn("QM-MM Coulomb, both", page)
        for part in ("QM-MM electrons", "QM-MM nuclei"):  # the reference's field is of both
            self.assertNotIn(part, page)
        self.assertNotIn("left out", page)
        self.assertIn("<h2>Exact ensemble</h2>", page)
        self.assertTrue((self.folder / "run/report-block-differences.png").exists())
        for part in (
            "total energy at block ends of all chains", "about the centre of nuclear charge",
            "relaxes towards the sampled one", "blocks were accepted, and the standard deviation",
        ):  # fmt: skip
            self.assertIn(part, page)
        self.run_model(
            "run", "--output.overwrite", "true"
        )  # all these files are its own

    def test_python_package(self):
        """Its tables are those of the files, and an example compares true energies."""
        try:
            import pandas  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        package = program.REPOSITORY / "src/python"
        self.enterContext(unittest.mock.patch.object(sys, "path", [str(package), *sys.path]))
        import starpmc

        summary = self.run_model("run", "--sampling.chains", "2")
        run = starpmc.load(self.folder / "run")
        self.assertEqual(run.warnings, summary["warnings"])
        self.assertIn("shortest edge", " ".join(run.warnings))
        for number, chain in enumerate(summary["chains"]):
            rows = table(self.folder / f"run/chain-{number}/blocks.csv")
            blocks = run.blocks.loc[number]
            self.assertEqual(blocks.step.tolist(), [int(row["step"]) for row in rows])
            self.assertEqual(blocks.accepted.tolist(), [row["accepted"] == "1" for row in rows])
            for key in ("true_energy_kj_per_mol", "difference_kj_per_mol"):
                stated = [test[key] for test in chain["exact"]["tests"]]
                np.testing.assert_allclose(blocks[key], stated, atol=1e-6)
            stated = chain["exact"]["averages_at_block_ends"]["total"]
            for key in ("mean", "error"):
                self.assertEqual(run.block_averages.loc[(number, "total"), key], stated[key])
            dipole = chain["qm_averages"]["dipole_debye"]["mean"]
            self.assertEqual(run.block_averages.loc[(number, "dipole"), "mean"], dipole)
        for key, name in (("total_energy", "total"), ("dipole_debye", "dipole")):
            for number in ("mean", "error", "r_hat"):
                stated = summary[key][number]
                np.testing.assert_equal(
                    run.ensemble.loc[name, number], math.nan if stated is None else stated
                )
        self.assertEqual(run.ensemble.loc["dipole", "unit"], "debye")
        # A run that goes on: its last line is being written.
        chain = self.folder / "run/chain-1"
        (self.folder / "run/summary.json").unlink()
        text = (chain / "blocks.csv").read_text()
        (chain / "blocks.csv").write_text(text[:-5])
        self.assertEqual(len(run.blocks.loc[1]), len(run.blocks.loc[0]) - 1)
        self.assertEqual(run.warnings, [])

        example = package / "examples/two_temperatures.py"
        words = [self.config(**self.settings()), self.folder / "both", "298.15", "308.15"]
        said = subprocess.run(
            [sys.executable, example, *words], check=True, capture_output=True, text=True,
            env=program.environment(**MODEL, STARPMC=program.PROGRAM, PYTHONPATH=package),
        ).stdout  # fmt: skip
        for temperature in ("298.15", "308.15"):
            summary = json.loads((self.folder / f"both/{temperature}/summary.json").read_text())
            total = summary["total_energy"]
            self.assertIn(f"{temperature} K: {total['mean']:.4f} +- {total['error']:.4f}", said)
            self.assertNotEqual(total["mean"], summary["averages"]["total"]["mean"])

    def test_steps_ahead_change_nothing(self):
        """With one worker no steps are made while the SCF runs."""
        self.run_model("two", STARPU_NCPU=2)
        self.run_model("one", STARPU_NCPU=1)
        self.assert_same_results(self.folder / "two", self.folder / "one")

    def test_few_components(self):
        """One, too, is summed with those that fill its lattice up."""
        for components in ("1", "2"):
            words = ("--qm.response-components", components)
            summary = self.run_model("few", *words, "--output.overwrite", "true")
            self.assertEqual(summary["exact"]["response_components"], int(components))
            differences = [
                abs(float(block["difference"]))
                for block in table(self.folder / "few/blocks.csv")
            ]
            self.assertLess(max(differences), 100)
            polarisation = summary["averages"]["qmmm_polarisation"]["mean"]
            self.assertLess(polarisation, -0.1)
            self.assertGreater(polarisation, -100)

    def test_more_components_than_there_are(self):
        summary = self.run_model("more", "--qm.response-components", "5")
        self.assertEqual(summary["exact"]["response_components"], 3)
        log = (self.folder / "more/run.log").read_text()
        self.assertIn("warning: reference: qm.response-components is 5, but the response has 3", log)

    def test_goes_on_after_a_kill(self):
        slow = MODEL | {"STARPMC_MODEL_SECONDS": "0.05"}
        config = self.config(**self.settings())
        self.run_model("whole")
        killed = 0
        for delay in (0.3, 0.8, 1.3, 2.0):
            folder = self.folder / f"killed-{delay}"
            words = [
                config,
                "--output.folder",
                folder,
                "--output.checkpoint-interval",
                "0.1",
            ]
            process = subprocess.Popen(
                [str(program.PROGRAM), "run", *map(str, words)],
                env=program.environment(**slow),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while process.poll() is None and not (folder / "run.log").exists():
                time.sleep(0.01)
            time.sleep(delay)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                killed += 1
            process.wait()
            if not (folder / "summary.json").exists():
                program.succeed("resume", folder, env=MODEL)
            self.assert_same_results(self.folder / "whole", folder)
        self.assertGreater(killed, 1)

    def test_goes_on_after_interruptions(self):
        """However often, whatever it is doing."""
        self.run_model("whole")
        slow = MODEL | {"STARPMC_MODEL_SECONDS": "0.03"}
        folder = self.folder / "part"
        words = ["run", self.config(**self.settings()), "--output.folder", folder]
        for attempt in range(30):
            process = subprocess.Popen(
                [str(program.PROGRAM), *map(str, words)],
                env=program.environment(**slow),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(2.0 + 0.13 * attempt)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=120)
            self.assertIn(process.returncode, (0, 130), said)
            if process.returncode == 0:
                break
            if folder.exists():
                words = ["resume", folder]
        self.assertEqual(process.returncode, 0, "it never came to its end")
        self.assert_same_results(self.folder / "whole", folder)

    def test_interrupted_while_the_reference_is_made(self):
        self.run_model("whole")
        folder = self.folder / "part"
        words = ("run", self.config(**self.settings()), "--output.folder", folder)
        slow = MODEL | {"STARPMC_MODEL_SECONDS": "1"}
        with subprocess.Popen(
            [str(program.PROGRAM), *map(str, words)],
            env=program.environment(**slow),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            while process.poll() is None and not (folder / "run.log").exists():
                time.sleep(0.01)
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assertFalse((folder / "reference.h5").exists())
        self.assertIn(f"go on with: starpmc resume {folder}", said)
        program.succeed("resume", folder, env=MODEL)
        self.assert_same_results(self.folder / "whole", folder)

    def kill_after_a_round(self, *words):
        """As soon as one has been kept that was not there before; its file."""
        kept = self.folder / "part/reference-preparation.cbor"
        before = kept.read_bytes() if kept.exists() else None
        process = subprocess.Popen(
            [str(program.PROGRAM), *map(str, words)],
            env=program.environment(**MODEL, STARPMC_MODEL_SECONDS="0.1"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None:
            if kept.exists() and kept.read_bytes() != before:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.001)
        process.wait()
        return kept

    def test_killed_while_the_reference_is_made(self):
        """It goes on after the last round, and is that of a run that nobody killed."""
        sections = self.settings()
        sections["sampling"]["temperature"] = 3000  # rounds differ
        self.run_model("whole", sections=sections)
        folder = self.folder / "part"
        words = ["run", self.config(**sections), "--output.folder", folder]
        killed = 0
        while self.kill_after_a_round(*words).exists():
            killed += 1
            words = ["resume", folder]
        self.assertGreater(killed, 1)
        log = (folder / "run.log").read_text()
        for number in range(1, killed + 1):
            self.assertEqual(log.count(f"reference: goes on after round {number}\n"), 1)
            self.assertEqual(log.count(f"reference, round {number}: "), 1)
        self.assertEqual(
            contents(folder / "reference.h5"),
            contents(self.folder / "whole/reference.h5"),
        )
        self.assert_same_results(self.folder / "whole", folder)

    def test_a_preparation_that_cannot_be_gone_on_from(self):
        """Torn, or of other settings: said, and made from the start."""
        left = self.kill_after_a_round(
            "run", self.config(**self.settings()), "--output.folder", self.folder / "part"
        ).parent
        for name, change, reason in (
            ("torn", self.cut_preparation, "it is torn or damaged"),
            ("other", self.change_seed, "it is of other settings"),
        ):
            folder = self.folder / name
            shutil.copytree(left, folder)
            change(folder)
            program.succeed("resume", folder, env=MODEL)
            log = (folder / "run.log").read_text()
            self.assertRegex(log, f"cannot be gone on from, [^\\n]*{reason}")
            self.assertNotIn("goes on after", log)
            self.assertFalse((folder / "reference-preparation.cbor").exists())

    @staticmethod
    def cut_preparation(folder):
        path = folder / "reference-preparation.cbor"
        path.write_bytes(path.read_bytes()[:-1])

    @staticmethod
    def change_seed(folder):
        path = folder / "settings.cfg"
        text, count = re.subn(r"(?m)^seed = \d+", "seed = 77", path.read_text())
        assert count == 1
        path.write_text(text)

    def test_chains_share_the_reference(self):
        summary = self.run_model("both", "--sampling.chains", "2")
        self.assertEqual(len(summary["chains"]), 2)
        alone = self.run_model("alone")
        self.assertEqual(
            summary["chains"][0]["final_coordinates_sha256"],
            alone["final_coordinates_sha256"],
        )
        self.assertNotEqual(
            summary["chains"][1]["final_coordinates_sha256"],
            alone["final_coordinates_sha256"],
        )
        given = self.run_model(
            "given", "--qm.reference", self.folder / "both/reference.h5"
        )
        self.assertEqual(
            given["final_coordinates_sha256"], alone["final_coordinates_sha256"]
        )
        self.assertIn(
            "reference density from", (self.folder / "given/run.log").read_text()
        )

    def test_however_many_workers_make_the_reference(self):
        """One, two of one chain, those of two chains, and two of which one dies."""
        settings = self.settings()
        # More tests than one worker makes while another one starts.
        settings["qm"]["configurations"] = 160
        dies = self.folder / "died"
        for name, words, env in (
            ("one", (), {"STARPU_NCPU": 1}),
            ("two", (), {"STARPU_NCPU": 2}),
            ("chains", ("--sampling.chains", "2"), {"STARPU_NCPU": 2}),
            ("dies", (), {"STARPU_NCPU": 2, "STARPMC_MODEL_DIES": dies}),
        ):
            slow = {"STARPMC_MODEL_SECONDS": "0.05"}
            self.run_model(name, *words, sections=settings, **slow, **env)
        self.assertTrue(dies.exists())
        one, *others = (
            contents(self.folder / name / "reference.h5")
            for name in ("one", "two", "chains", "dies")
        )
        self.assertGreater(one[0]["components"], 0)
        for other in others:
            self.assertEqual(other, one)
        logs = {
            name: (self.folder / name / "run.log").read_text()
            for name in ("one", "two", "dies")
        }
        self.assertIn(
            "energies of 40 test configurations by 1 QM worker in", logs["one"]
        )
        self.assertIn(
            "energies of 40 test configurations by 2 QM workers in", logs["two"]
        )
        self.assertIn("products of its equations by 1 QM worker\n", logs["one"])
        self.assertIn("products of its equations by 2 QM workers\n", logs["two"])
        self.assertIn("the energy is repeated by a fresh one", logs["dies"])

    def test_until_error(self):
        """Ends at a block's end, and at the same one whatever is sampled ahead."""
        sections = self.settings()
        sections["sampling"] |= {
            "until_error": 30,
            "steps": 1500000,
            "equilibration_steps": 10000,
            "temperature": 1500,
        }
        sections["qm"]["interval"] = 1000
        one = self.run_model("one", sections=sections, STARPU_NCPU=1)
        two = self.run_model("two", sections=sections, STARPU_NCPU=2)
        self.assertTrue(one["total_energy"]["known_to_within_it"])
        self.assertLess(one["steps"], 1500000)
        self.assertEqual(one["steps"] % 1000, 0)
        self.assertEqual(
            one["final_coordinates_sha256"], two["final_coordinates_sha256"]
        )
        self.assert_same_results(self.folder / "one", self.folder / "two")

    def test_automatic_blocks(self):
        sections = self.settings(interval="auto")
        sections["sampling"]["equilibration_steps"] = 6000
        summary = self.run_model("run", sections=sections)
        self.assertLessEqual(summary["qm_interval_steps"], 3000 // 20)
        self.assertGreaterEqual(summary["qm_interval_steps"], 60)

    def test_automatic_blocks_of_different_lengths_until_error(self):
        """A chain with fewer blocks than another has ended before: it is not waited for."""
        sections = self.settings(interval="auto")
        sections["sampling"] |= {
            "chains": 2,
            "steps": 40000,
            "equilibration_steps": 6000,
            "until_error": 0.001,
            "temperature": 300,
            "near_share": 0,
            "seed": 6,
        }
        summary = self.run_model("run", sections=sections)
        self.assertFalse(summary["total_energy"]["known_to_within_it"])
        tables = sorted((self.folder / "run").glob("chain-*/blocks.csv"))
        lines = [len(table.read_text().splitlines()) for table in tables]
        self.assertEqual(len(lines), 2)
        self.assertNotEqual(*lines)

    def test_interrupted_while_it_waits_for_another_chain(self):
        """What comes after a block depends on whether the run ends there: none of it is kept."""
        sections = self.settings()
        sections["sampling"] |= {"chains": 2, "until_error": 1e-6}
        self.run_model("whole", sections=sections)
        config, out = self.config(**sections), self.folder / "out"
        slow = {"STARPMC_MODEL_SECONDS": 0.05, "STARPMC_MODEL_FIRST": self.folder / "first"}
        arguments = (program.PROGRAM, "run", config, "--output.folder", out)
        with subprocess.Popen(
            list(map(str, arguments)),
            env=program.environment(**MODEL, **slow),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            chains = [out / f"chain-{number}" for number in (0, 1)]

            def blocks():
                tables = [chain / "blocks.csv" for chain in chains]
                return [len(table(path)) if path.exists() else 0 for path in tables]

            while min(blocks()) < 3:
                self.assertIsNone(process.poll())
                time.sleep(0.02)
            while len(set(blocks())) == 1:  # one of them is at the next block's end
                self.assertIsNone(process.poll())
                time.sleep(0.02)
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            process.wait(60)
        beyond = [
            int(table(chain / "energies.csv")[-1]["step"])
            - int(table(chain / "blocks.csv")[-1]["step"])
            for chain in chains
        ]
        self.assertEqual(min(beyond), 0, beyond)
        program.succeed("resume", out, env=MODEL)
        for number in (0, 1):
            chain = f"chain-{number}"
            self.assert_same_results(self.folder / "whole" / chain, out / chain)

    def test_more_steps(self):
        self.run_model("whole")
        self.run_model("part", "--sampling.steps", "1500")
        program.succeed("resume", self.folder / "part", "--steps", "3000", env=MODEL)
        self.assert_same_results(self.folder / "whole", self.folder / "part")

    def log_of(self, name):
        return (self.folder / name / "run.log").read_text()

    def grids_needed(self, name):
        """What the workers were told of the density grid."""
        log = (self.folder / name / "qm-worker.log").read_text()
        return set(re.findall(r"density grid: ([a-z ]+)", log))

    def test_openmp_does_not_bind_workers(self):
        """It has bound the program's first thread before main()."""
        self.run_model("run", "--sampling.steps", "200", OMP_PROC_BIND="true")
        log = (self.folder / "run" / "qm-worker.log").read_text()
        found = {int(count) for count in re.findall(r"processors: (\d+)", log)}
        self.assertEqual(found, {len(os.sched_getaffinity(0))})

    def default_settings(self):
        sections = self.settings()
        del sections["sampling"]["ensemble"]
        return sections

    def test_by_default_where_it_can_be(self):
        """Bit by bit what is sampled where it is asked for; resumed from what was settled."""
        config = self.config(**self.default_settings())
        self.run_model("asked")
        summary = program.simulate(config, self.folder / "default", env=MODEL)
        self.assertEqual(summary["ensemble"], "exact")
        self.assert_same_results(self.folder / "asked", self.folder / "default")
        for name in ("asked", "default"):
            self.assertEqual(self.grids_needed(name), {"not needed"})
        settings = (self.folder / "default/settings.cfg").read_text()
        self.assertRegex(settings, r"(?m)^ensemble *= *exact$")
        program.succeed("resume", self.folder / "default", "--steps", "4000", env=MODEL)
        said = program.succeed("check", config, cwd=self.folder, env=MODEL).stdout
        self.assertRegex(said, r"(?m)^Ensemble +the exact ensemble")

    def test_by_default_where_it_cannot_be(self):
        """One line says why, and the run is that of the published method, resumed too."""
        knows_not = MODEL | {"STARPMC_MODEL_EXACT": "no"}
        everywhere = ("--sampling.near-share", 0)
        self.run_model("ever", "--sampling.ensemble", "perturbative", *everywhere)
        config = self.config(**self.default_settings())
        refused = program.start(
            "run", config, "--output.folder", self.folder / "near", env=knows_not
        )
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("sampling.near-share", refused.stderr)
        for name, words, env, reason in (
            ("worker", (), knows_not, "cannot serve the exact ensemble"),
            ("interval", ("--qm.interval", 4000), MODEL, "at least one whole qm.interval"),
        ):
            with self.subTest(name):
                summary = program.simulate(
                    config, self.folder / name, *words, *everywhere, env=env
                )
                self.assertEqual(summary["ensemble"], "perturbative")
                lines = [
                    line for line in self.log_of(name).splitlines() if reason in line
                ]
                self.assertEqual(len(lines), 1, self.log_of(name))
                self.assertIn("sampling.ensemble = perturbative", lines[0])
                said = program.succeed(
                    "check", config, *words, *everywhere, cwd=self.folder, env=env
                ).stdout
                self.assertRegex(said, rf"(?m)^Ensemble .*{reason}")
                settings = (self.folder / name / "settings.cfg").read_text()
                self.assertRegex(settings, r"(?m)^ensemble *= *perturbative$")
        # Who does not serve the exact ensemble keeps the grid, whatever it is told.
        for name, needed in (("ever", "needed"), ("worker", "not needed"), ("interval", "needed")):
            self.assertEqual(self.grids_needed(name), {needed})
        ever, worker = (
            self.folder / name / "energies.csv" for name in ("ever", "worker")
        )
        self.assertEqual(ever.read_bytes(), worker.read_bytes())
        program.succeed("resume", self.folder / "worker", "--steps", "4000", env=MODEL)

    def test_many_short_updates_share_checkpoints(self):
        """One after each, with all updates so far, took ever longer."""
        sections = self.settings(interval=10)
        sections["sampling"] |= {"ensemble": "perturbative", "near_share": 0}
        out = self.folder / "short"
        process = subprocess.Popen(
            [program.PROGRAM, "run", self.config(**sections), "--output.folder", out],
            env=program.environment(**MODEL),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        written = set()
        while process.poll() is None:
            with contextlib.suppress(FileNotFoundError):
                written.add((out / "checkpoint.cbor").stat().st_mtime_ns)
            time.sleep(5e-4)
        self.assertEqual(process.wait(), 0)
        updates = json.loads((out / "summary.json").read_text())["qm_updates"]
        self.assertGreaterEqual(len(updates), 360)
        self.assertLess(len(written), len(updates) / 3)


class OneConfiguration(program.TestCase):
    """Energies, virials and pressure of a configuration by the tables of a reference."""

    CUTOFF = 5.5
    COULOMB = "built-in"

    def coulomb(self, r):
        """The shifted force, of unit charges over the Coulomb constant, and its slope."""
        shifted = 1 / r - 1 / self.CUTOFF + (r - self.CUTOFF) / self.CUTOFF**2
        return shifted, -1 / r**2 + 1 / self.CUTOFF**2

    def setUp(self):
        super().setUp()
        self.box = make_box(self.folder)
        self.sections = Exact.settings(self) | {
            "interaction": {"coulomb_cutoff": self.CUTOFF},
            "potential": {"coulomb": self.COULOMB},
            "output": {"energy_interval": 50, "pressure_interval": 300},
        }
        self.made = self.config(**self.sections)
        self.summary = program.simulate(self.made, self.folder / "made", env=MODEL)
        self.rows = table(self.folder / "made/energies.csv")

    def energy(self, *words):
        return json.loads(program.succeed("energy", self.made, *words, env=MODEL).stdout)

    def with_reference(self, *words):
        return self.energy("--qm.reference", self.folder / "made/reference.h5", *words)

    def test_is_that_of_a_run(self):
        found = self.with_reference()
        terms = (*program.TERMS, "qmmm_polarisation", "qmmm_coulomb", "solute", "total")
        for term in terms:
            self.assertAlmostEqual(
                found["energies_kj_per_mol"][term], float(self.rows[0][term]), delta=2e-4, msg=term
            )
        self.assertEqual(found["energies_kj_per_mol"]["qmmm_nuclei"], 0)
        self.assertLess(found["energies_kj_per_mol"]["qmmm_polarisation"], -0.01)
        virials = found["virials_kj_per_mol"]
        self.assertAlmostEqual(
            virials["total"], sum(virials[t] for t in (*program.TERMS, "qmmm_polarisation"))
        )
        self.assertEqual(float(self.rows[0]["virial"]), virials["total"])
        self.assertEqual(float(self.rows[0]["pressure"]), found["pressure_bar"])
        for implementation in ("scalar", "simd"):
            other = self.with_reference("--implementation", implementation, "--precision", "fixed")
            self.assertEqual(other["virials_kj_per_mol"], virials)
        mean = self.summary["averages"]["pressure_bar"]
        self.assertEqual(mean["count"], 10)
        self.assertIn("qmmm_polarisation", self.summary["averages"])

    def test_is_the_sum_over_charges(self):
        """The model's charges and its dipole."""
        found = self.with_reference()
        dipole = np.array(found["qm"]["dipole_debye"]) / model_solute.DEBYE_PER_E_ANGSTROM
        sites, waters, box = read_gro(self.folder / "ocs.gro")
        fixed = np.array(model_solute.FIXED_CHARGES)
        induced = dipole - fixed @ model_solute.ATOMS
        points = np.concatenate([sites, sites[1] + model_solute.D * model_solute.AXES])
        charges = np.concatenate([fixed, model_solute.AXES @ induced / (2 * model_solute.D)])
        energy = virial = 0.0
        masses = np.array([32.06, 12.011, 15.999])
        middle = masses @ sites / masses.sum()
        # The image that the tables take; another than a charge's near the cell's faces.
        table_centre = (sites.min(axis=0) + sites.max(axis=0)) / 2
        for water in waters:
            centre = np.array([15.9994, 1.008, 1.008]) @ water / 18.0154
            for r, q in zip(water, (-0.834, 0.417, 0.417), strict=True):
                for k, c in zip(points, charges, strict=True):
                    image = box * np.rint((r - k) / box)
                    d = r - k - image
                    distance = np.linalg.norm(d)
                    if distance >= self.CUTOFF:
                        continue
                    value, slope = self.coulomb(distance)
                    energy += model_solute.COULOMB * q * c * value
                    apart = centre - middle - box * np.rint((r - table_centre) / box)
                    virial -= model_solute.COULOMB * q * c * slope * (d @ apart) / distance
        energies = found["energies_kj_per_mol"]
        print("electrostatic", energies["qmmm_grid"], energy,
              "virial", found["virials_kj_per_mol"]["qmmm_grid"], virial,
              self.summary["exact"]["table_error"])  # fmt: skip
        # What the table errs by in a step is in two places of a molecule that moves.
        step = self.summary["exact"]["table_error"]["rms_kj_per_mol"]
        self.assertLessEqual(step, 0.007)
        error = step * math.sqrt(len(waters) / 2)
        self.assertAlmostEqual(energies["qmmm_grid"], energy, delta=3 * error)
        # The table's error changes its sign from node to node, 20 of which lie between the solute and
        # its cutoff: hundredths of a kJ/mol in the energy are a few in its derivative by the scale.
        self.assertAlmostEqual(
            found["virials_kj_per_mol"]["qmmm_grid"], virial, delta=0.5 + 0.03 * abs(virial)
        )
        # Without it: of the density of this configuration.
        exact = self.energy()
        self.assertNotIn("qmmm_polarisation", exact["energies_kj_per_mol"])

    def test_true_less_sampled_is_what_is_not_linear(self):
        """With the field at the solute by the sum over the waters."""
        sampled, true = self.with_reference(), self.energy()
        sites, waters, box = read_gro(self.folder / "ocs.gro")
        points = sites[1] + model_solute.D * model_solute.AXES
        potential = np.zeros(len(points))
        for water in waters:
            for r, q in zip(water, (-0.834, 0.417, 0.417), strict=True):
                apart = r - points
                distances = np.linalg.norm(apart - box * np.rint(apart / box), axis=1)
                values = np.where(distances < self.CUTOFF, self.coulomb(distances)[0], 0)
                potential += model_solute.COULOMB * q * values
        field = model_solute.FIELD_OF_POTENTIAL @ potential
        # That of the reference, by its dipole: along which the field is, and as long as it takes.
        induced = np.array(sampled["qm"]["dipole_debye"]) / model_solute.DEBYE_PER_E_ANGSTROM
        induced -= np.array(model_solute.FIXED_CHARGES) @ model_solute.ATOMS
        length = np.linalg.norm(induced)
        at_rest = np.roots([4 * model_solute.B, 0, model_solute.A, -length])
        at_rest = induced / length * at_rest[np.abs(at_rest.imag) < 1e-9].real[0]
        change = field - at_rest
        polarisation = -change @ model_solute.polarisability(at_rest) @ change / 2
        linear = model_solute.energy(at_rest) - change @ model_solute.dipole(at_rest) + polarisation
        found = sampled["energies_kj_per_mol"]
        self.assertLess(polarisation, -20)
        self.assertAlmostEqual(found["qmmm_polarisation"], polarisation, delta=0.006 * -polarisation)
        self.assertAlmostEqual(
            true["energies_kj_per_mol"]["total"] - found["total"],
            model_solute.energy(field) - linear,
            delta=0.15,
        )


class OneConfigurationOfAReactionField(OneConfiguration):
    """A Coulomb function of the user's, in the tables as in the potential that the QM program gets."""

    COULOMB = "1/r + r^2/(2*cutoff^3) - 1.5/cutoff"

    def coulomb(self, r):
        value = 1 / r + r**2 / (2 * self.CUTOFF**3) - 1.5 / self.CUTOFF
        return value, -1 / r**2 + r / self.CUTOFF**3


class BadInput(program.TestCase):
    def setUp(self):
        super().setUp()
        self.box = make_box(self.folder)
        self.settings = lambda **qm: Exact.settings(self, **qm)

    def refused(self, *words, sections=None, status=2):
        config = self.config(**(sections or self.settings()))
        folder = self.folder / "refused"
        result = program.start(
            "run", config, "--output.folder", folder, *words, env=MODEL
        )
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertFalse(folder.exists(), "it has written something")
        self.assertIn("remedy:", result.stderr)
        return result.stderr

    def test_options(self):
        said = self.refused("--qm.interval", "5000")
        self.assertIn("qm.interval", said)
        self.assertIn("longer than the 3000 steps", said)
        said = self.refused("--qm.response-components", "20")
        self.assertIn("qm.response-components", said)
        self.assertIn("12 configurations", said)
        said = self.refused("--sampling.ensemble", "perturbative")
        self.assertIn("sampling.near-share", said)
        self.assertIn("sampling.ensemble = exact", said)
        # A stored density, or updates without a test, are not sampled about a reference.
        reference = self.folder / "reference.h5"
        reference.touch()
        for ensemble in (("perturbative",), ("auto", "--qm.interval", 5000)):
            words = ("--sampling.ensemble", *ensemble, "--sampling.near-share", 0)
            said = self.refused(*words, "--qm.reference", reference)
            self.assertIn("qm.reference", said)
            self.assertIn("only the exact ensemble has a reference density", said)

    def test_reference_file(self):
        config = self.config(**self.settings())
        program.simulate(config, self.folder / "made", env=MODEL)
        made = self.folder / "made/reference.h5"
        said = self.refused("--qm.reference", self.folder / "none.h5")
        self.assertIn("there is no such file", said)
        cut = self.folder / "cut.h5"
        cut.write_bytes(made.read_bytes()[:-1000])
        said = self.refused("--qm.reference", cut)
        self.assertIn("not a complete reference density", said)
        self.assertIn("cut.h5", said)
        for words, what in (
            (("--qm.basis", "sto-3g"), "basis is def2-svp, here it is sto-3g"),
            (("--qm.method", "hf"), "method"),
            (("--interaction.coulomb-cutoff", "5"), "cutoff"),
            (("--potential.coulomb", "1/r - 1/cutoff"), "Coulomb function"),
        ):
            said = self.refused("--qm.reference", made, *words)
            self.assertIn(what, said)
        other = self.folder / "other"
        other.mkdir()
        box = make_box(other, waters=70)
        said = self.refused("--qm.reference", made, sections=self.settings() | box)
        self.assertIn("cannot be used here", said)

    def test_a_run_whose_reference_is_lost(self):
        folder = self.folder / "run"
        config = self.config(**self.settings())
        program.simulate(config, folder, env=MODEL)
        copy = (folder / "reference.h5").read_bytes()
        (folder / "reference.h5").write_bytes(copy[: len(copy) // 2])
        result = program.start("resume", folder, "--steps", "4000", env=MODEL)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("reference.h5", result.stderr)
        (folder / "reference.h5").write_bytes(copy)
        program.succeed("resume", folder, "--steps", "4000", env=MODEL)

    def test_engines_that_cannot(self):
        """A worker that does not say `exact`."""
        result = program.start(
            "run",
            self.config(**self.settings()),
            "--output.folder",
            self.folder / "refused",
            env=MODEL | {"STARPMC_MODEL_EXACT": "no"},
        )
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("sampling.ensemble", result.stderr)
        self.assertIn("perturbative", result.stderr)

    def test_the_published_method_is_what_it_was(self):
        """Found by the version before there was an exact ensemble."""
        config = self.config(
            **program.small_system(),
            sampling={"steps": 4000, "equilibration_steps": 500, "ensemble": "perturbative"},
        )
        for precision in ("fp64", "mixed", "fixed"):
            found = program.simulate(config, self.folder / precision, "--run.precision", precision)
            self.assertEqual(
                found["decisions_sha256"],
                "41b28d94d60533ef6eb8ac26dc0240ffc24f5883b036ca0c121f4d8d52069784",
            )
            self.assertEqual(
                found["final_coordinates_sha256"],
                "0d32731530678a476fca7105b2bc10261b9f8b4254bfd4efc268cf91f968e239",
            )

    def test_a_stored_density_is_sampled_as_ever(self):
        sections = program.small_system() | {"sampling": {"steps": 200}}
        config = self.config(**sections)
        default = program.simulate(config, self.folder / "default")
        asked = ("--sampling.ensemble", "perturbative")
        ever = program.simulate(config, self.folder / "ever", *asked)
        self.assertEqual(default["decisions_sha256"], ever["decisions_sha256"])
        log = (self.folder / "default/run.log").read_text()
        self.assertIn("frozen cannot serve the exact ensemble", log)
        for command in ("run", "check"):
            words = (
                "--sampling.ensemble",
                "exact",
                "--output.folder",
                self.folder / "refused",
            )
            result = program.start(command, config, *words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("sampling.ensemble", result.stderr)
            self.assertIn("needs a QM program", result.stderr)

    def test_references_of_others(self):
        """Of each the message names the option, the file, what differs and the remedy."""
        program.simulate(self.config(**self.settings()), self.folder / "made", env=MODEL)
        made = self.folder / "made/reference.h5"
        whole = made.read_bytes()
        cut = self.folder / "cut.h5"
        for part in range(20):
            cut.write_bytes(whole[: part * len(whole) // 20])
            for command in ("run", "energy", "check"):
                if command != "run" and part % 7:
                    continue
                words = ("--qm.reference", cut, "--output.folder", self.folder / "refused")
                result = program.start(command, self.config(**self.settings()), *words, env=MODEL)
                self.assertEqual(result.returncode, 2, (command, part, result.stderr))
                for text in ("qm.reference", "not a complete reference density", "cut.h5", "remedy:"):
                    self.assertIn(text, result.stderr, (command, part))
                self.assertFalse((self.folder / "refused").exists())
        for words, what in (
            (("--qm.charge", "1", "--qm.multiplicity", "2"), "charge is 0, here it is 1"),
            (("--qm.density-fitting", "false"), "density fitting is true, here it is false"),
            (("--qm.scf-grid-radial", "40"), "radial shells"),
        ):
            with self.subTest(what):
                said = self.refused("--qm.reference", made, *words)
                for text in ("qm.reference", "reference.h5", "cannot be used here", what):
                    self.assertIn(text, said)
        for engine in ("frozen", "none"):
            with self.subTest(engine):
                said = self.refused("--qm.engine", engine)
                self.assertIn("qm.engine", said)
                self.assertIn(f"found '{engine}'", said)


if __name__ == "__main__":
    program.main()
