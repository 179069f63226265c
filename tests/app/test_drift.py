"""100,000 steps in fp64: accumulated and recomputed energies agree to 1e-6 kJ/mol in every term.

    python3 test_drift.py PROGRAM
"""

import program

STEPS = 100_000
BOUND = 1e-6  # kJ/mol


class Drift(program.TestCase):
    def check(self, *, system, **sections):
        sampling = {"steps": STEPS, **sections.pop("sampling", {})}
        config = self.config(
            system=system,
            sampling=sampling,
            run={"precision": "fp64"},
            output={"trajectory_interval": STEPS, "energy_interval": 1000},
            **sections,
        )
        summary = program.simulate(config, self.folder / "out")
        print(
            f"{summary['title']}: {summary['wall_seconds']:.0f} s, acceptance "
            f"{summary['acceptance']:.2f}, drift {summary['drift']}"
        )
        self.assertEqual(set(summary["drift"]), {*program.TERMS, "total"})
        self.assertGreater(summary["acceptance"], 0.05)
        for term, drift in summary["drift"].items():
            self.assertLess(abs(drift), BOUND, term)

    def test_small(self):
        """Formaldehyde in water; fewer points of its density, for speed."""
        small = program.small_system()
        small["qm"] |= {"charge_threshold": 3e-5, "interval": STEPS}
        self.check(**small)

    def test_liquid_argon(self):
        self.check(**program.plain_system("argon/argon"), sampling={"temperature": 100})

    def test_gas(self):
        """Moves across the box, most of them onto another particle."""
        self.check(
            **program.plain_system("nist/lj_2"),
            interaction={"coulomb_cutoff": 3},
            sampling={"temperature": 300, "max_translation": 4},
        )


if __name__ == "__main__":
    program.main()
