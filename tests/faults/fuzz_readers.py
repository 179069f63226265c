"""Mutated inputs: every reader of the program takes them or refuses them, in time and in words.

    python3 fuzz_readers.py PROGRAM [--count N] [--seed S]

First every file of corpus/READER, which an earlier version fell over or which is a beginning of its
own, as it is and mutated with the others. What is taken has to give numbers. (Files of a run:
damaged_run.py. Expressions are also fuzzed in the process itself, by
tests/expression/fuzz_expression.cpp.)
"""

import json
import math
import pathlib
import re
import shutil
import struct
import zlib

import faults
import mutations
from faults import program

SMALL = program.DATA / "small"
CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
NO_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:nan|inf)(?!\w)", re.IGNORECASE)
CONFIG = """[system]
coordinates = small.gro
topology = small.top
qm-molecule = formaldehyde
include-folders = .
[qm]
engine = frozen ; a stored density
grid-file = small.grid
[sampling]
temperature = 310.5
steps = 2e4
equilibration-steps = auto
chains = 2
[potential]
mm-vdw = 4*epsilon*(s6^2 - s6); s6 = (sigma/r)^6; sigma = 0.5*(sigma1 + sigma2); epsilon = sqrt(epsilon1*epsilon2) # as ever
treatment = shift
[output]
folder = out
energy-interval = 50
pressure-interval = 500
"""
TABLE = "type a b\nopls_111 1.5 2.0 # oxygen\nopls_112 0.25 1e-3\n"
RECEPTOR = """REMARK a receptor
ATOM      1  O   RES A   1       0.000   0.000   0.000 -0.5000 1.5000
ATOM      2  C   RES A   1       1.200   0.000   0.000  0.5000 1.7000
HETATM    3  N1  LIG     2      -1.300   0.250   1e0   0.0 1.6
TER
END
"""
LIGAND = """MODEL 1
ATOM 1 O LIG 1 4 0 0 -0.4 1.5
ATOM 2 H LIG 1 5 0 0 0.4 1.0
ENDMDL
MODEL 2
ATOM 1 O LIG 1 6 0 0 -0.4 1.5
ATOM 2 H LIG 1 7 0 0 0.4 1.0
ENDMDL
"""
POSES = "w,x,y,z,tx,ty,tz\n1,0,0,0,0,0,0\n0.5,0.5,0.5,0.5,1.5,-2,3e0\n"
POSES_XYZ = "2\nfirst\nO 4 0 0\nH 5 0 0\n2\nsecond\nO 6 0 0\nH 7 0 0\n"
EXPRESSION = "4*epsilon*((sigma/r)^12 - (sigma/r)^6) + q1*q2*erfc(0.3*r)/r; sigma=0.5*(sigma1+sigma2)"
SCORE = ("score", "--receptor", "r.pqr", "--ligand", "l.pqr", "--output", "s", "--overwrite")
ENERGY = ("energy", "plain.cfg", "--implementation", "scalar")
SOLVATE = ("solvate", "--waters", "20", "--output", "made", "--solute")

# reader: file, first content (None: of the small system), what is started. FILE's text: `{}`.
READERS = {
    "cfg": ("run.cfg", CONFIG, ("check", "run.cfg")),
    "gro": ("small.gro", None, ENERGY),
    "top": ("small.top", None, ENERGY),
    "itp": ("water.itp", None, ENERGY),
    "grid": ("small.grid", None, ENERGY),
    "parameters": ("table.txt", TABLE, (*ENERGY, "--potential.parameters", "table.txt",
                                        "--potential.mm-vdw", "a*exp(-b*r); a=a1*a2; b=b1+b2")),
    "xyz": ("solute.xyz", None, (*ENERGY, "--system.solute", "solute.xyz")),
    "xyz-solvate": ("solute.xyz", None, (*SOLVATE, "solute.xyz")),
    "pqr": ("r.pqr", RECEPTOR, SCORE),
    "pqr-models": ("l.pqr", LIGAND, SCORE),
    "poses-csv": ("p.csv", POSES, (*SCORE, "--poses", "p.csv")),
    "poses-xyz": ("p.xyz", POSES_XYZ, (*SCORE, "--poses", "p.xyz")),
    "well-depths": ("d.txt", None, (*SCORE, "--terms", "coulomb+12-6", "--well-depths", "d.txt")),
    "expression": ("text", EXPRESSION, ("expression", "{}", "--pairs")),
}  # fmt: skip
BINARY = ("grid",)


def prepare(folder):
    """Valid inputs of all readers."""
    for name in ("small.gro", "small.top", "small.grid"):
        shutil.copy(SMALL / name, folder)
    (folder / "solute.xyz").write_text(
        "4\nformaldehyde in its place in the box\nC 6.267064 6.267064 5.958523\n"
        "O 6.267064 6.267064 7.163523\nH 6.267064 7.209759 5.370605\nH 6.267064 5.324369 5.370605\n"
    )
    shutil.copy(program.REPOSITORY / "src/system/data/well_depths.txt", folder / "d.txt")
    # The water in a file of its own, which the topology includes.
    before, water, after = split_water((folder / "small.top").read_text())
    (folder / "water.itp").write_text(water)
    (folder / "small.top").write_text(f'{before}#include "water.itp"\n{after}')
    (folder / "plain.cfg").write_text(
        "[system]\ncoordinates = small.gro\ntopology = small.top\nqm-molecule = formaldehyde\n"
        "[qm]\nengine = frozen\ngrid-file = small.grid\n[sampling]\nsteps = 20\n"
    )
    for name, text, _ in READERS.values():
        if text is not None:
            (folder / name).write_text(text)


def split_water(topology):
    parts = re.split(r"(?m)^(?=\[ (?:moleculetype|system) \])", topology)
    place = next(i for i, part in enumerate(parts) if re.search(r"(?m)^SOL ", part))
    return "".join(parts[:place]), parts[place], "".join(parts[place + 1 :])


def start(reader, folder):
    name, _, words = READERS[reader]
    if "{}" in words:
        text = (folder / name).read_bytes().replace(b"\0", b"")[:100_000]
        words = [text.decode("utf-8", "surrogateescape") if word == "{}" else word for word in words]
    return faults.start(*words, cwd=folder, env=faults.CPU_ONLY, limits=("--cpu=30", "--fsize=200000000"))


def is_finite(value):
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    return value is None or isinstance(value, str) or math.isfinite(value)


def no_result(reader, folder, outcome):
    """What is printed though it is no number; None: all are."""
    command = READERS[reader][2][0]
    if command == "energy":
        if not is_finite(json.loads(outcome.output)["energies_kj_per_mol"]):
            return outcome.output
    elif command == "score":
        rows = (folder / "s.csv").read_text().splitlines()[1:]
        return next((row for row in rows if NO_NUMBER.search(row)), None)
    return None


def run(tally, attempt, reader, folder, valid=False):
    files = [folder / READERS[reader][0]]
    outcome = start(reader, folder)
    if not tally.judge(attempt, outcome, files):
        return
    if valid and outcome.refused:
        tally.fail(attempt, "refused, though nothing is wrong with it", outcome, files)
    tally.count("refused" if outcome.refused else "accepted")
    if outcome.status == 0 and (found := no_result(reader, folder, outcome)):
        tally.count("accepted without a result")
        tally.fail(attempt, f"no number: {found[:500]}", outcome, files)


def beginnings(reader, folder):
    """The valid file, and those of the corpus."""
    of_corpus = sorted((CORPUS / reader).glob("*"))
    return [(folder / READERS[reader][0]).read_bytes()] + [path.read_bytes() for path in of_corpus]


def run_corpus(tally):
    number = 0
    for reader in READERS:
        with faults.scratch() as folder:
            prepare(folder)
            for place, content in enumerate(beginnings(reader, folder)):
                attempt = faults.Attempt(0, None, folder, f"{reader}, beginning {place}")
                (folder / READERS[reader][0]).write_bytes(content)
                run(tally, attempt, reader, folder, valid=place == 0)
                number += 1
    tally.count("of these from the corpus, as they are", number)


def main():
    arguments = faults.parse(__doc__, count=56)
    tally = faults.Tally(arguments)
    if arguments.first == 0:
        run_corpus(tally)
    for attempt in faults.attempts(arguments):
        reader = list(READERS)[attempt.number % len(READERS)]
        prepare(attempt.folder)
        kinds = mutations.OF_BYTES if reader in BINARY else mutations.OF_TEXT
        before = attempt.draw.choice(beginnings(reader, attempt.folder))
        content, changes = mutations.mutate(before, attempt.draw, kinds)
        attempt.description = f"{reader}, {changes}"
        if reader == "grid" and attempt.draw.random() < 0.7:  # else its check sum tells of it
            content = content[:-4] + struct.pack("<I", zlib.crc32(content[:-4]))
            attempt.description += ", check sum renewed"
        (attempt.folder / READERS[reader][0]).write_bytes(content)
        run(tally, attempt, reader, attempt.folder)
    tally.finish()


if __name__ == "__main__":
    main()
