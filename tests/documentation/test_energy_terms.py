"""The table of energy terms in kernels/README.md is the one that is compiled, and the guide names at
most 15 files.

usage: test_energy_terms.py REPOSITORY
"""

import re
import sys
from pathlib import Path

MOST_FILES = 15
LISTS = re.compile(r"#define STARPMC_(MM|STATIC|DENSITY|RESPONSE)_TERMS\(X\)((?:.*\\\n)+.*)")
ROW = re.compile(r'X\((\w+), (\w+), "([^"]+)", "([^"]+)", "([^"]+)"\)')
LINK = re.compile(r"\]\(([^()\s]+)\)")
LEVELS = ("reference", "SIMD", "OpenCL", "codelet")


def compiled_terms(header):
    """(symbol, name, list, unit) of each term, in the order of arrays."""
    return [
        (symbol, name, kind, unit)
        for kind, rows in LISTS.findall(header.read_text(encoding="utf-8"))
        for _, name, symbol, unit, _ in ROW.findall(rows)
    ]


def section(page, heading):
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if not found:
        sys.exit(f"kernels/README.md has no section '{heading}'")
    return found[1]


def problems_of_table(text, terms):
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if re.match(r"\| E\(", line)
    ]
    found = [(symbol, name.strip("`"), kind) for symbol, name, kind, *_ in rows]
    if found != [term[:3] for term in terms]:
        yield f"the table has {found}, energy_terms.h {[term[:3] for term in terms]}"
    for symbol, _, _, *levels in rows:
        for level, cell in zip(LEVELS, levels, strict=True):
            if not LINK.search(cell):
                yield f"{symbol} has no file of {level}"
    for symbol, *_, unit in terms:
        if f"in {unit}" not in text:
            yield f"{symbol} is in {unit}, which is not said"


def main():
    repository = Path(sys.argv[1])
    terms = compiled_terms(repository / "kernels/common/energy_terms.h")
    if not terms:
        sys.exit("energy_terms.h has no terms")
    page = (repository / "kernels/README.md").read_text(encoding="utf-8")
    problems = list(problems_of_table(section(page, "Where each equation is"), terms))
    guide = re.findall(r"^\d+\. \[.*?\]\((.*?)\)", section(page, "How to add an energy term"),
                       re.MULTILINE)  # fmt: skip
    if not 0 < len(guide) <= MOST_FILES:
        problems.append(f"the guide names {len(guide)} files, not 1 to {MOST_FILES}")
    problems += [
        f"the guide names {name}, which is not there"
        for name in guide
        if not (repository / "kernels" / name).is_file()
    ]
    if problems:
        sys.exit("\n".join(problems))
    print(f"{len(terms)} terms agree; a new one takes {len(guide)} files")


if __name__ == "__main__":
    main()
