"""`starpmc bench --experiment paper`, `--make` and configs/bench-R.cfg: files, units, the paper's
numbers beside ours, checksums of made inputs; no timing is judged.

    python3 test_paper_experiment.py PROGRAM
"""

import csv
import hashlib
import importlib.util
import json
import pathlib
import re
import statistics
import sys

import program

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


class PaperCase(program.TestCase):
    def environment(self, **more):
        return CPU_ONLY | {
            "STARPMC_PYTHON": sys.executable,  # of the plots, too
            "STARPMC_WORKERS": WORKERS,
            "XDG_CACHE_HOME": self.folder / "cache",
        } | more

    def check_refused(self, experiment, *cases):
        """Each of (options, part of the message) ends before anything is written."""
        for words, part in cases:
            run = program.start("bench", "--experiment", experiment, *words,
                                "--output", self.folder / "out")
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(part, run.stderr)
            self.assertFalse((self.folder / "out").exists())

    def check_needs_experiment(self, *words):
        run = program.start("bench", *words)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--experiment", run.stderr)


class Experiment(PaperCase):
    def table(self, key):
        with open(self.folder / "out" / f"paper-{key}.csv", newline="") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("# ")))

    def own(self, key):
        return [row for row in self.table(key) if row["source"] == "starpmc"]

    def test_everything(self):
        run = program.succeed("bench", "--experiment", "paper", *SMALL, "--chains", 2,
                              "--output", self.folder / "out", env=self.environment())
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
            # Those of the paper's rows are the published ones (all of them: bench/paper_test.cpp).
            shown = {float(text) for row in rows if row["source"] == "paper"
                     for text in row.values() if text.replace(".", "").replace("e-", "").isdigit()}
            self.assertTrue(shown & set(numbers), numbers)

    def check_cycles(self):
        rows = self.own("table-3")
        self.assertEqual({row["benchmark"] for row in rows}, {"bench-A", "bench-B", "bench-C"})
        for row in rows:
            self.assertGreater(float(row["total_s"]), float(row["output_s"]))
            self.assertLessEqual(float(row["steps_measured"]), 10000)
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
        run = program.succeed("bench", "--experiment", "paper", *SMALL, "--tables", "3,4,5",
                              "--cases", "B", "--output", self.folder / "out", env=self.environment())
        files = {path.name for path in (self.folder / "out").glob("*.csv")}
        self.assertEqual(files, {f"paper-table-{n}.csv" for n in (3, 4, 5)})
        self.assertEqual({row["benchmark"] for row in self.own("table-3")}, {"bench-B"})
        self.assertEqual(self.own("table-4"), [])
        self.assertIn("cases B, 0.02 s a measurement", run.stdout)
        self.assertIn("without bench-A: --cases names it", run.stdout)
        text = (self.folder / "out" / "paper-table-4.csv").read_text()
        self.assertIn("not measured: bench-A is not among --cases", text)

    def test_a_whole_run_that_fails_is_told(self):
        program.succeed("bench", "--experiment", "paper", *SMALL, "--tables", "5", "--chains", 1,
                        "--output", self.folder / "out",
                        env=self.environment(STARPMC_WORKERS=self.folder / "nowhere"))
        text = (self.folder / "out" / "paper-table-5.csv").read_text()
        self.assertIn("whole run not measured", text)
        self.assertTrue(all(row["whole_s"] == "" for row in self.own("table-5")))

    def test_beside_an_opencl_device_the_cores_are_one(self):
        if missing := program.opencl_missing():
            self.skipTest(missing)
        program.succeed("bench", "--experiment", "paper", *SMALL, "--tables", "f9,f10", "--cases", "A",
                        "--implementation", "simd,opencl", "--output", self.folder / "out",
                        env=self.environment(STARPU_NCPU=3, STARPU_NOPENCL=1,
                                             POCL_CACHE_DIR=COMPILED))
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
                           (("--implementation", "any"), "any"))
        self.check_needs_experiment("--tables", "3")


class ChainScaling(PaperCase):
    """`starpmc bench --experiment chains`, with a QM program that answers at once."""

    def test_rounds_and_medians(self):
        run = program.succeed("bench", "--experiment", "chains", "--chains", "2,1,2", "--updates", 3,
                              "--output", self.folder / "out", env=self.environment())
        with open(self.folder / "out" / "chains.csv", newline="") as file:
            rows = list(csv.DictReader(file))
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
        run = program.start("bench", "--experiment", "chains", "--chains", 1, "--output",
                            self.folder / "out",
                            env=self.environment(STARPMC_WORKERS=self.folder / "nowhere"))
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("pyscf_worker.py", run.stderr)
        self.assertFalse((self.folder / "out" / "chains.csv").exists())

    def test_bad_options(self):
        self.check_refused("chains",
                           (("--chains", "0"), "--chains"), (("--chains", "1,x"), "'x'"),
                           (("--updates", "0"), "--updates"), (("--seconds", "2"), "--seconds"))
        self.check_needs_experiment("--updates", "3")


class Inputs(PaperCase):
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

    def test_make_tells_another_density(self):
        run = program.start("bench", "--make", "R", env=self.environment())
        self.assertEqual(run.returncode, 1, run.stderr)
        lines = run.stdout.splitlines()
        same = [line.split()[0] for line in lines if line.endswith("as it should be")]
        self.assertLessEqual({"coordinates_sha256", "topology_sha256"}, set(same))
        if "points" in INPUTS["bench-R"]:
            self.assertIn("DIFFERS", run.stdout)  # six points of a worker that is no QM program
        self.assertEqual(self.files(),
                         ["bench-R.density", "bench-R.gro", "bench-R.json", "bench-R.top"])


if __name__ == "__main__":
    program.main()
