"""Where the worker's SCF runs: qm.device. Decided once, when the worker starts."""

import sys

from array_backend import HOST
from worker_protocol import bad_request

CPU = "CPU"
CHOICES = ("auto", "cpu", "gpu")
REMEDY = (
    f"install CuPy for your CUDA ({sys.executable} -m pip install cupy-cuda12x, or cupy-cuda13x), or "
    "set qm.device to cpu or auto"
)


class NoDevice(Exception):
    """Says why there is none."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def _open():
    try:
        import cupy_backend
    except ImportError as missing:
        raise NoDevice(f"{missing} ({sys.executable})") from missing
    return cupy_backend.open_device()


def open_backend(choice, why_not, open_device=_open):
    """(backend, what is said of it: a GPU's name, or CPU and where need be why).

    why_not: what keeps the calculation off a GPU; empty: nothing.

    Raises WorkerError where the user wants a GPU and there is none.
    """
    if choice not in CHOICES:
        raise bad_request(f"qm.device = {choice}: one of {', '.join(CHOICES)}")
    if choice == "cpu":
        return HOST, CPU
    try:
        backend, name = open_device()
    except NoDevice as reason:
        if choice == "gpu":
            raise bad_request(f"qm.device = gpu, but {reason}; {REMEDY}") from reason
        say(f"qm.device = auto: the CPU, for {reason}")
        return HOST, CPU
    if why_not:
        say(f"the SCF runs on the CPU: {why_not}")
        return HOST, f"{CPU} ({why_not})"
    return backend, name
