"""What a run leaves in its folder, and that it never harms what lies there.

    python3 test_output.py PROGRAM
"""

import csv
import hashlib
import json
import shutil
import struct
import subprocess
import time
import unittest

try:
    import h5py
except ImportError:
    h5py = None

import program

STEPS = 700
EQUILIBRATION = 300
ENERGY_INTERVAL = 50
TRAJECTORY_INTERVAL = 250
COLUMNS = ["step", *program.TERMS, "qmmm_coulomb", "solute", "total", "acceptance"]
FILES = {
    "energies.csv", "trajectory.h5md", "system.pdb", "summary.json", "run.log", "settings.cfg",
    "checkpoint.cbor", "final.gro", "final.pdb",
}  # fmt: skip


def digests(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()
    }


def density_points(path):
    """The version of a density grid's file, and a tuple of numbers for each of its points."""
    magic, version, _, count = struct.unpack_from("<8sIIQ", data := path.read_bytes())
    assert magic == b"STARPMCG", path
    layout = struct.Struct({1: "<4d", 2: "<5d"}[version])
    points = list(layout.iter_unpack(data[24:-4]))
    assert len(points) == count, path
    return version, points


def read_energies(folder):
    with open(folder / "energies.csv") as file:
        reader = csv.DictReader(line for line in file if not line.startswith("#"))
        assert reader.fieldnames == COLUMNS, reader.fieldnames
        return [{name: float(value) for name, value in row.items()} for row in reader]


def frames(folder):
    """Every bit of the trajectory's data (HDF5 stores times of creation beside them)."""
    content = {}

    def add(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
            content[name] = item[()].tobytes()

    with h5py.File(folder / "trajectory.h5md") as file:
        file.visititems(add)
    return content


class Output(program.TestCase):
    def setUp(self):
        super().setUp()
        small = program.small_system()
        small["qm"] |= {"interval": 400, "charge_threshold": 1e-4}
        self.small = self.config(
            **small,
            sampling={"steps": STEPS, "equilibration_steps": EQUILIBRATION, "tune_interval": 100},
            run={"precision": "fp64"},
            output={
                "energy_interval": ENERGY_INTERVAL,
                "trajectory_interval": TRAJECTORY_INTERVAL,
            },
        )
        self.out = self.folder / "out"

    def simulate(self, *options, folder=None):
        return program.simulate(self.small, folder or self.out, *options)


class Folder(Output):
    def test_files(self):
        self.simulate()
        self.assertEqual({path.name for path in self.out.iterdir()}, FILES)

    def test_energies(self):
        summary = self.simulate()
        rows = read_energies(self.out)
        total = STEPS + EQUILIBRATION
        self.assertEqual(
            [row["step"] for row in rows], list(range(0, total + 1, ENERGY_INTERVAL))
        )
        for row in rows:
            self.assertAlmostEqual(sum(row[term] for term in program.TERMS), row["total"], 9)
            self.assertTrue(0 <= row["acceptance"] <= 1)
        start = program.energies(self.small, "--run.precision", "fp64")
        for term in program.TERMS:
            self.assertAlmostEqual(rows[0][term], start[term], 9)
            self.assertAlmostEqual(rows[-1][term], summary["final_energies"][term], 6)
            production = [row[term] for row in rows if row["step"] > EQUILIBRATION]
            average = summary["averages"][term]
            self.assertEqual(average["count"], len(production))
            self.assertAlmostEqual(average["mean"], sum(production) / len(production), 8)

    def test_summary(self):
        summary = self.simulate("--sampling.seed", 77, "--run.tasks", "terms", "--run.grid-blocks", 2)
        self.assertEqual(summary["seed"], 77)
        self.assertEqual((summary["steps"], summary["equilibration_steps"]), (STEPS, EQUILIBRATION))
        self.assertEqual(summary["precision"], "fp64")
        self.assertEqual(summary["qm_engine"], "frozen")
        # A stored density is read once, whatever the interval.
        self.assertEqual([update["step"] for update in summary["qm_updates"]], [0])
        self.assertNotIn("qm_interval_steps", summary)
        for update in summary["qm_updates"]:
            self.assertAlmostEqual(update["electrons_on_grid"], 16, delta=1e-3)
            self.assertLessEqual(update["grid_points"], 13015)
            self.assertEqual(update["jump_kj_per_mol"], 0)
        for name in ("decisions_sha256", "final_coordinates_sha256"):
            self.assertRegex(summary[name], "^[0-9a-f]{64}$")
        self.assertTrue(0 < summary["acceptance"] < 1)
        self.assertGreater(summary["steps_per_second"], 0)
        self.assertGreaterEqual(summary["wall_seconds"], 0)
        for name in ("starpmc", "starpu", "hdf5"):
            self.assertRegex(summary["versions"][name], r"^\d+\.\d+")
        codelets = " ".join(timing["codelet"] for timing in summary["codelet_timings"])
        for name in (
            "propose_moves", "qmmm_coulomb_grid", "qmmm_coulomb_grid_reduce", "qmmm_nuclei_vdw",
            "mm_pair", "mm_pair_reduce", "metropolis_decide", "grid_potential", "qm_update",
        ):  # fmt: skip
            self.assertIn(name, codelets)
        for timing in summary["codelet_timings"]:
            self.assertGreater(timing["count"], 0, timing)
            self.assertGreaterEqual(timing["total_seconds"], 0, timing)
            self.assertTrue(timing["implementation"], timing)
        tasks = sum(worker["tasks"] for worker in summary["worker_tasks"])
        self.assertEqual(tasks, sum(timing["count"] for timing in summary["codelet_timings"]))
        self.check_schedule(summary)
        for term in (*program.TERMS, "total"):
            self.assertLess(abs(summary["drift"][term]), 1e-9)

    def check_schedule(self, summary):
        """The least time that the tasks take, where the run's time went, and what was moved."""
        schedule = summary["schedule"]
        self.assertEqual(schedule["makespan_seconds"], summary["wall_seconds"])
        longest = max(schedule["area_bound_seconds"], schedule["chain_bound_seconds"])
        self.assertEqual(schedule["lower_bound_seconds"], longest)
        self.assertGreater(schedule["chain_bound_seconds"], 0)
        # Models of a machine that others use, too, may say more than the run's own tasks took.
        seconds = sum(timing["total_seconds"] for timing in summary["codelet_timings"])
        workers = len(summary["worker_tasks"])
        self.assertLess(schedule["area_bound_seconds"], 10 * seconds / workers)
        self.assertGreater(schedule["area_bound_seconds"], 0.1 * seconds / workers)
        self.assertEqual(schedule["bytes_between_memories"], 0, "there is one memory")
        for worker in summary["worker_tasks"]:
            waits = ("waiting_for_data", "waiting_for_tasks", "nothing_to_do")
            parts = [worker[f"share_{name}"] for name in waits]
            self.assertTrue(all(part >= 0 for part in parts), worker)
            self.assertAlmostEqual(sum(parts), worker["share_idle"], places=9)

    def test_settings_repeat_the_run(self):
        """settings.cfg, with what the command line changed, gives the same chain."""
        first = self.simulate("--sampling.seed", 5)
        again = program.simulate(self.out / "settings.cfg", self.folder / "again")
        self.assertEqual(again["decisions_sha256"], first["decisions_sha256"])
        self.assertEqual(again["seed"], 5)

    def test_relative_folder(self):
        """output.folder is relative to the working directory, inputs to the configuration."""
        summary = program.simulate(self.small, "here/out", cwd=self.folder)
        self.assertEqual(summary["steps"], STEPS)

    def test_log(self):
        self.simulate()
        log = (self.out / "run.log").read_text()
        for part in ("64 MM molecules", "formaldehyde", "worker 0", "finished"):
            self.assertIn(part, log)

    def test_save_grid(self):
        first = self.simulate("--output.save-grid", "true")
        saved = sorted(path.name for path in self.out.glob("grid-*.bin"))
        self.assertEqual(saved, ["grid-0.bin"])  # the stored density, read once
        # The input has bare points, four numbers each; what is written has their extent, too.
        version, bare = density_points(program.DATA / "small/small.grid")
        self.assertEqual(version, 1)
        version, points = density_points(self.out / "grid-0.bin")
        self.assertEqual(version, 2)
        self.assertEqual(points, [(*point, 0.0) for point in bare])
        again = self.simulate(
            "--output.save-grid", "true", "--output.overwrite", "true", "--qm.grid-file",
            shutil.copy(self.out / "grid-0.bin", self.folder),
        )  # fmt: skip
        self.assertEqual(density_points(self.out / "grid-0.bin"), (version, points))
        self.assertEqual(again["decisions_sha256"], first["decisions_sha256"])


def gro_positions(path):
    """Atoms' names and positions in angstrom."""
    lines = path.read_text().splitlines()
    width = lines[2].index(".", lines[2].index(".") + 1) - lines[2].index(".")
    return [
        (line[10:15].strip(), [10 * float(line[20 + i * width :][:width]) for i in range(3)])
        for line in lines[2:-1]
    ]


@unittest.skipIf(h5py is None, "no h5py")
class FinalState(Output):
    """final.gro and final.pdb are the last positions, in the orders of topology and trajectory."""

    def setUp(self):
        super().setUp()
        # Waters first: the trajectory has the QM molecule at its beginning all the same.
        data = program.DATA / "small"
        lines = (data / "small.gro").read_text().splitlines()
        atoms = [line[:15] + f"{i:5d}" + line[20:] for i, line in enumerate(lines[6:-1] + lines[2:6], 1)]
        (self.folder / "late.gro").write_text("\n".join([*lines[:2], *atoms, lines[-1]]) + "\n")
        head, molecules = (data / "small.top").read_text().split("[ molecules ]")
        *_, solute, water = [line for line in molecules.splitlines() if line and line[0] != ";"]
        (self.folder / "late.top").write_text(f"{head}[ molecules ]\n{water}\n{solute}\n")
        self.words = (
            "--system.coordinates", self.folder / "late.gro",
            "--system.topology", self.folder / "late.top",
        )  # fmt: skip

    def test_positions(self):
        self.simulate(*self.words)
        with h5py.File(self.out / "trajectory.h5md") as file:
            step = file["particles/all/position/step"][-1]
            frame = file["particles/all/position/value"][-1]
        self.assertEqual(step, STEPS + EQUILIBRATION)
        pdb = [line for line in (self.out / "final.pdb").read_text().splitlines() if line[:6] == "HETATM"]
        self.assertEqual(len(pdb), len(frame))
        gro = gro_positions(self.out / "final.gro")
        self.assertEqual([name[0] for name, _ in gro[:3]], ["O", "H", "H"])
        self.assertEqual([name[0] for name, _ in gro[-4:]], ["C", "O", "H", "H"])
        for place, line, (_, position) in zip(frame, pdb, gro[-4:] + gro[:-4], strict=True):
            for axis in range(3):
                self.assertAlmostEqual(place[axis], float(line[30 + 8 * axis :][:8]), delta=6e-4)
                self.assertAlmostEqual(place[axis], position[axis], delta=3e-6)

    def test_begins_another_run(self):
        """With the same topology, at the same energy."""
        summary = self.simulate(*self.words)
        words = ("--system.coordinates", self.out / "final.gro", *self.words[2:])
        energies = program.energies(self.small, *words, "--run.precision", "fp64")
        for term, energy in summary["final_energies"].items():
            self.assertAlmostEqual(energies[term], energy, delta=1e-3)


class Overwriting(Output):
    def test_refused(self):
        self.simulate()
        before = digests(self.out)
        result = program.start("run", self.small, "--output.folder", self.out)
        self.assertEqual(result.returncode, 2, result.stderr)
        for part in (str(self.out), "finished run", "--output.overwrite true"):
            self.assertIn(part, result.stderr)
        self.assertEqual(digests(self.out), before)

    def test_wanted(self):
        first = self.simulate()
        (self.out / "notes.txt").write_text("the user's own file")
        second = self.simulate("--output.overwrite", "true", "--sampling.seed", 9)
        self.assertNotEqual(first["decisions_sha256"], second["decisions_sha256"])
        self.assertEqual((self.out / "notes.txt").read_text(), "the user's own file")
        self.assertEqual({path.name for path in self.out.iterdir()}, FILES | {"notes.txt"})

    def test_what_is_no_runs_is_left(self):
        """Whatever its name; and all that a run writes is known as a run's."""
        self.simulate("--output.save-grid", "true", "--output.trace", "true")
        for name in ("system.pdb", "final.gro", "energies.csv", "grid-0.bin"):
            path = self.out / name
            whole = path.read_bytes()
            path.write_text("the user's own")
            before = digests(self.out)
            result = program.start(
                "run", self.small, "--output.folder", self.out, "--output.overwrite", "true"
            )
            self.assertEqual(result.returncode, 2, result.stderr)
            for part in (str(path), "remedy: move it away"):
                self.assertIn(part, result.stderr)
            self.assertEqual(digests(self.out), before)
            path.write_bytes(whole)
        self.simulate("--output.overwrite", "true")
        self.assertEqual({path.name for path in self.out.iterdir()}, FILES)

    def expect_input_kept(self, option, path, *options):
        """A run and a check that would remove what they read are refused, before they do."""
        before = digests(self.out)
        for command in ("run", "check"):
            result = program.start(
                command, self.small, "--output.folder", self.out, "--output.overwrite", "true",
                option, path, *options,
            )  # fmt: skip
            self.assertEqual(result.returncode, 2, result.stderr)
            for part in (option[2:], str(self.out), "remedy: choose another folder"):
                self.assertIn(part, result.stderr)
            self.assertEqual(digests(self.out), before)

    def test_inputs_are_not_removed(self):
        self.simulate("--output.save-grid", "true")
        link = self.folder / "link.gro"
        link.symlink_to(self.out / "final.gro")
        for path in (self.out, self.out / "trajectory.h5md", self.out / "final.gro", link):
            self.expect_input_kept("--system.coordinates", path)
        self.expect_input_kept("--system.chain-coordinates", self.out / "final.gro")
        self.expect_input_kept("--system.reference-coordinates", self.out / "final.gro")
        self.expect_input_kept("--qm.grid-file", self.out / "grid-0.bin")
        self.simulate(
            "--output.overwrite", "true", "--system.coordinates",
            shutil.copy(self.out / "final.gro", self.folder),
        )  # fmt: skip

    def test_bad_input_leaves_earlier_results(self):
        self.simulate()
        before = digests(self.out)
        result = program.start(
            "run", self.small, "--output.folder", self.out, "--output.overwrite", "true",
            "--interaction.vdw-cutoff", 50,
        )  # fmt: skip
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(digests(self.out), before)

    def test_bad_density_leaves_earlier_results(self):
        self.simulate()
        before = digests(self.out)
        grid = self.folder / "cut.grid"
        grid.write_bytes((program.DATA / "small/small.grid").read_bytes()[:5000])
        result = program.start(
            "run", self.small, "--output.folder", self.out, "--output.overwrite", "true",
            "--qm.grid-file", grid,
        )  # fmt: skip
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(digests(self.out), before)


class Seeds(Output):
    def test_same_seed_same_files(self):
        """To the last bit by one implementation; else the last bits of energies may differ, as
        StarPU chooses, but no position."""
        for name, options in {"simd": ("--run.implementation", "simd"), "any": ()}.items():
            a, b = self.folder / f"{name}-a", self.folder / f"{name}-b"
            first, second = (self.simulate(*options, folder=folder) for folder in (a, b))
            for key in ("decisions_sha256", "final_coordinates_sha256"):
                self.assertEqual(first[key], second[key])
            self.assertEqual(digests(a)["system.pdb"], digests(b)["system.pdb"])
            if h5py:
                self.assertIn("particles/all/position/value", frames(a))
                self.assertEqual(frames(a), frames(b))
            if options:
                self.assertEqual(digests(a)["energies.csv"], digests(b)["energies.csv"])
            for row, other in zip(read_energies(a), read_energies(b), strict=True):
                for column, value in row.items():
                    self.assertAlmostEqual(value, other[column], 9, column)

    def test_other_seed_other_decisions(self):
        summaries = [
            self.simulate("--sampling.seed", seed, folder=self.folder / str(seed))
            for seed in (1, 2, 2**32 + 1, 2**64 - 1)
        ]
        for name in ("decisions_sha256", "final_coordinates_sha256"):
            self.assertEqual(len({summary[name] for summary in summaries}), 4, name)
        self.assertEqual(summaries[3]["seed"], 2**64 - 1)


class Told(Output):
    def test_standard_output_on_a_full_disk(self):
        with open("/dev/full", "w") as full:
            for arguments in (("expression", "r^2", "--set", "r=2"), ("--help",)):
                result = subprocess.run(
                    [program.PROGRAM, *arguments],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    check=False,
                    env=program.environment(),
                )
                self.assertEqual(result.returncode, 1, arguments)
                self.assertIn("standard output could not be written", result.stderr)

    def test_speed_is_that_of_the_steps_made_since_resumption(self):
        self.simulate()
        more = STEPS + 10
        program.succeed("resume", self.out, "--steps", more)
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual(summary["steps"], more)
        self.assertAlmostEqual(summary["steps_per_second"] * summary["wall_seconds"], 10, 6)


class Times(program.TestCase):
    def test_count_from_the_start_of_the_process(self):
        config = self.config(**program.plain_system("argon/argon"), sampling={"steps": 2000})
        begin = time.monotonic()
        result = program.succeed("run", config, "--output.folder", self.folder / "out")
        outside = time.monotonic() - begin
        summary = json.loads((self.folder / "out" / "summary.json").read_text())
        inside = summary["total_seconds"]
        self.assertGreater(summary["startup_seconds"], 0)
        parts = summary["startup_seconds"] + summary["wall_seconds"]
        self.assertGreater(inside, parts - 0.02)
        self.assertLess(inside, outside + 0.02)
        self.assertIn("s of it start-up", result.stdout)


class PerformanceModels(program.TestCase):
    def test_bundled_ones_are_used_and_kept(self):
        version = program.succeed("info").stdout.split("StarPU ")[1].split(",")[0]
        series = f"starpu-{'.'.join(version.split('.')[:2])}"
        codelets = program.REPOSITORY / "perfmodels" / series / "codelets/45"
        if not codelets.is_dir():
            self.skipTest(f"no models for {series}")
        model = min(codelets.iterdir())
        bundled = self.folder / "models" / series / "codelets/45/starpmc_test.tested"
        bundled.parent.mkdir(parents=True)
        bundled.write_bytes(model.read_bytes())
        env = {
            "STARPMC_PERFMODELS": self.folder / "models",
            "XDG_CACHE_HOME": self.folder / "cache",
            "STARPU_HOME": "",
            "STARPU_HOSTNAME": "tested",
        }
        kept = f"{self.folder}/cache/starpmc/perfmodels-starpu-{version}"
        for models in (1, 2):  # then with the workers' speeds, which the first one has measured
            told = program.succeed("info", env=env).stdout
            self.assertIn(f"performance models of this machine: {models} in {kept}", told)
        self.assertEqual(bundled.read_bytes(), model.read_bytes())


if __name__ == "__main__":
    program.main()
