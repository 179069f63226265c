"""The solute's response to its solvent, in few components, and how well it predicts energies.

The embedded energy about the reference is E_QM[D0] + Tr(D0 V) + nuclei - |Y|^2 / 2 with
Y_k = Tr(D_k (V - V0)). Components are the principal ones of the sampled potentials, in the metric
of an approximate response; D_k are combinations of the coupled responses to them such that the
response is minus one. That is the Galerkin approximation: exact for potentials that the components
make up, wrong in second order for all others, and never below the full response.
"""

import dataclasses
import math

import numpy
import scipy.special
from galerkin import NotPositive, Subspace
from worker_protocol import HARTREE_IN_KJ_PER_MOL, WorkerError

# How many components are tried, one after the other.
LADDER = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
# What a component's energy may lack, as a share of it; second order in the error of its density.
RESPONSE_ERROR = 1e-4
MOST_ITERATIONS = 12
# That the width is no larger than the tolerance: few tests may lie close together by chance.
CONFIDENCE = 0.95
# Of the largest principal component; what is smaller is rounding.
LEAST_PRINCIPAL = 1e-10


@dataclasses.dataclass
class Test:
    """A configuration held out: energy less that to first order in its potential, kJ/mol."""

    embedding: numpy.ndarray
    polarisation: float


@dataclasses.dataclass
class Response:
    """densities: (r, n, n) in atomic units, response minus one; mean: Tr(D_k V0)."""

    densities: numpy.ndarray
    mean: numpy.ndarray
    fields: dict
    spectrum: numpy.ndarray


def principal_components(orbital_response, precondition, differences):
    """(components as amplitudes (k, size), their shares): largest first, each of response -1 or so."""
    amplitudes = orbital_response.amplitudes(differences)
    gram = orbital_response.weight * amplitudes @ precondition(amplitudes).T
    values, vectors = numpy.linalg.eigh((gram + gram.T) / 2)
    order = numpy.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    kept = values > LEAST_PRINCIPAL * values[0].clip(0)
    scaled = vectors[:, kept] / numpy.sqrt(values[kept])
    # A solvent without charges has no components, and no shares.
    every = max(values.clip(0).sum(), numpy.finfo(float).tiny)
    return scaled.T @ amplitudes, values / every


class Predictor:
    """Solves for ever more components, and compares with the tests. apply(vectors): the equations' matrix
    times the rows."""

    def __init__(self, orbital_response, apply, precondition, components, mean, tests):
        self._orbital_response = orbital_response
        self._components = components
        self._mean = mean
        self._tests = tests
        self._subspace = Subspace(orbital_response.size, apply, precondition)

    @property
    def smallest_eigenvalue(self):
        return self._subspace.smallest_eigenvalue

    def respond(self, count):
        """(densities (count, n, n) of response -1, largest error of the equations)."""
        perturbations = self._components[:count]
        solution = self._subspace.solve(-perturbations, RESPONSE_ERROR, MOST_ITERATIONS)
        weight = self._orbital_response.weight
        response = -weight * perturbations @ solution.vectors.T
        factor = numpy.linalg.cholesky((response + response.T) / 2)
        vectors = numpy.linalg.solve(factor, solution.vectors)
        densities = self._orbital_response.densities(vectors)
        if self._orbital_response.open_shell:
            densities = densities.sum(axis=0)
        return densities, float(solution.errors.max())

    def means(self, densities):
        return numpy.einsum("kij,ij->k", densities, self._mean, optimize=True)

    def errors(self, densities):
        """True less predicted energy of the tests, kJ/mol."""
        found = []
        mean = self.means(densities)
        flat = densities.reshape(len(densities), self._mean.size)
        for test in self._tests:
            fields = flat @ test.embedding.ravel() - mean
            found.append(test.polarisation + 0.5 * float(fields @ fields) * HARTREE_IN_KJ_PER_MOL)
        return numpy.array(found)


@dataclasses.dataclass
class _Rung:
    densities: numpy.ndarray
    width: list
    error: float  # of its equations

    @property
    def deviation(self):
        """Root mean square. The mean belongs to it: what a response leaves out lowers the energy, so it is
        as large as what blocks will differ by, while tests of one chain are too much alike to show how
        they scatter."""
        _, mean, deviation = self.width
        return math.hypot(mean, deviation)


def choose(predictor, most, tolerance, progress):
    """(densities, fields): the fewest components on the ladder that meet the tolerance, by the
    upper limit of the deviation that so many tests tell; where none do, those of least deviation."""
    nothing = numpy.zeros((0, *predictor._mean.shape))
    errors = predictor.errors(nothing)
    limit = tolerance / upper_limit(len(errors))
    rungs = [_Rung(nothing, _width(0, errors), 0.0)]
    note = _climb(predictor, rungs, most, limit, progress) if rungs[0].deviation > limit else ""
    if note and len(rungs) == 1:
        raise WorkerError("not-converged", f"no response of the solute: {note}")
    # Of a solute that is nearly degenerate more components may predict energies worse than none.
    best = min(range(len(rungs)), key=lambda rung: rungs[rung].deviation)
    left, count = rungs[best].deviation, len(rungs[best].densities)
    if left > limit and not note:
        most_allowed = ", the most allowed," if best == len(rungs) - 1 else ""
        note = f"{count} components{most_allowed} {_shortfall(left, tolerance)}"
    if best < len(rungs) - 1:
        note += (
            f"; {len(rungs[-1].densities)} leave {rungs[-1].deviation:.2f} kJ/mol, more than the "
            f"{left:.2f} of {count}"
        )
    return rungs[best].densities, {
        "components": count,
        "widths": [rung.width for rung in rungs[: best + 1]],
        "note": note,
        "largest_residual": max(rung.error for rung in rungs[: best + 1]),
    }


def _climb(predictor, rungs, most, limit, progress):
    """Adds to the rungs until one meets the limit; what kept it from going on, if anything did."""
    for count in [step for step in LADDER if step < most] + [most] * (most > 0):
        try:
            densities, error = predictor.respond(count)
        except NotPositive as failure:
            return f"{count} components: the response is not negative definite ({failure})"
        if error > RESPONSE_ERROR:
            return (
                f"{count} components: the coupled-perturbed equations did not converge in "
                f"{MOST_ITERATIONS} iterations (error {error:.0e} of the energy)"
            )
        rungs.append(_Rung(densities, _width(count, predictor.errors(densities)), error))
        progress("response", count, most)
        if rungs[-1].deviation <= limit:
            break
    return ""


def _shortfall(deviation, tolerance):
    if deviation > tolerance:
        return "leave more than the tolerance"
    return "leave what so few tests cannot tell from more than the tolerance"


def upper_limit(tests):
    """Of a root mean square, as a multiple of the one that so many samples show."""
    # scipy.stats.chi2.ppf(); scipy.stats would be a third of what a worker imports.
    quantile = 2 * scipy.special.gammaincinv(tests / 2, 1 - CONFIDENCE)
    return float(numpy.sqrt(tests / quantile))


def _width(count, errors):
    return [int(count), float(errors.mean()), float(errors.std(ddof=1))]
