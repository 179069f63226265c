"""Text that is not UTF-8, and control characters, in titles, names and paths: everything works and is
shown escaped, alike everywhere.

    python3 test_foreign_text.py PROGRAM
"""

import json
import os
import shutil
import signal
import subprocess
import time

import program

try:
    import h5py
except ImportError:
    h5py = None

SMALL = program.DATA / "small"
LATIN = "Säure".encode("latin-1")
SHOWN = "S\\xe4ure"


def replaced(path, *pairs):
    data = path.read_bytes()
    for old, new in pairs:
        assert old in data, (path, old)
        data = data.replace(old, new)
    path.write_bytes(data)


class ForeignText(program.TestCase):
    def prepare(self):
        """Formaldehyde in water, everything that has a name named in Latin-1."""
        folder = self.folder / os.fsdecode(b"Ordner-" + LATIN)
        folder.mkdir()
        for name in ("small.gro", "small.top", "small.grid"):
            suffix = name.rpartition(".")[2].encode()
            shutil.copy(SMALL / name, folder / os.fsdecode(LATIN + b"." + suffix))
        coordinates = folder / os.fsdecode(LATIN + b".gro")
        title = coordinates.read_bytes().split(b"\n")[0]
        replaced(coordinates, (title, LATIN + b" \x1b[31m"), (b"FORMA   C1", b"F\xd6RMA  C\xe41"))
        topology = folder / os.fsdecode(LATIN + b".top")
        replaced(
            topology,
            (b"formaldehyde  3", LATIN + b"  3"),
            (b"formaldehyde  1", LATIN + b"  1"),
            (b"FORMA    C1 ", b"F\xd6RMA    C\xe41"),
            (b"formaldehyde in TIP3P", LATIN),
            (b"[ system ]", b'#include "' + LATIN + b'.itp"\n[ system ]'),
        )
        (folder / os.fsdecode(LATIN + b".itp")).write_bytes(b"; " + LATIN + b"\n")
        config = folder / os.fsdecode(LATIN + b".cfg")
        config.write_bytes(
            b"""[system]
coordinates = %b.gro
topology = %b.top
qm-molecule = %b
[qm]
engine = frozen
grid-file = %b.grid
elements = C\xe41=C
[sampling]
steps = 3000
[output]
folder = %b/out
"""
            % (LATIN, LATIN, LATIN, LATIN, os.fsencode(folder))
        )
        return folder, config

    def check_results(self, out):
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual(summary["title"], f"{SHOWN} \\x1b[31m")
        (out / "system.pdb").read_text(encoding="utf-8")
        if h5py is not None:
            with h5py.File(out / "trajectory.h5md") as file:
                self.assertGreater(len(file["particles"]), 0)

    def test_run_energy_and_report(self):
        folder, config = self.prepare()
        result = program.succeed("run", config)
        self.assertIn(f"{SHOWN} \\x1b[31m", result.stdout)
        self.assertNotIn("\x1b[31m", result.stdout + result.stderr)
        self.check_results(folder / "out")
        energy = json.loads(program.succeed("energy", config).stdout)
        self.assertTrue(energy["configuration"].endswith(f"{SHOWN}.cfg"))

    def test_stopped_and_resumed(self):
        folder, config = self.prepare()
        process = subprocess.Popen(
            [program.PROGRAM, "run", config, "--sampling.steps", "200000"],
            env=program.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        table = folder / "out/energies.csv"
        while process.poll() is None and not (table.is_file() and table.stat().st_size > 2000):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 130)
        program.succeed("resume", folder / "out")
        self.check_results(folder / "out")

    def test_score(self):
        receptor = self.folder / os.fsdecode(LATIN + b".pqr")
        receptor.write_bytes(b"REMARK " + LATIN + b"\nATOM 1 O\xe4 R\xe4S 1 0 0 0 -0.5 1.5\nEND\n")
        ligand = self.folder / "ligand.pqr"
        ligand.write_text("ATOM 1 C1 LIG 1 5 0 0 0.5 1.5\nEND\n")
        out = self.folder / "scores"
        program.succeed(
            "score", "--receptor", receptor, "--ligand", ligand, "--terms", "coulomb",
            "--output", out,
        )  # fmt: skip
        found = [json.loads(path.read_text()) for path in self.folder.glob("scores*.json")]
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0]["receptor"]["file"].endswith(f"{SHOWN}.pqr"))

    def test_errors_are_valid_text(self):
        _, config = self.prepare()
        replaced(config, (b"qm-molecule = " + LATIN, b"qm-molecule = \xe4"))
        result = subprocess.run(
            [program.PROGRAM, "run", config],
            env=program.environment(),
            capture_output=True,
            check=False,
        )
        self.assertEqual(result.returncode, 2)
        said = result.stderr.decode("utf-8")
        self.assertIn("found '\\xe4'", said)
        self.assertIn(SHOWN, said)


if __name__ == "__main__":
    program.main()
