"""Energies and acceptance against step; averages with their errors; QM updates."""

import block_average
import charts
import numpy
import run_folder

TOTAL = run_folder.EnergyTerm("total energy", "kJ/mol")
RUNNING_POINTS = 60


def energy(run, column):
    """Title and unit of a column of energies."""
    if column == "total":
        return TOTAL
    of_qm = run_folder.COLUMNS_OF_QM.get(column)
    return run_folder.EnergyTerm(of_qm, "kJ/mol") if of_qm else run.energy_terms[column]


def _chart_of_steps(series, label, title, **style):
    """A line per chain; the figure and its axis."""
    figure, axis = charts.new_figure()
    charts.draw_lines(axis, series, **style)
    axis.set_title(title)
    axis.set_ylabel(label)
    charts.label_steps(axis)
    charts.name_chains(figure, axis, len(series))
    return figure, axis


def _against_step(run, column, label, title):
    # At step 0 nothing has been tried yet.
    first = 1 if column == "acceptance" else 0
    series = [
        (chain.name, chain.energies["step"][first:], chain.energies[column][first:])
        for chain in run.chains
    ]
    figure, axis = _chart_of_steps(series, label, title)
    _shade_equilibration(run, axis)
    return figure


def _shade_equilibration(run, axis):
    """Grey where it is the same in all chains."""
    steps = [run.equilibration_of(chain) for chain in run.chains]
    if len(set(steps)) == 1:
        if steps[0] > 0:
            axis.axvspan(0, steps[0], color="#808080", alpha=0.15, lw=0)
        return
    for index, end in enumerate(steps):
        colour = charts.colour(index, len(run.chains))
        axis.axvspan(0, end, color=colour, alpha=0.15 / len(steps) + 0.02, lw=0)
        axis.axvline(end, color=colour, lw=0.8, ls="--")


def energy_figures(run):
    """(name, figure) of every column of energies.csv that applies."""
    for column in ("total", *run.terms):
        of = energy(run, column)
        yield column.replace("_", "-"), _against_step(run, column, of.unit, of.title)
    yield "acceptance", _against_step(run, "acceptance", "accepted / tried", "acceptance so far")
    if all("pressure" in chain.energies for chain in run.chains):
        yield "pressure", _against_step(run, "pressure", "bar", "pressure")


def running_average(run):
    """Mean of the total energy so far, in a band of one error to each side."""
    figure, axis = charts.new_figure()
    for index, chain in enumerate(run.chains):
        steps, values = chain.production("total", run.equilibration_of(chain))
        ends, means, errors = block_average.running(values, RUNNING_POINTS)
        colour = charts.colour(index, len(run.chains))
        at = steps[ends - 1]
        axis.fill_between(at, means - errors, means + errors, color=colour, alpha=0.2, lw=0)
        axis.plot(at, means, color=colour, label=chain.name)
    axis.set_title("running mean of the total energy ± error")
    axis.set_ylabel("kJ/mol")
    charts.label_steps(axis)
    charts.name_chains(figure, axis, len(run.chains))
    return figure


def window_errors(run):
    """Standard error of the mean total energy by window; a ring where it was read."""
    figure, axis = charts.new_figure()
    for index, chain in enumerate(run.chains):
        _, values = chain.production("total", run.equilibration_of(chain))
        found = block_average.estimate(values)
        colour = charts.colour(index, len(run.chains))
        axis.plot(
            found.windows, found.standard_errors, ".-", color=colour, label=chain.name,
        )  # fmt: skip
        axis.plot(found.window, found.standard_error, "o", color=colour, mfc="none", ms=9)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_ylim(bottom=0)
    axis.set_title("standard error of the mean total energy by window")
    axis.set_xlabel("samples in the window")
    axis.set_ylabel("kJ/mol")
    charts.name_chains(figure, axis, len(run.chains))
    return figure


def updates_of(chain):
    found = chain.results.get("qm_updates")
    return [update for update in found if isinstance(update, dict)] if found else []


def _per_update(run, value, label, title, skip=0):
    series = []
    for chain in run.chains:
        updates = updates_of(chain)[skip:]
        series.append((chain.name, [u["step"] for u in updates], [value(u) for u in updates]))
    return _chart_of_steps(series, label, title, marker="o", ms=3)[0]


def has_dipoles(run):
    """Those of earlier versions have none."""
    return all("dipole_debye" in update for chain in run.chains for update in updates_of(chain))


def first_energy(run):
    """kJ/mol, of the first chain's first update."""
    return updates_of(run.chains[0])[0]["qm_energy_kj_per_mol"]


def qm_figures(run):
    """(name, figure) of what there is to each QM update."""
    zero = first_energy(run)
    yield "qm-energy", _per_update(
        run, lambda u: u["qm_energy_kj_per_mol"] - zero, "kJ/mol",
        f"embedded QM energy, from {zero:.3f}",
    )  # fmt: skip
    if has_dipoles(run):
        yield "qm-dipole", _per_update(
            run, lambda u: float(numpy.linalg.norm(u["dipole_debye"])), "debye",
            "dipole of the QM molecule",
        )  # fmt: skip
    if any(len(updates_of(chain)) > 1 for chain in run.chains):
        yield "qm-jump", _per_update(
            run, lambda u: u["jump_kj_per_mol"], "kJ/mol", "jump at each update", skip=1
        )
