"""Whether one sample makes a column's maximum and its deviation (docs/statistics.md, "One sample alone").

Such a sample may be a start, or a stall that came once. Without it both figures differ, and n more samples
would shrink the deviation although nothing became steadier.
"""

from __future__ import annotations

import math

from howlate.model.summary import LargestAlone

FEWEST = 10
"""With fewer samples the largest always makes much of the deviation."""
SHARE = 0.5
"""The deviation without the largest sample is below this share of the deviation with it."""

MARGIN = 1.1
"""If the maximum is less than this factor above the next largest value, it does not depend on that one
sample."""


def stddev_without(value: float, n: int, mean: float, stddev: float) -> float:
    """The sample's standard deviation of n samples after one of them, `value`, is taken away; n is 3 at least.

    From the moments alone: taking x away from n samples lowers the sum of squares about the mean, (n - 1) s^2, by
    n / (n - 1) * (x - mean)^2. (Welford 1962, the update of a sum of squares, read backwards.)
    """
    squares = (n - 1) * stddev**2 - n / (n - 1) * (value - mean) ** 2
    return math.sqrt(max(squares, 0.0) / (n - 2))


def largest_alone(
    largest: int, next_largest: int, n: int, mean: float, stddev: float, index: int
) -> LargestAlone | None:
    """Maximum and deviation without the largest sample, if the deviation is below half of what it is with it:
    then that one sample makes more than three quarters of the sum of squares. None otherwise, for fewer than
    ten samples, and if the next largest value is nearly as large."""
    if n < FEWEST or largest - next_largest <= (MARGIN - 1) * abs(next_largest):
        return None
    rest = stddev_without(largest, n, mean, stddev)
    return LargestAlone(index, next_largest, rest) if rest < SHARE * stddev else None
