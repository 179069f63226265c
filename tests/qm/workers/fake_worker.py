"""A QM worker that misbehaves in the way its first argument names. Standard library only."""

import json
import math
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

POINTS = 5
GRID_POINTS = 3
ELECTRONS = 2
# What no calculation of two electrons gives: fields and charges of a result.
NONSENSE = {
    "energy-1e308": ({"energy": 1e308}, None),
    "energy-of-others": ({"energy": -1e7}, None),
    "isolated-energy": ({"isolated_energy": 1e300}, None),
    "dipole-1e308": ({"dipole": [0.0, 1e308, 0.0]}, None),
    "isolated-dipole": ({"isolated_dipole": [0.0, 0.0, -1e6]}, None),
    "seconds-1e308": ({"seconds_scf": 1e308}, None),
    "negative-memory": ({"memory_mb": -1.0}, None),
    "iterations-1e300": ({"iterations": 1e300}, None),
    "iterations-true": ({"iterations": True}, None),
    "energy-true": ({"energy": True}, None),
    "other-sum": ({}, [-20.0] * 3),
    "huge-charges": ({}, [1e308, -1e308, -2.0]),
    "both-signs": ({}, [5.0, -5.0, -2.0]),
    "positive-density": ({"electrons_on_grid": -2.0}, [2 / 3] * 3),
    "many-electrons": ({"electrons_on_grid": 20.0}, [-20 / 3] * 3),
}


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


def grid(values=None, charges=None, x=None):
    charges = charges or [-ELECTRONS / GRID_POINTS] * GRID_POINTS
    middle = [0.5] * (2 * GRID_POINTS)
    plausible = (x or [0.5] * GRID_POINTS) + middle + charges + [0.25] * GRID_POINTS
    return ("grid", (5, GRID_POINTS), values or plausible)


def raw(text):
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    time.sleep(60)


def die_with_lines():
    for line in range(30):
        print(f"complaint {line}", file=sys.stderr)
    print("the basis set has eaten the integrals", file=sys.stderr, flush=True)
    sys.exit(3)


def say_nonsense(mode):
    if mode in NONSENSE:
        fields, charges = NONSENSE[mode]
        send(result_header(**fields), [grid(charges=charges)])
    if mode == "far-density":
        send(result_header(), [grid(x=[0.5, 0.5, 40.0])])
    if mode == "far-point":
        send(result_header(), [grid(x=[0.5, 0.5, 1e300], charges=[-1.0, -1.0, 0.0])])
    if mode == "deep-json":
        raw(b'{"type": "result", "x": ' + b"[" * 500_000 + b"]" * 500_000 + b"}\n")
    if mode == "escapes":
        print("\x1b]0;title\x07\x1b[31mred", file=sys.stderr, flush=True)
        send({"type": "error", "reason": "failure", "message": "\x1b[2Jgone\u009b31m"})


def leave_things_behind(mode):
    """A child that lives on, a file; then as the mode's end says."""
    child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(b"integrals")
    send(result_header(fallback=f"{child.pid} {file.name}"), [grid()])
    if mode.endswith("killed"):
        receive()
        os.kill(os.getpid(), signal.SIGKILL)


def misbehave_on_update(mode, arrays, header=None):
    say_nonsense(mode)
    if mode.startswith("leaves-things"):
        leave_things_behind(mode)
    if mode == "says-environment":
        for name, value in os.environ.items():
            print(f"{name}={value}", file=sys.stderr)
        send(result_header(), [grid()])
    if mode == "floods":
        for _ in range(64):
            sys.stderr.write("much ado about nothing\n" * 100_000)
        print("the end", file=sys.stderr, flush=True)
        send(result_header(), [grid()])
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
        received = [
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
        send(result_header(**optional), [grid(x=received)])
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
                "repeatable": False,
            }
        )
    electrons = 16 if mode == "other-electrons" else ELECTRONS
    shape = (2, POINTS) if mode == "wrong-points" else (3, POINTS)
    send(
        {"type": "ready", "expected_electrons": electrons, "basis_functions": 7},
        [("points", shape, [1e300 if mode == "far-points" else 0.25] * math.prod(shape))],
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
