"""What the drivers share: starpmc as a process, tables beside published ones, the command line.

A driver lies in tests/evaluation of the source tree or in share/starpmc/evaluation of an installation.
"""

import argparse
import csv
import importlib.util
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN = "starpmc"
LAST_LETTERS = 600


def first_of(*paths):
    return next((path for path in paths if path.exists()), paths[0])


CONFIGS = first_of(HERE.parents[1] / "configs", HERE.parent / "configs")
WORKERS = first_of(HERE.parents[1] / "src/qm/workers", HERE.parent / "workers")
PROGRAMS = (HERE.parents[1] / "build/release/starpmc", HERE.parents[2] / "bin/starpmc")


class InputError(Exception):
    """What the user has to change: exit status 2."""

    def __init__(self, place, problem, found, remedy):
        super().__init__(f"{place}: {problem}: '{found}'\n  remedy: {remedy}")


class Failure(Exception):
    """What went wrong at run time: exit status 1."""


def refuse(option, found, known):
    raise InputError(option, "unknown value", found, f"choose from {', '.join(known)}")


def choose(option, text, names):
    """The values of a list by their names ({name: value}, in any case), each once."""
    chosen = []
    for word in (word.strip() for word in text.split(",")):
        value = {name.lower(): value for name, value in names.items()}.get(word.lower())
        if value is None:
            refuse(option, word, names)
        if value not in chosen:
            chosen.append(value)
    return chosen


def bounded(kind, least, most):
    """A type for argparse: a number in a range, NaN excluded."""

    def read(text):
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text}: write {least:g} to {most:g}")
        return value

    return read


def numbers(most):
    """A type for argparse: a list of positive numbers, sorted, each once."""
    one = bounded(int, 1, most)
    return lambda text: sorted({one(word) for word in text.split(",")})


SECONDS = bounded(float, 1e-6, 3600)


class Program:
    """starpmc, in an environment."""

    def __init__(self, path=None, **environment):
        found = path or next((p for p in PROGRAMS if p.exists()), shutil.which("starpmc"))
        if found is None or not Path(found).exists():
            raise InputError("--program", "there is no starpmc", found or "", "build it, or name it")
        self.path = Path(found).resolve()
        self.environment = environment

    def with_environment(self, **more):
        return Program(self.path, **(self.environment | {k: str(v) for k, v in more.items()}))

    def call(self, *words):
        done = subprocess.run(
            [self.path, *map(str, words)],
            env=os.environ | {"STARPMC_PYTHON": sys.executable} | os.environ | self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"starpmc {words[0]} failed: {done.stderr.strip()[-LAST_LETTERS:]}")
        return done.stdout

    def bench(self, *words):
        """bench.json of `starpmc bench`."""
        with tempfile.TemporaryDirectory(prefix="starpmc-bench-") as name:
            self.call("bench", *words, "--output", f"{name}/out")
            return json.loads(Path(name, "out", "bench.json").read_text(encoding="utf-8"))

    def run(self, configuration, folder, *words):
        """summary.json of `starpmc run`."""
        self.call("run", configuration, *words, "--output.folder", folder)
        return json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"))

    def machine(self, *words):
        """What bench.json tells of the machine. In one precision: a GPU builds kernels for each."""
        return self.bench("--term", "poses", "--particles", 2, "--evaluations", 1, "--seconds", 1e-4,
                          "--precision", "mixed", *words)["machine"]


def machine_text(machine):
    return (f"starpmc {machine['starpmc_version']}, StarPU {machine['starpu_version']}"
            f" ({machine['scheduler']}), {machine['date']}\n{machine['cpu']},"
            f" {machine['instruction_set']}\nworkers: {', '.join(machine['workers'])}\n")


def counted(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def duration(seconds):
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s"


def readable(value):
    """Four significant digits or so, without an exponent where that is readable."""
    if value is None or isinstance(value, str):
        return value or ""
    if value == math.floor(value) and abs(value) < 1e9:
        return f"{value:.0f}"
    if not 1e-3 <= abs(value) < 1e9:
        return f"{value:.2e}"
    return f"{value:.{max(0, 3 - max(0, math.floor(math.log10(abs(value)))))}f}"


def aligned(lines, left=0):
    """Cells in columns of equal width: the first `left` of them flush left, the others right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        ("  " + "  ".join(cell.ljust(width) if i < left else cell.rjust(width)
                          for i, (cell, width) in enumerate(zip(line, widths, strict=True)))).rstrip()
        + "\n" for line in lines)


def csv_text(columns, rows):
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if cell is None else cell for cell in row] for row in rows)
    return file.getvalue()


def read_csv(path):
    """Rows of a table by column; none where the file does not exist."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("# ")))


@dataclass
class Table:
    """A table, or the data of a figure, with this machine's numbers beside the published ones: a row's
    first cell says whose it is. Columns carry their units; empty cells are None."""

    key: str
    title: str
    columns: list
    rows: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # how it was measured, or why it was not

    def add(self, *cells):
        if len(cells) + 1 != len(self.columns):
            raise ValueError(f"{self.key}: a row with a wrong number of cells")
        self.rows.append([OWN, *cells])

    def csv(self):
        notes = "".join("# " + note.replace("\n", " ") + "\n" for note in self.notes)
        return notes + csv_text(self.columns, self.rows)

    def as_json(self):
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "columns": self.columns, "rows": rows, "notes": self.notes}

    def text(self):
        """For people; notes only where nothing was measured."""
        lines = [self.columns, *([readable(cell) for cell in row] for row in self.rows)]
        own = any(row[0] == OWN for row in self.rows)
        return (self.title + "\n" + (aligned(lines, 2) if own else "")
                + "".join(f"  {note}\n" for note in self.notes))


def keep_words(path, words, made):
    """Keeps what a run is asked for. Of one that is `made` it has to be the same: its results would stand
    under the options of another."""
    words = list(map(str, words))
    if not made:
        path.write_text(json.dumps(words) + "\n", encoding="utf-8")
    elif path.exists() and (found := json.loads(path.read_text(encoding="utf-8"))) != words:
        raise InputError(path, "the run beside it was made with other options", " ".join(found),
                         "give those again, remove the run, or choose another folder with --output")


def new_folder(path, name):
    """For results; an earlier experiment's is left alone."""
    if list(path.glob(name)):
        raise InputError("--output", "the folder holds an earlier experiment", path, "choose another")
    path.mkdir(parents=True, exist_ok=True)
    return path


def draw(draw_figures, folder):
    """With matplotlib, where there is one."""
    if importlib.util.find_spec("matplotlib") is None:
        print("no plots: this Python has no matplotlib", file=sys.stderr)
    else:
        draw_figures(folder)


def arguments(description, default_folder):
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    parser.add_argument("--program", type=Path, help="starpmc; by default the one built or installed "
                        "with this script, or in PATH")
    parser.add_argument("--output", type=Path, default=Path(default_folder), help="a new folder for "
                        "the results (%(default)s)")
    return parser


def main(body):
    """Ends the process: 2 where the user has to change something, 1 for other failures."""
    try:
        sys.exit(body())
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except Failure as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
