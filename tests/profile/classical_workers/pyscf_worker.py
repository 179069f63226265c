"""A rigid solute of fixed charges, those of ../classical_series.py at the place of its geometry: with
it `starpmc profile` samples a classical potential. STARPMC_CLASSICAL_SERIES: which.
"""

import os
import pathlib
import runpy
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS.parent / "src/qm/workers"))
import worker_protocol

serve = worker_protocol.serve


def serve_charges(channel, name, version, engine):
    sys.path[1:1] = [str(TESTS / "profile"), str(TESTS / "reference")]
    import classical_series
    import model_solute as model

    series = classical_series.SERIES[os.environ["STARPMC_CLASSICAL_SERIES"]]

    class FixedCharges(engine):
        def __init__(self, init, positions):
            model.FIXED_CHARGES = tuple(series.charges(classical_series.place_of(positions)))
            model.A = model.B = model.ISOLATED_ENERGY = 0.0  # nothing responds
            super().__init__(init, positions)

    return serve(channel, name, version, FixedCharges)


worker_protocol.serve = serve_charges
runpy.run_path(str(TESTS / "reference/model_workers/pyscf_worker.py"), run_name="__main__")
