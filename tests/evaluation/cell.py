"""The three figures of H. Perez-Sanchez and W. Wenzel's paper on the Cell processor, with the kernels of
`starpmc score`, beside what the paper states.

    python3 cell.py [--seconds 1] [--workers 1,2,16]

Speed-up over the plain kernel on one core against the number of workers, speed-up of one worker against
the granularity, the tasks of each worker against time; and the errors of the estimated root. Writes
cell-*.csv, cell.json and, where Python has matplotlib, cell-*.svg; prints the tables.
"""

import json
import os
import time

import evaluation
from evaluation import aligned, bounded, csv_text, read_csv

PARTICLES = 128
# Of a task, plain and SIMD: some milliseconds. One thread prepares and submits the tasks of all workers.
EVALUATIONS = {"scalar": 512, "simd": 4096}
GPU_EVALUATIONS = 65536
SIZES = (128, 256, 512, 2048, 8000)
GRANULARITIES = (1, 4, 16, 64, 256, 1024)
GOOD = 1e-6
PAPER = {
    "workers": "the paper (16 SPEs of two Cell processors, 3.2 GHz): scales well with the number of SPEs, "
               "optimised and not; about 150 times the PPE in all with 16 SPEs",
    "granularity": "the paper (one SPE): performance grows with the granularity and with the size of the "
                   "system; at most about 8,000 particles, and tasks of at least 100 ns",
    "tasks": "the paper: tasks are prepared first, then all SPEs work at the same time",
    "accuracy": "the paper takes the estimate alone (spu_rsqrte) and states no error",
}


class Cell:
    def __init__(self, request, folder):
        self._request = request
        self._folder = folder
        self._program = evaluation.Program(request.program)
        self._summary = {}

    def _poses(self, *words, program=None, particles=(PARTICLES,), evaluations=(1,), term="poses"):
        """bench.json of --term poses."""
        return (program or self._program).bench(
            "--term", term, "--seconds", self._request.seconds, "--seed", self._request.seed,
            "--particles", ",".join(map(str, particles)),
            "--evaluations", ",".join(map(str, evaluations)), *words)

    def _on_cores(self, count):
        """So many CPU workers, on as many cores: none is kept for devices, or for the program itself."""
        return self._program.with_environment(
            STARPU_NCPU=count, STARPU_RESERVE_NCPU=0, STARPU_NOPENCL=0)

    def _write(self, name, columns, rows):
        (self._folder / f"cell-{name}.csv").write_text(csv_text(columns, rows))

    def run(self):
        self._accuracy()
        one_core = self._poses("--implementation", "scalar", program=self._on_cores(1),
                               evaluations=(EVALUATIONS["scalar"],))
        self._plain = one_core["results"][0]["taskless_microseconds_per_evaluation"]
        self._summary["plain_seconds_per_evaluation"] = 1e-6 * self._plain
        pairs = (PARTICLES / 2) ** 2
        print(f"plain kernel on one core: {self._plain:.3g} us per evaluation "
              f"({1e6 * pairs / self._plain:.3g} pairs/s)\n", flush=True)
        self._gpus()
        self._workers()
        self._granularity()
        self._summary["paper"] = PAPER
        (self._folder / "cell.json").write_text(json.dumps(self._summary, indent=2) + "\n")
        evaluation.draw(draw, self._folder)

    def _accuracy(self):
        document = self._poses("--implementation", "simd", term="roots")
        self._summary["machine"] = document["machine"]
        print(evaluation.machine_text(document["machine"]))
        columns = ("instruction_set", "newton_steps", "rms_relative_error", "largest_error_of_pairs",
                   "nanoseconds_per_pair")
        rows = [[r["device"], r.get("newton_steps"), *(r[name] for name in columns[2:])]
                for r in document["results"]]
        self._write("accuracy", columns, rows)
        worst = {}
        for _, steps, error, *_ in rows:
            if steps is not None:
                worst[int(steps)] = max(worst.get(int(steps), 0), error)
        fewest = next((steps for steps in sorted(worst) if worst[steps] <= GOOD), max(worst))
        self._summary["fewest_newton_steps_for_1e-6"] = fewest
        print("Coulomb energies in fp32, sums in fp64; 1/sqrt from the processor's estimate")
        print(aligned([["", "Newton steps", "rms error", "largest", "ns/pair"], *(
            [name, "" if steps is None else f"{steps:.0f}", f"{error:.1e}", f"{largest:.1e}", f"{ns:.3f}"]
            for name, steps, error, largest, ns in rows)], 1), end="")
        print(f"  fewest steps for 1e-6: {fewest}\n  {PAPER['accuracy']}\n", flush=True)

    def _gpus(self):
        if all(device["is_cpu"] for device in self._summary["machine"]["opencl_devices"]):
            return
        for result in self._poses("--implementation", "opencl,any", "--workers", "all",
                                  evaluations=(GPU_EVALUATIONS,))["results"]:
            name, speedup = result["implementation"], self._plain / result["microseconds_per_evaluation"]
            self._summary.setdefault("speedup_with_gpu", {})[name] = speedup
            print(f"GPU, {name}: {speedup:.1f} times the plain kernel\n", flush=True)

    def _counts(self):
        machine = self._summary["machine"]
        most = len(machine["workers"]) - len(machine["opencl_devices"])
        powers = [2**i for i in range(most.bit_length()) if 2**i < most]
        return self._request.workers or [*powers, most]

    def _workers(self):
        columns = ("implementation", "workers", "evaluations_per_task", "microseconds_per_evaluation",
                   "speedup", "parallel_efficiency", "cores_speedup", "share_of_cores")
        counts = self._counts()
        rows, lines, first = [], [["workers", *2 * ["speed-up", "efficiency", "of cores"]]], {}
        for count in counts:
            lines.append([str(count)])
            for name, evaluations in EVALUATIONS.items():
                timeline = ["--timeline"] if (count, name) == (counts[-1], "simd") else []
                result = self._poses(
                    "--implementation", name, "--workers", "all", *timeline,
                    program=self._on_cores(count), evaluations=(evaluations,))["results"][0]
                microseconds = result["microseconds_per_evaluation"]
                speedup = self._plain / microseconds
                cores = self._plain / result["taskless_microseconds_per_evaluation"]
                efficiency = speedup / count / first.setdefault(name, speedup / count)
                rows.append((name, count, evaluations, microseconds, speedup, efficiency, cores,
                             speedup / cores))
                lines[-1] += [f"{speedup:.2f}", f"{100 * efficiency:.0f} %",
                              f"{100 * speedup / cores:.0f} %"]
                if timeline:
                    self._tasks(result["tasks"])
        self._summary["largest_speedup"] = max(row[4] for row in rows)
        self._write("workers", columns, rows)
        print(f"{PARTICLES} particles, plain and optimised, {' and '.join(map(str, EVALUATIONS.values()))}"
              " evaluations a task; of cores: of what the same threads give without tasks")
        print(f"{aligned(lines)}  {PAPER['workers']}\n", flush=True)

    def _tasks(self, tasks):
        self._write("tasks", tasks[0], [task.values() for task in tasks])
        self._summary["tasks"] = {
            "tasks": len(tasks), "seconds": 1e-3 * max(task["ended_ms"] for task in tasks),
            "worked_seconds": 1e-3 * sum(task["ended_ms"] - task["started_ms"] for task in tasks)}

    def _granularity(self):
        columns = ("particles", "evaluations_per_task", "pairs_per_task", "microseconds_per_task",
                   "kernel_microseconds_per_task", "speedup")
        program = self._on_cores(1)
        plain = {r["particles"]: r["taskless_microseconds_per_evaluation"] for r in self._poses(
            "--implementation", "scalar", program=program, particles=SIZES)["results"]}
        results = self._poses("--implementation", "simd", program=program, particles=SIZES,
                              evaluations=GRANULARITIES)["results"]
        rows, lines = [], {size: [str(size)] for size in SIZES}
        for r in results:
            speedup = plain[r["particles"]] / r["microseconds_per_evaluation"]
            rows.append([int(r[name]) for name in columns[:2]] + [r[name] for name in columns[2:5]]
                        + [speedup])
            lines[int(r["particles"])].append(f"{speedup:.2f}")
        self._write("granularity", columns, rows)
        print("one worker, optimised: times the plain kernel, by evaluations a task")
        header = ["particles", *map(str, GRANULARITIES)]
        print(aligned([header, *(line + [""] * (len(header) - len(line)) for line in lines.values())]),
              end="")
        print(f"  {PAPER['granularity']}\n  {PAPER['tasks']}\n", flush=True)


def draw(folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def save(figure, name):
        figure.tight_layout()
        figure.savefig(folder / f"cell-{name}.svg", metadata={"Date": None})
        plt.close(figure)

    def numbers(table, name):
        return [float(row[name]) for row in table]

    figure, axis = plt.subplots(figsize=(5, 4))
    table = read_csv(folder / "cell-workers.csv")
    for name, label, face in (("scalar", "not optimised", "white"), ("simd", "optimised", "black")):
        chosen = [row for row in table if row["implementation"] == name]
        workers = numbers(chosen, "workers")
        axis.plot(workers, numbers(chosen, "speedup"), "D-", color="black", mfc=face, label=label)
        axis.plot(workers, numbers(chosen, "cores_speedup"), ":", color="#888888",
                  label="the same cores without tasks" if name == "simd" else None)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log", base=2)
    axis.set_xlabel("workers")
    axis.set_ylabel("speed-up over the plain kernel on one core")
    axis.set_title("128 particles (the paper's figure 4)", fontsize=10)
    axis.legend(frameon=False)
    save(figure, "workers")

    figure, axis = plt.subplots(figsize=(5, 4))
    table = read_csv(folder / "cell-granularity.csv")
    for particles in dict.fromkeys(row["particles"] for row in table):
        chosen = [row for row in table if row["particles"] == particles]
        axis.plot(numbers(chosen, "evaluations_per_task"), numbers(chosen, "speedup"), "o-",
                  label=f"{particles} particles")
    axis.set_xscale("log", base=2)
    axis.set_xlabel("granularity (evaluations in a task)")
    axis.set_ylabel("speed-up of one worker")
    axis.set_title("one worker (the paper's figure 5)", fontsize=10)
    axis.legend(frameon=False)
    save(figure, "granularity")

    figure, axis = plt.subplots(figsize=(7, 3.5))
    table = read_csv(folder / "cell-tasks.csv")
    submitted = numbers(table, "submitted_ms")
    axis.broken_barh([(min(submitted), max(submitted) - min(submitted))], (-0.4, 0.8), color="#888888")
    workers = sorted({int(row["worker"]) for row in table})
    for line, worker in enumerate(workers, 1):
        spans = [(float(row["started_ms"]), float(row["ended_ms"]) - float(row["started_ms"]))
                 for row in table if int(row["worker"]) == worker]
        axis.broken_barh(spans, (line - 0.4, 0.8), color="#1f5fa8", edgecolor="white", lw=0.3)
    axis.set_yticks(range(len(workers) + 1), ["submission", *(f"worker {w}" for w in workers)])
    axis.invert_yaxis()
    axis.set_xlabel("time (ms)")
    axis.set_title("tasks of each worker (the paper's figure 6)", fontsize=10)
    save(figure, "tasks")


def main():
    parser = evaluation.arguments(__doc__.split("\n\n")[0], time.strftime("cell-%Y%m%d-%H%M%S"))
    parser.add_argument("--seconds", type=evaluation.SECONDS, default=1, help="of a measurement (1)")
    parser.add_argument("--workers", type=evaluation.numbers(os.cpu_count()),
                        help="numbers of CPU workers; 1, 2, 4, ... all by default")
    parser.add_argument("--seed", type=bounded(int, 0, 2**62), default=1, help="of the random charges")
    request = parser.parse_args()
    folder = evaluation.new_folder(request.output, "cell.json")
    Cell(request, folder).run()
    print(f"written: {folder}/cell-*")


if __name__ == "__main__":
    evaluation.main(main)
