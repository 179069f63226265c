"""Which parts the paper's evaluation has, how long each takes, and what fits into 15 minutes."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import inputs
import paper_tables
from evaluation import duration
from published import GRID_POINTS, WATERS

# Planned, so that a machine with something else to do ends within the 15 minutes that are promised.
MOST_SECONDS = 12 * 60
FEWEST, PREFERRED, MOST = 1, 3, 5  # seconds of a measurement

WITH_WARM_UP = 1.7  # of a measurement: the steps, the warm-up and the run with a task per term
START = 4  # seconds in which `starpmc bench` starts and makes a system
QM_START, QM_UPDATE = 12, 5  # until the QM program is ready, and an update of it
DENSITY_CORE_SECONDS = {"A": 250, "B": 250, "C": 700, "R": 30}  # PySCF on an EPYC of 2023
# Pairs of an atom and a grid point per second, of a core and of a device, at least about.
CORE_PAIRS, DEVICE_PAIRS = 1.5e9, 2e11
PAIRS_OF_STEP, PREPARING_STEPS = 5.3e6, 8000  # of bench-A, of table 8's configurations
SYNTHETIC_GRIDS, SYNTHETIC_POINTS = 20, 15.75e6  # seconds and points of figure 11
METERED = 2  # seconds: power counters are renewed about ten times a second


@dataclass
class Scale:
    """What estimates rest on."""

    cpu_workers: int
    devices: int
    threads: int = os.cpu_count() or 1
    chains: int = 1  # n of the whole run
    proposals: int = 10_000
    small: bool = False  # synthetic densities of a chosen size
    made: list = field(default_factory=list)  # cases whose density lies in the cache

    def density(self, key):
        if self.small or key in self.made:
            return 0
        return QM_START + DENSITY_CORE_SECONDS[key] / self.threads

    def start(self, waters, points):
        """Of a chain: its starting energies, all atoms with all grid points."""
        pairs = 0 if self.small else 3 * waters * points
        return pairs / (CORE_PAIRS * self.cpu_workers + DEVICE_PAIRS * self.devices)

    def start_of(self, key):
        return self.start(WATERS[key], GRID_POINTS[key])

    def device_sets(self):
        """A core, all cores, each device and all of them, the whole machine."""
        several = (self.cpu_workers > 1) + (self.devices > 1)
        return 1 + self.devices + several + (self.devices > 0)


@dataclass
class Section:
    what: str
    tables: tuple
    measure: Callable
    estimate: Callable  # (scale, cases, seconds of a measurement) -> seconds

    @property
    def name(self):
        return ", ".join(self.tables) or "inputs"


def cycles(scale, cases, seconds):
    one = 2 * WITH_WARM_UP * seconds
    return sum(2 * START + (scale.device_sets() + 1) * (one + scale.start_of(key))
               for key in cases if key != "R")


def convergence(scale, cases, seconds):
    key = "C" if "C" in cases else "A"
    return START + 3 * seconds + scale.start_of(key) if key in cases else 0


def scaling(scale, cases, seconds):
    return "A" in cases and (SYNTHETIC_GRIDS + 6 * (START + 2 * WITH_WARM_UP * seconds / 2)
                             + 2 * scale.start(WATERS["A"], SYNTHETIC_POINTS))


def chains(scale, cases, seconds):
    several = scale.chains > 1
    measured = 2 * START + (4 + 2 * several) * WITH_WARM_UP * seconds
    # Runs of one update and of several, of one chain and of n, with their steps.
    runs = (1 + several) * (2 * QM_START + 4 * QM_UPDATE + 9 * seconds)
    return "R" in cases and measured + runs


def precisions(scale, cases, seconds):
    each = 1.5 * max(METERED, seconds / 2) + 1
    return "A" in cases and START + 3 * (scale.device_sets() - (scale.devices > 0)) * each


def errors(scale, cases, _):
    pairs = (PREPARING_STEPS / 2 + 6 * scale.proposals) * PAIRS_OF_STEP
    return "A" in cases and START + scale.start_of("A") + pairs / (CORE_PAIRS * scale.cpu_workers)


SECTIONS = [
    Section("boxes, and densities by the QM program (kept in the cache)", (),
            paper_tables.make_inputs, lambda scale, cases, _: sum(map(scale.density, cases))),
    Section("a PMC cycle of 10,000 steps per set of devices, and its kernels",
            ("table-3", "figure-8", "table-4", "figure-9"), paper_tables.measure_cycles, cycles),
    Section("convergence of the devices' shares", ("figure-10",),
            paper_tables.measure_convergence, convergence),
    Section("a second device against the size of the grid", ("figure-11",),
            paper_tables.measure_scaling, scaling),
    Section("PMC cycle, QM update and whole run of bench-R", ("table-5", "table-6"),
            paper_tables.measure_chains, chains),
    Section("speed and energy of the precisions", ("table-7", "table-9"),
            paper_tables.measure_precisions, precisions),
    Section("errors of the precisions", ("table-8",), paper_tables.measure_errors, errors),
]


def wanted(tables):
    return [s for s in SECTIONS if not s.tables or set(s.tables) & set(tables)]


def total(scale, tables, cases, seconds):
    return sum(s.estimate(scale, cases, seconds) for s in wanted(tables))


def complete(scale, tables, cases, seconds):
    """Chooses what was left open (None) so that all takes about 15 minutes at most."""
    if cases is None:
        choices = (list("ABCR"), list("ABR"), list("AR"))
        fits = (c for c in choices
                if scale.small or total(scale, tables, c, seconds or PREFERRED) <= MOST_SECONDS)
        cases = next(fits, choices[-1])
    if seconds is None:  # estimates grow linearly with them, about
        fixed = total(scale, tables, cases, 0)
        rate = max((total(scale, tables, cases, PREFERRED) - fixed) / PREFERRED, 1e-9)
        seconds = math.floor(min(max((MOST_SECONDS - fixed) / rate, FEWEST), MOST))
    return cases, seconds


def text(scale, tables, cases, seconds):
    """The plan, for people."""
    lines = [(f"cases {', '.join(cases)}, {seconds:g} s a measurement; about "
             f"{duration(total(scale, tables, cases, seconds))} in all:")]
    for section in wanted(tables):
        if estimate := section.estimate(scale, cases, seconds):
            lines.append(f"  {section.name:<38} {duration(estimate):>11}  {section.what}")
    lines += [f"  the density of bench-{key} has to be made, once: about "
              f"{duration(scale.density(key))}" for key in cases if scale.density(key)]
    lines += [f"  without bench-{key}: --cases names it" for key in GRID_POINTS if key not in cases]
    return "\n".join(lines)


def scale_of(machine, request):
    devices = len(machine["opencl_devices"])
    cores = max(1, len(machine["workers"]) - devices)
    return Scale(cores, devices, chains=request.chains or paper_tables.chains_that_fit(cores),
                 proposals=request.proposals, small=bool(request.waters or request.points),
                 made=[key for key in GRID_POINTS if inputs.facts(key)])


