"""`starpmc profile` over several processes: the files of one, by any way there, and one message of what goes
wrong.

usage: test_profile_ranks.py PROGRAM [TEST ...]
"""

import functools
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from profile_case import MODEL, ProfileCase, model_path, program, table
from test_ranks import MPIRUN, OPTIONS, kill_launcher, mpi_missing, ranks_of
from test_resume import trajectory

# Two images get one between them, and all three twice the steps.
PLACES, STEPS = [0, 2], 1500
DECIDED = {"least_overlap": 0.08, "until_error": 0.9}
# Ranks of a test share their cores; what they do does not depend on it.
CORES = {"STARPU_NCPU": 1, "STARPU_WORKERS_NOBIND": 1}


def results(folder, of_file=pathlib.Path.read_bytes):
    """Of all files but those that tell of times, folders and what was resumed."""
    told = {".log", ".cfg", ".svg", ".cbor", ".aside-1", ".aside-2"}
    named = ("summary.json", "reference.h5", "reference-start")
    return {
        str(path.relative_to(folder)): of_file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in told and not path.name.startswith(named)
    }


def content(path):
    """HDF5 lays out a file that it has opened again otherwise."""
    return trajectory(path) if path.suffix == ".h5md" else path.read_bytes()


@functools.cache
def common_folder():
    """Of all tests: what they read, and the profile that one process makes of it."""
    folder = tempfile.TemporaryDirectory(prefix="starpmc-test-")
    case = ProfileCase()
    case.folder = pathlib.Path(folder.name)
    settings = case.settings(PLACES, steps=STEPS, chains=2)
    settings["profile"] |= DECIDED
    program.write_config(case.folder / "test.cfg", **settings)
    return folder


@functools.cache
def profile_of_one_process():
    """Its folder, and what it said."""
    case = ProfileCase()
    folder = pathlib.Path(common_folder().name)
    case.profile(folder / "test.cfg", folder / "made", env=CORES)
    return folder / "made", case.said


class Ranks(ProfileCase):
    def setUp(self):
        if reason := mpi_missing():
            self.skipTest(reason)
        super().setUp()
        self.config_file = pathlib.Path(common_folder().name) / "test.cfg"
        self.made = self.folder / "made"

    def start(self, ranks, *words, of_last=(), **variables):
        """of_last, variables: words and environment of the last rank alone."""
        ours = [program.PROGRAM, "profile", self.config_file, "--output.folder", self.made, *words]
        command = ours
        if ranks > 1:
            named = [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
            command = [MPIRUN, *OPTIONS, "-np", ranks - 1, *ours, ":",
                       "-np", 1, *named, *ours, *of_last]  # fmt: skip
        return subprocess.Popen(
            [str(word) for word in command],
            env=program.environment(**MODEL, **CORES),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish(self, process, status=0):
        output, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, status, output + errors)
        return output, errors

    def wait_for(self, process, name):
        deadline = time.monotonic() + 300
        while not (self.made / name).exists():
            self.assertIsNone(process.poll(), f"ended without {name}")
            self.assertLess(time.monotonic(), deadline, f"no {name}")
            time.sleep(0.001)

    def assert_same(self, of_file=content):
        one, _ = profile_of_one_process()
        expected, found = (results(folder, of_file) for folder in (one, self.made))
        self.assertIn("image-03/chain-1/trajectory.h5md", expected)
        self.assertEqual(sorted(found), sorted(expected))
        self.assertEqual([name for name in expected if found[name] != expected[name]], [])


class Same(Ranks):
    def test_as_one_process(self):
        output, errors = self.finish(self.start(2))
        self.assert_same(pathlib.Path.read_bytes)
        _, expected = profile_of_one_process()
        for said in ("an image between", "twice the steps for", "image 2 of 3 (image-03) sampled",
                     "energies of image 3 of 3 under all", "(last): "):  # fmt: skip
            self.assertIn(said, expected)
            self.assertEqual(output.count(said), expected.count(said), output)
        self.assertEqual(errors.count("has a net charge"), 1, errors)
        log = (self.made / "image-03/run.log").read_text()
        self.assertRegex(log, r"process 2 of 2: rank 1")
        self.assertRegex(log, r"rank 1 \(.*\): .*block (accepted|rejected)")

    def test_references_made_ahead(self):
        """By rank 0, where a device samples."""
        if missing := program.opencl_missing():
            self.skipTest(missing)
        short = ("--profile.until-error", 0, "--profile.least-overlap", 0, "--profile.most-frames", 20,
                 "--sampling.steps", 600, "--sampling.equilibration-steps", 400)  # fmt: skip
        self.profile(self.config_file, self.folder / "alone", *short, env=CORES)
        self.finish(self.start(2, "--run.implementation", "opencl", *short))
        log = (self.made / "image-01/run.log").read_text()
        self.assertEqual(log.count("the next image's reference density"), 1)
        settings = (self.made / "image-02/settings.cfg").read_text()
        self.assertRegex(settings, r"(?m)^reference = .*image-02/ahead/reference.h5$")
        chains = [f"image-0{image}/chain-{chain}" for image in (1, 2) for chain in (0, 1)]
        for name in ("profile.csv", *(f"{chain}/dhdl.xvg" for chain in chains)):
            one, other = ((folder / name).read_bytes() for folder in (self.folder / "alone", self.made))
            self.assertEqual(one, other, name)


class Failed(Ranks):
    def test_a_rank_s_failure(self):
        """Of a chain there: all end, in one way, and one process makes the profile from there."""
        process = self.start(2, STARPMC_MODEL_FAILS=5)
        _, errors = self.finish(process, 1)
        self.assertEqual(errors.count("starpmc: error:"), 1, errors)
        self.assertRegex(errors, r"image 2 of 2 \(.*image-02\): rank 1 \(.*\): .*told to fail")
        self.assertIn("goes on from there with: mpirun -np 2 starpmc profile", errors)
        self.assertTrue((self.made / "image-01/summary.json").exists())
        self.assertFalse((self.made / "image-02/summary.json").exists())
        self.finish(self.start(1))
        self.assert_same()

    def test_failed_evaluation(self):
        """Frames of one rank cannot be read: no file is left half made, and all end."""
        self.finish(self.start(2, "--profile.until-error", 0, "--profile.least-overlap", 0))
        trajectory = self.made / "image-02/chain-1/trajectory.h5md"
        whole = trajectory.read_bytes()
        trajectory.write_bytes(whole[: len(whole) // 2])
        evaluated = self.made / "image-02/chain-1/dhdl.xvg"
        evaluated.unlink()
        # Of two chains to be evaluated the second is rank 1's.
        (self.made / "image-02/chain-0/dhdl.xvg").unlink()
        _, errors = self.finish(self.start(2), 2)
        self.assertEqual(errors.count("starpmc: error:"), 1, errors)
        self.assertRegex(errors, r"rank 1 \(.*\): .*chain-1/trajectory.h5md")
        self.assertFalse(evaluated.exists())
        trajectory.write_bytes(whole)
        self.finish(self.start(2))
        self.assertEqual(len(table(self.made / "profile.csv")), 3)


class Refused(Ranks):
    def test_refused(self):
        for ranks, says, words in (
            (2, "none.xyz", ("--profile.path", self.folder / "none.xyz")),
            (2, "--sampling.steps", ("--sampling.steps", "many")),
            (3, "fewer chains than processes", ()),
        ):
            _, errors = self.finish(self.start(ranks, *words), 2)
            self.assertEqual(errors.count("starpmc: error:"), 1, errors)
            self.assertIn(says, errors)
            self.assertFalse(self.made.exists())

    def test_paths_that_differ(self):
        """Each rank reads the path for itself."""
        other = self.folder / "other.xyz"
        model_path.write_path(other, [0, 1.9])
        _, errors = self.finish(self.start(2, of_last=("--profile.path", other)), 2)
        self.assertEqual(errors.count("starpmc: error:"), 1, errors)
        self.assertRegex(errors, r"rank 1 \(.*\): .*reads otherwise here than at rank 0")
        self.assertFalse((self.made / "image-01").exists())


class Stopped(Ranks):
    def test_gone_on_with_another_number(self):
        """After a signal, and after kill -9 in the midst of an image and of a decision."""
        often = ("--output.checkpoint-interval", 0.1)
        process = self.start(2, *often)
        self.wait_for(process, "image-01/chain-1/blocks.csv")
        os.kill(ranks_of(process)[1], signal.SIGTERM)  # the other hears of it
        _, errors = self.finish(process, 128 + signal.SIGTERM)
        self.assertIn(f"starpmc: stopped; go on with: mpirun -np 2 starpmc profile {self.made}", errors)
        self.assertNotIn("error:", errors)
        self.assertTrue((self.made / "image-01/chain-1/checkpoint.cbor").exists())
        killed = 0
        for ranks, sign in ((1, "image-02/chain-1/blocks.csv"), (2, "profile-added.json")):
            process = self.start(ranks, *often)
            self.wait_for(process, sign)
            killed += process.poll() is None
            kill_launcher(process)
        self.assertEqual(killed, 2)
        self.assertFalse((self.made / "profile.csv").exists())
        output, _ = self.finish(self.start(1))
        self.assertIn("2 of 3 images are there", output)
        self.assert_same()


if __name__ == "__main__":
    program.main()
