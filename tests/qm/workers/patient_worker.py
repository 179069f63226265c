"""A QM worker of H2 that takes one calculation after the other. Its results name its process and the
calculation. Standard library only.

patient_worker.py [leaves | errs]: it ends after its first result; its second result makes no sense.
"""

import os
import sys

from fake_worker import POINTS, grid, receive, result_header, send

MODE = (*sys.argv[1:2], "")[0]

send({"type": "hello", "protocol": 1, "worker": "patient", "version": "0.3"})
calculations = results = 0
while True:
    header, _ = receive()
    if header["type"] == "quit":
        break
    if header["type"] == "init":
        calculations += 1
        points = [("points", (3, POINTS), [0.25] * (3 * POINTS))]
        send({"type": "ready", "expected_electrons": 2}, points)
        continue
    results += 1
    told = {"fallback": f"{os.getpid()} {calculations}"}
    if MODE == "errs" and results == 2:
        told["energy"] = 1e308
    send(result_header(**told), [grid()])
    if MODE == "leaves":
        break
