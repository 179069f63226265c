"""Spack recipe; configs/packages/README.md says how to use it."""

import os

from spack.package import *


class Starpmc(CMakePackage):
    """Perturbative Monte Carlo QM/MM on every CPU core and OpenCL device of a machine, under the
    task runtime StarPU."""

    # There is no archive to download: the sources are those that this recipe lies in.
    homepage = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), "../../../../.."))
    git = homepage
    license("Apache-2.0")

    version("main", branch="main")

    variant("mpi", default=True, description="Runs over several processes and nodes")
    variant("llvm", default=True, description="Expressions as machine code")
    variant("pocl", default=False, description="OpenCL on the CPU")
    variant("python", default=True, description="PySCF and what the report needs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("starpu@1.4: +opencl +fxt +mpi ~examples", when="+mpi")
    depends_on("starpu@1.4: +opencl +fxt ~mpi ~examples", when="~mpi")
    depends_on("mpi", when="+mpi")
    depends_on("hwloc@2:")
    depends_on("highway")
    depends_on("boost +program_options")
    depends_on("opencl")
    depends_on("hdf5 ~mpi")
    depends_on("nlohmann-json")
    depends_on("fmt")
    depends_on("spdlog +fmt_external")
    depends_on("openssl")
    depends_on("zlib-api")
    depends_on("llvm@15", when="+llvm")
    depends_on("pocl", type="run", when="+pocl")
    depends_on("gromacs", type="run")  # its force fields and equilibrated water
    with when("+python"):
        depends_on("python@3.11:", type="run")
        depends_on("py-pyscf", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-h5py", type="run")
        depends_on("py-scipy", type="run")
        depends_on("py-matplotlib", type="run")

    generator("ninja")

    def cmake_args(self):
        spec = self.spec
        python = spec["python"].command.path if spec.satisfies("+python") else ""
        return [
            self.define("STARPMC_TESTS", False),
            self.define("STARPMC_MPI", "ON" if spec.satisfies("+mpi") else "OFF"),
            self.define("STARPMC_LLVM", "ON" if spec.satisfies("+llvm") else "OFF"),
            self.define("STARPMC_DEFAULT_PYTHON", python),
        ]

    def setup_run_environment(self, env):
        env.set("GMXDATA", self.spec["gromacs"].prefix.share.gromacs)

    def test_help(self):
        """The installed program starts and finds its files."""
        starpmc = which(self.prefix.bin.starpmc)
        assert "Usage" in starpmc("--help", output=str.split)
        starpmc("info")
