"""The stand-in for PySCF of tests/app/workers, one message of which is spoilt.

STARPMC_TEST_SPOIL="SEED KIND MESSAGE COUNT FILE": message number MESSAGE of its type and number, hello,
ready, result-0, result-1, ..., is spoilt in the way that KIND names, COUNT times in all processes that
share FILE. qm_worker.py lists the kinds. Standard library only.
"""

import json
import os
import pathlib
import random
import runpy
import signal
import struct
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "faults"))
import mutations

NUMBERS = (0, -1, 1e308, -1e308, 1e30, 1e-320, -0.0, 2**63, 0.5)
OTHERS = (None, True, "text", [], {}, [1, 2, 3], "\ud800", "x" * 100_000)
NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "0x10")


def divided(message):
    line, body = message.split(b"\n", 1)
    return json.loads(line), body


def joined(header, body):
    return json.dumps(header).encode() + b"\n" + body


def field_of(header, draw):
    return draw.choice([name for name in header if name not in ("arrays", "type")] or ["type"])


def lost_field(message, draw):
    header, body = divided(message)
    del header[draw.choice(list(header))]
    return joined(header, body)


def other_kind_of_field(message, draw):
    header, body = divided(message)
    header[field_of(header, draw)] = draw.choice(OTHERS)
    return joined(header, body)


def other_number(message, draw):
    header, body = divided(message)
    numbers = [k for k, v in header.items() if isinstance(v, int | float) and v is not True]
    if numbers:
        header[draw.choice(numbers)] = draw.choice(NUMBERS)
    return joined(header, body)


def no_number(message, draw):
    header, body = divided(message)
    header[field_of(header, draw)] = "@"
    return joined(header, body).replace(b'"@"', draw.choice(NO_NUMBERS).encode())


def other_type(message, draw):
    header, body = divided(message)
    header["type"] = draw.choice(("restored", "hello", "result", "forecast", "nonsense", "error", 7))
    return joined(header, body)


def unknown_field(message, draw):
    header, body = divided(message)
    return joined({**header, "colour": draw.choice((*OTHERS[:4], "blue"))}, body)


def other_shape(message, draw):
    header, body = divided(message)
    if arrays := header.get("arrays"):
        array = draw.choice(arrays)
        array[draw.choice(("name", "dtype", "shape"))] = draw.choice(
            ("f32", "grid", [], [-1], [2**62, 8], [0], [3, 3], None, ["2"])
        )
    return joined(header, body)


def wild_charges(message, draw):
    """A number of the arrays."""
    header, body = divided(message)
    if len(body) >= 8:
        at = 8 * draw.randrange(len(body) // 8)
        number = draw.choice((float("nan"), float("inf"), -float("inf"), 1e308, -1e30, 1e15))
        body = body[:at] + struct.pack("<d", number) + body[at + 8 :]
    return joined(header, body)


def changed_bytes(message, draw):
    return mutations.mutate(message, draw, mutations.OF_BYTES)[0]


def cut_and_ended(message, draw):
    return message[: draw.randrange(len(message))], lambda: os._exit(0)


def cut_and_silent(message, draw):
    return message[: draw.randrange(len(message))], lambda: time.sleep(600)


def twice(message, draw):
    return message + message


def noise_before(message, draw):
    return draw.choice((b"cycle= 1 E= -76.4\n", b"\n", b"\xff\xfe\n", b"{}\n", b"[" * 100_000 + b"\n")) + message


def killed(message, draw):
    return b"", lambda: os.kill(os.getpid(), draw.choice((signal.SIGKILL, signal.SIGSEGV)))


def ended(message, draw):
    return b"", lambda: os._exit(draw.choice((0, 1, 2, 77)))


def floods(message, draw):
    sys.stderr.write("much ado about nothing \x1b[2J\n" * 200_000)
    return message


class SpoiltOutput:
    """Stands for sys.stdout: what is written before a flush is a message."""

    def __init__(self, output, words):
        seed, kind, message, count, file = words.split(maxsplit=4)
        self._output, self._kind, self._message = output, globals()[kind], message
        self._draw, self._count, self._file = random.Random(seed), int(count), pathlib.Path(file)
        self._written = b""
        self._results = 0
        self.buffer = self

    def write(self, data):
        self._written += data

    def flush(self):
        message, self._written = self._written, b""
        if not message:
            return
        name = json.loads(message.split(b"\n", 1)[0])["type"]
        if name == "result":
            name = f"result-{self._number()}"
        then = None
        if name == self._message and self._is_due():
            message = self._kind(message, self._draw)
            message, then = message if isinstance(message, tuple) else (message, None)
        self._output.write(message)
        self._output.flush()
        if then:
            then()

    def _number(self):
        self._results += 1
        return self._results - 1

    def _is_due(self):
        with open(self._file, "a", encoding="ascii") as times:
            if self._file.stat().st_size >= self._count:
                return False
            times.write("x")
        return True


def main():
    words = os.environ.get("STARPMC_TEST_SPOIL")
    if words:
        sys.stdout = SpoiltOutput(sys.stdout.buffer, words)
    runpy.run_path(str(TESTS / "app/workers/pyscf_worker.py"), run_name="__main__")


main()
