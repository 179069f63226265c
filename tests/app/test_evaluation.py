"""The drivers of tests/evaluation and configs/bench-R.cfg: files, units, the published numbers beside
ours, the plan, power readings, checksums of made inputs; no timing is judged.

    python3 test_evaluation.py PROGRAM FAKE_NVML
"""

import csv
import hashlib
import importlib.util
import itertools
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time
import unittest
import unittest.mock

FAKE_NVML = sys.argv.pop(2) if len(sys.argv) > 2 else None

import program

EVALUATION = program.TESTS / "evaluation"
sys.path.insert(0, str(EVALUATION))
import against_paper
import evaluation
import exact_gain
import exact_runs
import inputs
import paper_plan
import paper_tables
import perturbative_profile
import power
import published

CPU_ONLY = {"STARPU_NCPU": 2, "STARPU_NOPENCL": 0}
SMALL = ("--waters", 200, "--points", 3000, "--seconds", 0.02, "--proposals", 100)
# PoCL compiles for half a minute what it does not find there.
COMPILED = pathlib.Path.home() / ".cache" / "pocl"
WORKERS = program.TESTS / "app" / "workers"
INPUTS = json.loads((program.REPOSITORY / "configs" / "bench-inputs.json").read_text())
PRINTED = json.loads((program.DATA / "paper" / "published.json").read_text())
KEYS = [f"table-{n}" for n in range(3, 10)] + [f"figure-{n}" for n in range(8, 12)]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class DriverCase(program.TestCase):
    def environment(self, **more):
        return CPU_ONLY | {"STARPMC_WORKERS": WORKERS, "XDG_CACHE_HOME": self.folder / "cache"} | more

    def drive(self, script, *words, status=0, output=True, **environment):
        """The finished process of a driver."""
        words = (script + ".py", "--program", program.PROGRAM, *words)
        if output:
            words = (*words, "--output", self.folder / "out")
        run = subprocess.run(
            [sys.executable, *map(str, words)], cwd=EVALUATION, text=True, capture_output=True,
            env=program.environment(**self.environment(**environment)), check=False, timeout=500)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return run

    def check_refused(self, script, *cases):
        """Each of (options, part of the message) ends before anything is written."""
        for words, part in cases:
            self.assertIn(part, self.drive(script, *words, status=2).stderr)
            self.assertFalse((self.folder / "out").exists())

    def csv(self, name):
        with open(self.folder / "out" / f"{name}.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("# ")))


class Paper(DriverCase):
    def table(self, key):
        return self.csv(f"paper-{key}")

    def own(self, key):
        return [row for row in self.table(key) if row["source"] == "starpmc"]

    def test_everything(self):
        run = self.drive("paper", *SMALL, "--chains", 2)
        document = json.loads((self.folder / "out" / "paper.json").read_text())
        self.assertEqual(set(document["tables"]), set(KEYS))
        self.assertTrue(document["machine"]["workers"])
        for key in KEYS:
            with self.subTest(key=key):
                self.check_table(key, document["tables"][key], run.stdout)
        self.check_sections(document["sections"], run.stdout)
        self.check_cycles()
        self.check_kernels()
        self.check_shares()
        self.check_whole_runs()
        self.check_energies(document["tables"]["table-9"]["notes"])
        self.check_plots()

    def check_table(self, key, table, printed):
        """JSON, CSV and the screen agree; both sources are there; numbers are numbers."""
        self.assertIn(table["title"], printed)
        rows = self.table(key)
        self.assertEqual(len(rows), len(table["rows"]))
        for row, entry in zip(rows, table["rows"]):
            self.assertEqual(list(row), table["columns"])
            for name, value in entry.items():
                text = "" if value is None else str(value)
                if isinstance(value, float):
                    self.assertEqual(float(row[name]), value)
                else:
                    self.assertEqual(row[name], text)
        self.assertTrue(self.own(key), table["notes"])
        for row in self.own(key):
            for name, text in row.items():
                if name.endswith(("_s", "_per_step")) and text:
                    self.assertGreaterEqual(float(text), 0)
        for numbers in PRINTED.get(key, []):
            # Those of the paper's rows are the published ones (all of them: class Published).
            shown = {float(text) for row in rows if row["source"] == "paper"
                     for text in row.values() if text.replace(".", "").replace("e-", "").isdigit()}
            self.assertTrue(shown & set(numbers), numbers)

    def check_cycles(self):
        rows = self.own("table-3")
        self.assertEqual({row["benchmark"] for row in rows}, {"bench-A", "bench-B", "bench-C"})
        for row in rows:
            self.assertGreater(float(row["total_s"]), float(row["output_s"]))
            self.assertGreater(float(row["steps_measured"]), 0)
        paper = {"bench-A": 769.96, "bench-B": 787.68, "bench-C": 1179.70}  # serial, table 3
        own = {}  # the first of each: a core in fp64
        speedups = self.own("figure-8")
        self.assertEqual(len(speedups), len(rows))
        for row, speedup in zip(rows, speedups):
            name, seconds = row["benchmark"], float(row["total_s"])
            for column in ("platform", "precision", "benchmark"):
                self.assertEqual(speedup[column], row[column])
            self.assertAlmostEqual(
                float(speedup["speedup_over_paper_core"]) * seconds / paper[name], 1)
            self.assertEqual(row["precision"], "mixed" if name in own else "fp64")
            self.assertAlmostEqual(float(speedup["speedup_over_own_core"])
                                   * seconds / own.setdefault(name, seconds), 1)

    def check_sections(self, sections, printed):
        """Estimate and elapsed time of each, and the inputs first."""
        self.assertEqual(sections[0]["section"], "inputs")
        named = [key for section in sections[1:] for key in section["section"].split(", ")]
        self.assertEqual(sorted(named), sorted(KEYS))
        for section in sections:
            self.assertGreaterEqual(section["elapsed_s"], 0)
            if section["estimated_s"] > 0:
                self.assertIn(f"  {section['section']} ", printed)  # the plan
                self.assertIn(f"[{section['section']}: ", printed)

    def check_kernels(self):
        rows = self.own("table-4")
        kernels = [row["kernel"] for row in self.table("table-4") if row["source"] == "paper"]
        self.assertEqual({row["kernel"] for row in rows}, set(kernels))
        for device in {row["device"] for row in rows}:
            chosen = {r["kernel"]: r for r in rows if r["device"] == device}
            total = sum(float(r["microseconds_per_step"]) for k, r in chosen.items() if k != "total")
            self.assertAlmostEqual(float(chosen["total"]["microseconds_per_step"]) / total, 1)
            share = sum(float(r["share_percent"]) for k, r in chosen.items() if k != "total")
            self.assertAlmostEqual(share, 100)
            self.assertGreater(float(chosen["q3m_c/reduce"]["microseconds_per_step"]), 0)

    def check_shares(self):
        self.check_shares_sum()
        for row in self.own("figure-11"):
            ratio = float(row["one_microseconds_per_step"]) / float(row["both_microseconds_per_step"])
            self.assertAlmostEqual(float(row["speedup"]) / ratio, 1)

    def check_shares_sum(self):
        steps = {row["steps"] for row in self.own("figure-10")}
        self.assertEqual(len(steps), 10)
        for step in steps:
            share = sum(float(row["grid_share_percent"]) for row in self.own("figure-10")
                        if row["steps"] == step)
            self.assertAlmostEqual(share, 100)
        shares = [float(row["grid_share_percent"]) for row in self.own("figure-9")
                  if row["grid_share_percent"]]
        self.assertAlmostEqual(sum(shares), 100)

    def check_whole_runs(self):
        rows = self.own("table-5")
        self.assertLessEqual({("mixed", "1"), ("mixed", "2"), ("fp64", "1")},
                             {(row["precision"], row["chains"]) for row in rows})
        for row in rows:
            self.assertGreater(float(row["qm_update_s"]), 0)
            # 496 cycles of all chains together, and the updates besides
            least = 0.2 * 496 / float(row["chains"]) * float(row["cycle_s"])
            self.assertGreater(float(row["whole_s"]), least)
        for row in self.own("table-6"):
            self.assertAlmostEqual(float(row["whole_speedup"]) * float(row["whole_s"]) / 300028, 1)

    def check_energies(self, notes):
        """Power where the machine has readings; otherwise why there is none."""
        for row in self.own("table-9"):
            self.assertGreater(float(row["microseconds_per_step"]), 0)
            if not row["average_watts"]:
                self.assertTrue(any("no power readings" in note for note in notes), notes)

    def check_plots(self):
        if importlib.util.find_spec("matplotlib") is None:
            return
        for name in ("figure-8", "figure-9", "figure-10", "figure-11", "table-5", "precisions"):
            svg = (self.folder / "out" / f"paper-{name}.svg").read_text()
            self.assertTrue(svg.rstrip().endswith("</svg>"))
            png = (self.folder / "out" / f"paper-{name}.png").read_bytes()
            self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")

    def test_some_tables_of_some_cases(self):
        run = self.drive("paper", *SMALL, "--tables", "3,4,5", "--cases", "B")
        files = {path.name for path in (self.folder / "out").glob("*.csv")}
        self.assertEqual(files, {f"paper-table-{n}.csv" for n in (3, 4, 5)})
        self.assertEqual({row["benchmark"] for row in self.own("table-3")}, {"bench-B"})
        self.assertEqual(self.own("table-4"), [])
        self.assertIn("cases B, 0.02 s a measurement", run.stdout)
        self.assertIn("without bench-A: --cases names it", run.stdout)
        text = (self.folder / "out" / "paper-table-4.csv").read_text()
        self.assertIn("not measured: bench-A is not among --cases", text)

    def test_a_whole_run_that_fails_is_told(self):
        self.drive("paper", *SMALL, "--tables", "5", "--chains", 1,
                   STARPMC_WORKERS=self.folder / "nowhere")
        text = (self.folder / "out" / "paper-table-5.csv").read_text()
        self.assertIn("whole run not measured", text)
        self.assertTrue(all(row["whole_s"] == "" for row in self.own("table-5")))

    def test_beside_an_opencl_device_the_cores_are_one(self):
        if missing := program.opencl_missing():
            self.skipTest(missing)
        self.drive("paper", *SMALL, "--tables", "f9,f10", "--cases", "A", "--implementation",
                   "simd,opencl", STARPU_NCPU=3, STARPU_NOPENCL=1, POCL_CACHE_DIR=COMPILED)
        self.check_shares_sum()
        for key in ("figure-9", "figure-10"):
            devices = {row["device"].split()[0] for row in self.own(key)}
            names = {row["device"] for row in self.own(key)}
            self.assertEqual(len(names), 2, names)
            self.assertIn("OpenCL", devices)
            self.assertEqual(len({name for name in names if re.fullmatch(r"\d cores?", name)}), 1)

    def test_bad_options(self):
        self.check_refused("paper",
                           (("--tables", "2"), "'2'"),
                           (("--cases", "D"), "'D'"),
                           (("--system", "A"), "--system"),
                           (("--seconds", "nan"), "nan"),
                           (("--points", "10"), "1000"),
                           (("--implementation", "any"), "any"))


class Published(unittest.TestCase):
    """Against the numbers of the paper's tables in reading order, taken from its text by a script."""

    def test_tables_are_as_printed(self):
        # Table 3's steps are no column there; table 8's percentages are shares of 0.1 kJ/mol.
        without = {"table-3": "steps_measured"}
        left_out = {"table-8": [0.064, 4.2, 2.9, 0.016, 0.9, 1.1, 16.0]}
        self.assertEqual(len(PRINTED), 7)
        for key, lines in PRINTED.items():
            printed = sorted(itertools.chain(*lines))
            for number in left_out.get(key, []):
                printed.remove(number)
            found = sorted(value for row in published.rows_of(key) for name, value in row.items()
                           if isinstance(value, (int, float)) and name != without.get(key))
            self.assertEqual(found, printed, key)

    def test_speedups_of_figure_8_are_ratios_of_table_3(self):
        rows = published.rows_of("figure-8")
        self.assertEqual(len(rows), 15)
        self.assertAlmostEqual(rows[6]["speedup_over_paper_core"], 121.6, delta=0.05)  # text: 121.29

    def test_own_rows_stand_beside_the_papers(self):
        table = published.published("table-7")
        self.assertNotIn("GTX 680", table.text())
        table.add("a, device", "mixed", 2.5)
        table.notes.append("a note")
        self.assertRaises(ValueError, table.add, "too few")
        self.assertTrue(table.csv().startswith("# a note\nsource,device,precision,speedup\n"))
        self.assertTrue(table.csv().endswith('starpmc,"a, device",mixed,2.5\n'))
        self.assertIn("GTX 680", table.text())
        self.assertEqual(len(published.published("table-7").rows), 6)


class Plan(unittest.TestCase):
    MOST = 12 * 60

    def machine(self, made="", gpu=False):
        size = {"cpu_workers": 15, "devices": 1, "threads": 16, "chains": 15} if gpu else {
            "cpu_workers": 2, "devices": 0, "threads": 2, "chains": 2}
        return paper_plan.Scale(**size, made=list(made))

    def seconds(self, scale, tables=(), cases=KEYS, of=3):
        return paper_plan.total(scale, list(tables), list(cases), of)

    def test_sections_make_every_table_once(self):
        made = [key for section in paper_plan.SECTIONS for key in section.tables]
        self.assertEqual(sorted(made), sorted(KEYS))
        self.assertEqual(set(published.TABLES), set(KEYS))

    def test_a_machine_with_a_gpu_measures_all_in_twelve_minutes(self):
        for made in ("", "ABCR"):
            scale = self.machine(made, gpu=True)
            cases, seconds = paper_plan.complete(scale, KEYS, None, None)
            self.assertEqual(cases, list("ABCR"))
            self.assertTrue(1 <= seconds <= 5)
            self.assertLessEqual(self.seconds(scale, KEYS, cases, seconds), self.MOST)

    def test_a_small_machine_leaves_out_what_it_has_no_time_for(self):
        scale = self.machine()
        cases, seconds = paper_plan.complete(scale, KEYS, None, None)
        self.assertEqual(cases, ["A", "R"])
        self.assertLessEqual(self.seconds(scale, KEYS, cases, seconds), self.MOST)
        text = paper_plan.text(scale, KEYS, cases, seconds)
        self.assertIn("the density of bench-A has to be made, once: about 2 min", text)
        self.assertIn("without bench-C: --cases names it", text)
        self.assertNotIn("has to be made", paper_plan.text(self.machine("AR"), KEYS, cases, seconds))

    def test_the_least_is_a_and_r(self):
        scale = self.machine()
        scale.proposals = 1_000_000  # hours
        self.assertEqual(paper_plan.complete(scale, KEYS, None, None), (["A", "R"], 1))

    def test_densities_in_the_cache_cost_nothing(self):
        none, one, both = (self.seconds(self.machine(made), cases="AC") for made in ("", "C", "AC"))
        self.assertGreater(none, one)
        self.assertGreater(one, both)
        self.assertEqual(both, 0)

    def test_what_is_chosen_stays(self):
        scale = self.machine("R", gpu=True)
        self.assertEqual(paper_plan.complete(scale, ["table-3"], ["B"], 20), (["B"], 20))
        self.assertEqual([s.name for s in paper_plan.wanted(["table-3"])],
                         ["inputs", "table-3, figure-8, table-4, figure-9"])
        # The most, for one case is little.
        self.assertEqual(paper_plan.complete(scale, KEYS, ["R"], None), (["R"], 5))


class WholeRun(unittest.TestCase):
    def test_is_extrapolated_from_two_runs(self):
        # 8 chains of 62 updates: 10 s to start with the first update, 3 s for each of the others, and
        # 2 s of steps that both runs left out.
        one = {"chains": 8, "updates": 1, "wall_seconds": 10, "update_seconds": 0}
        several = {"chains": 8, "updates": 3, "wall_seconds": 16, "update_seconds": 2}
        self.assertAlmostEqual(paper_tables.extrapolate(one, several, 2), 10 + 2 + 61 * (3 + 2))


DOCUMENT = {"settings": {}, "results": [
    {"system": "bench-A", "term": "qmmm_coulomb_grid", "implementation": "simd", "precision": "mixed",
     "device": "1 core", "microseconds_per_step": 760.77},
    {"system": "bench-A", "term": "errors", "implementation": "opencl", "precision": "mixed",
     "device": "OpenCL 0 (a, b)", "grid_mean_error_kj_per_mol": 6.4e-6,
     "grid_max_error_kj_per_mol": 2.9e-3},
    {"system": "bench-R", "term": "steps", "implementation": "simd", "precision": "mixed",
     "device": "1 core", "microseconds_per_step": 100.0},
    {"system": "bench-A", "term": "steps", "implementation": "simd", "precision": "mixed",
     "device": "1 core", "microseconds_per_step": 769.73, "chains": 1,
     "kernels": [{"operation": "metropolis_decide", "microseconds_per_step": 9.4}]},
    {"system": "bench-A", "term": "propose_moves", "implementation": "simd", "precision": "mixed",
     "device": "1 core", "microseconds_per_step": 1.0}]}


class AgainstPaper(program.TestCase):
    def compare(self, document, status=0):
        (self.folder / "bench.json").write_text(json.dumps(document))
        run = subprocess.run([sys.executable, EVALUATION / "against_paper.py", self.folder],
                             text=True, capture_output=True, check=False)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def test_ratios_of_times_and_of_errors(self):
        self.assertIn("i7-4770K", self.compare(DOCUMENT).stdout)
        with open(self.folder / "against-paper.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        grid, errors, steps, of_a, moves, decide = (row for row in rows if row["source"] == "starpmc")
        self.assertAlmostEqual(float(grid["times_faster_than_paper_core"]), 100, delta=0.1)
        self.assertAlmostEqual(float(grid["times_faster_than_paper_gpu"]), 473 / 760.77)
        self.assertAlmostEqual(float(errors["grid_mean_error_over_paper"]), 0.1)
        self.assertAlmostEqual(float(errors["grid_max_error_over_paper"]), 1)
        self.assertAlmostEqual(float(steps["times_faster_than_paper_core"]), 572.7 / 0.05 / 100)
        self.assertAlmostEqual(float(steps["times_faster_than_paper_gpu"]), 10.2 / 0.05 / 100)
        self.assertAlmostEqual(float(of_a["times_faster_than_paper_core"]), 100)
        self.assertAlmostEqual(float(decide["times_faster_than_paper_core"]), 10)
        self.assertEqual(moves["times_faster_than_paper_core"], "")

    def test_steps_are_the_cycle_less_its_output(self):
        rows = list(against_paper.paper_rows("bench-A", "steps"))
        self.assertEqual(len(rows), 5)
        self.assertAlmostEqual(rows[0]["microseconds_per_step"], 76_973)
        self.assertEqual(list(against_paper.paper_rows("bench-A", "propose_moves")), [])
        self.assertEqual(len(list(against_paper.paper_rows("bench-A", "errors"))), 2)

    def test_other_sizes_are_refused(self):
        run = self.compare(DOCUMENT | {"settings": {"waters": 64}}, status=2)
        self.assertIn("--waters", run.stderr)


class Power(program.TestCase):
    def package(self, folder, name, energy):
        path = self.folder / folder
        path.mkdir(exist_ok=True)
        for file, text in (("name", name), ("energy_uj", energy), ("max_energy_range_uj", "1000000")):
            (path / file).write_text(text + "\n")

    def test_packages_are_summed_across_an_overflow(self):
        self.package("intel-rapl:0", "package-0", "900000")
        self.package("intel-rapl:1", "package-1", "0")
        self.package("intel-rapl:0:0", "core", "5")
        self.package("intel-rapl:2", "psys", "7")
        counter = power.Rapl(self.folder)
        self.assertEqual(counter.name, "RAPL: package-0, package-1")
        self.assertEqual(counter.joules(), 0)
        self.package("intel-rapl:0", "package-0", "100000")
        self.package("intel-rapl:1", "package-1", "300000")
        self.assertAlmostEqual(counter.joules(), 0.2 + 0.3)

    def test_why_there_are_no_readings(self):
        for folder in (self.folder, self.folder / "nothing"):
            self.assertRaisesRegex(power.NoReading, "no RAPL counters", power.Rapl, folder)
        self.package("intel-rapl:0", "package-0", "not a number")
        self.assertRaisesRegex(power.NoReading, "may not be read", power.Rapl, self.folder)
        self.assertRaisesRegex(power.NoReading, "libno-such", power.Nvml, "", "libno-such.so.1")
        self.assertRaisesRegex(power.NoReading, "nvmlInit", power.Nvml, "", "libc.so.6")

    def test_mean_power_is_that_of_the_span(self):
        class Counter:
            """50 W, and 1000 W at first."""

            start = time.time()

            def joules(self):
                spent = time.time() - self.start
                return 50 * spent + 950 * min(spent, 0.1)

        with power.Meter(Counter()) as meter:
            time.sleep(0.5)
        start = Counter.start
        self.assertAlmostEqual(meter.mean_watts(start + 0.15, start + 0.45), 50, delta=0.5)
        self.assertGreater(meter.mean_watts(start, start + 0.45), 200)
        self.assertIsNone(meter.mean_watts(start + 60, start + 70))

    def nvml(self, uuid, devices=2):
        if FAKE_NVML is None:
            self.skipTest("needs the fake NVML")
        with unittest.mock.patch.dict(os.environ, FAKE_NVML_DEVICES=str(devices)):
            return power.Nvml(uuid, FAKE_NVML)

    def test_a_gpu_is_found_by_its_uuid(self):
        counter = self.nvml("1a000000" + 23 * "0" + "a")
        self.assertEqual(counter.name, "NVML: Fake GPU")
        before = counter.joules()
        self.assertAlmostEqual(counter.joules() - before, 1.5)  # 1,500 mJ between two calls

    def test_the_power_of_a_gpu_without_a_counter_is_sampled(self):
        counter = self.nvml("1b000000" + 23 * "0" + "b")
        self.assertIn("power sampled", counter.name)
        start = time.monotonic()
        with power.Meter(counter) as meter:
            time.sleep(0.2)
        self.assertAlmostEqual(meter.mean_watts(0, time.time()), 70, delta=7)
        self.assertLessEqual(counter.joules(), 71 * (time.monotonic() - start))

    def test_the_only_gpu_needs_no_uuid(self):
        for uuid in ("", 32 * "7"):
            self.assertEqual(self.nvml(uuid, devices=1).name, "NVML: Fake GPU")
            with self.assertRaisesRegex(power.NoReading, "none of NVML's 2 devices"):
                self.nvml(uuid)


class Cell(DriverCase):
    def test_figures(self):
        # STARPU_RESERVE_NCPU: as the program sets it where there is a GPU.
        run = self.drive("cell", "--seconds", 0.01, "--workers", "1,2", STARPU_RESERVE_NCPU=1)
        document = json.loads((self.folder / "out" / "cell.json").read_text())
        for statement in document["paper"].values():
            self.assertIn(statement, run.stdout)
        workers = self.csv("cell-workers")
        self.assertEqual({(row["implementation"], row["workers"]) for row in workers},
                         {(i, w) for i in ("scalar", "simd") for w in ("1", "2")})
        for row in workers:
            speedup = 1e6 * document["plain_seconds_per_evaluation"] / float(
                row["microseconds_per_evaluation"])
            self.assertAlmostEqual(float(row["speedup"]), speedup, delta=1e-9 * speedup)
            self.assertGreater(float(row["cores_speedup"]), 0)
            share = float(row["speedup"]) / float(row["cores_speedup"])
            self.assertAlmostEqual(float(row["share_of_cores"]), share, delta=1e-9 * share)
        for row in self.csv("cell-granularity"):
            pairs = (int(row["particles"]) / 2) ** 2 * int(row["evaluations_per_task"])
            self.assertEqual(float(row["pairs_per_task"]), pairs)
            self.assertGreater(float(row["speedup"]), 0)
        tasks = self.csv("cell-tasks")
        self.assertEqual(len(tasks), document["tasks"]["tasks"])
        self.assertGreaterEqual(len(tasks), 8)
        self.assertEqual(document["fewest_newton_steps_for_1e-6"], 1)
        self.assertGreater(len(self.csv("cell-accuracy")), 3)
        if importlib.util.find_spec("matplotlib"):
            for name in ("workers", "granularity", "tasks"):
                svg = (self.folder / "out" / f"cell-{name}.svg").read_text()
                self.assertTrue(svg.rstrip().endswith("</svg>"))

    def test_bad_options(self):
        self.check_refused("cell", (("--term", "grid"), "--term"), (("--workers", "0"), "--workers"),
                           (("--workers", "1,x"), "'1,x'"), (("--seconds", "0"), "--seconds"))


class ChainScaling(DriverCase):
    """chains.py, with a QM program that answers at once."""

    def test_rounds_and_medians(self):
        run = self.drive("chains", "--chains", "2,1,2", "--updates", 3)
        rows = self.csv("chains")
        self.assertEqual([(row["round"], row["chains"]) for row in rows],
                         [(r, n) for r in "123" for n in "12"])
        scaling = json.loads((self.folder / "out" / "chains.json").read_text())["scaling"]
        lines = run.stdout.splitlines()
        first = next(i for i, line in enumerate(lines) if "run / alone" in line) + 1
        for entry, line in zip(scaling, lines[first:], strict=False):
            expected = []
            for kind in ("run_seconds", "alone_seconds"):
                seconds = [float(row[kind]) for row in rows
                           if row["chains"] == str(entry["chains"])]
                self.assertGreater(min(seconds), 0)
                self.assertAlmostEqual(entry[kind], statistics.median(seconds), places=9)
                expected += [entry[kind], entry[kind] / scaling[0][kind]]
            expected.append(entry["run_seconds"] / entry["alone_seconds"])
            cells = line.split()
            self.assertEqual(cells[0], str(entry["chains"]))
            self.assertEqual(len(cells), 6)
            for cell, value in zip(cells[1:], expected, strict=True):
                self.assertAlmostEqual(float(cell), value, delta=0.0051)

    def test_an_engine_that_fails_ends_it(self):
        run = self.drive("chains", "--chains", 1, status=1, STARPMC_WORKERS=self.folder / "nowhere")
        self.assertIn("pyscf_worker.py", run.stderr)
        self.assertFalse((self.folder / "out" / "chains.csv").exists())

    def test_bad_options(self):
        self.check_refused("chains",
                           (("--chains", "0"), "--chains"), (("--chains", "1,x"), "'1,x'"),
                           (("--updates", "0"), "--updates"), (("--seconds", "2"), "--seconds"))


class Inputs(DriverCase):
    """The boxes of the configurations, made on demand."""

    def run_r(self):
        return program.succeed("run", program.REPOSITORY / "configs" / "bench-R.cfg",
                               "--sampling.chains", 2, "--sampling.steps", 400, "--qm.interval", 200,
                               "--output.energy-interval", 100, "--output.folder",
                               self.folder / "out", "--output.overwrite", "true",
                               env=self.environment())

    def files(self):
        cache = self.folder / "cache" / "starpmc" / "bench"
        return sorted(path.name for path in cache.iterdir())

    def test_a_run_makes_its_box(self):
        self.run_r()
        self.assertEqual(self.files(), ["bench-R.gro", "bench-R.top"])
        summary = json.loads((self.folder / "out" / "summary.json").read_text())
        self.assertEqual([len(chain["qm_updates"]) for chain in summary["chains"]], [2, 2])

    def test_boxes_have_their_checksums(self):
        self.run_r()
        cache = self.folder / "cache" / "starpmc" / "bench"
        for name, key in (("bench-R.gro", "coordinates_sha256"), ("bench-R.top", "topology_sha256")):
            self.assertEqual(sha256(cache / name), INPUTS["bench-R"][key])
        # What was interrupted, or is in the way, is made anew or left alone.
        (cache / "bench-R.gro").unlink()
        self.run_r()
        self.assertEqual(sha256(cache / "bench-R.gro"), INPUTS["bench-R"]["coordinates_sha256"])

    def test_another_density_is_told(self):
        run = self.drive("inputs", "R", status=1, output=False)
        verdicts = {line.split()[0]: line for line in run.stdout.splitlines()[4:]}
        for what in ("coordinates_sha256", "topology_sha256"):
            self.assertIn("as it should be", verdicts[what])
        for what in ("points", "positions_sha256", "qm_energy_kj_per_mol"):  # of no QM program
            self.assertIn("DIFFERS", verdicts[what])
        made = ["bench-R.density", "bench-R.gro", "bench-R.json", "bench-R.top"]
        self.assertEqual(self.files(), made)
        # It is made once; another box makes another one.
        files = [self.folder / "cache" / "starpmc" / "bench" / name for name in made]
        before = files[0].stat().st_mtime_ns
        self.drive("inputs", "R", status=1, output=False)
        self.assertEqual(files[0].stat().st_mtime_ns, before)
        description = json.loads(files[2].read_text())
        self.assertEqual(description["points"], 6)
        files[2].write_text(json.dumps(description | {"made_of": "another box"}))
        self.drive("inputs", "R", status=1, output=False)
        self.assertGreater(files[0].stat().st_mtime_ns, before)
        self.check_refused("inputs", (("D",), "'D'"))

    def test_digests_of_positions_ignore_the_last_bits_only(self):
        numpy = __import__("numpy")
        grid = numpy.array([[1, 3, 5, -1, 0], [2, 4, 6.25, -1, 0]])
        first = inputs.positions_digest(grid)
        grid[1, 0] += 1e-12
        grid[0, 3] = -0.5
        self.assertEqual(inputs.positions_digest(grid), first)
        grid[1, 0] += 1e-6
        self.assertNotEqual(inputs.positions_digest(grid), first)


class ExactRuns(program.TestCase):
    """Series and tables of the drivers of the exact ensemble, from files that are written here."""

    def write(self, name, columns, rows):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = ["# starpmc", ",".join(columns), *(",".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n")

    def test_errors_of_correlated_series(self):
        draw = random.Random(4)
        for memory, within in ((0.0, 0.15), (0.8, 0.3)):
            chains, expected = [], 0.0
            for _ in range(4):
                chain = [draw.gauss(0, 1)]
                for _ in range(4095):
                    chain.append(memory * chain[-1] + draw.gauss(0, (1 - memory**2) ** 0.5))
                chains.append(chain)
            expected = ((1 + memory) / (1 - memory) / (4 * 4096)) ** 0.5
            mean, error, samples = exact_runs.block_error(chains)
            self.assertLess(abs(mean), 4 * expected)
            # The largest error of several lengths of parts: above the truth rather than below.
            self.assertGreater(error, (1 - within) * expected)
            self.assertLess(error, 1.6 * expected)
            self.assertAlmostEqual(samples * error**2, 1, delta=0.1)

    def test_blocks_count_as_the_ensemble_has_them(self):
        energies = [(10 * i, 100.0 + i, 3.0, 4.0) for i in range(7)]  # E_int is 93 + i
        blocks = [(0, 0.5, 1), (20, 0.25, 1), (40, 9.0, 0), (60, 0.75, 1)]
        for chain in ("chain-0", "chain-1"):
            names = ("step", "total", "mm_coulomb", "mm_vdw")
            self.write(f"{chain}/energies.csv", names, energies)
            self.write(f"{chain}/blocks.csv", ("step", "difference", "accepted"), blocks)
        series = list(exact_gain.series_of_blocks(self.folder))
        self.assertEqual(len(series), 2)
        ends, sampled, differences, means, starts = series[1]
        self.assertEqual(ends, [95.25, 95.25, 99.75])  # the rejected one is the end before it again
        self.assertEqual(sampled, [95, 97, 99])
        self.assertEqual(differences, [0.25, 9.0, 0.75])
        self.assertEqual(means, [94.5, 96.5, 98.5])
        self.assertEqual(starts, [0.5, 0.25, 0.25])

    def test_what_a_block_remembers_is_not_corrected(self):
        """Of an energy x^2/2 kT that is sampled where x^2/2 + (x^2 - 1)/10 is true, whose mean is 0.4."""
        draw = random.Random(5)
        for steps, blocks in ((2, 20000), (30, 3000)):
            x, series = 0.0, []
            for _ in range(blocks):
                y, mean = x, 0.0
                for _ in range(steps):
                    y = 0.9 * y + 0.19**0.5 * draw.gauss(0, 1)
                    mean += y * y / 2 / steps
                series.append((y * y / 2, (y * y - 1) / 10, mean, (x * x - 1) / 10))
                if draw.random() < math.exp((x * x - y * y) / 10):
                    x = y
            kt = exact_gain.KT
            columns = [[kt * value for value in column] for column in zip(*series, strict=True)]
            found = statistics.fmean(columns[2]) + exact_gain.wrong_over_steps(*columns)
            self.assertAlmostEqual(found / kt, 0.4, delta=0.03)

    def test_a_run_of_other_options_is_not_taken_for_the_one_asked_for(self):
        runs = exact_runs.Runs(program.PROGRAM, self.folder, 1)
        started = []

        def run(_, folder, *words):
            started.append(words)
            self.write(f"{folder.name}/summary.json", (), ())
            (folder / "summary.json").write_text('{"total_seconds": 1}')
            return {"total_seconds": 1}

        runs.program = unittest.mock.Mock(run=run)
        words = ("--sampling.steps", 1000)
        for reference in ("first.h5", None):  # which the first run has none of
            runs.run("exact", "a.cfg", *words, reference=reference)
        self.assertEqual(len(started), 1)
        self.assertEqual(started[0][:4], (*words, "--qm.reference", "first.h5"))
        with self.assertRaisesRegex(evaluation.InputError, "exact.json.*--sampling.steps 1000"):
            runs.run("exact", "a.cfg", "--sampling.steps", 2000)
        self.assertEqual(len(started), 1)

    def test_nor_is_an_image_of_other_options(self):
        source = self.folder / "profile" / "image-01"
        self.write("profile/image-01/solute.xyz", (), ())
        made = self.folder / "out" / "image-01"
        starpmc = unittest.mock.Mock(run=unittest.mock.Mock(return_value={"total_seconds": 1}))
        self.assertEqual(perturbative_profile.sample(starpmc, source, made, 50000, None, []), 1)
        (made / "summary.json").write_text("{}")
        self.assertIsNone(perturbative_profile.sample(starpmc, source, made, 50000, None, []))
        for interval, steps, more in ((1000, None, []), (50000, 10, []), (50000, None, ["--a", "1"])):
            with self.assertRaises(evaluation.InputError):
                perturbative_profile.sample(starpmc, source, made, interval, steps, more)
        starpmc.run.assert_called_once()

    def test_blocks_end_where_there_is_an_energy(self):
        for option, value in (("--block", 1500), ("--equilibration", 200)):
            words = ["exact_gain.py", str(program.PROGRAM), option, str(value),
                     "--output", str(self.folder / "out")]  # fmt: skip
            with (unittest.mock.patch("sys.argv", words),
                  self.assertRaisesRegex(evaluation.InputError, f"{option}.*1000.*{value}")):
                exact_gain.body()
        self.assertFalse((self.folder / "out").exists())

    def test_scf_calculations_of_a_reference(self):
        sources = "".join((program.REPOSITORY / "src/app" / name).read_text() for name in (
            "reference_preparation.cpp", "preparation_chains.hpp", "preparation_chains.cpp"))  # fmt: skip
        most, share, fewest = (
            int(re.search(rf"constexpr std::\w+ {name} = (\d+);", sources)[1])
            for name in ("kMostTests", "kChains", "kFewestHeldOut")
        )
        for configurations in (1, 4, 8, 120, 163, 240):
            held_out = min(max(fewest, configurations // share), configurations)
            self.assertEqual(exact_gain.tests_of(configurations), min(most, held_out))

    def test_what_an_error_takes(self):
        rows = [("exact", -700.0, 1.0, 50, 40, 80, 100.0, 300.0),
                ("perturbative", -702.0, 2.0, 30, 0, 400, 0.0, 2000.0)]  # fmt: skip
        columns, (exact, perturbative) = exact_gain.table(rows, 0.5)
        found = dict(zip(columns, exact, strict=True))
        self.assertEqual((found["SCFs"], found["SCFs for 0.5"]), ("120", "360"))
        self.assertEqual((found["s"], found["s for 0.5"]), ("400", "1300"))
        found = dict(zip(columns, perturbative, strict=True))
        self.assertEqual((found["SCFs for 0.5"], found["s for 0.5"]), ("6400", "32000"))
        self.assertEqual(found["less exact, kJ/mol"], "-2.00 ± 2.24")


if __name__ == "__main__":
    program.main()
