"""Local and semi-local functionals of closed shells as array expressions, for devices without libxc.

Each part is a function of the density n and sigma = |grad n|^2 (atomic units) that returns energy per
electron and the derivatives of the energy per volume by n and by sigma. Constants are libxc's, whose
numbers they give.
"""

import math

import numpy
from pyscf import dft

# libxc takes less for no density; so small that no sum over points notices where it is.
LEAST_DENSITY = 1e-15

PI = math.pi
SLATER = -0.75 * (3 / PI) ** (1 / 3)
SEITZ = (3 / (4 * PI)) ** (1 / 3)  # r_s n^(1/3)
REDUCED_GRADIENT = 1 / (4 * (3 * PI**2) ** (2 / 3))  # s^2 = this sigma n^(-8/3)
PBE_MU, PBE_BETA = 0.2195149727645171, 0.06672455060314922
PBE_GAMMA = (1 - math.log(2)) / PI**2
PBE_GRADIENT = PI / (16 * (3 * PI**2) ** (1 / 3))  # t^2 = this sigma n^(-7/3)
B88_BETA = 0.0042
LYP_A, LYP_B, LYP_C, LYP_D = 0.04918, 0.132, 0.2533, 0.349
FERMI_KINETIC = 0.3 * (3 * PI**2) ** (2 / 3)


def slater_exchange(xp, n, _sigma):
    energy = SLATER * xp.cbrt(n)
    return energy, 4 / 3 * energy, 0.0


def _enhanced(xp, n, sigma, enhancement):
    """Slater's exchange times F(s^2); enhancement(s^2): F and its derivative."""
    cube_root = xp.cbrt(n)
    slater = SLATER * cube_root
    per_sigma = REDUCED_GRADIENT / (n * n * cube_root * cube_root)
    s2 = per_sigma * sigma
    factor, slope = enhancement(s2)
    energy = slater * factor
    return energy, slater * (4 / 3 * factor - 8 / 3 * s2 * slope), n * slater * slope * per_sigma


def pbe_exchange(kappa=0.804, mu=PBE_MU):
    def exchange(xp, n, sigma):
        def enhancement(s2):
            share = 1 / (1 + mu / kappa * s2)
            return 1 + kappa * (1 - share), mu * share * share

        return _enhanced(xp, n, sigma, enhancement)

    return exchange


def rpbe_exchange(xp, n, sigma, kappa=0.804, mu=PBE_MU):
    def enhancement(s2):
        share = xp.exp(-mu / kappa * s2)
        return 1 + kappa * (1 - share), mu * share

    return _enhanced(xp, n, sigma, enhancement)


def b88_exchange(xp, n, sigma):
    cube_root = xp.cbrt(n)
    # Of one spin's density n/2 and gradient: x = |grad| / density^(4/3).
    x = 2 ** (1 / 3) * xp.sqrt(sigma) / (n * cube_root)
    inverse_sine = xp.arcsinh(x)
    denominator = 1 + 6 * B88_BETA * x * inverse_sine
    correction = B88_BETA * x * x / denominator
    per_electron = 2 ** (-1 / 3) * cube_root
    slope_over_x = (
        B88_BETA
        * (2 * denominator - 6 * B88_BETA * x * (inverse_sine + x / xp.sqrt(1 + x * x)))
        / (denominator * denominator)
    )
    energy = SLATER * cube_root - per_electron * correction
    by_n = 4 / 3 * (energy + per_electron * slope_over_x * x * x)
    # dx / dsigma = x / (2 sigma), and x^2 / sigma has a limit where sigma vanishes.
    x2_per_sigma = 2 ** (2 / 3) / (n * n * cube_root * cube_root)
    return energy, by_n, -0.5 * n * per_electron * slope_over_x * x2_per_sigma


def vwn_correlation(x0, b, c):
    """Vosko, Wilk and Nusair's, without spin."""

    def correlation(xp, n, _sigma):
        return _vosko_wilk_nusair(xp, n, x0, b, c)

    return correlation


def _vosko_wilk_nusair(xp, n, x0, b, c):
    a = 0.0310907
    q = math.sqrt(4 * c - b * b)
    x = xp.sqrt(SEITZ / xp.cbrt(n))
    quadratic = x * x + b * x + c
    at_x0 = x0 * x0 + b * x0 + c
    angle = xp.arctan(q / (2 * x + b))
    energy = a * (
        xp.log(x * x / quadratic)
        + 2 * b / q * angle
        - b * x0 / at_x0 * (xp.log((x - x0) * (x - x0) / quadratic) + 2 * (b + 2 * x0) / q * angle)
    )
    lorentzian = 4 / (q * q + (2 * x + b) * (2 * x + b))
    slope = (2 * x + b) / quadratic
    by_x = a * (
        2 / x
        - slope
        - b * lorentzian
        - b * x0 / at_x0 * (2 / (x - x0) - slope - (b + 2 * x0) * lorentzian)
    )
    return energy, energy - by_x * x / 6, 0.0


def _perdew_wang(xp, n, a):
    """(energy per electron, its derivative by n times n)."""
    a1, b1, b2, b3, b4 = 0.21370, 7.5957, 3.5876, 1.6382, 0.49294
    rs = SEITZ / xp.cbrt(n)
    root = xp.sqrt(rs)
    series = 2 * a * root * (b1 + root * (b2 + root * (b3 + root * b4)))
    by_rs = a * (b1 + root * (2 * b2 + root * (3 * b3 + root * 4 * b4))) / root
    logarithm = xp.log1p(1 / series)
    energy = -2 * a * (1 + a1 * rs) * logarithm
    slope = -2 * a * a1 * logarithm + 2 * a * (1 + a1 * rs) * by_rs / (series * (series + 1))
    return energy, -rs / 3 * slope


def pw_correlation(a):
    def correlation(xp, n, _sigma):
        energy, n_slope = _perdew_wang(xp, n, a)
        return energy, energy + n_slope, 0.0

    return correlation


def pbe_correlation(beta=PBE_BETA):
    def correlation(xp, n, sigma):
        local, n_slope = _perdew_wang(xp, n, 0.0310907)
        cube_root = xp.cbrt(n)
        per_sigma = PBE_GRADIENT / (n * n * cube_root)
        t2 = per_sigma * sigma
        ratio = beta / PBE_GAMMA
        inverse = xp.expm1(-local / PBE_GAMMA)
        a = ratio / inverse
        at2 = a * t2
        denominator = 1 + at2 * (1 + at2)
        argument = 1 + ratio * t2 * (1 + at2) / denominator
        gain = PBE_GAMMA * xp.log(argument)
        # Derivatives of the argument by t^2 and by A.
        square = denominator * denominator * argument
        by_t2 = PBE_GAMMA * ratio * (1 + 2 * at2) / square
        by_a = -PBE_GAMMA * ratio * t2 * t2 * at2 * (2 + at2) / square
        # dA / d(local energy) = A (A / ratio + 1) ratio / (gamma ratio)
        a_slope = a * (a / ratio + 1) / PBE_GAMMA * n_slope
        by_n = local + gain + n_slope + by_a * a_slope - 7 / 3 * t2 * by_t2
        return local + gain, by_n, n * by_t2 * per_sigma

    return correlation


def lyp_correlation(xp, n, sigma):
    """Lee, Yang and Parr's, as Miehlich and others wrote it, of a closed shell."""
    cube_root = xp.cbrt(n)
    r = 1 / cube_root
    screening = 1 / (1 + LYP_D * r)
    damping = xp.exp(-LYP_C * r) * screening
    delta = r * (LYP_C + LYP_D * screening)
    gradient_factor = 1 / 24 + 7 / 72 * delta
    n83 = n * n * cube_root * cube_root
    bracket = FERMI_KINETIC - gradient_factor * sigma / n83
    energy = -LYP_A * (screening + LYP_B * damping * bracket)
    # Derivatives by n, times n: d r = -r / 3.
    d_screening = LYP_D * r * screening * screening / 3
    d_damping = damping * delta / 3
    d_delta = -r / 3 * (LYP_C + LYP_D * screening * screening)
    d_bracket = (8 / 3 * gradient_factor - 7 / 72 * d_delta) * sigma / n83
    n_slope = -LYP_A * (d_screening + LYP_B * (d_damping * bracket + damping * d_bracket))
    return energy, energy + n_slope, LYP_A * LYP_B * damping * gradient_factor * n / n83


# By libxc's numbers.
PARTS = {
    1: slater_exchange,
    7: vwn_correlation(-0.10498, 3.72744, 12.9352),  # their fifth
    8: vwn_correlation(-0.409286, 13.0720, 42.7198),  # of the random phase approximation
    12: pw_correlation(0.031091),
    13: pw_correlation(0.0310907),
    101: pbe_exchange(),
    102: pbe_exchange(kappa=1.245),
    116: pbe_exchange(mu=10 / 81),
    117: rpbe_exchange,
    106: b88_exchange,
    130: pbe_correlation(),
    133: pbe_correlation(beta=0.046),
    131: lyp_correlation,
}


# Hybrids that have a number of their own, without their exact exchange: PBE0, B3LYP, BHandHLYP.
HYBRIDS = {
    406: [(101, 0.75), (130, 1.0)],
    402: [(1, 0.08), (106, 0.72), (8, 0.19), (131, 0.81)],
    436: [(106, 0.5), (131, 1.0)],
}


def parts_of(functional):
    """[(part, its weight)], less the exact exchange of a hybrid; None where one of them is not here."""
    found = []
    for whole, weight in dft.libxc.parse_xc(functional)[1]:
        for number, share in HYBRIDS.get(int(whole), [(whole, 1.0)]):
            found.append((PARTS.get(int(number)), share * weight))
    return None if not found or any(part is None for part, _ in found) else found


class ArrayFunctional:
    """Called with (1 or 4, points): density and its gradient. As NumInt.eval_xc_eff of order one."""

    def __init__(self, functional, backend):
        self._xp = backend.xp
        self._parts = parts_of(functional)
        self._of_points = backend.fused(self._energy_and_slopes)
        self._halves = backend.fused(_halves)
        # Of the density's row, and of those of its gradient.
        self._local = backend.put(numpy.array([[0.5], [0.0], [0.0], [0.0]]))
        self._semilocal = backend.put(numpy.array([[0.0], [2.0], [2.0], [2.0]]))

    def _energy_and_slopes(self, n, *gradient):
        xp = self._xp
        sigma = 0.0
        for component in gradient:
            sigma = sigma + component * component
        safe = xp.maximum(n, LEAST_DENSITY)
        energy = by_n = by_sigma = 0.0
        for part, weight in self._parts:
            here = part(xp, safe, sigma)
            energy = energy + weight * here[0]
            by_n = by_n + weight * here[1]
            by_sigma = by_sigma + weight * here[2]
        # 1, or 0 where there is nothing. An output has to be an array, local functionals' third, too.
        counts = xp.where(n > LEAST_DENSITY, n, 0.0) / safe
        return energy * counts, by_n * counts, by_sigma * counts

    def __call__(self, rho):
        """(energy per electron, derivatives by rho and its gradient's components)."""
        energy, by_n, by_sigma = self._slopes(rho)
        potential = self._xp.empty_like(rho)
        potential[0] = by_n
        potential[1:] = 2 * by_sigma * rho[1:]
        return energy, potential

    def weighted_halves(self, rho, weights):
        """The same, the derivatives times the points' weights, and by rho half of them."""
        rows = len(rho)
        energy, *slopes = self._slopes(rho)
        by_n, by_sigma = (slope[None] for slope in slopes)
        return energy, self._halves(
            weights[None], rho, by_n, by_sigma, self._local[:rows], self._semilocal[:rows]
        )

    def _slopes(self, rho):
        return self._of_points(*(rho[row] for row in range(len(rho))))


def _halves(weights, rho, by_n, by_sigma, local, semilocal):
    return weights * (local * by_n + semilocal * by_sigma * rho)
