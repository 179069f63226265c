"""What the Psi4 worker says before Psi4 has anything to do, with a stand-in for that module.

Run by any Python that has NumPy. (With Psi4 itself: make_engine_test.cpp.)
"""

import json
import pathlib
import subprocess
import sys
import unittest

from worker_request import worker_request

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WORKER = REPOSITORY / "src/qm/workers/psi4_worker.py"
# As Debian's Python with Psi4: without PySCF and SciPy. Arguments: Psi4's version, the worker.
PYTHON_WITH_PSI4 = """
import runpy, sys, types
sys.modules["pyscf"] = sys.modules["scipy"] = None
psi4 = sys.modules["psi4"] = types.ModuleType("psi4")
psi4.__version__ = sys.argv[1]
psi4.core, psi4.constants = object(), types.SimpleNamespace(bohr2angstroms=0.52917721067)
sys.path.insert(0, sys.argv[2].rsplit("/", 1)[0])
runpy.run_path(sys.argv[2], run_name="__main__")
"""


class StandIn(unittest.TestCase):
    def answers(self, version):
        """Of a worker that is asked for one hydrogen molecule, the headers of its messages."""
        request = worker_request(["H", "H"]) | {
            "type": "init",
            "arrays": [{"name": "positions", "dtype": "f64", "shape": [2, 3]}]
        }
        worker = subprocess.run(
            [sys.executable, "-c", PYTHON_WITH_PSI4, version, str(WORKER)],
            input=json.dumps(request).encode() + b"\n" + bytes(8 * 6),
            capture_output=True,
            timeout=60,
            check=False,
        )
        self.assertTrue(worker.stdout, worker.stderr.decode())
        return [json.loads(line) for line in worker.stdout.splitlines()]

    def test_needs_neither_pyscf_nor_scipy(self):
        hello = self.answers("1.3.2")[0]
        self.assertEqual(hello["type"], "hello", hello)
        self.assertEqual((hello["worker"], hello["version"]), ("psi4", "1.3.2"))

    def test_refuses_a_version_with_other_units(self):
        """Charges of embedding in bohr instead of angstrom would be an error of energies only."""
        for version in ("1.9.1", "1.6", "1.30"):
            hello, refusal = self.answers(version)
            self.assertEqual(hello["type"], "hello")
            self.assertEqual((refusal["type"], refusal["reason"]), ("error", "bad-request"))
            for part in ("qm.engine = psi4", version, "1.3.x is needed", "qm.python"):
                self.assertIn(part, refusal["message"])


if __name__ == "__main__":
    unittest.main()
