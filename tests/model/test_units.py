"""Spellings of the command line, read and written."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.model import units


@given(st.integers(0, 2**63 - 1))
def test_durations_come_back(ns: int) -> None:
    assert units.parse_duration_ns(units.format_duration(ns)) == ns


@given(st.integers(0, 10**9), st.integers(0, 999_999_999))
def test_a_number_alone_is_in_seconds(whole: int, rest_ns: int) -> None:
    """However many decimals it has; and it comes back from the spelling that a study gets."""
    text = f"{whole}.{rest_ns:09}"
    ns = units.parse_seconds_ns(text)
    assert ns == whole * 10**9 + rest_ns == units.parse_duration_ns(f"{text}s")
    assert units.parse_seconds_ns(units.format_duration(ns)) == ns


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("250us", 250_000),
        ("1.5ms", 1_500_000),
        ("2s", 2 * 10**9),
        ("1min", 60 * 10**9),
        ("0.1us", 100),
        ("5m", 300 * 10**9),
        ("2d", 172800 * 10**9),
    ],
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
        (units.parse_cpus, "3-1", "is not a list of CPUs"),
        (units.parse_cpus, "", "is not a list of CPUs"),
        (units.parse_count, "-1", "is not a count"),
        (units.parse_count, "1e6", "is not a count"),
        (units.parse_count, "99999999999999999999999", "is too large"),
    ],
)
def test_what_is_wrong_is_said(parse: Callable[[str], object], text: str, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        parse(text)


@given(st.text(max_size=12))
def test_any_text_is_a_value_or_a_sentence(text: str) -> None:
    for parse in (
        units.parse_duration_ns,
        units.parse_cpus,
        units.parse_count,
    ):
        try:
            parse(text)
        except ValueError as problem:
            assert text in str(problem) or "is not" in str(problem)


def test_cpus() -> None:
    assert units.parse_cpus("0-2,5,1") == (0, 1, 2, 5)


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (units.parse_duration_ns, "0", 0),
        (units.parse_count, "9223372036854775807", 2**63 - 1),
        (units.parse_count, "0000000000000000000000001", 1),
        (units.parse_count, "9223372036854775808", None),
        (units.parse_duration_ns, "\u0665ms", None),
        (units.parse_cpus, "8191", (8191,)),
        (units.parse_cpus, "8192", None),
        (units.parse_cpus, "\u0665", None),
    ],
)
def test_spellings_are_the_probes(parse: Callable[[str], object], text: str, value: object) -> None:
    if value is not None:
        assert parse(text) == value
        return
    with pytest.raises(ValueError, match=r"is not|is too large"):
        parse(text)
