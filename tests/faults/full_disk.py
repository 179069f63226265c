"""A disk that is full, or a file that may not grow, wherever a run writes: it ends with a reason and a
last checkpoint from which it goes on to the results of an undisturbed run, or reaches them at once.

    python3 full_disk.py PROGRAM [--count N] [--seed S]

Small file systems in memory where this user may mount them, else limits on the size of files only.
"""

import contextlib
import subprocess

import faults
from faults import program, test_faults

OUTPUT, CACHE, FILE_SIZE = "full disk of the results", "full disk of the cache", "limit of file sizes"
LEAST, MOST = 8, 500  # KiB: all of a run take some 450


def may_mount(folder):
    with contextlib.suppress(OSError):
        if mount(folder, "size=64k").returncode == 0:
            unmount(folder)
            return True
    return False


def mount(folder, options):
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "starpmc-fault", str(folder)],
        check=False, capture_output=True, timeout=20,
    )  # fmt: skip


def unmount(folder):
    subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True, timeout=20)


@contextlib.contextmanager
def small_disk(folder, kilobytes):
    """Yields what makes it large enough."""
    if mount(folder, f"size={kilobytes}k").returncode != 0:
        raise OSError(f"{folder}: cannot be mounted any more")
    try:
        yield lambda: mount(folder, "remount,size=64m")
    finally:
        unmount(folder)


def write_config(path):
    return test_faults.write_run(
        path, test_faults.STAND_IN, energy_interval=2, trajectory_interval=20, checkpoint_interval=0.1
    )


def environment(**changes):
    return faults.CPU_ONLY | {"STARPMC_WORKERS": test_faults.WORKERS} | changes


def undisturbed(folder):
    config = write_config(folder / "run.cfg")
    program.simulate(config, folder / "whole", *test_faults.SIMD, env=environment())
    return faults.results_of(folder / "whole")


def begin(attempt, out, env, limits=()):
    config = write_config(attempt.folder / "run.cfg")
    words = ("run", config, "--output.folder", out, *test_faults.SIMD)
    return words, faults.start(*words, env=env, limits=limits)


def go_on(tally, attempt, words, outcome, out, expected):
    """With space enough: from the last checkpoint, or anew where it had not begun."""
    if not tally.judge(attempt, outcome, [out]):
        return
    if outcome.status == 0:
        tally.judge_results(attempt, outcome, out, expected)
        return
    tally.count("stopped with a reason")
    begun = (out / "settings.cfg").exists() and any(out.glob("checkpoint*.cbor"))
    again = ("resume", out) if begun else (*words, "--output.overwrite", "true")
    attempt.description += ", then resumed" if begun else ", then begun anew"
    outcome = faults.start(*again, env=environment())
    if outcome.refused:
        tally.count("cannot go on")
        tally.fail(attempt, f"refused with status {outcome.status}", outcome, [out])
    else:
        tally.judge_results(attempt, outcome, out, expected)


def run(tally, attempt, kind, expected):
    kilobytes = attempt.draw.randrange(LEAST, MOST)
    attempt.description = f"{kind}, {kilobytes} KiB"
    out, disk = attempt.folder / "out", attempt.folder / "disk"
    if kind == FILE_SIZE:
        limit = (f"--fsize={1024 * kilobytes}",)
        go_on(tally, attempt, *begin(attempt, out, environment(), limit), out, expected)
    elif kind == OUTPUT:
        with small_disk(disk, kilobytes) as enlarge:
            words, outcome = begin(attempt, disk / "out", environment())
            enlarge()
            go_on(tally, attempt, words, outcome, disk / "out", expected)
    else:
        with small_disk(disk, kilobytes):
            env = environment(STARPU_HOME="", XDG_CACHE_HOME=disk, TMPDIR=attempt.folder)
            words, outcome = begin(attempt, out, env)
            if outcome.refused:  # a run takes no cache
                tally.count("refused for its cache")
                tally.fail(attempt, f"refused with status {outcome.status}", outcome, [out])
                return
            go_on(tally, attempt, words, outcome, out, expected)


def main():
    arguments = faults.parse(__doc__, count=6)
    tally = faults.Tally(arguments)
    with faults.scratch() as folder:
        kinds = (OUTPUT, FILE_SIZE, CACHE) if may_mount(folder / "disk") else (FILE_SIZE,)
        print("with:", "; ".join(kinds))
        expected = undisturbed(folder)
        for attempt in faults.attempts(arguments):
            run(tally, attempt, kinds[attempt.number % len(kinds)], expected)
    tally.finish()


if __name__ == "__main__":
    main()
