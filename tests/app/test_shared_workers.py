"""Fewer QM workers than chains: the bytes of a run with one for each, however many there are, whichever of
them dies, and where a killed run goes on with another number.

    python3 test_shared_workers.py PROGRAM
"""

import importlib.util
import os
import pathlib
import signal
import subprocess
import time
import unittest
import uuid

import program

if importlib.util.find_spec("h5py"):
    import test_exact

CHAINS = 4
SLOW = {"STARPMC_MODEL_SECONDS": "0.15"}
FILES = ("energies.csv", "final.gro")


def workers_with(mark):
    """Ids of the QM workers that have inherited `mark` in their environment."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            if b"pyscf_worker.py" in words and mark.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:  # it has just ended
            continue
    return found


@unittest.skipUnless(importlib.util.find_spec("h5py"), "no h5py")
class SharedWorkers(program.TestCase):
    def setUp(self):
        super().setUp()
        box = test_exact.make_box(self.folder)
        sampling = {"steps": 1500, "equilibration_steps": 200, "chains": CHAINS, "seed": 3}
        qm = {"engine": "pyscf", "interval": 100, "electron_tolerance": 1000}
        self.runs = {
            "perturbative": program.write_config(
                self.folder / "perturbative.cfg", **box, sampling=sampling | {"ensemble": "perturbative"}, qm=qm
            ),
            "exact": program.write_config(
                self.folder / "exact.cfg",
                **box,
                sampling=sampling | {"ensemble": "exact"},
                qm=qm | {"configurations": 12, "response_tolerance": 0},
            ),
        }
        self.mark = f"STARPMC_TEST_MARK={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.model = test_exact.MODEL | {name: value, "STARPU_NOPENCL": "0", "STARPU_NCPU": "2"}

    def results(self, folder):
        files = [folder / f"chain-{n}" / name for n in range(CHAINS) for name in FILES]
        blocks = sorted(folder.rglob("blocks.csv"))
        return [file.read_bytes() for file in [*files, *blocks]]

    def run_with(self, kind, workers, *words):
        folder = self.folder / f"{kind}-{workers}"
        program.simulate(self.runs[kind], folder, "--qm.workers", workers, *words, env=self.model)
        return self.results(folder)

    def begin(self, *words):
        return subprocess.Popen(
            [program.PROGRAM, *map(str, words)],
            env=program.environment(**{k: str(v) for k, v in (self.model | SLOW).items()}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for_workers(self, process, count):
        """And a moment in which they make updates."""
        deadline = time.monotonic() + 60
        while len(workers_with(self.mark)) < count:
            self.assertIsNone(process.poll(), process.stderr.read() if process.poll() else "")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        time.sleep(1)
        self.assertEqual(len(workers_with(self.mark)), count)

    def test_any_number(self):
        for kind in self.runs:
            expected = self.run_with(kind, CHAINS)
            for workers in (1, 3):
                self.assertEqual(self.run_with(kind, workers), expected, f"{kind}, {workers}")

    def test_one_that_dies(self):
        for kind in self.runs:
            expected = self.run_with(kind, CHAINS)
            folder = self.folder / "disturbed"
            process = self.begin(
                "run", self.runs[kind], "--qm.workers", 2, "--output.folder", folder,
                "--output.overwrite", "true"
            )  # fmt: skip
            self.wait_for_workers(process, 2)
            os.kill(workers_with(self.mark)[0], signal.SIGKILL)
            _, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, errors)
            self.assertEqual(self.results(folder), expected, kind)
            self.assertEqual(workers_with(self.mark), [])

    def test_going_on_with_others(self):
        expected = self.run_with("perturbative", CHAINS)
        folder = self.folder / "killed"
        process = self.begin("run", self.runs["perturbative"], "--qm.workers", 2,
                             "--output.checkpoint-interval", 0.1, "--output.folder", folder)  # fmt: skip
        self.wait_for_workers(process, 2)
        process.kill()
        process.communicate()
        self.assertFalse((folder / "summary.json").exists())
        program.succeed("resume", folder, "--qm.workers", 3, env=self.model)
        self.assertEqual(self.results(folder), expected)

    def test_interrupted(self):
        """Chains that wait for a worker end, too."""
        process = self.begin("run", self.runs["perturbative"], "--qm.workers", 1,
                             "--output.folder", self.folder / "interrupted")  # fmt: skip
        self.wait_for_workers(process, 1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, errors)
        self.assertEqual(workers_with(self.mark), [])

    def test_one_that_does_not_start(self):
        """All chains hear of it, and the message comes once."""
        process = program.start(
            "run", self.runs["perturbative"], "--qm.workers", 1, "--qm.python", "/bin/false",
            "--output.folder", self.folder / "none", env=self.model,
        )  # fmt: skip
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(process.stderr.count("starpmc: error"), 1, process.stderr)


if __name__ == "__main__":
    program.main()
