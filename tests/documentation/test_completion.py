"""What bash and zsh offer on a command line of starpmc.

usage: test_completion.py PROGRAM [TEST ...]
"""

import shutil
import subprocess

import help_text
from help_text import program

# Prints what bash would offer for the words after the first, the last of which is being written.
ASK_BASH = """
source "$0"
COMP_WORDS=(starpmc "$@")
COMP_CWORD=$#
[[ $(complete -p starpmc) == 'complete -F _starpmc starpmc' ]] || exit 3
_starpmc
printf '%s\\n' "${COMPREPLY[@]}"
"""

# The same, without a terminal: what the completion system is called with stands for its answers.
ASK_ZSH = """
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- ${(P)4} }
compadd() { print -rl -- "$@" }
words=(starpmc "${@:2}")
CURRENT=$#words
source $1
"""

CONFIGURED = ("run", "check", "energy", "profile")


class Bash(program.TestCase):
    def setUp(self):
        super().setUp()
        self.script = self.folder / "completion"
        self.script.write_text(help_text.ask("--help-completion", "bash"), encoding="utf-8")
        for name in ("water.cfg", "water box.cfg", "water.gro"):
            (self.folder / name).touch()
        (self.folder / "water-output").mkdir()

    def offered(self, *words):
        result = subprocess.run(
            ["bash", "--norc", "-uc", ASK_BASH, self.script, *words],
            cwd=self.folder,
            check=False,
            capture_output=True,
            text=True,
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""), words)
        return result.stdout.split("\n")[:-1] if result.stdout != "\n" else []

    def test_subcommands(self):
        words = self.offered("")
        self.assertEqual([w for w in words if not w.startswith("-")], help_text.subcommands())
        self.assertEqual(self.offered("res"), ["resume"])
        self.assertEqual(self.offered("--help-completion", ""), ["bash", "zsh"])
        self.assertEqual(self.offered("simulate", ""), [])

    def test_every_option_of_every_subcommand(self):
        keys = set(help_text.configuration())
        self.assertGreater(len(keys), 50)
        for subcommand in help_text.subcommands():
            with self.subTest(subcommand=subcommand):
                offered = self.offered(subcommand, "-")
                self.assertEqual(len(offered), len(set(offered)))
                own = {*help_text.own_options(subcommand), "--help"}
                self.assertEqual(set(offered) - keys, own - keys)
                if subcommand != "resume":  # the next test's
                    taken = keys if subcommand in CONFIGURED else own & keys
                    self.assertEqual(set(offered) & keys, taken)

    def test_only_what_a_resumed_run_takes_is_offered_for_it(self):
        for option in help_text.configuration():
            with self.subTest(option=option):
                result = program.start("resume", self.folder, f"{option}=1")
                refused = "may not change when a run is resumed" in result.stderr
                self.assertEqual(refused, option not in self.offered("resume", ".", option))

    def test_values(self):
        modifiers = ["truncate", "potential-shift", "force-shift"]
        option = "--interaction.vdw-modifier"
        self.assertEqual(self.offered("run", "water.cfg", option, ""), modifiers)
        self.assertEqual(self.offered("run", "water.cfg", option, "f"), ["force-shift"])
        # Bash's own words for --option=value.
        self.assertEqual(self.offered("run", "water.cfg", option, "="), modifiers)
        self.assertEqual(self.offered("run", "water.cfg", option, "=", "f"), ["force-shift"])
        precisions = ["fp64", "mixed", "fixed"]
        for words in (("energy", "x", "--precision"), ("run", "x", "--run.precision"),
                      ("score", "--precision")):  # fmt: skip
            self.assertEqual(self.offered(*words, ""), precisions)
        self.assertEqual(self.offered("run", "x", "--sampling.window", ""), ["auto"])
        self.assertEqual(self.offered("run", "x", "--sampling.steps", ""), [])
        self.assertEqual(self.offered("run", "x", "--output.trace", "t"), ["true"])
        # A flag has none: the next option.
        self.assertIn("--json", self.offered("expression", "r", "--second", ""))

    def test_files(self):
        configurations = ["water box.cfg", "water-output", "water.cfg"]
        self.assertEqual(sorted(self.offered("run", "wat")), configurations)
        self.assertEqual(self.offered("resume", "wat"), ["water-output"])
        self.assertEqual(self.offered("report", "wat"), ["water-output"])
        everything = sorted([*configurations, "water.gro"])
        self.assertEqual(
            sorted(self.offered("run", "x", "--system.coordinates", "wat")), everything
        )
        self.assertEqual(sorted(self.offered("solvate", "--solute", "wat")), everything)
        self.assertEqual(self.offered("expression", "wat"), [])

    def test_shellcheck_has_nothing_to_say(self):
        if not shutil.which("shellcheck"):
            self.skipTest("shellcheck is not installed")
        result = subprocess.run(
            ["shellcheck", self.script], check=False, capture_output=True, text=True
        )
        self.assertEqual(result.stdout, "")


class Zsh(program.TestCase):
    def setUp(self):
        super().setUp()
        self.text = help_text.ask("--help-completion", "zsh")
        self.script = self.folder / "_starpmc"
        self.script.write_text(self.text, encoding="utf-8")

    def test_every_subcommand_and_option_is_there(self):
        self.assertTrue(self.text.startswith("#compdef starpmc\n"))
        for subcommand in help_text.subcommands():
            self.assertIn(f"    '{subcommand}:", self.text)
            for option in help_text.own_options(subcommand):
                self.assertRegex(self.text, rf"'\*?{option}=?\[")
        for option in help_text.configuration():
            self.assertIn(f"'{option}=[", self.text)

    def specifications(self, *words):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        result = subprocess.run(
            ["zsh", "-fc", ASK_ZSH, "zsh", self.script, *words],
            check=False,
            capture_output=True,
            text=True,
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""), words)
        return [line.removeprefix("*").split("[")[0] for line in result.stdout.splitlines()]

    def test_what_zsh_is_told(self):
        first = [word.partition(":")[0] for word in self.specifications("")]
        self.assertEqual(first[: len(help_text.subcommands())], help_text.subcommands())
        for subcommand in help_text.subcommands():
            words = {word.removesuffix("=") for word in self.specifications(subcommand, "")}
            self.assertGreaterEqual(words, set(help_text.own_options(subcommand)))
            keys = help_text.configuration() if subcommand in CONFIGURED else ()
            self.assertGreaterEqual(words, set(keys))
        self.assertNotIn("--sampling.seed=", self.specifications("resume", ""))


if __name__ == "__main__":
    program.main()
