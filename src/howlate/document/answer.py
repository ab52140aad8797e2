"""The short answer: the largest latency that was seen. No sentence promises anything beyond the samples."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.figures.words import words_of_column
from howlate.model.columns import LATENCY
from howlate.model.loaded import CellContent
from howlate.model.summary import CellSummary
from howlate.statistics.groups import Group
from howlate.statistics.labels import axes_that_vary
from howlate.statistics.valid import holds
from howlate.words.caption import Caption
from howlate.words.language import N_
from howlate.words.quantities import seconds_text
from howlate.words.statement import Statement, message

LARGEST = message("report.largest", "Largest {what} seen in {span}: {largest_ns:time}{row}.")
NO_ANSWER = message("report.no-answer", "No answer yet: {why}.")
NOT_MEASURED = Caption(N_("nothing was measured"))
NOT_VALID = Caption(N_("no cell is valid"))
NOT_LOADED = Caption(N_("the load was starved, as the study expects"))
NO_VALUE = Caption(N_("the valid cells have no value"))


def answer_of_points(groups: Sequence[Group], *, virtual: bool) -> Statement:
    held = [(group, largest) for group in groups if (largest := group.largest(_column(group))) is not None]
    if not held:
        return NO_ANSWER(why=NOT_VALID if groups else NOT_MEASURED)
    worst, largest_ns = max(held, key=lambda pair: (_is_answer(pair[0].cells), pair[1]))
    axes = axes_that_vary([group.labels for group, _largest in held])
    row = " · ".join(worst.labels[axis] for axis in axes if worst.labels.get(axis))
    return LARGEST(
        what=words_of_column(_column(worst)),
        span=Caption("all seeds") if virtual else Caption("all repetitions"),
        largest_ns=largest_ns,
        row=_row(row, several=len(held) > 1),
    )


def _is_answer(cells: Sequence[CellSummary]) -> bool:
    """A deadline is held against its values. Others are the answer of a run that has nothing else."""
    return any(cell.judged for cell in cells)


def _column(group: Group) -> str:
    cells = [cell for cell in group.seen or group.cells if cell.columns]
    worst = max(cells, key=lambda cell: _max(cell) or 0, default=None)
    return LATENCY if worst is None else worst.latest


def answer(cells: Sequence[CellContent], names: Sequence[str]) -> Statement:
    """The largest of the cells that count; `names`: what a row is called."""
    usable = [
        (largest_ns, name, cell)
        for name, cell in zip(names, cells, strict=True)
        if holds(cell.summary) and not cell.summary.starved and (largest_ns := _max(cell.summary)) is not None
    ]
    if not usable:
        return NO_ANSWER(why=_why_none(cells))
    largest_ns, name, worst = max(usable, key=lambda row: (_is_answer([row[2].summary]), row[0]))
    seconds = [cell.looked_s for _largest, _name, cell in usable]
    return LARGEST(
        what=words_of_column(worst.summary.latest),
        span=seconds_text(sum(seconds), " ") if all(seconds) else Caption("an unknown time"),
        largest_ns=largest_ns,
        row=_row(name, several=len(usable) > 1),
    )


def _row(name: str, *, several: bool) -> str:
    return f" ({name})" if several else ""


def _why_none(cells: Sequence[CellContent]) -> Caption:
    if any(cell.summary.starved for cell in cells):
        return NOT_LOADED
    if any(cell.summary.valid for cell in cells):
        return NO_VALUE
    return NOT_VALID if cells else NOT_MEASURED


def _max(cell: CellSummary) -> int | None:
    column = cell.columns.get(cell.latest)
    return None if column is None else column.max
