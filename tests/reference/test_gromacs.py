"""Energies and pressures of single configurations against GROMACS in double precision (gmx_d of the
Debian package gromacs): Lennard-Jones with either modifier, and the dispersion correction.

    python3 test_gromacs.py PROGRAM

Charges are zero, as GROMACS has no shifted force. For the pressure GROMACS makes a step of velocity
Verlet from rest, so that it has no kinetic part; it is compared for argon, whose virial over atoms is
the molecular one. Of SPC/E's pressure the correction is compared.
"""

import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import program

DATA = program.DATA
GROMACS = shutil.which("gmx_d")
MODIFIERS = {"truncate": "None", "potential-shift": "Potential-shift"}
CORRECTIONS = {"none": "no", "energy": "Ener", "energy-pressure": "EnerPres"}
TO_GROMACS = 1e-6  # relative; its constants and the files' digits are nearer
BAR = 0.05  # the same, of thousands of bar
PARAMETERS = """\
integrator = md-vv
dt = 1e-6
nsteps = 0
continuation = yes
gen-vel = no
nstlist = 1
verlet-buffer-tolerance = -1
cutoff-scheme = Verlet
coulombtype = cut-off
rlist = {cutoff}
rcoulomb = {cutoff}
rvdw = {cutoff}
vdw-modifier = {modifier}
DispCorr = {correction}
nstenergy = 1
nstcalcenergy = 1
"""


@program.unittest.skipIf(GROMACS is None, "gmx_d is not installed (Debian: gromacs)")
class Gromacs(program.TestCase):
    def gmx(self, *words, **options):
        result = subprocess.run(
            [GROMACS, "-quiet", *map(str, words)], cwd=self.folder, capture_output=True, text=True,
            timeout=200, check=False, **options,
        )  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def gromacs(self, gro, top, cutoff, modifier, correction):
        """Terms of the configuration by GROMACS' names, kJ/mol and bar."""
        parameters = PARAMETERS.format(
            cutoff=cutoff / 10, modifier=MODIFIERS[modifier], correction=CORRECTIONS[correction]
        )
        (self.folder / "step.mdp").write_text(parameters)
        self.gmx("grompp", "-f", "step.mdp", "-c", gro, "-p", top, "-o", "step.tpr", "-maxwarn", 5)
        self.gmx("mdrun", "-s", "step.tpr", "-nt", 1, "-deffnm", "step", "-reprod")
        names = "\n".join(str(i) for i in range(1, 40)) + "\n\n"
        self.gmx("energy", "-f", "step.edr", "-dp", "-o", "step.xvg", input=names)
        lines = (self.folder / "step.xvg").read_text().splitlines()
        legends = [line.split('"')[1] for line in lines if line.startswith("@ s")]
        values = [float(word) for word in lines[-1].split()[1:]]
        return dict(zip(legends, values, strict=True))

    def starpmc(self, gro, top, cutoff, modifier, correction):
        config = self.config(
            system={"coordinates": gro, "topology": top},
            sampling={"steps": 1, "temperature": 300},
            interaction={
                "coulomb_cutoff": cutoff, "vdw_cutoff": cutoff, "vdw_modifier": modifier,
                "dispersion_correction": correction,
            },
        )  # fmt: skip
        return json.loads(program.succeed("energy", config, "--precision", "fp64").stdout)

    def compare(self, gro, top, cutoff, atoms):
        for modifier in MODIFIERS:
            pressures = {}
            for correction in CORRECTIONS:
                with self.subTest(modifier=modifier, correction=correction):
                    found = self.starpmc(gro, top, cutoff, modifier, correction)
                    expected = self.gromacs(gro, top, cutoff, modifier, correction)
                    energies = found["energies_kj_per_mol"]
                    self.near(energies["mm_vdw"], expected["LJ (SR)"])
                    self.near(energies["total"], expected["Potential"])
                    if correction != "none":
                        self.near(energies["dispersion_correction"], expected["Disper. corr."])
                    pressures[correction] = found["pressure_bar"]
                    if atoms:
                        self.check_pressure(found, expected, gro)
                    print(f"{modifier}, {correction}: {energies['total']:.6f} kJ/mol, GROMACS "
                          f"{expected['Potential']:.6f}; {found['pressure_bar']:.3f} bar")
            self.assertEqual(pressures["energy"], pressures["none"])
            added = pressures["energy-pressure"] - pressures["none"]
            self.near(added, expected["Pres. DC"])

    def near(self, found, expected):
        self.assertNotEqual(expected, 0)
        self.assertLess(abs(found / expected - 1), TO_GROMACS, f"{found}, GROMACS {expected}")

    def check_pressure(self, found, expected, gro):
        """Without N k T/V, 300 K."""
        edges = [10 * float(word) for word in gro.read_text().split("\n")[-2].split()]
        volume = edges[0] * edges[1] * edges[2]
        ideal = found["molecules"] * 0.00831446261815324 * 300 / volume * 1e5 / 6.02214076
        self.assertLess(abs(found["pressure_bar"] - ideal - expected["Pressure"]), BAR)

    def test_argon(self):
        self.compare(DATA / "argon/argon.gro", DATA / "argon/argon.top", 8, atoms=True)

    def test_spce(self):
        """Nine tenths of the pairs of sites have no C6."""
        model = (DATA / "nist/spce.itp").read_text()
        for charge in ("-0.8476", "0.4238"):
            self.assertEqual(model.count(charge), {"-0.8476": 2, "0.4238": 3}[charge])
            model = model.replace(charge, "0.0")
        # As in GROMACS' own files: it takes excluded pairs out of the average C6, and [ settles ]
        # exclude none.
        (self.folder / "spce.itp").write_text(
            model + "\n[ exclusions ]\n1 2 3\n2 1 3\n3 1 2\n"
        )
        top = self.folder / "spce.top"
        top.write_text((DATA / "nist/spce_1.top").read_text())
        self.compare(DATA / "nist/spce_1.gro", top, 9, atoms=False)


if __name__ == "__main__":
    program.main()
