"""Stands for PySCF: the solute of ../model_solute.py, whose exact averages are known.

STARPMC_MODEL_RESPONSE="FACTOR COMPONENTS" makes its linear response poor: FACTOR times too strong
(default 1), and of so many of the three components (default 3, the strongest first). That must cost
acceptance only. STARPMC_MODEL_DIES=FILE: one worker is killed, at the first energy of a test, where
there is no such file, which it makes.
"""

import contextlib
import os
import pathlib
import signal
import sys

REFERENCE_TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REFERENCE_TESTS.parents[1] / "src/qm/workers"))
sys.path.insert(1, str(REFERENCE_TESTS))

import worker_protocol


class Configuration:
    """Potentials at the points and at the nuclei, kJ/mol per charge."""

    def __init__(self, points, nuclei):
        self.points, self.nuclei = points, nuclei

    def field(self):
        return model.FIELD_OF_POTENTIAL @ self.points[:6]


def smooth(distances, charge_width=2.2):
    """1/r, but erf(2.2 r)/r within 1.4 A, where a lattice could not follow."""
    from scipy.special import erf

    distances = np.maximum(distances, 1e-6)
    return np.where(distances < 1.4, erf(charge_width * distances), 1.0) / distances


class Exact:
    """What the exact ensemble asks of a worker."""

    def __init__(self, engine):
        self._engine = engine
        self._configurations = []
        self._field = None  # of the reference
        self._adopted = None  # of another worker's
        self._taken = None  # equations of another worker's response
        self._factors = np.zeros((0, 3))  # Y = factors (F - field)

    @staticmethod
    def pack(configuration):
        return np.concatenate([configuration.points, configuration.nuclei])

    def unpack(self, row):
        points = self._engine.points_angstrom().shape[1]
        return Configuration(row[:points], row[points:])

    def add(self, configuration):
        self._configurations.append(configuration)
        return len(self._configurations)

    def forget(self):
        self._configurations = []

    def reference(self, threads=None):
        if not self._configurations:
            raise worker_protocol.WorkerError("failure", "reference: there are no configurations")
        mean = Configuration(
            np.mean([one.points for one in self._configurations], axis=0),
            np.mean([one.nuclei for one in self._configurations], axis=0),
        )
        fields, _ = self._engine.solve(mean)
        self._field = mean.field()
        self._factors = self._factors[:0]
        interaction = fields["interaction_electrons"] + fields["interaction_nuclei"]
        del fields["electrons_on_grid"]
        return {**fields, "solute_energy": fields["energy"] - interaction}

    def energy(self, index):
        if os.environ.get("STARPMC_MODEL_DIES"):
            self._die_once(os.environ["STARPMC_MODEL_DIES"])
        return self._engine.solve(self._configurations[index])[0]["energy"]

    @staticmethod
    def _die_once(file):
        with contextlib.suppress(FileExistsError):
            pathlib.Path(file).touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)

    def share(self):
        self._check("share")
        return {"matrices": self._charges(), "cores": np.zeros(0)}

    def adopt(self, arrays):
        self._adopted = arrays["matrices"]

    def respond(
        self, components, tolerance, tests, threads, progress, rough=False, others=None
    ):
        self._check("response")
        factor, most = os.environ.get("STARPMC_MODEL_RESPONSE", "1 3").split()
        polarisability = float(factor) * model.polarisability(self._field)
        if others is not None and components > 0:
            polarisability = self._made_by(others, polarisability)
        values, vectors = np.linalg.eigh(polarisability)
        progress("response", 1, 2)
        order = np.argsort(values)[::-1][: min(components, int(most))]
        self._factors = np.sqrt(values[order])[:, None] * vectors.T[order]
        progress("response", 2, 2)
        return {"components": len(order), "widths": self._widths()}, {
            "points": self._engine.points_angstrom().T,
            "strengths": self._charges(),
            "mean": self._factors @ self._field,
            "spectrum": values[::-1],
        }

    @staticmethod
    def _made_by(others, matrix):
        """Its products with unit vectors."""
        others.tell(matrix.ravel())
        others.ask(np.eye(3))
        made = others.answer((3, 3))
        return matrix if made is None else made

    def take_equations(self, numbers):
        self._taken = numbers.reshape(3, 3)

    def multiply(self, vectors):
        return vectors @ self._taken

    def potentials(self, positions):
        if self._adopted is None:
            self._check("potentials")
        points = self._engine.points_angstrom().T
        distances = np.linalg.norm(positions[None, :, :] - points[:, None, :], axis=2)
        return self._charges() @ (model.COULOMB * smooth(distances))

    def _charges(self):
        """(1 + r, points): of density and nuclei, then of the response densities."""
        if self._field is None:
            return self._adopted
        density = self._engine.electrons(self._field)
        density[6:] += model.NUCLEAR_CHARGES
        responses = np.zeros((len(self._factors), len(density)))
        responses[:, :6] = self._factors @ model.FIELD_OF_POTENTIAL
        return np.vstack([density, responses])

    def _widths(self):
        """Of (true - predicted) on all configurations, with all components asked for."""
        fields = np.array([one.field() for one in self._configurations])
        change = fields - self._field
        linear = (
            model.energy(self._field)
            - change @ model.dipole(self._field)
            - np.sum((change @ self._factors.T) ** 2, axis=1) / 2
        )
        errors = model.energy(fields) - linear
        return [[len(self._factors), float(errors.mean()), float(errors.std())]]

    def _check(self, request):
        if self._field is None:
            raise worker_protocol.WorkerError("failure", f"{request}: there is no reference")


class Engine:
    """The model solute."""

    basis_functions = 3

    def __init__(self, init, positions):
        if tuple(init["elements"]) != model.ELEMENTS:
            raise worker_protocol.bad_request(f"the model is S, C, O, not {init['elements']}")
        centre = positions[1]
        self._points = np.vstack([centre + model.D * model.AXES, positions])
        self.atom_count = len(positions)
        self.expected_electrons = sum(model.NUCLEAR_CHARGES) - init["charge"]
        self._field = None  # of the density that was delivered last
        self._held = None
        self.exact = Exact(self)

    def points_angstrom(self):
        return self._points.T

    def electrons(self, field):
        """Charges at the points."""
        fixed = np.array(model.FIXED_CHARGES) - model.NUCLEAR_CHARGES
        return np.concatenate([-model.dipole(field) @ model.FIELD_OF_POTENTIAL, fixed])

    def configuration(self, potential, nuclear_potential, charges):
        unit = worker_protocol.HARTREE_IN_KJ_PER_MOL
        return Configuration(potential * unit, nuclear_potential * unit)

    def update(self, potential, nuclear_potential, charges):
        return self.solve(self.configuration(potential, nuclear_potential, charges))

    def solve(self, configuration):
        """(fields, grid) of a result."""
        field = configuration.field()
        charges = self.electrons(field)
        electrons = float(charges @ configuration.points)
        nuclei = float(np.dot(model.NUCLEAR_CHARGES, configuration.nuclei))
        # E(F) + mu F is the solute's own energy; the fixed charges' interaction is not in E(F).
        own = float(model.energy(field) + model.dipole(field) @ field)
        isolated = float(self.electrons(np.zeros(3)) @ configuration.points)
        fields = {
            "energy": model.ISOLATED_ENERGY + own + electrons + nuclei,
            "electrons_on_grid": -float(charges.sum()),
            "iterations": 1,
            "converged": True,
            "attempts": 1,
            "dipole": list(self._dipole(field)),
            "seconds_embedding": 0.0,
            "seconds_scf": 0.0,
            "seconds_density": 0.0,
            "interaction_electrons": electrons,
            "interaction_nuclei": nuclei,
            "isolated_energy": model.ISOLATED_ENERGY,
            "isolated_dipole": list(self._dipole(np.zeros(3))),
            "polarisation_energy": own + electrons - isolated,
        }
        last = self._field if self._held is None else self._held
        if last is not None:
            fields["previous_interaction"] = (
                float(self.electrons(last) @ configuration.points) + nuclei
            )
        self._field = field
        return fields, np.vstack([self._points.T, charges, np.zeros(len(charges))])

    def _dipole(self, field):
        """Debye, about the centre of nuclear charge; the solute is neutral."""
        fixed = np.dot(model.FIXED_CHARGES, self._points[6:])
        return (fixed + model.dipole(field)) * model.DEBYE_PER_E_ANGSTROM

    def hold(self):
        self._held = self._field

    def state(self):
        return np.array(self._field)

    def restore(self, state):
        if len(state) not in (0, 3):
            raise ValueError(f"{len(state)} numbers")
        self._field = np.array(state) if len(state) else None
        self._held = None


if __name__ == "__main__":
    channel = worker_protocol.take_over_stdout()
    import model_solute as model
    import numpy as np

    sys.exit(worker_protocol.serve(channel, "pyscf", "0.0", Engine))
