"""Radial distribution functions over the frames of all chains, and the picture of the box."""

from dataclasses import dataclass, field

import box_picture
import charts
import distribution
import numpy
import page
from run_folder import DAMAGE, ReportError, require_file
from sites import Catalogue, Pair
from trajectory import Trajectory, symbol

MOST_ATOMS = 6  # of the solute, unless the user names some
MOST_CENTRES = 12  # with a plot, unless the user names pairs
MOST_ROWS = 60  # of the page's table; report-coordination.csv has all
PREFERRED = ("N", "O", "F", "P", "S", "Cl", "Br", "I")


@dataclass
class Structure:
    """Curves in the order of the pairs; those whose labels are in `shown` get a plot."""

    atoms: list = field(default_factory=list)  # of the solute, named in the picture
    catalogue: Catalogue = None
    curves: list = field(default_factory=list)
    shown: set = field(default_factory=set)
    pictured: tuple = None  # figure, caption
    frames_of: str = "frames after equilibration"


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


def read(run, atoms="", pairs=""):
    """What all chains' trajectories hold; what cannot be read becomes a problem of the run.

    atoms: of the solute, whose plots are shown, each by itself; pairs: of sites, as sites.py reads
    them, instead of all of solutes and ions.
    """
    found = Structure()
    if not run.equilibration_known:
        found.frames_of = "all frames"
    opened = []
    for chain in run.chains:
        try:
            require_file(chain.trajectory)
            opened.append((chain, Trajectory(chain.trajectory)))
        except FileNotFoundError:
            run.problem(f"{chain.name}: there is no trajectory.h5md.")
        except DAMAGE as error:
            run.problem(f"{chain.name}: trajectory.h5md cannot be read: {error}")
    try:
        if opened:
            _read_opened(run, atoms, pairs, _of_one_system(run, opened), found)
    except DAMAGE as error:
        run.problem(f"The trajectory cannot be read: {error}")
    finally:
        for _, trajectory in opened:
            trajectory.__exit__()
    return found


def _of_one_system(run, opened):
    """Those that have the first one's molecules."""
    first_chain, first = opened[0]
    for chain, trajectory in opened:
        if not trajectory.has_molecules_of(first):
            run.problem(
                f"{chain.name}: trajectory.h5md has other molecules than that of {first_chain.name}, and is "
                "left out."
            )
    return [one for one in opened if one[1].has_molecules_of(first)]


def _read_opened(run, atoms, pairs, opened, found):
    """opened: (chain, trajectory) of those that can be read."""
    trajectories = [trajectory for _, trajectory in opened]
    first = trajectories[0]
    names = first.solute_names()
    elements = [symbol(z) for z in first.atomic_numbers[: first.solute_atoms]]
    found.atoms = choose_atoms(names, elements, atoms)
    if first.frames:
        found.pictured = box_picture.draw(first, first.frames - 1, found.atoms)
    found.catalogue = Catalogue(first)
    chosen = _choose_pairs(found, atoms, pairs)
    usable = [
        (number, frame)
        for number, (chain, trajectory) in enumerate(opened)
        for frame in range(trajectory.frames)
        if trajectory.steps[frame] > run.equilibration_of(chain)
    ]
    if chosen and usable:
        found.curves = _count_distances(chosen, found.catalogue, trajectories, usable)


def _choose_pairs(found, atoms, pairs):
    """Those to be counted; notes which are shown."""
    catalogue = found.catalogue
    by_atom = _pairs_by_atom(found) if atoms else []
    if pairs:
        chosen = catalogue.named_pairs(pairs)
        found.shown = {pair.label for pair in chosen}
    else:
        chosen = catalogue.default_pairs()
        shown = [pair for pair in chosen if _is_shown(found, pair, bool(by_atom))]
        centres = list(dict.fromkeys(pair.centre.label for pair in shown))[:MOST_CENTRES]
        found.shown = {pair.label for pair in shown if pair.centre.label in centres}
    found.shown |= {pair.label for pair in by_atom}
    known = {pair.label for pair in chosen}
    return chosen + [pair for pair in by_atom if pair.label not in known]


def _pairs_by_atom(found):
    catalogue = found.catalogue
    if not catalogue.solvent:
        return []
    solute, around = catalogue.solute, catalogue.sides(catalogue.solvent)
    return [
        Pair(catalogue.sites(solute, [atom]), side) for atom in found.atoms for side in around
    ]


def _is_shown(found, pair, atoms_are_named):
    """Of the default pairs: those of chosen atoms of the QM molecule, and all without them."""
    of_solute = numpy.intersect1d(pair.centre.particles, _solute_particles(found))
    if not len(of_solute):
        return True
    return not atoms_are_named and bool(len(numpy.intersect1d(of_solute, found.atoms)))


def _solute_particles(found):
    solute = found.catalogue.solute
    return numpy.arange(len(solute.names)) if solute else numpy.zeros(0, int)


def _count_distances(pairs, catalogue, opened, usable):
    counters = [distribution.Counter(pair, catalogue, opened[0].edges) for pair in pairs]
    # Only what is needed is read.
    most = max(distribution.plan(counters, len(usable)).values())
    usable = distribution.evenly(usable, most)
    frames = distribution.plan(counters, len(usable))
    wanted = {}
    for counter, count in frames.items():
        for index in distribution.evenly(range(len(usable)), count):
            wanted.setdefault(index, []).append(counter)
    for index in sorted(wanted):
        chain, number = usable[index]
        trajectory = opened[chain]
        frame = distribution.Frame(trajectory.positions(number), trajectory.edges_of(number))
        for counter in wanted[index]:
            counter.add(chain, frame)
    return [counter.curve() for counter in counters]


def _plot(curves, title):
    figure, axis = charts.new_figure()
    axis.axhline(1, color="#808080", lw=0.8, ls=":")
    for curve, colour in zip(curves, charts.PALETTE, strict=False):
        name = curve.pair.label.replace(":", "–")
        axis.plot(curve.r, curve.g, color=colour, label=name)
        error = numpy.nan_to_num(curve.g_error)
        axis.fill_between(
            curve.r, curve.g - error, curve.g + error, color=colour, alpha=0.25, lw=0
        )
    axis.set_xlim(0, curves[0].radius)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("r (Å)")
    axis.set_ylabel("g(r)")
    axis.set_title(title)
    if len(curves) > 1:
        charts.name_lines(figure, axis, columns=min(4, len(curves)))
    return figure


def _figures(found, gallery):
    """One for each centre, of at most as many curves as there are colours."""
    together = {}
    for curve in found.curves:
        if curve.pair.label in found.shown:
            together.setdefault(curve.pair.centre.label, []).append(curve)
    taken, figures = set(), []
    for centre, curves in together.items():
        for start in range(0, len(curves), len(charts.PALETTE)):
            some = curves[start : start + len(charts.PALETTE)]
            name = _file_name("-".join([centre, *(c.pair.around.label for c in some)]), taken)
            title = some[0].pair.label.replace(":", "–") if len(some) == 1 else f"around {centre}"
            figures.append(page.figure(gallery.take(_plot(some, title), name)))
    return figures


def _file_name(text, taken):
    """rdf-TEXT of ASCII letters, digits and dashes, once each."""
    text = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
    name = base = f"rdf-{text[:60]}"
    number = 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name


def section(found, gallery, with_error):
    figures, text = (_figures(found, gallery), _shells(found, with_error)) if found.curves else ([], "")
    if found.pictured:
        figure, caption = found.pictured
        figures.append(page.figure(gallery.take(figure, "box"), f"Last frame: {caption}."))
    return page.charts(figures) + text if figures else ""


def _shells(found, with_error):
    rows = []
    for curve in found.curves[:MOST_ROWS]:
        shell = curve.shell
        if shell is None:
            rows.append([curve.pair.label, "–", "–", "–", curve.frames])
            continue
        number = with_error(shell.number.mean, shell.number.error, shell.number.long_enough)
        rows.append([
            curve.pair.label, f"{shell.maximum:.2f}",
            f"{shell.minimum:.2f}{'' if shell.clear else ' (not clear)'}", number, curve.frames,
        ])  # fmt: skip
    text = (
        f"Means over {found.frames_of} with their errors; minimum image, up to half the "
        "shortest edge; normalised by the mean density of the box. The coordination number is how "
        "many sites of the second name are within the first minimum around one of the first. All "
        "values are in report-rdf.csv and report-coordination.csv."
    )
    head = ["pair", "first maximum, Å", "first minimum, Å", "coordination number", "frames"]
    return page.paragraph(text, "quiet") + page.table(head, rows)
