"""What `--help` of the program says, for the tests of what is made of it."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program


def ask(*words):
    return program.succeed(*words).stdout


def entries(text):
    """Options and their meanings as Boost prints them: the meanings stand in a column."""
    found = {}
    option = None
    for line in text.splitlines():
        if begin := re.match(r"  (--[\w.-]+)(?: \S+)?(?: \(=.*?\))?(?: +(.*))?$", line):
            option = begin[1]
            found[option] = [begin[2] or ""]
        elif option and line.startswith(" " * 10):
            found[option].append(line)
        else:
            option = None
    return {option: " ".join(" ".join(lines).split()) for option, lines in found.items()}


def subcommands():
    return re.findall(r"^  starpmc (\w+)", ask("--help"), flags=re.MULTILINE)


def own_options(subcommand):
    """Options of a subcommand besides the configuration's."""
    text = ask(subcommand, "--help")
    if text.startswith("Usage:"):
        return list(entries(text.split("\nOptions of a configuration")[0]))
    # Without a help of its own: what its usage names.
    usage = re.search(rf"^  starpmc {subcommand}\b.*", text, flags=re.MULTILINE)[0]
    return [option for option in re.findall(r"--[\w.-]+", usage) if "." not in option]


def configuration():
    """Options of the configuration, --section.key, with their meanings."""
    return {name: text for name, text in entries(ask("--help")).items() if "." in name}
