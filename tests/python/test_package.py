"""The Python package: installed by pip from its folder, its examples, results, errors and Ctrl-C.

    python3 test_package.py PROGRAM

What the package says is compared with numbers that are read here from the program's files, by csv,
json and h5py.
"""

import contextlib
import csv
import functools
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

try:
    import h5py
    import numpy
    import pandas  # noqa: F401
    import setuptools  # noqa: F401
except ImportError as error:
    print(f"skipped: {sys.executable} has not all that the package needs: {error}")
    sys.exit(program.SKIPPED)

PACKAGE = program.REPOSITORY / "src/python"
EXAMPLES = PACKAGE / "examples"
EQUILIBRATION, STEPS = 500, 3000
# A script that makes a run of an hour and says when it has begun.
LONG_RUN = """
import sys, starpmc
def begun(state):
    print("begun", flush=True)
run = starpmc.run(sys.argv[1], folder=sys.argv[2], progress=begun, wait=sys.argv[3] == "wait",
                  sampling={"steps": 10**8}, output={"checkpoint_interval": 0.1})
for state in run.progress():
    print("begun", flush=True)
    break
"""


@functools.cache
def sources():
    """A copy of the sources, with the program as in a build folder: pip leaves files in them."""
    folder = tempfile.TemporaryDirectory(prefix="starpmc-test-")
    root = pathlib.Path(folder.name)
    shutil.copytree(
        PACKAGE, root / "sources/src/python",
        ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"),
    )  # fmt: skip
    build = root / "sources/build/release"
    build.mkdir(parents=True)
    (build / "starpmc").symlink_to(program.PROGRAM)
    result = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
         "--no-build-isolation", "--disable-pip-version-check", "--target", root / "installed",
         root / "sources/src/python"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def installed():
    return pathlib.Path(sources().name) / "installed"


def environment(**changes):
    """With the installed package and, unless told otherwise, the program named."""
    result = program.environment(STARPU_NCPU=2, STARPU_NOPENCL=0, STARPMC=program.PROGRAM)
    result |= {"PYTHONPATH": str(installed()), "PYTHONSAFEPATH": "1"}
    result |= {name: str(value) for name, value in changes.items()}
    return {name: value for name, value in result.items() if value}


def python(*words, env=None):
    return subprocess.run(
        [sys.executable, *map(str, words)], check=False, capture_output=True, text=True,
        env=env or environment(), stdin=subprocess.DEVNULL, timeout=100,
    )  # fmt: skip


def energies_of(folder):
    """The rows of energies.csv."""
    with open(folder / "energies.csv", newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]


def production(folder):
    return [row["total"] for row in energies_of(folder) if row["step"] > EQUILIBRATION]


class Package(program.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ.update(environment())
        if str(installed()) not in sys.path:
            sys.path.insert(0, str(installed()))
        global starpmc
        import starpmc

        assert pathlib.Path(starpmc.__file__).is_relative_to(installed()), starpmc.__file__

    def settings(self, **sampling):
        small = program.small_system()
        small["sampling"] = {"steps": STEPS, "equilibration_steps": EQUILIBRATION, **sampling}
        small["output"] = {"energy_interval": 50, "trajectory_interval": 250}
        return small

    def config_file(self, **sampling):
        return self.config(**self.settings(**sampling))


class Examples(Package):
    def example(self, name, *words, status=0):
        """What it prints; of a failure, what it says."""
        result = python(EXAMPLES / name, *words)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stderr if status else result.stdout

    def test_averages(self):
        folder = self.folder / "results"
        printed = self.example("averages.py", self.config_file(chains=2), folder)
        summary = json.loads((folder / "summary.json").read_text())
        for number, chain in enumerate(summary["chains"]):
            totals = production(folder / f"chain-{number}")
            mean = math.fsum(totals) / len(totals)
            self.assertAlmostEqual(mean, chain["averages"]["total"]["mean"], places=6)
            said = f"chain {number}: mean of {len(totals)} totals {mean:.6f} kJ/mol"
            self.assertIn(said, printed)
            for term, average in chain["averages"].items():
                row = rf"(?m)^.*{term} +{average['mean']:.6f} +{average['error']:.6f} .*kJ/mol$"
                self.assertRegex(printed, row)

    def test_two_temperatures(self):
        printed = self.example(
            "two_temperatures.py", self.config_file(), self.folder / "results", 298.15, 348.15
        )
        means, squares = [], 0
        for temperature in (298.15, 348.15):
            folder = self.folder / f"results/{temperature:g}"
            settings = (folder / "settings.cfg").read_text()
            self.assertIn(f"temperature = {temperature:g}\n", settings)
            totals = production(folder)
            mean = math.fsum(totals) / len(totals)
            error = json.loads((folder / "summary.json").read_text())["averages"]["total"]["error"]
            self.assertIn(f"{temperature:g} K: {mean:.4f} +- {error:.4f} kJ/mol\n", printed)
            variance = math.fsum((x - mean) ** 2 for x in totals) / len(totals)
            capacity = variance / (8.31446261815324e-3 * temperature**2)
            self.assertIn(f"{temperature:g} K: heat capacity {capacity:.6f} kJ/mol/K\n", printed)
            means.append(mean)
            squares += error**2
        difference = f"difference: {means[1] - means[0]:.4f} +- {math.sqrt(squares):.4f} kJ/mol"
        self.assertIn(difference, printed)

    def test_two_temperatures_of_few_samples(self):
        """One has no error, and none has no mean."""
        for steps in (50, 1):
            folder = self.folder / f"steps-{steps}"
            words = (self.config_file(steps=steps), folder, 298.15, 348.15)
            printed = self.example("two_temperatures.py", *words)
            means = []
            for temperature in ("298.15", "348.15"):
                summary = json.loads((folder / f"{temperature}/summary.json").read_text())
                total = summary["total_energy"]
                self.assertIsNone(total["error"])
                mean = "-" if total["mean"] is None else f"{total['mean']:.4f}"
                self.assertIn(f"{temperature} K: {mean} +- - kJ/mol\n", printed)
                means.append(total["mean"])
            difference = "-" if None in means else f"{means[1] - means[0]:.4f}"
            self.assertIn(f"difference: {difference} +- - kJ/mol\n", printed)

    def test_radial_distribution(self):
        folder = self.folder / "results"
        program.simulate(self.config_file(), folder)
        output = self.folder / "g.csv"
        self.example("radial_distribution.py", folder, "OW", "HW1", output)
        lines = output.read_text().splitlines()
        self.assertEqual(lines[0], "r_angstrom,g_OW_HW1")
        rows = [tuple(map(float, line.split(","))) for line in lines[1:]]
        with h5py.File(folder / "trajectory.h5md") as file:
            group = file["particles/all"]
            used = [i for i, step in enumerate(group["position/step"]) if step > EQUILIBRATION]
            frames = [group["position/value"][i].tolist() for i in used]
            edges = group["box/edges/value"][0].tolist()
        counts = [0] * len(rows)
        for frame in frames:
            for i in range(4, 196, 3):
                for j in range(5, 196, 3):
                    if j == i + 1:  # of the same water
                        continue
                    apart = (a - b for a, b in zip(frame[i], frame[j], strict=True))
                    shortest = (d - e * round(d / e) for d, e in zip(apart, edges, strict=True))
                    place = int(math.sqrt(sum(d * d for d in shortest)) / 0.1)
                    if place < len(counts):
                        counts[place] += 1
        for place, ((r, g), count) in enumerate(zip(rows, counts, strict=True)):
            self.assertAlmostEqual(r, 0.1 * place + 0.05)
            shell = 4 / 3 * math.pi * ((place + 1) ** 3 - place**3) * 1e-3
            self.assertAlmostEqual(g, count * math.prod(edges) / (shell * 64 * 63 * len(frames)))
        self.assertEqual([g for r, g in rows if 0.9 < r < 1.1], [0, 0])  # the bond of 0.96 A
        self.assertGreater(max(g for _, g in rows), 1)
        output.unlink()
        said = self.example("radial_distribution.py", folder, "OW", "HX", output, status=1)
        self.assertIn("no frame of production has OW and HX", said)
        self.assertFalse(output.exists())

    def test_radial_distribution_of_chains(self):
        """Each chain's production begins after its own equilibration."""
        folder = self.folder / "results"
        summary = program.simulate(self.config_file(chains=2), folder)
        summary["chains"][1]["equilibration_steps"] = summary["equilibration_steps"] = 2000
        (folder / "summary.json").write_text(json.dumps(summary))
        output = self.folder / "g.csv"
        self.example("radial_distribution.py", folder, "OW", "OW", output)
        g = [float(line.split(",")[1]) for line in output.read_text().splitlines()[1:]]
        counts, frames = numpy.zeros(len(g)), 0
        for number, equilibration in enumerate((EQUILIBRATION, 2000)):
            with h5py.File(folder / f"chain-{number}/trajectory.h5md") as file:
                group = file["particles/all"]
                used = group["position/step"][:] > equilibration
                edges = group["box/edges/value"][0]
                for positions in group["position/value"][:][used].astype(float):
                    oxygens = positions[4::3]
                    apart = oxygens[:, None] - oxygens[None]
                    apart -= edges * numpy.round(apart / edges)
                    apart = numpy.sqrt((apart**2).sum(axis=2))[~numpy.eye(64, dtype=bool)]
                    counts += numpy.histogram(apart, 0.1 * numpy.arange(len(g) + 1))[0]
                    frames += 1
        self.assertEqual(frames, 12 + 6)
        shells = 4 / 3 * math.pi * numpy.diff((0.1 * numpy.arange(len(g) + 1)) ** 3)
        numpy.testing.assert_allclose(
            g, counts * numpy.prod(edges) / (shells * 64 * 63 * frames), atol=1e-6
        )


class Results(Package):
    def test_without_samples(self):
        """There is no mean of none, and no error of one."""
        settings = self.settings(steps=60)
        settings["output"] = {"energy_interval": 50}
        run = starpmc.run(settings, folder=self.folder / "one")
        total = run.averages.loc[(0, "total")]
        self.assertEqual(total["count"], 1)
        self.assertTrue(math.isfinite(total["mean"]))
        self.assertTrue(math.isnan(total["error"]))
        settings["output"]["energy_interval"] = 1000
        run = starpmc.run(settings, folder=self.folder / "none")
        self.assertTrue(math.isnan(run.averages.loc[(0, "total"), "mean"]))
        self.assertTrue(math.isnan(run.ensemble.loc["total", "mean"]))
        self.assertIn("no samples", run.table)
        said = "output.energy-interval: found 1000, but production has 60 steps"
        self.assertIn(said, " ".join(run.warnings))
        self.assertEqual(len(run.blocks), 0)
        self.assertEqual(len(run.block_averages), 0)
        again = starpmc.load(run.folder)
        self.assertIn(said, " ".join(again.warnings))
        self.assertEqual(again.warnings, again.summary["warnings"])

    def test_run_from_dictionaries(self):
        """As from the file, relative paths and all, and its files as they are."""
        by_program = program.simulate(self.config_file(chains=2), self.folder / "program")
        settings = self.settings(chains=2)
        settings["system"]["topology"] = os.path.relpath(settings["system"]["topology"])
        states = []
        run = starpmc.run(settings, folder=self.folder / "package", progress=states.append)
        self.assertTrue(run.finished)
        self.assertFalse(run.running)
        self.assertEqual(run.summary, json.loads((run.folder / "summary.json").read_text()))
        for name in ("decisions_sha256", "final_coordinates_sha256"):
            self.assertEqual(
                [chain[name] for chain in run.chains], [c[name] for c in by_program["chains"]]
            )
        for number in range(2):
            rows = energies_of(run.folder / f"chain-{number}")
            table = run.energies.loc[number]
            self.assertEqual(table.index.tolist(), [row["step"] for row in rows])
            for column in set(rows[0]) - {"step"}:
                self.assertEqual(table[column].tolist(), [row[column] for row in rows], column)
            for term, values in run.chains[number]["averages"].items():
                self.assertEqual(run.averages.loc[(number, term), "mean"], values["mean"])
                self.assertEqual(run.averages.loc[(number, term), "error"], values["error"])
        units = run.energies.attrs["units"]
        self.assertEqual((units["total"], units["acceptance"]), ("kJ/mol", "1"))
        self.assertEqual(run.qm_updates.loc[(1, 0), "grid_points"], 13015)
        self.assertEqual(states[-1].step, 2 * (STEPS + EQUILIBRATION))
        self.assertEqual(states[-1].share, 1)
        self.assertIn("Mean total energy", run.table)
        self.assertIn("shortest edge", " ".join(run.warnings))
        self.assertEqual(run.settings["sampling"]["steps"], STEPS)
        self.assertEqual(run.settings["qm"]["engine"], "frozen")
        self.assertRaises(starpmc.ResultsError, lambda: run.trajectory)
        self.assertEqual([len(frames) for frames in run.trajectories], [15, 15])

    def test_trajectory(self):
        run = starpmc.run(self.config_file(), folder=self.folder / "out")
        with h5py.File(run.folder / "trajectory.h5md") as file:
            positions = file["particles/all/position/value"][()]
            edges = file["particles/all/box/edges/value"][()]
            centres = file["particles/molecules/position/value"][()]
        with run.trajectory as frames:
            self.assertEqual(frames.positions.shape, positions.shape)
            mask = frames.steps > EQUILIBRATION
            for chosen in (
                0, -1, slice(None), slice(2, 9, 3), slice(None, None, -1), [5, 1, 5], mask, ...,
                (3, 7), (slice(1, 4), slice(0, 4), 2), (2, [8, 5]), (Ellipsis, 0), slice(3, 3),
            ):  # fmt: skip
                found = frames.positions[chosen]
                numpy.testing.assert_array_equal(found, positions[chosen], repr(chosen))
            numpy.testing.assert_array_equal(numpy.asarray(frames.positions), positions)
            numpy.testing.assert_array_equal(frames.box[...], edges)
            numpy.testing.assert_array_equal(frames.centres[:], centres)
            self.assertEqual(frames.steps.tolist(), list(range(0, 3501, 250)))
            self.assertEqual(frames.sites("OW").tolist(), list(range(4, 196, 3)))
            of_each = [-1] * 4 + [k for k in range(64) for _ in range(3)]
            self.assertEqual(frames.molecules.tolist(), of_each)
            self.assertEqual(frames.elements[:6], ["C", "O", "H", "H", "O", "H"])
            with self.assertRaises(IndexError):
                frames.positions[15]

    def test_energy_check_and_pressure(self):
        printed = json.loads(program.succeed("energy", self.config_file()).stdout)
        found = starpmc.energy(self.settings())
        self.assertEqual(found["energies_kj_per_mol"], printed["energies_kj_per_mol"])
        check = starpmc.check(self.config_file(), output={"folder": self.folder / "new"})
        self.assertIn("formaldehyde in 64 tip3p waters", check.text)
        self.assertEqual(len(check.warnings), 1, check.text)
        settings = self.settings()
        settings["output"] = {"pressure_interval": 1000, "energy_interval": 500}
        run = starpmc.run(settings, folder=self.folder / "out")
        self.assertEqual(run.energies.attrs["units"]["pressure"], "bar")
        self.assertEqual(run.energies.pressure.isna().tolist(), [False, True] * 4)

    def test_score(self):
        receptor, ligand = self.folder / "r.pqr", self.folder / "l.pqr"
        receptor.write_text("ATOM 1 O R 1 0 0 0 -0.5 1.5\nATOM 2 C R 1 1.2 0 0 0.5 1.7\n")
        ligand.write_text("ATOM 1 O L 1 4 0 0 -0.4 1.5\nATOM 2 H L 1 5 0 0 0.4 1.0\n")
        poses = numpy.array([[1, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1 / 3, 0, 0]])
        found = starpmc.score(receptor, ligand, poses, precision="fp64")
        self.assertEqual(found.summary["poses"], 2)
        for pose, shift in ((1, 0), (2, 1 / 3)):
            energy = sum(
                1389.35457644 * q * p / (x + shift - y)
                for q, x in ((-0.4, 4), (0.4, 5)) for p, y in ((-0.5, 0), (0.5, 1.2))
            )  # fmt: skip
            self.assertAlmostEqual(found.table.loc[pose, "coulomb_kj_per_mol"], energy, places=9)
        with self.assertRaisesRegex(ValueError, r"\(N, 7\)"):
            starpmc.score(receptor, ligand, poses[:, :6])
        kept = starpmc.score(receptor, ligand, poses, output=self.folder / "kept", precision="fp64")
        rows = (self.folder / "kept.csv").read_text().splitlines()
        self.assertEqual(
            [list(map(float, row.split(",")[1:])) for row in rows[1:]],
            kept.table.astype(float).to_numpy().tolist(),
        )
        self.assertTrue(kept.table.equals(found.table))

    def test_settings_files(self):
        """What is read from a file and written again is the same to the program."""
        for path in sorted((program.REPOSITORY / "configs").glob("*.cfg")):
            settings = starpmc.read_settings(path)
            written = self.folder / path.name
            starpmc.write_settings(settings, written)
            self.assertEqual(starpmc.read_settings(written), settings)
        config = self.folder / "a;b.cfg"
        config.write_text(
            "[system] ; what\ncoordinates = a#b.gro # a comment\ntopology = a.top;x\n"
            "[sampling]\nsteps=1e6;many\nchains = 007\n[potential]\n"
            "mm-vdw = 4*e*(r/s)^2; e = 1; s = 2 # argon\n[output]\ntrace = true\n"
        )
        self.assertEqual(
            starpmc.read_settings(config),
            {
                "system": {"coordinates": "a#b.gro", "topology": "a.top;x"},
                "sampling": {"steps": 1e6, "chains": 7},
                "potential": {"mm-vdw": "4*e*(r/s)^2; e = 1; s = 2"},
                "output": {"trace": True},
            },
        )

    def test_a_key_in_both_spellings(self):
        sampling = {"max-translation": 0.1, "max_translation": 0.2}
        with self.assertRaisesRegex(starpmc.InputError, "sampling.max-translation: .* twice"):
            starpmc.check(self.settings(**sampling))

    def test_paths_of_any_name(self):
        """A comma is part of a path, and parts the paths of a list; a comment would cut one off."""
        settings = self.settings(steps=10, equilibration_steps=0)
        settings["system"]["include_folders"] = [self.folder, " ."]
        here = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(contextlib.chdir(here))
        for folder in ("T300,P1", "#1", "a#b;c"):
            run = starpmc.run(settings, folder=folder)
            self.assertEqual(run.settings["output"]["folder"], os.path.abspath(folder))
            self.assertEqual(run.summary["steps"], 10)
        self.assertEqual(
            run.settings["system"]["include-folders"], f"{self.folder}, {os.getcwd()}"
        )
        for section, key, value in (
            ("output", "folder", "run #2"),
            ("output", "folder", "run ;2"),
            ("output", "folder", "run "),
            ("output", "folder", "run\n2"),
            ("qm", "basis", "6-31g#"),
            ("potential", "mm_vdw", "4*e*(r/s)^2 # argon"),
            ("system", "include_folders", [pathlib.Path("a,b")]),
            ("system", "include_folders", pathlib.Path("a,b")),
        ):
            with self.subTest(f"{key} {value}"):
                with self.assertRaises(starpmc.InputError) as caught:
                    starpmc.run(settings, **{section: {key: value}})
                error = caught.exception
                self.assertEqual(error.key, f"{section}.{key.replace('_', '-')}")
                found = repr(value)[1:-1] if isinstance(value, str) else "a,b"
                self.assertIn(found, error.message)
                self.assertTrue(error.remedy)
        self.assertEqual(sorted(os.listdir()), ["#1", "T300,P1", "a#b;c"])
        with self.assertRaisesRegex(starpmc.InputError, "output.folder: cannot be written"):
            starpmc.write_settings({"output": {"folder": "run #2"}}, "written.cfg")
        settings["sampling"]["steps"] = " 10 "
        starpmc.check(settings)

    def test_texts_that_look_like_numbers(self):
        """Paths, names and expressions stay as they are written; the results are found."""
        sections = self.settings(steps=10, equilibration_steps=0)
        sections["output"]["folder"] = "001"
        sections["qm"]["basis"] = "1e3"
        sections["system"]["defines"] = "true"
        path = self.config(**sections)
        with contextlib.chdir(self.folder):
            settings = starpmc.read_settings(path)
            run = starpmc.run(path)
            self.assertEqual(starpmc.run(path, folder="002 ").summary["steps"], 10)
        self.assertEqual(settings["output"]["folder"], "001")
        self.assertEqual(settings["qm"]["basis"], "1e3")
        self.assertEqual(settings["system"]["defines"], "true")
        self.assertEqual(settings["sampling"]["steps"], 10)
        self.assertEqual(run.folder, self.folder / "001")
        self.assertEqual(run.summary["steps"], 10)
        self.assertEqual(run.settings["output"]["folder"], "001")
        written = self.folder / "written.cfg"
        starpmc.write_settings({"potential": {"mm-vdw": "0.10"}}, written)
        self.assertEqual(
            starpmc.read_settings(written), {"potential": {"mm-vdw": "0.10"}}
        )

    def test_options(self):
        options = starpmc.options()
        self.assertEqual(options["sampling.temperature"].unit, "K")
        self.assertIsNone(options["sampling.steps"].default)
        self.assertEqual(options["output.folder"].default, "starpmc-output")


    def test_more_steps(self):
        run = starpmc.run(self.settings(), folder=self.folder / "run")
        longer = starpmc.resume(run.folder, steps=2.0 * STEPS)  # as 1e6 is
        at_once = starpmc.run(self.settings(steps=2 * STEPS), folder=self.folder / "at-once")
        self.assertEqual(longer.summary["steps"], 2 * STEPS)
        self.assertEqual(
            longer.summary["decisions_sha256"], at_once.summary["decisions_sha256"]
        )


class Errors(Package):
    def test_input(self):
        settings = self.settings(temperature=-5)
        with self.assertRaises(starpmc.InputError) as caught:
            starpmc.run(settings, folder=self.folder / "out")
        error = caught.exception
        self.assertEqual((error.status, error.key), (2, "sampling.temperature"))
        self.assertIn("-5", error.message)
        self.assertTrue(error.remedy)
        self.assertIn("remedy", str(error))
        self.assertTrue(error.message.startswith("settings: sampling.temperature"), error.message)
        self.assertFalse((self.folder / "out").exists())

        path = self.folder / "bad.cfg"
        path.write_text("[system]\ncoordinates = x.gro\n\n[sampling]\nstepps = 5\n")
        for command in (starpmc.run, starpmc.check, starpmc.energy):
            with self.assertRaises(starpmc.InputError) as caught:
                command(path)
            error = caught.exception
            self.assertEqual(
                (error.file, error.line, error.key), (str(path), 5, "sampling.stepps"), str(error)
            )
            self.assertIn("did you mean", error.remedy)
        with self.assertRaises(starpmc.InputError) as caught:
            starpmc.run(self.folder / "none.cfg")
        error = caught.exception
        self.assertEqual((error.file, error.key), (str(self.folder / "none.cfg"), None))
        with self.assertRaisesRegex(TypeError, "sampling={"):
            starpmc.run(self.config_file(), sampling=5)

    def test_several(self):
        """As a check tells them, and what it says at its end."""
        program_of_two = self.folder / "starpmc"
        program_of_two.write_text(
            "#!/bin/sh\n"
            f"[ $1 = --version ] && {{ echo starpmc {starpmc.__version__}; exit; }}\n"
            "printf 'starpmc: warning: w\\nstarpmc: error: a.cfg:1: qm.x: one\\n  remedy: r\\n    r2\\n"
            "starpmc: error: two\\nstarpmc: 2 errors\\n' >&2\nexit 2\n"
        )
        program_of_two.chmod(0o755)
        code = (
            "import starpmc\ntry: starpmc.check('a.cfg')\nexcept starpmc.InputError as e:\n"
            "  print([(x.message, x.remedy) for x in (e, *e.others)], e.line, e.key)"
        )
        found = python("-c", code, env=environment(STARPMC=program_of_two))
        expected = "[('a.cfg:1: qm.x: one', 'r\\n    r2'), ('two', '')] 1 qm.x\n"
        self.assertEqual(found.stdout, expected, found.stderr)

    def test_results(self):
        with self.assertRaises(starpmc.ResultsError) as caught:
            starpmc.load(self.folder)
        self.assertIn("output.folder", caught.exception.remedy)
        with self.assertRaises(starpmc.InputError):
            starpmc.resume(self.folder)

    def test_import_takes_no_pandas(self):
        """`report` reads with this package, and its Python has none."""
        code = "import sys, starpmc; sys.exit('pandas' in sys.modules)"
        self.assertEqual(python("-c", code).returncode, 0)

    def test_no_leftovers(self):
        scratch = self.folder / "scratch"
        scratch.mkdir()
        tempfile.tempdir = str(scratch)
        try:
            for settings in (self.settings(steps=10), self.settings(steps=0)):
                try:
                    starpmc.run(settings, folder=self.folder / "out")
                except starpmc.InputError:
                    pass
        finally:
            tempfile.tempdir = None
        self.assertEqual(list(scratch.iterdir()), [])

    def find(self, **changes):
        code = "import starpmc\ntry: print(starpmc.find_program())\nexcept starpmc.Error as e: print(repr(e))"
        return python("-c", code, env=environment(**changes)).stdout

    def test_where_the_program_is(self):
        nowhere = "/usr/bin:/bin"
        build = pathlib.Path(sources().name) / "sources/build/release"
        self.assertEqual(self.find(), f"{program.PROGRAM}\n")
        self.assertEqual(self.find(STARPMC="", PATH=nowhere), f"{build / 'starpmc'}\n")
        here = self.folder / "bin"
        here.mkdir()
        (here / "starpmc").symlink_to(program.PROGRAM)
        found = self.find(STARPMC="", PATH=f"{here}:{nowhere}")
        self.assertEqual(found, f"{here / 'starpmc'}\n")
        self.assertIn("ProgramNotFound", self.find(STARPMC=self.folder))
        build.rename(build.with_name("moved"))
        (build.with_name("moved") / "starpmc").rename(build.parent / "elsewhere")
        try:
            missing = self.find(STARPMC="", PATH=nowhere)
        finally:
            (build.parent / "elsewhere").rename(build.with_name("moved") / "starpmc")
            build.with_name("moved").rename(build)
        for part in ("ProgramNotFound", "PATH", "STARPMC", "quickstart"):
            self.assertIn(part, missing)

    def test_other_version(self):
        other = self.folder / "starpmc"
        other.write_text("#!/bin/sh\necho 'starpmc 99.1.0 (StarPU 1.4.10)'\n")
        other.chmod(0o755)
        said = self.find(STARPMC=other)
        for part in ("VersionMismatch", "99.1.0", starpmc.__version__):
            self.assertIn(part, said)


class Interrupted(Package):
    def begin(self, how):
        process = subprocess.Popen(
            [sys.executable, "-c", LONG_RUN, self.config_file(), self.folder / "out", how],
            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.assertEqual(process.stdout.readline(), "begun\n")
        return process

    def wait_for_checkpoint(self):
        deadline = time.monotonic() + 60
        while not (self.folder / "out/checkpoint.cbor").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def expect_resumable(self):
        """Nobody is at work any more, and the run goes on."""
        self.assertFalse((self.folder / "out/summary.json").exists())
        begun = starpmc.resume(self.folder / "out", wait=False)
        try:
            before = next(iter(begun.progress()))
            self.assertGreater(before.step, 0)
            self.assertTrue(begun.running)
            with self.assertRaises(TimeoutError):
                begun.wait(0.05)
            self.assertRaises(starpmc.ResultsError, lambda: begun.summary)
            self.assertGreater(len(begun.energies), 0)
        finally:
            begun.stop()
        self.assertFalse(begun.running)
        with self.assertRaises(starpmc.Stopped) as caught:
            begun.wait()
        self.assertEqual(caught.exception.status, 130)
        self.assertIn("starpmc resume", caught.exception.message)

    def test_ctrl_c(self):
        """To the process group, as a terminal sends it."""
        process = self.begin("wait")
        self.wait_for_checkpoint()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", errors)
        self.expect_resumable()

    def test_end_of_python(self):
        process = self.begin("go on")
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, ""))
        self.expect_resumable()

    def test_stop_while_it_is_followed(self):
        """As README shows it; a stop by somebody else is told."""
        settings = self.settings(steps=10**8)
        with starpmc.run(settings, folder=self.folder / "out", wait=False) as run:
            for state in run.progress():
                if (self.folder / "out/checkpoint.cbor").exists():
                    run.stop()
        self.assertGreater(state.step, 0)
        self.expect_resumable()
        run = starpmc.resume(self.folder / "out", wait=False)
        states = run.progress()
        next(states)
        os.kill(run.pid, signal.SIGINT)
        with self.assertRaises(starpmc.Stopped):
            list(states)

    def test_exception_of_the_callback(self):
        class Enough(Exception):
            pass

        def end(state):
            if (self.folder / "out/checkpoint.cbor").exists():
                raise Enough

        settings = self.settings(steps=10**8)
        with self.assertRaises(Enough):
            starpmc.run(settings, folder=self.folder / "out", progress=end)
        self.expect_resumable()

    def test_killed_program(self):
        run = starpmc.run(self.config_file(steps=10**8), folder=self.folder / "out", wait=False)
        next(run.progress())
        os.kill(run.pid, signal.SIGKILL)
        with self.assertRaisesRegex(starpmc.RunError, "SIGKILL"):
            run.wait()


if __name__ == "__main__":
    program.main()
