"""Linear equations A x = b with one symmetric positive definite A, in a common growing subspace.

What is returned is the variational (Galerkin) solution in that subspace: b.x falls short of its
limit by the second order of the error that x still has.
"""

import dataclasses

import numpy

LEAST_NORM = 1e-9  # of what is new in a vector; less is in the subspace already


class NotPositive(Exception):
    """A has a direction without curvature."""


@dataclasses.dataclass
class Solution:
    """errors: what b.x still lacks, estimated, relative to b.x."""

    vectors: numpy.ndarray
    errors: numpy.ndarray
    iterations: int


class Subspace:
    """apply(vectors): A times rows; precondition(vectors): an approximate inverse times rows."""

    def __init__(self, size, apply, precondition):
        self._apply = apply
        self._precondition = precondition
        self._basis = numpy.zeros((0, size))
        self._applied = numpy.zeros((0, size))
        self.smallest_eigenvalue = numpy.inf

    def solve(self, right, error, most_iterations):
        """For the rows of `right`. Raises NotPositive."""
        limit = abs(numpy.einsum("kx,kx->k", right, self._precondition(right)))
        limit = numpy.maximum(limit, numpy.finfo(float).tiny)
        new = self._precondition(right)
        for iteration in range(most_iterations + 1):
            self._extend(new)
            solution, residual = self._project(right)
            step = self._precondition(residual)
            errors = abs(numpy.einsum("kx,kx->k", residual, step)) / limit
            if errors.max() < error or iteration == most_iterations:
                return Solution(solution, errors, iteration + 1)
            new = step[errors >= error]
        raise AssertionError("most_iterations is negative")

    def _extend(self, new):
        new = new / numpy.linalg.norm(new, axis=1)[:, None].clip(numpy.finfo(float).tiny)
        for _ in range(2):  # once more, for what rounding has left
            new = new - (new @ self._basis.T) @ self._basis
        values, vectors = numpy.linalg.eigh(new @ new.T)
        kept = values > LEAST_NORM**2 + 1e-13 * values[-1]
        new = (vectors[:, kept] / numpy.sqrt(values[kept])).T @ new
        new -= (new @ self._basis.T) @ self._basis
        if len(new):
            self._basis = numpy.vstack([self._basis, new])
            self._applied = numpy.vstack([self._applied, self._apply(new)])

    def _project(self, right):
        projected = self._basis @ self._applied.T
        values, vectors = numpy.linalg.eigh((projected + projected.T) / 2)
        self.smallest_eigenvalue = float(values[0])
        if values[0] <= 0:
            raise NotPositive(f"smallest eigenvalue {values[0]:.1e} Hartree")
        # The inverse by its eigenvectors, so that b.x is symmetric in all right-hand sides.
        coefficients = ((right @ self._basis.T @ vectors) / values) @ vectors.T
        return coefficients @ self._basis, right - coefficients @ self._applied
