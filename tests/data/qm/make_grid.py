#!/usr/bin/env python3
"""Makes a stored density grid (for qm.engine = frozen) from an XYZ file by the PySCF worker.

usage: make_grid.py XYZ OUT [--radial N] [--angular N] [--threshold Q] [--charge Q] ...

Gas phase: no MM charges. Coordinates stay as they are in the XYZ file (angstrom). Run it with a
Python that has PySCF. The file format is that of src/qm/density_grid.hpp.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import zlib

import numpy

WORKER = pathlib.Path(__file__).resolve().parents[3] / "src/qm/workers/pyscf_worker.py"


def read_xyz(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    atoms = [line.split() for line in lines[2 : 2 + int(lines[0])]]
    return [atom[0] for atom in atoms], numpy.array([[float(x) for x in a[1:4]] for a in atoms])


def send(worker, header, **arrays):
    header["arrays"] = [
        {"name": name, "dtype": "f64", "shape": list(values.shape)}
        for name, values in arrays.items()
    ]
    worker.stdin.write(json.dumps(header).encode() + b"\n")
    for values in arrays.values():
        worker.stdin.write(numpy.ascontiguousarray(values, dtype="<f8").tobytes())
    worker.stdin.flush()


def receive(worker):
    line = worker.stdout.readline()
    if not line:
        sys.exit("the worker ended; its messages are above")
    header = json.loads(line)
    if header["type"] == "error":
        sys.exit(f"worker: {header['reason']}: {header['message']}")
    arrays = {}
    for description in header["arrays"]:
        count = int(numpy.prod(description["shape"]))
        data = numpy.frombuffer(worker.stdout.read(8 * count), dtype="<f8")
        arrays[description["name"]] = data.reshape(description["shape"])
    return receive(worker) if header["type"] == "forecast" else (header, arrays)


def compute(arguments):
    """Returns the result's header and the (points, 5) grid before anything is dropped."""
    elements, positions = read_xyz(arguments.xyz)
    worker = subprocess.Popen(
        [sys.executable, WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if not arguments.verbose else None,
    )
    with worker:
        receive(worker)
        request = {
            "type": "init",
            "elements": elements,
            "charge": arguments.charge,
            "multiplicity": 1,
            "method": arguments.method,
            "basis": arguments.basis,
            "density_fitting": True,
            "grid_radial": arguments.radial,
            "grid_angular": arguments.angular,
            "scf_grid_radial": 75,
            "scf_grid_angular": 302,
            "energy_convergence_hartree": 1e-9,
            "max_iterations": 100,
            "embedding": "quadrature",
            "threads": 1,
            "memory_mb": 4000,
        }
        send(worker, request, positions=positions)
        points = receive(worker)[1]["points"].shape[1]
        send(
            worker,
            {"type": "update"},
            potential=numpy.zeros(points),
            nuclear_potential=numpy.zeros(len(elements)),
            charge_positions=numpy.zeros((0, 3)),
            charges=numpy.zeros(0),
        )
        header, arrays = receive(worker)
        send(worker, {"type": "quit"})
    return header, arrays["grid"].T


def write_grid(path, grid):
    data = b"STARPMCG" + struct.pack("<IIQ", 2, 0, len(grid))
    data += numpy.ascontiguousarray(grid, dtype="<f8").tobytes()
    pathlib.Path(path).write_bytes(data + struct.pack("<I", zlib.crc32(data)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("xyz")
    parser.add_argument("out")
    parser.add_argument("--radial", type=int, default=30, help="Mura-Knowles shells per atom")
    parser.add_argument("--angular", type=int, default=194, help="Lebedev points per shell")
    parser.add_argument("--threshold", type=float, default=1e-7, help="drop smaller |charge| (e)")
    parser.add_argument("--charge", type=int, default=0, help="of the molecule (e)")
    parser.add_argument("--method", default="pbe")
    parser.add_argument("--basis", default="def2-svp")
    parser.add_argument("--verbose", action="store_true", help="show PySCF's output")
    arguments = parser.parse_args()
    header, grid = compute(arguments)
    kept = grid[abs(grid[:, 3]) >= arguments.threshold]
    write_grid(arguments.out, kept)
    print(
        f"{len(kept)} of {len(grid)} points, {-kept[:, 3].sum():.6f} electrons "
        f"({header['electrons_on_grid']:.6f} before dropping), "
        f"energy {header['energy']:.6f} kJ/mol"
    )


if __name__ == "__main__":
    main()
