"""Balls and sticks: the solute with its first shell, or a box without a solute.

Orthographic for a solute, in perspective for a whole box; painted from back to front.
"""

import charts
import numpy
from matplotlib.patches import Circle, Polygon

# Colour, radius of the ball and covalent radius (A).
ELEMENTS = {
    1: ("#e8e8e8", 0.24, 0.31),
    5: ("#e0a0a0", 0.42, 0.84),
    6: ("#484848", 0.40, 0.76),
    7: ("#3050f8", 0.39, 0.71),
    8: ("#e03020", 0.38, 0.66),
    9: ("#70c850", 0.36, 0.57),
    13: ("#a89898", 0.50, 1.21),
    14: ("#c8a070", 0.48, 1.11),
    15: ("#f08000", 0.48, 1.07),
    16: ("#d8b820", 0.48, 1.05),
    17: ("#30b830", 0.48, 1.02),
    34: ("#d89018", 0.50, 1.20),
    35: ("#a03020", 0.52, 1.20),
    53: ("#8020a0", 0.58, 1.39),
}
OTHER = ("#60a8b8", 0.55, 1.5)
BOND_WIDTH = 0.13
BOND_TOLERANCE = 1.25  # times the covalent radii
SHELL = 3.5  # A, from a molecule's centre to the nearest atom of the solute
MOST_MOLECULES = 500  # of a box without a solute
PERSPECTIVE = 3.0  # distance of the eye in box lengths
PALE = 0.55
INCHES = 4.5


def _element(number):
    return ELEMENTS.get(int(number), OTHER)


def _view_of(solute):
    """Rotation that lays the longest axes of the solute into the plane."""
    if len(solute) < 2:
        return numpy.eye(3)
    axes = numpy.linalg.svd(solute - solute.mean(axis=0))[2]
    if numpy.linalg.det(axes) < 0:
        axes[2] *= -1
    return axes


def bonds(positions, numbers, groups):
    """Pairs of atoms of one group that are near enough."""
    found = []
    for group in groups:
        radii = numpy.array([_element(numbers[i])[2] for i in group])
        between = positions[group][:, None] - positions[group][None]
        distance = numpy.sqrt((between**2).sum(axis=2))
        near = distance < BOND_TOLERANCE * (radii[:, None] + radii)
        light = numpy.array([numbers[i] == 1 for i in group])
        near &= ~(light[:, None] & light)
        found += [(group[a], group[b]) for a, b in zip(*numpy.nonzero(near), strict=True) if a < b]
    return found


def _bond(a, b, hidden, width):
    """Corners of the visible part of a stick in the plane; hidden: what lies within either ball."""
    along = (b - a) / numpy.linalg.norm(b - a)
    a, b = (a + hidden[0] * along)[:2], (b - hidden[1] * along)[:2]
    length = numpy.hypot(*(b - a))
    if length == 0:
        return None
    across = numpy.array([a[1] - b[1], b[0] - a[0]]) / length * width / 2
    return [a + across, b + across, b - across, a - across]


def _paint(axis, points, scales, numbers, bonds, pale, names):
    """points: (n, 3), z towards the eye; scales: of the balls; pale and names: by atom."""
    items = [(points[i][2], "atom", i) for i in range(len(points)) if numbers[i] > 0]
    items += [((points[a][2] + points[b][2]) / 2, "bond", (a, b)) for a, b in bonds]
    for layer, (_, kind, what) in enumerate(sorted(items, key=lambda item: item[0])):
        if kind == "bond":
            a, b = what
            hidden = [0.9 * scales[end] * _element(numbers[end])[1] for end in what]
            width = BOND_WIDTH * (scales[a] + scales[b])
            corners = _bond(points[a], points[b], hidden, width)
            if corners is not None:
                alpha = PALE if pale[a] else 1
                axis.add_patch(
                    Polygon(corners, fc="#909090", ec="#404040", lw=0.4, alpha=alpha, zorder=layer)
                )
            continue
        colour, radius, _ = _element(numbers[what])
        radius *= scales[what]
        alpha = PALE if pale[what] else 1
        at = points[what][:2]
        axis.add_patch(
            Circle(at, radius, fc=colour, ec="#303030", lw=0.5, alpha=alpha, zorder=layer)
        )
        if what in names:
            dark = numbers[what] not in (1, 16)
            axis.text(
                *at, names[what], ha="center", va="center", fontsize=6, zorder=len(items),
                color="white" if dark else "black",
            )  # fmt: skip


def _frame(axis, points):
    low, high = points.min(axis=0)[:2] - 0.8, points.max(axis=0)[:2] + 0.8
    axis.set_xlim(low[0], high[0])
    axis.set_ylim(low[1], high[1])
    axis.set_aspect("equal")
    axis.set_axis_off()
    return (high - low).max()


def _molecule_atoms(trajectory, molecule):
    first = trajectory.first_site[molecule]
    return numpy.arange(first, first + trajectory.molecule_sizes[molecule])


def _nearest_images(positions, edges, trajectory, centre):
    """Whole molecules, each where its first site is nearest to the centre."""
    moved = positions - centre
    sizes = trajectory.molecule_sizes
    if len(sizes):
        shifts = edges * numpy.rint(moved[trajectory.first_site] / edges)
        moved[trajectory.solute_atoms :] -= numpy.repeat(shifts, sizes, axis=0)
    return moved


def _solute_and_shell(trajectory, frame, labelled, view):
    positions = trajectory.positions(frame)
    count = trajectory.solute_atoms
    centre = positions[:count].mean(axis=0)
    moved = _nearest_images(positions, trajectory.edges, trajectory, centre)
    solute = moved[:count]
    shell = []
    for molecule, first in enumerate(trajectory.first_site):
        if ((solute - moved[first]) ** 2).sum(axis=1).min() < SHELL**2:
            shell.append(_molecule_atoms(trajectory, molecule))
    chosen = numpy.concatenate([numpy.arange(count), *shell]).astype(int)
    points = moved @ (_view_of(solute) if view is None else view).T
    figure, axis = charts.new_figure((INCHES, INCHES))
    numbers = trajectory.atomic_numbers
    names = {atom: trajectory.solute_names()[atom] for atom in labelled}
    sticks = bonds(moved, numbers, [numpy.arange(count), *shell])
    place = {int(atom): index for index, atom in enumerate(chosen)}
    _frame(axis, points[chosen])
    _paint(
        axis, points[chosen], numpy.ones(len(chosen)), numbers[chosen],
        [(place[int(a)], place[int(b)]) for a, b in sticks], chosen >= count,
        {place[int(atom)]: name for atom, name in names.items()},
    )  # fmt: skip
    return figure, f"the QM molecule and the {len(shell)} molecules within {SHELL:g} Å of it"


def _edges_of_box(edges):
    """The twelve lines of a box about the origin: (12, 2, 3)."""
    lines = []
    for along in range(3):
        for signs in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            ends = numpy.empty((2, 3))
            ends[:, along] = (-0.5, 0.5)
            ends[:, [k for k in range(3) if k != along]] = numpy.array(signs) / 2
            lines.append(ends * edges)
    return numpy.array(lines)


def _rotated(points):
    """Seen a little from above and from the side."""
    a, b = numpy.radians(24), numpy.radians(18)
    turn = numpy.array([[numpy.cos(a), 0, numpy.sin(a)], [0, 1, 0], [-numpy.sin(a), 0, numpy.cos(a)]])
    tilt = numpy.array([[1, 0, 0], [0, numpy.cos(b), -numpy.sin(b)], [0, numpy.sin(b), numpy.cos(b)]])
    return points @ (tilt @ turn).T


def _whole_box(trajectory, frame):
    edges = trajectory.edges
    positions = trajectory.positions(frame)
    moved = _nearest_images(positions, edges, trajectory, edges / 2)
    molecules = len(trajectory.first_site)
    # Of a large box, the slice at the front.
    depth = moved[trajectory.first_site][:, 2].argsort()[::-1][:MOST_MOLECULES]
    groups = [_molecule_atoms(trajectory, molecule) for molecule in depth]
    chosen = numpy.concatenate(groups)
    points, lines = _rotated(moved), _rotated(_edges_of_box(edges))
    distance = PERSPECTIVE * edges.max()
    scale = distance / (distance - points[:, 2])
    line_scale = distance / (distance - lines[..., 2])
    lines = lines[..., :2] * line_scale[..., None]
    points = numpy.column_stack((points[:, :2] * scale[:, None], points[:, 2]))
    figure, axis = charts.new_figure((INCHES, INCHES))
    _frame(axis, numpy.concatenate((points[chosen][:, :2], lines.reshape(-1, 2))))
    for line in lines:
        axis.plot(*line.T, color="#808080", lw=0.8, zorder=-1)
    place = {int(atom): index for index, atom in enumerate(chosen)}
    sticks = bonds(moved, trajectory.atomic_numbers, groups)
    _paint(
        axis, points[chosen], scale[chosen], trajectory.atomic_numbers[chosen],
        [(place[int(a)], place[int(b)]) for a, b in sticks], numpy.zeros(len(chosen), bool), {},
    )  # fmt: skip
    shown = "all" if len(depth) == molecules else f"the {len(depth)} foremost of"
    return figure, f"{shown} {molecules} molecules in the periodic box"


def draw(trajectory, frame, labelled, view=None):
    """Figure and what it shows. labelled: atoms of the solute that get their names. view: a rotation
    of the solute; the one that spreads it most where there is none."""
    if trajectory.solute_atoms:
        return _solute_and_shell(trajectory, frame, labelled, view)
    return _whole_box(trajectory, frame)
