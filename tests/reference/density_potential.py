"""Potential of a solute's electrons: of a density grid, and by analytic integrals.

Lengths in angstrom, potentials in kJ/mol per elementary charge, grids (points, 5): x, y, z, charge
(e) and extent R. The integrals need PySCF; the density is converged by PySCF's own SCF, not by the
worker whose grids are judged.
"""

import struct

import numpy as np
from scipy.spatial.distance import cdist

COULOMB_CONSTANT = 1389.35457644  # kJ mol^-1 A e^-2, CODATA 2018
BOHR = 0.529177210903  # A
CHUNK_PAIRS = 100_000  # of doubles, in a core's cache


def read_xyz(path):
    """Elements and positions."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    atoms = [line.split() for line in lines[2 : 2 + int(lines[0])]]
    return [atom[0] for atom in atoms], np.array([[float(x) for x in a[1:4]] for a in atoms])


def write_xyz(path, elements, positions, comment):
    rows = [
        f"{element} {x:.7f} {y:.7f} {z:.7f}"
        for element, (x, y, z) in zip(elements, positions, strict=True)
    ]
    path.write_text("\n".join([str(len(rows)), comment, *rows]) + "\n", encoding="utf-8")


def read_grid(path):
    """A density grid file of version 1, whose points are bare, or 2."""
    data = path.read_bytes()
    version, _, count = struct.unpack_from("<IIQ", data, 8)
    width = 4 if version == 1 else 5
    grid = np.frombuffer(data, "<f8", count * width, 24).reshape(count, width)
    return grid if width == 5 else np.column_stack((grid, np.zeros(count)))


def chunks(sites, points):
    step = max(1, CHUNK_PAIRS // points)
    return (slice(first, first + step) for first in range(0, len(sites), step))


def inverse_distance(distances, extents):
    """1/r outside a point's extent, (45 - 50 s^2 + 21 s^4) / (16 R) with s = r/R inside."""
    result = 1 / distances
    i, j = np.divmod(np.flatnonzero(distances < extents), len(extents))
    square = (distances[i, j] / extents[j]) ** 2
    result[i, j] = (45 - 50 * square + 21 * square**2) / (16 * extents[j])
    return result


def grid_potential(grid, sites):
    """(sites,): of the points as they are, without cutoff."""
    result = np.empty(len(sites))
    points, extents = grid[:, :3], grid[:, 4]
    for some in chunks(sites, len(points)):
        distances = np.maximum(cdist(sites[some], points), 0.01)
        result[some] = inverse_distance(distances, extents) @ grid[:, 3]
    return COULOMB_CONSTANT * result


class AnalyticDensity:
    """A solute's density in vacuo, PBE/def2-SVP with density fitting, as density_grid makes it."""

    def __init__(self, elements, positions, charge):
        from pyscf import dft, gto, lib

        lib.num_threads(1)
        self.molecule = gto.M(
            atom=list(zip(elements, positions.tolist(), strict=True)),
            basis="def2-svp",
            charge=charge,
            verbose=0,
        )
        field = dft.RKS(self.molecule).density_fit()
        field.xc = "pbe"
        field.grids.atom_grid = (75, 302)
        field.grids.prune = None
        field.conv_tol = 1e-11
        field.conv_tol_grad = 1e-6
        field.kernel()
        if not field.converged:
            raise RuntimeError("the reference's SCF did not converge")
        self.matrix = field.make_rdm1()

    def potential(self, sites):
        """(sites,): -k times the integrals of the density over 1/r."""
        functions = len(self.matrix)
        result = np.empty(len(sites))
        for some in chunks(sites, functions**2):
            integrals = self.molecule.intor("int1e_grids", hermi=1, grids=sites[some] / BOHR)
            result[some] = -np.tensordot(integrals, self.matrix, axes=2)
        return COULOMB_CONSTANT / BOHR * result


def density_grid(make_grid, xyz, charge, radial, angular):
    """(points, 5) by the PySCF worker; make_grid: the module tests/data/qm/make_grid.py."""
    import argparse

    arguments = argparse.Namespace(
        xyz=xyz,
        charge=charge,
        radial=radial,
        angular=angular,
        method="pbe",
        basis="def2-svp",
        verbose=False,
    )
    grid = make_grid.compute(arguments)[1]
    return grid[np.abs(grid[:, 3]) >= 1e-9]
