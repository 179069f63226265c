"""A QM worker whose results depend on its state, and which can be made to fail now and then.

stateful_worker.py [FAULT COUNT FILE]: the first COUNT updates after its state has been set, of
all processes that share FILE, end with a FAULT of fake_worker.py. With the FAULT killed-at-start
the first COUNT of these processes are killed before they are ready. Standard library only.

Results: energy = sum of the potential + the state's energy / 2; state = energy, updates so far.
"""

import os
import pathlib
import signal
import sys
import time

from fake_worker import (
    POINTS,
    grid,
    misbehave_on_update,
    receive,
    result_header,
    send,
)


def fault_is_due(count, file):
    with open(file, "a", encoding="ascii") as faults:
        if pathlib.Path(file).stat().st_size >= count:
            return False
        faults.write("x")
    return True


def serve_update(state, arrays):
    energy = sum(arrays["potential"]) + (state[0] / 2 if state else 0.0)
    state = [energy, state[1] + 1 if state else 1.0]
    send(result_header(energy=energy), [grid(), ("state", (2,), state)])
    return state


def main():
    fault, count, file = (*sys.argv[1:4], "", "0", "")[:3]
    points = POINTS
    if fault == "other-points" and pathlib.Path(file).exists():
        points += 1
    send({"type": "hello", "protocol": 1, "worker": "stateful", "version": "0.1"})
    receive()
    if fault == "killed-at-start" and fault_is_due(int(count), file):
        os.kill(os.getpid(), signal.SIGKILL)
    send(
        {"type": "ready", "expected_electrons": 2, "basis_functions": 7, "has_state": True},
        [("points", (3, points), [0.25] * (3 * points))],
    )
    state = []
    while True:
        header, arrays = receive()
        if header["type"] == "quit":
            return
        if header["type"] == "restore":
            state = list(arrays["state"])
            if len(state) not in (0, 2):
                message = f"a state has two numbers, found {len(state)}"
                send({"type": "error", "reason": "failure", "message": message})
                return
            send({"type": "restored"})
            continue
        if fault == "slow":
            time.sleep(float(count))
        elif state and fault not in ("", "killed-at-start") and fault_is_due(int(count), file):
            misbehave_on_update("killed-mid-update" if fault == "other-points" else fault, arrays)
        state = serve_update(state, arrays)


main()
