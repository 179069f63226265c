"""`starpmc check`: says what a run would simulate and take, finds all that a run would refuse, writes
nothing. `starpmc info`: the QM engines that there are.

    python3 test_check.py PROGRAM
"""

import os
import pathlib
import re
import subprocess
import sys
import time

import program

SECONDS = {"s": 1, "min": 60, "h": 3600, "days": 86400}
HEAD = {
    "MM molecules": "64 SOL: 3 sites, +0 e, types opls_111 opls_112",
    "QM molecule": "formaldehyde: C H2 O, charge +0 e, 16 electrons, multiplicity 1",
    "  its types": "opls_277 opls_278 opls_279",
    "Net charge": "+0 e",
    "Cutoffs": "6.267",
    "Steps": "20 after 5 of equilibration, 2 chains, 298.15 K",
}


class Check(program.TestCase):
    def small(self, **changes):
        sections = program.small_system() | {
            "sampling": {"steps": 20, "equilibration_steps": 5, "chains": 2}
        }
        for section, values in changes.items():
            sections[section] = sections.get(section, {}) | values
        return self.config(**sections)

    def test_says_what_would_be_simulated_and_writes_nothing(self):
        config = self.small()
        before = sorted(self.folder.rglob("*"))
        said = program.succeed("check", config, cwd=self.folder).stdout
        lines = {line[:24].rstrip(): line[24:] for line in said.splitlines()}
        for name, expected in HEAD.items():
            self.assertTrue(lines[name].startswith(expected), f"{name}: {lines[name]}")
        self.assertRegex(lines["Density grid"], r"^13015 points, 0\.5 MiB for each chain$")
        warnings = [line[24:] for line in said.splitlines() if line.startswith("Warning ")]
        for part in (
            "the box's shortest edge is 12.534 A",
            "output.energy-interval: found 100, but production has 20 steps",
        ):
            self.assertTrue(any(part in warning for warning in warnings), f"{part}: {warnings}")
        self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_refuses_what_a_run_refuses(self):
        config = self.small()
        for words, part in (
            (("--sampling.stepz", 3), "sampling.stepz"),
            (("--interaction.vdw-cutoff", 9), "half the shortest edge"),
            (("--qm.engine", "pyscf", "--qm.charge", 1), "15 electrons"),
            (("--qm.grid-file", config), "density grid"),
        ):
            with self.subTest(words):
                result = program.start("check", config, *words, cwd=self.folder)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(part, result.stderr)

    def test_refuses_output_folders_that_a_run_refuses(self):
        config = self.small()
        out = self.folder / "out"
        (out / "report.html").mkdir(parents=True)
        kept = out / "checkpoint.cbor"
        kept.write_bytes(b"starpmc checkpoint 1")
        link = self.folder / "link"
        link.symlink_to("nowhere")
        for folder, part in ((out, "report.html"), (link, "leads nowhere"), (link / "below", "leads nowhere")):
            with self.subTest(folder.name):
                words = (config, "--output.folder", folder, "--output.overwrite", "true")
                said = [program.start(command, *words) for command in ("check", "run")]
                for result in said:
                    self.assertEqual(result.returncode, 2, result.stderr)
                    self.assertIn(part, result.stderr)
                self.assertEqual(said[0].stderr, said[1].stderr)
                self.assertTrue(kept.exists())

    def test_says_it_once(self):
        config = self.small()
        for words, part in (
            (("--sampling.ensemble", "exact"), "sampling.ensemble: the exact ensemble needs"),
            (("--qm.reference", config), "qm.reference: only the exact ensemble"),
            (("--qm.grid-file", ""), "qm.engine: the engine frozen needs a stored density"),
        ):
            with self.subTest(words):
                result = program.start("check", config, *words, cwd=self.folder)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(result.stderr.count("error: "), 1, result.stderr)
                self.assertIn(part, result.stderr)

    def test_finds_all_that_is_wrong(self):
        """One error of each input that does not depend on another."""
        topology = self.folder / "bad.top"
        text = (program.DATA / "small" / "small.top").read_text()
        topology.write_text(text.replace("[ system ]", "[ sistem ]"))
        config = self.small(
            system={"topology": topology},
            qm={"engine": "pyscf", "python": "/nonexistent/python", "chargge": 1},
            interaction={"coulomb_cutoff": 9, "vdw_cutoff": 8},
            sampling={"steps": "many"},
            potential={"mm_additional": "3*foo*r", "coulomb": "1/r+"},
            output={"energy_interval": 7, "pressure_interval": 10, "folder": topology / "out"},
        )
        result = program.start("check", config, cwd=self.folder)
        self.assertEqual(result.returncode, 2, result.stderr)
        errors = result.stderr.split("starpmc: error: ")[1:]
        for parts in (
            ("test.cfg:9: unknown option", "qm.chargge", "did you mean 'qm.charge'"),
            ("sampling.steps: not a whole number", "'many'"),
            ("output.pressure-interval", "multiple of 7"),
            (str(topology), "sistem"),
            ("interaction.coulomb-cutoff: cutoff beyond", "'9 A'"),
            ("interaction.vdw-cutoff: cutoff beyond", "'8 A'"),
            ("potential.coulomb: expression, column 5",),
            ("potential.mm-additional: expression, column 3", "foo"),
            ("output.folder: cannot be written to",),
            ("qm.python", "/nonexistent/python"),
        ):
            with self.subTest(parts):
                found = [error for error in errors if all(part in error for part in parts)]
                self.assertEqual(len(found), 1, result.stderr)
                self.assertIn("remedy: ", found[0])
        self.assertEqual(len(errors), 10, result.stderr)
        self.assertIn("starpmc: 10 errors", result.stderr)
        self.assertNotIn("\\x0a", result.stderr)
        # A run ends with the first of them.
        run = program.start("run", config, cwd=self.folder)
        self.assertEqual(run.returncode, 2)
        self.assertEqual(run.stderr.count("error: "), 1)
        self.assertIn("qm.chargge", run.stderr)

    def test_coordinates_solute_and_overlaps(self):
        """Of each input file, though another is wrong; of a system, every overlap."""
        broken = self.folder / "broken.gro"
        broken.write_text("title\nmany\n")
        solute = self.folder / "solute.xyz"
        solute.write_text("4\n\nC 0 0 0\n")
        config = self.small(system={"coordinates": broken, "topology": broken, "solute": solute})
        result = program.start("check", config, cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        for file in ("broken.gro", "solute.xyz"):
            self.assertRegex(result.stderr, rf"error: [^ ]*{file}")
        self.assertEqual(result.stderr.count("starpmc: error: "), 3, result.stderr)
        self.assertEqual(result.stderr.count("broken.gro:"), 2, result.stderr)
        lines = (program.DATA / "small" / "small.gro").read_text().splitlines()
        first = 2 + 4  # title, number, solute
        for water in (1, 2):  # both where the first one is
            for site in range(3):
                line = first + 3 * water + site
                lines[line] = lines[line][:20] + lines[first + site][20:]
        overlapping = self.folder / "overlapping.gro"
        overlapping.write_text("\n".join(lines) + "\n")
        config = self.small(system={"coordinates": overlapping})
        result = program.start("check", config, cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertGreaterEqual(result.stderr.count("overlaps with"), 3, result.stderr)

    def test_asks_the_qm_program(self):
        config = self.small(qm={"engine": "pyscf"})
        for words, parts in (
            (("--qm.method", "nonsense"), ("functional nonsense",)),
            (("--qm.method", "pbe-d3"), ("pbe-d3bj",)),
            (("--qm.basis", "nonsense"), ("nonsense",)),
        ):
            with self.subTest(words):
                result = program.start("check", config, *words, cwd=self.folder)
                self.assertEqual(result.returncode, 2, result.stderr)
                for part in parts:
                    self.assertIn(part, result.stderr)
        words = ("--output.save-grid", "true", "--sampling.ensemble", "exact",
                 "--sampling.steps", 20000)  # fmt: skip
        result = program.succeed("check", config, *words, cwd=self.folder)
        self.assertRegex(result.stdout, r"(?m)^Warning +output.save-grid keeps nothing")
        self.assertEqual(result.stderr, "")
        said = program.succeed("check", config, cwd=self.folder).stdout
        self.assertRegex(said, r"QM program +the QM molecule has 38 basis functions: about .* an update")

    def test_announces_the_reference(self):
        """Of a run that makes one; its time is part of the run's."""
        config = self.small(
            qm={"engine": "pyscf"}, sampling={"ensemble": "exact", "steps": 20000, "chains": 1}
        )
        said = program.succeed("check", config, cwd=self.folder).stdout
        self.assertRegex(
            said,
            r"(?m)^Reference +about .* of sampling \(440320 steps .* of 34 SCF calculations, "
            r".* of the response \(32 components\), .* of tables \(\d+ potentials, \d+ MiB",
        )
        self.assertRegex(said, r"(?m)^Time .* of the reference, ")
        words = ("--sampling.ensemble", "perturbative")
        said = program.succeed("check", config, *words, cwd=self.folder).stdout
        self.assertNotRegex(said, r"(?m)^Reference|of the reference, ")

    def announced(self, config):
        """Seconds, MiB and steps per second that are announced."""
        said = program.succeed("check", config, cwd=self.folder).stdout
        number, unit = re.search(r"^Time +about ([\d.e+]+) (\w+):", said, re.MULTILINE).groups()
        memory = re.search(r"^Memory +(\d+) MiB", said, re.MULTILINE).group(1)
        return float(number) * SECONDS[unit], float(memory)

    def taken(self, config):
        """Seconds and MiB of a run."""
        words = [program.PROGRAM, "run", config, "--output.folder", self.folder / "out",
                 "--output.overwrite", "true"]  # fmt: skip
        start = time.monotonic()
        run = subprocess.Popen(words, cwd=self.folder, env=program.environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        _, status, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(run.returncode, 0)
        return time.monotonic() - start, usage.ru_maxrss / 1024

    def test_announces_time_and_memory(self):
        """Within a factor of two of a run's; up to three tries on a machine that others use."""
        for name, config in (
            ("frozen", {"sampling": {"steps": 200000, "chains": 2}}),
            ("pyscf", {
                "qm": {"engine": "pyscf"},
                "sampling": {"steps": 40000, "chains": 1, "ensemble": "perturbative"},
            }),
        ):
            with self.subTest(name):
                path = self.small(**config)
                for _ in range(3):
                    seconds, memory = self.announced(path)
                    real_seconds, real_memory = self.taken(path)
                    print(name, "announced", seconds, "s", memory, "MiB; taken",
                          round(real_seconds, 1), "s", round(real_memory), "MiB")  # fmt: skip
                    if 0.5 <= seconds / real_seconds <= 2:
                        break
                self.assertLess(seconds, 2 * real_seconds)
                self.assertGreater(seconds, real_seconds / 2)
                if name == "frozen":  # with a QM program the larger of the two is measured
                    self.assertLess(memory, 2 * real_memory)
                    self.assertGreater(memory, real_memory / 2)

    def test_a_folder_with_results_is_found_before_the_run(self):
        config = self.small()
        program.succeed("run", config, "--output.folder", "out", cwd=self.folder)
        result = program.start("check", config, "--output.folder", "out", cwd=self.folder)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("output.overwrite", result.stderr)
        program.succeed(
            "check", config, "--output.folder", "out", "--output.overwrite", "true", cwd=self.folder
        )
        self.assertTrue((self.folder / "out/summary.json").is_file())

    def test_help_is_about_the_command(self):
        for command in ("run", "check", "resume", "energy", "info"):
            text = program.succeed(command, "--help").stdout
            self.assertTrue(text.startswith(f"Usage: starpmc {command}"), text[:200])
            self.assertNotIn("starpmc solvate", text)
            self.assertLessEqual(text.count("Options:"), 1)
            self.assertEqual("--system.topology" in text, command in ("run", "check", "energy"))
            self.assertEqual(program.succeed(command, "a.cfg", "--help").stdout, text)



class Info(program.TestCase):
    def test_lists_qm_engines(self):
        said = program.succeed("info").stdout
        engines = said[said.index("QM engines") :]
        self.assertRegex(engines, r"\n  pyscf +\d+\.\d+.*, dftd3 \d.*, dftd4 \d.*python")
        self.assertRegex(engines, r"\n  psi4 +(1\.|qm.engine: the QM program is not installed)")

    def test_openmp_binds_nothing(self):
        """It would put the program and its QM workers on the first core."""
        cores = len(os.sched_getaffinity(0))
        for binding in ({}, {"OMP_PROC_BIND": "true"}, {"OMP_PLACES": "cores"}):
            said = program.succeed("info", env=binding | {"STARPU_NOPENCL": 0}).stdout
            self.assertEqual(len(re.findall(r"(?m)^ +\d+  CPU \d", said)), cores, binding)

    def test_says_how_to_get_them(self):
        """Of a Python that has neither, and of a program that is no worker."""
        empty = self.folder / "empty"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", empty], check=True)
        python = empty / "bin" / "python"
        said = program.succeed("info", "--qm.python", python).stdout
        self.assertIn("psi4", said)
        self.assertEqual(said.count("the QM program is not installed"), 2, said)
        self.assertIn("./quickstart setup", said)
        self.assertIn("apt install psi4", said)
        self.assertIn("qm.python = ", said)
        for other in (pathlib.Path("/nonexistent/python"), pathlib.Path("/bin/true")):
            said = program.succeed("info", "--qm.python", other).stdout
            self.assertRegex(said, r"  pyscf +.*(no such program|worker)")

    def test_a_run_says_it_too(self):
        config = self.config(**program.small_system() | {
            "qm": {"engine": "psi4", "python": sys.executable}, "sampling": {"steps": 10}
        })  # fmt: skip
        result = program.start("run", config, cwd=self.folder)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("apt install psi4", result.stderr)
        self.assertIn("qm.python = ", result.stderr)


if __name__ == "__main__":
    program.main()
