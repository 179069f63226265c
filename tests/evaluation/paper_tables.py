"""The measurements of the paper's evaluation: each runs `starpmc bench` or `starpmc run` and arranges
what they tell in tables beside the published ones."""

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import inputs
import power
from evaluation import CONFIGS, Failure, counted
from published import (
    CYCLE_STEPS,
    GRID_POINTS,
    R_CYCLE_STEPS,
    SERIAL_CYCLE_R,
    SERIAL_RUN,
    SERIAL_SECONDS,
    UPDATES,
    WATERS,
    published,
)

# The paper's kernels and the operations that do their work.
KERNELS = {
    "monte_carlo": ("propose_moves",),
    "q3m_c/reduce": ("qmmm_coulomb_grid", "qmmm_coulomb_grid_reduce"),
    "mm_vdwc/reduce": ("mm_pair", "mm_pair_table", "mm_pair_reduce"),
    "q3m_vdwc": ("qmmm_nuclei_vdw",),
    "decide": ("metropolis_decide",),
}
GRID = "qmmm_coulomb_grid"
PRECISIONS = ("fp64", "mixed", "fixed")
GRID_SIZES = (250_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000)
INTERVALS = 10  # of figure 10, as `starpmc bench --intervals` makes them
MOST_INTERVAL = 2000  # steps: the paper's balancing interval
FEWEST_INTERVAL = 10
# Pairs per second a core and a device manage at least, to choose an interval without measuring.
CORE_PAIRS, DEVICE_PAIRS = 3e9, 5e11
SEVERAL_UPDATES = 3
FEWEST_RUN_STEPS = 200
METERED_SECONDS = 2  # power counters are renewed about ten times a second
WORKER_MEGABYTES = 1600  # of a QM program that holds chorismate's integrals (src/qm/README.md)
MEMORY_SHARE = 0.8


class Session:
    """What the measurements share."""

    def __init__(self, program, machine, request):
        self.program = program
        self.machine = machine
        self.request = request  # with tables, cases and seconds chosen
        self.devices = [d["worker"] for d in machine["opencl_devices"]]
        self.cores = len(machine["workers"]) - len(self.devices)
        self.single = request.implementation or ("simd,opencl" if self.devices else "simd")
        # PoCL's CPU device takes part only where --implementation names OpenCL.
        by_name = bool(request.implementation) and "opencl" in request.implementation
        self.whole = ("opencl,any" if by_name else "any") if self.devices else "simd"
        self._systems = {}

    @property
    def seconds(self):
        return self.request.seconds

    def has(self, key, *tables):
        """Whether a case was asked for; otherwise a note is added to the tables that need it."""
        if key in self.request.cases:
            return True
        for table in tables:
            table.notes.append(f"not measured: bench-{key} is not among --cases")
        return False

    def system(self, key):
        """What is told of a case in paper.json; its density is made where there is none."""
        if key not in self._systems:
            points, waters = self.request.points, self.request.waters
            trouble = "--waters or --points is given" if points or waters else ""
            known = {"points_with_charge": points or GRID_POINTS[key]}
            if not trouble:
                try:
                    known = inputs.make(self.program, key)
                except Failure as error:
                    trouble = str(error)
                    print(f"bench-{key} with a synthetic density: {trouble}", file=sys.stderr)
            self._systems[key] = {
                "waters": waters or WATERS[key], "grid_points": known["points_with_charge"],
                "paper_grid_points": GRID_POINTS[key], "synthetic_density": bool(trouble),
                "trouble": trouble}
        return self._systems[key]

    def describe(self, key):
        system = self.system(key)
        density = "density by the QM program"
        if system["synthetic_density"]:
            density = f"synthetic density, because: {system['trouble'].splitlines()[0]}"
        return (f"bench-{key}: {system['waters']} waters, {system['grid_points']} grid points (the "
                f"paper: {system['paper_grid_points']}), {density}")

    def systems(self):
        return {f"bench-{key}": system | {"description": self.describe(key)}
                for key, system in self._systems.items()}

    def bench(self, key, *words, program=None, points=None, seconds=None):
        """Results of `starpmc bench` on a case."""
        size = ["--waters", self.request.waters] if self.request.waters else []
        if points or self.request.points:
            size += ["--points", points or self.request.points]
        elif not self.system(key)["synthetic_density"]:
            size += ["--grid", inputs.files(key)[2]]
        words = ("--system", key, *size, "--seconds", seconds or self.seconds, *words)
        return (program or self.program).bench(*words)["results"]

    def is_whole(self, result):
        """Of all workers where there are devices, else of all cores."""
        if self.devices:
            return result["implementation"] == "any"
        return result["device"] == (f"{self.cores} cores" if self.cores > 1 else "1 core")

    def platform(self, result):
        device = result["device"]
        if device == "all workers":
            device += (f" ({counted(self.cores, 'core')}, "
                       f"{counted(len(self.devices), 'OpenCL device')})")
        return f"{device}, {result['implementation']}"

    def rows_of_devices(self):
        """{device of a figure that shows shares: its workers}: beside an OpenCL device the cores are
        one."""
        cores = [name for name in self.machine["workers"] if name not in self.devices]
        if not self.devices:
            return {name: [name] for name in cores}
        rows = {name: [name] for name in self.devices}
        return rows | ({counted(len(cores), "core"): cores} if cores else {})

    def one_worker_note(self):
        one = len(self.machine["workers"]) == 1
        return ["this machine has one worker only"] if one else []


def steps(results):
    return [result for result in results if result["term"] == "steps"]


def make_inputs(session):
    for key in session.request.cases:
        session.system(key)
    return []


def kernel_times(result, workers=None):
    """Microseconds per step of each of the paper's kernels, of some workers or all."""
    return {kernel: sum(entry["microseconds_per_step"] for entry in result["kernels"]
                        if entry["operation"] in operations
                        and (workers is None or entry["worker"] in workers))
            for kernel, operations in KERNELS.items()}


def grid_shares(session, result):
    """Percent of the grid's tasks of each device, with its workers."""
    tasks = {}
    for entry in result["kernels"]:
        if entry["operation"] == GRID:
            tasks[entry["worker"]] = tasks.get(entry["worker"], 0) + entry["tasks"]
    for name, workers in session.rows_of_devices().items():
        share = 100 * sum(tasks.get(worker, 0) for worker in workers) / max(sum(tasks.values()), 1)
        yield name, workers, share


def cycles_of(session, key):
    """A core in fp64, as the paper's serial program; then all sets of devices in mixed precision."""
    first, *_ = session.single.split(",")
    serial = session.bench(key, "--implementation", first, "--workers", "one", "--precision", "fp64",
                           "--term", "steps", "--write")
    whole = ",any" if session.devices else ""
    return steps(serial)[:1] + steps(session.bench(
        key, "--implementation", session.single + whole, "--precision", "mixed", "--term", "steps",
        "--write"))


def measure_cycles(session):
    table, figure, kernels, devices = map(published, ("table-3", "figure-8", "table-4", "figure-9"))
    cycles = set(session.request.tables) & {table.key, figure.key}
    for key in "ABC" if cycles else "A":
        if not session.has(key, *([table] if cycles else []), *(
                [kernels, devices] if key == "A" else [])):
            continue
        try:
            results = cycles_of(session, key)
        except Failure as error:  # the others are measured all the same
            table.notes.append(f"bench-{key} not measured: {error}")
            continue
        table.notes.append(session.describe(key))
        add_cycles(session, f"bench-{key}", results, table, figure)
        if key == "A":
            add_kernels(session, results, kernels)
            add_devices(session, results, devices)
    table.notes.append("output: an energy every 100 steps and a frame every 1,000, as a run writes them;"
                       " times are those of 10,000 of the steps measured")
    figure.notes.append("own core: this machine's first row of the benchmark in table 3")
    return [table, figure, kernels, devices]


def add_cycles(session, name, results, table, figure):
    scale = CYCLE_STEPS * 1e-6
    first = scale * results[0]["microseconds_per_step"]
    for result in results:
        total = scale * result["microseconds_per_step"]
        row = (session.platform(result), result["precision"], name)
        table.add(*row, total, scale * result["writing_microseconds_per_step"], result["steps"])
        figure.add(*row, first / total, SERIAL_SECONDS[name] / total)


def add_kernels(session, results, table):
    """The kernels of single devices, beside the first: a core in fp64."""
    first = None
    for result in results:
        if result["device"] != "1 core" and result["device"] not in session.devices:
            continue
        times = kernel_times(result)
        times["total"] = sum(times.values())
        for kernel, time in times.items():
            table.add(session.platform(result), result["precision"], kernel, time,
                      100 * time / times["total"], first and first[kernel] / max(time, 1e-12))
        first = first or times
    table.notes.append(session.describe("A"))
    table.notes.append("a task per term; speed-up: over this machine's first row, as in the paper a core"
                       " in fp64")
    if not session.devices:
        table.notes.append("this machine has no GPU (PoCL's CPU device: --implementation simd,opencl)")


def add_devices(session, results, figure):
    whole = next(r for r in results if session.is_whole(r) and r["precision"] == "mixed")
    for name, workers, share in grid_shares(session, whole):
        for kernel, time in kernel_times(whole, workers).items():
            figure.add(name, kernel, time / len(workers), share if GRID in KERNELS[kernel] else None)
    figure.notes += [
        session.describe("A"),
        (f"mixed precision, a task per term, placed by StarPU ({session.machine['scheduler']}) on "
        f"{session.platform(whole)}"),
        "times of several cores: the mean of them", *session.one_worker_note()]


def measure_convergence(session):
    figure = published("figure-10")
    # bench-C as in the paper, where it was asked for; it takes minutes to make.
    key = "C" if "C" in session.request.cases else "A"
    if not session.has(key, figure):
        return [figure]
    rate = CORE_PAIRS * session.cores + DEVICE_PAIRS * len(session.devices)
    fitting = 3 * session.seconds / INTERVALS * rate / (3 * session.system(key)["grid_points"])
    interval = int(min(max(fitting, FEWEST_INTERVAL), MOST_INTERVAL))
    with tempfile.TemporaryDirectory() as models:  # none at all: what is known of this machine stays
        program = session.program.with_environment(STARPU_PERF_MODEL_DIR=models + "/")
        results = session.bench(key, "--implementation", session.whole, "--workers", "all",
                                "--precision", "mixed", "--term", "steps", "--intervals", interval,
                                program=program)
    for result in filter(session.is_whole, results):
        for name, _, share in grid_shares(session, result):
            figure.add(result["steps_so_far"], name, share, result["microseconds_per_step"])
    figure.notes += [
        session.describe(key), (f"shares are those of the grid's tasks in the {interval} steps before; "
        f"scheduler {session.machine['scheduler']}"), *session.one_worker_note()]
    return [figure]


def measure_scaling(session):
    figure = published("figure-11")
    if not session.has("A", figure):
        return [figure]
    program, implementation, note = session.program, "simd", ""
    if len(session.devices) >= 2:
        implementation = "opencl"
    elif session.devices and session.cores:
        implementation = "opencl,any"
        note = "this machine has one OpenCL device: the cores are the second"
    elif session.cores >= 2:
        program = program.with_environment(STARPU_NCPU=2)
        note = "this machine has no GPU: two cores instead of two devices"
    else:
        figure.notes.append("not measured: this machine has one worker, so no second device")
        return [figure]
    most = session.request.points or GRID_SIZES[-1]
    for size in sorted({min(size, most) for size in GRID_SIZES}):
        results = steps(session.bench("A", "--implementation", implementation, "--precision", "mixed",
                                      "--term", "steps", program=program, points=size,
                                      seconds=session.seconds / 2))
        one, both = results[0], results[-1]
        times = one["microseconds_per_step"], both["microseconds_per_step"]
        figure.add(f"{one['device']}; {session.platform(both)}", size, *times, times[0] / times[1])
    figure.notes.append("one chain of bench-A with synthetic densities, mixed precision; how the grid is"
                        " cut, and whether at all, is StarPU's models' choice")
    figure.notes += [note] if note else []
    return [figure]


def chains_that_fit(cpu_workers):
    """One per CPU worker, as far as four fifths of the free memory hold their QM programs."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            free = MEMORY_SHARE * int(line.split()[1]) / 1024
            return max(1, min(cpu_workers, int(free / WORKER_MEGABYTES)))
    return max(1, cpu_workers)


def run_whole(program, chains, updates, interval):
    """A shortened run of bench-R: seconds, of an update (mean of the later ones), shares of the
    workers' time."""
    with tempfile.TemporaryDirectory(prefix="starpmc-run-") as folder:
        summary = program.run(CONFIGS / "bench-R.cfg", Path(folder) / "run", "--sampling.chains", chains,
                              "--sampling.steps", interval * updates, "--qm.interval", interval)
    later = [sum(update[f"seconds_{part}"] for part in ("embedding", "scf", "density"))
             for chain in summary.get("chains", [summary]) for update in chain["qm_updates"][1:]]
    workers = summary["worker_tasks"]
    return {"chains": chains, "updates": updates, "wall_seconds": summary["wall_seconds"],
            "update_seconds": sum(later) / len(later) if later else 0.0,
            **{share: sum(worker[share] for worker in workers) / len(workers)
               for share in ("share_qm", "share_sampling")}}


def extrapolate(one, several, cycle_seconds):
    """Seconds of the paper's whole run by n chains, which share its steps and updates: the first update
    and the start count once, the rest in proportion.

    cycle_seconds: of the steps between two updates that were left out of the shortened runs
    """
    later = (several["wall_seconds"] - one["wall_seconds"]) / (several["updates"] - one["updates"])
    # Runs of milliseconds may differ by less than what is in them for certain.
    iteration = max(later, several["update_seconds"]) + cycle_seconds
    return (one["wall_seconds"] + cycle_seconds
            + (UPDATES / several["chains"] - one["updates"]) * iteration)


def measure_r_cycles(session, chains):
    """(platform, precision, chains, seconds in which each chain makes 50,000 steps): one core in fp64
    and mixed precision, then the whole machine with one and with n chains."""
    counts = sorted({1, chains})
    words = ("--precision", "fp64,mixed", "--term", "steps")
    results = session.bench("R", "--implementation", "simd", "--workers", "one", *words)
    if session.devices or session.cores > 1 or chains > 1:
        results += filter(session.is_whole, session.bench(
            "R", "--implementation", session.whole, "--workers", "all", *words, "--chains",
            ",".join(map(str, counts))))
    cycles = {}
    for result in results:
        count = int(result["chains"])
        cycles.setdefault(
            (session.platform(result), result["precision"], count),
            R_CYCLE_STEPS * count * 1e-6 * result["microseconds_per_step"])
    return [(*row, seconds) for row, seconds in sorted(
        cycles.items(), key=lambda item: (item[0][0] != session.platform(results[0]),
                                          PRECISIONS.index(item[0][1]), item[0][2]))]


def measure_runs(session, table, cycles):
    """{chains: (its longer run, seconds of the whole run)}; why there is none as a note."""
    runs = {}
    for count in sorted({row[2] for row in cycles}):
        cycle = next(row[3] for row in reversed(cycles) if row[1:3] == ("mixed", count))
        fitting = 3 * session.seconds / cycle * R_CYCLE_STEPS
        interval = int(min(max(fitting, FEWEST_RUN_STEPS), R_CYCLE_STEPS))
        try:
            one, several = (run_whole(session.program, count, updates, interval)
                            for updates in (1, SEVERAL_UPDATES))
        except Failure as error:
            table.notes.append(f"{counted(count, 'chain')}: whole run not measured: {error}")
            continue
        left_out = (1 - interval / R_CYCLE_STEPS) * cycle
        runs[count] = several, extrapolate(one, several, left_out)
        table.notes.append(
            f"{counted(count, 'chain')}: two runs of `starpmc run configs/bench-R.cfg` with 1 and "
            f"{SEVERAL_UPDATES} QM updates a chain, {interval} steps between them, took "
            f"{one['wall_seconds']:.1f} and {several['wall_seconds']:.1f} s; in the longer one QM took "
            f"{100 * several['share_qm']:.0f} % and sampling {100 * several['share_sampling']:.0f} % "
            "of the workers' time")
    return runs


def measure_chains(session):
    five, six = published("table-5"), published("table-6")
    if not session.has("R", five, six):
        return [five, six]
    five.notes.append(session.describe("R"))
    chains = session.request.chains or chains_that_fit(session.cores)
    cycles = measure_r_cycles(session, chains)
    runs = measure_runs(session, five, cycles)
    wholes = []
    for row in cycles:
        _, precision, count, cycle = row
        last = next(r for r in reversed(cycles) if r[1:3] == ("mixed", count))
        several, extrapolated = runs.get(count, (None, None))
        update = several and several["update_seconds"]
        whole = extrapolated if row == last or several is None else UPDATES / count * (cycle + update)
        wholes.append(whole)
        five.add(*row, cycles[0][3] / cycle, update, whole, whole and wholes[0] and wholes[0] / whole)
        if precision == "mixed":
            six.add(row[0], count, cycle, SERIAL_CYCLE_R / cycle, whole, whole and SERIAL_RUN / whole)
    five.notes += [
        "cycle: the time in which every chain makes 50,000 steps; speed-ups: over the machine's first row",
        ("the whole run is extrapolated from those two; that of rows in other precisions or on other "
        "workers is 496 times cycle and update; n chains share the 496 updates")]
    six.notes.append("mixed precision; more in the notes of table 5")
    return [five, six]


def measure_precisions(session):
    speeds, energies = published("table-7"), published("table-9")
    if not session.has("A", speeds, energies):
        return [speeds, energies]
    devices = session.machine["opencl_devices"]
    cases = [{"implementation": name, "device": ""} for name in session.single.split(",")
             if name != "opencl"]
    cases += [{"implementation": "opencl", "device": d["worker"]} for d in devices]
    counters = [power.counter_of(case, devices) for case in cases]
    with ExitStack() as stack:
        meters = {counter.name: stack.enter_context(power.Meter(counter))
                  for counter, _ in counters if counter}
        seconds = max(session.seconds / 2, METERED_SECONDS if meters else 0)
        results = session.bench("A", "--implementation", session.single, "--workers", "both",
                                "--precision", ",".join(PRECISIONS), "--term", "grid",
                                seconds=seconds)
    first = None
    rows = {}
    for result in results:
        if result["term"] == GRID:
            rows.setdefault(session.platform(result), []).append(result)
    for device, of_device in rows.items():
        counter, why = power.counter_of(of_device[0], devices)
        energy = add_precisions(device, of_device, meters.get(counter.name) if counter else None,
                                first, speeds, energies)
        first = first or energy
        energies.notes.append(f"{device}: " + (f"power by {counter.name}" if counter
                                               else f"no power readings: {why}"))
    for table in (speeds, energies):
        table.notes.append(session.describe("A"))
    return [speeds, energies]


def add_precisions(device, results, meter, first, speeds, energies):
    """Rows of both tables; microseconds per step in fp64, the first precision."""
    fp64 = results[0]["microseconds_per_step"]
    joules = None  # of a step in fp64, in units of 1e-6
    for result in results:
        own, precision = result["microseconds_per_step"], result["precision"]
        watts = meter and meter.mean_watts(result["began_unix_s"], result["ended_unix_s"])
        joules = joules or (watts and watts * own)
        savings = None if precision == "fp64" or not watts else 100 * (1 - watts * own / joules)
        if precision != "fp64":
            speeds.add(device, precision, fp64 / own)
        energies.add(device, precision, own, watts, (first or fp64) / own, savings)
    return fp64


def measure_errors(session):
    table = published("table-8")
    if not session.has("A", table):
        return [table]
    results = session.bench("A", "--implementation", session.single, "--precision", "mixed,fixed",
                            "--term", "errors", "--proposals", session.request.proposals)
    for result in results:
        table.add(session.platform(result), result["precision"], *(
            result[f"{term}_{kind}_error_kj_per_mol"]
            for term in ("grid", "total") for kind in ("mean", "max")))
    table.notes += [session.describe("A"),
                    f"{session.request.proposals} proposals; reference: SIMD in fp64"]
    return [table]
