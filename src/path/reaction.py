"""From a guess to a path: transition state, both ways down, images at equal distances."""

import os

import geometric
import numpy
import pyscf
from descent import End, follow
from errors import FAILURE, INPUT_ERROR, PathError
from files import read_molecule, same_atoms, write_frames
from geometry import distance, equal_images, interpolate, superpose, superpose_path
from level import (
    ANGSTROM_PER_BOHR,
    Level,
    NotConverged,
    find_gpu_program,
    not_converged,
    use_threads,
)
from record import NAME, Evaluations, Record
from saddle import find_saddle, reaction_mode, relax_held
from worker_protocol import HARTREE_IN_KJ_PER_MOL

RESULTS = ("transition-state.xyz", "irc.xyz", "path.xyz")
GUESSES = 7  # geometries between two minima, of which the highest begins the search


class Maker:
    """One path being made; all that is slow goes through `evaluations`, which are kept."""

    def __init__(self, request, output, progress):
        self.request, self.output, self.progress = request, output, progress
        self.elements, self.start, self.end, self.guess = read_inputs(request)
        use_threads(request.threads)
        self.holds = read_holds(request.hold, len(self.elements))
        level = Level(request, self.elements, find_gpu_program(request, progress))
        identity = {
            "program": "starpmc path",
            "elements": self.elements,
            "charge": request.charge,
            "multiplicity": request.multiplicity,
            "level": level.describe(),
            "pyscf": pyscf.__version__,
        }
        require_free(request, output)
        record = Record(output, identity, anew=request.overwrite)
        self.record = record
        self.evaluations = Evaluations(level, record, progress)
        self.masses = level.masses
        self.radii = level.radii_bohr

    def attempt(self, what, function, *arguments):
        """Names what was being computed where an SCF does not converge."""
        try:
            return function(*arguments)
        except NotConverged as error:
            raise not_converged(what, error, self.output) from error

    def between(self):
        """The highest of a few geometries between both minima."""
        images = interpolate(self.start, self.end, self.masses, self.radii, GUESSES)
        energies = []
        for k, image in enumerate(images):
            what = f"interpolated geometry {k + 1} of {GUESSES}"
            energies.append(self.attempt(what, self.evaluations.energy, image))
            self.progress(f"{what}: {energies[-1]:.6f} Hartree")
        return images[int(numpy.argmax(energies))]

    def transition_state(self):
        guess = self.guess if self.guess is not None else self.between()
        if self.holds:
            what = "held distances"
            tell = self.progress.steps(what)
            guess = self.attempt(
                what, relax_held, self.evaluations, guess, self.holds, self.request.max_steps, tell
            )
        what = "transition state"
        tell = self.progress.steps(what)
        saddle = self.attempt(
            what, find_saddle, self.evaluations, guess, self.request.max_steps, tell
        )
        wavenumber, mode, hessian = self.attempt(what, reaction_mode, self.evaluations, saddle)
        self.progress(f"{what}: one imaginary frequency, {-wavenumber:.1f}i 1/cm")
        comment = self.comment(
            f"kind=transition-state energy_hartree={saddle.energy:.8f} "
            f"imaginary_wavenumber_per_cm={-wavenumber:.1f} "
            f"largest_gradient_hartree_per_bohr={numpy.abs(saddle.gradient).max():.2e}"
        )
        write_frames(
            self.output / "transition-state.xyz", self.elements, [(saddle.positions, comment)]
        )
        return saddle, wavenumber, mode, hessian

    def both_ways(self, saddle, mode, hessian):
        """(points in order, number of the transition state's)."""
        sides = []
        for name, sign in (("first side", -1), ("second side", 1)):
            step = self.request.step / ANGSTROM_PER_BOHR
            points, end = self.attempt(
                f"reaction path, {name}",
                follow,
                self.evaluations,
                saddle,
                sign * mode,
                hessian,
                self.masses,
                step,
                self.request.max_steps,
                self.progress.steps(f"reaction path, {name}"),
            )
            if not points:
                raise PathError(
                    f"reaction path, {name}",
                    "the energy rises at the first step down from the transition state",
                    "give a smaller --step",
                    FAILURE,
                )
            if end is End.MOST_STEPS:
                self.progress(
                    f"reaction path, {name}: not at a minimum after {len(points)} steps, where it "
                    "ends now; more --max-steps go on"
                )
            if end is End.RISE:
                self.progress(
                    f"reaction path, {name}: not at a minimum after {len(points)} steps, where it "
                    "breaks off: the energy rises however short the next step, but the largest "
                    f"gradient is {points[-1].slope():.5f} Hartree/bohr; the SCF may find another "
                    "state there: look at the last geometry, try another --method or --step"
                )
            sides.append(points)
        points = [*reversed(sides[0]), saddle, *sides[1]]
        middle = len(sides[0])
        if self._is_backwards(points):
            points.reverse()
            middle = len(sides[1])
        return points, middle

    def _is_backwards(self, points):
        """Whether the end is nearer to --from than the beginning is, or to --to the other way."""

        def off(point, target):
            return distance(superpose(point.positions, target, self.masses), target, self.masses)

        balance = 0.0
        if self.start is not None:
            balance += off(points[0], self.start) - off(points[-1], self.start)
        if self.end is not None:
            balance += off(points[-1], self.end) - off(points[0], self.end)
        return balance > 0

    def images(self, points, middle):
        """(coordinates, positions, energies)."""
        way = [point.positions for point in points]
        coordinates, positions = equal_images(way, self.masses, self.request.images, middle)
        energies = []
        for k, image in enumerate(positions):
            what = f"image {k + 1} of {len(positions)}"
            place = f"{what} (reaction coordinate {coordinates[k] * ANGSTROM_PER_BOHR:.3f})"
            begun, reused = self.progress.seconds(), self.record.reused
            energies.append(self.attempt(place, self.evaluations.energy, image))
            if self.record.reused == reused:
                left = (len(positions) - k - 1) * (self.progress.seconds() - begun)
                self.progress(f"{what}: {energies[-1]:.6f} Hartree, about {left:.0f} s more")
        return coordinates, positions, energies

    def comment(self, fields):
        request = self.request
        guess = request.transition_state
        names = [guess] if guess else [getattr(request, "from"), request.to]
        return (
            f'{fields} charge={request.charge} multiplicity={request.multiplicity} '
            f'method="{self.evaluations.level.describe()}" '
            f'made="starpmc path {request.program_version}, {self.evaluations.level.program}, '
            f'geomeTRIC {geometric.__version__}; from {" and ".join(shown(name) for name in names)}, '
            f'steps of {request.step:g} angstrom u^1/2"'
        )

    def write_way(self, points, middle):
        """irc.xyz: every point of the way as it was computed."""
        way = superpose_path([point.positions for point in points], self.masses, middle)
        frames = [
            (positions, self.comment(f"step={k - middle} energy_hartree={point.energy:.8f}"))
            for k, (positions, point) in enumerate(zip(way, points, strict=True))
        ]
        write_frames(self.output / "irc.xyz", self.elements, frames)

    def write_path(self, coordinates, positions, energies, wavenumber):
        frames = []
        for k, energy in enumerate(energies):
            kind = "transition-state" if coordinates[k] == 0 else "reaction-path"
            above = (energy - energies[0]) * HARTREE_IN_KJ_PER_MOL
            fields = (
                f"image={k + 1} images={len(energies)} kind={kind} reaction_coordinate_angstrom_sqrt_u="
                f"{coordinates[k] * ANGSTROM_PER_BOHR:.6f} energy_hartree={energy:.8f} "
                f"energy_above_first_kj_per_mol={above:.3f}"
            )
            if coordinates[k] == 0:
                fields += f" imaginary_wavenumber_per_cm={-wavenumber:.1f}"
            frames.append((positions[k], self.comment(fields)))
        write_frames(self.output / "path.xyz", self.elements, frames)


def shown(path):
    """The file's name, without what would end the quotation."""
    return os.path.basename(path).replace('"', "'").replace("\n", " ")


def read_inputs(request):
    """(elements, start, end, guess of the transition state): positions in bohr, or None."""
    elements, positions = None, {}
    first = None
    for name in ("transition_state", "from", "to"):
        path = getattr(request, name)
        positions[name] = None
        if path is None:
            continue
        found, positions[name] = read_molecule(path)
        if elements is None:
            first, elements = path, found
        else:
            same_atoms((first, elements), (path, found))
    if len(elements) < 3:
        raise PathError(first, "two atoms have no transition state", "give three or more")
    check_distances(request, positions)
    return elements, positions["from"], positions["to"], positions["transition_state"]


def read_holds(text, atoms):
    """[(atom, atom, angstrom)], atoms from 0, of "6-7=2.0,1-9=2.4"."""
    return [_read_hold(text, part, atoms) for part in text.split(",")] if text else []


def _read_hold(text, part, atoms):
    pair, _, length = part.partition("=")
    one, _, other = pair.partition("-")
    try:
        pair, length = (int(one) - 1, int(other) - 1), float(length)
    except ValueError:
        pair = ()
    if len({*pair} & {*range(atoms)}) < 2:
        raise PathError(
            f"--hold {text}",
            f"{part!r} names no distance between two of the {atoms} atoms",
            "write ATOM-ATOM=ANGSTROM, atoms by their number from 1, as in 6-7=2.0,1-9=2.4",
            INPUT_ERROR,
        )
    if not 0.5 <= length <= 10:
        raise PathError(
            f"--hold {text}", f"{part!r} is not between 0.5 and 10 angstrom", "correct it",
            INPUT_ERROR,
        )
    return *pair, length


def check_distances(request, all_positions):
    for name, positions in all_positions.items():
        if positions is None:
            continue
        apart = numpy.linalg.norm(positions[:, None] - positions[None], axis=2)
        apart += numpy.eye(len(apart)) * 10
        one, other = divmod(int(apart.argmin()), len(apart))
        if apart.min() * ANGSTROM_PER_BOHR < 0.4:
            raise PathError(
                getattr(request, name),
                f"atoms {one + 1} and {other + 1} are {apart.min() * ANGSTROM_PER_BOHR:.2f} angstrom "
                "apart",
                "coordinates are in angstrom; correct them",
                INPUT_ERROR,
            )


def require_free(request, output):
    """Nothing of the user's is replaced by a file of the path."""
    inputs = [getattr(request, name) for name in ("transition_state", "from", "to")]
    for file in (output / name for name in (*RESULTS, NAME) if (output / name).exists()):
        if any(name and os.path.samefile(name, file) for name in inputs):
            raise PathError(
                file,
                "is read, and would be replaced by what is computed",
                "name another folder by --output",
            )
        if not request.overwrite and not (output / NAME).exists():
            raise PathError(
                file,
                f"is there, and no {NAME} of the path that it would be of",
                "name another folder by --output, or replace the file with --overwrite",
            )


def make_path(request, output, progress):
    maker = Maker(request, output, progress)
    level = maker.evaluations.level
    progress(f"{len(maker.elements)} atoms, {level.describe()}; results in {output}")
    saddle, wavenumber, mode, hessian = maker.transition_state()
    points, middle = maker.both_ways(saddle, mode, hessian)
    maker.write_way(points, middle)
    coordinates, positions, energies = maker.images(points, middle)
    maker.write_path(coordinates, positions, energies, wavenumber)
    highest = (saddle.energy - energies[0]) * HARTREE_IN_KJ_PER_MOL
    across = (energies[-1] - energies[0]) * HARTREE_IN_KJ_PER_MOL
    apart = numpy.diff(coordinates) * ANGSTROM_PER_BOHR
    if maker.record.reused:
        progress(f"{maker.record.reused} results were there from before")
    progress(
        f"{len(energies)} images {apart.min():.4f} to {apart.max():.4f} angstrom u^1/2 apart: barrier "
        f"{highest:.2f} kJ/mol, reaction energy {across:.2f} kJ/mol; {output / 'path.xyz'}"
    )
