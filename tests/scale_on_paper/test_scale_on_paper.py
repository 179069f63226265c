#!/usr/bin/env python3
"""What the replay is told of a machine, and what is made of its result.

  test_scale_on_paper.py [replay_chains]

With the program as an argument the replay itself is tested; status 77 where it has not been built."""

import pathlib
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import simulated_machine as machines
from scale_on_paper import Assumptions, Case, analyse, cell, markdown, replay

PERFMODELS = pathlib.Path(__file__).resolve().parents[2] / "perfmodels"
BUS = machines.Bus(13000, 12000, 15, 13)


class SimulatedMachine(unittest.TestCase):
    def test_cores_are_shared_out(self):
        machine = machines.Machine(gpus=2, cores=16)
        self.assertEqual(machine.cpu_workers, 13)
        self.assertEqual(machine.devices, 2 * machines.LANES)

    def test_platform_has_a_way_to_and_from_each_device(self):
        machine = machines.Machine(gpus=4, cores=32)
        root = ElementTree.fromstring(machines.platform_xml(machine, BUS))
        hosts = [host.get("id") for host in root.iter("host")]
        routes = {(r.get("src"), r.get("dst")): r[0].get("id") for r in root.iter("route")}
        links = {link.get("id"): link.get("bandwidth") for link in root.iter("link")}
        devices = [name for name in hosts if name.startswith("OpenCL")]
        self.assertEqual(len(devices), 4 * machines.LANES)
        # StarPU binds a thread for each device and each worker to a core.
        cores = sum(name.startswith("CPU") for name in hosts)
        self.assertGreaterEqual(cores, machine.cpu_workers + machine.devices)
        for device in devices:
            self.assertEqual(links[routes["RAM", device]], "13000000000Bps")
            self.assertEqual(links[routes[device, "RAM"]], "12000000000Bps")
        lanes_of_one = {routes["RAM", f"OpenCL{i}"] for i in range(machines.LANES)}
        self.assertEqual(len(lanes_of_one), 1)
        self.assertEqual(len({routes["RAM", device] for device in devices}), 4)

    def test_bus_of_the_calibrated_machine(self):
        bus = machines.Bus.read(PERFMODELS / "starpu-1.4" / "bus")
        self.assertAlmostEqual(bus.to_device_mb_per_s, 13025.34)
        self.assertAlmostEqual(bus.from_device_us, 12.51922)


class Models(unittest.TestCase):
    def test_sizes_between_and_beyond(self):
        known = {5: 10.0, 9: 30.0}  # work 2 and 4
        cpu = machines.filled(known, machines.CPU_TYPE)
        self.assertAlmostEqual(cpu[5], 10)
        self.assertAlmostEqual(cpu[7], 10 + 20 * (2**1.5 - 2) / 2)
        self.assertAlmostEqual(cpu[1], 5)
        self.assertAlmostEqual(cpu[13], 60)
        device = machines.filled(known, machines.OPENCL_TYPE)
        self.assertAlmostEqual(device[1], 10)
        self.assertAlmostEqual(device[13], 60)

    def test_a_model_is_read_as_it_was_written(self):
        model = {machines.OPENCL_TYPE: {3: 1.5, 40: 2000.0}, machines.CPU_TYPE: {7: 12.25}}
        self.assertEqual(machines.read_model(machines.format_model(model)), model)

    def test_every_model_of_the_calibrated_machine_gets_every_size(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = machines.Machine(1, 16)
            machines.write_machine(machine, PERFMODELS, pathlib.Path(folder))
            path = pathlib.Path(folder) / "codelets" / "45"
            text = (path / f"starpmc_sample_windows_mixed.{machine.name}").read_text()
            model = machines.read_model(text)
            self.assertEqual(set(model), {machines.CPU_TYPE, machines.OPENCL_TYPE})
            # R's tasks, as perfmodels/ has them: 16 windows.
            self.assertAlmostEqual(model[machines.OPENCL_TYPE][118], 2727.1, places=1)
            self.assertEqual(len(model[machines.CPU_TYPE]), machines.BUCKETS - 1)


def result(chains: int, span: float, workers: int, gpu_seconds: float, cycles: int = 2) -> dict:
    """Of chains that begin together, with updates of 2.2 s."""
    chain = {"begin": 10.0, "end": 10 + span, "engine": 2.2 * cycles, "sampling": 1.0}
    return {
        "simulated_seconds": 10 + span,
        "cpu_workers": workers,
        "opencl_workers": 2,
        "busy_seconds": {"cpu": {}, "opencl": {"a": gpu_seconds / 2, "b": gpu_seconds / 2}},
        "chains": [chain] * chains,
    }


class Report(unittest.TestCase):
    def test_latency(self):
        row = analyse(Case(1, 1, 16, 3), result(1, 4.6, 14, 0.3), Assumptions())
        self.assertAlmostEqual(row.seconds_per_million, 46)  # 2 cycles of 50,000 steps in 4.6 s
        self.assertEqual(row.limit, "QM latency")
        self.assertAlmostEqual(row.qm_core_share, 4.4 / (14 * 14.6))

    def test_more_chains_than_cores(self):
        row = analyse(Case(64, 1, 16, 3), result(64, 20.0, 14, 5), Assumptions())
        self.assertEqual(row.limit, "cores for QM")
        self.assertAlmostEqual(row.steps_per_second, 64 * 1e5 / 20)

    def test_bursts(self):
        """Chains that wait for GPUs which are idle most of the time."""
        together = result(64, 7.0, 126, 6)
        for chain in together["chains"]:
            chain["sampling"] = 9.0
        self.assertEqual(analyse(Case(64, 1, 128, 3), together, Assumptions()).limit, "GPUs, in bursts")

    def test_busy_gpus(self):
        row = analyse(Case(64, 1, 128, 3), result(64, 20.0, 126, 58), Assumptions())
        self.assertEqual(row.limit, "GPUs")
        steps = analyse(Case(8, 1, 16, 0), result(8, 0.2, 14, 0.39), Assumptions())
        self.assertEqual(steps.limit, "GPUs")
        self.assertEqual(cell(steps), "0.500 us; GPU 98 %; GPUs")

    def test_table(self):
        rows = [
            analyse(Case(1, gpus, 16, 3), result(1, span, 14, 0.3), Assumptions())
            for gpus, span in ((2, 4.7), (1, 4.6))
        ]
        lines = markdown(rows).splitlines()
        self.assertEqual(lines[0], "| chains | cores | 1 GPU | 2 GPUs |")
        self.assertTrue(lines[2].startswith("| 1 | 16 | 46 s; "))
        self.assertIn("| 47 s; ", lines[2])


PROGRAM: pathlib.Path | None = None


class Replay(unittest.TestCase):
    """Against what was measured with one H200 (src/bench/README.md: R, 1 and 4 chains)."""

    def microseconds_per_step(self, chains: int) -> float:
        assumptions = Assumptions(interval=100_000, host_seconds_per_step=0.0)
        case = Case(chains, 1, 16, 0)
        with tempfile.TemporaryDirectory() as folder:
            outcome = replay(PROGRAM, case, assumptions, pathlib.Path(folder))
        return 1e6 / analyse(case, outcome, assumptions).steps_per_second

    def test_steps(self):
        self.assertAlmostEqual(self.microseconds_per_step(1), 0.96, delta=0.06)
        self.assertAlmostEqual(self.microseconds_per_step(4), 0.48, delta=0.05)

    def test_updates_wait_for_cores(self):
        assumptions = Assumptions(interval=1000, update_seconds=1, first_update_seconds=1)
        case = Case(5, 1, 4, 2)
        with tempfile.TemporaryDirectory() as folder:
            outcome = replay(PROGRAM, case, assumptions, pathlib.Path(folder))
        self.assertEqual(outcome["cpu_workers"], 2)
        self.assertEqual(sum(chain["engine"] for chain in outcome["chains"]), 10)
        last = max(chain["end"] for chain in outcome["chains"])
        self.assertGreater(last, 5)  # ten seconds of updates on two cores
        self.assertLess(last, 6.6)


if __name__ == "__main__":
    fast = [SimulatedMachine, Models, Report]
    wanted = fast
    if len(sys.argv) > 1:
        PROGRAM, wanted = pathlib.Path(sys.argv[1]), [Replay]
        if not PROGRAM.exists():
            print(f"skipped: there is no {PROGRAM}; tests/scale_on_paper/run builds it")
            sys.exit(77)
    loader = unittest.TestLoader()
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(test) for test in wanted)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())
