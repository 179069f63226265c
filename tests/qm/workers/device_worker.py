"""A QM worker of H2 that says what it was told of the device. Standard library only.

device_worker.py FILE CHOICE [FAULT]: of `auto` it makes CHOICE, once; whoever is asked to choose again
takes another. FILE keeps what each was asked, a word each. FAULT dies: the first ends before it says.
FAULT gone: whoever may do without a GPU finds none.
"""

import os
import sys
import time

from fake_worker import POINTS, grid, receive, result_header, send

FILE, CHOICE, FAULT = (*sys.argv[1:4], "")[:3]


def asked_before(device):
    """What others were asked, in one word each."""
    with open(FILE, "a+", encoding="ascii") as file:
        file.seek(0)
        before = file.read().split()
        file.write(device + " ")
    return before


send({"type": "hello", "protocol": 1, "worker": "fake", "version": "0.1"})
header, _ = receive()
asked = header["device"]
before = asked_before(asked)
if FAULT == "dies" and not before:
    os._exit(3)
if asked == "auto":
    asked = "cpu" if (CHOICE == "cpu") != ("auto" in before and FAULT != "dies") else "gpu"
if FAULT == "gone" and not header["device_required"]:
    asked = "cpu"
name = {"cpu": "CPU (why not)", "gpu": "a GPU"}[asked]
send(
    {
        "type": "forecast",
        "basis_functions": 2,
        "memory_mb": 1.0,
        "seconds_first": 0.1,
        "seconds_update": 0.1,
        "device": name,
    }
)
time.sleep(0.1)
told = f"{header['device_workers']} workers, {'required' if header['device_required'] else 'or not'}"
send(
    {"type": "ready", "expected_electrons": 2, "device": f"{name}: {told}"},
    [("points", (3, POINTS), [0.25] * (3 * POINTS))],
)
while receive()[0]["type"] != "quit":
    send(result_header(), [grid()])
