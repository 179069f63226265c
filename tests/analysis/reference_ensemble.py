"""Prints the figures that ensemble_test.cpp compares with, by NumPy from the whole series."""

import numpy as np
import scipy.stats


def series(chain: int, samples: int, offset: float) -> np.ndarray:
    """Running means over 16 uniform numbers: correlated, and the same bits in any language."""
    raw = np.empty(samples + 15)
    value = 12345 + 1000003 * chain
    for i in range(len(raw)):
        value = (1103515245 * value + 12345) % 2**31
        raw[i] = value / 2.0**31
    windows = np.lib.stride_tricks.sliding_window_view(raw, 16)
    return windows.mean(axis=1) + offset * chain - 1000


def standard_error(x: np.ndarray) -> tuple[float, float]:
    """By Sokal's automatic window on 256 to 511 blocks, and the degrees of freedom."""
    length = 1
    while len(x) // length >= 512:
        length *= 2
    blocks = x[: len(x) // length * length].reshape(-1, length).mean(axis=1)
    n = len(blocks)
    d = blocks - blocks.mean()
    total = d @ d / n
    for window in range(1, n // 3 + 1):
        total += 2 * (d[window:] @ d[:-window]) / (n - window)
        # Each covariance lacks total / n: solved by fixed-point iteration.
        corrected = total
        for _ in range(1000):
            corrected = total + (2 * window + 1) * corrected / n
        variance = d @ d / n + corrected / n
        if window >= 5 * corrected / (2 * variance):
            corrected = max(corrected, variance)
            assert corrected * length > x.var(ddof=1)
            return np.sqrt(corrected / n * (n * length / len(x))), n / (2 * window + 1)
    raise ValueError("no window")


def student(freedom: float) -> float:
    return scipy.stats.t.ppf(scipy.stats.norm.cdf(1), freedom)


def r_hat_equal_lengths(parts: list[np.ndarray]) -> float:
    """As printed in BDA3, section 11.4."""
    n = len(parts[0])
    within = np.mean([part.var(ddof=1) for part in parts])
    between = n * np.var([part.mean() for part in parts], ddof=1)
    return np.sqrt(((n - 1) / n * within + between / n) / within)


def r_hat(parts: list[np.ndarray]) -> float:
    n = np.array([len(part) for part in parts])
    means = np.array([part.mean() for part in parts])
    number, total = len(parts), n.sum()
    within = sum(((part - part.mean()) ** 2).sum() for part in parts) / (total - number)
    between = (n * (means - np.concatenate(parts).mean()) ** 2).sum() / (number - 1)
    length = (total - (n**2).sum() / total) / (number - 1)
    result = np.sqrt((length - 1) / length + between / length / within)
    if len(set(n)) == 1:
        assert np.isclose(result, r_hat_equal_lengths(parts), rtol=1e-13)
    return result


def main() -> None:
    for lengths, offset in (
        ([4096, 4096, 4096], 0.1),
        ([5000, 3001, 4100, 2000], 0.1),
        ([4096, 4096, 4096], 0.002),
        ([5000, 3001, 4100, 2000], 0.002),
    ):
        chains = [series(chain, samples, offset) for chain, samples in enumerate(lengths)]
        n = np.array(lengths)
        errors, freedom = np.array([standard_error(x) for x in chains]).T
        mean = np.concatenate(chains).mean()
        means = np.array([x.mean() for x in chains])
        share = n / n.sum()
        within = (share * errors) ** 2
        within_freedom = within.sum() ** 2 / (within**2 / freedom).sum()
        between = np.sqrt((n * (means - mean) ** 2).sum() / (len(n) - 1) / n.sum())
        if len(set(lengths)) == 1:
            assert np.isclose(between, means.std(ddof=1) / np.sqrt(len(n)), rtol=1e-13)
        expected = n * (1 - share) * errors**2
        f = (n * (means - mean) ** 2).sum() / expected.sum()
        below = expected.sum() ** 2 / (expected**2 / freedom).sum()
        halves = [half for x in chains for half in (x[: len(x) // 2], x[len(x) // 2 :])]
        figures = (
            mean,
            student(within_freedom) * np.sqrt(within.sum()),
            student(len(n) - 1) * between,
            scipy.stats.f.sf(f, len(n) - 1, below),
            r_hat(halves),
            within_freedom,
        )
        print(*(float(figure) for figure in figures))


if __name__ == "__main__":
    main()
