"""Performance models and calibrations of the machine that are damaged: a run takes them or makes them
anew, and its decisions are those of any other run.

    python3 damaged_cache.py PROGRAM [--count N] [--seed S]
"""

import json
import os
import shutil

import faults
import mutations
from faults import program, test_faults

CHANGES = ("emptied", "removed", "made a folder", "made a link", "made a link to itself", "unreadable")


def write_config(path):
    small = program.small_system()
    sampling = {"steps": 2000, "equilibration_steps": 0}
    return program.write_config(path, **small, sampling=sampling)


def run(folder, cache):
    config = write_config(folder / "run.cfg")
    words = ("run", config, "--output.folder", folder / "out", *test_faults.SIMD)
    env = faults.CPU_ONLY | {"STARPU_HOME": "", "XDG_CACHE_HOME": cache}
    return faults.start(*words, env=env)


def decisions(folder):
    summary = json.loads((folder / "out/summary.json").read_text(encoding="utf-8"))
    return summary["decisions_sha256"], summary["final_coordinates_sha256"]


def change(path, what):
    if what == "unreadable":
        path.chmod(0)
        return
    path.unlink()
    if what == "emptied":
        path.touch()
    elif what == "made a folder":
        path.mkdir()
    elif what == "made a link":
        path.symlink_to(os.devnull)
    elif what == "made a link to itself":
        path.symlink_to(path)


def damage(attempt, cache):
    """One to all of the files; what was done to the last."""
    files = sorted(path for path in cache.rglob("*") if path.is_file())
    for path in attempt.draw.sample(files, attempt.draw.choice((1, 1, 3, len(files)))):
        if attempt.draw.random() < 0.3:
            done = attempt.draw.choice(CHANGES)
            change(path, done)
        else:
            content, done = mutations.mutate(path.read_bytes(), attempt.draw)
            path.write_bytes(content)
        attempt.description = f"{path.name} {done}"


def judge(tally, attempt, outcome, cache, expected):
    if not tally.judge(attempt, outcome, [cache]):
        return
    if outcome.refused:
        tally.count("refused for its cache")
        tally.fail(attempt, f"refused with status {outcome.status}", outcome, [cache])
    elif decisions(attempt.folder) != expected:
        tally.count("other results")
        tally.fail(attempt, "other decisions", outcome, [cache])
    else:
        tally.count("told of" if "damaged" in outcome.errors else "accepted, or made anew")


def main():
    arguments = faults.parse(__doc__, count=6)
    tally = faults.Tally(arguments)
    with faults.scratch() as folder:
        outcome = run(folder, folder / "cache")
        assert outcome.status == 0, outcome.errors
        expected = decisions(folder)
        for attempt in faults.attempts(arguments):
            cache = attempt.folder / "cache"
            shutil.copytree(folder / "cache", cache)
            damage(attempt, cache)
            judge(tally, attempt, run(attempt.folder, cache), cache, expected)
    tally.finish()


if __name__ == "__main__":
    main()
