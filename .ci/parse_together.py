"""Parses what a unity build compiles, without making objects: exit status 1 where a file does not."""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def parse(entry):
    command = shlex.split(entry["command"])
    output = command.index("-o")
    del command[output : output + 2]
    command[command.index("-c")] = "-fsyntax-only"
    return subprocess.run(
        command, cwd=entry["directory"], stderr=subprocess.PIPE, text=True, check=False
    )


def main():
    entries = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    together = [entry for entry in entries if "/Unity/" in entry["file"]]
    if not together:
        sys.exit("nothing is built together")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(parse, together))
    for result in results:
        print(result.stderr, end="")
    print(f"{len(together)} parts parsed")
    sys.exit(any(result.returncode != 0 for result in results))


if __name__ == "__main__":
    main()
