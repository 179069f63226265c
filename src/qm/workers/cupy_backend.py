"""The worker's arrays on a GPU, by CuPy. Nothing else of the worker imports it."""

import os
import time

import cupy
import numpy
from array_backend import DeviceBackend
from cupy_backends.cuda.api import driver, runtime
from cupy_backends.cuda.libs import cublas, cusolver
from device_choice import DeviceFailure, say, time_limit_of_server

ADVICE = "nvidia-smi shows what there is; or set qm.device = cpu"
# A warp a point, so that neighbours read neighbours; every sum is in the same order each time.
ROW_PRODUCTS = r"""
extern "C" __global__ void starpmc_row_products(
    const Real* values, const Real* half, double* result, long long points, long long pitch, int functions,
    int components) {
  const long long point = (long long)blockIdx.x * blockDim.y + threadIdx.y;
  if (point >= points) return;
  const Real* row = half + point * functions;
  for (int c = 0; c < components; ++c) {
    const Real* other = values + (c * points + point) * functions;
    Real sum = 0;
    for (int f = threadIdx.x; f < functions; f += 32) sum += other[f] * row[f];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
    if (threadIdx.x == 0) result[c * pitch + point] = sum;
  }
}
"""
WARP, WARPS_PER_BLOCK = 32, 8
COMBINED_ROWS = """
const long long point = i / functions;
T sum = 0;
for (int c = 0; c < components; ++c) sum += weights[c * points + point] * values[c * points * functions + i];
combined = sum;
"""


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

    def __init__(self, devices):
        super().__init__(cupy)
        self.devices = devices
        self._row_products = {
            numpy.dtype(real): cupy.RawKernel(ROW_PRODUCTS, "starpmc_row_products", (f"-DReal={name}",))
            for real, name in ((numpy.float32, "float"), (numpy.float64, "double"))
        }
        self._combined_rows = cupy.ElementwiseKernel(
            "raw T weights, raw T values, int64 points, int32 functions, int32 components",
            "T combined",
            COMBINED_ROWS,
            "starpmc_combined_rows",
        )
        self._row_squares = cupy.ReductionKernel(
            "T x", "T z", "x * x", "a + b", "z = a", "0", "starpmc_row_squares"
        )

    def row_products(self, values, half, result):
        components, points, functions = values.shape
        values, half = cupy.ascontiguousarray(values), cupy.ascontiguousarray(half)
        sizes = numpy.int64(points), numpy.int64(result.strides[0] // result.itemsize)
        self._row_products[values.dtype](
            (-(-points // WARPS_PER_BLOCK),),
            (WARP, WARPS_PER_BLOCK),
            (values, half, result, *sizes, numpy.int32(functions), numpy.int32(components)),
        )

    def combined_rows(self, weights, values):
        components, points, functions = values.shape
        weights, values = cupy.ascontiguousarray(weights), cupy.ascontiguousarray(values)
        combined = cupy.empty((points, functions), values.dtype)
        return self._combined_rows(weights, values, points, functions, components, combined)

    def row_squares(self, values):
        return self._row_squares(values, axis=1)

    def fused(self, function):
        return cupy.fuse(function)

    def release(self):
        cupy.get_default_memory_pool().free_all_blocks()

    def memory_bytes(self):
        free, total = cupy.cuda.runtime.memGetInfo()
        return free + cupy.get_default_memory_pool().free_bytes(), total


def open_device(number):
    """(CupyBackend on GPU `number`, counted round; what it is called). Raises DeviceFailure, saying why."""
    name, begun = "", time.perf_counter()
    try:
        with time_limit_of_server():
            count = cupy.cuda.runtime.getDeviceCount()
            if count:
                cupy.cuda.Device(number % count).use()
                name = cupy.cuda.runtime.getDeviceProperties(number % count)["name"].decode()
                cupy.cuda.runtime.free(0)  # makes the context, which would hide in what follows
        context = time.perf_counter()
        # Libraries that only a first use loads: whatever is missing is better known now.
        probe = cupy.eye(2) @ cupy.eye(2)
        cupy.linalg.eigh(probe)
        libraries = time.perf_counter()
    except Exception as failure:  # drivers and loaders have errors of their own
        raise DeviceFailure(f"CuPy {cupy.__version__} cannot use a GPU: {failure}; {ADVICE}") from failure
    if not count:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        hidden = "" if visible is None else f" (CUDA_VISIBLE_DEVICES={visible})"
        raise DeviceFailure(f"CuPy {cupy.__version__} sees no GPU{hidden}; {ADVICE}")
    say(f"GPU: context {context - begun:.2f} s, libraries {libraries - context:.2f} s")
    return CupyBackend(count), name
