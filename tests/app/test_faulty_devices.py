"""OpenCL devices that are missing, or for which a kernel does not build: a warning, no other results.

    python3 test_faulty_devices.py PROGRAM
"""

import re
import shutil

import program
import test_faults

BESIDE = {"STARPU_NCPU": 1, "STARPU_OPENCL_ON_CPUS": 1}


class Opencl(program.TestCase):
    """PoCL's device beside a CPU worker."""

    def setUp(self):
        super().setUp()
        if missing := program.opencl_missing():
            self.skipTest(missing)
        density = {"engine": "frozen", "grid_file": program.DATA / "small/small.grid"}
        self.config = test_faults.write_run(self.folder / "test.cfg", density, steps=600)

    def start(self, name, *options, **env):
        return program.start(
            "run", self.config, "--output.folder", self.folder / name, *options,
            env=BESIDE | env,
        )  # fmt: skip

    def summary(self, name):
        return program.json.loads((self.folder / name / "summary.json").read_text())

    def digests(self, name):
        keys = ("decisions_sha256", "final_coordinates_sha256")
        return [self.summary(name)[key] for key in keys]

    def workers(self, name):
        return [worker["worker"] for worker in self.summary(name)["worker_tasks"]]

    def expect_elsewhere(self, result, *parts):
        """A warning on the terminal and in the log; the CPU gives what it gives alone."""
        self.assertEqual(result.returncode, 0, result.stderr)
        warnings = re.findall(r"(?m)^starpmc: warning: .*OpenCL.*$", result.stderr)
        self.assertEqual(len(warnings), 1, result.stderr)
        log = (self.folder / "out" / "run.log").read_text()
        for part in parts:
            self.assertIn(part, result.stderr)
            self.assertIn(part, log)
        used = {timing["implementation"] for timing in self.summary("out")["codelet_timings"]}
        self.assertNotIn("opencl", used)
        alone = self.start("alone", STARPU_NOPENCL=0)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertNotIn("OpenCL", alone.stderr)
        self.assertEqual(self.digests("out"), self.digests("alone"))

    def broken_kernels(self):
        kernels = self.folder / "kernels"
        for part in ("opencl", "common"):
            shutil.copytree(program.REPOSITORY / "kernels" / part, kernels / part)
        with open(kernels / "opencl" / "qmmm_coulomb_grid.cl", "a") as file:
            file.write("\nthis is no OpenCL;\n")
        return kernels

    def lying_kernels(self, file, right, wrong):
        """Kernels that compute something else than the program's."""
        kernels = self.folder / "kernels"
        for part in ("opencl", "common"):
            shutil.copytree(program.REPOSITORY / "kernels" / part, kernels / part)
        path = kernels / "opencl" / file
        text = path.read_text()
        self.assertIn(right, text)
        path.write_text(text.replace(right, wrong))
        return kernels

    def test_inaccurate_roots(self):
        """Off by 5e-7, eight units in the last place: no bound on an energy's error allows for it."""
        kernels = self.lying_kernels(
            "pair_functions.h", "return (real)1 / sqrt(r2);", "return (real)1.0000005 / sqrt(r2);"
        )
        result = self.start("out", "--run.precision", "mixed", STARPMC_KERNELS=kernels)
        self.expect_elsewhere(result, "OpenCL device", "gets no work", "1/sqrt(", "one by one")

    def test_wrong_energies(self):
        kernels = self.lying_kernels(
            "mm_row.h",
            "sum->coulomb += charge * ROW(shifted_force)(constants, r2, inverse_r);",
            "sum->coulomb += 1.01f * charge * ROW(shifted_force)(constants, r2, inverse_r);",
        )
        result = self.start("out", STARPMC_KERNELS=kernels)
        self.expect_elsewhere(result, "OpenCL device", "gets no work", "test window")

    def test_wrong_places(self):
        kernels = self.lying_kernels("propose.h", "rotate_site(pose, reference, displacement);",
                                     "rotate_site(pose, reference, displacement);"
                                     " displacement[0] += 1e-3;")  # fmt: skip
        result = self.start("out", STARPMC_KERNELS=kernels)
        self.expect_elsewhere(result, "OpenCL device", "gets no work", "test window")

    def test_kernel_does_not_build(self):
        result = self.start("out", STARPMC_KERNELS=self.broken_kernels())
        self.expect_elsewhere(result, "OpenCL device", "gets no work", "error:")
        device = next(worker for worker in self.workers("out") if "OpenCL" in worker)
        self.assertIn(device, result.stderr)

    def test_kernel_does_not_build_and_nothing_else_may_work(self):
        result = self.start(
            "out", "--run.implementation", "opencl", STARPMC_KERNELS=self.broken_kernels()
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        for part in ("run.implementation is opencl", "OpenCL device", "gets no work", "error:"):
            self.assertIn(part, result.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_missing(self):
        nowhere = self.folder / "no-vendors"
        result = self.start("out", OCL_ICD_VENDORS=nowhere)
        self.expect_elsewhere(result, "STARPU_OPENCL_ON_CPUS", "there is none", str(nowhere))
        self.assertFalse([worker for worker in self.workers("out") if "OpenCL" in worker])

    def test_one_of_several_is_missing(self):
        result = self.start("out", STARPU_NOPENCL=2)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("STARPU_NOPENCL asks for 2 OpenCL devices, there are 1", result.stderr)

    def test_missing_and_nothing_else_may_work(self):
        nowhere = self.folder / "no-vendors"
        result = self.start("out", "--run.implementation", "opencl", OCL_ICD_VENDORS=nowhere)
        self.assertEqual(result.returncode, 1, result.stderr)
        for part in ("run.implementation is opencl", "there is none", str(nowhere)):
            self.assertIn(part, result.stderr)
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    program.main()
