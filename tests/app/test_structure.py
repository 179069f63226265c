"""g(r) and coordination numbers of `starpmc report`: against loops over all images, MDAnalysis, and
systems whose answer is known; the CSV and XTC files.

    python3 test_structure.py PROGRAM
"""

import csv
import functools
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import MDAnalysis
    import numpy
    from MDAnalysis.analysis.rdf import InterRDF
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(77)

import made_trajectory
import program
from made_trajectory import WATER, Kind

sys.path.insert(0, str(program.REPOSITORY / "src/report"))
import block_average
import distribution
import run_folder
import sites
import structure
from trajectory import Trajectory

warnings.filterwarnings("ignore")

ENVIRONMENT = {"STARPMC_PYTHON": sys.executable}
EQUILIBRATION = 500


@functools.cache
def finished_run():
    """Two chains of formaldehyde in 64 waters; no test changes it."""
    folder = tempfile.TemporaryDirectory(prefix="starpmc-test-")
    path = pathlib.Path(folder.name)
    config = program.write_config(
        path / "small.cfg", **program.small_system(),
        sampling={"steps": 3000, "equilibration_steps": EQUILIBRATION, "chains": 2},
        output={"energy_interval": 100, "trajectory_interval": 250},
    )  # fmt: skip
    program.simulate(config, path / "run", env={"STARPU_NCPU": 2, "STARPU_NOPENCL": 0})
    return folder, path / "run"


def report(run, *options, output, status=0):
    result = program.start("report", run, "--output", output, *options, env=ENVIRONMENT)
    assert result.returncode == status, result.stdout + result.stderr
    return result


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def curves_of(path, atoms="", pairs=""):
    run = run_folder.read_run(path)
    found = structure.read(run, atoms, pairs)
    problems = [problem for problem in run.problems if ".csv" not in problem and ".json" not in problem]
    assert not problems, problems
    return {curve.pair.label: curve for curve in found.curves}


def loop_over_images(frames, edges, first, second, molecules, radius, bins):
    """g and n: the nearest of 27 images, pairs within a molecule left out."""
    shifts = numpy.array(list(itertools.product((-1, 0, 1), repeat=3)))
    counts = numpy.zeros(bins)
    pairs = sum(molecules[a] != molecules[b] for a in first for b in second)
    for positions, box in zip(frames, edges, strict=True):
        inside = positions - box * numpy.floor(positions / box)
        for a in first:
            apart = inside[second] - inside[a]
            apart = numpy.linalg.norm(apart[:, None] + shifts * box, axis=2).min(axis=1)
            apart = apart[(molecules[second] != molecules[a]) & (apart < radius)]
            counts += numpy.histogram(apart, bins, (0, radius))[0]
    ends = numpy.linspace(0, radius, bins + 1)
    shells = 4 / 3 * numpy.pi * numpy.diff(ends**3)
    volume = numpy.prod(edges, axis=1).mean()
    counts /= len(frames)
    return volume * counts / pairs / shells, numpy.cumsum(counts) / len(first)


class Made(program.TestCase):
    def made(self, solute, kinds, frames, edges):
        return made_trajectory.write(self.folder / "run", solute, kinds, frames, edges)


class Loops(Made):
    """Formaldehyde, ions and water at random in a box whose size changes."""

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(1)
        self.solute = [6, 8, 1, 1]
        self.kinds = [Kind("NA", 3, ("NA", 11, 1, (0, 0, 0))), Kind("SOL", 40, *WATER),
                      Kind("CL", 2, ("CL", 17, -1, (0, 0, 0)))]  # fmt: skip
        self.numbers, self.molecules = made_trajectory.particles(self.solute, self.kinds)
        self.edges = numpy.array([14.0, 12.0, 13.0]) * random.uniform(1, 1.05, (5, 1))
        self.frames = random.uniform(-20, 40, (5, len(self.numbers), 3)).astype("f4").astype(float)
        # Bonds tell the hydrogens apart from nothing: each has one, to the carbon.
        self.frames[:, :4] = [[0, 0, 0], [1.2, 0, 0], [-0.6, 0.9, 0], [-0.6, -0.9, 0]]
        self.run_folder = self.made(self.solute, self.kinds, self.frames, self.edges)
        self.sites = {"C1": [0], "O2": [1], "H3+H4": [2, 3], "NA": [4, 5, 6],
                      "OW": [7 + 3 * i for i in range(40)],
                      "HW1+HW2": [7 + 3 * i + k for i in range(40) for k in (1, 2)],
                      "CL": [127, 128]}  # fmt: skip

    def compare(self, curve):
        first, second = (self.sites[side] for side in curve.pair.label.split(":"))
        g, n = loop_over_images(
            self.frames, self.edges, first, second, self.molecules, curve.radius, len(curve.r)
        )
        numpy.testing.assert_allclose(curve.g, g, rtol=1e-6, atol=1e-9)
        numpy.testing.assert_allclose(curve.n, n, rtol=1e-6, atol=1e-9)
        if "W" in curve.pair.label:
            self.assertGreater(n[-1], 0)
        self.assertLessEqual(curve.radius, self.edges[0].min() / 2)

    def test_all_pairs_of_ions_and_solute(self):
        curves = curves_of(self.run_folder)
        expected = [f"{a}:{b}" for a in ("C1", "O2", "H3+H4", "NA", "CL") for b in ("OW", "HW1+HW2")]
        expected += ["OW:OW"]
        expected += [f"{a}:{b}" for a in ("C1", "O2", "H3+H4") for b in ("NA", "CL")]
        expected += ["NA:NA", "NA:CL", "CL:CL"]
        self.assertEqual(list(curves), expected)
        for curve in curves.values():
            self.compare(curve)

    def test_named_pairs(self):
        names = "HW1+HW2:HW1+HW2,OW:HW1+HW2,CL:NA,NA+CL:OW,O2:OW,O2:OW"
        curves = curves_of(self.run_folder, pairs=names)
        self.sites["NA+CL"] = self.sites["NA"] + self.sites["CL"]
        self.assertEqual(list(curves), names.split(",")[:-1])
        for curve in curves.values():
            self.compare(curve)

    def test_direct_and_tree(self):
        run = run_folder.read_run(self.run_folder)
        with Trajectory(run.chains[0].trajectory) as source:
            catalogue = sites.Catalogue(source)
            for pair in catalogue.named_pairs("HW1+HW2:OW,HW1+HW2:HW1+HW2,O2:OW"):
                curves = []
                for direct in (True, False):
                    counter = distribution.Counter(pair, catalogue, source.edges)
                    counter._is_direct = direct
                    for index in range(source.frames):
                        frame = distribution.Frame(source.positions(index), source.edges_of(index))
                        counter.add(0, frame)
                    curves.append(counter.curve())
                numpy.testing.assert_array_equal(curves[0].g, curves[1].g)
                self.assertGreater(curves[0].n[-1], 0)

    def test_elements_and_molecules(self):
        same = {"solute.O:SOL.O": "O2:OW", "solute.h:sol.hw1+HW2": "H3+H4:HW1+HW2", "Na:OW": "NA:OW"}
        curves = curves_of(self.run_folder, pairs=",".join([*same, *same.values()]))
        for name, other in same.items():
            numpy.testing.assert_array_equal(curves[name].g, curves[other].g)

    def test_names_with_a_plus(self):
        kinds = [Kind("SOL", 40, *WATER), Kind("NA+", 3, ("NA+", 11, 1, (0, 0, 0))),
                 Kind("CL-", 2, ("CL-", 17, -1, (0, 0, 0)))]  # fmt: skip
        folder = made_trajectory.write(self.folder / "ions", [], kinds, self.frames[:, 4:], self.edges)
        everything = [[120, 121, 122], [123, 124], [3 * i for i in range(40)]]
        names = {"NA+": everything[0], "NA++CL-": everything[0] + everything[1],
                 "CL- + NA+": everything[1] + everything[0], "OW+NA+": everything[2] + everything[0]}  # fmt: skip
        curves = curves_of(folder, pairs=",".join(f"{name}:CL-" for name in names))
        for name, particles in names.items():
            label = name.replace(" ", "")
            numpy.testing.assert_array_equal(
                curves[f"{label}:CL-"].pair.centre.particles, sorted(particles)
            )
        self.assertIn("NA+:OW", curves_of(folder))

    def test_a_chain_of_another_system_is_left_out(self):
        for number, kinds, frames in (
            (0, self.kinds, self.frames),
            (1, self.kinds, self.frames),
            (2, [*self.kinds[:2], Kind("BR", 2, ("BR", 35, -1, (0, 0, 0)))], self.frames),
            (3, [self.kinds[0], Kind("SOL", 50, *WATER), self.kinds[2]],
             numpy.concatenate([self.frames, self.frames[:, :30]], axis=1)),
        ):  # fmt: skip
            folder = self.folder / "mixed" / f"chain-{number}"
            made_trajectory.write(folder, self.solute, kinds, frames, self.edges)
            (folder / "settings.cfg").rename(folder.parent / "settings.cfg")
        run = run_folder.read_run(self.folder / "mixed")
        curves = {curve.pair.label: curve for curve in structure.read(run).curves}
        self.assertEqual({curve.frames for curve in curves.values()}, {10})
        self.compare(curves["O2:OW"])
        said = [text for text in run.problems if "other molecules" in text]
        self.assertEqual([text.split(":")[0] for text in said], ["chain 2", "chain 3"])

    def test_refused(self):
        for pairs, words in {
            "O:OW": ("solute.O or SOL.O", "several"),
            "O2:OX": ("'OX'", "C1:OW", "HW1"),
            "O2": ("colon",),
            "O2:OW:CL": ("colon",),
            "O2:H3": ("within one molecule",),
            "O2:": ("''",),
            ",": ("no pair",),
        }.items():
            result = report(
                self.run_folder, "--pairs", pairs, output=self.folder / "a.html", status=2
            )
            for word in (*words, "--pairs", "remedy"):
                self.assertIn(word, result.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["run"])


class XtcThatCannotBeWritten(Made):
    def setUp(self):
        super().setUp()
        frames = numpy.random.default_rng(3).uniform(0, 15, (100, 120, 3))
        self.run_folder = self.made([], [Kind("SOL", 40, *WATER)], frames, [15.0] * 3)
        self.before = sorted(self.run_folder.iterdir())

    def refused(self, words, limit="unlimited"):
        command = f'ulimit -f {limit}; exec "$0" "$@"'
        result = program.start("-c", command, program.PROGRAM, "report", self.run_folder, "--xtc",
                               program="bash", env=ENVIRONMENT)  # fmt: skip
        self.assertEqual(result.returncode, 1, result.stderr)
        path = self.run_folder / "trajectory.xtc"
        self.assertIn(f"error: {path}: cannot be written: {words}", result.stderr)
        self.assertNotIn("cannot be read", result.stderr)

    def test_no_room(self):
        self.refused("File too large", limit=32)
        self.assertEqual(sorted(self.run_folder.iterdir()), self.before)

    def test_a_folder_in_its_place(self):
        (self.run_folder / "trajectory.xtc").mkdir()
        self.refused("Is a directory")
        self.assertEqual(len(list(self.run_folder.iterdir())), len(self.before) + 1)


class Equivalence(program.TestCase):
    def groups(self, text, charges=None):
        lines = [line.split() for line in text.splitlines()[2:]]
        numbers = numpy.array([{"H": 1, "C": 6, "O": 8, "N": 7, "Si": 14}[line[0]] for line in lines])
        positions = numpy.array([[float(x) for x in line[1:4]] for line in lines])
        names = [f"{line[0]}{i}" for i, line in enumerate(lines, 1)]
        charges = numpy.zeros(len(lines)) if charges is None else charges
        found = sites._groups(names, numbers, charges, positions)
        return ["+".join(names[place] for place in group) for group in found]

    def test_molecules(self):
        acetate = (program.DATA / "qm/acetate.xyz").read_text()
        groups = self.groups(acetate)
        sizes = sorted((len(group.split("+")), group[0]) for group in groups)
        self.assertEqual(sizes, [(1, "C"), (1, "C"), (2, "O"), (3, "H")])
        acetone = (program.REPOSITORY / "configs/acetone.xyz").read_text()
        self.assertEqual(
            self.groups(acetone), ["C1", "O2", "C3+C4", "H5+H6+H7+H8+H9+H10"]
        )  # fmt: skip
        charges = numpy.zeros(10)
        charges[3] = 0.1
        self.assertEqual(
            self.groups(acetone, charges), ["C1", "O2", "C3", "C4", "H5+H6+H7", "H8+H9+H10"]
        )

    def test_hydroxyl_groups_of_silicon(self):
        """Whose hydrogens are some 2.2 A from it, and not bound to it."""
        silanol = """9
silanediol
Si 0.0 0.0 0.0
O 1.64 0.0 0.0
O -0.547 1.546 0.0
H 2.051 0.868 0.0
H -1.52 1.72 0.0
H -0.494 -0.699 1.209
H -0.494 -0.699 -1.209
"""
        self.assertEqual(self.groups(silanol), ["Si1", "O2+O3", "H4+H5", "H6+H7"])

    def test_virtual_sites_are_left_out(self):
        tip4p = (*WATER, ("MW", 0, -1.04, (0.1, 0.1, 0)))
        folder = made_trajectory.write(
            self.folder / "run", [], [Kind("SOL", 3, *tip4p)], numpy.zeros((1, 12, 3)), [9, 9, 9]
        )
        with Trajectory(folder / "trajectory.h5md") as source:
            catalogue = sites.Catalogue(source)
        self.assertEqual([side.label for side in catalogue.sides(catalogue.solvent)], ["OW", "HW1+HW2"])


class Known(Made):
    """Systems whose g(r), numbers and errors are known."""

    def ideal_gas(self, frames, atoms, edges, stay, seed=1):
        """Each atom is put anywhere in a frame, or stays where it was with the probability."""
        random = numpy.random.default_rng(seed)
        positions = [random.uniform(0, 1, (atoms, 3)) * edges]
        for _ in range(frames - 1):
            moved = random.uniform(size=atoms) >= stay
            fresh = random.uniform(0, 1, (atoms, 3)) * edges
            positions.append(numpy.where(moved[:, None], fresh, positions[-1]))
        return numpy.array(positions)

    def test_ideal_gas(self):
        """g = 1, and 68 % of the bins are within their errors, also of correlated frames."""
        edges = numpy.array([22.0, 21.0, 20.0])
        kinds = [Kind("A", 20, ("A", 18, 0, (0, 0, 0))), Kind("B", 100, ("B", 10, 0, (0, 0, 0)))]
        for stay in (0, 0.9):
            frames = self.ideal_gas(2000, 120, edges, stay)
            curves = curves_of(self.made([], kinds, frames, edges))
            for label in ("A:B", "A:A", "B:B"):
                curve = curves[label]
                known = curve.r > (2 if label == "A:A" else 1.5)
                deviations = (curve.g[known] - 1) / curve.g_error[known]
                within = (abs(deviations) < 1).mean()
                self.assertTrue(0.52 < within < 0.82, (label, stay, within))
                self.assertLess(abs(deviations).max(), 5)
                self.assertLess(curve.g_error[-1], 0.05)
                density = (100 - (label[0] == "B") if label[2] == "B" else 19) / edges.prod()
                expected = density * 4 / 3 * numpy.pi * curve.outer**3
                deviation = (curve.n - expected)[known] / curve.n_error[known]
                self.assertLess(abs(deviation).max(), 4)

    def test_bins_without_counts_have_no_error(self):
        """One pair at 3 and at 6 angstrom: what lies between has been empty in all frames, and the error of
        that is not known; below 3 there is nothing to know."""
        edges = numpy.array([22.0, 21.0, 20.0])
        kinds = [Kind("A", 1, ("A", 18, 0, (0, 0, 0))), Kind("B", 1, ("B", 10, 0, (0, 0, 0)))]
        distances = numpy.random.default_rng(3).choice([3.03, 6.03], 200)
        frames = numpy.zeros((200, 2, 3))
        frames[:, 1, 0] = distances
        curve = curves_of(self.made([], kinds, frames, edges), pairs="A:B")["A:B"]
        occupied = curve.g > 0
        self.assertEqual(occupied.sum(), 2)
        numpy.testing.assert_array_equal(curve.g_error[curve.r < 3], 0)
        self.assertTrue((curve.g_error[occupied] > 0).all())
        self.assertTrue(numpy.isnan(curve.g_error[(curve.r > 3) & ~occupied]).all())
        self.assertTrue(numpy.isnan(curve.n_error[-1]))  # always one, which may be chance
        self.assertFalse(block_average.estimate(numpy.full(500, 3.3)).long_enough)

    def test_errors_know_correlation_and_chains(self):
        """Against the scatter over independent runs: of long correlation, of several chains."""
        edges = numpy.array([12.0, 12.0, 12.0])
        for chains, frames in ((1, 600), (2, 300), (8, 100)):
            errors, numbers = [], []
            for seed in range(60):
                rows = []
                for chain in range(chains):
                    gas = self.ideal_gas(frames, 30, edges, 0.9, seed=[chains, seed, chain])
                    apart = gas[:, 1:] - gas[:, :1]
                    apart -= edges * numpy.rint(apart / edges)
                    inside = (numpy.linalg.norm(apart, axis=2) < 5).sum(axis=1)
                    rows.append(inside[:, None].astype(float))
                mean, error = distribution._mean_and_error(rows)
                numbers.append(mean[0])
                errors.append(error[0])
            expected = 29 * 4 / 3 * numpy.pi * 125 / edges.prod()
            within = (abs(numpy.array(numbers) - expected) < errors).mean()
            self.assertTrue(0.52 < within < 0.84, (chains, within))
            # Without correlation it would be a third of this.
            ratio = numpy.median(errors) / numpy.std(numbers)
            self.assertTrue(0.7 < ratio < 1.5, (chains, ratio))

    def test_first_shell(self):
        """Six sites between 2 and 3 A, none to 3.6, the others at random beyond."""
        random = numpy.random.default_rng(2)
        edges = numpy.array([20.0, 20.0, 20.0])
        frames = []
        for _ in range(400):
            directions = random.normal(size=(6, 3))
            directions /= numpy.linalg.norm(directions, axis=1)[:, None]
            near = 10 + directions * random.uniform(2, 3, (6, 1))
            far = random.uniform(0, 20, (400, 3))
            far = far[numpy.linalg.norm(far - 10, axis=1) > 3.6][:200]
            frames.append(numpy.concatenate(([[10.0, 10, 10]], near, far)))
        kinds = [Kind("CL", 1, ("CL", 17, -1, (0, 0, 0))), Kind("AR", 206, ("AR", 18, 0, (0, 0, 0)))]
        run = self.made([], kinds, frames, edges)
        shell = curves_of(run)["CL:AR"].shell
        self.assertTrue(2 <= shell.maximum <= 2.5, shell)
        self.assertTrue(3.0 <= shell.minimum <= 3.6, shell)
        self.assertTrue(shell.clear)
        self.assertAlmostEqual(shell.number.mean, 6)
        report(run, output=self.folder / "a.html")
        row = rows_of(self.folder / "report-coordination.csv")[0]
        self.assertEqual((row["pair"], row["coordination"]), ("CL:AR", "6"))
        self.assertEqual(row["frames"], "400")
        # A gas has no shell.
        gas = self.ideal_gas(400, 101, edges, 0)
        kinds[1] = Kind("AR", 100, ("AR", 18, 0, (0, 0, 0)))
        curve = curves_of(self.made([], kinds, gas, edges))["CL:AR"]
        self.assertTrue(curve.shell is None or not curve.shell.clear, curve.shell)


class Run(program.TestCase):
    """A run's files, with MDAnalysis."""

    def setUp(self):
        super().setUp()
        _, self.run_folder = finished_run()

    def universes(self):
        for chain in ("chain-0", "chain-1"):
            folder = self.run_folder / chain
            yield folder, MDAnalysis.Universe(folder / "system.pdb", folder / "trajectory.h5md")

    def first_frame(self, universe):
        return sum(frame.data["step"] <= EQUILIBRATION for frame in universe.trajectory)

    def test_against_mdanalysis(self):
        pairs = "O2:OW,C1:HW1+HW2,OW:OW"
        report(self.run_folder, "--pairs", pairs, output=self.folder / "a.html")
        rows = rows_of(self.folder / "report-rdf.csv")
        selections = {"O2:OW": ("name O2", "name OW", None),
                      "C1:HW1+HW2": ("name C1", "name HW1 HW2", None),
                      "OW:OW": ("name OW", "name OW", (1, 1))}  # fmt: skip
        for label, (first, second, excluded) in selections.items():
            mine = [row for row in rows if row["pair"] == label]
            ends = float(mine[-1]["outer_r_angstrom"])
            found = []
            for _, universe in self.universes():
                rdf = InterRDF(
                    universe.select_atoms(first), universe.select_atoms(second),
                    nbins=len(mine), range=(0, ends), exclusion_block=excluded,
                )  # fmt: skip
                found.append(rdf.run(start=self.first_frame(universe)).results.rdf)
            expected = numpy.mean(found, axis=0)
            self.assertGreater(expected.max(), 1.5)
            # Positions in fp32 move a few pairs to the next bin, at most.
            apart = abs(numpy.array([float(row["g"]) for row in mine]) - expected)
            self.assertLess((apart > 1e-4 * (1 + expected)).mean(), 0.02, label)
            for row, r in zip(mine, (numpy.arange(len(mine)) + 0.5) * ends / len(mine), strict=True):
                self.assertAlmostEqual(float(row["r_angstrom"]), r, places=5)

    def test_default_files(self):
        printed = report(self.run_folder, output=self.folder / "a.html").stdout.split()
        self.assertEqual(
            [pathlib.Path(name).name for name in printed],
            ["a.html", "report-rdf.csv", "report-coordination.csv"],
        )
        labels = ["C1:OW", "C1:HW1+HW2", "O2:OW", "O2:HW1+HW2", "H3+H4:OW", "H3+H4:HW1+HW2", "OW:OW"]
        coordination = rows_of(self.folder / "report-coordination.csv")
        self.assertEqual([row["pair"] for row in coordination], labels)
        rows = rows_of(self.folder / "report-rdf.csv")
        self.assertEqual(list(dict.fromkeys(row["pair"] for row in rows)), labels)
        page = (self.folder / "a.html").read_text()
        for row in coordination:
            self.assertIn(row["pair"], page)
            if not row["coordination"]:
                continue
            same = [r for r in rows if r["pair"] == row["pair"]
                    and r["outer_r_angstrom"] == row["first_minimum_angstrom"]]  # fmt: skip
            self.assertEqual([r["coordination"] for r in same], [row["coordination"]])
        self.assertGreater(sum(bool(row["coordination"]) for row in coordination), 3)

    def test_atoms(self):
        report(
            self.run_folder, "--atoms", "H3", "--pairs", "O2:OW", "--png",
            output=self.folder / "a.html",
        )  # fmt: skip
        rows = rows_of(self.folder / "report-coordination.csv")
        self.assertEqual([row["pair"] for row in rows], ["O2:OW", "H3:OW", "H3:HW1+HW2"])
        names = {path.name for path in self.folder.glob("report-rdf-*.png")}
        self.assertEqual(names, {"report-rdf-O2-OW.png", "report-rdf-H3-OW-HW1-HW2.png"})

    def test_each_chain_has_its_own_equilibration(self):
        """Of 500 and 2000 steps, with a frame each 250 up to 3500."""
        copy = self.folder / "run"
        shutil.copytree(self.run_folder, copy)
        summary = json.loads((copy / "summary.json").read_text())
        summary["equilibration_steps"] = 2000
        for chain, steps in zip(summary["chains"], (EQUILIBRATION, 2000), strict=True):
            chain["equilibration_steps"] = steps
        (copy / "summary.json").write_text(json.dumps(summary))
        curves = curves_of(copy, pairs="O2:OW")
        self.assertEqual(curves["O2:OW"].frames, 12 + 6)
        (copy / "chain-0/trajectory.h5md").unlink()
        run = run_folder.read_run(copy)
        found = structure.read(run, pairs="O2:OW")
        self.assertEqual([curve.frames for curve in found.curves], [6])

    def test_errors_of_chains_are_the_summarys(self):
        run = run_folder.read_run(self.run_folder)
        stated = json.loads((self.run_folder / "summary.json").read_text())["total_energy"]
        estimates = [
            block_average.estimate(chain.production("total", run.equilibration_of(chain))[1])
            for chain in run.chains
        ]
        found = block_average.together(estimates)
        self.assertAlmostEqual(found.mean, stated["mean"], delta=1e-9 * abs(stated["mean"]))
        self.assertAlmostEqual(found.error, stated["error"], delta=1e-9 * stated["error"])

    def test_errors_of_many_short_chains_are_told_by_their_scatter(self):
        random = numpy.random.default_rng(4)
        series = random.normal(size=(8, 150)).cumsum(axis=1) - 0.1 * numpy.arange(8)[:, None]
        estimates = [block_average.estimate(values) for values in series]
        self.assertFalse(any(found.long_enough for found in estimates))
        counts, means = [150] * 8, [[found.mean] for found in estimates]
        expected = float(block_average.between(counts, means)[1][0])
        self.assertAlmostEqual(block_average.together(estimates).error, expected, 9)

    def test_xtc(self):
        made = []
        try:
            printed = report(self.run_folder, "--xtc", output=self.folder / "a.html").stdout
            for folder, universe in self.universes():
                made.append(folder / "trajectory.xtc")
                self.assertIn(str(made[-1]), printed)
                xtc = MDAnalysis.Universe(folder / "system.pdb", made[-1])
                self.assertEqual(len(xtc.trajectory), len(universe.trajectory))
                for a, b in zip(universe.trajectory, xtc.trajectory, strict=True):
                    self.assertEqual((a.data["step"], a.time), (b.data["step"], b.time))
                    numpy.testing.assert_allclose(a.dimensions, b.dimensions, rtol=1e-5)
                    numpy.testing.assert_allclose(a.positions, b.positions, atol=0.0051)
        finally:
            for path in made:
                path.unlink(missing_ok=True)

    def test_no_step_is_a_time(self):
        for _, universe in self.universes():
            steps = [frame.data["step"] for frame in universe.trajectory]
            self.assertEqual(steps, list(range(0, 3501, 250)))
            self.assertEqual({frame.time for frame in universe.trajectory}, {0.0})

    def test_snippet_of_the_readme(self):
        """Runs as it stands, beside a folder of the name that runs have by default."""
        text = (program.REPOSITORY / "README.md").read_text()
        snippets = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(snippets), 1)
        output = self.folder / "starpmc-output"
        output.mkdir()
        for path in (*(self.run_folder / "chain-0").iterdir(), self.run_folder / "summary.json"):
            (output / path.name).symlink_to(path)
        code = snippets[0] + "\nprint(steps[-1], len(rdf.results.rdf), rdf.results.rdf.max())\n"
        result = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            cwd=self.folder, check=False, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        step, bins, highest = result.stdout.split()[-3:]
        self.assertEqual(int(step), 3500)
        self.assertGreater(int(bins), 50)
        self.assertGreater(float(highest), 1)


if __name__ == "__main__":
    program.main()
