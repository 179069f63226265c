"""Requests of the exact ensemble (see ../protocol.md), for workers that serve it."""

import numpy
from worker_protocol import (
    WorkerError,
    check_shape,
    device_of,
    memory_of,
    solvent_of,
    take_row,
    with_state,
)


class OtherWorkers:
    """Of the program, which make a part of a response's products: see shared_products.py."""

    def __init__(self, channel, count):
        self._channel = channel
        self.count = count

    def tell(self, equations):
        self._channel.send("equations", {"equations": equations})

    def ask(self, vectors):
        self._channel.send("products", {"vectors": vectors})

    def answer(self, shape):
        """Products of what was asked; None: no other worker could make them."""
        header, arrays = self._channel.receive()
        if header is None or header["type"] != "products":
            raise WorkerError("failure", "response: no answer to `products`")
        if not arrays:
            return None
        check_shape(arrays, "values", shape)
        return arrays["values"]


def _tests(arrays):
    """Of a response: (indices of configurations, their energies)."""
    tests = [arrays.get(name, numpy.zeros(0)) for name in ("tests", "energies")]
    if tests[0].ndim != 1 or tests[0].shape != tests[1].shape:
        raise WorkerError("failure", "arrays tests and energies: expected two rows of one length")
    return tests[0].astype(int), tests[1]


def _respond(channel, engine, header, arrays):
    def progress(what, done, total):
        channel.send("progress", what=what, done=done, total=total)

    others = header.get("others", 0)
    fields, made = engine.exact.respond(
        header["components"],
        header["tolerance"],
        _tests(arrays),
        header["threads"],
        progress,
        header.get("rough", False),
        OtherWorkers(channel, others) if others > 0 else None,
    )
    channel.send("response", made, **fields, **memory_of(engine))


def answer(channel, engine, header, arrays):
    """Of one request; False: it is none of these."""
    exact, request = engine.exact, header["type"]
    if request == "embed":
        coarse = header.get("coarse", False)
        points = engine.coarse_points_angstrom() if coarse else engine.points_angstrom()
        solvent = solvent_of(points, engine, header, arrays)
        configuration = engine.configuration(**solvent, **({"coarse": True} if coarse else {}))
        channel.send("embedded", {"embedding": exact.pack(configuration)})
    elif request == "configuration":
        configuration = take_row(arrays, "embedding", exact.unpack, "array embedding does not fit")
        channel.send("configured", configurations=exact.add(configuration))
    elif request == "forget":
        exact.forget()
        channel.send("forgotten")
    elif request == "reference":
        fields = {**exact.reference(header.get("threads")), **memory_of(engine), **device_of(engine)}
        channel.send("result", with_state(engine, {}), **fields)
    elif request == "response":
        _respond(channel, engine, header, arrays)
    elif request == "potentials":
        positions = arrays.get("positions")
        if positions is None or positions.ndim != 2 or positions.shape[1] != 3:
            raise WorkerError("failure", "array positions: expected shape (n, 3)")
        channel.send("potentials", {"values": exact.potentials(positions)})
    elif request == "energy":
        channel.send("energy", energy=exact.energy(header["configuration"]))
    elif request == "equations":
        take_row(arrays, "equations", exact.take_equations, "array equations does not fit")
        channel.send("taken")
    elif request == "multiply":
        channel.send("multiplied", {"values": exact.multiply(arrays.get("vectors"))})
    elif request == "share":
        channel.send("shared", exact.share())
    elif request == "adopt":
        exact.adopt(arrays)
        channel.send("adopted")
    elif request == "hold":
        engine.hold()
        channel.send("held")
    else:
        return False
    return True
