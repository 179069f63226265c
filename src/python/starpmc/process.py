"""The program at work: its progress, its messages, its end."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from starpmc.errors import Error, error_of
from starpmc.settings import Settings, write_settings

_WARNING = "starpmc: warning: "
_MOST_KEPT = 1000  # states of progress that nobody has asked for yet
_AT_WORK: weakref.WeakSet[Process] = weakref.WeakSet()


@dataclass(frozen=True)
class Progress:
    """How far a run has come, all chains together. None: not known."""

    phase: str
    unit: str
    step: int
    total_steps: int
    acceptance: float | None
    qm_update: int
    qm_updates: int
    steps_per_second: float | None
    remaining_seconds: float | None

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.step / self.total_steps if self.total_steps else 1.0

    def __str__(self) -> str:
        parts = [f"{int(self.share * 1000) / 10:5.1f} %"]
        if self.remaining_seconds is not None:
            parts.append(f"{self.remaining_seconds:.0f} s left")
        parts += [self.phase, f"{self.unit} {self.step}/{self.total_steps}"]
        if self.acceptance is not None:
            parts.append(f"acceptance {self.acceptance:.3f}")
        if self.qm_updates:
            parts.append(f"QM {self.qm_update}/{self.qm_updates}")
        return "  ".join(parts)


def _progress_in(line: str) -> Progress | None:
    if not line.startswith('{"progress":'):
        return None
    try:
        told = json.loads(line)["progress"]
        return Progress(**{field.name: told[field.name] for field in fields(Progress)})
    except (ValueError, KeyError, TypeError):
        return None


class Process:
    """The program in a process group of its own, so that Ctrl-C reaches it through stop() only,
    and once. Its output is read on two threads.
    """

    def __init__(
        self,
        program: Path,
        words: Sequence[str],
        environment: Mapping[str, str] | None = None,
        settings: Settings | None = None,
    ) -> None:
        """settings: of a configuration to be written; its path comes after the first word."""
        self._scratch = tempfile.mkdtemp(prefix="starpmc-python-") if settings else None
        command = [str(program), *words]
        self._config: str | None = None
        try:
            if settings:
                self._config = os.path.join(self._scratch or "", "settings.cfg")
                write_settings(settings, self._config)
                command.insert(2, self._config)
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **(environment or {}), "STARPMC_PROGRESS": "json"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                process_group=0,
            )
        except BaseException:
            self._clean_up()
            raise
        self.warnings: list[str] = []
        self._said: list[str] = []
        self._output: list[str] = []
        self._progress: queue.SimpleQueue[Progress | None] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=self._read_errors, daemon=True),
            threading.Thread(target=self._read_output, daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        _AT_WORK.add(self)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def status(self) -> int | None:
        return self._process.poll()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        """What it has printed: at its end, the table of results."""
        return "".join(self._output)

    def progress(self) -> Iterator[Progress]:
        """Each state as it comes, until the program ends. Ctrl-C stops the program and goes on as
        KeyboardInterrupt once its checkpoint is written."""
        with self._passing_on_interrupts():
            while (state := self._progress.get()) is not None:
                yield state
            self._progress.put(None)  # for whoever asks again
            self._finish()

    def wait(self, timeout: float | None = None) -> None:
        """Until the program has ended; raises what it died of, TimeoutError where it has not."""
        with self._passing_on_interrupts():
            try:
                self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"starpmc has not ended within {timeout:g} s") from None
            self._finish()

    def stop(self, timeout: float | None = None) -> None:
        """As Ctrl-C does: the program writes its checkpoints and ends."""
        self.interrupt()
        try:
            self._process.wait(timeout)
        except KeyboardInterrupt:  # another one: it ends at once
            self.interrupt()
            self._process.wait()
            raise
        finally:
            if not self.running:
                self._finish()

    def interrupt(self) -> None:
        """Comes back at once."""
        if self.running:
            self._process.send_signal(signal.SIGINT)

    def error(self) -> Error | None:
        """What the program died of; None: it goes on, or has ended well."""
        status = self.status
        if not status:
            return None
        return error_of(status, "".join(self._said), self._config)

    @contextlib.contextmanager
    def _passing_on_interrupts(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self.stop()
            raise

    def _finish(self) -> None:
        """Once it has ended, or is about to: all that it said is there."""
        self._process.wait()
        for reader in self._readers:
            reader.join()
        self._clean_up()

    def _clean_up(self) -> None:
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                if state := _progress_in(line):
                    self._keep(state)
                    continue
                self._said.append(line)
                if line.startswith(_WARNING):
                    self.warnings.append(line.removeprefix(_WARNING).strip())
        self._progress.put(None)

    def _keep(self, state: Progress) -> None:
        """The oldest go, so that a run of weeks takes no memory."""
        if self._progress.qsize() >= _MOST_KEPT:
            with contextlib.suppress(queue.Empty):
                self._progress.get_nowait()
        self._progress.put(state)

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            self._output.extend(lines)


@atexit.register
def _stop_all(patience: float = 60) -> None:
    """What still runs when Python ends is stopped as by Ctrl-C, and can be resumed."""
    at_work = [process for process in _AT_WORK if process.running]
    for process in at_work:
        process.interrupt()
    deadline = time.monotonic() + patience
    for process in at_work:
        with contextlib.suppress(TimeoutError, Error):
            process.wait(max(0.0, deadline - time.monotonic()))
