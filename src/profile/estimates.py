"""Free energies of images from the energies of their frames under each other's Hamiltonians.

Between the sampled Hamiltonians, which are of second order about each image's reference, by MBAR
(M. R. Shirts, J. D. Chodera, J. Chem. Phys. 129, 124105 (2008)) and, between neighbours, by BAR
(C. H. Bennett, J. Comput. Phys. 22, 245 (1976)); from there to the true energy of each image by the
configurations at the ends of its blocks, which are of its true Hamiltonian. All in kJ/mol but what
is called reduced.

A block starts in the true ensemble and goes on in the sampled one. Frames get the weight
exp((E_true - E_sampled)/kT) of their block's start: so weighted the starts are of the sampled
ensemble, and steps that preserve it keep them so, however short a block is beside the solvent's memory.
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
FEWEST_BLOCKS = 5  # the same of the step to the true Hamiltonian
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


def kept_blocks(chain):
    """For each block the one whose end the chain went on from: the last that was accepted."""
    return numpy.maximum.accumulate(numpy.where(chain.accepted, numpy.arange(len(chain.accepted)), 0))


def kept_differences(chain):
    """True less sampled energy of the configurations that the chain went on from at the ends of its
    blocks: a rejected block counts the one before it again. The first is no block's end."""
    return chain.block_differences[kept_blocks(chain)][1:]


def frame_differences(chain):
    """For each frame that of its block's start. A frame at a block's end belongs to that block."""
    block = numpy.searchsorted(chain.block_steps, chain.steps, side="left")
    return chain.block_differences[kept_blocks(chain)][numpy.maximum(block, 1) - 1]


@dataclasses.dataclass
class Sampled:
    """Frames of one chain as samples of the sampled ensemble, in their order."""

    differences: numpy.ndarray  # (frames, images), a frame as often as its weight says
    loss: float  # so many times fewer samples for their unequal weights


def sampled_ensemble(image, kt):
    """[Sampled] of each chain."""
    reduced = [frame_differences(chain) / kt for chain in image.chains]
    most = max(one.max() for one in reduced)
    weights = [numpy.exp(one - most) for one in reduced]
    every = numpy.concatenate(weights)
    loss = float(numpy.mean(every**2) / numpy.mean(every) ** 2)
    found = []
    for chain, one in zip(image.chains, weights, strict=True):
        # Systematic resampling: a frame as often as the sum of weights passes a half within it.
        passed = numpy.floor(numpy.cumsum(one) / every.mean() + 0.5).astype(int)
        times = numpy.diff(passed, prepend=0)
        found.append(Sampled(numpy.repeat(chain.differences, times, axis=0), loss))
    return found


def inefficiency(series):
    """Frames for one independent sample."""
    if len(series) < 3 or numpy.ptp(series) == 0:
        return 1.0
    return float(timeseries.statistical_inefficiency(series))


def independent_frames(sampled, own):
    """Numbers of frames that are independent of each other, judged by the slower of the energies
    under both neighbours."""
    count, images = sampled.differences.shape
    if count == 0:
        return numpy.empty(0, int)
    neighbours = [k for k in (own - 1, own + 1) if 0 <= k < images]
    slowest = max(inefficiency(sampled.differences[:, k]) for k in neighbours)
    return numpy.array(
        timeseries.subsample_correlated_data(
            sampled.differences[:, neighbours[0]], g=slowest * sampled.loss
        ),
        int,
    )


def shared(values, share):
    """Of a part of what there is. share: a slice of so many."""
    return values[share(len(values))]


def everything(_):
    return slice(None)


def step_to_truth(image, kt, share=everything):
    """kT ln <exp(D/kT)> over configurations of the true Hamiltonian, D being true less sampled."""
    kept = [shared(kept_differences(chain), share) for chain in image.chains]
    shift = numpy.concatenate(kept).max()
    weights = [numpy.exp((differences - shift) / kt) for differences in kept]
    independent = sum(len(one) / inefficiency(one) for one in weights)
    every = numpy.concatenate(weights)
    spread = every.std(ddof=1) if len(every) > 1 else numpy.inf
    return Step(
        float(shift + kt * numpy.log(every.mean())),
        float(kt * spread / every.mean() / numpy.sqrt(independent)),
        float(independent),
    )


def independent_samples(images, kt):
    """[image][chain]: energies (frames, images) of independent frames less those under its own."""
    found = []
    for own, image in enumerate(images):
        chains = sampled_ensemble(image, kt)
        found.append([chain.differences[independent_frames(chain, own)] for chain in chains])
    return found


def chosen_frames(samples, share=everything):
    """(reduced energies (images, frames), their number for each image). share: of each chain's."""
    rows = [numpy.concatenate([shared(chain, share) for chain in chains]) for chains in samples]
    return numpy.concatenate(rows).T, numpy.array([len(one) for one in rows])


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


def require_blocks(images, steps):
    for image, step in zip(images, steps, strict=True):
        if step.samples < FEWEST_BLOCKS:
            raise ProfileError(
                image.folder,
                f"its blocks are worth {step.samples:.1f} independent samples, too few for an error of "
                "the step to the true Hamiltonian",
                "more sampling.steps or a shorter qm.interval; more qm.configurations where many "
                "blocks are rejected",
                FAILURE,
            )


def neighbours_by_bar(samples, kt):
    """(difference of the next image, error) of each pair of neighbours."""
    every = [numpy.concatenate(chains) for chains in samples]
    found = []
    for own in range(len(every) - 1):
        result = bar(every[own][:, own + 1] / kt, every[own + 1][:, own] / kt)
        found.append((kt * result["Delta_f"], kt * result["dDelta_f"]))
    return numpy.array(found)


def true_energies(sampled, errors, steps):
    """(free energies, that of the first being 0; errors of all differences)."""
    corrections = numpy.array([step.energy for step in steps])
    correction_errors = numpy.array([step.error for step in steps])
    square = correction_errors[:, None] ** 2 + correction_errors[None] ** 2
    numpy.fill_diagonal(square, 0)
    return sampled + corrections - corrections[0], numpy.sqrt(errors**2 + square)


def estimate(profile):
    images, kt = profile.images, profile.kt
    samples = independent_samples(images, kt)
    energies, counts = chosen_frames(samples)
    require_samples(images, counts)
    sampled, errors, mbar = solve(energies, counts, kt)
    overlap = numpy.array(mbar.compute_overlap()["matrix"])
    require_overlap(images, numpy.diagonal(overlap, 1), overlap)
    steps = [step_to_truth(image, kt) for image in images]
    require_blocks(images, steps)
    free_energy, between = true_energies(sampled, errors, steps)
    return Estimate(
        free_energy,
        between[0],
        between,
        sampled,
        steps,
        neighbours_by_bar(samples, kt),
        overlap,
        counts,
    )


def convergence(profile, image):
    """(shares, forward, errors, backward, errors): the free energy of an image above the first from
    the first or the last frames and blocks of all runs."""
    samples = independent_samples(profile.images, profile.kt)
    rows = []
    for fraction in FRACTIONS:
        row = [fraction]
        for backward in (False, True):

            def share(count, fraction=fraction, backward=backward):
                part = max(2, round(fraction * count))
                return slice(max(0, count - part), None) if backward else slice(0, part)

            energies, counts = chosen_frames(samples, share)
            sampled, errors, _ = solve(energies, counts, profile.kt)
            steps = [step_to_truth(one, profile.kt, share) for one in profile.images]
            free_energy, between = true_energies(sampled, errors, steps)
            row += [free_energy[image], between[0, image]]
        rows.append(row)
    return numpy.array(rows)
