"""A periodic box of 216 waters with the user's expressions, against OpenMM's CustomNonbondedForce.

    python3 test_potential_openmm.py PROGRAM

GROMACS's spc216.gro, made rigid as SPC/E. Both programs cut by the distance of two sites and leave
out pairs within a molecule. OpenMM is given angstrom for its nanometre: its custom forces know no
units.
"""

import json
import math
import pathlib
import sys

try:
    import numpy as np
    import openmm
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(77)

import program

BOX_FILES = [
    pathlib.Path(folder) / "gromacs/top/spc216.gro" for folder in ("/usr/share", "/usr/local/share")
]
CUTOFF = 9.0  # A, of half the edge of 18.6206
SWITCH = 7.5
TOLERANCE = 1e-9
COULOMB = 1389.35457644  # kJ mol^-1 A e^-2
OH, ANGLE = 1.0, math.radians(109.47)
SITES = {"O": (-0.8476, 3.16555789, 0.650169577281456), "H": (0.4238, 0.0, 0.0)}

MIXING = "sigma=0.5*(sigma1+sigma2); epsilon=sqrt(epsilon1*epsilon2)"
LENNARD_JONES = "4*epsilon*((sigma/r)^12-(sigma/r)^6)"
# One function of everything that ends at 0 with its slope; x^9 in a damped form.
WHOLE = (
    f"select(step(cutoff-r), ({LENNARD_JONES})*(1-(r/cutoff)^2)^2 + {COULOMB}*charge1*charge2"
    f"*erfc(0.2*r)*(1-r/cutoff)^2/r + 5*epsilon*exp(-0.3*(r-3)^2)*(1-r/cutoff)^2.5, 0); {MIXING}"
)
ANYWHERE = "4000*sqrt(epsilon1*epsilon2)/(r^9+100) + 20*charge1*charge2*exp(-r/2)*cos(r)"


def rigid_waters():
    """Positions (A) of O, H, H of each water with SPC/E's geometry, and the box's edge."""
    found = [file for file in BOX_FILES if file.exists()]
    if not found:
        print("skipped: no spc216.gro; install gromacs-data")
        sys.exit(77)
    lines = found[0].read_text().splitlines()
    atoms = np.array([[float(word) for word in line[20:44].split()] for line in lines[2:650]])
    molecules = 10 * atoms.reshape(216, 3, 3)
    waters = []
    for oxygen, first, second in molecules:
        axis = (first - oxygen) + (second - oxygen)
        axis /= np.linalg.norm(axis)
        across = (first - second) - np.dot(first - second, axis) * axis
        across /= np.linalg.norm(across)
        along, aside = OH * math.cos(ANGLE / 2) * axis, OH * math.sin(ANGLE / 2) * across
        waters.append([oxygen, oxygen + along + aside, oxygen + along - aside])
    return np.array(waters), 10 * float(lines[650].split()[0])


class Waters(program.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.waters, cls.edge = rigid_waters()

    def by_program(self, **sections):
        names = ("OW", "HW1", "HW2")
        lines = ["216 waters", "648"]
        for i, position in enumerate(self.waters.reshape(-1, 3)):
            place = "".join(f"{x / 10:18.13f}" for x in position)
            lines.append(f"{i // 3 + 1:5d}{'SOL':5s}{names[i % 3]:>5s}{i + 1:5d}{place}")
        lines.append(f"{self.edge / 10:18.13f}" * 3)
        (self.folder / "waters.gro").write_text("\n".join(lines) + "\n")
        (self.folder / "waters.top").write_text(
            f'#include "{program.DATA}/nist/spce.itp"\n[ system ]\nwater\n[ molecules ]\nSOL 216\n'
        )
        config = self.config(
            system={"coordinates": "waters.gro", "topology": "waters.top"},
            interaction={"coulomb_cutoff": CUTOFF, "vdw_cutoff": CUTOFF, "vdw_modifier": "truncate"},
            sampling={"steps": 1},
            **sections,
        )
        results = []
        for name in ("scalar", "simd"):
            words = ("--precision", "fp64", "--implementation", name)
            result = program.succeed("energy", config, *words)
            results.append(json.loads(result.stdout)["energies_kj_per_mol"]["total"])
        self.assertTrue(math.isclose(*results, rel_tol=1e-10), results)
        return results[0]

    def by_openmm(self, forces):
        """@param forces expressions, each with whether OpenMM's switch is applied"""
        system = openmm.System()
        system.setDefaultPeriodicBoxVectors(*(np.eye(3) * self.edge))
        for _ in range(648):
            system.addParticle(1)
        for text, switched in forces:
            force = openmm.CustomNonbondedForce(text)
            force.addGlobalParameter("cutoff", CUTOFF)
            for name in ("charge", "sigma", "epsilon"):
                force.addPerParticleParameter(name)
            for i in range(648):
                force.addParticle(SITES["OHH"[i % 3]])
            for i in range(0, 648, 3):
                for a, b in ((0, 1), (0, 2), (1, 2)):
                    force.addExclusion(i + a, i + b)
            force.setNonbondedMethod(openmm.CustomNonbondedForce.CutoffPeriodic)
            force.setCutoffDistance(CUTOFF)
            force.setUseSwitchingFunction(switched)
            force.setSwitchingDistance(SWITCH)
            system.addForce(force)
        context = openmm.Context(
            system,
            openmm.VerletIntegrator(0.001),
            openmm.Platform.getPlatformByName("Reference"),
        )
        context.setPositions(self.waters.reshape(-1, 3))
        state = context.getState(getEnergy=True)
        return state.getPotentialEnergy().value_in_unit(openmm.unit.kilojoule_per_mole)

    def compare(self, potential, forces):
        expected = self.by_openmm(forces)
        found = self.by_program(potential=potential)
        deviation = abs(found - expected) / abs(expected)
        print(f"{found!r}, OpenMM {expected!r} kJ/mol, relative deviation {deviation:.1e}")
        self.assertGreater(abs(expected), 1000)  # of hundreds of thousands of pairs
        self.assertLess(deviation, TOLERANCE)

    def test_one_function(self):
        self.compare({"coulomb": "none", "mm_vdw": WHOLE}, [(WHOLE, False)])

    def test_treatments(self):
        """Coulomb force-shifted, the rest switched by the quintic that both have."""
        coulomb = "1/r-1/cutoff+(r-cutoff)/cutoff^2"
        self.compare(
            {
                "coulomb": "1/r",
                "coulomb_treatment": "force-shift",
                "mm_vdw": f"{LENNARD_JONES}; {MIXING}",
                "mm_additional": ANYWHERE,
                "treatment": "switch",
                "switch_distance": SWITCH,
            },
            [
                (f"{COULOMB}*charge1*charge2*({coulomb})", False),
                (f"{LENNARD_JONES}; {MIXING}", True),
                (ANYWHERE, True),
            ],
        )

    def test_built_in_plus_a_function(self):
        """A function is added to the built-in energies, truncated where it does not end."""
        coulomb = "(1-r/cutoff)^2/r"
        self.compare(
            {"mm_additional": ANYWHERE},
            [
                (f"{COULOMB}*charge1*charge2*{coulomb} + {LENNARD_JONES}; {MIXING}", False),
                (ANYWHERE, False),
            ],
        )


if __name__ == "__main__":
    program.main()
