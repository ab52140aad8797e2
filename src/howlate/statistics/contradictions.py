"""Contradictions within a printed summary (minimum, mean, maximum, deviation, counts).

A printed number is known to its last digit, whether it was rounded or truncated: the true number lies within
one unit of that digit. Every rule gives the figures the benefit of that, and of the definition of the
deviation (by n or by n - 1), so a summary of real samples is never accused. All comparisons are exact
(fractions, squares instead of roots). Formulas and sources: docs/reference.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction

from msgspec import Struct


class PrintedNumber(Struct, frozen=True):
    """A number as it is printed, and one unit of its last digit."""

    value: Fraction
    unit: Fraction

    @classmethod
    def of(cls, number: Decimal, scale: int = 1) -> PrintedNumber:
        """From its decimal spelling; `scale` turns it into another unit (us into ns: 1000)."""
        exponent = number.as_tuple().exponent
        unit = Fraction(10) ** exponent if isinstance(exponent, int) else Fraction(0)
        return cls(Fraction(number) * scale, unit * scale)

    @property
    def low(self) -> Fraction:
        return self.value - self.unit

    @property
    def high(self) -> Fraction:
        return self.value + self.unit


class Summary(Struct, frozen=True):
    """A row of a table, all times in one unit; None if it does not say."""

    n: int | None = None
    min: PrintedNumber | None = None
    mean: PrintedNumber | None = None
    max: PrintedNumber | None = None
    stddev: PrintedNumber | None = None
    period: Fraction | None = None
    period_exceeded: int | None = None
    """Samples greater than the period."""
    overruns: int | None = None
    """Periods missed."""
    passes: int | None = None
    failures: int | None = None


class Contradiction(Struct, frozen=True):
    """A contradiction: the rule that found it, and the numbers in its formula."""

    rule: str
    figures: tuple[str, ...]
    """The statistics that contradict each other."""
    bound: float
    """The bound that the others set: the minimum, or the maximum, of the first of `figures`."""
    least: bool
    """Whether `bound` is a minimum."""


Check = Callable[[Summary], Contradiction | None]


def order(row: Summary) -> Contradiction | None:
    """min <= mean <= max."""
    for below, above in (("min", "mean"), ("mean", "max"), ("min", "max")):
        small, large = getattr(row, below), getattr(row, above)
        if small is not None and large is not None and small.low > large.high:
            return Contradiction("order", (above, below), float(small.low), least=True)
    return None


def deviation_too_small(row: Summary) -> Contradiction | None:
    """Samuelson's inequality: |x - mean| <= sigma sqrt(n - 1) for each of n values, so
    sigma >= (max - mean) / sqrt(n - 1), and the same for the minimum. sigma is the deviation by n; the one by n - 1
    has to be sqrt(n / (n - 1)) times as large. Which one is printed need not be known: only what even the smaller
    demand forbids is a contradiction.
    It needs n >= 2. (P. A. Samuelson, How deviant can you be?, JASA 63, 1968.)
    """
    if row.stddev is None or row.mean is None or row.n is None or row.n < 2:
        return None
    above = row.max.low - row.mean.high if row.max is not None else Fraction(0)
    below = row.mean.low - row.min.high if row.min is not None else Fraction(0)
    far, end = max((above, "max"), (below, "min"))
    if far <= 0 or far * far <= row.stddev.high**2 * (row.n - 1):
        return None
    return Contradiction(
        "deviation-too-small", ("stddev", "mean", end), _root(far * far / (row.n - 1)), least=True
    )


def deviation_too_large(row: Summary) -> Contradiction | None:
    """Bhatia and Davis: sigma^2 <= (max - mean)(mean - min), sigma by n. A deviation by n - 1 may be
    sqrt(n / (n - 1)) times as large; where n is not known, n = 2 is allowed for. (R. Bhatia, C. Davis, A better bound
    on the variance, Amer. Math. Monthly 107, 2000.)
    """
    if row.stddev is None or row.mean is None or row.max is None or row.min is None:
        return None
    n = row.n if row.n is not None else 2
    if n < 2:
        return None
    most = max(row.max.high - row.mean.low, Fraction(0)) * max(row.mean.high - row.min.low, Fraction(0))
    most = most * n / (n - 1)
    if max(row.stddev.low, Fraction(0)) ** 2 <= most:
        return None
    return Contradiction("deviation-too-large", ("stddev", "min", "mean", "max"), _root(most), least=False)


def exceeded_none(row: Summary) -> Contradiction | None:
    """A maximum beyond the period means that at least one activation exceeds it; a maximum within it means
    none."""
    if row.period is None or row.period_exceeded is None or row.max is None:
        return None
    if row.max.low > row.period and row.period_exceeded < 1:
        return Contradiction("period-exceeded", ("period_exceeded", "max"), 1.0, least=True)
    if row.max.high <= row.period and row.period_exceeded > 0:
        return Contradiction("period-exceeded", ("period_exceeded", "max"), 0.0, least=False)
    return None


def missed_too_few(row: Summary) -> Contradiction | None:
    """An activation that is late by L has let floor(L / period) releases pass: missed >= floor(max / period)."""
    if row.period is None or row.overruns is None or row.max is None:
        return None
    least = math.floor(row.max.low / row.period)
    return (
        Contradiction("overruns", ("overruns", "max"), float(least), least=True)
        if row.overruns < least
        else None
    )


def deviation_below_counts(row: Summary) -> Contradiction | None:
    """Cantelli's inequality: where k of n values lie beyond the period T > mean,
    k / n <= sigma^2 / (sigma^2 + (T - mean)^2), so sigma^2 (n - k) >= k (T - mean)^2; sigma by n, the smaller demand.
    """
    if (
        row.period is None
        or row.period_exceeded is None
        or row.stddev is None
        or row.mean is None
        or row.n is None
    ):
        return None
    k, apart = row.period_exceeded, row.period - row.mean.high
    if not 0 < k <= row.n or apart <= 0 or row.stddev.high**2 * (row.n - k) >= k * apart * apart:
        return None
    least = _root(apart * apart * k / (row.n - k)) if k < row.n else math.inf
    return Contradiction("deviation-below-counts", ("stddev", "period_exceeded", "mean"), least, least=True)


def counts(row: Summary) -> Contradiction | None:
    """passes + failures are all the data points; no count is larger than the number of samples."""
    if row.n is None:
        return None
    if row.passes is not None and row.failures is not None and row.passes + row.failures != row.n:
        return Contradiction("counts", ("passes", "failures"), float(row.n - row.failures), least=True)
    if row.period_exceeded is not None and row.period_exceeded > row.n:
        return Contradiction("counts", ("period_exceeded", "count"), float(row.n), least=False)
    return None


class ConsistencyRule(Struct, frozen=True):
    """A rule by its name, and the figures that a row must have for it: one of these sets."""

    rule: Check
    needs: tuple[tuple[str, ...], ...]
    formula: str

    def applies(self, row: Summary) -> bool:
        return any(all(getattr(row, name) is not None for name in names) for names in self.needs)


RULES: Mapping[str, ConsistencyRule] = {
    "order": ConsistencyRule(
        order, (("min", "mean"), ("mean", "max"), ("min", "max")), "minimum <= mean <= maximum"
    ),
    "deviation-too-small": ConsistencyRule(
        deviation_too_small,
        (("stddev", "mean", "n", "max"), ("stddev", "mean", "n", "min")),
        "deviation >= (maximum - mean) / sqrt(n - 1) and >= (mean - minimum) / sqrt(n - 1) (Samuelson)",
    ),
    "deviation-too-large": ConsistencyRule(
        deviation_too_large,
        (("stddev", "mean", "max", "min"),),
        "deviation^2 <= (maximum - mean) (mean - minimum) n / (n - 1) (Bhatia and Davis)",
    ),
    "deviation-below-counts": ConsistencyRule(
        deviation_below_counts,
        (("stddev", "mean", "n", "period", "period_exceeded"),),
        "deviation^2 (n - k) >= k (period - mean)^2 for k periods exceeded (Cantelli)",
    ),
    "period-exceeded": ConsistencyRule(
        exceeded_none,
        (("max", "period", "period_exceeded"),),
        "periods exceeded >= 1 where maximum > period, 0 where it is not",
    ),
    "overruns": ConsistencyRule(
        missed_too_few, (("max", "period", "overruns"),), "periods missed >= floor(maximum / period)"
    ),
    "counts": ConsistencyRule(
        counts,
        (("n", "passes", "failures"), ("n", "period_exceeded")),
        "passes + failures = n; no count is above n",
    ),
}


def contradictions(row: Summary) -> tuple[Contradiction, ...]:
    return tuple(found for check in RULES.values() if (found := check.rule(row)) is not None)


def same_number(one: PrintedNumber, other: PrintedNumber) -> bool:
    """Whether two printed numbers can be the same number: within one unit of the coarser one's last digit."""
    return abs(one.value - other.value) <= max(one.unit, other.unit)


def _root(square: Fraction) -> float:
    return math.sqrt(float(square))
