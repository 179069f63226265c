"""A run that is given more steps is the one that would have made them all from the start.

    python3 test_more_steps.py PROGRAM
"""

import time

import program
import test_resume

MORE = 2 * test_resume.STEPS


class Longer(test_resume.Resume):
    def run_steps(self, folder, steps, *options):
        """summary.json"""
        words = ("--sampling.steps", steps, *test_resume.IMPLEMENTATION, *options)
        return program.simulate(self.small, folder, *words)

    def extend(self, folder, steps, *options):
        program.succeed("resume", folder, "--steps", steps, *options)
        return self.summary(folder)

    def expect_equal(self, folder, steps=MORE):
        """To the last bit."""
        summary = self.summary(folder)
        self.assertEqual(
            test_resume.results(folder, summary),
            test_resume.results(self.whole, self.summary(self.whole)),
        )
        for chain in summary.get("chains", [summary]):
            self.assertEqual(chain["steps"], steps)

    def expect_same(self, folder):
        """Where a part ended within a window of steps, the sums of the energies have other last
        bits."""
        for one, other in zip(self.parts(folder), self.parts(self.whole), strict=True):
            *exact, averages, _, _, _, _, frames = one
            *expected, expected_averages, _, _, _, _, expected_frames = other
            self.assertEqual((exact, frames), (expected, expected_frames))
            self.expect_close(averages, expected_averages)
        summaries = [self.summary(path) for path in (folder, self.whole)]
        for name in ("total_energy", "pressure_bar"):
            self.expect_close(*(summary.get(name) for summary in summaries))
        tables = [
            [line.split(",") for line in path.read_text().splitlines() if line[0].isdigit()]
            for path in (
                base / ("chain-0" if self.chains > 1 else "") / "energies.csv"
                for base in (folder, self.whole)
            )
        ]
        self.assertEqual([row[0] for row in tables[0]], [row[0] for row in tables[1]])
        for row, other in zip(*tables, strict=True):
            self.expect_close(
                [float(cell or 0) for cell in row], [float(cell or 0) for cell in other]
            )

    def parts(self, folder):
        return test_resume.results(folder, self.summary(folder))[0]

    def expect_close(self, one, other):
        if isinstance(one, dict):
            self.assertEqual(one.keys(), other.keys())
            one, other = list(one.values()), [other[name] for name in one]
        if isinstance(one, list):
            self.assertEqual(len(one), len(other))
            for pair in zip(one, other, strict=True):
                self.expect_close(*pair)
        elif isinstance(one, float):
            self.assertAlmostEqual(one, other, delta=1e-5 * max(1, abs(other)))
        else:
            self.assertEqual(one, other)


class Finished(Longer):
    def setUp(self):
        super().setUp()
        self.run_steps(self.whole, MORE)
        self.out = self.folder / "longer"
        self.run_steps(self.out, test_resume.STEPS)

    def test_equal(self):
        before = (self.out / "summary.json").read_bytes()
        self.extend(self.out, MORE)
        self.expect_equal(self.out)
        self.assertGreater(self.summary(self.out)["total_energy"]["r_hat"], 1)
        self.assertEqual((self.out / "summary.json.aside-1").read_bytes(), before)
        self.assertIn("summary.json.aside-1", (self.out / "run.log").read_text())

    def test_by_and_by_and_killed(self):
        """In odd parts, which end within blocks of samples and between two updates."""
        self.extend(self.out, test_resume.STEPS + 777)
        process = self.start_process(
            "resume", self.out, f"--steps={MORE}", "--output.checkpoint-interval", 0.1
        )
        checkpoint = self.out / "chain-0" / "checkpoint.cbor"
        written = checkpoint.stat().st_mtime_ns
        while checkpoint.stat().st_mtime_ns == written and process.poll() is None:
            time.sleep(0.01)
        self.kill(process)
        if not (self.out / "summary.json").exists():
            self.finish(self.resume(self.out))  # knows how many steps it has to make
        self.expect_same(self.out)

    def test_unfinished(self):
        folder = self.folder / "unfinished"
        process = self.start_process(
            "run", self.small, "--output.folder", folder, *test_resume.IMPLEMENTATION,
            "--sampling.steps", MORE - 1,
        )  # fmt: skip
        while not (folder / "chain-0" / "checkpoint.cbor").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        self.kill(process)
        self.extend(folder, MORE)
        self.expect_equal(folder)

    def test_refused(self):
        before = test_resume.content(self.out)
        steps = test_resume.STEPS
        for words in (("--steps", steps), ("--steps", steps - 1), ("--sampling.steps", 5)):
            result = program.start("resume", self.out, *words)
            self.assertEqual(result.returncode, 2, result.stderr)
            for part in ("--sampling.steps", f"has made {steps} steps", "larger number"):
                self.assertIn(part, result.stderr)
        result = program.start("resume", self.out)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--steps N", result.stderr)
        # Whoever writes fewer into settings.cfg is told so, too.
        settings = self.out / "settings.cfg"
        text = settings.read_text()
        self.assertEqual(test_resume.content(self.out), before)
        self.assertIn(f"steps = {steps}", text)
        (self.out / "summary.json").unlink()
        settings.write_text(text.replace(f"\nsteps = {steps}", f"\nsteps = {steps - 1}"))
        result = program.start("resume", self.out)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(f"found '{steps - 1}'", result.stderr)


class AutomaticEquilibration(Longer):
    chains = 1

    def setUp(self):
        super().setUp()
        self.small = self.config(
            **program.plain_system("argon/argon"),
            sampling={"steps": 1, "equilibration_steps": "auto", "chains": self.chains},
            output={"energy_interval": 50, "trajectory_interval": 5000},
        )

    def test_settled(self):
        """Where it ended does not depend on the number of steps."""
        steps = 120000
        whole = self.run_steps(self.whole, steps)
        settled = whole["equilibration_steps"]
        self.assertEqual(whole["equilibration_end"], "settled")
        out = self.folder / "longer"
        self.run_steps(out, settled + 50)
        self.extend(out, steps)
        self.expect_same(out)
        self.assertNotIn("was ended after", (out / "run.log").read_text())

    def test_cut_off(self):
        """Production goes on from where it began, and the log says what is different."""
        out = self.folder / "longer"
        first = self.run_steps(out, 3000)
        self.assertEqual(first["equilibration_end"], "not settled")
        table = (out / "energies.csv").read_text()
        summary = self.extend(out, 5000)
        self.assertEqual((summary["equilibration_steps"], summary["steps"]), (3000, 5000))
        self.assertTrue((out / "energies.csv").read_text().startswith(table))
        self.assertRegex(
            (out / "run.log").read_text(),
            "warning: chain 0: its equilibration was ended after 3000 steps",
        )


class EndedEarly(program.TestCase):
    def test_refused(self):
        config = self.config(**program.ended_early(chains=2))
        out = self.folder / "out"
        steps = program.simulate(config, out)["chains"][0]["steps"]
        result = program.start("resume", out, "--steps", 3000000)
        self.assertEqual(result.returncode, 2, result.stderr)
        for part in ("until-error", f"found '{steps}'", str(out / "summary.json")):
            self.assertIn(part, result.stderr)
        self.assertTrue((out / "summary.json").exists())


if __name__ == "__main__":
    program.main()
