"""From the sampled Hamiltonian of an image to the true one, by the blocks of its chains.

A block starts in the true ensemble and goes on in the sampled one. Frames get the weight
exp((E_true - E_sampled)/kT) of their block's start: so weighted the starts are of the sampled
ensemble, and steps that preserve it keep them so, however short a block is beside the solvent's memory.
"""

import dataclasses
import math

import numpy
from memory import common_inefficiency, inefficiency, student_factor

LEAST_PART = 4  # of the blocks: no more than one in so many is left out as the sampled ensemble's


@dataclasses.dataclass
class Step:
    """From the sampled to the true Hamiltonian of an image."""

    energy: float
    error: float
    samples: float  # independent ones


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
    tests = numpy.concatenate([chain.accepted[1:] for chain in image.chains])
    if not tests.any():
        return 1
    fewest = min(len(chain.accepted) for chain in image.chains)
    return 1 + min(math.ceil(2 / tests.mean()), (fewest - 1) // LEAST_PART)


def states_between(chain, left_out):
    """Different configurations at most among those of kept_differences()."""
    return 1 + int(chain.accepted[left_out + 1 :].sum())


def frame_differences(chain):
    """For each frame that of its block's start. A frame at a block's end belongs to that block."""
    block = numpy.searchsorted(chain.block_steps, chain.steps, side="left")
    return chain.block_differences[kept_blocks(chain)][numpy.maximum(block, 1) - 1]


@dataclasses.dataclass
class Sampled:
    """Frames of one chain as samples of the sampled ensemble, in their order."""

    frames: numpy.ndarray  # their numbers, a frame as often as its weight says
    loss: float  # frames for one of equal weight


def sampled_ensemble(image, kt):
    """[Sampled] of each chain."""
    reduced = [frame_differences(chain) / kt for chain in image.chains]
    most = max(one.max() for one in reduced)
    weights = [numpy.exp(one - most) for one in reduced]
    every = numpy.concatenate(weights)
    loss = float(numpy.mean(every**2) / numpy.mean(every) ** 2)
    found = []
    for one in weights:
        # Systematic resampling: a frame as often as the sum of weights passes a half within it.
        passed = numpy.floor(numpy.cumsum(one) / every.mean() + 0.5).astype(int)
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
        spread = every.std(ddof=1) if len(every) > 1 else numpy.inf
        error = student_factor(independent) * kt * spread / mean / numpy.sqrt(independent)
        steps.append(Step(float(shift + kt * numpy.log(mean)), float(error), float(independent)))
    return steps
