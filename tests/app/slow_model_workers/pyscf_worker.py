"""The model solute of tests/reference, whose SCF takes STARPMC_MODEL_SECONDS (default 0), and twenty
times as long but for the first worker that has made the file STARPMC_MODEL_FIRST. With
STARPMC_MODEL_EXACT=no it knows nothing of the exact ensemble.
"""

import os
import pathlib
import runpy
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS.parent / "src/qm/workers"))
import worker_protocol

SECONDS = float(os.environ.get("STARPMC_MODEL_SECONDS", "0"))
FIRST = os.environ.get("STARPMC_MODEL_FIRST")
serve = worker_protocol.serve


def is_first():
    if FIRST is None:
        return True
    try:
        pathlib.Path(FIRST).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def serve_slowly(channel, name, version, engine):
    class Slow(engine):
        def __init__(self, init, *arguments):
            super().__init__(init, *arguments)
            self._seconds = SECONDS * (1 if is_first() else 20)
            needed = "needed" if init["grid_needed"] else "not needed"
            print(f"density grid: {needed}", file=sys.stderr, flush=True)
            processors = len(os.sched_getaffinity(0))
            print(f"processors: {processors}", file=sys.stderr, flush=True)
            if os.environ.get("STARPMC_MODEL_EXACT") == "no":
                del self.exact

        def solve(self, configuration):
            time.sleep(self._seconds)
            return super().solve(configuration)

    return serve(channel, name, version, Slow)


worker_protocol.serve = serve_slowly
runpy.run_path(
    str(TESTS / "reference/model_workers/pyscf_worker.py"), run_name="__main__"
)
