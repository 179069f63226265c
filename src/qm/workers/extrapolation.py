"""Pulay's extrapolation (DIIS) of an SCF: the combination of Fock matrices whose error is least."""

import numpy

KEPT = 8  # Fock matrices


def extrapolation_on(backend):
    return ExtrapolationInPlace(backend) if backend.on_device else Extrapolation()


def _weights(products):
    """Of the matrices whose errors have these products; they sum to one."""
    count = len(products)
    equations = numpy.ones((count + 1, count + 1))
    equations[:count, :count] = products / products.diagonal().min()
    equations[count, count] = 0
    right = numpy.zeros(count + 1)
    right[count] = 1
    return numpy.linalg.lstsq(equations, right, rcond=1e-14)[0][:count]


class Extrapolation:
    """On the host."""

    def __init__(self):
        self.forget()

    def forget(self):
        self._kept = []

    def add(self, fock, error):
        """Returns the error's norm."""
        self._kept = [*self._kept[1 - KEPT :], (fock, error)]
        return float(numpy.linalg.norm(error))

    def best(self):
        """As of the last that was added."""
        errors = numpy.stack([error.ravel() for _, error in self._kept])
        products = errors @ errors.T
        if products[-1, -1] == 0:  # of one basis function, say: nothing to combine
            return self._kept[-1][0]
        weights = _weights(products).tolist()
        return sum(weight * fock for weight, (fock, _) in zip(weights, self._kept, strict=True))


class ExtrapolationInPlace:
    """On a device: matrices are written into two arrays, and one is waited for once, for its error's
    products with the others'. Where there is no more room the oldest is overwritten."""

    def __init__(self, backend):
        self._backend = backend
        self._products = numpy.zeros((KEPT, KEPT))
        self.forget()

    def forget(self):
        self._added = 0

    def add(self, fock, error):
        xp = self._backend.xp
        if self._added == 0:
            self._focks, self._errors = (xp.empty((KEPT, fock.size)) for _ in range(2))
        self._last, self._shape = self._added % KEPT, fock.shape
        self._added += 1
        self._focks[self._last] = fock.ravel()
        self._errors[self._last] = error.ravel()
        kept = slice(min(self._added, KEPT))
        row = self._backend.get(self._errors[kept] @ self._errors[self._last])
        self._products[self._last, kept] = self._products[kept, self._last] = row
        return float(row[self._last]) ** 0.5

    def best(self):
        count = min(self._added, KEPT)
        if self._products[self._last, self._last] == 0:
            return self._focks[self._last].reshape(self._shape)
        weights = self._backend.put(_weights(self._products[:count, :count]))
        return (weights @ self._focks[:count]).reshape(self._shape)
