"""Work for another thread while this one waits for something else."""

import concurrent.futures

from pyscf import lib


class Beside:
    """threads: of PySCF in that work; 0: there is no other thread, and each is done when its result is
    asked for."""

    def __init__(self, threads):
        self._pool = None
        if threads:
            self._pool = concurrent.futures.ThreadPoolExecutor(
                1, initializer=lib.num_threads, initargs=(threads,)
            )

    def begin(self, work, *arguments):
        """One after the other. Returns what has result() and, for what has not begun, cancel()."""
        if self._pool is None:
            return _WhenAsked(work, arguments)
        return self._pool.submit(work, *arguments)

    def end(self):
        """What has not begun is not done."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


class _WhenAsked:
    def __init__(self, work, arguments):
        self._work = work
        self._arguments = arguments

    def result(self):
        return self._work(*self._arguments)

    def cancel(self):
        """There is nothing to do."""
