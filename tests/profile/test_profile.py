"""`starpmc profile` as a user runs it, with the model path whose free energies are known by
quadrature.

usage: test_profile.py PROGRAM [TEST ...]
"""

import csv
import importlib.util
import json
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

try:
    import model_path
    import numpy as np

    if importlib.util.find_spec("pymbar") is None:
        raise ImportError("no pymbar")
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(program.SKIPPED)

WORKERS = pathlib.Path(__file__).resolve().parent / "model_workers"
MODEL = {"STARPMC_WORKERS": WORKERS}
BOX, TEMPERATURE = 14.0, 400.0


def table(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class ProfileCase(program.TestCase):
    def settings(self, places, **sampling):
        model_path.write_path(self.folder / "path.xyz", places)
        return {
            "system": model_path.write_box(self.folder, BOX, np.array([7.0, 11.5, 7.0])),
            "profile": {"path": self.folder / "path.xyz"},
            "sampling": {
                "ensemble": "exact",
                "temperature": TEMPERATURE,
                "steps": 30000,
                "equilibration_steps": 2000,
                "seed": 5,
                "max_translation": 4,
                "tune_interval": 10**9,
            }
            | sampling,
            "qm": {
                "engine": "pyscf",
                "python": sys.executable,
                "interval": 150,
                "configurations": 12,
                "response_components": 3,
                "charge_threshold": 0,
            },
            "output": {"energy_interval": 1000, "trajectory_interval": 30},
        }

    def profile(self, config, folder, *words, env=None):
        program.succeed(
            "profile", config, "--output.folder", folder, *words, env=MODEL | (env or {}),
            timeout=900,
        )
        return table(folder / "profile.csv")


class KnownAnswer(ProfileCase):
    def assert_as_expected(self, rows, expected):
        found, errors = (
            np.array([float(row[key]) for row in rows]) for key in ("free_energy", "error")
        )
        said = f"{found} +- {errors}, expected {expected}"
        print(said)
        self.assertEqual(found[0], 0)
        self.assertLess(errors.max(), 0.25, said)
        self.assertGreater(errors[1:].min(), 0.005, said)
        self.assertLess((np.abs(found - expected)[1:] / errors[1:]).max(), 3.5, said)

    def test_as_by_quadrature(self):
        places = np.linspace(0, 1, 5)
        rows = self.profile(self.config(**self.settings(places)), self.folder / "profile")
        self.assert_as_expected(rows, model_path.free_energies(places, BOX, TEMPERATURE))
        isolated = [float(row["isolated_energy"]) for row in rows]
        np.testing.assert_allclose(isolated, [0, 4.75, 9.5, 2.25, -5], atol=1e-4)

    def test_a_wrong_response_is_made_up_for(self):
        """It changes the sampled Hamiltonian, and the step to the true one takes that back."""
        places = [0, 0.5, 1]
        sections = self.settings(places)
        rows = self.profile(
            self.config(**sections), self.folder / "profile",
            env={"STARPMC_MODEL_RESPONSE": "2 3"},
        )
        self.assert_as_expected(rows, model_path.free_energies(places, BOX, TEMPERATURE))
        for row in rows:
            step, error = (
                abs(float(row[name]))
                for name in ("reference_correction", "reference_correction_error")
            )
            self.assertGreater(step, 4 * error)

    def test_closed_cycle(self):
        """There and back again, with other configurations and references."""
        places = [0, 0.5, 1, 0.5, 0]
        rows = self.profile(
            self.config(**self.settings(places, steps=20000)), self.folder / "profile"
        )
        self.assert_as_expected(rows, model_path.free_energies(places, BOX, TEMPERATURE))
        self.assertNotEqual(rows[0]["dipole"], rows[4]["dipole"])
        # From neighbour to neighbour, so that the two equal ends know nothing of each other.
        steps = [float(row["reference_correction"]) for row in rows]
        around = sum(float(row["bar_to_next"]) for row in rows[:-1]) + steps[4] - steps[0]
        squares = sum(float(row["bar_to_next_error"]) ** 2 for row in rows[:-1])
        print(f"around the cycle: {around} +- {squares**0.5}")
        self.assertLess(abs(around), 3.5 * squares**0.5)


class GoingOn(ProfileCase):
    def small(self, **sampling):
        return self.config(**self.settings([0, 0.2, 0.4], steps=6000, **sampling))

    def test_killed_or_failed(self):
        """The same profile to the bit."""
        config = self.small()
        self.profile(config, self.folder / "whole")
        words = ["profile", config, "--output.folder", self.folder / "part"]
        killed = 0
        for image in ("image-01", "image-02"):
            process = subprocess.Popen(
                [str(program.PROGRAM), *map(str, words), "--output.checkpoint-interval", "0.1"],
                env=program.environment(**MODEL), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            begun = self.folder / "part" / image / "blocks.csv"
            while process.poll() is None and not begun.exists():
                time.sleep(0.01)
            time.sleep(0.2)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                killed += 1
            process.wait()
        self.assertGreater(killed, 0)
        self.profile(config, self.folder / "part")
        for name in ("profile.csv", "image-01/dhdl.xvg", "image-03/dhdl.xvg"):
            one, other = (
                (self.folder / which / name).read_bytes() for which in ("whole", "part")
            )
            self.assertEqual(one, other, name)

    def test_an_scf_fails(self):
        config = self.config(**self.settings([0.4, 0.5, 0.62], steps=6000))
        result = program.start(
            "profile", config, "--output.folder", self.folder / "failed",
            env=MODEL | {"STARPMC_MODEL_FAILS": "5"},
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        for part in ("image 3 of 3", "told to fail", "solute.xyz", "kept", "starpmc profile"):
            self.assertIn(part, result.stderr)
        self.assertTrue((self.folder / "failed/image-02/summary.json").exists())
        before = (self.folder / "failed/image-02/summary.json").stat().st_mtime_ns
        self.assertEqual(len(self.profile(config, self.folder / "failed")), 3)
        after = (self.folder / "failed/image-02/summary.json").stat().st_mtime_ns
        self.assertEqual(before, after)

    def test_until_error(self):
        config = self.small()
        folder = self.folder / "made"
        self.profile(config, folder)
        first = json.loads((folder / "profile.json").read_text())
        wanted = 0.75 * first["largest_error"]
        self.profile(config, folder, "--profile.until-error", wanted)
        then = json.loads((folder / "profile.json").read_text())
        self.assertLessEqual(then["largest_error"], wanted)
        steps = json.loads((folder / "profile-steps.json").read_text())
        self.assertGreater(max(steps), 6000)
        for row, given in zip(table(folder / "profile.csv"), steps, strict=True):
            summary = json.loads((folder / f"image-0{row['image']}/summary.json").read_text())
            self.assertEqual(summary["steps"], given)


class BadInput(ProfileCase):
    def refused(self, says, path=None, status=2, folder="refused", **changes):
        sections = self.settings([0, 0.2, 0.4], steps=3000)
        for section, values in changes.items():
            sections[section] |= values
        if path is not None:
            (self.folder / "path.xyz").write_text(path)
        result = program.start(
            "profile", self.config(**sections), "--output.folder", self.folder / folder, env=MODEL
        )
        self.assertEqual(result.returncode, status, result.stderr)
        for part in (*says, "remedy:"):
            self.assertIn(part, result.stderr)

    def test_paths(self):
        frame = "3\n\n{} 0 0 {}\n{} 0 0 0\nO 0 0 -1.4\n"
        good = frame.format("S", 1.4, "C")
        self.refused(["at least two images"], path=good)
        self.refused(["atom 1 of image 2", "same order"], path=good + frame.format("C", 1.4, "S"))
        self.refused(["image 1 to image 2", "more images"], path=good + frame.format("S", 6, "C"))
        other = frame.format("S", 1.4, "O") + frame.format("S", 1.5, "O")
        self.refused(["atom 2 is C in the QM molecule"], path=other)
        four = "4\n\nS 0 0 1.4\nC 0 0 0\nO 0 0 -1.4\nO 0 0 -3\n"
        self.refused(["4 instead of 3"], path=2 * four)
        far = frame.format("S", 6, "C") + frame.format("S", 6.1, "C")
        self.refused(["no image is like the QM molecule", "image 1"], path=far)

    def test_configurations(self):
        self.refused(["profile.path", "starpmc path"], profile={"path": ""})
        self.refused(["sampling.ensemble"], sampling={"ensemble": "perturbative"})
        self.refused(["trajectory-interval", "at least 20"], output={"trajectory_interval": 1000})
        self.refused(["qm.charge"], qm={"charge": 1})
        self.assertFalse((self.folder / "refused").exists())

    def test_a_folder_of_another_profile(self):
        folder = self.folder / "first"
        self.profile(self.config(**self.settings([0, 0.2], steps=3000)), folder)
        self.refused(["holds a profile whose sampling.seed is 5"], folder="first",
                     sampling={"seed": 6})
        self.refused(["another path"], folder="first")


class Estimates(program.TestCase):
    def test_neighbours_without_overlap(self):
        """Two harmonic ensembles far from each other."""
        sys.path.insert(0, str(program.REPOSITORY / "src/profile"))
        import estimates
        import profile_files

        rng = np.random.default_rng(1)
        images = []
        for own, centre in enumerate((0.0, 60.0)):
            x = rng.normal(centre, 1, 400)
            energies = np.stack([x**2 / 2, (x - 60) ** 2 / 2], axis=1)
            chain = profile_files.Chain(
                1 + np.arange(400), energies - energies[:, own : own + 1], 10 * np.arange(41),
                np.zeros(41), np.ones(41, bool),
            )
            images.append(profile_files.Image(f"image-0{own + 1}", own, 0, 0, [chain], {}))
        profile = profile_files.Profile("", "", 300, 1.0, images)
        with self.assertRaisesRegex(profile_files.ProfileError, "image-01 and image-02.*overlap"):
            estimates.estimate(profile)

    def test_harmonic_ensembles(self):
        """Free energies -kT/2 ln(1/k); differences of true and sampled energy that are known."""
        sys.path.insert(0, str(program.REPOSITORY / "src/profile"))
        import estimates
        import profile_files

        rng = np.random.default_rng(2)
        constants, kt, count = np.array([1.0, 1.5, 2.2]), 2.0, 20000
        images = []
        for own, constant in enumerate(constants):
            x = rng.normal(0, np.sqrt(kt / constant), count)
            energies = constants * x[:, None] ** 2 / 2
            # The true Hamiltonian has 1.2 times the constant; its samples are at the block ends.
            ends = rng.normal(0, np.sqrt(kt / (1.2 * constant)), count)
            chain = profile_files.Chain(
                1 + np.arange(count), energies - energies[:, own : own + 1], np.arange(count + 1),
                own + 0.2 * constant * np.append(0, ends) ** 2 / 2, np.ones(count + 1, bool),
            )
            images.append(profile_files.Image(f"image-0{own + 1}", own, 0, 0, [chain], {}))
        found = estimates.estimate(profile_files.Profile("", "", 300, kt, images))
        sampled = kt / 2 * np.log(constants / constants[0])
        np.testing.assert_allclose(found.sampled, sampled, atol=0.04)
        np.testing.assert_allclose(found.free_energy, sampled + np.arange(3), atol=0.06)
        steps = [step.energy for step in found.steps]
        np.testing.assert_allclose(steps, np.arange(3) + kt / 2 * np.log(1.2), atol=0.04)
        np.testing.assert_allclose(found.neighbours[:, 0], np.diff(sampled), atol=0.04)
        self.assertLess(found.error[1:].max(), 0.05)

    def test_blocks_shorter_than_memory(self):
        """Their frames are nearer to the true ensemble than to the sampled one, from which BAR would
        take them without their weights. Moves that preserve the sampled ensemble, and the test at
        the ends of blocks, as the program does it."""
        sys.path.insert(0, str(program.REPOSITORY / "src/profile"))
        import estimates
        import profile_files

        constants, kt, blocks, length = np.array([1.0, 1.6]), 2.0, 30000, 4
        images = [
            profile_files.Image(f"image-0{own + 1}", own, 0, 0, [harmonic_chain(
                constants, own, kt, blocks, length, np.random.default_rng(own))], {})
            for own in range(2)
        ]  # fmt: skip
        found = estimates.estimate(profile_files.Profile("", "", 300, kt, images))
        sampled = kt / 2 * np.log(constants[1] / constants[0])
        expected = kt / 2 * np.log(constants[1] * TRUE[1] / (constants[0] * TRUE[0]))
        said = f"{found.sampled[1]}, {found.free_energy[1]} +- {found.error[1]}, expected {expected}"
        print(said)
        self.assertLess(found.error[1], 0.03, said)
        self.assertLess(abs(found.sampled[1] - sampled) / found.error[1], 3.5, said)
        self.assertLess(abs(found.free_energy[1] - expected) / found.error[1], 3.5, said)
        # What the weights are for: without them the same frames are wrong by far more.
        for image in images:
            image.chains[0].block_differences = np.zeros(blocks + 1)
        unweighted = estimates.estimate(profile_files.Profile("", "", 300, kt, images)).sampled[1]
        print(f"without weights: {unweighted}, expected {sampled}")
        self.assertGreater(abs(unweighted - sampled), 5 * found.error[1])

    def test_too_few_blocks(self):
        sys.path.insert(0, str(program.REPOSITORY / "src/profile"))
        import estimates
        import profile_files

        images = [
            profile_files.Image(f"image-0{own + 1}", own, 0, 0, [harmonic_chain(
                np.array([1.0, 1.1]), own, 2.0, 4, 50, np.random.default_rng(own))], {})
            for own in range(2)
        ]  # fmt: skip
        with self.assertRaisesRegex(profile_files.ProfileError, "(?s)image-01.*blocks.*qm.interval"):
            estimates.estimate(profile_files.Profile("", "", 300, 2.0, images))


TRUE = (2.0, 0.8)  # constants of the true Hamiltonians in those of the sampled ones


def harmonic_chain(constants, own, kt, blocks, length, rng):
    """A chain of the exact ensemble of an oscillator, whose frames remember 20 others."""
    import profile_files

    memory = np.exp(-1 / 20)
    width = np.sqrt(kt / constants[own])

    def difference(x):
        return (TRUE[own] - 1) * constants[own] * x * x / 2

    x = rng.normal(0, np.sqrt(kt / (TRUE[own] * constants[own])))
    positions, differences, accepted = [], [difference(x)], [True]
    noise = rng.normal(0, width * np.sqrt(1 - memory**2), (blocks, length))
    for kicks, u in zip(noise, rng.random(blocks), strict=True):
        y = x
        for kick in kicks:
            y = memory * y + kick
            positions.append(y)
        differences.append(difference(y))
        accepted.append(bool(np.log(u) < -(difference(y) - difference(x)) / kt))
        x = y if accepted[-1] else x
    energies = constants * np.array(positions)[:, None] ** 2 / 2
    return profile_files.Chain(
        1 + np.arange(blocks * length), energies - energies[:, own : own + 1],
        length * np.arange(blocks + 1), np.array(differences), np.array(accepted),
    )  # fmt: skip


if __name__ == "__main__":
    program.main()
