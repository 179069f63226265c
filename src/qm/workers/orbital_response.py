"""How a converged mean field's density responds: the equations' matrix, products with it, densities.

A perturbation h of the electrons changes the occupied orbitals by x, occupied-virtual amplitudes
that fulfil A x = -h_vo (coupled-perturbed equations). The vector of an open shell holds both spins.
"""

import contextlib
import dataclasses

import numpy
from fitted_interaction import exchange_of_change
from own_mean_field import prepare_for_copies, with_own_integrals
from pyscf import dft, lib
from threads import for_each

# Of an occupied and a virtual orbital (Hartree): less, and there is no ground state to speak of.
LEAST_GAP = 1e-3
SAME_DENSITY = 1e-2  # largest element by which the orbitals' density may differ from the reference's


class NoGroundState(Exception):
    """The orbitals do not fill from below."""


@dataclasses.dataclass
class Orbitals:
    """Of one spin, or of a closed shell: energies (m), matrix (n, m), the first `occupied` of them."""

    energies: numpy.ndarray
    matrix: numpy.ndarray
    occupied: int

    @property
    def spaces(self):
        """(occupied, virtual)"""
        return self.matrix[:, : self.occupied], self.matrix[:, self.occupied :]

    @property
    def gaps(self):
        """Of each virtual and occupied orbital, as a row."""
        return (self.energies[self.occupied :, None] - self.energies[: self.occupied]).ravel()


def diagonalised(mean_field, core, density, potential=None):
    """[Orbitals], one or two, of the mean field of a density.

    core: the one-electron matrix; density: (n, n), or (2, n, n) of an open shell; potential(density) ->
    the matrix of its mean field; None: by PySCF, on one thread, for the same bits.
    """
    overlap = mean_field.get_ovlp()
    open_shell = density.ndim == 3
    if potential is None:
        with lib.with_omp_threads(1):
            fock = core + numpy.asarray(mean_field.get_veff(mean_field.mol, density))
    else:
        fock = core + potential(density)
    found = []
    focks, densities = (fock, density) if open_shell else (fock[None], density[None])
    electrons = 1 if open_shell else 2
    for matrix, one in zip(focks, densities, strict=True):
        energies, orbitals = mean_field._eigh(matrix, overlap)
        orbitals = numpy.ascontiguousarray(orbitals)  # as others get them, for the same bits
        occupied = round(float(numpy.vdot(one, overlap)) / electrons)
        filled = orbitals[:, :occupied]
        if abs(filled @ filled.T * electrons - one).max() > SAME_DENSITY:
            raise NoGroundState("an occupied orbital lies above an empty one")
        found.append(Orbitals(energies, orbitals, occupied))
    return found


class OrbitalResponse:
    """orbitals: of diagonalised(), or of another process.

    functional_kernel(changes of the density matrix) -> changes of the potential's matrix; None: there is no
    functional. device_coulomb(changes) -> their Coulomb matrices by a device; None: by the mean field.
    """

    def __init__(self, mean_field, orbitals, functional_kernel, device_coulomb=None):
        self._mean_field = mean_field
        self._orbitals = orbitals
        self._functional_kernel = functional_kernel
        self._device_coulomb = device_coulomb
        self._idle = []  # mean fields for one thread each
        self.open_shell = len(orbitals) == 2
        # Of an amplitude's product with a perturbation in the energy Tr(h D).
        self.weight = 2.0 if self.open_shell else 4.0
        self.gaps = numpy.concatenate([one.gaps for one in orbitals])
        if self.gaps.size == 0:
            raise NoGroundState("there are no empty orbitals in this basis")
        if self.gaps.min() < LEAST_GAP:
            raise NoGroundState(
                f"the smallest gap between occupied and empty orbitals is {self.gaps.min():.4f} Hartree"
            )
        self._ends = numpy.cumsum([len(one.gaps) for one in orbitals])[:-1]
        self.size = len(self.gaps)
        omega, long_range, share = exchange_of(mean_field)
        if omega and long_range != share:
            prepare_for_copies(mean_field, omega)

    def spaces(self):
        """(occupied, virtual) orbitals, one pair a spin."""
        return [one.spaces for one in self._orbitals]

    def amplitudes(self, matrices):
        """Occupied-virtual elements: (k, size) of (k, n, n), or of (2, k, n, n), one a spin."""
        if matrices.ndim == 3:
            matrices = numpy.broadcast_to(matrices, (len(self._orbitals), *matrices.shape))
        parts = []
        for (occupied, virtual), some in zip(self.spaces(), matrices, strict=True):
            parts.append((virtual.T @ (some @ occupied)).reshape(len(some), -1))
        return numpy.hstack(parts)

    def _changed_orbitals(self, vectors):
        """Of each spin (k, n, occupied)."""
        found = []
        parts = numpy.split(vectors, self._ends, axis=1)
        for (occupied, virtual), part in zip(self.spaces(), parts, strict=True):
            found.append(virtual @ part.reshape(len(part), virtual.shape[1], occupied.shape[1]))
        return found

    def densities(self, vectors):
        """Changes of the density matrix: (k, n, n), or (2, k, n, n)."""
        return self._densities_of(self._changed_orbitals(vectors))

    def _densities_of(self, changed_orbitals):
        found = []
        for (occupied, _), changed in zip(self.spaces(), changed_orbitals, strict=True):
            half = changed @ occupied.T
            found.append(half + half.transpose(0, 2, 1))
        return numpy.array(found) if self.open_shell else 2 * found[0]

    def apply(self, vectors, threads):
        """A times the rows. Each row's product is made on one thread, so that its bits are a function of the
        row alone, but on a device, which takes all at once."""
        if self._device_coulomb is not None:
            return self._product(self._mean_field, vectors)
        products = numpy.empty_like(vectors)

        def fill(row):
            some = slice(row, row + 1)
            with self._own_mean_field() as mean_field, lib.with_omp_threads(1):
                products[some] = self._product(mean_field, vectors[some])

        for_each(fill, range(len(vectors)), threads)
        return products

    @contextlib.contextmanager
    def _own_mean_field(self):
        try:
            own = self._idle.pop()
        except IndexError:
            own = with_own_integrals(self._mean_field)
        yield own
        self._idle.append(own)

    def _product(self, mean_field, vectors):
        changed_orbitals = self._changed_orbitals(vectors)
        changes = self._densities_of(changed_orbitals)
        potential = self._coulomb_and_exchange(mean_field, changed_orbitals, changes)
        if self._functional_kernel is not None:
            potential += self._functional_kernel(changes)
        return self.gaps * vectors + self.amplitudes(potential)

    def _coulomb_and_exchange(self, mean_field, changed_orbitals, changes):
        molecule = mean_field.mol
        omega, long_range, share = exchange_of(mean_field)
        whole = changes.sum(axis=0) if self.open_shell else changes
        if self._device_coulomb is not None:
            coulomb = self._device_coulomb(whole)
        else:
            coulomb = numpy.asarray(mean_field.get_j(molecule, whole, hermi=1)).reshape(whole.shape)
        potential = numpy.broadcast_to(coulomb, changes.shape).copy()
        part = 1.0 if self.open_shell else 0.5
        if share:
            exchange = self._exchange(mean_field, changed_orbitals, changes)
            potential -= part * share * exchange
        if omega and long_range != share:
            exchange = self._exchange(mean_field, changed_orbitals, changes, omega)
            potential -= part * (long_range - share) * exchange
        return potential

    def _exchange(self, mean_field, changed_orbitals, changes, omega=None):
        fitting = getattr(mean_field, "with_df", None)
        if fitting is None or self._device_coulomb is not None:
            flat = changes.reshape(-1, *changes.shape[-2:])
            found = mean_field.get_k(mean_field.mol, flat, hermi=1, omega=omega)
        else:
            electrons = 1 if self.open_shell else 2
            ranged = contextlib.nullcontext(fitting) if omega is None else fitting.range_coulomb(omega)
            with ranged as integrals:
                found = [
                    electrons * exchange_of_change(integrals, changed, occupied)
                    for (occupied, _), each in zip(self.spaces(), changed_orbitals, strict=True)
                    for changed in each
                ]
        return numpy.asarray(found).reshape(changes.shape)


def exchange_of(mean_field):
    """(omega, share of exact exchange at long range, and at short): 0, 0, 0 of a pure functional."""
    if not isinstance(mean_field, dft.rks.KohnShamDFT):
        return 0.0, 1.0, 1.0
    omega, alpha, hybrid = mean_field._numint.rsh_and_hybrid_coeff(
        mean_field.xc, spin=mean_field.mol.spin
    )
    return omega, alpha, hybrid
