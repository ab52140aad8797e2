"""Spellings of the command line, read and written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.model import units


@given(st.integers(0, 2**63 - 1))
def test_durations_come_back(ns: int) -> None:
    assert units.parse_duration_ns(units.format_duration(ns)) == ns


@pytest.mark.parametrize(
    ("text", "ns"),
    [("250us", 250_000), ("1.5ms", 1_500_000), ("2s", 2 * 10**9), ("1min", 60 * 10**9), ("0.1us", 100)],
)
def test_durations(text: str, ns: int) -> None:
    assert units.parse_duration_ns(text) == ns


@pytest.mark.parametrize(
    ("parse", "text", "part"),
    [
        (units.parse_duration_ns, "250", "no unit; write 250us"),
        (units.parse_duration_ns, "250 us", "is not a time"),
        (units.parse_duration_ns, "1parsec", "is not a unit of time"),
        (units.parse_duration_ns, "0.5ns", "whole number of nanoseconds"),
        (units.parse_duration_ns, "-1ms", "is not a time"),
        (units.parse_duration_ns, "99999999999h", "too long"),
        (units.parse_rate, "10MiB", "is not a rate"),
        (units.parse_bytes, "ten", "is not an amount"),
        (units.parse_percent, "101", "between 0 and 100"),
        (units.parse_percent, "nan", "between 0 and 100"),
        (units.parse_cpus, "3-1", "is not a list of CPUs"),
        (units.parse_cpus, "", "is not a list of CPUs"),
        (units.parse_count, "-1", "is not a count"),
        (units.parse_count, "1e6", "is not a count"),
        (units.parse_real, "inf", "is not a number"),
    ],
)
def test_what_is_wrong_is_said(parse: Callable[[str], object], text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        parse(text)


@given(st.text(max_size=12))
def test_any_text_is_a_value_or_a_sentence(text: str) -> None:
    for parse in (
        units.parse_duration_ns,
        units.parse_bytes,
        units.parse_rate,
        units.parse_percent,
        units.parse_cpus,
        units.parse_count,
        units.parse_integer,
        units.parse_real,
    ):
        try:
            parse(text)
        except ValueError as problem:
            assert text in str(problem) or "is not" in str(problem)


def test_cpus_and_sizes() -> None:
    assert units.parse_cpus("0-2,5,1") == (0, 1, 2, 5)
    assert units.parse_rate("10MiB/s") == 10 * 2**20
    assert units.parse_bytes("4KiB") == 4096
    assert units.parse_percent("50%") == 50.0
