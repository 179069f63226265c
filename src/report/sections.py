"""The parts of the report, each from what the run's folder holds of it."""

import math

import block_average
import charts
import energy_charts
import exact_charts
import h5py
import numpy
import page
import run_folder
import structure
import worker_charts

MOST_UPDATES_LISTED = 12
MOST_CHAINS_LISTED = 4  # of more, the summary has the rest
POOR_R_HAT = 1.1  # as in src/analysis/ensemble.hpp
WIDTH_OF_FIRST_ORDER = 0.25  # kT, as in src/io/qm_blocks.hpp
GAS_CONSTANT = 8.31446261815324e-3  # kJ/mol/K
ORIGIN_OF_DIPOLE = "about the centre of nuclear charge"
BETWEEN = (
    "A block begins in the true ensemble and relaxes towards the sampled one, so that means over "
    "all steps are between both: nearer to the true one the shorter qm.interval is, and the "
    "narrower the true less the sampled energy."
)


class Parts:
    """Collects (heading, HTML); what cannot be made becomes a problem of the run."""

    def __init__(self, run):
        self._run = run
        self.made = []

    def add(self, heading, make, *arguments):
        try:
            html = make(*arguments)
        except (*run_folder.DAMAGE, AttributeError, ArithmeticError) as error:
            self._run.problem(
                f"{heading}: left out, the files do not hold what was expected "
                f"({type(error).__name__}: {error})"
            )
            return
        if html:
            self.made.append((heading, html))


def with_error(mean, error, long_enough=True, count=None):
    """Digits down to the second one of the error. count: of samples, where it is known."""
    if mean is None or count == 0:
        return "no samples"
    if count == 1:
        return f"{mean:.3f} (one sample)"
    known = error is not None and math.isfinite(error) and error > 0
    decimals = min(6, max(0, 1 - math.floor(math.log10(error)))) if known else 3
    if not known:
        return f"{mean:.{decimals}f}"
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}{'' if long_enough else ' (too short to tell)'}"


def text_of(found):
    """Of an average of the summary, over one chain or all."""
    return with_error(
        found["mean"], found.get("error"), found.get("long_enough", True), found.get("count")
    )


def averages_of(run, chain, column):
    """The summary's average, else that of the lines so far: a dictionary like the summary's."""
    key = "pressure_bar" if column == "pressure" else column
    stated = chain.results.get("averages", {}).get(key)
    if stated:
        return stated
    if column not in chain.energies:
        return None
    _, values = chain.production(column, run.equilibration_of(chain))
    return vars(block_average.estimate(values)) if len(values) else None


def _average_text(run, chain, column):
    found = averages_of(run, chain, column)
    if not found:
        return "–"
    return text_of(found)


def _chain_facts(chain):
    """What a chain did beside its averages; the steps so far of one that has not finished."""
    results, steps = chain.results, chain.energies["step"]
    if "acceptance" in results:
        return {
            "steps": results["steps"],
            "acceptance": f"{100 * results['acceptance']:.1f} %",
            "drift, kJ/mol": f"{results['drift']['total']:.1e}",
        }
    return {"steps so far": int(steps[-1]) if len(steps) else "none"}


def _schedule_facts(schedule):
    """How the tasks were spread over the workers; a summary of an older program does not tell."""
    if not isinstance(schedule, dict):
        return
    bound, makespan = schedule["lower_bound_seconds"], schedule["makespan_seconds"]
    if 0 < bound <= makespan:
        yield "fastest possible by the models", f"{bound:.3g} s, {100 * bound / makespan:.0f} % of it"
    yield "moved between memories", f"{schedule['bytes_between_memories'] / 1e6:.4g} MB"


def _equilibration(run):
    if not run.equilibration_known:
        return "not known yet"
    steps = [run.equilibration_of(chain) for chain in run.chains]
    if len(set(steps)) > 1:
        return ", ".join(
            f"{chain.name}: {count} steps" for chain, count in zip(run.chains, steps, strict=True)
        )
    return f"{steps[0]} steps"


def _run_facts(run):
    yield "equilibration before", _equilibration(run)
    if run.finished:
        yield "speed", f"{run.summary['steps_per_second']:.0f} steps/s"
        yield "wall time", f"{run.summary['wall_seconds']:.1f} s"
        yield from _schedule_facts(run.summary.get("schedule"))


def results(run):
    columns = {
        column: energy_charts.energy(run, column).title for column in ("total", *run.terms)
    }
    if all(chain.has_dispersion_correction for chain in run.chains):
        columns["dispersion_correction"] = "dispersion correction"
    if all("pressure" in chain.energies for chain in run.chains):
        columns["pressure"] = "pressure, bar"
    found = run.summary.get("total_energy")
    html = _ensemble(run, found) if found else ""
    over = " over all steps" if run.is_exact else ""
    if len(run.chains) == 1:
        chain = run.chains[0]
        html += page.table(
            [f"energy{over}, kJ/mol", "mean ± error"],
            [[name, _average_text(run, chain, column)] for column, name in columns.items()],
        )
        facts = [*_chain_facts(chain).items(), *_run_facts(run)]
    else:
        html += _chains(run, columns, over)
        facts = _run_facts(run)
    if run.is_exact:
        html += page.paragraph(BETWEEN, "quiet")
    return html + page.table(["run", ""], facts)


def _chains(run, columns, over):
    facts = [_chain_facts(chain) for chain in run.chains]
    at_ends = run.is_exact and all(exact_charts.blocks_of(chain) for chain in run.chains)
    rows = [
        [chain.name, *([_total_at_ends(chain)] if at_ends else []),
         *(_average_text(run, chain, column) for column in columns), *fact.values()]
        for chain, fact in zip(run.chains, facts, strict=True)
    ]  # fmt: skip
    head = [
        "mean ± error, kJ/mol", *(["total energy at block ends"] if at_ends else []),
        *(f"{name}{over}" for name in columns.values()), *facts[0],
    ]  # fmt: skip
    return page.table(head, rows)


def _total_at_ends(chain):
    return text_of(chain.results["exact"]["averages_at_block_ends"]["total"])


def _ensemble(run, found):
    """Of all chains, or what the only one says of itself."""

    def number(key, digits):
        value = found.get(key)
        return "unknown" if value is None else f"{value:.{digits}f}"

    of = " at block ends" if run.is_exact else ""
    several = len(run.chains) > 1
    columns = {f"total energy{of}{' of all chains' if several else ''}, kJ/mol": text_of(found)}
    if several:
        columns |= {
            "error within chains": number("error_within_chains", 3),
            "between chains": number("error_between_chains", 3),
            "agreement (F test)": number("agreement_of_chains", 3),
        }
    columns["R-hat" if several else "R-hat of both halves"] = number("r_hat", 4)
    html = page.table(columns, [columns.values()])
    agreement, r_hat = found.get("agreement_of_chains"), found.get("r_hat")
    if agreement is not None and agreement < 0.01:
        html += page.paragraph(
            "The chains disagree: their means differ by more than their errors explain. They sample "
            "different states, or are too short."
        )
    elif r_hat is not None and r_hat > POOR_R_HAT:
        html += page.paragraph(
            f"R-hat is above {POOR_R_HAT}: the means of {'half chains' if several else 'both halves'} "
            "scatter by nearly half of the energies' own spread, or more. The run is too short for "
            "fluctuations as large as these."
        )
    return html


def energies(run, gallery):
    if not any(len(chain.energies["step"]) for chain in run.chains):
        return ""
    figures = [page.figure(gallery.take(figure, name))
               for name, figure in energy_charts.energy_figures(run)]  # fmt: skip
    shaded = " Equilibration is shaded" if run.equilibration_steps else ""
    if shaded and len({run.equilibration_of(chain) for chain in run.chains}) > 1:
        shaded += ", of each chain in its colour"
    shaded += "." if shaded else ""
    return page.charts(figures) + page.paragraph(f"Lines of energies.csv.{shaded}", "quiet")


def _long_enough(found):
    if found["count"] > 1 and found["error"] == 0:
        return "constant"
    return "yes" if found["long_enough"] else "no"


def averages(run, gallery):
    production = [chain.production("total", run.equilibration_of(chain))[1] for chain in run.chains]
    if not all(len(values) > 3 for values in production):
        return page.paragraph("There are too few samples after equilibration yet.")
    for chain, values in zip(run.chains, production, strict=True):
        _compare(run, chain, block_average.estimate(values))
    rows = []
    several = len(run.chains) > MOST_CHAINS_LISTED
    for chain in run.chains:
        for column in ("total", *(() if several else run.terms)):
            found = averages_of(run, chain, column)
            name = energy_charts.energy(run, column).title
            rows.append([
                f"{chain.name}, {name}" if len(run.chains) > 1 else name,
                f"{found['mean']:.3f}", f"{found['error']:.3f}", found["count"],
                f"{found['statistical_inefficiency']:.1f}", f"{found['effective_samples']:.0f}",
                _long_enough(found),
            ])  # fmt: skip
    over = "over all steps, kJ/mol" if run.is_exact else "kJ/mol"
    head = [over, "mean", "error", "samples", "inefficiency", "effective samples",
            "long enough"]  # fmt: skip
    figures = [
        page.figure(gallery.take(energy_charts.running_average(run), "running-mean")),
        page.figure(gallery.take(energy_charts.window_errors(run), "window-errors")),
    ]
    text = (
        "Errors hold the true mean with 68 %. Correlation is summed up to Sokal's automatic window, "
        "the ring; to what is read there comes the factor of Student's distribution. With fewer "
        "than 100 effective samples, by the upper end of what the inefficiency may be, the series "
        "is too short to tell."
    )
    return page.charts(figures) + page.paragraph(text, "quiet") + page.table(head, rows)


def _compare(run, chain, found):
    """Files of two runs in one folder would show here."""
    stated = chain.results.get("averages", {}).get("total")
    if not stated:
        return
    count, mean = stated["count"], stated["mean"]
    same = found.count == count and math.isclose(found.mean, mean, rel_tol=1e-9, abs_tol=1e-9)
    if not same:
        said = f"{count} of {mean:.6f}" if count else "none"
        run.problem(
            f"{chain.name}: energies.csv has {found.count} samples of mean {found.mean:.6f} "
            f"kJ/mol, summary.json says {said}: they are not of the same run, or energies.csv has "
            "been changed."
        )


def qm(run, gallery):
    if run.qm_engine in ("none", "frozen"):
        return ""
    if not run.finished or not all(energy_charts.updates_of(chain) for chain in run.chains):
        return ""
    figures = [page.figure(gallery.take(figure, name))
               for name, figure in energy_charts.qm_figures(run)]  # fmt: skip
    text = (
        "The jump is what the energy falls by as the density follows the solvent, both in the same "
        "potential of the MM charges. The sampling error is how far the energies sampled since the "
        "last update are from the same change by the QM program's quadrature."
    )
    if energy_charts.has_dipoles(run):
        text += f" The dipole is that {ORIGIN_OF_DIPOLE}."
    html = page.charts(figures) + page.paragraph(text, "quiet") + _means_over_updates(run)
    for chain in run.chains[:MOST_CHAINS_LISTED]:
        html += _updates(chain, len(run.chains) > 1)
    if len(run.chains) > MOST_CHAINS_LISTED:
        html += page.paragraph("Those of the other chains are in summary.json.", "quiet")
    return html


def exact(run, gallery):
    if not run.finished or not all(exact_charts.blocks_of(chain) for chain in run.chains):
        return ""
    figures = [page.figure(gallery.take(figure, name)) for name, figure in exact_charts.figures(run)]
    rows = []
    for chain in run.chains:
        found = chain.results["exact"]
        ends, steps = found["averages_at_block_ends"], found["averages_of_steps_corrected"]
        rows.append([
            chain.name, found["blocks"], found["block_steps"],
            f"{100 * found['block_acceptance']:.1f} %",
            with_error(found["difference_kj_per_mol"]["mean"], None),
            f"{found['difference_width_kj_per_mol']:.3f}", f"{found['effective_samples']:.0f}",
            text_of(ends["total"]), text_of(steps["total"]) + _first_order(run, found),
        ])  # fmt: skip
    head = ["", "blocks", "steps each", "accepted", "true less sampled, kJ/mol",
            "standard deviation", "independent samples", "total energy at block ends, kJ/mol",
            "from all steps, corrected to first order"]  # fmt: skip
    text = (
        "At a block's end an SCF gives the true energy, and a Metropolis test with what it changes "
        "by against the sampled energy accepts or rejects the block: ends of blocks are samples of "
        "the QM/MM Hamiltonian's own ensemble, a rejected block counting the end before it again. "
        "Everything else on this page is over all steps. " + BETWEEN
    )
    html = page.charts(figures) + page.paragraph(text, "quiet") + page.table(head, rows)
    return html + _means_over_updates(run)


def _kt(run):
    """kJ/mol."""
    return GAS_CONSTANT * run.summary["temperature_kelvin"]


def _first_order(run, found):
    """The error beside it is of the statistics alone."""
    width = found["difference_width_kj_per_mol"] / _kt(run)
    return f"; first order only: the width is {width:.2f} kT" if width > WIDTH_OF_FIRST_ORDER else ""


def _blocks_in_short(run):
    """How far means over frames may be from the true ensemble; nothing of other runs."""
    if not run.finished or not all(exact_charts.blocks_of(chain) for chain in run.chains):
        return ""
    found = [chain.results["exact"] for chain in run.chains]
    blocks = sum(chain["blocks"] for chain in found)
    accepted = sum(chain["accepted_blocks"] for chain in found)
    width = max(chain["difference_width_kj_per_mol"] for chain in found) / _kt(run)
    return (
        f"{BETWEEN} Here {100 * accepted / blocks:.1f} % of {blocks} blocks were accepted, and the "
        f"standard deviation of the true less the sampled energy is {width:.2f} kT."
    )


def _number(update, key):
    return f"{update[key]:.3f}" if key in update else "–"


def _means_over_updates(run):
    """Of all chains; what the QM program does not tell is left out."""
    rows = [
        [name, text_of(found)]
        for key, name in (
            ("dipole_debye", f"dipole {ORIGIN_OF_DIPOLE}, D"),
            ("polarisation_energy_kj_per_mol", "polarisation energy, kJ/mol"),
        )
        if isinstance(found := run.summary.get(key), dict)
    ]
    over = "block ends" if run.is_exact else "QM updates of production"
    return page.table([over, "mean ± error"], rows) if rows else ""


def _updates(chain, several):
    updates = energy_charts.updates_of(chain)
    rows = []
    for update in updates[-MOST_UPDATES_LISTED:]:
        dipole = update.get("dipole_debye")
        seconds = sum(update[f"seconds_{part}"] for part in ("embedding", "scf", "density"))
        rows.append([
            update["step"], f"{update['qm_energy_kj_per_mol']:.3f}",
            f"{update['jump_kj_per_mol']:.3f}", _number(update, "sampling_error_kj_per_mol"),
            _number(update, "polarisation_energy_kj_per_mol"),
            f"{numpy.linalg.norm(dipole):.3f}" if dipole else "–",
            f"{update['electrons_on_grid']:.6f}", update["iterations"], f"{seconds:.1f}",
        ])  # fmt: skip
    head = ["step", "energy, kJ/mol", "jump, kJ/mol", "sampling error, kJ/mol",
            "polarisation, kJ/mol", "dipole, D", "electrons", "iterations", "s"]  # fmt: skip
    title = f"{chain.name}: " if several else ""
    if len(updates) > len(rows):
        title += f"the last {len(rows)} of {len(updates)} updates"
    return (page.paragraph(title) if title else "") + page.table(head, rows)


def _structure(run, found, gallery):
    html = structure.section(found, gallery, with_error)
    text = _blocks_in_short(run) if found.curves else ""
    return html + page.paragraph(text, "quiet") if text else html


def workers(run, gallery):
    if run.timeline:
        figure = worker_charts.gantt(run.timeline)
        tasks = len(run.timeline.start)
        merged = tasks > worker_charts.MOST_EXACT_TASKS
        caption = f"{tasks} tasks" + (
            ": the height of a colour is its share of the time." if merged else "."
        )
        rows = [(name, count, f"{seconds:.3f}", f"{each:.1f}")
                for name, count, seconds, each in worker_charts.codelet_rows(run.timeline)]  # fmt: skip
        return page.figure(gallery.take(figure, "workers"), caption, wide=True) + page.table(
            ["codelet", "tasks", "s in all", "µs each"], rows
        )
    if not run.finished:
        return ""
    html = page.charts([page.figure(gallery.take(worker_charts.shares(run.summary), "workers"))])
    html += page.paragraph(
        "A run with --trace leaves a timeline.csv, from which a chart of every worker's tasks "
        "against time is made.", "quiet",
    )  # fmt: skip
    timings = sorted(run.summary["codelet_timings"], key=lambda t: -t["total_seconds"])
    rows = [
        (worker_charts.codelet_name(timing["codelet"]), timing["implementation"], timing["count"],
         f"{timing['total_seconds']:.3f}", f"{timing['mean_microseconds']:.1f}")
        for timing in timings
    ]  # fmt: skip
    return html + page.table(
        ["codelet", "implementation", "tasks", "s in all", "µs each"], rows
    )


def configuration(run):
    if not run.settings_text:
        return ""
    return page.details("settings.cfg, every option of the run", run.settings_text)


def versions(run, program_version):
    found = {str(k): str(v) for k, v in run.summary.get("versions", {}).items()}
    if "seed" in run.summary:
        found["seed of the random numbers"] = run.summary["seed"]
        found["precision"] = run.summary.get("precision", "")
    if isinstance(run.summary.get("decisions_sha256"), str):
        found["SHA-256 of the decisions"] = run.summary["decisions_sha256"]
    for chain in run.chains if len(run.chains) > 1 else ():
        if "decisions_sha256" in chain.results:
            found[f"SHA-256 of the decisions, {chain.name}"] = chain.results["decisions_sha256"]
    found["this report"] = (
        f"starpmc {program_version}, matplotlib {charts.version()}, h5py {h5py.__version__}"
    )
    return page.definitions(found.items())


def _title(run):
    return str(run.summary.get("title") or run.path.resolve().name)


def _subtitle(run):
    count = len(run.chains)
    chains = "one chain" if count == 1 else f"{count} chains"
    state = "finished" if run.finished else "not finished"
    engine = {"none": "no QM", "frozen": "stored density"}.get(run.qm_engine, run.qm_engine)
    return f"{run.path.resolve()}: {chains}, {engine}, {state}"


def build(run, found, with_png, program_version):
    """The page's text, and PNGs by name. found: by structure.read()."""
    gallery = charts.Gallery(with_png)
    parts = Parts(run)
    parts.add("Results", results, run)
    parts.add("Energies", energies, run, gallery)
    parts.add("Averages and errors", averages, run, gallery)
    parts.add("Structure", _structure, run, found, gallery)
    parts.add("QM updates", qm, run, gallery)
    parts.add("Exact ensemble", exact, run, gallery)
    parts.add("Workers", workers, run, gallery)
    parts.add("Configuration", configuration, run)
    parts.add("Versions", versions, run, program_version)
    notes = [*run.problems, *(f"The run warned: {text}" for text in run.warnings)]
    html = page.document(_title(run), _subtitle(run), notes, parts.made)
    return html, gallery.pictures
