"""A solute with a known answer: fixed charges, and electrons that respond to the field F at its
centre.

    E(F) = ISOLATED_ENERGY - a F^2 / 2 - b F^4,  dipole mu = a F + 4 b F^2 F

The field is a difference of the potential at two points on each axis, D on either side of the
centre, and the induced dipole is charges of +-mu/(2 D) at the same points: so energy and density
belong together to rounding whatever the potential function is, cutoff included. A molecule S-C-O
with its carbon at the centre, whose charges and polarisability are of a fancy that makes a few
waters feel them.
"""

import numpy as np

COULOMB = 1389.35457644  # kJ mol^-1 A e^-2
ELEMENTS = ("S", "C", "O")
NUCLEAR_CHARGES = (16, 6, 8)
FIXED_CHARGES = (0.3, 0.1, -0.4)  # e, of nuclei and fixed electrons
ATOMS = np.array([[0, 0, 1.4], [0, 0, 0], [0, 0, -1.4]])  # angstrom, about the centre
D = 0.3  # angstrom
POLARISABILITY = 8.0  # angstrom^3
A = POLARISABILITY / COULOMB  # e^2 A^2 mol/kJ
B = 5e-8  # e^4 A^4 (mol/kJ)^3
ISOLATED_ENERGY = -1000.0  # kJ/mol
DEBYE_PER_E_ANGSTROM = 4.80320471

AXES = np.repeat(np.eye(3), 2, axis=0) * np.array([[1], [-1]] * 3)  # +x, -x, +y, -y, ...
# (3, 6): field of a potential at the six points, and minus that: charges of a unit dipole.
FIELD_OF_POTENTIAL = -AXES.T / (2 * D)


def energy(field):
    """field: (..., 3), kJ/mol/e/A; without ISOLATED_ENERGY."""
    square = np.sum(field * field, axis=-1)
    return -A * square / 2 - B * square**2


def dipole(field):
    """(..., 3), e A."""
    square = np.sum(field * field, axis=-1, keepdims=True)
    return (A + 4 * B * square) * field


def polarisability(field):
    """-d2E/dF2 at one field, (3, 3)."""
    square = field @ field
    return (A + 4 * B * square) * np.eye(3) + 8 * B * np.outer(field, field)
