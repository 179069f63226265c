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
        rho = self._backend.xp.zeros((components, len(self._weights)))
        matrix = matrix.astype(self._blocks.precision)

        def fill(block, functions, values):
            half = values[0] @ self._backend.sub_matrix(matrix, functions)
            rho[:, block] = self._backend.row_products(values[:components], half)
            rho[1:, block] *= 2

        self._blocks.for_each_block(fill)
        return rho

    def _potential_matrix(self, weighted):
        """v phi phi + (gradient terms), symmetrised: half of the local term is taken twice."""
        weighted = self._backend.without_tiny(weighted.astype(self._blocks.precision))
        weighted[0] *= 0.5
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
        self._evaluate = (
            ArrayFunctional(functional, self._backend)
            if self._backend.on_device
            else functools.partial(_by_libxc, numerical_integrator, functional, self._kind)
        )

    def evaluate(self, matrix):
        """(electrons, energy, matrix of the potential)."""
        rho = self._density(matrix, 4 if self._kind == "GGA" else 1)
        energy_density, potential = self._evaluate(rho)
        charge = self._weights * rho[0]
        weighted = self._weights * potential
        return (
            charge.sum(),
            float(charge @ energy_density),
            self._potential_matrix(weighted),
        )

    def in_place_of_nr_rks(self, _molecule, _grids, _functional, density_matrix, *_, **__):
        """NumInt.nr_rks as PySCF calls it: arguments and results are the host's."""
        matrix = self._backend.put(numpy.asarray(density_matrix))
        electrons, energy, potential = self.evaluate(matrix)
        return float(electrons), energy, self._backend.get(potential)


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
