#!/usr/bin/env python3
"""Replays chains on simulated machines and tells what limits each (README.md beside this file)."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
from dataclasses import asdict, dataclass

from simulated_machine import Machine, write_machine

HERE = pathlib.Path(__file__).resolve().parent
BUSY = 0.9
"""Share of the time from which on GPUs count as what limits."""
BUSY_IN_TURN = 0.8
"""Share of a chain's time in its own updates from which on they are; else it waits for a core."""


@dataclass(frozen=True)
class Assumptions:
    """What no performance model tells; where each is from is in README.md."""

    interval: int = 50_000
    update_seconds: float = 2.2
    first_update_seconds: float = 3.7
    quadrature: int = 157_032
    host_seconds_per_step: float = 1e-6
    host_seconds_per_update: float = 0.03


@dataclass(frozen=True)
class Case:
    chains: int
    gpus: int
    cores: int
    updates: int

    def key(self, assumptions: Assumptions) -> str:
        return json.dumps(asdict(self) | asdict(assumptions), sort_keys=True)


@dataclass(frozen=True)
class Row:
    case: Case
    seconds_per_million: float
    """Of each chain, updates included."""
    steps_per_second: float
    """Of all chains together."""
    gpu_share: float
    qm_core_share: float
    limit: str


def analyse(case: Case, result: dict, assumptions: Assumptions) -> Row:
    """@param result what replay_chains has printed"""
    chains = result["chains"]
    cycles = max(1, case.updates - 1)
    steps = cycles * assumptions.interval
    spans = [chain["end"] - chain["begin"] for chain in chains]
    end = max(chain["end"] for chain in chains)
    if case.updates > 0:  # first cycles, and with them these spans, begin when a core is free
        span = sum(spans) / len(spans)
        wall = end
    else:
        span = wall = end - min(chain["begin"] for chain in chains)
    gpu_share = sum(result["busy_seconds"]["opencl"].values()) / (result["opencl_workers"] * wall)
    qm = sum(chain["engine"] for chain in chains)
    qm_core_share = qm / (result["cpu_workers"] * wall)
    update_share = assumptions.update_seconds * cycles / span if case.updates > 0 else 0.0
    sampling = sum(chain["sampling"] for chain in chains)
    waiting = sum(chain["end"] for chain in chains) - sampling - qm
    return Row(
        case,
        1e6 * span / steps,
        len(chains) * steps / span,
        gpu_share,
        qm_core_share,
        limit(case, gpu_share, update_share, waiting > sampling),
    )


def limit(case: Case, gpu_share: float, update_share: float, waits: bool) -> str:
    """@param update_share of a chain's time, in its own updates
    @param waits chains spend more time waiting for a core than for steps"""
    if gpu_share >= BUSY:
        return "GPUs"
    if case.updates == 0:
        return "windows in turn" if case.chains == 1 else "chains' places"
    if update_share >= BUSY_IN_TURN:
        return "QM latency"
    return "cores for QM" if waits else "GPUs, in bursts"


def replay(program: pathlib.Path, case: Case, assumptions: Assumptions, folder: pathlib.Path) -> dict:
    machine = Machine(case.gpus, case.cores)
    write_machine(machine, HERE.parent.parent / "perfmodels", folder)
    options = {"system": "R", "chains": case.chains, "updates": case.updates} | asdict(assumptions)
    command = [str(program)]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    done = subprocess.run(
        command,
        env=os.environ | machine.environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nfailed:\n{done.stderr}")
    return json.loads(done.stdout)


def markdown(rows: list[Row]) -> str:
    """One line for a number of chains and cores, a column for each number of GPUs."""
    gpus = sorted({row.case.gpus for row in rows})
    lines = [
        "| chains | cores | " + " | ".join(f"{n} GPU{'s' if n > 1 else ''}" for n in gpus) + " |",
        "|---|---|" + "---|" * len(gpus),
    ]
    for chains, cores in sorted({(row.case.chains, row.case.cores) for row in rows}):
        cells = {
            row.case.gpus: row
            for row in rows
            if (row.case.chains, row.case.cores) == (chains, cores)
        }
        texts = [cell(cells[n]) if n in cells else "" for n in gpus]
        lines.append(f"| {chains} | {cores} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def cell(row: Row) -> str:
    if row.case.updates == 0:
        return f"{1e6 / row.steps_per_second:.3f} us; GPU {100 * row.gpu_share:.0f} %; {row.limit}"
    shares = f"GPU {100 * row.gpu_share:.0f} %, QM {100 * row.qm_core_share:.0f} %"
    return f"{row.seconds_per_million:.0f} s; {shares}; {row.limit}"


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path, help="replay_chains")
    parser.add_argument("folder", type=pathlib.Path, help="for what is simulated, and results.json")
    parser.add_argument("--chains", type=numbers, default=[1, 8, 64])
    parser.add_argument("--gpus", type=numbers, default=[1, 2, 4, 8])
    parser.add_argument("--cores", type=numbers, default=[16, 32, 64, 128])
    parser.add_argument("--updates", type=int, default=3, help="of each chain; 0: none at all")
    for name, value in asdict(Assumptions()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    arguments = parser.parse_args()
    assumptions = Assumptions(**{name: getattr(arguments, name) for name in asdict(Assumptions())})
    arguments.folder.mkdir(parents=True, exist_ok=True)
    kept = arguments.folder / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    rows = []
    for chains in arguments.chains:
        for cores in arguments.cores:
            for gpus in arguments.gpus:
                case = Case(chains, gpus, cores, arguments.updates)
                key = case.key(assumptions)
                if key not in results:
                    results[key] = replay(arguments.program, case, assumptions, arguments.folder)
                    kept.write_text(json.dumps(results))
                rows.append(analyse(case, results[key], assumptions))
                print(f"{chains} chains, {cores} cores, {gpus} GPUs: {cell(rows[-1])}", file=sys.stderr)
    print(markdown(rows))


if __name__ == "__main__":
    main()
