"""What more devices are worth to one chain: steps of one device alone, of two, four ... devices as the program
uses them (--run.tasks auto), and, where asked for, of one device with all cores.

    python3 devices.py [--devices 2] [--points 250000,1753200] [--precisions mixed,fp64] [--time 200]

bench-A's box with densities of random points, and those of bench-R, B and C with as many as these have. Where
the program tries a team of the devices its log tells the time of a step by the team and by one device, in
turn in one run (the best of three tries each); otherwise runs of as many steps are compared. Measures one
case after another, as often as the time allows, and writes devices.json after each. Needs NumPy.
"""

import json
import re
import statistics
import sys
import time
from pathlib import Path

import evaluation
import power
from evaluation import CONFIGS, HERE, Failure, aligned, bounded, choose, numbers
from power import watts_text

sys.path.insert(0, str(HERE.parent / "reference"))
from learning import ELECTRONS, nuclei_of_solute, random_points
from reference_energies import write_grid

PRECISIONS = ("mixed", "fp64", "fixed")
ELECTRONS_OF = {"A": ELECTRONS, "B": ELECTRONS, "C": 248, "R": 118}
# Of the systems whose number of points is not asked for.
POINTS_OF = {"R": 183_000, "B": 1_753_200, "C": 3_015_504}
POINTS_OF_A = 1_753_200
# The program tries ways of making windows: 10 tries of at most 200 steps in each of two tasks' 64 windows, or
# of 0.2 s.
TRIED, TRIED_SECONDS = 10 * 25_600, 2.4
WARM_UP = 400
SECONDS = 0.8  # behind the tries, as guessed
# Guessed microseconds of a step on an H100, and more for each point.
STEP, POINT = 0.8, {"mixed": 1.15e-6, "fixed": 1.3e-6, "fp64": 4e-6}
WINDOW = 200
SPARSE = ("--output.energy-interval", 10_000, "--output.trajectory-interval", 10_000_000,
          "--output.overwrite", "true", "--sampling.equilibration-steps", 0,
          "--sampling.chains", 1)
LEGEND = ("microseconds of a step, tries included; gains over one device of what the program takes; bytes between\n"
          "memories of 200 steps; mean watts of each GPU; how many different decisions, and their SHA-256's beginning")
TOLD = re.compile(r"one chain on \d+ workers(, which is not worth it)?: ([\d., ]+) % of the density; "
                  r"(\S+) us a step, (\S+) alone")


def ways_of(request):
    """By name: run.tasks, devices, and cores, of which none stands for as many as there are."""
    numbers = [n for n in (2, 4, 8) if n < request.devices] + [request.devices]
    all_ways = {
        "one": ("windows", 1, request.cores),
        **{str(n): ("auto", n, request.cores) for n in numbers},
        **({"cores": ("auto", 1, None)} if request.all_cores else {}),
    }  # fmt: skip
    ways = {way: what for way, what in all_ways.items() if not request.ways or way in request.ways}
    if not ways:
        raise Failure(f"--ways {','.join(request.ways)}: there are {', '.join(all_ways)}")
    return ways


class Session:
    def __init__(self, request, folder, meters):
        self.request = request
        self.meters = meters
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

    def steps(self, case):
        """The same of all ways: their decisions are compared."""
        _, points, precision = case
        step = (STEP + points * POINT[precision]) / 1e6
        tried = max(WINDOW, int(min(TRIED, TRIED_SECONDS / step) * self.request.scale))
        return tried + max(2000, int(SECONDS / step)) if self.request.scale == 1 else 2 * tried

    def measure(self, case, way):
        """Microseconds of a step, bytes of 200 steps, and what the run says of itself."""
        steps = self.steps(case)
        summary, log = self.run(case, way, steps)
        ended = time.time()
        watts = self.meters.watts(ended - summary["wall_seconds"], ended)
        told = TOLD.findall(log)
        refused, shares, *paces = told[-1] if told else ("", "", "?", "?")
        team, alone = (None if pace == "?" else float(pace) for pace in paces)
        return {
            "step_us": 1e6 * summary["wall_seconds"] / steps,
            "team_us": team, "alone_us": alone, "takes_team": bool(told) and not refused,
            "bytes_of_200_steps": summary["schedule"]["bytes_between_memories"] * WINDOW / steps,
            "watts": watts,
            "decisions_sha256": summary["decisions_sha256"],
            "shares_percent": [float(x) for x in shares.split(", ")] if shares else [],
            "log": [line for line in log.splitlines() if "one chain" in line],
        }  # fmt: skip

    def ways_for(self, case):
        """All cores beside a device only where the paper has them."""
        return {way: what for way, what in self.ways.items()
                if way != "cores" or case[1] in (POINTS_OF_A, POINTS_OF["R"])}

    def rows(self, measured):
        return [row_of(case, rounds) for case, rounds in measured.items() if rounds]


def cases_of(request):
    """In the order of what matters most, if time runs out."""
    sizes = sorted(request.points, key=lambda points: (points != POINTS_OF_A, -points))
    others = [(system, POINTS_OF[system]) for system in request.systems if system != "A"]
    # bench-R after the first size, since it is what users have; the others' boxes cost little more.
    order = [("A", points) for points in sizes[:1]] + others + [("A", points) for points in sizes[1:]]
    return [(*case, precision) for precision in request.precisions for case in order]


def gain_of(one, other):
    """Of the way that the program takes, over one device."""
    if other["takes_team"]:
        return other["alone_us"] / other["team_us"]
    # Tries of a team that is not taken are not what the chain goes on with.
    if other["log"]:
        return 1.0
    return one["step_us"] / other["step_us"] if one else None


def median_of(values):
    return None if None in values else statistics.median(values)


def row_of(case, rounds):
    """Medians over the rounds so far."""
    system, points, precision = case
    ways = list(rounds[0])
    more = [way for way in ways if way != "one"]
    teams = [rounds[-1][way] for way in more if rounds[-1][way]["takes_team"]]
    last = teams[-1] if teams else rounds[-1][ways[-1]]
    return {
        "system": system, "points": points, "precision": precision, "rounds": len(rounds),
        "step_us": {way: statistics.median(r[way]["step_us"] for r in rounds) for way in ways},
        "gain": {way: median_of([gain_of(r.get("one"), r[way]) for r in rounds]) for way in more},
        "alone_and_team_us": {way: (rounds[-1][way]["alone_us"], rounds[-1][way]["team_us"]) for way in more},
        "watts": {way: rounds[-1][way]["watts"] for way in ways},
        "takes_team": {way: rounds[-1][way]["takes_team"] for way in more},
        "bytes_of_200_steps": last["bytes_of_200_steps"], "shares_percent": last["shares_percent"],
        "hashes": len({r[way]["decisions_sha256"] for r in rounds for way in ways}),
        "decisions_sha256": rounds[-1][ways[0]]["decisions_sha256"],
    }  # fmt: skip


def gain_text(row, way):
    if row["gain"].get(way) is None:
        return ""
    return f"{row['gain'][way]:.2f}{'' if row['takes_team'][way] else ' alone'}"


def text(rows):
    ways = list(dict.fromkeys(way for row in rows for way in row["step_us"]))
    more = [way for way in ways if way != "one"]
    lines = [("bench", "points", "precision", *(f"{way} us" for way in ways), *(f"gain {way}" for way in more),
              "bytes", "shares %", *(f"{way} W" for way in ways), "hashes", "decisions")]  # fmt: skip
    for row in rows:
        lines.append((
            row["system"], str(row["points"]), row["precision"],
            *(f"{row['step_us'][way]:.3f}" if way in row["step_us"] else "" for way in ways),
            *(gain_text(row, way) for way in more), f"{row['bytes_of_200_steps']:.0f}",
            "/".join(f"{share:.0f}" for share in row["shares_percent"]),
            *(watts_text(row["watts"].get(way, {})) for way in ways), str(row["hashes"]),
            row["decisions_sha256"][:8]))  # fmt: skip
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
                for way in session.ways_for(case):
                    session.run(case, way, WARM_UP)
                print(f"{session.seconds():.0f} s: {case[2]} is warm", flush=True)
            measured[case].append({way: session.measure(case, way) for way in session.ways_for(case)})
            longest = max(longest, time.monotonic() - began)
            rows = session.rows(measured)
            document = {"rows": rows, "measured": [
                {"case": c, "rounds": rounds} for c, rounds in measured.items() if rounds]}
            (session.folder / "devices.json").write_text(json.dumps(document, indent=1))
            print(f"{session.seconds():.0f} s, round {number + 1}\n"
                  + text([row_of(case, measured[case])]), end="", flush=True)
            if session.left() < 0:
                return measured
    return measured


def measured_rows(session):
    """Of all cases that there was time for; leaves no grid."""
    measured = measure_all(session, cases_of(session.request))
    for path in session.grids.values():
        path.unlink()
    return session.rows(measured)


def machine_and_meters(request):
    """What is told of the machine with so many devices, and meters of these, for a `with`."""
    program = evaluation.Program(request.program).with_environment(STARPU_NOPENCL=request.devices)
    machine = program.machine("--implementation", request.implementation)
    return machine, power.Meters(machine["opencl_devices"], lambda line: print(line, flush=True))


def add_choices(parser):
    """Of what is measured: options that several_gpus.py has, too."""
    parser.add_argument("--precisions", default="mixed,fp64", type=lambda text: choose(
        "--precisions", text, {name: name for name in PRECISIONS}), help="of one chain (mixed,fp64)")
    parser.add_argument("--ways", default=[], type=lambda text: choose(
        "--ways", text, {name: name for name in ("one", "2", "4", "8", "cores")}),
        help="some of one, 2, 4, 8 devices and all cores, of one chain (all)")


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
    add_choices(parser)
    parser.add_argument("--rounds", type=bounded(int, 1, 100), default=3, help="at most (3)")
    parser.add_argument("--time", type=bounded(float, 1, 1e5), default=200,
                        help="seconds after which no case is begun (200)")
    parser.add_argument("--scale", type=bounded(float, 1e-3, 1), default=1,
                        help="of the lengths, for slow devices (1)")
    request = parser.parse_args()
    folder = evaluation.new_folder(request.output, "devices.json")
    with machine_and_meters(request)[1] as meters:
        rows = measured_rows(Session(request, folder, meters))
    print(f"\n{LEGEND}\n" + text(rows))
    if any(row["hashes"] != 1 for row in rows):
        raise Failure("decisions differ between devices: see decisions_sha256 in devices.json")
    return 0


if __name__ == "__main__":
    evaluation.main(main)
