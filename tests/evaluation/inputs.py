"""Makes the inputs of configs/bench-A, B, C and R.cfg, with their densities, in the cache, and compares
them with configs/bench-inputs.json.

    python3 inputs.py A,R [--program PATH]
"""

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path

import evaluation
from evaluation import CONFIGS
from published import GRID_POINTS

# A density is not the same to the last bit on every machine.
TOLERANCES = {"points": 0, "qm_energy_kj_per_mol": 0.01, "electrons_on_grid": 1e-4}
DIGESTS = ("coordinates_sha256", "topology_sha256", "positions_sha256")


def files(key):
    """(.gro, .top, .density, .json) of a case, in the cache of the program."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "starpmc/bench"
    return [cache / f"bench-{key}.{ending}" for ending in ("gro", "top", "density", "json")]


def configuration(key):
    return CONFIGS / f"bench-{key}.cfg"


def digest(*parts):
    sum_of_all = hashlib.sha256()
    for part in parts:
        sum_of_all.update(part)
    return sum_of_all.hexdigest()


def made_of(key):
    """What the density depends on: another box or another section [qm] makes another one."""
    section = re.search(r"^\[qm\]\n(.*?)(^\[|\Z)", configuration(key).read_text(), re.MULTILINE | re.DOTALL)[1]
    words = "".join(line + "\n" for line in section.split("\n") if line and line[0] != "#")
    return digest(files(key)[0].read_bytes(), words.encode())


def facts(key):
    """What is known of a density that is there and belongs to the box; else None."""
    if not all(file.exists() for file in files(key)):
        return None
    found = json.loads(files(key)[3].read_text())
    return found if found.get("made_of") == made_of(key) else None


def positions_digest(grid):
    """Of positions in units of 1e-6 A, as 64-bit integers, x of all, y of all, z of all."""
    import numpy

    return digest(numpy.rint(grid[:, :3] / 1e-6).astype("<i8").T.tobytes())


def read_grid(path):
    """(points, 5): x, y, z, charge, extent."""
    import numpy

    count = int.from_bytes(path.read_bytes()[16:24], "little")
    return numpy.fromfile(path, "<f8", 5 * count, offset=24).reshape(count, 5)


def make(program, key):
    """The density of a case's starting configuration, by the QM program; the run makes the box, too."""
    if known := facts(key):
        return known
    *_, density, description = files(key)
    density.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=density.parent, prefix=".making-") as name:
        summary = program.run(
            configuration(key), f"{name}/run", "--sampling.chains", 1, "--sampling.steps", 1,
            "--qm.threads", os.cpu_count(), "--output.save-grid", "true")
        update = summary["qm_updates"][0]
        saved = next(Path(name, "run").glob("grid-*.bin"))
        grid = read_grid(saved)
        known = {"made_of": made_of(key),
                 "qm_energy_kj_per_mol": update["qm_energy_kj_per_mol"],
                 "electrons_on_grid": update["electrons_on_grid"],
                 "points": len(grid),
                 "positions_sha256": positions_digest(grid),
                 "points_with_charge": update["grid_points"]}
        saved.rename(density)
        (Path(name) / "facts").write_text(json.dumps(known, indent=2) + "\n")
        (Path(name) / "facts").rename(description)
    return known


def check(key):
    """(what, found, expected or None, whether it is the same) of everything that is known."""
    expected = json.loads((CONFIGS / "bench-inputs.json").read_text()).get(f"bench-{key}", {})
    found = facts(key) | {"coordinates_sha256": digest(files(key)[0].read_bytes()),
                          "topology_sha256": digest(files(key)[1].read_bytes())}
    for what in (*DIGESTS, *TOLERANCES):
        wanted, value = expected.get(what), found[what]
        same = wanted == value if what in DIGESTS else (
            wanted is not None and abs(value - wanted) <= TOLERANCES[what])
        yield what, value, wanted, same


def main():
    parser = evaluation.arguments(__doc__, ".")
    parser.add_argument("cases", help="A, B, C, R, separated by commas")
    chosen = parser.parse_args()
    cases = evaluation.choose("cases", chosen.cases, {key: key for key in GRID_POINTS})
    program = evaluation.Program(chosen.program)
    all_same = True
    for key in cases:
        known = make(program, key)
        print(f"bench-{key}: {known['points_with_charge']} grid points with charge (the paper: "
              f"{GRID_POINTS[key]})", *files(key)[:3], sep="\n  ", flush=True)
        for what, found, wanted, same in check(key):
            verdict = "nothing to compare with" if wanted is None else (
                "as it should be" if same else f"DIFFERS from {wanted}")
            print(f"  {what:<22} {str(found)[:22]:<22} {verdict}", flush=True)
            all_same = all_same and (same or wanted is None)
    if not all_same:
        raise evaluation.Failure(
            "an input is not what configs/bench-inputs.json says: figures are not of the same system; "
            "the data of GROMACS or the QM program may be of another version")


if __name__ == "__main__":
    evaluation.main(main)
