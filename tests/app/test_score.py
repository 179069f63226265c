"""`starpmc score`: its energies against a plain NumPy double loop, its tiles and tasks, its readers,
its output, its errors.

    python3 test_score.py PROGRAM
"""

import csv
import json
import math
import signal
import subprocess
import time
import unittest

import numpy as np
import program

COULOMB_CONSTANT = 1389.35457644
WELL_DEPTHS = {"C": 0.3598, "H": 0.0657, "N": 0.7113, "O": 0.8786}
ELEMENTS = np.array(["C", "H", "N", "O"])


class Sites:
    """Positions, charges, radii, elements."""

    def __init__(self, positions, charges, radii, elements):
        self.positions = np.asarray(positions, float).reshape(-1, 3)
        self.charges = np.asarray(charges, float)
        self.radii = np.asarray(radii, float)
        self.elements = np.asarray(elements)

    def __len__(self):
        return len(self.charges)

    def at(self, positions):
        return Sites(positions, self.charges, self.radii, self.elements)

    def depths(self):
        return np.array([WELL_DEPTHS[e] for e in self.elements])

    def records(self):
        """PQR records, with and without a chain by turns."""
        lines = []
        for i, (r, q, radius, e) in enumerate(
            zip(self.positions, self.charges, self.radii, self.elements)
        ):
            chain = "A " if i % 2 else ""
            lines.append(f"ATOM {i + 1} {e}{i + 1} LIG {chain}1 {r[0]:.17g} {r[1]:.17g} "
                         f"{r[2]:.17g} {q:.17g} {radius:.17g}")
        return lines

    def write(self, path):
        path.write_text("REMARK made by a test\n" + "\n".join(self.records()) + "\nEND\n")
        return path


def random_sites(random, count, edge, centre=(0, 0, 0)):
    """Atoms at least 2 A apart from one another on a lattice that is shaken a little."""
    side = math.ceil(count ** (1 / 3))
    lattice = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3)[:count]
    spacing = edge / side
    positions = (lattice - (side - 1) / 2) * spacing + random.uniform(-0.3, 0.3, (count, 3))
    return Sites(
        positions + centre,
        random.uniform(-0.8, 0.8, count),
        random.uniform(0.6, 1.9, count),
        random.choice(ELEMENTS, count),
    )


def plain_energies(receptor, ligand, positions, cutoff=math.inf, distance=False, permittivity=1.0):
    """Coulomb and 12-6 energy of one pose: the sums over all pairs, as they are written down."""
    coulomb, vdw = 0.0, 0.0
    receptor_depths = receptor.depths()
    for i, depth in enumerate(ligand.depths()):
        r = np.sqrt(((receptor.positions - positions[i]) ** 2).sum(1))
        inside = r < cutoff
        r = np.maximum(r, 0.01)
        power = 2 if distance else 1
        pairs = COULOMB_CONSTANT * ligand.charges[i] * receptor.charges / (permittivity * r**power)
        least = ligand.radii[i] + receptor.radii
        wells = np.sqrt(depth * receptor_depths) * ((least / r) ** 12 - 2 * (least / r) ** 6)
        coulomb += pairs[inside].sum()
        vdw += wells[inside].sum()
    return coulomb, vdw


def rotation(q):
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


class ScoreCase(program.TestCase):
    def setUp(self):
        super().setUp()
        self.random = np.random.default_rng(7)

    def score(self, *options, env=None, timeout=300):
        """Rows of the CSV file and the JSON file."""
        program.succeed("score", *options, "--output", self.folder / "out", "--overwrite",
                        env=env, timeout=timeout)
        document = json.loads((self.folder / "out.json").read_text())
        table = self.folder / "out.csv"
        rows = []
        if table.exists():
            with open(table, newline="") as file:
                rows = list(csv.DictReader(file))
        left = {p.name for p in self.folder.iterdir() if p.name.startswith(".")}
        self.assertEqual(left, set())
        return rows, document

    def pair(self, receptor_count=700, ligand_count=21):
        """Receptor, ligand beside it, and the files."""
        receptor = random_sites(self.random, receptor_count, 3.0 * receptor_count ** (1 / 3))
        edge = receptor.positions[:, 0].max() + 5
        ligand = random_sites(self.random, ligand_count, 8, (edge, 0, 0))
        return (receptor, ligand, "--receptor", receptor.write(self.folder / "r.pqr"),
                "--ligand", ligand.write(self.folder / "l.pqr"))

    def write_transforms(self, ligand, count):
        """poses.csv, and the positions it stands for."""
        centre = ligand.positions.mean(0)
        lines, poses = ["w,x,y,z,tx,ty,tz"], []
        for _ in range(count):
            q = self.random.normal(size=4)
            q /= np.linalg.norm(q)
            t = self.random.uniform(0, 3, 3)
            lines.append(",".join(f"{v:.17g}" for v in (*q, *t)))
            poses.append(centre + t + (ligand.positions - centre) @ rotation(q).T)
        path = self.folder / "poses.csv"
        path.write_text("\n".join(lines) + "\n")
        return path, poses


class Energies(ScoreCase):
    def check(self, rows, receptor, ligand, poses, tolerance, **settings):
        self.assertEqual([int(row["pose"]) for row in rows], list(range(1, len(poses) + 1)))
        for row, positions in zip(rows, poses):
            coulomb, vdw = plain_energies(receptor, ligand, positions, **settings)
            found = float(row["coulomb_kj_per_mol"]), float(row["vdw_kj_per_mol"])
            self.assertAlmostEqual(found[0], coulomb, delta=tolerance * (abs(coulomb) + 100))
            self.assertAlmostEqual(found[1], vdw, delta=12 * tolerance * (abs(vdw) + 100))
            total = float(row["total_kj_per_mol"])
            self.assertAlmostEqual(total, sum(found), delta=1e-12 * abs(total))
            distances = np.linalg.norm(receptor.positions[:, None] - positions[None], axis=2)
            if row["closest_angstrom"]:
                self.assertAlmostEqual(float(row["closest_angstrom"]), distances.min(), delta=1e-4)
            self.assertEqual(row["overlap"], "0")

    def check_all_functions(self, *options, tolerance):
        receptor, ligand, *files = self.pair()
        path, poses = self.write_transforms(ligand, 25)
        for settings in ({}, {"cutoff": 12.0}, {"distance": True, "permittivity": 4.0}):
            words = []
            if "cutoff" in settings:
                words += ["--cutoff", settings["cutoff"]]
            if "distance" in settings:
                words += ["--dielectric", "distance", "--permittivity", settings["permittivity"]]
            rows, _ = self.score(*files, "--poses", path, "--terms", "coulomb+12-6", *words,
                                 *options)
            self.check(rows, receptor, ligand, poses, tolerance, **settings)

    def test_scalar_fp64(self):
        self.check_all_functions("--implementation", "scalar", "--precision", "fp64",
                                 tolerance=1e-12)

    def test_simd_fp64(self):
        self.check_all_functions("--implementation", "simd", "--precision", "fp64",
                                 tolerance=1e-12)

    def test_simd_mixed(self):
        self.check_all_functions("--implementation", "simd", tolerance=1e-6)

    def test_scalar_mixed(self):
        self.check_all_functions("--implementation", "scalar", tolerance=1e-6)

    def test_fixed(self):
        """Coordinates in units of 4.8e-7 A."""
        for implementation in ("scalar", "simd"):
            self.check_all_functions("--implementation", implementation, "--precision", "fixed",
                                     tolerance=1e-6)

    def test_opencl(self):
        missing = program.opencl_missing()
        if missing:
            raise unittest.SkipTest(missing)
        self.check_all_functions("--implementation", "opencl", tolerance=1e-6)
        self.check_all_functions("--implementation", "opencl", "--precision", "fixed",
                                 tolerance=1e-6)
        self.check_all_functions("--implementation", "opencl", "--precision", "fp64",
                                 tolerance=1e-12)

    def test_madelung_constant_of_rock_salt(self):
        """The potential energy of an ion in the middle of a neutral cube of ions, the charges of its
        faces halved, edges quartered, corners eighthed (Evjen 1932): 1.747565 per nearest distance.
        """
        half = 12
        axis = np.arange(-half, half + 1)
        cells = np.stack(np.meshgrid(axis, axis, axis), -1).reshape(-1, 3)
        cells = cells[np.abs(cells).sum(1) > 0]
        charges = np.where(cells.sum(1) % 2 == 0, 1.0, -1.0)
        charges *= 0.5 ** (np.abs(cells) == half).sum(1)
        distance = 2.82
        zeros = np.zeros(len(charges))
        Sites(cells * distance, charges, zeros, ["C"] * len(charges)).write(self.folder / "r.pqr")
        Sites([[0, 0, 0]], [1], [0], ["C"]).write(self.folder / "l.pqr")
        rows, document = self.score("--receptor", self.folder / "r.pqr", "--ligand",
                                    self.folder / "l.pqr", "--precision", "fp64")
        energy = float(rows[0]["coulomb_kj_per_mol"])
        self.assertAlmostEqual(-energy * distance / COULOMB_CONSTANT, 1.747565, delta=2e-4)
        self.assertEqual(document["receptor"]["sites"], len(charges))

    def test_topology(self):
        """sigma and epsilon of a topology, with the three combination rules."""
        receptor, ligand, *files = self.pair(40, 5)
        names = [f"{e}{i + 1}" for s in (receptor, ligand) for i, e in enumerate(s.elements)]
        sigmas = {"C": 0.34, "H": 0.11, "N": 0.325, "O": 0.296}  # nm
        for rule in (1, 2, 3):
            types = []
            for e, sigma in sigmas.items():
                depth = WELL_DEPTHS[e]
                first, second = sigma, depth
                if rule == 1:
                    first, second = 4 * depth * sigma**6, 4 * depth * sigma**12
                types.append(f"t{e} 1 1.0 0.0 A {first:.17g} {second:.17g}")
            molecules = []
            for name, sites, shift in (("REC", receptor, 0), ("LIG", ligand, len(receptor))):
                atoms = [f"{i + 1} t{e} 1 {name} {names[shift + i]} 1 0.0 1.0"
                         for i, e in enumerate(sites.elements)]
                molecules += ["[ moleculetype ]", f"{name} 3", "[ atoms ]", *atoms]
            text = ["[ defaults ]", f"1 {rule} no 1.0 1.0", "[ atomtypes ]", *types, *molecules,
                    "[ system ]", "test", "[ molecules ]", "REC 1", "LIG 1"]
            (self.folder / "system.top").write_text("\n".join(text) + "\n")
            rows, _ = self.score(*files, "--terms", "coulomb+12-6", "--precision", "fp64",
                                 "--topology", self.folder / "system.top")
            expected = 0.0
            for e, r in zip(ligand.elements, ligand.positions):
                for f, s in zip(receptor.elements, receptor.positions):
                    sigma = 10 * (sigmas[e] + sigmas[f]) / 2
                    if rule != 2:
                        sigma = 10 * math.sqrt(sigmas[e] * sigmas[f])
                    x = (sigma / np.linalg.norm(r - s)) ** 6
                    expected += 4 * math.sqrt(WELL_DEPTHS[e] * WELL_DEPTHS[f]) * (x * x - x)
            found = float(rows[0]["vdw_kj_per_mol"])
            self.assertAlmostEqual(found, expected, delta=1e-11 * (abs(expected) + 100))


class Tasks(ScoreCase):
    def test_results_do_not_depend_on_tasks(self):
        """Tile, granularity, scheduler and number of workers: the same bits."""
        _, ligand, *files = self.pair(6000, 11)
        path, _ = self.write_transforms(ligand, 150)
        common = (*files, "--poses", path, "--terms", "coulomb+12-6", "--implementation", "simd")
        reference, document = self.score(*common)
        self.assertEqual(document["poses"], 150)
        tiles = set()
        for options, env in (
            (("--task-memory", 32), {}),
            (("--task-memory", 64, "--granularity", 1), {}),
            (("--task-memory", 4096, "--granularity", 7), {"STARPU_SCHED": "eager"}),
            (("--task-memory", 256), {"STARPU_NCPU": 1}),
        ):
            rows, document = self.score(*common, *options, env=env)
            self.assertEqual(rows, reference, options)
            tiles.add(document["tasks"]["receptor_tiles"])
            if "--granularity" not in options:
                self.assertLessEqual(document["tasks"]["bytes_per_task"], 1024 * options[1])
        self.assertGreaterEqual(len(tiles), 3)
        self.assertGreater(max(tiles), 8)  # more than one reduction takes

    def test_best(self):
        _, ligand, *files = self.pair(300, 9)
        path, _ = self.write_transforms(ligand, 200)
        rows, document = self.score(*files, "--poses", path, "--best", 17)
        energies = sorted((float(row["coulomb_kj_per_mol"]), int(row["pose"])) for row in rows)
        best = [(b["coulomb_kj_per_mol"], b["pose"]) for b in document["best"]]
        self.assertEqual(best, energies[:17])
        (self.folder / "out.csv").unlink()
        rows, document = self.score(*files, "--poses", path, "--best", 1, "--rows", "none")
        self.assertEqual((rows, len(document["best"])), ([], 1))

    def test_stopped_by_a_signal(self):
        """Nothing half-written; the shell sees which signal it was."""
        _, ligand, *files = self.pair(3000, 30)
        path, _ = self.write_transforms(ligand, 200)
        path.write_text(path.read_text() + path.read_text().split("\n", 1)[1] * 5000)
        before = set(self.folder.iterdir())
        run = subprocess.Popen([program.PROGRAM, "score", *map(str, files), "--poses", path],
                               cwd=self.folder, env=program.environment(), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not any(self.folder.glob("score-output/.*")):
            self.assertIsNone(run.poll())
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130, errors)
        self.assertIn("nothing has been written", errors)
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_more_than_2_31_pairs(self):
        """50,000 sites with 45,000: 2.25e9 pairs of charges 1 in two distant balls."""
        receptor = random_sites(self.random, 50000, 100)
        receptor.charges[:] = 1
        ligand = random_sites(self.random, 45000, 100, (1e5, 0, 0))
        ligand.charges[:] = 1
        rows, document = self.score(
            "--receptor", receptor.write(self.folder / "r.pqr"), "--ligand",
            ligand.write(self.folder / "l.pqr"), timeout=600)
        self.assertEqual(document["pairs"], 2.25e9)
        # monopoles, and the quadrupoles' 1e-6 of them
        distance = (ligand.positions.mean(0) - receptor.positions.mean(0))[0]
        self.assertAlmostEqual(float(rows[0]["coulomb_kj_per_mol"]),
                               COULOMB_CONSTANT * 2.25e9 / distance,
                               delta=3e-6 * COULOMB_CONSTANT * 2.25e9 / distance)


class Readers(ScoreCase):
    def test_formats_agree(self):
        """The same poses as models of the ligand's file, of another file, frames and transforms."""
        receptor, ligand, *files = self.pair(100, 6)
        path, poses = self.write_transforms(ligand, 9)
        expected, _ = self.score(*files, "--poses", path, "--precision", "fp64")
        models, frames = [], []
        for k, positions in enumerate(poses):
            models += [f"MODEL {k + 1}", *ligand.at(positions).records(), "ENDMDL"]
            frames += [str(len(ligand)), f"pose {k}"]
            frames += [f"{e} {r[0]:.17g} {r[1]:.17g} {r[2]:.17g}"
                       for e, r in zip(ligand.elements, positions)]
        (self.folder / "models.pqr").write_text("\r\n".join(models) + "\r\n")
        (self.folder / "frames.xyz").write_text("\n".join(frames) + "\n\n")
        for words in (
            (*files, "--poses", self.folder / "models.pqr"),
            (*files, "--poses", self.folder / "frames.xyz"),
            (*files[:2], "--ligand", self.folder / "models.pqr"),
        ):
            rows, _ = self.score(*words, "--precision", "fp64")
            self.assertEqual(len(rows), len(expected))
            for row, other in zip(rows, expected):
                self.assertAlmostEqual(float(row["coulomb_kj_per_mol"]),
                                       float(other["coulomb_kj_per_mol"]), delta=1e-9)
        self.assertEqual(len(receptor), 100)

    def test_elements_of_frames(self):
        """Words for the ligand's atoms, as programs write them, are taken; other elements are not."""
        words = {  # by residue:name
            "LIG:C1": ("C c 6 C1 c1 CA ca C.ar 13C X", "N CL Cl cl Ca 7 1HB"),
            "LIG:CL1": ("Cl CL cl 17 CL1", "C 6 C1"),
            "LIG:Cl2": ("Cl CL 17 Cl2", "C"),
            "ALA:CA": ("C 6 CA Ca", "N HA"),
            "CA:CA": ("Ca CA 20", "C N"),
            "LIG:CAB": ("C CAB C2", "N"),
            "LIG:HG": ("H Hg 1 HG D", "C O"),
            "LIG:1HB": ("H h hc 1 1HB", "B C"),
            "LIG:FEA": ("Fe F FE 26", "C"),
            "LIG:OS": ("O Os os 8", ""),
            "LIG:NA1": ("N Na O", ""),  # open
            "LIG:LP1": ("X LP1 O", ""),  # no element
            "SOD:SOD": ("Na NA 11 SOD", "K"),
        }
        (self.folder / "r.pqr").write_text(RECEPTOR)
        names = [name.split(":") for name in words]
        (self.folder / "l.pqr").write_text("".join(
            f"ATOM {i + 1} {name} {residue} 1 {3 * i}.0 5.0 0 0.5 1.6\n"
            for i, (residue, name) in enumerate(names)))
        good = [taken.split() for taken, _ in words.values()]
        common = ("--receptor", self.folder / "r.pqr", "--ligand", self.folder / "l.pqr",
                  "--poses", self.folder / "p.xyz")

        def write(frames):
            text = "".join(
                f"{len(frame)}\n\n" + "".join(f"{word} {3 * i} 5 0\n" for i, word in enumerate(frame))
                for frame in frames)
            (self.folder / "p.xyz").write_text(text)

        count = max(map(len, good))
        write([[taken[k % len(taken)] for taken in good] for k in range(count)])
        rows, _ = self.score(*common)
        self.assertEqual(len(rows), count)
        for atom, (name, (_, refused)) in enumerate(words.items()):
            for word in refused.split():
                frame = [taken[0] for taken in good]
                write([frame, [*frame[:atom], word, *frame[atom + 1:]]])
                run = program.start("score", *common, "--output", self.folder / "no")
                with self.subTest(f"{name}: {word}"):
                    self.assertEqual(run.returncode, 2, run.stderr)
                    line = 5 + len(words) + atom
                    self.assertIn(f"p.xyz:{line}: the ligand has atom '{name.split(':')[1]}' (",
                                  run.stderr)
                    self.assertIn(f"'{word}'", run.stderr)
                    self.assertIn("in their order", run.stderr)

    def test_serial_numbers_of_six_digits(self):
        (self.folder / "r.pqr").write_text("HETATM100000 C1 ABC A 9999 0.0 0.0 0.0 1.0 1.7\n")
        (self.folder / "l.pqr").write_text("ATOM 1 C1 LIG 1 2.0 0.0 0.0 -1.0 1.7\n")
        rows, _ = self.score("--receptor", self.folder / "r.pqr", "--ligand",
                             self.folder / "l.pqr", "--precision", "fp64")
        self.assertAlmostEqual(float(rows[0]["coulomb_kj_per_mol"]), -COULOMB_CONSTANT / 2, 9)

    def test_overlap_is_finite_and_told(self):
        """Atoms on one another count as 0.01 A apart."""
        for name, charge in (("r.pqr", 1.0), ("l.pqr", -0.5)):
            (self.folder / name).write_text(f"ATOM 1 C1 LIG 1 1.5 2.5 3.5 {charge} 1.7\n")
        words = ("--receptor", self.folder / "r.pqr", "--ligand", self.folder / "l.pqr",
                 "--terms", "coulomb+12-6")
        for precision in ("fp64", "mixed", "fixed"):
            rows, document = self.score(*words, "--precision", precision)
            coulomb = float(rows[0]["coulomb_kj_per_mol"])
            vdw = float(rows[0]["vdw_kj_per_mol"])
            self.assertAlmostEqual(coulomb / (-0.5 * COULOMB_CONSTANT / 0.01), 1, delta=1e-6)
            self.assertAlmostEqual(vdw / (0.3598 * (3.4 / 0.01) ** 12), 1, delta=1e-5)
            self.assertEqual((rows[0]["overlap"], document["poses_with_overlap"]), ("1", 1))
        run = program.succeed("score", *words, "--output", self.folder / "out", "--overwrite")
        self.assertIn("1 of 1 poses have sites nearer than 0.01 A", run.stderr)

    def test_well_depths_by_name(self):
        """RESIDUE:ATOM before ATOM before element; a radius takes the place of the file's."""
        (self.folder / "r.pqr").write_text("ATOM 1 C1 ABC 1 0 0 0 0 1.0\n")
        (self.folder / "l.pqr").write_text("ATOM 1 C1 LIG 1 3.0 0 0 0 1.0\n")
        (self.folder / "wells.txt").write_text(
            "element C 9\natom C1 0.25 # both\natom lig:c1 4 2.0\n")
        rows, _ = self.score(
            "--receptor", self.folder / "r.pqr", "--ligand", self.folder / "l.pqr", "--terms",
            "coulomb+12-6", "--well-depths", self.folder / "wells.txt", "--precision", "fp64")
        self.assertAlmostEqual(float(rows[0]["vdw_kj_per_mol"]), -1, 12)  # at the bottom

    def test_elements_of_two_letters(self):
        """They are told where the name, or the residue, tells; C1 in their place is another."""
        wells = {"Cl": 1.1088, "Br": 1.3389, "Zn": 0.0523, "Ca": 1.9238, "C": 0.3598, "Na": 0.0116}
        (self.folder / "r.pqr").write_text("ATOM 1 H1 ABC 1 0 0 0 0 1.0\n")
        for name, residue, element in (
            ("CL1", "LIG", "Cl"), ("Cl1", "LIG", "Cl"), ("CL", "LIG", "Cl"), ("Cl", "LIG", "Cl"),
            ("BR1", "LIG", "Br"), ("Br", "LIG", "Br"), ("ZN", "ZN2", "Zn"), ("CA", "CA", "Ca"),
            ("CA", "ALA", "C"), ("CA", "CLYS", "C"), ("CAB", "LIG", "C"), ("NA", "NA+", "Na"),
            ("SOD", "SOD", "Na"),
        ):
            (self.folder / "l.pqr").write_text(f"ATOM 1 {name} {residue} 1 2.0 0 0 0 1.0\n")
            rows, _ = self.score("--receptor", self.folder / "r.pqr", "--ligand",
                                 self.folder / "l.pqr", "--terms", "coulomb+12-6", "--precision",
                                 "fp64")
            with self.subTest(f"{residue}:{name}"):
                self.assertAlmostEqual(float(rows[0]["vdw_kj_per_mol"]),
                                       -math.sqrt(0.0657 * wells[element]), 9)


RECEPTOR = "ATOM 1 C1 ABC A 1 0.0 0.0 0.0 0.5 1.7\nATOM 2 O1 ABC A 1 1.2 0.0 0.0 -0.5 1.5\n"
LIGAND = "ATOM 1 N1 LIG 1 4.0 0.0 0.0 0.5 1.6\nATOM 2 H1 LIG 1 5.0 0.0 0.0 -0.5 1.0\n"
MODEL = f"MODEL 1\n{LIGAND}ENDMDL\n"
FRAME = "2\npose\nN 4.0 0 0\nH 5.0 0 0\n"

# name, changed files, words of the command line, parts of the message
CASES = [
    ("no receptor", {}, None, ["--receptor is missing"]),
    ("no such file", {"r.pqr": None}, [], ["r.pqr", "no such file"]),
    ("a folder", {}, ["--poses", "."], ["pose"]),
    ("charge column missing", {"l.pqr": LIGAND.replace(" 0.5 1.6", " 1.6")}, [],
     ["l.pqr:1", "the column of the charge or of the radius is missing", "write 'ATOM"]),
    ("charge and radius missing", {"r.pqr": RECEPTOR.replace("A 1 1.2 0.0 0.0 -0.5 1.5",
                                                             "1 1.2 0.0 0.0")}, [],
     ["r.pqr:2", "columns of charge and radius are missing"]),
    ("too many columns", {"r.pqr": RECEPTOR.replace("0.5 1.7", "0.5 1.7 9 9")}, [],
     ["r.pqr:1", "not the columns"]),
    ("charge is no number", {"l.pqr": LIGAND.replace("-0.5", "minus")}, [],
     ["l.pqr:2", "charge", "minus"]),
    ("coordinate is nan", {"r.pqr": RECEPTOR.replace("1.2", "nan")}, [], ["r.pqr:2", "nan"]),
    ("coordinate is no number", {"r.pqr": RECEPTOR.replace("1.2", "1.2x")}, [],
     ["r.pqr:2", "x coordinate", "1.2x"]),
    ("negative radius", {"r.pqr": RECEPTOR.replace("1.5", "-1.5")}, [],
     ["r.pqr:2", "radius", "-1.5"]),
    ("huge charge", {"r.pqr": RECEPTOR.replace("-0.5", "-5e7")}, [],
     ["r.pqr:2", "charge", "at most"]),
    ("huge radius", {"r.pqr": RECEPTOR.replace("1.5", "15")}, ["--terms", "coulomb+12-6"],
     ["r.pqr:2", "15", "at most 4"]),
    ("no atoms", {"r.pqr": "REMARK nothing\nEND\n"}, [], ["r.pqr", "no atom"]),
    ("empty file", {"l.pqr": ""}, [], ["l.pqr", "no atom"]),
    ("empty pose", {"p.pqr": MODEL + "MODEL 2\nENDMDL\n"}, ["--poses", "p.pqr"],
     ["p.pqr:5", "the model has no atoms"]),
    ("pose with an atom too few", {"p.pqr": MODEL + MODEL.replace(LIGAND[:36], "")},
     ["--poses", "p.pqr"], ["p.pqr:5", "ligand's 2 atoms", "1 atoms"]),
    ("pose with another atom", {"p.pqr": MODEL.replace("H1", "H9")}, ["--poses", "p.pqr"],
     ["p.pqr:3", "'H1'", "H9"]),
    ("model does not end", {"p.pqr": MODEL + "MODEL 2\n" + LIGAND}, ["--poses", "p.pqr"],
     ["p.pqr", "ends within a model"]),
    ("models within models", {"p.pqr": "MODEL 1\n" + MODEL}, ["--poses", "p.pqr"],
     ["p.pqr:2", "MODEL"]),
    ("end without model", {"p.pqr": LIGAND + "ENDMDL\n"}, ["--poses", "p.pqr"],
     ["p.pqr:3", "ENDMDL without MODEL"]),
    ("frame of no atoms", {"p.xyz": FRAME + "0\nempty\n"}, ["--poses", "p.xyz"],
     ["p.xyz:5", "number of atoms"]),
    ("frame of other size", {"p.xyz": FRAME + "3\n"}, ["--poses", "p.xyz"],
     ["p.xyz:5", "ligand's 2 atoms"]),
    ("torn frame", {"p.xyz": FRAME + "2\npose\nN 1 2 3\n"}, ["--poses", "p.xyz"],
     ["p.xyz:7", "ends within a pose"]),
    ("frame in another order", {"p.xyz": FRAME + "2\npose\nH 5.0 0 0\nN 4.0 0 0\n"},
     ["--poses", "p.xyz"], ["p.xyz:7", "the ligand has atom 'N1' (N) here", "H", "their order"]),
    ("frame without numbers", {"p.xyz": FRAME.replace("5.0", "five")}, ["--poses", "p.xyz"],
     ["p.xyz:4", "five"]),
    ("no poses", {"p.csv": "w,x,y,z,tx,ty,tz\n"}, ["--poses", "p.csv"],
     ["p.csv", "no pose"]),
    ("the quaternion's real part last", {"p.csv": "x,y,z,w,tx,ty,tz\n0,0,0,1,1,2,3\n"},
     ["--poses", "p.csv"], ["p.csv:1", "x,y,z,w,tx,ty,tz", "w,x,y,z,tx,ty,tz"]),
    ("six columns", {"p.csv": "1,0,0,0,1,2\n"}, ["--poses", "p.csv"],
     ["p.csv:1", "seven columns", "1,0,0,0,1,2"]),
    ("eight columns", {"p.csv": "1,0,0,0,1,2,3,4\n"}, ["--poses", "p.csv"],
     ["p.csv:1", "seven columns"]),
    ("no unit quaternion", {"p.csv": "1,0,0,0,1,2,3\n0,0,0,0,1,2,3\n"}, ["--poses", "p.csv"],
     ["p.csv:2", "unit quaternion", "length 0"]),
    ("a word in the middle", {"p.csv": "1,0,0,0,1,2,3\n1,0,0,0,a,2,3\n"}, ["--poses", "p.csv"],
     ["p.csv:2", "translation", "'a'"]),
    ("first line of no numbers", {"p.csv": "nan,0,0,0,1,0,0\n1,0,0,0,1,2,3\n"},
     ["--poses", "p.csv"], ["p.csv:1", "quaternion", "nan"]),
    ("first line infinite", {"p.csv": "Infinity,0,0,0,1,0,0\n1,0,0,0,1,2,3\n"},
     ["--poses", "p.csv"], ["p.csv:1", "quaternion", "Infinity"]),
    ("a column more, no chain", {"l.pqr": LIGAND.replace("0.5 1.6", "0.5 1.6 77")}, [],
     ["l.pqr:1", "no residue number", "4.0"]),
    ("receptor of two parts", {"r.pqr": RECEPTOR + "END\n" + RECEPTOR}, [],
     ["r.pqr:4", "atoms after the end of the first model"]),
    ("receptor of two models", {"r.pqr": MODEL + MODEL}, [],
     ["r.pqr:5", "atoms after the end of the first model"]),
    ("ambiguous element", {"l.pqr": LIGAND.replace("N1", "NA1")}, ["--terms", "coulomb+12-6"],
     ["l.pqr:1", "Na or N", "LIG:NA1", "--well-depths"]),
    ("unknown format", {"p.sdf": ""}, ["--poses", "p.sdf"], [".sdf", ".pqr, .xyz or .csv"]),
    ("unknown atom", {"l.pqr": LIGAND.replace("H1", "Qq")}, ["--terms", "coulomb+12-6"],
     ["l.pqr:2", "LIG:Qq", "--well-depths"]),
    ("bad table", {"t.txt": "element C\n"},
     ["--terms", "coulomb+12-6", "--well-depths", "t.txt"], ["t.txt:1", "element SYMBOL DEPTH"]),
    ("table without a term", {"t.txt": ""}, ["--well-depths", "t.txt"], ["--well-depths"]),
    ("topology of other size", {"t.top": "[ defaults ]\n1 2\n[ system ]\nx\n[ molecules ]\n"},
     ["--terms", "coulomb+12-6", "--topology", "t.top"], ["t.top"]),
    ("beyond fixed point", {"p.csv": "1,0,0,0,1,2,3\n1,0,0,0,1200,0,0\n"},
     ["--poses", "p.csv", "--precision", "fixed"],
     ["pose 2", "too far apart", "300 A", "--precision mixed"]),
    ("unknown precision", {}, ["--precision", "single"], ["--precision", "fp64, mixed, fixed"]),
    ("unknown terms", {}, ["--terms", "coulomb+12"], ["--terms", "coulomb+12-6"]),
    ("negative cutoff", {}, ["--cutoff", "-3"], ["--cutoff", "-3"]),
    ("cutoff is a word", {}, ["--cutoff", "far"], ["--cutoff", "far"]),
    ("zero permittivity", {}, ["--permittivity", "0"], ["--permittivity"]),
    ("three Newton steps", {}, ["--newton-steps", "3"], ["--newton-steps", "0 to 2"]),
    ("small task memory", {}, ["--task-memory", "8"], ["--task-memory", "8 KiB", "at least"]),
    ("zero granularity", {}, ["--granularity", "0"], ["--granularity"]),
    ("unknown option", {}, ["--recepter", "x"], ["--recepter", "--receptor"]),
    ("no such folder", {}, ["--output", "nowhere/x"], ["--output", "nowhere"]),
]


class Malformed(ScoreCase):
    def test_cases(self):
        for name, files, words, parts in CASES:
            with self.subTest(name):
                self.check(files, words, parts)

    def check(self, files, words, parts):
        for old in self.folder.iterdir():
            old.unlink()
        for file, text in ({"r.pqr": RECEPTOR, "l.pqr": LIGAND} | files).items():
            if text is not None:
                (self.folder / file).write_text(text)
        before = set(self.folder.iterdir())
        common = () if words is None else ("--receptor", "r.pqr", "--ligand", "l.pqr")
        run = program.start("score", *common, *(words or ()), cwd=self.folder, timeout=60)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_late_error_leaves_nothing(self):
        """A torn line after thousands of good ones."""
        (self.folder / "r.pqr").write_text(RECEPTOR)
        (self.folder / "l.pqr").write_text(LIGAND)
        (self.folder / "p.csv").write_text("1,0,0,0,1,2,3\n" * 20000 + "1,0,0\n")
        before = set(self.folder.iterdir())
        run = program.start("score", "--receptor", "r.pqr", "--ligand", "l.pqr", "--poses", "p.csv",
                            cwd=self.folder)
        self.assertEqual(run.returncode, 2)
        self.assertIn("p.csv:20001", run.stderr)
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_nothing_is_overwritten(self):
        (self.folder / "r.pqr").write_text(RECEPTOR)
        (self.folder / "l.pqr").write_text(LIGAND)
        own = self.folder / "score-output"
        own.mkdir()
        (own / "score.csv").write_text("mine")
        words = ("score", "--receptor", "r.pqr", "--ligand", "l.pqr")
        run = program.start(*words, cwd=self.folder)
        self.assertEqual(run.returncode, 2)
        self.assertIn("score.csv", run.stderr)
        self.assertEqual((own / "score.csv").read_text(), "mine")
        program.succeed(*words, "--overwrite", cwd=self.folder)
        self.assertNotEqual((own / "score.csv").read_text(), "mine")
        self.assertEqual({p.name for p in own.iterdir()}, {"score.csv", "score.json"})
        self.assertEqual({p.name for p in self.folder.iterdir()},
                         {"r.pqr", "l.pqr", "score-output"})

    def test_a_folder_is_told_before_anything_is_replaced(self):
        (self.folder / "r.pqr").write_text(RECEPTOR)
        (self.folder / "l.pqr").write_text(LIGAND)
        (self.folder / "out.csv").write_text("of before")
        (self.folder / "out.json").mkdir()
        (self.folder / "into").mkdir()
        words = ("score", "--receptor", "r.pqr", "--ligand", "l.pqr", "--overwrite", "--output")
        for output, said in (("out", "folder of the file's name, found 'out.json'"),
                             ("into/", "names a folder, not the files in it, found 'into/'"),
                             ("into/..", "write into/../score")):
            with self.subTest(output):
                run = program.start(*words, output, cwd=self.folder)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertIn(said, run.stderr)
        self.assertEqual((self.folder / "out.csv").read_text(), "of before")
        self.assertEqual(list((self.folder / "into").iterdir()), [])

    def test_nothing_that_is_read_is_replaced(self):
        (self.folder / "r.pqr").write_text(RECEPTOR)
        (self.folder / "l.pqr").write_text(LIGAND)
        poses = self.folder / "poses.csv"
        poses.write_text("1,0,0,0,0,0,5\n")
        words = ("score", "--receptor", "r.pqr", "--ligand", "l.pqr", "--poses", "poses.csv",
                 "--output", "poses", "--overwrite")
        run = program.start(*words, cwd=self.folder)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("--poses: is the file that --output would write", run.stderr)
        self.assertEqual(poses.read_text(), "1,0,0,0,0,0,5\n")
        program.succeed(*words, "--rows", "none", cwd=self.folder)

    def test_numbers_that_are_no_result(self):
        """Status 1, a reason, no file."""
        far = RECEPTOR + "ATOM 9 C9 LIG 1 2e19 0 0 0.5 1.5\n"
        for name, receptor, poses, words in (
            ("site at 2e19", far, "1,0,0,0,1,2,3\n", ()),
            ("pose at 1e308", RECEPTOR, "1,0,0,0,1e308,0,0\n", ()),
            ("pose at 1e308 in fp64", RECEPTOR, "1,0,0,0,1e308,0,0\n", ("--precision", "fp64")),
        ):
            (self.folder / "r.pqr").write_text(receptor)
            (self.folder / "l.pqr").write_text(LIGAND)
            (self.folder / "p.csv").write_text("1,0,0,0,1,2,3\n" + poses)
            before = set(self.folder.iterdir())
            with self.subTest(name):
                run = program.start("score", "--receptor", "r.pqr", "--ligand", "l.pqr", "--poses",
                                    "p.csv", "--terms", "coulomb+12-6", *words, cwd=self.folder)
                self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                self.assertRegex(run.stderr, "(receptor|pose 2): ")
                self.assertNotIn("nan", run.stdout)
                self.assertEqual(set(self.folder.iterdir()), before)


if __name__ == "__main__":
    program.main()
