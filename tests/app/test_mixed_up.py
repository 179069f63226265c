"""Whatever is exchanged, damaged or missing in a stopped run's folder: resume refuses it and says
why, or goes on to the same results; it deletes nothing.

    python3 test_mixed_up.py PROGRAM
"""

import os
import random
import shutil
import signal
import time

import program
import test_resume

FLIPS = 30
FILES = ("energies.csv", "trajectory.h5md")
CHECKPOINTS = ("checkpoint.cbor", "checkpoint.previous.cbor")


class Stopped(test_resume.Resume):
    """Ctrl-C writes a checkpoint at the last step, so that all of every file is before it."""

    def stop(self, name, *options):
        folder = self.folder / name
        process = self.start_process(
            "run", self.small, "--output.folder", folder, *test_resume.IMPLEMENTATION,
            "--sampling.steps", 10**7, *options,
        )  # fmt: skip
        while not all(
            (folder / f"chain-{n}" / "checkpoint.previous.cbor").exists()
            and "\n300," in (folder / f"chain-{n}" / "energies.csv").read_text()
            for n in range(self.chains)
        ):
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, output + errors)
        return folder

    def setUp(self):
        super().setUp()
        self.stopped = self.stop("stopped")
        self.chain = self.stopped / "chain-0"

    def refused(self, *parts):
        before = test_resume.content(self.stopped)
        result = program.start("resume", self.stopped)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for part in (*parts, "remedy: "):
            self.assertIn(str(part), result.stderr)
        self.assertEqual(test_resume.content(self.stopped), before)

    def replaced(self, path, other, *parts):
        """Another file in the place of one is refused; the one is then put back."""
        kept = path.with_name("kept")
        path.rename(kept)
        if other is not None:
            shutil.copy(other, path)
        self.refused(path, *parts)
        kept.replace(path)


class MixedUp(Stopped):
    def test_bit_flips(self):
        """Any bit of the table of energies before the checkpoint."""
        table = self.chain / "energies.csv"
        whole = table.read_bytes()
        seed = int(os.environ.get("STARPMC_TEST_SEED", random.randrange(10**6)))
        print(f"STARPMC_TEST_SEED={seed}")
        draw = random.Random(seed)
        for _ in range(FLIPS):
            damaged = bytearray(whole)
            damaged[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
            table.write_bytes(damaged)
            self.refused(table, "is damaged or of another run or chain", "SHA-256")

    def test_chain_folders_swapped(self):
        other = self.stopped / "chain-1"
        self.chain.rename(self.stopped / "kept")
        other.rename(self.chain)
        (self.stopped / "kept").rename(other)
        self.refused(self.chain / "checkpoint.cbor", "chain 0", "found 'chain 1'", "chain-N")

    def test_files_of_another_chain(self):
        other = self.stopped / "chain-1"
        for name in FILES:  # the other chain's table may be the shorter one, which is found first
            self.replaced(self.chain / name, other / name)
        for name in CHECKPOINTS:
            shutil.copy(other / name, self.chain / name)
        self.refused(self.chain / "checkpoint.cbor", "found 'chain 1'")

    def test_files_of_another_run(self):
        other = self.stop("other", "--sampling.seed", 99) / "chain-0"
        for name in FILES:  # shorter, or another one
            self.replaced(self.chain / name, other / name)
        self.replaced(self.chain / "checkpoint.cbor", other / "checkpoint.cbor", "has changed")

    def test_missing(self):
        for name in FILES:
            self.replaced(self.chain / name, None, "is missing")

    def test_shorter(self):
        table = self.chain / "energies.csv"
        table.write_bytes(table.read_bytes()[:-1])
        self.refused(table, "is shorter")

    def test_no_checkpoint_but_frames(self):
        """A table without steps does not make a trajectory with steps worthless."""
        for name in CHECKPOINTS:
            (self.chain / name).unlink()
        table = self.chain / "energies.csv"
        table.write_text(table.read_text().split("\n50,")[0] + "\n")
        self.refused(self.chain / "trajectory.h5md", "holds results", "checkpoint.cbor")


class Started(test_resume.Resume):
    """Killed before the first step, a chain begins anew."""

    def test_set_aside(self):
        expected = self.reference()
        folder = self.folder / "started"
        chain = folder / "chain-0"
        shutil.copytree(self.whole, folder)
        (folder / "summary.json").unlink()
        for path in folder.rglob("checkpoint*.cbor"):
            path.unlink()
        shutil.rmtree(folder / "chain-1")
        (chain / "trajectory.h5md").write_bytes(b"half of a header")
        table = chain / "energies.csv"
        begun = table.read_text().split("\n50,")[0] + "\n"
        table.write_text(begun)
        (chain / "trajectory.h5md.aside-1").write_text("of an earlier kill")
        self.finish(self.resume(folder))
        self.assertEqual((chain / "trajectory.h5md.aside-1").read_text(), "of an earlier kill")
        self.assertEqual((chain / "energies.csv.aside-1").read_text(), begun)
        self.assertEqual((chain / "trajectory.h5md.aside-2").read_bytes(), b"half of a header")
        self.assertRegex((folder / "run.log").read_text(), "warning: .*energies.csv.aside-1")
        self.assertEqual(test_resume.results(folder, self.summary(folder)), expected)


if __name__ == "__main__":
    program.main()
