"""The chain is a function of system, settings and seed alone: precisions, windows, implementations,
schedulers, workers and the cutting of the work into tasks change neither a decision nor a final
coordinate.

    python3 test_decisions.py PROGRAM
"""

import program

STEPS = 2000
OPENCL = {"STARPU_OPENCL_ON_CPUS": 1}
GAS_STEPS = 20000


def outcome(summary):
    return summary["decisions_sha256"], summary["final_coordinates_sha256"]


def implementations(summary):
    """Of the kernels; the QM update is the host's."""
    timings = summary["codelet_timings"]
    return {t["implementation"] for t in timings if "qm_update" not in t["codelet"]}


class Decisions(program.TestCase):
    """Formaldehyde in 64 waters, engine frozen."""

    @classmethod
    def setUpClass(cls):
        cls.missing = program.opencl_missing()
        cls.expected = None

    def setUp(self):
        super().setUp()
        self.small = self.config(
            **program.small_system(),
            sampling={"steps": STEPS, "seed": 20240229},
            run={"precision": "fp64"},
            output={"trajectory_interval": STEPS},
        )
        if Decisions.expected is None:
            summary = self.run_small("first")
            self.assertGreater(summary["acceptance"], 0.1)
            self.assertLess(summary["acceptance"], 0.9)
            Decisions.expected = outcome(summary)

    def run_small(self, folder, *options, **env):
        return program.simulate(self.small, self.folder / folder, *options, env=env)

    def check(self, name, *options, **env):
        with self.subTest(name):
            summary = self.run_small(name.replace(" ", "-"), *options, **env)
            self.assertEqual(outcome(summary), Decisions.expected)
            print(f"{name}: {summary['wall_seconds']:.1f} s")
            return summary

    def check_implementation(self, name, expected, *options, **env):
        summary = self.check(name, *options, **env)
        if summary:
            self.assertEqual(implementations(summary), expected)
        return summary

    def test_windows(self):
        for window in (1, 7, 100):
            self.check(f"window {window}", "--sampling.window", window)

    def test_implementations(self):
        for name in ("scalar", "simd"):
            self.check_implementation(name, {name}, "--run.implementation", name)

    def test_opencl(self):
        if self.missing:
            self.skipTest(self.missing)
        option = ("--run.implementation", "opencl")
        self.check_implementation("opencl", {"opencl"}, *option)
        self.check_implementation(
            "opencl in windows of 7", {"opencl"}, *option, "--sampling.window", 7
        )

    def test_pocl_alone(self):
        if self.missing:
            self.skipTest(self.missing)
        summary = self.check_implementation(
            "pocl alone", {"opencl"}, "--run.implementation", "opencl", **OPENCL, STARPU_NCPU=0
        )
        if summary:
            self.assertEqual(len(summary["worker_tasks"]), 1, summary["worker_tasks"])

    def test_pocl_with_cpus(self):
        if self.missing:
            self.skipTest(self.missing)
        for scheduler in ("dmda", "eager"):
            summary = self.check(f"pocl and cpus {scheduler}", **OPENCL, STARPU_SCHED=scheduler)
            if summary:
                self.assertGreater(len(summary["worker_tasks"]), 1, summary["worker_tasks"])
                print(summary["worker_tasks"])

    def test_schedulers(self):
        for scheduler in ("eager", "lws", "dmda"):
            self.check(scheduler, STARPU_SCHED=scheduler)

    def test_one_cpu(self):
        summary = self.check("one cpu", STARPU_NCPU=1)
        self.assertEqual(len(summary["worker_tasks"]), 1)

    def test_grid_blocks(self):
        for blocks in (1, 3):
            self.check(f"{blocks} blocks", "--run.grid-blocks", blocks)

    def test_tasks(self):
        for tasks in ("terms", "windows"):
            self.check(f"tasks {tasks}", "--run.tasks", tasks)

    def check_certified(self, name, *options, **env):
        summary = self.check(name, *options, **env)
        if summary:
            certified = summary["certified_decisions"]
            self.assertTrue(certified["active"])
            self.assertGreater(certified["steps_evaluated_again"], 0)
            self.assertLess(certified["steps_evaluated_again"], 0.05 * STEPS)
            self.assertGreater(certified["largest_error_in_bounds"], 0)
            self.assertLess(certified["largest_error_in_bounds"], 0.5)

    def test_precisions(self):
        for precision in ("mixed", "fixed"):
            option = ("--run.precision", precision)
            for name in ("scalar", "simd"):
                self.check_certified(f"{name} {precision}", *option, "--run.implementation", name)
            if not self.missing:
                for tasks in ("terms", "windows"):
                    self.check_certified(
                        f"opencl {precision} {tasks}", *option, "--run.implementation", "opencl",
                        "--run.tasks", tasks,
                    )
            for window in (1, 50, "auto"):
                self.check_certified(f"{precision} window {window}", *option, "--sampling.window",
                                     window)
            for scheduler in ("eager", "lws", "dmda"):
                for tasks in ("terms", "windows"):
                    self.check_certified(f"{precision} {scheduler} {tasks}", *option,
                                         "--run.tasks", tasks, STARPU_SCHED=scheduler)
            self.check_certified(f"{precision} one cpu", *option, STARPU_NCPU=1)
            self.check_certified(f"{precision} 3 blocks", *option, "--run.grid-blocks", 3)

    def test_not_certified(self):
        """The switch works: nothing is evaluated again."""
        summary = self.run_small("not certified", "--run.precision", "mixed",
                                 "--sampling.certified", "false")
        self.assertFalse(summary["certified_decisions"]["active"])
        self.assertEqual(summary["certified_decisions"]["steps_evaluated_again"], 0)

    def test_equilibration(self):
        """Tuned step sizes are part of the chain, several times in one task, too."""
        options = ("--sampling.equilibration-steps", 600, "--sampling.tune-interval", 50)
        results = {
            outcome(self.run_small(f"tuned-{window}", *options, "--sampling.window", window))
            for window in ("auto", 1, 100)
        }
        for implementation in ("scalar",) if self.missing else ("scalar", "opencl"):
            results.add(outcome(self.run_small(f"tuned-{implementation}", *options,
                                               "--run.implementation", implementation)))
        self.assertEqual(len(results), 1, results)
        self.assertNotEqual(results, {Decisions.expected})

    def test_interval_of_updates(self):
        """A stored density cannot change: nothing is made at an interval, one potential in all."""
        self.check("updates", "--qm.interval", 70)
        summary = self.run_small("once", "--qm.interval", 70)
        self.assertEqual([update["step"] for update in summary["qm_updates"]], [0])
        tasks = {t["codelet"].split("<")[0]: t["count"] for t in summary["codelet_timings"]}
        self.assertEqual(sum(n for name, n in tasks.items() if "qm_update" in name), 1, tasks)


class Gas(program.TestCase):
    """Moves anywhere in the box: most overlap with something, by up to 1e24 kJ/mol."""

    def test_windows(self):
        config = self.config(
            **program.plain_system("nist/lj_2"),
            interaction={"coulomb_cutoff": 3},
            sampling={"steps": GAS_STEPS, "temperature": 300, "max_translation": 4},
            run={"precision": "fp64"},
            output={"trajectory_interval": GAS_STEPS},
        )
        summaries = {
            window: program.simulate(
                config, self.folder / f"gas-{window}", "--sampling.window", window
            )
            for window in (1, 50, 200)
        }
        for precision in ("mixed", "fixed"):
            summary = program.simulate(
                config, self.folder / f"gas-{precision}", "--run.precision", precision
            )
            self.assertEqual(outcome(summary), outcome(summaries[1]), precision)
        for window, summary in summaries.items():
            with self.subTest(window=window):
                self.assertEqual(outcome(summary), outcome(summaries[1]))
                self.assertLess(abs(summary["drift"]["mm_vdw"]), 1e-9)


if __name__ == "__main__":
    program.main()
