"""The rules accuse what cannot be, and never a summary of real samples, however its digits were rounded or cut."""

import math
from collections.abc import Sequence
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.statistics.contradictions import RULES, PrintedNumber, Summary, contradictions, same_number

PERIOD = 300


def printed(text: str) -> PrintedNumber:
    return PrintedNumber.of(Decimal(text))


def of(period: int | None = None, **figures: str | int) -> Summary:
    """A row; numbers that are printed with digits as text."""
    its: dict[str, Any] = {
        name: printed(value) if isinstance(value, str) else value for name, value in figures.items()
    }
    return replace(Summary(period=None if period is None else Fraction(period)), **its)


def accused(row: Summary) -> list[str]:
    return [found.rule for found in contradictions(row)]


ROW = Summary(n=100_000, mean=printed("44.624"), max=printed("28282.187"), stddev=printed("12.87"))
"""toshiba-mem-2010, slide 10."""


def test_the_published_example_and_its_bound() -> None:
    (found,) = contradictions(ROW)
    assert found.rule == "deviation-too-small" and found.figures == ("stddev", "mean", "max") and found.least
    assert found.bound == pytest.approx((28282.187 - 44.624) / math.sqrt(99_999), rel=1e-6)
    assert accused(replace(ROW, stddev=printed("89.30"))) == []


def test_the_bound_is_met_by_one_value_apart_from_all_others() -> None:
    # n - 1 zeros and one n: mean 1, sigma = sqrt(n - 1) exactly, which is (max - mean) / sqrt(n - 1).
    n = 10_001
    row = Summary(n=n, mean=printed("1.000000"), max=printed(str(n)), stddev=printed("100.000000"))
    assert accused(row) == []
    # The maximum may be a unit smaller: what is accused lies below the deviation that it needs then.
    assert accused(replace(row, stddev=printed("99.989998"))) == ["deviation-too-small"]
    assert accused(replace(row, stddev=printed("99.99"))) == []


def test_a_minimum_far_below_the_mean_needs_its_deviation_too() -> None:
    row = Summary(
        n=101, mean=printed("100.0"), min=printed("0.0"), max=printed("101.0"), stddev=printed("9.8")
    )
    (found,) = contradictions(row)
    assert (found.rule, found.figures) == ("deviation-too-small", ("stddev", "mean", "min"))
    assert accused(replace(row, stddev=printed("9.9"))) == []  # 99.8 / sqrt(100) = 9.98 <= 9.9 + 0.1


@pytest.mark.parametrize(
    ("row", "rules"),
    [
        (of(min="5.0", mean="4.9", max="9"), []),  # rounding may explain it
        (of(min="5.0", mean="4.7", max="9"), ["order"]),
        (of(mean="4.7", max="4.2"), ["order"]),
        (of(min="4.7", max="4.2"), ["order"]),
        (of(n=1, mean="4", max="9", stddev="0"), []),
        (of(n=2, mean="4", max="9", stddev="0"), ["deviation-too-small"]),
        # sigma <= sqrt((10 - 5) (5 - 0)) = 5, by n - 1 and n = 2 sqrt(2) as much
        (of(n=1000, min="0.0", mean="5.0", max="10.0", stddev="5.4"), ["deviation-too-large"]),
        (of(n=1000, min="0.0", mean="5.0", max="10.0", stddev="5.3"), []),
        (of(min="0.0", mean="5.0", max="10.0", stddev="7.4"), []),
        (of(min="0.0", mean="5.0", max="10.0", stddev="7.5"), ["deviation-too-large"]),
        (of(period=300, max="302.0", period_exceeded=0), ["period-exceeded"]),
        (of(period=300, max="300.1", period_exceeded=0), []),
        (of(period=300, max="300.1", period_exceeded=1), []),
        (of(period=300, max="299.8", period_exceeded=1), ["period-exceeded"]),
        (of(period=300, max="27959.353", overruns=93), []),
        (of(period=300, max="27959.353", overruns=92), ["overruns"]),
        (of(period=300, max="900.0", overruns=2), []),  # it may have been 899.95
        (of(n=1000, passes=990, failures=10), []),
        (of(n=1000, passes=990, failures=0), ["counts"]),
        (of(n=10, period_exceeded=11), ["counts"]),
        # 100 of 10,000 beyond 300 with a mean of 10: sigma >= 290 sqrt(0.01 / 0.99) = 29.1
        (of(n=10_000, period=300, mean="10.0", stddev="29.0", period_exceeded=100), ["deviation-below-counts"]),
        (of(n=10_000, period=300, mean="10.0", stddev="29.1", period_exceeded=100), []),
        (of(n=10, period=300, mean="10.0", stddev="290.0", period_exceeded=10), ["deviation-below-counts"]),
        (of(n=10, period=300, mean="400.0", stddev="1.0", period_exceeded=10), []),
        (of(), []),
    ],
)  # fmt: skip
def test_what_each_rule_accuses_and_what_its_last_digits_excuse(row: Summary, rules: list[str]) -> None:
    assert accused(row) == rules


def test_a_rule_applies_where_its_figures_are_there() -> None:
    applied = {name: check.applies(ROW) for name, check in RULES.items()}
    assert [name for name, does in applied.items() if does] == ["order", "deviation-too-small"]
    assert not any(check.applies(Summary()) for check in RULES.values())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("38", "38.45", True), ("12.37", "12.370", True), ("715078", "715.078", False), ("557", "558.1", False)],
)
def test_two_prints_of_one_number(one: str, other: str, same: bool) -> None:
    assert same_number(printed(one), printed(other)) is same
    assert same_number(printed(other), printed(one)) is same


# A summary of real samples, as exactly as can be, and then printed with so many digits.


def root(square: Fraction) -> Decimal:
    """With far more digits than are printed."""
    scale = 10**40
    return Decimal(math.isqrt(square.numerator * scale * scale // square.denominator)) / scale


def as_decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def cut(value: Decimal, digits: int, how: str) -> PrintedNumber:
    return PrintedNumber.of(value.quantize(Decimal(1).scaleb(-digits), rounding=how))


def summary(samples: Sequence[Fraction], by: int, digits: Sequence[int], how: str, period: int) -> Summary:
    n = len(samples)
    mean = sum(samples, Fraction(0)) / n
    squares = sum(((x - mean) ** 2 for x in samples), Fraction(0))
    return Summary(
        n=n,
        min=cut(as_decimal(min(samples)), digits[0], how),
        mean=cut(as_decimal(mean), digits[1], how),
        max=cut(as_decimal(max(samples)), digits[2], how),
        stddev=cut(root(squares / (n - by)), digits[3], how) if n > by else None,
        period=Fraction(period),
        period_exceeded=sum(x > period for x in samples),
    )


few = st.integers(-50, 700).map(Fraction)
thousandths = st.integers(-(10**4), 4 * 10**7).map(lambda x: Fraction(x, 1000))
stalled = st.tuples(st.integers(1, 60), st.integers(0, 50), st.integers(10**4, 10**5)).map(
    lambda t: [Fraction(t[1])] * t[0] + [Fraction(t[2])]
)
"""Equal values and a stall: where Samuelson's inequality is an equality."""
samples = st.one_of(
    st.lists(few, min_size=1, max_size=40), st.lists(thousandths, min_size=1, max_size=40), stalled
)
all_digits = st.lists(st.integers(0, 4), min_size=4, max_size=4)
ways = st.sampled_from([ROUND_HALF_EVEN, ROUND_DOWN])


@settings(max_examples=600, deadline=None)
@given(samples, st.sampled_from([0, 1]), all_digits, ways)
def test_a_summary_of_real_samples_is_never_accused(
    values: list[Fraction], by: int, digits: list[int], how: str
) -> None:
    row = summary(values, by, digits, how, PERIOD)
    assert accused(row) == []
    for name in ("n", "min", "max", "mean", "stddev"):  # a table may leave any of it out
        assert accused(replace(row, **{name: None})) == []


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 2500), min_size=1, max_size=60), st.integers(0, 3), ways)
def test_a_loop_that_finds_back_to_the_clock_is_never_accused(work: list[int], digits: int, how: str) -> None:
    """Activations that are late by so much; every other release that has passed meanwhile is missed."""
    release, now, missed, latencies = 0, 0, 0, []
    for late in work:
        start = max(now, release * PERIOD) + late
        latencies.append(Fraction(start - release * PERIOD))
        following = start // PERIOD + 1
        missed += following - release - 1
        release, now = following, start
    row = Summary(
        period=Fraction(PERIOD),
        overruns=missed,
        max=cut(as_decimal(max(latencies)), digits, how),
        n=len(work),
    )
    assert accused(row) == []


@settings(max_examples=200, deadline=None)
@given(st.lists(few, min_size=3, max_size=40), all_digits)
def test_a_deviation_well_below_what_its_maximum_needs_is_accused(
    values: list[Fraction], digits: list[int]
) -> None:
    values = [*values, Fraction(10**6)]
    row = summary(values, 0, digits, ROUND_HALF_EVEN, PERIOD)
    assert row.mean is not None and row.max is not None
    needed = root((row.max.low - row.mean.high) ** 2 / (len(values) - 1))
    low = replace(row, stddev=cut(needed * Decimal("0.99") - 2, 0, ROUND_DOWN))
    assert "deviation-too-small" in accused(low)
