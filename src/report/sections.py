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


def with_error(mean, error, long_enough=True):
    """Digits down to the second one of the error."""
    known = error is not None and math.isfinite(error) and error > 0
    decimals = min(6, max(0, 1 - math.floor(math.log10(error)))) if known else 3
    if not known:
        return f"{mean:.{decimals}f}"
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}{'' if long_enough else ' (too short to tell)'}"


def averages_of(run, chain, column):
    """The summary's average, else that of the lines so far: a dictionary like the summary's."""
    key = "pressure_bar" if column == "pressure" else column
    stated = chain.results.get("averages", {}).get(key)
    if stated:
        return stated
    _, values = chain.production(column, run.equilibration_of(chain))
    return vars(block_average.estimate(values)) if len(values) else None


def _average_text(run, chain, column):
    found = averages_of(run, chain, column)
    if not found:
        return "–"
    return with_error(found["mean"], found["error"], found["long_enough"])


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


def _run_facts(run):
    known = run.equilibration_known
    yield "equilibration before", f"{run.equilibration_steps} steps" if known else "not known yet"
    if run.finished:
        yield "speed", f"{run.summary['steps_per_second']:.0f} steps/s"
        yield "wall time", f"{run.summary['wall_seconds']:.1f} s"
        yield from _schedule_facts(run.summary.get("schedule"))


def results(run):
    columns = {
        column: energy_charts.energy(run, column).title for column in ("total", *run.terms)
    }
    if all("pressure" in chain.energies for chain in run.chains):
        columns["pressure"] = "pressure, bar"
    if len(run.chains) == 1:
        chain = run.chains[0]
        html = page.table(
            ["energy, kJ/mol", "mean ± error"],
            [[name, _average_text(run, chain, column)] for column, name in columns.items()],
        )
        facts = [*_chain_facts(chain).items(), *_run_facts(run)]
        return html + page.table(["run", ""], facts)
    facts = [_chain_facts(chain) for chain in run.chains]
    rows = [
        [chain.name, *(_average_text(run, chain, column) for column in columns), *fact.values()]
        for chain, fact in zip(run.chains, facts, strict=True)
    ]
    html = page.table(["mean ± error, kJ/mol", *columns.values(), *facts[0]], rows)
    if run.summary.get("total_energy"):
        html = _ensemble(run.summary["total_energy"]) + html
    return html + page.table(["run", ""], _run_facts(run))


def _ensemble(found):
    def number(key, digits):
        value = found.get(key)
        return "unknown" if value is None else f"{value:.{digits}f}"

    html = page.table(
        ["total energy of all chains, kJ/mol", "error", "within chains", "between chains",
         "agreement (F test)", "R-hat"],
        [[number("mean", 3), number("error", 3), number("error_within_chains", 3),
          number("error_between_chains", 3), number("agreement_of_chains", 3),
          number("r_hat", 4)]],
    )  # fmt: skip
    agreement = found.get("agreement_of_chains")
    if agreement is not None and agreement < 0.01:
        html += page.paragraph(
            "The chains disagree: their means differ by more than their errors explain. They sample "
            "different states, or are too short."
        )
    return html


def energies(run, gallery):
    if not any(len(chain.energies["step"]) for chain in run.chains):
        return ""
    figures = [page.figure(gallery.take(figure, name))
               for name, figure in energy_charts.energy_figures(run)]  # fmt: skip
    shaded = " Equilibration is shaded." if run.equilibration_steps else ""
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
    head = ["kJ/mol", "mean", "error", "samples", "inefficiency", "effective samples",
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
    same = found.count == stated["count"] and math.isclose(
        found.mean, stated["mean"], rel_tol=1e-9, abs_tol=1e-9
    )
    if not same:
        run.problem(
            f"{chain.name}: energies.csv has {found.count} samples of mean {found.mean:.6f} "
            f"kJ/mol, summary.json says {stated['count']} of {stated['mean']:.6f}: they are not "
            "of the same run, or energies.csv has been changed."
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
        text += " The dipole is that about the centre of nuclear charge."
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
            *(with_error(of["total"]["mean"], of["total"]["error"], of["total"]["long_enough"])
              for of in (ends, steps)),
        ])  # fmt: skip
    head = ["", "blocks", "steps each", "accepted", "true less sampled, kJ/mol",
            "standard deviation", "independent samples", "total energy at block ends, kJ/mol",
            "from all steps, corrected"]  # fmt: skip
    text = (
        "At a block's end an SCF gives the true energy, and a Metropolis test with what it changes "
        "by against the sampled energy accepts or rejects the block: ends of blocks are samples of "
        "the QM/MM Hamiltonian's own ensemble, a rejected block counting the end before it again. "
        "Everything else on this page is over all steps, which are of the sampled Hamiltonian."
    )
    html = page.charts(figures) + page.paragraph(text, "quiet") + page.table(head, rows)
    return html + _means_over_updates(run)


def _number(update, key):
    return f"{update[key]:.3f}" if key in update else "–"


def _means_over_updates(run):
    """Of all chains; what the QM program does not tell is left out."""
    rows = [
        [name, with_error(found["mean"], found.get("error"))]
        for key, name in (
            ("dipole_debye", "dipole, D"),
            ("polarisation_energy_kj_per_mol", "polarisation energy, kJ/mol"),
        )
        if isinstance(found := run.summary.get(key), dict)
    ]
    over = "block ends" if run.summary.get("ensemble") == "exact" else "QM updates of production"
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
    parts.add("Structure", structure.section, found, gallery, with_error)
    parts.add("QM updates", qm, run, gallery)
    parts.add("Exact ensemble", exact, run, gallery)
    parts.add("Workers", workers, run, gallery)
    parts.add("Configuration", configuration, run)
    parts.add("Versions", versions, run, program_version)
    html = page.document(_title(run), _subtitle(run), run.problems, parts.made)
    return html, gallery.pictures
