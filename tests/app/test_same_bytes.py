"""energies.csv has the same bytes however the work is cut: whatever the performance models say, on
any number of cores, with windows of any length, tasks of any size and a density grid in any number
of blocks. So do the averages of summary.json.

    python3 test_same_bytes.py PROGRAM
"""

import program

STEPS = 1500
EQUILIBRATION = 300
INTERVAL = 20
PRECISIONS = ("fp64", "mixed", "fixed")

ONE_CORE = {"STARPU_NCPU": 1}
TWO_CORES = {"STARPU_NCPU": 2}
TERMS = ("--run.tasks", "terms")
WINDOWS = ("--run.tasks", "windows")

# How the work is cut: options, environment.
CUTS = {
    "two cores": ((), TWO_CORES),
    "windows of 1 step": (("--sampling.window", 1), ONE_CORE),
    "windows of 37 steps": ((*WINDOWS, "--sampling.window", 37), ONE_CORE),
    "windows of 200 steps": ((*WINDOWS, "--sampling.window", 200), TWO_CORES),
    "a task per term": (TERMS, TWO_CORES),
    "terms, windows of 90 steps": ((*TERMS, "--sampling.window", 90), TWO_CORES),
    "terms, another scheduler": (TERMS, TWO_CORES | {"STARPU_SCHED": "eager"}),
}
BLOCKS = {
    "2 blocks": (("--run.grid-blocks", 2), ONE_CORE),
    "5 blocks": (("--run.grid-blocks", 5), TWO_CORES),
}

FUNCTIONS = {
    "coulomb": "exp(-0.1*r)*(1-(r/cutoff)^2)^2/r",
    "mm_additional": "60*charge1*charge2*exp(-1.5*r)",
    "qmmm_additional": "0.3*sqrt(epsilon1*epsilon2)*exp(-(r-3)^2)",
}


class SameBytes(program.TestCase):
    def results(self, config, folder, *options, **environment):
        """energies.csv, and what summary.json makes of it."""
        summary = program.simulate(config, self.folder / folder, *options, env=environment)
        self.assertGreater(summary["acceptance"], 0.1)
        table = (self.folder / folder / "energies.csv").read_text().splitlines()
        kept = (
            "averages",
            "final_energies",
            "drift",
            "certified_decisions",
            "decisions_sha256",
            "final_coordinates_sha256",
        )
        return table, {name: summary[name] for name in kept}

    def assert_same(self, found, expected):
        for line, other in zip(found[0], expected[0], strict=True):
            self.assertEqual(line, other)
        self.assertEqual(found[1], expected[1])

    def system(self, **sections):
        return self.config(
            **{"run": {"implementation": "simd"}} | sections,
            sampling={"steps": STEPS, "seed": 7, "equilibration_steps": EQUILIBRATION},
            output={"energy_interval": INTERVAL, "trajectory_interval": STEPS},
        )

    def check(self, config, cuts, *options):
        expected = self.results(config, "expected", *options, *WINDOWS, **ONE_CORE)
        lines = [line for line in expected[0] if line[0].isdigit()]
        self.assertEqual(len(lines), 1 + (STEPS + EQUILIBRATION) // INTERVAL)
        for name, (more, environment) in cuts.items():
            with self.subTest(name, options=options):
                folder = name.replace(" ", "-")
                found = self.results(config, folder, *options, *more, **environment)
                self.assert_same(found, expected)

    def test_qm_and_mm(self):
        config = self.system(**program.small_system())
        for precision in PRECISIONS:
            self.folder = self.folder / precision
            self.folder.mkdir()
            self.check(config, CUTS | BLOCKS, "--run.precision", precision)

    def test_scalar(self):
        config = self.system(**program.small_system())
        cuts = {name: CUTS[name] for name in ("windows of 37 steps", "a task per term")}
        self.check(config, cuts | BLOCKS, "--run.implementation", "scalar")

    def test_pure_water(self):
        self.check(self.system(**program.plain_system("nist/spce_2")), CUTS)

    def test_functions_of_the_users(self):
        config = self.system(**program.small_system(), potential=FUNCTIONS)
        for precision in ("fp64", "mixed"):
            self.folder = self.folder / precision
            self.folder.mkdir()
            self.check(config, CUTS | BLOCKS, "--run.precision", precision)

    def test_performance_models(self):
        """With none at first, which are then made."""
        config = self.system(**program.small_system())
        home = {"STARPU_HOME": self.folder / "models", "XDG_CACHE_HOME": self.folder / "cache"}
        for folder in home.values():
            folder.mkdir()
        first = self.results(config, "first", **home)
        for name in ("second", "third"):
            self.assert_same(self.results(config, name, **home), first)
        self.assert_same(self.results(config, "elsewhere"), first)


if __name__ == "__main__":
    program.main()
