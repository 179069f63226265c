"""The worker's arrays on a GPU, by CuPy. Nothing else of the worker imports it."""

import os

import cupy
from array_backend import DeviceBackend
from cupy_backends.cuda.api import driver, runtime
from cupy_backends.cuda.libs import cublas, cusolver
from device_choice import NoDevice


class CupyBackend(DeviceBackend):
    """One reading of the operands where an expression of arrays would write a product first."""

    # Where memory runs short, libraries fail in ways of their own.
    failures = (
        MemoryError,  # CuPy's OutOfMemoryError is one
        runtime.CUDARuntimeError,
        driver.CUDADriverError,
        cublas.CUBLASError,
        cusolver.CUSOLVERError,
    )

    def __init__(self):
        super().__init__(cupy)
        self._row_products = cupy.ReductionKernel(
            "T x, T y", "T z", "x * y", "a + b", "z = a", "0", "starpmc_row_products"
        )
        self._row_squares = cupy.ReductionKernel(
            "T x", "T z", "x * x", "a + b", "z = a", "0", "starpmc_row_squares"
        )

    def row_products(self, values, half):
        return self._row_products(values, half[None], axis=2)

    def combined_rows(self, weights, values):
        return self._row_products(weights[:, :, None], values, axis=0)

    def row_squares(self, values):
        return self._row_squares(values, axis=1)

    def fused(self, function):
        return cupy.fuse(function)

    def release(self):
        cupy.get_default_memory_pool().free_all_blocks()

    def memory_bytes(self):
        free, total = cupy.cuda.runtime.memGetInfo()
        return free + cupy.get_default_memory_pool().free_bytes(), total


def open_device():
    """(CupyBackend, what the device is called). Raises NoDevice, saying why."""
    try:
        count = cupy.cuda.runtime.getDeviceCount()
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode() if count else ""
        # Libraries that only a first use loads: whatever is missing is better known now.
        probe = cupy.eye(2) @ cupy.eye(2)
        cupy.linalg.eigh(probe)
    except Exception as failure:  # drivers and loaders have errors of their own
        raise NoDevice(f"CuPy {cupy.__version__} cannot use a GPU: {failure}") from failure
    if not count:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        hidden = "" if visible is None else f" (CUDA_VISIBLE_DEVICES={visible})"
        raise NoDevice(f"CuPy {cupy.__version__} sees no GPU{hidden}")
    return CupyBackend(), name
