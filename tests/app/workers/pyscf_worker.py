"""Stands for PySCF: a solute whose electrons lie on six points, polarised by the waters, that can be
made to fail.

N electrons on six points, shifted between them by a polarisation p_i of each. In the potential v_i
the energy is quadratic in p,

    E = ISOLATED_ENERGY + STIFFNESS/2 sum_i p_i^2 + sum_i q_i v_i + sum_A Z_A v_A,
    q_i = -(N + SHIFT (p_i - mean p))/6,   STIFFNESS = 100 SHIFT/6 kJ/mol,

and an update goes half the way to its minimum. STARPMC_TEST_UNSPOKEN=1: energies of parts are kept
back, as by a program that cannot tell them. STARPMC_TEST_RISE=X: each update's energy is X kJ/mol above what it
should be, more than the last one's.

STARPMC_TEST_FAULT="FAULT UPDATE COUNT FILE": update number UPDATE (from 0) fails in the way that
FAULT names, COUNT times in all processes that share FILE. STARPMC_TEST_MEETING="FOLDER COUNT": the
first update waits until the workers of that many chains are there. STARPMC_TEST_HANG="PLACE FILE":
it makes FILE and says nothing more, deaf to SIGTERM, before PLACE: hello, ready or restored, or in an
update with a density behind it. STARPMC_TEST_FORECAST="MB SECONDS": an update of that many seconds is
announced. STARPMC_TEST_DEVICE=1: it says that it is on a GPU, and how its environment has it use that.
Standard library only.

Its state are the charges' polarisations, half of which the next update keeps, and the number of
updates so far: with another state, or none, the next density is another one.
"""

import json
import math
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "qm" / "workers"))

from fake_worker import misbehave_on_update, receive, result_header, send

DISTANCE = 0.3  # angstrom, of the points from the centre of nuclear charge
DIRECTIONS = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
SHIFT = 0.1  # electrons
SOFTNESS = 100  # kJ/mol/e: p_i = (v_i - mean v) / SOFTNESS at the minimum
ISOLATED_ENERGY = -1000.0  # kJ/mol
NUCLEAR_CHARGES = {"H": 1, "C": 6, "O": 8}
ENOUGH_ITERATIONS = 50
HUGE_CHARGE = 1e308


def points_around(positions, elements):
    atoms = [positions[i : i + 3] for i in range(0, len(positions), 3)]
    charges = [NUCLEAR_CHARGES[e] for e in elements]
    centre = [
        sum(z * atom[k] for z, atom in zip(charges, atoms, strict=True)) / sum(charges)
        for k in range(3)
    ]
    return [[centre[k] + DISTANCE * d[k] for d in DIRECTIONS] for k in range(3)]


def meet(meeting):
    """All chains have made their files when the first of them goes on."""
    if not meeting:
        return
    folder, count = meeting.rsplit(" ", 1)
    pathlib.Path(folder, str(os.getpid())).touch()
    while len(os.listdir(folder)) < int(count):
        time.sleep(0.01)


def fill_disk(path):
    """Until not a byte more fits."""
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 16, 1 << 10, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                pass


def hang(place):
    wanted, file = (os.environ.get("STARPMC_TEST_HANG") or "nowhere none").split(maxsplit=1)
    if wanted != place:
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pathlib.Path(file).touch()
    time.sleep(600)


class Fault:
    def __init__(self, text):
        self.name, update, count, file = (text or "none -1 0 none").split(maxsplit=3)
        self.update, self.count, self.file = int(update), int(count), pathlib.Path(file)

    def is_due(self, update):
        if update != self.update:
            return False
        with open(self.file, "a", encoding="ascii") as faults:
            if self.file.stat().st_size >= self.count:
                return False
            faults.write("x")
        return True

    def strike(self, arrays, max_iterations):
        """What is left of the charges afterwards."""
        if self.name == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.name == "huge-charges":
            return [HUGE_CHARGE, -HUGE_CHARGE]
        elif self.name == "full-disk":
            fill_disk(self.file.with_name("filler"))
        elif self.name == "not-converged":
            if max_iterations < ENOUGH_ITERATIONS:
                message = f"no solution in {max_iterations} iterations"
                send({"type": "error", "reason": "not-converged", "message": message})
                return None
        else:
            misbehave_on_update(self.name, arrays)
        return []


def charges_of(polarisations, electrons):
    mean = sum(polarisations) / len(polarisations)
    return [-(electrons + SHIFT * (p - mean)) / len(polarisations) for p in polarisations]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def electrons_of(init):
    return sum(NUCLEAR_CHARGES[e] for e in init["elements"]) - init["charge"]


def serve_update(state, points, init, arrays, spoilt):
    count, elements = electrons_of(init), init["elements"]
    potential = arrays["potential"]
    unpolarised = [0.0] * len(DIRECTIONS)
    kept = state[:-1] or unpolarised
    mean = sum(potential) / len(potential)
    polarisations = [
        (old + (v - mean) / SOFTNESS) / 2
        for old, v in zip(kept, potential, strict=True)
    ]
    charges = charges_of(polarisations, count)
    nuclei = dot([NUCLEAR_CHARGES[e] for e in elements], arrays["nuclear_potential"])
    electrons = dot(charges, potential)
    own = SOFTNESS * SHIFT / 6 / 2 * dot(polarisations, polarisations)
    parts = {
        "interaction_electrons": electrons,
        "interaction_nuclei": nuclei,
        "isolated_energy": ISOLATED_ENERGY,
        "isolated_dipole": [0.0, 0.0, 0.0],
        "polarisation_energy": own + electrons - dot(charges_of(unpolarised, count), potential),
    }
    if state:
        parts["previous_interaction"] = dot(charges_of(kept, count), potential) + nuclei
    if os.environ.get("STARPMC_TEST_UNSPOKEN"):
        parts = {}
    rise = float(os.environ.get("STARPMC_TEST_RISE", "0")) * (state[-1] if state else 0)
    energy = ISOLATED_ENERGY + own + electrons + nuclei + rise
    charges[: len(spoilt)] = spoilt
    state = [*polarisations, state[-1] + 1 if state else 1.0]
    grid = ("grid", (5, len(charges)), [x for row in points for x in row] + charges + [0.0] * len(charges))
    dipole = [polarisations[2 * k] - polarisations[2 * k + 1] for k in range(3)]
    header = result_header(energy=energy, electrons_on_grid=float(count), dipole=dipole, **parts)
    send(header, [grid, ("state", (len(state),), state)])
    return state


def device():
    if not os.environ.get("STARPMC_TEST_DEVICE"):
        return {}
    names = ("STARPMC_OWN_MPS", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_VISIBLE_DEVICES")
    return {"device": "GPU " + json.dumps({name: os.environ.get(name) for name in names})}


def main():
    fault = Fault(os.environ.get("STARPMC_TEST_FAULT"))
    hang("hello")
    send({"type": "hello", "protocol": 1, "worker": "pyscf", "version": "0.0"})
    init, arrays = receive()
    points = points_around(arrays["positions"], init["elements"])
    if forecast := os.environ.get("STARPMC_TEST_FORECAST"):
        megabytes, seconds = map(float, forecast.split())
        fields = {"seconds_first": 4 * seconds, "seconds_update": seconds, "memory_mb": megabytes}
        fields["repeatable"] = init["threads"] == 1
        send({"type": "forecast", "basis_functions": 1234, **fields})
    hang("ready")
    send(
        {"type": "ready", "expected_electrons": electrons_of(init), "basis_functions": 1, "has_state": True,
         **device()},
        [("points", (3, len(DIRECTIONS)), [x for row in points for x in row])],
    )
    state = []
    while True:
        header, arrays = receive()
        if header["type"] == "quit":
            return
        if header["type"] == "restore":
            state = list(arrays["state"])
            hang("restored")
            send({"type": "restored"})
            continue
        if state:
            hang("update")
        else:
            meet(os.environ.get("STARPMC_TEST_MEETING"))
        spoilt = []
        if fault.is_due(int(state[-1]) if state else 0):
            spoilt = fault.strike(arrays, init["max_iterations"])
        state = [] if spoilt is None else serve_update(state, points, init, arrays, spoilt)


main()
