"""What the program's tests share: running starpmc, temporary folders, the parsing of its output.

Every test script takes the program's path as its first argument. Exit status 77: skipped, reason on
the last line. StarPU's calibrations are kept in $STARPMC_TEST_STARPU_HOME (default: a folder of
this user under the temporary directory), so that only the first run of a machine pays for them.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
TESTS = pathlib.Path(__file__).resolve().parents[1]
DATA = TESTS / "data"
REPOSITORY = TESTS.parent


def energy_terms():
    """The table of energy terms: a tuple (constant, name, symbol, unit, title) per row."""
    text = (REPOSITORY / "kernels/common/energy_terms.h").read_text(encoding="utf-8")
    row = re.compile(r'^ *X\((\w+), (\w+), "([^"]+)", "([^"]+)", "([^"]+)"\)', re.MULTILINE)
    return row.findall(text)


# The last one, the polarisation energy, belongs to runs with a fixed reference.
TERMS = tuple(name for _, name, *_ in energy_terms())[:-1]

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit(f"usage: {sys.argv[0]} PROGRAM [TEST ...]")
PROGRAM = pathlib.Path(sys.argv[1]).resolve()


def starpu_home():
    default = pathlib.Path(tempfile.gettempdir()) / f"starpmc-tests-starpu-{os.getuid()}"
    home = pathlib.Path(os.environ.get("STARPMC_TEST_STARPU_HOME") or default)
    home.mkdir(parents=True, exist_ok=True)
    return home


def environment(**changes):
    """This process's, without settings that would change what a test asks for."""
    result = {k: v for k, v in os.environ.items() if not k.startswith("STARPU_")}
    result["STARPU_HOME"] = str(starpu_home())
    # StarPU and OpenCL drivers keep memory to the end of the process; that is no bug of ours.
    options = result.get("ASAN_OPTIONS", "")
    if "detect_leaks" not in options:
        result["ASAN_OPTIONS"] = ":".join(filter(None, (options, "detect_leaks=0")))
    result.update({name: str(value) for name, value in changes.items()})
    return result


def failing_opencl(library, how, after):
    """Environment in which the OpenCL device fails so (failing_opencl.cpp), once StarPU's worker has
    launched so many kernels."""
    preloaded = {"LD_PRELOAD": library, "STARPU_OPENCL_PIPELINE": 2}
    sanitized = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}
    return preloaded | sanitized | {"FAILING_OPENCL": how, "FAILING_OPENCL_AFTER": after}


def start(*arguments, cwd=None, env=None, timeout=300, program=None):
    """The finished process; its output as text."""
    return subprocess.run(
        [program or PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env=environment(**(env or {})),
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
    )


def succeed(*arguments, **options):
    """As start(), but the program has to end with 0."""
    result = start(*arguments, **options)
    if result.returncode != 0:
        words = " ".join(map(str, arguments))
        raise AssertionError(
            f"starpmc {words}\nended with {result.returncode}\n{result.stdout}{result.stderr}"
        )
    return result


def options_of(**sections):
    """{"sampling": {"max_translation": 1}} as words of the command line."""
    words = []
    for section, values in sections.items():
        for name, value in values.items():
            words += [f"--{section}.{name.replace('_', '-')}", value]
    return words


def write_config(path, **sections):
    """A .cfg file; underscores in names stand for hyphens. Production begins at the first step,
    where nothing else is said."""
    if "sampling" in sections:
        sections["sampling"] = {"equilibration_steps": 0} | sections["sampling"]
    lines = []
    for section, values in sections.items():
        lines.append(f"[{section}]")
        lines += [f"{name.replace('_', '-')} = {value}" for name, value in values.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def small_system():
    """Formaldehyde with a stored density in 64 waters."""
    folder = DATA / "small"
    return {
        "system": {
            "coordinates": folder / "small.gro",
            "topology": folder / "small.top",
            "qm_molecule": "formaldehyde",
        },
        "qm": {"engine": "frozen", "grid_file": folder / "small.grid"},
    }


def plain_system(name):
    """A system without QM: "argon/argon", "nist/lj_1"."""
    return {
        "system": {"coordinates": DATA / f"{name}.gro", "topology": DATA / f"{name}.top"},
    }


def ended_early(chains):
    """Sections of a run that sampling.until-error ends after some 250,000 steps."""
    return plain_system("argon/argon") | {
        "sampling": {
            "steps": 2000000,
            "equilibration_steps": 40000,
            "chains": chains,
            "until_error": 8,
        },
        "output": {"energy_interval": 50, "trajectory_interval": 100000},
    }


def energies(config, *arguments, env=None, timeout=300):
    """The energies that `starpmc energy` prints, by term."""
    result = succeed("energy", config, *arguments, env=env, timeout=timeout)
    return json.loads(result.stdout)["energies_kj_per_mol"]


def simulate(config, folder, *arguments, env=None, timeout=600, cwd=None):
    """summary.json of a run into a new folder."""
    words = ("run", config, "--output.folder", folder, *arguments)
    succeed(*words, env=env, timeout=timeout, cwd=cwd)
    return json.loads((pathlib.Path(cwd or ".") / folder / "summary.json").read_text())


def opencl_missing():
    """Why there is no OpenCL device on this machine, or an empty text."""
    with tempfile.TemporaryDirectory() as name:
        config = write_config(
            pathlib.Path(name) / "a.cfg", **plain_system("argon/argon"), sampling={"steps": 1}
        )
        result = start("energy", config, "--implementation", "opencl")
    if result.returncode == 1 and "there is none" in result.stderr:
        return "no OpenCL device"
    return ""


class TestCase(unittest.TestCase):
    """A test with a temporary folder of its own."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="starpmc-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def config(self, **sections):
        return write_config(self.folder / "test.cfg", **sections)


def main():
    """Runs the script's tests; does not return."""
    sys.stdout.reconfigure(line_buffering=True)
    outcome = unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]], exit=False).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    if outcome.testsRun and len(outcome.skipped) == outcome.testsRun:
        print("skipped:", "; ".join(sorted({reason for _, reason in outcome.skipped})))
        sys.exit(SKIPPED)
    sys.exit(0)
