"""The reference files: `documents/<study>.toml`, decoded strictly, so that typing errors are found
(docs/reference.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

from howlate.errors import REMEDIED, HowlateError, UsageError
from howlate.model.capabilities import MODES
from howlate.model.decode import MISSING_KEY, Table, kind_of, parse_toml, read_text, unknown
from howlate.published.reference import (
    AXES,
    KINDS,
    MARKS,
    PREEMPTION,
    PREEMPTIONS,
    ROW_COLUMN,
    STATISTICS,
    Differs,
    PublishedAxis,
    PublishedColumn,
    PublishedFigure,
    PublishedRow,
    PublishedTable,
    Reference,
    Reprint,
)

_OF_A_DOCUMENT = (
    "schema",
    "study",
    "title",
    "document",
    "language",
    "machine",
    "notes",
    "settings",
    "modes",
    "columns",
    "table",
)


def decode_reference(read: Table) -> Reference:
    """Decode a reference, and refuse unknown keys with the nearest name."""
    read.only(*_OF_A_DOCUMENT)
    if read.integer("schema") != 1:
        raise wrong(read, "schema", "1", read.values["schema"])
    sets = read.table("columns")
    shared = {name: _named_once(sets.tables(name), sets) for name in sets.values}
    settings = _labels(read.table("settings"))
    tables = tuple(
        replace(_table(t, shared, settings), settings=settings) for t in read.tables("table", required=True)
    )
    modes = _modes(read.table("modes"), tables)
    rows = ([replace(row, mode=modes.get(row.label, "")) for row in table.rows] for table in tables)
    tables = tuple(replace(table, rows=tuple(its)) for table, its in zip(tables, rows, strict=True))
    reference = Reference(
        study=_slug(read, "study"),
        title=read.text("title"),
        document=read.text("document"),
        language=read.text("language"),
        tables=tables,
        machine=read.text("machine", ""),
        notes=_texts(read, "notes"),
        settings=settings,
        modes=modes,
    )
    _once(read, "table", [t.id for t in tables])
    for one, place in zip(tables, read.tables("table"), strict=True):
        if one.below:
            _known(place, one.below, [t.id for t in tables], "table")
        for row, where in zip(one.rows, place.tables("row"), strict=True):
            if row.same_as:
                _check_same(row, where, reference)
    return reference


def _modes(read: Table, tables: Sequence[PublishedTable]) -> Mapping[str, str]:
    labels = [row.label for table in tables for row in table.rows]
    for label in read.values:
        _known(read, label, labels, "row of the document")
    return {label: _one_of(read, label, MODES, "mode") for label in read.values}


def _check_same(row: PublishedRow, read: Table, reference: Reference) -> None:
    table, _, label = row.same_as.partition("/")
    _known(read, table, [t.id for t in reference.tables], "table")
    rows = {r.label: r for t in reference.tables if t.id == table for r in t.rows}
    _known(read, label, rows, f'row of "{table}"')
    if rows[label].same_as or rows[label] is row:
        raise wrong(read, "same_as", "a row that is not the same as another", row.same_as)


_OF_A_TABLE = (
    *("id", "title", "place", "kind", "part", "where", "rows", "samples", "why", "lost", "note"),
    *("axis", "across", "layout", "below", "columns", "column", "row", "reprint"),
)


def _table(
    read: Table, shared: Mapping[str, tuple[PublishedColumn, ...]], settings: Mapping[str, tuple[str, ...]]
) -> PublishedTable:
    read.only(*_OF_A_TABLE)
    columns = _columns(read, shared)
    rows_by = read.text("rows", "")
    places = read.tables("row")
    rows = tuple(_row(r, columns, rows_by, read.text("why", ""), tuple(settings)) for r in places)
    _once(read, "row", [r.label for r in rows])
    samples = read.integer("samples", 0)
    if samples < 0:
        raise wrong(read, "samples", "a count", samples)
    return PublishedTable(
        id=_slug(read, "id"),
        title=read.text("title"),
        place=read.text("place"),
        kind=_one_of(read, "kind", KINDS, "kind of table"),
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
        layout=read.boolean("layout", fallback=False),
        below=read.text("below", ""),
        reprints=tuple(_reprint(r, columns, rows) for r in read.tables("reprint")),
        note=read.text("note", ""),
    )


def _columns(read: Table, shared: Mapping[str, tuple[PublishedColumn, ...]]) -> tuple[PublishedColumn, ...]:
    """The table's own columns, or those of that name which several tables share."""
    own = _named_once(read.tables("column"), read)
    name = read.text("columns", "")
    if name and own:
        raise _either(read, "columns", "column")
    if name:
        _known(read, name, shared, "set of columns")
    return shared[name] if name else own


def _named_once(reads: list[Table], read: Table) -> tuple[PublishedColumn, ...]:
    columns = tuple(_column(c) for c in reads)
    _once(read, "column", [c.name for c in columns])
    return columns


def _column(read: Table) -> PublishedColumn:
    read.only("name", "heading", "unit", "field", "statistic", "means")
    name, path = read.text("name"), read.text("field", "")
    if path:
        _known(read, path.split(".")[0], ("columns", "accounting", "outcomes", "loads"), "part of a cell")
    last = path.rsplit(".", 1)[-1]
    statistic = read.text("statistic", last if last in STATISTICS else "")
    if statistic:
        _known(read, statistic, STATISTICS, "statistic")
    return PublishedColumn(
        name, read.text("heading", name), read.text("unit", ""), path, statistic, read.text("means", "")
    )


def _row(
    read: Table, columns: tuple[PublishedColumn, ...], rows_by: str, table_why: str, settings: Sequence[str]
) -> PublishedRow:
    """`settings`: names of the document's, which a row may have measured otherwise."""
    read.only("label", "match", "values", "column", "why", "same_as", "note")
    match, why = _labels(read.table("match")), read.text("why", "")
    if (why and match) or (rows_by and not match and not why and not table_why):
        raise _either(read, "match", "why")
    for name in match:
        _known(read, name, [*(rows_by.split("+") if rows_by else []), *settings], "label of the rows")
    values = read.table("values")
    values.only(*(c.name for c in columns))
    figures = {name: _figure(values, name) for name in values.values}
    lengths = {len(f.candidates) for f in figures.values() if f.candidates}
    if len(lengths) > 1:
        raise wrong(values, "candidates", "of equal number in a row", sorted(lengths))
    column = read.text("column", "")
    if not column and any(ROW_COLUMN in c.field for c in columns) and not why and not table_why:
        raise read.fail(MISSING_KEY(key="column", kind="text"))
    return PublishedRow(
        read.text("label"), match, figures, column, why, read.text("same_as", ""), read.text("note", "")
    )


def _figure(values: Table, name: str) -> PublishedFigure:
    read = values.table(name, required=True)
    read.only("value", "mark", "note", "candidates", "about")
    mark = _one_of(read, "mark", MARKS, "mark")
    if "value" not in read.values:
        raise read.fail(MISSING_KEY(key="value", kind="a number or text"))
    value = read.values["value"]
    number = None if isinstance(value, str) else _number(value, read, "value")
    candidates = tuple(_number(c, read, "candidates") for c in read.items("candidates"))
    if candidates and (mark != "ambiguous" or len(set(candidates)) < 2 or candidates[0] != number):
        kind = "two or more readings of an ambiguous value, its own first"
        raise wrong(read, "candidates", kind, [str(c) for c in candidates])
    if mark == "ambiguous" and not candidates and "note" not in read.values:
        raise _either(read, "candidates", "note")
    return PublishedFigure(
        mark, str(value), number, candidates, read.boolean("about", fallback=False), read.text("note", "")
    )


def _number(value: object, read: Table, name: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise wrong(read, name, "a number", kind_of(value))
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if not number.is_finite():
        raise wrong(read, name, "a number", value)
    return number


def _reprint(read: Table, columns: tuple[PublishedColumn, ...], rows: tuple[PublishedRow, ...]) -> Reprint:
    read.only("place", "differs", "rows", "note")
    labels, differs = [r.label for r in rows], []
    for one in read.tables("differs"):
        one.only("row", "column", "printed")
        difference = Differs(one.text("row"), one.text("column"), one.text("printed"))
        _known(one, difference.row, labels, "row of the table")
        _known(one, difference.column, [c.name for c in columns], "column of the table")
        differs.append(difference)
    some = _texts(read, "rows")
    for label in some:
        _known(read, label, labels, "row of the table")
    return Reprint(read.text("place"), tuple(differs), some, read.text("note", ""))


def _axis(read: Table, labels: Sequence[str]) -> PublishedAxis:
    read.only("name", "unit", "start", "end", "of", "rows")
    ends = [float(_number(read.values[n], read, n)) if n in read.values else None for n in ("start", "end")]
    of, rows = read.text("of", ""), _texts(read, "rows")
    if of:
        _known(read, of, AXES, "axis of the charts")
    for label in rows:
        _known(read, label, labels, "row of the table")
    return PublishedAxis(read.text("name"), read.text("unit", ""), ends[0], ends[1], of, rows)


def _labels(read: Table) -> Mapping[str, tuple[str, ...]]:
    labels: dict[str, tuple[str, ...]] = {}
    for name, value in read.values.items():
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(v, str) and v for v in values):
            raise wrong(read, name, "text or a list of texts", kind_of(value))
        labels[name] = tuple(values)
    for given in labels.get(PREEMPTION, ()):
        _known(read, given, PREEMPTIONS, "preemption model")
    return labels


def _texts(read: Table, name: str) -> tuple[str, ...]:
    texts = read.items(name)
    for value in texts:
        if not isinstance(value, str):
            raise wrong(read, name, "a list of texts", kind_of(value))
    return tuple(texts)


def _one_of(read: Table, name: str, known: tuple[str, ...], what: str) -> str:
    value = read.text(name)
    _known(read, value, known, what)
    return value


def _known(read: Table, name: str, known: Collection[str], what: str) -> None:
    if name not in known:
        raise read.fail(unknown(what, name, known))


def wrong(read: Table, key: str, kind: str, given: object) -> HowlateError:
    return read.fail(REMEDIED(problem=f'"{key}" must be {kind}, not {given}', remedy=""))


def _either(read: Table, key: str, other: str) -> HowlateError:
    return read.fail('give either "{key}" or "{other}"', key=key, other=other)


def _slug(read: Table, name: str) -> str:
    value = read.text(name)
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", value):
        raise wrong(read, name, "of small letters, digits, dots and dashes", f'"{value}"')
    return value


def _once(read: Table, what: str, names: list[str]) -> None:
    for i, name in enumerate(names):
        if name in names[:i]:
            raise wrong(read, what, "unique", f'"{name}" twice')


REFERENCE = Path(__file__).parent / "documents"


def references(folder: Path = REFERENCE) -> dict[str, Path]:
    """The files that come with howlate, by study."""
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def read_reference(path: Path) -> Reference:
    """Decode a file; errors name file and place. Numbers keep the digits as written."""
    read = parse_toml(read_text(path, UsageError), str(path), parse_float=Decimal)
    reference = decode_reference(read)
    if reference.study != path.stem:
        raise wrong(read, "study", f'"{path.stem}"', f'"{reference.study}"')
    return reference


def reference_path(study: str, folder: Path = REFERENCE) -> Path:
    """The path of the published figures of a study; otherwise an error with the nearest name."""
    known = references(folder)
    if study not in known:
        raise UsageError(unknown("study with published figures", study, known))
    return known[study]


def find_reference(study: str) -> Reference:
    """The published figures of a study; otherwise an error with the nearest name."""
    return read_reference(reference_path(study))
