"""Energies and pressures of single configurations against GROMACS in double precision (gmx_d of the
Debian package gromacs): Lennard-Jones with either modifier, the dispersion correction, and charged
SPC/E water with a reaction field.

    python3 test_gromacs.py PROGRAM

GROMACS has no shifted force, but the reaction field, which starpmc is given as an expression.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

try:
    import gromacs
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(program.SKIPPED)

DATA = program.DATA
TEMPERATURE = 300  # K
TO_GROMACS = 1e-8  # relative; its constants and the files' digits are nearer
BAR = 0.02  # the same, of thousands of bar
WATERS = 256
CHARGES = (-0.8476, 0.4238, 0.4238)


@program.unittest.skipIf(gromacs.MISSING, gromacs.MISSING)
class Gromacs(program.TestCase):
    def gromacs(self, gro, top, cutoff, modifier, correction):
        """Terms of the configuration by GROMACS' names, kJ/mol and bar."""
        interactions = gromacs.potential(cutoff / 10, modifier, correction)
        return gromacs.Gromacs(self.folder, top).configuration(gro, interactions, cutoff / 10)

    def starpmc(self, gro, top, cutoff, modifier, correction, **sections):
        config = self.config(
            system={"coordinates": gro, "topology": top},
            sampling={"steps": 1, "temperature": TEMPERATURE},
            interaction={
                "coulomb_cutoff": cutoff, "vdw_cutoff": cutoff, "vdw_modifier": modifier,
                "dispersion_correction": correction,
            },
            **sections,
        )  # fmt: skip
        return json.loads(program.succeed("energy", config, "--precision", "fp64").stdout)

    def compare(self, gro, top, cutoff):
        for modifier in gromacs.MODIFIERS:
            pressures = {}
            for correction in gromacs.CORRECTIONS:
                with self.subTest(modifier=modifier, correction=correction):
                    found = self.starpmc(gro, top, cutoff, modifier, correction)
                    expected = self.gromacs(gro, top, cutoff, modifier, correction)
                    energies = found["energies_kj_per_mol"]
                    self.near(energies["mm_vdw"], expected["LJ (SR)"])
                    self.near(energies["total"], expected["Potential"])
                    if correction != "none":
                        self.near(energies["dispersion_correction"], expected["Disper. corr."])
                    pressures[correction] = found["pressure_bar"]
                    difference = self.check_pressure(found, expected, gro)
                    print(f"{modifier}, {correction}: {energies['total']:.6f} kJ/mol, GROMACS "
                          f"{expected['Potential']:.6f}; {found['pressure_bar']:.3f} bar, "
                          f"{difference:+.4f} from GROMACS")  # fmt: skip
            self.assertEqual(pressures["energy"], pressures["none"])
            added = pressures["energy-pressure"] - pressures["none"]
            self.near(added, expected["Pres. DC"])

    def near(self, found, expected):
        self.assertNotEqual(expected, 0)
        self.assertLess(abs(found / expected - 1), TO_GROMACS, f"{found}, GROMACS {expected}")

    def check_pressure(self, found, expected, gro):
        """Without N k T/V."""
        edges = [float(word) for word in gro.read_text().split("\n")[-2].split()]
        volume = edges[0] * edges[1] * edges[2]
        ideal = found["molecules"] * gromacs.GAS_CONSTANT * TEMPERATURE / volume / gromacs.BAR
        difference = found["pressure_bar"] - ideal - expected["Pressure"]
        self.assertLess(abs(difference), BAR)
        return difference

    def test_argon(self):
        self.compare(DATA / "argon/argon.gro", DATA / "argon/argon.top", 8)

    def test_spce_without_charges(self):
        """Nine tenths of the pairs of sites have no C6."""
        model = (DATA / "nist/spce.itp").read_text()
        for charge in ("-0.8476", "0.4238"):
            self.assertEqual(model.count(charge), {"-0.8476": 2, "0.4238": 3}[charge])
            model = model.replace(charge, "0.0")
        # As in GROMACS' own files: it takes excluded pairs out of the average C6, and [ settles ]
        # exclude none.
        (self.folder / "spce.itp").write_text(model + "\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n")
        top = self.folder / "spce.top"
        top.write_text((DATA / "nist/spce_1.top").read_text())
        self.compare(DATA / "nist/spce_1.gro", top, 9)

    def test_spce(self):
        """Frames of GROMACS' own dynamics."""
        cutoff = 8
        box = self.folder / "box"
        program.succeed("solvate", "--waters", WATERS, "--model", "spce", "--output", box)
        start, top = box.with_suffix(".gro"), box.with_suffix(".top")
        interactions = gromacs.potential(cutoff / 10)
        positions, edges = gromacs.Gromacs(self.folder, top).dynamics(
            start, interactions, gmx=gromacs.DOUBLE, time_step=0.002, steps=4500, interval=1500,
            temperature=TEMPERATURE, friction_time=0.1, seed=1, list_cutoff=cutoff / 10 + 0.1,
        )  # fmt: skip
        self.assertEqual(len(positions), 1 + len(gromacs.CORRECTIONS))
        constant = gromacs.excluded_energy(
            gromacs.whole_molecules(positions, edges, len(CHARGES)), CHARGES, cutoff / 10
        )
        field = {"potential": {"coulomb": gromacs.REACTION_FIELD}}
        for frame, correction in enumerate(gromacs.CORRECTIONS, 1):
            gro = gromacs.write_coordinates(
                self.folder / f"{frame}.gro", start, positions[frame], edges[frame]
            )
            with self.subTest(frame=frame, correction=correction):
                settings = (gro, top, cutoff, "potential-shift", correction)
                found = self.starpmc(*settings, **field)
                expected = self.gromacs(*settings)
                energies = found["energies_kj_per_mol"]
                total = expected["Potential"] - constant[frame]
                self.near(energies["mm_vdw"], expected["LJ (SR)"])
                self.near(energies["mm_coulomb"], expected["Coulomb (SR)"] - constant[frame])
                self.near(energies["total"], total)
                difference = self.check_pressure(found, expected, gro)
                print(f"SPC/E, frame {frame}, {correction}: {energies['total']:.6f} kJ/mol, "
                      f"{energies['total'] / total - 1:+.1e} from GROMACS; "
                      f"{found['pressure_bar']:.3f} bar, {difference:+.4f} from GROMACS")  # fmt: skip


if __name__ == "__main__":
    program.main()
