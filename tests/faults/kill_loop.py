"""kill -9 at random times, resumed and killed again, until the run is at its end: the results have to
be those of an undisturbed run, to the last bit.

    python3 kill_loop.py PROGRAM [--count N] [--seed S]

An attempt is a run with as many kills as come before its end. Kinds of runs take turns: a stored
density and two chains; a QM worker; argon that equilibrates until it has settled.
"""

import os
import shutil
import signal
import subprocess
import time

import faults
from faults import program, test_faults

ONE_IMPLEMENTATION = test_faults.SIMD
SHORTEST = 0.02  # seconds to a kill


def write_config(kind, path):
    output = {"energy_interval": 50, "trajectory_interval": 500, "checkpoint_interval": 0.1}
    if kind == "QM worker":
        return test_faults.write_run(
            path, test_faults.STAND_IN, steps=4000, interval=700, **output
        )
    if kind == "argon":
        sampling = {"steps": 40000, "equilibration_steps": "auto", "chains": 2}
        return program.write_config(
            path, **program.plain_system("argon/argon"), sampling=sampling,
            output=output | {"trajectory_interval": 5000},
        )  # fmt: skip
    small = program.small_system()
    small["qm"] |= {"interval": 1500}
    sampling = {"steps": 6000, "equilibration_steps": 1000, "tune_interval": 100, "chains": 2}
    return program.write_config(
        path, **small, sampling=sampling, output=output | {"pressure_interval": 3000}
    )


KINDS = ("stored density", "QM worker", "argon")


class Undisturbed:
    """Results and seconds of each kind's run, made when first asked for."""

    def __init__(self, folder):
        self._folder = folder
        self._found = {}

    def __call__(self, kind):
        if kind not in self._found:
            place = self._folder / kind.replace(" ", "-")
            place.mkdir()
            config = write_config(kind, place / "run.cfg")
            for folder in ("warm-up", "whole"):  # the first may calibrate
                begun = time.monotonic()
                process = begin("run", config, "--output.folder", place / folder, *ONE_IMPLEMENTATION)
                output, errors = process.communicate(timeout=300)
                assert process.returncode == 0, output + errors
                seconds = time.monotonic() - begun
            self._found[kind] = (config, faults.results_of(place / "whole"), seconds)
        return self._found[kind]


def begin(*words):
    return subprocess.Popen(
        [program.PROGRAM, *map(str, words)],
        env=program.environment(STARPU_NCPU=2, STARPU_NOPENCL=0, STARPMC_WORKERS=test_faults.WORKERS),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )


def killed_until_the_end(attempt, config, seconds):
    """The last outcome, and how often it was killed."""
    out = attempt.folder / "out"
    anew = ("run", config, "--output.folder", out, *ONE_IMPLEMENTATION)
    words, kills, deadline = anew, 0, time.monotonic() + faults.longer_when_busy(faults.PATIENCE)
    while True:
        process = begin(*words)
        try:
            # Where kills leave it no time to come on, it gets more by and by.
            limit = seconds * (1.1 + 0.1 * kills)
            process.wait(timeout=attempt.draw.uniform(SHORTEST, limit))
            return faults.Outcome(process.returncode, *process.communicate()), kills
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
        if time.monotonic() > deadline:
            return faults.Outcome(None, "", ""), kills
        if (out / "summary.json").exists():  # killed at its very end
            return faults.Outcome(0, "", ""), kills
        if (out / "settings.cfg").exists():
            words = ("resume", out)
        else:  # killed before it began
            shutil.rmtree(out, ignore_errors=True)
            words = anew


def main():
    arguments = faults.parse(__doc__, count=6)
    tally = faults.Tally(arguments)
    with faults.scratch() as folder:
        undisturbed = Undisturbed(folder)
        for attempt in faults.attempts(arguments):
            kind = KINDS[attempt.number % len(KINDS)]
            config, expected, seconds = undisturbed(kind)
            outcome, kills = killed_until_the_end(attempt, config, seconds)
            attempt.description = f"{kind}, killed {kills} times"
            tally.count("kills", kills)
            out = attempt.folder / "out"
            if outcome.refused:  # nothing was broken: there is nothing to refuse
                tally.fail(attempt, f"refused with status {outcome.status}", outcome, [out])
                continue
            tally.judge_results(attempt, outcome, out, expected)
    tally.finish()


if __name__ == "__main__":
    main()
