"""Wall time by part of an update."""

import collections
import contextlib
import math
import os
import time


def seconds_of_process():
    """Since the kernel has started it: Python's own start and all imports are among them. NaN: it is not told."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return math.nan


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
