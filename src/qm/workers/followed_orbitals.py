"""Occupied orbitals of a Fock matrix that is near one which has been diagonalised.

On a device a diagonalisation is half of an SCF iteration, and products of matrices are next to nothing.
In the reference's orbitals C the occupied space is the one that C_o + C_v X spans, and of a near Fock
matrix X solves F_vo + F_vv X = X (F_oo + F_ov X): by steps that divide by the gaps of the reference.
The orbitals are orthonormal however far the steps get, so a step too few costs an SCF iteration and
nothing else; which space it is, the diagonalisation before has settled.
"""

import scipy.linalg

STEPS = 3  # two are as good (chorismate, acetone: as many iterations as with diagonalisations)
# Of an orbital's square before it is made one: above, it is no longer near the reference's.
LARGEST_SQUARE = 4.0


class FollowedOrbitals:
    """pairs: how many are occupied."""

    def __init__(self, backend, pairs):
        self._backend = backend
        self._pairs = pairs
        self._step = backend.fused(_step)

    def begin(self, orbitals, energies):
        """orbitals: of the reference, all of them."""
        pairs, xp = self._pairs, self._backend.xp
        self._orbitals = orbitals
        self._inverse_gaps = 1 / (energies[pairs:, None] - energies[None, :pairs])
        # The unit matrix above X: of the orbitals as combinations of the reference's.
        self._combination = xp.zeros((len(energies), pairs))
        self._combination[:pairs] = xp.eye(pairs)

    def of(self, fock):
        """Orthonormal, (functions, pairs); goes on from the last call's. None: it is too far away."""
        pairs, combination = self._pairs, self._combination
        fock = self._orbitals.T @ fock @ self._orbitals
        for _ in range(STEPS):
            product = fock @ combination
            share = combination[pairs:] @ product[:pairs]
            combination[pairs:] = self._step(
                combination[pairs:], product[pairs:], share, self._inverse_gaps
            )
        squares = self._backend.get(combination.T @ combination)
        if not (squares.diagonal() < LARGEST_SQUARE).all():  # also where it is no number
            return None
        # Small, and the host has it before a device has begun.
        triangle, dependent = scipy.linalg.lapack.dpotrf(squares)
        inverse, singular = scipy.linalg.lapack.dtrtri(triangle)
        if dependent or singular:
            raise scipy.linalg.LinAlgError("orbitals that are followed depend on each other")
        return self._orbitals @ (combination @ self._backend.put(inverse))


def _step(x, product, share, inverse_gaps):
    return x - (product - share) * inverse_gaps
