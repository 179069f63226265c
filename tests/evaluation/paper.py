"""Tables 3 to 9 and figures 8 to 11 of S. Miranda et al., "Efficient parallelization of perturbative
Monte Carlo QM/MM simulations in heterogeneous platforms" (2016), on this machine, each beside the
paper's numbers.

    python3 paper.py [--tables 3,5,f11] [--cases A,R] [--seconds 3]

Writes paper-table-N.csv, paper-figure-N.csv, paper.json and, where Python has matplotlib, paper-*.svg and
.png; prints the tables. What cannot be measured says why. By default cases and seconds are chosen so that
all takes about 15 minutes at most; the plan is printed first.
"""

import json
import sys
import time

import evaluation
import paper_plan
import paper_tables
from evaluation import Failure, bounded, duration
from published import GRID_POINTS, TABLES, published

IMPLEMENTATIONS = ("scalar", "simd", "opencl")


def read_request():
    names = {("f" if "figure" in key else "") + key.split("-")[1]: key for key in TABLES}
    parser = evaluation.arguments(__doc__.split("\n\n")[0], time.strftime("paper-%Y%m%d-%H%M%S"))
    add = parser.add_argument
    add("--tables", help="3 to 9, f8 to f11 (figures); all by default")
    add("--cases", help="A, B, C, R; by default all that 15 minutes allow")
    add("--seconds", type=evaluation.SECONDS, help="of a measurement, about; 1 to 5 by default")
    add("--implementation", help="scalar, simd, opencl (with PoCL's CPU device where there is no GPU)")
    add("--chains", type=bounded(int, 1, 1024), help="of the whole run; one per CPU worker by default")
    add("--proposals", type=bounded(int, 100, 10_000_000), default=10_000, help="of table 8")
    add("--waters", type=bounded(int, 1, 1_000_000), help="makes all small, with synthetic densities")
    add("--points", type=bounded(int, 1000, 1_000_000_000), help="the same, of the density grid")
    request = parser.parse_args()
    choose = evaluation.choose
    request.tables = choose("--tables", request.tables, names) if request.tables else list(TABLES)
    if request.cases:
        request.cases = choose("--cases", request.cases, {key: key for key in GRID_POINTS})
    if request.implementation:
        known = {name: name for name in IMPLEMENTATIONS}
        request.implementation = ",".join(choose("--implementation", request.implementation, known))
    return request


class Report:
    """paper.json and the tables' files, whole after each section; and what is printed."""

    def __init__(self, folder, session):
        self._folder = folder
        self._session = session
        self._document = {
            "machine": session.machine,
            "settings": {name: getattr(session.request, name)
                         for name in ("seconds", "proposals", "tables", "cases")},
            "systems": {}, "sections": [], "tables": {}}

    def publish(self, table):
        if table.key not in self._session.request.tables:
            return
        self._document["tables"][table.key] = table.as_json()
        (self._folder / f"paper-{table.key}.csv").write_text(table.csv(), encoding="utf-8")
        print(table.text(), flush=True)

    def end(self, section, estimate, seconds, since_start):
        self._document["sections"].append(
            {"section": section.name, "estimated_s": estimate, "elapsed_s": seconds})
        self._document["systems"] = self._session.systems()
        text = json.dumps(self._document, indent=2) + "\n"
        (self._folder / "paper.json").write_text(text, encoding="utf-8")
        if seconds >= 1 or estimate > 0:
            print(f"[{section.name}: {duration(seconds)}, estimated {duration(estimate)}; "
                  f"{duration(since_start)} since the start]\n", flush=True)


def measured(section, session):
    """Its tables; a measurement that fails must not cost the others."""
    try:
        return section.measure(session)
    except Failure as error:
        tables = [published(key) for key in section.tables]
        for table in tables:
            table.notes.append(f"not measured: {error}")
        return tables


def draw(folder):
    import paper_plots  # needs matplotlib

    paper_plots.draw(folder)


def main():
    request = read_request()
    program = evaluation.Program(request.program)
    start = time.monotonic()
    implementation = ("--implementation", request.implementation) if request.implementation else ()
    machine = program.machine(*implementation)
    scale = paper_plan.scale_of(machine, request)
    request.cases, request.seconds = paper_plan.complete(
        scale, request.tables, request.cases, request.seconds)
    folder = evaluation.new_folder(request.output, "paper.json")
    print(evaluation.machine_text(machine))
    print(paper_plan.text(scale, request.tables, request.cases, request.seconds), "\n", flush=True)
    session = paper_tables.Session(program, machine, request)
    report = Report(folder, session)
    for section in paper_plan.wanted(request.tables):
        estimate = section.estimate(scale, request.cases, request.seconds)
        begin = time.monotonic()
        if sys.stderr.isatty():
            print(f"{section.name}: {section.what} ...", file=sys.stderr)
        for table in measured(section, session):
            report.publish(table)
        now = time.monotonic()
        report.end(section, float(estimate), now - begin, now - start)
    evaluation.draw(draw, folder)
    print(f"written: {folder}/paper-*")


if __name__ == "__main__":
    evaluation.main(main)
