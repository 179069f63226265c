"""A QM worker that misbehaves in the way its first argument names. Standard library only."""

import json
import math
import os
import struct
import sys
import time

POINTS = 5
GRID_POINTS = 3


def send(header, arrays=()):
    header["arrays"] = [
        {"name": name, "dtype": "f64", "shape": list(shape)} for name, shape, _ in arrays
    ]
    output = sys.stdout.buffer
    output.write(json.dumps(header).encode() + b"\n")
    for _, _, values in arrays:
        output.write(struct.pack(f"<{len(values)}d", *values))
    output.flush()


def receive():
    header = json.loads(sys.stdin.buffer.readline() or b'{"type": "quit"}')
    arrays = {}
    for description in header.get("arrays", []):
        count = math.prod(description["shape"])
        data = sys.stdin.buffer.read(8 * count)
        arrays[description["name"]] = struct.unpack(f"<{count}d", data)
    return header, arrays


def result_header(**changed):
    header = {
        "type": "result",
        "energy": -100.0,
        "electrons_on_grid": 2.0,
        "iterations": 4,
        "attempts": 1,
        "converged": True,
        "dipole": [0.0, 0.0, 1.0],
        "seconds_embedding": 0.1,
        "seconds_scf": 0.2,
        "seconds_density": 0.3,
        "memory_mb": 10.0,
    }
    return {**header, **changed}


def grid(values=None):
    return ("grid", (5, GRID_POINTS), values or [0.5] * (5 * GRID_POINTS))


def raw(text):
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    time.sleep(60)


def die_with_lines():
    for line in range(30):
        print(f"complaint {line}", file=sys.stderr)
    print("the basis set has eaten the integrals", file=sys.stderr, flush=True)
    sys.exit(3)


def misbehave_on_update(mode, arrays, header=None):
    if mode == "dies-mid-update":
        die_with_lines()
    if mode == "killed-mid-update":
        os.kill(os.getpid(), 11)
    if mode == "hangs":
        print("thinking", file=sys.stderr, flush=True)
        time.sleep(60)
    if mode == "garbage":
        raw(b"\x00\x01 cycle= 1 E= -76.4\n")
    if mode == "endless-line":
        raw(b"a" * (2 << 20))
    if mode == "nan-header":
        raw(json.dumps(result_header(energy=math.nan)).encode() + b"\n")
    if mode == "huge-number":
        raw(b'{"type": "result", "energy": 1e999}\n')
    if mode == "absurd-size":
        raw(
            b'{"type": "result", "arrays": [{"name": "grid", "dtype": "f64",'
            b' "shape": [5, 999999999999]}]}\n'
        )
    if mode == "negative-size":
        raw(b'{"type": "result", "arrays": [{"name": "grid", "dtype": "f64", "shape": [5, -1]}]}\n')
    if mode == "half-array":
        sys.stdout.buffer.write(
            b'{"type":"result","arrays":[{"name":"grid","dtype":"f64","shape":[5,3]}]}\n12345678'
        )
        sys.stdout.buffer.flush()
        sys.exit(0)
    if mode == "missing-field":
        header = result_header()
        del header["electrons_on_grid"]
        send(header, [grid()])
    if mode == "wrong-type":
        send({"type": "ready"})
    if mode == "wrong-shape":
        send(result_header(), [("grid", (4, GRID_POINTS), [0.5] * (4 * GRID_POINTS))])
    if mode == "no-grid":
        send(result_header())
    if mode == "nan-array":
        send(result_header(), [grid([0.5] * 14 + [math.nan])])
    if mode == "not-converged":
        send(
            {"type": "error", "reason": "not-converged", "message": "no solution in 100 iterations"}
        )
    if mode == "not-converged-flag":
        send(result_header(converged=False), [grid()])
    if mode == "good":
        charges = [
            sum(arrays["potential"]),
            sum(arrays["nuclear_potential"]),
            len(arrays["charges"]),
        ]
        optional = {
            "fallback": "level shift",
            "peak_memory_mb": 12.5,
            "interaction_electrons": 20.0,
            "interaction_nuclei": -50.0,
            "previous_interaction": -29.0,
            "isolated_energy": -68.0,
            "isolated_dipole": [0.0, 0.5, 0.0],
            "polarisation_energy": -2.0,
        }
        send(result_header(**optional), [grid([0.5] * 9 + charges + [0.25] * 3)])
    if mode == "mirror":
        numbers = {
            "polarisation_energy": header["coulomb_pole"],
            "isolated_dipole": header.get("box", [0.0, 0.0, 0.0]),
            "dipole": list(arrays["charge_positions"][3:6]),
            "energy": arrays["charges"][1],
        }
        send(result_header(**numbers), [grid()])
    if mode == "terse":
        send(result_header(), [grid()])


def main():
    mode = sys.argv[1]
    if mode == "dies-at-once":
        die_with_lines()
    if mode == "never-answers":
        time.sleep(60)
    if mode == "missing":
        send({"type": "error", "reason": "missing", "message": "No module named 'pyscf'"})
        return
    send(
        {
            "type": "hello",
            "protocol": 2 if mode == "wrong-version" else 1,
            "worker": "fake",
            "version": "0.1",
        }
    )
    if mode == "never-reads":
        time.sleep(60)
    receive()
    if mode == "bad-request":
        send({"type": "error", "reason": "bad-request", "message": "no basis sto-99g"})
        return
    if mode == "good":
        send(
            {
                "type": "forecast",
                "basis_functions": 7,
                "memory_mb": 300.0,
                "seconds_first": 4.0,
                "seconds_update": 2.0,
            }
        )
    shape = (2, POINTS) if mode == "wrong-points" else (3, POINTS)
    send(
        {"type": "ready", "expected_electrons": 2, "basis_functions": 7},
        [("points", shape, [0.25] * math.prod(shape))],
    )
    if mode == "never-reads-update":
        time.sleep(60)
    if mode == "dies-before-update":
        sys.stdin.close()
        die_with_lines()
    while True:
        header, arrays = receive()
        if header["type"] == "quit":
            return
        misbehave_on_update(mode, arrays, header)


if __name__ == "__main__":
    main()
