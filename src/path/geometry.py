"""Mass-weighted geometry: superposition, length of a path, images at equal distances, a guess.

Positions are arrays (atoms, 3) of one unit of length; masses in u.
"""

import itertools

import numpy
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize

CURVE_POINTS = 40  # between two points of a path, to measure the curve's length
EQUAL = 0.01  # relative difference of two distances that need not be made smaller
CLOSE = 0.6  # of the sum of two covalent radii: nearer atoms would have passed through each other


def superpose(positions, onto, masses):
    """`positions`, turned and moved onto `onto` with the least mass-weighted distance.

    W. Kabsch, Acta Cryst. A32, 922 (1976).
    """
    share = (masses / masses.sum())[:, None]
    centre = (share * onto).sum(axis=0)
    moved = positions - (share * positions).sum(axis=0)
    left, _, right = numpy.linalg.svd((share * moved).T @ (onto - centre))
    handedness = numpy.sign(numpy.linalg.det(left @ right))
    return moved @ (left @ numpy.diag([1.0, 1.0, handedness]) @ right) + centre


def distance(one, other, masses):
    """sqrt(sum m |a - b|^2), of positions as they lie."""
    return float(numpy.sqrt((masses[:, None] * (one - other) ** 2).sum()))


def superpose_path(points, masses, fixed=0):
    """Each point onto its neighbour, outwards from the one that stays where it is."""
    points = [numpy.array(point) for point in points]
    for k in range(fixed + 1, len(points)):
        points[k] = superpose(points[k], points[k - 1], masses)
    for k in range(fixed - 1, -1, -1):
        points[k] = superpose(points[k], points[k + 1], masses)
    return points


def equal_images(points, masses, least_count, fixed):
    """(reaction coordinates, positions) of images at equal distances along the smooth curve through
    the points; both ends and point `fixed` (the transition state, at coordinate 0) are among them.

    Before and behind it the distance of two images is a whole part of that side's length, so both
    are not quite the same; more images than asked for (a fifth at most) make them nearly so.
    """
    points = numpy.array(superpose_path(points, masses, fixed))
    chords = [distance(a, b, masses) for a, b in itertools.pairwise(points)]
    parameter = numpy.concatenate([[0.0], numpy.cumsum(chords)])
    curve = CubicSpline(parameter, points)
    pieces = [numpy.linspace(a, b, CURVE_POINTS) for a, b in itertools.pairwise(parameter)]
    fine = numpy.unique(numpy.concatenate(pieces))
    speed = numpy.sqrt((masses[:, None] * curve(fine, 1) ** 2).sum(axis=(1, 2)))
    steps = (speed[1:] + speed[:-1]) / 2 * numpy.diff(fine)
    length = numpy.concatenate([[0.0], numpy.cumsum(steps)])
    middle = numpy.interp(parameter[fixed], fine, length)
    before, after = division(middle, length[-1] - middle, least_count)
    coordinates = numpy.concatenate(
        [
            numpy.linspace(-middle, 0, before + 1),
            numpy.linspace(0, length[-1] - middle, after + 1)[1:],
        ]
    )
    where = numpy.interp(middle + coordinates, length, fine)
    where[[0, before, -1]] = parameter[[0, fixed, -1]]
    return coordinates, superpose_path(curve(where), masses, before)


def division(back, forth, least_count):
    """Images before and behind the one at 0: few, at distances as equal as may be."""

    def inequality(count, before):
        one, other = back / before, forth / (count - 1 - before)
        return abs(one - other) / max(one, other)

    best = None
    for count in range(least_count, least_count + max(1, least_count // 5) + 1):
        off, before = min((inequality(count, k), k) for k in range(1, count - 1))
        if best is None or off < best[0]:
            best = (off, before, count - 1 - before)
        if off < EQUAL:
            break
    return best[1:]


def interpolate(start, end, masses, radii, count):
    """`count` geometries between two, their distances between atoms as near as may be to those
    interpolated: S. Smidstrup et al., J. Chem. Phys. 140, 214106 (2014).

    radii: covalent ones. Where the straight line between would lead atoms through each other it is
    left by a small displacement that is always the same.
    """
    end = superpose(end, start, masses)
    least = CLOSE * (radii[:, None] + radii[None, :])
    aside = numpy.random.default_rng(1).normal(size=start.shape)
    images = []
    for share in (numpy.arange(count) + 1) / (count + 1):
        straight = (1 - share) * start + share * end
        wanted = (1 - share) * _distances(start) + share * _distances(end)
        found = _distances(straight) + numpy.eye(len(start)) * least.max()
        if (found < least).any():
            straight = straight + 0.1 * radii.mean() * aside
        images.append(_nearest_in_distances(straight, wanted))
    return superpose_path(images, masses)


def _distances(positions):
    return numpy.linalg.norm(positions[:, None] - positions[None], axis=2)


def _nearest_in_distances(positions, wanted):
    first, second = numpy.triu_indices(len(positions), 1)
    target = wanted[first, second]

    def error(flat):
        between = flat.reshape(-1, 3)[first] - flat.reshape(-1, 3)[second]
        length = numpy.maximum(numpy.linalg.norm(between, axis=1), 1e-6)
        off = length - target
        slope = (2 * off / length**4 - 4 * off**2 / length**5) / length
        gradient = numpy.zeros_like(positions)
        numpy.add.at(gradient, first, slope[:, None] * between)
        numpy.add.at(gradient, second, -slope[:, None] * between)
        return float((off**2 / length**4).sum()), gradient.ravel()

    found = minimize(error, positions.ravel(), jac=True, method="L-BFGS-B")
    return found.x.reshape(-1, 3)
