"""Where the worker's SCF runs: qm.device. Decided once, when the worker starts.

All workers of a run are told the same, and this depends on nothing that changes while they start: not
on what the device has free at the moment, which a worker that finds too little of it says and ends.
"""

import contextlib
import os
import signal
import sys

from array_backend import HOST
from worker_protocol import WorkerError, bad_request

CPU = "CPU"
CHOICES = ("auto", "cpu", "gpu")
REMEDY = (
    f"install CuPy for your CUDA ({sys.executable} -m pip install cupy-cuda12x, or cupy-cuda13x)"
)
# From here on `auto` takes a GPU: acetone's 86 functions take a sixth of a core's time there, and below
# an update takes little of a run.
LEAST_FUNCTIONS = 60
# The rest is for CUDA itself and for the sampling's grids and tables, on the same device.
DEVICE_SHARE = 0.8
# Of which the workers that help with a reference, and are not planned for, leave this.
LEAST_LEFT_FREE = 0.1
# What the program sets where the GPU is used by way of an MPS server of its own, which a worker can do
# without: it asks to be started again.
OWN_SERVER = "STARPMC_OWN_MPS"
# All contexts of a run together, which the driver makes one after the other.
CONTEXT_SECONDS = 120


class NoDevice(Exception):
    """Says why there is none, and what can be done."""


class DeviceFailure(NoDevice):
    """CUDA's: without a server between there may be one."""


def server_lost(reason):
    """What the program is told where that may be the server's fault; None: there is no server."""
    if not os.environ.get(OWN_SERVER):
        return None
    return WorkerError("device-server", f"{reason}; QM workers are started again without it")


@contextlib.contextmanager
def time_limit_of_server(seconds=CONTEXT_SECONDS):
    """A server that hangs would let its clients wait for ever, and deaf. One that a signal has ended is
    started again without it."""
    if not os.environ.get(OWN_SERVER):
        yield
        return
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def say(text):
    print(text, file=sys.stderr, flush=True)


def _open(number):
    try:
        import cupy_backend
    except ImportError as missing:
        raise NoDevice(f"{missing} ({sys.executable}); {REMEDY}") from missing
    return cupy_backend.open_device(number)


def asks_for_device(request, why_not, functions):
    """Whether open_backend() will look for one, with the same arguments."""
    choice = request.get("device", "cpu")
    return not why_not and (choice == "gpu" or (choice == "auto" and functions >= LEAST_FUNCTIONS))


def open_backend(request, why_not, functions, needed_bytes, open_device=_open):
    """(backend, what is said of it: a GPU's name, or CPU and where need be why).

    why_not: what keeps the calculation off a GPU; empty: nothing. needed_bytes: at most, of the device.

    Raises WorkerError where the user wants a GPU and it cannot be had, and where the server by way of
    which it is used cannot give it.
    """
    choice = request.get("device", "cpu")
    if choice not in CHOICES:
        raise bad_request(f"qm.device = {choice}: one of {', '.join(CHOICES)}")
    if choice == "cpu":
        return HOST, CPU
    if choice == "auto" and not why_not and functions < LEAST_FUNCTIONS:
        why_not = f"{functions} basis functions; from {LEAST_FUNCTIONS} on qm.device = auto takes a GPU"
    if why_not:
        say(f"the SCF runs on the CPU: {why_not}")
        return HOST, f"{CPU} ({why_not})"
    try:
        backend, name = open_device(request.get("device_number", 0))
        _require_room(backend, request.get("device_workers", 1), needed_bytes)
    except NoDevice as reason:
        if isinstance(reason, DeviceFailure) and (lost := server_lost(reason)):
            raise lost from reason
        if choice == "gpu" and request.get("device_required", True):
            raise bad_request(f"qm.device = gpu, but {reason}") from reason
        say(f"the SCF runs on the CPU: {reason}")
        return HOST, f"{CPU} ({reason})"
    return backend, name


def _require_room(backend, workers, needed_bytes):
    """For all of a run's workers on the device as it is when nobody uses it."""
    free, total = backend.memory_bytes()
    workers = -(-workers // backend.devices)  # they take turns
    if workers * needed_bytes > DEVICE_SHARE * total:
        lacking = f"{workers} of the QM workers find no room in its {total / 2**20:.0f} MiB of memory"
    elif needed_bytes > free - LEAST_LEFT_FREE * total:
        lacking = f"only {free / 2**20:.0f} of its {total / 2**20:.0f} MiB of memory are free"
    else:
        return
    raise NoDevice(
        f"the GPU has too little room for a QM worker's {needed_bytes / 2**20:.0f} MiB ({lacking}): take "
        "fewer chains or coarser grids (qm.scf-grid-radial, qm.grid-radial)"
    )
