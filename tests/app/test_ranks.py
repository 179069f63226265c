"""Runs over several processes: the same decisions, one output folder, and an end to all that goes wrong.

    python3 test_ranks.py PROGRAM
"""

import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import time

import program

CHAINS = 4
MPIRUN = shutil.which("mpirun")
SILENCE = 30  # seconds after which a rank counts as lost
OPTIONS = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")


def mpi_missing():
    if MPIRUN is None:
        return "no mpirun"
    needed = subprocess.run(
        ["ldd", program.PROGRAM], capture_output=True, text=True, check=False
    ).stdout
    return "" if "libmpi" in needed else "starpmc was built without MPI"


def results(folder):
    """What may not depend on the number of processes."""
    summary = program.json.loads((folder / "summary.json").read_text())
    chains = summary["chains"]
    for chain in chains:
        for update in chain["qm_updates"]:
            for name in [name for name in update if name.startswith("seconds")]:
                del update[name]
    tables = [(folder / f"chain-{n}" / "energies.csv").read_bytes() for n in range(len(chains))]
    return chains, summary["total_energy"], tables


def ranks_of(process):
    """Process numbers of the ranks that this mpirun has started, by rank."""
    ranks = {}
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (path / "stat").read_text().rpartition(")")[2].split()
            variables = (path / "environ").read_bytes().split(b"\0")
            command = (path / "exe").resolve()
        except OSError:
            continue
        rank = [v for v in variables if v.startswith(b"OMPI_COMM_WORLD_RANK=")]
        if int(stat[1]) == process.pid and rank and command == program.PROGRAM:
            ranks[int(rank[0].partition(b"=")[2])] = int(path.name)
    return [ranks[rank] for rank in sorted(ranks)]


def lives(number):
    try:
        stat = pathlib.Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"  # which holds nothing any more


def kill_launcher(process):
    """Returns when the ranks have seen it and are gone: they hold their folder until then."""
    ranks = ranks_of(process)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while any(lives(rank) for rank in ranks):
        assert time.monotonic() < deadline, f"ranks {ranks} live on"
        time.sleep(0.01)


class Ranks(program.TestCase):
    steps = 6000

    def setUp(self):
        reason = mpi_missing()
        if reason:
            self.skipTest(reason)
        super().setUp()
        small = program.small_system()
        small["qm"] |= {"interval": 1500}
        self.sections = small | {
            "sampling": {
                "steps": self.steps,
                "equilibration_steps": 1000,
                "tune_interval": 100,
                "chains": CHAINS,
            },
            "output": {
                "energy_interval": 50,
                "trajectory_interval": 500,
                "checkpoint_interval": 0.1,
            },
            "run": {"implementation": "simd"},
        }
        self.input = self.config(**self.sections)
        self.environment = program.environment(STARPU_NCPU=1)

    def single(self, *arguments):
        folder = self.folder / "single"
        program.simulate(self.input, folder, *arguments, env={"STARPU_NCPU": 1})
        return results(folder)

    def start(self, ranks, *arguments, **options):
        words = [MPIRUN, *OPTIONS, "-np", ranks, program.PROGRAM, *arguments]
        defaults = {
            "env": self.environment,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        return subprocess.Popen([str(word) for word in words], **(defaults | options))

    def finish(self, process, status=0, timeout=120):
        output, errors = process.communicate(timeout=timeout)
        self.assertEqual(process.returncode, status, f"{output}{errors}")
        return output, errors

    def wait_for_checkpoints(self, folder):
        """Of all chains, twice."""
        deadline = time.monotonic() + 60
        files = [folder / f"chain-{n}" / "checkpoint.previous.cbor" for n in range(CHAINS)]
        while not all(file.exists() for file in files):
            self.assertLess(time.monotonic(), deadline, "no checkpoints")
            time.sleep(0.02)

    def resume_alone(self, folder):
        """In one process; every checkpoint must be taken as it is."""
        result = program.succeed("resume", folder, env={"STARPU_NCPU": 1})
        self.assertNotIn("checkpoint", result.stderr)
        self.assertNotIn("starts anew", (folder / "run.log").read_text())
        return results(folder)


class Same(Ranks):
    def test_as_one_process(self):
        expected = self.single()
        for ranks in (2, 3, 4):
            folder = self.folder / f"ranks-{ranks}"
            output, _ = self.finish(self.start(ranks, "run", self.input, "--output.folder", folder))
            self.assertEqual(results(folder), expected, f"{ranks} ranks")
            self.assertEqual(output.count("Mean total energy"), 1)
            for rank in range(ranks):
                self.assertIn(f"  rank {rank} (", output)
            self.assertEqual(
                sorted(path.name for path in folder.iterdir()),
                [*(f"chain-{n}" for n in range(CHAINS)), "run.log", "settings.cfg", "summary.json"],
            )
            log = (folder / "run.log").read_text()
            for chain in range(CHAINS):
                self.assertIn(f"chain {chain}: the stored density has", log)
            self.assertIn("100.0 %", log)
            # All of them were given the same one here.
            self.assertIn("share processors", log)

    def test_bound_to_few_processors(self):
        """As mpirun binds by default; with all of them nothing is said."""
        processors = os.sched_getaffinity(0)
        if len(processors) < 2:
            self.skipTest("one processor")
        command = [MPIRUN, *OPTIONS, "-np", 2, "taskset", "-c"]
        for used, warned in ((min(processors), True), (",".join(map(str, processors)), False)):
            folder = self.folder / f"used-{used}"
            words = [*command, used, program.PROGRAM, "run", self.input, "--output.folder", folder]
            result = subprocess.run(
                [str(word) for word in words], env=self.environment, check=True, timeout=120,
                capture_output=True, text=True,
            )  # fmt: skip
            told = f"may use 1 of the {len(processors)} processors of "
            summary = program.json.loads((folder / "summary.json").read_text())
            said = [warning for warning in summary["warnings"] if "processors of" in warning]
            self.assertEqual(len(said), int(warned), said)
            for text in (result.stderr, (folder / "run.log").read_text()):
                self.assertEqual(text.count(told), int(warned), text)
            for warning in said:
                self.assertIn(told, warning)
                self.assertIn("--bind-to none", warning)

    def test_until_error(self):
        """Chains on several ranks meet at the same steps, and decide the same."""
        self.input = self.config(**program.ended_early(chains=3))
        expected = self.single()
        self.assertTrue(expected[1]["known_to_within_it"])
        self.assertLess(expected[0][0]["steps"], 2000000)
        for ranks in (2, 3):
            folder = self.folder / f"ranks-{ranks}"
            self.finish(self.start(ranks, "run", self.input, "--output.folder", folder))
            self.assertEqual(results(folder), expected)

    def test_automatic_number(self):
        folder = self.folder / "automatic"
        words = ("--sampling.chains", "auto", "--sampling.steps", 500, "--output.folder", folder)
        self.finish(self.start(2, "run", self.input, *words))
        chains = results(folder)[0]
        self.assertGreaterEqual(len(chains), 2)
        self.assertIn(f"chains = {len(chains)}\n", (folder / "settings.cfg").read_text())

    def test_progress_on_a_terminal(self):
        terminal, other_end = pty.openpty()
        folder = self.folder / "progress"
        words = ("--sampling.steps", 29000, "--output.folder", folder)  # long enough to see it move
        process = self.start(2, "run", self.input, *words, stderr=other_end)
        os.close(other_end)
        shown = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(terminal)
        self.finish(process)
        # The total grows until every chain has begun.
        lines = re.findall(r"([0-9.]+) %.*?step ([0-9]+)/([0-9]+)", shown.decode())
        self.assertGreater(len(lines), 1, shown)
        self.assertEqual(lines[-1], ("100.0", "120000", "120000"), shown)


class Refused(Ranks):
    def refuse(self, status, message, *arguments):
        folder = self.folder / "refused"
        process = self.start(2, "run", self.input, *arguments, "--output.folder", folder)
        _, errors = self.finish(process, status)
        self.assertEqual(errors.count("starpmc: error:"), 1, errors)
        self.assertIn(message, errors)
        self.assertFalse(folder.exists())

    def test_bad_option(self):
        self.refuse(2, "--sampling.steps", "--sampling.steps", "many")

    def test_missing_file(self):
        self.refuse(2, "nothing.gro", "--system.coordinates", self.folder / "nothing.gro")

    def test_missing_engine(self):
        self.refuse(2, "qm.python", "--qm.engine", "pyscf", "--qm.python", self.folder / "nothing")

    def test_too_many_ranks(self):
        self.refuse(2, "fewer chains than processes", "--sampling.chains", 1)

    def test_folder_of_another_run(self):
        folder = self.folder / "single"
        self.single()
        _, errors = self.finish(self.start(2, "run", self.input, "--output.folder", folder), 2)
        self.assertEqual(errors.count("starpmc: error:"), 1, errors)
        self.assertIn("holds the results of a finished run", errors)

    def test_without_the_launcher_s_mpi(self):
        """Several copies that do not know of each other must not run as if alone."""
        folder = self.folder / "refused"
        for variables in (
            {"SLURM_STEP_NUM_TASKS": 2, "SLURM_PROCID": 0},
            {"OMPI_COMM_WORLD_SIZE": 2},
        ):
            result = program.start("run", self.input, "--output.folder", folder, env=variables)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("several copies of this program were started", result.stderr)
            self.assertFalse(folder.exists())


class Stopped(Ranks):
    steps = 60000

    def begin(self, ranks=2):
        self.stopped = self.folder / "stopped"
        process = self.start(ranks, "run", self.input, "--output.folder", self.stopped)
        self.wait_for_checkpoints(self.stopped)
        return process

    def test_rank_killed(self):
        expected = self.single()
        for victim in (0, 1):
            process = self.begin()
            os.kill(ranks_of(process)[victim], signal.SIGKILL)
            start = time.monotonic()
            _, errors = process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0)
            self.assertLess(time.monotonic() - start, 10)
            self.assertIn(f"rank {victim} with", errors)
            self.assertIn("signal 9 (Killed)", errors)
            self.assertFalse((self.stopped / "summary.json").exists())
            self.assertEqual(self.resume_alone(self.stopped), expected)
            shutil.rmtree(self.stopped)

    def test_signal(self):
        expected = self.single()
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.begin()
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0)
            self.assertRegex(
                errors,
                r"(?m)^starpmc: stopped after \d+ steps; "
                rf"go on with: mpirun -np 2 starpmc resume {self.stopped}$",
            )
            self.assertEqual(errors.count("stopping: the windows"), 1, errors)
            self.finish(self.start(4, "resume", self.stopped))
            self.assertEqual(results(self.stopped), expected)
            shutil.rmtree(self.stopped)

    def test_silent_rank(self):
        """Stopped, not dead: the launcher sees nothing, the others do."""
        process = self.begin()
        victim = ranks_of(process)[1]
        os.kill(victim, signal.SIGSTOP)
        try:
            _, errors = process.communicate(timeout=SILENCE + 60)
        finally:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(errors, r"nothing was heard of rank 1 \(.*\) for 30 s")
        self.assertEqual(self.resume_alone(self.stopped), self.single())

    def test_failing_chain(self):
        """One chain's failure on one rank: all stop at their checkpoints, with its message."""
        expected = self.single()
        kill_launcher(self.begin())
        other = self.folder / "other"
        words = ("run", self.input, "--sampling.temperature", 310, "--output.folder", other)
        foreign = self.start(2, *words)
        self.wait_for_checkpoints(other)
        kill_launcher(foreign)
        file = self.stopped / "chain-3" / "checkpoint.cbor"
        own = file.read_bytes()
        file.write_bytes((other / "chain-3" / "checkpoint.cbor").read_bytes())
        _, errors = self.finish(self.start(2, "resume", self.stopped), 2)
        self.assertEqual(errors.count("starpmc: error:"), 1, errors)
        self.assertRegex(errors, r"rank 1 \(.*\): .*chain-3/checkpoint.cbor: the input has changed")
        file.write_bytes(own)
        self.assertEqual(self.resume_alone(self.stopped), expected)


if __name__ == "__main__":
    program.main()
