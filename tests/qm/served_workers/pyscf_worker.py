"""A QM worker of H2 on "a GPU", which it says it uses by way of the program's MPS server or not. Standard
library only.

SERVED_WORKER=refuses: it finds no GPU behind the server; hangs: it is ended by a signal there; loses: an
update finds the server gone; dies: an update ends it. Without the server it always works.
"""

import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "workers"))
from fake_worker import POINTS, grid, receive, result_header, send

FAULT = os.environ.get("SERVED_WORKER", "")
NAMES = ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_VISIBLE_DEVICES")
served = os.environ.get("STARPMC_OWN_MPS") == "1"


def lose_server():
    send({"type": "error", "reason": "device-server", "message": "no server there"})
    sys.exit(1)


send({"type": "hello", "protocol": 1, "worker": "fake", "version": "0.1"})
receive()
if served and FAULT == "refuses":
    lose_server()
if served and FAULT == "hangs":
    os.kill(os.getpid(), signal.SIGALRM)
where = ", ".join(f"{name}={os.environ[name]}" for name in NAMES if name in os.environ)
send(
    {
        "type": "ready",
        "expected_electrons": 2,
        "device": f"a GPU, {'served' if served else 'alone'}: {where}",
    },
    [("points", (3, POINTS), [0.25] * (3 * POINTS))],
)
while receive()[0]["type"] == "update":
    if served and FAULT == "loses":
        lose_server()
    if served and FAULT == "dies":
        os._exit(3)
    send(result_header(), [grid()])
