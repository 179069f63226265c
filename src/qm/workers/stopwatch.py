"""Wall time by part of an update."""

import collections
import contextlib
import time


class Stopwatch:
    def __init__(self):
        self.seconds = collections.Counter()

    def reset(self):
        self.seconds.clear()

    @contextlib.contextmanager
    def measure(self, part):
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] += time.perf_counter() - start
