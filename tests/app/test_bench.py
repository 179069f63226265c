"""`starpmc bench`: what it measures and writes, its errors; no timing is judged.

    python3 test_bench.py PROGRAM
"""

import csv
import itertools
import json
import math
import shutil
from time import time

import program

SMALL = ("--waters", 64, "--points", 2000, "--seconds", 0.01)
OPERATIONS = {
    "propose_moves",
    "qmmm_coulomb_grid",
    "qmmm_coulomb_grid_reduce",
    "qmmm_nuclei_vdw",
    "grid_potential",
    "mm_pair",
    "mm_pair_table",
    "mm_pair_reduce",
    "mm_terms",
}
# Of a handful of steps none may be accepted, or certified; memory may have been there before.
MAY_BE_0 = {
    "acceptance",
    "certified_share",
    "overhead_microseconds_per_window",
    "chain_memory_mb",
    "energy_difference_from_built_in",
    "newton_steps",
}
KEYS = ("system", "term", "implementation", "precision", "device")
TEXTS = (*KEYS, "functions")
LISTS = {"kernels", "tasks"}  # in bench.json only


def keys(results):
    return {tuple(result[key] for key in KEYS) for result in results}


class Bench(program.TestCase):
    def bench(self, *options, env=None):
        """Results of a benchmark in a new folder, and what it printed."""
        folder = self.folder / "out"
        run = program.succeed("bench", *options, "--output", folder, env=env)
        document = json.loads((folder / "bench.json").read_text())
        self.check_csv(folder / "bench.csv", document["results"])
        self.assertEqual({path.name for path in folder.iterdir()}, {"bench.csv", "bench.json"})
        return document, run.stdout

    def check_csv(self, path, results):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(results))
        for row, result in zip(rows, results):
            filled = {name: text for name, text in row.items() if text or name in TEXTS}
            self.assertEqual(filled.keys(), result.keys() - LISTS)
            for name, text in filled.items():
                self.assertEqual(text if name in TEXTS else float(text), result[name])

    def check_figures(self, results):
        for result in results:
            for name in result.keys() - set(TEXTS) - LISTS:
                with self.subTest(term=result["term"], figure=name):
                    self.assertTrue(math.isfinite(result[name]))
                    if name in MAY_BE_0 or "_error_" in name:
                        self.assertGreaterEqual(result[name], 0)
                    else:
                        self.assertGreater(result[name], 0)

    def test_everything_but_errors(self):
        document, text = self.bench(
            *("--system", "quick", *SMALL, "--implementation", "scalar,simd,any"),
            *("--chains", "1,2", "--window", 20),
            env={"STARPU_NCPU": 2},
        )
        results = document["results"]
        steps = [r for r in results if r["term"] == "steps"]
        self.check_figures(results)
        precisions = {result["precision"] for result in results}
        self.assertGreaterEqual(precisions, {"fp64", "mixed"})
        expected = {
            (system, term, implementation, precision, "1 core")
            for implementation in ("scalar", "simd")
            for precision in precisions
            for system, term in [("", "arithmetic"), *(("quick", name) for name in OPERATIONS)]
            if term != "grid_potential" or precision == "fp64"
        }
        self.assertEqual(keys(results) - keys(steps), expected)
        places = {("scalar", "1 core"), ("simd", "1 core"), ("any", "all workers")}
        places |= {("scalar", "2 cores"), ("simd", "2 cores")}
        self.assertEqual(
            keys(steps),
            {("quick", "steps", i, p, d) for i, d in places for p in precisions},
        )
        self.assertEqual(sorted(r["chains"] for r in steps), sorted(len(steps) // 2 * [1, 2]))
        for word in ("Gpairs/s", "us/window", "qmmm_coulomb_grid", "64 tip3p waters", "2000 points"):
            self.assertIn(word, text)
        machine = document["machine"]
        self.assertEqual(len(machine["workers"]), 2)
        self.assertEqual(machine.pop("opencl_devices"), [])
        self.assertTrue(all(machine.values()), machine)
        self.check_kernels(steps)

    def test_exact_ensemble(self):
        """Steps with a reference, and the pure water, which has none."""
        document, text = self.bench(
            *("--system", "quick,tip3p", *SMALL, "--implementation", "simd", "--term", "steps"),
            *("--precision", "mixed", "--workers", "one", "--components", "0,20"),
        )
        self.assertEqual(
            [(r["system"], r.get("response_components")) for r in document["results"]],
            [("quick", 0), ("quick", 20), ("TIP3P", None)],
        )
        without, with_response, water = (
            {name: kernel for kernel in r["kernels"] for name in [kernel["operation"]]}
            for r in document["results"]
        )
        self.assertIn("reference_field", without)
        self.assertIn("reference_field", with_response)
        self.assertNotIn("reference_field", water)
        self.assertNotIn("qmmm_coulomb_grid", with_response)
        self.assertIn("components", text)

    def check_kernels(self, steps):
        """Whole steps by operation and worker; their shares are those of the figures."""
        for result in steps:
            with self.subTest(**{key: result[key] for key in KEYS}):
                times = {}
                for entry in result["kernels"]:
                    self.assertIn(entry["worker"].split()[0], "CPU")
                    self.assertGreater(entry["tasks"], 0)
                    name = entry["operation"]
                    times[name] = times.get(name, 0) + entry["microseconds_per_step"]
                self.assertLessEqual({"propose_moves", "qmmm_coulomb_grid", "mm_pair", "metropolis_decide"},
                                     times.keys())
                mm = sum(spent for name, spent in times.items() if name.startswith("mm_"))
                self.assertAlmostEqual(mm / sum(times.values()), result["mm_share_of_kernels"])

    def test_settling_and_writing(self):
        words = ("--system", "quick", *SMALL, "--term", "steps", "--implementation", "simd",
                 "--precision", "mixed")
        document, _ = self.bench(*words, "--workers", "all", "--intervals", 30, env={"STARPU_NCPU": 2})
        self.assertEqual([r["steps_so_far"] for r in document["results"]], [30 * i for i in range(1, 11)])
        for result in document["results"]:
            self.assertEqual(result["device"], "2 cores")
            self.assertGreater(len(result["kernels"]), 4)
        shutil.rmtree(self.folder / "out")
        document, text = self.bench(*words, "--workers", "one", "--write")
        (result,) = document["results"]
        self.assertIn("writing", text)
        self.assertGreater(result["writing_microseconds_per_step"], 0)
        self.assertLess(result["writing_microseconds_per_step"], result["microseconds_per_step"])

    def test_operations_on_all_workers(self):
        document, _ = self.bench(
            *("--system", "quick", *SMALL, "--term", "grid", "--implementation", "simd"),
            *("--precision", "mixed", "--workers", "both"), env={"STARPU_NCPU": 2})
        one, both = (r for r in document["results"] if r["term"] == "qmmm_coulomb_grid")
        self.assertEqual((one["device"], both["device"]), ("1 core", "2 cores"))
        self.assertIn("share_of_ceiling", one)
        self.assertNotIn("share_of_ceiling", both)  # of one worker
        for result in (one, both):
            time_of_task = 1e-6 * result["microseconds_per_task"]
            self.assertAlmostEqual(result["pairs_per_second"] * time_of_task / result["pairs_per_task"], 1)
            self.assertLess(0, result["ended_unix_s"] - result["began_unix_s"])
            self.assertLess(abs(time() - result["ended_unix_s"]), 100)

    def test_a_whole_machine_of_one_worker_has_no_ceiling(self):
        document, _ = self.bench(
            *("--system", "quick", *SMALL, "--term", "grid", "--implementation", "simd,any"),
            *("--precision", "mixed", "--workers", "all"), env={"STARPU_NCPU": 1, "STARPU_NOPENCL": 0})
        core, machine = (r for r in document["results"] if r["term"] == "qmmm_coulomb_grid")
        self.assertEqual((core["device"], machine["device"]), ("1 core", "all workers"))
        self.assertGreater(core["share_of_ceiling"], 0)
        self.assertNotIn("ceiling_pairs_per_second", machine)
        self.assertNotIn("share_of_ceiling", machine)

    def test_poses(self):
        document, text = self.bench(
            *("--term", "poses,roots", "--seconds", 0.01, "--implementation", "scalar,simd"),
            *("--particles", "64,8000", "--evaluations", "2,80", "--timeline"), env={"STARPU_NCPU": 2})
        self.assertIn("taskless", text)
        poses = [r for r in document["results"] if r["term"] == "poses"]
        # 80 evaluations of 8000 particles are more than 1e9 pairs.
        expected = {(i, n, e) for i in ("scalar", "simd") for n, e in ((64, 2), (64, 80), (8000, 2))}
        self.assertEqual({(r["implementation"], r["particles"], r["evaluations_per_task"]) for r in poses},
                         expected)
        self.check_figures(document["results"])
        for result in poses:
            pairs = (result["particles"] / 2) ** 2 * result["evaluations_per_task"]
            self.assertEqual(result["pairs_per_task"], pairs)
            self.check_timeline(result["tasks"])
        roots = [r for r in document["results"] if r["term"] == "roots" and r["device"] != "plain"]
        for result in roots:
            self.assertEqual(result["rms_relative_error"] <= 1e-6, result["newton_steps"] > 0, result)

    def check_timeline(self, tasks):
        self.assertGreaterEqual(len(tasks), 2)
        for worker in {task["worker"] for task in tasks}:
            spans = sorted((t["started_ms"], t["ended_ms"]) for t in tasks if t["worker"] == worker)
            for (_, end), (start, _) in itertools.pairwise(spans):
                self.assertLessEqual(end, start + 1e-4)  # one task after another

    def test_rates_follow_from_times(self):
        document, _ = self.bench(
            *("--system", "quick", *SMALL, "--implementation", "simd", "--precision", "mixed"),
            *("--term", "grid"),
        )
        grid = next(r for r in document["results"] if r["term"] == "qmmm_coulomb_grid")
        seconds = 1e-6 * grid["microseconds_per_task"]
        self.assertAlmostEqual(grid["pairs_per_second"] * seconds / grid["pairs_per_task"], 1)
        # 2000 points, three charged sites, and at least one candidate for each step
        self.assertGreaterEqual(grid["pairs_per_task"], 2000 * 3 * grid["steps_per_task"])
        self.assertLess(grid["pairs_per_task"], 2 * 2000 * 3 * grid["steps_per_task"])
        self.assertLessEqual(grid["share_within_reach"], 1)

    def test_opencl(self):
        if missing := program.opencl_missing():
            self.skipTest(missing)
        document, _ = self.bench(
            *("--system", "quick", *SMALL, "--implementation", "opencl", "--term", "grid,errors"),
            *("--proposals", 100),
        )
        results = document["results"]
        self.check_figures(results)
        self.assertEqual({r["implementation"] for r in results}, {"opencl"})
        self.assertEqual(
            {r["term"] for r in results}, {"arithmetic", "qmmm_coulomb_grid", "errors"}
        )

    def test_expressions_beside_built_in(self):
        """Both kinds of functions compute the same, and the ratio is that of their times."""
        words = ["--implementation", "scalar,simd", "--term", "grid,mm,other,steps"]
        if not program.opencl_missing():
            words[1] += ",opencl"
        document, text = self.bench(
            *("--system", "quick", *SMALL, *words, "--window", 20, "--precision", "fp64,mixed"),
            *("--functions", "expressions,built-in"),
            env={"STARPU_NCPU": 2},
        )
        results = [r for r in document["results"] if r["term"] != "arithmetic"]
        self.check_figures(results)
        self.assertIn("functions", text)
        self.assertIn("/ built-in", text)
        by_functions = {
            name: {tuple(r[key] for key in KEYS): r for r in results if r["functions"] == name}
            for name in ("built-in", "expressions")
        }
        self.assertEqual(sum(map(len, by_functions.values())), len(results))
        self.assertEqual(by_functions["built-in"].keys(), by_functions["expressions"].keys())
        self.assertEqual(
            {r["implementation"] for r in results}, set(words[1].split(","))
        )
        for key, found in by_functions["expressions"].items():
            with self.subTest(case=key):
                self.check_rival(found, by_functions["built-in"][key])

    def check_rival(self, found, built_in):
        for ratio, name in (
            ("time_over_built_in", "microseconds_per_step"),
            ("kernel_time_over_built_in", "kernel_microseconds_per_task"),
        ):
            if name in found:
                self.assertAlmostEqual(found[ratio] * built_in[name] / found[name], 1)
            self.assertNotIn(ratio, built_in)
        if found["term"] == "steps":
            self.assertGreaterEqual(found["decisions_compared"], 4)
        elif found["term"] != "mm_terms":
            # In mixed precision the built-in functions are in single precision, the user's are not:
            # the same energies to the last digit would be of the same functions.
            mixed = found["precision"] == "mixed"
            difference = found["energy_difference_from_built_in"]
            self.assertLess(difference, 1e-3 if mixed else 1e-10)
            self.assertGreater(difference, 1e-9 if mixed else 0)

    def test_expressions_alone(self):
        document, _ = self.bench(
            *("--system", "spce", "--term", "mm", "--implementation", "simd"),
            *("--seconds", 0.01, "--precision", "fixed", "--functions", "expressions"),
        )
        results = [r for r in document["results"] if r["term"] != "arithmetic"]
        self.check_figures(results)
        self.assertEqual({r["functions"] for r in results}, {"expressions"})
        self.assertFalse([name for r in results for name in r if "built_in" in name])

    def test_errors_of_precisions(self):
        document, _ = self.bench(
            *("--system", "quick,spce", "--waters", 300, "--points", 2000),
            *("--implementation", "scalar,simd", "--term", "errors", "--proposals", 200),
        )
        results = document["results"]
        self.assertEqual({r["term"] for r in results}, {"errors"})
        for result in results:
            with self.subTest(**{key: result[key] for key in KEYS}):
                self.assertEqual(result["proposals"], 200)
                total = result["total_max_error_kj_per_mol"]
                self.assertLessEqual(result["total_mean_error_kj_per_mol"], total)
                if result["precision"] == "fp64":
                    self.assertLess(total, 1e-8)
                else:
                    self.assertGreater(total, 1e-7)
                    self.assertLess(total, 0.01)
                has_grid = result["system"] == "quick" and result["precision"] != "fp64"
                self.assertEqual(result["grid_max_error_kj_per_mol"] > 1e-9, has_grid)

    def refused(self, *words, **options):
        run = program.start("bench", *words, cwd=self.folder, **options)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(run.stderr.count("remedy:"), 1, run.stderr)
        return run.stderr

    def test_bad_options(self):
        for words, parts in (
            (("--systm", "A"), ("--systm", "--system")),
            (("--system", "D"), ("--system", "D", "quick")),
            (("--system", "A,,B"), ("--system", "choose from")),
            (("--term", "grids"), ("--term", "grids", "grid")),
            (("--implementation", "cuda"), ("--implementation", "cuda", "opencl")),
            (("--precision", "fp16"), ("--precision", "fp16", "mixed")),
            (("--functions", "formulas"), ("--functions", "formulas", "expressions")),
            (("--functions", "built-in,"), ("--functions", "choose from")),
            (("--seconds", 0), ("--seconds", "0")),
            (("--seconds", "nan"), ("--seconds", "nan")),
            (("--seconds", "soon"), ("--seconds", "soon")),
            (("--points", 10), ("--points", "10", "1000")),
            (("--waters", -5), ("--waters", "-5")),
            (("--window", 1001), ("--window", "1001")),
            (("--chains", 0), ("--chains", "0")),
            (("--proposals", 1), ("--proposals", "1")),
            (("--workers", "few"), ("--workers", "few", "both")),
            (("--intervals", -1), ("--intervals", "-1")),
            (("--particles", "2,x"), ("--particles", "x")),
            (("--particles", 1), ("--particles", "at least 2", "1")),
            (("--particles", "200000,300000", "--evaluations", "2,3"), ("--particles", "1e+09 pairs")),
            (("--evaluations", 0), ("--evaluations", "0")),
            (("--seed", -1), ("--seed", "-1")),
            (("--experiment", "cell"), ("tests/evaluation", "cell.py")),
            (("--make=A",), ("tests/evaluation", "inputs.py")),
            (("--against", "paper"), ("tests/evaluation", "against_paper.py")),
            (("--grid", "missing.bin"), ("missing.bin",)),
            (("--grid", "missing.bin", "--points", 5000), ("--points", "5000", "--grid")),
            (("--system", "spce", "--waters", 20), ("--waters", "20", "10 A")),
            (("--system", "quick", "--grid", program.DATA / "small/small.grid"), ("small.grid",)),
            (("everything",), ("--help",)),
        ):
            with self.subTest(words=words):
                message = self.refused(*words)
                for part in parts:
                    self.assertIn(part, message)
                self.assertEqual(list(self.folder.iterdir()), [], "left a folder behind")

    def test_an_earlier_benchmark_is_kept(self):
        folder = self.folder / "out"
        folder.mkdir()
        (folder / "bench.csv").write_text("mine")
        self.assertIn("bench.csv", self.refused("--system", "quick", "--output", folder))
        self.assertEqual((folder / "bench.csv").read_text(), "mine")
        self.assertEqual(len(list(folder.iterdir())), 1)

    def test_help_tells_units_and_defaults(self):
        text = program.succeed("bench", "--help").stdout
        for word in ("--seconds", "(=1)", "bench-DATE-TIME", "cutoff 10 A", "Examples"):
            self.assertIn(word, text)


if __name__ == "__main__":
    program.main()
