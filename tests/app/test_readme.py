"""The README's table of options is the program's own.

usage: test_readme.py PROGRAM README.md
"""

import re
import subprocess
import sys
from pathlib import Path


def main():
    program, readme = sys.argv[1:]
    printed = subprocess.run(
        [program, "--help-markdown"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if printed not in Path(readme).read_text(encoding="utf-8"):
        sys.exit("README.md does not hold what `starpmc --help-markdown` prints: paste it there")
    if re.search(r"@[A-Z]+@", Path(readme).read_text(encoding="utf-8")):
        sys.exit("README.md holds a placeholder")
    print(f"{len(printed.splitlines())} lines of options agree")


if __name__ == "__main__":
    main()
