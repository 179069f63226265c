"""Energies and virials of `starpmc energy` against the independent NumPy implementation, and its
implementations and precisions among each other.

    python3 test_energies.py PROGRAM
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(77)

import program
from reference_energies import make_reference, read_gro, write_grid

DATA = program.DATA
TO_NUMPY = 1e-10  # relative; absolute below 1 kJ/mol
AMONG_EACH_OTHER = 1e-12  # relative; and what rounding does
# On CPUs the energy of two molecules is a whole number of these (kernels/whole_units.hpp), kJ/mol.
PAIR_UNIT = 2.0**-32
MIXED = 1e-3  # kJ/mol; and the last digit of the largest term in fp32
FP32_DIGIT = 2.0**-23
SMALL = {"qm": "formaldehyde", "grid": DATA / "small/small.grid"}


def rounding(molecules):
    """Five standard deviations of a sum over the pairs of so many molecules, each rounded to
    PAIR_UNIT; the grid term, rounded more finely, is far below it.
    """
    pairs = molecules * (molecules - 1) / 2
    return 5 * PAIR_UNIT * (pairs / 12) ** 0.5


class Comparison(program.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.implementations = ["scalar", "simd"]
        cls.missing = program.opencl_missing()
        if cls.missing:
            print(f"OpenCL left out: {cls.missing}")
        else:
            cls.implementations.append("opencl")

    def compute(self, config, *options, precision="fp64"):
        """Terms by implementation; a failing one does not hide the others."""
        found = {}
        for name in self.implementations:
            with self.subTest(implementation=name, precision=precision):
                words = ("--implementation", name, "--precision", precision, *options)
                found[name] = program.energies(config, *words)
        self.assertIn("scalar", found)
        return found

    def compare(self, what, found, expected, relative, rounding=0.0):
        """Returns the largest difference, relative to max(1, |term|); `rounding` of it, in kJ/mol,
        is not counted against the program.
        """
        worst = 0.0
        for term, value in expected.items():
            difference = abs(found[term] - value) / max(1, abs(value))
            worst = max(worst, difference)
            difference -= rounding / max(1, abs(value))
            self.assertLessEqual(
                difference, relative, f"{what}, {term}: {found[term]!r}, expected {value!r}"
            )
        return worst

    def check_fp64(self, name, config, options, reference):
        found = self.compute(config, *options)
        expected = reference.energies()
        for implementation, terms in found.items():
            with self.subTest(implementation=implementation):
                what = f"{name}, {implementation}"
                worst = self.compare(f"{what} and NumPy", terms, expected, TO_NUMPY)
                among = self.compare(
                    f"{what} and scalar", terms, found["scalar"], AMONG_EACH_OTHER,
                    rounding(len(np.unique(reference.mm.molecule))),
                )  # fmt: skip
                print(f"{what}: {worst:.1e} from NumPy, {among:.1e} from scalar")
        return found

    def check_mixed(self, name, config, fp64, *options):
        for implementation, terms in self.compute(config, *options, precision="mixed").items():
            with self.subTest(implementation=implementation):
                worst = max(abs(terms[term] - fp64[term]) for term in (*program.TERMS, "total"))
                print(f"{name}, {implementation}, mixed: {worst:.1e} kJ/mol from fp64")
                limit = MIXED + FP32_DIGIT * max(abs(fp64[term]) for term in program.TERMS)
                self.assertLess(worst, limit, f"{name}, {implementation}: {terms}, fp64 {fp64}")


class Virials(Comparison):
    """Exactly reproducible: the same bits by every implementation in every precision."""

    def check(self, name, config, options, reference):
        found = []
        ways = [(implementation, "fp64") for implementation in self.implementations]
        for implementation, precision in (*ways, ("simd", "mixed"), ("simd", "fixed")):
            words = ("--implementation", implementation, "--precision", precision)
            text = program.succeed("energy", config, *words, *options).stdout
            found.append(json.loads(text))
        self.compare(
            f"{name}, virials and NumPy", found[0]["virials_kj_per_mol"], reference.virials(),
            TO_NUMPY,
        )  # fmt: skip
        for other in found[1:]:
            self.assertEqual(other["virials_kj_per_mol"], found[0]["virials_kj_per_mol"])
            self.assertEqual(other["pressure_bar"], found[0]["pressure_bar"])
        return found[0]

    def small(self, name, **interaction):
        config = self.config(**program.small_system(), sampling={"steps": 1, "temperature": 310})
        reference = make_reference(
            DATA / "small/small.gro", DATA / "small/small.top", **SMALL,
            coulomb=interaction["coulomb_cutoff"], vdw=interaction["vdw_cutoff"],
            modifier=interaction["vdw_modifier"],
        )  # fmt: skip
        found = self.check(name, config, program.options_of(interaction=interaction), reference)
        for term in program.TERMS:
            self.assertNotEqual(found["virials_kj_per_mol"][term], 0, f"{term} is not tested")
        # 65 molecules; J/mol from kJ/mol, pascal from bar
        thermal = 65 * 8.31446261815324 * 310
        virial = 1000 * reference.virials()["total"]
        volume = 1e-30 * np.prod(reference.box)
        pascal = (thermal + virial / 3) / 6.02214076e23 / volume
        self.assertAlmostEqual(found["pressure_bar"] / (pascal * 1e-5), 1, delta=1e-10)

    def test_small(self):
        self.small("small", coulomb_cutoff=6, vdw_cutoff=5, vdw_modifier="truncate")
        self.small("small", coulomb_cutoff=4, vdw_cutoff=6, vdw_modifier="force-shift")

    def test_overlaps(self):
        """Argon at random, no two as near as the program refuses: sums far beyond a fluid's."""
        edge = 20
        positions = np.empty((0, 3))
        for place in np.random.default_rng(1).uniform(0, edge, (3000, 3)):
            d = positions - place
            d -= edge * np.round(d / edge)
            if np.all(np.sum(d * d, axis=1) > 0.6**2):
                positions = np.vstack([positions, place])
        positions = positions[:1000] / 10
        self.assertEqual(len(positions), 1000)
        rows = [
            f"{i + 1:5d}{'AR':5s}{'AR':>5s}{i + 1:5d}" + "".join(f"{x:14.9f}" for x in row)
            for i, row in enumerate(positions)
        ]
        gro, top = self.folder / "random.gro", self.folder / "random.top"
        gro.write_text("\n".join(["random", "1000", *rows, f"{edge / 10:14.9f}" * 3]) + "\n")
        argon = (DATA / "argon/argon.top").read_text()
        top.write_text(argon.replace("argon  108", "argon  1000"))
        config = self.config(
            system={"coordinates": gro, "topology": top}, sampling={"steps": 1, "temperature": 310}
        )
        options = program.options_of(interaction={"coulomb_cutoff": 9})
        reference = make_reference(gro, top, coulomb=9, vdw=9)
        self.assertGreater(reference.virials()["mm_vdw"], 2**33)
        self.check("random sites", config, options, reference)

    def test_spce(self):
        config = self.config(**program.plain_system("nist/spce_1"), sampling={"steps": 1})
        options = program.options_of(interaction={"coulomb_cutoff": 10})
        reference = make_reference(
            DATA / "nist/spce_1.gro", DATA / "nist/spce_1.top", coulomb=10, vdw=10
        )
        self.check("nist/spce_1", config, options, reference)


class AgainstNumPy(Comparison):
    def small(self, name, **interaction):
        interaction = {"vdw_modifier": "truncate"} | interaction
        config = self.config(**program.small_system(), sampling={"steps": 1})
        options = program.options_of(interaction=interaction)
        reference = make_reference(
            DATA / "small/small.gro",
            DATA / "small/small.top",
            **SMALL,
            coulomb=interaction.get("coulomb_cutoff", 0),
            vdw=interaction.get("vdw_cutoff", 0),
            modifier=interaction["vdw_modifier"],
        )
        found = self.check_fp64(name, config, options, reference)
        for term in program.TERMS:
            self.assertNotEqual(found["scalar"][term], 0, f"{term} is not tested")
        self.check_mixed(name, config, found["scalar"], *options)

    def test_small_with_the_longest_cutoff(self):
        self.small("small")

    def test_small_near_half_the_box(self):
        self.small("small, 6.2 A", coulomb_cutoff=6.2, vdw_cutoff=6.2)

    def test_small_force_shifted(self):
        self.small(
            "small, 5 and 4.5 A", coulomb_cutoff=5, vdw_cutoff=4.5, vdw_modifier="force-shift"
        )

    def test_small_potential_shifted(self):
        self.small(
            "small, 4 and 6 A", coulomb_cutoff=4, vdw_cutoff=6, vdw_modifier="potential-shift"
        )

    def test_grid_blocks_change_nothing(self):
        config = self.config(**program.small_system(), sampling={"steps": 1})
        whole = program.energies(config, "--run.precision", "fp64", "--run.grid-blocks", 1)
        cut = program.energies(config, "--run.precision", "fp64", "--run.grid-blocks", 3)
        self.compare("3 blocks", cut, whole, AMONG_EACH_OTHER)

    def plain(self, name, coulomb=0, vdw=0, modifier="truncate"):
        config = self.config(**program.plain_system(name), sampling={"steps": 1})
        interaction = {"coulomb_cutoff": coulomb, "vdw_cutoff": vdw, "vdw_modifier": modifier}
        options = program.options_of(interaction=interaction)
        reference = make_reference(
            DATA / f"{name}.gro", DATA / f"{name}.top", coulomb=coulomb, vdw=vdw, modifier=modifier
        )
        return config, options, self.check_fp64(name, config, options, reference)

    def test_nist_spce(self):
        for number in (1, 2):
            config, options, found = self.plain(f"nist/spce_{number}", coulomb=10)
            self.check_mixed(f"nist/spce_{number}", config, found["scalar"], *options)

    def test_nist_lennard_jones(self):
        for name in ("nist/lj_1", "nist/lj_2"):
            self.plain(name, coulomb=3)
            self.plain(name, coulomb=3, vdw=2.5, modifier="force-shift")

    def test_argon(self):
        self.plain("argon/argon", coulomb=8, modifier="potential-shift")


# OPLS-AA: name, atomic number, mass, charge, sigma (nm), epsilon (kJ/mol). Water: W. L. Jorgensen et
# al., J. Chem. Phys. 79, 926 (1983); ions: J. Aqvist, J. Phys. Chem. 94, 8021 (1990) and J.
# Chandrasekhar et al., J. Am. Chem. Soc. 106, 903 (1984), as GROMACS has them.
ION_TYPES = """
opls_111   8  15.9994  -0.834 A 0.315061 0.636386
opls_112   1   1.0080   0.417 A 0        0
opls_407  11  22.98977  1     A 0.333045 0.0115980
opls_401  17  35.453   -1     A 0.441724 0.492833
"""


class IonsInWater(Comparison):
    """What `solvate --ions` makes, with parameters that are written here."""

    def topology(self, waters, ions):
        molecules = "[ defaults ]\n1 3 yes 0.5 0.5\n[ atomtypes ]" + ION_TYPES + (
            "[ moleculetype ]\nSOL 2\n[ atoms ]\n1 opls_111 1 SOL OW 1 -0.834\n"
            "2 opls_112 1 SOL HW1 1 0.417\n3 opls_112 1 SOL HW2 1 0.417\n"
            "[ settles ]\n1 1 0.09572 0.15139\n"
        )  # fmt: skip
        for name, kind, charge in (("NA", "opls_407", 1), ("CL", "opls_401", -1)):
            molecules += (
                f"[ moleculetype ]\n{name} 1\n[ atoms ]\n1 {kind} 1 {name} {name} 1 {charge}\n"
            )
        path = self.folder / "written_here.top"
        path.write_text(
            f"{molecules}[ system ]\nx\n[ molecules ]\nSOL {waters}\nNA {ions}\nCL {ions}\n"
        )
        return path

    def test_energies_and_a_run(self):
        words = ("--waters", 300, "--ions", "NaCl:0.8", "--ion-distance", 4, "--output", "salt")
        said = program.succeed("solvate", *words, cwd=self.folder).stdout
        # 0.8 mol/L in 300 times 29.9 A^3: 4.3
        self.assertRegex(said, r"# +NA +opls_407 +\+1 e, 4 of them")
        self.assertRegex(said, r"# +CL +opls_401 +-1 e, 4 of them")
        config = self.folder / "salt.cfg"
        config.write_text(said.replace("steps = 1000000", "steps = 2000\nequilibration-steps = 0"))
        reference = make_reference(self.folder / "salt.gro", self.topology(292, 4), coulomb=9, vdw=9)
        options = program.options_of(
            interaction={"coulomb_cutoff": 9, "vdw_cutoff": 9, "vdw_modifier": "truncate"}
        )
        found = self.check_fp64("salt", config, options, reference)
        self.assertLess(found["scalar"]["mm_coulomb"], -9000)
        summary = program.simulate(config, self.folder / "out", cwd=self.folder)
        self.assertEqual(summary["steps"], 2000)
        self.assertGreater(summary["acceptance"], 0.1)
        # The ions move, too.
        checked = program.succeed("check", config, cwd=self.folder).stdout
        self.assertRegex(checked, r"Net charge +\+0 e")
        self.assertRegex(checked, r"4 NA: 1 site, \+1 e, types opls_407")


def synthetic_density(solute, numbers, electrons):
    """Shells of points with exp(-2 r) around each nucleus, on Fibonacci spheres: no molecule's
    density, but as many points and as steep as one."""
    shells, directions = 40, 200
    k = np.arange(directions) + 0.5
    polar, azimuth = np.arccos(1 - 2 * k / directions), np.pi * (1 + 5**0.5) * k
    sphere = np.stack(
        [np.cos(azimuth) * np.sin(polar), np.sin(azimuth) * np.sin(polar), np.cos(polar)], axis=1
    )
    radii = 0.01 * 1.17 ** np.arange(shells)
    weights = radii**3 * np.exp(-2 * radii / 0.529)
    share = numbers / numbers.sum() * electrons
    points = [
        np.concatenate([nucleus + r * sphere, np.full((directions, 1), -q * w)], axis=1)
        for nucleus, q in zip(solute, share / (weights.sum() * directions))
        for r, w in zip(radii, weights)
    ]
    return np.concatenate(points)


class QuickstartSize(Comparison):
    """The system of configs/chorismate.cfg, chorismate in 500 waters, with a stand-in for its
    density: mixed precision is held to its bound where the terms cancel over hundreds of waters."""

    def test_mixed_precision(self):
        solute = program.REPOSITORY / "configs/chorismate.xyz"
        made = program.start(
            "solvate", "--solute", solute, "--waters", 500, "--model", "tip3p", "--charge", -2,
            "--output", "box", cwd=self.folder,
        )  # fmt: skip
        if made.returncode == 2 and "gromacs-data" in made.stderr:
            self.skipTest("gromacs-data is not installed")
        self.assertEqual(made.returncode, 0, made.stderr)
        elements = [line.split()[0] for line in solute.read_text().splitlines()[2:] if line.strip()]
        numbers = np.array([{"H": 1, "C": 6, "O": 8}[element] for element in elements])
        positions, _ = read_gro(self.folder / "box.gro")
        grid = synthetic_density(positions[: len(numbers)], numbers, numbers.sum() + 2)
        write_grid(self.folder / "box.grid", grid)
        config = self.config(
            system={
                "coordinates": "box.gro", "topology": "box.top", "qm_molecule": "chorismate",
            },
            interaction={"coulomb_cutoff": 10, "vdw_cutoff": 10},
            qm={
                "engine": "frozen", "grid_file": "box.grid", "charge": -2, "charge_threshold": 0,
            },
            sampling={"steps": 1},
        )  # fmt: skip
        fp64 = self.compute(config)
        for implementation, terms in fp64.items():
            among = self.compare(
                f"{implementation} and scalar", terms, fp64["scalar"], AMONG_EACH_OTHER,
                rounding(500),
            )  # fmt: skip
            print(f"chorismate, {implementation}: {among:.1e} from scalar, {terms}")
        self.check_mixed("chorismate", config, fp64["scalar"])


if __name__ == "__main__":
    program.main()
