"""A run that begins with the positions that another one has left, in the numbers of that one.

    python3 test_from_run.py PROGRAM
"""

import json
import unittest

try:
    import h5py
    import numpy as np
except ImportError:
    h5py = None

import program

STEPS = 2100  # the last frame is at the end

RIGID = """[ defaults ]
1 2 yes 0.5 0.5
[ atomtypes ]
CT 6 12.0 0 A 0.25 0.3
[ moleculetype ]
W 1
[ atoms ]
1 CT 1 W C1 1 0.3 12.0
2 CT 1 W C2 1 -0.2 12.0
3 CT 1 W C3 1 0.4 12.0
4 CT 1 W C4 1 -0.5 12.0
[ bonds ]
1 2 1
[ system ]
rigid
[ molecules ]
W 2
"""


def poses(folder, frame):
    with h5py.File(folder / "trajectory.h5md") as file:
        particles = file["particles/molecules"]
        return particles["position/value"][frame], particles["orientation/value"][frame]


@unittest.skipIf(h5py is None, "no h5py")
class FromRun(program.TestCase):
    def setUp(self):
        super().setUp()
        self.small = self.config(
            **program.small_system(),
            sampling={"steps": STEPS, "max_translation": 0.2},
            run={"precision": "fp64"},
            output={"energy_interval": 50, "trajectory_interval": 300},
        )
        self.first = self.folder / "first"
        program.simulate(self.small, self.first)

    def follow(self, coordinates, *options):
        """Folder of a run of few steps."""
        folder = self.folder / "second"
        words = ("--system.coordinates", coordinates, "--sampling.steps", 20, *options)
        program.simulate(self.small, folder, *words)
        return folder

    def expect_poses(self, found, expected):
        """Quaternions are normalised at the start, which may change a last bit."""
        self.assertTrue(np.array_equal(found[0], expected[0]))
        self.assertLess(np.abs(found[1] - expected[1]).max(), 3e-16)

    def expect_energies_at_end(self):
        """Those of a run that begins with the folder's state are the last ones of the run there."""
        summary = json.loads((self.first / "summary.json").read_text())
        energies = program.energies(self.small, "--system.coordinates", self.first)
        for term in program.TERMS:
            energy = summary["final_energies"][term]
            self.assertAlmostEqual(energies[term], energy, delta=1e-9 * max(1, abs(energy)))

    def test_folder(self):
        """Its state at the end, be that a frame of its trajectory or not."""
        second = self.follow(self.first, "--sampling.temperature", 350)
        self.expect_poses(poses(second, 0), poses(self.first, -1))
        self.expect_energies_at_end()
        self.assertIn("formaldehyde", (second / "run.log").read_text())
        program.succeed("resume", self.first, "--steps", STEPS + 100)
        second = self.follow(self.first, "--output.overwrite", "true")
        self.assertFalse(np.array_equal(poses(second, 0)[0], poses(self.first, -1)[0]))
        self.expect_energies_at_end()

    def test_frames(self):
        trajectory = self.first / "trajectory.h5md"
        for frame in (0, 4, None):
            options = () if frame is None else ("--system.frame", frame)
            second = self.follow(trajectory, *options, "--output.overwrite", "true")
            self.expect_poses(poses(second, 0), poses(self.first, -1 if frame is None else frame))
        with h5py.File(trajectory) as file, h5py.File(second / "trajectory.h5md") as other:
            name = "parameters/solute/position"
            self.assertTrue(np.array_equal(file[name][()], other[name][()]))
            self.assertEqual(file[name].dtype, np.float64)

    def test_another_model(self):
        """Of another geometry: it is laid onto the positions."""
        topology = self.folder / "other.top"
        text = (program.DATA / "small/small.top").read_text()
        topology.write_text(text.replace("0.09572", "0.1").replace("0.15139", "0.1633"))
        self.assertNotEqual(topology.read_text(), text)
        second = self.follow(self.first, "--system.topology", topology)
        expected = poses(self.follow(self.first, "--output.overwrite", "true"), 0)
        self.follow(self.first, "--system.topology", topology, "--output.overwrite", "true")
        self.assertLess(np.abs(poses(second, 0)[0] - expected[0]).max(), 0.1)

    def test_the_same_seed(self):
        """Steps count from 0 in every run: with the same seed its random numbers are those of the other."""
        trajectory = self.first / "trajectory.h5md"
        for coordinates, seed, warns in (
            (self.first, 1, True), (trajectory, 1, True), (self.first, 2, False)
        ):  # fmt: skip
            self.follow(coordinates, "--sampling.seed", seed, "--output.overwrite", "true")
            said = "give this run another seed" in (self.folder / "second/run.log").read_text()
            self.assertEqual(said, warns, (coordinates, seed))

    def test_resumed(self):
        """Other positions there are another input."""
        second = self.follow(self.first)
        program.succeed("resume", self.first, "--steps", STEPS + 100)
        result = program.start("resume", second, "--steps", 40)
        self.assertEqual(result.returncode, 2, result.stderr)
        for part in ("the input has changed", f"system.coordinates {self.first}"):
            self.assertIn(part, result.stderr)

    def test_chains(self):
        """Each begins where it is told, the third with the first's again."""
        begins = (poses(self.first, 0), poses(self.first, -1))
        self.assertFalse(np.array_equal(begins[0][0], begins[1][0]))
        second = self.folder / "second"
        program.simulate(
            self.small, second, "--system.chain-coordinates", self.first, "--sampling.chains", 3,
            "--sampling.steps", 20,
        )
        for chain in range(3):
            self.expect_poses(poses(second / f"chain-{chain}", 0), begins[chain % 2])
        program.succeed("resume", second, "--steps", 40)
        program.succeed("resume", self.first, "--steps", STEPS + 100)
        result = program.start("resume", second, "--steps", 60)
        self.assertEqual(result.returncode, 2, result.stderr)
        for part in ("the input has changed", f"system.chain-coordinates {self.first}"):
            self.assertIn(part, result.stderr)

    def test_chains_of_a_geometry_from_coordinates(self):
        """Each file's first molecule is turned otherwise; the positions are those of its file."""
        files = [self.write_rigid(turned) for turned in (0, 1)]
        topology = self.folder / "rigid.top"
        topology.write_text(RIGID)
        config = self.config(
            system={"coordinates": files[0], "topology": topology, "rigid": "W",
                    "chain_coordinates": files[1]},
            sampling={"steps": 10, "chains": 2},
            run={"precision": "fp64"},
            output={"trajectory_interval": 5},
        )  # fmt: skip
        program.simulate(config, self.folder / "rigid")
        for chain, path in enumerate(files):
            with h5py.File(self.folder / f"rigid/chain-{chain}/trajectory.h5md") as file:
                found = file["particles/all/position/value"][0] / 10
            expected = [line[20:].split() for line in path.read_text().splitlines()[2:-1]]
            apart = found - np.array(expected, float)
            apart -= 3 * np.rint(apart / 3)
            self.assertLess(np.abs(apart).max(), 1e-6, chain)
        squeezed = self.write_rigid(1, 1.2)
        self.refused_of(
            config, "--system.chain-coordinates", squeezed,
            "molecule W does not have the geometry that system.coordinates gives it",
        )

    def write_rigid(self, turned, width=1.0):
        """Two molecules of four sites, the first of them turned about z by so many right angles."""
        shape = np.array([[0, 0, 0], [0.15 * width, 0, 0], [0.05, 0.14, 0], [0.06, 0.05, 0.13 * width]])
        quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
        first = shape @ np.linalg.matrix_power(quarter, turned).T + 0.7
        atoms = np.concatenate((first, shape @ quarter + 2.1))
        lines = [
            f"{1 + i // 4:5d}W    {f'C{1 + i % 4}':>5s}{i + 1:5d}" + "".join(f"{x:13.8f}" for x in at)
            for i, at in enumerate(atoms)
        ]
        path = self.folder / f"rigid-{turned}-{width}.gro"
        path.write_text("\n".join(["rigid", "8", *lines, "3 3 3"]) + "\n")
        return path

    def test_chains_of_another_system(self):
        chains = "--system.chain-coordinates"
        text = (program.DATA / "small/small.gro").read_text().splitlines()
        other = self.folder / "other.gro"

        def write(lines):
            other.write_text("\n".join(lines) + "\n")

        box = [float(edge) for edge in text[-1].split()]
        write([*text[:-1], " ".join(f"{edge + 0.1:.5f}" for edge in box)])
        self.refused(chains, other, "has another box than system.coordinates")
        width = (len(text[2]) - 20) // 3
        moved = float(text[2][20 : 20 + width]) + 0.05
        decimals = width - 5
        first = f"{text[2][:20]}{moved:{width}.{decimals}f}{text[2][20 + width :]}"
        write([*text[:2], first, *text[3:]])
        self.refused(chains, other, "of the QM molecule in another place")
        self.refused(chains, self.folder / "missing.gro", "missing.gro")

    def refused(self, *words):
        self.refused_of(self.small, *words)

    def refused_of(self, config, *words):
        *words, part = words
        result = program.start("energy", config, *words)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn(part, result.stderr)
        self.assertIn("remedy: ", result.stderr)

    def test_refused(self):
        trajectory = self.first / "trajectory.h5md"
        coordinates = "--system.coordinates"
        self.refused(coordinates, trajectory, "--system.frame", 8, "has 8 frames")
        self.refused(coordinates, self.first, "--system.frame", 1, "no trajectory.h5md")
        self.refused(coordinates, self.folder, "is not the output folder of a run")
        foreign = self.folder / "foreign.h5"
        with h5py.File(foreign, "w") as file:
            file["a"] = 1
        self.refused(coordinates, foreign, "is not a trajectory that positions can be taken from")
        topology = self.folder / "fewer.top"
        text = (program.DATA / "small/small.top").read_text()
        topology.write_text(text.replace("SOL           64", "SOL           63"))
        self.refused(coordinates, self.first, "--system.topology", topology, "more molecules SOL")
        topology.write_text(text.replace("SOL           64", "SOL           65"))
        self.refused(coordinates, self.first, "--system.topology", topology, "199")
        several = self.folder / "several"
        program.simulate(self.small, several, "--sampling.chains", 2, "--sampling.steps", 20)
        self.refused(coordinates, several, f"name that of one of them: {several}/chain-0")
        program.energies(self.small, coordinates, several / "chain-1")
        (self.first / "checkpoint.cbor").unlink()
        self.refused(coordinates, self.first, "has no checkpoint")


if __name__ == "__main__":
    program.main()
