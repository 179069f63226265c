"""Settings: dictionaries by section and key, and the program's configuration files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starpmc.errors import InputError
from starpmc.program import Option, options

Settings = Mapping[str, Mapping[str, Any]]
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
BLANKS = " \t\r\n\v\f"  # what the program takes off both ends of a value


def as_text(value: Any) -> str:
    """A value as a configuration has it: true and false, lists with commas, None as nothing."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a NumPy scalar
        value = value.item()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(as_text, value))
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def as_value(text: str, option: Option | None = None) -> bool | int | float | str:
    """The number or truth that a text stands for; the text where it would not read the same, and
    of paths, names and expressions."""
    if option is not None and option.is_text:
        return text
    if text in ("true", "false"):
        return text == "true"
    if not _NUMBER.fullmatch(text):
        return text
    is_whole = text.isdecimal() and str(int(text)) == text
    return int(text) if is_whole else float(text)


def normalised(settings: Settings) -> dict[str, dict[str, Any]]:
    """With hyphens in names, as the program has them: max_translation may stand for
    max-translation."""
    result: dict[str, dict[str, Any]] = {}
    for section, values in settings.items():
        if not isinstance(values, Mapping):
            raise TypeError(
                f"settings are dictionaries by section: {section}={{...}}, not {values!r}"
            )
        keys = result.setdefault(section.replace("_", "-"), {})
        for name, value in values.items():
            key = name.replace("_", "-")
            if key in keys:
                raise InputError(f"{section}.{key}: option given twice, found {value!r}", "give it once")
            keys[key] = value
    return result


def merged(settings: Settings, changes: Settings) -> dict[str, dict[str, Any]]:
    result = normalised(settings)
    for section, values in normalised(changes).items():
        result.setdefault(section, {}).update(values)
    return result


def as_words(settings: Settings) -> list[str]:
    """For the command line: --section.key value ..."""
    words: list[str] = []
    for section, values in normalised(settings).items():
        for key, value in values.items():
            words += [f"--{section}.{key}", as_text(value)]
    return words


def config_text(settings: Settings) -> str:
    """Raises InputError for a value that the program would not read as it is."""
    known = options()
    lines = []
    for section, values in normalised(settings).items():
        lines.append(f"[{section}]")
        for key, value in values.items():
            option = known.get(f"{section}.{key}")
            text = as_text(value)
            if option is None or not option.is_path:  # elsewhere blanks at the ends mean nothing
                text = text.strip(BLANKS)
            if _without_comment(text, option) != text or re.search(r"[\r\n]", text):
                raise InputError(
                    f"{section}.{key}: cannot be written in a .cfg file, found {text!r}",
                    "use a value without comment signs (of paths: # or ; at the beginning or after "
                    "a blank), line breaks or blanks at its ends (rename the file or folder)",
                )
            lines.append(f"{key} = {text}")
        lines.append("")
    return "\n".join(lines)


def write_settings(settings: Settings, path: str | os.PathLike[str]) -> None:
    """Writes a configuration file. Relative paths in it are relative to its folder."""
    Path(path).write_text(config_text(settings), encoding="utf-8", errors="surrogateescape")


def with_absolute_paths(settings: Settings) -> dict[str, dict[str, Any]]:
    """So that the file with them may lie anywhere; {cache}/ and commands stay as they are."""
    known = options()
    result = normalised(settings)
    for section, values in result.items():
        for key, value in values.items():
            option = known.get(f"{section}.{key}")
            if option is None or not option.is_path:
                continue
            if not option.is_path_list:
                values[key] = _absolute(as_text(value), option)
                continue
            paths = [_absolute(one, option) for one in _paths_in(value)]
            if with_comma := next((path for path in paths if "," in path), None):
                raise InputError(
                    f"{section}.{key}: a path in a list contains a comma, found {with_comma!r}",
                    "rename the file or folder",
                )
            values[key] = ", ".join(paths)
    return result


def _paths_in(value: Any) -> list[str]:
    """Of a list of paths; as text it has commas between them."""
    if isinstance(value, os.PathLike):
        return [os.fspath(value)]
    several = value if isinstance(value, list | tuple) else as_text(value).split(",")
    return [as_text(one).strip(BLANKS) for one in several]


def _absolute(path: str, option: Option) -> str:
    is_command = "command" in option.allowed and "/" not in path
    if not path or path.startswith("{cache}/") or is_command:
        return path
    return os.path.abspath(path)


def _without_comment(value: str, option: Option | None) -> str:
    """In an expression `;` separates definitions; in a path a comment comes after a blank."""
    signs = "#" if option is not None and option.is_expression else "#;"
    before = r"(?:^|(?<=\s))" if option is not None and option.is_path else ""
    return re.split(f"{before}[{signs}]", value, maxsplit=1, flags=re.ASCII)[0].strip(BLANKS)


def read_settings(path: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """The settings of a configuration file, numbers and truths as such; what the file does not
    say is left out. (A run's settings.cfg says everything.) The program itself, not this function,
    says what is wrong with a file.
    """
    known = options()
    result: dict[str, dict[str, Any]] = {}
    section = ""
    text = Path(path).read_text(encoding="utf-8-sig", errors="surrogateescape")
    for line in map(str.strip, text.splitlines()):
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            section = re.split("[#;]", line, maxsplit=1)[0].strip().strip("[]")
            result.setdefault(section, {})
            continue
        key, equals, value = line.partition("=")
        if not equals or not section:
            raise InputError(
                f"{os.fspath(path)}: is no configuration, found {line[:80]!r}",
                "starpmc.check() says what is wrong with it",
            )
        option = known.get(f"{section}.{key.strip()}")
        result[section][key.strip()] = as_value(_without_comment(value, option), option)
    return result
