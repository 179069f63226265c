"""What the exact ensemble asks of the QM program: reference density, its response, their potentials.

See protocol.md. Atomic units inside but where a name says otherwise.
"""

import dataclasses

import linear_response
import numpy
from density_potential import DensityPotential, ElectronsAndNuclei
from density_shape import DENSITY_GRID, RESPONSE_GRID, Quadrature
from far_charges import FarCharges
from orbital_response import NoGroundState
from pyscf import lib
from pyscf.data import nist
from worker_protocol import HARTREE_IN_KJ_PER_MOL, WorkerError


@dataclasses.dataclass
class Configuration:
    """One configuration of the solvent: the electrons' matrix in its potential, and the nuclei's."""

    embedding: numpy.ndarray
    nuclear_interaction: float


@dataclasses.dataclass
class Reference:
    """The density in the mean potential of configurations (density: one matrix, or one a spin)."""

    mean: Configuration
    density: numpy.ndarray
    field: ElectronsAndNuclei
    solute_energy: float  # kJ/mol


def total(density):
    return density.sum(axis=0) if density.ndim == 3 else density


class ExactEnsemble:
    """solve(Configuration) -> (fields of a result, density matrix), from the last density.

    from_reference(): a context in which solve() starts from the density at its entry each time, and
    after which that is the last density again. equations(configuration, density, threads) ->
    (OrbitalResponse, preconditioner).
    """

    def __init__(self, molecule, solve, from_reference, equations, threads):
        self._molecule = molecule
        self._solve = solve
        self._from_reference = from_reference
        self._equations = equations
        self._threads = threads
        self._potential = DensityPotential(molecule)
        self._configurations = []
        self._reference = None
        self._responses = numpy.zeros((0, molecule.nao, molecule.nao))

    def add(self, configuration):
        """Returns how many there are."""
        self._configurations.append(configuration)
        return len(self._configurations)

    def forget(self):
        self._configurations = []

    def reference(self):
        """SCF in the mean potential of the configurations; fields of a result."""
        if not self._configurations:
            raise WorkerError("failure", "reference: there are no configurations")
        count = len(self._configurations)
        mean = Configuration(
            sum(one.embedding for one in self._configurations) / count,
            sum(one.nuclear_interaction for one in self._configurations) / count,
        )
        fields, density = self._solve(mean)
        field = ElectronsAndNuclei(self._molecule, self._potential, total(density), self._threads)
        interaction = fields["interaction_electrons"] + fields["interaction_nuclei"]
        solute_energy = fields["energy"] - interaction
        self._reference = Reference(mean, density, field, solute_energy)
        self._responses = self._responses[:0]
        return {**fields, "solute_energy": solute_energy}

    def respond(self, components, tolerance, test_share, threads, progress):
        """(fields, arrays) of the message `response`. progress(what, done, total)."""
        reference = self._known_reference("response")
        _check(components, tolerance, test_share, threads)
        lib.num_threads(threads)
        try:
            return self._respond(reference, components, tolerance, test_share, threads, progress)
        finally:
            lib.num_threads(self._threads)

    def _respond(self, reference, components, tolerance, test_share, threads, progress):
        fields = {"components": 0, "widths": [], "note": ""}
        spectrum = numpy.zeros(0)
        self._responses = self._responses[:0]
        if components > 0:
            self._responses, spectrum, fields = self._components(
                components, tolerance, test_share, threads, progress
            )
        far = FarCharges(self._molecule.atom_coords())
        potentials = self._all_potentials(far.targets, threads)
        totals = [self._molecule.charge] + [0] * len(self._responses)
        charges = far.fit(potentials, self._shapes(far.shape), totals)
        charges[1:] /= HARTREE_IN_KJ_PER_MOL**0.5
        mean = numpy.einsum("kij,ij->k", self._responses, reference.mean.embedding, optimize=True)
        return fields, {
            "points": far.points * nist.BOHR,
            "strengths": charges,
            "mean": mean * HARTREE_IN_KJ_PER_MOL**0.5,
            "spectrum": spectrum,
        }

    def _components(self, components, tolerance, test_share, threads, progress):
        used, held_out = linear_response.split(len(self._configurations), test_share)
        if len(used) <= components:
            raise WorkerError(
                "bad-request",
                f"{components} components need more than {components} configurations to take them "
                f"from; there are {len(used)}, and {len(self._configurations) - len(used)} for tests",
            )
        reference = self._reference
        tests = self._true_energies(held_out, progress)
        try:
            orbitals, precondition = self._equations(reference.mean, reference.density, threads)
        except NoGroundState as failure:
            raise WorkerError(
                "not-converged", f"no response of the solute's reference density: {failure}"
            ) from failure
        progress("equations", 1, 1)
        mean = reference.mean.embedding
        differences = numpy.array([self._configurations[one].embedding - mean for one in used])
        perturbations, spectrum = linear_response.principal_components(
            orbitals, precondition, differences
        )
        del differences
        predictor = linear_response.Predictor(orbitals, precondition, perturbations, mean, tests)
        densities, fields = linear_response.choose(
            predictor, min(components, len(perturbations)), tolerance, progress
        )
        if len(densities):
            fields["smallest_eigenvalue"] = predictor.smallest_eigenvalue
        return densities, spectrum, fields

    def _true_energies(self, held_out, progress):
        """Tests of the configurations held out, by an SCF each."""
        reference, tests = self._reference, []
        density = total(reference.density)
        with self._from_reference():
            for done, one in enumerate(held_out):
                configuration = self._configurations[one]
                energy = self._solve(configuration)[0]["energy"]
                interaction = numpy.vdot(density, configuration.embedding)
                first_order = (
                    interaction + configuration.nuclear_interaction
                ) * HARTREE_IN_KJ_PER_MOL + reference.solute_energy
                tests.append(
                    linear_response.Test(configuration.embedding, float(energy - first_order))
                )
                progress("test configurations", done + 1, len(held_out))
        return tests

    def potentials(self, positions_angstrom):
        """(1 + r, n): kJ/mol per charge, then the responses' in their own unit."""
        self._known_reference("potentials")
        values = self._all_potentials(positions_angstrom / nist.BOHR, self._threads)
        values[0] *= HARTREE_IN_KJ_PER_MOL
        values[1:] *= HARTREE_IN_KJ_PER_MOL**0.5
        return values

    def _all_potentials(self, points, threads):
        """(1 + r, points) in atomic units: of the reference, and of the responses."""
        reference = self._reference
        matrices = numpy.concatenate([total(reference.density)[None], self._responses])
        values = -self._potential.at(matrices, points, threads)
        values[0] = reference.field.given_electrons(points, -values[0])
        return values

    def _shapes(self, shape):
        """Of the densities of _all_potentials(), in the same order."""
        molecule, density = self._molecule, total(self._reference.density)
        fine = Quadrature(molecule, DENSITY_GRID)
        points = numpy.vstack([fine.points, molecule.atom_coords()])
        electrons = fine.charges(density[None], molecule.nelectron)
        shapes = [
            shape.of_charges(points, numpy.hstack([electrons, molecule.atom_charges()[None]]))
        ]
        if len(self._responses):
            coarse = Quadrature(molecule, RESPONSE_GRID)
            shapes.append(shape.of_charges(coarse.points, coarse.charges(self._responses, 0)))
        return tuple(numpy.vstack(parts) for parts in zip(*shapes, strict=True))

    def _known_reference(self, request):
        if self._reference is None:
            raise WorkerError("failure", f"{request}: there is no reference")
        return self._reference


def _check(components, tolerance, test_share, threads):
    for name, value, good, rule in (
        ("components", components, components >= 0, "0 or more"),
        ("tolerance", tolerance, tolerance > 0, "more than 0 kJ/mol"),
        ("test_share", test_share, 0 < test_share < 1, "between 0 and 1"),
        ("threads", threads, threads >= 1, "1 or more"),
    ):
        if not good:
            raise WorkerError("bad-request", f"response: {name} {value}; {rule} is needed")
