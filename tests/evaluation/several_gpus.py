"""What the program does on a host with several GPUs, in at most nine minutes of it.

    python3 several_gpus.py [--devices 2] [--parts chain,chains,whole,profile] [--time 500]

chain: one chain on one device and on all (devices.py). chains: 1 to 16 chains of bench-A and bench-R
on one, two, four devices. whole: all of bench-R, as published and in the exact ensemble, on all devices
and cores, beside StarPU's lower bound. profile: the first images of chorismate's reaction, QM on the devices
(needs CuPy), on one of them and on all. With NVIDIA's library the mean power of each GPU stands beside.
several_gpus.json is written after each case. Needs NumPy and the Python of the QM program.
"""

import itertools
import json
import os
import re
import sys
import time
from argparse import Namespace

import devices
import evaluation
from evaluation import CONFIGS, Failure, aligned, bounded, choose, numbers
from power import watts_text

PARTS = ("chain", "chains", "whole", "profile")
STEPS_OF_R = 24_800_000
UPDATES_OF_R = 496
BLOCKS_OF_R = 40
# Each part's share of the time.
SHARES = {"chain": 0.4, "chains": 0.12, "whole": 0.25, "profile": 0.23}
PATH = CONFIGS / "chorismate-prephenate.xyz"
LINES_OF_IMAGE = 26


class Host:
    def __init__(self, request, folder):
        self.request = request
        self.folder = folder
        self.program = evaluation.Program(request.program)
        self.began = time.monotonic()
        self.document = {"command": sys.argv[1:]}
        self.machine, self.meters = devices.machine_and_meters(request)
        self.write("machine", self.machine)

    def seconds(self):
        return time.monotonic() - self.began

    def write(self, key, value):
        self.document[key] = value
        path = self.folder / "several_gpus.json"
        path.write_text(json.dumps(self.document, indent=1), encoding="utf-8")

    def counts(self):
        """1, 2, 4 ... devices."""
        return [n for n in (1, 2, 4, 8) if n <= self.request.devices]

    def watts(self, began):
        return self.meters.watts(began, time.time())


def part_chain(host, left):
    """devices.py for one, two, ... all devices, and for one with all cores."""
    request = host.request
    folder = host.folder / "chain"
    folder.mkdir()
    asked = Namespace(
        program=request.program, devices=request.devices, cores=1, all_cores=True, points=request.points,
        implementation=request.implementation, systems=request.systems, precisions=request.precisions,
        ways=request.ways, rounds=1, time=left, scale=request.scale)
    rows = devices.measured_rows(devices.Session(asked, folder, host.meters))
    host.write("chain", rows)
    print(f"\nOne chain: {devices.LEGEND}\n" + devices.text(rows), flush=True)
    if any(row["hashes"] != 1 for row in rows):
        raise Failure("decisions differ between devices: see several_gpus.json")


def part_chains(host, left):
    """Steps of several chains, on one device after another number of them."""
    rows, request = [], host.request
    end = host.seconds() + left
    for system in ("R", "A"):
        for count in host.counts():
            if host.seconds() > end:
                print("no time left for more of several chains", flush=True)
                break
            program = host.program.with_environment(STARPU_NOPENCL=count, STARPU_NCPU=1)
            began = time.time()
            results = program.bench(
                "--system", system, "--term", "steps", "--implementation", request.implementation,
                "--precision", "mixed", "--workers", "all", "--chains",
                ",".join(map(str, request.chains)), "--seconds", request.seconds)["results"]
            watts = host.watts(began)
            for result in results:
                rows.append({"system": system, "devices": count, "chains": result["chains"],
                             "step_us": result["microseconds_per_step"], "watts": watts})
            host.write("chains", rows)
    one = {(row["system"], row["chains"]): row["step_us"] for row in rows if row["devices"] == 1}
    lines = [("bench", "chains", "devices", "step us", "gain", "watts")]
    for row in rows:
        row["gain"] = one[row["system"], row["chains"]] / row["step_us"]
        lines.append((row["system"], str(row["chains"]), str(row["devices"]), f"{row['step_us']:.3f}",
                      f"{row['gain']:.2f}", watts_text(row["watts"])))
    host.write("chains", rows)
    print("\nSeveral chains, mixed precision\n" + aligned(lines), flush=True)


def preparation_seconds(folder):
    """Of an exact run: what its log tells."""
    found = re.search(r"reference density of \d+ configurations in (?:(\d+) min )?(\d+(?:\.\d+)?) s",
                      (folder / "run.log").read_text(errors="replace"))
    return 60 * float(found[1] or 0) + float(found[2]) if found else None


def part_whole(host, left):
    """All of bench-R, with as many chains as there are cores for their QM updates, or as asked."""
    rows = []
    cores = os.cpu_count() or 1
    chains = host.request.whole_chains or max(1, min(cores - host.request.devices - 1, 31))
    end = host.seconds() + left
    ways = {
        "published": ("bench-R.cfg", UPDATES_OF_R),
        "exact": ("bench-R-exact.cfg", BLOCKS_OF_R),
    }
    for name, qm in itertools.product(ways, host.request.qm_devices):
        configuration, updates = ways[name]
        if host.seconds() > end:
            print(f"no time left for the whole of bench-R, {name}, QM on {qm}", flush=True)
            break
        per_chain = max(1, round(updates / chains * host.request.scale))
        steps = max(1, round(STEPS_OF_R / updates)) * per_chain
        folder = host.folder / f"whole-{name}-{qm}"
        program = host.program.with_environment(STARPU_NOPENCL=host.request.devices)
        began = time.time()
        summary = program.run(CONFIGS / configuration, folder, "--sampling.chains", chains,
                              "--sampling.steps", steps, "--output.trajectory-interval", 10 * steps,
                              "--qm.device", qm)
        schedule = summary["schedule"]
        row = {
            "run": name, "qm": qm, "chains": chains, "steps": steps * chains, "updates": per_chain * chains,
            "seconds_in_all": summary["total_seconds"], "seconds": summary["wall_seconds"],
            "start_up_seconds": summary["startup_seconds"],
            "preparation_seconds": preparation_seconds(folder),
            "lower_bound_seconds": schedule["lower_bound_seconds"],
            "of_bound": schedule["lower_bound_seconds"] / schedule["makespan_seconds"],
            "workers": summary["worker_tasks"], "watts": host.watts(began),
            "decisions_sha256": summary.get("decisions_sha256"),
        }  # fmt: skip
        rows.append(row)
        host.write("whole", rows)
        print(f"{host.seconds():.0f} s: {name}, QM on {qm}, {row['seconds_in_all']:.0f} s in all",
              flush=True)
    lines = [("run", "QM on", "chains", "steps", "updates", "in all s", "start-up s", "preparation s",
              "lower bound s", "of it", "watts")]
    for row in rows:
        made = row["preparation_seconds"]
        lines.append((row["run"], row["qm"], str(row["chains"]), str(row["steps"]), str(row["updates"]),
                      f"{row['seconds_in_all']:.0f}", f"{row['start_up_seconds']:.0f}",
                      "-" if made is None else f"{made:.0f}", f"{row['lower_bound_seconds']:.0f}",
                      f"{100 * row['of_bound']:.0f} %", watts_text(row["watts"])))
    print("\nThe whole of bench-R on all devices and cores\n" + aligned(lines), flush=True)
    for row in rows:
        shares = [(worker["worker"], 100 * worker["share_qm"], 100 * worker["share_sampling"])
                  for worker in row["workers"]]
        print(f"{row['run']}, QM on {row['qm']}: QM and sampling, % of each worker's time: "
              + ", ".join(f"{name} {qm:.0f} {sampling:.0f}" for name, qm, sampling in shares), flush=True)


def profile_summaries(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("image-*/summary.json"))]


def part_profile(host, left):
    """The first images of chorismate's path; the box is made here."""
    request, rows = host.request, []
    folder = host.folder / "profile"
    folder.mkdir()
    lines = PATH.read_text().splitlines(keepends=True)
    (folder / "path.xyz").write_text("".join(lines[: LINES_OF_IMAGE * request.images]))
    (folder / "chorismate.xyz").write_text("".join(lines[:LINES_OF_IMAGE]))
    configuration = folder / "chorismate.cfg"
    configuration.write_text(host.program.call(
        "solvate", "--solute", folder / "chorismate.xyz", "--waters", 500, "--charge", -2,
        "--output", folder / "chorismate"))
    steps = max(20_000, round(2_000_000 * request.scale))
    end = host.seconds() + left
    for count in dict.fromkeys((1, request.devices)):
        if host.seconds() > end:
            print(f"no time left for the profile on {count} devices", flush=True)
            break
        out, began = folder / f"on-{count}", time.time()
        host.program.with_environment(STARPU_NOPENCL=count).call(
            "profile", configuration, "--profile.path", folder / "path.xyz", "--output.folder", out,
            "--interaction.vdw-modifier", "truncate", "--sampling.chains", 16, "--sampling.near-share", 0.5,
            "--sampling.equilibration-steps", max(1000, steps // 4), "--sampling.steps", steps,
            "--qm.interval", steps // 4, "--qm.configurations", 96, "--qm.response-tolerance", 0.5,
            "--qm.workers", 8, "--qm.device", request.profile_qm_device,
            "--output.trajectory-interval", steps // 40)
        images = profile_summaries(out)
        rows.append({
            "devices": count, "images": len(images), "seconds_in_all": time.time() - began,
            "seconds_of_images": [image["wall_seconds"] for image in images],
            "steps_per_second": [image["steps_per_second"] for image in images],
            "workers": images[-1]["worker_tasks"], "watts": host.watts(began),
        })  # fmt: skip
        host.write("profile", rows)
    lines = [("devices", "images", "in all s", "an image s", "million steps/s", "gain", "watts")]
    for row in rows:
        mean = sum(row["seconds_of_images"][1:] or row["seconds_of_images"]) / max(1, row["images"] - 1)
        rate = row["steps_per_second"][-1] / 1e6
        lines.append((
            str(row["devices"]), str(row["images"]), f"{row['seconds_in_all']:.0f}", f"{mean:.1f}",
            f"{rate:.2f}", f"{rows[0]['seconds_in_all'] / row['seconds_in_all']:.2f}",
            watts_text(row["watts"])))  # fmt: skip
    print(f"\nThe first {request.images} images of chorismate's profile\n" + aligned(lines), flush=True)


def main():
    parser = evaluation.arguments(__doc__.split("\n\n")[0],
                                  time.strftime("several-gpus-%Y%m%d-%H%M%S"))
    parser.add_argument("--devices", type=bounded(int, 1, 8), default=2, help="(2)")
    parser.add_argument("--implementation", default="opencl", help="run.implementation (opencl)")
    parser.add_argument("--parts", default=",".join(PARTS), type=lambda text: choose(
        "--parts", text, {name: name for name in PARTS}), help="(all)")
    parser.add_argument("--points", type=numbers(10**8),
                        default=[250_000, devices.POINTS_OF_A, 4_000_000, 8_000_000,
                                                              16_000_000],
                        help="of bench-A's density, one chain")
    parser.add_argument("--systems", default="A,R,B,C", type=lambda text: choose(
        "--systems", text, {name: name for name in devices.ELECTRONS_OF}), help="of one chain (A,R,B,C)")
    devices.add_choices(parser)
    parser.add_argument("--chains", type=numbers(64), default=[1, 2, 4, 8, 16], help="(1,2,4,8,16)")
    parser.add_argument("--whole-chains", type=bounded(int, 1, 64),
                        help="of the whole of bench-R; by default what the cores allow")
    parser.add_argument("--qm-devices", default="cpu", type=lambda text: choose(
        "--qm-devices", text, {name: name for name in ("cpu", "gpu")}),
        help="where the QM updates of the whole of bench-R are made: cpu, gpu (needs CuPy), or both, (cpu)")
    parser.add_argument("--images", type=bounded(int, 2, 14), default=2, help="of the profile (2)")
    parser.add_argument("--profile-qm-device", default="gpu", choices=("auto", "cpu", "gpu"),
                        help="where the profile's QM updates are made (gpu)")
    parser.add_argument("--seconds", type=bounded(float, 0.01, 60), default=1,
                        help="of a case of several chains (1)")
    parser.add_argument("--time", type=bounded(float, 1, 1e5), default=500,
                        help="seconds in all after which no case is begun (500)")
    parser.add_argument("--scale", type=bounded(float, 1e-3, 1), default=1,
                        help="of the lengths, for slow devices (1)")
    request = parser.parse_args()
    host = Host(request, evaluation.new_folder(request.output, "several_gpus.json"))
    with host.meters:
        print(evaluation.machine_text(host.machine), flush=True)
        parts = {"chain": part_chain, "chains": part_chains, "whole": part_whole,
                 "profile": part_profile}  # fmt: skip
        whole = sum(SHARES[name] for name in request.parts)
        for name in request.parts:
            left = request.time * SHARES[name] / whole
            parts[name](host, min(left, max(0.0, request.time - host.seconds())))
            print(f"{host.seconds():.0f} s: {name} is done", flush=True)
    return 0


if __name__ == "__main__":
    evaluation.main(main)
