"""What the files of a run cost: seconds of wall clock and of all cores with and without them, and
what it takes to go on with a long trajectory.

    python3 output_cost.py PROGRAM [ANOTHER ...] [--atoms N] [--steps N] [--repetitions N]

Run by hand. 15,000 argon atoms at the density of the liquid; programs take turns, the fastest of
the repetitions counts. On a busy machine the seconds of all cores tell more than the clock.
"""

import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time

ARGON = pathlib.Path(__file__).resolve().parents[1] / "data" / "argon"
NEVER = 10**9
OUTPUTS = {  # steps between lines and between frames
    "no files": (NEVER, NEVER),
    "as by default": (100, 1000),
    "frames every 100 steps": (100, 100),
    "lines every step": (1, NEVER),
}


def write_box(folder, atoms):
    """A lattice, which melts; its topology is that of tests/data."""
    edge = 0.362 * atoms ** (1 / 3)  # nm
    side = next(n for n in range(1, atoms + 1) if n**3 >= atoms)
    lines = ["argon", str(atoms)]
    for i in range(atoms):
        x, y, z = ((i // side**k % side + 0.5) * edge / side for k in range(3))
        number = (i + 1) % 100000
        lines.append(
            f"{number:5d}{'AR':<5}{'AR':>5}{number:5d}{x:8.3f}{y:8.3f}{z:8.3f}"
        )
    (folder / "box.gro").write_text(
        "\n".join([*lines, f"{edge:.5f} {edge:.5f} {edge:.5f}", ""])
    )
    topology = (ARGON / "argon.top").read_text().split()
    count = topology[-1]
    text = (ARGON / "argon.top").read_text().rstrip()
    (folder / "box.top").write_text(text.removesuffix(count) + f"{atoms}\n")


def write_config(folder, steps):
    path = folder / "box.cfg"
    path.write_text(
        "[system]\ncoordinates = box.gro\ntopology = box.top\n"
        f"[sampling]\nsteps = {steps}\n[output]\nfolder = unset\n"
    )
    return path


def command(program, config, out, lines, frames, *options):
    return [
        program, "run", config, "--output.folder", out, "--output.energy-interval", str(lines),
        "--output.trajectory-interval", str(frames), *options,
    ]  # fmt: skip


def seconds(words, environment):
    """Of the sampling by the clock, and of all cores from command to end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(
        words, env=environment, check=False, capture_output=True, text=True
    )
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    summary = json.loads((pathlib.Path(words[4]) / "summary.json").read_text())
    return summary["wall_seconds"], cores


def measure(programs, config, repetitions, environment):
    best = {}
    for _ in range(repetitions):
        for program in programs:
            for name, intervals in OUTPUTS.items():
                with tempfile.TemporaryDirectory() as folder:
                    words = command(program, config, f"{folder}/out", *intervals)
                    now = seconds(words, environment)
                old = best.get((program, name), now)
                best[program, name] = tuple(map(min, old, now))
    for program in programs:
        print(program)
        for name in OUTPUTS:
            wall, cores = best[program, name]
            ratio = wall / best[program, "no files"][0]
            print(
                f"  {name:<24} {wall:8.3f} s, {ratio:5.2f} times; all cores {cores:8.3f} s"
            )


def measure_resumption(program, config, frames, environment):
    """From the command to the first step after a kill at so many frames or more."""
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name) / "out"
        options = ("--output.checkpoint-interval", "1", "--sampling.steps", str(NEVER))
        words = command(program, config, out, NEVER, 1, *options)
        process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
        trajectory = out / "trajectory.h5md"
        size = 0
        while size < frames:
            time.sleep(0.2)
            # 68 bytes an atom and frame
            size = (
                trajectory.stat().st_size / (68 * ATOMS) if trajectory.exists() else 0
            )
        process.send_signal(signal.SIGKILL)
        process.wait()
        checkpoint = (out / "checkpoint.cbor").stat().st_mtime
        start = time.monotonic()
        process = subprocess.Popen(
            [program, "resume", out], env=environment, stderr=subprocess.DEVNULL
        )
        while (out / "checkpoint.cbor").stat().st_mtime == checkpoint:
            time.sleep(0.05)
        print(
            f"{program}: {size:.0f} frames of {ATOMS} atoms, {trajectory.stat().st_size / 1e9:.1f} "
            f"GB: {time.monotonic() - start:.1f} s from the command to the first new checkpoint"
        )
        process.kill()
        process.wait()


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("programs", nargs="+")
parser.add_argument("--atoms", type=int, default=15000)
parser.add_argument("--steps", type=int, default=10000)
parser.add_argument("--repetitions", type=int, default=3)
parser.add_argument(
    "--frames", type=int, default=2000, help="of the trajectory that is resumed"
)
arguments = parser.parse_args()
ATOMS = arguments.atoms

with tempfile.TemporaryDirectory() as temporary:
    place = pathlib.Path(temporary)
    write_box(place, ATOMS)
    made = write_config(place, arguments.steps)
    one_worker = dict(os.environ, STARPU_NCPU="1")
    measure(arguments.programs, made, arguments.repetitions, one_worker)
    for each in arguments.programs:
        measure_resumption(each, made, arguments.frames, one_worker)
