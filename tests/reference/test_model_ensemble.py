"""The model solute, its worker, its brute force and the statistics that compare them are right.

    python3 test_model_ensemble.py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "model_workers"))

try:
    import model_ensemble
    import model_solute as model
    import numpy as np
    import pyscf_worker
    from block_statistics import chance_of_vectors, transition_imbalance
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(77)

pyscf_worker.np, pyscf_worker.model = np, model  # as at the start of a process
HARTREE = pyscf_worker.worker_protocol.HARTREE_IN_KJ_PER_MOL


class BruteForce(unittest.TestCase):
    def test_one_water_against_quadrature(self):
        system = model_ensemble.Model()
        coarse = model_ensemble.integral(system, 0.375, (8, 6, 4))
        exact = model_ensemble.integral(system, 0.3, (10, 8, 5))
        chains = model_ensemble.BruteForce(system, 1, 2000, seed=3)
        chains.sweep(150)
        seen = []
        for _ in range(60):
            chains.sweep(10)
            seen.append(system.observables(chains.sites))
        for name in ("energy", "dipole along the axis", "field"):
            means = np.mean([one[name] for one in seen], axis=0)
            error = means.std(ddof=1) / np.sqrt(len(means))
            with self.subTest(name):
                self.assertLess(abs(coarse[name] - exact[name]), error)
                self.assertLess(abs(means.mean() - exact[name]), 3 * error)
                self.assertLess(error, 0.01 * abs(exact[name]))

    def test_running_energies(self):
        """Those that decide are those of the configuration."""
        chains = model_ensemble.BruteForce(model_ensemble.Model(), 4, 50, seed=2)
        chains.sweep(50)
        running = chains.electronic + chains.vdw.sum(axis=1) + chains.pairs.sum(axis=(1, 2)) / 2
        seen = chains.system.observables(chains.sites)["energy"]
        self.assertLess(np.abs(running - seen).max(), 1e-9)
        self.assertGreater(seen.std(), 1)


class Worker(unittest.TestCase):
    """Against the brute force's energies, which share the numbers of the model but no formula."""

    def setUp(self):
        self.system = model_ensemble.Model()
        init = {"elements": list(model.ELEMENTS), "charge": 0}
        self.engine = pyscf_worker.Engine(init, self.system.atoms)
        chains = model_ensemble.BruteForce(self.system, 3, 40, seed=7)
        chains.sweep(100)
        self.sites = chains.sites
        self.potentials = self.system.at_solute(self.sites)[0].sum(axis=1)

    def asked(self, potential):
        return {
            "potential": potential / HARTREE,
            "nuclear_potential": potential[6:] / HARTREE,
            "charges": None,
        }

    def test_energy(self):
        self.assertLess(np.abs(self.engine.points_angstrom().T - self.system.points).max(), 1e-12)
        for potential in self.potentials:
            fields, grid = self.engine.update(**self.asked(potential))
            expected = self.system.electronic(potential) + model.ISOLATED_ENERGY
            self.assertAlmostEqual(fields["energy"], expected, 8)
            interaction = fields["interaction_electrons"] + fields["interaction_nuclei"]
            self.assertAlmostEqual(
                interaction, grid[3] @ potential + model.NUCLEAR_CHARGES @ potential[6:], 8
            )
            # Electrons that minimise the energy: its slope is their charge.
            step = np.zeros(len(potential))
            step[0] = 1e-3
            slope = self.system.electronic(potential + step)
            slope -= self.system.electronic(potential - step)
            self.assertAlmostEqual(slope / 2e-3, grid[3, 0], 8)

    def test_prediction(self):
        """Right to second order about the reference."""
        for potential in self.potentials:
            self.engine.exact.add(self.engine.configuration(**self.asked(potential)))
        reference = self.engine.exact.reference()
        _, made = self.engine.exact.respond(16, 0.1, 0.33, 1, lambda *_: None)
        mean = self.potentials.mean(axis=0)
        widths = []
        for scale in (1, 0.1):
            near = mean + scale * (self.potentials - mean)
            seen = near @ made["strengths"].T
            predicted = reference["solute_energy"] - model.ISOLATED_ENERGY + seen[:, 0]
            predicted -= np.sum((seen[:, 1:] - made["mean"]) ** 2, axis=1) / 2
            widths.append(np.abs(self.system.electronic(near) - predicted).max())
        self.assertGreater(widths[0], 0.1)  # it is not linear
        self.assertLess(widths[1], widths[0] / 500)  # third order

    def test_potentials(self):
        self.engine.exact.add(self.engine.configuration(**self.asked(self.potentials[0])))
        self.engine.exact.reference()
        _, made = self.engine.exact.respond(16, 0.1, 0.33, 1, lambda *_: None)
        far = self.system.centre + np.array([[3.5, 0.3, 0.2], [0, 1, -4], [0.0, 0, 3.0]])
        r = np.linalg.norm(far[:, None] - made["points"], axis=2)
        plain = made["strengths"] @ (model.COULOMB / r.T)
        self.assertLess(np.abs(self.engine.exact.potentials(far) - plain).max(), 1e-9)
        inside = self.engine.exact.potentials(self.system.points + 1e-4)
        self.assertTrue(np.isfinite(inside).all())
        self.assertLess(np.abs(inside[0]).max(), 5000)


class Statistics(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(4)

    def test_same_distribution(self):
        """The chances are uniform; few blocks of one, with another covariance."""
        chances = []
        for _ in range(400):
            one = self.random.normal(size=(60, 6))
            other = 3 * self.random.normal(size=(400, 6))
            chances.append(chance_of_vectors(one, other)[0])
        below = np.mean(np.array(chances)[:, None] < [0.05, 0.5], axis=0)
        self.assertAlmostEqual(below[0], 0.05, delta=0.035)
        self.assertAlmostEqual(below[1], 0.5, delta=0.08)

    def test_other_distribution(self):
        one = self.random.normal(size=(100, 5))
        other = self.random.normal(size=(100, 5)) + [0, 0, 2, 0, 0]
        self.assertLess(chance_of_vectors(one, other)[0], 1e-6)

    def chain(self, bias, steps):
        """Between three states; more often onwards than backwards by `bias`."""
        moves = self.random.choice([0, 1, 2], size=steps, p=[1 / 3, 1 / 3 + bias, 1 / 3 - bias])
        return np.cumsum(moves) % 3

    def test_balance(self):
        edges = (0.5, 1.5)
        chances = [
            transition_imbalance(self.chain(0, 2000)[None], edges)[1] for _ in range(200)
        ]
        self.assertAlmostEqual(np.mean(np.array(chances) < 0.1), 0.1, delta=0.07)
        self.assertLess(transition_imbalance(self.chain(0.05, 4000)[None], edges)[1], 1e-6)
        # Two regions tell nothing, of any chain.
        counts, _ = transition_imbalance(self.chain(0.05, 4000)[None], (0.5, 5))
        self.assertLessEqual(abs(counts[0, 1] - counts[1, 0]), 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
