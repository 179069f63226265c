#!/usr/bin/env python3
"""Prints the polynomials and constants of functions.h and angle_functions.h (needs mpmath).

Each polynomial interpolates its function at Chebyshev's nodes, so that its error is within a small
factor of the least possible one; the last column is that error, relative to the function that it
is part of.
"""

from mpmath import (
    asin,
    atan,
    cos,
    erf,
    erfc,
    exp,
    floor,
    ldexp,
    log,
    lu_solve,
    matrix,
    mp,
    mpf,
    nstr,
    pi,
    sin,
    sqrt,
)

mp.dps = 60


def nodes(low, high, count):
    return [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count))
            for k in range(count)]


def polynomial(name, function, low, high, degree, weight):
    """weight(x): factor of the polynomial's absolute error in the relative error of the whole."""
    low, high = mpf(low), mpf(high)
    at = nodes(low, high, degree + 1)
    rows = matrix([[x**k for k in range(degree + 1)] for x in at])
    coefficients = [float(c) for c in lu_solve(rows, matrix([function(x) for x in at]))]
    worst = mpf(0)
    for i in range(2001):
        x = low + (high - low) * i / 2000
        if x == 0:
            continue
        value = sum(mpf(c) * x**k for k, c in enumerate(coefficients))
        worst = max(worst, abs((value - function(x)) * weight(x)))
    print(f"{name}: relative error {nstr(worst, 3)}")
    for c in reversed(coefficients):
        print(f"  {c!r}")


def pieces(name, value, bits):
    """value as a sum of doubles, all but the last with so many bits."""
    print(name)
    rest = mpf(value)
    for count in bits:
        if count == 53:
            part = float(rest)
        else:
            exponent = int(floor(log(abs(rest), 2))) + 1
            part = float(ldexp(floor(ldexp(rest, count - exponent)), exponent - count))
        print(f"  {part!r}")
        rest -= mpf(part)


half_log2 = log(mpf(2)) / 2
polynomial("exp: (e^r - 1 - r) / r^2", lambda r: (exp(r) - 1 - r) / r**2 if abs(r) > 1e-15 else
           mpf(1) / 2 + r / 6, -half_log2 - 1e-3, half_log2 + 1e-3, 10, lambda r: r**2)
z_log = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1))**2


def atanh_series(z, skip):
    """sum over k >= skip of z^(k - skip) / (2 k + 1)"""
    return sum(z**(k - skip) / (2 * k + 1) for k in range(skip, 60))


polynomial("log: 2 (atanh(s)/s - 1) / z", lambda z: 2 * atanh_series(z, 1), 0, z_log, 7,
           lambda z: z / 2)
polynomial("power: (atanh(s)/s - 1 - z/3) / z^2", lambda z: atanh_series(z, 2), 0, z_log, 8,
           lambda z: z**2)
polynomial("sin: (sin(x)/x - 1) / z", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, "1e-30",
           (pi / 4)**2 * 1.001, 6, lambda z: z)
polynomial("cos: (cos(x) - 1 + z/2) / z^2", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, "1e-20",
           (pi / 4)**2 * 1.001, 6, lambda z: z**2 * sqrt(2))
polynomial("asin: (asin(x)/x - 1) / z", lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, "1e-30",
           0.25, 14, lambda z: z)
polynomial("atan: (atan(x)/x - 1) / z", lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, "1e-30",
           (sqrt(mpf(2)) - 1)**2 * 1.001, 12, lambda z: z)
polynomial("erf: erf(x)/x - 1", lambda z: erf(sqrt(z)) / sqrt(z) - 1, "1e-30", 0.75**2, 11,
           lambda z: 1)
centre = mpf(4)


def scaled_complement(t):
    """(1 + 2 x) e^(x^2) erfc(x) with t = (x - 4) / (x + 4)"""
    x = centre * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


polynomial("erfc: (1 + 2 x) e^(x^2) erfc(x), t = (x - 4)/(x + 4)", scaled_complement,
           (mpf("0.75") - centre) / (mpf("0.75") + centre), (28 - centre) / (28 + centre), 24,
           lambda t: 1)
pieces("ln 2", log(mpf(2)), [41, 53])
pieces("1/3", mpf(1) / 3, [53, 53])
pieces("pi / 2", pi / 2, [33, 33, 33, 53])
pieces("pi / 2", pi / 2, [53, 53])
pieces("pi / 4", pi / 4, [53, 53])
pieces("pi", pi, [53, 53])
print("2 / pi in words of 32 bits")

mp.prec = 1400
digits = 2 / pi
words = ["0x0", "0x0"]
for _ in range(38):
    digits = digits * 2**32
    word = int(floor(digits))
    digits -= word
    words.append(f"0x{word:X}")
print(", ".join(words))
