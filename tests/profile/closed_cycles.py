"""Closed cycles with PySCF: from A to B, and from B to A with other random numbers, from another box and
sampled in the opposite order. The sum is zero within the errors, if those are right.

    python3 closed_cycles.py PROGRAM [--systems ammonia,formaldehyde,chloride] [--output FOLDER]

Three solutes in 64 waters at HF/STO-3G: ammonia from pyramid to plane, formaldehyde whose C=O bond
becomes longer, chloride and methyl chloride on the first part of their reaction, a charged solute.
First and last frames of each profile must lead to the same free energy, too.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
try:
    import numpy as np
    import pymbar  # noqa: F401
    import pyscf  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; install src/qm/workers/requirements.txt")
    sys.exit(SKIPPED)

CONFIGS = pathlib.Path(__file__).resolve().parents[2] / "configs"
WATERS = 64
STANDARD_ERRORS = 3.0


def frames_of(path):
    """[(elements, positions)]"""
    lines, found = path.read_text().splitlines(), []
    while lines and lines[0].strip():
        count = int(lines[0])
        words = [line.split() for line in lines[2 : 2 + count]]
        found.append(([w[0] for w in words], np.array([w[1:4] for w in words], float)))
        lines = lines[2 + count :]
    return found


def ammonia():
    return frames_of(CONFIGS / "ammonia-inversion.xyz")[:5], 0


def formaldehyde():
    elements = ["C", "O", "H", "H"]
    return [
        (elements, np.array([[0, 0, 0], [0, 0, bond], [0, 0.94, -0.54], [0, -0.94, -0.54]]))
        for bond in (1.18, 1.23, 1.28, 1.33, 1.38)
    ], 0  # fmt: skip


def chloride():
    """From the transition state part of the way to a complex."""
    return frames_of(CONFIGS / "chloride-methyl-chloride.xyz")[10:15], -1


SYSTEMS = {"ammonia": ammonia, "formaldehyde": formaldehyde, "chloride": chloride}


def xyz(frames):
    return "".join(
        f"{len(elements)}\n\n"
        + "".join(f"{e} {x:.8f} {y:.8f} {z:.8f}\n" for e, (x, y, z) in zip(elements, at, strict=True))
        for elements, at in frames
    )


def starpmc(program, folder, *words):
    result = subprocess.run(
        [program, *map(str, words)], cwd=folder, check=False, capture_output=True, text=True,
        env=dict(os.environ, STARPMC_PYTHON=sys.executable),
    )  # fmt: skip
    if result.returncode != 0:
        raise RuntimeError(f"starpmc {' '.join(map(str, words))}\n{result.stdout}{result.stderr}")


def profile(program, folder, frames, charge, seed, steps, topology=None):
    """The document of profile.json, of a path whose first image the box is made for.

    topology: another one's, for types that are guessed from a geometry are not those of all images.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "path.xyz").write_text(xyz(frames))
    (folder / "solute.xyz").write_text(xyz(frames[:1]))
    starpmc(
        program, folder, "solvate", "--solute", "solute.xyz", "--waters", WATERS, "--charge", charge,
        "--output", "box", "--overwrite",
    )  # fmt: skip
    if topology is not None:
        (folder / "box.top").write_text(topology.read_text())
    (folder / "profile.cfg").write_text(f"""[system]
coordinates = box.gro
topology = box.top
qm-molecule = solute
[profile]
path = path.xyz
[sampling]
ensemble = exact
seed = {seed}
equilibration-steps = {steps // 5}
steps = {steps}
target-acceptance = 0.3
[qm]
engine = pyscf
method = hf
basis = sto-3g
charge = {charge}
interval = {steps // 60}
configurations = 16
[output]
folder = profile
energy-interval = 1000
trajectory-interval = {4 * WATERS}
""")
    if not (folder / "profile/profile.json").exists():
        starpmc(program, folder, "profile", "profile.cfg")
    return json.loads((folder / "profile/profile.json").read_text())


def converged(document):
    """Largest difference of the free energies from the first and the last halves, in errors."""
    found = []
    for rows in document["convergence"].values():
        half = min(rows, key=lambda row: abs(row["share"] - 0.5))
        error = math.hypot(half["forward_error"], half["backward_error"])
        found.append(abs(half["forward"] - half["backward"]) / error)
    return max(found)


def check(program, name, folder, steps, largest_error):
    """Problems, as sentences."""
    frames, charge = SYSTEMS[name]()
    there = profile(program, folder / "there", frames, charge, 11, steps)
    back = profile(
        program, folder / "back", frames[::-1], charge, 12, steps, folder / "there/box.top"
    )
    energies = [document["images"][-1]["free_energy"] for document in (there, back)]
    errors = [document["images"][-1]["error"] for document in (there, back)]
    around, error = sum(energies), math.hypot(*errors)
    halves = [converged(document) for document in (there, back)]
    print(
        f"{name}: there {energies[0]:.3f} +- {errors[0]:.3f}, back {energies[1]:.3f} +- "
        f"{errors[1]:.3f}, around {around:+.3f} +- {error:.3f} kJ/mol; first and last halves "
        f"{halves[0]:.1f} and {halves[1]:.1f} errors apart",
        flush=True,
    )
    problems = []
    if error > largest_error:
        problems.append(f"{name}: the error is {error:.2f} kJ/mol, which says little")
    if abs(around) > STANDARD_ERRORS * error:
        problems.append(f"{name}: the cycle does not close")
    if max(halves) > STANDARD_ERRORS + 0.5:
        problems.append(f"{name}: first and last frames disagree")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--systems", default=",".join(SYSTEMS), type=lambda text: text.split(","))
    parser.add_argument("--steps", default=2_400_000, type=int, help="of an image")
    parser.add_argument("--largest-error", default=2.0, type=float, help="kJ/mol")
    parser.add_argument("--output", type=lambda path: pathlib.Path(path).resolve())
    options = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory(prefix="starpmc-test-") as temporary:
        for name in options.systems:
            folder = (options.output or pathlib.Path(temporary)) / name
            problems += check(options.program, name, folder, options.steps, options.largest_error)
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
