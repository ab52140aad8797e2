"""Axes as they are asked for on the command line: `latency=0:1000us,linear`, `counts=log`, `time=:10s`."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._scale import AXES, Axes, AxisRange, Kind
from howlate.errors import UsageError
from howlate.model.decode import suggestion
from howlate.model.units import parse_duration_ns
from howlate.words.printable import printable

KINDS = {"linear": False, "log": True}
LINEAR = ("time",)
"""Axes that no chart draws otherwise: their blocks are equally wide."""


def parse_axes(texts: Sequence[str]) -> Axes:
    """UsageError for an axis that no chart has, a range that is none, or an axis that is asked for twice."""
    found: dict[str, AxisRange] = {}
    for text in texts:
        name, equals, wanted = text.partition("=")
        if not equals or not wanted:
            raise UsageError(
                '--axis "{text}" asks for nothing',
                remedy="write it like latency=0:1000us,linear or counts=log",
                text=text,
            )
        if name not in AXES:
            raise UsageError(
                'no chart has an axis "{name}"', remedy="{hint}", name=name, hint=suggestion(name, AXES)
            )
        if name in found:
            raise UsageError(
                "--axis {name} is given twice",
                remedy="give range and scale in one, like latency=0:1000us,linear",
                name=name,
            )
        found[name] = _axis(name, wanted)
    return found


def _axis(name: str, wanted: str) -> AxisRange:
    low = high = log = None
    for word in wanted.split(","):
        if word in KINDS and log is None:
            log = KINDS[word]
        elif ":" in word and low is None and high is None:
            low, high = _range(name, word)
        else:
            raise UsageError(
                '--axis {name}: "{word}" is neither a range nor linear nor log',
                remedy="write it like latency=0:1000us,linear or counts=log",
                name=name,
                word=word,
            )
    if log and name in LINEAR:
        raise UsageError(
            "--axis {name}: this axis begins at 0 and is linear", remedy="leave out log", name=name
        )
    if low is not None and high is not None and low >= high:
        raise UsageError(
            "--axis {name}: the range {range} is empty",
            remedy="give the smaller end first",
            name=name,
            range=wanted,
        )
    if log and low is not None and low <= 0:
        raise UsageError(
            "--axis {name}: a logarithmic axis has no 0",
            remedy="begin it above 0, or use {name}={linear}",
            name=name,
            linear=wanted.replace("log", "linear")[:150],
        )
    return AxisRange(low, high, log)


def _range(name: str, word: str) -> tuple[float | None, float | None]:
    """The ends; one that is left out is as the chart finds it."""
    first, _, last = word.partition(":")
    if not first and not last:
        raise UsageError(
            "--axis {name}: the range has no end",
            remedy="write it like latency=0:1000us,linear or counts=log",
            name=name,
        )
    return tuple(_value(name, AXES[name], end) if end else None for end in (first, last))  # type: ignore[return-value]


def _value(name: str, kind: Kind, text: str) -> float:
    try:
        if kind == "count":
            value = float(text)
            if not 0 <= value < 1e18:
                raise ValueError(f'"{printable(text)}" is no number of an axis')
            return value
        before_release = name == "latency" and text.startswith("-")
        ns = float(parse_duration_ns(text.removeprefix("-") if before_release else text))
        ns = -ns if before_release else ns
    except ValueError as problem:
        raise UsageError(
            "--axis {name}: {reason}",
            remedy="write it like latency=0:1000us,linear or counts=log",
            name=name,
            reason=problem,
        ) from None
    return ns / 1e9 if kind == "s" else ns
