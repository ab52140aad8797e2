"""A table before anybody draws it: columns of cells, each with its text and its exact value. It is made once, as the
page writes it; terminal and JSON take `Sheet.plain`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from statistics import median
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from howlate.model.summary import MISSES, ColumnSummary, DeadlineSummary
from howlate.words.quantities import NARROW_SPACE, Rounds
from howlate.words.say import Text, text_of


class Unit(Struct, frozen=True):
    """A unit of time with the decimals that a table uses."""

    name: str
    size: int
    decimals: int

    @property
    def sign(self) -> str:
        return "µs" if self.name == "us" else self.name

    def text(self, ns: float, rounds: Rounds = round) -> str:
        step = 10**self.decimals
        rounded = ns / self.size if rounds is round else rounds(ns * step / self.size) / step
        return f"{rounded:,.{self.decimals}f}".replace(",", NARROW_SPACE)


def unit_for(columns: Iterable[ColumnSummary]) -> Unit:
    """us, as a rule; ns where every maximum is below a microsecond or the typical mean far below; ms where every mean
    is at least ten milliseconds. One row alone (a timer that spins) does not choose for the others."""
    found = [c for c in columns if c.max is not None and c.mean is not None]
    if not found:
        return Unit("us", 1000, 1)
    largest = max(c.max or 0 for c in found)
    smallest_mean = min(c.mean or 0.0 for c in found)
    typical_mean = median(c.mean or 0.0 for c in found)
    if largest < 1000 or typical_mean < 200:
        return Unit("ns", 1, 1)
    if smallest_mean >= 10e6:
        return Unit("ms", 1_000_000, 2)
    fine = typical_mean < 1_000 or (typical_mean < 10_000 and largest < 1_000_000)
    return Unit("us", 1000, 2 if fine else 1)


class Style(Enum):
    TERMINAL = "terminal"
    PAGE = "page"


TERMINAL, PAGE = Style.TERMINAL, Style.PAGE
NOTHING = "–"
"""Where there is no value."""


ESSENTIAL = (MISSES, "verdict", "load", "dropped")
"""What a reader must not miss of a row."""


NO_TABLES = ("list", "meaning", "differences", "findings", "shares")
"""Kinds of sheets that are drawn as lists or cards."""


class SheetCell(Struct, frozen=True):
    """One cell of a table: a text, and the exact value behind it."""

    text: str
    value: int | float | None = None
    """The exact value; None if the cell holds words."""
    sign: str = ""
    """Shown after the text: a mark that a note explains, or the word for `state`."""
    strong: bool = False
    state: str = ""
    """What the text means, which the page shows in a colour: "indistinct", "smaller"."""
    why: str = ""
    """A sentence about this cell alone."""

    @property
    def is_absent(self) -> bool:
        return self.text in ("", NOTHING, "-") and not self.sign and not self.why


class Column(Struct, frozen=True):
    key: str
    heading: str
    cells: tuple[SheetCell, ...]
    label: bool = False
    """The column names the rows; otherwise it holds figures, which are aligned to the right."""
    apart: bool = False
    """A wider gap precedes it, because another kind of figure begins."""
    words: bool = False
    """Its cells are words, which are aligned to the left."""
    short: str = ""
    """The heading divided into lines, for a narrow table; "" if it is divided at its spaces."""

    @property
    def is_kept(self) -> bool:
        """A terminal without room for all columns leaves this one out last."""
        return self.key in ESSENTIAL or any(cell.strong or cell.state for cell in self.cells)


class Row(Struct, frozen=True):
    id: str = ""
    """The id of the cell or point; "" for none."""
    kind: str = ""
    """"invalid", "ours" or "published"."""
    marks: tuple[str, ...] = ()
    """Shown after its name: "invalid", "not alone", "incomplete"."""
    why: str = ""
    """A sentence that is shown below the row."""

    @property
    def valid(self) -> bool:
        return self.kind != "invalid"


class Sheet(Struct, frozen=True):
    """One table."""

    key: str
    """Its name, unique on a page."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    """Left out where none of them has a property."""
    notes: tuple[str, ...] = ()
    """Sentences that belong to the table."""
    caution: Text = ""
    """What a reader must know before the first number."""
    kind: str = "summary"
    """What it is a table of: "summary", "disturbances", "sides", "kernels"; of some kinds not a table is drawn but a
    list ("list facts", "meaning", "differences", "causes") or a card for each row ("findings")."""
    about: str = ""
    """The column of the samples that it shows."""
    of: str = "cell"
    """What a row is: "cell", "point", "disturbed", "quantiles-of"."""

    def __post_init__(self) -> None:
        if self.columns and not self.rows:
            force_setattr(self, "rows", tuple(Row() for _ in self.columns[0].cells))

    def records(self) -> list[dict[str, str]]:
        """For each row, its texts by the keys of their columns."""
        return [{column.key: column.cells[i].text for column in self.columns} for i in range(len(self.rows))]

    def first(self, most: int) -> Sheet:
        columns = tuple(replace(column, cells=column.cells[:most]) for column in self.columns)
        return replace(self, columns=columns, rows=self.rows[:most])

    def largest(self, key: str, most: int) -> Sheet:
        """The rows with the largest values in a column, the largest first."""
        values = next(column for column in self.columns if column.key == key).cells
        order = sorted(range(len(self.rows)), key=lambda i: -(values[i].value or 0))
        columns = tuple(
            replace(column, cells=tuple(column.cells[i] for i in order)) for column in self.columns
        )
        return replace(self, columns=columns, rows=tuple(self.rows[i] for i in order)).first(most)

    def present(self) -> Sheet | None:
        """Without the columns in which nothing stands; None if no figure is left. Only tables have such columns."""
        if self.kind.split()[0] in NO_TABLES:
            return self
        columns = tuple(c for c in self.columns if c.label or not all(cell.is_absent for cell in c.cells))
        is_left = any(not column.label for column in columns) or all(column.label for column in self.columns)
        return replace(self, columns=columns) if is_left else None

    def to_json(self) -> dict[str, Any]:
        """Headings, and for each row its values: exact ones where there are any, else their texts."""
        plain = self.plain()
        return {
            "key": self.key,
            "kind": self.kind,
            "title": plain.title,
            "columns": [{"key": column.key, "heading": column.heading} for column in plain.columns],
            "rows": [
                [c.text if c.value is None else c.value for c in cells]
                for cells in zip(*(column.cells for column in plain.columns), strict=True)
            ],
            "notes": [*plain.notes, *filter(None, [text_of(self.caution)])],
        }

    def plain(self) -> Sheet:
        """The same sheet in the letters of every terminal."""
        columns = tuple(
            replace(
                column,
                heading=plain_text(column.heading),
                cells=tuple(replace(cell, text=plain_text(cell.text)) for cell in column.cells),
            )
            for column in self.columns
        )
        return replace(
            self, title=plain_text(self.title), columns=columns, notes=tuple(map(plain_text, self.notes))
        )


def plain_text(text: str) -> str:
    """A text of a sheet without narrow spaces, and with "us" for "µs": a terminal may have neither, and figures are
    copied from it."""
    if text == NOTHING:
        return "-"
    without = re.sub(rf"(?<=\d){NARROW_SPACE}(?=\d)", "", text)
    return without.replace(NARROW_SPACE, " ").replace("µs", "us")


def labels(key: str, heading: str, texts: Iterable[str]) -> Column:
    return Column(key, heading, tuple(SheetCell(text) for text in texts), label=True)


def texts(key: str, heading: str, values: Iterable[str], *, words: bool = False) -> Column:
    """A column of words, or of figures that are already formatted."""
    return Column(key, heading, tuple(SheetCell(text) for text in values), words=words)


def numbers(
    key: str,
    heading: str,
    values: Sequence[int | float | None],
    text: Callable[[Any], str] | None = None,
    *,
    apart: bool = False,
    strong: bool = False,
    short: str = "",
) -> Column:
    """Figures with their exact values; `text` writes one, whole numbers are written as such without it."""
    write = text or (lambda value: f"{value:,}".replace(",", NARROW_SPACE))
    cells = (
        SheetCell(NOTHING) if value is None else SheetCell(write(value), value, strong=strong)
        for value in values
    )
    return Column(key, heading, tuple(cells), apart=apart, short=short)


def missed(key: str, heading: str, counts: Sequence[DeadlineSummary | None]) -> Column:
    """How many missed the deadline; "≥" where more may have."""
    cells = numbers(key, heading, [None if of is None else of.misses for of in counts]).cells
    least = [of is not None and of.at_least for of in counts]
    told = (
        replace(cell, text=f"≥{cell.text}") if more else cell for cell, more in zip(cells, least, strict=True)
    )
    return Column(key, heading, tuple(told))


def times(
    key: str,
    heading: str,
    values: Sequence[int | float | None],
    unit: Unit,
    *,
    strong: bool = False,
) -> Column:
    return numbers(key, heading, values, unit.text, strong=strong)


def pairs(kind: str, title: str, rows: Sequence[tuple[str, str]]) -> Sheet:
    """A list of names with a text for each."""
    columns = (
        labels("name", "", [name for name, _ in rows]),
        texts("text", "", [text for _, text in rows], words=True),
    )
    return Sheet(kind.replace(" ", "-"), title, columns, kind=kind)
