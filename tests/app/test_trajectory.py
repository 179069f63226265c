"""The trajectory of a run, as MDAnalysis sees it: frames, steps, box, and the energy of the last
frame.

    python3 test_trajectory.py PROGRAM
"""

import itertools
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))

try:
    import MDAnalysis
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(77)

import program
from reference_energies import make_reference, read_gro

SMALL = program.DATA / "small"
STEPS = 1000
INTERVAL = 250

warnings.filterwarnings("ignore")


class Trajectory(program.TestCase):
    def test_mdanalysis(self):
        config = self.config(
            **program.small_system(),
            interaction={"vdw_modifier": "truncate"},
            sampling={"steps": STEPS},
            run={"precision": "fp64"},
            output={"trajectory_interval": INTERVAL, "energy_interval": INTERVAL},
        )
        out = self.folder / "out"
        summary = program.simulate(config, out)
        universe = MDAnalysis.Universe(
            str(out / "system.pdb"), str(out / "trajectory.h5md"), format="H5MD"
        )
        self.assertEqual(universe.atoms.n_atoms, 196)
        self.assertEqual(len(universe.select_atoms("resname SOL").residues), 64)
        positions, box = read_gro(SMALL / "small.gro")
        frames, steps = [], []
        for frame in universe.trajectory:
            np.testing.assert_allclose(frame.dimensions, [*box, 90, 90, 90], rtol=1e-6)
            frames.append(frame.positions.astype(float))
            steps.append(frame.data["step"])
        self.assertEqual(steps, list(range(0, STEPS + 1, INTERVAL)))
        shift = frames[0] - positions
        shift -= box * np.round(shift / box)
        # The model's geometry is laid onto the file's coordinates.
        self.assertLess(abs(shift).max(), 0.01)
        moved = [np.abs(b - a).max() for a, b in itertools.pairwise(frames)]
        self.assertGreater(min(moved), 0)

        # Positions are stored in fp32 or better; energies follow to that accuracy.
        reference = make_reference(
            SMALL / "small.gro", SMALL / "small.top", "formaldehyde", SMALL / "small.grid"
        )
        solute = len(reference.solute.charge)
        reference.mm.position = frames[-1][solute:]
        reference.solute.position = frames[-1][:solute]
        for term, energy in reference.energies().items():
            self.assertAlmostEqual(energy, summary["final_energies"][term], delta=0.05, msg=term)


if __name__ == "__main__":
    program.main()
