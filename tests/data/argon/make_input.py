#!/usr/bin/env python3
"""Writes argon.gro: 108 argon atoms at the liquid's density (1.374 g/cm3), an fcc lattice with every
atom displaced by up to 0.3 angstrom along each axis (a fixed linear congruential generator)."""
import pathlib

CELLS = 3
EDGE = 1.734  # nm
FCC = ((0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0))


def displacements(state=20240229):
    while True:
        state = (1103515245 * state + 12345) % 2**31
        yield 0.03 * (2 * state / 2**31 - 1)


def main():
    shift = displacements()
    lines = ["108 argon atoms", "  108"]
    for cell in range(CELLS**3):
        corner = (cell // CELLS**2, cell // CELLS % CELLS, cell % CELLS)
        for site in FCC:
            number = len(lines) - 1
            r = [EDGE / CELLS * (c + s + 0.25) + next(shift) for c, s in zip(corner, site)]
            lines.append(f"{number:5d}AR      AR{number:5d}" + "".join(f"{x:12.7f}" for x in r))
    lines.append(f"{EDGE:12.7f}" * 3)
    (pathlib.Path(__file__).resolve().parent / "argon.gro").write_text("\n".join(lines) + "\n")


main()
