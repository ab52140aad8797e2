"""Axes as the command line gives them: `latency=0:1000us,linear`, `counts=log`, `time=:10s`."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.errors import UsageError
from howlate.figures.scale import AXES, Axes, AxisKind, AxisRange
from howlate.model.decode import suggestion
from howlate.model.units import parse_duration_ns
from howlate.words.printable import printable

SCALES = {"linear": False, "log": True}
LINEAR = ("time",)
"""Axes that are always linear: their blocks are equally wide."""


def parse_axes(texts: Sequence[str]) -> Axes:
    """UsageError for an axis that no chart has, an empty range, or an axis that is given twice."""
    axes: dict[str, AxisRange] = {}
    for text in texts:
        name, _, wanted = text.partition("=")
        if not wanted:
            raise _malformed(text)
        if name not in AXES:
            raise UsageError(
                'no chart has an axis "{name}"', remedy="{hint}", name=name, hint=suggestion(name, AXES)
            )
        if name in axes:
            raise UsageError(
                "--axis {name} is given twice",
                remedy="give range and scale in one, like latency=0:1000us,linear",
                name=name,
            )
        axes[name] = _axis(name, wanted)
    return axes


def _malformed(text: str) -> UsageError:
    return UsageError(
        '--axis "{text}" must name an axis with a range, linear or log',
        remedy="write it like latency=0:1000us,linear or counts=log",
        text=text,
    )


def _axis(name: str, wanted: str) -> AxisRange:
    low = high = log = None
    for word in wanted.split(","):
        if word in SCALES and log is None:
            log = SCALES[word]
        elif ":" in word and word != ":" and low is None and high is None:
            low, high = _range(name, word)
        else:
            raise _malformed(f"{name}={wanted}")
    if low is not None and high is not None and low >= high:
        raise UsageError(
            "--axis {name}: the range {range} is empty",
            remedy="give the smaller end first",
            name=name,
            range=wanted,
        )
    if log and (name in LINEAR or (low is not None and low <= 0)):
        raise UsageError(
            "--axis {name} starts at 0 and cannot be logarithmic",
            remedy="use {name}={linear}",
            name=name,
            linear=wanted.replace("log", "linear")[:150],
        )
    return AxisRange(low, high, log)


def _range(name: str, word: str) -> tuple[float | None, float | None]:
    first, _, last = word.partition(":")
    return tuple(_value(name, AXES[name], end) if end else None for end in (first, last))  # type: ignore[return-value]


def _value(name: str, kind: AxisKind, text: str) -> float:
    try:
        if kind == "count":
            value = float(text)
            if not 0 <= value < 1e18:
                raise ValueError(f'"{printable(text)}" cannot be a number of an axis')
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
