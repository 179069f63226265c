"""sampling.equilibration-steps = auto: production begins where the chain has settled, and at the
same step whatever computes it, window, precision, kills.

    python3 test_equilibration.py PROGRAM
"""

import unittest

try:
    import h5py
except ImportError:
    h5py = None

import program

ATOMS = 108
WATERS = 64
EDGE = 1.2417  # nm: the density of water
STEPS = 150000
# O, H, H of TIP3P in the molecule's own frame, nm.
WATER = ((0, 0, 0), (0.07570, 0.05859, 0), (-0.07570, 0.05859, 0))
NAMES = ("OW", "HW1", "HW2")


def write_water(path, positions):
    """A .gro file of waters; positions in nm, three sites each."""
    lines = ["water", f"{3 * WATERS:5d}"]
    for i, (x, y, z) in enumerate(positions):
        molecule, site = divmod(i, 3)
        lines.append(f"{molecule + 1:5d}SOL  {NAMES[site]:>5}{i + 1:5d}{x:8.4f}{y:8.4f}{z:8.4f}")
    lines.append(f"{EDGE:10.5f}{EDGE:10.5f}{EDGE:10.5f}")
    path.write_text("\n".join(lines) + "\n")


def lattice():
    """Waters that all point the same way, on a lattice: far from any liquid."""
    edge = EDGE / 4
    for i in range(WATERS):
        corner = (edge * (i % 4), edge * (i // 4 % 4), edge * (i // 16))
        for site in WATER:
            yield tuple(c + s for c, s in zip(corner, site, strict=True))


def facts(summary):
    return [
        (
            chain["equilibration_steps"],
            chain["equilibration_end"],
            chain["steps"],
            chain["decisions_sha256"],
            chain["final_coordinates_sha256"],
        )
        for chain in summary.get("chains", [summary])
    ]


class Equilibration(program.TestCase):
    def setUp(self):
        super().setUp()
        self.argon = self.config(
            **program.plain_system("argon/argon"),
            sampling={"steps": STEPS, "equilibration_steps": "auto"},
            output={"energy_interval": 100, "trajectory_interval": 20000},
        )

    def run_argon(self, name, *options, **arguments):
        return program.simulate(self.argon, self.folder / name, *options, **arguments)


class IsTheSame(Equilibration):
    def test_everywhere(self):
        expected = facts(self.run_argon("scalar", "--run.implementation", "scalar"))
        ((steps, end, production, _, _),) = expected
        self.assertEqual(end, "settled")
        self.assertLess(steps, STEPS)
        self.assertEqual(steps % (10 * ATOMS), 0)
        self.assertEqual(production, STEPS)
        for words in (
            "--run.precision fp64 --sampling.window 7",
            "--run.precision fixed --run.implementation simd",
            "--run.tasks terms --sampling.window 31",
            "--output.energy-interval 350 --output.trajectory-interval 777",
        ):
            with self.subTest(words):
                found = facts(self.run_argon(words.replace(" ", ""), *words.split()))
                self.assertEqual(found, expected)
        if not program.opencl_missing():
            opencl = {"STARPU_NCPU": 1, "STARPU_OPENCL_ON_CPUS": 1}
            found = self.run_argon("opencl", "--run.implementation", "opencl", env=opencl)
            self.assertEqual(facts(found), expected)

    def test_with_a_density(self):
        """The solute's van der Waals and electrostatic energies are looked at, too."""
        config = self.config(
            **program.small_system(),
            sampling={"steps": 100000, "seed": 2, "equilibration_steps": "auto"},
            output={"energy_interval": 1000, "trajectory_interval": 100000},
        )
        expected = facts(program.simulate(config, self.folder / "first"))
        self.assertEqual(expected[0][1], "settled")
        for words in (
            "--run.precision fp64 --run.grid-blocks 3 --sampling.window 17",
            "--run.precision fixed --run.implementation simd",
        ):
            with self.subTest(words):
                folder = self.folder / words.replace(" ", "")
                self.assertEqual(facts(program.simulate(config, folder, *words.split())), expected)

    def test_with_the_number_that_was_found(self):
        """A number of steps is the same chain, and says so."""
        ((steps, _, _, *digests),) = facts(self.run_argon("auto"))
        given = facts(self.run_argon("given", "--sampling.equilibration-steps", steps))
        self.assertEqual(given, [(steps, "given", STEPS, *digests)])

    def test_each_chain_has_its_own(self):
        one = facts(self.run_argon("one"))
        several = facts(self.run_argon("several", "--sampling.chains", 3))
        self.assertEqual(several[0], one[0])
        self.assertEqual(len({chain[-1] for chain in several}), 3)
        self.assertEqual({chain[1:3] for chain in several}, {("settled", STEPS)})

    def test_chains_meet_in_production(self):
        """What decides when a run is long enough are steps of production, one by one the same."""
        words = ("--sampling.chains", 2, "--sampling.until-error", 8, "--sampling.steps", 2000000)
        first = self.run_argon("first", *words, env={"STARPU_NCPU": 1})
        self.assertTrue(first["total_energy"]["known_to_within_it"])
        steps = {chain["steps"] for chain in first["chains"]}
        self.assertEqual(len(steps), 1)
        self.assertLess(max(steps), 2000000)
        self.assertEqual(max(steps) % 10000, 0)
        self.assertEqual(facts(self.run_argon("second", *words)), facts(first))


class IsSaid(Equilibration):
    def run_and_read(self, *options):
        """What it prints, its log and its summary."""
        folder = self.folder / "out"
        result = program.succeed("run", self.argon, "--output.folder", folder, *options)
        summary = program.json.loads((folder / "summary.json").read_text())
        return result.stdout, (folder / "run.log").read_text(), summary

    def test_in_log_and_table(self):
        table, log, summary = self.run_and_read()
        steps = summary["equilibration_steps"]
        self.assertIn(f"{STEPS} ({steps} of equilibration before: found", table)
        self.assertIn(f"equilibrated after {steps} steps", log)

    def test_that_it_came_to_no_end(self):
        table, log, summary = self.run_and_read("--sampling.steps", 2000)
        self.assertEqual(summary["equilibration_end"], "not settled")
        self.assertEqual(summary["equilibration_steps"], 2000)
        self.assertIn("in which the energies did not settle", table)
        self.assertIn("equilibration came to no end", log)


@unittest.skipIf(h5py is None, "no h5py")
class LastsAsLongAsItTakes(program.TestCase):
    def simulate(self, name, *options):
        words = (self.config_file, self.folder / name, *options)
        return program.simulate(*words)

    def test_fresh_and_equilibrated_box(self):
        box = self.folder / "water.gro"
        topology = self.folder / "water.top"
        text = (program.DATA / "small" / "small.top").read_text()
        topology.write_text(text.replace("formaldehyde  1\n", ""))
        write_water(box, lattice())
        self.config_file = self.config(
            system={"coordinates": box, "topology": topology},
            sampling={"steps": 400000, "equilibration_steps": "auto", "max_translation": 0.01,
                      "max_rotation": 1},
            output={"energy_interval": 200, "trajectory_interval": 400000},
        )  # fmt: skip
        fresh = self.simulate("fresh")
        self.assertEqual(fresh["equilibration_end"], "settled")
        self.assertFalse(fresh["total_energy"]["equilibration"]["chains"][0]["late"])
        with h5py.File(self.folder / "fresh" / "trajectory.h5md") as file:
            positions = file["particles/all/position/value"][-1] / 10
        write_water(box, positions)
        options = ("--sampling.seed", 2)
        for key in ("translation", "rotation"):
            size = {"translation": "angstrom", "rotation": "degrees"}[key]
            options += (f"--sampling.max-{key}", fresh[f"final_max_{key}_{size}"])
        rested = self.simulate("rested", *options)
        self.assertEqual(rested["equilibration_end"], "settled")
        self.assertLess(rested["equilibration_steps"], fresh["equilibration_steps"])
        # Without equilibration the fresh box's mean is far off.
        raw = self.simulate("raw", "--sampling.equilibration-steps", 0)
        means = [run["averages"]["total"]["mean"] for run in (fresh, rested, raw)]
        errors = [run["averages"]["total"]["error"] for run in (fresh, rested)]
        print("means", means, "errors", errors, "equilibration",
              fresh["equilibration_steps"], rested["equilibration_steps"])  # fmt: skip
        self.assertLess(abs(means[0] - means[1]), 3 * (errors[0] + errors[1]))


if __name__ == "__main__":
    program.main()
