"""The grid of a scatter: values against their index, fine where nearly all of them are, so that bands are
visible.

Values up to the knee (the order statistic of rank ceil(0.99 n)) lie in rows of equal height, so bands at
constant distances stay apart. Values beyond lie in rows of equal ratio, up to the maximum. Nothing is left
out.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from howlate.model.bins import Grid, Scatter
from howlate.statistics.describe import Int64s, ValueCounts, at_rank

COLUMNS = 400
"""About one for every two pixels."""
LINEAR, BEYOND = 200, 40
"""The maximum number of rows up to the knee, and above it."""
_NEAR = 4
"""A maximum within this many spans of the body needs no second scale."""


def row_of(grid: Grid, value: str) -> str:
    """The row of a value, as SQL."""
    span_ns = grid.knee_ns - grid.low_ns + 1
    """How many integers the linear rows share."""
    from_ns = max(grid.knee_ns, 1)
    """The start of the logarithm: at the knee, or at 1 if the knee is not above it."""
    wide = "BIGINT" if span_ns * grid.linear < 2**63 else "HUGEINT"  # ten times as slow
    linear = f"(({value}) - ({grid.low_ns}))::{wide} * {grid.linear} // {span_ns}"
    beyond = grid.rows - grid.linear
    if not beyond:
        return linear
    ratio = grid.high_ns / from_ns
    share = f"ln(({value})::DOUBLE / {from_ns}) / ln({ratio!r}::DOUBLE)"
    bent = f"{grid.linear} + greatest(0, least({beyond - 1}, floor({share} * {beyond})))::INTEGER"
    return f"CASE WHEN ({value}) <= {grid.knee_ns} THEN {linear} ELSE {bent} END"


def grid(counts: ValueCounts, indices: int) -> Grid | None:
    """The grid for these values, whose indices are 0 to `indices` - 1; None without values."""
    if counts.n == 0 or indices < 1:
        return None
    per_column = -(-indices // COLUMNS)
    low, high = int(counts.values[0]), int(counts.values[-1])
    knee = at_rank(counts, -(-counts.n * 99 // 100))
    if knee < 0 < high:  # the logarithm begins above zero
        knee = 0
    if high - low <= _NEAR * (knee - low + 1) or high <= 1:  # nothing for a logarithm, which begins at 1
        knee = high
    linear = min(LINEAR, knee - low + 1)
    rows = linear + (BEYOND if high > knee else 0)
    return Grid(per_column, -(-indices // per_column), rows, linear, low, knee, high)


class Filled(Struct, frozen=True):
    """Counts by column and row of a grid with their extremes, sorted: the groups that a query returns."""

    column: Int64s
    row: Int64s
    counts: Int64s
    smallest: Int64s
    largest: Int64s


def scatter(where: Grid, filled: Filled) -> Scatter:
    first = (
        np.concatenate(([0], np.flatnonzero(np.diff(filled.column)) + 1))
        if len(filled.column)
        else np.array([], int)
    )
    return Scatter(
        **asdict(where),
        cells=tuple((filled.column * where.rows + filled.row).tolist()),
        counts=tuple(filled.counts.tolist()),
        at=tuple(filled.column[first].tolist()),
        smallest_ns=tuple(np.minimum.reduceat(filled.smallest, first).tolist()) if len(first) else (),
        largest_ns=tuple(np.maximum.reduceat(filled.largest, first).tolist()) if len(first) else (),
    )
