"""A column that another tool measured, described from its histogram and from what the tool states itself.

What a file cannot tell is absent. Where a histogram left samples out, they count as larger than everything in it:
quantiles below its end stand, those beyond do not. Statistics of bins wider than the tool's resolution are the
tool's own or absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.bins import CellBins, Histogram, Tail
from howlate.model.stated import Stated
from howlate.model.summary import ColumnSummary
from howlate.statistics.describe import BEYOND, ValueCounts, at_rank, exceedances
from howlate.statistics.statistics import QUANTILES, describe
from howlate.statistics.summary_contradictions import column_contradiction


class Outside(Struct, frozen=True):
    """Samples that a histogram left out: how many, from where on, and the largest if the tool states it."""

    samples: int
    from_ns: int
    max_ns: int


def as_stated(
    columns: Mapping[str, ColumnSummary],
    counts: Mapping[str, ValueCounts],
    stated: Sequence[Stated],
    period_ns: int | None,
) -> dict[str, ColumnSummary]:
    """The columns that another tool measured, with its own figures; the others as they are."""
    found = _by_column(stated)
    return {
        name: replace(
            describe_stated(counts[name], found[name], period_ns),
            max_at_s=column.max_at_s,
            alone=column.alone,
        )
        if name in found
        else column
        for name, column in columns.items()
    }


def samples_of(main: ValueCounts, column: ColumnSummary) -> int:
    """The number of samples; at least one if a tool states a maximum and no count."""
    return main.n or column.count or int(column.max is not None)


def late_at_least(late: Mapping[int, int], stated: Sequence[Stated], deadline_ns: int) -> dict[int, int]:
    """The samples of each thread that missed a deadline, as far as that is known. `late`: those of its histogram,
    whose wide bins count as their lower edges. A thread whose maximum is a miss has one at least."""
    found = dict(late)
    for entry in stated:
        beyond = (entry.beyond or 0) if _all_late(entry, deadline_ns) else 0
        is_missed = (_figure(entry, "max") or 0) > deadline_ns
        found[entry.thread] = max(found.get(entry.thread, 0) + beyond, int(is_missed))
    return found


def more_may_be_late(counts: ValueCounts, stated: Sequence[Stated], deadline_ns: int) -> bool:
    """Whether samples of which only the range is known may have missed the deadline or not."""
    for entry in stated:
        largest = _figure(entry, "max")
        if largest is not None and largest <= deadline_ns:
            continue
        if entry.beyond != 0 and not _all_late(entry, deadline_ns):
            return True
        in_bin_ns = max(entry.width_ns - entry.unit_ns, 0)
        if exceedances(counts, deadline_ns - in_bin_ns) > exceedances(counts, deadline_ns):
            return True
    return False


def _all_late(entry: Stated, deadline_ns: int) -> bool:
    """Whether all samples outside of the histogram missed a deadline."""
    least = _figure(entry, "min") if entry.beyond == entry.count else None
    known = [float(ns) for ns in (entry.beyond_from_ns, least) if ns is not None]
    return entry.beyond is not None and max(known, default=0.0) > deadline_ns


def _figure(entry: Stated, name: str) -> float | None:
    return entry.ns(name) if entry.sound else None


def with_left_out(bins: CellBins, counts: Mapping[str, ValueCounts], stated: Sequence[Stated]) -> CellBins:
    """The pictures with the samples that another tool's histogram left out."""
    found = _by_column(stated)
    beyond = {name: outside(found.get(name, ()), data) for name, data in counts.items()}

    def whole(name: str, histogram: Histogram) -> Histogram:
        left_out = beyond[name]
        return histogram if left_out is None else with_outside(histogram, left_out)

    main = beyond[bins.column]
    return replace(
        bins,
        histogram=whole(bins.column, bins.histogram),
        tail=bins.tail if main is None else tail_with_outside(bins.tail, counts[bins.column].n, main),
        others=tuple(replace(its, histogram=whole(its.column, its.histogram)) for its in bins.others),
    )


def _by_column(stated: Sequence[Stated]) -> dict[str, list[Stated]]:
    found: dict[str, list[Stated]] = {}
    for entry in stated:
        found.setdefault(entry.column, []).append(entry)
    return found


def describe_stated(counts: ValueCounts, stated: Sequence[Stated], period_ns: int | None) -> ColumnSummary:
    """All statistics of a column; `stated`: the tool's own figures, an entry a thread."""
    sound = [entry for entry in stated if entry.sound]
    whole = sound if len(sound) == len(stated) else []
    described = _of_histogram(counts, stated, period_ns)
    column = replace(
        described,
        count=_count(counts, stated),
        min=_extreme("min", whole, described.min),
        max=_extreme("max", whole, described.max),
        mean=described.mean if _exact(counts, stated) else _mean(whole),
        stddev=described.stddev if _exact(counts, stated) else _alone("stddev", whole),
        max_by_cpu=_max_by_cpu(whole),
    )
    column = replace(column, quantiles={q: _within(column, value) for q, value in column.quantiles.items()})
    return _consistent(column, described)


def _of_histogram(counts: ValueCounts, stated: Sequence[Stated], period_ns: int | None) -> ColumnSummary:
    beyond = _beyond(stated) or 0
    described = describe(counts)
    quantiles = {share: _quantile(counts, beyond, share) for share in QUANTILES}
    return replace(described, quantiles=quantiles, period_exceeded=_exceeded(counts, stated, period_ns))


def _beyond(stated: Sequence[Stated]) -> int | None:
    """Samples outside of the histogram, over all threads; None where one of them does not say."""
    known = [entry.beyond for entry in stated if entry.beyond is not None]
    return sum(known) if len(known) == len(stated) else None


def _count(counts: ValueCounts, stated: Sequence[Stated]) -> int | None:
    told = [entry.count for entry in stated if entry.count is not None and entry.sound]
    if len(told) == len(stated):
        return sum(told)
    return counts.n + (_beyond(stated) or 0) if counts.n else None


def _exact(counts: ValueCounts, stated: Sequence[Stated]) -> bool:
    return counts.n > 0 and not _beyond(stated) and not any(entry.width_ns for entry in stated)


def _quantile(counts: ValueCounts, beyond: int, share: str) -> int | None:
    """As `describe.quantile`; None where the order statistic is one of the samples beyond."""
    total = counts.n + beyond
    rank = int(-(-Fraction(share) * total // 1))
    return at_rank(counts, rank) if total - rank >= BEYOND and 0 < rank <= counts.n else None


def _exceeded(counts: ValueCounts, stated: Sequence[Stated], period_ns: int | None) -> int | None:
    """Samples above the period; None where some sample's side of it is not known."""
    beyond = _beyond(stated)
    if period_ns is None or beyond is None or not counts.n:
        return None
    ends = [entry.beyond_from_ns for entry in stated if entry.beyond]
    if any(end is None or end <= period_ns for end in ends):
        return None
    return exceedances(counts, period_ns) + beyond


def _extreme(name: str, stated: Sequence[Stated], fallback: int | None) -> int | None:
    found = [value for entry in stated if (value := entry.ns(name)) is not None]
    if not found or len(found) < len(stated):
        return fallback
    return round(min(found) if name == "min" else max(found))


def _mean(stated: Sequence[Stated]) -> float | None:
    """The threads' own means, each by its count."""
    if len(stated) == 1:
        return _alone("mean", stated)
    weighed = [
        (mean, entry.count)
        for entry in stated
        if (mean := entry.ns("mean")) is not None and entry.count is not None
    ]
    total = sum(count for _, count in weighed)
    if not total or len(weighed) < len(stated):
        return None
    return sum(mean * count for mean, count in weighed) / total


def _alone(name: str, stated: Sequence[Stated]) -> float | None:
    return stated[0].ns(name) if len(stated) == 1 else None


def _max_by_cpu(stated: Sequence[Stated]) -> dict[str, int]:
    """The largest value of each CPU; empty where one alone measured."""
    found: dict[str, int] = {}
    for entry in stated:
        largest = entry.ns("max")
        if largest is not None:
            name = str(entry.cpu)
            found[name] = max(found.get(name, round(largest)), round(largest))
    return found if len(found) > 1 else {}


def _within(column: ColumnSummary, value: int | None) -> int | None:
    if value is None:
        return None
    low = value if column.min is None else max(value, column.min)
    return low if column.max is None else min(low, column.max)


def _consistent(column: ColumnSummary, described: ColumnSummary) -> ColumnSummary:
    """Without what the tool's rounding makes incompatible with the rest; at last with its histogram alone."""
    plain = replace(column, mean=None, stddev=None)
    bare = replace(described, count=column.count, mean=None, stddev=None, period_exceeded=None)
    for candidate in (column, plain, bare):
        if not column_contradiction(candidate):
            return candidate
    return replace(bare, quantiles=dict.fromkeys(QUANTILES), min=None, max=None)


def outside(stated: Sequence[Stated], counts: ValueCounts) -> Outside | None:
    """The samples that the charts cannot draw at their values; None where there are none, or nobody counted them."""
    some = [entry for entry in stated if entry.beyond and entry.beyond_from_ns is not None]
    if not some or not counts.n:
        return None
    samples = sum(entry.beyond or 0 for entry in some)
    from_ns = max(min(entry.beyond_from_ns or 0 for entry in some), int(counts.values[-1]) + 1)
    largest = [entry.ns("max") if entry.sound else None for entry in some]
    most = max((round(value) for value in largest if value is not None), default=0)
    return Outside(samples, from_ns, max(most, from_ns))


def with_outside(histogram: Histogram, beyond: Outside) -> Histogram:
    """One more bin, from the end of the range to the largest."""
    return Histogram(
        (*histogram.lower_ns, max(beyond.from_ns, histogram.upper_ns[-1])),
        (*histogram.upper_ns, max(beyond.max_ns + 1, histogram.upper_ns[-1] + 1)),
        (*histogram.counts, beyond.samples),
    )


def tail_with_outside(tail: Tail, samples: int, beyond: Outside) -> Tail:
    """The share beyond each value with the samples that were left out, all at the largest: never too small."""
    total = samples + beyond.samples
    shares = tuple((share * samples + beyond.samples) / total for share in tail.share_beyond)
    return Tail((*tail.latency_ns, beyond.max_ns), (*shares, 0.0))
