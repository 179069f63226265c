"""The plots of a profile: the free energy with its error, overlap, convergence."""

import io
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy

KJ_PER_KCAL = 4.184
STYLE = {
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
DOTS_PER_INCH = 150


def pictures(figure, name):
    """{file name: bytes}, as PNG and SVG."""
    found = {}
    for form in ("png", "svg"):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=form, dpi=DOTS_PER_INCH, metadata=_metadata(form))
        found[f"{name}.{form}"] = buffer.getvalue()
    plt.close(figure)
    return found


def _metadata(form):
    return {"Date": None} if form == "svg" else {}


def draw(profile, estimate, converged):
    with plt.rc_context(STYLE):
        return {
            **pictures(_profile(profile, estimate), "profile"),
            **pictures(_overlap(estimate), "profile-overlap"),
            **pictures(_convergence(converged), "profile-convergence"),
        }


def _profile(profile, estimate):
    figure, axis = plt.subplots(figsize=(6.4, 4))
    at = [image.reaction_coordinate for image in profile.images]
    low, high = (estimate.free_energy + sign * estimate.half_widths[0] for sign in (-1, 1))
    axis.fill_between(at, low, high, alpha=0.3, linewidth=0, label="95 %")
    axis.plot(at, estimate.free_energy, "o-", markersize=3, label="in solution")
    isolated = numpy.array([image.isolated_energy for image in profile.images])
    if numpy.all(isolated != 0):
        axis.plot(at, isolated - isolated[0], ":", label="energy of the isolated molecule")
    axis.set_xlabel("reaction coordinate / angstrom u$^{1/2}$")
    axis.set_ylabel("free energy / kJ mol$^{-1}$")
    axis.set_title(textwrap.fill(profile.title, 60), fontsize="medium")
    right = axis.secondary_yaxis(
        "right", functions=(lambda y: y / KJ_PER_KCAL, lambda y: y * KJ_PER_KCAL)
    )
    right.set_ylabel("kcal mol$^{-1}$")
    axis.legend()
    return figure


def _overlap(estimate):
    figure, axis = plt.subplots(figsize=(4.6, 4))
    count = len(estimate.overlap)
    shown = axis.imshow(
        estimate.overlap, vmin=0, vmax=1, cmap="Blues", extent=(0.5, count + 0.5, count + 0.5, 0.5)
    )
    axis.grid(False)
    axis.set_xlabel("image")
    axis.set_ylabel("image")
    axis.set_title("overlap")
    figure.colorbar(shown)
    return figure


def _convergence(converged):
    """converged: {name: rows of estimates.convergence()}"""
    figure, axes = plt.subplots(
        1, len(converged), figsize=(1.2 + 3.4 * len(converged), 3.2), squeeze=False
    )
    for axis, (name, rows) in zip(axes[0], converged.items(), strict=True):
        share, forward, forward_error, backward, backward_error = rows.T
        for values, errors, label in (
            (forward, forward_error, "first frames"),
            (backward, backward_error, "last frames"),
        ):
            axis.errorbar(share, values, errors, fmt="o-", markersize=3, capsize=2, label=label)
        axis.axhspan(forward[-1] - forward_error[-1], forward[-1] + forward_error[-1], alpha=0.2)
        axis.set_xlabel("share of the frames")
        axis.set_ylabel("kJ mol$^{-1}$")
        axis.set_title(name)
        axis.legend()
    return figure
