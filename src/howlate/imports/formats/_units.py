"""Microseconds or nanoseconds: what a file of cyclictest or jitterdebugger says of it, or what gives it away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from howlate.imports.formats._foreign import ForeignSeries
from howlate.imports.formats._importer import not_imported
from howlate.imports.formats._rt_tests import options
from howlate.imports.formats._text import UNITS, Line, bad_map, unit_ns
from howlate.model.columns import LATENCY

UNIT_OPEN = "its unit is not stated"
NO_WAKE_UP = 100
"""Nanoseconds on average in which no kernel wakes a thread."""
FAR_ABOVE = 100
"""A mean of more periods is impossible."""
US, NS = UNITS["us"], UNITS["ns"]


class UnitEvidence(Struct, frozen=True):
    """What a file tells of its unit."""

    stated: int | None = None
    """The unit that the file states, in nanoseconds."""
    command: str = ""
    """The tool's command line, if it is in the file."""
    means: Sequence[float] = ()
    """Of each thread, in the file's unit."""
    period_us: int = 0


def unit_of(mapping: Mapping[str, str], path: Path, known: UnitEvidence) -> int:
    """The unit in nanoseconds; UsageError if neither the file nor `--map` tells."""
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
    raise not_imported(path, UNIT_OPEN, "write --map unit=us, or --map unit=ns if the tool ran with -N")


def _given(mapping: Mapping[str, str], path: Path, stated: int | None) -> int:
    unit = unit_ns(mapping)
    if stated is not None and unit != stated:
        name = next(name for name, ns in UNITS.items() if ns == stated)
        problem = f"{path} states {name}"
        raise bad_map("unit", mapping["unit"], problem, "leave it out")
    return unit


def believable(series: Sequence[ForeignSeries], path: Path) -> None:
    """Refuses means of a woken thread in nanoseconds, as the file says, in which no kernel wakes one."""
    for its in series:
        stated = its.stated
        woken = stated.unit_ns == NS and stated.column in (LATENCY, "thread_latency_ns", "user_latency_ns")
        if woken and stated.mean is not None and 0 < float(stated.mean) < NO_WAKE_UP:
            raise Line(path, its.line, "").wrong(
                f"the unit is nanoseconds, but no kernel wakes a thread within {stated.mean} ns"
            )
