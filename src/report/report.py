"""Makes the page of `starpmc report DIR`, which starts this script. DIR: of a run or of a profile.

usage: report.py DIR [--output FILE] [--overwrite] [--atoms LIST] [--pairs LIST] [--png] [--xtc]
                 [--program-version TEXT] [--term COLUMN TITLE UNIT]...
"""

import argparse
import contextlib
import dataclasses
import os
import signal
import sys
from pathlib import Path

INPUT_ERROR, FAILURE = 2, 1
STEM = "report"


def fail(message, status=INPUT_ERROR):
    print(f"starpmc: error: {message}", file=sys.stderr)
    sys.exit(status)


def keep_caches_together():
    """matplotlib's list of fonts goes where starpmc keeps what can be made anew."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    os.environ.setdefault("MPLCONFIGDIR", os.path.join(cache, "starpmc", "matplotlib"))


def load_packages():
    keep_caches_together()
    try:
        import h5py  # noqa: F401
        import matplotlib  # noqa: F401
        import scipy.spatial  # noqa: F401
    except ImportError as error:
        fail(
            f"{sys.executable}: the report needs matplotlib, h5py, numpy and scipy: {error}\n"
            "  remedy: ./quickstart setup, or set STARPMC_PYTHON to a Python that has them"
        )


def write_whole(path, content):
    """Under its name only once it is complete; a symbolic link there is replaced, not followed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.temporary")
    try:
        temporary.unlink(missing_ok=True)
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):  # as on a disk that may only be read
            temporary.unlink(missing_ok=True)
        fail(f"{path}: cannot be written: {error.strerror or error}", FAILURE)


def tell(path):
    try:
        print(path, flush=True)
    except OSError as error:
        fail(
            f"standard output could not be written: {error.strerror}\n"
            "  remedy: make room, or send it elsewhere",
            FAILURE,
        )


def parse_arguments():
    parser = argparse.ArgumentParser(prog="starpmc report", allow_abbrev=False)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--overwrite", action="store_true")
    parser.add_argument("--atoms", default="")
    parser.add_argument("--pairs", default="")
    parser.add_argument("--png", action="store_true")
    parser.add_argument("--xtc", action="store_true")
    parser.add_argument("--program-version", default="")
    # The program's table of energy terms, a row each time.
    parser.add_argument("--term", nargs=3, action="append", default=[])
    return parser.parse_args()


def check_replaceable(path, mark):
    """An empty file or a symbolic link, which is replaced and not followed, loses nothing."""
    if path.is_symlink() or not path.exists():
        return
    try:
        with open(path, "rb") as file:
            beginning = file.read(4096)
    except OSError as error:
        fail(f"{path}: cannot be read: {error.strerror or error}", FAILURE)
    if beginning and mark.encode() not in beginning:
        fail(
            f"{path}: is not a report of starpmc's, and is left as it is\n"
            "  remedy: name another file with --output, or replace this one with --overwrite"
        )


def check_paths(folder, output):
    if not folder.is_dir():
        problem = "is a file, not a folder" if folder.exists() else "there is no such folder"
        fail(f"{folder}: {problem}\n  remedy: name the output folder of a run or profile")
    if output.is_dir():
        fail(f"{output}: is a folder\n  remedy: name a file with --output")
    if not output.parent.is_dir():
        fail(f"{output.parent}: there is no such folder\n  remedy: make it, or name another --output")


@dataclasses.dataclass
class Report:
    page: str
    pictures: dict  # PNGs by name
    problems: list
    tables: dict = dataclasses.field(default_factory=dict)  # CSV by file's name
    converted: list = dataclasses.field(default_factory=list)  # files that lie there already


def report_of_run(arguments):
    import run_folder
    import sections
    import structure
    import structure_tables
    import xtc

    run = run_folder.read_run(arguments.folder, arguments.term)
    found = structure.read(run, arguments.atoms, arguments.pairs)
    page, pictures = sections.build(run, found, arguments.png, arguments.program_version)
    converted = [xtc.write(chain) for chain in run.chains] if arguments.xtc else []
    return Report(page, pictures, run.problems, structure_tables.made_of(found), converted)


def report_of_profile(arguments):
    import profile_folder
    import profile_page
    import run_folder

    for option in ("atoms", "pairs", "xtc"):
        if getattr(arguments, option):
            raise run_folder.ReportError(
                f"{arguments.folder}: is the folder of a profile, which has no --{option}\n"
                f"  remedy: leave it out, or name the folder of an image: {arguments.folder}/image-01"
            )
    profile = profile_folder.read_profile(arguments.folder)
    page, pictures = profile_page.build(profile, arguments.png, arguments.program_version)
    return Report(page, pictures, profile.problems)


def main():
    arguments = parse_arguments()
    output = arguments.output or arguments.folder / f"{STEM}.html"
    check_paths(arguments.folder, output)
    load_packages()
    import charts
    import page as pages
    import profile_folder
    import run_folder
    import structure_tables

    if not arguments.overwrite:
        check_replaceable(output, pages.MARK)

    try:
        is_profile = profile_folder.is_profile(arguments.folder)
        report = report_of_profile(arguments) if is_profile else report_of_run(arguments)
    except run_folder.ReportError as error:
        fail(error)
    except run_folder.Failure as error:
        fail(error, FAILURE)
    except OSError as error:
        fail(f"{arguments.folder}: cannot be read: {error}", FAILURE)
    for problem in report.problems:
        print(f"starpmc: warning: {problem}", file=sys.stderr)
    files = {output: report.page.encode("utf-8", "replace")}
    files |= {output.with_name(f"{STEM}-{name}.png"): png for name, png in report.pictures.items()}
    files |= {output.with_name(name): table for name, table in report.tables.items()}
    marks = {".png": charts.PNG_MARK, ".csv": structure_tables.MARK}
    for path in files if not arguments.overwrite else ():
        if path != output:
            check_replaceable(path, marks[path.suffix])
    for path, content in files.items():
        write_whole(path, content)
        tell(path)
    for path in report.converted:
        tell(path)


if __name__ == "__main__":
    if sys.stdout is not None:  # as with >&-
        sys.stdout.reconfigure(errors="backslashreplace")  # names of folders are any bytes
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it as it ends the program
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
