"""No update of the density raises the energy: acetone and formate in water, PBE/def2-SVP by PySCF.

    python3 test_jumps.py PROGRAM [--updates N] [--interval N]

The jump of an update is the energy of the new density less that of the last one, with the same MM
charges and by the same quadrature: by the variational principle it is at most 0, up to the SCF's
convergence. The summary's other numbers about updates must agree with it, and with energies.csv.
"""

import argparse
import csv
import importlib.util
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
SOLUTES = {"acetone": (DATA / "jumps/acetone.xyz", 0), "formate": (DATA / "wells/formate.xyz", -1)}
WATERS = 250
LARGEST_JUMP = 0.02  # kJ/mol
TOLERANCE = 1e-6  # kJ/mol, of sums of energies that are nearly a million


def start(program, folder, *words):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STARPU_")}
    environment |= {"STARPMC_PYTHON": sys.executable}
    if home := os.environ.get("STARPMC_TEST_STARPU_HOME"):
        pathlib.Path(home).mkdir(parents=True, exist_ok=True)
        environment["STARPU_HOME"] = home
    done = subprocess.run(
        [program, *map(str, words)], cwd=folder, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode == 2 and "gromacs-data" in done.stderr:
        print("skipped: gromacs-data is not installed")
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"starpmc {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def run(program, folder, name, updates, interval):
    """summary.json and the rows of energies.csv by step."""
    xyz, charge = SOLUTES[name]
    printed = start(
        program, folder, "solvate", "--solute", xyz, "--waters", WATERS, "--model", "tip3p",
        "--charge", charge, "--output", name,
    )  # fmt: skip
    (folder / f"{name}.cfg").write_text(printed[printed.index("[system]") :])
    start(
        program, folder, "run", f"{name}.cfg", "--output.folder", f"{name}-out",
        "--sampling.ensemble", "perturbative", "--sampling.equilibration-steps", 0,
        "--sampling.steps", updates * interval,
        "--qm.interval", interval, "--output.energy-interval", interval // 10,
    )  # fmt: skip
    out = folder / f"{name}-out"
    with open(out / "energies.csv") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    table = {int(row["step"]): {k: float(v) for k, v in row.items()} for row in rows}
    return json.loads((out / "summary.json").read_text()), table


def check(name, summary, rows, updates, interval):
    """What is wrong, one line each."""
    records = summary["qm_updates"]
    if len(records) != updates:
        yield f"{len(records)} updates instead of {updates}"
    zero = summary["isolated_energy_kj_per_mol"]
    for last, update in itertools.pairwise(records):
        step, jump = update["step"], update["jump_kj_per_mol"]
        if jump > LARGEST_JUMP:
            yield f"step {step}: the energy rose by {jump:.4f} kJ/mol"
        before = rows[step]
        solute = last["qm_energy_kj_per_mol"] - zero
        # The row at an update's step is still of the last density.
        sampled = before["qmmm_coulomb"] + before["solute"] - solute
        change = update["qm_energy_kj_per_mol"] - last["qm_energy_kj_per_mol"]
        expected = change - sampled + update["sampling_error_kj_per_mol"]
        # Running totals are rounded: the drift.
        if abs(jump - expected) > TOLERANCE + 2 * abs(summary["drift"]["total"]):
            yield f"step {step}: jump {jump:.6f}, by energies.csv {expected:.6f} kJ/mol"
        if update["polarisation_energy_kj_per_mol"] > TOLERANCE:
            yield f"step {step}: polarisation raises the energy"
    jumps = sorted(update["jump_kj_per_mol"] for update in records[1:])
    errors = [abs(update["sampling_error_kj_per_mol"]) for update in records[1:]]
    print(
        f"{name}: {len(jumps)} jumps every {interval} steps, {jumps[0]:.3f} to {jumps[-1]:.4f} "
        f"kJ/mol, mean {sum(jumps) / len(jumps):.3f}; sampling error at most {max(errors):.3f}, "
        f"mean size {sum(errors) / len(errors):.3f} kJ/mol",
        flush=True,
    )


def main():
    if importlib.util.find_spec("pyscf") is None:
        print("skipped: no PySCF")
        sys.exit(SKIPPED)
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--updates", type=int, default=8)
    parser.add_argument("--interval", type=int, default=500)
    parser.add_argument("--solutes", default=",".join(SOLUTES))
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="starpmc-test-") as folder:
        for name in options.solutes.split(","):
            results = run(
                options.program.resolve(), pathlib.Path(folder), name, options.updates,
                options.interval,
            )  # fmt: skip
            wrong += [
                f"{name}, {text}"
                for text in check(name, *results, options.updates, options.interval)
            ]
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
