"""Decodes published figures from their file: strictly, so that a slip of the pen is found (docs/reference.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from howlate.model.decode import Table as Read
from howlate.model.decode import kind_of, suggestion
from howlate.model.reference import (
    AXES,
    KINDS,
    MARKS,
    PREEMPTION,
    PREEMPTIONS,
    ROW_COLUMN,
    STATISTICS,
    Axis,
    Column,
    Differs,
    Figure,
    Reference,
    Reprint,
    Row,
    Table,
)


def decode_reference(read: Read) -> Reference:
    """Refuses every key that it does not know, with the nearest name."""
    read.only(
        "schema", "study", "title", "document", "language", "machine", "notes", "settings", "columns", "table"
    )
    schema = read.integer("schema")
    if schema != 1:
        raise read.fail(f"schema {schema} is not known to this howlate", "use schema = 1, or a newer howlate")
    sets = read.table("columns")
    shared = {name: _named_once(sets.tables(name), sets) for name in sets.values}
    settings = _labels(read.table("settings"))
    tables = tuple(replace(_table(t, shared), settings=settings) for t in read.tables("table", required=True))
    found = Reference(
        study=_slug(read, "study"),
        title=read.text("title"),
        document=read.text("document"),
        language=read.text("language"),
        tables=tables,
        machine=read.text("machine", ""),
        notes=_texts(read, "notes"),
        settings=settings,
    )
    _once(read, "table", [t.id for t in tables])
    for one, place in zip(tables, read.tables("table"), strict=True):
        if one.below and found.table(one.below) is None:
            raise place.fail(
                f'below: "{one.below}" is no table', suggestion(one.below, (t.id for t in tables))
            )
        for row, where in zip(one.rows, place.tables("row"), strict=True):
            if row.same_as:
                _check_same(row, where, found)
    return found


def _check_same(row: Row, read: Read, reference: Reference) -> None:
    table, _, label = row.same_as.partition("/")
    other = reference.table(table)
    if other is None:
        raise read.fail(
            f'same_as: "{table}" is no table', suggestion(table, (t.id for t in reference.tables))
        )
    meant = other.row(label)
    if meant is None:
        raise read.fail(
            f'same_as: "{table}" has no row "{label}"', suggestion(label, (r.label for r in other.rows))
        )
    if meant.same_as or meant is row:
        raise read.fail("same_as names a row that is the same as another", "name the row that was measured")


_OF_A_TABLE = (
    *("id", "title", "place", "kind", "part", "where", "rows", "samples", "why", "lost", "note"),
    *("axis", "across", "layout", "below", "columns", "column", "row", "reprint"),
)


def _table(read: Read, shared: Mapping[str, tuple[Column, ...]]) -> Table:
    read.only(*_OF_A_TABLE)
    columns = _columns(read, shared)
    rows_by = read.text("rows", "")
    places = read.tables("row")
    rows = tuple(_row(r, columns, rows_by, read.text("why", "")) for r in places)
    _once(read, "row", [r.label for r in rows])
    samples = read.integer("samples", 0)
    if samples < 0:
        raise read.fail(f"{samples} samples cannot be", "leave the key out where the document does not say")
    return Table(
        id=_slug(read, "id"),
        title=read.text("title"),
        place=read.text("place"),
        kind=_one_of(read, "kind", KINDS, "a kind of table"),
        part=read.text("part", ""),
        where=_labels(read.table("where")),
        rows_by=rows_by,
        columns=columns,
        rows=rows,
        samples=samples,
        why=read.text("why", ""),
        lost=read.text("lost", ""),
        axes=tuple(_axis(a, [r.label for r in rows]) for a in read.tables("axis")),
        across=read.integer("across", 0),
        layout=read.boolean("layout", False),
        below=read.text("below", ""),
        reprints=tuple(_reprint(r, columns, rows) for r in read.tables("reprint")),
        note=read.text("note", ""),
    )


def _columns(read: Read, shared: Mapping[str, tuple[Column, ...]]) -> tuple[Column, ...]:
    """The table's own, or those of that name which several tables share."""
    own = _named_once(read.tables("column"), read)
    name = read.text("columns", "")
    if name and own:
        raise read.fail("columns of its own and shared ones", "leave out either columns or [[table.column]]")
    if name and name not in shared:
        raise read.fail(f'there are no columns "{name}"', suggestion(name, shared))
    return shared[name] if name else own


def _named_once(reads: list[Read], read: Read) -> tuple[Column, ...]:
    columns = tuple(_column(c) for c in reads)
    _once(read, "column", [c.name for c in columns])
    return columns


def _column(read: Read) -> Column:
    read.only("name", "heading", "unit", "field", "statistic", "means")
    name, path = read.text("name"), read.text("field", "")
    if path and path.split(".")[0] not in ("columns", "accounting", "outcomes", "loads"):
        raise read.fail(
            f'the field "{path}" is nothing that a cell has',
            "begin it with columns, accounting, outcomes or loads",
        )
    last = path.rsplit(".", 1)[-1]
    statistic = read.text("statistic", last if last in STATISTICS else "")
    if statistic and statistic not in STATISTICS:
        raise read.fail(f'"{statistic}" is not a statistic', suggestion(statistic, STATISTICS))
    return Column(
        name, read.text("heading", name), read.text("unit", ""), path, statistic, read.text("means", "")
    )


def _row(read: Read, columns: tuple[Column, ...], rows_by: str, table_why: str) -> Row:
    read.only("label", "match", "values", "column", "why", "same_as", "note")
    match, why = _labels(read.table("match")), read.text("why", "")
    if why and match:
        raise read.fail("a row that cannot be measured matches nothing", "leave out either why or match")
    if rows_by and not match and not why and not table_why:
        raise read.fail(
            f'the rows differ in "{rows_by}", and this one does not say in what',
            "give it a match, or say in why that it cannot be measured",
        )
    wanted = rows_by.split("+") if rows_by else []
    for name in match:
        if name not in wanted:
            raise read.fail(f'"{name}" is not what the rows differ in', suggestion(name, wanted))
    values = read.table("values")
    values.only(*(c.name for c in columns))
    figures = {name: _figure(values, name) for name in values.values}
    lengths = {len(f.candidates) for f in figures.values() if f.candidates}
    if len(lengths) > 1:
        raise values.fail("the ambiguous figures of a row have as many candidates each", "give them in pairs")
    column = read.text("column", "")
    if not column and any(ROW_COLUMN in c.field for c in columns) and not why and not table_why:
        raise read.fail(f"the columns' fields hold {ROW_COLUMN}, and the row names none", "add column")
    return Row(
        read.text("label"), match, figures, column, why, read.text("same_as", ""), read.text("note", "")
    )


def _figure(values: Read, name: str) -> Figure:
    read = values.table(name, required=True)
    read.only("value", "mark", "note", "candidates", "about")
    mark = _one_of(read, "mark", MARKS, "a mark")
    if "value" not in read.values:
        raise read.fail('the key "value" is missing', "add value, a number or words")
    value = read.values["value"]
    number = None if isinstance(value, str) else _number(value, read, "value")
    candidates = tuple(_number(c, read, "candidates") for c in read.items("candidates"))
    if candidates and (mark != "ambiguous" or len(set(candidates)) < 2 or candidates[0] != number):
        raise read.fail(
            "candidates are the readings of an ambiguous value, its own first, two at least",
            "or leave them out",
        )
    if mark == "ambiguous" and not candidates and "note" not in read.values:
        raise read.fail("an ambiguous value says what else it may be", "add candidates, or a note")
    return Figure(mark, str(value), number, candidates, read.boolean("about", False), read.text("note", ""))


def _number(value: object, read: Read, name: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise read.fail(f'"{name}" must be a number, not {kind_of(value)}')
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if not number.is_finite():
        raise read.fail(f'"{name}" is no number')
    return number


def _reprint(read: Read, columns: tuple[Column, ...], rows: tuple[Row, ...]) -> Reprint:
    read.only("place", "differs", "rows", "note")
    differs = []
    for one in read.tables("differs"):
        one.only("row", "column", "printed")
        found = Differs(one.text("row"), one.text("column"), one.text("printed"))
        for what, known in (("row", [r.label for r in rows]), ("column", [c.name for c in columns])):
            if getattr(found, what) not in known:
                raise one.fail(
                    f'"{getattr(found, what)}" is no {what} of the table',
                    suggestion(getattr(found, what), known),
                )
        differs.append(found)
    some = _texts(read, "rows")
    for label in some:
        if label not in (r.label for r in rows):
            raise read.fail(f'"{label}" is no row of the table', suggestion(label, (r.label for r in rows)))
    return Reprint(read.text("place"), tuple(differs), some, read.text("note", ""))


def _axis(read: Read, labels: Sequence[str]) -> Axis:
    read.only("name", "unit", "start", "end", "of", "rows")
    ends = [float(_number(read.values[n], read, n)) if n in read.values else None for n in ("start", "end")]
    of, rows = read.text("of", ""), _texts(read, "rows")
    if of and of not in AXES:
        raise read.fail(f'"{of}" is no axis of our charts', suggestion(of, AXES))
    for label in rows:
        if label not in labels:
            raise read.fail(f'"{label}" is no row of the table', suggestion(label, labels))
    return Axis(read.text("name"), read.text("unit", ""), ends[0], ends[1], of, rows)


def _labels(read: Read) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, value in read.values.items():
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(v, str) and v for v in values):
            raise read.fail(f'"{name}" must be text, or a list of texts', "spell it as the study does")
        found[name] = tuple(values)
    for given in found.get(PREEMPTION, ()):
        if given not in PREEMPTIONS:
            raise read.fail(f'"{given}" is not a preemption model', suggestion(given, PREEMPTIONS))
    return found


def _texts(read: Read, name: str) -> tuple[str, ...]:
    found = read.items(name)
    for value in found:
        if not isinstance(value, str):
            raise read.fail(f'each of "{name}" must be text, not {kind_of(value)}')
    return tuple(found)


def _one_of(read: Read, name: str, known: tuple[str, ...], what: str) -> str:
    value = read.text(name)
    if value not in known:
        raise read.fail(f'"{value}" is not {what}', suggestion(value, known))
    return value


def _slug(read: Read, name: str) -> str:
    value = read.text(name)
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", value):
        raise read.fail(f'the {name} "{value}" is no name', "use small letters, digits, dots and dashes")
    return value


def _once(read: Read, what: str, names: list[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise read.fail(f'the {what} "{name}" stands there twice', f"give each {what} a name of its own")
