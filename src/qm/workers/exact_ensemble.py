"""What the exact ensemble asks of the QM program: reference density, its response, their potentials.

See protocol.md. Atomic units inside but where a name says otherwise.
"""

import dataclasses

import numpy
from density_potential import DensityPotential, ElectronsAndNuclei
from far_charges import FarCharges
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


def total(density):
    return density.sum(axis=0) if density.ndim == 3 else density


class ExactEnsemble:
    """solve(Configuration) -> (fields of a result, density matrix)."""

    def __init__(self, molecule, solve, threads):
        self._molecule = molecule
        self._solve = solve
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
        self._reference = Reference(mean, density, field)
        self._responses = self._responses[:0]
        interaction = fields["interaction_electrons"] + fields["interaction_nuclei"]
        return {**fields, "solute_energy": fields["energy"] - interaction}

    def respond(self, _components, _tolerance, _test_share, threads, _progress):
        """(fields, arrays) of the message `response`."""
        reference = self._known_reference("response")
        far = FarCharges(self._molecule.atom_coords())
        potential = reference.field.at(far.targets, threads)
        strengths = far.fit(potential[None], [self._molecule.charge])
        fields = {"components": 0, "widths": []}
        return fields, {
            "points": far.points * nist.BOHR,
            "strengths": strengths,
            "mean": numpy.zeros(0),
            "spectrum": numpy.zeros(0),
        }

    def potentials(self, positions_angstrom):
        """(1 + r, n): kJ/mol per charge, then the responses' in their own unit."""
        reference = self._known_reference("potentials")
        points = positions_angstrom / nist.BOHR
        matrices = numpy.concatenate([total(reference.density)[None], self._responses])
        values = self._potential.at(matrices, points, self._threads)
        values[0] = reference.field.given_electrons(points, values[0])
        values[0] *= HARTREE_IN_KJ_PER_MOL
        values[1:] *= -(HARTREE_IN_KJ_PER_MOL**0.5)
        return values

    def _known_reference(self, request):
        if self._reference is None:
            raise WorkerError("failure", f"{request}: there is no reference")
        return self._reference
