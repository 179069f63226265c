"""Tables 3 to 9 and figures 8 to 11 of Miranda et al. (2016) with the published numbers.

A figure's numbers are those the text or a table states; nothing was read off a drawing.
"""

from evaluation import Table

WHOLE_STEPS = 24_800_000
UPDATES = 496
CYCLE_STEPS = 10_000  # of bench-A to C
R_CYCLE_STEPS = 50_000
SERIAL_CYCLE_R = 572.7  # seconds, one i7-4770K core (table 6)
SERIAL_RUN = 300_028.0
GRID_POINTS = {"A": 1_772_972, "B": 1_772_972, "C": 2_992_458, "R": 183_356}  # table 1
WATERS = {"A": 1301, "B": 5000, "C": 5000, "R": 500}

SERIAL = "i7-4770K, 1 core (serial)"
GPU = "GTX 780Ti"
FOUR_CORES = "i7-4770K, 4 cores (OpenCL)"
SLOW_SERIAL = "E5-2609, 1 core (serial)"
TWO_ALIKE = "2 x GTX 680, 8 cores E5-2609"
BENCHMARKS = ("bench-A", "bench-B", "bench-C")

# Seconds of 10,000 steps and of them for output, by benchmark. The serial program computes in fp64.
CYCLES = {
    SERIAL: ((769.96, 0.23), (787.68, 0.76), (1179.70, 0.76)),
    FOUR_CORES: ((137.90, 0.90), (140.25, 6.75), (232.20, 6.87)),
    GPU: ((6.33, 0.53), (8.08, 1.70), (11.20, 1.72)),
    "GTX 780Ti + GTX 660Ti": ((5.04, 0.52), (6.73, 1.66), (8.68, 1.66)),
    "R9 290X + GTX 560Ti": ((6.90, 0.57), (8.42, 2.02), (11.30, 2.02)),
}
SERIAL_SECONDS = {name: CYCLES[SERIAL][i][0] for i, name in enumerate(BENCHMARKS)}


def cycles(cells):
    """A row for each platform and benchmark."""
    return [[platform, "fp64" if platform == SERIAL else "mixed", name, *cells(name, *times[i])]
            for platform, times in CYCLES.items() for i, name in enumerate(BENCHMARKS)]


TABLES = {
    "table-3": (
        "Table 3: a PMC cycle of 10,000 steps, seconds (output: of them for writing)",
        ["platform", "precision", "benchmark", "total_s", "output_s", "steps_measured"],
        cycles(lambda _, total, output: [total, output, CYCLE_STEPS]), []),
    "figure-8": (
        "Figure 8: speed-up of a PMC cycle of 10,000 steps",
        ["platform", "precision", "benchmark", "speedup_over_own_core", "speedup_over_paper_core"],
        cycles(lambda name, total, _: [None, SERIAL_SECONDS[name] / total]),
        [("paper core: its serial program on one core of an i7-4770K; the paper's rows are the ratios "
         "of its table 3")]),
    "table-4": (
        "Table 4: the kernels of a step of bench-A",
        ["device", "precision", "kernel", "microseconds_per_step", "share_percent", "speedup"],
        [[SERIAL, "fp64", "monte_carlo", 32.0, 0.04, None],
         [SERIAL, "fp64", "q3m_c/reduce", 76_077.0, 98.8, None],
         [SERIAL, "fp64", "mm_vdwc/reduce", 791.0, 1.03, None],
         [SERIAL, "fp64", "q3m_vdwc", 4.0, 0.01, None],
         [SERIAL, "fp64", "decide", 94.0, 0.12, None],
         [SERIAL, "fp64", "total", 76_998.0, 100.0, None],
         [GPU, "mixed", "monte_carlo", 17.0, 3.0, 1.88],
         [GPU, "mixed", "q3m_c/reduce", 473.0, 83.3, 160.84],
         [GPU, "mixed", "mm_vdwc/reduce", 40.0, 7.0, 19.77],
         [GPU, "mixed", "q3m_vdwc", 18.0, 3.2, 0.22],
         [GPU, "mixed", "decide", 20.0, 3.5, 4.70],
         [GPU, "mixed", "total", 568.0, 100.0, 135.55]], []),
    "figure-9": (
        "Figure 9: the kernels of a step of bench-A on each of several devices",
        ["device", "kernel", "microseconds_per_step", "grid_share_percent"], [],
        [("the paper (GTX 780Ti + GTX 660Ti) draws bars without numbers: the grid term on both, the "
         "lighter kernels on the first")]),
    "figure-10": (
        "Figure 10: how the devices' shares of the grid term converge (the paper: bench-C)",
        ["steps", "device", "grid_share_percent", "microseconds_per_step"],
        [[0.0, GPU, 50.0, None], [0.0, "GTX 660Ti", 50.0, None],
         [8000.0, GPU, 71.0, None], [8000.0, "GTX 660Ti", 29.0, None]],
        [("the paper balances every 2,000 steps by itself: 50/50 becomes about 71/29 in four "
         "balancings, 1.3 times as fast as 50/50. Here StarPU's models do it, from none at all")]),
    "figure-11": (
        "Figure 11: speed-up of a second device against the size of bench-A's grid",
        ["devices", "grid_points", "one_microseconds_per_step", "both_microseconds_per_step",
         "speedup"],
        [["2 x GTX 680", None, None, None, 1.5], ["2 x GTX 680", 8e6, None, None, 1.6]],
        [("the paper (2 x GTX 680) states about 1.5 to 1.6 for grids of up to 8 million points, the "
         "larger with the larger grids")]),
    "table-5": (
        ("Table 5: bench-R, a PMC cycle of 50,000 steps, a QM update, and the whole run (24.8 million "
        "steps, 496 updates)"),
        ["platform", "precision", "chains", "cycle_s", "cycle_speedup", "qm_update_s", "whole_s",
         "whole_speedup"],
        [[SLOW_SERIAL, "fp64", 1, 1883.1, 1.0, 96.4, 980_038.0, 1.0],
         [TWO_ALIKE, "fp64", 1, 42.9, 43.80, 96.4, 69_026.4, 14.20],
         [TWO_ALIKE, "fp64", 8, 42.9, 43.80, 113.4, 10_156.2, 96.50],
         [TWO_ALIKE, "mixed", 1, 10.2, 184.23, 96.4, 52_833.4, 18.55],
         [TWO_ALIKE, "mixed", 8, 10.2, 184.23, 113.4, 7_757.7, 126.33]], []),
    "table-6": (
        "Table 6: bench-R against the paper's serial program on one core of an i7-4770K",
        ["platform", "chains", "cycle_s", "cycle_speedup", "whole_s", "whole_speedup"],
        [[SERIAL, 1, SERIAL_CYCLE_R, 1.0, SERIAL_RUN, 1.0],
         [TWO_ALIKE, 1, 10.2, 56.02, 52_833.4, 5.67],
         [TWO_ALIKE, 8, 10.2, 56.02, 7_757.7, 38.68]], []),
    "table-7": (
        "Table 7: speed-up of the grid term of bench-A in lower precision over fp64 on the same device",
        ["device", "precision", "speedup"],
        [["GTX 680", "mixed", 8.56], [GPU, "mixed", 7.39], ["K20C", "mixed", 2.65],
         ["GTX 680", "fixed", 8.89], [GPU, "fixed", 7.44], ["K20C", "fixed", 2.74]], []),
    "table-8": (
        "Table 8: errors of bench-A's energy changes against fp64, kJ/mol (accepted: 0.1)",
        ["device", "precision", "grid_mean_kj_per_mol", "grid_max_kj_per_mol",
         "total_mean_kj_per_mol", "total_max_kj_per_mol"],
        [[None, "mixed", 6.4e-5, 2.9e-3, 4.2e-3, 1.6e-2],
         [None, "fixed", 1.6e-5, 1.1e-3, 9.0e-4, 1.6e-2]],
        ["total: the paper's is the error of the system's energy, ours that of a step's change"]),
    "table-9": (
        "Table 9: time and energy of the grid term of bench-A by precision",
        ["device", "precision", "microseconds_per_step", "average_watts", "speedup",
         "energy_savings_percent"],
        [[FOUR_CORES, "fp64", 13_031.0, 84.0, 1.0, None],
         [FOUR_CORES, "mixed", 6_157.0, 76.0, 2.12, 57.0],
         [FOUR_CORES, "fixed", 6_143.0, 75.0, 2.12, 58.0],
         ["K20C", "fp64", 1_775.0, 140.0, 7.34, None],
         ["K20C", "mixed", 670.0, 147.0, 19.45, 60.0],
         ["K20C", "fixed", 647.0, 139.0, 20.14, 64.0]],
        ["speed-up: over the machine's first row in fp64; savings: against fp64 on the same device"]),
}


def published(key):
    """A table with the paper's rows, to which this machine's are added."""
    title, columns, rows, notes = TABLES[key]
    return Table(key, title, ["source", *columns], [["paper", *row] for row in rows], list(notes))


def rows_of(key):
    """A table's rows by column."""
    _, columns, rows, _ = TABLES[key]
    return [dict(zip(columns, row, strict=True)) for row in rows]
