"""QM workers that share a GPU through an MPS server of the program's own, for which a program of tests/qm/mps
stands.

    python3 test_device_server.py PROGRAM
"""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import program
import test_faults

SYSTEMS = pathlib.Path("/tmp/nvidia-mps/control")
THERE = "QM workers share the GPU through an MPS server of their own"
NONE = "QM workers share the GPU without an MPS server of their own: "


def runs(process):
    """One that has ended need not have been waited for."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@unittest.skipIf(SYSTEMS.exists(), "the system has a daemon")
class DeviceServer(program.TestCase):
    def setUp(self):
        super().setUp()
        self.config_file = test_faults.write_run(
            self.folder / "test.cfg", test_faults.STAND_IN | {"device": "gpu", "workers": 2}, chains=2
        )
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.records = self.folder / "record"
        self.env = test_faults.CPU_ONLY | {
            "PATH": f"{program.TESTS / 'qm/mps'}:{os.environ['PATH']}",
            "TMPDIR": self.temporary,
            "XDG_RUNTIME_DIR": "",
            "FAKE_MPS_RECORD": self.records,
            "STARPMC_WORKERS": program.TESTS / "app/workers",
            "STARPMC_TEST_DEVICE": 1,
        }
        for name in ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_VISIBLE_DEVICES", "STARPMC_MPS"):
            value = os.environ.pop(name, None)
            if value is not None:
                self.addCleanup(os.environ.__setitem__, name, value)

    def record(self):
        text = self.records.read_text() if self.records.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def simulate(self, name, *words, **environment):
        """(its log, what the workers' environment says)."""
        folder = self.folder / name
        summary = program.simulate(self.config_file, folder, *words, env=self.env | environment)
        self.assertEqual(list(self.temporary.glob("starpmc-mps-*")), [])
        log = (folder / "run.log").read_text()
        return log, json.loads(summary["qm_device"].removeprefix("GPU "))

    def results(self, name):
        return test_faults.results(self.folder / name)

    def test_one_for_all_workers(self):
        log, worker = self.simulate("served", CUDA_VISIBLE_DEVICES="4,6")
        self.assertEqual(log.count(THERE), 1, log)
        started, told, ended = self.record()
        self.assertEqual(started["CUDA_VISIBLE_DEVICES"], "4,6")
        self.assertEqual(started["mode"], "0o700")
        pipes = started["CUDA_MPS_PIPE_DIRECTORY"]
        self.assertEqual(
            worker,
            {"STARPMC_OWN_MPS": "1", "CUDA_MPS_PIPE_DIRECTORY": pipes, "CUDA_VISIBLE_DEVICES": "0,1"},
        )
        self.assertEqual(told["told"], "quit\n")
        self.assertEqual(ended["ended"], "quit")
        self.assertFalse(runs(started["started"]))
        # The same without it.
        log, worker = self.simulate("alone", STARPMC_MPS=0, CUDA_VISIBLE_DEVICES="4,6")
        self.assertIn(NONE + "STARPMC_MPS=0", log)
        self.assertEqual(len(self.record()), 3)
        self.assertEqual(
            worker,
            {"STARPMC_OWN_MPS": None, "CUDA_MPS_PIPE_DIRECTORY": None, "CUDA_VISIBLE_DEVICES": "4,6"},
        )
        self.assertEqual(self.results("served"), self.results("alone"))

    def test_where_it_is_of_no_use(self):
        for name, words in (("one", ("--qm.workers", 1)), ("cpu", ("--qm.device", "cpu"))):
            log, worker = self.simulate(name, *words)
            self.assertNotIn("MPS server", log)
            self.assertIsNone(worker["STARPMC_OWN_MPS"])
        self.assertEqual(self.record(), [])

    def test_one_that_does_not_start(self):
        log, worker = self.simulate("failed", FAKE_MPS="fails")
        self.assertEqual(log.count(NONE), 1)
        self.assertIn("has ended at once", log)
        self.assertIsNone(worker["STARPMC_OWN_MPS"])

    def begin(self):
        return subprocess.Popen(
            [program.PROGRAM, "run", self.config_file, "--output.folder", self.folder / "begun",
             "--sampling.steps", "100000000"],
            env=program.environment(**self.env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def wait_for_log(self, process):
        deadline = time.monotonic() + 60
        log = self.folder / "begun/run.log"
        while not (log.exists() and THERE in log.read_text()):
            self.assertIsNone(process.poll(), process.stderr.read() if process.poll() else "")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def test_it_ends_with_the_program(self):
        """Also with one that is killed."""
        for number in (signal.SIGINT, signal.SIGKILL):
            self.records.unlink(missing_ok=True)
            process = self.begin()
            self.wait_for_log(process)
            server = self.record()[0]["started"]
            self.assertTrue(runs(server))
            process.send_signal(number)
            _, errors = process.communicate(timeout=30)
            deadline = time.monotonic() + (10 if number == signal.SIGKILL else 0)
            while runs(server) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertFalse(runs(server), errors)
            self.assertEqual(len(list(self.temporary.glob("starpmc-mps-*"))), number == signal.SIGKILL)
            subprocess.run(["rm", "-r", self.folder / "begun"], check=True)


if __name__ == "__main__":
    program.main()
