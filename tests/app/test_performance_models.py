"""What StarPU expects of a task's duration decides where it runs: also for sizes of tasks that the
models do not hold, where they hold any. No implementation is tried then. No result depends on it.

    python3 test_performance_models.py PROGRAM

And that no state of the folder of models stops a run: full, read-only, damaged, missing.
"""

import re
import shutil
import subprocess

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

    def test_sizes_beyond_the_known_ones_are_not_calibrated(self):
        slow, fast = 1e9, 1.0
        self.write_models([SMALLEST], cpu=fast, opencl=slow)
        self.assertEqual(self.implementations(self.run_small("cpu-is-fast", "0")), {"simd"})
        self.write_models([SMALLEST], cpu=slow, opencl=fast)
        self.assertEqual(self.implementations(self.run_small("opencl-is-fast", "0")), {"opencl"})

    def test_no_result_depends_on_models(self):
        """From none at all, from those of the first run, and from some that mislead."""
        hashes = ("decisions_sha256", "final_coordinates_sha256")
        options = ("--run.implementation", "any", "--run.tasks", "auto", "--sampling.steps", 3000)
        shutil.rmtree(self.home)
        self.home.mkdir()
        first = self.run_small("none", "0", *options)
        self.assertTrue(list(self.home.glob("**/codelets/*/starpmc_*_mixed.*")))
        again = self.run_small("own", "0", *options)
        self.write_models([SMALLEST, LARGEST], cpu=1e9, opencl=1.0)
        misled = self.run_small("misled", "0", *options)
        for other in (again, misled):
            self.assertEqual([other[name] for name in hashes], [first[name] for name in hashes])
        self.assertNotEqual(self.implementations(misled), {"simd"})

    def test_starpu_calibrate_measures_each_size(self):
        self.write_models([SMALLEST, LARGEST], cpu=1.0, opencl=1e9)
        for calibrate in ("1", "2"):
            summary = self.run_small(calibrate, calibrate)
            self.assertIn("opencl", self.implementations(summary))


CPU = {"STARPU_NCPU": 1, "STARPU_NOPENCL": 0, "STARPU_HOSTNAME": "tested", "STARPU_CALIBRATE": 0}
NO_HOME = {"HOME": "", "XDG_CACHE_HOME": "", "STARPU_HOME": ""}


class Folder(program.TestCase):
    """Two short runs: the second may find what the first has left."""

    def setUp(self):
        super().setUp()
        self.argon = self.config(**program.plain_system("argon/argon"), sampling={"steps": 300})
        self.cache = self.folder / "cache"
        self.runs = 0

    def run_argon(self, **env):
        """The finished process and run.log."""
        self.runs += 1
        out = self.folder / f"out-{self.runs}"
        env = CPU | {"STARPU_HOME": "", "XDG_CACHE_HOME": self.cache} | env
        words = ("run", self.argon, "--output.folder", out, "--run.implementation", "simd")
        result = program.succeed(*words, env=env, timeout=120)
        return result, (out / "run.log").read_text()

    def models(self):
        (folder,) = self.cache.glob("starpmc/perfmodels-starpu-*")
        return folder

    def files(self):
        """A model and the files of the bus calibration."""
        models = sorted(self.models().glob("codelets/*/starpmc_*.tested"))
        self.assertTrue(models)
        return [models[0], *sorted(self.models().glob("bus/tested.*"))]


DAMAGES = {
    "empty": lambda text: b"",
    "truncated": lambda text: text[: len(text) // 2],
    "no last line end": lambda text: text.rstrip(b"\n"),
    "garbled": lambda text: bytes(b ^ 0x55 for b in text),
    "a word instead of numbers": lambda text: re.sub(rb"(?m)^\d", b"x", text),
    "negative": lambda text: re.sub(rb"(?m)^([0-9a-f]{8}\t)", rb"\1-", text),
    "endless": lambda text: text * 3,
}
# As StarPU takes them: nothing in these is asked for, or nothing has changed.
HARMLESS = {
    ("config", "truncated"), ("config", "endless"), ("affinity", "endless"),
}  # fmt: skip


class Damaged(Folder):
    def test_each_kind_of_each_file(self):
        self.run_argon()
        whole = {file: file.read_bytes() for file in self.files()}
        self.assertEqual(len(whole), 7)
        for damage, change in DAMAGES.items():
            damaged = {}
            for file, text in whole.items():
                if "platform" not in file.name:
                    damaged[file] = change(text)
                    file.write_bytes(damaged[file])
            with self.subTest(damage):
                result, _ = self.run_argon()
                for file, text in damaged.items():
                    kind = file.suffix[1:]
                    if text == whole[file] or (kind, damage) in HARMLESS:
                        continue
                    self.assertIn(f"{file}: damaged", result.stderr)
                    aside = self.models() / "damaged" / file.name
                    self.assertEqual(aside.read_bytes(), text)
                again, _ = self.run_argon()
                self.assertNotIn("damaged", again.stderr)
            for file, text in whole.items():
                file.write_bytes(text)

    def test_other_things_of_that_name(self):
        self.run_argon()
        for file in self.files():
            file.unlink()
            file.mkdir()
        result, _ = self.run_argon()
        self.assertIn("no regular file", result.stderr)
        self.assertNotIn("damaged", self.run_argon()[0].stderr)

    def test_each_length_of_a_model(self):
        """Of a file that a full disk has cut short."""
        self.run_argon()
        file = self.files()[0]
        whole = file.read_bytes()
        for part in range(1, 8):
            file.write_bytes(whole[: len(whole) * part // 8])
            with self.subTest(part):
                self.assertIn("damaged", self.run_argon()[0].stderr)


class NotWritable(Folder):
    def test_read_only(self):
        self.run_argon()
        bind = ["mount", "--bind", str(self.cache), str(self.cache)]
        if subprocess.run(bind, check=False, capture_output=True).returncode != 0:
            self.skipTest("no right to mount a file system")
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(self.cache)], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(self.cache)], check=True)
        before = {file: file.read_bytes() for file in self.files()}
        result, log = self.run_argon()
        # Warnings of the few steps are the run's own.
        said = [line for line in result.stderr.splitlines() if "molecules" not in line]
        self.assertEqual(said, [])
        self.assertIn("no folder for performance models", log)
        self.assertIn("private folder", log)
        self.assertEqual({file: file.read_bytes() for file in self.files()}, before)

    def test_a_file_in_its_place(self):
        self.cache.write_text("mine")
        _, log = self.run_argon()
        self.assertIn("no folder for performance models", log)
        self.assertEqual(self.cache.read_text(), "mine")

    def test_full_disk(self):
        """Whatever the size at which it is full."""
        self.cache.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "starpmc-test", str(self.cache)]
        if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
            self.skipTest("no right to mount a file system")
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(self.cache)], check=True)
        for kilobytes in (4, 8, 12, 16, 24, 32, 48, 64, 96, 128):
            with self.subTest(kilobytes):
                subprocess.run(
                    ["mount", "-o", f"remount,size={kilobytes}k", str(self.cache)], check=True
                )
                for _ in range(2):
                    self.run_argon()
                for file in self.cache.glob("**/*.temporary"):
                    self.fail(f"{file} is left")

    def test_no_home(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        _, log = self.run_argon(**NO_HOME, TMPDIR=temporary)
        self.assertIn("neither XDG_CACHE_HOME nor HOME is set", log)
        self.assertEqual(list(temporary.iterdir()), [])


if __name__ == "__main__":
    program.main()
