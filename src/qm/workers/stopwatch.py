"""Wall time by part of an update."""

import collections
import contextlib
import time


class Stopwatch:
    """synchronize(): waits for a device; without it a part's time is that of giving it orders."""

    def __init__(self, synchronize=lambda: None):
        self.seconds = collections.Counter()
        self.synchronize = synchronize

    def reset(self):
        self.seconds.clear()

    @contextlib.contextmanager
    def measure(self, part):
        start = time.perf_counter()
        try:
            yield
            self.synchronize()
        finally:
            self.seconds[part] += time.perf_counter() - start
