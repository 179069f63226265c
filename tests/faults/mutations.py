"""Random changes of files: of bytes, and of what readers take for numbers, words and lines."""

import re

NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
NUMBERS = [
    b"0", b"-0", b"1", b"-1", b"2", b"0.5", b"1e-320", b"1e308", b"-1e308", b"1e400", b"1e30", b"1e19",
    b"nan", b"inf", b"-inf", b"NaN", b"2147483647", b"2147483648", b"-2147483649", b"4294967296",
    b"9223372036854775807", b"18446744073709551616", b"1" * 400, b"0x10", b"1e", b"1_000", b"+", b".",
    b"1,5", b"\xd9\xa3", b"1e999999999999",
]  # fmt: skip
WORDS = [
    b"#include \"small.top\"", b"#define A A A", b"#ifdef X", b"#else", b"#endif", b"[ atoms ]",
    b"[", b"]", b";", b"#", b"=", b"\"", b"\\\n", b"\0", b"\r", b"\t", b"\xff\xfe", b"\xe9", b"\xc3",
    b"\xf0\x9f\x92\xa7", b"%s%n", b"\x1b[2J", b"{cache}/", b"../../", b"/dev/null", b"(" * 300,
    b"-" * 300, b"sin(", b"^", b"x" * 5000,
]  # fmt: skip


def flip_bit(data, draw):
    at = draw.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]


def set_byte(data, draw):
    at = draw.randrange(len(data))
    return data[:at] + bytes([draw.choice((0, 9, 10, 32, 127, 128, 255))]) + data[at + 1 :]


def span(data, draw):
    begin = draw.randrange(len(data))
    return begin, min(len(data), begin + draw.choice((1, 2, 8, 64, 1000)))


def delete(data, draw):
    begin, end = span(data, draw)
    return data[:begin] + data[end:]


def repeat(data, draw):
    begin, end = span(data, draw)
    return data[:end] + data[begin:end] * draw.choice((1, 2, 50)) + data[end:]


def zero(data, draw):
    begin, end = span(data, draw)
    return data[:begin] + bytes(end - begin) + data[end:]


def cut(data, draw):
    return data[: draw.randrange(len(data))]


def append(data, draw):
    return data + draw.choice((b"\0", b"\n", b"garbage\n", draw.randbytes(500), data[: len(data) // 2]))


def insert(data, draw):
    at = draw.randrange(len(data))
    return data[:at] + draw.choice(WORDS + NUMBERS) + data[at:]


def other_number(data, draw):
    found = list(NUMBER.finditer(data))
    if not found:
        return insert(data, draw)
    at = draw.choice(found)
    return data[: at.start()] + draw.choice(NUMBERS) + data[at.end() :]


def with_lines(change):
    def mutate(data, draw):
        lines = data.split(b"\n")
        change(lines, draw)
        return b"\n".join(lines)

    mutate.__name__ = change.__name__
    return mutate


@with_lines
def swap_lines(lines, draw):
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]


@with_lines
def delete_line(lines, draw):
    del lines[draw.randrange(len(lines))]


@with_lines
def repeat_line(lines, draw):
    at = draw.randrange(len(lines))
    lines[at:at] = [lines[at]] * draw.choice((1, 3, 300))


@with_lines
def other_word(lines, draw):
    at = draw.randrange(len(lines))
    words = lines[at].split()
    if words:
        words[draw.randrange(len(words))] = draw.choice(WORDS + NUMBERS)
        lines[at] = b" ".join(words)


OF_BYTES = (flip_bit, set_byte, delete, repeat, zero, cut, append)
OF_TEXT = (
    flip_bit, set_byte, delete, repeat, cut, append, insert, other_number, other_number, swap_lines,
    delete_line, repeat_line, other_word,
)  # fmt: skip


def mutate(data, draw, kinds=OF_TEXT):
    """One to four changes, and their names."""
    names = []
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        if not data:
            break
        change = draw.choice(kinds)
        names.append(change.__name__)
        data = change(data, draw)
    return data, ", ".join(names)
