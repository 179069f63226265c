"""What is said of an input that is allowed: warnings once on the terminal and in the log, what was
assumed in the log.

    python3 test_inputs.py PROGRAM
"""


import pathlib

import program

SHORT_CUTOFF = "interaction.vdw-cutoff: 0.9 A is a short cutoff; did you mean nm? 0.9 nm is 9 A"
SMALL_BOX = "the box's shortest edge is 12.534 A"
NET_CHARGE = "the box has a net charge of -2 e"
RIGID = "molecule formaldehyde is kept rigid (system.rigid)"


class Inputs(program.TestCase):
    def small(self, **changes):
        sections = program.small_system() | {"sampling": {"steps": 20, "chains": 2}}
        for section, values in changes.items():
            sections[section] = sections.get(section, {}) | values
        return self.config(**sections)

    def check_once(self, config, expected, *arguments):
        """The parts of `expected` stand once on the terminal and once in the log."""
        out = self.folder / "out"
        result = program.succeed("run", config, "--output.folder", out, *arguments)
        log = (out / "run.log").read_text()
        for text in expected:
            self.assertEqual(result.stderr.count(text), 1, result.stderr)
            self.assertEqual(log.count(text), 1, log)
        for text in (SHORT_CUTOFF, SMALL_BOX, NET_CHARGE):
            self.assertEqual(text in result.stderr, text in expected, result.stderr)
        return log

    def test_warnings_are_printed_once(self):
        config = self.small(interaction={"vdw_cutoff": 0.9}, qm={"charge": -2, "electron_tolerance": 3})
        self.check_once(config, [SHORT_CUTOFF, SMALL_BOX, NET_CHARGE])
        result = program.succeed("energy", config)
        for text in (SHORT_CUTOFF, SMALL_BOX, NET_CHARGE):
            self.assertEqual(result.stderr.count(text), 1, result.stderr)

    def test_an_ordinary_system_is_not_warned_of(self):
        config = self.config(**program.plain_system("argon/argon"), sampling={"steps": 20})
        self.check_once(config, [])

    def test_what_is_kept_rigid_is_in_the_log(self):
        small = program.small_system()["system"]
        del small["qm_molecule"]
        config = self.config(system=small | {"rigid": "formaldehyde"}, sampling={"steps": 20})
        log = self.check_once(config, [SMALL_BOX])
        self.assertEqual(log.count(RIGID), 1, log)


    def test_equilibrated_water_is_laid_onto_another_model(self):
        """GROMACS's box of SPC, which gmx solvate takes for every model of three sites, as TIP3P."""
        water = self.gromacs_file("spc216.gro")
        top = self.folder / "water.top"
        top.write_text('#include "oplsaa.ff/forcefield.itp"\n#include "oplsaa.ff/tip3p.itp"\n'
                       "[ system ]\nwater\n[ molecules ]\nSOL 216\n")  # fmt: skip
        config = self.config(
            system={"coordinates": water, "topology": top}, sampling={"steps": "2e1"}
        )
        log = self.check_once(config, [])
        self.assertEqual(log.count("216 molecules SOL differ in geometry"), 1, log)
        self.assertIn("up to 0.1 A is allowed", log)

    def test_what_solvate_prints_runs(self):
        self.gromacs_file("spc216.gro")
        solutes = {"chloride": ("Cl 0 0 0", -1), "nitroxide": (
            "N 0 0 0\nO 1.28 0 0\nH -0.5 0.87 0\nH -0.5 -0.87 0", 0)}  # fmt: skip
        for name, (atoms, charge) in solutes.items():
            with self.subTest(name):
                count = atoms.count("\n") + 1
                (self.folder / f"{name}.xyz").write_text(f"{count}\n{name}\n{atoms}\n")
                words = ("--solute", f"{name}.xyz", "--waters", 200, "--charge", charge)
                made = program.succeed("solvate", *words, cwd=self.folder)
                (self.folder / f"{name}.cfg").write_text(made.stdout)
                wrong = program.start("energy", f"{name}.cfg", "--qm.charge", charge + 1,
                                      cwd=self.folder)  # fmt: skip
                self.assertEqual(wrong.returncode, 2, wrong.stderr)
                self.assertIn("electrons, which cannot have the multiplicity", wrong.stderr)
                program.succeed("check", f"{name}.cfg", cwd=self.folder)
                self.assertEqual("?" in made.stdout, name == "nitroxide", made.stdout)
        self.assertRegex(made.stdout, r"O2 +opls_272 +\?")

    def gromacs_file(self, name):
        for folder in ("/usr/share/gromacs/top", "/usr/local/gromacs/share/gromacs/top"):
            path = pathlib.Path(folder) / name
            if path.is_file():
                return path
        self.skipTest("no gromacs-data")


if __name__ == "__main__":
    program.main()
