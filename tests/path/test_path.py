"""`starpmc path` as a user runs it: HCN to HNC at HF/STO-3G, hydrogen's exchange, bad input,
interruption. With --slow as the second argument the path of configs and a fine integration, too.
"""

import importlib.util
import itertools
import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest

import path_modules

SLOW = "--slow" in sys.argv
if SLOW:
    sys.argv.remove("--slow")
sys.path.insert(0, str(path_modules.REPOSITORY / "tests/app"))

# isort: split

import numpy
import program
from pyscf import gto, scf
from pyscf.data import nist
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

HCN = "3\nguess\nH 1.1 0.6 0.0\nC 0.0 0.0 0.0\nN 0.0 1.2 0.0\n"
LEVEL = ("--method", "hf", "--basis", "sto-3g", "--threads", "1")
MASS = {"H": 1.008, "C": 12.011, "N": 14.007, "Cl": 35.45}
HARTREE_IN_KJ_PER_MOL = 2625.4996394799


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def frames(path):
    """[(elements, positions in angstrom, fields of the title)]"""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    while lines:
        count = int(lines[0])
        atoms = [line.split() for line in lines[2 : count + 2]]
        fields = dict(re.findall(r'(\w+)=("[^"]*"|\S+)', lines[1]))
        found.append(
            ([atom[0] for atom in atoms], numpy.array([a[1:4] for a in atoms], float), fields)
        )
        lines = lines[count + 2 :]
    return found


def masses_of(elements):
    return numpy.array([MASS[element] for element in elements])


def gradient(elements, positions, charge=0, basis="sto-3g"):
    """PySCF itself: (Hartree, Hartree/bohr)."""
    molecule = gto.M(
        atom=list(zip(elements, positions, strict=True)), charge=charge, basis=basis, verbose=0
    )
    field = scf.RHF(molecule)
    field.conv_tol = 1e-11
    energy = field.kernel()
    return energy, field.nuc_grad_method().kernel()


def numerical_wavenumbers(elements, positions, step=2e-3, **level):
    """Of the Hessian by differences of gradients; all of them, overall motion near 0 included."""
    size = 3 * len(elements)
    hessian = numpy.zeros((size, size))
    for k in range(size):
        moved = numpy.zeros(size)
        moved[k] = step * nist.BOHR
        above, below = (
            gradient(elements, positions + sign * moved.reshape(-1, 3), **level)[1].ravel()
            for sign in (1, -1)
        )
        hessian[k] = (above - below) / (2 * step)
    root = numpy.repeat(numpy.sqrt(masses_of(elements)), 3)
    values = numpy.linalg.eigvalsh((hessian + hessian.T) / 2 / numpy.outer(root, root))
    factor = nist.HARTREE2J / (nist.BOHR_SI**2 * nist.ATOMIC_MASS)
    per_second = numpy.sqrt(numpy.abs(values) * factor)
    return numpy.sign(values) * per_second / (2 * numpy.pi * nist.LIGHT_SPEED_SI * 100)


class HydrogenCyanideTest(program.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(cls.enterClassContext(program.tempfile.TemporaryDirectory()))
        write(cls.home / "guess.xyz", HCN)
        cls.command = (
            "path", "--transition-state", "guess.xyz", *LEVEL, "--images", "11",
            "--step", "0.08", "--output", "made",
        )
        cls.result = program.succeed(*cls.command, cwd=cls.home)
        cls.images = frames(cls.home / "made/path.xyz")

    def test_transition_state(self):
        ((elements, positions, fields),) = frames(self.home / "made/transition-state.xyz")
        energy, slope = gradient(elements, positions)
        self.assertAlmostEqual(energy, float(fields["energy_hartree"]), places=7)
        self.assertLess(numpy.abs(slope).max(), 1.6e-4)
        wavenumbers = numerical_wavenumbers(elements, positions)
        self.assertLess(wavenumbers[0], -500)
        self.assertGreater(wavenumbers[1], -60)
        self.assertAlmostEqual(
            -wavenumbers[0], float(fields["imaginary_wavenumber_per_cm"]), delta=5
        )

    def test_images(self):
        """Superposed, at equal distances, energies as PySCF has them; minima at both ends."""
        elements = self.images[0][0]
        mass = masses_of(elements)
        chords = []
        for (_, a, one), (_, b, other) in itertools.pairwise(self.images):
            centre = numpy.average(a, axis=0, weights=mass)
            numpy.testing.assert_allclose(
                numpy.average(b, axis=0, weights=mass), centre, atol=1e-8
            )
            rotation, _ = Rotation.align_vectors(a - centre, b - centre, weights=mass)
            self.assertLess(rotation.magnitude(), 1e-5)
            chords.append(numpy.sqrt((mass[:, None] * (a - b) ** 2).sum()))
            key = "reaction_coordinate_angstrom_sqrt_u"
            # The way is bent where HNC becomes linear: a chord is 2 % shorter there.
            self.assertAlmostEqual((float(other[key]) - float(one[key])) / chords[-1], 1, delta=0.03)
        self.assertLess(max(chords) / min(chords), 1.05)
        self.assertIn(len(self.images), (11, 12, 13))
        for _, positions, fields in self.images[::4]:
            self.assertAlmostEqual(
                gradient(elements, positions)[0], float(fields["energy_hartree"]), places=7
            )
        for end in (0, -1):
            self.assertLess(numpy.abs(gradient(elements, self.images[end][1])[1]).max(), 1e-3)
        kinds = [fields["kind"] for _, _, fields in self.images]
        self.assertEqual(kinds.count("transition-state"), 1)
        energies = [float(fields["energy_hartree"]) for _, _, fields in self.images]
        self.assertEqual(numpy.argmax(energies), kinds.index("transition-state"))

    def test_follows_the_gradient(self):
        """Between neighbours the way goes where the mass-weighted gradient points."""
        mass = numpy.sqrt(masses_of(self.images[0][0]))[:, None]
        for k in range(1, len(self.images) - 1):
            elements, positions, fields = self.images[k]
            if fields["kind"] == "transition-state":
                continue
            way = mass * (self.images[k + 1][1] - self.images[k - 1][1])
            slope = gradient(elements, positions)[1] / mass
            cosine = (way * slope).sum() / numpy.linalg.norm(way) / numpy.linalg.norm(slope)
            self.assertGreater(abs(cosine), 0.97, f"image {k + 1}")

    def test_check_reads_it(self):
        """The program's own superposition, in C++, finds the same lengths."""
        text = program.succeed("path", "--check", "made/path.xyz", cwd=self.home).stdout
        rows = [line.split() for line in text.splitlines()[2:-1]]
        self.assertEqual(len(rows), len(self.images))
        first = float(self.images[0][2]["energy_hartree"])
        length = 0.0
        mass = masses_of(self.images[0][0])[:, None]
        for k, (row, (_, positions, fields)) in enumerate(zip(rows, self.images, strict=True)):
            if k:
                before = self.images[k - 1][1]
                length += numpy.sqrt((mass * (positions - before) ** 2).sum())
            self.assertAlmostEqual(float(row[1]), length, delta=2e-4)
            above = (float(fields["energy_hartree"]) - first) * HARTREE_IN_KJ_PER_MOL
            self.assertAlmostEqual(float(row[3]), above, delta=2e-3)

    def test_again_computes_nothing(self):
        record = self.home / "made/evaluations.jsonl"
        before, path = record.read_bytes(), (self.home / "made/path.xyz").read_bytes()
        program.succeed(*self.command, cwd=self.home)
        self.assertEqual(record.read_bytes(), before)
        self.assertEqual((self.home / "made/path.xyz").read_bytes(), path)

    def test_killed_and_torn(self):
        """kill -9 in the middle and a torn last line: the same path."""
        command = [*map(str, self.command[:-1]), "killed"]
        process = subprocess.Popen(
            [program.PROGRAM, *command], cwd=self.home, env=program.environment(),
            stdout=subprocess.PIPE, text=True,
        )
        for line in process.stdout:
            if "first side, step 4" in line:
                break
        process.kill()
        process.communicate()
        record = self.home / "killed/evaluations.jsonl"
        kept = record.read_bytes()
        self.assertGreater(kept.count(b"\n"), 8)
        record.write_bytes(kept[:-20])
        text = program.succeed(*command, cwd=self.home).stdout
        self.assertIn("results were there from before", text)
        for (_, a, one), (_, b, other) in zip(
            self.images, frames(self.home / "killed/path.xyz"), strict=True
        ):
            numpy.testing.assert_allclose(a, b, atol=1e-5)
            self.assertAlmostEqual(
                float(one["energy_hartree"]), float(other["energy_hartree"]), places=6
            )

    def test_stopped(self):
        command = [*map(str, self.command[:-1]), "stopped"]
        process = subprocess.Popen(
            [program.PROGRAM, *command], cwd=self.home, env=program.environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for line in process.stdout:
            if "transition state, step 2" in line:
                break
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 143)
        self.assertIn("the same command goes on", errors)

    def test_another_level_in_the_same_folder(self):
        command = [word if word != "sto-3g" else "3-21g" for word in self.command]
        result = program.start(*command, cwd=self.home)
        self.assertEqual(result.returncode, 2)
        for part in ("hf/sto-3g", "hf/3-21g", "--overwrite"):
            self.assertIn(part, result.stderr)


class HeldDistancesTest(program.TestCase):
    def test_a_guess_far_from_the_transition_state(self):
        """HCN itself: what is relaxed around two distances of the transition state leads there."""
        write(self.folder / "minimum.xyz", "3\nHCN\nH 0 0 -1.07\nC 0 0 0\nN 0 0.02 1.15\n")
        program.succeed(
            "path", "--transition-state", "minimum.xyz", *LEVEL, "--hold", "1-2=1.2,1-3=1.4",
            "--images", 5, "--step", "0.2", "--output", "made", cwd=self.folder,
        )
        lines = (self.folder / "made/evaluations.jsonl").read_text().splitlines()[1:]
        kept = [json.loads(line) for line in lines]
        begun = next(index for index, entry in enumerate(kept) if entry["kind"] == "hessian")
        at = numpy.array(kept[begun]["positions"])
        self.assertEqual(kept[begun - 1]["positions"], at.tolist())
        pairs = [(0, 1), (0, 2), (1, 2)]
        apart = [numpy.linalg.norm(at[i] - at[j]) * nist.BOHR for i, j in pairs]
        numpy.testing.assert_allclose(apart[:2], [1.2, 1.4], atol=1e-3)
        directions = numpy.zeros((3, 3, 3))
        for direction, (i, j) in zip(directions, pairs, strict=True):
            direction[i] = (at[i] - at[j]) / numpy.linalg.norm(at[i] - at[j])
            direction[j] = -direction[i]
        slope = numpy.ravel(kept[begun - 1]["result"][1])
        along, *_ = numpy.linalg.lstsq(directions.reshape(3, 9).T, slope, rcond=None)
        self.assertGreater(abs(along[:2]).max(), 0.01)  # what is held would move
        self.assertLess(abs(along[2]), 2.5e-3)  # Hartree/bohr; all else is relaxed
        [(_, saddle, _)] = frames(self.folder / "made/transition-state.xyz")
        self.assertLess(abs(gradient(["H", "C", "N"], saddle)[1]).max(), 3e-4)


class HydrogenExchangeTest(program.TestCase):
    def test_from_two_minima(self):
        """H + H2, a radical, linear: symmetric about its transition state."""
        write(self.folder / "a.xyz", "3\n\nH 0 0 0\nH 0 0 0.71\nH 0 0 2.6\n")
        write(self.folder / "b.xyz", "3\n\nH 0 0 0\nH 0 0 1.89\nH 0 0 2.6\n")
        program.succeed(
            "path", "--from", "a.xyz", "--to", "b.xyz", *LEVEL, "--multiplicity", 2, "--images", 7,
            "--step", "0.1", "--max-steps", 25, "--output", "made", cwd=self.folder,
        )
        images = frames(self.folder / "made/path.xyz")
        self.assertEqual(len(images), 7)
        energies = numpy.array([float(fields["energy_hartree"]) for *_, fields in images])
        numpy.testing.assert_allclose(energies, energies[::-1], atol=2e-6)
        self.assertEqual(energies.argmax(), 3)
        self.assertGreater(energies[3] - energies[0], 0.02)
        apart = [
            (numpy.linalg.norm(r[1] - r[0]), numpy.linalg.norm(r[2] - r[1])) for _, r, _ in images
        ]
        self.assertLess(apart[0][0], apart[0][1])  # begins where --from is
        numpy.testing.assert_allclose(apart, [pair[::-1] for pair in apart[::-1]], atol=2e-4)
        self.assertAlmostEqual(*apart[3], places=4)


class BadInputTest(program.TestCase):
    def refused(self, *arguments, says, status=2):
        result = program.start("path", *arguments, cwd=self.folder)
        with self.subTest(arguments):
            self.assertEqual(result.returncode, status, result.stderr)
            for part in says:
                self.assertIn(part, result.stderr)
            self.assertNotIn("Warning", result.stderr)

    def test_standard_output_on_a_full_disk(self):
        write(self.folder / "guess.xyz", HCN)
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [program.PROGRAM, "path", "--transition-state", "guess.xyz", *LEVEL],
                cwd=self.folder, env=program.environment(), stdout=full, stderr=subprocess.PIPE,
                text=True, check=False,
            )
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("standard output: could not be written: No space", result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_options(self):
        guess = ("--transition-state", write(self.folder / "guess.xyz", HCN).name)
        self.refused(says=["--transition-state GUESS.xyz", "--check"])
        self.refused("--from", "guess.xyz", says=["two minima"])
        self.refused(*guess, "--images", 2, says=["--images", "at least 3"])
        self.refused(*guess, "--step", 0, says=["--step"])
        self.refused(*guess, "--charge", 1, says=["--charge 1", "13 electrons", "even"])
        self.refused(*guess, "--multiplicity", 2, says=["14 electrons", "odd"])
        self.refused(*guess, "--method", "pbe-d3", says=["--method pbe-d3", "d3bj"])
        self.refused(*guess, "--method", "wb97x-v", says=["--method wb97x-v", "VV10", "pbe-d3bj"])
        self.refused(*guess, "--basis", "unheard", says=["--basis unheard", "def2-svp"])
        self.refused(*guess, "--solvent", "beer", says=["--solvent beer", "permittivity"])
        self.refused("--transition-state", "none.xyz", says=["none.xyz", "cannot be read"])
        self.refused(*guess, "--device", "tpu", says=["--device", "auto, cpu or gpu"])
        self.refused(*guess, "--output", "guess.xyz", says=["--output", "'guess.xyz'", "is a file"])
        for hold in ("1-4=2", "1-1=2", "0-1=2", "1-2", "1-2=two", "1-2=1.2,"):
            self.refused(*guess, "--hold", hold, says=[f"--hold {hold}", "6-7=2.0,1-9=2.4"])
        self.refused(*guess, "--hold", "1-2=20", says=["'1-2=20'", "0.5 and 10 angstrom"])

    @unittest.skipIf(importlib.util.find_spec("gpu4pyscf"), "GPU4PySCF is installed")
    def test_no_gpu(self):
        write(self.folder / "guess.xyz", HCN)
        self.refused(
            "--transition-state", "guess.xyz", "--device", "gpu",
            says=["--device gpu", "pip install gpu4pyscf-cuda12x", "--device cpu"],
        )

    def test_files(self):
        write(self.folder / "a.xyz", HCN)
        write(self.folder / "b.xyz", "3\n\nH 1.1 0.6 0\nN 0 0 0\nC 0 1.2 0\n")
        self.refused("--from", "a.xyz", "--to", "b.xyz", says=["b.xyz:4", "atom 2 is N", "order"])
        write(self.folder / "c.xyz", "3\n\nH 1.1 0.6 0\nC 0 0 0\nN 0 0.1 0\n")
        self.refused("--transition-state", "c.xyz", says=["atoms 2 and 3", "0.10 angstrom"])
        write(self.folder / "d.xyz", "3\n\nH 1.1 0.6 0\nC 0 0 zero\nN 0 1.2 0\n")
        self.refused("--transition-state", "d.xyz", says=["d.xyz:4"])
        write(self.folder / "e.xyz", "4\n\nH 1.1 0.6 0\nC 0 0 0\nN 0 1.2 0\n")
        self.refused("--transition-state", "e.xyz", says=["e.xyz:1", "4 atoms"])
        write(self.folder / "f.xyz", HCN.replace("3", "2", 1))
        self.refused(
            "--transition-state", "f.xyz", says=["f.xyz:5", "more than 2 atoms", "N 0.0 1.2 0.0"]
        )
        write(self.folder / "g.xyz", f"{HCN}\n{HCN}{HCN}")
        self.refused("--transition-state", "g.xyz", says=["g.xyz:7", "3 frames", "head -n 5"])

    def test_what_is_there_is_not_replaced(self):
        guess = write(self.folder / "transition-state.xyz", HCN)
        words = ("--transition-state", guess.name, *LEVEL)
        says = ["transition-state.xyz: is read, and would be replaced", "--output"]
        self.refused(*words, "--output", ".", says=says)
        self.refused(*words, "--output", ".", "--overwrite", says=says)
        (self.folder / "mine").mkdir()
        kept = write(self.folder / "mine" / "path.xyz", "computed for hours")
        self.refused(*words, "--output", "mine", says=["path.xyz: is there", "--overwrite"])
        self.assertEqual(guess.read_text(), HCN)
        self.assertEqual([path.name for path in kept.parent.iterdir()], ["path.xyz"])
        self.assertEqual(kept.read_text(), "computed for hours")

    def test_no_convergence(self):
        write(self.folder / "guess.xyz", HCN)
        self.refused(
            "--transition-state", "guess.xyz", *LEVEL, "--max-iterations", 1,
            says=["transition state", "does not converge", "--max-iterations", "kept"], status=1,
        )
        self.refused(
            "--transition-state", "guess.xyz", *LEVEL, "--max-steps", 2, "--output", "short",
            says=["not found in 2 steps", "--max-steps"], status=1,
        )

    def test_check(self):
        atoms = "H 0 0 {}\nC 0 0 1.1\nH 0.2 0.9 1.6\nH 0.9 -0.3 1.7\n"
        good = [f"4\nimage\n{atoms.format(0.05 * k)}" for k in range(5)]

        def check(name, *images, says):
            write(self.folder / name, "".join(images))
            self.refused("--check", name, says=says)

        write(self.folder / "good.xyz", "".join(good))
        good_path = program.succeed("path", "--check", "good.xyz", cwd=self.folder)
        self.assertEqual(good_path.stderr, "")
        write(self.folder / "turning.xyz", "".join(good[k] for k in (0, 2, 1, 3)))
        turning = program.succeed("path", "--check", "turning.xyz", cwd=self.folder)
        self.assertIn("turning.xyz:7: the path turns back at image 2", turning.stderr)
        check("one.xyz", good[0], says=["at least two images"])
        check("jump.xyz", *good[:2], f"4\n\n{atoms.format(-1.5)}", says=["image 2 to image 3"])
        lines = good[2].splitlines(keepends=True)
        exchanged = "".join([*lines[:4], lines[5], lines[4]])
        check("exchanged.xyz", *good[:2], exchanged, *good[3:],
              says=["atoms 3 and 4 (H) look interchanged"])
        reordered = "".join([*lines[:2], lines[3], lines[2], *lines[4:]])
        check("order.xyz", *good[:2], reordered, says=["order.xyz:15", "image 3", "same order"])
        check("fewer.xyz", good[0], "3\n\nH 0 0 0\nC 0 0 1\nH 0 1 1\n", says=["3 instead of 4"])


@unittest.skipUnless(SLOW, "only with --slow")
class SlowTest(program.TestCase):
    def test_as_integrated(self):
        """The points of irc.xyz lie where a fine integration of the gradient goes."""
        write(self.folder / "guess.xyz", HCN)
        program.succeed("path", "--transition-state", "guess.xyz", *LEVEL, "--output", "made",
                        cwd=self.folder)
        points = frames(self.folder / "made/irc.xyz")
        top = next(k for k, point in enumerate(points) if point[2]["step"] == "0")
        elements = points[0][0]
        mass = numpy.sqrt(masses_of(elements))[:, None]

        def steepest(_, q):
            slope = gradient(elements, q.reshape(-1, 3) / mass)[1] / mass
            return -(slope / numpy.linalg.norm(slope)).ravel()

        for side in (-1, 1):
            start = (mass * points[top + side][1]).ravel()
            way = solve_ivp(steepest, (0, 1.0), start, rtol=1e-5, atol=1e-6,
                            t_eval=numpy.linspace(0, 1.0, 200)).y.T
            for k in range(2, 18):
                positions = mass * points[top + side * k][1]
                off = min(
                    numpy.linalg.norm(mass * laid_on(q.reshape(-1, 3) / mass,
                                                          points[top + side * k][1],
                                                          masses_of(elements)) - positions)
                    for q in way
                )
                self.assertLess(off, 0.01, f"step {side * k}")

    def test_chloride(self):
        """The path that comes with the program: symmetric, one imaginary frequency."""
        file = path_modules.REPOSITORY / "configs/chloride-methyl-chloride.xyz"
        program.succeed("path", "--check", file)
        images = frames(file)
        energies = numpy.array([float(fields["energy_hartree"]) for *_, fields in images])
        numpy.testing.assert_allclose(energies, energies[::-1], atol=5e-5)
        top = len(images) // 2
        self.assertEqual(images[top][2]["kind"], "transition-state")
        level = {"charge": -1, "basis": "6-31+g*"}
        elements, positions, _ = images[top]
        energy, slope = gradient(elements, positions, **level)
        self.assertAlmostEqual(energy, energies[top], places=6)
        self.assertLess(numpy.abs(slope).max(), 1.6e-4)
        wavenumbers = numerical_wavenumbers(elements, positions, **level)
        self.assertLess(wavenumbers[0], -200)
        self.assertGreater(wavenumbers[1], -60)


def laid_on(positions, onto, mass):
    centre, target = (numpy.average(p, axis=0, weights=mass) for p in (positions, onto))
    rotation, _ = Rotation.align_vectors(onto - target, positions - centre, weights=mass)
    return rotation.apply(positions - centre) + target


if __name__ == "__main__":
    program.main()
