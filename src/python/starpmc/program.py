"""Where the program is, whether its version is this package's, and what options it has."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from starpmc.errors import ProgramNotFound, VersionMismatch, error_of
from starpmc.version import __version__

VARIABLE = "STARPMC"
_NAME = "starpmc"
_ROW = re.compile(r"^\| `(?P<key>[^`]+)` \| (?P<rest>.*) \|$")
_SECTION = re.compile(r"^### \[(?P<name>[^\]]+)\]")


class Option(NamedTuple):
    """A key of a configuration, as the program describes it. default: None where it is required."""

    unit: str
    default: str | None
    allowed: str
    meaning: str

    @property
    def is_path(self) -> bool:
        return self.allowed.startswith("a path") or self.is_path_list

    @property
    def is_path_list(self) -> bool:
        return self.allowed.startswith("paths")

    @property
    def is_expression(self) -> bool:
        return "an expression" in self.allowed

    @property
    def is_text(self) -> bool:
        """Also where a value looks like a number: a folder named 001."""
        is_name = self.allowed.startswith(("a name", "names"))
        return self.is_path or self.is_expression or is_name


def _source_folder() -> Path | None:
    """The folder this package was installed from, if pip noted one on this machine."""
    try:
        text = importlib.metadata.distribution(_NAME).read_text("direct_url.json")
        url = urlsplit(json.loads(text or "{}").get("url", ""))
    except (importlib.metadata.PackageNotFoundError, ValueError, AttributeError):
        return None
    return Path(unquote(url.path)) if url.scheme == "file" else None


def _candidates() -> list[Path]:
    """Beside an installed copy of this package; in the build folders of the sources, the latest
    build first."""
    package = Path(__file__).resolve().parents[1]
    found = [package.parents[2] / "bin" / _NAME] if len(package.parents) > 2 else []
    builds: list[Path] = []
    for folder in filter(None, (package, _source_folder())):
        if folder.parent.name == "src":
            builds += folder.parents[1].glob(f"build/*/{_NAME}")
    found += sorted(filter(_is_program, builds), key=lambda path: -path.stat().st_mtime)
    return [path for path in found if _is_program(path)]


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def find_program() -> Path:
    """The program: what the environment variable STARPMC names, starpmc in PATH, the one that was
    installed with this package, or the one built in the folder it came from.

    Raises ProgramNotFound, or VersionMismatch where it is of another version than this package.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = Path(named)
        if not _is_program(path):
            raise ProgramNotFound(
                f"{named}: is no program, but the environment variable {VARIABLE} names it",
                f"set {VARIABLE} to the path of the program starpmc, or unset it",
            )
    else:
        in_path = shutil.which(_NAME)
        candidates = [Path(in_path)] if in_path else _candidates()
        if not candidates:
            raise ProgramNotFound(
                "starpmc is neither in PATH nor in a build folder of the sources of this package",
                f"build it (./quickstart build in its folder), and set {VARIABLE} to the program's "
                "path (build/release/starpmc) or add its folder to PATH",
            )
        path = candidates[0]
    _check_version(path.absolute(), path.stat().st_mtime_ns)
    return path.absolute()


def ask(program: Path, *words: str) -> str:
    """What the program prints on standard output."""
    result = subprocess.run(
        [program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", check=False,
    )  # fmt: skip
    if result.returncode != 0:
        raise error_of(result.returncode, result.stderr)
    return result.stdout


@functools.cache
def _check_version(program: Path, changed: int) -> None:
    """`changed`: when the file was, so that another build is asked anew."""
    try:
        said = ask(program, "--version")
    except OSError as error:
        raise ProgramNotFound(
            f"{program}: cannot be started: {error.strerror}", f"set {VARIABLE} to another one"
        ) from error
    found = re.match(r"starpmc (\S+)", said)
    if found is None or found[1] != __version__:
        raise VersionMismatch(
            f"{program}: is starpmc {found[1] if found else said.strip()[:80]!r}, but this package "
            f"is of version {__version__}",
            f"set {VARIABLE} to a program of that version, or install the package from the sources "
            "of the program (pip install src/python)",
        )


def options(program: Path | None = None) -> dict[str, Option]:
    """Every option of a configuration by its name, "sampling.steps": unit, default, what is
    allowed, meaning."""
    program = program or find_program()
    return dict(_options(program, program.stat().st_mtime_ns))


@functools.cache
def _options(program: Path, changed: int) -> dict[str, Option]:
    found, section = {}, ""
    for line in ask(program, "--help-markdown").splitlines():
        if heading := _SECTION.match(line):
            section = heading["name"]
        elif row := _ROW.match(line):
            unit, default, allowed, meaning = row["rest"].split(" | ", 3)
            required = default == "*required*"
            option = Option(unit, None if required else default.strip("`"), allowed, meaning)
            found[f"{section}.{row['key']}"] = option
    return found
