"""Microseconds or nanoseconds: what a file of cyclictest or jitterdebugger says of it, or what gives it away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from howlate.errors import UsageError
from howlate.imports.formats._foreign import ForeignSeries
from howlate.imports.formats._rt_tests import options
from howlate.imports.formats._text import BAD_MAP, UNITS, Line, unit_ns
from howlate.model.columns import LATENCY
from howlate.words.statement import rule

UNIT_OPEN = rule(
    "import.unit-open",
    "{path}, line {line}: the file does not say whether its values are microseconds or nanoseconds",
    remedy="say it: --map unit=us, or --map unit=ns if the tool ran with -N",
)
NO_WAKE_UP = 100
"""Nanoseconds on average in which no kernel wakes a thread."""
FAR_ABOVE = 100
"""So many periods late is no mean."""
US, NS = UNITS["us"], UNITS["ns"]


@dataclass(frozen=True)
class UnitEvidence:
    """What is known of a file's unit besides `--set`."""

    line: int
    """Where the figures stand."""
    stated: int | None = None
    """The unit that the file states, in nanoseconds."""
    command: str = ""
    """The tool's command line, if it is in the file."""
    means: Sequence[float] = ()
    """Of each thread, in the file's unit."""
    period_us: int = 0


def unit_of(mapping: Mapping[str, str], path: Path, known: UnitEvidence) -> int:
    """The unit in nanoseconds; UsageError where the file leaves it open and `--set` does not say it."""
    stated = known.stated
    if stated is None and known.command:
        stated = NS if "nsecs" in options(known.command) else US
    if "unit" in mapping:
        return _given(mapping, path, stated)
    if stated is not None:
        return stated
    if any(0 < mean < NO_WAKE_UP for mean in known.means):
        return US
    if known.period_us and any(mean > FAR_ABOVE * known.period_us for mean in known.means):
        return NS
    if not any(known.means):
        return US
    raise UsageError(UNIT_OPEN(path=path, line=known.line))


def _given(mapping: Mapping[str, str], path: Path, stated: int | None) -> int:
    unit = unit_ns(mapping)
    if stated is not None and unit != stated:
        name = next(name for name, ns in UNITS.items() if ns == stated)
        problem = f"{path} says that its values are in {name}"
        raise UsageError(BAD_MAP(name="unit", value=mapping["unit"], problem=problem, hint="leave it out"))
    return unit


def believable(series: Sequence[ForeignSeries], path: Path) -> None:
    """Refuses means of a woken thread in nanoseconds, as the file says, in which no kernel wakes one."""
    for its in series:
        stated = its.stated
        woken = stated.unit_ns == NS and stated.column in (LATENCY, "thread_latency_ns", "user_latency_ns")
        if woken and stated.mean is not None and 0 < float(stated.mean) < NO_WAKE_UP:
            raise Line(path, its.line, "").wrong(
                f"the unit is said to be nanoseconds, and no kernel wakes a thread within {stated.mean} ns"
            )
