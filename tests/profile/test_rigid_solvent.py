"""A profile in a solvent whose rigid geometry nothing but its coordinates tell: each image's run
takes it from a file of its own, turned as that file's first molecule is.

usage: test_rigid_solvent.py PROGRAM [TEST ...]
"""

import unittest

from profile_case import BOX, ProfileCase, np, program

try:
    import h5py
except ImportError:
    h5py = None

SHAPE = np.array([[0, 0, 0], [1.5, 0, 0], [0.5, 1.4, 0], [0.6, 0.5, 1.3]])
PLACES = np.array([[3.0, 11.5, 7.0], [11.0, 11.0, 4.0], [6.0, 2.5, 11.0]])
CHARGES = (0.3, -0.2, 0.4, -0.2)


def matrix(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def product(a, b):
    """The rotation b, then a; a may be many."""
    w, v = a[..., :1], a[..., 1:]
    return np.concatenate(
        (w * b[0] - v @ b[1:, None], w * b[1:] + b[0] * v + np.cross(v, b[1:])), axis=-1
    )


def unit(q):
    return np.asarray(q, float) / np.linalg.norm(q)


def solvent_of(path):
    """Positions of the molecules in a .gro file, angstrom."""
    lines = [line for line in path.read_text().splitlines() if line[5:10] == "ION  "]
    places = np.array([line[20:].split()[:3] for line in lines], float)
    return 10 * places.reshape(len(PLACES), len(SHAPE), 3)


@unittest.skipIf(h5py is None, "no h5py")
class RigidSolvent(ProfileCase):
    def write_solvent(self, settings):
        """In the place of the one ion: molecules that no two are turned alike."""
        names = [f"Na{i + 1}" for i in range(len(SHAPE))]
        topology = settings["system"]["topology"]
        ion = "1 Na 1 ION ION 1 0.3 22.99\n"
        sites = "".join(
            f"{i + 1} Na 1 ION {name} 1 {charge} 22.99\n"
            for i, (name, charge) in enumerate(zip(names, CHARGES, strict=True))
        )
        text = topology.read_text()
        self.assertIn(ion, text)
        text = text.replace(ion, sites + "\n[ bonds ]\n1 2 1\n")
        topology.write_text(text.replace("model 1\nION 1\n", f"model 1\nION {len(PLACES)}\n"))
        lines = settings["system"]["coordinates"].read_text().splitlines()
        solute, box = lines[2:5], lines[-1]
        atoms = []
        for number, place in enumerate(PLACES):
            turn = matrix(unit([0.4, 1 + number, -0.3, number - 0.5]))
            for name, at in zip(names, place + SHAPE @ turn.T, strict=True):
                numbers = "".join(f"{x / 10:14.9f}" for x in at)
                atoms.append(f"{number + 2:5d}ION  {name:>5s}{len(atoms) + 4:5d}{numbers}")
        text = "\n".join([lines[0], str(len(solute) + len(atoms)), *solute, *atoms, box])
        settings["system"]["coordinates"].write_text(text + "\n")

    def make(self):
        settings = self.settings([0, 0.2, 0.4], steps=1500, equilibration_steps=300)
        self.write_solvent(settings)
        settings["system"]["rigid"] = "ION"
        config = self.config(**settings)
        folder = self.folder / "profile"
        self.profile(config, folder)
        return config, folder

    def test_whatever_the_reference_geometries_are(self):
        config, folder = self.make()
        for image in (2, 3):
            left = solvent_of(folder / f"image-{image - 1:02d}/final.gro")
            found = solvent_of(folder / f"image-{image:02d}/start-0.gro")
            apart = found - left
            apart -= BOX * np.rint(apart / BOX)
            self.assertLess(np.abs(apart).max(), 1e-4, image)
        begun = solvent_of(folder / "image-02/start-0.gro")
        found = solvent_of(folder / "image-03/reference-start-0.gro") - begun
        self.assertLess(np.abs(found - BOX * np.rint(found / BOX)).max(), 1e-4)
        self.same_after_a_turn(config, folder)

    def same_after_a_turn(self, config, folder):
        """Turned reference geometries, with orientations that make up for it, are the same frames."""
        differences = {}
        for image in ("image-01", "image-02", "image-03"):
            run = folder / image
            differences[image] = np.loadtxt(run / "dhdl.xvg", comments=("#", "@"))
            (run / "dhdl.xvg").unlink()
            turn = unit([0.3, -0.5, 0.7, 0.2])
            with h5py.File(run / "trajectory.h5md", "r+") as file:
                reference = file["parameters/molecule_types/0/reference_position"]
                reference[...] = reference[...] @ matrix(turn).T
                orientations = file["particles/molecules/orientation/value"]
                orientations[...] = product(orientations[...], turn * [1, -1, -1, -1])
        self.profile(config, folder)
        for image, expected in differences.items():
            found = np.loadtxt(folder / image / "dhdl.xvg", comments=("#", "@"))
            self.assertGreater(np.abs(expected[:, 1:]).max(), 1)
            np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5, err_msg=image)


if __name__ == "__main__":
    program.main()
