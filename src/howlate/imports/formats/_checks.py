"""Whether a tool's own figures and its histogram can be of one set of samples. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from msgspec.structs import replace

from howlate.imports.formats._foreign import ForeignSeries
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
