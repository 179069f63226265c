"""A QM worker for the requests of the exact ensemble, of H2, whose every answer depends on all that it
was told before. Standard library only.

exact_worker.py [killed REQUEST FILE]: is killed once, at the first REQUEST of all processes that share
FILE. exact_worker.py [nonsense WHAT]: one thing of its answers is none. exact_worker.py [coarse]: it has
a coarse quadrature, too, of two points.
"""

import os
import pathlib
import signal
import sys

from fake_worker import POINTS, grid, receive, result_header, send

COARSE_POINTS = 2
MODE, WHAT, FILE = (*sys.argv[1:4], "", "", "")[:3]


def kill_once(request):
    if MODE == "killed" and request == WHAT and not pathlib.Path(FILE).exists():
        pathlib.Path(FILE).write_text("x", encoding="ascii")
        os.kill(os.getpid(), signal.SIGKILL)


def wrong(what, value, otherwise):
    return value if MODE == "nonsense" and what == WHAT else otherwise


class Worker:
    def __init__(self):
        self.state, self.held = [], None
        self.configurations, self.components = [], 0
        self.adopted = None
        self.factor = None  # of equations taken

    def update(self, _, arrays):
        last = self.held if self.held is not None else self.state
        energy = sum(arrays["potential"]) + sum(last) / 2
        if self.held is None:
            self.state = [energy]
        send(result_header(energy=energy), [grid(), ("state", (1,), [energy])])

    def embed(self, header, arrays):
        points = COARSE_POINTS if header.get("coarse") else POINTS
        assert len(arrays["potential"]) == points
        numbers = wrong("embedding", [], [sum(arrays["potential"])])
        send({"type": "embedded"}, [("embedding", (len(numbers),), numbers)])

    def configuration(self, _, arrays):
        self.configurations.append(arrays["embedding"][0])
        count = wrong("configurations", 0, len(self.configurations))
        send({"type": "configured", "configurations": count})

    def forget(self, *_):
        self.configurations = []
        send({"type": "forgotten"})

    def reference(self, *_):
        mean = sum(self.configurations) / len(self.configurations)
        self.state = [mean + sum(self.state) / 2]
        header = result_header(energy=self.state[0])
        del header["electrons_on_grid"]
        header["solute_energy"] = wrong("solute_energy", 1e300, self.state[0] - mean)
        send(header, [("state", (1,), self.state)])

    def energy(self, header, _):
        last = self.held if self.held is not None else self.state
        energy = self.configurations[header["configuration"]] + sum(last) / 2
        send({"type": "energy", "energy": wrong("energy", 1e300, energy)})

    def share(self, *_):
        rows = [float(self.components)] * (1 + self.components)
        send({"type": "shared"}, [("matrices", (len(rows), 1), rows), ("cores", (1,), self.state)])

    def adopt(self, _, arrays):
        self.components, self.adopted = len(arrays["matrices"]) - 1, arrays["cores"][0]
        send({"type": "adopted"})

    def shared_products(self, others):
        """What those that others have made are off."""
        if others == 0 and not wrong("unasked", True, False):
            return 0.0
        factor, off = self.state[0], 0.0
        if not wrong("products first", True, False):
            numbers = wrong("equations", [], [factor])
            send({"type": "equations"}, [("equations", (len(numbers),), numbers)])
        for rows in (2, 1):
            vectors = [float(rows + k) for k in range(2 * rows)]
            shape = wrong("vectors", (2 * rows,), (rows, 2))
            send({"type": "products"}, [("vectors", shape, vectors)])
            _, arrays = receive()
            kill_once("products")
            right = [factor * x for x in vectors]
            off += sum(a - b for a, b in zip(arrays.get("values", right), right, strict=True))
        return off

    def equations(self, _, arrays):
        self.factor = arrays["equations"][0]
        send({"type": "taken"})

    def multiply(self, _, arrays):
        values = [self.factor * x for x in arrays["vectors"]] + wrong("product", [0.0], [])
        send({"type": "multiplied"}, [("values", (1, len(values)), values)])

    def response(self, header, arrays):
        told = sum(arrays["tests"]) + sum(arrays["energies"])
        told += self.shared_products(header["others"])
        total = wrong("progress", 1, 2)
        for done in (1, 2):
            send({"type": "progress", "what": "response", "done": done, "total": total})
        self.components = r = header["components"]
        charge = wrong("charge", 1.0, 0.0)
        far = wrong("point", 30.0, 0.3)
        means = wrong("mean", r - 1, r)
        rows = [[0.5, charge - 0.5], *([self.state[0], k] for k in range(r))]
        send(
            {
                "type": "response",
                "components": wrong("components", r + 1, r),
                "widths": [[0, 1.0, 2.0], [r, 0.0, wrong("width", -1.0, 0.25)]],
                "note": "as asked",
            },
            [
                ("points", (2, 3), [0.0] * 5 + [far]),
                ("strengths", (1 + r, 2), [x for row in rows for x in row]),
                *([("mean", (means,), [1.5] * means)] if r else []),
                ("spectrum", (1,), [told]),
            ],
        )

    def potentials(self, _, arrays):
        count = len(arrays["positions"]) // 3
        own = self.state[0] if self.adopted is None else self.adopted
        first = wrong("potential", 1e9, own)
        values = [first] * count + [float(self.components)] * (count * self.components)
        rows = 1 + self.components - wrong("rows", 1, 0)
        send(
            {"type": "potentials"}, [("values", (rows, count), values[: rows * count])]
        )

    def hold(self, *_):
        self.held = self.state
        send({"type": "held"})

    def restore(self, _, arrays):
        self.state, self.held = list(arrays["state"]), None
        send({"type": "restored"})


def main():
    send({"type": "hello", "protocol": 1, "worker": "exact", "version": "0.1"})
    receive()
    grids = {"points": POINTS} | ({"coarse_points": COARSE_POINTS} if MODE == "coarse" else {})
    send(
        {"type": "ready", "expected_electrons": 2, "has_state": True, "exact": True},
        [(name, (3, count), [0.25] * (3 * count)) for name, count in grids.items()],
    )
    worker = Worker()
    while True:
        header, arrays = receive()
        if header["type"] == "quit":
            return
        kill_once(header["type"])
        getattr(worker, header["type"])(header, arrays)


main()
