"""The bins of several repetitions pooled: histograms add up, and so do tails."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import sub

from howlate.model.bins import NO_BLOCKS, CellBins, ColumnBins, Histogram, Tail


def pool(bins: Sequence[CellBins]) -> CellBins | None:
    """All samples of all repetitions; courses in time cannot be pooled and are left out. None without
    repetitions."""
    if not bins:
        return None
    others = tuple(
        ColumnBins(
            name, pool_histograms([its.histogram for b in bins if (its := b.of(name)) is not None]), None
        )
        for name in dict.fromkeys(other.column for b in bins for other in b.others)
    )
    histogram = pool_histograms([b.histogram for b in bins])
    return CellBins(bins[0].column, histogram, NO_BLOCKS, pool_tails(bins), (), None, others)


def pool_histograms(histograms: Sequence[Histogram]) -> Histogram:
    """The union of the bins; those with equal edges are added."""
    counts: dict[tuple[int, int], int] = {}
    for histogram in histograms:
        edges = zip(histogram.lower_ns, histogram.upper_ns, strict=True)
        for edge, count in zip(edges, histogram.counts, strict=True):
            counts[edge] = counts.get(edge, 0) + count
    ordered = sorted(counts)
    return Histogram(
        tuple(low for low, _ in ordered),
        tuple(high for _, high in ordered),
        tuple(counts[e] for e in ordered),
    )


def pool_tails(bins: Sequence[CellBins]) -> Tail:
    """The share of all samples beyond each value that any of them has. Between the points of a thinned tail
    its last point applies, so that no share is made smaller than it was."""
    held = [b for b in bins if b.tail.latency_ns]
    totals = [sum(b.histogram.counts) for b in held]
    if not held or not sum(totals):
        return Tail((), ())
    passed: dict[int, int] = {}
    for one, total in zip(held, totals, strict=True):
        beyond = [total, *(round(total * share) for share in one.tail.share_beyond)]
        for value, (before, after) in zip(one.tail.latency_ns, pairwise(beyond), strict=True):
            passed[value] = passed.get(value, 0) + before - after
    values = sorted(passed)
    left = accumulate((passed[value] for value in values), sub, initial=sum(totals))
    return Tail(tuple(values), tuple(count / sum(totals) for count in list(left)[1:]))
