"""GROMACS 2022 (Debian: gromacs) for the tests: its energies and pressures of single configurations
and of trajectories, with the reaction field of an infinite permittivity for charges:

    V = k q q' (1/r + r^2/(2 rc^3) - 3/(2 rc)),  r < rc

Like starpmc it cuts off by pairs of sites. Lengths in nm, energies in kJ/mol, pressures in bar.
"""

import shutil
import subprocess

import numpy as np

MIXED, DOUBLE = shutil.which("gmx"), shutil.which("gmx_d")
MISSING = "" if MIXED and DOUBLE else "gmx and gmx_d are not installed (Debian: gromacs)"
REACTION_FIELD = "1/r + r^2/(2*cutoff^3) - 3/(2*cutoff)"  # for [potential] coulomb
COULOMB = 138.935457644  # kJ/mol nm/e^2
BAR = 1e5 * 1e-27 * 6.02214076e23 / 1000  # kJ/mol/nm^3
GAS_CONSTANT = 0.00831446261815324  # kJ/mol/K

MODIFIERS = {"truncate": "None", "potential-shift": "Potential-shift"}
CORRECTIONS = {"none": "no", "energy": "Ener", "energy-pressure": "EnerPres"}
POTENTIAL = """\
cutoff-scheme = Verlet
coulombtype = reaction-field
epsilon-rf = 0
rcoulomb = {cutoff}
rvdw = {cutoff}
vdw-modifier = {modifier}
DispCorr = {correction}
"""
# The forces at once, from rest: no kinetic energy. The accelerations that [ settles ] leave of a
# molecule are a rigid body's, which make the virial over atoms that over molecules. Shorter steps
# see the last digits of the coordinates as forces, longer ones begin to move.
AT_REST = """\
integrator = md-vv
dt = 1e-5
nsteps = 0
continuation = yes
gen-vel = no
nstlist = 1
verlet-buffer-tolerance = -1
rlist = {cutoff}
nstenergy = 1
nstcalcenergy = 1
"""
# Leapfrog with friction and noise between two halves of the motion: the positions of a harmonic
# oscillator have no error of the time step (Leimkuhler and Matthews 2013). The pair list reaches so
# far that no pair comes within the cutoff unseen.
DYNAMICS = """\
integrator = sd
dt = {time_step}
nsteps = {steps}
tc-grps = system
tau-t = {friction_time}
ref-t = {temperature}
ld-seed = {seed}
gen-vel = yes
gen-temp = {temperature}
gen-seed = {seed}
comm-mode = none
nstlist = 10
verlet-buffer-tolerance = -1
rlist = {list_cutoff}
nstxout = {interval}
nstlog = 0
nstenergy = 0
nstcalcenergy = 100
"""


def potential(cutoff, modifier="potential-shift", correction="energy-pressure"):
    return POTENTIAL.format(
        cutoff=cutoff, modifier=MODIFIERS[modifier], correction=CORRECTIONS[correction]
    )


class Gromacs:
    """Runs in a folder, of a topology there or elsewhere."""

    def __init__(self, folder, top, timeout=200):
        self.folder, self.top, self.timeout = folder, top, timeout

    def call(self, gmx, *words, **options):
        result = subprocess.run(
            [gmx, "-quiet", *map(str, words)], cwd=self.folder, capture_output=True, text=True,
            timeout=self.timeout, check=False, **options,
        )  # fmt: skip
        if result.returncode != 0:
            words = " ".join(map(str, words))
            raise AssertionError(
                f"{gmx} {words}\nended with {result.returncode}\n{result.stdout}{result.stderr}"
            )

    def run(self, gmx, name, gro, parameters, *options):
        """grompp and mdrun; NAME.edr and, with nstxout, NAME.trr are in the folder then."""
        (self.folder / f"{name}.mdp").write_text(parameters)
        tpr = f"{name}.tpr"
        self.call(
            gmx, "grompp", "-f", f"{name}.mdp", "-c", gro, "-p", self.top, "-o", tpr,
            "-po", f"{name}-out.mdp", "-maxwarn", 5,
        )  # fmt: skip
        self.call(
            gmx, "mdrun", "-s", tpr, "-deffnm", name, "-nt", 1, "-pin", "off", "-reprod", *options
        )

    def terms(self, name):
        """What NAME.edr has, an array over its frames by GROMACS' name of the term."""
        names = "\n".join(str(i) for i in range(1, 60)) + "\n\n"
        xvg = f"{name}.xvg"
        self.call(DOUBLE, "energy", "-f", f"{name}.edr", "-dp", "-o", xvg, input=names)
        lines = (self.folder / xvg).read_text().splitlines()
        legends = [line.split('"')[1] for line in lines if line.startswith("@ s")]
        rows = [line.split()[1:] for line in lines if line[0] not in "#@"]
        return dict(zip(legends, np.array(rows, dtype=float).T, strict=True))

    def configuration(self, gro, interactions, cutoff):
        """Terms of one configuration at rest."""
        self.run(DOUBLE, "rest", gro, AT_REST.format(cutoff=cutoff) + interactions)
        return {name: values[-1] for name, values in self.terms("rest").items()}

    def dynamics(self, gro, interactions, gmx=None, **options):
        """Positions (frames, sites, 3) and edges of the box (frames, 3); the first frame is the
        start."""
        self.run(gmx or MIXED, "dynamics", gro, DYNAMICS.format(**options) + interactions)
        return read_trajectory(self.folder / "dynamics.trr")

    def energies(self, gro, interactions, cutoff, positions, edges):
        """Terms of each frame, in double precision."""
        write_trajectory(self.folder / "frames.trr", positions, edges)
        parameters = AT_REST.format(cutoff=cutoff) + interactions
        self.run(DOUBLE, "rerun", gro, parameters, "-rerun", "frames.trr")
        return self.terms("rerun")


def frame_type(sites, real):
    """A frame of a .trr file with positions only."""
    return np.dtype([
        ("magic", ">i4"), ("length", ">i4"), ("name_length", ">i4"), ("name", "S12"),
        ("sizes", ">i4", 10), ("sites", ">i4"), ("step", ">i4"), ("nre", ">i4"), ("time", real),
        ("lambda", real), ("box", real, (3, 3)), ("positions", real, (sites, 3)),
    ])  # fmt: skip


def sizes_of(sites, real):
    width = np.dtype(real).itemsize
    return [0, 0, 9 * width, 0, 0, 0, 0, 3 * sites * width, 0, 0]


def read_trajectory(path):
    """Positions (frames, sites, 3) and edges (frames, 3) of a .trr file of GROMACS."""
    header = np.fromfile(path, frame_type(0, ">f4"), count=1)[0]
    sites = header["sites"]
    real = ">f8" if header["sizes"][2] == 72 else ">f4"
    frames = np.fromfile(path, frame_type(sites, real))
    if (frames["magic"] != 1993).any() or (frames["sizes"] != sizes_of(sites, real)).any():
        raise ValueError(f"{path}: frames with more than positions")
    edges = np.diagonal(frames["box"], axis1=1, axis2=2)
    return frames["positions"].astype(float), edges.astype(float)


def write_trajectory(path, positions, edges):
    count, sites, _ = positions.shape
    frames = np.zeros(count, frame_type(sites, ">f8"))
    frames["magic"], frames["length"], frames["name_length"] = 1993, 13, 12
    frames["name"], frames["sizes"], frames["sites"] = "GMX_trn_file", sizes_of(sites, ">f8"), sites
    frames["step"] = frames["time"] = np.arange(count)
    frames["box"] = edges[:, :, None] * np.eye(3)
    frames["positions"] = positions
    frames.tofile(path)


def write_coordinates(path, like, positions, edges):
    """A .gro file with fifteen decimals and the names of another one."""
    rows = like.read_text().split("\n")[2 : 2 + len(positions)]
    lines = [row[:20] + "".join(f"{x:20.15f}" for x in r) for row, r in zip(rows, positions)]
    box = "".join(f"{edge:20.15f}" for edge in edges)
    path.write_text("\n".join([f"from {like.name}", str(len(lines)), *lines, box]) + "\n")
    return path


def whole_molecules(positions, edges, sites):
    """(frames, molecules, sites, 3), each molecule about its first site."""
    x = positions.reshape(len(positions), -1, sites, 3)
    edges = edges[:, None, None, :]
    return x - edges * np.round((x - x[:, :, :1]) / edges)


def excluded_energy(molecules, charges, cutoff):
    """What GROMACS adds to each frame for the reaction field of the sites of the same molecule,
    which are excluded from 1/r: (frames,).

    k q q' (r^2/(2 rc^3) - 3/(2 rc)) over all pairs, and half of it over each site with itself.
    """
    charges = np.array(charges)
    energy = 0.0
    for i, charge in enumerate(charges):
        distances = molecules - molecules[:, :, i : i + 1]
        squares = (distances**2).sum(axis=3)
        energy = energy + charge * ((squares / (2 * cutoff**3) - 3 / (2 * cutoff)) @ charges).sum(
            axis=1
        )
    return COULOMB / 2 * energy
