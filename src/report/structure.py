"""Radial distribution functions over the frames of all chains, and the picture of the box."""

from dataclasses import dataclass, field

import box_picture
import charts
import distribution
import page
from run_folder import DAMAGE, ReportError, require_file
from trajectory import Trajectory, symbol

MOST_ATOMS = 6  # of the solute, unless the user names some
PREFERRED = ("N", "O", "F", "P", "S", "Cl", "Br", "I")


@dataclass
class Structure:
    """Histograms by (atom, label), that of the solvent, and what they are of."""

    atoms: list = field(default_factory=list)
    atom_names: list = field(default_factory=list)
    solvent: object = None
    around: dict = field(default_factory=dict)
    among: distribution.Histogram = None
    frames: int = 0
    pictured: tuple = None  # figure, caption


def choose_atoms(names, elements, wanted):
    """Indices of the solute's atoms that `wanted` names: names, elements or numbers from 1."""
    if not wanted:
        chosen = [i for i, element in enumerate(elements) if element in PREFERRED]
        chosen = chosen or [i for i, element in enumerate(elements) if element != "H"]
        return (chosen or list(range(len(names))))[:MOST_ATOMS]
    if not names:
        raise ReportError("--atoms: the system has no QM molecule\n  remedy: leave --atoms out")
    chosen = []
    for word in filter(None, (word.strip() for word in wanted.split(","))):
        lower = word.lower()
        found = [
            index
            for index, (name, element) in enumerate(zip(names, elements, strict=True))
            if lower in (name.lower(), element.lower(), str(index + 1))
        ]
        if not found:
            raise ReportError(
                f"--atoms: the QM molecule has no such atom, found {word[:40]!r}\n"
                f"  remedy: use {', '.join(names)}, an element, or a number from 1"
            )
        chosen += [index for index in found if index not in chosen]
    if not chosen:
        raise ReportError("--atoms: no atom is named\n  remedy: name some, or leave --atoms out")
    return chosen


def read(run, wanted):
    """What all chains' trajectories hold; what cannot be read becomes a problem of the run."""
    found = Structure()
    opened = []
    for chain in run.chains:
        try:
            require_file(chain.trajectory)
            opened.append(Trajectory(chain.trajectory))
        except FileNotFoundError:
            run.problem(f"{chain.name}: there is no trajectory.h5md.")
        except DAMAGE as error:
            run.problem(f"{chain.name}: trajectory.h5md cannot be read: {error}")
    try:
        if opened:
            _read_opened(run, wanted, opened, found)
    except DAMAGE as error:
        run.problem(f"The trajectory cannot be read: {error}")
    finally:
        for trajectory in opened:
            trajectory.__exit__()
    return found


def _read_opened(run, wanted, opened, found):
    first = opened[0]
    names = first.solute_names()
    elements = [symbol(z) for z in first.atomic_numbers[: first.solute_atoms]]
    found.atoms = choose_atoms(names, elements, wanted)
    found.atom_names = [names[atom] for atom in found.atoms]
    found.solvent = first.solvent()
    if first.frames:
        found.pictured = box_picture.draw(first, first.frames - 1, found.atoms)
    usable = [
        (trajectory, frame)
        for trajectory in opened
        for frame in range(trajectory.frames)
        if trajectory.steps[frame] > run.equilibration_steps
    ]
    if found.solvent and usable:
        _count_distances(found, usable, first.edges)


def _count_distances(found, usable, edges):
    radius = distribution.largest_radius(edges)
    solvent = found.solvent
    frames = distribution.evenly(usable, distribution.MOST_FRAMES)
    pair_frames = frames
    if solvent.molecules > 1:
        found.among = distribution.Histogram(radius, distribution.SOLVENT_BIN)
        count = distribution.frames_for_solvent(solvent, edges, radius, len(frames))
        pair_frames = set(distribution.evenly(range(len(frames)), count))
    found.around = {
        (atom, label): distribution.Histogram(radius, distribution.SOLUTE_BIN)
        for atom in found.atoms
        for label in solvent.sites
    }
    if not found.around:  # only what is needed is read
        frames = [frames[index] for index in sorted(pair_frames)]
        pair_frames = range(len(frames))
    for index, (trajectory, frame) in enumerate(frames):
        positions = trajectory.positions(frame)
        distribution.add_solute_frame(found.around, positions, edges, solvent)
        if found.among and index in pair_frames:
            distribution.add_solvent_frame(found.among, positions, edges, solvent)
    found.frames = len(frames)


def _plot(histograms, title):
    """histograms: (label, Histogram)."""
    figure, axis = charts.new_figure()
    axis.axhline(1, color="#808080", lw=0.8, ls=":")
    for (label, histogram), colour in zip(histograms, charts.PALETTE, strict=False):
        axis.plot(histogram.centres(), histogram.g(), color=colour, label=label)
    axis.set_xlim(0, histograms[0][1].radius)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("r (Å)")
    axis.set_ylabel("g(r)")
    axis.set_title(title)
    if len(histograms) > 1:
        charts.name_lines(figure, axis)
    return figure


def _distributions(found, gallery):
    """Figures, and what they are of."""
    solvent, figures = found.solvent, []
    called = "water" if solvent.water else solvent.name
    for atom, name in zip(found.atoms, found.atom_names, strict=True):
        curves = [(f"{name}–{label}", found.around[atom, label]) for label in solvent.sites]
        figure = _plot(curves, f"{name} to {called}")
        figures.append(page.figure(gallery.take(figure, f"rdf-{name}")))
    text = f"Radial distribution functions: mean of {found.frames} frames after equilibration"
    if found.among:
        pair = f"{solvent.centre}–{solvent.centre}"
        figure = _plot([(pair, found.among)], f"{pair} of {called}")
        figures.append(page.figure(gallery.take(figure, f"rdf-{solvent.centre}-{solvent.centre}")))
        text += f", {pair} of {found.among.frames}"
    text += (
        "; minimum image, up to half the shortest edge; normalised by the mean density of the box."
    )
    return figures, page.paragraph(text, "quiet")


def section(found, gallery):
    figures, text = _distributions(found, gallery) if found.frames else ([], "")
    if found.pictured:
        figure, caption = found.pictured
        figures.append(page.figure(gallery.take(figure, "box"), f"Last frame: {caption}."))
    return page.charts(figures) + text if figures else ""
