"""One chain shared by several devices (--run.tasks team): the decisions of one device alone, and between
the devices nothing but what they found with their parts of the density.

    python3 test_team.py PROGRAM
"""

import pathlib
import sys

import program

STEPS = 3000
WINDOW = 50
TEAM = ("--run.tasks", "team", "--run.implementation")
TWO_DEVICES = {
    "STARPU_OPENCL_ON_CPUS": 1,
    # Two of PoCL 3.1's basic devices end each other's binaries now and then.
    "POCL_DEVICES": "basic pthread",
    "POCL_MAX_PTHREAD_COUNT": 1,
    "STARPU_NOPENCL": 2,
    "STARPU_NCPU": 0,
}
DEVICE_AND_CORE = TWO_DEVICES | {"POCL_DEVICES": "basic", "STARPU_NOPENCL": 1, "STARPU_NCPU": 1}
TWO_CORES = {"STARPU_NCPU": 2, "STARPU_NOPENCL": 0}
ONE_CORE = {"STARPU_NCPU": 1, "STARPU_NOPENCL": 0}
# Doubles of a step in the record that the host reads: whether it was accepted, and the energies.
RECORD = 2 + len(program.TERMS)


def outcome(summary):
    return summary["decisions_sha256"], summary["final_coordinates_sha256"]


def tasks_of_team(summary):
    """By worker; a device that is no member has none."""
    return [worker["tasks"] for worker in summary["worker_tasks"] if worker["tasks"] > 0]


def timings_of_team(summary):
    return [t for t in summary["codelet_timings"] if "team_window" in t["codelet"]]


class Team(program.TestCase):
    """What tests of a system have in common."""

    def setUp(self):
        super().setUp()
        self.folders = 0
        self.small = self.config(
            **program.small_system(),
            sampling={"steps": STEPS, "seed": 5, "window": WINDOW},
            output={"trajectory_interval": 700, "energy_interval": 20},
        )

    def run_small(self, name, *options, **env):
        return program.simulate(self.small, self.folder / name, *options, env=env)

    def alone(self, *options):
        self.folders += 1
        return self.run_small(f"alone-{self.folders}", *options, "--run.implementation", "simd",
                              "--run.tasks", "windows", **ONE_CORE)  # fmt: skip

    def check(self, name, expected, implementation, environment, *options, members=2):
        with self.subTest(name):
            summary = self.run_small(name.replace(" ", "-"), *TEAM, implementation, *options,
                                     **environment)  # fmt: skip
            self.assertEqual(outcome(summary), outcome(expected))
            self.assertEqual(len(tasks_of_team(summary)), members, summary["worker_tasks"])
            self.assertTrue(timings_of_team(summary), summary["codelet_timings"])
            return summary

    def skip_without_opencl(self):
        if missing := program.opencl_missing():
            self.skipTest(missing)


class Devices(Team):
    """Formaldehyde with a stored density in 64 waters."""

    def test_decisions(self):
        self.skip_without_opencl()
        for precision in ("mixed", "fp64", "fixed"):
            option = ("--run.precision", precision)
            expected = self.alone(*option)
            self.check(f"two devices {precision}", expected, "opencl", TWO_DEVICES, *option)
            self.check(f"device and core {precision}", expected, "any", DEVICE_AND_CORE, *option)

    def test_windows_of_any_length(self):
        self.skip_without_opencl()
        expected = self.alone()
        for window in (1, 7, 200):
            option = ("--sampling.window", window, "--sampling.steps", STEPS)
            self.check(f"window {window}", expected, "opencl", TWO_DEVICES, *option)

    def test_same_bytes_on_cores(self):
        expected = self.alone()
        self.check("two cores", expected, "simd", TWO_CORES)
        tables = [(self.folder / name / "energies.csv").read_bytes() for name in ("alone-1", "two-cores")]
        self.assertEqual(*tables)
        self.check("two plain cores", expected, "scalar", TWO_CORES, "--sampling.steps", STEPS)

    def test_many_doubts(self):
        """Among molecules that overlap decisions are hard to tell: most steps of a cold system."""
        self.skip_without_opencl()
        option = ("--sampling.temperature", 30, "--sampling.max-translation", 0.002)
        option += ("--sampling.max-rotation", 0.2)
        expected = self.alone(*option)
        again = expected["certified_decisions"]["steps_evaluated_again"]
        self.assertGreater(again, STEPS / WINDOW)
        for name, implementation, workers in (("two devices", "opencl", TWO_DEVICES),
                                              ("device and core", "any", DEVICE_AND_CORE)):
            self.check(f"{name} in doubt", expected, implementation, workers, *option)

    def test_frames_virials_and_tuning(self):
        self.skip_without_opencl()
        option = ("--sampling.equilibration-steps", 1000, "--sampling.tune-interval", 130)
        option += ("--output.pressure-interval", 420)
        expected = self.alone(*option)
        self.check("two devices tuned", expected, "opencl", TWO_DEVICES, *option)

    def test_nothing_but_partial_sums_travels(self):
        self.skip_without_opencl()
        window = 20  # so short that no molecule's visits close it early
        options = ("--output.trajectory-interval", 10**6, "--output.energy-interval", 1000)
        options += ("--sampling.window", window, "--sampling.steps")

        def travelled(steps):
            summary = self.run_small(f"{steps}", *TEAM, "opencl", *options, steps, **TWO_DEVICES)
            return summary["schedule"]["bytes_between_memories"]

        # At first it is found out how a window is shared out best: by how long it takes, so either run
        # may cut the density up to four times more than the other. Over 7,200 windows that is at most
        # some 150 bytes each.
        few, many = 2 * STEPS, 50 * STEPS
        each = (travelled(many) - travelled(few)) * window / (many - few)
        # The energies of each device: to the host, and their sums back, of a candidate each step at least.
        exchanged = 2 * 2 * 8
        least, most = (exchanged * n + 8 * RECORD * window for n in (window, 2 * window + 2))
        print(f"{each:.0f} bytes a window, {least} to {most} expected")
        # Coordinates and caches of 64 waters would be 12,000 more.
        self.assertGreater(each, 0.9 * least)
        self.assertLess(each, 1.1 * most)

    def test_one_worker_is_no_team(self):
        expected = self.alone()
        summary = self.run_small("one", *TEAM, "simd", **ONE_CORE)
        self.assertEqual(outcome(summary), outcome(expected))
        self.assertFalse(timings_of_team(summary))

    def test_tried_unasked(self):
        """Windows by one device alone and by both, in turn: each takes the state over from the other."""
        self.skip_without_opencl()
        # Windows so short that all tries fit, and so dear that a try is worth it.
        options = ("--sampling.window", 16, "--sampling.steps", 24000, "--run.precision", "fp64")
        expected = self.alone(*options)
        summary = self.run_small("tried", "--run.tasks", "auto", "--run.implementation", "opencl",
                                 *options, **TWO_DEVICES)  # fmt: skip
        self.assertEqual(outcome(summary), outcome(expected))
        log = (self.folder / "tried" / "run.log").read_text()
        self.assertRegex(log, r"one chain on 2 workers.*us a step, [\d.]+ alone")

    def test_several_chains_are_no_teams(self):
        """Two teams could each wait for a worker that the other one has."""
        chains = ("--sampling.chains", 2)
        expected = self.alone(*chains)
        summary = self.run_small("chains", *TEAM, "simd", *chains, **TWO_CORES)
        for ours, theirs in zip(summary["chains"], expected["chains"], strict=True):
            self.assertEqual(outcome(ours), outcome(theirs))
        self.assertFalse(timings_of_team(summary))

    def test_uncertified_is_no_team(self):
        summary = self.run_small("uncertified", *TEAM, "simd", "--sampling.certified", "false",
                                 **TWO_CORES)  # fmt: skip
        self.assertFalse(timings_of_team(summary))


class Updates(Team):
    """The density changes and with it each device's part; energies are computed anew."""

    def setUp(self):
        super().setUp()
        system = program.small_system()
        system["qm"] = {"engine": "pyscf", "python": sys.executable, "interval": 350}
        self.small = self.config(
            **system,
            sampling={"steps": STEPS, "seed": 5, "window": WINDOW, "ensemble": "perturbative"},
            output={"trajectory_interval": 700, "energy_interval": 20},
        )

    def run_small(self, name, *options, **env):
        workers = pathlib.Path(__file__).resolve().parent / "cloudy_workers"
        return super().run_small(name, *options, STARPMC_WORKERS=workers, **env)

    def test_updates(self):
        expected = self.alone()
        self.assertEqual(len(expected["qm_updates"]), 1 + (STEPS - 1) // 350)
        self.check("two cores", expected, "simd", TWO_CORES)
        self.skip_without_opencl()
        with_cpu = DEVICE_AND_CORE  # for the updates
        self.check("device and core", expected, "any", with_cpu)


if __name__ == "__main__":
    program.main()
