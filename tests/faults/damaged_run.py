"""A killed run whose files are damaged, lost, swapped or another run's, and resumed: it has the results
of an undisturbed run, to the last bit, or is refused and its folder left as it is.

    python3 damaged_run.py PROGRAM [--count N] [--seed S]

Files and kinds of damage take turns. When the run was killed is chance, so that an attempt that is
repeated meets another length of the same files.
"""

import functools
import hashlib
import os
import shutil
import signal
import time

import faults
import kill_loop
import mutations
from faults import program, test_faults, test_resume

CHAINS = ("chain-0", "chain-1")
# Files of a run that is not at its end.
FILES = ["settings.cfg", "run.log"] + [
    f"{chain}/{name}"
    for chain in CHAINS
    for name in ("energies.csv", "trajectory.h5md", "checkpoint.cbor", "checkpoint.previous.cbor",
                 "system.pdb")
]  # fmt: skip
NOT_CHECKED_AGAIN = "checkpoint with a check sum renewed"


def write_config(path, seed):
    small = program.small_system()
    small["qm"] |= {"interval": 1000}
    return program.write_config(
        path,
        **small,
        sampling={"steps": 8000, "equilibration_steps": 500, "chains": 2, "seed": seed},
        output={"energy_interval": 20, "trajectory_interval": 250, "checkpoint_interval": 0.1},
    )


def killed_run(config, out):
    """Made once both chains have both checkpoints and lines of production."""
    while True:
        process = kill_loop.begin("run", config, "--output.folder", out, *test_faults.SIMD)
        while process.poll() is None:
            checkpoints = [out / chain / "checkpoint.previous.cbor" for chain in CHAINS]
            tables = [out / chain / "energies.csv" for chain in CHAINS]
            if all(path.exists() for path in checkpoints) and all(
                path.stat().st_size > 20_000 for path in tables
            ):
                break
            time.sleep(0.001)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not (out / "summary.json").exists():
            return
        shutil.rmtree(out)


class Originals:
    """A killed run, a foreign one of another seed, and the results of the first when undisturbed."""

    def __init__(self, folder):
        names = ("out", "foreign", "whole")
        self.killed, self.foreign, self.whole = (folder / name for name in names)
        config = write_config(folder / "run.cfg", seed=1)
        process = kill_loop.begin("run", config, "--output.folder", self.whole, *test_faults.SIMD)
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, output + errors
        self.results = faults.results_of(self.whole)
        killed_run(config, self.killed)
        killed_run(write_config(folder / "foreign.cfg", seed=2), self.foreign)


def bytes_changed(change, path, draw, originals):
    data = path.read_bytes()
    path.write_bytes(change(data, draw) if data else data)


def emptied(path, draw, originals):
    path.write_bytes(b"")


def removed(path, draw, originals):
    path.unlink()


def made_a_folder(path, draw, originals):
    path.unlink()
    path.mkdir()


def made_a_link(path, draw, originals):
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def other_chains(path, draw, originals):
    """Swapped with the same file of the other chain."""
    if path.parent.name not in CHAINS:
        return removed(path, draw, originals)
    other = path.parents[1] / CHAINS[1 - CHAINS.index(path.parent.name)] / path.name
    aside = path.with_name("aside")
    path.rename(aside)
    other.rename(path)
    aside.rename(other)
    return None


def other_runs(path, draw, originals):
    inside = path.relative_to(path.parents[1 if path.parent.name in CHAINS else 0])
    shutil.copy(originals.foreign / inside, path)


def renewed(path, draw, originals):
    """Its content is changed, and the SHA-256 in its second line says nothing of it."""
    version, _, content = path.read_bytes().split(b"\n", 2)
    content, _ = mutations.mutate(content, draw, mutations.OF_BYTES)
    digest = hashlib.sha256(content).hexdigest().encode()
    path.write_bytes(b"\n".join((version, digest, content)))


def changed_by(change):
    damage = functools.partial(bytes_changed, change)
    damage.__name__ = change.__name__
    return damage


OF_BYTES = [change.__name__ for change in mutations.OF_BYTES]
DAMAGES = [changed_by(change) for change in mutations.OF_BYTES]
DAMAGES += [changed_by(mutations.flip_bit)] * 3
DAMAGES += [emptied, removed, made_a_folder, made_a_link, other_chains, other_runs]


def of_both_checkpoints(damage, out, attempt, originals):
    for name in ("checkpoint.cbor", "checkpoint.previous.cbor"):
        damage(out / "chain-1" / name, attempt.draw, originals)


def swapped_folders(out):
    (out / CHAINS[0]).rename(out / "aside")
    (out / CHAINS[1]).rename(out / CHAINS[0])
    (out / "aside").rename(out / CHAINS[1])


def damage_something(attempt, out, originals):
    """What was done; files take turns, and after each round of them something of several."""
    turn = attempt.number % (len(FILES) + 3)
    if turn < len(FILES):
        damage = attempt.draw.choice(DAMAGES)
        damage(out / FILES[turn], attempt.draw, originals)
        return f"{FILES[turn]} {damage.__name__}"
    if turn == len(FILES):
        damage = attempt.draw.choice(DAMAGES)
        of_both_checkpoints(damage, out, attempt, originals)
        return f"both checkpoints of chain 1 {damage.__name__}"
    if turn == len(FILES) + 1:
        swapped_folders(out)
        return "folders of chains swapped"
    of_both_checkpoints(renewed, out, attempt, originals)
    return NOT_CHECKED_AGAIN


def results_in(out):
    """All but the log, which may say why a run was refused."""
    return {name: digest for name, digest in test_resume.content(out).items() if name != "run.log"}


def is_in_old_frames(attempt, out, originals):
    """All but these is as undisturbed. A trajectory is not read from its beginning at each resume: the
    last frame tells whether it is this run's, and of what was written before the file is as good as
    any other on that disk."""
    name, _, damage = attempt.description.partition(" ")
    if not name.endswith("trajectory.h5md") or damage not in OF_BYTES:
        return False
    if faults.results_of(out) == originals.results:
        return False
    for chain in CHAINS:
        shutil.copy(originals.whole / chain / "trajectory.h5md", out / chain)
    return faults.results_of(out) == originals.results


def run(tally, attempt, originals):
    out = attempt.folder / "out"
    shutil.copytree(originals.killed, out)
    attempt.description = damage_something(attempt, out, originals)
    before = results_in(out)
    damaged = attempt.folder / "damaged"
    shutil.copytree(out, damaged, symlinks=True)
    outcome = faults.start("resume", out, env=faults.CPU_ONLY)
    if attempt.description == NOT_CHECKED_AGAIN:  # it may be that of another run, and is well made
        if tally.judge(attempt, outcome, [damaged]):
            tally.count("refused" if outcome.refused else "accepted: check sum renewed")
        return
    if outcome.status == 0 and is_in_old_frames(attempt, out, originals):
        tally.count("accepted: damage in frames that were written long before")
        return
    tally.judge_results(attempt, outcome, out, originals.results)
    if outcome.status == 2 and results_in(out) != before:
        tally.count("changed when refused")
        tally.fail(attempt, "refused, but the folder was changed", outcome, [damaged])


def main():
    arguments = faults.parse(__doc__, count=15)
    tally = faults.Tally(arguments)
    with faults.scratch() as folder:
        originals = Originals(folder)
        for attempt in faults.attempts(arguments):
            run(tally, attempt, originals)
    tally.finish()


if __name__ == "__main__":
    main()
