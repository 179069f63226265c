"""Machines that do not exist, as StarPU's SimGrid mode reads them: a platform of hosts and links, the
bus calibration, and the performance models of one H200 with 16 cores, taken from perfmodels/."""

import pathlib
import re
from dataclasses import dataclass

MODELS_OF = "16cpu-avx3-nvidia_h200"
# Kernels of several chains overlap on a GPU: R takes 0.96 us a step with one chain and 0.48 us with
# four or eight (measured, src/bench/README.md). A simulated device runs one task at a time, so each
# GPU is two.
LANES = 2
PIPELINE = 4
"""Tasks under way on a GPU, as StarpuRuntime has it."""
CPU_TYPE, OPENCL_TYPE = 0, 2
BUCKETS = 160
# Not measured on that machine. R's quadrature (157,032 points, 500 waters): on a core as long as on
# one of an EPYC with AVX-512; on a GPU a guess that is rather long (its fp64 grid term: 0.25 ms).
GRID_POTENTIAL = {OPENCL_TYPE: {74: 1000.0}, CPU_TYPE: {66: 77600.0}}


@dataclass(frozen=True)
class Machine:
    gpus: int
    cores: int

    @property
    def name(self) -> str:
        return f"{self.gpus}-h200-{self.cores}-cores"

    @property
    def cpu_workers(self) -> int:
        """As StarpuRuntime leaves them: a core drives each GPU, one is for the chains' threads."""
        return self.cores - self.gpus - 1

    @property
    def devices(self) -> int:
        return self.gpus * LANES

    def environment(self, folder: pathlib.Path) -> dict[str, str]:
        return {
            "STARPU_HOSTNAME": self.name,
            "STARPU_PERF_MODEL_DIR": f"{folder}/",
            "STARPU_HOME": str(folder),
            "STARPU_NCPU": str(self.cpu_workers),
            "STARPU_NOPENCL": str(self.devices),
            "STARPU_SCHED": "dmda",
            "STARPU_SILENT": "1",
            "STARPU_OPENCL_PIPELINE": str(PIPELINE // LANES),
            "STARPU_PERF_MODEL_HOMOGENEOUS_OPENCL": "1",
        }


def platform_xml(machine: Machine, bus: "Bus") -> str:
    """Each GPU has a link of its own to the main memory, which its lanes share. The chains' threads, on
    MAIN, run on any core that does not drive a GPU."""
    lines = [
        "<?xml version='1.0'?>",
        "<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>",
        '<platform version="4.1">',
        '<config id="General">',
        '<prop id="network/TCP-gamma" value="-1"/>',
        '<prop id="network/latency-factor" value="1"/>',
        '<prop id="network/bandwidth-factor" value="1"/>',
        '<prop id="network/crosstraffic" value="0"/>',
        '<prop id="network/weight-S" value="0.0"/>',
        "</config>",
        '<zone id="AS0" routing="Full">',
        f'<host id="MAIN" speed="1f" core="{machine.cores - machine.gpus}"/>',
    ]
    # StarPU wants a host for the thread that drives a device; a second lane costs no core.
    hosts = machine.cores + machine.devices - machine.gpus
    lines += [f'<host id="CPU{i}" speed="2000000000f"/>' for i in range(hosts)]
    for device in range(machine.devices):
        lines.append(
            f'<host id="OpenCL{device}" speed="2000000000f"><prop id="model" value="NVIDIA H200"/>'
            f'<prop id="memsize" value="{150109880320 // LANES}"/></host>'
        )
    lines.append('<host id="RAM" speed="1f"/>')
    for gpu in range(machine.gpus):
        for way, bandwidth, latency in (
            ("to", bus.to_device_mb_per_s, bus.to_device_us),
            ("from", bus.from_device_mb_per_s, bus.from_device_us),
        ):
            lines.append(
                f'<link id="{way}-{gpu}" bandwidth="{bandwidth * 1e6:.0f}Bps" '
                f'latency="{latency * 1e-6:.9f}s"/>'
            )
    for device in range(machine.devices):
        gpu = device // LANES
        for source, target, way in (
            ("RAM", f"OpenCL{device}", "to"),
            (f"OpenCL{device}", "RAM", "from"),
        ):
            lines.append(
                f'<route src="{source}" dst="{target}" symmetrical="NO">'
                f'<link_ctn id="{way}-{gpu}"/></route>'
            )
    return "\n".join([*lines, "</zone>", "</platform>", ""])


@dataclass(frozen=True)
class Bus:
    to_device_mb_per_s: float
    from_device_mb_per_s: float
    to_device_us: float
    from_device_us: float

    @classmethod
    def read(cls, folder: pathlib.Path) -> "Bus":
        """From StarPU's calibration of a machine with one device: to and from its memory."""

        def two_ways(kind: str) -> tuple[float, float]:
            lines = (folder / f"{MODELS_OF}.{kind}").read_text().splitlines()
            rows = [line.split() for line in lines if not line.startswith("#")]
            return float(rows[0][1]), float(rows[1][0])

        return cls(*two_ways("bandwidth"), *two_ways("latency"))

    def matrix(self, devices: int, to_device: float, from_device: float, between: float) -> str:
        rows = [[0.0] + [to_device] * devices]
        for row in range(devices):
            others = [0.0 if column == row else between for column in range(devices)]
            rows.append([from_device, *others])
        return "# simulated\n" + "".join(
            "\t".join(f"{value:e}" for value in row) + "\n" for row in rows
        )

    def write(self, folder: pathlib.Path, machine: Machine) -> None:
        """Between devices data go through the main memory."""
        half = 1 / (1 / self.to_device_mb_per_s + 1 / self.from_device_mb_per_s)
        both = self.to_device_us + self.from_device_us
        # The scheduler expects as many transfers at once as there are devices, which lanes are not.
        bandwidth = tuple(
            LANES * value for value in (self.to_device_mb_per_s, self.from_device_mb_per_s, half)
        )
        latency = self.to_device_us, self.from_device_us, both
        for kind, values in (("bandwidth", bandwidth), ("latency", latency)):
            (folder / f"{machine.name}.{kind}").write_text(self.matrix(machine.devices, *values))
        (folder / f"{machine.name}.platform.v4.xml").write_text(platform_xml(machine, self))
        # StarPU looks for the other files where this one is, and does not read it.
        (folder / f"{machine.name}.config").write_text("# simulated\n")


Model = dict[int, dict[int, float]]
"""Microseconds by type of device and bucket of work (src/runtime/task_history.hpp)."""


def read_model(text: str) -> Model:
    """The faster kind of implementation of each type of device, every size with a sample."""
    model: Model = {}
    device_type = None
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("# device type"):
            device_type = int(next(lines))
        fields = line.split()
        if device_type is None or len(fields) != 8 or not re.fullmatch("[0-9a-f]{8}", fields[0]):
            continue
        bucket, mean, samples = int(fields[0], 16), float(fields[3]), int(fields[7])
        if samples > 0:
            known = model.setdefault(device_type, {})
            known[bucket] = min(mean, known.get(bucket, mean))
    return model


def work(bucket: int) -> float:
    return 2 ** ((bucket - 1) / 4)


def filled(known: dict[int, float], device_type: int) -> dict[int, float]:
    """Every size, as the program expects it between and beyond those measured: straight lines, and
    in proportion; but a device takes no less for little work than for the least measured."""

    def expected(bucket: int) -> float:
        below = max((b for b in known if b <= bucket), default=None)
        above = min((b for b in known if b >= bucket), default=None)
        if below is None:
            share = 1.0 if device_type == OPENCL_TYPE else work(bucket) / work(above)
            return known[above] * share
        if above is None:
            return known[below] * work(bucket) / work(below)
        if below == above:
            return known[below]
        share = (work(bucket) - work(below)) / (work(above) - work(below))
        return known[below] + share * (known[above] - known[below])

    return {bucket: expected(bucket) for bucket in range(1, BUCKETS)}


def format_model(model: Model) -> str:
    """A performance model in StarPU 1.4's format."""
    lines = ["# Performance Model Version", "45", "# number of combinations", str(len(model))]
    for device_type, durations in model.items():
        lines += ["# number of types devices", "1", "# device type", str(device_type)]
        lines += ["# device id", "0", "# number of cores", "1", "# number of implementations", "1"]
        lines += ["# number of entries", str(len(durations)), "# regression"]
        lines += ["0\t0\t0\t0\tnan\tnan\t0\t0\t0", "# a b c", "nan\tnan\tnan", "# not multiple", "0"]
        lines.append("# hash size flops mean dev sum sum2 n")
        for bucket, mean in durations.items():
            sums = f"{100 * mean:e}\t{100 * mean * mean:e}\t100"
            lines.append(f"{bucket:08x}\t{bucket}\t{0:e}\t{mean:e}\t{0:e}\t{sums}")
        lines.append("")
    return "\n".join(lines)


def write_machine(machine: Machine, perfmodels: pathlib.Path, folder: pathlib.Path) -> None:
    """All that StarPU needs to simulate a machine."""
    source = perfmodels / "starpu-1.4"
    codelets = folder / "codelets" / "45"
    for made in (codelets, folder / "bus", folder / "debug"):
        made.mkdir(parents=True, exist_ok=True)
    models = {
        path.name.split(".")[0]: read_model(path.read_text())
        for path in (source / "codelets" / "45").glob(f"starpmc_*.{MODELS_OF}")
    }
    models["starpmc_grid_potential_mixed"] = GRID_POTENTIAL
    for name, model in models.items():
        every_size = {kind: filled(known, kind) for kind, known in model.items()}
        (codelets / f"{name}.{machine.name}").write_text(format_model(every_size))
    Bus.read(source / "bus").write(folder / "bus", machine)
