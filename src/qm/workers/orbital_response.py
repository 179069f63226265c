"""How a converged mean field's density responds: orbitals, the equations' matrix, their densities.

A perturbation h of the electrons changes the occupied orbitals by x, occupied-virtual amplitudes
that fulfil A x = -h_vo (coupled-perturbed equations). The vector of an open shell holds both spins.
"""

import numpy
from pyscf import dft

# Of an occupied and a virtual orbital (Hartree): less, and there is no ground state to speak of.
LEAST_GAP = 1e-3
SAME_DENSITY = 1e-2  # largest element by which the orbitals' density may differ from the reference's


class NoGroundState(Exception):
    """The orbitals do not fill from below."""


class OrbitalResponse:
    """core: the one-electron matrix; density: (n, n), or (2, n, n) of an open shell.

    functional_kernel(changes of the density matrix) -> changes of the potential's matrix; None: there
    is no functional, or PySCF has to evaluate it (functional_by_pyscf). coulomb(changes) -> their Coulomb
    matrices, potential(density) -> the matrix of its mean field; None: by the mean field.
    """

    def __init__(
        self,
        mean_field,
        core,
        density,
        functional_kernel,
        functional_by_pyscf=False,
        coulomb=None,
        potential=None,
    ):
        self._mean_field = mean_field
        self._functional_kernel = functional_kernel
        self._coulomb = coulomb
        self.open_shell = density.ndim == 3
        # Of an amplitude's product with a perturbation in the energy Tr(h D).
        self.weight = 2.0 if self.open_shell else 4.0
        self._orbitals = self._diagonalise(core, density, potential)
        self.gaps = numpy.concatenate(
            [
                (energies[virtual, None] - energies[occupied]).ravel()
                for energies, _, occupied, virtual in self._orbitals
            ]
        )
        if self.gaps.size == 0:
            raise NoGroundState("there are no empty orbitals in this basis")
        if self.gaps.min() < LEAST_GAP:
            raise NoGroundState(
                f"the smallest gap between occupied and empty orbitals is {self.gaps.min():.4f} Hartree"
            )
        ends = numpy.cumsum(
            [virtual.sum() * occupied.sum() for _, _, occupied, virtual in self._orbitals]
        )
        self._ends = ends[:-1]
        self.size = int(ends[-1])
        self._pyscf = self._response_by_pyscf() if functional_by_pyscf else None

    def _diagonalise(self, core, density, potential):
        """[(energies, orbitals, occupied, virtual)], one or two."""
        mean_field = self._mean_field
        overlap = mean_field.get_ovlp()
        if potential is None:
            fock = core + numpy.asarray(mean_field.get_veff(mean_field.mol, density))
        else:
            fock = core + potential(density)
        found = []
        focks, densities = (fock, density) if self.open_shell else (fock[None], density[None])
        for matrix, one in zip(focks, densities, strict=True):
            energies, orbitals = mean_field._eigh(matrix, overlap)
            count = round(float(numpy.vdot(one, overlap)) / (1 if self.open_shell else 2))
            occupied = numpy.arange(len(energies)) < count
            filled = orbitals[:, occupied]
            again = filled @ filled.T * (1 if self.open_shell else 2)
            if abs(again - one).max() > SAME_DENSITY:
                raise NoGroundState("an occupied orbital lies above an empty one")
            found.append((energies, orbitals, occupied, ~occupied))
        return found

    def spaces(self):
        """(occupied, virtual) orbitals, one pair a spin."""
        return [
            (orbitals[:, occupied], orbitals[:, virtual])
            for _, orbitals, occupied, virtual in self._orbitals
        ]

    def amplitudes(self, matrices):
        """Occupied-virtual elements: (k, size) of (k, n, n), or of (2, k, n, n), one a spin."""
        if matrices.ndim == 3:
            matrices = numpy.broadcast_to(matrices, (len(self._orbitals), *matrices.shape))
        parts = []
        for (occupied, virtual), some in zip(self.spaces(), matrices, strict=True):
            parts.append((virtual.T @ (some @ occupied)).reshape(len(some), -1))
        return numpy.hstack(parts)

    def densities(self, vectors):
        """Changes of the density matrix: (k, n, n), or (2, k, n, n)."""
        found = []
        parts = numpy.split(vectors, self._ends, axis=1)
        for (occupied, virtual), part in zip(self.spaces(), parts, strict=True):
            amplitudes = part.reshape(len(part), virtual.shape[1], occupied.shape[1])
            half = (virtual @ amplitudes) @ occupied.T
            found.append(half + half.transpose(0, 2, 1))
        return numpy.array(found) if self.open_shell else 2 * found[0]

    def apply(self, vectors):
        """A times the rows."""
        changes = self.densities(vectors)
        return self.gaps * vectors + self.amplitudes(self._induced(changes))

    def _induced(self, changes):
        if self._pyscf is not None:
            return numpy.asarray(self._pyscf(changes)).reshape(changes.shape)
        potential = self._coulomb_and_exchange(changes)
        if self._functional_kernel is not None:
            potential += self._functional_kernel(changes)
        return potential

    def _coulomb_and_exchange(self, changes):
        mean_field, molecule = self._mean_field, self._mean_field.mol
        omega, long_range, share = exchange_of(mean_field)
        whole = changes.sum(axis=0) if self.open_shell else changes
        potential = numpy.broadcast_to(self._coulomb_of(whole), changes.shape).copy()
        part = 1.0 if self.open_shell else 0.5
        flat = changes.reshape(-1, *changes.shape[-2:])
        if share:
            exchange = mean_field.get_k(molecule, flat, hermi=1)
            potential -= part * share * numpy.asarray(exchange).reshape(changes.shape)
        if omega and long_range != share:
            exchange = mean_field.get_k(molecule, flat, hermi=1, omega=omega)
            potential -= (
                part * (long_range - share) * numpy.asarray(exchange).reshape(changes.shape)
            )
        return potential

    def _coulomb_of(self, changes):
        if self._coulomb is not None:
            return self._coulomb(changes)
        mean_field = self._mean_field
        matrices = mean_field.get_j(mean_field.mol, changes, hermi=1)
        return numpy.asarray(matrices).reshape(changes.shape)

    def _response_by_pyscf(self):
        columns = [
            numpy.array([one[item] for one in self._orbitals])
            if self.open_shell
            else self._orbitals[0][item]
            for item in (1, 2)
        ]
        orbitals, occupied = columns
        occupations = occupied.astype(float) * (1 if self.open_shell else 2)
        return self._mean_field.gen_response(orbitals, occupations, hermi=1)


def exchange_of(mean_field):
    """(omega, share of exact exchange at long range, and at short): 0, 0, 0 of a pure functional."""
    if not isinstance(mean_field, dft.rks.KohnShamDFT):
        return 0.0, 1.0, 1.0
    omega, alpha, hybrid = mean_field._numint.rsh_and_hybrid_coeff(
        mean_field.xc, spin=mean_field.mol.spin
    )
    return omega, alpha, hybrid
