"""The picture of src/sampling/README.md: how far the sampled energy is from the true one, exact and
perturbative.

    python3 exact_picture.py EXACT_FOLDER PERTURBATIVE_FOLDER PICTURE.png   (needs matplotlib)

Both are folders of runs of the same solute with the same qm.interval: at the end of an interval the
true energy is the SCF's. In a perturbative run what it differs by is the jump of the update.
"""

import json
import statistics
import sys
from pathlib import Path

import evaluation
from exact_runs import blocks_of


def of_exact(folder):
    return [block["difference"] for chain in blocks_of(folder) for block in chain[1:]]


def of_perturbative(folder):
    summary = json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"))
    first = summary.get("equilibration_steps", 0)
    return [update["jump_kj_per_mol"] for chain in summary.get("chains", [summary])
            for update in chain["qm_updates"]
            if update["step"] > chain.get("equilibration_steps", first)]


def draw(differences, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    values = [value for several in differences.values() for value in several]
    low, high = min(values), max(values)
    bins = [low + (high - low) * i / 30 for i in range(31)]
    figure, axis = plt.subplots(figsize=(7, 2.6))
    for (name, found), colour in zip(differences.items(), ("#1f5fa8", "#d08020"), strict=True):
        axis.hist(found, bins=bins, color=colour, alpha=0.75, weights=[1 / len(found)] * len(found),
                  label=f"{name}: {statistics.fmean(found):.2f} ± {statistics.stdev(found):.2f}")
    axis.set_xlabel("true less sampled energy (kJ/mol)")
    axis.set_ylabel("share")
    axis.legend(frameon=False, title="mean ± standard deviation", fontsize=9, bbox_to_anchor=(1, 1))
    figure.tight_layout()
    figure.savefig(picture, dpi=100)


def body():
    if len(sys.argv) != 4:
        raise evaluation.InputError("command line", "two folders and a picture", sys.argv[1:],
                                    __doc__.splitlines()[3].strip())
    exact, perturbative, picture = sys.argv[1:]
    draw({"exact": of_exact(exact), "perturbative": of_perturbative(perturbative)}, picture)
    return 0


if __name__ == "__main__":
    evaluation.main(body)
