"""The tutorial's commands run one after another, with fewer waters and steps, and leave the results
that it tells of.

    python3 test_tutorial.py PROGRAM [--pyscf]

Without --pyscf a stand-in answers in PySCF's place (tests/app/workers).
"""

import csv
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))

WITH_PYSCF = "--pyscf" in sys.argv
sys.argv = [word for word in sys.argv if word != "--pyscf"]
import program

try:
    import matplotlib  # noqa: F401
    import scipy  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; install src/qm/workers/requirements.txt")
    sys.exit(program.SKIPPED)

TUTORIAL = program.REPOSITORY / "configs/tutorial.md"
# Each of the tutorial's texts has to be there.
SMALLER = {
    "--waters 216": "--waters 120",
    "--sampling.steps 1e4": "--sampling.steps 400",
    "--qm.interval 1000": "--qm.interval 200",
    "--sampling.steps 1e5": "--sampling.steps 2000",
    "--sampling.equilibration-steps 1e5": "--sampling.equilibration-steps 2000",
    "\ninterval = 2000": "\ninterval = 500",
    "\nsteps = 4e5": "\nsteps = 4000",
    "equilibration-steps = 1e5": "equilibration-steps = 1000",
}


def commands():
    blocks = re.findall(r"^```sh\n(.*?)^```", TUTORIAL.read_text(), re.DOTALL | re.MULTILINE)
    text = "\n".join(blocks)
    for long, short in SMALLER.items():
        assert long in text, f"the tutorial has no {long!r} any more"
        text = text.replace(long, short)
    return text


class Tutorial(program.TestCase):
    def run_commands(self):
        place = self.folder / "starpmc"
        place.mkdir()
        (place / "configs").symlink_to(program.REPOSITORY / "configs")
        env = program.environment(STARPMC_PYTHON=sys.executable)
        if not WITH_PYSCF:
            env["STARPMC_WORKERS"] = str(program.TESTS / "app/workers")
        folders = (program.PROGRAM.parent, pathlib.Path(sys.executable).parent)
        env["PATH"] = os.pathsep.join([*map(str, folders), env["PATH"]])
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands()],
            cwd=place, env=env, stdin=subprocess.DEVNULL, check=False,
            capture_output=True, text=True, timeout=3000,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, (result.stdout + result.stderr)[-4000:])
        return place / "acetone", result.stdout

    def test_commands_and_results(self):
        folder, printed = self.run_commands()
        run = folder / "acetone-run"
        for name in ("report.html", "report-rdf-O2-OW-HW1-HW2.png", "summary.json"):
            self.assertTrue((run / name).stat().st_size > 1000, name)
        with open(run / "report-coordination.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["pair"] for row in rows], ["O2:OW", "O2:HW1+HW2"])
        with open(run / "report-rdf.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["pair"] == "O2:HW1+HW2"]
        # No hydrogen where the oxygen is, some in the first shell, all of the density far out.
        self.assertEqual(float(rows[10]["g"]), 0)
        self.assertGreater(max(float(row["g"]) for row in rows), 0.5)
        self.assertGreater(float(rows[-1]["coordination"]), 10)
        dipoles = re.findall(
            r"^(basis-\S+) +isolated ([\d.]+) D, in water ([\d.]+) D", printed, re.MULTILINE
        )
        self.assertEqual(
            [name for name, *_ in dipoles], ["basis-def2-svp", "basis-def2-svpd", "basis-def2-tzvp"]
        )
        errors = re.findall(
            r"^(grid-\S+) +(\d+) points, mean error ([\d.]+) kJ/mol", printed, re.MULTILINE
        )
        self.assertEqual([name for name, *_ in errors], ["grid-30x302", "grid-50x974"])
        mean = re.findall(r"^dipole ([\d.]+) ± ([\d.]+) D", printed, re.MULTILINE)
        self.assertEqual(len(mean), 1)
        # The stand-in's isolated molecule has no dipole.
        numbers = [found[-1] for found in (*dipoles, *errors, *mean)] + [mean[0][0]]
        self.assertTrue(all(float(number) > 0 for number in numbers), numbers)
        if WITH_PYSCF:
            for name, isolated, _ in dipoles:
                self.assertTrue(2.6 < float(isolated) < 3.1, name)
            self.assertTrue(3 < float(mean[0][0]) < 5, mean)

    def test_length_and_names(self):
        """About as long as it says, and of files that are there."""
        lines = TUTORIAL.read_text().splitlines()
        self.assertLess(len(lines), 180)
        for name in re.findall(r"!\[[^]]*\]\(([^)]*)\)", TUTORIAL.read_text()):
            self.assertTrue((TUTORIAL.parent / name).is_file(), name)


if __name__ == "__main__":
    program.main()
