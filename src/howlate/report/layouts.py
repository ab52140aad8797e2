"""A document's own tables, with our figures in them: kernels and loads in one table, rows and columns as printed.
Which tables are shown so, and which one stands below another, is declared in reference/*.toml (`layout`, `below`).
What terminal and page show is made here, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from howlate.language import _
from howlate.model.reference import Column, Row, Table
from howlate.reference.beside import value_in
from howlate.reference.shown import ABOUT, SIGNS
from howlate.report.compare import Comparison
from howlate.report.join import Member, Place, parameters_of


@dataclass(frozen=True)
class LayoutLine:
    """A row as the document prints it, or the same of ours."""

    labels: tuple[str, ...]
    """The parts of the row's label; empty where the line above says them."""
    who: str
    """The side; "published" of the document's."""
    texts: tuple[str, ...]
    kind: str
    """"ours" or "published"."""


@dataclass(frozen=True)
class Layout:
    """A document's table with ours in it."""

    table: str
    title: str
    heads: tuple[str, ...]
    lines: tuple[LayoutLine, ...]
    below: bool
    """It belongs to the table before it."""
    note: str = ""

    @property
    def parts(self) -> int:
        """How many label columns there are."""
        return max((len(line.labels) for line in self.lines), default=0)

    def to_json(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "title": self.title,
            "columns": list(self.heads),
            "lines": [
                {"row": list(its.labels), "who": its.who, "values": list(its.texts)} for its in self.lines
            ],
            "below": self.below,
        }


def layouts(found: Comparison) -> list[Layout]:
    """Those of the studies' documents in which something of ours stands, each followed by the one below it."""
    shown: list[Layout] = []
    for reference in found.references:
        made = {
            table.id: layout for table in reference.tables if (layout := _layout(found, table)) is not None
        }
        wanted = [table for table in reference.tables if table.layout and table.id in made]
        under = {table.below for table in wanted if table.below}
        for table in wanted:
            if table.id in under:
                continue
            shown.append(made[table.id])
            if table.below in made:
                below = made[table.below]
                shown.append(Layout(below.table, below.title, below.heads, below.lines, True, below.note))
    return shown


def _layout(found: Comparison, table: Table) -> Layout | None:
    """None where nothing of ours stands in it, or only in rows that it prints again from another."""
    columns = [c for c in table.columns if c.field and any(c.name in row.values for row in table.rows)]
    lines: list[LayoutLine] = []
    repetitions = its_own = 0
    for row in table.rows:
        ours = _ours(found, table, row)
        its_own += bool(ours) and not row.same_as
        repetitions = max([repetitions, *(len(member.group.counted) for _, member in ours)])
        labels = tuple(row.label.split(" · "))
        for side, member in ours:
            texts = tuple(_text_of(member, column, row, table) for column in columns)
            lines.append(LayoutLine(labels, found.sides[side], texts, "ours"))
            labels = ()
        printed = tuple(_printed(row, column) for column in columns)
        lines.append(LayoutLine(labels, _("published"), printed, "published"))
    if not its_own:
        return None
    heads = tuple(_heading(column) for column in columns)
    what = _("seeds") if found.joined.virtual else _("repetitions")
    note = (
        _(
            "Ours are medians over {count} {what}; the tables by point have the smallest and the largest."
        ).format(count=repetitions, what=what)
        if repetitions > 1
        else ""
    )
    return Layout(table.id, f"{table.title} ({table.place})", heads, tuple(lines), False, note)


def _ours(found: Comparison, table: Table, row: Row) -> list[tuple[int, Member]]:
    """The sides that were measured as the row was."""
    return [
        (side, member)
        for place in found.joined.places
        for side, member in sorted(place.members.items())
        if member.group.counted and _is_of(table, row, place, member, found.joined.sides[side].preemption)
    ]


def _is_of(table: Table, row: Row, place: Place, member: Member, preemption: str) -> bool:
    cell = {"labels": {**member.group.labels, **place.labels}, "parameters": parameters_of(member)}
    return row in table.rows_for(cell, preemption)


def _text_of(member: Member, column: Column, row: Row, table: Table) -> str:
    """With as many digits as the document prints in this column."""
    field = column.field_of(row)
    values = [value_in(cell.to_json(), field, column.unit) for cell in member.group.counted]
    numbers = [value for value in values if value is not None]
    return f"{median(numbers):.{_digits(table, column)}f}" if numbers else "-"


def _digits(table: Table, column: Column) -> int:
    figures = [figure for row in table.rows if (figure := row.values.get(column.name)) is not None]
    return max((-int(its.last_digit.adjusted()) for its in figures if its.number is not None), default=0)


def _printed(row: Row, column: Column) -> str:
    figure = row.values.get(column.name)
    return "-" if figure is None else f"{ABOUT if figure.about else ''}{figure.printed}{SIGNS[figure.mark]}"


def _heading(column: Column) -> str:
    """The document's word, where it is written in our letters; else what it is."""
    name = column.heading if column.heading.isascii() else column.name.replace("_", " ")
    return f"{name} ({column.unit})" if column.unit else name


def label_texts(layout: Layout) -> list[list[str]]:
    """By label column the text of each line."""
    return [
        [line.labels[i] if i < len(line.labels) else "" for line in layout.lines] for i in range(layout.parts)
    ]


def number_texts(layout: Layout) -> Sequence[tuple[str, list[str]]]:
    """Heading and texts of each figure's column."""
    return [(head, [line.texts[i] for line in layout.lines]) for i, head in enumerate(layout.heads)]
