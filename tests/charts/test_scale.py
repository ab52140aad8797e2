"""Scales and ticks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.figures.scale import Scale, linear_ticks, log_ticks, spread, tick_text, time_tick
from howlate.words.quantities import grouped, one_in, seconds_text, significant, time_text
from howlate.words.say import text_of

POSITIVE = st.floats(1.0, 1e12)


@given(low=POSITIVE, factor=st.floats(1.01, 1e9), about=st.integers(2, 10))
def test_ticks_lie_within_the_axis_and_are_few_and_distinct(low: float, factor: float, about: int) -> None:
    high = low * factor
    for ticks in (log_ticks(low, high, about), linear_ticks(low, high, about)):
        assert ticks == sorted(set(ticks))
        slack = (high - low) * 1e-6  # less than a pixel
        assert all(low - slack <= t <= high + slack for t in ticks)
        assert len(ticks) <= 2 * about + 2


@given(low=POSITIVE, factor=st.floats(10.0, 1e9))
def test_a_logarithmic_axis_of_a_decade_or_more_has_a_tick(low: float, factor: float) -> None:
    assert log_ticks(low, low * factor, 8)


@given(low=POSITIVE, factor=st.floats(1.0, 1e9), value=st.floats(0, 1))
def test_what_a_scale_spans_lies_inside_it(low: float, factor: float, value: float) -> None:
    scale = spread(low, low * factor, "ns")
    inside = low + (low * factor - low) * value
    assert -1e-9 <= scale.at(inside) <= 1 + 1e-9


def test_a_wide_range_is_logarithmic_and_a_narrow_one_linear() -> None:
    assert spread(1_000, 1_000_000, "ns").log
    assert not spread(1_000, 4_000, "ns").log


def test_ticks_of_two_decades_have_twos_and_fives() -> None:
    assert log_ticks(1_000, 100_000, 8) == pytest.approx([1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5])


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0"),
        (999, "999 ns"),
        (1_000, "1 µs"),
        (50_000, "50 µs"),
        (1_500_000, "1.5 ms"),
        (1e9, "1 s"),
        (2.5e10, "25 s"),
    ],
)
def test_a_tick_is_written_in_the_unit_that_reads_best(ns: float, text: str) -> None:
    assert time_tick(ns).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("seconds", "largest", "text"),
    [(0, 60, "0"), (30, 60, "30 s"), (600, 3600, "10 min"), (7200, 36000, "2 h")],
)
def test_a_long_run_is_told_in_minutes_and_hours(seconds: float, largest: float, text: str) -> None:
    assert tick_text(seconds, "s", largest).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (7, "7 ns"),
        (999, "999 ns"),
        (999.9, "1.00 µs"),
        (1_204, "1.20 µs"),
        (999_600, "1.00 ms"),
        (33_012_400, "33.0 ms"),
    ],
)
def test_times_for_people_have_three_digits(ns: float, text: str) -> None:
    assert time_text(ns, space=" ") == text


def test_words() -> None:
    assert grouped(1234567, " ") == "1 234 567"
    assert text_of(one_in(1000)).replace("\u202f", " ") == "1 in 1 000"
    assert text_of(one_in(1e6)) == "1 in 10⁶"
    assert seconds_text(12, " ") == "12 s"
    assert seconds_text(240, " ") == "4 min"
    assert seconds_text(5400, " ") == "90 min"
    assert seconds_text(9000, " ") == "2 h 30 min"
    assert significant(0) == "0"


def test_equal_values_have_a_scale() -> None:
    scale = spread(5_000, 5_000, "ns")
    assert 0 < scale.at(5_000) < 1
    assert math.isfinite(Scale(0.6, 1.4, True, "count").at(1))
