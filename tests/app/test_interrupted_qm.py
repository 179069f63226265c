"""Ctrl-C and SIGTERM while a QM worker is at work: an end within two seconds, no process left, and a
run that goes on to the results of an undisturbed one.

    python3 test_interrupted_qm.py PROGRAM
"""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest
import uuid

try:
    import h5py
except ImportError:
    h5py = None

import program
import test_faults
import test_resume

PATIENCE = 2.0  # seconds from the signal to the end, of a machine with a core to spare
CHAINS = 2


def patience():
    """Longer where others keep the cores busy."""
    return PATIENCE * max(1.0, os.getloadavg()[0] / os.cpu_count())


def processes_with(mark):
    """Those that have inherited `mark` in their environment; threads are of their process."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # it has just ended
            continue
    return found


class Interrupted(program.TestCase):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.mark = f"STARPMC_TEST_MARK={uuid.uuid4()}"
        self.env = program.environment(**test_faults.CPU_ONLY)

    def begin(self, *arguments, **environment):
        name, value = self.mark.split("=")
        return subprocess.Popen(
            list(map(str, (program.PROGRAM, *arguments))),
            env=self.env | {name: value} | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def interrupt(self, process, number):
        """What it says on standard error, once it has ended in time and left nobody."""
        self.assertIsNone(process.poll(), process.stderr.read() if process.poll() else "")
        process.send_signal(number)
        start = time.monotonic()
        _, errors = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - start, patience(), errors)
        self.assertEqual(process.returncode, 128 + number, errors)
        self.assertEqual(processes_with(self.mark), [])
        return errors

    def wait_for(self, condition, process):
        deadline = time.monotonic() + 120
        while not condition():
            self.assertIsNone(process.poll(), process.stderr.read() if process.poll() else "")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.005)


@unittest.skipIf(h5py is None, "no h5py")
class StandIn(Interrupted):
    """A worker that does not answer and does not heed SIGTERM."""

    def setUp(self):
        super().setUp()
        self.config_file = test_faults.write_run(
            self.folder / "test.cfg", test_faults.STAND_IN, chains=CHAINS
        )
        self.env["STARPMC_WORKERS"] = str(test_faults.WORKERS)
        self.here = self.folder / "it hangs"

    def stop(self, number, place, *arguments):
        process = self.begin(*arguments, STARPMC_TEST_HANG=f"{place} {self.here}")
        self.wait_for(self.here.exists, process)
        errors = self.interrupt(process, number)
        self.here.unlink()
        return errors

    def run_until(self, place, number=signal.SIGTERM):
        words = ("run", self.config_file, "--output.folder", self.out, *test_faults.SIMD)
        return self.stop(number, place, *words)

    def expect_undisturbed(self):
        program.succeed("resume", self.out, env=self.env)
        self.assertEqual(
            test_faults.results(self.out), test_faults.undisturbed(CHAINS)
        )

    def test_start(self):
        for place in ("hello", "ready"):
            for number in (signal.SIGINT, signal.SIGTERM):
                self.assertIn("nothing has been written", self.run_until(place, number))
                self.assertFalse(self.out.exists())

    def test_update(self):
        errors = self.run_until("update")
        self.assertIn(f"go on with: starpmc resume {self.out}", errors)
        self.assertTrue((self.out / "chain-0" / "checkpoint.cbor").exists())
        # Resumed runs are stopped where their workers start, take the density back, and again in
        # the update: nothing of the folder is lost.
        before = test_resume.content(self.out)
        for place in ("hello", "ready"):
            errors = self.stop(signal.SIGINT, place, "resume", self.out)
            self.assertIn(f"go on with: starpmc resume {self.out}", errors)
            self.assertEqual(test_resume.content(self.out), before)
        for place in ("restored", "update"):
            errors = self.stop(signal.SIGINT, place, "resume", self.out)
            self.assertIn(f"go on with: starpmc resume {self.out}", errors)
        self.expect_undisturbed()


class Forecast(Interrupted):
    """A large QM molecule brings a warning before its first SCF, and the run can be interrupted there."""

    def errors_with(self, megabytes, seconds, *words):
        config = test_faults.write_run(
            self.folder / "test.cfg", test_faults.STAND_IN, chains=CHAINS
        )
        here = self.folder / "before its SCF"
        process = self.begin(
            "run", config, "--output.folder", self.out, *words,
            STARPMC_WORKERS=str(test_faults.WORKERS),
            STARPMC_TEST_HANG=f"ready {here}",
            STARPMC_TEST_FORECAST=f"{megabytes} {seconds}",
        )  # fmt: skip
        self.wait_for(here.exists, process)
        time.sleep(0.2)  # the program reads what comes before
        errors = self.interrupt(process, signal.SIGTERM)
        here.unlink()
        return errors

    def test_warned_of(self):
        for megabytes, seconds in ((300, 100), (10**9, 1)):
            errors = self.errors_with(megabytes, seconds)
            self.assertEqual(errors.count("warning: the QM molecule has 1234"), 1, errors)
            self.assertIn("4 updates a chain", errors)
        self.assertNotIn("the QM molecule", self.errors_with(300, 1))

    def test_order_of_threads(self):
        self.assertNotIn("threads end", self.errors_with(300, 1))
        errors = self.errors_with(300, 1, "--qm.threads", "3")
        self.assertEqual(errors.count("with qm.threads = 3 the QM program adds up in the order"), 1)

    def test_in_the_log(self):
        config = test_faults.write_run(self.folder / "test.cfg", test_faults.STAND_IN)
        program.simulate(
            config, self.out, *test_faults.SIMD,
            env=self.env | {"STARPMC_WORKERS": test_faults.WORKERS, "STARPMC_TEST_FORECAST": "9 1"},
        )  # fmt: skip
        log = (self.out / "run.log").read_text()
        self.assertLess(log.index("the QM molecule has 1234"), log.index("QM energy"))


@unittest.skipIf(h5py is None, "no h5py")
@unittest.skipIf(importlib.util.find_spec("pyscf") is None, "no PySCF")
class Pyscf(Interrupted):
    def config_of(self, **qm):
        settings = {"python": sys.executable, "electron_tolerance": 0.5, **qm}
        return test_faults.write_run(self.folder / "test.cfg", settings, interval=1000)

    def worker_runs(self):
        return any("pyscf_worker" in command for command in processes_with(self.mark))

    def test_start(self):
        """While Python imports, and while an SCF of minutes converges."""
        config = self.config_of(basis="def2-qzvp", scf_grid_radial=200, scf_grid_angular=5810)
        for seconds in (0.1, 0.7, 6):
            process = self.begin("run", config, "--output.folder", self.out)
            self.wait_for(self.worker_runs, process)
            time.sleep(seconds)
            self.assertTrue(self.worker_runs(), seconds)
            self.assertIn("nothing has been written", self.interrupt(process, signal.SIGINT))
            self.assertFalse(self.out.exists())

    def test_update(self):
        """At any moment of the second update: its iterations, or its density."""
        config = self.config_of(
            basis="6-31g", scf_grid_radial=75, scf_grid_angular=302, grid_radial=75
        )
        whole = self.folder / "whole"
        program.simulate(config, whole, *test_faults.SIMD, env=self.env)
        update = program.json.loads((whole / "summary.json").read_text())["qm_updates"][1]
        seconds = sum(
            update[f"seconds_{part}"] for part in ("embedding", "scf", "density")
        )
        process = self.begin("run", config, "--output.folder", self.out, *test_faults.SIMD)
        self.wait_for((self.out / "checkpoint.cbor").exists, process)
        log = self.out / "run.log"
        stops = 0
        for share in (0.1, 0.5, 0.9):
            time.sleep(share * seconds)
            if process.poll() is not None:
                break
            self.interrupt(process, signal.SIGTERM)
            stops += 1
            lines = log.read_text().count("goes on")
            process = self.begin("resume", self.out)
            self.wait_for(lambda lines=lines: log.read_text().count("goes on") > lines, process)
        self.assertGreater(stops, 0)
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, output + errors)
        self.assertEqual(test_faults.results(self.out), test_faults.results(whole))


if __name__ == "__main__":
    program.main()
