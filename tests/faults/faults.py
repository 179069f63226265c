"""What the fault programs share: attempts that are judged and counted, and runs whose results are
compared.

Each program:  python3 NAME.py PROGRAM [--count N] [--seed S] [--first I] [--keep FOLDER]

Attempt I of a seed is the same whatever the count: `--seed S --first I --count 1` repeats it alone.
A failed attempt leaves its files in the folder of --keep. Exit status 1: an attempt failed.
"""

import argparse
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass

APP = pathlib.Path(__file__).resolve().parents[1] / "app"
sys.path.insert(0, str(APP))
import program

try:
    import h5py  # noqa: F401
except ImportError:
    print("skipped: no h5py")
    sys.exit(program.SKIPPED)

import test_faults
import test_resume

CPU_ONLY = test_faults.CPU_ONLY
MEMORY = 4 << 30  # bytes of address space that an attempt may have
SANITIZED = b"__asan_init" in program.PROGRAM.read_bytes()  # they take terabytes
PATIENCE = 60  # seconds to a hang, with a core to spare
WRONG_STATUS = "another exit status than 0, 1, 2"
# What C++, its libraries and Python say when nobody has put it into words.
BARE = re.compile(
    r"std::|bad_alloc|what\(\)|basic_(?:filebuf|string|ios)|vector::|map::at|\bsto[idlu]+\b"
    r"|error: \[?json\.exception|terminate called|Assertion|filesystem error|AddressSanitizer"
    r"|runtime error:|HDF5-DIAG|Traceback|Resource temporarily unavailable$",
    re.MULTILINE,
)


@dataclass
class Outcome:
    """A process that has ended, or None in place of its status: it had to be killed."""

    status: int | None
    output: str
    errors: str

    @property
    def fault(self):
        """What no input and no disk may lead to; None: it went as it should."""
        if self.status is None:
            return "a hang"
        if self.status < 0:
            return f"death by signal {-self.status}"
        if self.status not in (0, 1, 2):
            return f"{WRONG_STATUS}: {self.status}"
        if found := BARE.search(self.errors):
            return f"a bare {found[0]!r}"
        if self.status and "starpmc: error: " not in self.errors:
            return "an end without a reason"
        return None

    @property
    def refused(self):
        return self.status in (1, 2)


def longer_when_busy(seconds):
    """Where others keep the cores busy."""
    return seconds * max(1.0, os.getloadavg()[0] / os.cpu_count())


def start(*words, cwd=None, env=None, limits=()):
    """The program's outcome. Its process group is killed when the time is up."""
    memory = () if SANITIZED else (f"--as={MEMORY}",)
    process = subprocess.Popen(
        ["prlimit", *memory, *limits, "--", program.PROGRAM, *map(str, words)],
        cwd=cwd,
        env=program.environment(**(env or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=longer_when_busy(PATIENCE))
        return Outcome(process.returncode, output, errors)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return Outcome(None, *process.communicate())


def results_of(folder):
    """What must be the same in every run of the same input, to the last bit; None: there is none."""
    if not (folder / "summary.json").exists():
        return None
    try:
        return test_faults.results(folder)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"


class Tally:
    """Counts attempts by what came of them, and says which of them failed."""

    def __init__(self, arguments):
        self._arguments = arguments
        self._counts = Counter()
        self._begun = time.monotonic()
        self.failed = 0

    def count(self, outcome, number=1):
        self._counts[outcome] += number

    def fail(self, attempt, what, outcome=None, files=()):
        """files: kept, where a folder was named for them."""
        self.failed += 1
        again = f"--seed {self._arguments.seed} --first {attempt.number} --count 1"
        print(f"FAILED: {attempt.description}: {what}\n  again: {again}")
        if outcome is not None:
            print("  it said:", outcome.errors.strip()[-1500:].replace("\n", "\n    "))
        if self._arguments.keep and files:
            place = self._arguments.keep / f"{attempt.number}"
            place.mkdir(parents=True, exist_ok=True)
            for path in files:
                if path.is_dir():
                    shutil.copytree(path, place / path.name, dirs_exist_ok=True, symlinks=True)
                elif path.exists():
                    shutil.copy(path, place)
            print(f"  files: {place}")

    def judge(self, attempt, outcome, files=()):
        """Whether it ended as a program should."""
        if (fault := outcome.fault) is None:
            return True
        word = "hangs" if outcome.status is None else "crashes" if outcome.status < 0 else "badly said"
        self.count(word)
        self.fail(attempt, fault, outcome, files)
        return False

    def judge_results(self, attempt, outcome, folder, expected):
        """Of a run that may be refused, and otherwise has the results of an undisturbed one."""
        if not self.judge(attempt, outcome, [folder]):
            return
        if outcome.refused:
            self.count("refused")
        elif results_of(folder) == expected:
            self.count("accepted, identical")
        else:
            self.count("other results")
            self.fail(attempt, "other results than the unbroken run, and no word of it", outcome, [folder])

    def finish(self):
        """Prints the counts; does not return."""
        print(f"{self._arguments.count} attempts, seed {self._arguments.seed}:")
        for outcome, number in sorted(self._counts.items()):
            print(f"  {number:6} {outcome}")
        for outcome in ("crashes", "hangs", "other results"):
            if outcome not in self._counts:
                print(f"  {0:6} {outcome}")
        print(f"  {self.failed:6} failed; {time.monotonic() - self._begun:.1f} s")
        sys.exit(1 if self.failed else 0)


@dataclass
class Attempt:
    number: int
    draw: random.Random
    folder: pathlib.Path
    description: str = ""


def parse(description, count):
    """The command line; `count` by default."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path)
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    return parser.parse_args()


def attempts(arguments):
    """Each with random numbers and a temporary folder of its own."""
    for number in range(arguments.first, arguments.first + arguments.count):
        with tempfile.TemporaryDirectory(prefix="starpmc-fault-") as name:
            draw = random.Random(f"{arguments.seed} {number}")
            yield Attempt(number, draw, pathlib.Path(name))


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="starpmc-fault-") as name:
        yield pathlib.Path(name)


__all__ = ["APP", "CPU_ONLY", "Attempt", "Outcome", "Tally", "attempts", "longer_when_busy", "parse",
           "program", "results_of", "scratch", "start", "test_faults", "test_resume"]  # fmt: skip
