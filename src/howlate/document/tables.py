"""The tables of a run, made once for terminal and page: a row a cell, or a row a point with the spread over its
repetitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.document.sheet import (
    NOTHING,
    Column,
    Row,
    Sheet,
    SheetCell,
    Unit,
    labels,
    missed,
    numbers,
    texts,
    times,
    unit_for,
)
from howlate.document.text import listed
from howlate.figures.figure import things_of, title_of_column
from howlate.model.capabilities import MODE
from howlate.model.columns import LATENCY, RESPONSE
from howlate.model.study import TIMER
from howlate.model.summary import MISSES, CellSummary, ColumnSummary
from howlate.statistics import phrases
from howlate.statistics.groups import Group
from howlate.statistics.labels import axes_that_vary, heading, policy_in_force, row_names
from howlate.statistics.load_reached import percents
from howlate.statistics.statistics import STATISTICS
from howlate.words.language import _
from howlate.words.quantities import seconds_text
from howlate.words.say import Text, say, text_of
from howlate.words.statement import Caption

OF_EVERY_ROW = ("kernel", "guest", TIMER, MODE, "period", "policy", "cpu", "load")
"""Labels without which no number is to be read."""


class Rows(Struct, frozen=True):
    summaries: Sequence[CellSummary]
    labels: Sequence[Mapping[str, str]]
    """The labels of the cells, and those that distinguish several runs."""
    seconds: Sequence[float | None]
    """How long each cell measured."""
    caution: Text = ""
    """A caution that belongs to every table."""
    part: str = ""
    """The part of the study that the cells are of; "" for all."""
    rulings: Mapping[str, str] = field(default_factory=dict)
    """The verdict on the stated deadline, by cell and by point."""

    def verdict(self, ids: Sequence[str]) -> list[Column]:
        """The verdicts of the rows with these ids; nothing where no deadline was stated."""
        if not self.rulings:
            return []
        return [texts("verdict", _("verdict"), [self.rulings.get(one, NOTHING) for one in ids], words=True)]

    def holding(self, name: str) -> Rows:
        """Those whose test has this column; and those without any."""
        kept = [
            i for i, summary in enumerate(self.summaries) if name in summary.columns or not summary.columns
        ]
        summaries, labels_, seconds = (
            [each[i] for i in kept] for each in (self.summaries, self.labels, self.seconds)
        )
        return replace(self, summaries=summaries, labels=labels_, seconds=seconds)

    def columns(self) -> list[str]:
        """The columns of the samples that have any values: response times are all zero where the task does no
        work."""
        names = dict.fromkeys(name for summary in self.summaries for name in summary.columns)
        held = (s.columns.get(RESPONSE) for s in self.summaries)
        works = any(column is not None and column.max for column in held)
        return [name for name in names if name != RESPONSE or works]


def of_cells(rows: Rows) -> list[Sheet]:
    """For each column of the samples a table, and one of its quantiles where they have an interval."""
    return [
        sheet
        for name in rows.columns()
        for sheet in (_of_cells(rows, name), _quantiles_of_cells(rows, name))
        if sheet is not None
    ]


def _of_cells(rows: Rows, name: str) -> Sheet:
    rows = rows.holding(name)
    columns = [summary.columns.get(name) for summary in rows.summaries]
    known = [column for column in columns if column is not None]
    unit = unit_for(known)
    title = Caption("{what} in {unit}", what=_what(name, rows.labels), unit=unit.sign)
    same = in_common(rows.labels, _counts(known), name)
    return Sheet(
        _key("table", rows.part, name),
        text_of(_measured_for(title, rows.seconds)),
        (
            *_label_columns(rows.labels, [s.id for s in rows.summaries]),
            *figures(rows.summaries, columns, unit, name),
            *_measured(rows.seconds),
            *rows.verdict([summary.id for summary in rows.summaries]),
        ),
        tuple(_row(summary) for summary in rows.summaries),
        (*_every_row(same), *_each_cpu(rows.labels, columns, unit)),
        rows.caution,
        about=name,
    )


def _quantiles_of_cells(rows: Rows, name: str) -> Sheet | None:
    held = [
        (summary, labels_, column)
        for summary, labels_ in zip(rows.summaries, rows.labels, strict=True)
        if (column := summary.columns.get(name)) is not None
    ]
    figures_ = [
        {
            share: (value, each.low, each.high)
            for share, each in column.intervals.items()
            if (value := column.quantiles.get(share)) is not None
        }
        for _, _, column in held
    ]
    names = [(summary.id, labels_) for summary, labels_, _ in held]
    return _quantiles(rows.part, name, names, figures_, unit_for([column for *_, column in held]))


def _quantiles(
    part: str,
    name: str,
    rows: Sequence[tuple[str, Mapping[str, str]]],
    figures_: Sequence[Mapping[str, tuple[float, float, float]]],
    unit: Unit,
) -> Sheet | None:
    """A row each, by the id and the labels of a cell or a point: its quantiles with their intervals; None without
    any."""
    shown = [entry for entry in STATISTICS if entry.heading and any(entry.name in row for row in figures_)]
    if not shown:
        return None
    labels_ = [own for _, own in rows]
    return Sheet(
        _key("quantiles", part, name),
        text_of(
            Caption("{what} in {unit}: quantiles [95 % interval]", what=_what(name, labels_), unit=unit.sign)
        ),
        (
            *_label_columns(labels_, [one for one, _ in rows]),
            *(
                texts(entry.name, _(entry.heading), [_within(row.get(entry.name), unit) for row in figures_])
                for entry in shown
            ),
        ),
        tuple(Row(one) for one, _ in rows),
        kind="quantiles",
        about=name,
        of="quantiles-of",
    )


def _within(figure: tuple[float, float, float] | None, unit: Unit) -> str:
    """ "12.1 [11.9, 12.4]"; its ends stay bounds."""
    if figure is None:
        return NOTHING
    value, low, high = figure
    return f"{unit.text(value)} [{unit.text(low, math.floor)}, {unit.text(high, math.ceil)}]"


def _row(summary: CellSummary) -> Row:
    marks = (
        (_("invalid"), not summary.valid),
        (_("not alone"), not summary.alone),
        (_("incomplete"), summary.accounting.dropped > 0),
    )
    return Row(
        summary.id,
        "" if summary.valid else "invalid",
        tuple(mark for mark, wanted in marks if wanted),
        "" if summary.valid else listed(map(say, summary.failed)) or _("a check failed"),
    )


def _key(*words: str) -> str:
    return "-".join(word for word in words if word)


def _label_columns(labels_: Sequence[Mapping[str, str]], ids: Sequence[str]) -> list[Column]:
    axes = axes_that_vary(labels_)
    if not axes:
        return [labels("cell", _("cell"), ids)]
    return [labels(axis, heading(axis), [one.get(axis, NOTHING) for one in labels_]) for axis in axes]


def figures(
    summaries: Sequence[CellSummary],
    columns: Sequence[ColumnSummary | None],
    unit: Unit,
    name: str,
) -> list[Column]:
    """The statistics of the samples, then what was counted, then what loads and test report."""
    points = name not in (LATENCY, RESPONSE)
    counts = [None if column is None else column.count for column in columns]
    found = [numbers("count", _("data points"), counts)] if points else []
    for entry in STATISTICS:
        values = [entry.of(column) for column in columns]
        if entry.heading:
            found.append(times(entry.name, _(entry.heading), values, unit, strong=entry.name == "max"))
        if entry.name == "max":
            found += _cpus([None if column is None else column.max_cpu for column in columns])
    found += _counted(summaries, columns, points=points)
    found += load_column([_shares(summary) for summary in summaries])
    if any(next(iter(summary.columns), name) == name for summary in summaries):
        found += outcome_columns(summaries, unit)
    return found


def _counted(
    summaries: Sequence[CellSummary], columns: Sequence[ColumnSummary | None], *, points: bool
) -> list[Column]:
    """Counts of activations always, of data points those that are not zero."""
    exceeded = [None if column is None else column.period_exceeded for column in columns]
    overruns = [summary.overruns for summary in summaries]
    dropped = [summary.accounting.dropped for summary in summaries]
    found = []
    if not points or any(count is not None for count in exceeded):
        found.append(numbers("period_exceeded", _("period exceeded"), exceeded, apart=True))
    if not points or any(overruns):
        names = (_("missing"), "") if points else (_("overruns"), _("over-\nruns"))
        found.append(numbers("overruns", names[0], overruns, short=names[1]))
    if any(dropped):
        found.append(numbers("dropped", _("dropped"), dropped))
    policies = [summary.accounting.late_policy for summary in summaries]
    if not points and len(set(policies)) > 1:
        found.append(texts("late_policy", _("late policy"), policies, words=True))
    return found


def _cpus(cpus: Sequence[str | None]) -> list[Column]:
    if not any(cpus):
        return []
    return [texts("max_cpu", _("on CPU"), [cpu or NOTHING for cpu in cpus])]


def outcome_columns(summaries: Sequence[CellSummary], unit: Unit) -> list[Column]:
    """Passes, failures and other counts of the test itself; times are in the table's unit."""
    found = []
    for name in dict.fromkeys(name for summary in summaries for name in summary.outcomes):
        values = [summary.outcomes.get(name) for summary in summaries]
        if name.endswith("_ns"):
            title = f"{name[:-3].replace('_', ' ')} ({unit.sign})"
            found.append(times(name, title, values, unit))
        else:
            title = _("deadline misses") if name == MISSES else name.replace("_", " ")
            found.append(numbers(name, title, values, None if _whole(values) else _real_text))
    return found


def _whole(values: Sequence[int | float | None]) -> bool:
    return all(value is None or isinstance(value, int) for value in values)


def _real_text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def of_points(groups: Sequence[Group], rows: Rows, *, virtual: bool) -> list[Sheet]:
    """The same over the repetitions. `rows`: the cells of these groups."""
    return [
        sheet
        for name in rows.columns()
        for sheet in (
            _of_points(groups, rows, name, virtual=virtual),
            _quantiles_of_points(groups, rows, name),
        )
        if sheet is not None
    ]


def _of_points(groups: Sequence[Group], rows: Rows, name: str, *, virtual: bool) -> Sheet:
    groups = [group for group in groups if any(name in c.columns or not c.columns for c in group.cells)]
    columns = [cell.columns[name] for group in groups for cell in group.cells if name in cell.columns]
    unit = unit_for(columns)
    labels_ = [group.labels for group in groups]
    same = in_common(labels_, _counts(columns), name)
    return Sheet(
        _key("spread", rows.part, name),
        text_of(_measured_for(_title_of_points(groups, name, unit, virtual=virtual), rows.seconds)),
        (
            *_label_columns(labels_, [group.point for group in groups]),
            *_spread_columns(groups, name, unit, virtual=virtual),
            *rows.verdict([group.point for group in groups]),
        ),
        tuple(_row_of_point(group) for group in groups),
        _every_row(same),
        rows.caution,
        "summary spread",
        name,
        "point",
    )


def _quantiles_of_points(groups: Sequence[Group], rows: Rows, name: str) -> Sheet | None:
    spreads = [group.spread(name) for group in groups]
    figures_ = [
        {}
        if spread is None
        else {share: (each.median, each.low, each.high) for share, each in spread.quantiles.items()}
        for spread in spreads
    ]
    columns = [cell.columns[name] for group in groups for cell in group.cells if name in cell.columns]
    names = [(group.point, group.labels) for group in groups]
    return _quantiles(rows.part, name, names, figures_, unit_for(columns))


def _row_of_point(group: Group) -> Row:
    valid = bool(group.counted)
    marks = (
        (_("invalid"), not valid),
        (_("not alone"), not group.alone),
        (_("incomplete"), group.dropped > 0),
    )
    return Row(group.point, "" if valid else "invalid", tuple(mark for mark, wanted in marks if wanted))


def _spread_columns(groups: Sequence[Group], name: str, unit: Unit, *, virtual: bool) -> list[Column]:
    spreads = [group.spread(name) for group in groups]
    maxima = [None if spread is None else spread.maxima for spread in spreads]
    exceeded = [None if spread is None else spread.period_exceeded for spread in spreads]
    deadlines = [group.deadline for group in groups]
    points = name not in (LATENCY, RESPONSE)
    dropped = [group.dropped for group in groups]
    found = [
        texts("repetitions", _("seeds") if virtual else _("repetitions"), [group.of for group in groups]),
        times("median", _("median of medians"), [None if s is None else s.medians for s in spreads], unit),
        times("smallest", _("smallest max"), [None if m is None else m.smallest for m in maxima], unit),
        times("median_max", _("median max"), [None if m is None else m.median for m in maxima], unit),
        times("max", _("largest max"), [None if m is None else m.largest for m in maxima], unit, strong=True),
        *_cpus([group.max_cpu(name) for group in groups]),
    ]
    if not points or any(exceeded):
        found.append(numbers("period_exceeded", _("period exceeded"), exceeded, apart=True))
    overruns = [group.overruns for group in groups]
    found.append(numbers("overruns", _("overruns"), overruns, short=_("over-\nruns")))
    if any(deadlines) and any(next(iter(c.columns), name) == name for g in groups for c in g.cells):
        found.append(missed(MISSES, _("deadline misses"), deadlines))
    if any(dropped):
        found.append(numbers("dropped", _("dropped"), dropped))
    return [*found, *load_column([(group.load_shares, group.starved) for group in groups])]


def _title_of_points(groups: Sequence[Group], name: str, unit: Unit, *, virtual: bool) -> Caption:
    """ "Wake-up latency in us: spread over 8 seeds"."""
    counts = {group.planned for group in groups}
    some = phrases.SEEDS if virtual else phrases.REPETITIONS
    every = phrases.SO_MANY_SEEDS if virtual else phrases.SO_MANY_REPETITIONS
    return Caption(
        "{what} in {unit}: spread over {repetitions}",
        what=_what(name, [group.labels for group in groups]),
        unit=unit.sign,
        repetitions=every(count=max(counts)) if len(counts) == 1 else some,
    )


def _what(name: str, labels_: Sequence[Mapping[str, str]]) -> Text:
    policy = policy_in_force(labels_)
    title = title_of_column(name)
    return Caption("{what} under {policy}", what=title, policy=policy) if policy else title


def _measured_for(title: Caption, seconds: Sequence[float | None]) -> Caption:
    known = [value for value in seconds if value is not None]
    if not known or len(known) < len(seconds):
        return title
    span = _span(seconds_text(min(known)), seconds_text(max(known)))
    return Caption("{what}, {span} per cell", what=title, span=span)


def _span(low: str, high: str) -> Text:
    return Caption("{low} to {high}", low=low, high=high)


def _measured(seconds: Sequence[float | None]) -> list[Column]:
    written = [NOTHING if s is None else seconds_text(s) for s in seconds]
    return [texts("seconds", _("measured"), written)] if len(set(written)) > 1 else []


def load_column(shares: Sequence[tuple[Sequence[float], bool]]) -> list[Column]:
    """What the loads achieved of what was expected of them, a row each, and whether the study expects that
    they starve; no column where nothing was expected of any."""
    if not any(values for values, _starved in shares):
        return []
    cells = [
        SheetCell(load_text(values, starved=starved), min(values)) if values else SheetCell(NOTHING)
        for values, starved in shares
    ]
    return [Column("load", _("load achieved"), tuple(cells))]


def load_text(shares: Sequence[float], *, starved: bool = False) -> str:
    """ "98 %", "96..98 %" over repetitions, "0.5 %, starved (expected)"."""
    share = percents(shares)
    return text_of(Caption("{side}, starved (expected)", side=share)) if starved else share


def _shares(summary: CellSummary) -> tuple[Sequence[float], bool]:
    return () if summary.load_share is None else (summary.load_share,), summary.starved


def _every_row(same: Sequence[str]) -> tuple[str, ...]:
    return (text_of(Caption("every row: {what}", what=", ".join(same))),) if same else ()


def _counts(columns: Sequence[ColumnSummary]) -> list[int]:
    return [column.count for column in columns if column.count is not None]


def in_common(labels_: Sequence[Mapping[str, str]], counts: Sequence[int], column: str) -> list[str]:
    """Which kernel it was, and how the task slept and ran, in every row: no number is to be read without it, and a
    table that is sent to somebody is understood alone. `counts`: samples of each cell."""
    values = {name: {one.get(name, "") for one in labels_} for name in OF_EVERY_ROW}
    shown = axes_that_vary(labels_)
    same = {name: next(iter(texts_)) for name, texts_ in values.items() if len(texts_) == 1}
    words = [f"{heading(name)} {value}" for name, value in same.items() if value and name not in shown]
    if counts and column in (LATENCY, RESPONSE):
        count = _span(f"{min(counts):,}", f"{max(counts):,}")
        words.append(text_of(Caption("{count} {things} each", count=count, things=things_of(column))))
    return words


def _each_cpu(
    labels_: Sequence[Mapping[str, str]], columns: Sequence[ColumnSummary | None], unit: Unit
) -> list[str]:
    found = []
    for name, column in zip(row_names(labels_), columns, strict=True):
        if column is not None and column.max_by_cpu:
            values = ", ".join(f"CPU {cpu}: {unit.text(ns)}" for cpu, ns in column.max_by_cpu.items())
            line = Caption(
                "{name}, largest of each CPU in {unit}: {values}", name=name, unit=unit.sign, values=values
            )
            found.append(text_of(line))
    return found
