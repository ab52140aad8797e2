"""Every published figure that contradicts itself: applies the rules of statistics/contradictions to a
reference's rows, and finds slips between two prints of one table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from howlate.model.units import parse_duration_ns
from howlate.published.reference import (
    UNITS,
    PublishedColumn,
    PublishedFigure,
    PublishedRow,
    PublishedTable,
    Reference,
)
from howlate.statistics.contradictions import (
    RULES,
    Contradiction,
    PrintedNumber,
    Summary,
    contradictions,
    same_number,
)

SLIP = "slip"
"""The rule that two prints of one figure have the same number."""
TIMES = ("min", "mean", "max", "stddev")
WORDS = {
    "stddev": "the deviation",
    "mean": "the mean",
    "max": "the maximum",
    "min": "the minimum",
    "count": "the number of samples",
    "period_exceeded": "the count of periods exceeded",
    "overruns": "the count of periods missed",
    "passes": "the passes",
    "failures": "the failures",
}
FIGURES = {
    "stddev": "the deviation {figure}",
    "mean": "the mean {figure}",
    "max": "the maximum {figure}",
    "min": "the minimum {figure}",
    "count": "the number of samples {figure}",
    "period_exceeded": "the count of periods exceeded {figure}",
    "overruns": "the count of periods missed {figure}",
    "passes": "the passes {figure}",
    "failures": "the failures {figure}",
}


class ContradictoryFigure(Struct, frozen=True):
    study: str
    table: str
    place: str
    row: str
    rule: str
    column: str
    says: str
    """A sentence with the numbers."""


class Audit(Struct, frozen=True):
    """The checks of a study's figures and their findings."""

    study: str
    checked: Mapping[str, int]
    """The number of rows to which each rule could be applied."""
    findings: tuple[ContradictoryFigure, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "study": self.study,
            "checked": dict(self.checked),
            "findings": [asdict(finding) for finding in self.findings],
        }


def audit(reference: Reference) -> Audit:
    """All rules over all rows. A row that repeats another one's measurement is compared only with that one,
    so that each measurement is judged once."""
    checked = dict.fromkeys((*RULES, SLIP), 0)
    findings: list[ContradictoryFigure] = []
    for table in reference.tables:
        for row in table.rows:
            if row.same_as:
                pairs = list(_pairs(reference, table, row))
                checked[SLIP] += len(pairs)
                findings += [f for pair in pairs if (f := _apart(reference, table, row, *pair))]
                continue
            summary = next(_readings(table, row))
            for name, check in RULES.items():
                checked[name] += check.applies(summary)
            findings += _row(reference, table, row)
        for finding, seen in _reprints(reference, table):
            checked[SLIP] += seen
            findings += [finding] if finding is not None else []
    return Audit(reference.study, checked, tuple(findings))


def summary_of(
    table: PublishedTable, row: PublishedRow, instead: Mapping[str, Decimal | None] | None = None
) -> Summary:
    """A row's figures by their kind, times in nanoseconds. Figures that the document gives as approximate are
    left out. `instead`: other numbers, by column."""
    its: dict[str, Any] = {}
    for column in table.columns:
        number = _number(row.values.get(column.name), (instead or {}).get(column.name))
        if number is None or not column.statistic:
            continue
        if column.statistic in TIMES:
            its.setdefault(column.statistic, PrintedNumber.of(number, int(UNITS.get(column.unit, 1))))
        elif number == int(number) and column.statistic != "count":
            its.setdefault(column.statistic, int(number))
    return Summary(n=table.samples or None, period=_period(table), **its)


def _number(figure: PublishedFigure | None, instead: Decimal | None) -> Decimal | None:
    if instead is not None:
        return instead
    return None if figure is None or figure.about else figure.number


def _period(table: PublishedTable) -> Fraction | None:
    given = table.where.get("period", ())
    return Fraction(parse_duration_ns(given[0])) if len(given) == 1 else None


def _readings(table: PublishedTable, row: PublishedRow) -> Iterator[Summary]:
    """The preferred reading of the row, then the readings with the other candidates of its ambiguous figures."""
    ways = max((len(f.candidates) for f in row.values.values()), default=0)
    for way in range(max(ways, 1)):
        yield summary_of(table, row, {n: f.candidates[way] for n, f in row.values.items() if f.candidates})


def _row(reference: Reference, table: PublishedTable, row: PublishedRow) -> list[ContradictoryFigure]:
    """Only contradictions in every reading of the row's ambiguous figures."""
    first, *others = [contradictions(summary) for summary in _readings(table, row)]
    findings = []
    for one in first:
        if all(one.rule in {c.rule for c in other} for other in others):
            says = _sentence(table, row, one) + (" So it is in each reading of the row." if others else "")
            findings.append(
                _finding(
                    reference, table, table.place, row.label, one.rule, _named(table, one.figures[0]), says
                )
            )
    return findings


def _finding(
    reference: Reference,
    table: PublishedTable,
    place: str,
    row: str,
    rule: str,
    column: PublishedColumn | None,
    says: str,
) -> ContradictoryFigure:
    return ContradictoryFigure(
        reference.study, table.id, place, row, rule, column.name if column else "", says
    )


def _named(table: PublishedTable, statistic: str) -> PublishedColumn | None:
    return next((c for c in table.columns if c.statistic == statistic), None)


def _sentence(table: PublishedTable, row: PublishedRow, one: Contradiction) -> str:
    """The contradicting figures, and the value that would be consistent."""
    column = _named(table, one.figures[0])
    unit = column.unit if column else ""
    bound = one.bound / UNITS.get(unit, 1.0) if one.figures[0] in TIMES else one.bound
    of = f" of {table.samples:,} samples" if table.samples else ""
    period = f" and a period of {table.where['period'][0]}" if _with_period(one) else ""
    rest = " and ".join(_figure_text(table, row, name) for name in one.figures[1:])
    subject = _figure_text(table, row, one.figures[0])
    subject, value = subject[0].upper() + subject[1:], f"{bound:.6g}{f' {unit}' if unit else ''}"
    limit = "least" if one.least else "most"
    return f"{subject} contradicts {rest}{of}{period}: it must be at {limit} {value}."


def _with_period(one: Contradiction) -> bool:
    return one.rule in ("period-exceeded", "overruns", "deviation-below-counts")


def _figure_text(table: PublishedTable, row: PublishedRow, statistic: str) -> str:
    column = _named(table, statistic)
    figure = row.values.get(column.name) if column else None
    if column is None or figure is None:
        return WORDS[statistic]
    return FIGURES[statistic].format(figure=f"{figure.printed}{f' {column.unit}' if column.unit else ''}")


def _pairs(
    reference: Reference, table: PublishedTable, row: PublishedRow
) -> Iterator[tuple[PublishedColumn, PublishedRow, PublishedColumn, PublishedTable]]:
    """The columns in which a row and the one that it repeats mean the same thing."""
    name, _, label = row.same_as.partition("/")
    other = reference.table(name)
    meant = other.row(label) if other else None
    if other is None or meant is None:
        return
    for column in table.columns:
        theirs = _named(other, column.statistic) if column.statistic else None
        mine, its = row.values.get(column.name), meant.values.get(theirs.name) if theirs else None
        if theirs and mine and its and not mine.about and mine.number is not None and its.number is not None:
            yield column, meant, theirs, other


def _apart(
    reference: Reference,
    table: PublishedTable,
    row: PublishedRow,
    column: PublishedColumn,
    meant: PublishedRow,
    theirs: PublishedColumn,
    other: PublishedTable,
) -> ContradictoryFigure | None:
    mine, its = row.values[column.name], meant.values[theirs.name]
    if mine.number is None or its.number is None:
        return None
    one = PrintedNumber.of(mine.number, int(UNITS.get(column.unit, 1)))
    if same_number(one, PrintedNumber.of(its.number, int(UNITS.get(theirs.unit, 1)))):
        return None
    says = (
        f"{column.heading} {mine.printed} {column.unit} gives again what {other.place} prints as {its.printed} "
        f"{theirs.unit}."
    )
    return _finding(reference, table, table.place, row.label, SLIP, column, says)


def _reprints(
    reference: Reference, table: PublishedTable
) -> Iterator[tuple[ContradictoryFigure | None, int]]:
    """For each second print of the table: the numbers that differ, and how many figures were compared."""
    for again in table.reprints:
        rows = [row for row in table.rows if not again.rows or row.label in again.rows]
        yield None, sum(len(row.values) for row in rows) - len(again.differs)
        for differs in again.differs:
            row, column = table.row(differs.row), table.column(differs.column)
            figure = row.values.get(column.name) if row else None
            number = _decimal(differs.printed)
            if row is None or figure is None or figure.number is None or number is None:
                continue
            if same_number(PrintedNumber.of(number), PrintedNumber.of(figure.number)):
                yield None, 1
                continue
            says = (
                f"{column.heading} is printed {differs.printed} here and {figure.printed} on {table.place}."
                f"{_ruled_out(table, row, column, number)}"
            )
            yield _finding(reference, table, again.place, row.label, SLIP, column, says), 1


def _ruled_out(table: PublishedTable, row: PublishedRow, column: PublishedColumn, number: Decimal) -> str:
    """The print of the two that the row's other figures rule out."""
    first, second = (
        contradictions(summary_of(table, row)),
        contradictions(summary_of(table, row, {column.name: number})),
    )
    if second and not first:
        return f" The row's other figures forbid the one here ({', '.join(c.rule for c in second)})."
    if first and not second:
        return f" The row's other figures forbid the one there ({', '.join(c.rule for c in first)})."
    return ""


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
