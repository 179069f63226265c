"""What the published method's sampling makes of a free energy profile: the same images, the density replaced
after each interval without a test, against the exact ensemble.

    python3 -u perturbative_profile.py FOLDER [--interval 50000] [--steps N] [--output FOLDER] [-- OPTIONS]

FOLDER is that of a finished `starpmc profile`. Each of its images is sampled once more, from where its
chains have ended, with sampling.ensemble = perturbative. The frames get their energies as those of the
profile did: under the sampled Hamiltonians of all images, whose references lie in FOLDER. From both sets MBAR
gives free energies of the same Hamiltonians, and the profile's own steps from these to the true ones are
taken for both, so what differs comes from the ensemble that the frames are of. Errors are made as those of
the profile. What is there from an earlier, interrupted call is not sampled again. OPTIONS are further ones of
the runs, for instance --sampling.equilibration-steps 50000.

Needs the Python of the QM program with pymbar, for instance ~/.cache/starpmc/python/bin/python.
"""

import argparse
import dataclasses
import json
import shutil
import sys
import time
from pathlib import Path

import evaluation

ESTIMATES = evaluation.first_of(
    evaluation.HERE.parents[1] / "src/profile", evaluation.HERE.parent / "profile")
sys.path.insert(0, str(ESTIMATES))
OF_PROFILE = ("profile.cfg", "profile-topology.sha256", "path.xyz", "path-with-added.xyz",
              "profile-added.json", "profile-steps.json")


@dataclasses.dataclass
class Frames:
    """One chain's, each of which counts the same."""

    steps: object
    differences: object
    block_steps: object
    block_differences: object
    accepted: object


def folders_of_images(folder):
    data = json.loads((folder / "profile-input.json").read_text(encoding="utf-8"))
    return [Path(image["folder"]) for image in data["images"]]


def chain_folders(folder):
    found = sorted(folder.glob("chain-*"), key=lambda path: int(path.name[6:]))
    return found or [folder]


def sample(program, source, made, interval, steps, more):
    """One image; seconds, or none where it is there."""
    is_there = (made / "summary.json").exists()
    made.mkdir(parents=True, exist_ok=True)
    evaluation.keep_words(made.with_suffix(".json"), [interval, steps, *more], is_there)
    if is_there:
        return None
    first, *others = (path.resolve() for path in chain_folders(source))
    words = ["--sampling.ensemble", "perturbative", "--sampling.near-share", 0,
             "--qm.interval", interval, "--qm.reference", "",
             "--system.coordinates", first, "--system.chain-coordinates", ", ".join(map(str, others)),
             "--system.reference-coordinates", "", "--output.overwrite", "true", *more]
    if steps:
        words += ["--sampling.steps", steps]
    shutil.copy(source / "solute.xyz", made)
    summary = program.run(source / "settings.cfg", made, *words)
    return summary["total_seconds"]


def evaluate(program, folder, made, images):
    """dhdl.xvg of each chain: the profile's command finds all images sampled. Its own estimate, which is made of
    blocks, fails for lack of them."""
    for name in OF_PROFILE:
        if (folder / name).exists():
            shutil.copy(folder / name, made)
    for image in images:
        shutil.copy(folder / image / "reference.h5", made / image)
    chains = [path for image in images for path in chain_folders(made / image)]
    for path in chains:
        (path / "dhdl.xvg").unlink(missing_ok=True)
    try:
        program.call("profile", made / "profile.cfg", "--output.folder", made,
                     "--profile.least-overlap", 0, "--profile.until-error", 0)
    except evaluation.Failure as failure:
        missing = [path for path in chains if not (path / "dhdl.xvg").exists()]
        if missing:
            raise evaluation.Failure(f"{missing[0]} has no energies: {failure}") from failure


def frames_of(profile, folder, images):
    """The profile's images with the frames that were made here."""
    import numpy
    from profile_files import read_xvg

    found = []
    for image, name in zip(profile.images, images, strict=True):
        chains = []
        for path in chain_folders(folder / name):
            table = read_xvg(path / "dhdl.xvg")[1]
            # One block without a difference: nothing leads from the sampled Hamiltonian to another.
            chains.append(Frames(table[:, 0], table[:, 1:], numpy.zeros(2), numpy.zeros(2),
                                 numpy.ones(2, bool)))
        found.append(dataclasses.replace(image, chains=chains))
    return found


def compare(folder, made, images):
    import estimates
    from blocks import Step
    from profile_files import read_profile

    profile = read_profile(folder)
    exact = estimates.estimate(profile)
    frames = frames_of(profile, made, images)
    begun = estimates.beginnings(frames, profile.kt)
    samples = estimates.samples_of(frames, profile.kt, begun)
    sampled, own, _ = estimates.solve(samples, profile.kt)
    free = estimates.true_energies(sampled, exact.steps)
    # The steps are the same numbers for both, and so no part of what the two differ by.
    steps = [Step(0, 0, 0)] * len(own)
    errors = estimates.errors_of(frames, samples, own, begun, steps, profile.kt)[0][0]
    columns = ["image", "coordinate", "exact", "error", "perturbative", "error", "difference", "error"]
    rows = []
    for k, image in enumerate(profile.images):
        error = (exact.error[k] ** 2 + errors[k] ** 2) ** 0.5
        rows.append([image.folder, f"{image.reaction_coordinate:.3f}", f"{exact.free_energy[k]:.2f}",
                     f"{exact.error[k]:.2f}", f"{free[k]:.2f}", f"{errors[k]:.2f}",
                     f"{free[k] - exact.free_energy[k]:.2f}", f"{error:.2f}"])
    return columns, rows


def body():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--interval", type=evaluation.bounded(int, 1, 10**9), default=50000,
                        help="steps between updates (%(default)s, the published run's)")
    parser.add_argument("--steps", type=evaluation.bounded(int, 1, 10**12),
                        help="of production of each chain; by default the profile's")
    parser.add_argument("--output", type=Path, default=Path("perturbative-profile"))
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:end])
    more = words[end + 1 :]
    if not (options.folder / "profile.json").exists():
        raise evaluation.InputError("FOLDER", "is not that of a finished profile", options.folder,
                                    "finish it with starpmc profile")
    program = evaluation.Program(options.program)
    images = folders_of_images(options.folder)
    for image in images:
        seconds = sample(program, options.folder / image, options.output / image, options.interval,
                         options.steps, more)
        if seconds is not None:
            print(f"{time.strftime('%H:%M:%S')} {image}: {seconds:.0f} s", flush=True)
    evaluate(program, options.folder, options.output, images)
    columns, rows = compare(options.folder, options.output, images)
    print(evaluation.aligned([columns, *rows], 1))
    print("kJ/mol above the first image")
    (options.output / "perturbative-profile.csv").write_text(evaluation.csv_text(columns, rows))
    return 0


if __name__ == "__main__":
    evaluation.main(body)
