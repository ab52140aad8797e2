"""Axes as they are asked for on the command line: `latency=0:1000us,linear`, `counts=log`, `time=:10s`."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._scale import AXES, Axes, Axis, Kind
from howlate.errors import UsageError
from howlate.model.decode import suggestion
from howlate.model.units import parse_duration_ns

KINDS = {"linear": False, "log": True}
AN_EXAMPLE = "write it like latency=0:1000us,linear or counts=log"


def parse_axes(texts: Sequence[str]) -> Axes:
    """UsageError for an axis that no chart has, a range that is none, or an axis that is asked for twice."""
    found: dict[str, Axis] = {}
    for text in texts:
        name, equals, wanted = text.partition("=")
        if not equals or not wanted:
            raise UsageError(f'--axis "{text}" asks for nothing', AN_EXAMPLE)
        if name not in AXES:
            raise UsageError(f'no chart has an axis "{name}"', suggestion(name, AXES))
        if name in found:
            raise UsageError(f"--axis {name} is given twice", "give range and scale in one: " + AN_EXAMPLE)
        found[name] = _axis(name, wanted)
    return found


def _axis(name: str, wanted: str) -> Axis:
    low = high = log = None
    for word in wanted.split(","):
        if word in KINDS and log is None:
            log = KINDS[word]
        elif ":" in word and low is None and high is None:
            low, high = _range(name, word)
        else:
            raise UsageError(f'--axis {name}: "{word}" is neither a range nor linear nor log', AN_EXAMPLE)
    if low is not None and high is not None and low >= high:
        raise UsageError(f"--axis {name}: the range {wanted} is empty", "give the smaller end first")
    if log and low is not None and low <= 0:
        raise UsageError(
            f"--axis {name}: a logarithmic axis has no 0",
            f"begin it above 0, or use {name}={wanted.replace('log', 'linear')}"[:200],
        )
    return Axis(low, high, log)


def _range(name: str, word: str) -> tuple[float | None, float | None]:
    """The ends; one that is left out is as the chart finds it."""
    first, _, last = word.partition(":")
    if not first and not last:
        raise UsageError(f"--axis {name}: the range has no end", AN_EXAMPLE)
    return tuple(_value(name, AXES[name], end) if end else None for end in (first, last))  # type: ignore[return-value]


def _value(name: str, kind: Kind, text: str) -> float:
    try:
        if kind == "count":
            value = float(text)
            if not 0 <= value < 1e18:
                raise ValueError(f'"{text}" is no number of an axis')
            return value
        ns = float(parse_duration_ns(text))
    except ValueError as problem:
        raise UsageError(f"--axis {name}: {problem}", AN_EXAMPLE) from None
    return ns / 1e9 if kind == "s" else ns
