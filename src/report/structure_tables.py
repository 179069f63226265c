"""report-rdf.csv and report-coordination.csv: what structure.py has counted, for other programs."""

import csv
import io
import math

MARK = "pair,"  # how both begin
RDF_COLUMNS = ("pair", "r_angstrom", "g", "g_error", "outer_r_angstrom", "coordination",
               "coordination_error")  # fmt: skip
COORDINATION_COLUMNS = (
    "pair", "first_maximum_angstrom", "g_at_maximum", "first_minimum_angstrom", "g_at_minimum",
    "minimum_is_clear", "coordination", "error", "effective_samples", "long_enough", "frames",
)  # fmt: skip


def _number(value):
    """Empty: not known."""
    return f"{value:.7g}" if math.isfinite(value) else ""


def _yes(value):
    return "yes" if value else "no"


def _text(columns, rows):
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


def _rdf_rows(curves):
    for curve in curves:
        columns = (curve.r, curve.g, curve.g_error, curve.outer, curve.n, curve.n_error)
        for values in zip(*columns, strict=True):
            yield curve.pair.label, *(_number(value) for value in values)


def _coordination_row(curve):
    shell = curve.shell
    if shell is None:
        return [curve.pair.label, *[""] * 9, curve.frames]
    number = shell.number
    return [
        curve.pair.label, _number(shell.maximum), _number(shell.g_maximum),
        _number(shell.minimum), _number(shell.g_minimum), _yes(shell.clear),
        _number(number.mean), _number(number.error), f"{number.effective_samples:.0f}",
        _yes(number.long_enough), curve.frames,
    ]  # fmt: skip


def made_of(found):
    """Content by name; nothing of a run without pairs or frames."""
    if not found.curves:
        return {}
    return {
        "report-rdf.csv": _text(RDF_COLUMNS, _rdf_rows(found.curves)),
        "report-coordination.csv": _text(COORDINATION_COLUMNS, map(_coordination_row, found.curves)),
    }
