"""A published table for display: its own layout, the marks of the figures, the notes below. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from howlate.model.decode import members
from howlate.published.reference import (
    MARKS,
    PublishedAxis,
    PublishedColumn,
    PublishedFigure,
    PublishedTable,
    Reference,
)

SIGNS: Mapping[str, str] = {"text": "", "arithmetic": "*", "ambiguous": "?"}
ABOUT = "~"
LEGEND: Mapping[str, str] = {
    "*": "ran together with its neighbours in the document's text and was split by a rule",
    "?": "ambiguous: several readings remain",
    ABOUT: 'the document says "about"',
}

Texts = tuple[str, list[str]]
"""Heading, and a text for each row."""


class ShownTable(Struct, frozen=True):
    """The displayed content, in order."""

    title: str
    labels: tuple[Texts, ...]
    figures: tuple[Texts, ...]
    notes: tuple[str, ...]


def counts_of(reference: Reference) -> dict[str, int]:
    marks = [figure.mark for t in reference.tables for row in t.rows for figure in row.values.values()]
    return {
        "tables": len(reference.tables),
        "rows": sum(len(t.rows) for t in reference.tables),
        "values": len(marks),
        **{mark: marks.count(mark) for mark in MARKS},
    }


def shown(table: PublishedTable) -> ShownTable:
    """A table. Its label columns are the parts of its rows' labels."""
    if not any(row.values for row in table.rows):
        return ShownTable(f"{table.title} ({table.place})", (), (), tuple(_notes(table)))
    parts = [row.named.split(" · ") for row in table.rows]
    width = max((len(p) for p in parts), default=0)
    labels = tuple(("", [p[i] if i < len(p) else "" for p in parts]) for i in range(width))
    figures = tuple(
        (
            _heading(column),
            [_text(row.values.get(column.name)) for row in table.rows],
        )
        for column in table.columns
        if any(column.name in row.values for row in table.rows)
    )
    return ShownTable(f"{table.title} ({table.place})", labels, figures, tuple(_notes(table)))


def _heading(column: PublishedColumn) -> str:
    ours = "" if column.heading.casefold() == column.name.casefold() else f"\n{column.name}"
    return f"{column.heading}{ours.replace('_', ' ')}{f' ({column.unit})' if column.unit else ''}"


def _text(figure: PublishedFigure | None) -> str:
    if figure is None:
        return ""
    return f"{ABOUT if figure.about else ''}{figure.printed}{SIGNS[figure.mark]}"


def _notes(table: PublishedTable) -> list[str]:
    notes = [f"Not in the document's text: {_small(table.lost)}"] if table.lost else []
    notes += [f"Axis {_axis(axis)}." for axis in table.axes]
    if table.rows and not any(row.values for row in table.rows):
        notes.append(f"Series: {'; '.join(row.named for row in table.rows)}.")
    if table.samples:
        notes.append(f"Each row is of {table.samples:,} samples.")
    for column in table.columns:
        if column.means and any(column.name in row.values for row in table.rows):
            notes.append(f"{column.heading}: {column.means}")
    notes += [table.note] if table.note else []
    notes += _of_rows(table)
    for again in table.reprints:
        some = f" ({', '.join(again.rows)})" if again.rows else ""
        differs = "".join(
            f" {_column(table, d.column)} of {d.row} is printed {d.printed}." for d in again.differs
        )
        notes.append(
            f"Printed again on {again.place}{some}.{differs}{f' {again.note}' if again.note else ''}"
        )
    notes += [f"Not measured here: {_small(table.why)}"] if table.why else []
    used = {
        sign
        for row in table.rows
        for figure in row.values.values()
        for sign in _text(figure)
        if sign in LEGEND
    }
    return [*notes, *(f"{sign} {meaning}." for sign, meaning in LEGEND.items() if sign in used)]


def _of_rows(table: PublishedTable) -> list[str]:
    """Notes about rows and their figures; a note that several rows share appears once."""
    who: dict[str, list[str]] = {}
    for row in table.rows:
        for name, figure in row.values.items():
            if figure.candidates:
                readings = " or ".join(str(c) for c in figure.candidates)
                who.setdefault(f"{_column(table, name)} is {readings}.", []).append(row.label)
            if figure.note:
                who.setdefault(f"{_column(table, name)}: {figure.note}.", []).append(row.label)
        if row.note:
            who.setdefault(row.note, []).append(row.label)
        if row.same_as:
            who.setdefault(f"The same measurement as in {row.same_as.partition('/')[0]}.", []).append(
                row.label
            )
        if row.why:
            who.setdefault(f"Cannot be measured here: {_small(row.why)}", []).append(row.label)
    return [f"{', '.join(labels)}: {text}" for text, labels in who.items()]


def _column(table: PublishedTable, name: str) -> str:
    return table.column(name).heading


def _axis(axis: PublishedAxis) -> str:
    span = "" if axis.start is None or axis.end is None else f": {axis.start:,.10g} to {axis.end:,.10g}"
    return f"{axis.name}{span}{f' {axis.unit}' if axis.unit else ''}"


def _small(sentence: str) -> str:
    first, _, _ = sentence.partition(" ")
    return sentence if first.isupper() and len(first) > 1 else sentence[:1].lower() + sentence[1:]


def to_json(reference: Reference, tables: Sequence[PublishedTable]) -> dict[str, Any]:
    """`reference show --json`."""
    return {
        "schema": 1,
        **members(reference, "study", "title", "document", "language", "machine"),
        "notes": list(reference.notes),
        "tables": [_table_json(table) for table in tables],
    }


def _table_json(table: PublishedTable) -> dict[str, Any]:
    return {
        **members(table, *["id", "title", "place", "kind", "part", "samples", "lost", "why", "note"]),
        "where": {name: list(values) for name, values in table.where.items()},
        "rows_by": table.rows_by,
        "axes": [asdict(axis) for axis in table.axes],
        "columns": [asdict(column) for column in table.columns],
        "rows": [
            {
                "label": row.label,
                "match": {name: list(values) for name, values in row.match.items()},
                **members(row, "column", "why", "same_as", "note", "mode"),
                "values": {name: figure.to_json() for name, figure in row.values.items()},
            }
            for row in table.rows
        ],
        "reprints": [
            {
                "place": again.place,
                "rows": list(again.rows),
                "note": again.note,
                "differs": [asdict(one) for one in again.differs],
            }
            for again in table.reprints
        ],
    }
