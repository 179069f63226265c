"""What the tests of `starpmc profile` share: the model path as a configuration.

Skips the script that imports it where pymbar or NumPy is not installed.
"""

import csv
import importlib.util
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

try:
    import model_path
    import numpy as np

    if importlib.util.find_spec("pymbar") is None:
        raise ImportError("no pymbar")
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(program.SKIPPED)

WORKERS = pathlib.Path(__file__).resolve().parent / "model_workers"
MODEL = {"STARPMC_WORKERS": WORKERS, "STARPMC_PYTHON": sys.executable}
BOX, TEMPERATURE = 14.0, 400.0


def table(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class ProfileCase(program.TestCase):
    def settings(self, places, **sampling):
        model_path.write_path(self.folder / "path.xyz", places)
        return {
            "system": model_path.write_box(self.folder, BOX, np.array([7.0, 11.5, 7.0])),
            "profile": {"path": self.folder / "path.xyz"},
            "sampling": {
                "ensemble": "exact",
                "temperature": TEMPERATURE,
                "steps": 30000,
                "equilibration_steps": 2000,
                "seed": 5,
                "max_translation": 4,
                "tune_interval": 10**9,
            }
            | sampling,
            "qm": {
                "engine": "pyscf",
                "python": sys.executable,
                "interval": 150,
                "configurations": 12,
                "response_components": 3,
                "charge_threshold": 0,
            },
            "output": {"energy_interval": 1000, "trajectory_interval": 30},
        }

    def profile(self, config, folder, *words, env=None):
        self.said = program.succeed(
            "profile", config, "--output.folder", folder, *words, env=MODEL | (env or {}),
            timeout=900,
        ).stdout
        return table(folder / "profile.csv")

    def kill_profile(self, config, folder, there, seconds=0.0, *words, **environment):
        """Begins or goes on, and is killed so long after the file `there` has come; whether it had not
        ended by then."""
        process = subprocess.Popen(
            [str(program.PROGRAM), "profile", str(config), "--output.folder", str(folder),
             "--output.checkpoint-interval", "0.1", *words],
            env=program.environment(**MODEL, **environment),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while process.poll() is None and not there.exists():
            time.sleep(0.001)
        time.sleep(seconds)
        running = process.poll() is None
        if running:
            process.send_signal(signal.SIGKILL)
        process.wait()
        return running
