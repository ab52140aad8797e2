"""Whether the start of a cell made what a row shows: its largest value, or all that it has above the period.

A cell begins with a warm-up, but what disturbs at a start (a file that grows, a namespace that goes, grace periods of
RCU) may last longer. The tail of a judged column keeps the maxima of fifty equal intervals; where the first
two hold the largest value, chance would have put it there in one row of 25. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from howlate.model.summary import CellSummary
from howlate.model.tail import BLOCKS, TailSummary
from howlate.model.units import period_ns_of
from howlate.words.statement import Statement, message

FIRST = 2
"""Blocks of BLOCKS that are the start: 4 %."""

MAXIMUM = message(
    "start.maximum",
    "the largest {column}, {max_ns:time}, lies in the first 4 % of its cell, where chance puts 1 in 25: the start "
    "may have made it. Afterwards the largest is {rest_ns:time}.",
)
EXCEEDED = message(
    "start.exceeded",
    "the {count} value of {column} above the period lies in the first 4 % of its cell: the start may have made it.",
    "all {count} values of {column} above the period lie in the first 4 % of their cells: the start may have made "
    "them.",
    by="count",
)


def starts(cells: Sequence[CellSummary]) -> list[Statement]:
    """What must be said of a row, of which these are the repetitions, for each column that is judged."""
    names = dict.fromkeys(name for cell in cells for name in cell.judged if name in cell.columns)
    return [told for name in names for told in _of_column(name, cells)]


def _of_column(name: str, cells: Sequence[CellSummary]) -> list[Statement]:
    split = [(first, rest) for cell in cells if (halves := _halves(name, cell)) for first, rest in [halves]]
    if not split or len(split) < len(cells):
        return []
    column = name.removesuffix("_ns")
    max_ns, rest_ns = max(first for first, _rest in split), max(rest for _first, rest in split)
    told = [MAXIMUM(column=column, max_ns=max_ns, rest_ns=rest_ns)] if max_ns > rest_ns else []
    exceeded = sum(cell.columns[name].period_exceeded or 0 for cell in cells)
    period_ns = period_ns_of(cells[0].labels)
    if exceeded and period_ns is not None and rest_ns <= period_ns:
        told.append(EXCEEDED(column=column, count=exceeded))
    return told


def halves(tail: TailSummary) -> tuple[int, int] | None:
    """The largest value of the start and of the rest; None where a block has no sample."""
    if len(tail.block_max_ns) != BLOCKS:
        return None
    return max(tail.block_max_ns[:FIRST]), max(tail.block_max_ns[FIRST:])


def _halves(name: str, cell: CellSummary) -> tuple[int, int] | None:
    tail = cell.of_column(name).tail
    return None if tail is None else halves(tail)
