"""The tables of options in configs/README.md are the program's own.

usage: test_option_tables.py PROGRAM README.md
"""

import subprocess
import sys
from pathlib import Path


def main():
    program, page = sys.argv[1:]
    printed = subprocess.run(
        [program, "--help-markdown"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not printed or printed not in Path(page).read_text(encoding="utf-8"):
        sys.exit(f"{page} does not hold what `starpmc --help-markdown` prints: paste it there")
    print(f"{len(printed.splitlines())} lines of options agree")


if __name__ == "__main__":
    main()
