"""Worker's side of the starpmc QM protocol, version 1 (see ../protocol.md).

A worker script calls take_over_stdout() before it imports anything noisy, then serve() with a
factory of its engine.
"""

import ctypes
import dataclasses
import gc
import importlib.metadata
import json
import math
import os
import resource
import signal
import sys
import traceback

PROTOCOL_VERSION = 1
MAX_HEADER_BYTES = 1 << 20
MAX_ARRAY_NUMBERS = 1 << 27
HARTREE_IN_KJ_PER_MOL = 2625.4996394799
DEBYE_PER_ATOMIC_UNIT = 2.541746473


class WorkerError(Exception):
    """An answer of type `error`: reason is one of protocol.md's."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason


@dataclasses.dataclass
class SolventCharges:
    """MM charges of an update, as arrays: positions (m, 3) in angstrom, charges (m).

    coulomb_pole: the limit of r V(r) at 0 of a unit charge's potential V in units of Coulomb's
    constant; 0: the potential has no 1/r part. box: edges of the periodic box in angstrom, None
    without one.
    """

    positions: object
    charges: object
    coulomb_pole: float = 0.0
    box: object = None

    @property
    def count(self):
        return len(self.charges)


def point_extents(distances, cell_volumes, angular_points):
    """Radii of the clouds that density points stand for (lengths in one unit), as protocol.md says.

    distances: of the points from their atoms; cell_volumes: before the partition between atoms. With
    twice the radius of a sphere of a cubic cell's volume the potential of the points is smooth, and
    the shape of the clouds keeps it unbiased (EXTENT_C0 in kernels/common/layout.h).
    """
    import numpy

    area = 4 * numpy.pi * distances**2 / angular_points
    depth = numpy.divide(cell_volumes, area, out=numpy.zeros_like(area), where=area > 0)
    return 2 * (3 / (4 * numpy.pi)) ** (1 / 3) * numpy.maximum(numpy.sqrt(area), depth)


def bad_request(message):
    return WorkerError("bad-request", message)


def _checked(name, values):
    import numpy  # not at the top: a Python without numpy must be able to say so

    values = numpy.ascontiguousarray(values, dtype="<f8")
    if not numpy.isfinite(values).all():
        raise WorkerError("failure", f"the worker computed a non-finite number in {name}")
    return values


class Channel:
    """Messages over a pair of binary streams."""

    def __init__(self, reader, writer):
        self._reader = reader
        self._writer = writer

    def send(self, message_type, arrays=None, **fields):
        """Arrays: name -> array of doubles."""
        arrays = {name: _checked(name, values) for name, values in (arrays or {}).items()}
        described = [
            {"name": name, "dtype": "f64", "shape": list(values.shape)}
            for name, values in arrays.items()
        ]
        header = {"type": message_type, **fields, "arrays": described}
        self._writer.write(json.dumps(header, allow_nan=False).encode() + b"\n")
        for values in arrays.values():
            self._writer.write(values.data)
        self._writer.flush()

    def receive(self):
        """Returns (header, arrays by name), or (None, None) at the end of the input."""
        line = self._reader.readline(MAX_HEADER_BYTES)
        if not line:
            return None, None
        if not line.endswith(b"\n"):
            raise WorkerError("failure", "request without an end of line")
        header = json.loads(line)
        if not isinstance(header, dict) or "type" not in header:
            raise WorkerError("failure", "request without a type")
        return header, {
            description["name"]: self._receive_array(description)
            for description in header.get("arrays", [])
        }

    def _receive_array(self, description):
        import numpy

        shape = description["shape"]
        count = math.prod(shape)
        if description["dtype"] != "f64" or not 0 <= count <= MAX_ARRAY_NUMBERS:
            raise WorkerError("failure", f"array of unknown type or absurd size: {description}")
        data = self._reader.read(8 * count)
        if len(data) != 8 * count:
            raise WorkerError("failure", "input ended inside an array")
        array = numpy.frombuffer(data, dtype="<f8").reshape(shape)
        if not numpy.isfinite(array).all():
            raise WorkerError("failure", f"non-finite number in {description['name']}")
        return array


def take_over_stdout():
    """Keeps the real standard output for the protocol; whatever else prints goes to stderr.

    SIGTERM ends the worker as sys.exit() does, so that temporary files go with it.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    protocol_output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return Channel(sys.stdin.buffer, protocol_output)


def resident_memory_mb():
    with open("/proc/self/statm", encoding="ascii") as statm:
        pages = int(statm.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_memory_mb():
    """The largest resident set so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def _give_memory_back():
    """What nobody refers to, to the system; else glibc keeps most of it."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def check_shape(arrays, name, shape):
    if name not in arrays or arrays[name].shape != shape:
        found = arrays[name].shape if name in arrays else "nothing"
        raise WorkerError("failure", f"array {name}: expected shape {shape}, found {found}")


def _solvent_charges(header, arrays):
    import numpy

    charges = arrays.get("charges", numpy.empty(0))
    if not len(charges):
        return SolventCharges(numpy.empty((0, 3)), charges)
    check_shape(arrays, "charge_positions", (len(charges), 3))
    pole, box = header.get("coulomb_pole", 0.0), header.get("box")
    if box is not None and not (len(box) == 3 and min(box) > 0):
        raise WorkerError("failure", f"field box: {box} instead of three positive lengths")
    box = None if box is None else numpy.array(box, float)
    return SolventCharges(arrays["charge_positions"], charges, pole, box)


def solvent_of(points, engine, header, arrays):
    """Potentials in Hartree per charge and the charges, as an engine's update() takes them. points:
    (3, p), where the potential is given."""
    points = points.shape[1]
    check_shape(arrays, "potential", (points,))
    check_shape(arrays, "nuclear_potential", (engine.atom_count,))
    return {
        "potential": arrays["potential"] / HARTREE_IN_KJ_PER_MOL,
        "nuclear_potential": arrays["nuclear_potential"] / HARTREE_IN_KJ_PER_MOL,
        "charges": _solvent_charges(header, arrays),
    }


def memory_of(engine):
    """memory_mb: with what the engine has yet to make, since chains are counted by the first answer."""
    unmade = engine.unmade_mb() if hasattr(engine, "unmade_mb") else 0.0
    return {"memory_mb": resident_memory_mb() + unmade, "peak_memory_mb": peak_memory_mb()}


def library_versions(names):
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _has_state(engine):
    return hasattr(engine, "state")


def _is_exact(engine):
    return hasattr(engine, "exact")


def take_row(arrays, name, take, misfit):
    """take() of the array, which has one dimension; it raises ValueError where the numbers do not fit."""
    row = arrays.get(name)
    if row is None or row.ndim != 1:
        raise WorkerError("failure", f"array {name}: expected one dimension")
    try:
        return take(row)
    except ValueError as error:
        raise WorkerError("failure", f"{misfit}: {error}") from error


def _begin(channel, engine):
    channel.send(
        "ready",
        {"points": engine.points_angstrom(), **_coarse_points(engine)},
        has_state=_has_state(engine),
        exact=_is_exact(engine),
        expected_electrons=engine.expected_electrons,
        basis_functions=engine.basis_functions,
        peak_memory_mb=peak_memory_mb(),
        **device_of(engine),
    )


def _coarse_points(engine):
    """Where there are fewer of them."""
    if not hasattr(engine, "coarse_points_angstrom"):
        return {}
    points = engine.coarse_points_angstrom()
    return {"coarse_points": points} if points.shape[1] < engine.points_angstrom().shape[1] else {}


def device_of(engine):
    """Where an engine's SCF runs, and once what there is to be said of that."""
    if not hasattr(engine, "device"):
        return {}
    warning = engine.take_device_warning()
    return {"device": engine.device, **({"device_warning": warning} if warning else {})}


def with_state(engine, arrays):
    return {**arrays, **({"state": engine.state()} if _has_state(engine) else {})}


def _answer_exact(*arguments):
    import exact_requests  # not at the top: it needs numpy

    return exact_requests.answer(*arguments)


def _answer(channel, engine, make_engine, header, arrays):
    """Answers one request; returns the engine."""
    if header["type"] == "init":
        check_shape(arrays, "positions", (len(header["elements"]), 3))
        engine = make_engine(header, arrays["positions"])
        _begin(channel, engine)
    elif header["type"] == "update" and engine is not None:
        fields, grid = engine.update(**solvent_of(engine.points_angstrom(), engine, header, arrays))
        fields = {**fields, **memory_of(engine), **device_of(engine)}
        answer = {} if grid is None else {"grid": grid}
        channel.send("result", with_state(engine, answer), **fields)
    elif header["type"] == "restore" and engine is not None and _has_state(engine):
        take_row(arrays, "state", engine.restore, "the state does not fit this calculation")
        channel.send("restored")
    elif engine is None or not _is_exact(engine) or not _answer_exact(channel, engine, header, arrays):
        raise WorkerError("failure", f"unexpected request: {header['type']}")
    return engine


def serve(channel, worker, version, make_engine, libraries=()):
    """Answers requests until `quit` or the end of the input. Returns the exit status.

    make_engine(header, positions_angstrom) returns an object with atom_count, expected_electrons,
    basis_functions, points_angstrom() -> (3, p) and update(potential, nuclear_potential, charges)
    -> (fields, grid); potentials come in Hartree per charge, charges as SolventCharges. An engine
    whose updates depend on earlier ones may have state(), after an update, -> (s,), all that they
    depend on, and restore(state), which raises ValueError where it does not fit; empty: none yet.
    An engine that can run on a GPU has device, a text, and take_device_warning() -> text or "".
    An engine for the exact ensemble has `exact` (see exact_ensemble.py), configuration(...), whose
    arguments are update()'s, and hold(). It may have coarse_points_angstrom(), fewer points, and take
    `coarse = True` for a configuration whose potential is given there.

    libraries: names of the distributions that the engine can use, of which those there are are told.
    """
    channel.send(
        "hello",
        protocol=PROTOCOL_VERSION,
        worker=worker,
        version=version,
        libraries=library_versions(libraries),
    )
    engine = None
    while True:
        try:
            header, arrays = channel.receive()
            if header is None or header["type"] == "quit":
                return 0
            if header["type"] == "init" and engine is not None:
                engine = None  # another molecule: this one makes room
                _give_memory_back()
            engine = _answer(channel, engine, make_engine, header, arrays)
        except WorkerError as error:
            print(f"error ({error.reason}): {error}", file=sys.stderr, flush=True)
            channel.send("error", reason=error.reason, message=str(error))
            if error.reason in ("failure", "device-server"):
                return 1
        except Exception as error:  # noqa: BLE001  whatever the QM program throws must reach the user
            traceback.print_exc()
            sys.stderr.flush()
            channel.send("error", reason="failure", message=f"{type(error).__name__}: {error}")
            return 1
