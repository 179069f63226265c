"""What a run has left in its folder, read as far as it is there and whole."""

import configparser
import csv
import io
import itertools
import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy

# Nuclei and electrons together; the QM molecule's own energy. Earlier versions had neither.
COLUMNS_OF_QM = {"qmmm_coulomb": "QM-MM Coulomb, both", "solute": "solute's own"}
# Of a run with a fixed reference, whose field is that of density and nuclei in one: their sum is the
# term, as in the program's own table (src/io/result_table.cpp).
OF_REFERENCE_ONLY = "qmmm_polarisation"
PARTS_IN_ONE = ("qmmm_nuclei", "qmmm_grid")
LONGEST_TEXT = 1 << 28  # bytes: nothing that a run writes as text is longer
ROWS_AT_ONCE = 200_000
# What a damaged file may raise while it is read.
DAMAGE = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, csv.Error)


class ReportError(Exception):
    """The user's mistake, or something missing on this machine: exit status 2."""


class Failure(Exception):
    """What went wrong at run time: exit status 1."""


@dataclass
class EnergyTerm:
    """A row of the program's table of energy terms."""

    title: str
    unit: str


@dataclass
class Chain:
    """One chain's files. energies: column -> numbers, one for each line of energies.csv."""

    name: str
    folder: Path
    results: dict
    energies: dict

    @property
    def trajectory(self):
        return trajectory_in(self.folder)

    @property
    def has_dispersion_correction(self):
        """Which is a constant part of the total energy."""
        return "dispersion_correction" in self.results.get("averages", {})

    def production(self, column, equilibration_steps):
        """Steps and values after equilibration: those that the run's averages are made of."""
        steps, values = self.energies["step"], self.energies[column]
        chosen = (steps > equilibration_steps) & numpy.isfinite(values)
        return steps[chosen], values[chosen]


@dataclass
class Timeline:
    """Tasks in the order of the file: worker and codelet are indices, times in ms."""

    workers: list
    codelets: list
    worker: numpy.ndarray
    codelet: numpy.ndarray
    start: numpy.ndarray
    end: numpy.ndarray


@dataclass
class RunFolder:
    path: Path
    energy_terms: dict = field(default_factory=dict)  # EnergyTerm by column of energies.csv
    settings_text: str = ""
    settings: dict = field(default_factory=dict)
    summary: dict = field(default_factory=dict)
    chains: list = field(default_factory=list)
    timeline: Timeline = None
    problems: list = field(default_factory=list)

    def setting(self, section, key, default):
        """As the type of the default."""
        text = self.settings.get(section, {}).get(key)
        try:
            return default if text is None else type(default)(text)
        except ValueError:
            return default

    @property
    def finished(self):
        return bool(self.summary)

    def equilibration_of(self, chain):
        found = chain.results.get("equilibration_steps")
        return found if is_number(found) else self.equilibration_steps

    @property
    def equilibration_steps(self):
        """Of the chain that needed most."""
        found = self.summary.get("equilibration_steps")
        return found if is_number(found) else self.setting("sampling", "equilibration-steps", 0)

    @property
    def is_exact(self):
        """Whether it has ended and is of the exact ensemble."""
        return self.summary.get("ensemble") == "exact"

    @property
    def warnings(self):
        """Those of the run itself, when it has ended; earlier versions kept none."""
        found = self.summary.get("warnings")
        return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []

    @property
    def equilibration_known(self):
        """Of a run that has not ended its files do not tell where an automatic one did."""
        return self.finished or self.setting("sampling", "equilibration-steps", "") != "auto"

    @property
    def qm_engine(self):
        """none: pure MM."""
        if self.summary:
            return str(self.summary.get("qm_engine", "none"))
        if not self.settings.get("system", {}).get("qm-molecule"):
            return "none"
        return self.setting("qm", "engine", "none")

    @property
    def terms(self):
        """Those of this kind of system and of the version that sampled it: without charges, say,
        there is no Coulomb energy."""
        of_qm = () if self.qm_engine == "none" else COLUMNS_OF_QM
        reference = any(OF_REFERENCE_ONLY in chain.energies for chain in self.chains)
        parts = PARTS_IN_ONE if reference and of_qm else ()
        found = [
            column
            for column in (*self.energy_terms, *of_qm)
            if column not in parts
            and all(column in chain.energies for chain in self.chains)
            and any(chain.energies[column].any() for chain in self.chains)
        ]
        corrected = any(chain.has_dispersion_correction for chain in self.chains)
        return found if len(found) > 1 or corrected else []  # the only one is the total

    def problem(self, text):
        self.problems.append(text)


def trajectory_in(folder):
    return folder / "trajectory.h5md"


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def require_file(path):
    """Neither a folder nor what would never end."""
    if path.exists() and not path.is_file():
        raise OSError("is no regular file")


def read_text(path):
    require_file(path)
    if path.stat().st_size > LONGEST_TEXT and path.suffix != ".csv":
        raise OSError("is too long for a file of starpmc")
    return path.read_text(encoding="utf-8", errors="replace")


def read_settings(run):
    path = run.path / "settings.cfg"
    if not path.exists():
        return
    try:
        run.settings_text = read_text(path)
        parser = configparser.ConfigParser(
            interpolation=None, strict=False, delimiters=("=",), comment_prefixes=("#",)
        )
        parser.read_string(run.settings_text)
        run.settings = {name: dict(parser[name]) for name in parser.sections()}
    except (*DAMAGE, configparser.Error) as error:
        run.problem(f"settings.cfg cannot be read: {error}")


def read_summary(run):
    path = run.path / "summary.json"
    if not path.exists():
        run.problem(
            "There is no summary.json: the run goes on, was interrupted or failed. Results of QM "
            "updates, workers and versions come with it; the rest is as far as the run has got."
        )
        return
    try:
        summary = json.loads(read_text(path))
        if not isinstance(summary, dict):
            raise TypeError("it holds no object")
        run.summary = summary
    except DAMAGE as error:
        run.problem(f"summary.json cannot be read: {error}")


def read_energies(path):
    """Columns of energies.csv; a line that is still being written is left out."""
    text = read_text(path)
    text = text[: text.rfind("\n") + 1]
    _, _, body = ("\n" + text).partition("\nstep,")
    names, _, body = body.partition("\n")
    names = ["step", *names.strip().split(",")]
    for name in ("total", "acceptance"):
        if name not in names:
            raise ValueError(f"it has no column {name}")
    if not body.strip():
        return {name: numpy.empty(0) for name in names}
    # No value where a line has no virial.
    body = body.replace(",,", ",nan,").replace(",\n", ",nan\n")
    table = numpy.loadtxt(io.StringIO(body), delimiter=",", ndmin=2)
    if table.shape[1] != len(names):
        raise ValueError(f"lines have {table.shape[1]} values under {len(names)} names")
    return dict(zip(names, table.T, strict=True))


def chain_folders(run):
    """Folders by the chain's number."""
    found = {}
    for path in run.path.glob("chain-*"):
        text = path.name.removeprefix("chain-")
        if text.isascii() and text.isdecimal() and path.is_dir():
            found[int(text)] = path
    return dict(sorted(found.items()))


def places_of_chains(run):
    """The folder of each chain's files by its number: the run's own where there is but one."""
    folders = chain_folders(run)
    several = bool(folders) and not (run.path / "energies.csv").exists()
    return folders if several else {0: run.path}


def read_chains(run):
    for number, folder in places_of_chains(run).items():
        several = folder != run.path
        label = f"{folder.name}/" if several else ""
        results = run.summary
        listed = run.summary.get("chains")
        # Where auto came to one chain, its folder is chain-0 and its results are the run's.
        if several and (listed is not None or number > 0):
            results = listed[number] if isinstance(listed, list) and number < len(listed) else {}
            results = results if isinstance(results, dict) else {}
        energies = {name: numpy.empty(0) for name in ("step", "total", "acceptance")}
        try:
            energies = read_energies(folder / "energies.csv")
        except FileNotFoundError:
            run.problem(f"There is no {label}energies.csv.")
        except DAMAGE as error:
            run.problem(f"{label}energies.csv cannot be read: {error}")
        name = folder.name.replace("-", " ") if several else "chain 0"
        run.chains.append(Chain(name, folder, results, energies))


def read_timeline_columns(file):
    rows = csv.reader(file)
    header = next(rows, [])
    wanted = ("worker", "worker_name", "codelet", "start_ms", "end_ms")
    places = [header.index(name) for name in wanted]
    workers, codelets, parts = {}, {}, []
    while block := list(itertools.islice(rows, ROWS_AT_ONCE)):
        if len(block[-1]) < len(header):  # the line that is being written
            block.pop()
        number, name, codelet, start, end = ([row[place] for row in block] for place in places)
        worker_keys = list(zip(number, name, strict=True))
        parts.append(
            (
                numpy.array([workers.setdefault(key, len(workers)) for key in worker_keys], "i4"),
                numpy.array([codelets.setdefault(key, len(codelets)) for key in codelet], "i4"),
                numpy.array(start, float),
                numpy.array(end, float),
            )
        )
    if not parts:
        raise ValueError("it has no tasks")
    worker, *columns = [numpy.concatenate(column) for column in zip(*parts, strict=True)]
    keys = list(workers)
    order = sorted(range(len(keys)), key=lambda index: (int(keys[index][0]), index))
    place = numpy.argsort(order)  # the workers by their numbers
    names = [keys[index][1] or f"worker {keys[index][0]}" for index in order]
    return names, list(codelets), place[worker], *columns


def read_timeline(run):
    path = run.path / "timeline.csv"
    if not path.exists():
        return
    try:
        require_file(path)
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            timeline = Timeline(*read_timeline_columns(file))
        times = (timeline.start, timeline.end)
        if not all(numpy.isfinite(column).all() for column in times):
            raise ValueError("a time is no number")
        if (timeline.end < timeline.start).any():
            raise ValueError("a task ends before it starts")
        run.timeline = timeline
    except DAMAGE as error:
        run.problem(f"timeline.csv cannot be read: {error}")


def open_run(path, terms=()):
    """Nothing of it is read yet. `terms`: column, title, unit of each energy term. Raises
    ReportError where no run has been."""
    if not any((path / name).exists() for name in ("settings.cfg", "summary.json", "energies.csv")):
        raise ReportError(
            f"{path}: is not the output folder of a run: it has no settings.cfg, summary.json or "
            "energies.csv\n  remedy: name the folder that output.folder of a run says"
        )
    return RunFolder(path, {column: EnergyTerm(title, unit) for column, title, unit in terms})


def read_run(path, terms=()):
    """All of it; arguments as those of open_run()."""
    run = open_run(path, terms)
    read_settings(run)
    read_summary(run)
    read_chains(run)
    read_timeline(run)
    if not run.equilibration_known:
        run.problem(
            "Where equilibration ends is not known before the run does (sampling.equilibration-steps = "
            "auto): means, errors and structure are of all steps, equilibration included."
        )
    return run
