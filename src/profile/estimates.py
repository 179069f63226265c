"""Free energies of images from the energies of their frames under each other's Hamiltonians.

Between the sampled Hamiltonians, which are of second order about each image's reference, by MBAR
(M. R. Shirts, J. D. Chodera, J. Chem. Phys. 129, 124105 (2008)) and, between neighbours, by BAR
(C. H. Bennett, J. Comput. Phys. 22, 245 (1976)); from there to the true energy of each image by the
configurations at the ends of its blocks, which are of its true Hamiltonian. All in kJ/mol but what
is called reduced.
"""

import dataclasses
import logging
import warnings

import numpy
from profile_files import FAILURE, ProfileError

logging.getLogger("pymbar").setLevel(logging.ERROR)  # it recommends other packages
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pymbar
    from pymbar import timeseries
    from pymbar.other_estimators import bar

LEAST_OVERLAP = 0.03  # of neighbours: below it errors are no longer to be believed
NO_OVERLAP = 1e-4
FEWEST_SAMPLES = 10  # independent ones of an image
FRACTIONS = numpy.arange(1, 11) / 10  # of the frames, in the convergence


@dataclasses.dataclass
class Step:
    """From the sampled to the true Hamiltonian of an image."""

    energy: float
    error: float
    samples: float  # independent ones


@dataclasses.dataclass
class Estimate:
    free_energy: numpy.ndarray  # of each image, that of the first being 0
    error: numpy.ndarray
    between_errors: numpy.ndarray  # (images, images), of differences
    sampled: numpy.ndarray  # of the sampled Hamiltonians
    steps: list
    neighbours: numpy.ndarray  # (images - 1, 2): sampled, by BAR, and error
    overlap: numpy.ndarray  # (images, images)
    samples: numpy.ndarray  # independent frames of each image

    def largest_error(self):
        return float(self.error.max())

    def most_of_the_error(self):
        """Images whose part in the errors' squares is at least half the largest part: of each step
        between neighbours half belongs to either."""
        part = numpy.array([step.error**2 for step in self.steps])
        part[:-1] += self.neighbours[:, 1] ** 2 / 2
        part[1:] += self.neighbours[:, 1] ** 2 / 2
        return numpy.flatnonzero(part >= part.max() / 2).tolist()


def kept_differences(chain):
    """True less sampled energy of the configurations that the chain went on from at the ends of its
    blocks: a rejected block counts the one before it again. The first is no block's end."""
    last = numpy.maximum.accumulate(numpy.where(chain.accepted, numpy.arange(len(chain.accepted)), 0))
    return chain.block_differences[last][1:]


def inefficiency(series):
    """Frames for one independent sample."""
    if len(series) < 3 or numpy.ptp(series) == 0:
        return 1.0
    return float(timeseries.statistical_inefficiency(series))


def independent_frames(chain, own):
    """Numbers of frames that are independent of each other, judged by the slower of the energies
    under both neighbours."""
    neighbours = [k for k in (own - 1, own + 1) if 0 <= k < chain.differences.shape[1]]
    slowest = max(inefficiency(chain.differences[:, k]) for k in neighbours)
    return numpy.array(
        timeseries.subsample_correlated_data(chain.differences[:, neighbours[0]], g=slowest)
    )


def step_to_truth(image, kt):
    """kT ln <exp(D/kT)> over configurations of the true Hamiltonian, D being true less sampled."""
    kept = [kept_differences(chain) for chain in image.chains]
    shift = numpy.concatenate(kept).mean()
    weights = [numpy.exp((differences - shift) / kt) for differences in kept]
    independent = sum(len(one) / inefficiency(one) for one in weights)
    every = numpy.concatenate(weights)
    spread = every.std(ddof=1) if len(every) > 1 else numpy.inf
    return Step(
        float(shift + kt * numpy.log(every.mean())),
        float(kt * spread / every.mean() / numpy.sqrt(independent)),
        float(independent),
    )


def chosen_frames(images, share=slice(None)):
    """(reduced energies (images, frames), their number for each image). share: of each chain's."""
    columns, counts = [], []
    for own, image in enumerate(images):
        rows = []
        for chain in image.chains:
            frames = independent_frames(chain, own)
            rows.append(chain.differences[frames[share_of(frames, share)]])
        rows = numpy.concatenate(rows)
        columns.append(rows.T)
        counts.append(len(rows))
    return numpy.concatenate(columns, axis=1), numpy.array(counts)


def share_of(frames, share):
    return share if isinstance(share, slice) else share(len(frames))


def solve(energies, counts, kt):
    """(free energies, that of the first being 0; errors of differences; MBAR)."""
    mbar = pymbar.MBAR(energies / kt, counts)
    found = mbar.compute_free_energy_differences()
    return kt * found["Delta_f"][0], kt * found["dDelta_f"], mbar


def require_samples(images, counts):
    for image, count in zip(images, counts, strict=True):
        if count < FEWEST_SAMPLES:
            raise ProfileError(
                image.folder,
                f"its frames are worth {count} independent samples, too few for an error",
                "more sampling.steps (of an image: starpmc resume IMAGE-FOLDER --steps N), then the "
                "same command",
                FAILURE,
            )


def require_overlap(images, neighbours, overlap):
    """neighbours: overlap of each image with the next."""
    for k, value in enumerate(neighbours):
        if value >= NO_OVERLAP:
            continue
        raise ProfileError(
            f"{images[k].folder} and {images[k + 1].folder}",
            f"what is sampled with the two images does not overlap ({value:.1e}), so that there is no "
            "free energy difference",
            f"put images between {k + 1} and {k + 2} (starpmc path --images N); what has been sampled "
            "is kept",
            FAILURE,
        )


def neighbours_by_bar(images, kt):
    """(difference of the next image, error) of each pair of neighbours."""
    found = []
    for own in range(len(images) - 1):
        forward, backward = (
            numpy.concatenate(
                [
                    chain.differences[independent_frames(chain, one), other] / kt
                    for chain in images[one].chains
                ]
            )
            for one, other in ((own, own + 1), (own + 1, own))
        )
        result = bar(forward, backward)
        found.append((kt * result["Delta_f"], kt * result["dDelta_f"]))
    return numpy.array(found)


def estimate(profile):
    images, kt = profile.images, profile.kt
    energies, counts = chosen_frames(images)
    require_samples(images, counts)
    sampled, errors, mbar = solve(energies, counts, kt)
    overlap = numpy.array(mbar.compute_overlap()["matrix"])
    require_overlap(images, numpy.diagonal(overlap, 1), overlap)
    steps = [step_to_truth(image, kt) for image in images]
    corrections = numpy.array([step.energy for step in steps])
    correction_errors = numpy.array([step.error for step in steps])
    square = correction_errors[:, None] ** 2 + correction_errors[None] ** 2
    numpy.fill_diagonal(square, 0)
    between = numpy.sqrt(errors**2 + square)
    return Estimate(
        sampled + corrections - corrections[0],
        between[0],
        between,
        sampled,
        steps,
        neighbours_by_bar(images, kt),
        overlap,
        counts,
    )


def convergence(profile, image):
    """(shares, forward, errors, backward, errors): the free energy of an image above the first from
    the first or the last frames of all runs."""
    rows = []
    for fraction in FRACTIONS:
        row = [fraction]
        for backward in (False, True):

            def share(count, fraction=fraction, backward=backward):
                part = max(2, round(fraction * count))
                return slice(count - part, None) if backward else slice(0, part)

            energies, counts = chosen_frames(profile.images, share)
            sampled, errors, _ = solve(energies, counts, profile.kt)
            row += [sampled[image], errors[0, image]]
        rows.append(row)
    return numpy.array(rows)
