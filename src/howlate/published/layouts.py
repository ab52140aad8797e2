"""A document's own tables, with our figures in them: kernels and loads in one table, rows and columns as
printed. documents/*.toml declares which tables are shown in this way, and which is placed below another
(`layout`, `below`)."""

from __future__ import annotations

from statistics import median

from msgspec.structs import replace

from howlate.compare.compare import Comparison
from howlate.document.sheet import Row, Sheet, labels, texts
from howlate.published.counterparts import StudyDocument, value_in
from howlate.published.reference import PublishedColumn, PublishedRow, PublishedTable
from howlate.published.shown import ABOUT, SIGNS
from howlate.sides.joined import MatrixPlace, Member, parameters_of
from howlate.words.language import _


def layouts(comparison: Comparison) -> list[Sheet]:
    """The tables of the studies' documents for which we have figures, each followed by the one below it."""
    shown: list[Sheet] = []
    for document in comparison.documents:
        if not isinstance(document, StudyDocument):
            continue
        tables = document.reference.tables
        made = {table.id: layout for table in tables if (layout := _layout(comparison, table)) is not None}
        shown_tables = [table for table in tables if table.layout and table.id in made]
        under = {table.below for table in shown_tables if table.below}
        for table in shown_tables:
            if table.id in under:
                continue
            shown.append(made[table.id])
            if table.below in made:
                shown.append(replace(made[table.below], kind="sides layout below"))
    return shown


def _layout(comparison: Comparison, table: PublishedTable) -> Sheet | None:
    """None if the table has no figures of ours, or only in rows that it repeats from another."""
    columns = [c for c in table.columns if c.field and any(c.name in row.values for row in table.rows)]
    names: list[tuple[str, ...]] = []
    """The parts of each row's label; empty if the row above says them."""
    sides: list[str] = []
    values: list[list[str]] = []
    repetitions = its_own = 0
    for row in table.rows:
        ours = _ours(comparison, table, row)
        its_own += bool(ours) and not row.same_as
        repetitions = max([repetitions, *(len(member.group.counted) for _, member in ours)])
        names += [tuple(row.named.split(" · ")), *[()] * len(ours)]
        sides += [*(comparison.sides[side] for side, _ in ours), ""]
        values += [[_text_of(member, column, row, table) for column in columns] for _, member in ours]
        values.append([_printed(row, column) for column in columns])
    if not its_own:
        return None
    what = _("seeds") if comparison.joined.virtual else _("repetitions")
    note = _("Ours are medians over {count} {what}; the tables by point have the smallest and the largest.")
    parts = ([own[i] if i < len(own) else "" for own in names] for i in range(max(map(len, names))))
    return Sheet(
        f"layout-{table.id}",
        f"{table.title} ({table.place})",
        (
            *(labels(f"part-{i}", "", part) for i, part in enumerate(parts)),
            labels("side", _("side"), [side or _("published") for side in sides]),
            *(texts(head, head, [own[i] for own in values]) for i, head in enumerate(map(_heading, columns))),
        ),
        tuple(Row(kind="ours" if side else "published") for side in sides),
        (note.format(count=repetitions, what=what),) if repetitions > 1 else (),
        kind="sides layout",
        about=table.id,
    )


def _ours(comparison: Comparison, table: PublishedTable, row: PublishedRow) -> list[tuple[int, Member]]:
    """The sides that were measured in the same way as the row."""
    return [
        (side, member)
        for place in comparison.joined.places
        for side, member in sorted(place.members.items())
        if member.group.counted
        and _is_of(table, row, place, member, comparison.joined.sides[side].preemption)
    ]


def _is_of(
    table: PublishedTable, row: PublishedRow, place: MatrixPlace, member: Member, preemption: str
) -> bool:
    cell = {"labels": {**member.group.labels, **place.labels}, "parameters": parameters_of(member)}
    return row in table.rows_for(cell, preemption)


def _text_of(member: Member, column: PublishedColumn, row: PublishedRow, table: PublishedTable) -> str:
    """With as many digits as the document prints in this column."""
    field = column.field_of(row)
    values = [value_in(cell.to_json(), field, column.unit) for cell in member.group.counted]
    numbers = [value for value in values if value is not None]
    return f"{median(numbers):.{_digits(table, column)}f}" if numbers else "-"


def _digits(table: PublishedTable, column: PublishedColumn) -> int:
    figures = [figure for row in table.rows if (figure := row.values.get(column.name)) is not None]
    return max((-int(its.last_digit.adjusted()) for its in figures if its.number is not None), default=0)


def _printed(row: PublishedRow, column: PublishedColumn) -> str:
    figure = row.values.get(column.name)
    return "-" if figure is None else f"{ABOUT if figure.about else ''}{figure.printed}{SIGNS[figure.mark]}"


def _heading(column: PublishedColumn) -> str:
    name = column.heading if column.heading.isascii() else column.name.replace("_", " ")
    return f"{name} ({column.unit})" if column.unit else name
