"""`starpmc check`: says what a run would simulate, refuses what a run would refuse, writes nothing.

    python3 test_check.py PROGRAM
"""

import program

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
        self.assertRegex(lines["Density grid"], r"^\d{4,} points, \d+ MiB for each chain$")
        self.assertIn("the box's shortest edge is 12.534 A", lines["Warning"])
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
            self.assertEqual("--system.topology" in text, command in ("run", "check", "energy"))


if __name__ == "__main__":
    program.main()
