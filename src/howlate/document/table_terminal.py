"""A table in the terminal. Where the width is not enough the less important columns are left out, and named."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from howlate.document.sheet import NOTHING
from howlate.document.text import folded, wrapped
from howlate.words.language import _
from howlate.words.printable import without_controls

LABEL_WIDTH, LEAST_LABEL = 12, 6
"""A label column is folded narrower than the first only where it must be, and never narrower than the second."""

Column = tuple[str, list[str]]
"""Heading and texts."""
BAR_LEAST, BAR_MOST = 6, 40
"""Length of the longest bar of a histogram, in signs."""


def print_table(
    console: Console,
    labels: Sequence[Column],
    numbers: Sequence[Column],
    valid: Sequence[bool],
) -> None:
    """Rows that are not valid are dimmed."""
    for line, style in table_lines(console.width, labels, numbers, valid):
        console.print(Text(line, style=style), soft_wrap=True)


def table_lines(
    width: int,
    labels: Sequence[Column],
    numbers: Sequence[Column],
    valid: Sequence[bool],
    kept: Sequence[bool] = (),
) -> list[tuple[str, str]]:
    labels, numbers = (
        [(without_controls(head), [*map(without_controls, texts)]) for head, texts in columns]
        for columns in (labels, numbers)
    )
    gap = 2 if sum(_width(c) + 2 for c in (*labels, *numbers)) - 2 <= width else 1
    left_out = _left_out(width, labels, numbers, kept, gap)
    shown = [column for i, column in enumerate(numbers) if i not in left_out]
    room = width - sum(_width(c) + gap for c in shown) + gap
    widths = [share - gap for share in _share_out(room, [_width(c) + gap for c in labels], gap)]
    sides = [*widths, *(-_width(c) for c in shown)]
    heads = [folded(head, share) for share, (head, _texts) in zip(widths, labels, strict=True)]
    heads += [head.split("\n") for head, _texts in shown]
    tallest = max((len(head) for head in heads), default=0)
    lines = [(line, "") for line in _row([[""] * (tallest - len(h)) + h for h in heads], sides, gap)]
    for i, ok in enumerate(valid):
        names = [folded(texts[i], share) for share, (_head, texts) in zip(widths, labels, strict=True)]
        row = _row([*names, *([texts[i]] for _head, texts in shown)], sides, gap)
        lines += [(line, "" if ok else "dim") for line in row]
    if left_out:
        names_ = "; ".join(" ".join(numbers[i][0].replace("-\n", "").split()) for i in sorted(left_out))
        text = _("no room for: {columns}").format(columns=names_)
        lines += [(f"  {line}", "dim") for line in wrapped(text, max(LABEL_WIDTH, width - 2))]
    return lines


def _row(cells: Sequence[Sequence[str]], sides: Sequence[int], gap: int) -> list[str]:
    """Cells of several lines, which begin on the first. A negative width: its texts stand to the right."""
    lines = []
    for number in range(max(map(len, cells), default=0)):
        texts = [cell[number] if number < len(cell) else "" for cell in cells]
        spaces = [" " * (abs(side) - cell_len(text)) for text, side in zip(texts, sides, strict=True)]
        padded = [
            text + space if side > 0 else space + text
            for text, space, side in zip(texts, spaces, sides, strict=True)
        ]
        lines.append((" " * gap).join(padded).rstrip())
    return lines


def _width(column: Column) -> int:
    head, texts = column
    return max(cell_len(t) for t in (*head.split("\n"), *texts))


def _left_out(
    width: int, labels: Sequence[Column], numbers: Sequence[Column], kept: Sequence[bool], gap: int
) -> set[int]:
    """First the columns in which nothing stands, then those behind the others, at last those that are kept. A label
    is folded only where the labels need more than half of the width."""
    whole = sum(_width(c) + gap for c in labels)
    used = whole if 2 * whole <= width else sum(min(_width(c), LABEL_WIDTH) + gap for c in labels)
    used += sum(_width(c) + gap for c in numbers) - gap
    empty = [all(text in ("", "-", NOTHING) for text in texts) for _head, texts in numbers]
    is_kept = [*kept, *[False] * (len(numbers) - len(kept))]
    order = sorted(range(len(numbers)), key=lambda i: (not empty[i], is_kept[i], -i))
    found: set[int] = set()
    for i in order[:-1]:
        if used <= width:
            break
        found.add(i)
        used -= _width(numbers[i]) + gap
    return found


def _share_out(room: int, wanted: Sequence[int], gap: int) -> list[int]:
    """Widths of the label columns: what each wants, less where there is not enough, widest first."""
    given = list(wanted)
    while sum(given) > room and max(given) > LEAST_LABEL + gap:
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
    if not count:
        return ""
    share = math.log(count) / math.log(top) if top > 1 else 1.0
    return "#" * (1 + round(share * (longest - 1)))
