"""`cmake --install`: the tree is complete and the installed program works from anywhere.

    python3 test_install.py PROGRAM BUILD_FOLDER [CMAKE]
"""

import pathlib
import subprocess
import sys

# Not unittest's: the build folder, CMake.
WORDS = sys.argv[2:]
del sys.argv[2:]

import program

EXPECTED = [  # below share/starpmc: a file, and how many like it at least
    ("kernels/opencl/*.cl", 7),
    ("kernels/opencl/*.h", 1),
    ("kernels/common/layout.h", 1),
    ("kernels/common/moves.h", 1),
    ("workers/pyscf_worker.py", 1),
    ("workers/worker_protocol.py", 1),
    ("workers/requirements.txt", 1),
    ("data/opls_types.txt", 1),
    ("report/report.py", 1),
    ("python/starpmc/*.py", 10),
    ("python/pyproject.toml", 1),
    ("python/examples/*.py", 3),
    ("evaluation/paper.py", 1),
]
SOLUTE = "configs/chorismate.xyz"


class Installed(program.TestCase):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        cmake = WORDS[1] if len(WORDS) > 1 else "cmake"
        result = subprocess.run(
            [cmake, "--install", WORDS[0], "--prefix", self.prefix],
            check=False,
            capture_output=True,
            text=True,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.share = self.prefix / "share/starpmc"
        self.program = self.prefix / "bin/starpmc"

    def test_tree(self):
        self.assertTrue(self.program.is_file())
        for pattern, least in EXPECTED:
            self.assertGreaterEqual(len(list(self.share.glob(pattern))), least, pattern)
        for folder in ("configs", "perfmodels"):
            source = program.REPOSITORY / folder
            for path in source.rglob("*") if source.is_dir() else ():
                if path.is_file():
                    self.assertTrue((self.share / path.relative_to(program.REPOSITORY)).is_file())
        strays = [p for p in self.share.rglob("*") if p.name == "__pycache__" or p.suffix == ".cpp"]
        self.assertEqual(strays, [], "installed by mistake")

    def test_documentation(self):
        for path, words in (
            ("man/man1/starpmc.1", ("--help-man",)),
            ("bash-completion/completions/starpmc", ("--help-completion", "bash")),
            ("zsh/site-functions/_starpmc", ("--help-completion", "zsh")),
        ):
            installed = (self.prefix / "share" / path).read_text(encoding="utf-8")
            self.assertEqual(installed, program.succeed(*words).stdout)

    def test_program(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        small = program.small_system()
        config = self.config(**small, sampling={"steps": 1}, run={"precision": "fp64"})
        words = ("energy", config, "--implementation")
        env = {}
        installed = program.succeed(*words, "simd", cwd=elsewhere, env=env, program=self.program)
        built = program.succeed(*words, "simd")
        self.assertEqual(installed.stdout, built.stdout)
        if missing := program.opencl_missing():
            self.skipTest(missing)
        program.succeed(*words, "opencl", cwd=elsewhere, env=env, program=self.program)

    def test_python_package(self):
        """It finds the program that was installed with it."""
        code = "import starpmc; print(starpmc.find_program())"
        found = subprocess.run(
            [sys.executable, "-B", "-c", code], cwd=self.folder, check=False, text=True,
            env={"PYTHONPATH": str(self.share / "python"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
        )  # fmt: skip
        if "No module named 'numpy'" in found.stderr or "No module named 'h5py'" in found.stderr:
            self.skipTest("no NumPy or h5py")
        self.assertEqual(found.stdout, f"{self.program}\n", found.stderr)

    def test_solvate(self):
        result = program.start(
            "solvate", "--solute", self.share / SOLUTE, "--waters", 120, "--model", "spce",
            "--output", "box", cwd=self.folder, program=self.program,
        )  # fmt: skip
        if result.returncode == 2 and "gromacs-data" in result.stderr:
            self.skipTest("gromacs-data is not installed")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "box.gro").is_file())


if __name__ == "__main__":
    if not WORDS or not pathlib.Path(WORDS[0], "CMakeCache.txt").is_file():
        sys.exit("usage: test_install.py PROGRAM BUILD_FOLDER [CMAKE]")
    program.main()
