"""Plots in one style, as SVG to stand in a page and as PNG."""

import functools
import io
import re

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy
from matplotlib.ticker import FuncFormatter, MaxNLocator

FOREGROUND = "#010203"  # becomes the page's colour of text
PALETTE = ("#2f7ed8", "#e0662c", "#3d9a50", "#a05cc8", "#c9a227", "#1fa3a8", "#d6487e", "#8a6d4b")
SMALL = (4.5, 2.9)  # inches: about the width of a telephone's screen at the page's size of text
WIDE = 7.6
MOST_POINTS = 24_000  # of all lines of a plot
MOST_CHAINS_NAMED = 8
PNG_MARK = "starpmc report"
PNG_DOTS_PER_INCH = 150

matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "text.parse_math": False,
        "font.family": "sans-serif",
        "font.size": 9,
        "axes.titlesize": 10,
        "text.color": FOREGROUND,
        "axes.labelcolor": FOREGROUND,
        "axes.edgecolor": FOREGROUND,
        "xtick.color": FOREGROUND,
        "ytick.color": FOREGROUND,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#808080",
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "lines.linewidth": 1.2,
        "figure.constrained_layout.use": True,
        "axes.formatter.useoffset": False,
    }
)


def new_figure(size=SMALL):
    return plt.subplots(figsize=size)


def colour(index, count):
    """Of one of several lines."""
    if count <= len(PALETTE):
        return PALETTE[index]
    return matplotlib.colors.to_hex(matplotlib.colormaps["turbo"](0.05 + 0.9 * index / (count - 1)))


def label_steps(axis, title="Monte Carlo step"):
    def text(value, _):
        for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if abs(value) >= size:
                return f"{value / size:g}{letter}"
        return f"{value:g}"

    axis.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axis.xaxis.set_major_formatter(FuncFormatter(text))
    axis.set_xlabel(title)


def thinned(x, y, points):
    """At most `points` of a line, with the least and the largest value of each stretch."""
    if len(x) <= points:
        return x, y
    stretches = numpy.array_split(numpy.arange(len(x)), max(1, points // 2))
    chosen = {0, len(x) - 1}
    for stretch in stretches:
        chosen.update((stretch[y[stretch].argmin()], stretch[y[stretch].argmax()]))
    chosen = sorted(chosen)
    return x[chosen], y[chosen]


def draw_lines(axis, series, **style):
    """series: (name, x, y) of each chain, in its colour."""
    points = max(60, min(1200, MOST_POINTS // max(1, len(series))))
    for index, (name, x, y) in enumerate(series):
        known = numpy.isfinite(y)
        line = thinned(numpy.asarray(x)[known], numpy.asarray(y)[known], points)
        axis.plot(*line, color=colour(index, len(series)), label=name, **style)


def name_chains(figure, axis, count):
    """A legend above the plot, where it hides nothing."""
    if 1 < count <= MOST_CHAINS_NAMED:
        handles, labels = axis.get_legend_handles_labels()
        figure.legend(
            handles[:count], labels[:count], loc="outside upper center", ncols=min(4, count)
        )


def name_lines(figure, axis, columns=4):
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def _own_ids(svg, name):
    """Identifiers that no other plot of the page has."""
    svg = re.sub(r'\bid="([^"]*)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(?:xlink:)?href="#([^"]*)"', rf'href="#{name}-\1"', svg)
    return re.sub(r"url\(#([^)]*)\)", rf"url(#{name}-\1)", svg)


def to_svg(figure, name):
    """An <svg> element without addresses, whose lines and text have the page's colour."""
    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # The page's HTML needs no names of namespaces.
    svg = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", svg, count=2)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return _own_ids(svg, name).replace(FOREGROUND, "currentColor")


def to_png(figure):
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=PNG_DOTS_PER_INCH, metadata={"Software": PNG_MARK})
    return image.getvalue()


class Gallery:
    """Turns figures into SVG and, where wanted, PNG, and lets them go."""

    def __init__(self, with_png):
        self._with_png = with_png
        self.pictures = {}  # name -> PNG

    def take(self, figure, name):
        svg = to_svg(figure, name)
        if self._with_png:
            self.pictures[name] = to_png(figure)
        plt.close(figure)
        return svg


@functools.cache
def version():
    return matplotlib.__version__
