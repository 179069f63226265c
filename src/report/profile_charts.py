"""Plots of a profile's page."""

import charts
import matplotlib
import numpy
from matplotlib.ticker import MaxNLocator

COORDINATE = "reaction coordinate (Å u^½)"
KJ_PER_KCAL = 4.184
MOST_NUMBERS = 12  # images whose overlaps are written into the matrix, too


def free_energy(profile):
    figure, axis = charts.new_figure((6, 3.8))
    at, energies = profile.column("reaction_coordinate"), profile.column("free_energy")
    band = profile.half_widths()[0]
    axis.fill_between(at, energies - band, energies + band, alpha=0.3, lw=0, label="95 %")
    axis.plot(at, energies, "o-", ms=3, label="in solution, free energy")
    isolated = profile.column("isolated_energy")
    if numpy.isfinite(isolated).all():
        axis.plot(at, isolated, ":", color=charts.PALETTE[1], label="isolated molecule, energy")
    for place in profile.places():
        energy = energies[place.image]
        above = energy > energies.mean()
        axis.annotate(
            place.name, (at[place.image], energy), xytext=(0, 8 if above else -8), ha="center",
            va="bottom" if above else "top", textcoords="offset points", fontsize=8,
        )  # fmt: skip
    axis.margins(x=0.08, y=0.15)
    axis.set_xlabel(COORDINATE)
    axis.set_ylabel("kJ/mol")
    right = axis.secondary_yaxis(
        "right", functions=(lambda y: y / KJ_PER_KCAL, lambda y: y * KJ_PER_KCAL)
    )
    right.set_ylabel("kcal/mol")
    charts.name_lines(figure, axis, columns=3)
    return figure


def overlap(profile):
    matrix = profile.matrix("overlap")
    count = len(matrix)
    figure, axis = charts.new_figure((4.5, 3.8))
    # Cells that are drawn, not a picture: the page loads none.
    ends = numpy.arange(count + 1) + 0.5
    colours = matplotlib.colormaps["Blues"].resampled(20)
    shown = axis.pcolormesh(ends, ends, matrix, vmin=0, vmax=1, cmap=colours)
    axis.invert_yaxis()
    axis.set_aspect("equal")
    if count <= MOST_NUMBERS:
        for (row, column), value in numpy.ndenumerate(matrix):
            if value >= 0.005:
                axis.text(
                    column + 1, row + 1, f"{value:.2f}", ha="center", va="center", fontsize=6,
                    color="white" if value > 0.5 else "#101010",
                )  # fmt: skip
    axis.grid(False)
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_locator(MaxNLocator(integer=True, nbins=12))
    axis.set_xlabel("image among whose frames it is found")
    axis.set_ylabel("image that a frame is of")
    figure.colorbar(shown)
    return figure


def convergence(name, rows):
    """rows: as profile.json has them."""
    figure, axis = charts.new_figure()
    share = [row["share"] for row in rows]
    for index, (way, label) in enumerate((("forward", "first frames"), ("backward", "last frames"))):
        values, errors = ([row[key] for row in rows] for key in (way, f"{way}_error"))
        axis.errorbar(
            share, values, errors, fmt="o-", ms=3, capsize=2, color=charts.PALETTE[index], label=label
        )
    final, error = rows[-1]["forward"], rows[-1]["forward_error"]
    axis.axhspan(final - error, final + error, color="#808080", alpha=0.2, lw=0)
    axis.set_title(name)
    axis.set_xlabel("share of the frames")
    axis.set_ylabel("kJ/mol")
    charts.name_lines(figure, axis)
    return figure
