"""What is said of an input that is allowed: warnings once on the terminal and in the log, what was
assumed in the log.

    python3 test_inputs.py PROGRAM
"""


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


if __name__ == "__main__":
    program.main()
