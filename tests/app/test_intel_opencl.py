"""A second vendor's OpenCL, Intel's for CPUs (any x86 processor), makes the decisions of the scalar
kernels in every precision, and with what NVIDIA's GPUs run, which PoCL cannot compile. It comes from PyPI
(intel-opencl-rt and intel-cmplr-lib-rt, 800 MB) and is looked for in the environment of the Python that
runs this, or in $STARPMC_TEST_INTEL_OPENCL.

    python3 test_intel_opencl.py PROGRAM
"""

import json
import os
import pathlib
import sys

import program
import test_exact

STEPS = 3000


def library_folder():
    """Where libintelocl.so lies, or None."""
    places = (os.environ.get("STARPMC_TEST_INTEL_OPENCL"), pathlib.Path(sys.prefix) / "lib")
    for place in filter(None, places):
        if (pathlib.Path(place) / "libintelocl.so").exists():
            return pathlib.Path(place)
    return None


class IntelOpencl(program.TestCase):
    def setUp(self):
        super().setUp()
        folder = library_folder()
        if folder is None:
            self.skipTest("no Intel OpenCL: pip install intel-opencl-rt intel-cmplr-lib-rt (800 MB)")
        # Its own libOpenCL and libhwloc would come before the system's, which StarPU is built with.
        libraries = self.folder / "libraries"
        libraries.mkdir()
        for file in folder.iterdir():
            if not file.name.startswith(("libOpenCL", "libhwloc")):
                (libraries / file.name).symlink_to(file)
        vendors = self.folder / "intel.icd"
        vendors.write_text(f"{libraries / 'libintelocl.so'}\n")
        self.env = {
            "OCL_ICD_VENDORS": vendors,
            "LD_LIBRARY_PATH": libraries,
            "STARPU_OPENCL_ON_CPUS": 1,
            "STARPU_NCPU": 1,
        }

    def test_decisions_are_the_scalar_ones(self):
        config = self.config(
            **program.small_system(),
            sampling={"steps": STEPS, "seed": 18},
            output={"trajectory_interval": STEPS},
        )
        expected = program.simulate(
            config, self.folder / "scalar", "--run.implementation", "scalar",
            "--run.precision", "fp64",
        )  # fmt: skip
        for precision in ("mixed", "fixed", "fp64"):
            with self.subTest(precision):
                summary = program.simulate(
                    config, self.folder / precision, "--run.implementation", "opencl",
                    "--run.precision", precision, env=self.env,
                )  # fmt: skip
                workers = [worker["worker"] for worker in summary["worker_tasks"]]
                self.assertTrue(any("Intel" in name or "AMD" in name for name in workers), workers)
                self.assertNotIn("pocl", " ".join(workers).lower())
                for digest in ("decisions_sha256", "final_coordinates_sha256"):
                    self.assertEqual(summary[digest], expected[digest])
                certified = summary["certified_decisions"]
                self.assertLess(certified["largest_error_in_bounds"], 0.5)
                print(precision, f"{STEPS / summary['wall_seconds']:.0f} steps/s", workers)

    def test_windows_with_a_reference_are_those_of_cores(self):
        """In the exact ensemble, half of the steps near the solute: by what NVIDIA's GPUs run."""
        config = self.config(
            **test_exact.make_box(self.folder),
            sampling={"ensemble": "exact", "steps": 6000, "equilibration_steps": 600, "seed": 3,
                      "near_share": 0.5, "chains": 4},
            qm={"engine": "pyscf", "interval": 2000, "configurations": 12, "response_tolerance": 0},
            output={"energy_interval": 20, "trajectory_interval": 6000},
        )  # fmt: skip

        def digests(name, *words, **env):
            summary = program.simulate(
                config, self.folder / name, "--run.precision", "mixed", *words,
                env=test_exact.MODEL | env,
            )  # fmt: skip
            return [(c["decisions_sha256"], c["final_coordinates_sha256"]) for c in summary["chains"]]

        expected = digests("simd", "--run.implementation", "simd", STARPU_NOPENCL=0)
        gpu = self.env | {"STARPMC_LAUNCH_SHAPE": "nvidia", "STARPU_OPENCL_PIPELINE": 16}
        self.assertEqual(digests("opencl", "--run.implementation", "opencl", **gpu), expected)

    def test_kernels_are_built_by_processes_of_their_own(self):
        """At the first start, which says so; the second finds them in the cache. The same decisions."""
        config = self.config(**program.small_system(), sampling={"steps": 200, "seed": 18})
        found = {}
        for processes in (0, 1):
            env = self.env | {"STARPMC_LAUNCH_SHAPE": "nvidia", "STARPMC_KERNEL_PROCESSES": processes,
                              "XDG_CACHE_HOME": self.folder / f"cache-{processes}"}  # fmt: skip
            for start in (0, 1):
                folder = self.folder / f"run-{processes}-{start}"
                said = program.succeed("run", config, "--output.folder", folder, "--run.implementation",
                                       "opencl", "--run.precision", "mixed", env=env).stderr
                self.assertEqual(said.count("building the kernels for"), 1 - start, said)
                summary = json.loads((folder / "summary.json").read_text())
                found[processes, start] = summary["decisions_sha256"]
            kernels = list((self.folder / f"cache-{processes}/starpmc/kernels").glob("*.bin"))
            self.assertEqual(len(kernels), 3)
        self.assertEqual(len(set(found.values())), 1, found)


if __name__ == "__main__":
    program.main()
