"""What StarPU expects of a task's duration decides where it runs: also for sizes of tasks that the
models do not hold, where they hold smaller and larger ones. No implementation is tried then.

    python3 test_performance_models.py PROGRAM
"""

import re

import program

SMALLEST, LARGEST = 1, 200  # buckets of work around those of any task
ENTRY = re.compile(r"^[0-9a-f]{8}\s.*\n", re.MULTILINE)


def entries(buckets, microseconds):
    rows = []
    for bucket in buckets:
        total, squares = 20 * microseconds, 20 * microseconds**2
        rows.append(f"{bucket:08x}\t1\t0\t{microseconds:e}\t0\t{total:e}\t{squares:e}\t20\n")
    return "".join(rows)


def rewritten(model, buckets, cpu, opencl):
    """A model file with other durations (microseconds), the same for all sizes."""
    parts = re.split(r"(?=^# Model for )", model, flags=re.MULTILINE)
    for i, part in enumerate(parts[1:], start=1):
        duration = opencl if part.startswith("# Model for opencl") else cpu
        part = re.sub(r"(# number of entries\n)\d+", rf"\g<1>{len(buckets)}", part)
        header, rest = ENTRY.split(part)[0], ENTRY.split(part)[-1]
        parts[i] = header + entries(buckets, duration) + rest
    return "".join(parts)


class PerformanceModels(program.TestCase):
    """Formaldehyde in 64 waters, engine frozen, on CPU cores and PoCL's CPU device."""

    def setUp(self):
        super().setUp()
        if missing := program.opencl_missing():
            self.skipTest(missing)
        self.small = self.config(
            **program.small_system(),
            sampling={"steps": 500, "window": 16},
            run={"tasks": "terms"},
        )
        self.home = self.folder / "home"
        self.home.mkdir()
        for implementation in ("simd", "opencl"):
            first = self.run_small(implementation, "0", "--run.implementation", implementation)
        codelets = {timing["codelet"] for timing in first["codelet_timings"]}
        files = list(self.home.glob("**/codelets/*/starpmc_qmmm_coulomb_grid_mixed.*"))
        self.assertEqual(len(files), 1)
        self.example = files[0].read_text()
        for name in ("opencl0_impl0", "cpu0_impl0"):
            self.assertIn(name, self.example)
        self.files = [files[0].with_name(codelet + files[0].suffix) for codelet in codelets]

    def run_small(self, folder, calibrate, *options):
        return program.simulate(
            self.small,
            self.folder / f"output-{folder}",
            *options,
            env={
                "STARPU_HOME": self.home,
                "STARPU_OPENCL_ON_CPUS": 1,
                "STARPU_SCHED": "dmda",
                "STARPU_CALIBRATE": calibrate,
            },
        )

    def implementations(self, summary):
        timings = summary["codelet_timings"]
        return {t["implementation"] for t in timings if "qm_update" not in t["codelet"]}

    def write_models(self, buckets, cpu, opencl):
        for file in self.files:
            file.write_text(rewritten(self.example, buckets, cpu, opencl))

    def test_sizes_between_known_ones_are_not_calibrated(self):
        slow, fast = 1e9, 1.0
        self.write_models([SMALLEST, LARGEST], cpu=fast, opencl=slow)
        self.assertEqual(self.implementations(self.run_small("cpu-is-fast", "0")), {"simd"})
        self.write_models([SMALLEST, LARGEST], cpu=slow, opencl=fast)
        self.assertEqual(self.implementations(self.run_small("opencl-is-fast", "0")), {"opencl"})

    def test_other_sizes_are_calibrated(self):
        self.write_models([SMALLEST], cpu=1.0, opencl=1e9)
        self.assertIn("opencl", self.implementations(self.run_small("unknown", "0")))

    def test_starpu_calibrate_measures_each_size(self):
        self.write_models([SMALLEST, LARGEST], cpu=1.0, opencl=1e9)
        for calibrate in ("1", "2"):
            summary = self.run_small(calibrate, calibrate)
            self.assertIn("opencl", self.implementations(summary))


if __name__ == "__main__":
    program.main()
