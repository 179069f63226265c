"""A QM worker with spoilt answers: the update is made again by another one and the run has the results
of an undisturbed run, or the run ends with a reason and goes on to them later.

    python3 qm_worker.py PROGRAM [--count N] [--seed S]

workers/pyscf_worker.py spoils one message, once or whenever it comes. Of a number that is merely another
one nothing can be told but that what comes of it are numbers.
"""

import json
import math
import pathlib
import shutil

import faults
from faults import program, test_faults

HERE = pathlib.Path(__file__).resolve().parent
# What contradicts the protocol, the worker's own claims, or is no worker any more.
TELLABLE = ("no_number", "cut_and_ended", "cut_and_silent", "killed", "ended", "unknown_field", "floods")
# What may be another answer, or one that says the same.
BELIEVABLE = ("lost_field", "other_kind_of_field", "other_number", "other_type", "other_shape",
              "wild_charges", "changed_bytes", "twice", "noise_before")  # fmt: skip
MESSAGES = ("hello", "ready", "result-0", "result-1", "result-1", "result-1")
SILENCE = 5  # seconds
PATIENT = ("--qm.time-limit", 600)  # a worker that is well, however busy the machine
ALWAYS = 6  # more often than it is started again


def write_config(path):
    silence = faults.longer_when_busy(SILENCE)
    return test_faults.write_run(path, {**test_faults.STAND_IN, "time_limit": silence}, interval=500)


def environment(**changes):
    return faults.CPU_ONLY | {"STARPMC_WORKERS": HERE / "workers"} | changes


def undisturbed(folder):
    config = write_config(folder / "run.cfg")
    program.simulate(config, folder / "whole", *test_faults.SIMD, *PATIENT, env=environment())
    return faults.results_of(folder / "whole")


def all_finite(value):
    if isinstance(value, dict | list):
        return all(map(all_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)


def judge_believed(tally, attempt, outcome, out, expected):
    """Another answer may have been believed, but no number may be lost by it."""
    if faults.results_of(out) == expected:
        tally.count("accepted, identical")
        return
    text = (out / "summary.json").read_text(encoding="utf-8")
    averages = json.loads(text)["averages"]
    if "null" in json.dumps(averages) or not all_finite(json.loads(text)):
        tally.count("believed, no numbers")
        tally.fail(attempt, "a summary without numbers", outcome, [out])
    else:
        tally.count("another answer believed")


def run(tally, attempt, expected):
    kind = attempt.draw.choice(TELLABLE + BELIEVABLE)
    message = attempt.draw.choice(MESSAGES)
    count = attempt.draw.choice((1, 1, ALWAYS))
    if kind == "cut_and_silent":  # each waits for the time limit
        count = 1
    attempt.description = f"{message} {kind}, {count} times at most"
    spoil = f"{attempt.draw.random()} {kind} {message} {count} {attempt.folder / 'times'}"
    config, out = write_config(attempt.folder / "run.cfg"), attempt.folder / "out"
    words = ("run", config, "--output.folder", out, *test_faults.SIMD)
    outcome = faults.start(*words, env=environment(STARPMC_TEST_SPOIL=spoil))
    files = [out, config]
    if not tally.judge(attempt, outcome, files):
        return
    if outcome.refused:
        tally.count("stopped with a reason")
        resumable = any(out.glob("checkpoint*.cbor")) if out.exists() else False
        if not resumable:
            shutil.rmtree(out, ignore_errors=True)
        again = ("resume", out) if resumable else words
        outcome = faults.start(*again, *PATIENT, env=environment())
        if outcome.refused:
            tally.count("cannot go on")
            tally.fail(attempt, "refused with a worker that is well", outcome, files)
            return
    if kind in BELIEVABLE:
        judge_believed(tally, attempt, outcome, out, expected)
    else:
        tally.judge_results(attempt, outcome, out, expected)


def main():
    arguments = faults.parse(__doc__, count=10)
    tally = faults.Tally(arguments)
    with faults.scratch() as folder:
        expected = undisturbed(folder)
        for attempt in faults.attempts(arguments):
            run(tally, attempt, expected)
    tally.finish()


if __name__ == "__main__":
    main()
