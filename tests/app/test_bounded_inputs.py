"""Inputs without end or measure: each is refused, or read, within a few seconds and a gigabyte, in an
error that names the file and says what to do.

    python3 test_bounded_inputs.py PROGRAM
"""

import os
import shutil
import signal
import subprocess
import threading
import unittest

import program

SMALL = program.DATA / "small"
SECONDS = 5  # of the program's own time: the machine may be busy with other tests
GIBIBYTE = 1 << 30
SANITIZED = b"__asan_init" in program.PROGRAM.read_bytes()  # slower and larger
BARE = ("bad_alloc", "basic_filebuf", "filebuf::underflow", "temporarily unavailable", "what():")


class Bounded(program.TestCase):
    def setUp(self):
        super().setUp()
        for name in ("small.gro", "small.top", "small.grid"):
            shutil.copy(SMALL / name, self.folder)
        self.write(
            "run.cfg",
            "[system]\ncoordinates = small.gro\ntopology = small.top\n"
            "qm-molecule = formaldehyde\n[qm]\nengine = frozen\ngrid-file = small.grid\n"
            "[sampling]\nsteps = 20\n",
        )

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def measured(self, *words):
        """The finished process's status and what it said; its time and memory are checked."""
        process = subprocess.Popen(
            ["prlimit", "--cpu=20", program.PROGRAM, *map(str, words)],
            cwd=self.folder,
            env=program.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        killer = threading.Timer(60, process.send_signal, [signal.SIGKILL])
        killer.start()
        with process.stderr:
            said = process.stderr.read().decode("utf-8")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        killer.cancel()
        seconds = usage.ru_utime + usage.ru_stime
        if not SANITIZED:
            self.assertLess(seconds, SECONDS, said)
            self.assertLess(usage.ru_maxrss * 1024, GIBIBYTE, said)
        for text in BARE:
            self.assertNotIn(text, said)
        return process.returncode, said

    def refused(self, *words, parts):
        status, said = self.measured(*words)
        self.assertEqual(status, 2, said)
        self.assertTrue(said.startswith("starpmc: error: "), said)
        self.assertIn("remedy:", said)
        self.assertLess(len(said), 3000, said)
        for part in parts:
            self.assertIn(part, said)

    def topology_with(self, text):
        self.write("small.top", text + (SMALL / "small.top").read_text())

    def test_no_regular_file_in_any_place(self):
        """Pipes that nobody writes to, devices without end, folders."""
        os.mkfifo(self.folder / "pipe")
        (self.folder / "folder").mkdir()
        shutil.copy(SMALL / "small.gro", self.folder / "solute.gro")
        self.write("r.pqr", "ATOM 1 O RES 1 0 0 0 -0.5 1.5\nEND\n")
        others = {"pipe": "a pipe", "folder": "", "/dev/zero": "a device"}
        score = ("score", "--receptor", "r.pqr", "--ligand", "r.pqr", "--output", "s")
        for other, kind in others.items():
            run = ("run", "run.cfg")
            places = [
                ("configuration", ("run", other), [other]),
                ("coordinates", (*run, "--system.coordinates", other), ["system.coordinates"]),
                ("topology", (*run, "--system.topology", other), ["system.topology"]),
                ("solute", (*run, "--system.solute", other), ["system.solute"]),
                ("grid", (*run, "--qm.grid-file", other), ["qm.grid-file"]),
                ("table", (*run, "--potential.parameters", other), ["potential.parameters"]),
                ("energy", ("energy", "run.cfg", "--qm.grid-file", other), ["qm.grid-file"]),
                ("receptor", ("score", "--receptor", other, "--ligand", "r.pqr", "--output", "s"), []),
                ("ligand", ("score", "--receptor", "r.pqr", "--ligand", other, "--output", "s"), []),
                ("well depths",
                 (*score, "--terms", "coulomb+12-6", "--well-depths", other), [other]),
                ("parameters", (*score, "--terms", "coulomb+12-6", "--topology", other), [other]),
                ("types", ("solvate", "--solute", "solute.gro", "--waters", "10", "--output", "made",
                           "--table", other),
                 [other]),
            ]  # fmt: skip
            for suffix in ("xyz", "gro"):
                link = f"solute-{kind.split(' ')[-1] or 'folder'}.{suffix}"
                (self.folder / link).symlink_to(other)
                places.append(
                    (f"solvate {suffix}", ("solvate", "--solute", link, "--waters", "10", "--output", "made"), [link])
                )
            for suffix in ("pqr", "xyz", "csv"):
                link = f"poses-{kind.split(' ')[-1] or 'folder'}.{suffix}"
                (self.folder / link).symlink_to(other)
                places.append((f"poses {suffix}", (*score, "--poses", link), [link]))
            for name, words, parts in places:
                with self.subTest(f"{other}: {name}"):
                    self.refused(*words, parts=[*parts, *filter(None, [kind])])

    def test_defines_that_double(self):
        lines = [f"#define a{i} a{i + 1} a{i + 1}" for i in range(30)]
        for last in ("", " 1"):
            with self.subTest(last):
                self.topology_with("\n".join([*lines, f"#define a30{last}", "[ defaults ]", "a0\n"]))
                self.refused("run", "run.cfg", parts=["small.top:33", "#define"])

    def test_many_lines_of_defines(self):
        text = "\n".join(f"#define a{i} a{i + 1} a{i + 1}" for i in range(15))
        self.topology_with(text + "\n[ defaults ]\n" + "a0\n" * 100000)
        self.refused("run", "run.cfg", parts=["small.top:", "#define"])

    def test_includes_that_double(self):
        for i in range(40):
            self.write(f"{i}.itp", f'#include "{i + 1}.itp"\n' * 2)
        self.write("40.itp", "; nothing\n")
        self.topology_with('#include "0.itp"\n')
        self.refused("run", "run.cfg", parts=[".itp:", "10000 files"])
        self.write("40.itp", "; nothing\n" * 3000)
        self.refused("run", "run.cfg", parts=[".itp:", "lines"])

    def test_nested_includes(self):
        for i in range(20000):
            self.write(f"{i}.itp", f'#include "{i + 1}.itp"\n')
        self.write("20000.itp", "; nothing\n")
        self.topology_with('#include "0.itp"\n')
        self.refused("run", "run.cfg", parts=["62.itp:1", "nested"])

    def test_long_lines(self):
        self.topology_with("[ defaults ] ; " + "x" * 300000 + "\n[ defaults ]\n" + "x" * 300000 + "\n")
        self.refused("run", "run.cfg", parts=["small.top:3", "characters"])
        self.topology_with("a \\\n" * 100000 + "\n")
        self.refused("run", "run.cfg", parts=["small.top:1", "characters"])
        self.write("r.pqr", "ATOM 1 O RES 1 0 0 0 -0.5 1.5\nEND\n")
        self.write("l.pqr", "ATOM" + " " * 3000000 + "\n")
        self.refused("score", "--receptor", "r.pqr", "--ligand", "l.pqr", parts=["l.pqr:1", "longer"])

    def test_files_larger_than_the_disk(self):
        """Sparse ones: nothing but zeros."""
        for option, name in (
            ("system.coordinates", "small.gro"),
            ("system.topology", "small.top"),
            ("qm.grid-file", "small.grid"),
        ):
            with self.subTest(option):
                huge = self.folder / f"huge-{name}"
                huge.touch()
                os.truncate(huge, 100 << 30)
                self.refused("run", "run.cfg", f"--{option}", huge, parts=[huge.name, "MiB"])
        with self.subTest("lines"):
            self.write("lines.top", "\n" * 20000000)
            self.refused(
                "run", "run.cfg", "--system.topology", "lines.top", parts=["lines.top:5000001"]
            )

    def test_many_kinds_of_molecules(self):
        text = (SMALL / "small.top").read_text().split("[ system ]")
        kinds = "".join(
            f"[ moleculetype ]\nM{i} 1\n[ atoms ]\n1 opls_111 1 M OW 1\n" for i in range(100000)
        )
        self.write("small.top", text[0] + kinds + "[ system ]" + text[1])
        status, said = self.measured("energy", "run.cfg")
        self.assertEqual(status, 0, said)

    def test_sums_of_thousands_of_terms(self):
        for term in ("{0}*sin({0}*r)", "{0}*exp(-{0}*r)"):
            terms = "+".join(term.format(i) for i in range(1, 3001))
            with self.subTest(term):
                self.write(
                    "argon.cfg",
                    f"[system]\ncoordinates = {program.DATA}/argon/argon.gro\n"
                    f"topology = {program.DATA}/argon/argon.top\n[sampling]\nsteps = 20\n"
                    "[interaction]\nvdw-cutoff = 4\n"  # few pairs: they are not what it is about
                    f"[potential]\nmm-vdw = {terms}\n",
                )
                status, said = self.measured("energy", "argon.cfg", "--implementation", "scalar")
                self.assertEqual(status, 0, said)
                status, said = self.measured("expression", terms, "--pairs")
                self.assertEqual(status, 0, said)

    @unittest.skipIf(SANITIZED, "sanitizers take more than that")
    def test_too_little_memory_and_too_few_files_are_said_so(self):
        big = self.big()
        for limit, words in (
            ("--as=300000000", ("score", "--receptor", big, "--ligand", big)),
            ("--nofile=4", ("run", "run.cfg")),
        ):
            with self.subTest(limit):
                result = program.start(limit, program.PROGRAM, *words, cwd=self.folder,
                                       program="prlimit")  # fmt: skip
                self.assertIn(result.returncode, (1, 2), result.stderr)
                self.assertIn("starpmc: error: ", result.stderr)
                for text in BARE:
                    self.assertNotIn(text, result.stderr)

    def big(self):
        """A receptor that does not fit into a small memory."""
        path = self.folder / "big.pqr"
        lines = (
            f"ATOM {i} O RES 1 {i % 100} {i // 100 % 100} {i // 10000} 0 1" for i in range(1000000)
        )
        path.write_text("\n".join(lines))
        return path


if __name__ == "__main__":
    program.main()
