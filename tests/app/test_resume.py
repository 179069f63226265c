"""Stopped runs go on as if nothing had happened: kill -9 anywhere, SIGINT, SIGTERM, torn checkpoints.

    python3 test_resume.py PROGRAM
"""

import hashlib
import importlib.util
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest
import zlib

try:
    import h5py
except ImportError:
    h5py = None

import program

CHAINS = 2
STEPS = 6000
EQUILIBRATION = 1000
KILLS = 20
# One implementation: the last bits of the running energies in fp32 are an implementation's own.
IMPLEMENTATION = ("--run.implementation", "simd")


def trajectory(path):
    """Every bit of the trajectory's data."""
    digest = hashlib.sha256()

    def add(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
            digest.update(name.encode() + str(item.shape).encode() + item[()].tobytes())

    with h5py.File(path) as file:
        file.visititems(add)
    return digest.hexdigest()


def content(folder):
    """Every byte of what lies in a folder, by path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def results(folder, summary):
    """What must be the same: per chain, both digests, every byte of the table, every frame."""
    chains = summary.get("chains", [summary])
    parts = []
    for number, chain in enumerate(chains):
        files = folder / f"chain-{number}" if len(chains) > 1 else folder
        parts.append(
            (
                chain["decisions_sha256"],
                chain["final_coordinates_sha256"],
                chain["averages"],
                chain["certified_decisions"],
                [
                    {k: v for k, v in update.items() if not k.startswith("seconds")}
                    for update in chain["qm_updates"]
                ],
                chain["drift"],
                hashlib.sha256((files / "energies.csv").read_bytes()).hexdigest(),
                trajectory(files / "trajectory.h5md"),
            )
        )
    return parts, (summary["total_energy"], summary.get("pressure_bar"))


@unittest.skipIf(h5py is None, "no h5py")
class Resume(program.TestCase):
    chains = CHAINS

    def setUp(self):
        super().setUp()
        small = program.small_system()
        small["qm"] |= {"interval": 1500}
        self.small = self.config(
            **small,
            sampling={
                "steps": STEPS,
                "equilibration_steps": EQUILIBRATION,
                "tune_interval": 100,
                "chains": self.chains,
            },
            output={
                "energy_interval": 50,
                "trajectory_interval": 500,
                "pressure_interval": 150,
                "checkpoint_interval": 0.1,
            },
        )
        self.whole = self.folder / "whole"
        self.environment = program.environment(STARPU_NCPU=2)

    def begin(self, folder):
        return self.start_process("run", self.small, "--output.folder", folder, *IMPLEMENTATION)

    def start_process(self, *arguments):
        return subprocess.Popen(
            [program.PROGRAM, *map(str, arguments)],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def finish(self, process):
        output, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, output + errors)

    def reference(self):
        start = time.monotonic()
        self.finish(self.begin(self.whole))
        self.seconds = time.monotonic() - start
        return results(self.whole, self.summary(self.whole))

    def summary(self, folder):
        return program.json.loads((folder / "summary.json").read_text())

    def resume(self, folder, *options):
        return self.start_process("resume", folder, *options)

    def kill(self, process):
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


class Killed(Resume):
    def test_anywhere(self):
        expected = self.reference()
        seed = int(os.environ.get("STARPMC_TEST_SEED", random.randrange(10**6)))
        print(f"STARPMC_TEST_SEED={seed}")
        draw = random.Random(seed)
        killed = 0
        attempt = 0
        while killed < KILLS:
            folder = self.folder / f"killed-{attempt}"
            attempt += 1
            process = self.begin(folder)
            whole = True
            start = time.monotonic()
            # Resumed runs are killed, too, until one comes to its end.
            while True:
                try:
                    process.wait(timeout=draw.uniform(0.02, 1.1 * self.seconds))
                    self.finish(process)
                    if whole:  # the first run of all may have calibrated, and been much slower
                        self.seconds = min(self.seconds, time.monotonic() - start)
                    break
                except subprocess.TimeoutExpired:
                    self.kill(process)
                    killed += 1
                    whole = False
                if (folder / "summary.json").exists():  # killed at its very end
                    break
                if (folder / "settings.cfg").exists():
                    process = self.resume(folder)
                else:  # killed before it began
                    shutil.rmtree(folder, ignore_errors=True)
                    process = self.begin(folder)
            self.assertEqual(results(folder, self.summary(folder)), expected, f"attempt {attempt}")


class KilledInEquilibration(Resume):
    """Automatic equilibration goes on from a checkpoint as it would have, and ends at one step."""

    def setUp(self):
        super().setUp()
        self.small = self.config(
            **program.plain_system("argon/argon"),
            sampling={"steps": 120000, "equilibration_steps": "auto", "chains": self.chains},
            output={"energy_interval": 50, "trajectory_interval": 5000,
                    "checkpoint_interval": 0.1},
        )  # fmt: skip

    def test_in_equilibration(self):
        expected = self.reference()
        found = self.summary(self.whole)
        steps = [chain["equilibration_steps"] for chain in found["chains"]]
        self.assertEqual({chain["equilibration_end"] for chain in found["chains"]}, {"settled"})
        folder = self.folder / "killed"
        process = self.begin(folder)
        log = folder / "run.log"
        for kill in range(3):
            checkpoints = [folder / f"chain-{n}" / "checkpoint.cbor" for n in range(self.chains)]
            before = [path.stat().st_mtime_ns if path.exists() else 0 for path in checkpoints]
            while any(
                not path.exists() or path.stat().st_mtime_ns == written
                for path, written in zip(checkpoints, before, strict=True)
            ):
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            self.kill(process)
            if kill == 0:
                self.assertNotIn("equilibrated after", log.read_text())
            process = self.resume(folder)
        self.finish(process)
        summary = self.summary(folder)
        self.assertEqual([c["equilibration_steps"] for c in summary["chains"]], steps)
        self.assertEqual(results(folder, summary), expected)


@unittest.skipIf(importlib.util.find_spec("pyscf") is None, "no PySCF")
class KilledWithQm(Resume):
    """A resumed run's QM worker goes on from the checkpoint's density, to the last bit."""

    def setUp(self):
        super().setUp()
        small = program.small_system()
        self.small = self.config(
            system=small["system"],
            qm={
                "engine": "pyscf",
                "python": sys.executable,
                "basis": "sto-3g",
                "interval": 700,
                "grid_radial": 20,
                "grid_angular": 110,
                "scf_grid_radial": 20,
                "scf_grid_angular": 110,
                "electron_tolerance": 0.5,
            },
            sampling={
                "ensemble": "perturbative",
                "steps": 2000,
                "equilibration_steps": 500,
                "chains": self.chains,
            },
            output={"energy_interval": 50, "trajectory_interval": 500, "checkpoint_interval": 0.2},
        )

    def test_anywhere(self):
        expected = self.reference()
        seed = int(os.environ.get("STARPMC_TEST_SEED", random.randrange(10**6)))
        print(f"STARPMC_TEST_SEED={seed}")
        draw = random.Random(seed)
        folder = self.folder / "killed"
        process = self.begin(folder)
        for _ in range(3):
            while not (folder / "chain-0" / "checkpoint.cbor").exists():
                time.sleep(0.05)
            time.sleep(draw.uniform(0, 0.7 * self.seconds))
            self.kill(process)
            if (folder / "summary.json").exists():
                break
            process = self.resume(folder)
        else:
            self.finish(process)
        self.assertEqual(results(folder, self.summary(folder)), expected)


class Stopped(Resume):
    def stop(self, number, status):
        expected = self.reference()
        folder = self.folder / "stopped"
        process = self.begin(folder)
        while not (folder / "chain-0" / "checkpoint.cbor").exists():
            time.sleep(0.02)
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, output + errors)
        self.assertRegex(errors, rf"(?m)^starpmc: stopped .*; go on with: starpmc resume {folder}$")
        self.assertFalse((folder / "summary.json").exists())
        self.finish(self.resume(folder))
        self.assertEqual(results(folder, self.summary(folder)), expected)

    def test_interrupted(self):
        self.stop(signal.SIGINT, 130)

    def test_terminated(self):
        self.stop(signal.SIGTERM, 143)

    def test_closed_terminal(self):
        self.stop(signal.SIGHUP, 129)


class Checkpoints(Resume):
    chains = 1

    def setUp(self):
        super().setUp()
        self.expected = self.reference()
        self.stopped = self.folder / "stopped"
        process = self.begin(self.stopped)
        while not (self.stopped / "checkpoint.previous.cbor").exists():
            time.sleep(0.02)
        self.kill(process)

    def expect_same(self, message):
        process = self.resume(self.stopped)
        self.finish(process)
        self.assertIn(message, (self.stopped / "run.log").read_text())
        self.assertEqual(results(self.stopped, self.summary(self.stopped)), self.expected)

    def test_torn(self):
        checkpoint = self.stopped / "checkpoint.cbor"
        checkpoint.write_bytes(checkpoint.read_bytes()[:-100])
        self.expect_same("checkpoint.cbor")

    def test_foreign(self):
        (self.stopped / "checkpoint.cbor").write_text("not ours\n")
        self.expect_same("checkpoint.cbor")

    def test_no_system_pdb(self):
        """What a trajectory is opened with is written again."""
        (self.stopped / "system.pdb").unlink()
        self.expect_same("goes on at step")
        self.assertEqual(
            (self.stopped / "system.pdb").read_bytes(), (self.whole / "system.pdb").read_bytes()
        )

    def refused(self, *parts, folder=None):
        """Status 2, a message with these parts, and not a byte of the folder is another one."""
        folder = folder or self.stopped
        before = content(folder)
        result = program.start("resume", folder)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)
        self.assertEqual(content(folder), before)

    def test_both_lost(self):
        (self.stopped / ".checkpoint.cbor.1.temporary").write_text("half of one")
        for name in ("checkpoint.cbor", "checkpoint.previous.cbor"):
            (self.stopped / name).write_text("")
        self.refused(
            f"{self.stopped / 'checkpoint.cbor'}: cannot be used: it is torn",
            f"{self.stopped / 'checkpoint.previous.cbor'}: cannot be used: it is torn",
            "--output.folder",
        )

    def test_both_removed(self):
        for name in ("checkpoint.cbor", "checkpoint.previous.cbor"):
            (self.stopped / name).unlink()
        self.refused(str(self.stopped / "energies.csv"), "holds results", "checkpoint.cbor")
        (self.stopped / "energies.csv").unlink()
        self.refused(str(self.stopped / "trajectory.h5md"), "holds results")

    def test_other_version(self):
        checkpoint = self.stopped / "checkpoint.cbor"
        head, body = checkpoint.read_bytes().split(b"\n", 1)
        ours = int(head.split()[-1])
        for version in (ours - 1, ours + 1):
            checkpoint.write_bytes(b"starpmc checkpoint %d\n" % version + body)
            self.refused(
                str(checkpoint), f"version {version}", f"reads version {ours}",
                "release of starpmc that wrote it", "--output.folder",
            )  # fmt: skip
        # The remedy works as it stands, and the settings lead to the same results.
        summary = program.simulate(
            self.stopped / "settings.cfg", self.folder / "anew", *IMPLEMENTATION
        )
        self.assertEqual(results(self.folder / "anew", summary), self.expected)

    def test_run_into_it(self):
        """`run` does not begin where results lie, and says what may be done."""
        before = content(self.stopped)
        for words in ((self.small, "--output.folder", self.stopped), (self.stopped / "settings.cfg",)):
            result = program.start("run", *words)
            self.assertEqual(result.returncode, 2, result.stderr)
            for part in (str(self.stopped), "unfinished", "starpmc resume", "--output.overwrite"):
                self.assertIn(part, result.stderr)
            self.assertEqual(content(self.stopped), before)

    def test_other_settings(self):
        settings = self.stopped / "settings.cfg"
        settings.write_text(settings.read_text().replace("temperature = 298.15", "temperature = 300"))
        self.refused("the input has changed", "settings.cfg")

    def test_finished(self):
        result = program.start("resume", self.whole)
        self.assertEqual(result.returncode, 2)
        self.assertIn("finished", result.stderr)

    def test_no_run(self):
        result = program.start("resume", self.folder / "nothing")
        self.assertEqual(result.returncode, 2)
        self.assertIn("nothing", result.stderr)

    def test_a_profile(self):
        """Is gone on with by another command, and has no run beside its images."""
        (self.folder / "profile").mkdir()
        (self.folder / "profile/profile-topology.sha256").write_text("0\n")
        result = program.start("resume", "profile", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("starpmc profile profile/profile.cfg --output.folder profile", result.stderr)
        words = ("run", self.stopped / "settings.cfg", "--output.folder", "profile")
        for more in ((), ("--output.overwrite", "true")):
            result = program.start(*words, *more, cwd=self.folder)
            self.assertEqual(result.returncode, 2)
            self.assertIn("output.folder: holds a profile, not a run", result.stderr)
        self.assertEqual(len(list((self.folder / "profile").iterdir())), 1)

    def test_changed_option(self):
        result = program.start("resume", self.stopped, "--sampling.steps", "5")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--sampling.steps", result.stderr)


class ChangedInput(program.TestCase):
    """A run is not resumed with other files than it was begun with, and the file is named."""

    def setUp(self):
        super().setUp()
        small = program.small_system()
        files = (("system", "coordinates"), ("system", "topology"), ("qm", "grid_file"))
        for section, name in files:
            small[section][name] = shutil.copy(small[section][name], self.folder)
        config = self.config(
            **small, sampling={"steps": 10**8}, output={"checkpoint_interval": 0.1}
        )
        self.out = self.folder / "out"
        process = subprocess.Popen(
            [program.PROGRAM, "run", config, "--output.folder", self.out],
            env=program.environment(STARPU_NCPU=1),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not (self.out / "checkpoint.previous.cbor").exists():
            self.assertIsNone(process.poll(), process.returncode and process.stderr.read())
            time.sleep(0.02)
        process.kill()
        process.communicate()

    def refused_with(self, name, changed):
        path = self.folder / name
        whole = path.read_bytes()
        self.assertNotEqual(changed(whole), whole)
        path.write_bytes(changed(whole))
        before = content(self.out)
        result = program.start("resume", self.out)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for part in ("the input has changed", str(path)):
            self.assertIn(part, result.stderr)
        self.assertEqual(content(self.out), before)
        path.write_bytes(whole)

    def test_refused(self):
        for name, old, new in (
            ("small.gro", b"0.8336582", b"0.8336583"),  # a water
            ("small.gro", b"0.5958523", b"0.5958524"),  # the solute
            ("small.gro", b"1.2534127", b"1.2534128"),  # the box
            ("small.top", b"0.315061", b"0.315062"),  # sigma
            ("small.top", b"0.09572", b"0.09573"),  # a rigid geometry
        ):
            last = name == "small.gro" and old == b"1.2534127"
            self.refused_with(
                name,
                lambda text, old=old, new=new, last=last: new.join(
                    text.rsplit(old, 1) if last else text.split(old, 1)
                ),
            )

        def with_a_charge_moved(grid):
            body = bytearray(grid[:-4])
            body[24] ^= 1  # the last bit of the first point's x
            return bytes(body) + struct.pack("<I", zlib.crc32(body))

        self.refused_with("small.grid", with_a_charge_moved)


class Chains(Resume):
    def test_first_of_several_is_the_only_one(self):
        expected, _ = self.reference()
        single = program.simulate(
            self.small, self.folder / "single", "--sampling.chains", 1, *IMPLEMENTATION
        )
        self.assertEqual(single["decisions_sha256"], expected[0][0])
        self.assertEqual(single["final_coordinates_sha256"], expected[0][1])
        self.assertNotEqual(expected[1][0], expected[0][0])


class AutomaticChains(program.TestCase):
    """Their number is decided while the first one runs, whatever that one waits for."""

    def config_of(self, **sampling):
        small = program.small_system()
        small["qm"] |= {"interval": 500}
        return self.config(
            **small,
            sampling={"steps": 4000, "equilibration_steps": 500, "chains": "auto"} | sampling,
            output={"energy_interval": 10, "checkpoint_interval": 0.1},
        )

    def test_frozen_until_error(self):
        for error, steps in ((1e-9, 4000), (1e9, 0)):
            config = self.config_of(until_error=error)
            summary = program.simulate(
                config,
                self.folder / f"out-{error}",
                env={"STARPU_NCPU": 2, "STARPU_NOPENCL": 0},
                timeout=120,
            )
            self.assertEqual(len(summary["chains"]), 2)
            for chain in summary["chains"]:
                self.assertGreaterEqual(chain["steps"], steps)

    def test_without_a_folder_for_the_second(self):
        """The first one runs already, and waits at a gate for the others."""
        config = self.config_of(until_error=1e-9, steps=200000)
        out = self.folder / "out"
        out.mkdir()
        (out / "chain-1").write_text("the user's own")
        result = program.start(
            "run", config, "--output.folder", out,
            env={"STARPU_NCPU": 2, "STARPU_NOPENCL": 0},
            timeout=120,
        )  # fmt: skip
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("chain-1: is not a folder", result.stderr)
        self.assertTrue((out / "chain-0" / "checkpoint.cbor").exists())

    def test_resumed(self):
        """A resumed chain may come to a gate before its next update."""
        config = self.config_of(until_error=1e-9, steps=200000)
        out = self.folder / "out"
        environment = program.environment(STARPU_NCPU=1)
        with subprocess.Popen(
            list(map(str, (program.PROGRAM, "run", config, "--output.folder", out))),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            while not (out / "chain-0" / "checkpoint.previous.cbor").exists():
                self.assertIsNone(process.poll())
                time.sleep(0.02)
            process.kill()
        result = program.start("resume", out, env={"STARPU_NCPU": 1}, timeout=200)
        self.assertEqual(result.returncode, 0, result.stderr)


class UntilError(program.TestCase):
    def wait_for_another(self, checkpoint, process):
        """Until the running process has replaced this checkpoint, or made the first one."""
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
        while not checkpoint.exists() or checkpoint.stat().st_mtime_ns == before:
            self.assertIsNone(process.poll(), "the run ended before it was killed")
            time.sleep(0.005)

    def test_stopped_again_while_chains_are_apart(self):
        """A chain that was resumed between two gates still has passed those before."""
        config = self.config(
            **program.plain_system("argon/argon"),
            sampling={"steps": 600000, "equilibration_steps": 1000, "chains": 2,
                      "until_error": 1e-9},
            output={"energy_interval": 100, "trajectory_interval": 50000,
                    "checkpoint_interval": 0.1},
        )  # fmt: skip
        out = self.folder / "out"
        arguments = list(map(str, (program.PROGRAM, "run", config, "--output.folder", out)))
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        quiet |= {"stderr": subprocess.DEVNULL, "env": program.environment(STARPU_NCPU=1)}
        with subprocess.Popen(arguments, **quiet) as process:
            self.wait_for_another(out / "chain-1" / "checkpoint.cbor", process)
            process.send_signal(signal.SIGSTOP)
            shutil.copytree(out / "chain-1", self.folder / "behind")
            process.send_signal(signal.SIGCONT)
            for _ in range(8):
                self.wait_for_another(out / "chain-1" / "checkpoint.cbor", process)
            process.kill()
        # As after a power cut: one chain's files are older than the other's.
        shutil.rmtree(out / "chain-1")
        shutil.copytree(self.folder / "behind", out / "chain-1")
        log = out / "run.log"
        with subprocess.Popen([program.PROGRAM, "resume", str(out)], **quiet) as process:
            while log.read_text().count("goes on at step") < 2:
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            process.wait(60)
        self.assertFalse((out / "summary.json").exists())
        result = program.start("resume", out, env={"STARPU_NCPU": 1}, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_ends_early_and_at_the_same_step(self):
        config = self.config(**program.ended_early(chains=2))
        first = program.simulate(config, self.folder / "a")
        energy = first["total_energy"]
        self.assertTrue(energy["known_to_within_it"])
        self.assertLessEqual(energy["error"], 8)
        self.assertLess(first["chains"][0]["steps"], 2000000)
        # Not a matter of timing: one worker for both chains, the same end.
        second = program.simulate(config, self.folder / "b", env={"STARPU_NCPU": 1})
        for name in ("steps", "decisions_sha256", "final_coordinates_sha256"):
            self.assertEqual(
                [chain[name] for chain in first["chains"]],
                [chain[name] for chain in second["chains"]],
            )


if __name__ == "__main__":
    program.main()
