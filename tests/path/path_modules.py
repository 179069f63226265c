"""Puts the modules of src/path, and of the QM workers that they use, on Python's path."""

import pathlib
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
for folder in ("src/qm/workers", "src/path"):
    sys.path.insert(0, str(REPOSITORY / folder))

try:
    import pyscf  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing} ({sys.executable})")
    sys.exit(77)
