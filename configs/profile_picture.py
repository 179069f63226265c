"""Draws the README's picture of a profile: the free energy, and the solute with its first shell.

usage: profile_picture.py PROFILE_FOLDER PICTURE.png   (needs matplotlib)

The folder has the plots of `starpmc report PROFILE_FOLDER --png`.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

SOLUTES = ("minimum", "transition-state", "product")


def without_margin(picture):
    """White rows and columns around it cut off."""
    inked = (picture[..., :3] < 0.99).any(axis=-1)
    rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    return picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    figure = plt.figure(figsize=(9.6, 3.6), layout="constrained")
    grid = figure.add_gridspec(1, 4, width_ratios=(2.2, 1, 1, 1))
    names = ("profile", *(f"solute-{name}" for name in SOLUTES))
    for place, name in enumerate(names):
        axis = figure.add_subplot(grid[0, place])
        axis.imshow(without_margin(plt.imread(folder / f"report-{name}.png")))
        axis.set_axis_off()
        if place > 0:
            axis.set_title(SOLUTES[place - 1].replace("-", " "), fontsize=9)
    figure.savefig(sys.argv[2], dpi=110, metadata={"Software": "starpmc"})


if __name__ == "__main__":
    main()
