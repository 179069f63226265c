"""The timeline of a run (output.trace), held against its summary.

    python3 test_trace.py PROGRAM
"""

import collections
import csv
import os
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree

import paje
import program

COLUMNS = ["worker", "worker_name", "codelet", "chain", "window", "start_ms", "end_ms"]
FILES = ("timeline.csv", "paje.trace", "timeline.svg")
SVG = "{http://www.w3.org/2000/svg}"
ROUNDING_MS = 1e-4


def read(folder):
    with open(folder / "timeline.csv", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == COLUMNS, reader.fieldnames
        rows = list(reader)
    for row in rows:
        row["start_ms"], row["end_ms"] = float(row["start_ms"]), float(row["end_ms"])
    return rows


def left_over(folder):
    return sorted(path.name for path in folder.glob(".timeline*"))


class Trace(program.TestCase):
    chains = 1

    def setUp(self):
        super().setUp()
        small = program.small_system()
        small["qm"] |= {"interval": 400, "charge_threshold": 1e-4}
        self.sections = small | {
            "sampling": {"steps": 1000, "equilibration_steps": 200, "tune_interval": 100},
            "run": {"precision": "fp64", "implementation": "simd"},
            "output": {"energy_interval": 50, "trajectory_interval": 500,
                       "pressure_interval": 500, "checkpoint_interval": 0.1},
        }  # fmt: skip
        self.input = self.config(**self.sections)
        self.out = self.folder / "out"

    def simulate(self, *options, folder=None, workers=2):
        return program.simulate(
            self.input, folder or self.out, *options, env={"STARPU_NCPU": workers}
        )

    def check_table(self, rows, summary):
        """Every task of the summary, once, where and as long as it says."""
        counts, seconds = collections.Counter(), collections.Counter()
        for timing in summary["codelet_timings"]:
            counts[timing["codelet"]] += timing["count"]
            seconds[timing["codelet"]] += timing["total_seconds"]
        self.assertEqual(collections.Counter(row["codelet"] for row in rows), counts)
        workers = {worker["worker"]: worker for worker in summary["worker_tasks"]}
        tasks, busy = collections.Counter(), collections.Counter()
        lasts = {}
        for row in rows:
            length = row["end_ms"] - row["start_ms"]
            self.assertGreaterEqual(length, 0, row)
            self.assertGreaterEqual(row["start_ms"], 0)
            self.assertLessEqual(row["end_ms"], 1e3 * summary["wall_seconds"])
            name = row["worker_name"]
            tasks[name] += 1
            kind = "share_qm" if "qm_update" in row["codelet"] else "share_sampling"
            busy[name, kind] += length
            seconds[row["codelet"]] -= 1e-3 * length
            # CPU workers do one thing after another.
            self.assertGreaterEqual(row["start_ms"], lasts.get(name, 0) - ROUNDING_MS)
            lasts[name] = row["end_ms"]
        self.assertEqual([row["start_ms"] for row in rows], sorted(r["start_ms"] for r in rows))
        self.assertLessEqual(set(tasks), set(workers))
        for name, worker in workers.items():
            self.assertEqual(worker["tasks"], tasks[name])
            for kind in ("share_qm", "share_sampling"):
                self.assertAlmostEqual(
                    1e3 * summary["wall_seconds"] * worker[kind], busy[name, kind],
                    delta=ROUNDING_MS * (1 + worker["tasks"]),
                )  # fmt: skip
        for codelet, rest in seconds.items():
            self.assertAlmostEqual(rest, 0, delta=1e-3 * ROUNDING_MS * (1 + counts[codelet]))

    def check_paje(self, rows):
        """The same tasks in the same order."""
        trace = paje.Trace(self.out / "paje.trace")
        names = {alias: value["Name"] for alias, value in trace.values.items()}
        workers = [c for c in trace.containers.values() if c and c["Type"] == "Worker"]
        self.assertLessEqual({r["worker_name"] for r in rows}, {w["Name"] for w in workers})
        tasks = [state for state in trace.states if names[state["Value"]] != "idle"]
        self.assertEqual(len(tasks), len(rows))
        shown = {}
        for state, row in zip(tasks, rows, strict=True):
            self.assertAlmostEqual(1e3 * state["Time"], row["start_ms"], delta=ROUNDING_MS)
            self.assertEqual(trace.containers[state["Container"]]["Name"], row["worker_name"])
            self.assertEqual((state["Chain"], state["Window"]), (row["chain"], row["window"]))
            # One name and one colour for each codelet, and no two alike.
            self.assertEqual(shown.setdefault(row["codelet"], state["Value"]), state["Value"])
        self.assertEqual(len(set(shown.values())), len(shown))
        colours = [trace.values[value]["Color"] for value in shown.values()]
        self.assertEqual(len(set(colours)), len(colours))
        # Between two tasks a worker is idle from the first one's end.
        ends = collections.defaultdict(list)
        for row in rows:
            ends[row["worker_name"]].append(row["end_ms"])
        for state in trace.states:
            if names[state["Value"]] == "idle" and state["Time"] > 0:
                known = ends[trace.containers[state["Container"]]["Name"]]
                nearest = min(abs(1e3 * state["Time"] - end) for end in known)
                self.assertLessEqual(nearest, ROUNDING_MS)
        return {names[value] for value in shown.values()}

    def check_picture(self, names, workers):
        picture = xml.etree.ElementTree.parse(self.out / "timeline.svg").getroot()
        self.assertEqual(picture.tag, SVG + "svg")
        width, height = map(float, picture.get("viewBox").split()[2:])
        texts = {text.text for text in picture.iter(SVG + "text")}
        self.assertLessEqual(names | {"idle", "time (s)"}, texts)
        lanes = [group.find(SVG + "title").text for group in picture.iter(SVG + "g")]
        self.assertEqual(lanes, workers)
        for rectangle in list(picture.iter(SVG + "rect"))[1:]:
            x, y, w, h = (float(rectangle.get(k)) for k in ("x", "y", "width", "height"))
            self.assertTrue(0 <= x <= x + w <= width and 0 <= y <= y + h <= height)
        self.assertLess((self.out / "timeline.svg").stat().st_size, 1e6)

    def check(self, summary):
        rows = read(self.out)
        self.check_table(rows, summary)
        names = self.check_paje(rows)
        self.check_picture(names, [worker["worker"] for worker in summary["worker_tasks"]])
        self.assertEqual(left_over(self.out), [])
        return rows


class Whole(Trace):
    def test_terms_of_two_chains(self):
        rows = self.check(
            self.simulate("--trace", "--run.tasks", "terms", "--sampling.chains", 2)
        )
        self.assertEqual({row["chain"] for row in rows}, {"0", "1"})
        for row in rows:
            of_window = not any(
                name in row["codelet"] for name in ("qm_update", "grid_potential", "pair_virial")
            ) and (row["window"] != "")
            if "propose_moves" in row["codelet"] or "decide" in row["codelet"]:
                self.assertTrue(of_window, row)
        for chain in ("0", "1"):
            decided = [
                int(row["window"]) for row in rows
                if row["chain"] == chain and "decide" in row["codelet"]
            ]  # fmt: skip
            self.assertEqual(decided, list(range(len(decided))))
            self.assertGreater(len(decided), 2)

    def test_whole_windows(self):
        rows = self.check(self.simulate("--trace", "--run.tasks", "windows"))
        self.assertEqual({row["chain"] for row in rows}, {"0"})
        self.assertTrue(any("sample_windows" in row["codelet"] for row in rows))
        self.assertTrue(any("qm_update" in row["codelet"] for row in rows))

    def test_decisions_stay(self):
        plain = self.simulate(folder=self.folder / "plain")
        for name in FILES:
            self.assertFalse((self.folder / "plain" / name).exists())
        traced = self.simulate("--output.trace", "true")
        for name in ("decisions_sha256", "final_coordinates_sha256"):
            self.assertEqual(plain[name], traced[name])

    def test_device(self):
        reason = program.opencl_missing()
        if reason:
            self.skipTest(reason)
        summary = program.simulate(
            self.input, self.out, "--trace", "--run.implementation", "opencl",
            "--sampling.steps", 200,
        )  # fmt: skip
        rows = read(self.out)
        self.assertEqual(
            len(rows), sum(timing["count"] for timing in summary["codelet_timings"])
        )
        self.assertTrue(any("OpenCL" in row["worker_name"] for row in rows))
        paje.Trace(self.out / "paje.trace")


class Interrupted(Trace):
    steps = 1000000

    def begin(self):
        process = subprocess.Popen(
            [program.PROGRAM, "run", self.input, "--trace", "--output.folder", self.out,
             "--sampling.steps", str(self.steps)],
            env=program.environment(STARPU_NCPU=2), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not (self.out / "checkpoint.previous.cbor").exists():
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return process

    def resume(self, *options):
        """With the number of steps that are left made small: the run stops again."""
        process = subprocess.Popen(
            [program.PROGRAM, "resume", self.out, *options],
            env=program.environment(STARPU_NCPU=2), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), 143, process.stderr.read())

    def test_signal_leaves_the_session(self):
        process = self.begin()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        first = (self.out / "timeline.csv").read_text()
        rows = read(self.out)
        self.assertGreater(len(rows), 10)
        self.check_paje(rows)
        self.assertEqual(left_over(self.out), [])
        self.resume()
        self.check_paje(read(self.out))
        self.assertNotEqual((self.out / "timeline.csv").read_text(), first)
        self.resume("--output.trace", "false")
        for name in FILES:
            self.assertFalse((self.out / name).exists(), name)

    def test_kill_leaves_nothing_that_is_cut_short(self):
        process = self.begin()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for name in FILES:
            self.assertFalse((self.out / name).exists(), name)
        self.assertEqual(len(left_over(self.out)), 1)
        self.resume()
        self.assertEqual(left_over(self.out), [])
        self.check_paje(read(self.out))


class Ranks(Trace):
    def test_workers_of_all_processes(self):
        mpirun = shutil.which("mpirun")
        if mpirun is None:
            self.skipTest("no mpirun")
        words = [
            mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", "2",
            program.PROGRAM, "run", self.input, "--output.folder", self.out,
            "--sampling.chains", "3", "--trace",
        ]  # fmt: skip
        result = subprocess.run(
            list(map(str, words)), env=program.environment(STARPU_NCPU=1), capture_output=True,
            text=True, check=False, timeout=120,
        )  # fmt: skip
        if "without MPI" in result.stderr:
            self.skipTest("starpmc was built without MPI")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        rows = self.check(program.json.loads((self.out / "summary.json").read_text()))
        self.assertEqual({row["chain"] for row in rows}, {"0", "1", "2"})
        self.assertEqual(len({row["worker_name"] for row in rows}), 2)
        self.assertEqual({row["worker"] for row in rows}, {"0"})


if __name__ == "__main__":
    program.main()
