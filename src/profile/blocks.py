"""From the sampled Hamiltonian of an image to the true one, by the blocks of its chains.

A block starts in the true ensemble and goes on in the sampled one. Frames get the weight
exp((E_true - E_sampled)/kT) of their block's start: so weighted the starts are of the sampled
ensemble, and steps that preserve it keep them so, however short a block is beside the solvent's memory.

That is so once tests have made the starts of the true ensemble. Production itself starts in the
sampled one: frames of its first block are of it as they are. Starts of the next blocks are of neither,
and their frames are left out, as are these starts in the step to the true Hamiltonian: as many of each
chain, whatever it has accepted. To wait for a chain's own first accepted block would not do: chains
that reject for long are those whose configuration has a low D, and would be too few.

How many: a start in the sampled ensemble is one in the true ensemble with the weight exp(D/kT). So
after n blocks the mean of exp(D/kT) is larger than in the true ensemble by its autocovariance there,
over its mean: by the factor exp(v rho(n)) where D is normal and v = var(D)/(kT)^2. Blocks may all be
accepted while rho hardly falls, as where the solvent remembers for longer than a block.
"""

import dataclasses
import math

import numpy
from memory import common_inefficiency, inefficiency, student_factor, upper_limit
from profile_files import FAILURE, ProfileError

LEAST_PART = 4  # of the blocks: no more than one in so many is left out as the sampled ensemble's
ENOUGH = 0.25  # of the error: so much of the sampled ensemble may be left in a step
# Of an error over kT: where a mean of exp(D/kT) is not known to a third of it, a few blocks with the
# largest D make it, which tell neither its logarithm nor the error.
TOO_WIDE = 1 / 3


@dataclasses.dataclass
class Beginning:
    """Of an image's production, which starts in the sampled ensemble."""

    left_out: int  # blocks of each chain, the start included
    remembered: bool  # the sampled ensemble in what is kept


@dataclasses.dataclass
class Step:
    """From the sampled to the true Hamiltonian of an image."""

    energy: float
    error: float
    samples: float  # independent ones
    acceptance: float = 1.0  # of blocks
    # So that energy and error are not to be believed:
    remembers_start: bool = False
    too_wide: bool = False  # is the distribution of D
    at_least: float = 0.0  # independent samples, by the upper limit of their memory


def kept_blocks(chain):
    """For each block the one whose end the chain went on from: the last that was accepted."""
    return numpy.maximum.accumulate(numpy.where(chain.accepted, numpy.arange(len(chain.accepted)), 0))


def kept_differences(chain, left_out):
    """True less sampled energy of the configurations that the chain went on from at the ends of its
    blocks: a rejected block counts the one before it again. left_out: of them, the start included."""
    return chain.block_differences[kept_blocks(chain)][left_out:]


def block_acceptance(image):
    tests = numpy.concatenate([chain.accepted[1:] for chain in image.chains])
    return float(tests.mean()) if len(tests) > 0 else 1.0


def _least_and_most_to_leave_out(image):
    """Two accepted blocks at least, a quarter at most, and the start."""
    most = (min(len(chain.accepted) for chain in image.chains) - 1) // LEAST_PART
    acceptance = block_acceptance(image)
    least = math.ceil(2 / acceptance) if acceptance > 0 else 0
    return 1 + min(least, most), 1 + most


def _beginning(image, chains, g, longest):
    """chains: kept differences over kT, of each chain. g, longest: what their inefficiency is and may
    be."""
    acceptance = block_acceptance(image)
    first, most = _least_and_most_to_leave_out(image)
    if acceptance == 0:
        return Beginning(first, remembered=True)
    variance = numpy.concatenate(chains).var()
    count = min(len(chain.accepted) for chain in image.chains)
    # By independent proposals alone, so many of which are accepted, it would be 2/acceptance - 1.
    longest = max(longest, 2 / acceptance - 1)
    left = variance * numpy.exp(-2 * numpy.arange(count) / longest)

    def remembered(first):
        error = math.sqrt(variance * g / (len(chains) * (count - first)))
        # The first is the largest, and may be too large for exp().
        shift = left[first]
        bias = shift + math.log(numpy.exp(left[first:] - shift).mean())
        return bool(bias > ENOUGH * error)

    while first < most and remembered(first):
        first += 1
    return Beginning(first, remembered(first))


def beginnings(images, kt):
    """[Beginning] of each image: as much is left out as makes what is left of the sampled ensemble
    small beside the error of the step. Of what D is in itself: exp(D/kT) tells its memory badly."""
    kept = []
    for image in images:
        first, _ = _least_and_most_to_leave_out(image)
        kept.append([kept_differences(chain, first) / kt for chain in image.chains])
    common = common_inefficiency(kept)
    longest = upper_limit(common, sum(len(chain) for chains in kept for chain in chains))
    found = []
    for image, chains in zip(images, kept, strict=True):
        g = max(common, inefficiency(chains))
        found.append(_beginning(image, chains, g, max(longest, g)))
    return found


def states_between(chain, left_out):
    """Different configurations at most among those of kept_differences(). Where production started is
    none that a test has made one of the true ensemble."""
    first = bool(chain.accepted[1 : left_out + 1].any())
    return first + int(chain.accepted[left_out + 1 :].sum())


def starts_of_frames(chain):
    """For each frame the number of blocks before that which it is of. A frame at a block's end belongs
    to that block."""
    block = numpy.searchsorted(chain.block_steps, chain.steps, side="left")
    return numpy.maximum(block, 1) - 1


def frame_weights(image, kt, left_out):
    """For each frame of each chain, as samples of the sampled ensemble; their mean over those that are
    not left out is 1."""
    starts = [starts_of_frames(chain) for chain in image.chains]
    reduced = [
        chain.block_differences[kept_blocks(chain)][start] / kt
        for chain, start in zip(image.chains, starts, strict=True)
    ]
    settled = numpy.concatenate(
        [one[start >= left_out] for one, start in zip(reduced, starts, strict=True)]
    )
    most = settled.max(initial=-numpy.inf)
    mean = numpy.exp(settled - most).mean() if len(settled) > 0 else 1.0
    return [
        # Of the others a difference may be far above `most`: it has no weight, and must not overflow.
        numpy.where(start >= left_out, numpy.exp(numpy.minimum(one - most, 0)) / mean, start == 0)
        for one, start in zip(reduced, starts, strict=True)
    ]


@dataclasses.dataclass
class Sampled:
    """Frames of one chain as samples of the sampled ensemble, in their order."""

    frames: numpy.ndarray  # their numbers, a frame as often as its weight says
    loss: float  # frames for one of equal weight


def sampled_ensemble(image, kt, left_out):
    """[Sampled] of each chain. left_out: blocks."""
    weights = frame_weights(image, kt, left_out)
    every = numpy.concatenate(weights)
    every = every[every > 0]
    if len(every) == 0:
        raise ProfileError(
            image.folder,
            "all its frames are of the first blocks, which are left out but for the very first",
            "more sampling.steps or a shorter output.trajectory-interval",
            FAILURE,
        )
    loss = float(numpy.mean(every**2) / numpy.mean(every) ** 2)
    found = []
    for one in weights:
        # Systematic resampling: a frame as often as the sum of weights passes a half within it.
        passed = numpy.floor(numpy.cumsum(one) + 0.5).astype(int)
        times = numpy.diff(passed, prepend=0)
        found.append(Sampled(numpy.repeat(numpy.arange(len(one)), times), loss))
    return found


def shared(values, share):
    """Of a part of what there is. share: a slice of so many."""
    return values[share(len(values))]


def everything(_):
    return slice(None)


def step_energy(differences, kt):
    """kT ln <exp(D/kT)> of an image. differences: D of configurations of its true Hamiltonian."""
    shift = differences.max()
    return float(shift + kt * numpy.log(numpy.exp((differences - shift) / kt).mean()))


def steps_to_truth(images, kt, begun, share=everything):
    """Of each image kT ln <exp(D/kT)> over configurations of its true Hamiltonian, D being true less
    sampled. begun: their beginnings()."""
    kept = [
        [shared(kept_differences(chain, one.left_out), share) for chain in image.chains]
        for image, one in zip(images, begun, strict=True)
    ]
    shifts = [numpy.concatenate(chains).max() for chains in kept]
    weights = [
        [numpy.exp((differences - shift) / kt) for differences in chains]
        for chains, shift in zip(kept, shifts, strict=True)
    ]
    common = common_inefficiency(weights)
    longest = upper_limit(common, sum(len(chain) for chains in weights for chain in chains))
    steps = []
    for image, one, differences, chains in zip(images, begun, kept, weights, strict=True):
        every, g = numpy.concatenate(chains), max(common, inefficiency(chains))
        mean = every.mean()
        states = sum(states_between(chain, one.left_out) for chain in image.chains)
        independent = min(len(every) / g, states)
        error = numpy.inf
        if len(every) > 1 and independent > 0:
            relative = every.std(ddof=1) / mean / numpy.sqrt(independent)
            error = student_factor(independent) * kt * relative
        steps.append(
            Step(
                step_energy(numpy.concatenate(differences), kt),
                float(error),
                float(independent),
                block_acceptance(image),
                one.remembered,
                bool(error > TOO_WIDE * kt),
                float(min(len(every) / max(g, longest), states)),
            )
        )
    return steps
