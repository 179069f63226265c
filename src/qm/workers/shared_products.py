"""The products of a response's equations, of which other workers make a part.

Each product has the same bits whoever makes it, so when and how they are shared out may depend on time.
"""

import time

import numpy


class SharedProducts:
    """equations: exact_ensemble.Equations. others: exact_requests.OtherWorkers, or None.

    Others make nothing until the products have taken as long as their preparation will: a short response is
    not worth it, and in a long one that time does not count.
    """

    def __init__(self, equations, threads, others):
        self._response = equations.response
        self._shared = equations.shared
        self._seconds_before = equations.seconds
        self._threads = threads
        self._others = others if equations.shared is not None else None

    def apply(self, vectors):
        if self._others is None or len(vectors) < 2 or self._seconds_before > 0:
            return self._alone(vectors)
        threads = max(1, self._threads - self._others.count)
        mine = -(-len(vectors) * threads // (threads + self._others.count))
        if mine == len(vectors):  # few others, many threads: nothing is left to them
            return self._alone(vectors)
        if self._shared is not None:
            self._others.tell(self._shared)
            self._shared = None
        self._others.ask(vectors[mine:])
        products = self._response.apply(vectors[:mine], threads)
        theirs = self._others.answer(vectors[mine:].shape)
        if theirs is None:
            self._others = None
            theirs = self._alone(vectors[mine:])
        return numpy.vstack([products, theirs])

    def _alone(self, vectors):
        begun = time.perf_counter()
        products = self._response.apply(vectors, self._threads)
        self._seconds_before -= (time.perf_counter() - begun) * min(len(vectors), self._threads)
        return products
