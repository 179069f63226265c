"""What density_wells.py says of the runs of one solute; its head tells how."""

import math

import density_potential
import near_sites
import numpy as np
from block_statistics import chance_of_difference, mean_and_error

TEMPERATURE = 298.15  # K
THERMAL_ENERGY = 0.00831446261815324 * TEMPERATURE  # kJ/mol
CHARGE = -1  # of each solute
CUTOFF = 9.0  # A
LEAST_BLOCKS = 16
LEAST_BLOCK_STEPS = 1_000_000  # shorter ones remember one another
BANDS = ((1.6, 1.9), (1.9, 2.2), (2.2, 2.8), (2.8, near_sites.REACH))  # A to the nearest nucleus
SITES_OF_BAND = 1500
RADIUS = 0.05  # A: at a point
FIRST_SHELL = 2.4  # A
TURNED_GRIDS = 199
LARGEST_TURN = 0.35  # radians; between neighbouring directions of 302: 0.2
BINS = np.arange(1.4, 3.45, 0.1)  # A
REWEIGHTED_FRAMES = 1600  # spread over all
# What has to be met: kJ/mol per e in the bands, near and far; probabilities.
LARGEST_NEAR, LARGEST_FAR = 0.3, 0.05
LEAST_PROBABILITY = 0.01
LONGEST_STAY = 8  # times the turned grids' median
LARGEST_CHANGE = 0.02  # of g by the analytic potential, of the peak's height
LARGEST_ENERGY_DEVIATION = 0.02  # kJ/mol, of positions in fp32


def say(text):
    print(text, flush=True)


class Checks:
    def __init__(self):
        self.failures = []

    def check(self, what, text, right):
        say(f"{what}: {text}" + ("" if right else "   <-- FAILED"))
        if not right:
            self.failures.append(what)


class Solute(Checks):
    """The analysis of one solute's runs."""

    def __init__(self, folder, solute, cases):
        super().__init__()
        self.name = solute
        elements, positions = density_potential.read_xyz(folder / f"{solute}.xyz")
        self.analytic = density_potential.AnalyticDensity(
            elements, positions - positions[0], CHARGE
        )
        self.oxygens = [atom for atom, element in enumerate(elements) if element == "O"]
        self.cases = cases
        self.grids, self.runs = {}, {}
        for case in cases:
            grid = density_potential.read_grid(folder / f"{solute}-{case}.grid").copy()
            grid[:, :3] -= positions[0]
            self.grids[case] = grid
            self.runs[case] = near_sites.read(folder / f"results/{solute}-{case}.npz")
        run = self.runs[cases[0]]
        chains = int(run.chains[-1]) + 1
        self.blocks = chains * math.ceil(LEAST_BLOCKS / chains)
        self.block_steps = len(run.chains) * run.interval // self.blocks

    def run(self):
        for case in self.cases:
            self.energies(case)
        for case in self.cases:
            self.potentials(case)
        for case in self.cases:
            self.visits(case)
        self.distributions()
        return self.failures

    def judged(self, case):
        return not case.startswith("bare-")

    def energies(self, case):
        """The run's own energy of some frames with the grid against a sum over its points."""
        run, grid = self.runs[case], self.grids[case]
        worst = 0.0
        for positions, energy in zip(run.whole, run.whole_energy, strict=True):
            mm = slice(len(run.nuclei), None)
            found = shifted_force_energy(grid, positions[mm], run.charges[mm], run.edges)
            worst = max(worst, abs(found - energy))
        self.check(
            f"{self.name}, {case}, energy with the grid",
            f"run and sum over the points differ by {worst:.4f} kJ/mol at most",
            worst < LARGEST_ENERGY_DEVIATION,
        )

    def potentials(self, case):
        others = {"50x974": "30x302"}
        other = others.get(case, "50x974")
        runs = [other] if self.judged(case) else [other, case]
        for sampled in (name for name in runs if name in self.runs):
            run = self.runs[sampled]
            compare_potentials(
                self,
                f"{self.name}, {case}, sites of the run with {sampled}",
                self.grids[case],
                self.analytic,
                run.position,
                run.distances(),
                self.judged(case),
            )

    def visits(self, case):
        run = self.runs[case]
        first = run.distances() < FIRST_SHELL
        near = near_sites.NearSites(
            **vars(run) | {name: getattr(run, name)[first] for name in ("frame", "site", "position")}
        )
        points = self.grids[case][:, :3]
        distance = np.linalg.norm(points[:, None] - run.nuclei, axis=2).min(axis=1)
        points = points[(distance > 1.2) & (distance < FIRST_SHELL + 0.1)]
        found, longest = near_sites.visits(points, near, RADIUS)
        random = np.random.default_rng(3)
        turned = [
            near_sites.visits(
                near_sites.turned(points, run.nuclei, random, LARGEST_TURN), near, RADIUS
            )
            for _ in range(TURNED_GRIDS)
        ]
        counts, stays = np.array(turned).T
        chance = (1 + (counts >= found).sum()) / (1 + TURNED_GRIDS)
        self.check(
            f"{self.name}, {case}, sites within {RADIUS} A of a point",
            f"{found} visits, turned grids {counts.mean():.1f} +- {counts.std(ddof=1):.1f}: "
            f"{chance:.2f} of them have as many; longest stay {longest * run.interval} steps, "
            f"turned grids {np.median(stays) * run.interval:.0f} (median), "
            f"{stays.max() * run.interval} (largest); {near.frame.size} sites in the first shell "
            f"of {len(run.chains)} frames",
            not self.judged(case)
            or (chance >= LEAST_PROBABILITY and longest <= LONGEST_STAY * np.median(stays)),
        )

    def weights(self, case):
        """(frames,): of the analytic potential relative to the grid's, 0 where left out."""
        run = self.runs[case]
        stride = max(1, len(run.chains) // REWEIGHTED_FRAMES)
        chosen = np.flatnonzero(run.frame % stride == 0)
        position = run.position[chosen]
        difference = self.analytic.potential(position)
        difference -= density_potential.grid_potential(self.grids[case], position)
        energy = np.bincount(
            run.frame[chosen], run.charges[run.site[chosen]] * difference, len(run.chains)
        )
        included = np.arange(len(run.chains)) % stride == 0
        weights = np.where(included, np.exp(-(energy - energy[included].mean()) / THERMAL_ENERGY), 0)
        effective = weights.sum() ** 2 / (weights**2).sum() / included.sum()
        say(
            f"{self.name}, {case}: analytic less grid energy {energy[included].mean():.3f} +- "
            f"{energy[included].std():.3f} kJ/mol in {included.sum()} frames; reweighted to the "
            f"analytic potential they are worth {effective:.0%} of their number"
        )
        return weights, included.astype(float)

    def distributions(self):
        plain, exact = {}, {}
        for case in self.cases:
            run = self.runs[case]
            blocks = run.blocks(self.blocks)
            weights, included = self.weights(case)
            args = (run, self.oxygens, BINS)
            plain[case] = near_sites.distribution(*args, np.ones(len(blocks)), blocks)
            exact[case] = near_sites.distribution(*args, weights, blocks)
            same = near_sites.distribution(*args, included, blocks)
            self.effect_of_weights(case, exact[case], same)
        reference = "50x974" if "50x974" in self.cases else self.cases[-1]
        for case in self.cases:
            if case != reference:
                self.compare(case, reference, plain[case], plain[reference])
                exactly = f"{reference} reweighted to the analytic potential"
                self.compare(case, exactly, plain[case], exact[reference])

    def effect_of_weights(self, case, exact, same):
        change, _ = mean_and_error(exact - same)
        mean, error = mean_and_error(same)
        worst = int(np.abs(change).argmax())
        self.check(
            f"{self.name}, {case}, g(O-H)",
            f"the analytic potential changes it by {change[worst]:+.4f} at {BINS[worst] + 0.05:.2f}"
            f" A, at most, where it is {mean[worst]:.3f} +- {error[worst]:.3f}",
            not self.judged(case) or abs(change[worst]) <= LARGEST_CHANGE * mean.max(),
        )

    def compare(self, case, other, first, second):
        mean, error = mean_and_error(first)
        mean2, error2 = mean_and_error(second)
        compared = (first > 0).mean(axis=0) + (second > 0).mean(axis=0) > 1.5
        chance = chance_of_difference(first[:, compared], second[:, compared], 10000)
        both = np.hypot(error, error2)[compared]
        deviation = (mean - mean2)[compared] / both
        peak = int(mean.argmax())
        self.check(
            f"{self.name}, g(O-H) with {case} and {other}",
            f"probability of such a difference by chance {chance:.3f}, chi^2/bin "
            f"{(deviation**2).mean():.2f} of {compared.sum()} bins; peak {mean[peak]:.3f} +- "
            f"{error[peak]:.3f} and {mean2[peak]:.3f} +- {error2[peak]:.3f}",
            not self.judged(case)
            or self.block_steps < LEAST_BLOCK_STEPS
            or chance >= LEAST_PROBABILITY / 10,
        )


def shifted_force_energy(grid, positions, charges, edges):
    """Of the sites of the MM molecules with all points nearer than the cutoff."""
    total = 0.0
    for position, charge in zip(positions, charges, strict=True):
        if charge == 0:
            continue
        vectors = near_sites.minimum_image(grid[:, :3] - position, edges)
        distance = np.maximum(np.linalg.norm(vectors, axis=1), 0.01)
        inside = distance < CUTOFF
        reciprocal = density_potential.inverse_distance(distance[None, inside], grid[inside, 4])[0]
        smooth = distance[inside] / CUTOFF**2 - 2 / CUTOFF
        total += charge * (grid[inside, 3] @ (reciprocal + smooth))
    return density_potential.COULOMB_CONSTANT * total


def compare_potentials(checks, name, grid, analytic, sites, distances, judged):
    random = np.random.default_rng(7)
    for low, high in BANDS:
        chosen = np.flatnonzero((distances >= low) & (distances < high))
        chosen = random.permutation(chosen)[:SITES_OF_BAND]
        error = density_potential.grid_potential(grid, sites[chosen])
        error -= analytic.potential(sites[chosen])
        limit = LARGEST_NEAR if low < 2.2 else LARGEST_FAR
        checks.check(
            f"{name}, {low} to {high} A",
            f"{error.mean():+.3f} +- {error.std():.3f} kJ/mol per e, largest "
            f"{np.abs(error).max():.2f}, of {len(error)} sites (at most {limit} +- {limit})",
            not judged or (abs(error.mean()) <= limit and error.std() <= limit),
        )
