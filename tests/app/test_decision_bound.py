"""The bound behind certified decisions holds where the box's mean density says nothing: droplets,
slabs, two phases, large sites, ions, molecules of five sites, functions of the user's. Every precision and implementation
makes the same decisions, and no step's energy change, doubtful or not, differs from the fp64 one by
more than half the bound.

    python3 test_decision_bound.py PROGRAM
"""

import itertools
import math
import random

import program

STEPS = 12000
WATER = ((0.0, 0.0, 0.0), (0.8164904, 0.5773590, 0.0), (-0.8164904, 0.5773590, 0.0))
TIP5P = (
    (0.0, 0.0, 0.0),
    (0.7569503, 0.5858823, 0.0),
    (-0.7569503, 0.5858823, 0.0),
    (0.0, -0.4041451, 0.5715476),
    (0.0, -0.4041451, -0.5715476),
)

TOPOLOGY = """[ defaults ]
1  2  no  1.0  1.0

[ atomtypes ]
; name  at.num  mass  charge  ptype  sigma (nm)  epsilon (kJ/mol)
OW   8  15.9994  0.0  A  0.316555789  0.650169577281456
OF   8  15.9994  0.0  A  0.312        0.66944
HW   1   1.008   0.0  A  0.0          0.0
LP   0   0.0     0.0  A  0.0          0.0
NA  11  22.9898  0.0  A  0.2160       1.4755
CL  17  35.453   0.0  A  0.4830       0.0535
XE  54 131.293   0.0  A  0.7000       4.0

[ moleculetype ]
SOL  2
[ atoms ]
1  OW  1  SOL  OW   1  -0.8476  15.9994
2  HW  1  SOL  HW1  1   0.4238  1.008
3  HW  1  SOL  HW2  1   0.4238  1.008
[ settles ]
1  1  0.1  0.1632980861840234

[ moleculetype ]
FIVE  2
[ atoms ]
1  OF  1  FIVE  OW   1   0.0    15.9994
2  HW  1  FIVE  HW1  1   0.241  1.008
3  HW  1  FIVE  HW2  1   0.241  1.008
4  LP  1  FIVE  LP1  1  -0.241  0.0
5  LP  1  FIVE  LP2  1  -0.241  0.0

[ moleculetype ]
NA  1
[ atoms ]
1  NA  1  NA  NA  1  1.0  22.9898

[ moleculetype ]
CL  1
[ atoms ]
1  CL  1  CL  CL  1  -1.0  35.453

[ moleculetype ]
XE  1
[ atoms ]
1  XE  1  XE  XE  1  0.0  131.293

[ system ]
test

[ molecules ]
"""

SITES = {
    "SOL": (("OW", "HW1", "HW2"), WATER),
    "FIVE": (("OW", "HW1", "HW2", "LP1", "LP2"), TIP5P),
    "NA": (("NA",), ((0.0, 0.0, 0.0),)),
    "CL": (("CL",), ((0.0, 0.0, 0.0),)),
    "XE": (("XE",), ((0.0, 0.0, 0.0),)),
}


def turned(sites, numbers):
    """Sites turned by a random rotation."""
    w, x, y, z = (numbers.gauss(0, 1) for _ in range(4))
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / norm, x / norm, y / norm, z / norm
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return [[sum(a * b for a, b in zip(row, site)) for row in rows] for site in sites]


def lattice(spacing, inside, cells=40):
    """Points of a cubic lattice about 0, the nearest first, of which inside(point) holds."""
    steps = range(-cells, cells + 1)
    points = [
        tuple((k + 0.37) * spacing for k in (i, j, l)) for i in steps for j in steps for l in steps
    ]
    return sorted(filter(inside, points), key=lambda p: sum(x * x for x in p))


def ball(spacing, count):
    return lattice(spacing, lambda p: True, math.ceil(count ** (1 / 3)))[:count]


def in_order(names, points):
    """Molecules (name, centre), those of a name together: a topology lists them so."""
    return sorted(zip(names, points), key=lambda m: names.index(m[0]))


def droplet():
    return 400.0, 20.0, in_order(["SOL"] * 200, ball(3.1, 200))


def slab():
    points = lattice(3.1, lambda p: max(abs(p[0]), abs(p[1])) < 12.4 and abs(p[2]) < 7, 5)
    return (24.8, 24.8, 120.0), 12.0, in_order(["SOL"] * len(points), points)


def two_phases():
    """A droplet in its vapour."""
    liquid = ball(3.1, 150)
    vapour = lattice(30.0, lambda p: math.hypot(*p) > 25 and max(map(abs, p)) < 90, 4)[:60]
    return 200.0, 15.0, in_order(["SOL"] * 210, liquid + vapour)


def large_sigma():
    points = ball(7.4, 120)
    return 300.0, 25.0, in_order(["XE"] * 120, points)


def ions():
    """A crystallite of salt in a shell of water."""
    salt = ball(2.85, 64)
    parity = [round((p[0] + p[1] + p[2]) / 2.85 - 1.11) % 2 for p in salt]
    edge = max(math.hypot(*p) for p in salt) + 3
    water = lattice(3.3, lambda p: math.hypot(*p) > edge, 7)[:140]
    names = ["NA" if even else "CL" for even in parity]
    return 250.0, 18.0, in_order(names + ["SOL"] * 140, salt + water)


def five_sites():
    return 150.0, 14.0, in_order(["FIVE"] * 180, ball(3.1, 180))


LENNARD_JONES = (
    "4*epsilon*((sigma/r)^12-(sigma/r)^6); sigma=0.5*(sigma1+sigma2); "
    "epsilon=sqrt(epsilon1*epsilon2)"
)
POTENTIALS = {
    "droplet of user functions": {
        "coulomb": "(1-r/cutoff)^2/r",
        "mm_vdw": LENNARD_JONES,
        "treatment": "force-shift",
    }
}

SYSTEMS = {
    "droplet": droplet,
    "droplet of user functions": droplet,
    "slab": slab,
    "two phases": two_phases,
    "large sigma": large_sigma,
    "ions": ions,
    "five sites": five_sites,
}


def write_system(folder, box, molecules):
    """system.gro and system.top."""
    numbers = random.Random(18)
    edges = box if isinstance(box, tuple) else (box,) * 3
    lines = []
    counts = {}
    for number, (name, centre) in enumerate(molecules, 1):
        counts[name] = counts.get(name, 0) + 1
        atoms, sites = SITES[name]
        for atom, site in zip(atoms, turned(sites, numbers)):
            place = [(c + s + e / 2) / 10 for c, s, e in zip(centre, site, edges)]
            index = (len(lines) + 1) % 100000
            lines.append(
                f"{number:5d}{name:<5}{atom:>5}{index:5d}"
                + "".join(f"{x:18.13f}" for x in place)
            )
    text = ["test", f"{len(lines):5d}", *lines, " ".join(f"{e / 10:.6f}" for e in edges)]
    (folder / "system.gro").write_text("\n".join(text) + "\n")
    listed = "".join(f"{name} {count}\n" for name, count in counts.items())
    (folder / "system.top").write_text(TOPOLOGY + listed)


def changes_of_energy(folder):
    """Of the total by each step, as the run's precision has it."""
    rows = (folder / "energies.csv").read_text().splitlines()
    columns, *values = [row.split(",") for row in rows if not row.startswith("#")]
    totals = [float(row[columns.index("total")]) for row in values]
    return [after - before for before, after in itertools.pairwise(totals)]


class DecisionBound(program.TestCase):
    def run_system(self, name):
        box, cutoff, molecules = SYSTEMS[name]()
        write_system(self.folder, box, molecules)
        config = self.config(
            system={
                "coordinates": self.folder / "system.gro",
                "topology": self.folder / "system.top",
                "rigid": "FIVE",
            },
            interaction={
                "coulomb_cutoff": cutoff,
                "vdw_cutoff": cutoff,
                "vdw_modifier": "force-shift",
            },
            sampling={"steps": STEPS, "seed": 18, "max_rotation": 20, "chains": 1},
            output={"trajectory_interval": STEPS, "energy_interval": 1},
            **({"potential": POTENTIALS[name]} if name in POTENTIALS else {}),
        )
        outcomes = {}
        exact = None
        choices = [("scalar", "fp64"), *((i, p) for i in IMPLEMENTATIONS for p in PRECISIONS)]
        for implementation, precision in choices:
            folder = self.folder / f"{implementation}-{precision}"
            summary = program.simulate(
                config,
                folder,
                "--run.implementation", implementation,
                "--run.precision", precision,
                env={"STARPU_OPENCL_ON_CPUS": 1} if implementation == "opencl" else {},
            )
            self.assertGreater(summary["acceptance"], 0.02)
            self.assertLess(summary["acceptance"], 0.98)
            changes = changes_of_energy(folder)
            exact = exact or changes
            certified = summary["certified_decisions"]
            bound = certified["error_bound_kj_per_mol"]
            error = max(abs(a - b) for a, b in zip(changes, exact)) / bound
            again = certified["steps_evaluated_again"]
            print(
                f"{name}, {implementation} {precision}: {100 * again / STEPS:.2f} % again, bound {bound:.2g} "
                f"kJ/mol, largest error {error:.2g} of it, "
                f"{STEPS / summary['wall_seconds']:.0f} steps/s"
            )
            self.assertTrue(certified["active"])
            self.assertLess(certified["largest_error_in_bounds"], 0.5)
            if precision != "fp64":
                self.assertGreater(error, 0)
                self.assertLess(error, 0.5)
            self.assertLess(again, 0.05 * STEPS)
            outcomes[implementation, precision] = (
                summary["decisions_sha256"],
                summary["final_coordinates_sha256"],
            )
        self.assertEqual(len(set(outcomes.values())), 1, outcomes)


def write_rod(folder):
    """A rod of ten sites in a lattice of atoms, which its moves run into by the dozen."""
    edge, cells = 32.0, 10
    rod = [(16 + 1.5 * (i - 4.5), 16.0, 16.0) for i in range(10)]
    places = [(k + 0.5) * edge / cells for k in range(cells)]
    free = [
        atom
        for atom in itertools.product(places, repeat=3)
        if min(math.dist(atom, site) for site in rod) > 2.9
    ]
    lines = ["rod", str(len(rod) + len(free))]
    for index, site in enumerate(rod + free, 1):
        residue, name = (1, "ROD") if index <= len(rod) else (index, "ATOM")
        lines.append(f"{residue:5d}{name:<5}    C{index % 10000:5d}" + "".join(f"{x / 10:12.6f}" for x in site))
    lines.append(3 * f"{edge / 10:12.6f}")
    (folder / "rod.gro").write_text("\n".join(lines) + "\n")
    atoms = "".join(f"{i} C 1 ROD C 1 0 12\n" for i in range(1, len(rod) + 1))
    (folder / "rod.top").write_text(
        "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\nC 6 12 0 A .30 0.3\n"
        f"[ moleculetype ]\nROD 1\n[ atoms ]\n{atoms}"
        "[ moleculetype ]\nATOM 1\n[ atoms ]\n1 C 1 ATOM C 1 0 12\n"
        f"[ system ]\nrod\n[ molecules ]\nROD 1\nATOM {len(free)}\n"
    )


class HighWalls(program.TestCase):
    def test_energies_beyond_the_range_of_whole_units(self):
        """Nine molecules that the wall counts in full are more than a sum of whole units holds."""
        write_rod(self.folder)
        config = self.config(
            system={
                "coordinates": self.folder / "rod.gro",
                "topology": self.folder / "rod.top",
                "rigid": "ROD",
            },
            interaction={"vdw_cutoff": 9},
            potential={"mm_additional": "1e7*step(2.8-r)"},
            sampling={"steps": 20000, "seed": 1, "max_translation": 1, "max_rotation": 40, "chains": 1},
        )
        outcomes = set()
        for number, words in enumerate(
            (
                ("--sampling.certified", "false", "--run.precision", "fp64"),
                *(("--run.precision", precision) for precision in PRECISIONS),
                ("--run.implementation", "scalar"),
            )
        ):
            summary = program.simulate(config, self.folder / str(number), *words)
            self.assertLess(summary["final_energies"]["mm_vdw"], 0, words)
            outcomes.add(summary["decisions_sha256"])
        self.assertEqual(len(outcomes), 1)


PRECISIONS = ("mixed", "fixed", "fp64")
IMPLEMENTATIONS = ["simd"] + ([] if program.opencl_missing() else ["opencl"])


def test_of(name):
    return lambda self: self.run_system(name)


for _name in SYSTEMS:
    setattr(DecisionBound, "test_" + _name.replace(" ", "_"), test_of(_name))


if __name__ == "__main__":
    program.main()
