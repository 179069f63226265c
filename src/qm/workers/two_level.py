"""SCF whose iterations run on a coarse level and are corrected by a few Fock matrices of the fine.

The fine level is the one whose energy is wanted, and a Fock matrix of it is dear. The iterations use
F(P) = h + fine(P0) + coarse(P) - coarse(P0) with P0 the last density the fine level was evaluated
at. At P0 that is the fine level's own Fock matrix, so a density that stays there owes nothing to the
coarse level, which only has to know how the interaction changes with the density. Closed shells.

Matrices are arrays of the backend within an update; what comes in and what goes out is the host's.
"""

import dataclasses

import numpy
from array_backend import HOST
from extrapolation import extrapolation_on
from followed_orbitals import FollowedOrbitals

FIRST_GRADIENT = 1e-2  # where the purely coarse iterations of a cold start leave off
INNER_SHARE = 0.3  # of the gradient's threshold is what the coarse iterations leave
# A correction makes the fine level's gradient some thousand times smaller (chorismate: 0.1 to 1e-4),
# so from here ten times are a safe bet and need no fine Fock matrix to prove it.
LAST_CORRECTION = 10  # times the threshold
MOST_CORRECTIONS = 8
# From a gradient below this on, and as long as it does not leap, orbitals are followed where that pays.
FOLLOWED_GRADIENT = 0.3
# Times the gradient before: a first step without extrapolation raises it by half, and near the threshold
# it may double.
LARGEST_RISE = 3


class NotConverged(Exception):
    """Says where it stood after how many iterations."""

    def __init__(self, message, iterations=0):
        super().__init__(f"{message} after {iterations} iterations" if iterations else message)
        self.iterations = iterations


@dataclasses.dataclass
class Density:
    """Matrix, occupied orbitals (functions, electron pairs), and the coarse interaction there."""

    matrix: object
    occupied: object
    coarse: object


@dataclasses.dataclass
class Solution:
    """energy: Hartree, without the repulsion of the nuclei. The matrices are the host's."""

    energy: float
    matrix: numpy.ndarray
    occupied: numpy.ndarray
    iterations: int


class _Model:
    """Energy and Fock matrix near a density at which the fine level is known, or of coarse alone."""

    def __init__(self, xp, core, known=None, fine=None):
        self._xp = xp
        self._core = core
        self._known, self._fine = known, fine
        self._offset = 0.0 if known is None else fine[1] - known.coarse

    def fock(self, density):
        return self._core + density.coarse + self._offset

    def energy(self, density):
        """The fine level's, to third order in the distance from the known density.

        By the trapezoidal rule along the way between the two: the coarse level's own energy is not
        asked, for it is a difference of large numbers in single precision.
        """
        known = self._known
        slope = self.fock(known) + self.fock(density)
        vdot = self._xp.vdot
        return (
            float(vdot(self._core, known.matrix))
            + self._fine[0]
            + 0.5 * float(vdot(slope, density.matrix - known.matrix))
        )


class TwoLevelScf:
    """The electrons' interaction: fine(matrix, root) is (energy, matrix), coarse only the matrix, of a
    density matrix and of root(), which gives X with matrix = X X^T.

    An update starts from the last density that the fine level was evaluated at, and nothing else
    that the past has left has a part in its result.
    """

    def __init__(self, fine, coarse, overlap, electron_pairs, stopwatch, backend):
        self._fine = fine
        self._coarse = coarse
        self._backend = backend
        values, vectors = HOST.eigh(overlap)
        self._overlap = backend.put(overlap)
        self._orthogonaliser = backend.put((vectors / numpy.sqrt(values)) @ vectors.T)
        self._pairs = electron_pairs
        self._stopwatch = stopwatch
        self._followed = FollowedOrbitals(backend, electron_pairs) if backend.follows_orbitals else None
        self._near = False  # to a Fock matrix that has been diagonalised
        self._last = None  # (Density, the fine level's answer)

    def has_density(self):
        return self._last is not None

    def last(self):
        return self._last

    def go_on_from(self, last):
        """From what last() has given."""
        self._last = last

    def forget(self):
        self._last = None

    def occupied(self):
        """Occupied orbitals of the last density, which all else follows from; None: there is none."""
        return None if self._last is None else self._backend.get(self._last[0].occupied)

    def restore(self, occupied):
        occupied = self._backend.put(occupied)
        density = self._density(2 * occupied @ occupied.T, occupied)
        self._last = (density, self._of_fine(density))

    def _density(self, matrix, occupied):
        return Density(matrix, occupied, self._coarse(matrix, self._root(matrix, occupied)))

    def _of_fine(self, density):
        return self._fine(density.matrix, self._root(density.matrix, density.occupied))

    def _root(self, matrix, occupied):
        """occupied: None of a guess, which may be of more orbitals than are occupied."""
        if occupied is not None:
            return lambda: 2**0.5 * occupied

        def of_guess():
            values, vectors = self._backend.eigh(matrix)
            return vectors * self._backend.xp.sqrt(self._backend.xp.maximum(values, 0.0))

        return of_guess

    def converge(self, core, make_guess, energy_threshold, max_iterations):
        """make_guess(): a density matrix, for want of a last density. Raises NotConverged."""
        threshold = energy_threshold**0.5  # of the gradient's norm, as in PySCF
        iterations = 0
        xp = self._backend.xp
        core = self._backend.put(core)
        self._near = False  # of the updates before nothing has a part in this one's result
        if self._last is None:
            guess = self._backend.put(numpy.asarray(make_guess()))
            density, iterations, _ = self._iterate(
                _Model(xp, core),
                self._density(guess, None),
                FIRST_GRADIENT,
                max_iterations,
            )
            self._last = (density, self._of_fine(density))
        for _ in range(MOST_CORRECTIONS):
            known, fine = self._last
            model = _Model(xp, core, known, fine)
            density, more, gradient = self._iterate(
                model, known, INNER_SHARE * threshold, max_iterations - iterations, threshold
            )
            iterations += more
            if gradient <= LAST_CORRECTION * threshold:
                return Solution(
                    model.energy(density),
                    self._backend.get(density.matrix),
                    self._backend.get(density.occupied),
                    iterations,
                )
            self._last = (density, self._of_fine(density))
        raise NotConverged(f"{MOST_CORRECTIONS} corrections, gradient {gradient:.1e}", iterations)

    def _iterate(self, model, density, threshold, max_iterations, small_at_first=0.0):
        """Roothaan's iterations with Pulay's extrapolation; none from a gradient that is small at first.

        Returns (Density, iterations, the gradient at first).
        """
        extrapolation = extrapolation_on(self._backend)
        first, before = None, numpy.inf
        for iteration in range(max_iterations + 1):
            fock = model.fock(density)
            # The norm PySCF calls |g|.
            gradient = extrapolation.add(fock, self._error(fock, density.matrix)) / 2**0.5
            first = gradient if first is None else first
            guessed = density.occupied is None
            small = gradient < threshold or (iteration == 0 and gradient <= small_at_first)
            if small and not guessed:
                return density, iteration, first
            if iteration < max_iterations:
                near = self._near and gradient < min(LARGEST_RISE * before, FOLLOWED_GRADIENT)
                density = self._next(extrapolation.best(), near)
                self._near, before = True, gradient
                if guessed:  # no orbitals' density: its error says nothing
                    extrapolation.forget()
        raise NotConverged(f"gradient {gradient:.1e}", max_iterations)

    def _error(self, fock, matrix):
        """The commutator in an orthonormal basis."""
        product = self._orthogonaliser @ fock @ matrix @ self._overlap @ self._orthogonaliser
        return product - product.T

    def _next(self, fock, near):
        """near: to the last that was diagonalised."""
        with self._stopwatch.measure("diagonalisation"):
            occupied = self._followed.of(fock) if near and self._followed is not None else None
            if occupied is None:
                occupied = self._diagonalise(fock)
            matrix = 2 * occupied @ occupied.T
        return self._density(matrix, occupied)

    def _diagonalise(self, fock):
        """Its occupied orbitals."""
        energies, orbitals = self._backend.eigh(self._orthogonaliser @ fock @ self._orthogonaliser)
        if self._followed is None:
            return self._orthogonaliser @ orbitals[:, : self._pairs]
        orbitals = self._orthogonaliser @ orbitals
        self._followed.begin(orbitals, energies)
        return orbitals[:, : self._pairs]
