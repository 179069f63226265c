"""Free energies and errors of a profile from made-up ensembles whose free energies are known.

usage: test_estimates.py PROGRAM [TEST ...]
"""

import contextlib
import dataclasses
import io
import os
import re
import sys

# Matrices are small: threads that wait for each other on busy cores take five times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from profile_case import np, program

sys.path.insert(0, str(program.REPOSITORY / "src/profile"))
import blocks
import estimates
import free_energy
import memory
import profile_files


def deviation(chains, frames, memory, slow, seed, common=0.0):
    """Free energy of the last of four oscillators, which is 0, over its error and over half its interval
    at 95 %. slow: what share of a
    coordinate's variance is remembered; the rest is new in every frame. common: the share of what never
    changes along a chain, and is the same in all images."""
    images, kept, kt = 4, np.exp(-1 / memory), 2.5
    centres = 1.2 * np.arange(images)
    rng = np.random.default_rng(seed)
    noise = rng.normal(0, np.sqrt(1 - kept**2), (frames, chains, images))
    x = np.empty((frames, chains, images))
    x[0] = rng.normal(0, 1, (chains, images))
    for k in range(1, frames):
        x[k] = kept * x[k - 1] + noise[k]
    x = np.sqrt(slow) * x + np.sqrt(1 - slow) * rng.normal(0, 1, x.shape)
    if common > 0:
        x = np.sqrt(1 - common) * x + np.sqrt(common) * rng.normal(0, 1, (chains, 1))
    found = []
    for own in range(images):
        energies = kt / 2 * (x[:, :, own, None] + centres[own] - centres) ** 2
        blocks = frames // 10 + 1
        series = [
            profile_files.Chain(
                1 + np.arange(frames), energies[:, chain] - energies[:, chain, own : own + 1],
                10 * np.arange(blocks), np.zeros(blocks), np.ones(blocks, bool),
            )
            for chain in range(chains)
        ]  # fmt: skip
        found.append(profile_files.Image(f"image-0{own + 1}", own, 0, 0, series, {}))
    result = estimates.estimate(profile_files.Profile("", "", 300, kt, found))
    return result.free_energy[-1] / np.array([result.error[-1], result.half_widths[0, -1]])


class Estimates(program.TestCase):
    def test_neighbours_without_overlap(self):
        """Two harmonic ensembles far from each other."""
        rng = np.random.default_rng(1)
        images = []
        for own, centre in enumerate((0.0, 60.0)):
            x = rng.normal(centre, 1, 400)
            energies = np.stack([x**2 / 2, (x - 60) ** 2 / 2], axis=1)
            chain = profile_files.Chain(
                1 + np.arange(400), energies - energies[:, own : own + 1], 10 * np.arange(41),
                np.zeros(41), np.ones(41, bool),
            )
            images.append(profile_files.Image(f"image-0{own + 1}", own, 0, 0, [chain], {}))
        profile = profile_files.Profile("", "", 300, 1.0, images)
        with self.assertRaisesRegex(profile_files.ProfileError, "image-01 and image-02.*overlap"):
            estimates.estimate(profile)

    def test_overlap_of_pairs(self):
        """Of many equal ensembles each has as many frames in common with the next as it can have,
        which the matrix of all does not show; nor do numbers of frames matter."""
        rng = np.random.default_rng(3)
        centres = np.append(np.zeros(40), 60.0)
        frames = []
        for own, centre in enumerate(centres):
            x = rng.normal(centre, 1, 100 if own % 2 else 300)
            energies = (x[:, None] - centres) ** 2 / 2
            frames.append([energies - energies[:, own : own + 1]])
        samples = estimates.Samples(frames, frames, None)
        found = estimates.pair_overlaps(samples, 1.0)
        np.testing.assert_allclose(found[:-1], 0.5, atol=1e-6)
        self.assertLess(found[-1], 1e-4)
        equal = [[chain[:, :40] for chain in chains] for chains in frames[:40]]
        matrix = estimates.mbar_of(equal, 1.0).compute_overlap()["matrix"]
        self.assertLess(np.diagonal(matrix, 1).min(), estimates.LEAST_OVERLAP)

    def test_overlap_of_pairs_with_unequal_numbers(self):
        """As of equal numbers: the integral of p q / (p + q)."""
        rng, distance = np.random.default_rng(6), 3.1
        x = np.linspace(-12, 15, 20001)
        p, q = (np.exp(-((x - c) ** 2) / 2) / np.sqrt(2 * np.pi) for c in (0, distance))
        expected = np.sum(p * q / np.maximum(p + q, 1e-300)) * (x[1] - x[0])
        for counts in ((4000, 4000), (20000, 1000), (1000, 20000)):
            frames = []
            for own, centre in enumerate((0, distance)):
                at = rng.normal(centre, 1, counts[own])
                energies = (at[:, None] - np.array([0, distance])) ** 2 / 2
                frames.append([energies - energies[:, own : own + 1]])
            (found,) = estimates.pair_overlaps(estimates.Samples(frames, frames, None), 1.0)
            print(f"{counts}: {found:.4f}, expected {expected:.4f}")
            self.assertLess(abs(found / expected - 1), 0.1)

    def test_production_starts_in_the_sampled_ensemble(self):
        """Which the first blocks have to forget: D/kT is normal there, and has a mean below 0 in the
        true one. With none left out but the start the step would be 0.023 too large."""
        rng, chains, blocks, kt, width = np.random.default_rng(7), 8000, 24, 2.0, 0.7
        differences, accepted = width * rng.normal(size=(1, chains)), [np.ones(chains, bool)]
        here = differences[0]
        for _ in range(blocks):  # longer than the memory
            proposed = width * rng.normal(size=chains)
            accepted.append(np.log(rng.random(chains)) < here - proposed)
            differences = np.vstack([differences, proposed])
            here = np.where(accepted[-1], proposed, here)
        made = [
            profile_files.Chain(
                np.arange(1), np.zeros((1, 1)), np.arange(blocks + 1), kt * differences[:, one],
                np.array(accepted)[:, one],
            )
            for one in range(chains)
        ]  # fmt: skip
        (step,) = steps_of([profile_files.Image("image-01", 0, 0, 0, made, {})], kt)
        found, error, expected = step.energy / kt, step.error / kt, -(width**2) / 2
        print(f"{found} +- {error}, expected {expected}")
        self.assertLess(error, 0.005)
        self.assertLess(abs(found - expected), 3.5 * error)

    def test_blocks_that_do_not_forget_their_start(self):
        """Of few blocks of low acceptance a quarter is no end of the sampled ensemble: the image counts
        among those that need more steps, as many independent samples as it may have."""
        biased = []
        for steepness, count in ((0.1, 12), (2.0, 12), (2.0, 400)):
            rng = np.random.default_rng(3)
            images = tilted_images(rng, steepness, 1.0, images=2, chains=16, blocks=count)
            for step in steps_of(images, 1.0):
                print(f"{count} blocks, {step.acceptance:.2f} of them accepted: {step.remembers_start}")
                self.assertEqual(step.acceptance < 0.6, steepness > 1)
                biased.append(step.remembers_start)
        self.assertEqual(biased, [False, False, True, True, False, False])
        never = tilted_images(np.random.default_rng(3), 2.0, 1.0, images=1, chains=2, blocks=12)[0]
        for chain in never.chains:
            chain.accepted[1:] = False
        (begun,) = blocks.beginnings([never], 1.0)
        self.assertEqual((begun.left_out, begun.remembered), (1, True))

    def test_slow_differences(self):
        """The solvent remembers for longer than a block. Nearly all blocks are accepted, however much true
        and sampled energy differ, and production's start in the sampled ensemble makes the step too
        large: by 0.7 of its error in these chains, with no more left out than two accepted blocks."""
        kt, sizes = 2.5, {"images": 5, "chains": 8, "kept": 0.95, "width": 1.5}
        found = []
        for seed in range(24):
            images = slow_images(np.random.default_rng(seed), kt, blocks=300, **sizes)
            for step, begun in zip(steps_of(images, kt), blocks.beginnings(images, kt), strict=True):
                self.assertGreater(step.acceptance, 0.7)
                found.append(
                    (step.energy / kt + 1.5**2 / 2, step.error / kt, begun.left_out, begun.remembered)
                )
        bias, error, left_out, remembered = np.mean(found, axis=0)
        within = np.mean([abs(one[0]) < one[1] for one in found])
        print(f"off by {bias:.3f} of {error:.3f} kT, {within:.2f} within, {left_out} blocks, {remembered}")
        self.assertLess(abs(bias), 0.3 * error)
        self.assertGreater(within, 0.5)
        self.assertLess(remembered, 0.5)
        remembered = [
            begun.remembered
            for seed in range(6)
            for begun in blocks.beginnings(
                slow_images(np.random.default_rng(seed), kt, blocks=60, **sizes), kt
            )
        ]
        self.assertGreater(np.mean(remembered), 0.9)

    def test_what_is_fast_or_small_loses_nothing(self):
        """As many blocks are left out as it takes to accept two, where the solvent forgets within a block
        and where true and sampled energy are so alike that their start does not matter."""
        for kept, width in ((0.0, 0.3), (0.0, 1.0), (0.9, 0.1)):
            images = slow_images(np.random.default_rng(2), 2.5, 4, 4, 200, kept, width)
            for image, begun in zip(images, blocks.beginnings(images, 2.5), strict=True):
                self.assertEqual(begun.left_out, 1 + np.ceil(2 / blocks.block_acceptance(image)))
                self.assertFalse(begun.remembered)

    def test_few_samples_by_chance(self):
        """Eight independent samples of an image: those whose memory seems shorter are told all the same."""
        few = surely = count = 0
        for seed in range(60):
            images = slow_images(np.random.default_rng(seed), 2.5, 2, 4, 40, 0.9, 0.5)
            for step in steps_of(images, 2.5):
                count += 1
                few += step.samples < estimates.FEW_SAMPLES
                surely += step.at_least < estimates.FEW_SAMPLES
        print(f"of {count}: {few} by what the memory seems to be, {surely} by what it may be")
        self.assertGreater(surely, 0.95 * count)
        images = slow_images(np.random.default_rng(1), 2.5, 2, 4, 40, 0.0, 0.5)
        for step in steps_of(images, 2.5):
            self.assertGreater(step.at_least, 1.5 * estimates.FEW_SAMPLES)

    def test_it_is_said(self):
        images = [profile_files.Image(f"image-0{k}", 0, 0, 0, [], {}) for k in range(1, 6)]
        steps = [
            blocks.Step(0.0, 0.1, 90.0, 0.3, remembers_start=True), blocks.Step(0.0, 0.1, 90.0),
            blocks.Step(0.0, 1.4, 90.0, too_wide=True), blocks.Step(0.0, 0.1, 90.0),
        ]  # fmt: skip
        found = estimates.Estimate(
            free_energy=None, error=None, between_errors=None, half_widths=None, sampled=None,
            steps=steps, neighbours=None, overlap=None, pair_overlap=[0.4],
            samples=np.array([50, 24, 60, 60]), at_least=np.array([50, 19, 60, 60]), frames=[],
        )  # fmt: skip
        self.assertEqual((found.biased_steps(), found.few_samples(), found.wide_steps()), ([0], [1], [2]))
        self.assertEqual(found.in_want(), [0, 1, 2])
        with contextlib.redirect_stderr(io.StringIO()) as said:
            free_energy.warn(profile_files.Profile("", "", 300, 2.5, images), found, 0.1, 20)
        for words in ("image 1 do not forget", "30 %", "fewer than 20 .*of image 2", "image 3 .*1.40"):
            self.assertRegex(said.getvalue(), words)
        self.assertEqual(said.getvalue().count("warning"), 3)
        found = dataclasses.replace(found, between_chains=False)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            free_energy.warn(profile_files.Profile("", "", 300, 2.5, images), found, 0.1, 20)
        self.assertRegex(said.getvalue(), "fewer than four chains.*sampling.chains")
        self.assertEqual(said.getvalue().count("warning"), 4)
        for per_sample, told in (([1.2, 1.0, 1.5, 3.0, 1.7], True), ([1.2, 1.0, 2.5, 3.0, 2.0], False)):
            found = dataclasses.replace(found, frames_per_sample=np.array(per_sample))
            with contextlib.redirect_stderr(io.StringIO()) as said:
                free_energy.warn(profile_files.Profile("", "", 300, 2.5, images), found, 0.1, 20)
            words = r"frames of image 1, 2, 3, 5 are independent.*output\.trajectory-interval"
            self.assertEqual(bool(re.search(words, said.getvalue())), told, said.getvalue())

    def test_frames_far_between(self):
        """An oscillator's frames that remember the last twenty, and every hundredth of them."""
        for apart, found in ((1, []), (100, [0, 1])):
            images = harmonic_images(np.array([1.0, 1.3]), 100, 100)
            for image in images:
                chain = image.chains[0]
                image.chains = [dataclasses.replace(
                    chain, steps=chain.steps[apart - 1 :: apart],
                    differences=chain.differences[apart - 1 :: apart],
                    block_differences=np.zeros(101), accepted=np.ones(101, bool),
                )]  # fmt: skip
            estimate = estimates.estimate(profile_files.Profile("", "", 300, 2.0, images))
            self.assertEqual(estimate.far_between(), found, estimate.frames_per_sample)

    def test_frames_of_the_first_blocks(self):
        """Profiles by eight chains of ten blocks, true less sampled energy linear in the coordinate: the
        free energy of two oscillators beside each other is 0. With all frames as of starts in the true
        ensemble it would be 0.2 kT too low."""
        kt, found, accepted = 2.0, [], []
        for seed in range(120):
            images = tilted_images(np.random.default_rng(seed), 0.95, kt, 2, chains=8, blocks=10)
            accepted += [chain.accepted[1:].mean() for image in images for chain in image.chains]
            found.append(estimates.solve(samples_of(images, kt), kt)[0][1] / kt)
        self.assertLess(abs(np.mean(accepted) - 0.65), 0.03)
        mean, error = np.mean(found), np.std(found) / np.sqrt(len(found))
        said = f"{mean} +- {error} kT, expected 0"
        print(said)
        self.assertLess(error, 0.04, said)
        self.assertLess(abs(mean), 3 * error, said)

    def test_frames_that_are_left_out(self):
        """The same blocks of each chain, whatever it has accepted; those of the first block are as many as
        there are."""
        (image,) = tilted_images(np.random.default_rng(9), 0.95, 1.0, images=1, chains=8, blocks=12)
        image.chains[3].accepted[1:] = False
        first = blocks.beginnings([image], 1.0)[0].left_out
        self.assertEqual(first, 4)
        kept = 0
        for chain, one in zip(image.chains, blocks.sampled_ensemble(image, 1.0, first), strict=True):
            block = 1 + one.frames // 20
            self.assertFalse(np.isin(block, [2, 3, 4]).any())
            np.testing.assert_array_equal(one.frames[block == 1], np.arange(20))
            kept += len(one.frames)
            self.assertEqual(blocks.states_between(chain, first) > 0, chain is not image.chains[3])
        self.assertLess(abs(kept - 8 * 9 * 20), 4)
        for chain in image.chains:
            middle = (chain.steps > 20) & (chain.steps <= 80)
            chain.steps, chain.differences = chain.steps[middle], chain.differences[middle]
        with self.assertRaisesRegex(profile_files.ProfileError, "(?s)image-01.*trajectory-interval"):
            blocks.sampled_ensemble(image, 1.0, first)

    def test_mbar_is_solved_whatever_the_energies(self):
        """Offsets of images from 1 to 100 kT, few frames and many: pymbar's default solver fails for one
        in three of these."""
        deviations = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            images = rng.integers(3, 9)
            centres = np.cumsum(rng.uniform(0, 0.8, images))
            offsets = np.cumsum(rng.normal(0, 1, images) * 10 ** rng.uniform(0, 2))
            counts = rng.integers(40, 400, images)
            own = np.repeat(np.arange(images), counts)
            x = rng.normal(centres[own], 1)
            energies = (x - centres[:, None]) ** 2 / 2 + offsets[:, None]
            found = estimates.differences_of(
                estimates.mbar(energies - energies[own, np.arange(len(x))], counts)
            )
            expected = offsets - offsets[0]
            deviations.append(((found["Delta_f"][0] - expected)[1:] / found["dDelta_f"][0][1:])[-1])
        ratio = np.sqrt(np.mean(np.square(deviations)))
        print(f"deviations are {ratio:.2f} of the errors")
        self.assertLess(ratio, 1.4)  # 40 give 1.0 +- 0.11
        self.assertGreater(ratio, 0.7)

    def test_frames_of_huge_energies(self):
        """Atoms overlap with the solvent in the next image. Without an error of each step between
        neighbours nobody would know which images need more steps."""
        images = harmonic_images([1.0, 1.5], 400, 5)
        chain = images[0].chains[0]
        chain.differences[::7, 1] = 1e6
        found = estimates.estimate(profile_files.Profile("", "", 300, 2.0, images))
        self.assertTrue(np.isfinite(found.neighbours).all(), found.neighbours)
        self.assertGreater(len(found.most_of_the_error()), 0)

    def test_errors_of_bar(self):
        """As pymbar's, which are no numbers where an energy is huge."""
        rng = np.random.default_rng(6)
        for width in (0.1, 1.0, 3.0):
            forward, backward = (
                width**2 / 2 + width * rng.normal(size=count) + offset
                for count, offset in ((300, 40), (200, -40))
            )
            for large, huge in ((100, 100), (400, 1e6)):
                known = estimates.bar(np.append(forward, large), backward)
                error = estimates.error_of_bar(
                    np.append(forward, huge), backward, known["Delta_f"]
                )
                self.assertAlmostEqual(error / known["dDelta_f"], 1, 6)
        self.assertLess(estimates.error_of_bar(np.zeros(7), np.zeros(3), 0), 1e-6)

    def test_harmonic_ensembles(self):
        """Free energies -kT/2 ln(1/k); differences of true and sampled energy that are known."""
        rng = np.random.default_rng(2)
        constants, kt, count = np.array([1.0, 1.5, 2.2]), 2.0, 20000
        images = []
        for own, constant in enumerate(constants):
            x = rng.normal(0, np.sqrt(kt / constant), count)
            energies = constants * x[:, None] ** 2 / 2
            # The true Hamiltonian has 1.2 times the constant; its samples are at the block ends.
            ends = rng.normal(0, np.sqrt(kt / (1.2 * constant)), count)
            chain = profile_files.Chain(
                1 + np.arange(count), energies - energies[:, own : own + 1], np.arange(count + 1),
                own + 0.2 * constant * np.append(0, ends) ** 2 / 2, np.ones(count + 1, bool),
            )
            images.append(profile_files.Image(f"image-0{own + 1}", own, 0, 0, [chain], {}))
        found = estimates.estimate(profile_files.Profile("", "", 300, kt, images))
        sampled = kt / 2 * np.log(constants / constants[0])
        np.testing.assert_allclose(found.sampled, sampled, atol=0.04)
        np.testing.assert_allclose(found.free_energy, sampled + np.arange(3), atol=0.06)
        steps = [step.energy for step in found.steps]
        np.testing.assert_allclose(steps, np.arange(3) + kt / 2 * np.log(1.2), atol=0.04)
        np.testing.assert_allclose(found.neighbours[:, 0], np.diff(sampled), atol=0.04)
        self.assertLess(found.error[1:].max(), 0.05)

    def test_blocks_shorter_than_memory(self):
        """Their frames are nearer to the true ensemble than to the sampled one, from which BAR would
        take them without their weights. Moves that preserve the sampled ensemble, and the test at
        the ends of blocks, as the program does it."""
        constants, kt, blocks, length = np.array([1.0, 1.6]), 2.0, 45000, 4
        images = harmonic_images(constants, blocks, length, kt)
        found = estimates.estimate(profile_files.Profile("", "", 300, kt, images))
        sampled = kt / 2 * np.log(constants[1] / constants[0])
        expected = kt / 2 * np.log(constants[1] * TRUE[1] / (constants[0] * TRUE[0]))
        said = f"{found.sampled[1]}, {found.free_energy[1]} +- {found.error[1]}, expected {expected}"
        print(said)
        self.assertLess(found.error[1], 0.03, said)
        self.assertLess(abs(found.sampled[1] - sampled) / found.error[1], 3.5, said)
        self.assertLess(abs(found.free_energy[1] - expected) / found.error[1], 3.5, said)
        # What the weights are for: without them the same frames are wrong by far more.
        for image in images:
            image.chains[0].block_differences = np.zeros(blocks + 1)
        unweighted = estimates.estimate(profile_files.Profile("", "", 300, kt, images)).sampled[1]
        print(f"without weights: {unweighted}, expected {sampled}")
        self.assertGreater(abs(unweighted - sampled), 5 * found.error[1])

    def test_memory(self):
        """Of an autoregressive series, short and long, and of one that few huge energies hide."""
        kept, rng = np.exp(-1 / 15), np.random.default_rng(4)
        expected = (1 + kept) / (1 - kept)
        for length, tolerance in ((600, 0.2), (3000, 0.07)):
            series = np.zeros((length, 200))
            series[0] = rng.normal(0, 1, 200) / np.sqrt(1 - kept**2)
            for k in range(1, length):
                series[k] = kept * series[k - 1] + rng.normal(0, 1, 200)
            found = np.median([estimates.inefficiency([one]) for one in series.T])
            print(f"{length} frames: {found:.1f}, expected {expected:.1f}")
            self.assertLess(abs(found / expected - 1), tolerance)
        energies = np.exp(np.exp(series[:, :1] / 2))  # kJ/mol, under the other image
        self.assertLess(estimates.inefficiency([energies[:, 0]]), expected / 3)
        both = np.concatenate([np.zeros_like(energies), energies], axis=1)
        self.assertGreater(estimates.memories([[both]])[0][0], 0.6 * expected)

    def test_common_memory(self):
        """Of many short series, whose own means hide a part of it, and which scatter by themselves."""
        kept, rng = np.exp(-1 / 15), np.random.default_rng(5)
        for chains, length in ((1, 200), (4, 60)):
            lags = np.arange(1, length)
            expected, found = 1 + 2 * np.sum((1 - lags / length) * kept**lags), []
            for _ in range(40):
                series = np.zeros((length, 8, chains))
                series[0] = rng.normal(0, 1, (8, chains)) / np.sqrt(1 - kept**2)
                for k in range(1, length):
                    series[k] = kept * series[k - 1] + rng.normal(0, 1, (8, chains))
                images = [list(one.T) for one in series.transpose(1, 0, 2)]
                found.append(memory.common_inefficiency(images))
            said = f"{chains} of {length}: {np.mean(found):.1f} +- {np.std(found):.1f}, {expected:.1f}"
            print(said)
            self.assertLess(abs(np.mean(found) / expected - 1), 0.15, said)
        self.assertEqual(memory.common_inefficiency([[np.ones(30)], [np.ones(20)]]), 1)

    def test_errors_cover(self):
        """Of many short profiles of oscillators beside each other, whose free energies are 0: by one
        chain, and by many that are hardly longer than what they remember."""
        within = []
        for chains, frames, remembered, slow in (
            (1, 600, 10, 1.0), (1, 120, 9, 0.55), (16, 60, 10, 1.0), (16, 60, 40, 1.0)
        ):  # fmt: skip
            found = [deviation(chains, frames, remembered, slow, seed) for seed in range(60)]
            of_errors, of_intervals = np.transpose(found)
            ratio = np.sqrt(np.mean(of_errors**2))
            said = f"{chains} chains of {frames} frames: deviations are {ratio:.2f} of the errors"
            print(said)
            self.assertLess(ratio, 1.2, said)  # 60 give 1.0 +- 0.09
            self.assertGreater(ratio, 0.75, said)
            within += list(np.abs(of_intervals) < 1)
        print(f"{np.mean(within):.3f} within 95 %")
        self.assertLess(abs(np.mean(within) - 0.95), 0.045)  # three standard deviations

    def test_errors_cover_what_chains_have_in_common(self):
        """Each chain's images begin where the one before has ended. By the errors of the images alone the
        deviation would be 1.9 of them."""
        found = [deviation(16, 100, 3, 1.0, seed, common=0.3)[0] for seed in range(60)]
        ratio = np.sqrt(np.mean(np.square(found)))
        said = f"deviations are {ratio:.2f} of the errors"
        print(said)
        self.assertLess(ratio, 1.2, said)  # 60 give 1.0 +- 0.09
        self.assertGreater(ratio, 0.75, said)

    def test_intervals_of_few_samples(self):
        """Of steps to the true Hamiltonian by as many chains of one block: 68 % of them are off by less
        than the error, and 95 % by less than what belongs to it. 1.96 errors would hold 88 % of three."""
        rng, kt, repeats = np.random.default_rng(11), 2.0, 4000
        for chains in (3, 5, 20):
            found = []
            for differences in 0.02 * kt * rng.normal(size=(repeats, chains)):
                made = [
                    profile_files.Chain(
                        np.arange(1), np.zeros((1, 1)), np.arange(2), np.array([0.0, one]),
                        np.ones(2, bool),
                    )
                    for one in differences
                ]  # fmt: skip
                image = profile_files.Image("image-01", 0, 0, 0, made, {})
                (step,) = steps_of([image], kt)
                self.assertEqual(step.samples, chains)
                found.append((step.energy - 0.02**2 * kt / 2) / step.error)
            for width, expected in ((1, 0.683), (memory.to_95(chains), 0.95)):
                share = np.mean(np.abs(found) < width)
                print(f"{chains} samples: {share:.3f} within {width:.2f} errors, expected {expected}")
                allowed = 4 * np.sqrt(expected * (1 - expected) / repeats)
                self.assertLess(abs(share - expected), allowed)

    def test_intervals_of_differences(self):
        """Each part has its own degrees of freedom; what the chains tell, one less than chains, of the image
        with fewest where they are not as many of each."""
        images = tilted_images(np.random.default_rng(12), 0.3, 2.0, images=2, chains=5, blocks=40)
        begun = blocks.beginnings(images, 2.0)
        samples = estimates.samples_of(images, 2.0, begun)
        steps = [blocks.Step(0.0, error, number) for error, number in ((0.4, 3), (0.2, 9))]
        fewest = estimates.chosen_frames(samples.independent)[1].min()
        for sampled in (0.3, 0.0):
            matrix = sampled * (1 - np.eye(2))
            _, found = estimates.errors_of(images, samples, matrix, begun, steps, 2.0)
            parts = ((0.4, 3), (0.2, 9), (sampled, fewest))
            expected = np.sqrt(sum((one * memory.to_95(number)) ** 2 for one, number in parts))
            self.assertAlmostEqual(found[0, 1], expected)
            self.assertEqual(found[0, 0], 0)
        alike = [blocks.Step(0.0, 0.0, 9)] * 2
        for chains, ratio in ((5, 2.7764 / 1.1417), (4, 3.1824 / 1.1969)):
            images[1].chains = images[1].chains[:chains]
            samples = estimates.samples_of(images, 2.0, begun)
            errors, found = estimates.errors_of(images, samples, np.zeros((2, 2)), begun, alike, 2.0)
            self.assertGreater(errors[0, 1], 0)
            self.assertAlmostEqual(found[0, 1] / errors[0, 1], ratio, places=3)

    def test_parts(self):
        """Chains, or segments of fewer; in frames and in ends of blocks between the same blocks; and
        none where they would be too short."""
        for chains, count, segments in ((5, 40, 1), (2, 200, 6), (1, 200, 12), (1, 12, 0)):
            images = tilted_images(np.random.default_rng(13), 0.3, 2.0, 2, chains=chains, blocks=count)
            begun = blocks.beginnings(images, 2.0)
            samples = estimates.samples_of(images, 2.0, begun)
            parts = estimates.parts_of(images, samples, begun, estimates.steps_to_truth(images, 2.0, begun))
            self.assertEqual(parts.count, segments * chains)
            if segments == 0:
                continue
            for number, one in enumerate(begun):
                of_ends = np.concatenate(parts.of_ends[number])
                np.testing.assert_array_equal(np.unique(of_ends), np.arange(parts.count))
                self.assertLess(np.ptp(np.bincount(of_ends)), 2)
                for starts, frames, ends in zip(
                    samples.starts[number], parts.of_frames[number], parts.of_ends[number], strict=True
                ):
                    kept = starts >= one.left_out
                    np.testing.assert_array_equal(frames[kept], ends[starts[kept] - one.left_out])
                    self.assertEqual(set(frames[~kept]) - {ends[0]}, set())

    def test_errors_cover_what_frames_and_blocks_have_in_common(self):
        """True less sampled energy is linear in the coordinate, with opposite slopes in the two images: the
        weights of frames, and so the sampled free energy, are off by the same as the step. The free
        energies are the same. As of independent parts the deviation would be 1.4 of the error."""
        slopes, found = np.array([[0.7], [-0.7]]), []
        for seed in range(40):
            images = tilted_images(np.random.default_rng(seed), slopes, 2.0, 2, 2, 200, length=10)
            result = estimates.estimate(profile_files.Profile("", "", 300, 2.0, images))
            found.append(result.free_energy[1] / result.error[1])
        ratio = np.sqrt(np.mean(np.square(found)))
        said = f"deviations are {ratio:.2f} of the errors"
        print(said)
        self.assertLess(ratio, 1.2, said)
        self.assertGreater(ratio, 0.75, said)

    def test_too_few_blocks(self):
        images = harmonic_images(np.array([1.0, 1.1]), 2, 50)
        with self.assertRaisesRegex(profile_files.ProfileError, "(?s)image-01.*blocks.*qm.interval"):
            estimates.estimate(profile_files.Profile("", "", 300, 2.0, images))

    def test_no_block_accepted(self):
        """Where chains started tells nothing of the true ensemble, however many they are."""
        images = tilted_images(np.random.default_rng(10), 0.95, 2.0, images=2, chains=8, blocks=12)
        for chain in images[1].chains:
            chain.accepted[1:] = False
        with self.assertRaisesRegex(profile_files.ProfileError, "(?s)image-02.*worth 0.0 indep"):
            estimates.estimate(profile_files.Profile("", "", 300, 2.0, images))


def steps_of(images, kt):
    return estimates.steps_to_truth(images, kt, blocks.beginnings(images, kt))


def samples_of(images, kt):
    return estimates.samples_of(images, kt, blocks.beginnings(images, kt))


def slow_images(rng, kt, images, chains, blocks, kept, width):
    """D is normal in the sampled ensemble, `width` kT wide, and of it `kept` is left after a block: the
    step is -width^2/2 kT."""
    here = width * rng.normal(size=(images, chains))
    differences, accepted = [here], [np.ones_like(here, bool)]
    for _ in range(blocks):
        proposed = kept * here + np.sqrt(1 - kept**2) * width * rng.normal(size=here.shape)
        accepted.append(np.log(rng.random(here.shape)) < here - proposed)
        differences.append(proposed)
        here = np.where(accepted[-1], proposed, here)
    differences, accepted = kt * np.array(differences), np.array(accepted)
    return [
        profile_files.Image(f"image-0{own + 1}", own, 0, 0, [
            profile_files.Chain(
                np.arange(1), np.zeros((1, 1)), np.arange(blocks + 1), differences[:, own, one],
                accepted[:, own, one],
            )
            for one in range(chains)
        ], {})
        for own in range(images)
    ]  # fmt: skip


def tilted_images(rng, tilt, kt, images, chains, blocks, length=20):
    """Oscillators beside each other, whose true energy is tilt kT x above the sampled one; chains begin in
    the sampled ensemble. Frames remember 20 others."""
    memory, centres = np.exp(-1 / 20), 1.2 * np.arange(images)
    x = rng.normal(size=(images, chains))
    positions, differences, accepted = [], [tilt * kt * x], [np.ones_like(x, bool)]
    for _ in range(blocks):
        y = x
        for _ in range(length):
            y = memory * y + np.sqrt(1 - memory**2) * rng.normal(size=x.shape)
            positions.append(y)
        differences.append(tilt * kt * y)
        accepted.append(np.log(rng.random(x.shape)) < -tilt * (y - x))
        x = np.where(accepted[-1], y, x)
    positions, differences, accepted = map(np.array, (positions, differences, accepted))
    found = []
    for own in range(images):
        energies = kt / 2 * (positions[:, own, :, None] + centres[own] - centres) ** 2
        made = [
            profile_files.Chain(
                1 + np.arange(blocks * length), energies[:, one] - energies[:, one, own : own + 1],
                length * np.arange(blocks + 1), differences[:, own, one], accepted[:, own, one],
            )
            for one in range(chains)
        ]  # fmt: skip
        found.append(profile_files.Image(f"image-0{own + 1}", own, 0, 0, made, {}))
    return found


TRUE = (2.0, 0.8)  # constants of the true Hamiltonians in those of the sampled ones


def harmonic_images(constants, blocks, length, kt=2.0):
    return [
        profile_files.Image(f"image-0{own + 1}", own, 0, 0, [harmonic_chain(
            constants, own, kt, blocks, length, np.random.default_rng(own))], {})
        for own in range(len(constants))
    ]  # fmt: skip


def harmonic_chain(constants, own, kt, blocks, length, rng):
    """A chain of the exact ensemble of an oscillator, whose frames remember 20 others."""
    memory = np.exp(-1 / 20)
    width = np.sqrt(kt / constants[own])

    def difference(x):
        return (TRUE[own] - 1) * constants[own] * x * x / 2

    x = rng.normal(0, np.sqrt(kt / (TRUE[own] * constants[own])))
    positions, differences, accepted = [], [difference(x)], [True]
    noise = rng.normal(0, width * np.sqrt(1 - memory**2), (blocks, length))
    for kicks, u in zip(noise, rng.random(blocks), strict=True):
        y = x
        for kick in kicks:
            y = memory * y + kick
            positions.append(y)
        differences.append(difference(y))
        accepted.append(bool(np.log(u) < -(difference(y) - difference(x)) / kt))
        x = y if accepted[-1] else x
    energies = constants * np.array(positions)[:, None] ** 2 / 2
    return profile_files.Chain(
        1 + np.arange(blocks * length), energies - energies[:, own : own + 1],
        length * np.arange(blocks + 1), np.array(differences), np.array(accepted),
    )  # fmt: skip


if __name__ == "__main__":
    program.main()
