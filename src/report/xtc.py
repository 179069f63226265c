"""trajectory.xtc of a run's trajectory.h5md: all frames, for GROMACS, VMD, MDTraj and others."""

import contextlib
import os

from run_folder import DAMAGE, Failure, ReportError, require_file
from trajectory import Trajectory

LARGEST_STEP = 2**31 - 1  # the format has 32 bits for it


def write(chain):
    """Converts one chain's trajectory beside it. Returns the new file's path."""
    try:
        import chemfiles
    except ImportError as error:
        raise ReportError(
            f"--xtc: the Python of starpmc has no chemfiles: {error}\n"
            "  remedy: ./quickstart setup, or pip install chemfiles"
        ) from error
    chemfiles.set_warnings_callback(lambda _: None)
    path = chain.trajectory.with_suffix(".xtc")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.temporary")
    try:
        temporary.unlink(missing_ok=True)
        with open(temporary, "xb") as file:
            file.writelines(_encoded(chemfiles, chain.trajectory))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror or error}") from error
    except chemfiles.ChemfilesError as error:
        raise Failure(f"{path}: cannot be written: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return path


def _encoded(chemfiles, trajectory):
    """The bytes of each frame. The library maps its file, and would be killed where the disk is full: it gets
    one in memory."""
    memory = os.memfd_create("xtc")
    try:
        frame = chemfiles.Frame()
        for step, edges, positions in _frames(trajectory):
            frame.resize(len(positions))
            frame.step = step
            frame.cell = chemfiles.UnitCell(list(edges))
            frame.positions[:] = positions
            with chemfiles.Trajectory(f"/proc/self/fd/{memory}", "w", "XTC") as target:
                target.write(frame)
            yield os.pread(memory, os.fstat(memory).st_size, 0)
    finally:
        os.close(memory)


def _frames(trajectory):
    """Step, edges and positions of each."""
    try:
        require_file(trajectory)
        with Trajectory(trajectory) as source:
            for index in range(source.frames):
                step = int(source.steps[index])
                if step > LARGEST_STEP:
                    raise ValueError(f"step {step} is more than the format XTC can hold")
                yield step, source.edges_of(index), source.positions(index)
    except DAMAGE as error:
        raise ReportError(f"--xtc: {trajectory}: cannot be read: {error}") from error
