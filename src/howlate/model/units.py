"""Values as they are spelt on the command line: "250us", "10MiB/s", "50%"; the same in studies.

As the probe reads them (core/quantity.cpp): what one of the two took and the other refused would fail late."""

from __future__ import annotations

import math
import re
from fractions import Fraction

_TIME = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_BYTES = {
    "": 1,
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)")
_REAL = re.compile(r"-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
CPUS_MOST = 8192
"""More than any Linux is built for."""


def _split(text: str) -> tuple[Fraction, str] | None:
    match = _NUMBER.fullmatch(text)
    return (Fraction(match[1]), match[2]) if match else None


def parse_duration_ns(text: str) -> int:
    """Nanoseconds of "250us"; ValueError says what is wrong with it."""
    if text == "0":
        return 0
    found = _split(text)
    if found is None:
        raise ValueError(f'"{text}" is not a time; write it like 250us, 1ms or 2s')
    number, unit = found
    if unit == "":
        raise ValueError(f'"{text}" has no unit; write {text}us, {text}ms or {text}s')
    if unit not in _TIME:
        raise ValueError(f'"{unit}" is not a unit of time; known are ns, us, ms, s, min, h')
    value = number * _TIME[unit]
    if value.denominator != 1:
        raise ValueError(f'"{text}" is not a whole number of nanoseconds')
    if value >= 2**63:
        raise ValueError(f'"{text}" is too long; at most about 290 years')
    return int(value)


def unit_of_time(text: str) -> str:
    """What stands after the number where that is no unit of time: "d" of "8d"; "" where something else is wrong."""
    found = _split(text)
    return found[1] if found is not None and found[1] not in _TIME else ""


def parse_seconds_ns(text: str) -> int:
    """Nanoseconds of a time with a unit ("5s", "2min"), or of seconds without one ("5", "2.5")."""
    bare = re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", text)
    return parse_duration_ns(f"{text}s" if bare else text)


def format_duration(ns: int) -> str:
    """The shortest spelling without loss: 1500000 -> "1500us"."""
    for unit in ("h", "min", "s", "ms", "us"):
        if ns and ns % _TIME[unit] == 0:
            return f"{ns // _TIME[unit]}{unit}"
    return f"{ns}ns"


def parse_bytes(text: str) -> int:
    """Bytes of "10MiB"."""
    found = _split(text)
    if found is None or found[1] not in _BYTES:
        raise ValueError(f'"{text}" is not an amount of bytes; write it like 4KiB or 10MiB')
    value = found[0] * _BYTES[found[1]]
    if value.denominator != 1 or value >= 2**63:
        raise ValueError(f'"{text}" is not an amount of bytes that can be held')
    return int(value)


def parse_rate(text: str) -> int:
    """Bytes a second of "10MiB/s"."""
    if text == "0":
        return 0
    if not text.endswith("/s"):
        raise ValueError(f'"{text}" is not a rate; write it like 10MiB/s')
    return parse_bytes(text.removesuffix("/s"))


def parse_percent(text: str) -> float:
    """50.0 of "50" or "50%"."""
    bare = text.removesuffix("%")
    if not _REAL.fullmatch(bare):
        raise ValueError(f'"{text}" is not a percentage; write it like 50')
    value = float(bare)
    if not 0 <= value <= 100:
        raise ValueError(f'"{text}" is not between 0 and 100')
    return value


def parse_cpus(text: str) -> tuple[int, ...]:
    """(0, 1, 5) of "0-1,5"; the words all, same and other are the caller's."""
    cpus: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)
        low, high = (int(match[1]), int(match[2] or match[1])) if match is not None else (1, 0)
        if not low <= high < CPUS_MOST:
            raise ValueError(f'"{text}" is not a list of CPUs; write it like 0-3,5')
        cpus.update(range(low, high + 1))
    return tuple(sorted(cpus))


def parse_count(text: str) -> int:
    """A whole number that is not negative."""
    value = _whole(text) if not text.startswith("-") else None
    if value is None:
        _refuse_too_large(text)
        raise ValueError(f'"{text}" is not a count; write a whole number like 1000')
    return value


def parse_integer(text: str) -> int:
    value = _whole(text)
    if value is None:
        _refuse_too_large(text)
        raise ValueError(f'"{text}" is not a whole number')
    return value


def _refuse_too_large(text: str) -> None:
    """A whole number is one also where it does not fit."""
    if re.fullmatch(r"[0-9]+", text):
        raise ValueError(f'"{text}" is too large; the largest number is {2**63 - 1}')


def _whole(text: str) -> int | None:
    """A whole number of 64 bits, leading zeros allowed."""
    if not re.fullmatch(r"-?[0-9]{1,400}", text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


def parse_real(text: str) -> float:
    value = float(text) if _REAL.fullmatch(text) else math.inf
    if not math.isfinite(value):
        raise ValueError(f'"{text}" is not a number')
    return value
