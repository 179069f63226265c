"""A QM worker's results do not depend on what its process holds, and it gives memory back.

Run by any Python that has src/qm/workers/requirements.txt: python3 tests/qm/test_worker_memory.py
"""

import os
import subprocess
import sys
import unittest

from pyscf_worker_tests import REPOSITORY, WORKERS

# isort: split

import numpy
from pyscf_worker import PyscfEngine
from worker_protocol import Channel, SolventCharges
from worker_request import worker_request

SMALL_GRIDS = {
    "scf_grid_radial": 30, "scf_grid_angular": 110, "grid_radial": 10, "grid_angular": 50, "grid_needed": False
}  # fmt: skip
CHARGES = numpy.array([0.4, -0.4, 0.3])
PLACES = numpy.array([[4.5, 0.5, 0.0], [0.3, 4.6, 0.4], [-0.2, 0.3, -4.4]])


def acetone():
    lines = (REPOSITORY / "configs/acetone.xyz").read_text().splitlines()
    rows = [line.split() for line in lines[2 : 2 + int(lines[0])]]
    return [row[0] for row in rows], numpy.array([row[1:4] for row in rows], float)


class Worker:
    """A worker's process, by messages."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, str(WORKERS / "pyscf_worker.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._points = self._nuclei = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def ask(self, request, arrays=None, **fields):
        self._channel.send(request, arrays, **fields)
        while True:
            header, arrays = self._channel.receive()
            if header["type"] not in ("hello", "forecast", "progress"):
                return header, arrays

    def begin(self, elements, positions, **changed):
        request = worker_request(elements, **{**SMALL_GRIDS, **changed})
        _, arrays = self.ask("init", {"positions": positions}, **request)
        self._points, self._nuclei = arrays["points"].T, positions

    def update(self, shift=0.0):
        """(energy, state) among three charges."""
        charges = PLACES + self._nuclei.mean(axis=0) + shift

        def potential(where):
            return 1389.35 * (1 / numpy.linalg.norm(where[:, None] - charges, axis=2)) @ CHARGES

        header, arrays = self.ask(
            "update",
            {
                "potential": potential(self._points),
                "nuclear_potential": potential(self._nuclei),
                "charge_positions": charges,
                "charges": CHARGES,
            },
            coulomb_pole=1.0,
        )
        return header["energy"], arrays["state"].tobytes()

    def resident_mb(self):
        with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class MemoryTest(unittest.TestCase):
    def test_what_else_the_process_holds_changes_no_bit(self):
        """400 MB more than the limit leaves PySCF."""
        elements, positions = acetone()
        request = worker_request(
            elements, **{**SMALL_GRIDS, "method": "pbe0", "basis": "6-31g*", "memory_mb": 380}
        )
        states = []
        for held in (0, 400 * 2**20):
            ballast = numpy.ones(held, dtype=numpy.int8)
            engine = PyscfEngine(request, positions)
            potentials = 0.01 * engine.points_angstrom()[0], 0.01 * positions[:, 0]
            engine.update(*potentials, SolventCharges(numpy.empty((0, 3)), numpy.empty(0)))
            states.append(engine.state().tobytes())
            del ballast
        self.assertTrue(states[0] == states[1])  # not assertEqual: it would print them

    def test_a_reused_worker_has_the_bits_of_a_fresh_one(self):
        """And one that has its state from another: with less memory than the molecule before took."""
        elements, positions = acetone()
        asked = {"method": "pbe0", "basis": "6-31g*"}
        for memory in (300, 380):
            with self.subTest(memory):
                with Worker() as fresh:
                    fresh.begin(elements, positions, memory_mb=memory, **asked)
                    first, second = fresh.update(), fresh.update(0.1)
                with Worker() as reused:
                    large = {"scf_grid_radial": 60, "scf_grid_angular": 302, "grid_needed": True}
                    large |= {"grid_radial": 50, "grid_angular": 302}
                    reused.begin(elements, 1.02 * positions, memory_mb=2000, **asked, **large)
                    reused.update()
                    taken = reused.resident_mb()
                    reused.begin(elements, positions, memory_mb=memory, **asked)
                    self.assertEqual([reused.update(), reused.update(0.1)], [first, second])
                    self.assertLess(reused.resident_mb(), 0.8 * taken)
                with Worker() as restarted:
                    restarted.begin(elements, positions, memory_mb=memory, **asked)
                    restarted.ask("restore", {"state": numpy.frombuffer(first[1])})
                    self.assertEqual(restarted.update(0.1), second)


if __name__ == "__main__":
    unittest.main()
