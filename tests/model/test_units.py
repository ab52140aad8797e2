"""Spellings of the command line, read and written."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate import places
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
        (units.parse_percent, "nan", "is not a percentage"),
        (units.parse_cpus, "3-1", "is not a list of CPUs"),
        (units.parse_cpus, "", "is not a list of CPUs"),
        (units.parse_count, "-1", "is not a count"),
        (units.parse_count, "1e6", "is not a count"),
        (units.parse_count, "99999999999999999999999", "is too large"),
        (units.parse_integer, "99999999999999999999999", "is too large"),
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


SPELLINGS = [
    ("rate", "0"), ("rate", "1TiB/s"), ("rate", "1.5MB/s"), ("rate", "1M/s"), ("rate", "1k/s"), ("rate", "2K/s"),
    ("rate", "10/s"), ("rate", "0.5B/s"), ("rate", "10"), ("rate", "10MiB"), ("rate", "10 MiB/s"),
    ("rate", "9999999TiB/s"), ("rate", "1e3/s"), ("rate", "-1B/s"), ("rate", "1.MiB/s"), ("rate", "/s"),
    ("percent", "0.5"), ("percent", ".5"), ("percent", "5."), ("percent", "1e1"), ("percent", "50%"),
    ("percent", "+5"), ("percent", " 5"), ("percent", "1_0"), ("percent", "50%%"), ("percent", "nan"),
    ("percent", "inf"), ("percent", "-1"), ("percent", "\u0665"), ("percent", "100.1"), ("percent", "%"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), SPELLINGS)
def test_what_the_probe_takes_is_taken_and_nothing_else(kind: str, text: str) -> None:
    """The probe itself is asked, by loads that read these kinds and end at once."""
    load, read = {"rate": ("disk", units.parse_rate), "percent": ("cpu", units.parse_percent)}[kind]
    argv = [str(places.probe_path()), "load", f"{load}:{text}", "--duration", "1ns", "--policy", "nonsense"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    refused = "nonsense" not in done.stderr
    try:
        zero = read(text) == 0
    except ValueError:
        assert refused, done.stderr
    else:
        assert zero or not refused, done.stderr


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (units.parse_duration_ns, "0", 0),
        (units.parse_bytes, "0", 0),
        (units.parse_rate, "0", 0),
        (units.parse_bytes, "1TiB", 2**40),
        (units.parse_bytes, "2TB", 2 * 10**12),
        (units.parse_count, "9223372036854775807", 2**63 - 1),
        (units.parse_count, "0000000000000000000000001", 1),
        (units.parse_integer, "-9223372036854775808", -(2**63)),
        (units.parse_bytes, "1M", None),
        (units.parse_bytes, "1k", None),
        (units.parse_count, "9223372036854775808", None),
        (units.parse_integer, "+5", None),
        (units.parse_integer, "\u0665", None),
        (units.parse_duration_ns, "\u0665ms", None),
        (units.parse_real, "1_000", None),
        (units.parse_real, " 1", None),
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
