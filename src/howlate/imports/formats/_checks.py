"""Whether a tool's own figures and its histogram can be of one set of samples; and whether they are microseconds or
nanoseconds, by what a file of cyclictest or jitterdebugger says of it, or by what gives it away. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from howlate.imports.formats._foreign import ForeignSeries
from howlate.imports.formats._importer import not_imported
from howlate.imports.formats._rt_tests import options
from howlate.imports.formats._text import UNITS, Line, bad_map, unit_ns
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated
from howlate.statistics.contradictions import PrintedNumber, Summary, contradictions


def checked(
    series: Sequence[ForeignSeries], path: object
) -> tuple[tuple[ForeignSeries, ...], tuple[str, ...]]:
    """The series, those that contradict themselves marked as such, and a sentence for each contradiction."""
    sentences: list[str] = []
    marked = []
    for entry in series:
        problems = [*_stated(entry.stated), *_against_bins(entry)]
        sentences += [f"{path}, line {entry.line}: {_who(entry.stated)}: {problem}" for problem in problems]
        marked.append(replace(entry, stated=replace(entry.stated, sound=False)) if problems else entry)
    return tuple(marked), tuple(sentences)


def _who(stated: Stated) -> str:
    name = stated.column.removesuffix("_ns").replace("_", " ")
    return f"{name} of CPU {stated.cpu}" if stated.cpu >= 0 else f"{name} of thread {stated.thread}"


def _printed(stated: Stated, name: str) -> PrintedNumber | None:
    text = getattr(stated, name)
    return None if text is None else PrintedNumber.of(Decimal(text), stated.unit_ns)


def _stated(stated: Stated) -> Iterable[str]:
    row = Summary(
        n=stated.count,
        min=_printed(stated, "min"),
        mean=_printed(stated, "mean"),
        max=_printed(stated, "max"),
        stddev=_printed(stated, "stddev"),
    )
    if row.n == 0:
        return
    for contradiction in contradictions(row):
        figures = ", ".join(
            f"{name} {getattr(stated, name, None) or stated.count}" for name in contradiction.figures
        )
        yield f"{figures} contradict each other ({contradiction.rule})"


def _against_bins(series: ForeignSeries) -> Iterable[str]:
    """Counts that do not add up, and extremes or a mean that the histogram cannot have."""
    stated, bins = series.stated, {value: count for value, count in series.bins.items() if count}
    total = sum(bins.values())
    beyond = stated.beyond
    if stated.count is not None and beyond is not None and series.bins and stated.count != total + beyond:
        yield f"{total:,} in the histogram and {beyond:,} beyond are not the {stated.count:,} stated"
    if bins:
        yield from _extremes(stated, min(bins), max(bins))
        yield from _mean(stated, bins, total)


def _extremes(stated: Stated, lowest: int, highest: int) -> Iterable[str]:
    width = max(stated.width_ns, stated.unit_ns)
    smallest, largest = _printed(stated, "min"), _printed(stated, "max")
    if smallest is not None and not lowest - width <= smallest.value <= lowest + width:
        yield f"minimum {stated.min} is not that of the histogram, {_in_unit(lowest, stated)}"
    if largest is None:
        return
    if stated.beyond == 0 and not highest - width <= largest.value <= highest + width:
        yield f"maximum {stated.max} is not that of the histogram, {_in_unit(highest, stated)}"
    if largest.value < highest - width:
        yield f"maximum {stated.max} is below the histogram's, {_in_unit(highest, stated)}"
    elif stated.beyond and stated.beyond_from_ns is not None and largest.value < stated.beyond_from_ns:
        yield f"maximum {stated.max} lies within the histogram, which has samples beyond"


def _mean(stated: Stated, bins: dict[int, int], total: int) -> Iterable[str]:
    mean = _printed(stated, "mean")
    if mean is None or stated.beyond != 0:
        return
    own = Fraction(sum(value * count for value, count in bins.items()), total)
    if abs(mean.value - own) > mean.unit + max(stated.width_ns, 0):
        yield f"mean {stated.mean} is not that of the histogram, {float(own / stated.unit_ns):.3f}"


def _in_unit(ns: int, stated: Stated) -> str:
    return f"{ns / stated.unit_ns:g}"


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
