"""`starpmc expression`: what it prints, its errors.

    python3 test_expression.py PROGRAM
"""

import ctypes
import json
import math
import re
import subprocess

import program

LENNARD_JONES = "4*epsilon*((sigma/r)^12-(sigma/r)^6); sigma=0.5*(sigma1+sigma2)"
ARGUMENTS = ("--set=epsilon=0.65", "--set=sigma1=3.1", "--set=sigma2=3.3", "--set=r=3.5")


def energy_and_slope():
    ratio6 = (3.2 / 3.5) ** 6
    return 2.6 * (ratio6**2 - ratio6), -2.6 * (12 * ratio6**2 - 6 * ratio6) / 3.5


class Expression(program.TestCase):
    def described(self, text, *options):
        return json.loads(program.succeed("expression", text, "--json", *options).stdout)

    def test_json(self):
        result = self.described(LENNARD_JONES, *ARGUMENTS, "--second")
        energy, slope = energy_and_slope()
        self.assertEqual(result["variables"], ["epsilon", "r", "sigma1", "sigma2"])
        self.assertAlmostEqual(result["values"]["value"], energy, places=13)
        self.assertAlmostEqual(result["values"]["derivative"], slope, places=13)
        # The canonical form is an expression again, and the same one.
        again = self.described(result["canonical"], *ARGUMENTS, "--second")
        self.assertEqual(again["values"], result["values"])
        self.assertEqual(again["derivative"], result["derivative"])
        slope_of_slope = self.described(result["derivative"], *ARGUMENTS)["values"]["derivative"]
        self.assertTrue(
            math.isclose(slope_of_slope, result["values"]["second_derivative"], rel_tol=1e-12)
        )

    def test_operation_counts(self):
        result = self.described(LENNARD_JONES)
        before = result["one_to_one"]["operations"]
        after = result["program"]["operations"]
        self.assertEqual(before["power"], 4)
        self.assertNotIn("power", after)
        self.assertLess(after["total"], before["total"])
        self.assertEqual(after["total"], len(result["program"]["instructions"]))

    def test_pairs(self):
        result = self.described(LENNARD_JONES, "--pairs")
        self.assertIn("r_squared", result["each"]["inputs"])
        self.assertNotIn("r_squared", result["once"]["inputs"])
        self.assertLessEqual(result["each"]["operations"]["total"], 11)
        program.succeed("expression", LENNARD_JONES, "--pairs")

    def test_pairs_of_variables_with_names_of_coefficients(self):
        text = "coefficient0*exp(-coefficient1*r)/coefficient2"
        sets = ("--set=coefficient0=3", "--set=coefficient1=0.5", "--set=coefficient2=7", "--set=r=2")
        values = self.described(text, "--pairs", *sets)["values"]
        self.assertTrue(math.isclose(values["value"], 3 / 7 * math.exp(-1), rel_tol=1e-13))
        self.assertTrue(math.isclose(values["derivative"], -1.5 / 7 * math.exp(-1), rel_tol=1e-13))
        other = ("--variable=coefficient0", "--set=coefficient0=2", "--set=a=5")
        values = self.described("coefficient0*a", "--pairs", *other)["values"]
        self.assertTrue(math.isclose(values["value"], 10, rel_tol=1e-13))

    def test_variables_that_cancel(self):
        for text in ("a-a+r^2", "0*a+r^2", "select(1,r^2,a)", "b; b=0*a+r^2"):
            with self.subTest(text):
                values = self.described(text, "--set=a=3", "--set=r=2")["values"]
                self.assertEqual(values, {"value": 4, "derivative": 4})
                self.assertEqual(self.described(text, "--set=r=2")["values"], values)
                slope = self.described(text, "--variable=a", "--set=r=2")["values"]["derivative"]
                self.assertEqual(slope, 0)

    def compiled(self, source):
        """The function of an OpenCL source, which is C but for its types and a few functions."""
        names = "#define real double\n#define rsqrt(x) (1 / sqrt(x))\n"
        more = "#define reciprocal_square_root(x) rsqrt(x)\n"
        head = f"#include <math.h>\n{names}{more}#define inline\n#define static\n"
        (self.folder / "function.c").write_text(head + source)
        library = self.folder / f"{len(list(self.folder.iterdir()))}.so"
        subprocess.run(
            ["cc", "-std=c99", "-O1", "-shared", "-fPIC", "-Werror", "-o", library,
             self.folder / "function.c", "-lm"],
            check=True,
        )  # fmt: skip
        return ctypes.CDLL(str(library)).pair_function

    def values_in_c(self, program_of, inputs):
        function = self.compiled(program_of["opencl"])
        outputs = [ctypes.c_double(math.nan) for _ in program_of["outputs"]]
        function(*map(ctypes.c_double, inputs), *map(ctypes.byref, outputs))
        return [output.value for output in outputs]

    def test_opencl_source(self):
        arguments = dict(word.removeprefix("--set=").split("=") for word in ARGUMENTS)
        for text in (LENNARD_JONES, f"select(step(r-3), min(r, 9)^1.5, 1)*{LENNARD_JONES}"):
            result = self.described(text, *ARGUMENTS, "--second")
            inputs = [float(arguments[name]) for name in result["program"]["inputs"]]
            found = self.values_in_c(result["program"], inputs)
            for value, expected in zip(found, result["values"].values(), strict=True):
                self.assertTrue(math.isclose(value, expected, rel_tol=1e-12))
            self.assertIn(result["program"]["opencl"], program.succeed(
                "expression", text, "--second").stdout)  # fmt: skip

    def test_opencl_source_of_pairs(self):
        text = "a1*a2/r^6 + exp(-r)"
        result = self.described(text, "--pairs", "--set=a1=3", "--set=a2=5", "--set=r=2")
        self.assertNotIn("opencl", result["once"])
        self.assertIn(" reciprocal_square_root(", result["each"]["opencl"])
        self.assertEqual(result["each"]["inputs"][0], "r_squared")
        printed = program.succeed("expression", text, "--pairs").stdout
        self.assertEqual(printed.count("OpenCL C of"), 1)
        value, slope = 15 / 64 + math.exp(-2), -6 * 15 / 128 - math.exp(-2)
        self.assertTrue(math.isclose(result["values"]["value"], value, rel_tol=1e-13))
        self.assertTrue(math.isclose(result["values"]["derivative"], slope, rel_tol=1e-13))

    def test_text(self):
        text = program.succeed("expression", LENNARD_JONES, *ARGUMENTS).stdout
        for word in ("derivative\n", "one to one, operations", "program (", "value = -0.63"):
            self.assertIn(word, text)

    def test_precision(self):
        energy, _ = energy_and_slope()
        value = self.described(LENNARD_JONES, *ARGUMENTS, "--precision=mixed")["values"]["value"]
        self.assertNotEqual(value, energy)
        self.assertTrue(math.isclose(value, energy, rel_tol=1e-4))

    def test_precisions_offered_are_those_accepted(self):
        text = " ".join(program.succeed("expression", "--help").stdout.split())
        offered = re.search(r"--precision arg .*? of the values: ([^(]*)", text)[1]
        self.assertEqual(re.split(r", | or ", offered.strip()), ["fp64", "mixed", "fixed"])
        for word in ("fp64", "mixed", "fixed"):
            result = self.described("r", "--set=r=2", f"--precision={word}")
            self.assertEqual(result["precision"], word)
            self.assertEqual(result["values"], {"value": 2, "derivative": 1})
        for word in ("fp32", "double", "", "MIXED"):
            result = program.start("expression", "r", "--set=r=2", f"--precision={word}")
            self.assertEqual(result.returncode, 2, word)

    def test_begins_with_minus(self):
        values = self.described("-x^2", "--variable=x", "--set=x=3")["values"]
        self.assertEqual(values, {"value": -9, "derivative": -6})

    def test_errors(self):
        for words, parts in (
            (("4*r^",), ("column 5", "    4*r^\n        ^")),
            (("sqr(r)",), ("did you mean sqrt?",)),
            (("a; a=b; b=a",), ("a -> b -> a",)),
            (("a*r", "--set=r=1"), ("without a value", "'a'", "--set a=VALUE")),
            (("a*r", "--set=q=1"), ("no such variable", "'q'", "a, r")),
            (("r", "--set=r"), ("NAME=VALUE",)),
            (("r", "--set=r=nan"), ("finite",)),
            (("r", "--set=r=1", "--set=r=2"), ("twice",)),
            (("r", "--precision=half"), ("fp64, mixed or fixed",)),
            (("r_squared*r", "--pairs"), ("means the square of r",)),
            (("r^3", "--pairs", "--set=r=-3"), ("--set", "'r=-3'", "above 0")),
            (("r^3", "--pairs", "--set=r=0"), ("--set", "'r=0'", "above 0")),
            (("r^2", "--variable=q", "--set=r=2"), ("--variable", "no such variable", "'q'", "r")),
            (("r^2", "--variable=q"), ("--variable", "no such variable", "'q'", "r")),
            (("3", "--variable=x"), ("--variable", "no such variable", "leave it out")),
            (("r", "--jsonn"), ("--json",)),
            (("(" * 100000,), ("limit: 500 levels",)),
        ):
            result = program.start("expression", *words)
            self.assertEqual(result.returncode, 2, words[0][:40])
            self.assertEqual(result.stdout, "")
            for part in parts:
                self.assertIn(part, result.stderr)


if __name__ == "__main__":
    program.main()
