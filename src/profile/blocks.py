"""From the sampled Hamiltonian of an image to the true one, by the blocks of its chains.

A block starts in the true ensemble and goes on in the sampled one. Frames get the weight
exp((E_true - E_sampled)/kT) of their block's start: so weighted the starts are of the sampled
ensemble, and steps that preserve it keep them so, however short a block is beside the solvent's memory.

That is so once tests have made the starts of the true ensemble. Production itself starts in the
sampled one: frames of its first block are of it as they are. Starts of the next blocks are of neither,
and their frames are left out, as are these starts in the step to the true Hamiltonian: as many of each
chain, whatever it has accepted. To wait for a chain's own first accepted block would not do: chains
that reject for long are those whose configuration has a low D, and would be too few.
"""

import dataclasses
import math

import numpy
from memory import common_inefficiency, inefficiency, student_factor
from profile_files import FAILURE, ProfileError

LEAST_PART = 4  # of the blocks: no more than one in so many is left out as the sampled ensemble's
# Of blocks: where more are accepted, true and sampled energy are so alike that what is kept too much of
# the sampled ensemble does not matter.
LOW_ACCEPTANCE = 0.7


@dataclasses.dataclass
class Step:
    """From the sampled to the true Hamiltonian of an image."""

    energy: float
    error: float
    samples: float  # independent ones
    acceptance: float = 1.0  # of blocks
    remembers_start: bool = False  # so that energy and error are not to be believed


def kept_blocks(chain):
    """For each block the one whose end the chain went on from: the last that was accepted."""
    return numpy.maximum.accumulate(numpy.where(chain.accepted, numpy.arange(len(chain.accepted)), 0))


def kept_differences(chain, left_out):
    """True less sampled energy of the configurations that the chain went on from at the ends of its
    blocks: a rejected block counts the one before it again. left_out: of them, the start included."""
    return chain.block_differences[kept_blocks(chain)][left_out:]


def blocks_to_leave_out(image):
    """Of each chain of an image, by their number, the start included: production starts in the sampled
    ensemble, and has forgotten it after about as many blocks as it takes to accept two."""
    acceptance = block_acceptance(image)
    if acceptance == 0:
        return 1
    return 1 + min(math.ceil(2 / acceptance), _most_to_leave_out(image))


def _most_to_leave_out(image):
    return (min(len(chain.accepted) for chain in image.chains) - 1) // LEAST_PART


def block_acceptance(image):
    tests = numpy.concatenate([chain.accepted[1:] for chain in image.chains])
    return float(tests.mean()) if len(tests) > 0 else 1.0


def remembers_start(image):
    """Whether so few blocks are accepted that what is kept of them has not forgotten the sampled ensemble."""
    acceptance = block_acceptance(image)
    if acceptance >= LOW_ACCEPTANCE:
        return False
    return acceptance == 0 or math.ceil(2 / acceptance) > _most_to_leave_out(image)


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


def frame_weights(image, kt):
    """For each frame of each chain, as samples of the sampled ensemble; their mean over those that are
    not left out is 1."""
    left_out = blocks_to_leave_out(image)
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


def sampled_ensemble(image, kt):
    """[Sampled] of each chain."""
    weights = frame_weights(image, kt)
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


def steps_to_truth(images, kt, share=everything):
    """Of each image kT ln <exp(D/kT)> over configurations of its true Hamiltonian, D being true less
    sampled."""
    left_out = [blocks_to_leave_out(image) for image in images]
    kept = [
        [shared(kept_differences(chain, first), share) for chain in image.chains]
        for image, first in zip(images, left_out, strict=True)
    ]
    shifts = [numpy.concatenate(chains).max() for chains in kept]
    weights = [
        [numpy.exp((differences - shift) / kt) for differences in chains]
        for chains, shift in zip(kept, shifts, strict=True)
    ]
    common = common_inefficiency(weights)
    steps = []
    for image, first, chains, shift in zip(images, left_out, weights, shifts, strict=True):
        every = numpy.concatenate(chains)
        mean = every.mean()
        independent = min(
            len(every) / max(common, inefficiency(chains)),
            sum(states_between(chain, first) for chain in image.chains),
        )
        error = numpy.inf
        if len(every) > 1 and independent > 0:
            relative = every.std(ddof=1) / mean / numpy.sqrt(independent)
            error = student_factor(independent) * kt * relative
        steps.append(
            Step(
                float(shift + kt * numpy.log(mean)),
                float(error),
                float(independent),
                block_acceptance(image),
                remembers_start(image),
            )
        )
    return steps
