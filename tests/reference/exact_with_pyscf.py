"""The exact ensemble with a real SCF: formaldehyde, HF/STO-3G, in 30 waters, by starpmc against brute
force with an SCF and a test in every step.

    python3 exact_with_pyscf.py PROGRAM [--chains 4] [--jobs 2] [--steps 2000] [--blocks 20]
                                [--equilibration 30000] [--output FOLDER]

Brute force twice: by brute_force_with_pyscf.py, which shares the SCF alone with the program, and by
the program with blocks of one step. Then the exact ensemble with blocks of 500 and 5,000 steps, and
the published method with updates as far apart, whose bias is printed. Means of energy, dipole and
first shell have to agree by t tests of the chains' means. --steps: of brute force, of each chain;
--blocks: of each other chain; --jobs: processes at once. 16 cores: --chains 16 --jobs 16 --steps
4000 --blocks 60.
"""

import argparse
import concurrent.futures
import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

if importlib.util.find_spec("pyscf") is None:
    print("skipped: no PySCF")
    sys.exit(program.SKIPPED)

try:
    import h5py
    import numpy as np
    from block_statistics import mean_and_error
    from brute_force_with_pyscf import observables
    from scipy.stats import ttest_ind
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(program.SKIPPED)

HERE = pathlib.Path(__file__).resolve().parent
SMALL = program.DATA / "small"
WATERS = 30
QUANTITIES = (
    "energy",
    "dipole",
    "1st H to O",
    "2nd H to O",
    "1st O to C",
    "2nd O to C",
)
BRUTE = ("brute force, NumPy", "exact, 1 step")
LENGTHS = (500, 5000)
SPACING = 20000  # steps between the chains' starts
LEAST_CHANCE = 0.01
MOVES = {"max_translation": 0.2, "max_rotation": 20, "tune_interval": 10**9}
ENERGY = 1e-3  # kJ/mol: the two brute forces' energy of one configuration


def make_box(folder):
    words = ("solvate", "--solute", SMALL / "formaldehyde.xyz", "--waters", WATERS)
    result = program.start(*words, "--output", folder / "box")
    if "gromacs-data" in result.stderr:
        print("skipped: gromacs-data is not installed")
        sys.exit(program.SKIPPED)
    if result.returncode != 0:
        sys.exit(result.stderr)
    top = (SMALL / "small.top").read_text()
    (folder / "box.top").write_text(top.replace("SOL           64", f"SOL  {WATERS}"))


class Runs:
    """Of starpmc, a chain each."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options

    def sections(self, coordinates, **sampling):
        return {
            "system": {
                "coordinates": coordinates,
                "topology": self.folder / "box.top",
                "qm_molecule": "formaldehyde",
            },
            "sampling": MOVES | sampling,
            "qm": {
                "engine": "pyscf",
                "python": sys.executable,
                "method": "hf",
                "basis": "sto-3g",
            },
        }

    def prepare(self):
        """The reference, and a configuration for each chain to begin with."""
        chains = self.options.chains
        sections = self.sections(
            self.folder / "box.gro",
            ensemble="exact",
            steps=chains * SPACING,
            equilibration_steps=self.options.equilibration,
        )
        sections["qm"]["interval"] = SPACING
        sections["output"] = {"energy_interval": SPACING, "trajectory_interval": SPACING}
        config = program.write_config(self.folder / "start.cfg", **sections)
        program.simulate(config, self.folder / "start", timeout=7200)
        for line in (self.folder / "start/run.log").read_text().splitlines():
            if "reference" in line:
                print(line)

    def frame(self, number):
        """That a chain begins with, the last ones first."""
        return len(steps_of(self.folder / "start/trajectory.h5md")) - 1 - number

    def make(self, ensemble, interval, steps, number):
        """Rows of QUANTITIES at the ends of blocks, and what is said of the blocks."""
        sections = self.sections(
            self.folder / "start/trajectory.h5md",
            ensemble=ensemble,
            steps=steps,
            equilibration_steps=0,
            seed=100 + number,
        )
        sections["system"]["frame"] = self.frame(number)
        sections["qm"]["interval"] = interval
        if ensemble == "exact":
            sections["qm"]["reference"] = self.folder / "start/reference.h5"
        sections["output"] = {"energy_interval": interval, "trajectory_interval": interval}
        name = f"{ensemble}-{interval}-{number}"
        config = program.write_config(self.folder / f"{name}.cfg", **sections)
        out = self.folder / name
        summary = program.simulate(config, out, timeout=14000, env={"STARPU_NCPU": 1})
        return exact_rows(out, summary) if ensemble == "exact" else rows_of_updates(out, summary)

    def brute_force(self, number):
        gro = self.folder / f"start-{number}.gro"
        write_gro(gro, self.folder / "start/trajectory.h5md", self.frame(number))
        output = self.folder / f"brute-{number}.npz"
        words = [sys.executable, HERE / "brute_force_with_pyscf.py", gro, self.folder / "box.top"]
        words += [output, "--qm", "formaldehyde", "--steps", self.options.steps, "--seed", number]
        with open(output.with_suffix(".log"), "w") as log:
            subprocess.run(list(map(str, words)), stdout=log, stderr=log, check=True)
        return np.load(output)["rows"], ""


def write_gro(path, trajectory, frame):
    """As `solvate` orders it, with nine digits."""
    names = ["C1", "O2", "H3", "H4"] + ["OW", "HW1", "HW2"] * WATERS
    positions, edges = frames(trajectory, frame)
    lines = ["a frame", str(len(names))]
    for i, (name, x) in enumerate(zip(names, positions, strict=True)):
        residue = (1, "FORMA") if i < 4 else ((i - 4) // 3 + 2, "SOL")
        numbers = "".join(f"{c / 10:14.9f}" for c in x)
        lines.append(f"{residue[0]:5d}{residue[1]:<5s}{name:>5s}{i + 1:5d}{numbers}")
    lines.append("".join(f"{edge / 10:14.9f}" for edge in edges))
    path.write_text("\n".join(lines) + "\n")


def frames(trajectory, chosen):
    with h5py.File(trajectory) as file:
        everything = file["particles/all"]
        edges = np.ravel(everything["box/edges/value"][()])[:3]
        return everything["position/value"][chosen].astype(float), edges


def table(path):
    with open(path) as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [{name: float(value) for name, value in row.items()} for row in rows]


def steps_of(trajectory):
    with h5py.File(trajectory) as file:
        return {int(s): i for i, s in enumerate(file["particles/all/position/step"][:])}


def structure(trajectory, chosen):
    positions, edges = frames(trajectory, slice(None))
    return [
        observables(positions[i, :4], positions[i, 4:].reshape(-1, 3, 3), edges) for i in chosen
    ]


def exact_rows(folder, summary):
    """A rejected block counts the end before it again; block 0 is the start."""
    blocks = table(folder / "blocks.csv")
    accepted = np.array([block["accepted"] == 1 for block in blocks])
    kept = np.maximum.accumulate(np.where(accepted, np.arange(len(blocks)), 0))[1:]
    tests = summary["exact"]["tests"]
    frame_of = steps_of(folder / "trajectory.h5md")
    first = min(frame_of.values(), default=0)
    found = structure(
        folder / "trajectory.h5md",
        [frame_of.get(int(blocks[k]["step"]), first) for k in kept],
    )
    rows = [
        [blocks[k]["true_energy"], np.linalg.norm(tests[k]["dipole_debye"]), *seen]
        for k, seen in zip(kept, found, strict=True)
    ]
    difference = np.array([block["difference"] for block in blocks])
    return np.array(rows), (accepted[1:].mean(), difference.std())


def rows_of_updates(folder, summary):
    """The configurations that updates are made for, with their true energies."""
    energies = {int(row["step"]): row for row in table(folder / "energies.csv")}
    updates = summary["qm_updates"][1:]
    frame_of = steps_of(folder / "trajectory.h5md")
    found = structure(folder / "trajectory.h5md", [frame_of[u["step"]] for u in updates])
    zero = summary["isolated_energy_kj_per_mol"]
    rows = []
    for update, seen in zip(updates, found, strict=True):
        row = energies[update["step"]]
        energy = sum(row[term] for term in ("mm_coulomb", "mm_vdw", "qmmm_vdw"))
        energy += update["qm_energy_kj_per_mol"] - zero
        rows.append([energy, np.linalg.norm(update["dipole_debye"]), *seen])
    jumps = np.array([update["jump_kj_per_mol"] for update in updates])
    return np.array(rows), (1.0, jumps.std())


def check_energies(runs):
    """Both programs' energy of the first chain's start."""
    gro = runs.folder / "start-0.gro"
    config = program.write_config(
        runs.folder / "energy.cfg", **runs.sections(gro, ensemble="perturbative", steps=1)
    )
    ours = json.loads(program.succeed("energy", config).stdout)["energies_kj_per_mol"]["total"]
    output = runs.folder / "energy.npz"
    words = [sys.executable, HERE / "brute_force_with_pyscf.py", gro, runs.folder / "box.top"]
    words += [output, "--qm", "formaldehyde", "--steps", 1, "--translation", 0, "--rotation", 0]
    subprocess.run(list(map(str, words)), capture_output=True, check=True)
    theirs = np.load(output)["rows"][0, 0]
    print(f"energy of one configuration: {ours:.5f}, brute force {theirs:.5f} kJ/mol")
    if abs(ours - theirs) > ENERGY:
        yield f"the energies of one configuration differ by {abs(ours - theirs):.2g} kJ/mol"


def chain_means(results):
    """(chains, quantities): the first tenth of each chain is left out."""
    return np.array([rows[len(rows) // 10 :].mean(axis=0) for rows, _ in results])


def report(means, said):
    print(f"\n{'':24s}" + "".join(f"{name:>20s}" for name in QUANTITIES))
    for name, values in means.items():
        mean, error = mean_and_error(values)
        text = "".join(f"{m:12.3f} +- {e:.3f}" for m, e in zip(mean, error, strict=True))
        print(f"{name:24s}{text}  {said[name]}")


def compare(means):
    """Each exact run with all of the brute force, chain by chain (Welch's t test)."""
    brute = np.concatenate([means[name] for name in BRUTE])
    yield from disagreements(means, BRUTE[0], BRUTE[1], means[BRUTE[0]], True)
    for name in means:
        if name not in BRUTE:
            yield from disagreements(means, "brute force", name, brute, name.startswith("exact"))


def disagreements(means, first, second, reference, must_agree):
    chances = ttest_ind(reference, means[second], equal_var=False).pvalue
    text = ", ".join(f"{n} {p:.2g}" for n, p in zip(QUANTITIES, chances, strict=True))
    print(f"chance of the difference, {first} and {second}: {text}")
    if must_agree and min(chances) < LEAST_CHANCE / len(chances):
        yield f"{second} disagrees with {first}: p = {min(chances):.2g}"


def sample(runs, options):
    jobs = {BRUTE[0]: [(runs.brute_force, (k,)) for k in range(options.chains)]}
    jobs[BRUTE[1]] = [
        (runs.make, ("exact", 1, options.steps, k)) for k in range(options.chains)
    ]
    for ensemble in ("exact", "perturbative"):
        for length in LENGTHS:
            jobs[f"{ensemble}, {length} steps"] = [
                (runs.make, (ensemble, length, length * options.blocks, k))
                for k in range(options.chains)
            ]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {
            name: [pool.submit(call, *arguments) for call, arguments in calls]
            for name, calls in jobs.items()
        }
        return {name: [f.result() for f in made] for name, made in futures.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--equilibration", type=int, default=30000)
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory(prefix="starpmc-test-") as name:
        folder = options.output or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        runs = Runs(folder.resolve(), options)
        make_box(runs.folder)
        runs.prepare()
        results = sample(runs, options)
        wrong = list(check_energies(runs))
    means = {name: chain_means(made) for name, made in results.items()}
    said = {BRUTE[0]: ""}
    for name, made in results.items():
        if name != BRUTE[0]:
            accepted, width = np.mean([words for _, words in made], axis=0)
            said[name] = f"{100 * accepted:.1f} % accepted, width {width:.3f} kJ/mol"
    report(means, said)
    wrong += compare(means)
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
