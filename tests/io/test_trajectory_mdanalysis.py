"""Opens trajectory.h5md with MDAnalysis and h5py and checks what they see.

Usage: test_trajectory_mdanalysis.py PROGRAM, the program built from write_trajectory.cpp.
Exit status 77: MDAnalysis or h5py is not installed.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import warnings

try:
    import h5py
    import MDAnalysis
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}; install tests/requirements.txt")
    sys.exit(77)

warnings.filterwarnings("ignore")  # MDAnalysis on elements of virtual sites


def check_mdanalysis(folder, expected):
    universe = MDAnalysis.Universe(str(folder / "system.pdb"), str(folder / "trajectory.h5md"))
    assert len(universe.trajectory) == len(expected["frames"])
    assert list(universe.atoms.names) == expected["names"]
    assert list(universe.atoms.resnames) == expected["residues"]
    assert len(universe.residues) == 9
    for frame, timestep in zip(expected["frames"], universe.trajectory):
        positions = np.reshape(frame["positions"], (-1, 3))
        np.testing.assert_allclose(universe.atoms.positions, positions, rtol=0, atol=2e-6)
        np.testing.assert_allclose(timestep.dimensions, expected["box"] + [90, 90, 90], rtol=1e-6)
        assert timestep.data["step"] == frame["step"]
        assert timestep.time == 0  # a step is no time
    first = np.reshape(expected["frames"][0]["positions"], (-1, 3))
    of_pdb = MDAnalysis.Universe(str(folder / "system.pdb")).atoms.positions
    np.testing.assert_allclose(of_pdb, first, rtol=0, atol=6e-4)


def check_h5md(folder, expected):
    with h5py.File(folder / "trajectory.h5md", "r") as file:
        assert list(file["h5md"].attrs["version"]) == [1, 1]
        assert file["h5md/creator"].attrs["name"] == "starpmc"
        everything = file["particles/all"]
        assert list(everything["species"]) == expected["atomic_numbers"]
        np.testing.assert_array_equal(everything["charge"], expected["charges"])
        np.testing.assert_array_equal(everything["mass"], expected["masses"])
        assert [bytes(word) for word in everything["box"].attrs["boundary"]] == [b"periodic"] * 3
        assert everything["position/value"].dtype == np.float32
        assert everything["position/value"].compression is None
        molecules = file["particles/molecules"]
        for index, frame in enumerate(expected["frames"]):
            assert molecules["position/step"][index] == frame["step"]
            np.testing.assert_array_equal(molecules["position/value"][index], frame["centres"])
            np.testing.assert_array_equal(molecules["orientation/value"][index], frame["orientations"])
        rebuild_sites(file, expected)


def rebuild_sites(file, expected):
    """Every site follows from centre, orientation and reference geometry."""
    molecules = file["particles/molecules"]
    last = len(expected["frames"]) - 1
    positions = np.reshape(expected["frames"][last]["positions"], (-1, 3))[2:]
    edges = np.array(expected["box"])
    site = 0
    for index, kind in enumerate(molecules["species"]):
        reference = file[f"parameters/molecule_types/{kind}/reference_position"][:]
        centre = molecules["position/value"][last, index]
        w, *u = molecules["orientation/value"][last, index]
        t = 2 * np.cross(u, reference)
        sites = centre + reference + w * t + np.cross(u, t) - edges * np.floor(centre / edges)
        np.testing.assert_allclose(sites, positions[site : site + len(reference)], rtol=0, atol=1e-12)
        site += len(reference)


def check_after_kill(program, attempts):
    """A file whose writer was killed opens and holds every frame it had reported done."""
    generator = random.Random(1)
    for _ in range(attempts):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            with open(folder / "done", "wb") as done:
                writer = subprocess.Popen([program, folder, "0"], stdout=done)
                while not (folder / "done").stat().st_size and writer.poll() is None:
                    time.sleep(0.002)
                time.sleep(generator.uniform(0, 0.1))
                writer.kill()
                writer.wait()
            reported = len((folder / "done").read_bytes().splitlines())
            with h5py.File(folder / "trajectory.h5md", "r") as file:
                position = file["particles/all/position"]
                frames = position["value"].shape[0]
                assert frames >= reported > 0, (frames, reported)
                assert np.isfinite(position["value"][:reported]).all()
                assert list(position["step"][:reported]) == [250 * i for i in range(reported)]


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([program, folder], check=True)
        expected = json.loads((folder / "expected.json").read_text())
        check_mdanalysis(folder, expected)
        check_h5md(folder, expected)
    check_after_kill(program, attempts=int(sys.argv[2]) if len(sys.argv) > 2 else 10)
    print(f"MDAnalysis {MDAnalysis.__version__} and h5py {h5py.__version__} read the trajectory")


main()
