"""Exchange and correlation of a closed shell from basis functions kept on the SCF grid.

PySCF evaluates the basis functions on the grid in every SCF iteration. The solute never moves, so
here they are evaluated once. LDA and GGA only; everything else is left to PySCF.
"""

import functools

import numpy
from array_functionals import ArrayFunctional

# Electrons per cubic bohr: below, second derivatives are large numbers that nothing depends on.
LEAST_DENSITY = 1e-8


def serves(numerical_integrator, functional, closed_shell):
    kind = numerical_integrator._xc_type(functional)
    nonlocal_correlation = any(numerical_integrator.nlc_coeff(functional))
    return closed_shell and kind in ("LDA", "GGA") and not nonlocal_correlation


class _OnBlocks:
    """Densities of matrices on PointBlocks, and matrices of potentials there."""

    def __init__(self, numerical_integrator, blocks, weights):
        self._integrator = numerical_integrator
        self._blocks = blocks
        self._backend = blocks.backend
        self._weights = self._backend.put(weights)

    def _density(self, matrix, components):
        """rho and, for a GGA, its gradient: (components, points)."""
        rho = self._backend.xp.empty((components, len(self._weights)))
        matrix = matrix.astype(self._blocks.precision, copy=False)

        def fill(block, functions, values):
            half = values[0] @ self._backend.sub_matrix(matrix, functions)
            self._backend.row_products(values[:components], half, rho[:, block])

        self._blocks.for_each_block(fill)
        gradient = rho[1:]
        gradient *= 2
        return rho

    def _potential_matrix(self, weighted):
        """v phi phi + (gradient terms), symmetrised: half of the local term is taken twice."""
        weighted = self._backend.without_tiny(weighted.astype(self._blocks.precision))
        local = weighted[0]
        local *= 0.5
        return self._matrix_of_halves(weighted)

    def _matrix_of_halves(self, weighted):
        """weighted: in the blocks' precision, half of the local term."""
        components = len(weighted)

        def contribution(block, _functions, values):
            scaled = self._backend.combined_rows(weighted[:, block], values[:components])
            return values[0].T @ scaled

        half = self._blocks.sum_matrix(contribution)
        return half + half.T


class CachedFunctional(_OnBlocks):
    """One functional; matrices are the backend's."""

    def __init__(self, numerical_integrator, blocks, weights, functional):
        super().__init__(numerical_integrator, blocks, weights)
        self._kind = numerical_integrator._xc_type(functional)
        if self._backend.on_device:
            self._array_functional = ArrayFunctional(functional, self._backend)
            self._at_points = self._by_arrays
        else:
            self._by_libxc = functools.partial(_by_libxc, numerical_integrator, functional, self._kind)
            self._at_points = self._on_host

    def evaluate(self, matrix):
        """(energy, matrix of the potential)."""
        charge, energy_density, potential = self._evaluate(matrix)
        return float(charge @ energy_density), potential

    def potential(self, matrix):
        """Its matrix alone: for an energy a device would be waited for."""
        return self._at_points(self._density_of(matrix))[1]

    def in_place_of_nr_rks(self, _molecule, _grids, _functional, density_matrix, *_, **__):
        """NumInt.nr_rks as PySCF calls it: arguments and results are the host's."""
        matrix = self._backend.put(numpy.asarray(density_matrix))
        charge, energy_density, potential = self._evaluate(matrix)
        energy = float(charge @ energy_density)
        return float(charge.sum()), energy, self._backend.get(potential)

    def _density_of(self, matrix):
        return self._density(matrix, 4 if self._kind == "GGA" else 1)

    def _evaluate(self, matrix):
        """(charges of the points, energy per electron there, matrix of the potential)"""
        rho = self._density_of(matrix)
        energy_density, potential = self._at_points(rho)
        return self._weights * rho[0], energy_density, potential

    def _on_host(self, rho):
        """(energy per electron, matrix of the potential)"""
        energy_density, potential = self._by_libxc(rho)
        return energy_density, self._potential_matrix(self._weights * potential)

    def _by_arrays(self, rho):
        """The same with fewer passes over the points, each of which a device is told of."""
        energy_density, halves = self._array_functional.weighted_halves(rho, self._weights)
        return energy_density, self._matrix_of_halves(halves.astype(self._blocks.precision, copy=False))


def _by_libxc(numerical_integrator, functional, kind, rho):
    """(energy per electron, derivatives by rho and its gradient's components)."""
    energy_density, potential = numerical_integrator.eval_xc_eff(
        functional, rho if kind == "GGA" else rho[0], deriv=1, xctype=kind, spin=0
    )[:2]
    return energy_density, potential.reshape(rho.shape)


class CachedKernel(_OnBlocks):
    """How the functional's potential changes with the density, at one density: LDA and GGA.

    density: the host's matrix of a closed shell, or (2, n, n), one a spin; all else is the backend's.
    """

    def __init__(self, numerical_integrator, blocks, weights, functional, density):
        super().__init__(numerical_integrator, blocks, weights)
        kind = numerical_integrator._xc_type(functional)
        self._components = 4 if kind == "GGA" else 1
        self._open_shell = density.ndim == 3
        rho = self._backend.get(self._densities(self._backend.put(density)))
        few = rho.sum(axis=0)[0] if self._open_shell else rho[0]
        second = numerical_integrator.eval_xc_eff(
            functional,
            rho if kind == "GGA" else rho[..., 0, :],
            deriv=2,
            xctype=kind,
            spin=int(self._open_shell),
        )[2]
        kernel = second.reshape(rho.shape[:-1] * 2 + (-1,)) * weights
        kernel[..., few < LEAST_DENSITY] = 0
        self._kernel = self._backend.put(kernel)

    @property
    def backend(self):
        return self._backend

    @property
    def weighted(self):
        """Second derivatives times weights, ([spin,] component, [spin,] component, point)."""
        return self._kernel

    def of_host(self, changes):
        """As of a call, for many matrices of the host: (k, n, n), or (2, k, n, n), one a spin."""
        xp, changes = self._backend.xp, self._backend.put(changes)
        each = [self(changes[..., k, :, :]) for k in range(changes.shape[-3])]
        return self._backend.get(xp.stack(each, axis=-3))

    def __call__(self, change):
        """Matrix (one a spin) of the potential's change with the density matrix."""
        xp, rho = self._backend.xp, self._densities(change)
        if not self._open_shell:
            return self._potential_matrix(xp.einsum("abp,bp->ap", self._kernel, rho))
        weighted = xp.einsum("satbp,tbp->sap", self._kernel, rho)
        return xp.stack([self._potential_matrix(one) for one in weighted])

    def _densities(self, matrices):
        if not self._open_shell and matrices.ndim == 2:
            return self._density(matrices, self._components)
        return self._backend.xp.stack([self._density(matrix, self._components) for matrix in matrices])
