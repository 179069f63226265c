"""What more devices are worth to one chain: steps of one device alone, of a team of two, four ... devices
(--run.tasks team), of all devices as the program uses them (--run.tasks auto), and, where asked for, of one
device with all cores.

    python3 devices.py [--devices 2] [--points 250000,1753200] [--precisions mixed,fp64] [--time 200]

bench-A's box with densities of random points, and those of bench-R, B and C with as many as these have. Times
of a step are differences between runs of two lengths, so that starting, reading and finding out what is best
do not count. Measures one case after another, as often as the time allows, and writes devices.json after each.
Needs NumPy.
"""

import json
import re
import statistics
import sys
import time
from pathlib import Path

import evaluation
from evaluation import CONFIGS, HERE, Failure, aligned, bounded, choose, numbers

sys.path.insert(0, str(HERE.parent / "reference"))
from learning import ELECTRONS, nuclei_of_solute, random_points
from reference_energies import write_grid

PRECISIONS = ("mixed", "fp64", "fixed")
ELECTRONS_OF = {"A": ELECTRONS, "B": ELECTRONS, "C": 248, "R": 118}
# Of the systems whose number of points is not asked for.
POINTS_OF = {"R": 183_000, "B": 1_753_200, "C": 3_015_504}
POINTS_OF_A = 1_753_200
# The program tries ways of making windows, 10 tries of at most 200 steps in each of two tasks' 64 windows; a
# team that is not compared with one device 4, to cut its blocks. A try ends after 0.2 s.
TRIED = {"windows": 20_000, "team": 4 * 25_600, "auto": 10 * 25_600}
TRIED_SECONDS = {"windows": 0.3, "team": 1.0, "auto": 2.4}
WARM_UP = 400
SECONDS = 0.8  # of the difference, as guessed
# Guessed microseconds of a step on an H100, and more for each point.
STEP, POINT = 0.8, {"mixed": 1.15e-6, "fixed": 1.3e-6, "fp64": 4e-6}
WINDOW = 200
SPARSE = ("--output.energy-interval", 10_000, "--output.trajectory-interval", 10_000_000,
          "--output.overwrite", "true", "--sampling.equilibration-steps", 0,
          "--sampling.chains", 1)
TOLD = re.compile(r"one chain on (\d+) workers.*?: ([\d., ]+) % of the density")


def ways_of(request):
    """By name: run.tasks, devices, and cores, of which none stands for as many as there are."""
    teams = {f"team {n}": ("team", n, request.cores) for n in (2, 4, 8) if n < request.devices}
    return {
        "one": ("windows", 1, request.cores), **teams,
        f"team {request.devices}": ("team", request.devices, request.cores),
        "auto": ("auto", request.devices, request.cores),
        **({"cores": ("auto", 1, None)} if request.all_cores else {}),
    }  # fmt: skip


class Session:
    def __init__(self, request, folder):
        self.request = request
        self.folder = folder
        self.began = time.monotonic()
        self.program = evaluation.Program(request.program)
        self.ways = ways_of(request)
        self.grids = {}

    def seconds(self):
        return time.monotonic() - self.began

    def left(self):
        return self.request.time - self.seconds()

    def workers(self, way):
        tasks, devices, cores = self.ways[way]
        program = self.program.with_environment(STARPU_NOPENCL=devices)
        return tasks, program if cores is None else program.with_environment(STARPU_NCPU=cores)

    @staticmethod
    def points(system, count, nuclei):
        points = random_points(count, nuclei)
        points[:, 3] *= ELECTRONS_OF[system] / ELECTRONS
        return points

    def grid(self, system, points):
        """A stored density of random points; one at a time, since they are large."""
        if (system, points) not in self.grids:
            for path in self.grids.values():
                path.unlink()
            self.grids.clear()
            cache = Path.home() / ".cache" / "starpmc" / "bench" / f"bench-{system}.gro"
            path = self.folder / f"{system}-{points}.grid"
            if not cache.exists():  # a check makes the box
                self.program.call("check", CONFIGS / f"bench-{system}.cfg")
            write_grid(path, self.points(system, points, nuclei_of_solute(cache)))
            self.grids[system, points] = path
        return self.grids[system, points]

    def run(self, case, way, steps):
        system, points, precision = case
        tasks, program = self.workers(way)
        out = self.folder / f"out-{way}"
        summary = program.run(
            CONFIGS / f"bench-{system}.cfg", out, "--qm.engine", "frozen", "--qm.grid-file",
            self.grid(system, points), "--run.precision", precision, "--run.tasks", tasks,
            "--run.implementation", self.request.implementation, "--sampling.steps", steps, *SPARSE)
        return summary, (out / "run.log").read_text(errors="replace")

    def lengths(self, case, way):
        """Of the shorter run, and of the longer one, which all ways share: their decisions are compared."""
        _, points, precision = case
        step = (STEP + points * POINT[precision]) / 1e6

        def tried(tasks):
            steps = min(TRIED[tasks], TRIED_SECONDS[tasks] / step) * self.request.scale
            return max(WINDOW, int(steps))

        most = tried("auto")
        long = most + max(2000, int(SECONDS / step)) if self.request.scale == 1 else 2 * most
        return tried(self.ways[way][0]), long

    def measure(self, case, way):
        """Microseconds of a step, bytes of 200 steps, and what the run says of itself."""
        short, long = self.lengths(case, way)
        (first, _), (second, log) = (self.run(case, way, steps) for steps in (short, long))
        seconds = second["wall_seconds"] - first["wall_seconds"]
        moved = [run["schedule"]["bytes_between_memories"] for run in (first, second)]
        told = TOLD.findall(log)
        return {
            "step_us": 1e6 * seconds / (long - short),
            "bytes_of_200_steps": (moved[1] - moved[0]) * WINDOW / (long - short),
            "decisions_sha256": second["decisions_sha256"],
            "shares_percent": [float(x) for x in told[-1][1].split(", ")] if told else [],
            "log": [line for line in log.splitlines() if "one chain" in line],
        }  # fmt: skip

    def rows(self, measured):
        return [row_of(case, rounds, self.ways) for case, rounds in measured.items() if rounds]


def cases_of(request):
    """In the order of what matters most, if time runs out."""
    sizes = sorted(request.points, key=lambda points: (points != POINTS_OF_A, -points))
    others = [(system, POINTS_OF[system]) for system in request.systems if system != "A"]
    # bench-R after the first size, since it is what users have; the others' boxes cost little more.
    order = [("A", points) for points in sizes[:1]] + others + [("A", points) for points in sizes[1:]]
    return [(*case, precision) for precision in request.precisions for case in order]


def row_of(case, rounds, ways):
    """Medians over the rounds so far."""
    system, points, precision = case
    hashes = {r[way]["decisions_sha256"] for r in rounds for way in ways}
    step = {way: statistics.median(r[way]["step_us"] for r in rounds) for way in ways}
    last = rounds[-1]
    most = [way for way in ways if way.startswith("team")][-1]
    return {
        "system": system, "points": points, "precision": precision, "rounds": len(rounds),
        "step_us": step, "gain": {way: step["one"] / step[way] for way in ways},
        "bytes_of_200_steps": last[most]["bytes_of_200_steps"],
        "shares_percent": last[most]["shares_percent"], "log": last["auto"]["log"],
        "hashes": len(hashes), "decisions_sha256": last["one"]["decisions_sha256"],
    }  # fmt: skip


def text(rows):
    ways = list(rows[0]["step_us"]) if rows else []
    lines = [("bench", "points", "precision", *(f"{way} us" for way in ways), *ways[1:], "bytes", "shares %",
              "hashes")]
    for row in rows:
        lines.append((
            row["system"], str(row["points"]), row["precision"],
            *(f"{row['step_us'][way]:.3f}" for way in ways),
            *(f"{row['gain'][way]:.2f}" for way in ways[1:]), f"{row['bytes_of_200_steps']:.0f}",
            "/".join(f"{share:.0f}" for share in row["shares_percent"]), str(row["hashes"])))  # fmt: skip
    return aligned(lines)


def measure_all(session, cases):
    """Round after round while there is time; every case once, if it lasts."""
    measured = {case: [] for case in cases}
    warm = set()
    longest = 0.0
    for number in range(session.request.rounds):
        for case in cases:
            began = time.monotonic()
            if session.left() < (longest if number else 0.0):
                print("no time left", flush=True)
                return measured
            if case[2] not in warm:  # compiles kernels, and measures buses
                warm.add(case[2])
                for way in session.ways:
                    session.run(case, way, WARM_UP)
                print(f"{session.seconds():.0f} s: {case[2]} is warm", flush=True)
            measured[case].append({way: session.measure(case, way) for way in session.ways})
            longest = max(longest, time.monotonic() - began)
            rows = session.rows(measured)
            document = {"rows": rows, "measured": [
                {"case": c, "rounds": rounds} for c, rounds in measured.items() if rounds]}
            (session.folder / "devices.json").write_text(json.dumps(document, indent=1))
            print(f"{session.seconds():.0f} s, round {number + 1}\n"
                  + text([row_of(case, measured[case], session.ways)]), end="", flush=True)
            if session.left() < 0:
                return measured
    return measured


def measured_rows(session):
    """Of all cases that there was time for; leaves no grid."""
    measured = measure_all(session, cases_of(session.request))
    for path in session.grids.values():
        path.unlink()
    return session.rows(measured)


def main():
    parser = evaluation.arguments(__doc__.split("\n\n")[0], time.strftime("devices-%Y%m%d-%H%M%S"))
    parser.add_argument("--devices", type=bounded(int, 2, 8), default=2, help="(2)")
    parser.add_argument("--cores", type=bounded(int, 0, 256), default=1,
                        help="CPU workers beside them (1)")
    parser.add_argument("--implementation", default="opencl", help="run.implementation (opencl)")
    parser.add_argument("--points", type=numbers(10**8), default=[250_000, POINTS_OF_A, 4_000_000, 8_000_000],
                        help="of bench-A's density")
    parser.add_argument("--all-cores", action="store_true", help="one device with all cores, too")
    parser.add_argument("--systems", default="A,R", type=lambda text: choose(
        "--systems", text, {name: name for name in ELECTRONS_OF}), help="of A, B, C, R (A,R)")
    parser.add_argument("--precisions", default="mixed,fp64", type=lambda text: choose(
        "--precisions", text, {name: name for name in PRECISIONS}), help="(mixed,fp64)")
    parser.add_argument("--rounds", type=bounded(int, 1, 100), default=3, help="at most (3)")
    parser.add_argument("--time", type=bounded(float, 1, 1e5), default=200,
                        help="seconds after which no case is begun (200)")
    parser.add_argument("--scale", type=bounded(float, 1e-3, 1), default=1,
                        help="of the lengths, for slow devices (1)")
    request = parser.parse_args()
    folder = evaluation.new_folder(request.output, "devices.json")
    session = Session(request, folder)
    rows = measured_rows(session)
    print("\nMicroseconds of a step; gains over one device; bytes between memories of 200 steps\n"
          + text(rows))  # fmt: skip
    if any(row["hashes"] != 1 for row in rows):
        raise Failure("decisions differ between devices: see decisions_sha256 in devices.json")
    return 0


if __name__ == "__main__":
    evaluation.main(main)
