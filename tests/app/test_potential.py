"""[potential]: built-in energies written as expressions, other potentials against NumPy, decisions
that do not depend on the implementation, and what is said of bad input.

    python3 test_potential.py PROGRAM
"""

import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(77)

import program
import reference_energies as reference

DATA = program.DATA
STEPS = 300
CUTOFFS = {"coulomb_cutoff": 6, "vdw_cutoff": 5.5, "vdw_modifier": "truncate"}
LENNARD_JONES = (
    "4*epsilon*((sigma/r)^12-(sigma/r)^6); sigma=sqrt(sigma1*sigma2);"
    " epsilon=sqrt(epsilon1*epsilon2)"
)
BUILT_IN = {
    "coulomb": "(1-r/cutoff)^2/r",
    "mm_vdw": LENNARD_JONES,
    "qmmm_vdw": LENNARD_JONES,
}
TABLE = """\
# Buckingham's exp-6 between oxygens
type      A       B    C
opls_111  300000  3.6  2600
opls_112  0       0    0
"""
KAPPA = 0.12
OTHER = {
    "coulomb": f"exp(-kappa*r)*(1-(r/cutoff)^2)^2/r; kappa={KAPPA}",
    "mm_vdw": "A*exp(-B*r)-C/r^6; A=sqrt(A1*A2); B=(B1+B2)/2; C=sqrt(C1*C2)",
    "mm_additional": "60*charge1*charge2*exp(-1.5*r)",
    "qmmm_additional": "0.3*sqrt(epsilon1*epsilon2)*exp(-(r-3)^2)",
    "treatment": "switch",
    "switch_distance": 4.2,
}


class Yukawa(reference.Reference):
    """The potential OTHER in NumPy."""

    def coulomb(self, r, charges, other_charges):
        rc = self.coulomb_cutoff
        v = np.where(r < rc, np.exp(-KAPPA * r) * (1 - (r / rc) ** 2) ** 2 / r, 0)
        return reference.COULOMB * np.sum(charges[:, None] * other_charges[None, :] * v)

    def lennard_jones(self, r, a, chosen, b, others):
        rc, rs = self.vdw_cutoff, OTHER["switch_distance"]
        x = np.maximum(0, (r - rs) / (rc - rs))
        switch = 1 - 10 * x**3 + 15 * x**4 - 6 * x**5
        epsilon = np.sqrt(a.epsilon[chosen][:, None] * b.epsilon[others][None, :])
        if b is self.solute:
            built_in = super().lennard_jones(r, a, chosen, b, others)
            v = switch * 0.3 * epsilon * np.exp(-((r - 3) ** 2))
            return built_in + np.sum(np.where(r < rc, v, 0))
        oxygens = epsilon > 0
        charges = a.charge[chosen][:, None] * b.charge[others][None, :]
        v = np.where(oxygens, 300000 * np.exp(-3.6 * r) - 2600 / r**6, 0)
        v = switch * (v + 60 * charges * np.exp(-1.5 * r))
        return np.sum(np.where(r < rc, v, 0))


class Potentials(program.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.implementations = ["scalar", "simd"]
        cls.missing = program.opencl_missing()
        if not cls.missing:
            cls.implementations.append("opencl")

    def system(self, potential=None, **sections):
        all_sections = program.small_system() | {
            "sampling": {"steps": STEPS, "seed": 20240229},
            "interaction": CUTOFFS,
            "run": {"precision": "fp64"},
            "output": {"trajectory_interval": STEPS},
        }
        all_sections |= sections
        return self.config(**all_sections, potential=potential or {})

    def other_system(self, **changes):
        table = self.folder / "parameters.txt"
        table.write_text(TABLE)
        return self.system(OTHER | {"parameters": table} | changes)


class Energies(Potentials):
    def check(self, found, expected, relative):
        for term in (*program.TERMS, "total"):
            difference = abs(found[term] - expected[term]) / max(1, abs(expected[term]))
            self.assertLess(difference, relative, f"{term}: {found[term]}, not {expected[term]}")

    def test_built_in_as_expressions(self):
        for modifier, treatment in (
            ("truncate", "truncate"),
            ("potential-shift", "shift"),
            ("force-shift", "force-shift"),
        ):
            interaction = CUTOFFS | {"vdw_modifier": modifier}
            # A device's compiler takes its time: one treatment there.
            names = self.implementations if treatment == "force-shift" else ("scalar", "simd")
            for name in names:
                with self.subTest(implementation=name, treatment=treatment):
                    word = ("--implementation", name)
                    built_in = program.energies(self.system(interaction=interaction), *word)
                    as_expressions = program.energies(
                        self.system(BUILT_IN | {"treatment": treatment}), *word
                    )
                    self.check(as_expressions, built_in, 1e-12)
            if modifier == "truncate":
                # OpenCL's: kernels/Devices/UserPotentialOpenCl
                for precision in ("mixed", "fixed"):
                    for name in ("scalar", "simd"):
                        word = ("--implementation", name, "--precision", precision)
                        found = program.energies(self.system(BUILT_IN), *word)
                        for term in program.TERMS:
                            self.assertLess(abs(found[term] - built_in[term]), 1e-3, term)

    def test_coulomb_treatments(self):
        """1/r - 1/rc + (r - rc)/rc^2 is 1/r force-shifted."""
        built_in = program.energies(self.system(), "--implementation", "simd")
        found = program.energies(
            self.system({"coulomb": "1/r", "coulomb_treatment": "force-shift"}),
            "--implementation", "simd",
        )
        self.check(found, built_in, 1e-12)

    def test_one_term_alone(self):
        """A function of one term leaves the others as they are."""
        built_in = program.energies(self.system(), "--implementation", "simd")
        for option, term in (("mm_vdw", "mm_vdw"), ("qmmm_vdw", "qmmm_vdw")):
            for name in self.implementations if option == "mm_vdw" else ("scalar", "simd"):
                with self.subTest(option=option, implementation=name):
                    found = program.energies(
                        self.system({option: "none"}), "--implementation", name
                    )
                    self.assertEqual(found[term], 0)
                    for other in program.TERMS:
                        if other != term:
                            # each of 2,016 pairs of molecules rounded to 2^-32 kJ/mol by one of them
                            self.assertAlmostEqual(found[other], built_in[other], delta=2e-8)

    def test_other_potential_against_numpy(self):
        expected = reference.make_reference(
            DATA / "small/small.gro", DATA / "small/small.top", "formaldehyde",
            DATA / "small/small.grid", coulomb=CUTOFFS["coulomb_cutoff"],
            vdw=CUTOFFS["vdw_cutoff"],
        )
        expected.__class__ = Yukawa
        expected = expected.energies()
        for term in program.TERMS:
            self.assertNotEqual(expected[term], 0, f"{term} is not tested")
        config = self.other_system()
        for name in self.implementations:
            with self.subTest(implementation=name):
                found = program.energies(config, "--implementation", name)
                self.check(found, expected, 1e-10)
                for precision in ("mixed", "fixed"):
                    lesser = program.energies(
                        config, "--implementation", name, "--precision", precision
                    )
                    for term in program.TERMS:
                        self.assertLess(abs(lesser[term] - found[term]), 1e-3, term)


class Decisions(Potentials):
    def outcome(self, config, *options):
        folder = self.folder / f"run-{len(list(self.folder.iterdir()))}"
        summary = program.simulate(config, folder, *options)
        return (summary["decisions_sha256"], summary["final_coordinates_sha256"]), summary

    def test_same_on_every_implementation(self):
        config = self.other_system()
        expected, summary = self.outcome(config, "--run.implementation", "scalar")
        self.assertGreater(summary["acceptance"], 0.1)
        self.assertLess(summary["acceptance"], 0.9)
        built_in, _ = self.outcome(self.system(), "--run.implementation", "simd")
        self.assertNotEqual(built_in, expected)
        config = self.other_system()
        again = 0
        for precision in ("fp64", "mixed", "fixed"):
            cases = [("simd", window) for window in (1, 50, "auto")]
            cases += [(name, "auto") for name in self.implementations if name != "simd"]
            for name, window in cases:
                with self.subTest(precision=precision, implementation=name, window=window):
                    found, summary = self.outcome(
                        config, "--run.implementation", name, "--run.precision", precision,
                        "--sampling.window", window,
                    )
                    self.assertEqual(found, expected)
                    certified = summary["certified_decisions"]
                    again += certified["steps_evaluated_again"]
                    self.assertLess(certified["steps_evaluated_again"], 0.2 * STEPS)
                    self.assertLess(certified["largest_error_in_bounds"], 0.5)
                    print(f"{name} {precision} window {window}: {certified}")
        self.assertGreater(again, 0)

    def test_built_in_as_expressions(self):
        """The built-in potential written as expressions makes the built-in decisions."""
        expected, _ = self.outcome(self.system(), "--run.implementation", "simd")
        for name, precision in (("scalar", "fp64"), ("simd", "fp64"), ("simd", "mixed")):
            with self.subTest(implementation=name, precision=precision):
                found, _ = self.outcome(
                    self.system(BUILT_IN), "--run.implementation", name,
                    "--run.precision", precision,
                )
                self.assertEqual(found, expected)

    def test_exact_decisions(self):
        """A jump at the cutoff leaves nearly every step in doubt below fp64: it is the exact
        functions that decide, the same on every implementation."""
        steps = 40
        config = self.system(
            {
                "coulomb": "erfc(0.2*r)/r",
                "mm_additional": "0.5*exp(-r)",
                "qmmm_vdw": "4*epsilon*((sigma/r)^9-(sigma/r)^6)*cos(0.1*r);"
                " sigma=sqrt(sigma1*sigma2); epsilon=sqrt(epsilon1*epsilon2)",
            },
            sampling={"steps": steps, "seed": 4},
        )
        expected, _ = self.outcome(config, "--run.implementation", "simd")
        for precision, name in [("mixed", n) for n in self.implementations] + [("fixed", "simd")]:
            with self.subTest(precision=precision, implementation=name):
                found, summary = self.outcome(
                    config, "--run.implementation", name, "--run.precision", precision
                )
                self.assertEqual(found, expected)
                certified = summary["certified_decisions"]
                self.assertGreater(certified["steps_evaluated_again"], 0.5 * steps)
                self.assertLess(certified["largest_error_in_bounds"], 0.5)

    def test_jumps_everywhere(self):
        """Teeth of 2 kJ/mol, 900 jumps. Below fp64 a pair lies on the other side of one now and then:
        the bound covers that, as sampling the function at 400 distances, which gave 0.1 kJ/mol, did
        not."""
        config = self.system(
            {
                "mm_additional": "2*(floor(300*r)-300*r+0.5)*sqrt(epsilon1*epsilon2)",
                "treatment": "switch",
                "switch_distance": 5,
            },
            sampling={"steps": 3000, "seed": 20240229},
        )
        expected, _ = self.outcome(config, "--run.implementation", "simd")
        found, summary = self.outcome(
            config, "--run.implementation", "simd", "--run.precision", "mixed"
        )
        self.assertEqual(found, expected)
        certified = summary["certified_decisions"]
        self.assertLess(certified["largest_error_in_bounds"], 1)
        met = certified["largest_error_in_bounds"] * certified["error_bound_kj_per_mol"]
        self.assertGreater(met, 0.5, "no pair met a jump: nothing is tested")


class BadInput(Potentials):
    def refused(self, potential, *parts):
        result = program.start("energy", self.system(potential))
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def table(self, text):
        path = self.folder / "table.txt"
        path.write_text(text)
        return path

    def test_expressions(self):
        for expression, *parts in (
            ("4*eps/r^12", "potential.mm-vdw", "'eps'", "4*eps/r^12", "  ^", "epsilon1"),
            ("1/r^", "potential.mm-vdw", "1/r^", "  ^"),
            ("A1*A2/r^12", "potential.mm-vdw", "'A1'"),
            ("sqrt(r-100)", "potential.mm-vdw", "not finite at the cutoff", "opls_111"),
            ("log(sigma1*sigma2)/r", "potential.mm-vdw", "not finite at the cutoff", "opls_112"),
            ("sqrt(r-4)", "potential.mm-vdw", "not finite at a distance of"),
            ("sigma1/r^6", "potential.mm-vdw", "sites are swapped", "opls_111"),
        ):
            with self.subTest(expression):
                self.refused({"mm_vdw": expression}, *parts)

    def test_places(self):
        """File, line and key, or the command line."""
        config = self.system({"coulomb": "1/r", "mm_vdw": "4*eps/r^12"})
        lines = config.read_text().splitlines()
        number = 1 + next(i for i, line in enumerate(lines) if line.startswith("mm-vdw"))
        result = program.start("energy", config)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(f"{config}:{number}: potential.mm-vdw: ", result.stderr)
        result = program.start("energy", config, "--potential.mm-vdw", "1/q")
        self.assertIn("command line: --potential.mm-vdw: ", result.stderr)
        result = program.start("energy", config, "--interaction.coulomb-cutoff", "90")
        self.assertIn("command line: --interaction.coulomb-cutoff: ", result.stderr)

    def test_coulomb(self):
        self.refused({"coulomb": "charge1/r"}, "potential.coulomb", "'charge1'", "cutoff")
        self.refused({"coulomb": "log(r-1)"}, "potential.coulomb", "not finite at a distance")

    def test_analytic_embedding(self):
        result = program.start(
            "energy", self.system({"coulomb": "1/r"}), "--qm.embedding", "analytic"
        )
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("analytic", result.stderr)

    def test_nucleus_without_charge(self):
        self.refused({"qmmm_vdw": "charge2/r"}, "potential.qmmm-vdw", "'charge2'", "charge1")

    def test_derivative_at_the_cutoff(self):
        self.refused(
            {"mm_vdw": "epsilon1*epsilon2*sqrt(cutoff-r)", "treatment": "force-shift"},
            "potential.mm-vdw",
        )
        self.refused(
            {"mm_vdw": "epsilon1*epsilon2*sqrt(sigma1*sigma2*0+5.5-r)",
             "treatment": "force-shift"},
            "potential.mm-vdw",
        )

    def test_switch(self):
        options = {"mm_vdw": LENNARD_JONES, "treatment": "switch"}
        self.refused(options, "potential.switch-distance", "missing")
        self.refused(options | {"switch_distance": 5.5}, "potential.switch-distance", "5.5 A")
        self.refused({"treatment": "soft"}, "potential.treatment", "'soft'")

    def test_tables(self):
        for text, *parts in (
            ("", "table.txt", "empty"),
            ("type\n", "table.txt:1", "no column of parameters"),
            ("type A\nopls_111 1 2\n", "table.txt:2", "2 values"),
            ("type A\nopls_111 x\n", "table.txt:2", "'x'"),
            ("type A\nopls_111 1\nopls_111 2\n", "table.txt:3", "twice"),
            ("type A A\n", "table.txt:1", "twice"),
            ("type exp\n", "table.txt:1", "'exp'"),
            ("type 1a\n", "table.txt:1", "'1a'"),
            ("type A\nopls_111 1\n", "table.txt", "'opls_112'"),
        ):
            with self.subTest(text):
                self.refused({"mm_vdw": "A1*A2/r^12", "parameters": self.table(text)}, *parts)
        self.refused({"parameters": self.folder / "none"}, "potential.parameters", "no such file")


class Jumps(Potentials):
    """A function that is cut off where it is not small brings a warning."""

    def said(self, potential):
        words = ("--implementation", "scalar")
        return program.succeed("energy", self.system(potential), *words).stderr

    def test_jumps(self):
        for potential, *parts in (
            ({"coulomb": "1/r"}, "potential.coulomb: ", "jumps by", "coulomb-treatment = shift"),
            (
                {"mm_additional": "500*charge1*charge2*exp(-0.1*r)"},
                "potential.mm-additional: ", "opls_111 and opls_111", "at the cutoff of 5.5 A",
            ),
            ({"qmmm_vdw": "9/r"}, "potential.qmmm-vdw: ", "potential.treatment = shift"),
        ):
            with self.subTest(potential):
                text = self.said(potential)
                for part in parts:
                    self.assertIn(part, text)

    def test_no_jumps(self):
        for potential in (
            BUILT_IN,
            {"coulomb": "1/r", "coulomb_treatment": "shift"},
            {"qmmm_vdw": "9/r", "treatment": "force-shift"},
            {"qmmm_vdw": "9/r", "treatment": "switch", "switch_distance": 4},
        ):
            with self.subTest(potential):
                self.assertNotIn("jumps", self.said(potential))


class Resume(Potentials):
    def test_changed_table(self):
        """A run goes on with the parameters it was begun with, or not at all."""
        config = self.other_system()
        table = self.folder / "parameters.txt"
        folder = self.folder / "run"
        command = [program.PROGRAM, "run", config, "--output.folder", folder,
                   "--run.implementation", "simd", "--sampling.steps", "100000000",
                   "--output.checkpoint-interval", "0.1"]
        with subprocess.Popen(list(map(str, command)), env=program.environment(),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 100
            while not (folder / "checkpoint.cbor").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            process.kill()
        self.assertTrue((folder / "checkpoint.cbor").exists())
        table.write_text(TABLE.replace("2600", "2601"))
        result = program.start("resume", folder)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("the input has changed", result.stderr)


if __name__ == "__main__":
    program.main()
