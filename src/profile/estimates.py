"""Free energies of images from the energies of their frames under each other's Hamiltonians.

Between the sampled Hamiltonians, which are of second order about each image's reference, by MBAR
(M. R. Shirts, J. D. Chodera, J. Chem. Phys. 129, 124105 (2008)) and, between neighbours, by BAR
(C. H. Bennett, J. Comput. Phys. 22, 245 (1976)); from there to the true energy of each image by the
configurations at the ends of its blocks, which are of its true Hamiltonian. All in kJ/mol but what
is called reduced.
"""

import dataclasses
import logging
import math
import sys
import warnings

import numpy
from profile_files import FAILURE, ProfileError

logging.getLogger("pymbar").setLevel(logging.ERROR)  # it recommends other packages
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    sys.modules["jax"] = None  # else pymbar compiles its equations anew for every number of frames
    import pymbar
    from blocks import (
        beginnings,
        everything,
        kept_differences,
        sampled_ensemble,
        shared,
        starts_of_frames,
        step_energy,
        steps_to_truth,
    )
    from memory import (
        common_inefficiency,
        inefficiency,
        ranks_of,
        student_factor,
        to_95,
        upper_limit,
    )
    from pymbar.other_estimators import bar
    from scipy.special import logsumexp

    del sys.modules["jax"]  # scipy looks there

LEAST_OVERLAP = 0.03  # of neighbours: below it errors are no longer to be believed
NO_OVERLAP = 1e-4
FEWEST_SAMPLES = 3  # independent ones of an image; fewer give no error
FEWEST_BLOCKS = 3  # the same of the step to the true Hamiltonian
FEWEST_PARTS = 4  # chains, or segments of fewer chains, whose scatter tells an error
SEGMENTS = 12  # of all chains, where there are fewer
# Of a segment: shorter ones remember each other, and scatter too little.
LEAST_SAMPLES_OF_SEGMENT = 3
FEW_SAMPLES = 20  # of an image, frames or blocks: errors from fewer may be too small
PER_INDEPENDENT = 4  # frames that serve for each independent one: all others would add nothing
FEWEST_PER_INDEPENDENT = 1.8  # with fewer, more frames would have more independent ones
FRACTIONS = numpy.arange(1, 11) / 10  # of the frames, in the convergence


@dataclasses.dataclass
class Estimate:
    free_energy: numpy.ndarray  # of each image, that of the first being 0
    error: numpy.ndarray
    between_errors: numpy.ndarray  # (images, images), of differences
    half_widths: numpy.ndarray  # of the same, of intervals that hold at 95 %
    sampled: numpy.ndarray  # of the sampled Hamiltonians
    steps: list
    neighbours: numpy.ndarray  # (images - 1, 2): sampled, by BAR, and error
    overlap: numpy.ndarray  # (images, images)
    pair_overlap: numpy.ndarray  # (images - 1): of each image with the next, the two alone
    samples: numpy.ndarray  # number of independent frames of each image
    at_least: numpy.ndarray  # the same of frames or blocks, by the upper limit of their memory
    frames: list  # of each image, (frames, images): the energies that free energies come from
    # What images have in common all along a chain is in the errors: there are chains enough.
    between_chains: bool = True
    # Of each image, frames for each independent one.
    frames_per_sample: numpy.ndarray = dataclasses.field(default_factory=lambda: numpy.empty(0))

    def largest_error(self):
        return float(self.error.max())

    def few_samples(self):
        """Images whose errors may be too small: those that may have so few independent frames or
        blocks. By their number as estimated those would pass that have too short a memory by chance,
        whose errors are too small for the same reason."""
        return numpy.flatnonzero(self.at_least < FEW_SAMPLES).tolist()

    def far_between(self):
        """Images most of whose frames are independent: what lies between is lost."""
        return numpy.flatnonzero(self.frames_per_sample < FEWEST_PER_INDEPENDENT).tolist()

    def biased_steps(self):
        """Images whose blocks remember the sampled ensemble that production starts in."""
        return numpy.flatnonzero([step.remembers_start for step in self.steps]).tolist()

    def wide_steps(self):
        """Images whose true and sampled energies differ by so much that few blocks make the step."""
        return numpy.flatnonzero([step.too_wide for step in self.steps]).tolist()

    def in_want(self):
        """Images that need more steps whatever their errors."""
        return sorted({*self.few_samples(), *self.biased_steps(), *self.wide_steps()})

    def most_of_the_error(self):
        """Images whose part in the errors' squares is at least half the largest part: of each step
        between neighbours half belongs to either."""
        part = numpy.array([step.error**2 for step in self.steps])
        part[:-1] += self.neighbours[:, 1] ** 2 / 2
        part[1:] += self.neighbours[:, 1] ** 2 / 2
        return numpy.flatnonzero(part >= part.max() / 2).tolist()


def memories(differences):
    """Of each image, frames for one independent sample, and as many as it may well take; judged by
    the slower of the energies under both neighbours. differences: [image][chain], (frames, images)."""
    series = []  # of each image: (values, ranks) under each neighbour
    for own, every in enumerate(differences):
        series.append([])
        chains = [chain for chain in every if len(chain) > 0]
        for k in (own - 1, own + 1):
            if 0 <= k < chains[0].shape[1]:
                values = [chain[:, k] for chain in chains]
                series[-1].append((values, ranks_of(values)))
    common = max(
        (common_inefficiency([pair[kind] for pairs in series for pair in pairs]) for kind in (0, 1)),
        default=1.0,
    )
    longest = upper_limit(common, sum(len(chain) for every in differences for chain in every))
    own = [max([common, *(inefficiency(one) for pair in pairs for one in pair)]) for pairs in series]
    return [(g, max(longest, g)) for g in own]


@dataclasses.dataclass
class Samples:
    """[image][chain]: energies (frames, images), less those under its own."""

    frames: list  # those that free energies come from
    independent: list  # fewer, for the errors
    at_least: numpy.ndarray  # of each image: how many of these there are surely
    # [image][chain]: of each of `frames` the block whose end its own started from.
    starts: list = dataclasses.field(default_factory=list)
    # Of each image: frames, of the production that counts, for each independent one.
    per_independent: list = dataclasses.field(default_factory=list)


def samples_of(images, kt, begun):
    """Errors belong to so many frames as are independent of each other. Free energies of these alone
    would have larger ones: what lies between adds to them, if not as much."""
    sampled = [
        sampled_ensemble(image, kt, one.left_out) for image, one in zip(images, begun, strict=True)
    ]
    differences = [
        [chain.differences[one.frames] for chain, one in zip(image.chains, chains, strict=True)]
        for image, chains in zip(images, sampled, strict=True)
    ]
    frames, independent, at_least, starts, per_independent = [], [], [], [], []
    for image, chains, every, (memory, longest) in zip(
        images, sampled, differences, memories(differences), strict=True
    ):
        frames.append([])
        independent.append([])
        starts.append([])
        interval, count = max(memory, chains[0].loss), sum(map(len, every))
        at_least.append(count / max(longest, chains[0].loss))
        per_independent.append(interval)
        # All along the chains, one after the other: a memory longer than a chain is one, too.
        places = numpy.arange(0, count, interval).astype(int)
        first, apart = 0, max(1, int(interval / PER_INDEPENDENT))
        for chain, one, differences in zip(image.chains, chains, every, strict=True):
            frames[-1].append(differences[::apart])
            starts[-1].append(starts_of_frames(chain)[one.frames[::apart]])
            here = (places >= first) & (places < first + len(differences))
            independent[-1].append(differences[places[here] - first])
            first += len(differences)
    return Samples(frames, independent, numpy.array(at_least), starts, per_independent)


def chosen_frames(samples, share=everything):
    """(energies (images, frames), their number for each image). share: of each chain's."""
    rows = [numpy.concatenate([shared(chain, share) for chain in chains]) for chains in samples]
    return numpy.concatenate(rows).T, numpy.array([len(one) for one in rows])


def mbar(energies, counts, start=None):
    """energies (images, frames) in kT, frames in the order of the images that they come from. start:
    free energies of nearly the same frames.

    pymbar's default solver gives up at times where all is well, with 300 frames of images 20 kT apart
    that overlap by one half. This one iterates self-consistently where Newton's steps fail; it begins
    with the linear response's differences, of medians, for a few frames may have huge energies.
    """
    if start is not None:
        return pymbar.MBAR(energies, counts, initial_f_k=start, solver_protocol="robust")
    to_next = numpy.split(numpy.diff(energies, axis=0), numpy.cumsum(counts)[:-1], axis=1)
    start = [0.0]
    for k in range(len(counts) - 1):
        own, other = (numpy.median(part[k]) for part in to_next[k : k + 2])
        start.append(start[-1] + (own + other) / 2)
    return pymbar.MBAR(energies, counts, initial_f_k=numpy.array(start), solver_protocol="robust")


def mbar_of(samples, kt, share=everything, start=None):
    energies, counts = chosen_frames(samples, share)
    return mbar(energies / kt, counts, start)


def differences_of(solved):
    try:
        return solved.compute_free_energy_differences()
    except pymbar.utils.ParameterError as failure:
        raise ProfileError(
            "the profile",
            f"MBAR's equations have not been solved: {failure}".split("\n", maxsplit=1)[0],
            "more sampling.steps or images between (profile.least-overlap), then the same command; "
            "what has been sampled is kept",
            FAILURE,
        ) from failure


def solve(samples, kt):
    """(free energies, that of the first being 0; errors of all differences; MBAR)"""
    of_all = mbar_of(samples.frames, kt)
    found = differences_of(of_all)
    of_errors = mbar_of(samples.independent, kt)
    errors = differences_of(of_errors)["dDelta_f"]
    return kt * found["Delta_f"][0], student_factor(of_errors.N_k.min()) * kt * errors, of_all


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


def require_overlap(images, neighbours):
    """neighbours: overlap of each image with the next."""
    for k, value in enumerate(neighbours):
        if value >= NO_OVERLAP:
            continue
        raise ProfileError(
            f"{images[k].folder} and {images[k + 1].folder}",
            f"what is sampled with the two images does not overlap ({value:.1e}), so that there is no "
            "free energy difference",
            images[k].no_image_to_next
            or f"put images between {k + 1} and {k + 2}: profile.least-overlap above 0 does, or give a "
            "path that has them (starpmc path --images N); what has been sampled is kept",
            FAILURE,
        )


def pair_overlaps(samples, kt):
    """Of each image with the next, from the frames of the two alone: 1/2 where they are the same. The
    overlap matrix of all images also falls where more of them share the same frames, which is no
    fault. As of equal numbers of frames."""
    rows = [numpy.concatenate(chains) for chains in samples.frames]
    found = []
    for own in range(len(rows) - 1):
        pair, counts = slice(own, own + 2), [len(rows[own]), len(rows[own + 1])]
        energies = numpy.concatenate([rows[own][:, pair], rows[own + 1][:, pair]]).T
        # The integral of p q / (p + q): each frame's weights are p and q over N_p p + N_q q.
        one, other = mbar(energies / kt, numpy.array(counts)).W_nk.T
        with numpy.errstate(invalid="ignore", divide="ignore"):
            found.append(numpy.where(one * other > 0, one * other / (one + other), 0).sum())
    # Where nothing overlaps the equations may have no solution.
    return numpy.nan_to_num(numpy.array(found), nan=0.0)


def overlaps_of_neighbours(profile):
    images, kt = profile.images, profile.kt
    samples = samples_of(images, kt, beginnings(images, kt))
    require_samples(images, chosen_frames(samples.independent)[1])
    return pair_overlaps(samples, kt)


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


def error_of_bar(forward, backward, difference):
    """Of a difference that BAR gives for these works, all in kT: Bennett's, as pymbar has it. That one
    is no number where a single frame has a huge energy, as where an atom of the next image overlaps
    with a solvent molecule: its sums are scaled by the largest work."""
    shift = math.log(len(forward) / len(backward)) - difference
    variance = -1 / len(forward) - 1 / len(backward)
    for works in (forward + shift, backward - shift):
        accepted = -numpy.logaddexp(0, works)  # logarithms of Fermi functions
        variance += math.exp(logsumexp(2 * accepted) - 2 * logsumexp(accepted))
    return math.sqrt(max(variance, 0))  # of two images that are the same it is 0 but for rounding


def neighbours_by_bar(samples, kt):
    """(difference of the next image, error) of each pair of neighbours."""
    frames, independent = (
        [numpy.concatenate(chains) for chains in kind]
        for kind in (samples.frames, samples.independent)
    )
    found = []
    for own in range(len(frames) - 1):
        works, fewer = (
            (kind[own][:, own + 1] / kt, kind[own + 1][:, own] / kt) for kind in (frames, independent)
        )
        value, of_fewer = (
            bar(*pair, compute_uncertainty=False)["Delta_f"] for pair in (works, fewer)
        )
        error = student_factor(min(map(len, fewer))) * error_of_bar(*fewer, of_fewer)
        found.append((kt * value, kt * error))
    return numpy.array(found)


def true_energies(sampled, steps):
    """That of the first being 0."""
    corrections = numpy.array([step.energy for step in steps])
    return sampled + corrections - corrections[0]


@dataclasses.dataclass
class Parts:
    """Of a profile, which are left out in turn."""

    count: int
    of_frames: list  # [image][chain]: for each frame of Samples.frames its part
    of_ends: list  # the same for each of kept_differences()


def parts_of(images, samples, begun, steps):
    """Chains, of images with more chains than others several in a part; segments in time of these where
    there are few chains, cut between the same blocks in frames and in blocks' ends. No parts where that
    is too short for segments."""
    chains = min(len(image.chains) for image in images)
    segments = 1
    if chains < FEWEST_PARTS:
        independent = zip(images, chosen_frames(samples.independent)[1], steps, strict=True)
        least = min(min(count, step.samples) / len(image.chains) for image, count, step in independent)
        segments = min(SEGMENTS // chains, int(least / LEAST_SAMPLES_OF_SEGMENT))
    of_frames, of_ends = [], []
    for image, starts, one in zip(images, samples.starts, begun, strict=True):
        of_frames.append([])
        of_ends.append([])
        for number, (chain, start) in enumerate(zip(image.chains, starts, strict=True)):
            first, ends = number % chains * segments, len(chain.accepted) - one.left_out
            # Frames of the first block, which starts before those that are left out, are the earliest.
            place = numpy.maximum(start - one.left_out, 0)
            of_frames[-1].append(first + place * segments // ends)
            of_ends[-1].append(first + numpy.arange(ends) * segments // ends)
    count = chains * segments
    return Parts(count if count >= FEWEST_PARTS else 0, of_frames, of_ends)


def without_part(series, parts, number):
    """series, parts: [chain]."""
    return [one[part != number] for one, part in zip(series, parts, strict=True)]


def errors_between_parts(images, samples, begun, steps, kt):
    """(errors of all differences, number of parts) from what the profile becomes without one part of
    every image (jackknife). So it tells of what images have in common: chain by chain an image begins
    where its neighbour has ended, and what is slow to change may be the same in all images of a chain.
    And of what sampled free energy and step of an image have in common: both come from the same blocks,
    whose D weighs the frames. The images' own errors do not add up as if it were not so. 0 where there
    are too few parts."""
    parts = parts_of(images, samples, begun, steps)
    if parts.count == 0:
        return numpy.zeros((len(images), len(images))), 0
    ends = [
        [kept_differences(chain, one.left_out) for chain in image.chains]
        for image, one in zip(images, begun, strict=True)
    ]
    of_all = mbar_of(samples.frames, kt).f_k
    found = []
    for number in range(parts.count):
        frames, fewer = (
            [without_part(*of_image, number) for of_image in zip(series, of, strict=True)]
            for series, of in ((samples.frames, parts.of_frames), (ends, parts.of_ends))
        )
        energies, counts = chosen_frames(frames)
        sampled = kt * differences_of(mbar(energies / kt, counts, of_all))["Delta_f"][0]
        corrections = numpy.array([step_energy(numpy.concatenate(chains), kt) for chains in fewer])
        found.append(sampled + corrections)
    found = numpy.array(found)
    differences = found[:, None, :] - found[:, :, None]
    scatter = math.sqrt(parts.count - 1) * differences.std(axis=0)
    return student_factor(parts.count) * scatter, parts.count


def errors_of_images(sampled_errors, of_steps):
    """Of all differences. of_steps: error of each image's step."""
    square = sampled_errors**2 + (of_steps**2)[:, None] + of_steps**2
    numpy.fill_diagonal(square, 0)
    return numpy.sqrt(square)


def errors_of(images, samples, sampled_errors, begun, steps, kt):
    """(errors, half-widths of intervals that hold at 95 %) of all differences, the larger of what the
    images by themselves and the parts of the profile tell. Each has as many degrees of freedom as samples."""
    fewest = chosen_frames(samples.independent)[1].min()
    of_steps = numpy.array([step.error for step in steps])
    wider = numpy.array([to_95(step.samples) for step in steps])
    between, parts = errors_between_parts(images, samples, begun, steps, kt)
    return (
        numpy.maximum(errors_of_images(sampled_errors, of_steps), between),
        numpy.maximum(
            errors_of_images(to_95(fewest) * sampled_errors, wider * of_steps),
            to_95(parts) * between,
        ),
    )


def estimate(profile):
    images, kt = profile.images, profile.kt
    begun = beginnings(images, kt)
    samples = samples_of(images, kt, begun)
    counts = chosen_frames(samples.independent)[1]
    require_samples(images, counts)
    sampled, errors, of_all = solve(samples, kt)
    overlap = numpy.array(of_all.compute_overlap()["matrix"])
    require_overlap(images, numpy.diagonal(overlap, 1))
    steps = steps_to_truth(images, kt, begun)
    require_blocks(images, steps)
    between, half_widths = errors_of(images, samples, errors, begun, steps, kt)
    return Estimate(
        true_energies(sampled, steps),
        between[0],
        between,
        half_widths,
        sampled,
        steps,
        neighbours_by_bar(samples, kt),
        overlap,
        pair_overlaps(samples, kt),
        counts,
        numpy.minimum(samples.at_least, [step.at_least for step in steps]),
        [numpy.concatenate(chains) for chains in samples.frames],
        min(len(image.chains) for image in images) >= FEWEST_PARTS,
        numpy.array(samples.per_independent),
    )


def convergence(profile, estimate, images):
    """For each of these images (shares, forward, error, backward, error): its free energy above the
    first image's from the first or the last frames and blocks of all runs. Errors are that of all of
    them, over the square root of the share: what is left of a few independent frames is too little to
    tell one."""
    kt = profile.kt
    begun = beginnings(profile.images, kt)
    samples = samples_of(profile.images, kt, begun)
    rows = [[] for _ in images]
    for fraction in FRACTIONS:
        ways = []
        for backward in (False, True):

            def share(count, fraction=fraction, backward=backward):
                part = max(2, round(fraction * count))
                return slice(max(0, count - part), None) if backward else slice(0, part)

            solved = mbar_of(samples.frames, kt, share, estimate.sampled / kt)
            found = kt * differences_of(solved)["Delta_f"][0]
            ways.append(true_energies(found, steps_to_truth(profile.images, kt, begun, share)))
        for image, of_image in zip(images, rows, strict=True):
            error = estimate.error[image] / math.sqrt(fraction)
            forward, backward = (way[image] for way in ways)
            of_image.append([fraction, forward, error, backward, error])
    return [numpy.array(of_image) for of_image in rows]
