"""Malformed input: every case ends with status 2, says where, what was found and what to do, and
leaves no output folder.

    python3 test_malformed.py PROGRAM      # also a program built with sanitizers
"""

import os
import random
import shutil
import struct
import unittest
import zlib

import program

STEPS = 20
SMALL = program.DATA / "small"


def checked(data):
    """With the checksum of a grid file."""
    return data + struct.pack("<I", zlib.crc32(data))


NAMES = {"gro": "small.gro", "top": "small.top", "grid": "small.grid", "cfg": "run.cfg"}
FIRST_WATER = """\
    2SOL     OW    5   0.3238769   1.0166244   0.3260347
    2SOL    HW1    6   0.2344362   1.0135145   0.2920786
    2SOL    HW2    7   0.3309074   1.1027147   0.3672821
"""
WATER_ON_THE_SOLUTE = """\
    2SOL     OW    5   0.6267064   0.6267064   0.5958523
    2SOL    HW1    6   0.5372657   0.6235965   0.5618962
    2SOL    HW2    7   0.6337369   0.7127967   0.6370997
"""

# name, what is done, parts of the message. What is done is one of
#   {"gro": (old, new)}       text of a file replaced ("top", "cfg", "itp" likewise)
#   {"gro": bytes or None}    a file's whole content; None: there is no such file
#   {"options": [...]}        words of the command line
CASES = [
    # the command line
    ("unknown command", {"words": ["simulate"]}, ["unknown command", "'simulate'", "--help"]),
    ("no configuration", {"words": ["run"]}, ["no configuration file", "FILE.cfg"]),
    ("energy without configuration", {"words": ["energy"]}, ["no configuration file"]),
    ("info with arguments", {"words": ["info", "now"]}, ["no arguments", "'now'"]),
    ("solvate without waters", {"words": ["solvate", "--solute", "x.xyz"]}, ["waters"]),
    ("solvate garbage count",
     {"words": ["solvate", "--solute", "x.xyz", "--waters", "many"]}, ["many"]),
    ("solvate a part of a charge",
     {"words": ["solvate", "--solute", "x.xyz", "--waters", "9", "--charge", "0.5"]},
     ["0.5", "--charge", "a whole number in digits"]),
    ("solvate missing file",
     {"words": ["solvate", "--solute", "no.xyz", "--waters", "10"]}, ["no.xyz"]),
    ("solvate into a name that the configuration would cut",
     {"words": ["solvate", "--solute", "x.xyz", "--waters", "30", "--output", "box #2"]},
     ["--output", "'box #2'", "rename"]),
    ("solvate into no name",
     {"words": ["solvate", "--solute", "x.xyz", "--waters", "30", "--output", ""]},
     ["--output", "is no name for files"]),
    ("solvate into a folder",
     {"words": ["solvate", "--solute", "x.xyz", "--waters", "30", "--output", "./"]},
     ["--output", "'./'", "is no name for files"]),
    ("missing configuration", {"cfg": None}, ["run.cfg"]),
    ("missing value", {"options": ["--sampling.seed"]}, ["--sampling.seed"]),
    ("unknown option", {"options": ["--sampling.sed", "1"]}, ["sampling.sed", "sampling.seed"]),
    ("stray word", {"options": ["fast"]}, ["fast"]),
    ("unknown implementation", {"options": ["--run.implementation", "cuda"]},
     ["run.implementation", "cuda", "opencl"]),
    ("unknown precision", {"options": ["--run.precision", "fp16"]},
     ["run.precision", "fp16", "mixed"]),
    # the configuration
    ("unknown key", {"cfg": ("steps =", "stepps =")}, ["run.cfg:", "sampling.stepps",
                                                       "sampling.steps"]),
    ("key without a section", {"cfg": ("[system]\n", "")}, ["run.cfg:", "coordinates"]),
    ("line without =", {"cfg": ("seed = 1", "seed 1")}, ["run.cfg:", "seed 1"]),
    ("a key twice", {"cfg": ("seed = 1", "seed = 1\nseed = 2")}, ["run.cfg:", "sampling.seed"]),
    ("negative temperature", {"options": ["--sampling.temperature", "-5"]},
     ["sampling.temperature", "-5", "K"]),
    ("zero temperature", {"options": ["--sampling.temperature", "0"]}, ["sampling.temperature"]),
    ("temperature is not a number", {"options": ["--sampling.temperature", "warm"]},
     ["sampling.temperature", "warm"]),
    ("temperature is nan", {"options": ["--sampling.temperature", "nan"]},
     ["sampling.temperature", "nan"]),
    ("temperature is infinite", {"options": ["--sampling.temperature", "inf"]},
     ["sampling.temperature", "inf"]),
    ("zero steps", {"options": ["--sampling.steps", "0"]}, ["sampling.steps", "'0'"]),
    ("negative steps", {"options": ["--sampling.steps", "-10"]}, ["sampling.steps", "-10"]),
    ("huge steps", {"options": ["--sampling.steps", "1" + "0" * 40]}, ["sampling.steps", "1000"]),
    ("fractional steps", {"options": ["--sampling.steps", "2.5"]}, ["sampling.steps", "2.5"]),
    ("no steps", {"cfg": ("steps = 20\n", "")}, ["sampling.steps"]),
    ("huge seed", {"options": ["--sampling.seed", "18446744073709551616"]}, ["sampling.seed"]),
    ("huge window", {"options": ["--sampling.window", "5000"]}, ["sampling.window", "1000"]),
    ("huge translation", {"options": ["--sampling.max-translation", "1e308"]},
     ["sampling.max-translation"]),
    ("acceptance of one", {"options": ["--sampling.target-acceptance", "1"]},
     ["sampling.target-acceptance"]),
    ("cutoff above half the box", {"options": ["--interaction.coulomb-cutoff", "6.5"]},
     ["interaction.coulomb-cutoff", "6.5", "half"]),
    ("vdw cutoff above half the box", {"options": ["--interaction.vdw-cutoff", "9"]},
     ["interaction.vdw-cutoff", "9", "half"]),
    ("negative cutoff", {"options": ["--interaction.coulomb-cutoff", "-1"]},
     ["interaction.coulomb-cutoff", "-1"]),
    ("garbage as configuration", {"cfg": bytes(range(256)) * 20}, ["run.cfg"]),
    ("configuration in UTF-16", {"cfg": "[system]\n".encode("utf-16")},
     ["run.cfg:", "UTF-16", "save it as UTF-8"]),
    ("a path that a configuration cuts",
     {"small #2.gro": b"", "options": ["--system.coordinates", "small #2.gro"]},
     ["system.coordinates", "small #2.gro'", "rename"]),
    ("configuration is a folder", {"folder": "cfg"}, ["run.cfg"]),
    # coordinates
    ("missing coordinates", {"gro": None}, ["small.gro"]),
    ("coordinates are a folder", {"folder": "gro"}, ["small.gro"]),
    ("empty coordinates", {"gro": b""}, ["small.gro"]),
    ("coordinates in UTF-16", {"gro": "water\n3\n".encode("utf-16")},
     ["small.gro:", "UTF-16", "save it as UTF-8"]),
    ("too large a count", {"gro": ("  196\n", "  197\n")}, ["small.gro:", "197"]),
    ("too small a count", {"gro": ("  196\n", "  195\n")}, ["small.gro:"]),
    ("count is a word", {"gro": ("  196\n", "  all\n")}, ["small.gro:2", "all"]),
    ("huge count", {"gro": ("  196\n", "99999999999999999999\n")}, ["small.gro:2"]),
    ("large count", {"gro": ("  196\n", "  999999999\n")}, ["small.gro:"]),
    ("nan coordinate", {"gro": ("0.3238769", "      nan")}, ["small.gro:7", "nan"]),
    ("infinite coordinate", {"gro": ("0.3238769", "      inf")}, ["small.gro:7", "inf"]),
    ("huge coordinate", {"gro": ("0.3238769   1", "1e300       1")}, ["small.gro:7"]),
    ("letters in a coordinate", {"gro": ("0.3238769", "0.32x8769")}, ["small.gro:7"]),
    ("zero edge", {"gro": ("   1.2534127   1.2534127   1.2534127", "0 1.2534127 1.2534127")},
     ["small.gro:199"]),
    ("triclinic box", {"gro": ("1.2534127   1.2534127   1.2534127\n",
                               "1.25 1.25 1.25 0 0 0.6 0 0.6 0.6\n")}, ["small.gro:199"]),
    ("no box", {"gro": ("   1.2534127   1.2534127   1.2534127\n", "")}, ["small.gro"]),
    ("overlapping solute",
     {"gro": (FIRST_WATER, WATER_ON_THE_SOLUTE)},
     ["small.gro", "overlaps", "angstrom", "solvate"]),
    ("atoms of the solute on each other",
     {"gro": ("0.7209759   0.5370605", "0.6267064   0.7163523")},
     ["small.gro:5", "atoms 2 and 3", "0.000 angstrom apart", "nanometre"]),
    ("bent water", {"gro": ("0.2344362   1.0135145", "0.2044362   1.1135145")},
     ["small.gro:7", "geometry"]),
    ("atoms in another order", {"gro": ("2SOL     OW    5", "2SOL    HW1    5")},
     ["small.gro:7", "HW1"]),
    # the topology
    ("missing topology", {"top": None}, ["small.top"]),
    ("topology is a folder", {"folder": "top"}, ["small.top"]),
    ("empty topology", {"top": b""}, ["small.top"]),
    ("topology in UTF-16", {"top": b"\xfe\xff" + "[ defaults ]\n".encode("utf-16-be")},
     ["small.top:", "UTF-16", "save it as UTF-8"]),
    ("garbage as topology", {"top": random.Random(1).randbytes(5000)}, ["small.top"]),
    ("zeros as topology", {"top": bytes(5000)}, ["small.top"]),
    ("unknown type", {"top": ("1     opls_277", "1     opls_999")}, ["small.top:", "opls_999"]),
    ("wrong number of molecules", {"top": ("SOL           64", "SOL           65")},
     ["small.gro:2", "196", "65"]),
    ("negative number of molecules", {"top": ("SOL           64", "SOL           -3")},
     ["small.top:", "-3"]),
    ("huge number of molecules",
     {"top": ("SOL           64", "SOL           9223372036854775807")}, ["9223372036854775807"]),
    ("overflowing number of molecules",
     {"top": ("SOL           64", "SOL           6148914691236517270")}, ["small"]),
    ("unknown molecule", {"top": ("SOL           64", "SOLX          64")},
     ["small.top:", "SOLX"]),
    ("nan charge", {"top": ("OW   1  -0.834", "OW   1     nan")}, ["small.top:", "nan"]),
    ("negative sigma", {"top": ("0.315061", "-0.31506")}, ["small.top:", "-0.31506"]),
    ("combination rule 7", {"top": ("1         3", "1         7")}, ["small.top:", "7"]),
    ("impossible settle", {"top": ("0.09572   0.15139", "0.09572   0.99999")}, ["small.top"]),
    ("missing include", {"top": ("[ system ]", '#include "no.itp"\n[ system ]')},
     ["small.top:", "no.itp"]),
    ("include of itself", {"top": ("[ system ]", '#include "small.top"\n[ system ]')},
     ["small.top:", "include"]),
    ("include cycle", {"top": ("[ system ]", '#include "a.itp"\n[ system ]'),
                       "a.itp": b'#include "b.itp"\n', "b.itp": b'#include "a.itp"\n'},
     ["itp:1", "include"]),
    ("ifdef without end", {"top": ("[ system ]", "#ifdef FLEXIBLE\n[ system ]")}, ["small.top"]),
    ("unknown section", {"top": ("[ settles ]", "[ setles ]")}, ["small.top:", "setles"]),
    # molecules that are not rigid
    ("flexible water",
     {"top": ("[ settles ]\n; OW  funct  dOH (nm)  dHH (nm)\n1     1      0.09572   0.15139",
              "[ bonds ]\n1 2 1\n1 3 1\n[ angles ]\n2 1 3 1")},
     ["small.top:", "SOL", "[ bonds ]", "FLEXIBLE", "system.rigid = SOL"]),
    ("water without settles",
     {"top": ("1     1      0.09572   0.15139", "")}, ["small.top:", "system.rigid = SOL"]),
    ("unknown rigid molecule", {"options": ["--system.rigid", "SOL,SOLV"]},
     ["system.rigid", "'SOLV'", "did you mean 'SOL'"]),
    # the QM molecule and its density
    ("forgotten QM molecule",
     {"cfg": ("qm-molecule = formaldehyde\n[qm]\nengine = frozen\n", "[qm]\n")},
     ["run.cfg:", "qm.grid-file", "system.qm-molecule"]),
    ("forgotten solute without charges",
     {"cfg": ("qm-molecule = formaldehyde\n[qm]\nengine = frozen\ngrid-file = small.grid\n", "")},
     ["small.top:", "formaldehyde", "system.qm-molecule = formaldehyde",
      "system.rigid = formaldehyde"]),
    ("another element's type", {"top": ("FORMA    C1 ", "FORMA    SI1")},
     ["small.gro:3", "SI1", "'C1'"]),
    ("a carbon's type for silicon",
     {"top": ("FORMA    C1 ", "FORMA    SI1"), "gro": ("FORMA   C1", "FORMA  SI1")},
     ["small.top:", "atom 1 (SI1)", "Si or S", "number 6 (C)", "qm.elements = SI1=Si"]),
    ("no such atom to state", {"options": ["--qm.elements", "C9=C"]}, ["qm.elements", "'C9'"]),
    ("no such element to state", {"options": ["--qm.elements", "C1=Cx"]},
     ["qm.elements", "'C1=Cx'"]),
    ("odd electrons", {"options": ["--qm.engine", "pyscf", "--qm.charge", "1"]},
     ["--qm.charge", "formaldehyde (C H2 O)", "15 electrons", "qm.multiplicity"]),
    ("even electrons", {"options": ["--qm.engine", "pyscf", "--qm.multiplicity", "2"]},
     ["--qm.multiplicity", "16 electrons"]),
    ("unknown QM molecule", {"options": ["--system.qm-molecule", "methanal"]},
     ["methanal", "formaldehyde"]),
    ("QM molecule 64 times", {"options": ["--system.qm-molecule", "SOL"]}, ["SOL", "64"]),
    ("frozen without a grid", {"cfg": ("grid-file = small.grid\n", "")}, ["grid-file"]),
    ("engine without a QM molecule", {"cfg": ("qm-molecule = formaldehyde\n", "")},
     ["qm"]),
    ("unknown engine", {"options": ["--qm.engine", "gaussian"]}, ["qm.engine", "gaussian",
                                                                  "pyscf"]),
    ("missing grid", {"grid": None}, ["small.grid"]),
    ("grid is a folder", {"folder": "grid"}, ["small.grid"]),
    ("empty grid", {"grid": b""}, ["small.grid"]),
    ("foreign grid", {"grid": b"MYFORMAT" + bytes(100)}, ["small.grid"]),
    ("truncated grid", {"cut": 200_000}, ["small.grid"]),
    ("grid cut in its head", {"cut": 12}, ["small.grid"]),
    ("corrupted grid", {"flip": 5000}, ["small.grid"]),
    ("grid of another version", {"grid": checked(b"STARPMCG" + struct.pack("<IIQ", 99, 0, 0))},
     ["small.grid", "99"]),
    ("nan in the grid", {"grid": checked(b"STARPMCG" + struct.pack("<IIQ4d", 1, 0, 1, 1, 1,
                                                                  float("nan"), -16))},
     ["small.grid", "finite"]),
    ("grid with a huge count",
     {"grid": b"STARPMCG" + struct.pack("<IIQ", 1, 0, 2**62) + bytes(64)}, ["small.grid"]),
    ("angular grid that does not exist", {"options": ["--qm.grid-angular", "975"]},
     ["qm.grid-angular", "975", "974"]),
    # output
    ("output in a file's place", {"options": ["--output.folder", "small.gro"]},
     ["output.folder", "small.gro"]),
    ("output folder with too long a name", {"options": ["--output.folder", "x" * 300]},
     ["x" * 300, "File name too long"]),
    ("empty output folder", {"options": ["--output.folder", ""]}, ["output.folder"]),
    ("interval of zero", {"options": ["--output.energy-interval", "0"]},
     ["output.energy-interval"]),
    ("unknown log level", {"options": ["--output.log-level", "loud"]},
     ["output.log-level", "loud"]),
]  # fmt: skip

CONFIG = f"""[system]
coordinates = small.gro
topology = small.top
qm-molecule = formaldehyde
[qm]
engine = frozen
grid-file = small.grid
[sampling]
steps = {STEPS}
equilibration-steps = 0
seed = 1
"""


class Malformed(program.TestCase):
    def prepare(self, changes):
        """The valid files in a new folder, then changed."""
        folder = self.folder / "case"
        folder.mkdir()
        for name in ("small.gro", "small.top", "small.grid"):
            (folder / name).write_bytes((SMALL / name).read_bytes())
        (folder / "run.cfg").write_text(CONFIG)
        grid = folder / NAMES["grid"]
        for key, change in changes.items():
            path = folder / NAMES.get(key, key)
            if key in ("options", "words"):
                continue
            if key == "folder":
                (folder / NAMES[change]).unlink()
                (folder / NAMES[change]).mkdir()
            elif key == "cut":
                grid.write_bytes(grid.read_bytes()[:change])
            elif key == "flip":
                data = bytearray(grid.read_bytes())
                data[change] ^= 1
                grid.write_bytes(data)
            elif change is None:
                path.unlink()
            elif isinstance(change, bytes):
                path.write_bytes(change)
            else:
                text = path.read_text()
                self.assertIn(change[0], text)
                path.write_text(text.replace(*change))
        return folder

    def check(self, changes, parts):
        folder = self.prepare(changes)
        before = sorted(path.name for path in folder.iterdir())
        words = changes.get("words") or ["run", "run.cfg", *changes.get("options", [])]
        result = program.start(*words, cwd=folder, timeout=120)
        said = f"status {result.returncode}\n{result.stdout}{result.stderr}"
        self.assertEqual(result.returncode, 2, said)
        self.assertTrue(result.stderr.startswith("starpmc: error: "), said)
        self.assertIn("remedy:", result.stderr, said)
        self.assertLess(len(result.stderr), 2000, said)
        self.assertNotIn("Sanitizer", result.stderr, said)
        self.assertNotIn("runtime error", result.stderr, said)
        for part in parts:
            self.assertIn(part, result.stderr, said)
        self.assertEqual(sorted(path.name for path in folder.iterdir()), before, said)

    def test_cases(self):
        self.assertEqual(len({case[0] for case in CASES}), len(CASES))
        for name, changes, parts in CASES:
            with self.subTest(name):
                try:
                    self.check(changes, parts)
                finally:
                    shutil.rmtree(self.folder / "case", ignore_errors=True)
        print(f"{len(CASES)} malformed inputs")

    def test_the_valid_files_run(self):
        folder = self.prepare({})
        program.succeed("run", "run.cfg", "--output.folder", "out", cwd=folder)
        self.assertTrue((folder / "out/summary.json").is_file())

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_unreadable(self):
        for name in NAMES.values():
            with self.subTest(name):
                folder = self.prepare({})
                (folder / name).chmod(0)
                result = program.start("run", "run.cfg", cwd=folder)
                self.assertEqual(result.returncode, 2, result.stderr)
                for part in (name, "remedy:"):
                    self.assertIn(part, result.stderr)
                shutil.rmtree(folder)


if __name__ == "__main__":
    program.main()
