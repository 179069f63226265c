"""Makes a reaction path for `starpmc path`, which starts this script.

usage: path.py --workers FOLDER (--transition-state FILE | --from FILE --to FILE) [options]
"""

import argparse
import os
import signal
import sys
import time
import warnings
from pathlib import Path

from errors import FAILURE, PathError


def parse_arguments():
    """The program has checked what it passes on."""
    parser = argparse.ArgumentParser(prog="starpmc path", allow_abbrev=False)
    for name in ("transition-state", "from", "to", "output", "method", "basis", "solvent", "hold", "device"):
        parser.add_argument(f"--{name}", dest=name.replace("-", "_"))
    for name in ("charge", "multiplicity", "images", "max-steps", "max-iterations", "threads"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--step", type=float)
    for name in ("density-fitting", "overwrite"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--workers", required=True)
    parser.add_argument("--program-version", default="")
    return parser.parse_args()


class Progress:
    """Lines with the time since the start."""

    def __init__(self):
        self._start = time.monotonic()
        self._out = sys.stdout  # whatever it is redirected to while a library talks

    def seconds(self):
        return time.monotonic() - self._start

    def __call__(self, text):
        try:
            print(f"{self.seconds():9.1f} s  {text}", file=self._out, flush=True)
        except OSError as error:
            raise PathError(
                "standard output",
                f"could not be written: {error.strerror}",
                "make room, or send it elsewhere; the same command goes on from what is kept",
                FAILURE,
            ) from error

    def steps(self, what):
        def tell(count, point):
            largest = abs(point.gradient).max()
            self(
                f"{what}, step {count}: {point.energy:.6f} Hartree, largest gradient {largest:.5f}"
            )

        return tell


def end_at_signals(output):
    """What is computed is on disk already; a second signal ends at once."""

    def end(number, _frame):
        signal.signal(number, signal.SIG_DFL)
        print(
            f"starpmc: stopped; what has been computed is kept in {output}: the same command goes on "
            "from there",
            file=sys.stderr,
            flush=True,
        )
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, end)


def main():
    request = parse_arguments()
    end_at_signals(request.output)
    # Its advice on other packages; what is wrong is said by its errors.
    warnings.filterwarnings("ignore", category=UserWarning, module="pyscf")
    sys.path.append(request.workers)  # what a level of theory may be called is judged there
    try:
        try:
            from reaction import make_path
        except ImportError as missing:
            raise PathError(
                "starpmc path",
                f"{sys.executable}: {missing}",
                "./quickstart setup, or set STARPMC_PYTHON to a Python with PySCF and geomeTRIC",
            ) from missing
        make_path(request, Path(request.output), Progress())
    except PathError as error:
        print(f"starpmc: error: {error}", file=sys.stderr)
        return error.status
    except MemoryError:
        print("starpmc: error: out of memory\n  remedy: a smaller --basis", file=sys.stderr)
        return FAILURE
    return 0


if __name__ == "__main__":
    sys.exit(main())
