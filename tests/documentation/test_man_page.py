"""The man page has every subcommand and option of --help, and no typesetter complains about it.

usage: test_man_page.py PROGRAM [TEST ...]
"""

import re
import shutil
import subprocess

import help_text
from help_text import program


def typeset(page):
    """The page as a terminal shows it, each paragraph on one line; and the complaints."""
    result = subprocess.run(
        ["groff", "-man", "-ww", "-Tascii", "-rLL=400n", "-P-cbou"],
        input=page,
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout, result.stderr


def parts(text, heading):
    """What stands below each heading, by the heading's group."""
    pieces = re.split(heading, text, flags=re.MULTILINE)[1:]
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


class ManPage(program.TestCase):
    def setUp(self):
        super().setUp()
        self.page = help_text.ask("--help-man")

    def test_every_subcommand_and_option_is_there(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        text, complaints = typeset(self.page)
        self.assertEqual(complaints, "")
        sections = parts(text, r"^([A-Z][A-Z ]+)$")
        subcommands = parts(sections["SUBCOMMANDS"], r"^   starpmc (\w+)$")
        self.assertEqual(list(subcommands), help_text.subcommands())
        for subcommand, about in subcommands.items():
            for option in help_text.own_options(subcommand):
                with self.subTest(subcommand=subcommand, option=option):
                    self.assertRegex(about, rf"(?m)^ +{option}( |$)")
        configuration = help_text.configuration()
        self.assertGreater(len(configuration), 50)
        for option, meaning in configuration.items():
            with self.subTest(option=option):
                term = rf"(?m)^ +{option} \S+\n +(.*)$"
                found = re.search(term, sections["CONFIGURATION"])
                self.assertIsNotNone(found)
                self.assertEqual(" ".join(found[1].split()), meaning)

    def test_mandoc_has_nothing_to_say(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        lint = subprocess.run(
            ["mandoc", "-Tlint", "-Wwarning"],
            input=self.page,
            check=False,
            capture_output=True,
            text=True,
        )
        # A date would be the build's, and the page another one each day.
        said = [line for line in lint.stdout.splitlines() if "missing date" not in line]
        self.assertEqual(said, [])


if __name__ == "__main__":
    program.main()
