"""What tests of the PySCF worker begin with: import this first.

A process that imports it without PySCF ends as a skipped test; it runs on one core, since the
molecules are small and other tests run beside it.
"""

import os
import pathlib
import sys

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before numpy

try:
    import pyscf  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WORKERS = REPOSITORY / "src/qm/workers"
sys.path.insert(0, str(WORKERS))
