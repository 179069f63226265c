"""OpenCL devices that are missing, for which a kernel does not build, or that fail in the midst of
a run: a warning, no other results.

    python3 test_faulty_devices.py PROGRAM LIBFAILING_OPENCL.so
"""

import re
import shutil
import sys

import program
import test_faults

FAILING_OPENCL = sys.argv.pop(2) if len(sys.argv) > 2 and sys.argv[2].endswith(".so") else None

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

    def lying_kernels(self, file, right, wrong, folder="opencl"):
        """Kernels that compute something else than the program's."""
        kernels = self.folder / "kernels"
        for part in ("opencl", "common"):
            shutil.copytree(program.REPOSITORY / "kernels" / part, kernels / part)
        path = kernels / folder / file
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

    def test_contracted_response(self):
        """A compiler's liberty that no bound allows for: a product and a sum in one rounding."""
        kernels = self.lying_kernels(
            "reference_field.h",
            "sum += memory->node_weights[n] * response_coefficient(own + memory->node_places[n]);",
            "sum = fma(memory->node_weights[n], response_coefficient(own + memory->node_places[n]), sum);",
        )
        result = self.start("out", STARPMC_KERNELS=kernels)
        self.expect_elsewhere(result, "OpenCL device", "gets no work", "same bits", "response")

    def test_contracted_potential(self):
        kernels = self.lying_kernels(
            "exact_pairs.h",
            "const real_t remaining = REAL(1.0) - r * inverse_cutoff;",
            "const real_t remaining = fma(-r, inverse_cutoff, REAL(1.0));",
            folder="common",
        )
        result = self.start("out", STARPMC_KERNELS=kernels)
        self.expect_elsewhere(result, "OpenCL device", "gets no work", "same bits", "potential")

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

    def test_no_context(self):
        """As of NVIDIA's devices under MPS."""
        env = self.failing("context") | {"STARPU_OPENCL_ON_CPUS": 0}
        result = self.start("out", **env, CUDA_MPS_PIPE_DIRECTORY="/nowhere/pipes")
        parts = ("OpenCL device", "gets no work", "makes no context", "-9999", "CUDA_MPS_PIPE_DIRECTORY")
        self.expect_elsewhere(result, *parts)
        self.assertFalse([worker for worker in self.workers("out") if "OpenCL" in worker])
        result = self.start("only", "--run.implementation", "opencl", **env)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("run.implementation is opencl", result.stderr)
        self.assertIn("makes no context", result.stderr)
        self.assertNotIn("CUDA_MPS_PIPE_DIRECTORY", result.stderr)
        self.assertFalse((self.folder / "only").exists())
        # StarPU would try those, too, that it is not to use, where it knows nothing of the machine yet.
        for variables in ({}, {"STARPU_NOPENCL": 0, "CUDA_MPS_PIPE_DIRECTORY": "/nowhere/pipes"}):
            home = self.folder / f"home-{len(variables)}"
            home.mkdir()
            said = program.succeed("info", env=env | {"STARPU_HOME": home} | variables).stdout
            self.assertEqual("makes no context" in said, not variables, said)

    def failing(self, how, after=20):
        if FAILING_OPENCL is None:
            self.skipTest("no libfailing_opencl.so was given")
        return program.failing_opencl(FAILING_OPENCL, how, after)

    def expect_continued(self, how, *parts, options=(), **env):
        """The device works for part of the run; the rest is made without it, to the same bits."""
        # Both kinds of worker are tried, whatever is known of them, so that the device gets some windows.
        tried = {"STARPU_CALIBRATE": 2}
        variables = self.failing(how) | tried | env
        result = self.start("out", "--sampling.window", 20, *options, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        for part in ("OpenCL 0", "has failed", "going on without it", *parts):
            self.assertIn(part, result.stderr)
        log = (self.folder / "out" / "run.log").read_text()
        self.assertIn("going on without it", log)
        self.assertIn("gets no work: it has failed before", log)
        alone = self.start("alone", *options, STARPU_NOPENCL=0)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual(self.digests("out"), self.digests("alone"))

    def test_kernels_are_refused(self):
        self.expect_continued("launch", "CL_OUT_OF_RESOURCES")

    def test_kernels_fail(self):
        self.expect_continued("kernel", "a kernel or a copy has failed: CL_OUT_OF_RESOURCES")

    def test_kernels_fail_one_at_a_time(self):
        """StarPU waits for each, and does not look at what has become of it."""
        self.expect_continued(
            "kernel", "a kernel or a copy has failed: CL_OUT_OF_RESOURCES",
            STARPU_OPENCL_PIPELINE=0,
        )  # fmt: skip

    def test_copies_fail(self):
        """StarPU aborts."""
        self.expect_continued("copy", "StarPU has given it up")

    TEAM = ("--run.tasks", "team")

    def test_a_member_of_a_team_refuses_kernels(self):
        """A core waits for the device's energies."""
        parts = ("team_windows", "CL_OUT_OF_RESOURCES")
        # Not before the first windows.
        self.expect_continued("launch", *parts, options=self.TEAM, FAILING_OPENCL_AFTER=60)

    def test_kernels_of_a_member_of_a_team_fail(self):
        self.expect_continued("kernel", options=self.TEAM)

    def test_the_only_device_fails(self):
        result = self.start("out", "--run.implementation", "opencl", **self.failing("launch"))
        self.assertEqual(result.returncode, 1, result.stderr)
        for part in ("going on without it", "no OpenCL device can be used", "it has failed before"):
            self.assertIn(part, result.stderr)
        # What there was is kept.
        resumed = self.start("out", "--run.implementation", "opencl", STARPU_NCPU=1)
        self.assertEqual(resumed.returncode, 2)
        resumed = program.start("resume", self.folder / "out", env=BESIDE)
        self.assertEqual(resumed.returncode, 0, resumed.stderr)


if __name__ == "__main__":
    program.main()
