"""How long StarPU's scheduler takes to place a chain's tasks well: from no performance models, and
from models of a smaller density grid.

    python3 learning.py PROGRAM [PROGRAM ...]

runs bench-A's box with density grids of random points on PoCL's device and a core, and on two PoCL
devices of one core each. Several programs (one before a change, one after) take turns. For each run
it prints the windows and seconds until ten windows in a row take at most 1.3 times the best mean of
ten windows of all runs on these workers, and the seconds lost to that best over the whole run.
`-` stands for never.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "reference"))
from reference_energies import write_grid

ELECTRONS = 124  # of the solute
CHARGES = {"H": 1, "C": 6, "N": 7, "O": 8}
WIDTH = 0.35  # angstrom, of the electrons about a nucleus: the program asks for a core there
WORKERS = {
    "PoCL and a core": {"STARPU_OPENCL_ON_CPUS": "1"},
    "two PoCL devices": {
        "STARPU_OPENCL_ON_CPUS": "1",
        "STARPU_NCPU": "0",
        "POCL_DEVICES": "pthread pthread",
        "POCL_MAX_PTHREAD_COUNT": "1",
    },
}
SMALLER = 8  # times fewer points
RUN_OF_WINDOWS = 10
HARDLY_SLOWER = 1.3


def random_points(count, nuclei):
    """All electrons, as points normally distributed about the nuclei, to each as many as its charge."""
    positions, charges = nuclei
    random = np.random.default_rng(1)
    points = random.normal(0, WIDTH, (count, 4))
    points[:, :3] += positions[random.choice(len(charges), count, p=charges / charges.sum())]
    points[:, 3] = -ELECTRONS / count
    return points


def nuclei_of_solute(structure):
    """(angstrom, charges) of the atoms of the residues that are no water in a .gro file."""
    lines = structure.read_text().splitlines()[2:-1]
    atoms = [line for line in lines if line[5:10].strip() not in ("SOL", "HOH", "WAT")]
    positions = [[10 * float(word) for word in line[20:].split()[:3]] for line in atoms]
    charges = [CHARGES[line[10:15].strip().rstrip("0123456789")] for line in atoms]
    return np.array(positions), np.array(charges)


def run(program, folder, home, grid, steps, workers, options):
    """Ends of the windows, seconds since the run's start."""
    words = [program, "run", ROOT / "configs" / "bench-A.cfg", "--qm.engine", "frozen"]
    words += ["--qm.grid-file", grid, "--sampling.steps", steps, "--output.folder", folder]
    words += ["--output.overwrite", "true", "--run.implementation", "any", "--output.trace", "true"]
    words += options
    empty = home / "none"
    empty.mkdir(parents=True, exist_ok=True)
    environment = os.environ | workers | {"STARPU_HOME": home, "STARPMC_PERFMODELS": empty}
    subprocess.run(
        list(map(str, words)),
        check=True,
        env={name: str(value) for name, value in environment.items()},
        stdout=subprocess.DEVNULL,
        timeout=600,
    )
    ends = {}
    with open(folder / "timeline.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["window"]:
                window = int(row["window"])
                ends[window] = max(ends.get(window, 0), float(row["end_ms"]) * 1e-3)
    return [ends[window] for window in sorted(ends)]


def durations(ends):
    return [end - before for before, end in zip([0, *ends], ends)]


def means(windows):
    """Of ten windows in a row, from each on."""
    count = len(windows) - RUN_OF_WINDOWS + 1
    return [sum(windows[i : i + RUN_OF_WINDOWS]) / RUN_OF_WINDOWS for i in range(count)]


def report(name, ends, best):
    windows = durations(ends)
    good = [i for i, mean in enumerate(means(windows)) if mean <= HARDLY_SLOWER * best]
    until = f"{good[0]:8} {ends[good[0] - 1] if good[0] > 0 else 0:8.2f}" if good else "       -        -"
    lost = sum(windows) - len(windows) * best
    print(f"  {name:34} {until} {lost:8.2f} {1e3 * sum(windows) / len(windows):10.2f}", flush=True)


def learn(number, programs, folder, grids, workers, arguments):
    """Ends of the windows of a program's runs, by what was known before."""
    environment = WORKERS[workers]
    homes = folder / f"{number}-{workers.replace(' ', '-')}"
    options = arguments.options.split()

    def make(home, grid):
        out = homes / "out"
        return run(
            programs[number], out, homes / home, grids[grid], arguments.steps, environment, options
        )

    ends = {"no models": make("none", "large")}
    make("small", "small")
    ends["models of a smaller grid"] = make("small", "large")
    ends["models of this grid"] = make("none", "large")
    return ends


def compare(folder, grids, workers, arguments):
    runs = {}
    for number in range(len(arguments.programs)):
        found = learn(number, arguments.programs, folder, grids, workers, arguments)
        runs |= {f"program {number + 1}, {what}": ends for what, ends in found.items()}
    best = min(min(means(durations(ends))) for ends in runs.values())
    print(f"\n{workers}: best window {1e3 * best:.2f} ms")
    print(f"  {'':34} {'windows':>8} {'s':>8} {'lost, s':>8} {'mean, ms':>10}")
    for name, ends in runs.items():
        report(name, ends, best)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--points", type=int, default=400000, help="of the density grid")
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--options", default="", help="more options of `starpmc run`")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cache = pathlib.Path.home() / ".cache" / "starpmc" / "bench" / "bench-A.gro"
        if not cache.exists():
            first = [arguments.programs[0], "check", ROOT / "configs" / "bench-A.cfg"]
            subprocess.run(list(map(str, first)), check=True, stdout=subprocess.DEVNULL)
        nuclei = nuclei_of_solute(cache)
        grids = {"large": folder / "large.grid", "small": folder / "small.grid"}
        write_grid(grids["large"], random_points(arguments.points, nuclei))
        write_grid(grids["small"], random_points(arguments.points // SMALLER, nuclei))
        for workers in WORKERS:
            compare(folder, grids, workers, arguments)


if __name__ == "__main__":
    main()
