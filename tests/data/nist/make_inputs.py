#!/usr/bin/env python3
"""Converts NIST's reference configurations (US government data) into GROMACS files, all digits kept.

    make_inputs.py FOLDER    FOLDER holds nist_lj/ and nist_spce/ with NIST's *.txt files

Lennard-Jones fluid: reduced units are mapped 1:1, sigma = 1 angstrom and epsilon = 1 kJ/mol, so
energies in kJ/mol are NIST's numbers. The site is called LJ.

SPC/E water as on NIST's page "SPC/E Water Reference Calculations - 10 A cutoff":
sigma = 3.16555789 A, epsilon/kB = 78.19743111 K, q(O) = -0.8476 e, q(H) = 0.4238 e,
d(OH) = 1 A, angle HOH = 109.47 degrees, kB from CODATA 2010.

Files: lj_1, lj_2, spce_1, spce_2, each .gro and .top; lj.itp and spce.itp hold the parameters.
"""
import math
import pathlib
import sys

GAS_CONSTANT = 0.0083144621  # kJ/mol/K, CODATA 2010
DECIMALS = 14  # nanometre: NIST gives up to 13 decimals in angstrom
HERE = pathlib.Path(__file__).resolve().parent


def read_configuration(path):
    lines = path.read_text().split("\n")
    box = [float(word) for word in lines[0].split()]
    rows = [line.split() for line in lines[2:] if line.strip()]
    positions = [[float(word) for word in row[1:4]] for row in rows]
    count = int(lines[1])
    assert len(positions) in (count, 3 * count), path
    return box, count, positions


def nanometre(values):
    return "".join(f"{value / 10:{DECIMALS + 5}.{DECIMALS}f}" for value in values)


def write_gro(name, title, residue, atom_names, box, positions):
    lines = [title, f"{len(positions):5d}"]
    for i, position in enumerate(positions):
        molecule, site = divmod(i, len(atom_names))
        lines.append(f"{molecule + 1:5d}{residue:<5s}{atom_names[site]:>5s}{i + 1:5d}"
                     + nanometre(position))
    lines.append(nanometre(box))
    (HERE / f"{name}.gro").write_text("\n".join(lines) + "\n")


def write_top(name, itp, title, molecule, count):
    (HERE / f"{name}.top").write_text(
        f'#include "{itp}"\n\n[ system ]\n{title}\n\n[ molecules ]\n{molecule}  {count}\n')


def write_force_fields():
    (HERE / "lj.itp").write_text("""; NIST Lennard-Jones fluid, reduced units: sigma 1 angstrom, epsilon 1 kJ/mol; shown as argon
[ defaults ]
1  3  no  1.0  1.0

[ atomtypes ]
; name  at.num  mass  charge  ptype  sigma (nm)  epsilon (kJ/mol)
LJ      18      39.948  0.0   A      0.1         1.0

[ moleculetype ]
LJ  1

[ atoms ]
1  LJ  1  LJ  LJ  1  0.0  39.948
""")
    epsilon = 78.19743111 * GAS_CONSTANT
    hh = 2 * 0.1 * math.sin(math.radians(109.47 / 2))
    (HERE / "spce.itp").write_text(f"""; SPC/E as NIST gives it: epsilon/kB = 78.19743111 K, angle 109.47 degrees
[ defaults ]
1  3  no  1.0  1.0

[ atomtypes ]
; name  at.num  mass     charge   ptype  sigma (nm)   epsilon (kJ/mol)
OW      8       15.9994  -0.8476  A      0.316555789  {epsilon:.15f}
HW      1       1.008     0.4238  A      0.0          0.0

[ moleculetype ]
SOL  2

[ atoms ]
1  OW  1  SOL  OW   1  -0.8476  15.9994
2  HW  1  SOL  HW1  1   0.4238  1.008
3  HW  1  SOL  HW2  1   0.4238  1.008

[ settles ]
1  1  0.1  {hh:.16f}
""")


def main():
    source = pathlib.Path(sys.argv[1])
    write_force_fields()
    for number in (1, 2):
        box, count, positions = read_configuration(
            source / "nist_lj" / f"lj_sample_config_periodic{number}.txt")
        title = f"NIST Lennard-Jones configuration {number}"
        write_gro(f"lj_{number}", title, "LJ", ["LJ"], box, positions)
        write_top(f"lj_{number}", "lj.itp", title, "LJ", count)
        box, count, positions = read_configuration(
            source / "nist_spce" / f"spce_sample_config_periodic{number}.txt")
        title = f"NIST SPC/E configuration {number}"
        write_gro(f"spce_{number}", title, "SOL", ["OW", "HW1", "HW2"], box, positions)
        write_top(f"spce_{number}", "spce.itp", title, "SOL", count)


main()
