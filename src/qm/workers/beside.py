"""Work for another thread while this one waits for something else."""

import concurrent.futures
import threading

from pyscf import lib


class Beside:
    """threads: of PySCF in that work; 0: there is no other thread, and each is done when its result is
    asked for.

    stopped: nobody wants the rest of what takes long, which looks at it now and then.
    """

    def __init__(self, threads):
        self.stopped = threading.Event()
        self._pool = None
        if threads:
            self._pool = concurrent.futures.ThreadPoolExecutor(
                1, "beside", initializer=lib.num_threads, initargs=(threads,)
            )

    def begin(self, work, *arguments):
        """One after the other. Returns what has result()."""
        if self._pool is None:
            return _WhenAsked(work, arguments)
        return self._pool.submit(work, *arguments)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """What has not begun is not done."""
        self.stopped.set()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


class _WhenAsked:
    def __init__(self, work, arguments):
        self._work = work
        self._arguments = arguments

    def result(self):
        return self._work(*self._arguments)
