"""How several chains with QM updates scale: bench-R with its QM program, n chains on n cores (and the
devices), each with as many updates, against one; in turn with n QM programs without chains, which shows
what the machine itself loses when so many of its cores work.

    python3 chains.py [--chains 1,8,14] [--updates 8]

Writes chains.csv and chains.json and prints a table. The QM program is this Python's PySCF, unless
STARPMC_PYTHON names another.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import evaluation
import paper_tables
from evaluation import CONFIGS, WORKERS, Failure, aligned, bounded, counted, csv_text

sys.path.insert(0, str(WORKERS))
from worker_protocol import Channel

ROUNDS = 3  # what a machine gives changes from minute to minute: everything in turn, and medians
STEPS = 1000  # between two updates: the time of a round is that of the updates
# As configs/bench-R.cfg and the program's defaults ask for.
REQUEST = {
    "charge": -2, "multiplicity": 1, "method": "pbe", "basis": "def2-svp", "density_fitting": True,
    "grid_radial": 30, "grid_angular": 302, "scf_grid_radial": 50, "scf_grid_angular": 194,
    "energy_convergence_hartree": 1e-8, "max_iterations": 100, "embedding": "quadrature", "threads": 1,
    "memory_mb": 4000}
FIELD = 20  # kJ/mol per elementary charge and angstrom, the largest component: as water's
TURN = 2.4  # radians, of the field from update to update: no two alike
EXPLANATION = """\
  run: medians of three rounds in turn, n chains on n cores (and the devices); / one: over the first row
  alone: as many QM programs without starpmc's chains, which shows what the machine itself loses
  the paper: 1.18 times one chain
"""


class Engine:
    """A QM program, spoken to as starpmc does, in a uniform field instead of the waters'."""

    def __init__(self):
        script = Path(os.environ.get("STARPMC_WORKERS") or WORKERS) / "pyscf_worker.py"
        if not script.exists():
            raise Failure(f"there is no {script}")
        self._process = subprocess.Popen(
            [os.environ.get("STARPMC_PYTHON") or sys.executable, script], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._receive()
        lines = (CONFIGS / "chorismate.xyz").read_text().splitlines()
        atoms = [line.split() for line in lines[2 : 2 + int(lines[0])]]
        self._positions = [[float(x) for x in atom[1:4]] for atom in atoms]
        self._channel.send("init", {"positions": self._positions},
                           elements=[atom[0] for atom in atoms], **REQUEST)
        while (answer := self._receive())[0]["type"] != "ready":
            pass
        self._points = answer[1]["points"].T

    def _receive(self):
        header, arrays = self._channel.receive()
        if header is None or header["type"] == "error":
            raise Failure(f"the QM program: {header['message'] if header else 'it has ended'}")
        return header, arrays

    def update(self, number):
        import numpy

        angle = TURN * number
        field = FIELD * numpy.array([math.cos(angle), math.sin(angle), math.cos(2 * angle)])
        self._channel.send("update", {
            "potential": self._points @ field, "nuclear_potential": numpy.array(self._positions) @ field,
            "charge_positions": numpy.zeros((0, 3)), "charges": numpy.zeros(0)})
        self._receive()

    def end(self):
        self._process.kill()
        self._process.communicate()


def run_engine(updates):
    """When it was ready, and when it had done its updates."""
    engine = Engine()
    try:
        ready = time.monotonic()
        for number in range(updates):
            engine.update(number)
        return ready, time.monotonic()
    finally:
        engine.end()


def alone_seconds(engines, updates):
    """From the first program's readiness to the last one's last update."""
    with ThreadPoolExecutor(engines) as pool:
        spans = list(pool.map(run_engine, [updates] * engines))
    return max(done for _, done in spans) - min(ready for ready, _ in spans)


def run_seconds(program, chains, updates):
    """On as many cores as chains, beside the devices: else one chain would sample with all of them."""
    program = program.with_environment(STARPU_NCPU=chains)
    return paper_tables.run_whole(program, chains, updates, STEPS)["wall_seconds"]


def table(scaling):
    one = scaling[0]
    lines = [["chains", "run s", "/ one", "alone s", "/ one", "run / alone"]]
    for row in scaling:
        run, alone = row["run_seconds"], row["alone_seconds"]
        values = (run, run / one["run_seconds"], alone, alone / one["alone_seconds"], run / alone)
        lines.append([str(row["chains"]), *(f"{value:.2f}" for value in values)])
    return aligned(lines)


def main():
    parser = evaluation.arguments(__doc__.split("\n\n")[0], time.strftime("chains-%Y%m%d-%H%M%S"))
    parser.add_argument("--chains", type=evaluation.numbers(1024),
                        help="numbers of chains; by default one, and one per CPU worker")
    parser.add_argument("--updates", type=bounded(int, 1, 1000), default=8, help="of each chain (8)")
    request = parser.parse_args()
    program = evaluation.Program(request.program)
    machine = program.machine()
    cores = len(machine["workers"]) - len(machine["opencl_devices"])
    counts = request.chains or sorted({1, paper_tables.chains_that_fit(cores)})
    folder = evaluation.new_folder(request.output, "chains.*")
    print(evaluation.machine_text(machine))
    print(f"bench-R, {request.updates} QM updates of each chain, {STEPS} steps between them", flush=True)
    rows = []
    for number in range(1, ROUNDS + 1):
        for count in counts:
            run = run_seconds(program, count, request.updates)
            alone = alone_seconds(count, request.updates)
            rows.append((number, count, request.updates, run, alone))
            print(f"round {number}, {counted(count, 'chain')}: {run:.2f} s, alone {alone:.2f} s",
                  flush=True)
    scaling = [{"chains": count, "updates": request.updates,
                "run_seconds": statistics.median(row[3] for row in rows if row[1] == count),
                "alone_seconds": statistics.median(row[4] for row in rows if row[1] == count)}
               for count in counts]
    columns = ("round", "chains", "updates", "run_seconds", "alone_seconds")
    (folder / "chains.csv").write_text(csv_text(columns, rows))
    document = {"machine": machine, "scaling": scaling}
    (folder / "chains.json").write_text(json.dumps(document, indent=2) + "\n")
    print(f"\n{table(scaling)}{EXPLANATION}\nwritten: {folder}/chains.*")


if __name__ == "__main__":
    evaluation.main(main)
