"""What may break while a run goes on: the QM worker, the SCF, the disk, the energy.
(OpenCL devices: test_faulty_devices.py.)

    python3 test_faults.py PROGRAM

Each fault either leaves the results as they are without it, to the last bit, or ends the run with
status 1, a reason, and a last checkpoint from which `starpmc resume` reaches those results.
"""

import contextlib
import functools
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

try:
    import h5py
except ImportError:
    h5py = None

import program
import test_resume

STEPS = 1600
EQUILIBRATION = 400
INTERVAL = 500  # between QM updates, of which there are 4
FAULTY_UPDATE = 2
WORKERS = pathlib.Path(__file__).resolve().parent / "workers"
IGNORING_CHILDREN = """#!{0}
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv("{1}", ["{1}", *sys.argv[1:]])
"""
NEVER = 10**6  # as an interval of steps or seconds
# One implementation: the last bits of the running energies in fp32 are an implementation's own.
SIMD = ("--run.implementation", "simd")
CPU_ONLY = {"STARPU_NCPU": 2, "STARPU_NOPENCL": 0}


def write_run(path, qm, steps=STEPS, chains=1, interval=INTERVAL, **output):
    """The small system; nothing is written between the updates unless `output` says so."""
    small = program.small_system()
    small["qm"] = {"interval": interval, **qm}
    intervals = {"energy_interval": 100, "trajectory_interval": 250, "checkpoint_interval": NEVER}
    return program.write_config(
        path,
        **small,
        sampling={
            "ensemble": "perturbative",
            "steps": steps,
            "equilibration_steps": EQUILIBRATION,
            "tune_interval": 100,
            "chains": chains,
        },
        output=intervals | output,
    )


STAND_IN = {"engine": "pyscf", "python": sys.executable}


def results(folder):
    summary = program.json.loads((folder / "summary.json").read_text())
    return test_resume.results(folder, summary)


@functools.cache
def undisturbed(chains=1, **output):
    """Results of the run with the stand-in for PySCF when nothing happens."""
    with tempfile.TemporaryDirectory(prefix="starpmc-test-") as name:
        folder = pathlib.Path(name)
        config = write_run(folder / "a.cfg", STAND_IN, chains=chains, **output)
        program.simulate(
            config, folder / "out", *SIMD, env=CPU_ONLY | {"STARPMC_WORKERS": WORKERS}
        )
        return results(folder / "out")


@unittest.skipIf(h5py is None, "no h5py")
class Faults(program.TestCase):
    chains = 1
    update = FAULTY_UPDATE  # the one that fails

    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.env = CPU_ONLY | {"STARPMC_WORKERS": WORKERS}

    def run_faulty(self, fault="", count=1, *options, qm=None, **settings):
        """The run, one update of which fails that often."""
        if fault:
            mark = self.out.parent / "faults"
            self.env["STARPMC_TEST_FAULT"] = f"{fault} {self.update} {count} {mark}"
        config = write_run(
            self.folder / "test.cfg", STAND_IN | (qm or {}), chains=self.chains, **settings
        )
        return program.start(
            "run", config, "--output.folder", self.out, *SIMD, *options, env=self.env, timeout=60
        )

    def resume(self, *options):
        return program.start("resume", self.out, *options, env=self.env)

    def summary(self):
        return program.json.loads((self.out / "summary.json").read_text())

    def expect_undisturbed(self, result, **output):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(results(self.out), undisturbed(self.chains, **output))

    def expect_stop(self, result, *parts):
        """Status 1 with a reason, and no word of results."""
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for part in (*parts, f"starpmc resume {self.out}"):
            self.assertIn(part, result.stderr)
        self.assertFalse((self.out / "summary.json").exists())
        log = self.out / "run.log"
        self.assertIn(parts[0], log.read_text() + result.stderr)


class LostWorker(Faults):
    def replaced(self, fault, *parts, **settings):
        result = self.run_faulty(fault, 1, **settings)
        self.expect_undisturbed(result)
        self.assertEqual(self.summary()["qm_restarts"], 1)
        self.assertEqual(len(self.summary()["qm_updates"]), 4)
        for part in ("QM worker lost", "restart 1 of at most", *parts):
            self.assertIn(part, result.stderr)

    def test_killed(self):
        self.replaced("killed", "signal 9")

    def test_killed_under_a_parent_that_ignores_children(self):
        ignoring = self.folder / "ignoring"
        ignoring.write_text(IGNORING_CHILDREN.format(sys.executable, program.PROGRAM))
        ignoring.chmod(0o755)
        with unittest.mock.patch.object(program, "PROGRAM", ignoring):
            self.replaced("killed", "signal 9")

    def test_hung(self):
        self.replaced("hangs", "qm.time-limit", qm={"time_limit": 3})

    def test_exits(self):
        self.replaced("dies-mid-update", "exit status 3", "eaten the integrals")

    def test_speaks_garbage(self):
        self.replaced("garbage")

    def test_dies_every_time(self):
        result = self.run_faulty("dies-mid-update", 4)
        log = self.out / "qm-worker.log"
        self.expect_stop(
            result, "tried 4 times", "exit status 3", str(log),
            f"after step {FAULTY_UPDATE * INTERVAL}", "last checkpoint",
        )  # fmt: skip
        self.assertIn("eaten the integrals", log.read_text())
        self.expect_undisturbed(self.resume())  # the fifth time it lives


class LostPyscf(Faults):
    def setUp(self):
        super().setUp()
        probe = subprocess.run(
            [sys.executable, "-c", "import pyscf"], check=False, capture_output=True
        )
        if probe.returncode != 0:
            self.skipTest(f"{sys.executable} has no PySCF")
        qm = {"python": sys.executable, "basis": "6-31g", "grid_radial": 20, "grid_angular": 110}
        qm |= {"scf_grid_radial": 20, "scf_grid_angular": 110, "electron_tolerance": 0.1}
        self.config = write_run(self.folder / "test.cfg", qm, interval=1000)
        self.env = program.environment(**CPU_ONLY)

    def begin(self, folder, *options):
        return subprocess.Popen(
            [program.PROGRAM, "run", self.config, "--output.folder", folder, *SIMD, *options],
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process, status=0):
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, status, output + errors)
        return errors

    def worker_of(self, process):
        for children in pathlib.Path(f"/proc/{process.pid}/task").glob("*/children"):
            for child in children.read_text().split():
                if b"pyscf_worker" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
        self.fail("no QM worker")

    def wait_for(self, path):
        deadline = time.monotonic() + 60
        while not path.exists():
            self.assertLess(time.monotonic(), deadline, f"{path} is not made")
            time.sleep(0.001)

    def test_killed_from_outside(self):
        whole = self.folder / "whole"
        self.finish(self.begin(whole))
        process = self.begin(self.out)
        # The first checkpoint is on the disk when the second update has begun, or soon will.
        self.wait_for(self.out / "checkpoint.cbor")
        os.kill(self.worker_of(process), signal.SIGKILL)
        self.assertIn("signal 9", self.finish(process))
        self.assertEqual(self.summary()["qm_restarts"], 1)
        self.assertEqual(results(self.out), results(whole))

    def test_no_convergence(self):
        errors = self.finish(self.begin(self.out, "--qm.max-iterations", "1"), status=1)
        for part in (
            "after step 0", "did not converge", "level shift", "damping", "fresh guess",
            "qm.max-iterations", "now 1;", "its beginning", f"starpmc resume {self.out}",
        ):  # fmt: skip
            self.assertIn(part, errors)
        raise_max_iterations(self.out, 1, 100)
        program.succeed("resume", self.out, env=CPU_ONLY)
        whole = self.folder / "whole"
        self.finish(self.begin(whole))
        self.assertEqual(results(self.out), results(whole))


def raise_max_iterations(folder, before, after):
    settings = folder / "settings.cfg"
    text = settings.read_text()
    assert f"max-iterations = {before}\n" in text, text
    settings.write_text(
        text.replace(f"max-iterations = {before}\n", f"max-iterations = {after}\n")
    )


class NoConvergence(Faults):
    def stop(self):
        result = self.run_faulty("not-converged", 100, qm={"max_iterations": 20})
        self.expect_stop(
            result, "did not converge: no solution in 20 iterations", "qm.max-iterations (now 20;",
            "qm.energy-convergence", "qm.method", "qm.charge",
            f"after step {FAULTY_UPDATE * INTERVAL}",
        )  # fmt: skip
        self.assertNotIn("repeated", result.stderr)  # it would end in the same way

    def test_stops_and_goes_on_with_more_iterations(self):
        self.stop()
        again = self.resume()
        self.expect_stop(again, "did not converge", f"after step {FAULTY_UPDATE * INTERVAL}")
        raise_max_iterations(self.out, 20, 100)
        self.expect_undisturbed(self.resume())


class NoConvergenceOfOne(NoConvergence):
    chains = 2

    def test_stops_and_goes_on_with_more_iterations(self):
        self.stop()
        raise_max_iterations(self.out, 20, 100)
        self.expect_undisturbed(self.resume())

    def test_the_other_chain_stops(self):
        # Alone the other one would go on for hours: longer than anything here waits.
        result = self.run_faulty(
            "not-converged", 1, qm={"max_iterations": 20}, steps=10**9, interval=200_000
        )
        self.expect_stop(result, "did not converge")
        for chain in ("chain-0", "chain-1"):
            self.assertTrue((self.out / chain / "checkpoint.cbor").exists())


def mount(test, *options):
    """A file system in memory at test.folder/disk, if this user may have one."""
    disk = test.folder / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", ",".join(options), "starpmc-test", str(disk)]
    try:
        mounted = subprocess.run(words, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        test.skipTest("no mount command")
    if mounted.returncode != 0:
        test.skipTest(f"no right to mount a file system: {mounted.stderr.strip()}")
    test.addCleanup(subprocess.run, ["umount", "--lazy", str(disk)], check=True)
    return disk


MUCH_WRITTEN = {
    "energies.csv": {"energy_interval": 1, "trajectory_interval": NEVER},
    "trajectory.h5md": {"energy_interval": NEVER, "trajectory_interval": 5},
}
RARELY = {"energy_interval": NEVER, "trajectory_interval": NEVER}


class FullDisk(Faults):
    kilobytes = 280

    def setUp(self):
        super().setUp()
        disk = mount(self, f"size={self.kilobytes}k")
        self.out = disk / "out"

    def stop_and_go_on(self, name, *faulty, **output):
        # The chain that starts last must not find the disk full of the other's file.
        meeting = self.folder / "meeting"
        meeting.mkdir()
        self.env["STARPMC_TEST_MEETING"] = f"{meeting} {self.chains}"
        result = self.run_faulty(*faulty, **output)
        del self.env["STARPMC_TEST_MEETING"]
        if self.chains == 1:
            self.expect_stop(result, name, "No space left on device", "last checkpoint")
        else:  # how far the other one had come by then, and so which file is refused, is chance
            self.expect_stop(result, "No space left on device")
            self.assertRegex(result.stderr, "|".join((*MUCH_WRITTEN, "checkpoint.cbor")))
        (self.out.parent / "filler").unlink(missing_ok=True)
        subprocess.run(
            ["mount", "-o", "remount,size=64m", str(self.out.parent)], check=True, timeout=10
        )
        self.expect_undisturbed(self.resume(), **output)

    def test_energies(self):
        self.stop_and_go_on("energies.csv", **MUCH_WRITTEN["energies.csv"])

    def test_trajectory(self):
        self.stop_and_go_on("trajectory.h5md", **MUCH_WRITTEN["trajectory.h5md"])

    def test_checkpoint(self):
        self.stop_and_go_on("checkpoint.cbor", "full-disk", 1, **RARELY)


class FullDiskOfTwo(FullDisk):
    """The other chain stops, too, and both go on."""

    chains = 2
    kilobytes = 400  # full before the second update: a table's lines come before a checkpoint


class FileSizeLimit(Faults):
    """`ulimit -f`, which needs no rights: the signal must not end the program."""

    def stop_and_go_on(self, name, limit):
        output = MUCH_WRITTEN[name]
        with self.limited(limit):
            result = self.run_faulty(**output)
        self.expect_stop(result, name, "File too large", "last checkpoint")
        self.expect_undisturbed(self.resume(), **output)

    @contextlib.contextmanager
    def limited(self, size):
        """Processes started from here."""
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    def test_energies(self):
        self.stop_and_go_on("energies.csv", 160_000)

    def test_trajectory(self):
        self.stop_and_go_on("trajectory.h5md", 200_000)


class UnwritableFolder(Faults):
    def expect_refusal(self, *parts):
        result = self.run_faulty()
        self.assertIn(result.returncode, (1, 2), result.stderr)
        for part in (str(self.out), *parts):
            self.assertIn(part, result.stderr)
        self.assertFalse(os.path.lexists(self.out))

    def test_read_only(self):
        disk = mount(self, "ro")
        self.out = disk / "out"
        self.expect_refusal("cannot create the output folder", "Read-only file system", "--output.folder")
        self.assertEqual(list(disk.iterdir()), [])

    def test_existing_and_read_only(self):
        disk = mount(self, "size=1m")
        self.out = disk / "out"
        self.out.mkdir()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, timeout=10)
        result = self.run_faulty()
        self.assertEqual(result.returncode, 1, result.stderr)
        for part in (str(self.out), "cannot write to the output folder", "Read-only file system"):
            self.assertIn(part, result.stderr)
        self.assertEqual(list(self.out.iterdir()), [])

    def test_below_a_file(self):
        (self.folder / "file").write_text("the user's own")
        self.out = self.folder / "file" / "out"
        self.expect_refusal("cannot create the output folder", "Not a directory")
        self.assertEqual((self.folder / "file").read_text(), "the user's own")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_no_permission(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        self.out = closed / "out"
        self.expect_refusal("cannot create the output folder", "Permission denied", "--output.folder")


class Nonsense(Faults):
    """Charges of 1e308 e that add up to what is announced."""

    def test_once(self):
        result = self.run_faulty("huge-charges")
        self.expect_undisturbed(result)
        self.assertEqual(self.summary()["qm_restarts"], 1)
        self.assertIn("QM worker lost", result.stderr)

    def test_always(self):
        result = self.run_faulty("huge-charges", 4)
        self.expect_stop(
            result, "electrons, it announces 16", "tried 4 times",
            f"after step {FAULTY_UPDATE * INTERVAL}", "last checkpoint",
        )  # fmt: skip
        self.expect_undisturbed(self.resume())

    def test_always_the_first(self):
        self.update = 0
        result = self.run_faulty("huge-charges", 4)
        self.expect_stop(result, "electrons, it announces 16", "after step 0", "its beginning")
        self.assertFalse((self.out / "checkpoint.cbor").exists())
        self.expect_undisturbed(self.resume())


class NoResult(program.TestCase):
    """Numbers that are no result are not printed: status 1 or 2, and a reason."""

    def energy(self, first_line=None, box=None, *words):
        data = program.DATA / "argon"
        lines = (data / "argon.gro").read_text().splitlines()
        lines[2] = first_line or lines[2]
        lines[-1] = box or lines[-1]
        (self.folder / "a.gro").write_text("\n".join(lines) + "\n")
        config = self.config(
            system={"coordinates": self.folder / "a.gro", "topology": data / "argon.top"}
        )
        return program.start("energy", config, *words, env=CPU_ONLY)

    def test_energy(self):
        record = "    1AR      AR    1"
        for name, first_line, box in (
            ("coordinate of 1e308", record + "       1e308   0.1688845   0.1725657", None),
            ("coordinate of 1e30", record + "        1e30   0.1688845   0.1725657", None),
            ("box of 1e9 nm", None, "   1e9   1e9   1e9"),
            ("box of 1e300 nm", None, "   1e300   1e300   1e300"),
        ):
            for words in ((), ("--precision", "fp64", "--implementation", "scalar")):
                with self.subTest(name, words=words):
                    result = self.energy(first_line, box, *words)
                    self.assertIn(result.returncode, (1, 2), result.stdout + result.stderr)
                    self.assertIn("error:", result.stderr)
                    self.assertEqual(result.stdout, "")


class LeftBehind(Faults):
    """No temporary file of a worker or of StarPU stays, also of those that are killed."""

    def test_temporary_folder(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        self.env |= {"TMPDIR": temporary, "HOME": "", "XDG_CACHE_HOME": ""}
        self.expect_undisturbed(self.run_faulty("killed"))
        self.assertEqual(list(temporary.iterdir()), [])

    def test_of_a_killed_program(self):
        temporary = self.folder / "temporary"
        abandoned = temporary / "starpmc-qm-AbCdEf"
        abandoned.mkdir(parents=True)
        (abandoned / "tmpxyz").write_text("integrals")
        other = temporary / "starpmc-qm-of-mine"
        other.mkdir()
        for folder in (abandoned, other):
            os.utime(folder, (1e9, 1e9))
        self.env["TMPDIR"] = temporary
        self.expect_undisturbed(self.run_faulty())
        self.assertEqual(list(temporary.iterdir()), [other])


if __name__ == "__main__":
    program.main()
