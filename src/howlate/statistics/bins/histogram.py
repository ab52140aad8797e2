"""The log-linear histogram: 7 mantissa bits, so a bin is at most 0.8 % wide; merged by adding counts.

Values below 256 have a bin each; from there each power of two is cut into 128 equal bins. Negative values (an
early time stamp) are binned by their magnitude, mirrored. Source: HdrHistogram's layout; docs/statistics.md has the
tail's errors of sketches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from howlate.model.bins import Histogram
from howlate.statistics.describe import Int64s, ValueCounts

MANTISSA_BITS = 7
COMMON_OCTAVES = 4
"""The powers of two that are told apart by comparisons, which take a third of the time of a logarithm."""


def shifts(magnitudes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The number of bits by which each magnitude is shortened: its length minus MANTISSA_BITS + 1, at least
    0."""
    length = np.zeros(magnitudes.shape, np.uint64)
    rest = magnitudes.copy()
    for step in (32, 16, 8, 4, 2, 1):
        high = rest >= np.uint64(1 << step)
        length[high] += np.uint64(step)
        rest[high] >>= np.uint64(step)
    length += (magnitudes > 0).astype(np.uint64)
    keep = np.uint64(MANTISSA_BITS + 1)
    return np.where(length > keep, length - keep, np.uint64(0)).astype(np.uint64)


def shift_of(column: str, counts: ValueCounts) -> str:
    """By how many bits a value is shortened (its bit length minus 8, at least 0: that keeps 7 mantissa bits behind
    the leading one), as SQL; the most frequent powers of two first."""
    lengths = np.frexp(np.maximum(counts.values, 0).astype(np.float64))[1]
    octaves = [(int(counts.counts[lengths == n].sum()), int(n)) for n in np.unique(lengths) if 8 < n < 50]
    cases = " ".join(
        f"WHEN {column} >= {1 << (n - 1)} AND {column} < {1 << n} THEN {n - MANTISSA_BITS - 1}"
        for _, n in sorted(octaves, reverse=True)[:COMMON_OCTAVES]
    )
    rest = f"greatest(0, floor(log2(greatest(abs({column}::DOUBLE), 1)))::INTEGER - {MANTISSA_BITS})"
    return f"CASE {cases} ELSE {rest} END" if cases else rest


def bin_edges(values: Int64s) -> tuple[list[int], list[int]]:
    """Lower (inclusive) and upper (exclusive) edge of each value's bin."""
    negative = values < 0
    magnitudes = np.where(negative, ~values, values).astype(np.uint64)  # -1 mirrors 0
    shift = shifts(magnitudes)
    low = (magnitudes >> shift) << shift
    width = [1 << int(s) for s in shift]
    lower, upper = [], []
    for is_negative, start, size in zip(negative, low, width, strict=True):
        first = int(start)
        lower.append(-(first + size) if is_negative else first)
        upper.append(-first if is_negative else first + size)
    return lower, upper


def histogram(data: ValueCounts) -> Histogram:
    """All samples in log-linear bins; empty bins are left out, the counts sum to n."""
    if data.n == 0:
        return Histogram((), (), ())
    negative = data.values < 0
    magnitudes = np.where(negative, ~data.values, data.values).astype(np.uint64)
    shift = shifts(magnitudes)
    start = ((magnitudes >> shift) << shift).astype(np.int64)
    key = np.where(negative, ~start, start)
    first = np.concatenate(([0], np.flatnonzero(np.diff(key)) + 1))
    counts = np.add.reduceat(data.counts, first)
    lower, upper = bin_edges(data.values[first])
    return Histogram(tuple(lower), tuple(upper), tuple(int(count) for count in counts))
