"""Blocks of the exact ensemble: how far the sampled energy is from the true one, and what was accepted."""

import charts
import numpy


def blocks_of(chain):
    """After the start of production."""
    found = chain.results.get("exact")
    return found["tests"][1:] if isinstance(found, dict) else []


def _differences(blocks, accepted):
    return [
        (block["step"], block["difference_kj_per_mol"])
        for block in blocks
        if block["accepted"] is accepted
    ]


def differences(run):
    """Against step: full where the block was accepted, a ring where it was rejected."""
    figure, axis = charts.new_figure()
    for index, chain in enumerate(run.chains):
        colour = charts.colour(index, len(run.chains))
        blocks = blocks_of(chain)
        for accepted, filling in ((True, colour), (False, "none")):
            found = _differences(blocks, accepted)
            if found:
                steps, values = zip(*found, strict=True)
                axis.plot(
                    steps, values, "o", ms=3 if accepted else 5, color=colour, mfc=filling,
                    label=chain.name if accepted else None,
                )  # fmt: skip
    axis.set_title("true less sampled energy at block ends; rings: rejected")
    axis.set_ylabel("kJ/mol")
    charts.label_steps(axis)
    charts.name_chains(figure, axis, len(run.chains))
    return figure


def distribution(run):
    """Of the differences that were proposed, all chains together."""
    values = numpy.array(
        [block["difference_kj_per_mol"] for chain in run.chains for block in blocks_of(chain)]
    )
    figure, axis = charts.new_figure()
    axis.hist(values, bins=min(60, max(8, round(len(values) ** 0.5))), color=charts.colour(0, 1))
    axis.set_title("distribution of true less sampled energy")
    axis.set_xlabel("kJ/mol")
    axis.set_ylabel("blocks")
    return figure


def figures(run):
    """(name, figure)."""
    yield "blocks", differences(run)
    yield "block-differences", distribution(run)
