"""The free energy profile of a folder of `starpmc profile`, which starts this script.

usage: free_energy.py FOLDER [--overlaps]

--overlaps: only the overlaps of neighbours, which say where images have to be added, in
profile-overlaps.json.
"""

import ctypes
import json
import sys
from pathlib import Path

import numpy
from profile_files import (
    FAILURE,
    ProfileError,
    read_profile,
    weighted_frames_text,
    write_whole,
)

COLUMNS = (
    ("image", "{}"),
    ("reaction_coordinate", "{:.6f}"),  # angstrom u^1/2
    ("free_energy", "{:.4f}"),  # kJ/mol, as all energies
    ("error", "{:.4f}"),
    ("isolated_energy", "{:.4f}"),
    ("interaction_energy", "{:.4f}"),
    ("dipole", "{:.4f}"),  # debye
    ("reference_correction", "{:.4f}"),
    ("reference_correction_error", "{:.4f}"),
    ("sampled_free_energy", "{:.4f}"),
    ("bar_to_next", "{:.4f}"),
    ("bar_to_next_error", "{:.4f}"),
    ("overlap_with_next", "{:.4f}"),
    ("independent_frames", "{}"),
    ("independent_blocks", "{:.1f}"),
    ("block_acceptance", "{:.4f}"),
    ("pair_overlap", "{:.4f}"),
    ("folder", "{}"),
    ("half_width_95", "{:.4f}"),
)


def rows_of(profile, estimate):
    """A dictionary for each image; None where there is no next one."""
    rows = []
    first = profile.images[0].isolated_energy
    for k, image in enumerate(profile.images):
        last = k + 1 == len(profile.images)
        known = first != 0 and image.isolated_energy != 0
        rows.append(
            {
                "image": k + 1,
                "reaction_coordinate": image.reaction_coordinate,
                "free_energy": estimate.free_energy[k],
                "error": estimate.error[k],
                "isolated_energy": image.isolated_energy - first if known else None,
                "interaction_energy": mean_over_chains(image, interaction_energy),
                "dipole": mean_over_chains(image, dipole),
                "reference_correction": estimate.steps[k].energy,
                "reference_correction_error": estimate.steps[k].error,
                "sampled_free_energy": estimate.sampled[k],
                "bar_to_next": None if last else estimate.neighbours[k, 0],
                "bar_to_next_error": None if last else estimate.neighbours[k, 1],
                "overlap_with_next": None if last else estimate.overlap[k, k + 1],
                "independent_frames": int(estimate.samples[k]),
                "independent_blocks": estimate.steps[k].samples,
                "block_acceptance": mean_over_chains(image, acceptance),
                "pair_overlap": None if last else estimate.pair_overlap[k],
                "folder": image.folder,
                "half_width_95": estimate.half_widths[0, k],
            }
        )
    return rows


def mean_over_chains(image, value):
    chains = image.summary.get("chains", [image.summary])
    values = [value(chain) for chain in chains]
    return None if None in values else float(numpy.mean(values))


def interaction_energy(chain):
    """Of solute and solvent: mean over block ends of all QM/MM terms as sampled."""
    ends = chain["exact"]["averages_at_block_ends"]
    means = [ends[name]["mean"] for name in ends if name.startswith("qmmm_") and ends[name]]
    return None if None in means else sum(means)


def dipole(chain):
    found = chain.get("qm_averages", {}).get("dipole_debye")
    return found["mean"] if found else None


def acceptance(chain):
    return chain["exact"]["block_acceptance"]


def csv_text(profile, rows):
    lines = [
        "# starpmc profile " + profile.version,
        "# kJ/mol, above the first image; angstrom u^1/2; debye; errors are half-widths of intervals",
        "# that hold at 68 %, by Student's distribution, half_width_95 is that of free_energy at 95 %",
        ",".join(name for name, _ in COLUMNS),
    ]
    for row in rows:
        lines.append(
            ",".join("" if row[name] is None else form.format(row[name]) for name, form in COLUMNS)
        )
    return "\n".join(lines) + "\n"


def json_document(profile, estimate, rows, converged):
    return {
        "starpmc_version": profile.version,
        "title": profile.title,
        "temperature_kelvin": profile.temperature,
        "units": {"energy": "kJ/mol", "reaction_coordinate": "angstrom u^1/2", "dipole": "debye"},
        "images": rows,
        "largest_error": estimate.largest_error(),
        "images_with_most_of_the_error": estimate.most_of_the_error(),
        "images_with_few_samples": estimate.in_want(),
        "errors_of_differences": estimate.between_errors.tolist(),
        "half_widths_95_of_differences": estimate.half_widths.tolist(),
        "errors_between_chains": estimate.between_chains,
        "overlap": estimate.overlap.tolist(),
        "convergence": {
            name: [
                dict(
                    zip(
                        ("share", "forward", "forward_error", "backward", "backward_error"),
                        row,
                        strict=True,
                    )
                )
                for row in values.tolist()
            ]
            for name, values in converged.items()
        },
    }


def points_of_interest(estimate):
    """{name: image}: the highest one, where it lies between the ends, and the last."""
    highest, last = int(estimate.free_energy.argmax()), len(estimate.free_energy) - 1
    found = {f"image {highest + 1} (highest)": highest} if 0 < highest < last else {}
    found[f"image {last + 1} (last)"] = last
    return found


def warn(profile, estimate, least_overlap, few_samples):
    for k, value in enumerate(estimate.pair_overlap):
        why = profile.images[k].no_image_to_next
        if value < least_overlap or why:
            print(
                f"starpmc: warning: images {k + 1} and {k + 2} overlap by {value:.3f} only: errors may "
                f"be too small; an image between them would help{why and ', but '}{why}",
                file=sys.stderr,
            )
    if not estimate.between_chains:
        print(
            "starpmc: warning: fewer than four chains: errors do not tell what images have in common along "
            "each of them, where one goes on from its neighbour's solvent, and may be too small; "
            "sampling.chains of 4 or more would help",
            file=sys.stderr,
        )
    few = [str(k + 1) for k in estimate.few_samples()]
    if few:
        print(
            f"starpmc: warning: there may be fewer than {few_samples} independent frames or blocks of "
            f"image {', '.join(few)}: errors may be too small; more sampling.steps would help",
            file=sys.stderr,
        )
    sparse = estimate.far_between()
    if 2 * len(sparse) > len(profile.images):
        print(
            f"starpmc: warning: most frames of image {', '.join(str(k + 1) for k in sparse)} are "
            "independent of each other: more of them would make the errors smaller with the same steps; "
            "a shorter output.trajectory-interval or, where frames are left out, a larger "
            "profile.most-frames",
            file=sys.stderr,
        )
    for k in estimate.wide_steps():
        print(
            f"starpmc: warning: the step of image {k + 1} to its true Hamiltonian has an error of "
            f"{estimate.steps[k].error:.2f} kJ/mol, above a third of kT: true and sampled energy differ by "
            "so much that a few blocks make it, and the error may be too small; more sampling.steps, or "
            "a reference that fits better (a finer qm.response-tolerance, more qm.configurations)",
            file=sys.stderr,
        )
    for k in estimate.biased_steps():
        print(
            f"starpmc: warning: chains of image {k + 1} do not forget within a quarter of their blocks the "
            "sampled ensemble that production starts in (solvent or chain remember too long; "
            f"{100 * estimate.steps[k].acceptance:.0f} % of the blocks are accepted): its free energy may "
            "be off by more than its error; more sampling.steps, or a reference that fits better (a finer "
            "qm.response-tolerance, more qm.configurations)",
            file=sys.stderr,
        )


def tell(profile, estimate):
    print("image  coordinate  free energy   error  overlap with next  independent frames  folder")
    for k, image in enumerate(profile.images):
        last = k + 1 == len(profile.images)
        overlap = "" if last else f"{estimate.overlap[k, k + 1]:.3f}"
        print(
            f"{k + 1:5d}  {image.reaction_coordinate:10.4f}  {estimate.free_energy[k]:11.3f}  "
            f"{estimate.error[k]:6.3f}  {overlap:>17s}  {estimate.samples[k]:18d}  {image.folder}"
        )
    for name, k in points_of_interest(estimate).items():
        kcal = estimate.free_energy[k] / 4.184, estimate.error[k] / 4.184
        print(
            f"{name}: {estimate.free_energy[k]:.2f} +- {estimate.error[k]:.2f} kJ/mol "
            f"({kcal[0]:.2f} +- {kcal[1]:.2f} kcal/mol) above image 1"
        )


def write_overlaps(folder):
    from estimates import overlaps_of_neighbours

    overlaps = overlaps_of_neighbours(read_profile(folder)).tolist()
    write_whole(folder / "profile-overlaps.json", json.dumps(overlaps) + "\n")


def make(folder, only_overlaps):
    try:
        from estimates import FEW_SAMPLES, LEAST_OVERLAP, convergence, estimate
        from profile_plots import draw
    except ImportError as missing:
        raise ProfileError(
            "starpmc profile",
            f"{sys.executable}: {missing}",
            "./quickstart setup, or set STARPMC_PYTHON to a Python with pymbar and matplotlib; the "
            "same command then goes on",
        ) from missing
    if only_overlaps:
        write_overlaps(folder)
        return
    profile = read_profile(folder)
    found = estimate(profile)
    rows = rows_of(profile, found)
    interesting = points_of_interest(found)
    of_each = convergence(profile, found, list(interesting.values()))
    converged = dict(zip(interesting, of_each, strict=True))
    for image, frames in zip(profile.images, found.frames, strict=True):
        text = weighted_frames_text(image, frames)
        write_whole(folder / image.folder / "dhdl-weighted.xvg", text)
    write_whole(folder / "profile.csv", csv_text(profile, rows))
    document = json_document(profile, found, rows, converged)
    write_whole(folder / "profile.json", json.dumps(document, indent=2) + "\n")
    for name, content in draw(profile, found, converged).items():
        write_whole(folder / name, content)
    tell(profile, found)
    warn(profile, found, LEAST_OVERLAP, FEW_SAMPLES)
    print(f"{folder / 'profile.csv'}, profile.json, profile.png, profile.svg and two more plots")


def keep_freed_memory():
    """MBAR's arrays of some megabytes come and go thousands of times. By default the C library gives each
    back to the system, which clears it for the next one: more than half of the time."""
    trim_threshold, most_maps = -1, -4  # malloc.h of the GNU C library
    if set_option := getattr(ctypes.CDLL(None), "mallopt", None):
        set_option(trim_threshold, 2**31 - 1)
        set_option(most_maps, 0)


def main():
    keep_freed_memory()
    options = sys.argv[2:]
    if len(sys.argv) < 2 or options not in ([], ["--overlaps"]):
        sys.exit(__doc__)
    try:
        make(Path(sys.argv[1]), only_overlaps=bool(options))
    except ProfileError as error:
        print(f"starpmc: error: {error}", file=sys.stderr)
        return error.status
    except MemoryError:
        print("starpmc: error: out of memory\n  remedy: fewer frames", file=sys.stderr)
        return FAILURE
    return 0


if __name__ == "__main__":
    sys.exit(main())
