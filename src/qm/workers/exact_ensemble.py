"""What the exact ensemble asks of the QM program: reference density, its response, their potentials.

See protocol.md. Atomic units inside but where a name says otherwise.
"""

import concurrent.futures
import dataclasses
import sys
from collections.abc import Callable

import far_charges
import linear_response
import numpy
from density_potential import DensityPotential, ElectronsAndNuclei
from density_shape import RESPONSE_GRID, Quadrature
from orbital_response import NoGroundState, OrbitalResponse
from pyscf import lib
from pyscf.data import nist
from shared_products import SharedProducts
from stopwatch import Stopwatch
from worker_protocol import HARTREE_IN_KJ_PER_MOL, MAX_ARRAY_NUMBERS, WorkerError

# Of the response equations' matrix, Hartree: other solutes have 0.2 and more.
NEARLY_DEGENERATE = 1e-2


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
    solute_energy: float  # kJ/mol


@dataclasses.dataclass
class Equations:
    """Of a response. shared: numbers from which another worker makes the same products; None: it cannot.
    seconds: that it needs for it, about."""

    response: OrbitalResponse
    precondition: Callable
    shared: numpy.ndarray | None
    seconds: float


@dataclasses.dataclass
class Field:
    """What potentials() is about: the reference and its responses.

    triangles: (1 + r, n (n + 1) / 2), the lower ones of the matrices, of which other processes get
    the same bits.
    """

    triangles: numpy.ndarray
    reference: ElectronsAndNuclei

    @property
    def matrices(self):
        return lib.unpack_tril(self.triangles)


def most_components(functions):
    """What share() has to put into one array of a message, beside the reference."""
    return max(0, MAX_ARRAY_NUMBERS // (functions * (functions + 1) // 2) - 1)


def total(density):
    return density.sum(axis=0) if density.ndim == 3 else density


class ExactEnsemble:
    """solve(Configuration) -> (fields of a result, density matrix), from the last density.

    equations(configuration, density, threads) -> Equations; equations_of_others(their `shared`) ->
    OrbitalResponse.
    guarded(work, *arguments): its result, by other means where a device fails. backend(): the present one.
    attraction(): the present AttractionMatrix; None: there is none.
    """

    def __init__(
        self,
        molecule,
        solve,
        equations,
        equations_of_others,
        threads,
        guarded,
        backend,
        attraction,
    ):
        self._molecule = molecule
        self._solve = solve
        self._equations = equations
        self._equations_of_others = equations_of_others
        self._taken = None  # of another worker's response
        self._guarded = guarded
        self._backend = backend
        self._attraction = attraction
        self._threads = threads
        self._potential = DensityPotential(molecule)
        self._configurations = []
        self._reference = None
        self._field = None
        self._stopwatch = Stopwatch()
        self._background = concurrent.futures.ThreadPoolExecutor(1)
        self._far = {}

    def pack(self, configuration):
        """A configuration as one row, for other workers of the same settings."""
        triangle = lib.pack_tril(configuration.embedding)
        return numpy.append(triangle, configuration.nuclear_interaction)

    def unpack(self, row):
        """Of pack(); ValueError where it is of other basis functions."""
        functions = self._molecule.nao
        expected = functions * (functions + 1) // 2 + 1
        if len(row) != expected:
            raise ValueError(f"{len(row)} numbers, expected {expected}")
        return Configuration(lib.unpack_tril(row[:-1]), float(row[-1]))

    def add(self, configuration):
        """Returns how many there are."""
        self._configurations.append(configuration)
        return len(self._configurations)

    def forget(self):
        self._configurations = []
        self._taken = None

    def energy(self, index):
        """Of the SCF in one configuration's potential, kJ/mol; from the density that is held."""
        if not 0 <= index < len(self._configurations):
            raise WorkerError(
                "failure", f"energy: configuration {index} of {len(self._configurations)}"
            )
        return self._solve(self._configurations[index])[0]["energy"]

    def reference(self, threads=None):
        """SCF in the mean potential of the configurations; fields of a result. threads: for what
        follows the SCF, with the same bits for any number of them."""
        if not self._configurations:
            raise WorkerError("failure", "reference: there are no configurations")
        self._taken = None
        count = len(self._configurations)
        mean = Configuration(
            sum(one.embedding for one in self._configurations) / count,
            sum(one.nuclear_interaction for one in self._configurations) / count,
        )
        fields, density = self._solve(mean)
        field = ElectronsAndNuclei(self._molecule, self._electrons)
        field.fit_cores(total(density), threads or self._threads)
        self._field = Field(lib.pack_tril(total(density)[None]), field)
        interaction = fields["interaction_electrons"] + fields["interaction_nuclei"]
        solute_energy = fields["energy"] - interaction
        self._reference = Reference(mean, density, solute_energy)
        return {**fields, "solute_energy": solute_energy}

    def respond(self, components, tolerance, tests, threads, progress, rough=False, others=None):
        """(fields, arrays) of the message `response`. tests: (configurations that have no part in the
        components, by index; energy() of each). progress(what, done, total). rough: of a density that
        leads to the next reference, with few charges. others: OtherWorkers; None: there are none."""
        reference = self._known_reference("response")
        _check(components, tolerance, threads)
        self._stopwatch.reset()
        lib.num_threads(threads)
        try:
            far = self._far_charges(far_charges.ROUGH if rough else far_charges.FINE, threads).result()
            result = self._respond(
                reference, components, tolerance, tests, threads, progress, far, others
            )
            self._say_what_took_long(result[0]["components"])
            if rough:  # It leads to one that is not: solvent is sampled now, and cores have time.
                self._far_charges(far_charges.FINE, threads)
            return result
        finally:
            lib.num_threads(self._threads)

    def _respond(self, reference, components, tolerance, tests, threads, progress, far, others):
        fields = {"components": 0, "widths": [], "note": ""}
        spectrum = numpy.zeros(0)
        responses = numpy.zeros((0, self._molecule.nao, self._molecule.nao))
        self._show(responses)
        if components > 0:
            responses, spectrum, fields = self._guarded(
                self._components, components, tolerance, tests, threads, progress, others
            )
            self._show(responses)
        with self._stopwatch.measure("potentials"):
            potentials = self._all_potentials(far.targets, threads)
        with self._stopwatch.measure("shapes"):
            shapes = self._guarded(self._shapes, far, threads)
        totals = [self._molecule.charge] + [0] * len(responses)
        with self._stopwatch.measure("charges"):
            charges = far.fit(potentials, shapes, totals)
        charges[1:] /= HARTREE_IN_KJ_PER_MOL**0.5
        mean = numpy.einsum("kij,ij->k", responses, reference.mean.embedding, optimize=True)
        return fields, {
            "points": far.points * nist.BOHR,
            "strengths": charges,
            "mean": mean * HARTREE_IN_KJ_PER_MOL**0.5,
            "spectrum": spectrum,
        }

    def _say_what_took_long(self, components):
        parts = ", ".join(f"{part} {time:.2f} s" for part, time in self._stopwatch.seconds.items())
        print(f"response of {components} components: {parts}", file=sys.stderr, flush=True)

    def _far_charges(self, fineness, threads):
        """The same for every reference: where they lie, and the solution of their equations; a future."""
        if (fineness, threads) not in self._far:
            self._far[fineness, threads] = self._background.submit(
                far_charges.FarCharges, self._molecule.atom_coords(), fineness, threads
            )
        return self._far[fineness, threads]

    def _show(self, responses):
        """potentials() is about these from here on."""
        matrices = numpy.concatenate([total(self._reference.density)[None], responses])
        self._field = Field(lib.pack_tril(matrices), self._field.reference)

    def _components(self, components, tolerance, tests, threads, progress, others):
        tested, energies = tests
        count = len(self._configurations)
        if not (len(tested) > 1 and (0 <= tested).all() and (tested < count).all()):
            raise WorkerError(
                "bad-request", f"response: {len(tested)} tests of {count} configurations; 2 at least"
            )
        used = range(int(tested.min()))
        if len(used) <= components:
            raise WorkerError(
                "bad-request",
                f"{components} components need more than {components} configurations to take them "
                f"from; there are {len(used)}, and {count - len(used)} for tests",
            )
        reference = self._reference
        try:
            with self._stopwatch.measure("equations"):
                equations = self._equations(reference.mean, reference.density, threads)
        except NoGroundState as failure:
            raise WorkerError(
                "not-converged", f"no response of the solute's reference density: {failure}"
            ) from failure
        progress("equations", 1, 1)
        mean = reference.mean.embedding
        differences = numpy.array([self._configurations[one].embedding - mean for one in used])
        with self._stopwatch.measure("principal components"):
            perturbations, spectrum = linear_response.principal_components(
                equations.response, equations.precondition, differences
            )
        del differences
        predictor = linear_response.Predictor(
            equations.response,
            SharedProducts(equations, threads, others).apply,
            equations.precondition,
            perturbations,
            mean,
            self._tests(tested, energies),
        )
        functions = self._molecule.nao
        most = min(components, len(perturbations), most_components(functions))
        with self._stopwatch.measure("solutions"):
            densities, fields = linear_response.choose(predictor, most, tolerance, progress)
        if fields["note"] and most < min(components, len(perturbations)):
            fields["note"] += (
                f" (more of {functions} basis functions find no room in a message to the other workers; "
                "a smaller qm.basis has fewer)"
            )
        if fields["note"] and predictor.smallest_eigenvalue < NEARLY_DEGENERATE:
            fields["note"] += (
                f"; the solute's ground state is nearly degenerate (smallest eigenvalue "
                f"{predictor.smallest_eigenvalue:.1e} Hartree), which no linear response follows"
            )
        if len(densities):
            fields["smallest_eigenvalue"] = predictor.smallest_eigenvalue
        return densities, spectrum, fields

    def _tests(self, tested, energies):
        reference, tests = self._reference, []
        density = total(reference.density)
        for one, energy in zip(tested, energies, strict=True):
            configuration = self._configurations[one]
            interaction = numpy.vdot(density, configuration.embedding)
            first_order = (
                interaction + configuration.nuclear_interaction
            ) * HARTREE_IN_KJ_PER_MOL + reference.solute_energy
            tests.append(linear_response.Test(configuration.embedding, float(energy - first_order)))
        return tests

    def take_equations(self, numbers):
        """What the worker that makes a response shares of its Equations."""
        self._taken = None  # room for the next
        self._taken = self._equations_of_others(numbers)

    def multiply(self, vectors):
        """Products of the equations taken, until the next forget(), reference() or adopt()."""
        if self._taken is None:
            raise WorkerError("failure", "multiply: there are no equations")
        if vectors is None or vectors.ndim != 2 or vectors.shape[1] != self._taken.size:
            raise WorkerError("failure", f"array vectors: expected rows of {self._taken.size}")
        return self._taken.apply(vectors, 1)

    def share(self):
        """Arrays from which the exact ensemble of another process can tell the same potentials."""
        field = self._known_field("share")
        return {"matrices": field.triangles, "cores": field.reference.core_weights()}

    def adopt(self, arrays):
        """What share() of another process gave. The density that an SCF starts from stays."""
        functions = self._molecule.nao
        triangles = arrays["matrices"]
        if triangles.ndim != 2 or triangles.shape[1] != functions * (functions + 1) // 2:
            raise WorkerError("failure", f"array matrices of shape {triangles.shape}")
        reference = ElectronsAndNuclei(self._molecule, self._electrons)
        reference.set_core_weights(arrays["cores"])
        self._field = Field(triangles, reference)
        self._taken = None

    def potentials(self, positions_angstrom):
        """(1 + r, n): kJ/mol per charge, then the responses' in their own unit."""
        self._known_field("potentials")
        values = self._all_potentials(positions_angstrom / nist.BOHR, self._threads)
        values[0] *= HARTREE_IN_KJ_PER_MOL
        values[1:] *= HARTREE_IN_KJ_PER_MOL**0.5
        return values

    def _all_potentials(self, points, threads):
        """(1 + r, points) in atomic units: of the reference, and of the responses."""
        field = self._field
        values = -self._electrons(field.matrices, points, threads)
        values[0] = field.reference.given_electrons(points, -values[0])
        return values

    def _electrons(self, *arguments):
        return self._guarded(self._unguarded_electrons, *arguments)

    def _unguarded_electrons(self, matrices, points, threads):
        attraction = self._attraction()
        if attraction is None:
            return self._potential.at(matrices, points, threads)
        return attraction.potentials(matrices, points)

    def _shapes(self, far, threads):
        """Of the densities of _all_potentials(), in the same order."""
        molecule, matrices, backend = self._molecule, self._field.matrices, self._backend()
        fine = Quadrature(molecule, far.fineness.density_grid, threads, backend)
        points = numpy.vstack([fine.points, molecule.atom_coords()])
        electrons = fine.charges(matrices[:1], molecule.nelectron)
        charges = numpy.hstack([electrons, molecule.atom_charges()[None]])
        shapes = [far.shape.of_charges(points, charges, backend)]
        if len(matrices) > 1:
            coarse = Quadrature(molecule, RESPONSE_GRID, threads, backend)
            responses = coarse.charges(matrices[1:], 0)
            shapes.append(far.shape.of_charges(coarse.points, responses, backend))
        return tuple(numpy.vstack(parts) for parts in zip(*shapes, strict=True))

    def _known_reference(self, request):
        if self._reference is None:
            raise WorkerError("failure", f"{request}: there is no reference")
        return self._reference

    def _known_field(self, request):
        if self._field is None:
            raise WorkerError("failure", f"{request}: there is no reference")
        return self._field


def _check(components, tolerance, threads):
    for name, value, good, rule in (
        ("components", components, components >= 0, "0 or more"),
        ("tolerance", tolerance, tolerance >= 0, "0 kJ/mol or more"),
        ("threads", threads, threads >= 1, "1 or more"),
    ):
        if not good:
            raise WorkerError("bad-request", f"response: {name} {value}; {rule} is needed")
