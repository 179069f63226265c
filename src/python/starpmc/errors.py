"""What can go wrong, with what the program says of it."""

from __future__ import annotations

import re
import signal

INPUT_ERROR = 2
STOPPED = {128 + signal.SIGINT, 128 + signal.SIGTERM, 128 + signal.SIGHUP}
_ERROR = "error: "
_REMEDY = "\n  remedy: "
_FILE = re.compile(r"(?P<file>[^\s:]*[./][^\s:]*):(?P<line>\d+)?")
# No file: run.cfg
_KEY = re.compile(
    r"(?<![\w./])((?:system|interaction|potential|sampling|qm|run|output)\."
    r"(?!(?:cfg|csv|gro|json|log|pqr|top|xyz)\b)[a-z][a-z0-9-]*)(?=[:\s,']|$)"
)


class Error(Exception):
    """What the program, or this package, says of a failure.

    message: what is wrong, one sentence; remedy: what to do about it, or an empty text.
    file, line, key: where the cause lies, None where the message does not say.
    status: exit status of the program; None where it was not started.
    output: all that it wrote to standard error.
    others: the errors after this one, where several were told (check() tells all).
    """

    def __init__(
        self, message: str, remedy: str = "", status: int | None = None, output: str = ""
    ) -> None:
        super().__init__(message + (_REMEDY + remedy if remedy else ""))
        self.message = message
        self.remedy = remedy
        self.status = status
        self.output = output
        self.others: list[Error] = []
        key = _KEY.search(message)
        place = _FILE.match(message)
        self.key: str | None = key[1] if key else None
        self.file: str | None = place["file"] if place and place["file"] != self.key else None
        self.line: int | None = int(place["line"]) if place and place["line"] else None


class InputError(Error):
    """A mistake in the input (exit status 2)."""


class RunError(Error):
    """A failure at run time (exit status 1), or the program's death by a signal."""


class Stopped(Error):
    """The run was stopped by a signal and can be resumed (exit status 130, 143 or 129)."""


class ProgramNotFound(Error):
    """There is no starpmc to be started."""


class VersionMismatch(Error):
    """The program found has another version than this package."""


class ResultsError(Error):
    """A run's folder does not hold what was asked for."""


def error_of(status: int, said: str, config: str | None = None) -> Error:
    """What a program that ended with `status` said on standard error.

    config: the temporary file with the settings, which the message need not name.
    """
    if config:
        said = re.sub(re.escape(config) + r"(:\d+)?(?=[:\s'])", "settings", said)
    if status < 0:
        name = signal.Signals(-status).name
        return RunError(f"starpmc was ended by {name}", _last_lines(said), status, said)
    if status in STOPPED:
        return Stopped(_last_lines(said, 1).removeprefix("starpmc: "), "", status, said)
    kind = InputError if status == INPUT_ERROR else RunError
    texts = _errors_in(said) or [
        _last_lines(said) or f"starpmc ended with status {status} and said nothing"
    ]
    parts = [text.partition(_REMEDY) for text in texts]
    first, *others = [kind(message, remedy, status, said) for message, _, remedy in parts]
    first.others = others
    return first


def _errors_in(said: str) -> list[str]:
    """Each reaches to the next line that is the program's own."""
    blocks = re.split(r"^starpmc: ", said, flags=re.MULTILINE)
    return [block.removeprefix(_ERROR).strip() for block in blocks if block.startswith(_ERROR)]


def _last_lines(text: str, count: int = 5) -> str:
    return "\n".join(text.strip().splitlines()[-count:])
