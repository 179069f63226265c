"""NIST's reference configurations to all published digits.

    python3 test_nist.py PROGRAM

Lennard-Jones fluid (sigma = 1 A, epsilon = 1 kJ/mol, so energies in kJ/mol are reduced ones) and
SPC/E water: https://www.nist.gov/programs-projects/nist-standard-reference-simulation-website.
NIST has no shifted-force Coulomb energies: those are one computation of our own from NIST's
configurations with the constants that NIST's page gives.
"""

import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

# Constants as on NIST's SPC/E page (CODATA 2010; its vacuum permittivity has ten digits).
ELEMENTARY_CHARGE = 1.602176565e-19  # C
AVOGADRO = 6.02214129e23  # 1/mol
BOLTZMANN = 1.3806488e-23  # J/K
PERMITTIVITY = 8.854187817e-12  # C^2/(J m)
GAS_CONSTANT = BOLTZMANN * AVOGADRO / 1000  # kJ/mol/K
NIST_COULOMB = ELEMENTARY_CHARGE**2 / (4 * math.pi * PERMITTIVITY) * AVOGADRO * 1e10 / 1000
# The program's is that of CODATA 2018: smaller by a factor of 1 - 1.4e-9.
OUR_COULOMB = 1389.35457644  # kJ mol^-1 A e^-2

LENNARD_JONES = [  # configuration, cutoff, modifier, published energy and virial of the pairs
    (1, 3, "truncate", "-4.3515E+03", "-5.6867E+02"),
    (1, 4, "truncate", "-4.4675E+03", "-1.2639E+03"),
    (1, 3, "force-shift", "-3.8709E+03", "3.1754E+02"),
    (2, 3, "truncate", "-6.9000E+02", "-5.6846E+02"),
    (2, 4, "truncate", "-7.0460E+02", "-6.5599E+02"),
    (2, 3, "force-shift", "-6.2012E+02", "-4.4533E+02"),
]
# The same energies as the user's functions.
EXPRESSION = (
    "4*epsilon*((sigma/r)^12 - (sigma/r)^6); sigma=0.5*(sigma1+sigma2); "
    "epsilon=sqrt(epsilon1*epsilon2)"
)
SPCE_DISPERSION = {1: "9.95387E+04", 2: "1.93712E+05"}  # E/kB, kelvin
SPCE_COULOMB = {1: -573403.28037, 2: -1226821.44185}


class Nist(program.TestCase):
    def result(self, name, potential=None, **interaction):
        config = self.config(
            **program.plain_system(name), interaction=interaction, sampling={"steps": 1},
            potential=potential or {},
        )  # fmt: skip
        return json.loads(program.succeed("energy", config, "--precision", "fp64").stdout)

    def energies(self, name, **interaction):
        return self.result(name, **interaction)["energies_kj_per_mol"]

    def assert_digits(self, value, published):
        mantissa = published.split("E")[0]
        decimals = len(mantissa.split(".")[1])
        self.assertEqual(f"{value:.{decimals}E}", published, f"computed {value!r}")

    def test_lennard_jones(self):
        for number, cutoff, modifier, energy, virial in LENNARD_JONES:
            with self.subTest(configuration=number, cutoff=cutoff, modifier=modifier):
                interaction = {
                    "coulomb_cutoff": cutoff, "vdw_cutoff": cutoff, "vdw_modifier": modifier,
                }  # fmt: skip
                found = self.result(f"nist/lj_{number}", **interaction)
                self.check_terms(found["energies_kj_per_mol"], energy)
                self.check_terms(found["virials_kj_per_mol"], virial)
                expression = {"mm_vdw": EXPRESSION, "treatment": modifier}
                found = self.result(f"nist/lj_{number}", expression, **interaction)
                self.check_terms(found["energies_kj_per_mol"], energy)
                self.check_terms(found["virials_kj_per_mol"], virial)

    def check_terms(self, terms, published):
        self.assert_digits(terms["mm_vdw"], published)
        self.assertEqual(terms["total"], terms["mm_vdw"])

    def test_ideal_gas(self):
        """Without interaction the pressure is N k T / V: 800 particles, 298.15 K, (10 A)^3."""
        nothing = {"mm_vdw": "none", "coulomb": "none"}
        found = self.result("nist/lj_1", nothing, coulomb_cutoff=3)
        self.assertEqual(found["virials_kj_per_mol"]["total"], 0)
        pascal = 800 * 1.380649e-23 * 298.15 / 1e-27
        self.assertAlmostEqual(found["pressure_bar"] / (pascal * 1e-5), 1, delta=1e-12)

    def test_spce(self):
        for number in (1, 2):
            with self.subTest(configuration=number):
                found = self.energies(
                    f"nist/spce_{number}", coulomb_cutoff=10, vdw_cutoff=10, vdw_modifier="truncate"
                )
                self.assert_digits(found["mm_vdw"] / GAS_CONSTANT, SPCE_DISPERSION[number])
                coulomb = found["mm_coulomb"] * NIST_COULOMB / OUR_COULOMB
                print(f"SPC/E {number}: {coulomb / GAS_CONSTANT:.6f} K")
                # To one unit of the last digit: the rigid model lies within 1e-11 A of NIST's
                # coordinates, not on them, which is worth 1.3e-6 K.
                expected = SPCE_COULOMB[number]
                self.assertAlmostEqual(coulomb / GAS_CONSTANT, expected, delta=1e-5)


if __name__ == "__main__":
    program.main()
