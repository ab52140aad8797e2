"""Fewer blocks of time where a page has no room for all of them."""

from __future__ import annotations

from dataclasses import replace

from howlate.charts.course import block_numbers, largest_of
from howlate.model.bins import CellBins, TimeBlocks


def coarser(bins: CellBins | None, factor: int) -> CellBins | None:
    """The same with so many blocks of time joined into one, the largest value of each kept."""
    if bins is None or factor == 1 or not bins.blocks.start_s:
        return bins
    blocks = bins.blocks
    index = block_numbers(blocks)
    counts: dict[int, int] = {}
    for i, count in zip(index, blocks.counts, strict=True):
        counts[i // factor] = counts.get(i // factor, 0) + count
    wide = blocks.width_s * factor
    kept = sorted(counts)
    coarse = TimeBlocks(
        start_s=tuple(blocks.start_s[0] + i * wide for i in kept),
        width_s=wide,
        counts=tuple(counts[i] for i in kept),
        median_ns=tuple(largest_of(index, blocks.median_ns, factor)),
        p99_ns=tuple(largest_of(index, blocks.p99_ns, factor)),
        max_ns=tuple(largest_of(index, blocks.max_ns, factor)),
    )
    return replace(bins, blocks=coarse)
