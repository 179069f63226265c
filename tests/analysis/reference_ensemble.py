"""Prints the figures that ensemble_test.cpp compares with, by NumPy from the whole series."""

import numpy as np


def series(chain: int, samples: int) -> np.ndarray:
    """Running means over 16 uniform numbers: correlated, and the same bits in any language."""
    raw = np.empty(samples + 15)
    value = 12345 + 1000003 * chain
    for i in range(len(raw)):
        value = (1103515245 * value + 12345) % 2**31
        raw[i] = value / 2.0**31
    windows = np.lib.stride_tricks.sliding_window_view(raw, 16)
    return windows.mean(axis=1) + 0.1 * chain - 1000


def block_error(x: np.ndarray) -> tuple[float, int]:
    """Error at the first block length on the plateau, and the number of blocks."""
    for exponent in range(64):
        length = 2**exponent
        blocks = x[: len(x) // length * length].reshape(-1, length).mean(axis=1)
        error = blocks.std(ddof=1) / np.sqrt(len(blocks))
        if exponent == 0:
            uncorrelated = error
        if length**3 > 2 * len(x) * (error / uncorrelated) ** 4:
            return error, len(blocks)
    raise ValueError("no plateau")


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
    for lengths in ([4096, 4096, 4096], [5000, 3001, 4100, 2000]):
        chains = [series(chain, samples) for chain, samples in enumerate(lengths)]
        n = np.array(lengths)
        errors, blocks = np.array([block_error(x) for x in chains]).T
        mean = np.concatenate(chains).mean()
        means = np.array([x.mean() for x in chains])
        from_blocks = np.sqrt(((n * errors) ** 2).sum()) / n.sum()
        between = np.sqrt((n * (means - mean) ** 2).sum() / (len(n) - 1) / n.sum())
        if len(set(lengths)) == 1:
            assert np.isclose(between, means.std(ddof=1) / np.sqrt(len(n)), rtol=1e-13)
        halves = [half for x in chains for half in (x[: len(x) // 2], x[len(x) // 2 :])]
        figures = (float(figure) for figure in (mean, from_blocks, between, r_hat(halves)))
        print(*figures, int((blocks - 1).sum()))


if __name__ == "__main__":
    main()
