#!/usr/bin/env python3
"""QM updates on a GPU beside a core: energies and densities of several molecules, and times.

  python3 tests/evaluation/qm_device.py            three minutes on an H100, where CuPy and PySCF are
  python3 tests/evaluation/qm_device.py --parts environment,small,chorismate --json qm-device.json

Each part runs by itself and within its time limit: what fails prints its traceback, and the rest goes
on. One core does what is not the GPU's, as in a run.
"""

import argparse
import contextlib
import cProfile
import functools
import gc
import io
import json
import os
import pathlib
import pstats
import signal
import statistics
import sys
import time
import traceback

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "src/qm/workers"), str(REPOSITORY / "tests/qm")]

import numpy
from worker_protocol import HARTREE_IN_KJ_PER_MOL, SolventCharges
from worker_request import worker_request

BOHR = 0.529177210903
CUTOFF = 9.0  # angstrom
BOX = numpy.array([26.0, 26.0, 26.0])
TIP3P = numpy.array([-0.834, 0.417, 0.417])
WATER = numpy.array([[0.0, 0.0, 0.0], [0.9572, 0.0, 0.0], [-0.24, 0.9266, 0.0]])
SECONDS = {
    "environment": 60, "small": 40, "functionals": 40, "molecules": 80, "acetone": 60, "chorismate": 150,
    "reference": 90, "hybrids": 120,
}  # fmt: skip
DEFAULT_PARTS = "environment,small,functionals,chorismate,reference,hybrids,acetone,molecules"
PARTS = ("embedding", "coulomb", "functional", "diagonalisation", "scf", "density")
MOLECULES = (
    # name, elements, positions, charge, changed
    ("water", ["O", "H", "H"], [[0, 0, 0.117], [0, 0.757, -0.471], [0, -0.757, -0.471]], 0, {}),
    ("hydrogen fluoride", ["F", "H"], [[0, 0, 0], [0.92, 0, 0]], 0, {"method": "blyp"}),
    ("methane", ["C", "H", "H", "H", "H"],
     [[0, 0, 0], [0.63, 0.63, 0.63], [-0.63, -0.63, 0.63], [-0.63, 0.63, -0.63], [0.63, -0.63, -0.63]], 0,
     {"method": "lda,vwn"}),
    ("ammonium", ["N", "H", "H", "H", "H"],
     [[0, 0, 0], [0.59, 0.59, 0.59], [-0.59, -0.59, 0.59], [-0.59, 0.59, -0.59], [0.59, -0.59, -0.59]], 1,
     {"method": "revpbe"}),
    ("formaldehyde", ["C", "O", "H", "H"],
     [[0, 0, 0], [1.203, 0, 0], [-0.580753, 0.935377, 0], [-0.580753, -0.935377, 0]], 0,
     {"density_fitting": False}),
    ("formate", ["C", "O", "O", "H"], [[0, 0, 0], [1.13, 0.54, 0], [-1.13, 0.54, 0], [0, -1.13, 0]], -1,
     {"method": "blyp", "basis": "def2-svpd"}),
    ("hydrogen sulfide", ["S", "H", "H"], [[0, 0, 0.1], [0, 0.97, -0.83], [0, -0.97, -0.83]], 0,
     {"basis": "def2-tzvp"}),
    ("chloride", ["Cl"], [[0, 0, 0]], -1, {"method": "lda,pw"}),
    ("hydroxyl, open shell", ["O", "H"], [[0, 0, 0], [0.97, 0, 0]], 0, {"multiplicity": 2}),
    ("methanol, hybrid", ["C", "O", "H", "H", "H", "H"],
     [[0, 0, 0], [1.42, 0, 0], [1.74, 0.9, 0], [-0.36, -1.03, 0], [-0.36, 0.5, 0.9], [-0.36, 0.5, -0.9]], 0,
     {"method": "pbe0", "basis": "sto-3g"}),
)  # fmt: skip


def say(*words):
    print(*words, flush=True)


def read_xyz(path):
    lines = path.read_text().splitlines()
    rows = [line.split() for line in lines[2 : 2 + int(lines[0])]]
    return [row[0] for row in rows], numpy.array([[float(x) for x in row[1:4]] for row in rows])


def water_box(solute, frames, molecules=500, seed=5):
    """Waters about a solute, none nearer than 1.8 A (hydrogen) or 2.5 A (oxygen): (frames, sites, 3)."""
    random = numpy.random.default_rng(seed)
    centre = solute.mean(axis=0)
    found = []
    while len(found) < molecules:
        axis = random.normal(size=(3, 3))
        turned = WATER @ numpy.linalg.qr(axis)[0]
        place = centre + BOX * (random.uniform(size=3) - 0.5) + turned
        distances = numpy.linalg.norm(place[:, None] - solute[None], axis=2).min(axis=1)
        if distances[0] > 2.5 and distances[1:].min() > 1.8:
            found.append(place)
    waters = numpy.array(found)
    result = [waters]
    for _ in range(frames - 1):
        moved = waters + random.normal(scale=0.5, size=(molecules, 1, 3))
        distances = numpy.linalg.norm(moved[:, :, None] - solute, axis=3).min(axis=2)
        kept = (distances[:, 0] > 2.5) & (distances[:, 1:].min(axis=1) > 1.8)
        result.append(numpy.where(kept[:, None, None], moved, waters))
    return numpy.array(result).reshape(frames, -1, 3)


def shells(name, solute_file):
    """Frames of a run near a solute, and beyond them waters at random: all of a box's charges."""
    stored = numpy.load(REPOSITORY / f"tests/data/qm/{name}_shells.npz")
    elements, _ = read_xyz(solute_file)
    near = numpy.split(stored["waters"] / 1000.0, numpy.cumsum(stored["counts"])[:-1])
    return elements, stored["solute"] / 1000.0, [frame.reshape(-1, 3) for frame in near]


def potential(points, positions, charges, xp=numpy):
    """Shifted force, minimum image; Hartree per charge at (p, 3) points."""
    result = xp.zeros(len(points))
    points, positions, box = (xp.asarray(one) for one in (points, positions, BOX))
    charges = xp.asarray(charges)
    for first in range(0, len(points), 4096):
        some = slice(first, first + 4096)
        difference = points[some, None] - positions[None]
        difference -= box * xp.rint(difference / box)
        r = xp.sqrt((difference**2).sum(axis=2))
        pair = xp.where(r < CUTOFF, 1 / r - 2 / CUTOFF + r / CUTOFF**2, 0.0)
        result[some] = BOHR * (pair @ charges)
    return result if xp is numpy else xp.asnumpy(result)


class Solute:
    """Engines of a molecule, and the arguments of their updates."""

    def __init__(self, elements, positions, charge, frames, xp=numpy, **changed):
        import pyscf_worker

        self._class = pyscf_worker.PyscfEngine
        self.positions = numpy.array(positions, float)
        self._elements = elements
        self._changed = {"charge": charge, "memory_mb": 8000, **changed}
        self._frames = frames
        self._xp = xp
        self._kept = {}

    def engine(self, device):
        request = worker_request(self._elements, **{**self._changed, "device": device})
        start = time.perf_counter()
        engine = self._class(request, self.positions)
        return engine, time.perf_counter() - start

    def arguments(self, engine, frame):
        if frame not in self._kept:
            waters = self._frames[frame]
            charges = numpy.tile(TIP3P, len(waters) // 3)
            at = [
                potential(points, waters, charges, xp)
                for points, xp in ((engine.points_angstrom().T, self._xp), (self.positions, numpy))
            ]
            self._kept[frame] = (*at, SolventCharges(waters, charges, 1.0, BOX))
        return self._kept[frame]


def compare(ours, theirs):
    """(Hartree, largest difference of a point's charge, of all electrons, sum of |differences|)."""
    energy = abs(ours[0]["energy"] - theirs[0]["energy"]) / HARTREE_IN_KJ_PER_MOL
    charges = ours[1][3] - theirs[1][3]
    return energy, abs(charges).max(), abs(charges.sum()), abs(charges).sum()


def within(difference):
    return difference[0] <= 1e-7 and difference[1] <= 1e-6 and difference[2] <= 1e-6


class Evaluation:
    def __init__(self):
        self.results = {}
        self.failed = []

    @functools.cached_property
    def cupy(self):
        """Whichever part comes first."""
        import cupy

        return cupy

    def environment(self):
        import platform

        import scipy

        say(f"Python {sys.version.split()[0]}, numpy {numpy.__version__}, scipy {scipy.__version__}")
        say(f"{platform.machine()}, {os.cpu_count()} cores")
        import pyscf

        say(f"PySCF {pyscf.__version__} in {pathlib.Path(pyscf.__file__).parent}")
        cupy = self.cupy
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        free, total = cupy.cuda.runtime.memGetInfo()
        versions = cupy.cuda.runtime.runtimeGetVersion(), cupy.cuda.runtime.driverGetVersion()
        say(f"CuPy {cupy.__version__}, {properties['name'].decode()}, runtime, driver {versions}")
        say(f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free")
        self.results["device"] = properties["name"].decode()
        start = time.perf_counter()
        import device_choice

        backend, name = device_choice._open(0)
        say(f"opened {name} in {time.perf_counter() - start:.2f} s: {type(backend).__name__}")

    def _purification(self, matrix):
        """What a density matrix by purification would take in place of a diagonalisation."""
        power = matrix / self.cupy.linalg.norm(matrix)
        for _ in range(30):
            square = power @ power
            power = self.cupy.where(square.trace() > power.trace(), square, 2 * power - square)
        return power

    def _seconds(self, work, repeats=20, warm=2):
        for _ in range(warm):
            work()
        self.cupy.cuda.Device().synchronize()
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            work()
            self.cupy.cuda.Device().synchronize()
            times.append(time.perf_counter() - start)
        return statistics.median(times)

    def small(self):
        """What an iteration is made of."""
        import scipy.linalg

        cupy = self.cupy
        random = numpy.random.default_rng(1)
        for n in (86, 130, 264):
            host = random.normal(size=(n, n))
            host = host + host.T
            device = cupy.asarray(host)
            times = {
                "cupy eigh": lambda device=device: cupy.linalg.eigh(device),
                "scipy eigh": lambda host=host: scipy.linalg.eigh(host),
                "scipy eigh evd": lambda host=host: scipy.linalg.eigh(host, driver="evd"),
                "scipy eigh evd with copies": lambda device=device: cupy.asarray(
                    scipy.linalg.eigh(cupy.asnumpy(device), driver="evd")[1]
                ),
                "matmul": lambda device=device: device @ device,
                "cholesky": lambda n=n, device=device: cupy.linalg.cholesky(
                    device + 100 * n * cupy.eye(n)
                ),
                "30 products and traces": lambda device=device: self._purification(device),
                "cupy eigh, single precision": lambda device=device: cupy.linalg.eigh(
                    device.astype(numpy.float32)
                ),
                "norm to host": lambda device=device: float(cupy.linalg.norm(device)),
                "upload": lambda host=host: cupy.asarray(host),
                "download": lambda device=device: cupy.asnumpy(device),
                "x + y": lambda device=device: device + device,
            }
            with contextlib.suppress(ImportError, AttributeError):
                from cupy import cusolver

                times["syevj"] = lambda device=device: cusolver.syevj(device, with_eigen_vector=True)
            for name, work in times.items():
                try:
                    say(f"  {n:4} {name:28} {1e6 * self._seconds(work):8.0f} us")
                except Exception as failure:  # noqa: BLE001  the others go on
                    say(f"  {n:4} {name:28} {type(failure).__name__}: {failure}")
        from device_choice import _open
        from followed_orbitals import FollowedOrbitals

        backend = _open(0)[0]
        followed = FollowedOrbitals(backend, 59)
        energies = cupy.concatenate([cupy.linspace(-20, -0.2, 59), cupy.linspace(0.2, 8, 205)])
        followed.begin(cupy.linalg.qr(device)[0], energies)
        seconds = self._seconds(lambda: followed.of(1e-3 * device))
        say(f"  {n:4} {'orbitals followed, 59 pairs':28} {1e6 * seconds:8.0f} us")
        for dtype in ("float64", "float32"):
            values = cupy.asarray(random.normal(size=(4, 16384, 264)).astype(dtype))
            half, weights = values[1] + 0, values[:, :, 0] + 0
            result = cupy.empty(values.shape[:2])
            for name, work in {
                "row_products": lambda v=values, h=half, r=result: backend.row_products(v, h, r),
                "combined_rows": lambda v=values, w=weights: backend.combined_rows(w, v),
                "row_squares": lambda v=values: backend.row_squares(v[0]),
                "values @ matrix": lambda v=values: v[0] @ v[1, :264],
                "values.T @ values": lambda v=values: v[0].T @ v[1],
            }.items():
                say(f"  {dtype} 4 x 16384 x 264 {name:20} {1e6 * self._seconds(work):8.0f} us")

    def functionals(self):
        """And whether CuPy makes one kernel of an expression; the rest goes on without, if not."""
        from cupy_backend import CupyBackend

        try:
            self._functionals()
        except TooLong:
            raise
        except Exception:  # noqa: BLE001
            traceback.print_exc(file=sys.stdout)
            self.failed.append("fused kernels")
            say("  from here on without fused kernels")
            CupyBackend.fused = lambda _, function: function
            self._functionals()

    def _functionals(self):
        import array_functionals
        from array_backend import HOST
        from device_choice import _open

        backend = _open(0)[0]
        random = numpy.random.default_rng(2)
        density = 10 ** random.uniform(-9, 2, 157000)
        gradient = density ** (4 / 3) * 10 ** random.uniform(-2, 1, density.size)
        rho = numpy.vstack([density, gradient * numpy.eye(3)[:, [0]] + numpy.zeros((3, 1))])
        for functional in ("lda,vwn", "lda,pw", "pbe", "revpbe", "rpbe", "pbesol", "blyp"):
            here = rho if "lda" not in functional else rho[:1]
            start = time.perf_counter()
            device = array_functionals.ArrayFunctional(functional, backend)
            uploaded = backend.put(here)
            ours = [backend.get(part) for part in device(uploaded)]
            first = time.perf_counter() - start
            theirs = array_functionals.ArrayFunctional(functional, HOST)(here)
            worst = [
                abs((one - other) / (abs(other) + 1e-9)).max()
                for one, other in zip(ours, theirs, strict=True)
            ]
            seconds = self._seconds(lambda u=uploaded, d=device: d(u))
            say(f"  {functional:8} first {first:.2f} s, then {1e6 * seconds:.0f} us for 157,000 points; "
                f"from NumPy at most {worst[0]:.1e} (energy), {worst[1]:.1e} (potential)")  # fmt: skip

    def molecules(self):
        for name, elements, positions, charge, changed in MOLECULES:
            try:
                positions = numpy.array(positions, float)
                frames = water_box(positions, 2, molecules=60)
                solute = Solute(elements, positions, charge, frames,
                                energy_convergence_hartree=1e-10, **changed)  # fmt: skip
                engines = [quietly(lambda s=solute, d=d: s.engine(d))[0][0] for d in ("gpu", "cpu")]
                for frame in range(2):
                    ours, theirs = (
                        engine.update(*solute.arguments(engine, frame)) for engine in engines
                    )
                    difference = compare(ours, theirs)
                    good = within(difference)
                    say(f"  {name:22} {engines[0].device} {changed} frame {frame}: energy "
                        f"{difference[0]:.1e} Hartree, electrons {difference[2]:.1e}, largest of a point "
                        f"{difference[1]:.1e}: {'good' if good else 'NOT WITHIN 1e-7, 1e-6'}")  # fmt: skip
                    if not good:
                        self.failed.append(f"molecules: {name}")
            except Exception:  # noqa: BLE001
                self.failed.append(f"molecules: {name}")
                traceback.print_exc(file=sys.stdout)

    def acetone(self):
        elements, positions = read_xyz(REPOSITORY / "configs/acetone.xyz")
        frames = water_box(positions, 8)
        self.compare_and_time("acetone", Solute(elements, positions, 0, frames, self.cupy), cpu=4)

    def _chorismate(self, **changed):
        elements, positions, near = shells("chorismate", REPOSITORY / "configs/chorismate.xyz")
        # Beyond the shells that were kept, waters as they come: as many charges as in a run.
        far = water_box(positions, 1, molecules=500)[0].reshape(-1, 3, 3)
        distances = numpy.linalg.norm(far[:, :1] - positions[None], axis=2).min(axis=1)
        far = far[distances > 6.0].reshape(-1, 3)
        frames = [numpy.vstack([frame, far]) for frame in near[:8]]
        return Solute(elements, positions, -2, frames, self.cupy, **changed)

    def chorismate(self):
        self.compare_and_time("chorismate", self._chorismate(), cpu=3)

    def hybrids(self):
        """Global hybrids: exchange by the fitted factors, too."""
        elements, positions = read_xyz(REPOSITORY / "configs/acetone.xyz")
        acetone = Solute(
            elements, positions, 0, water_box(positions, 6), self.cupy, method="pbe0"
        )
        for name, solute in (
            ("acetone, PBE0", acetone),
            ("chorismate, B3LYP", self._chorismate(method="b3lyp")),
        ):
            results = {}
            for device, frames in (("gpu", 6), ("cpu", 2)):
                (engine, seconds), _ = quietly(lambda s=solute, d=device: s.engine(d))
                say(f"  {name}: start {seconds:.2f} s, device {engine.device}")
                results[device] = self.updates(engine, solute, range(frames), device)
                del engine
                gc.collect()
            self.results[name] = {device: times for device, (_, times) in results.items()}
            self.compare_frames(name, results["gpu"][0], results["cpu"][0])

    def compare_and_time(self, name, solute, cpu):
        (engine, seconds), said = quietly(lambda: solute.engine("gpu"))
        say(f"  gpu: start {seconds:.2f} s, device {engine.device}")
        say("\n".join(f"    said: {line}" for line in said.splitlines() if "GPU" in line or "CPU" in line))
        used = self.cupy.get_default_memory_pool().used_bytes()
        say(f"  {used / 2**20:.0f} MiB of the device are in use, "
            f"{self.cupy.get_default_memory_pool().total_bytes() / 2**20:.0f} held")  # fmt: skip
        gpu = self.updates(engine, solute, range(8), "gpu")
        self.results[name] = {"gpu_start": seconds, "gpu": gpu[1]}
        say("  the same again from the second frame's state on, parts waited for:")
        engine._stopwatch.synchronize = self.cupy.cuda.Device().synchronize
        self.updates(engine, solute, range(1, 8), "gpu, synchronised")
        engine._stopwatch.synchronize = lambda: None
        self.profile(engine, solute)
        self.check_density(engine, solute)
        del engine
        gc.collect()
        (host, seconds), _ = quietly(lambda: solute.engine("cpu"))
        say(f"  cpu: start {seconds:.2f} s")
        results = self.updates(host, solute, range(cpu), "cpu")
        self.results[name].update({"cpu_start": seconds, "cpu": results[1]})
        self.compare_frames(name, gpu[0], results[0])

    def compare_frames(self, name, gpu, cpu):
        for frame, (ours, theirs) in enumerate(zip(gpu, cpu, strict=False)):
            difference = compare(ours, theirs)
            say(f"  frame {frame}: energy {difference[0]:.1e} Hartree, electrons {difference[2]:.1e}, "
                f"largest of a point {difference[1]:.1e}, sum {difference[3]:.1e}")  # fmt: skip
            # At the convergence of a run (1e-8 Hartree); `molecules` are converged further.
            if difference[0] > 1e-7:
                self.failed.append(f"{name}: frame {frame}")

    def check_density(self, engine, solute):
        """Against PySCF's functions and the same orbitals, all in fp64."""
        from pyscf import dft

        _, grid = quietly(lambda: engine.update(*solute.arguments(engine, 1)))[0]
        points, weights = engine._grids.density_points, engine._grids.density_weights
        largest = total = 0.0
        for first in range(0, len(points), 8192):
            some = slice(first, first + 8192)
            amplitudes = dft.numint.eval_ao(engine.molecule, points[some]) @ engine.orbitals
            error = grid[3, some] + weights[some] * (amplitudes**2).sum(axis=1)
            largest, total = max(largest, abs(error).max()), total + error.sum()
        say(f"  density from PySCF's functions: {abs(total):.1e} electrons, largest of a point {largest:.1e}")
        if max(abs(total), largest) > 1e-6:
            self.failed.append("density")

    def updates(self, engine, solute, frames, device):
        answers, times = [], []
        say("    frame  cycles   total " + " ".join(f"{part:>15}" for part in PARTS) + "  (ms)")
        for frame in frames:
            arguments = solute.arguments(engine, frame)
            start = time.perf_counter()
            answer, _ = quietly(lambda a=arguments: engine.update(*a))
            seconds = time.perf_counter() - start
            answers.append((answer[0], answer[1].copy()))  # the next update overwrites it
            times.append(seconds)
            parts = [1e3 * answer[0].get(f"seconds_{part}", 0.0) for part in PARTS]
            say(f"    {frame:5} {answer[0]['iterations']:7} {1e3 * seconds:7.1f} "
                + " ".join(f"{part:15.1f}" for part in parts)
                + f"   {answer[0]['energy']:.5f} kJ/mol {answer[0].get('fallback', '')}")  # fmt: skip
        warm = statistics.median(times[1:])
        say(f"  {device}: cold {1e3 * times[0]:.1f} ms, warm {1e3 * warm:.1f} ms (median of {len(times) - 1})")
        return answers, {"cold_seconds": times[0], "warm_seconds": warm}

    def profile(self, engine, solute):
        """Where Python's time goes; waiting for the device shows where its results are fetched."""
        profiler = cProfile.Profile()
        for frame in (2, 3, 4):
            arguments = solute.arguments(engine, frame)
            profiler.enable()
            quietly(lambda a=arguments: engine.update(*a))
            profiler.disable()
        text = io.StringIO()
        pstats.Stats(profiler, stream=text).sort_stats("tottime").print_stats(22)
        lines = [line for line in text.getvalue().splitlines() if line.strip()]
        say("  three updates:\n" + "\n".join("    " + line[-130:] for line in lines[:30]))

    def reference(self):
        """GPU4PySCF beside it, in the same potentials: its SCF from the last frame's density, nothing else."""
        try:
            import gpu4pyscf
            from gpu4pyscf.dft import rks
        except ImportError as failure:
            say(f"  left out: no GPU4PySCF ({failure})")
            return
        solute = self._chorismate()
        (engine, _), _ = quietly(lambda: solute.engine("gpu"))
        settings = engine._mean_field
        theirs = rks.RKS(engine.molecule, xc="pbe").density_fit(auxbasis=settings.with_df.auxbasis)
        theirs.grids.atom_grid = settings.grids.atom_grid
        theirs.conv_tol, theirs.verbose = 1e-8, 0
        theirs.get_hcore = lambda *_: self.cupy.asarray(engine._core)
        theirs.energy_nuc = lambda *_: engine._repulsion
        density, times = None, []
        for frame in range(8):
            arguments = solute.arguments(engine, frame)
            start = time.perf_counter()
            answer = quietly(lambda a=arguments: engine.update(*a))[0][0]
            ours = time.perf_counter() - start
            self.cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            energy = theirs.kernel(dm0=density)
            density = theirs.make_rdm1()
            self.cupy.cuda.Device().synchronize()
            times.append((ours, time.perf_counter() - start))
            difference = answer["energy"] / HARTREE_IN_KJ_PER_MOL - energy
            say(f"    frame {frame}: update {1e3 * ours:7.1f} ms, {answer['iterations']} cycles; GPU4PySCF's "
                f"SCF {1e3 * times[-1][1]:7.1f} ms, {theirs.cycles} cycles; {difference:.1e} Hartree apart")  # fmt: skip
            if not abs(difference) < 1e-5:
                self.failed.append(f"reference: frame {frame}")
        warm = [statistics.median(column) for column in zip(*times[1:], strict=True)]
        say(f"  warm: {1e3 * warm[0]:.1f} ms, embedding and density with it; the SCF alone by GPU4PySCF "
            f"{gpu4pyscf.__version__} {1e3 * warm[1]:.1f} ms")  # fmt: skip
        self.results["reference"] = {"warm_seconds": warm[0], "gpu4pyscf_warm_seconds": warm[1]}


def quietly(work):
    """(its result, what it said on standard error)."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        result = work()
    return result, said.getvalue()


class TooLong(Exception):
    pass


@contextlib.contextmanager
def time_limit(seconds):
    def end(*_):
        raise TooLong(f"more than {seconds} s")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default=DEFAULT_PARTS, help=f"of {', '.join(SECONDS)}")
    parser.add_argument("--json", type=pathlib.Path, help="where the times go")
    options = parser.parse_args()
    # PySCF's workers take standard output for the protocol when they are imported.
    output = os.dup(1)
    import pyscf_worker  # noqa: F401

    os.dup2(output, 1)
    evaluation = Evaluation()
    began = time.perf_counter()
    for part in options.parts.split(","):
        say(f"== {part} (at {time.perf_counter() - began:.0f} s)")
        try:
            with time_limit(SECONDS[part]):
                getattr(evaluation, part)()
        except Exception:  # noqa: BLE001  the other parts go on
            evaluation.failed.append(part)
            traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
        if options.json:
            options.json.write_text(json.dumps(evaluation.results, indent=1))
    say(f"== all in {time.perf_counter() - began:.0f} s")
    if evaluation.failed:
        say("FAILED: " + "; ".join(evaluation.failed))
        return 1
    say("all energies and densities agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
