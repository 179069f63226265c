"""Energy that devices take: RAPL counters of the processor packages, NVML of NVIDIA GPUs.

A meter is read in a thread while something else runs; the mean power of any span of that time can be
asked for afterwards.
"""

import contextlib
import ctypes
import threading
import time
from pathlib import Path

INTERVAL = 0.015  # seconds: 66.7 Hz, as Miranda et al. read power
POWERCAP = Path("/sys/class/powercap")


class NoReading(Exception):
    """Why there is none."""


class Rapl:
    """Joules of all processor packages since the first reading."""

    def __init__(self, powercap=POWERCAP):
        # intel-rapl:0 is a package (of AMD processors, too), intel-rapl:0:0 a part of it
        folders = [f for f in sorted(powercap.glob("intel-rapl:*")) if f.name.count(":") == 1]
        if not folders:
            raise NoReading(f"no RAPL counters in {powercap}")
        # psys counts the packages again
        self._folders = [f for f in folders if (f / "name").read_text().startswith("package")]
        if not self._folders:
            raise NoReading(f"no package among the counters of {powercap}")
        self.name = "RAPL: " + ", ".join((f / "name").read_text().strip() for f in self._folders)
        self._last = [self._read(folder, "energy_uj") for folder in self._folders]
        self._range = [self._read(folder, "max_energy_range_uj") for folder in self._folders]
        self._sum = 0

    @staticmethod
    def _read(folder, file):
        try:
            return int((folder / file).read_text())
        except (OSError, ValueError):
            raise NoReading(f"{folder / file} may not be read (ask root)") from None

    def joules(self):
        for i, folder in enumerate(self._folders):
            now = self._read(folder, "energy_uj")
            # Beyond its range a counter begins again at 0.
            self._sum += now - self._last[i] + (self._range[i] if now < self._last[i] else 0)
            self._last[i] = now
        return 1e-6 * self._sum


class Nvml:
    """Joules of one NVIDIA GPU, by its own counter (Volta and later) or by its power, sampled."""

    def __init__(self, uuid, library="libnvidia-ml.so.1"):
        """uuid: of the OpenCL device, 32 hexadecimal digits; empty: it does not tell."""
        try:
            self._nvml = ctypes.CDLL(library)
        except OSError:
            raise NoReading(f"no {library}") from None
        try:
            self._start(uuid)
        except AttributeError as missing:  # a function
            raise NoReading(str(missing)) from None

    def _start(self, uuid):
        if status := self._nvml.nvmlInit_v2():
            raise NoReading(f"NVML does not start ({status})")
        self._device = self._find(uuid)
        name = ctypes.create_string_buffer(96)
        self._nvml.nvmlDeviceGetName(self._device, name, len(name))
        self.name = "NVML: " + name.value.decode()
        self._counts = self._counter() is not None
        if not self._counts:
            if self._watts() is None:
                raise NoReading(f"{self.name} gives no power readings")
            self.name += ", power sampled"
        self._sum, self._last = 0.0, time.monotonic()

    def _find(self, uuid):
        """By UUID: the PCI address is made up on virtual machines. A single GPU needs no name."""
        device, count = ctypes.c_void_p(), ctypes.c_uint()
        groups = (uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:])
        text = ("GPU-" + "-".join(groups)).encode()
        if uuid and self._nvml.nvmlDeviceGetHandleByUUID(text, ctypes.byref(device)) == 0:
            return device
        self._nvml.nvmlDeviceGetCount_v2(ctypes.byref(count))
        if count.value == 1 and not self._nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)):
            return device
        raise NoReading(f"none of NVML's {count.value} devices is the OpenCL device {uuid or '(no UUID)'}")

    def _counter(self):
        energy = ctypes.c_ulonglong()
        failed = self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._device, ctypes.byref(energy))
        return None if failed else 1e-3 * energy.value

    def _watts(self):
        power = ctypes.c_uint()
        failed = self._nvml.nvmlDeviceGetPowerUsage(self._device, ctypes.byref(power))
        return None if failed else 1e-3 * power.value

    def joules(self):
        if self._counts:
            return self._counter()
        now = time.monotonic()
        self._sum += (now - self._last) * (self._watts() or 0)
        self._last = now
        return self._sum


class Meter:
    """Reads a counter in a thread, within a `with`."""

    def __init__(self, counter):
        self._counter = counter
        self._readings = []  # (seconds since the epoch, joules)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def _read(self):
        joules = self._counter.joules()
        if joules is not None:
            self._readings.append((time.time(), joules))

    def _sample(self):
        while not self._stop.wait(INTERVAL):
            self._read()

    def __enter__(self):
        self._read()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        self._read()

    def mean_watts(self, began, ended):
        """Over the readings within the span; None where there are not two of them."""
        inside = [reading for reading in self._readings if began <= reading[0] <= ended]
        if len(inside) < 2:
            return None
        (first, before), (last, after) = inside[0], inside[-1]
        return (after - before) / (last - first)


class Meters:
    """Of all NVIDIA GPUs among machine.opencl_devices of bench.json, within a `with`; none where NVML is not.

    say(line): told of each that cannot be read.
    """

    def __init__(self, devices, say):
        self._meters = {}
        for device in devices:
            if device["is_cpu"]:
                continue
            try:
                self._meters[device["worker"]] = Meter(Nvml(device["uuid"]))
            except NoReading as why:
                say(f"no power of {device['worker']}: {why}")

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        for meter in self._meters.values():
            self._stack.enter_context(meter)
        return self

    def __exit__(self, *failure):
        return self._stack.__exit__(*failure)

    def watts(self, began, ended):
        """Of each, the mean over the span; None where there is none."""
        return {name: meter.mean_watts(began, ended) for name, meter in self._meters.items()}


def watts_text(watts):
    return "/".join("-" if w is None else f"{w:.0f}" for w in watts.values()) or "-"


def counter_of(result, devices):
    """Of what a case of bench.json ran on, or why there is none.

    devices: machine.opencl_devices of bench.json
    """
    try:
        if result["implementation"] != "opencl":
            return Rapl(), ""
        device = next((d for d in devices if d["worker"] == result["device"]), None)
        if device is None:
            return None, "several devices at once"
        return (Rapl() if device["is_cpu"] else Nvml(device["uuid"])), ""
    except NoReading as why:
        return None, str(why)
