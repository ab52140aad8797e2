"""Times, counts and lists of CPUs as they are spelt on the command line and in studies: "250us", "1000",
"0-3,5".

The rules equal the probe's (core/quantity.cpp): a value that one of the two accepts and the other refuses
would fail late.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from howlate.words.printable import printable

UNITS_OF_TIME = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 24 * 3600 * 10**9,
}
"""Minutes also as rt-tests and rtla spell them: -D 5m."""
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)")
CPUS_MOST = 8192
"""More than the limit of any Linux kernel."""


def _split(text: str) -> tuple[Fraction, str] | None:
    match = _NUMBER.fullmatch(text)
    return (Fraction(match[1]), match[2]) if match else None


def parse_duration_ns(text: str) -> int:
    """Nanoseconds of "250us"; ValueError says what is wrong with it."""
    if text == "0":
        return 0
    parts = _split(text)
    if parts is None:
        raise ValueError(f'"{printable(text)}" is not a time; write it like 250us, 1ms or 2s')
    number, unit = parts
    if unit == "":
        raise ValueError(f'"{text}" has no unit; write {text}us, {text}ms or {text}s')
    if unit not in UNITS_OF_TIME:
        raise ValueError(f'"{unit}" is not a unit of time; known are ns, us, ms, s, m (or min), h, d')
    value = number * UNITS_OF_TIME[unit]
    if value.denominator != 1:
        raise ValueError(f'"{printable(text)}" is not a whole number of nanoseconds')
    if value >= 2**63:
        raise ValueError(f'"{printable(text)}" is too long; at most about 290 years')
    return int(value)


def parse_seconds_ns(text: str) -> int:
    """Nanoseconds of a time with a unit ("5s", "2min"), or of seconds without one ("5", "2.5")."""
    bare = re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", text)
    return parse_duration_ns(f"{text}s" if bare else text)


def period_ns_of(labels: Mapping[str, str]) -> int | None:
    """The period of a cell with these labels; None where it has none."""
    try:
        return parse_duration_ns(labels.get("period", ""))
    except ValueError:
        return None


def format_duration(ns: int) -> str:
    """The shortest spelling without loss: 1500000 -> "1500us"."""
    for unit in ("h", "min", "s", "ms", "us"):
        if ns and ns % UNITS_OF_TIME[unit] == 0:
            return f"{ns // UNITS_OF_TIME[unit]}{unit}"
    return f"{ns}ns"


def parse_cpus(text: str) -> tuple[int, ...]:
    """(0, 1, 5) of "0-1,5"; the caller handles the words all, same and other."""
    cpus: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match is not None else (1, 0)
        if not low <= high < CPUS_MOST:
            raise ValueError(f'"{printable(text)}" is not a list of CPUs; write it like 0-3,5')
        cpus.update(range(low, high + 1))
    return tuple(sorted(cpus))


def parse_count(text: str) -> int:
    """A whole number that is not negative."""
    value = _whole(text) if not text.startswith("-") else None
    if value is None:
        if re.fullmatch(r"[0-9]+", text):
            raise ValueError(f'"{printable(text)}" is too large; the largest number is {2**63 - 1}')
        raise ValueError(f'"{printable(text)}" is not a count; write a whole number like 1000')
    return value


def _whole(text: str) -> int | None:
    """An integer of 64 bits; leading zeros are allowed."""
    if not re.fullmatch(r"-?[0-9]{1,400}", text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None
