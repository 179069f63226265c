"""The model solute of tests/reference, at the place of ../model_path.py that its geometry says. With
STARPMC_MODEL_FAILS=N its SCF fails for good after N calls at places beyond 0.6. With
STARPMC_MODEL_MEMORY_MB=N it says that it will need so much.
"""

import os
import pathlib
import runpy
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS.parent / "src/qm/workers"))
import worker_protocol

FAILS = int(os.environ.get("STARPMC_MODEL_FAILS", "-1"))
MEMORY_MB = float(os.environ.get("STARPMC_MODEL_MEMORY_MB", "0"))
serve = worker_protocol.serve


def serve_along_path(channel, name, version, engine):
    sys.path.insert(1, str(TESTS / "profile"))
    import model_path

    class AlongPath(engine):
        def __init__(self, init, positions):
            self.place = model_path.place_of(positions)
            model_path.take_place(self.place)
            self.calls = 0
            if MEMORY_MB > 0:
                channel.send("forecast", basis_functions=1, memory_mb=MEMORY_MB, seconds_first=1.0,
                             seconds_update=1.0)
            super().__init__(init, positions)

        def solve(self, configuration):
            self.calls += 1
            if 0 <= FAILS < self.calls and self.place > 0.6:
                raise worker_protocol.WorkerError("not-converged", "the model was told to fail")
            return super().solve(configuration)

    return serve(channel, name, version, AlongPath)


worker_protocol.serve = serve_along_path
runpy.run_path(str(TESTS / "reference/model_workers/pyscf_worker.py"), run_name="__main__")
