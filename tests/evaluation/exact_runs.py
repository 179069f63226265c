"""What the drivers of the exact ensemble share: runs that tell how far they have come, and their series."""

import csv
import json
import math
import statistics
import time
from pathlib import Path

from evaluation import CONFIGS, Failure, Program, keep_words


class Runs:
    """Of one program, in a folder; chains are shared out over `cores` CPU workers."""

    def __init__(self, program, folder, cores):
        self.program = Program(program, STARPU_NCPU=str(cores))
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.cores = cores

    def run(self, name, configuration, *words, reference=None):
        """summary.json; a run that is there already is not made again."""
        folder = self.folder / name
        made = (folder / "summary.json").exists()
        keep_words(self.folder / f"{name}.json", words, made)
        if made:
            return json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        if reference:
            words += ("--qm.reference", reference)
        print(f"{time.strftime('%H:%M:%S')} {name}: {' '.join(map(str, words))}", flush=True)
        summary = self.program.run(configuration, folder, *words, "--output.overwrite", "true")
        print(f"{time.strftime('%H:%M:%S')} {name}: {summary['total_seconds']:.0f} s", flush=True)
        return summary

    def box(self, solute, charge, waters):
        """Its coordinates and topology as words of the command line."""
        place = self.folder / solute
        if not place.with_suffix(".top").exists():
            xyz = CONFIGS / f"{solute}.xyz"
            self.program.call("solvate", "--solute", xyz, "--waters", waters, "--model", "tip3p",
                              "--charge", charge, "--output", place)
        return ("--system.coordinates", place.with_suffix(".gro"),
                "--system.topology", place.with_suffix(".top"))


def chain_folders(folder):
    found = sorted(Path(folder).glob("chain-*"), key=lambda path: int(path.name[6:]))
    return found or [Path(folder)]


def rows_of(path):
    """Numbers by column."""
    with open(path, newline="", encoding="ascii") as file:
        return [{name: float(value) for name, value in row.items()}
                for row in csv.DictReader(line for line in file if not line.startswith("#"))]


def blocks_of(folder):
    """Of each chain; the first is the start of production."""
    return [rows_of(path / "blocks.csv") for path in chain_folders(folder)]


def block_error(chains):
    """Mean, standard error and samples that are independent of each other of series that are
    correlated: from the means of parts, as long as their error grows with the parts' length."""
    values = [value for chain in chains for value in chain]
    if len(values) < 4:
        raise Failure(f"{len(values)} samples tell no error")
    mean, spread = statistics.fmean(values), statistics.variance(values)
    error, length = 0.0, 1
    while True:
        parts = [statistics.fmean(chain[i : i + length]) for chain in chains
                 for i in range(0, len(chain) - length + 1, length)]
        if len(parts) < max(8, 2 * len(chains)):
            break
        error = max(error, math.sqrt(statistics.variance(parts) / len(parts)))
        length *= 2
    error = error or math.sqrt(spread / len(values))
    return mean, error, spread / error**2 if error > 0 else len(values)

