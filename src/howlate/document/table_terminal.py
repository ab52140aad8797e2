"""A table in the terminal: as many tables as the width needs, so that no number is cut off."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from howlate.document.text import folded
from howlate.words.printable import without_controls

LABEL_AT_LEAST = 12
"""A label column is never folded narrower than this."""

Column = tuple[str, list[str]]
"""Heading and texts."""
BAR_LEAST, BAR_MOST = 6, 40
"""So many signs the longest bar of a histogram has."""


def print_table(
    console: Console, labels: Sequence[Column], numbers: Sequence[Column], valid: Sequence[bool]
) -> None:
    """In as many tables as the width needs; rows that are not valid are dimmed."""
    labels, numbers = (
        [(without_controls(head), [*map(without_controls, texts)]) for head, texts in columns]
        for columns in (labels, numbers)
    )
    gap = fitting_gap(console.width, [*labels, *numbers])
    for i, part in enumerate(parts(console.width, labels, numbers, gap)):
        if i:
            console.print()
        console.print(_table(console.width, labels, part, valid, gap))


def _width(column: Column) -> int:
    head, texts = column
    return max(cell_len(t) for t in (*head.split("\n"), *texts))


def fitting_gap(width: int, columns: Sequence[Column]) -> int:
    """Two spaces between columns, one where that makes the table fit."""
    return 2 if sum(_width(c) + 2 for c in columns) - 2 <= width else 1


def parts(width: int, labels: Sequence[Column], numbers: Sequence[Column], gap: int) -> list[list[Column]]:
    """The number columns in as many tables as the width needs. A table is split before a label is folded, unless the
    labels need more than half of the width."""
    whole = sum(_width(c) + gap for c in labels)
    least = whole if 2 * whole <= width else sum(min(_width(c), LABEL_AT_LEAST) + gap for c in labels)
    out: list[list[Column]] = [[]]
    used = least
    for column in numbers:
        needed = _width(column) + gap
        if out[-1] and used + needed - gap > width:
            out.append([])
            used = least
        out[-1].append(column)
        used += needed
    return out


def _table(
    width: int, labels: Sequence[Column], numbers: Sequence[Column], valid: Sequence[bool], gap: int
) -> Table:
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, show_edge=False, header_style="")
    room = width - sum(_width(c) + gap for c in numbers) + gap
    widths = [share - gap for share in _share_out(room, [_width(c) + gap for c in labels], gap)]
    for share, column in zip(widths, labels, strict=True):
        table.add_column(column[0], width=share, overflow="fold", vertical="bottom")
    for column in numbers:
        table.add_column(
            column[0], justify="right", no_wrap=True, min_width=_width(column), vertical="bottom"
        )
    for i, ok in enumerate(valid):
        names = [folded(texts[i], share) for share, (_, texts) in zip(widths, labels, strict=True)]
        most = max((len(lines) for lines in names), default=1)
        cells = [*names, *([texts[i]] for _, texts in numbers)]
        # everything begins on the row's first line: the numbers stand beside the label that they are of
        row = [Text("\n".join(lines + [""] * (most - len(lines)))) for lines in cells]
        table.add_row(*row, style="" if ok else "dim")
    return table


def _share_out(room: int, wanted: Sequence[int], gap: int) -> list[int]:
    """Widths of the label columns: what each wants, less where there is not enough, widest first."""
    given = list(wanted)
    while sum(given) > room and max(given) > LABEL_AT_LEAST + gap:
        given[given.index(max(given))] -= 1
    return given


def print_bars(console: Console, edges: Column, counts: Sequence[tuple[str, list[int]]]) -> None:
    """A histogram for each heading, side by side while there is room: a count and its bar, whose length is the
    logarithm of the count."""
    digits = max(len(str(count)) for _, values in counts for count in values)
    label = _width(edges) + 2
    beside = max(1, min(len(counts), (console.width - label + 2) // (digits + 1 + BAR_LEAST + 2)))
    room = (console.width - label + 2) // beside - 2
    longest = max(BAR_LEAST, min(BAR_MOST, room - digits - 1))
    top = max(count for _, values in counts for count in values)
    for first in range(0, len(counts), beside):
        block = counts[first : first + beside]
        if first:
            console.print()
        headings = [folded(heading, digits + 1 + longest) for heading, _ in block]
        most = max(len(lines) for lines in headings)
        columns = [
            [*lines, *[""] * (most - len(lines))]
            + [f"{count or '':>{digits}} {_bar(count, top, longest)}" for count in values]
            for lines, (_, values) in zip(headings, block, strict=True)
        ]
        names = [edges[0], *[""] * (most - 1), *edges[1]]
        for name, *cells in zip(names, *columns, strict=True):
            padded = [cell + " " * (digits + 1 + longest - cell_len(cell)) for cell in cells]
            line = " " * (label - 2 - cell_len(name)) + name + "  " + "  ".join(padded)
            console.print(Text(line.rstrip()), soft_wrap=True)


def _bar(count: int, top: int, longest: int) -> str:
    """One sign for 1, all for the largest count."""
    if not count:
        return ""
    share = math.log(count) / math.log(top) if top > 1 else 1.0
    return "#" * (1 + round(share * (longest - 1)))
