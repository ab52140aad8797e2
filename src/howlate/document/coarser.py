"""Fewer blocks of time where a page has no room for all of them."""

from __future__ import annotations

from msgspec.structs import replace

from howlate.charts.course import block_numbers, largest_of
from howlate.model.bins import CellBins, Scatter, TimeBlocks


def coarser(bins: CellBins | None, factor: int) -> CellBins | None:
    """The same with `factor` blocks of time, and columns of a scatter, joined into one that keeps the largest."""
    if bins is None or factor == 1:
        return bins
    return replace(
        bins,
        blocks=_blocks(bins.blocks, factor),
        scatter=_scatter(bins.scatter, factor),
        others=tuple(
            replace(other, scatter=_scatter(other.scatter, factor), blocks=_blocks(other.blocks, factor))
            for other in bins.others
        ),
    )


def _scatter(scatter: Scatter | None, factor: int) -> Scatter | None:
    if scatter is None:
        return None
    cells: dict[int, int] = {}
    for cell, count in zip(scatter.cells, scatter.counts, strict=True):
        column, row = divmod(cell, scatter.rows)
        here = column // factor * scatter.rows + row
        cells[here] = cells.get(here, 0) + count
    smallest: dict[int, int] = {}
    largest: dict[int, int] = {}
    for at, small, large in zip(scatter.at, scatter.smallest_ns, scatter.largest_ns, strict=True):
        smallest[at // factor] = min(small, smallest.get(at // factor, small))
        largest[at // factor] = max(large, largest.get(at // factor, large))
    kept = sorted(cells)
    return replace(
        scatter,
        per_column=scatter.per_column * factor,
        columns=-(-scatter.columns // factor),
        cells=tuple(kept),
        counts=tuple(cells[cell] for cell in kept),
        at=tuple(largest),
        smallest_ns=tuple(smallest.values()),
        largest_ns=tuple(largest.values()),
    )


def _blocks(blocks: TimeBlocks, factor: int) -> TimeBlocks:
    if not blocks.start_s:
        return blocks
    index = block_numbers(blocks)
    counts: dict[int, int] = {}
    for i, count in zip(index, blocks.counts, strict=True):
        counts[i // factor] = counts.get(i // factor, 0) + count
    wide = blocks.width_s * factor
    kept = sorted(counts)
    return TimeBlocks(
        start_s=tuple(blocks.start_s[0] + i * wide for i in kept),
        width_s=wide,
        counts=tuple(counts[i] for i in kept),
        median_ns=tuple(largest_of(index, blocks.median_ns, factor)),
        p99_ns=tuple(largest_of(index, blocks.p99_ns, factor)),
        max_ns=tuple(largest_of(index, blocks.max_ns, factor)),
    )
