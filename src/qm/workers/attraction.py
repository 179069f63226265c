"""Matrices of 1/r of point charges, and potentials of densities, by McMurchie and Davidson's scheme, as
array expressions.

For a device: PySCF's integrals run on the host, and would be most of an update's time there. Products of
two primitive functions are sums of Hermite Gaussians, which the solute's rigid geometry makes once. A
set of charges then is a potential and its derivatives at each product's centre, summed over the charges,
and the matrix a sum over products. The potential of a density at a point is the same the other way round. No step adds into an element from several places, so the same input
has the same bits.
"""

import itertools
import math

import numpy
import scipy.special
from pyscf import gto

# Of a product of functions: what is less changes no element by 1e-13 of a charge of one.
LEAST_COEFFICIENT = 1e-15
TABLE_STEP = 0.1
# From here on the Boys function is its asymptote (to 1e-15 for orders up to 8: e^-x x^8 is less).
TABLE_END = 60.0
TAYLOR_TERMS = 8
# Of the arrays that live at a time, each of products times charges. Smaller ones of high orders would
# leave a GPU waiting for launches.
BYTES_AT_ONCE = 2**29
MOST_FUSED_RESULTS = 40  # a kernel's arguments have room for no more than some eighty arrays


def hermite_orders(order):
    """(t, u, v) with t + u + v <= order."""
    triples = itertools.product(range(order + 1), repeat=3)
    return sorted((triple for triple in triples if sum(triple) <= order), key=lambda one: (sum(one), one))


def hermite_count(order):
    return math.comb(order + 3, 3)


class _Shells:
    """Contracted functions of one angular momentum and number of primitives."""

    def __init__(self, momentum, exponents, coefficients, centres, firsts):
        self.momentum = momentum
        self.exponents = numpy.array(exponents)  # (shells, primitives)
        self.coefficients = numpy.array(coefficients)
        self.centres = numpy.array(centres)  # (shells, 3)
        self.firsts = numpy.array(firsts)  # of their functions in the basis
        self.numbers = None

    @property
    def functions(self):
        return 2 * self.momentum + 1


def _shells_by_kind(molecule):
    if molecule.cart:
        raise ValueError("Cartesian basis functions")
    kinds, offsets = {}, molecule.ao_loc_nr()
    for shell in range(molecule.nbas):
        momentum = int(molecule.bas_angular(shell))
        exponents = molecule.bas_exp(shell)
        for index, coefficients in enumerate(molecule._libcint_ctr_coeff(shell).T):
            used = coefficients != 0
            first = offsets[shell] + index * (2 * momentum + 1)
            row = (exponents[used], coefficients[used], molecule.bas_coord(shell), first)
            kinds.setdefault((momentum, int(used.sum())), []).append(row)
    return [_Shells(momentum, *zip(*rows, strict=True)) for (momentum, _), rows in sorted(kinds.items())]


def _expansion(momenta, exponents, distances, sums):
    """E[i][j][t] of one axis: x_A^i x_B^j exp(...) in Hermite Gaussians; distances: A - B."""
    a, b = exponents
    most_i, most_j = momenta
    to_a, to_b = -b / sums * distances, a / sums * distances
    zero = numpy.zeros_like(sums)
    table = {(0, 0): [numpy.exp(-a * b / sums * distances**2)]}

    def raised(lower, shift):
        def get(t):
            return lower[t] if 0 <= t < len(lower) else zero

        return [
            get(t - 1) / (2 * sums) + shift * get(t) + (t + 1) * get(t + 1)
            for t in range(len(lower) + 1)
        ]

    for i in range(1, most_i + 1):
        table[i, 0] = raised(table[i - 1, 0], to_a)
    for i in range(most_i + 1):
        for j in range(1, most_j + 1):
            table[i, j] = raised(table[i, j - 1], to_b)
    return table


def _cartesian(momentum):
    return [
        (x, y, momentum - x - y)
        for x in range(momentum, -1, -1)
        for y in range(momentum - x, -1, -1)
    ]


class _Products:
    """Of shells of two kinds: centres, exponents, and each product's share in each matrix element."""

    def __init__(self, one, other):
        same = one is other
        pairs = [
            (i, j)
            for i in range(len(one.firsts))
            for j in range(i + 1 if same else len(other.firsts))
        ]
        i, j = numpy.array(pairs).reshape(-1, 2).T
        self.order = one.momentum + other.momentum
        a = one.exponents[i][:, :, None]
        b = other.exponents[j][:, None, :]
        sums = a + b
        centres = a[..., None] * one.centres[i][:, None, None] + b[..., None] * other.centres[j][
            :, None, None
        ]
        centres = centres / sums[..., None]
        distances = one.centres[i] - other.centres[j]
        axes = [
            _expansion((one.momentum, other.momentum), (a, b), distances[:, axis, None, None], sums)
            for axis in range(3)
        ]
        weights = one.coefficients[i][:, :, None] * other.coefficients[j][:, None, :]
        weights = weights * 2 * numpy.pi / sums
        shares = self._shares(one.momentum, other.momentum, axes, weights)
        kept = abs(shares).max(axis=(1, 2, 3, 4), initial=0) > LEAST_COEFFICIENT
        count = int(kept.sum())
        self.exponents = sums[kept].ravel()
        self.centres = centres[kept].reshape(-1, 3)
        # (pairs, primitives times Hermite functions, elements)
        self.shares = shares[kept].reshape(count, -1, one.functions * other.functions)
        self.rows = one.firsts[i[kept], None] + numpy.arange(one.functions)
        self.columns = other.firsts[j[kept], None] + numpy.arange(other.functions)
        # A matrix has the elements of two different shells twice.
        self.times = numpy.where(self.rows[:, 0] == self.columns[:, 0], 1.0, 2.0)

    def _shares(self, one, other, axes, weights):
        """(pairs, primitives, Hermite functions, functions of one, of the other)."""
        hermite = hermite_orders(self.order)
        result = numpy.zeros(
            (*weights.shape, len(hermite), len(_cartesian(one)), len(_cartesian(other)))
        )
        for m, powers in enumerate(_cartesian(one)):
            for n, others in enumerate(_cartesian(other)):
                for h, triple in enumerate(hermite):
                    factors = [
                        axis[i, j][t]
                        for axis, i, j, t in zip(axes, powers, others, triple, strict=True)
                        if t <= i + j
                    ]
                    if len(factors) == 3:
                        result[..., h, m, n] = weights * factors[0] * factors[1] * factors[2]
        result = result.reshape(weights.shape[0], -1, *result.shape[3:])
        left, right = (gto.cart2sph(momentum) for momentum in (one, other))
        return numpy.einsum("kphmn,ma,nb->kphab", result, left, right, optimize=True)


class _BoysTable:
    """Boys functions of one order, and by recursion of those below."""

    def __init__(self, order, backend):
        self._order = order
        self._backend = backend
        nodes = numpy.arange(0, TABLE_END + TABLE_STEP, TABLE_STEP)
        orders = order + numpy.arange(TAYLOR_TERMS)
        rows = [_boys(n, nodes) / scipy.special.factorial(k) for k, n in enumerate(orders)]
        self._rows = backend.put(numpy.array(rows))
        odd = numpy.prod(numpy.arange(1, 2 * order, 2, dtype=float))
        self._asymptote = float(odd / 2 ** (order + 1) * numpy.pi**0.5)
        self._all_orders = backend.fused(self._taylor_and_recursion)

    def nearest(self, x):
        """(the nearest node's number, from x to the node): for elements of arrays."""
        clipped = self._backend.xp.minimum(x, TABLE_END)
        index = (clipped * (1 / TABLE_STEP) + 0.5).astype("int32")
        return index, index.astype("float64") * TABLE_STEP - clipped

    def __call__(self, x, index, step):
        """[F_0(x), ..., F_order(x)], with what nearest() has given."""
        terms = self._rows.take(index, axis=1)
        answer = self._all_orders(x, step, *(terms[term] for term in range(TAYLOR_TERMS)))
        return answer if isinstance(answer, tuple) else (answer,)

    def _taylor_and_recursion(self, x, step, *rows):
        xp = self._backend.xp
        top = rows[-1]
        for row in rows[-2::-1]:
            top = top * step + row
        far = xp.maximum(x, TABLE_END)
        beyond = self._asymptote / xp.sqrt(far)
        for _ in range(self._order):
            beyond = beyond / far
        top = xp.where(x < TABLE_END, top, beyond)
        found = [top]
        decay = xp.exp(-x)
        for n in range(self._order, 0, -1):
            found.append((2 * x * found[-1] + decay) / (2 * n - 1))
        found.reverse()
        return found[0] if len(found) == 1 else tuple(found)


def _boys(order, x):
    half = order + 0.5
    safe = numpy.maximum(x, 1e-3)
    large = (
        scipy.special.gamma(half) * scipy.special.gammainc(half, safe) / (2 * safe**half)
    )
    small = sum(
        (-x) ** k / scipy.special.factorial(k) / (2 * order + 2 * k + 1) for k in range(6)
    )
    return numpy.where(x > 1e-3, large, small)


class _OfOrder:
    """All products whose Hermite functions go up to one order."""

    def __init__(self, order, products, backend):
        self._backend = backend
        self._order = order
        self._hermite = hermite_orders(order)
        self._boys = _BoysTable(order, backend)
        exponents = numpy.concatenate([one.exponents for one in products])
        self._count = len(exponents)
        self._exponents = backend.put(exponents[:, None])
        centres = numpy.concatenate([one.centres for one in products])
        self._centres = [backend.put(centres[:, axis, None]) for axis in range(3)]
        self._shares = [backend.put(one.shares) for one in products]
        self._places = [(one.rows[:, :, None], one.columns[:, None], one.times) for one in products]
        self._differences = backend.fused(self._differences_and_nodes)
        self._fields = self._derivatives
        if len(self._hermite) <= MOST_FUSED_RESULTS:
            self._fields = backend.fused(self._derivatives)

    def elements(self, positions, charges):
        """Of all products, pair of shells by pair of shells: a list of flat arrays."""
        sums = self._sums(positions, charges)
        result, first = [], 0
        for shares in self._shares:
            pairs, terms, _ = shares.shape
            products = pairs * terms // len(self._hermite)
            here = sums[first : first + products].reshape(pairs, 1, terms)
            result.append((here @ shares).ravel())
            first += products
        return result

    def potentials(self, coefficients, points):
        """(matrices, points): of these products' share in the matrices of coefficients()."""
        xp = self._backend.xp
        parts = [coefficients @ self._values_at(points[some]) for some in self._slices(len(points))]
        return xp.concatenate([xp.zeros((len(coefficients), 0)), *parts], axis=1)

    def coefficients(self, matrices):
        """(matrices, Hermite functions times products), as _values_at() has them, of the host's symmetric
        ones."""
        parts = []
        for (rows, columns, times), shares in zip(self._places, self._shares, strict=True):
            elements = matrices[:, rows, columns] * times[:, None, None]
            elements = elements.reshape(len(matrices), len(times), -1, 1)
            here = shares[None] @ self._backend.put(elements)
            parts.append(here.reshape(len(matrices), -1, len(self._hermite)))
        whole = self._backend.xp.concatenate(parts, axis=1)
        return whole.transpose(0, 2, 1).reshape(len(matrices), -1)

    def _sums(self, positions, charges):
        """(products, Hermite functions): sums over the charges."""
        result = self._backend.xp.zeros((self._count, len(self._hermite)))
        for some in self._slices(len(positions)):
            sums = self._values_at(positions[some]) @ charges[some]
            result += sums.reshape(len(self._hermite), self._count).T
        return result

    def _slices(self, positions):
        """Of so many positions, whose arrays in _values_at() keep to BYTES_AT_ONCE."""
        # The derivatives twice, when they become one array, beside differences and Boys functions, or
        # what the latter are made of.
        arrays = 2 * len(self._hermite) + self._order + 4
        arrays = max(arrays, self._order + TAYLOR_TERMS + 12)
        at_once = max(1, BYTES_AT_ONCE // (8 * arrays * self._count))
        return [slice(first, first + at_once) for first in range(0, positions, at_once)]

    def _values_at(self, positions):
        """(Hermite functions times products, positions)."""
        x, y, z, *arguments = self._differences(
            *self._centres, *(positions[None, :, axis] for axis in range(3)), self._exponents
        )
        boys = self._boys(*arguments)
        del arguments  # as large as the others
        fields = self._fields(x, y, z, self._exponents, *boys)
        fields = fields if isinstance(fields, tuple) else (fields,)
        # One array for all: of one by one the launches would take longer than the work.
        return self._backend.xp.stack(fields).reshape(len(fields) * self._count, -1)

    def _differences_and_nodes(self, *places_and_exponents):
        *places, exponents = places_and_exponents
        x, y, z = (place - position for place, position in zip(places[:3], places[3:], strict=True))
        argument = exponents * (x * x + y * y + z * z)
        return x, y, z, argument, *self._boys.nearest(argument)

    def _derivatives(self, x, y, z, exponents, *boys):
        """Of 1/r smeared by the products, in the order of hermite_orders().

        Each level, from the highest, is made of the one above, and of two only are there arrays.
        """
        axes, scales = (x, y, z), [1.0]
        for _ in boys[1:]:
            scales.append(scales[-1] * (-2.0 * exponents))
        level = {}
        for n in reversed(range(len(boys))):
            above, level = level, {(0, 0, 0): boys[n] * scales[n]}
            for triple in self._hermite[1 : hermite_count(self._order - n)]:
                axis = next(k for k in range(3) if triple[k])
                lower = tuple(t - (k == axis) for k, t in enumerate(triple))
                value = axes[axis] * above[lower]
                if lower[axis]:
                    lowest = tuple(t - (k == axis) for k, t in enumerate(lower))
                    value = value + lower[axis] * above[lowest]
                level[triple] = value
        fields = tuple(level[triple] for triple in self._hermite)
        return fields[0] if len(fields) == 1 else fields


class AttractionMatrix:
    """Called with positions (n, 3) in bohr and charges: the host's arrays, and the device's matrix."""

    def __init__(self, molecule, backend):
        self._backend = backend
        shells = _shells_by_kind(molecule)
        products = [
            _Products(one, other) for k, one in enumerate(shells) for other in shells[: k + 1]
        ]
        products = sorted((one for one in products if len(one.rows)), key=lambda one: one.order)
        self._orders = [
            _OfOrder(order, list(some), backend)
            for order, some in itertools.groupby(products, key=lambda one: one.order)
        ]
        functions = molecule.nao
        count = sum(one.rows.shape[0] * one.rows.shape[1] * one.columns.shape[1] for one in products)
        # Elements that no product reaches are the zero behind the last.
        place = numpy.full((functions, functions), count)
        done = 0
        for one in products:
            shape = (len(one.rows), one.rows.shape[1], one.columns.shape[1])
            size = shape[0] * shape[1] * shape[2]
            numbers = numpy.arange(done, done + size).reshape(shape)
            place[one.rows[:, :, None], one.columns[:, None]] = numbers
            place[one.columns[:, None], one.rows[:, :, None]] = numbers
            done += size
        self._place = backend.put(place)
        self._last = None, []  # matrices of potentials() and their coefficients

    def __call__(self, positions, charges):
        """sum over charges of q (m| 1/|r - R| |n)."""
        backend = self._backend
        positions, charges = backend.put(positions), backend.put(charges)
        found = [one for order in self._orders for one in order.elements(positions, charges)]
        elements = backend.xp.concatenate([*found, backend.xp.zeros(1)])
        return elements.take(self._place)

    def potentials(self, matrices, points):
        """(matrices, points): sum over m, n of D_mn (m| 1/|r - R| |n) of symmetric matrices at points
        (n, 3) in bohr; all are the host's."""
        there = self._backend.put(points)
        orders = zip(self._orders, self._coefficients_of(matrices), strict=True)
        return self._backend.get(sum(order.potentials(those, there) for order, those in orders))

    def _coefficients_of(self, matrices):
        """Of each order. Points come a thousand at a time, all of them with the same matrices."""
        known, coefficients = self._last
        if not numpy.array_equal(known, matrices):
            coefficients = [order.coefficients(matrices) for order in self._orders]
            self._last = matrices.copy(), coefficients
        return coefficients
