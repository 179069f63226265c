"""The figures of `starpmc bench` beside those of Miranda et al. (2016): tables 3 to 6, 8 and 9, less the
paper's time for output; times faster than its serial program on one i7-4770K core and than its GPU
(GTX 780Ti; bench-R: two GTX 680), errors as a share of the paper's.

    starpmc bench --system A,R --term grid,mm,other,steps,errors --output FOLDER
    python3 against_paper.py FOLDER

Writes against-paper.csv there.
"""

import json
import sys
from pathlib import Path

import evaluation
from evaluation import InputError, aligned, csv_text, readable
from published import (
    CYCLE_STEPS,
    GPU,
    R_CYCLE_STEPS,
    SERIAL,
    SERIAL_CYCLE_R,
    TWO_ALIKE,
    rows_of,
)

# The published kernels that are one operation of ours, or one of our groups of them.
TERMS = {"q3m_c/reduce": "qmmm_coulomb_grid", "mm_vdwc/reduce": "mm_terms",
         "q3m_vdwc": "qmmm_nuclei_vdw", "decide": "metropolis_decide"}
ERRORS = {f"{term}_{kind}_error_kj_per_mol": f"{term}_{kind}_kj_per_mol"
          for term in ("grid", "total") for kind in ("mean", "max")}
COLUMNS = ["system", "term", "source", "implementation", "precision", "device", "microseconds_per_step",
           "times_faster_than_paper_core", "times_faster_than_paper_gpu", *ERRORS,
           "grid_mean_error_over_paper", "grid_max_error_over_paper"]


def paper_times():
    """(system, term, precision, device, microseconds per step) of everything that was published."""
    for row in rows_of("table-3"):
        time = 1e6 * (row["total_s"] - row["output_s"]) / CYCLE_STEPS
        yield row["benchmark"], "steps", row["precision"], row["platform"], time
    yield "bench-R", "steps", "fp64", SERIAL, 1e6 * SERIAL_CYCLE_R / R_CYCLE_STEPS
    for row in rows_of("table-5"):
        if row["chains"] == 1:
            time = 1e6 * row["cycle_s"] / R_CYCLE_STEPS
            yield "bench-R", "steps", row["precision"], row["platform"], time
    for row in rows_of("table-4"):
        if row["kernel"] in TERMS:
            yield ("bench-A", TERMS[row["kernel"]], row["precision"], row["device"],
                   row["microseconds_per_step"])
    for row in rows_of("table-9"):
        yield ("bench-A", "qmmm_coulomb_grid", row["precision"], row["device"],
               row["microseconds_per_step"])


TIMES = list(paper_times())


def paper_rows(system, term):
    for of_system, of_term, precision, device, time in TIMES:
        if (of_system, of_term) == (system, term):
            yield {"precision": precision, "device": device, "microseconds_per_step": time}
    if (system, term) == ("bench-A", "errors"):
        for row in rows_of("table-8"):
            yield {"precision": row["precision"], **{own: row[name] for own, name in ERRORS.items()}}


def compared(result):
    """A result of bench.json with how it compares."""
    own = {name: result.get(name) for name in COLUMNS}
    for reference, device in (("core", (SERIAL,)), ("gpu", (GPU, TWO_ALIKE))):
        for system, term, precision, name, time in TIMES:
            same = (system, term) == (result["system"], result["term"]) and name in device
            if same and precision == ("fp64" if reference == "core" else "mixed"):
                own[f"times_faster_than_paper_{reference}"] = time / result["microseconds_per_step"]
    for row in paper_rows(result["system"], result["term"]):
        if result["term"] == "errors" and row["precision"] == result["precision"]:
            for kind in ("mean", "max"):
                name = f"grid_{kind}_error"
                own[f"{name}_over_paper"] = (
                    result[f"{name}_kj_per_mol"] / row[f"{name}_kj_per_mol"])
    return own | {"source": evaluation.OWN}


def decisions(results):
    """A result of their own for the decisions of whole steps of one chain, on one worker."""
    for result in results:
        times = [entry["microseconds_per_step"] for entry in result.get("kernels", [])
                 if entry["operation"] == "metropolis_decide"]
        if len(times) == 1 and result["chains"] == 1:
            yield result | {"term": "metropolis_decide", "microseconds_per_step": times[0]}


def compare(document):
    """Rows of COLUMNS, of each term ours and then the paper's."""
    results = [r for r in document["results"] if r["system"]]
    results += list(decisions(results))
    rows = []
    for system, term in dict.fromkeys((r["system"], r["term"]) for r in results):
        rows += [compared(r) for r in results if (r["system"], r["term"]) == (system, term)]
        rows += [dict.fromkeys(COLUMNS) | {"system": system, "term": term, "source": "paper"} | row
                 for row in paper_rows(system, term)]
    return [[row[name] for name in COLUMNS] for row in rows]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if "--help" in sys.argv else 2
    folder = Path(sys.argv[1])
    try:
        document = json.loads((folder / "bench.json").read_text())
    except (OSError, ValueError):
        raise InputError(folder, "there is no bench.json of starpmc bench", "", "name --output's") from None
    for option in ("waters", "points", "grid"):
        if option in document["settings"]:
            raise InputError(folder, f"measured with --{option}: not the paper's size",
                             document["settings"][option], "leave that out")
    rows = compare(document)
    (folder / "against-paper.csv").write_text(csv_text(COLUMNS, rows))
    used = [i for i in range(len(COLUMNS)) if any(row[i] is not None for row in rows)]
    print(aligned([[COLUMNS[i] for i in used], *([readable(row[i]) for i in used] for row in rows)], 6))
    return 0


if __name__ == "__main__":
    evaluation.main(main)
