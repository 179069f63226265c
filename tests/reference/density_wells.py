"""Hydrogens of water at the points of a frozen density grid: does the sampling see the points?

    density_wells.py PROGRAM [--folder FOLDER] [--solutes formate,acetate] [--cases ...]
                     [--chains N] [--steps N] [--equilibration N] [--interval N]

does all of the following for solutes in 250 TIP3P waters; FOLDER keeps everything. One after the
other, perhaps on different machines:

    density_wells.py PROGRAM prepare --folder FOLDER ...  # needs PySCF: boxes, grids, configurations
    density_wells.py PROGRAM sample --folder FOLDER       # needs h5py: runs; what is near the solute
                                                          # goes to FOLDER/results/*.npz
    density_wells.py - analyse --folder FOLDER            # needs PySCF and FOLDER/results
    density_wells.py - potential                          # stored sites, part 1 only: seconds

A case is a grid: radial shells x angular points, `bare-` where its points have no extent, as in the
published method. Of each solute:

1. The potential of the electrons at sites that another grid's run had sampled, chosen without regard
   to the points, against analytic integrals of a density that PySCF's own SCF converged.
2. How often sites come within 0.05 A of a point, against the same for the same points turned about
   their nuclei by small rotations, which attracted nothing: those say what uniform filling of so much
   volume makes, with the spread of correlated samples. The longest stay at one point, likewise.
3. g of the water's hydrogens about the solute's oxygens, between grids and after reweighting every
   frame by exp(-dE/kT), dE the difference between analytic integrals and the grid: what a run with
   the exact potential samples. The chance of a difference is from exchanging blocks at random.

The grid's energy in the run is also held against a plain sum over the points.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
sys.path.append(str(DATA / "qm"))
try:
    import density_potential
    import make_grid
    import near_sites
    import numpy as np
    from density_wells_analysis import (
        CHARGE,
        CUTOFF,
        LARGEST_NEAR,
        TEMPERATURE,
        Checks,
        Solute,
        compare_potentials,
        say,
    )
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(SKIPPED)


WATERS = 250
CASES = ("30x302", "50x974", "bare-30x302")


def skip(reason):
    say(f"skipped: {reason}")
    sys.exit(SKIPPED)


def shells_and_directions(case):
    return tuple(int(number) for number in case.removeprefix("bare-").split("x"))


def without_extents(grid, bare):
    return np.column_stack((grid[:, :4], np.zeros(len(grid)))) if bare else grid


def read_gro(path, atoms):
    """Positions of the first atoms in A."""
    lines = path.read_text(encoding="utf-8").splitlines()[2 : 2 + atoms]
    return np.array([[10 * float(word) for word in line[20:].split()[:3]] for line in lines])


def prepare(program, folder, options):
    for solute in options.solutes:
        xyz = DATA / f"wells/{solute}.xyz"
        words = ["--waters", WATERS, "--model", "tip3p", "--charge", CHARGE, "--output", solute]
        made = subprocess.run(
            [program, "solvate", "--solute", xyz, "--overwrite", *map(str, words)],
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
        )
        if made.returncode == 2 and "gromacs-data" in made.stderr:
            skip("gromacs-data is not installed")
        if made.returncode != 0:
            raise RuntimeError(f"starpmc solvate: {made.returncode}\n{made.stderr}")
        elements, _ = density_potential.read_xyz(xyz)
        positions = read_gro(folder / f"{solute}.gro", len(elements))
        boxed = folder / f"{solute}.xyz"
        density_potential.write_xyz(boxed, elements, positions, f"{solute} as in {solute}.gro")
        for case in options.cases:
            grid = density_potential.density_grid(
                make_grid, boxed, CHARGE, *shells_and_directions(case)
            )
            grid = without_extents(grid, case.startswith("bare-"))
            make_grid.write_grid(folder / f"{solute}-{case}.grid", grid)
            write_config(folder, solute, case, options)
            say(f"{solute}, {case}: {len(grid)} points, {-grid[:, 3].sum():.6f} electrons")
    (folder / "settings.json").write_text(
        json.dumps(
            {"solutes": options.solutes, "cases": options.cases}
            | {"equilibration": options.equilibration}
        )
    )


def write_config(folder, solute, case, options):
    """Seeds differ, so that no two runs are the same samples."""
    seed = 1 + list(CASES).index(case) if case in CASES else 1 + len(CASES)
    (folder / f"{solute}-{case}.cfg").write_text(
        f"""[system]
coordinates = {solute}.gro
topology = {solute}.top
qm-molecule = {solute}
[interaction]
coulomb-cutoff = {CUTOFF}
vdw-cutoff = {CUTOFF}
[sampling]
temperature = {TEMPERATURE}
chains = {options.chains}
seed = {seed}
equilibration-steps = {options.equilibration}
steps = {options.steps}
[qm]
engine = frozen
grid-file = {solute}-{case}.grid
charge = {CHARGE}
charge-threshold = 0
electron-tolerance = 0.01
interval = {options.steps}
[output]
folder = {solute}-{case}-output
overwrite = true
energy-interval = {options.interval}
trajectory-interval = {options.interval}
""",
        encoding="utf-8",
    )


def sample(program, folder):
    settings = json.loads((folder / "settings.json").read_text())
    (folder / "results").mkdir(exist_ok=True)
    environment = dict(os.environ)
    if "STARPMC_TEST_STARPU_HOME" in os.environ:
        environment["STARPU_HOME"] = os.environ["STARPMC_TEST_STARPU_HOME"]
    for name in names(settings):
        start = time.monotonic()
        run = subprocess.run(
            [program, "run", f"{name}.cfg"],
            cwd=folder,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        if run.returncode != 0:
            raise RuntimeError(f"starpmc run {name}.cfg: {run.returncode}\n{run.stderr}")
        output = folder / f"{name}-output"
        sites = near_sites.read_run(output, settings["equilibration"])
        near_sites.write(folder / f"results/{name}.npz", sites)
        shutil.rmtree(output)
        say(
            f"{name}: {len(sites.chains)} frames of {sites.chains[-1] + 1} chains, "
            f"{time.monotonic() - start:.0f} s"
        )


def names(settings):
    return [f"{s}-{case}" for s in settings["solutes"] for case in settings["cases"]]


def analyse(folder):
    settings = json.loads((folder / "settings.json").read_text())
    failures = []
    for solute in settings["solutes"]:
        failures += Solute(folder, solute, settings["cases"]).run()
    return failures


def stored_sites(checks):
    """Part 1 for formate on sites that a run with 50 x 974 points sampled; bare points have to fail,
    or the sites would prove nothing."""
    xyz = DATA / "wells/formate.xyz"
    elements, nuclei = density_potential.read_xyz(xyz)
    analytic = density_potential.AnalyticDensity(elements, nuclei, CHARGE)
    sites = np.loadtxt(DATA / "wells/formate_sites.txt") + nuclei[0]
    distances = np.linalg.norm(sites[:, None] - nuclei, axis=2).min(axis=1)
    grid = density_potential.density_grid(make_grid, xyz, CHARGE, 30, 302)
    say(f"formate, 30x302: {len(grid)} points")
    arguments = (analytic, sites, distances)
    compare_potentials(checks, "formate, 30x302", grid, *arguments, True)
    near = distances < 2.2
    error = density_potential.grid_potential(without_extents(grid, True), sites[near])
    error -= analytic.potential(sites[near])
    checks.check(
        "the same points without extents, nearer than 2.2 A",
        f"{error.mean():+.3f} +- {error.std():.3f} (more than {LARGEST_NEAR})",
        error.std() > LARGEST_NEAR,
    )


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument(
        "mode",
        nargs="?",
        default="all",
        choices=("all", "prepare", "sample", "analyse", "potential"),
    )
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--solutes", type=lambda text: text.split(","), default=["formate"])
    parser.add_argument("--cases", type=lambda text: text.split(","), default=list(CASES))
    parser.add_argument("--chains", type=int, default=2)
    parser.add_argument("--steps", type=int, default=300000, help="of each chain")
    parser.add_argument("--equilibration", type=int, default=100000)
    parser.add_argument("--interval", type=int, default=300, help="steps between frames")
    return parser.parse_args()


def work(options, folder):
    program = pathlib.Path(options.program).resolve()
    checks = Checks()
    if options.mode != "sample" and not importlib.util.find_spec("pyscf"):
        skip("this Python has no PySCF")
    if options.mode == "potential":
        stored_sites(checks)
    if options.mode in ("all", "prepare"):
        prepare(program, folder, options)
    if options.mode in ("all", "sample"):
        sample(program, folder)
    if options.mode in ("all", "analyse"):
        checks.failures += analyse(folder)
    return checks.failures


def main():
    options = read_options()
    if options.folder:
        options.folder.mkdir(parents=True, exist_ok=True)
        failures = work(options, options.folder.resolve())
    else:
        with tempfile.TemporaryDirectory() as folder:
            failures = work(options, pathlib.Path(folder))
    if failures:
        sys.exit("failed:\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
