"""What StarPU's variables do here: microseconds of a step with each, beside those with the program's defaults.

    python3 starpu_variables.py [--device] [--chains 1,4] [--points 183000] [--seconds 4] [--rounds 3]

bench-R's box with a density of random points, of which nothing is updated. Every round has all settings in
turn; each row is the median of its ratios to the same round's defaults. --device: PoCL's device takes part
where there is no GPU. Writes starpu-variables.json and prints a table. Needs NumPy.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import evaluation
import inputs
from evaluation import CONFIGS, HERE, InputError, bounded, counted, numbers

sys.path.insert(0, str(HERE.parent / "reference"))
from learning import nuclei_of_solute, random_points
from reference_energies import write_grid

ELECTRONS_OF_R = 118
FIRST_STEPS = 20_000  # of the run that tells how many steps take as long as is wanted
QUIET = ("--sampling.equilibration-steps", 0, "--output.energy-interval", 10_000,
         "--output.trajectory-interval", 10_000_000, "--output.overwrite", "true")
DEFAULTS = "the program's defaults"
SETTINGS = {
    DEFAULTS: {},
    "the same once more": {},
    "STARPU_SCHED=dmdas": {"STARPU_SCHED": "dmdas"},
    "STARPU_SCHED=lws": {"STARPU_SCHED": "lws"},
    "STARPU_SCHED=eager": {"STARPU_SCHED": "eager"},
    "STARPU_SCHED=random": {"STARPU_SCHED": "random"},
    "STARPU_OPENCL_PIPELINE=0": {"STARPU_OPENCL_PIPELINE": 0},
    "STARPU_OPENCL_PIPELINE=2": {"STARPU_OPENCL_PIPELINE": 2},
    "STARPU_CALIBRATE=1": {"STARPU_CALIBRATE": 1},
    "STARPU_NCPU=1": {"STARPU_NCPU": 1},
    "STARPU_RESERVE_NCPU=1": {"STARPU_RESERVE_NCPU": 1},
    "STARPU_WORKERS_NOBIND=1": {"STARPU_WORKERS_NOBIND": 1},
    "STARPU_PREFETCH=0": {"STARPU_PREFETCH": 0},
    "STARPU_BACKOFF_MAX=1": {"STARPU_BACKOFF_MAX": 1},
    "STARPU_WORKER_STATS=1 STARPU_PROFILING=1": {"STARPU_WORKER_STATS": 1, "STARPU_PROFILING": 1},
    "STARPU_FXT_TRACE=1": {"STARPU_FXT_TRACE": 1},
    "no models (STARPU_HOME of its own)": {},
    "models of another machine (STARPU_HOSTNAME)": {"STARPU_HOSTNAME": "16cpu-avx3-nvidia_h100_80gb_hbm3"},
}
DEVICE = "OPENCL"  # in the names of settings that mean nothing without one


class Session:
    def __init__(self, request, folder):
        self.request = request
        self.folder = folder
        program = evaluation.Program(request.program)
        more = {"STARPU_OPENCL_ON_CPUS": 1} if request.device else {}
        self.program = program.with_environment(STARPU_FXT_PREFIX=f"{folder}/", **more)
        self.machine = self.program.machine("--implementation", "any")
        self.grid = folder / "random.grid"
        structure, topology = (evaluation_input(ending) for ending in ("gro", "top"))
        self.inputs = ("--system.coordinates", structure, "--system.topology", topology)
        points = random_points(request.points, nuclei_of_solute(structure))
        points[:, 3] = -ELECTRONS_OF_R / request.points
        write_grid(self.grid, points)

    def settings(self):
        device = any("OpenCL" in worker for worker in self.machine["workers"])
        return {name: variables for name, variables in SETTINGS.items() if device or DEVICE not in name}

    def microseconds(self, name, variables, chains, steps):
        """(of a step, SHA-256 of the decisions): of sampling alone, without start and end."""
        if name.startswith("no models"):
            home = tempfile.mkdtemp(dir=self.folder)
            empty = tempfile.mkdtemp(dir=self.folder)
            variables = {"STARPU_HOME": home, "STARPMC_PERFMODELS": empty}
        summary = self.program.with_environment(**variables).run(
            CONFIGS / "bench-R.cfg", self.folder / "out", *self.inputs, *QUIET, "--qm.engine", "frozen",
            "--qm.grid-file", self.grid, "--sampling.chains", chains, "--sampling.steps", steps)
        return 1e6 / summary["steps_per_second"], [chain["decisions_sha256"] for chain in summary.get("chains", [summary])]

    def steps(self, chains):
        self.microseconds(DEFAULTS, {}, chains, FIRST_STEPS)  # models
        microseconds, _ = self.microseconds(DEFAULTS, {}, chains, FIRST_STEPS)
        return max(FIRST_STEPS, round(self.request.seconds * 1e6 / microseconds / chains))


def evaluation_input(ending):
    """A file of bench-R's box in the program's cache."""
    file = next(file for file in inputs.files("R") if file.suffix == f".{ending}")
    if not file.exists():
        raise InputError(str(file), "there is no such box", "", "make it: python3 inputs.py R")
    return file


def measure(session, chains):
    """{setting: ratios to the defaults}, microseconds of a step with these."""
    steps = session.steps(chains)
    ratios = {}
    defaults = []
    for _ in range(session.request.rounds):
        base = None
        for name, variables in session.settings().items():
            microseconds, decisions = session.microseconds(name, variables, chains, steps)
            if base is None:
                base, expected = microseconds, decisions
                defaults.append(base)
            if decisions != expected:
                raise evaluation.Failure(f"{name}: other decisions than with {DEFAULTS}")
            ratios.setdefault(name, []).append(microseconds / base)
            print(f"  {counted(chains, 'chain')}, {name}: {microseconds:.2f} us a step", file=sys.stderr,
                  flush=True)
    return ratios, statistics.median(defaults)


def table(columns):
    """Markdown: {chains: ({setting: ratios}, microseconds)}."""
    lines = ["| | " + " | ".join(counted(chains, "chain") for chains in columns) + " |",
             "|---|" + "---|" * len(columns)]
    for name in next(iter(columns.values()))[0]:
        cells = [f"{microseconds:.2f} us" if name == DEFAULTS else f"{statistics.median(ratios[name]):.2f}"
                 for ratios, microseconds in columns.values()]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = evaluation.arguments(__doc__.split("\n\n")[0],
                                  time.strftime("starpu-variables-%Y%m%d-%H%M%S"))
    parser.add_argument("--device", action="store_true",
                        help="PoCL's device takes part where there is no GPU")
    parser.add_argument("--chains", type=numbers(64), default=[1, 4], help="(1,4)")
    parser.add_argument("--points", type=bounded(int, 1000, 10**8), default=183_000,
                        help="of the density (%(default)s)")
    parser.add_argument("--seconds", type=evaluation.SECONDS, default=4, help="of a run (%(default)s)")
    parser.add_argument("--rounds", type=bounded(int, 1, 100), default=3, help="(%(default)s)")
    request = parser.parse_args()
    results = evaluation.new_folder(request.output, "starpu-variables.json")
    with tempfile.TemporaryDirectory(prefix="starpu-variables-") as folder:
        session = Session(request, Path(folder))
        columns = {chains: measure(session, chains) for chains in request.chains}
    document = {"machine": session.machine,
                "chains": {chains: {"microseconds": microseconds, "ratios": ratios}
                           for chains, (ratios, microseconds) in columns.items()}}
    (results / "starpu-variables.json").write_text(json.dumps(document, indent=1))
    print(evaluation.machine_text(session.machine) + table(columns))
    return 0


if __name__ == "__main__":
    evaluation.main(main)
