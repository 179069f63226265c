"""The SCF of an update, and what is tried, one after the other, where it does not converge."""

import dataclasses
import sys

import numpy
from mean_field import build_factors
from two_level import NotConverged

DAMPING = 0.7  # the old Fock matrix's share
DAMPED_ITERATIONS = 12  # before the extrapolation takes over
LEVEL_SHIFT = 0.2  # Hartree, on the empty orbitals
# In vacuum, where zwitterions and dianions may have no solution: the run does without it then.
ISOLATED_ITERATIONS = 50


@dataclasses.dataclass
class Converged:
    """Energy in Hartree with the nuclei; occupied orbitals, scaled by the root of the occupation.

    fallback: what was needed to converge; empty where all went as usual.
    """

    energy: float
    matrix: numpy.ndarray
    orbitals: numpy.ndarray
    iterations: int
    attempts: int
    fallback: str


class Convergence:
    """Keeps the density from update to update. two_level: None leaves all to PySCF's own SCF."""

    def __init__(self, mean_field, two_level):
        self._mean_field = mean_field
        self._two_level = two_level
        self._density_matrix = None
        self._orbitals = None  # of the last result, scaled by the root of their occupation
        self._isolated = None  # the start of an update that has no density: see isolate()

    def isolate(self):
        """The solute alone; its density is the guess of first updates. Raises NotConverged."""
        mean_field = self._mean_field
        iterations = min(ISOLATED_ITERATIONS, mean_field.max_cycle)
        try:
            with _changed(mean_field, max_cycle=iterations):
                result = self._in_two_levels() if self._two_level else self._plainly()
            last = self._two_level.last() if self._two_level else None
            self._isolated = (last, self._density_matrix)
        finally:
            self.forget()
        return result

    def delivered(self):
        """Orbitals of the last result, scaled; None: there is none."""
        return self._orbitals

    def converge(self):
        """Raises NotConverged, saying what was tried; the next update starts afresh then."""
        iterations = 0
        failures = []
        for name, attempt in self._attempts():
            if failures:
                print(f"no convergence; now: {name}", file=sys.stderr, flush=True)
            try:
                result = attempt()
            except NotConverged as failure:
                iterations += failure.iterations
                failures.append(f"{name}: {failure}")
                self.forget()
                continue
            result.iterations += iterations
            result.attempts = len(failures) + 1
            result.fallback = name if failures else ""
            self._orbitals = numpy.ascontiguousarray(result.orbitals)
            return result
        raise NotConverged("; ".join(failures))

    def forget(self):
        self._density_matrix = None
        self._orbitals = None
        if self._two_level:
            self._two_level.forget()

    def snapshot(self):
        """As go_on_from() takes it; in this process only, state() is for others."""
        last = self._two_level.last() if self._two_level else None
        return last, self._density_matrix, self._orbitals

    def go_on_from(self, snapshot):
        last, self._density_matrix, self._orbitals = snapshot
        if self._two_level:
            self._two_level.go_on_from(last)

    def state(self):
        """What the next update starts from and is compared with: three sizes, then the orbitals of
        the guess, the matrix of the guess, the orbitals of the result."""
        occupied = self._two_level.occupied() if self._two_level else None
        parts = [
            numpy.empty(0) if part is None else numpy.asarray(part, dtype=float).ravel()
            for part in (occupied, self._density_matrix, self._orbitals)
        ]
        return numpy.concatenate([[part.size for part in parts], *parts])

    def restore(self, state):
        """Raises ValueError where the state is of another calculation."""
        self.forget()
        if state.size == 0:
            return
        functions = self._mean_field.mol.nao
        orbitals, matrix, result = (int(size) for size in (*state[:3], 0, 0)[:3])
        ends = numpy.cumsum([3, orbitals, matrix, result])
        if state.size != ends[-1]:
            raise ValueError(f"{state.size} numbers instead of {ends[-1]}")
        if (orbitals % functions, matrix % functions**2, result % functions) != (0, 0, 0):
            raise ValueError(f"it is of another basis than this one of {functions} functions")
        if orbitals and not self._two_level:
            raise ValueError("it is of another method")
        if matrix:
            shape = (-1, functions, functions) if matrix > functions**2 else (functions, functions)
            self._density_matrix = state[ends[1] : ends[2]].reshape(shape).copy()
        if orbitals:
            self._two_level.restore(state[3 : ends[1]].reshape(functions, -1).copy())
        if result:
            self._orbitals = state[ends[2] :].reshape(functions, -1).copy()

    def _attempts(self):
        """(name, function), as protocol.md lists them."""
        as_usual = self._in_two_levels if self._two_level else self._plainly
        if self._has_density():
            yield "last density", as_usual
        elif self._isolated is not None:
            yield "isolated solute", self._from_isolated
        yield "fresh guess", as_usual
        yield "damping", self._damped
        yield "level shift", self._level_shifted
        yield "second order", self._in_second_order

    def _from_isolated(self):
        last, self._density_matrix = self._isolated
        if self._two_level:
            self._two_level.go_on_from(last)
            return self._in_two_levels()
        return self._plainly()

    def _has_density(self):
        return self._density_matrix is not None or (
            self._two_level is not None and self._two_level.has_density()
        )

    def _in_two_levels(self):
        mean_field = self._mean_field
        solution = self._two_level.converge(
            mean_field.get_hcore(),
            self._guess,
            mean_field.conv_tol,
            mean_field.max_cycle,
        )
        return Converged(
            solution.energy + mean_field.energy_nuc(),
            solution.matrix,
            solution.occupied * 2**0.5,
            solution.iterations,
            1,
            "",
        )

    def _guess(self):
        """Never None, which PySCF takes to be the orbitals of the attempt before, however bad."""
        if self._density_matrix is not None:
            return self._density_matrix
        return self._mean_field.get_init_guess()

    def _plainly(self):
        return self._by(self._mean_field, self._guess())

    def _damped(self):
        with _changed(self._mean_field, damp=DAMPING, diis_start_cycle=DAMPED_ITERATIONS):
            return self._by(self._mean_field, self._guess())

    def _level_shifted(self):
        """The shift stays to the end: it moves no solution, and without it an empty orbital just
        below an occupied one would upset the occupation again."""
        with _changed(self._mean_field, level_shift=LEVEL_SHIFT, conv_check=False):
            return self._by(self._mean_field, self._guess())

    def _in_second_order(self):
        solver = self._mean_field.newton()
        solver.cycles = 0

        def count(_):
            solver.cycles += 1

        solver.callback = count
        return self._by(solver, self._guess())

    def _by(self, solver, guess):
        build_factors(self._mean_field)
        solver.kernel(dm0=guess)
        if not solver.converged:
            raise NotConverged(f"energy {solver.e_tot:.9f} Hartree", int(solver.cycles))
        # A copy without PySCF's tag of its orbitals, by which it would build the first Fock matrix
        # in another way than from a restored state.
        self._density_matrix = numpy.array(solver.make_rdm1(), copy=True, subok=False)
        orbitals, occupations = solver.mo_coeff, solver.mo_occ
        if numpy.ndim(occupations) == 2:  # unrestricted: both spins' orbitals side by side
            orbitals, occupations = numpy.hstack(orbitals), numpy.hstack(occupations)
        occupied = occupations > 0
        return Converged(
            float(solver.e_tot),
            numpy.asarray(self._density_matrix),
            orbitals[:, occupied] * numpy.sqrt(occupations[occupied]),
            int(solver.cycles),
            1,
            "",
        )


class _changed:
    """Attributes of an object changed for a while."""

    def __init__(self, target, **values):
        self._target = target
        self._new = values
        self._old = {name: getattr(target, name) for name in values}

    def __enter__(self):
        for name, value in self._new.items():
            setattr(self._target, name, value)

    def __exit__(self, *_):
        for name, value in self._old.items():
            setattr(self._target, name, value)
