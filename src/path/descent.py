"""The intrinsic reaction coordinate: the way of steepest descent in mass-weighted coordinates.

On each step the surface is its quadratic expansion, on which the way down is known exactly
(M. Page, J. W. McIver, J. Chem. Phys. 88, 922 (1988)); the Hessian is the transition state's, updated
by the gradients on the way (J. M. Bofill, J. Comput. Chem. 15, 1 (1994)). Lengths in bohr u^1/2.
"""

import dataclasses
import enum

import numpy
from modes import internal_directions, weighted

FLAT = 1e-4  # Hartree/bohr, largest component: a minimum
NEARLY_FLAT = 4.5e-4  # as optimisations usually end: a minimum, where the energy falls no more
MOST_OFF = 0.2  # of a step, beside the way of steepest descent
SHORTEST = 0.1  # of a step: from there on it is accepted if only the energy falls
RENEWED = 0.3  # of a step: where they are shorter the Hessian is computed anew,
RENEWED_AFTER = 10  # but not before so many have been made
LEAST_STEP = 0.02  # of a step: shorter ones lead nowhere
PIECES = 1000  # of a step, in the integral of its length


class End(enum.Enum):
    """Why a way goes no further."""

    MINIMUM = enum.auto()
    RISE = enum.auto()  # the energy rises however short the step, though the slope is steep
    MOST_STEPS = enum.auto()


@dataclasses.dataclass
class Point:
    positions: numpy.ndarray  # bohr
    energy: float
    gradient: numpy.ndarray

    def slope(self):
        return float(numpy.abs(self.gradient).max())


def follow(evaluations, top, direction, hessian, masses, step, most_steps, tell):
    """(points from the first step on, End).

    top: Point of the transition state; direction: mass-weighted unit vector of its imaginary mode, to
    the side that is followed. A step at whose end the gradient is not as expected is repeated with
    half the length and what has been learned; where steps stay short, the Hessian is computed anew.
    """
    root = numpy.sqrt(masses)[:, None]
    curvature = weighted(hessian, masses)
    points = [top]
    displacement = step * direction
    length, steepest, renewed = step, 0.0, 0
    for _ in range(most_steps):
        last = points[-1]
        positions = last.positions + displacement.reshape(-1, 3) / root
        point = Point(positions, *evaluations.gradient(positions))
        change = ((point.gradient - last.gradient) / root).ravel()
        off = _off_the_way(change, displacement, curvature, point.gradient / root) / length
        curvature = bofill(curvature, displacement, change)
        unexpected = off > MOST_OFF and length > SHORTEST * step
        if point.energy > last.energy or unexpected:
            length /= 2
            # It may have fallen into a higher state, where the next would stay from its density.
            evaluations.forget_density()
            if length < LEAST_STEP * step:
                return points[1:], End.MINIMUM if _levels_out(last, steepest) else End.RISE
        else:
            points.append(point)
            tell(len(points) - 1, point)
            if off < MOST_OFF / 3:
                length = min(step, 1.5 * length)
            steepest = max(steepest, point.slope())
            # (At the transition state it is flat, too, but there the way goes on.)
            if point.slope() < FLAT < steepest / 4:
                return points[1:], End.MINIMUM
        if len(points) == 1:
            displacement = length * direction
            continue
        if length < RENEWED * step and len(points) >= renewed + RENEWED_AFTER:
            curvature = weighted(evaluations.hessian(points[-1].positions), masses)
            length, renewed = step, len(points)
        displacement, whole = _next_step(points[-1], curvature, masses, length)
        at_bottom = not whole and numpy.linalg.norm(displacement) < LEAST_STEP * step
        if at_bottom and _levels_out(points[-1], steepest):
            return points[1:], End.MINIMUM
    return points[1:], End.MOST_STEPS


def _levels_out(point, steepest):
    """Where nothing leads on: whether that is since the way has come to its end."""
    return point.slope() < min(NEARLY_FLAT, steepest / 2)


def _off_the_way(change, displacement, curvature, slope):
    """How far beside the way a step ended, from the part of the gradient that was not expected: in
    stiff directions that over their force constant, in soft ones what it turns the way by."""
    values, vectors = numpy.linalg.eigh(curvature)
    error = vectors.T @ (change - curvature @ displacement)
    turning = numpy.linalg.norm(slope) / numpy.linalg.norm(displacement)
    return float(numpy.linalg.norm(error / (numpy.abs(values) + turning)))


def _next_step(point, curvature, masses, length):
    slope = (point.gradient / numpy.sqrt(masses)[:, None]).ravel()
    inside = internal_directions(point.positions, masses)
    way, whole = downhill(inside.T @ slope, inside.T @ curvature @ inside, length)
    return inside @ way, whole


def downhill(slope, curvature, length):
    """(displacement along the way of steepest descent, whether it has all of the length)."""
    values, vectors = numpy.linalg.eigh(curvature)
    along = vectors.T @ slope
    size = numpy.linalg.norm(along)
    if size == 0:
        return numpy.zeros_like(slope), False
    end = length / size
    for _ in range(60):  # until the whole length is gone, or no mode has anything left to go
        times = end * numpy.linspace(0, 1, PIECES) ** 4  # fine at first, where the way is fastest
        speed = numpy.sqrt(((along * numpy.exp(-numpy.outer(times, values))) ** 2).sum(axis=1))
        pieces = (speed[1:] + speed[:-1]) / 2 * numpy.diff(times)
        gone = numpy.concatenate([[0.0], numpy.cumsum(pieces)])
        if gone[-1] >= length:
            break
        end *= 1.5
    else:
        return vectors @ _moved(along, values, end), False
    time = numpy.interp(length, gone, times)
    return vectors @ _moved(along, values, time), True


def _moved(along, values, time):
    flat = numpy.abs(values * time) < 1e-8
    safe = numpy.where(flat, 1.0, values)
    return along * numpy.where(flat, -time, numpy.expm1(-safe * time) / safe)


def bofill(hessian, step, change):
    """Symmetric rank one and Powell's update, mixed as suits the step."""
    error = change - hessian @ step
    square, product = step @ step, error @ step
    size = error @ error
    if size == 0 or square == 0:
        return hessian
    share = product**2 / (size * square)
    rank_one = numpy.outer(error, error) / product if product != 0 else 0.0
    powell = (numpy.outer(error, step) + numpy.outer(step, error)) / square
    powell = powell - product * numpy.outer(step, step) / square**2
    return hessian + share * rank_one + (1 - share) * powell
