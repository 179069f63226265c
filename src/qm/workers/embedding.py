"""The potential of the MM charges as a matrix of the basis functions (atomic units but for points).

Most of it goes by quadrature, so that it may be any function of the distance. Two parts do not: 1/r
of charges near the solute (near_charges.py), and of the rest the constant and the gradient that its
values at the nuclei show. The quadrature's error in the number of electrons, some 1e-4, would
multiply a constant of hundreds of kJ/mol.
"""

import copy

import numpy
from array_backend import HOST
from attraction import AttractionMatrix
from near_charges import NearCharges
from pyscf.data import nist

ANALYTIC_CHUNK_BYTES = 200e6
# Along an axis on which the nuclei spread less (bohr) they do not tell a gradient.
LEAST_SPREAD = 1.0


class LinearPotential:
    """Of potentials that are known at the nuclei: constant and gradient, integrated analytically."""

    def __init__(self, molecule):
        nuclei = molecule.atom_coords()
        self._centre = nuclei.mean(axis=0)
        spread = nuclei - self._centre
        _, sizes, axes = numpy.linalg.svd(spread, full_matrices=False)
        told = sizes > LEAST_SPREAD * len(nuclei) ** 0.5
        axes = axes[told]
        self._gradient_of = axes.T @ (axes @ spread.T / sizes[told, None] ** 2)
        self._overlap = molecule.intor_symmetric("int1e_ovlp")
        with molecule.with_common_orig(self._centre):
            self._position = molecule.intor_symmetric("int1e_r", comp=3)

    def fit(self, at_nuclei):
        """(constant, gradient), by least squares."""
        constant = float(at_nuclei.mean())
        return constant, self._gradient_of @ (at_nuclei - constant)

    def at(self, points, constant, gradient, backend=HOST):
        """At points of the backend's."""
        return constant + (points - backend.put(self._centre)) @ backend.put(gradient)

    def matrix(self, constant, gradient):
        return constant * self._overlap + numpy.tensordot(gradient, self._position, axes=1)


class Embedding:
    """points (p, 3) in bohr and weights: of the quadrature; blocks: PointBlocks on them."""

    def __init__(self, molecule, points, weights, blocks):
        self._molecule = molecule
        self._take(points, weights, blocks)
        backend = blocks.backend
        self._linear = LinearPotential(molecule)
        # On the host PySCF's integrals are faster.
        self.attraction = AttractionMatrix(molecule, backend) if backend.on_device else None

    def _take(self, points, weights, blocks):
        self._points = blocks.backend.put(points)
        self._angstrom = self._points * nist.BOHR
        self._weights = blocks.backend.put(weights)
        self._blocks = blocks

    def on(self, points, weights, blocks):
        """The same by another quadrature."""
        other = copy.copy(self)
        other._take(points, weights, blocks)
        return other

    def by_quadrature(self, potential, nuclear_potential, charges):
        """Matrix of an electron. potential: Hartree per charge, at the points."""
        nuclei = self._molecule.atom_coords() * nist.BOHR
        near = NearCharges.among(charges, nuclei)
        backend = self._blocks.backend
        inverse = near.inverse_distances(self._angstrom, backend)
        rest = backend.put(potential) - inverse * nist.BOHR
        at_nuclei = nuclear_potential - near.inverse_distances(nuclei) * nist.BOHR
        fit = self._linear.fit(at_nuclei)
        rest -= self._linear.at(self._points, *fit, backend)
        matrix = self._blocks.integrate(-self._weights * rest)
        near_charges = near.positions / nist.BOHR, near.strengths
        if self.attraction is not None:
            matrix = matrix - self.attraction(*near_charges)
            linear = self._linear.matrix(*fit)  # while the device is at work
            return backend.get(matrix) - linear
        matrix -= self._linear.matrix(*fit)
        return matrix - self.coulomb_matrix(*near_charges)

    def coulomb_matrix(self, positions, charges):
        """Of a positive charge in the plain potential of `charges`, by analytic integrals.

        In chunks: all three-centre integrals at once would take gigabytes.
        """
        functions = self._molecule.nao
        matrix = numpy.zeros(functions**2)
        chunk = max(1, int(ANALYTIC_CHUNK_BYTES / 8 / functions**2))
        for first in range(0, len(charges), chunk):
            some = slice(first, first + chunk)
            integrals = self._molecule.intor("int1e_grids", hermi=1, grids=positions[some])
            # The charges' index runs fastest.
            matrix += integrals.T.reshape(functions**2, -1) @ charges[some]
        return matrix.reshape(functions, functions)
