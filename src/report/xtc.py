"""trajectory.xtc of a run's trajectory.h5md: all frames, for GROMACS, VMD, MDTraj and others."""

import contextlib
import os

import numpy
from run_folder import DAMAGE, ReportError, require_file
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
    # The library goes by the end of the name.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.temporary")
    try:
        require_file(chain.trajectory)
        temporary.unlink(missing_ok=True)
        with Trajectory(chain.trajectory) as source:
            _copy(chemfiles, source, temporary)
        temporary.replace(path)
    except chemfiles.ChemfilesError as error:
        raise OSError(f"{path}: cannot be written: {error}") from error
    except DAMAGE as error:
        raise ReportError(f"--xtc: {chain.trajectory}: cannot be read: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return path


def _copy(chemfiles, source, path):
    with chemfiles.Trajectory(os.fspath(path), "w", "XTC") as target:
        frame = chemfiles.Frame()
        frame.resize(len(source.atomic_numbers))
        for index in range(source.frames):
            step = int(source.steps[index])
            if step > LARGEST_STEP:
                raise ValueError(f"step {step} is more than the format XTC can hold")
            frame.step = step
            frame.cell = chemfiles.UnitCell(list(source.edges_of(index)))
            frame.positions[:] = numpy.asarray(source.positions(index))
            target.write(frame)
