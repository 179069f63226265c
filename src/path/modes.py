"""Normal modes: wavenumbers and mass-weighted directions, without translation and rotation."""

import numpy
from pyscf.data import nist

# Imaginary ones nearer to zero are what is left of rotation and of the grid.
LEAST_IMAGINARY = 20.0  # 1/cm
SAME_AXIS = 1e-4  # of the largest motion; a rotation about a linear molecule's axis moves less


def internal_directions(positions, masses):
    """Orthonormal mass-weighted columns (3 atoms, n) that neither translate nor rotate: n is
    3 atoms - 6, of a linear molecule 3 atoms - 5."""
    root = numpy.sqrt(masses)[:, None]
    centred = positions - (masses[:, None] * positions).sum(axis=0) / masses.sum()
    motions = [root * axis for axis in numpy.eye(3)]
    motions += [root * numpy.cross(axis, centred) for axis in numpy.eye(3)]
    _, size, directions = numpy.linalg.svd(numpy.array(motions).reshape(6, -1))
    return directions[(size > SAME_AXIS * size[0]).sum() :].T


def weighted(hessian, masses):
    """Hartree / (bohr^2 u)."""
    root = numpy.repeat(numpy.sqrt(masses), 3)
    return hessian / root[:, None] / root[None, :]


def normal_modes(hessian, positions, masses):
    """(wavenumbers in 1/cm, imaginary ones negative; mass-weighted unit vectors as columns)."""
    inside = internal_directions(positions, masses)
    values, vectors = numpy.linalg.eigh(inside.T @ weighted(hessian, masses) @ inside)
    vectors = inside @ vectors
    per_second = numpy.sqrt(
        numpy.abs(values) * nist.HARTREE2J / (nist.BOHR_SI**2 * nist.ATOMIC_MASS)
    )
    wavenumbers = numpy.sign(values) * per_second / (2 * numpy.pi * nist.LIGHT_SPEED_SI * 100)
    return wavenumbers, vectors


def imaginary(wavenumbers):
    return wavenumbers[wavenumbers < -LEAST_IMAGINARY]
