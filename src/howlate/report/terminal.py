"""Tables of a run in the terminal: readable at 80 columns, piped as well as on a screen; and `show
--json`.

Nothing here prints by itself: the command gives its console. No number is ever cut off; where a console is
too narrow for all
columns, the table goes on below with the columns that were left.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from howlate.charts._words import seconds_text, things_of, title_of_column
from howlate.language import N_, _, retold
from howlate.model.columns import LATENCY, RESPONSE
from howlate.model.run import VIRTUAL_TIME, Run
from howlate.model.summary import MISSES, SCHEMA, CellSummary, ColumnSummary
from howlate.report.deadline import deadline_sentences, deadlines_json
from howlate.report.labels import (
    axes_that_vary,
    by_part,
    heading,
    measured_s,
    policy_in_force,
    row_names,
    title_of,
)
from howlate.report.least_late import least_late
from howlate.report.table_terminal import Column, print_table
from howlate.report.text import wrapped
from howlate.report.threshold import threshold_sentences, thresholds_json
from howlate.report.units import Unit, unit_for
from howlate.stats.groups import Group, groups_json, groups_of, is_grouped, kinds_of, repetitions
from howlate.stats.loaded import percents

OF_EVERY_ROW = ("kernel", "timer", "period", "policy", "cpu", "load")
"""Labels without which no number is to be read."""

MOST_ROWS = 8
"""So many rows a note names."""


def show_json(summaries: Sequence[CellSummary], run: Run | None = None) -> str:
    """`show --json`, as DESIGN.md has it, and the points with their repetitions as `groups`."""
    value = {
        "schema": SCHEMA,
        "cells": [summary.to_json() for summary in summaries],
        **groups_json(summaries, run),
        **({"deadlines": deadlines} if (deadlines := deadlines_json(summaries)) else {}),
        **({"exceeded": exceeded} if (exceeded := thresholds_json(summaries, run)) else {}),
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def print_cells(
    console: Console,
    summaries: Sequence[CellSummary],
    seconds: Mapping[str, float] | None = None,
    run: Run | None = None,
    every: bool = False,
    folder: str = "",
) -> None:
    """The tables of a run, part after part, a column of the samples after the other; `seconds`: how long each cell
    (by id) measured. A row is a point where points are repeated, unless `every` cell is asked for. `folder`: the
    run's, as hints name it."""
    if not summaries:
        console.print(_("No cell of this run is whole yet."))
        return
    for part, places in by_part([s.labels for s in summaries]).items():
        if part:
            console.print()
            heading_of_part = f"{part}: {retold(title_of(part, run.study if run is not None else None))}"
            for line in wrapped(heading_of_part, console.width):
                console.print(Text(line, style="bold underline"), soft_wrap=True)
        _print_part(console, [summaries[place] for place in places], seconds, run, every)
    for sentence in [
        *least_late(summaries, run=folder),
        *deadline_sentences(summaries),
        *threshold_sentences(summaries, run),
    ]:
        console.print()
        for line in wrapped(sentence, console.width):
            console.print(Text(line, style="bold"), soft_wrap=True)


def _print_part(
    console: Console,
    summaries: Sequence[CellSummary],
    seconds: Mapping[str, float] | None,
    run: Run | None,
    every: bool,
) -> None:
    """Cells of one test."""
    groups = groups_of(summaries, run)
    if is_grouped(run, groups) and not every:
        _print_groups(console, groups, seconds or {}, run)
        return
    names = list(dict.fromkeys(name for summary in summaries for name in summary.columns))
    for name in names:
        if name == RESPONSE and not any(_interesting(s.columns.get(name)) for s in summaries):
            continue
        _print_column(console, summaries, name, seconds or {})
        if run is not None and run.virtual:
            _print_note(console, retold(VIRTUAL_TIME))
    _print_notes(console, summaries)


def _interesting(column: ColumnSummary | None) -> bool:
    """Response times are all zero where the task does no work."""
    return column is not None and bool(column.max)


def _print_column(
    console: Console, summaries: Sequence[CellSummary], name: str, seconds: Mapping[str, float]
) -> None:
    columns = [s.columns.get(name) for s in summaries]
    unit = unit_for(c for c in columns if c is not None)
    console.print()
    for line in wrapped(title(summaries, name, unit, seconds), console.width):
        console.print(Text(line, style="bold"), soft_wrap=True)
    console.print()
    labels = _label_columns([s.labels for s in summaries], [s.id for s in summaries])
    numbers = number_columns(summaries, columns, unit, name)
    same = in_common([s.labels for s in summaries], [c.count for c in columns if c is not None], name)
    valid = [s.valid for s in summaries]
    if not all(valid):
        labels[0] = (labels[0][0], [t if ok else f"{t} !" for t, ok in zip(labels[0][1], valid, strict=True)])
    labels[0] = marked_alone(labels[0], [s.alone for s in summaries])
    print_table(console, labels, numbers, valid)
    if same:
        _print_note(console, _("every row: {same}").format(same=same), "")
    for line in each_cpu(summaries, columns, unit):
        _print_note(console, line, "")


def each_cpu(
    summaries: Sequence[CellSummary], columns: Sequence[ColumnSummary | None], unit: Unit
) -> list[str]:
    """Where several CPUs measured, the largest value of each: a line a row."""
    names = row_names([s.labels for s in summaries])
    rows = [
        (name, c.max_by_cpu) for name, c in zip(names, columns, strict=True) if c is not None and c.max_by_cpu
    ]
    return [
        _("{name}, largest of each CPU in {unit}: {values}").format(
            name=name,
            unit=unit.name,
            values=", ".join(f"CPU {cpu}: {unit.text(largest)}" for cpu, largest in by_cpu.items()),
        )
        for name, by_cpu in rows
    ]


def _label_columns(labels: Sequence[Mapping[str, str]], ids: Sequence[str]) -> list[Column]:
    axes = axes_that_vary(labels)
    if not axes:
        return [(_("cell"), list(ids))]
    return [(heading(axis), [one.get(axis, "-") for one in labels]) for axis in axes]


def marked_alone(column: Column, alone: Sequence[bool]) -> Column:
    """The labels, with a mark at rows that others disturbed."""
    mark = _("not alone")
    return column[0], [t if ok else f"{t} ({mark})" for t, ok in zip(column[1], alone, strict=True)]


def _print_groups(
    console: Console, groups: Sequence[Group], seconds: Mapping[str, float], run: Run | None
) -> None:
    """A row a point: what its repetitions have in common is a spread."""
    summaries = [cell for group in groups for cell in group.cells]
    labels = [group.labels for group in groups]
    for name in dict.fromkeys(name for summary in summaries for name in summary.columns):
        columns = [s.columns[name] for s in summaries if name in s.columns]
        if name == RESPONSE and not any(_interesting(column) for column in columns):
            continue
        unit = unit_for(columns)
        console.print()
        for line in wrapped(group_title(groups, name, unit, seconds, run), console.width):
            console.print(Text(line, style="bold"), soft_wrap=True)
        console.print()
        valid = [bool(group.counted) for group in groups]
        rows = _label_columns(labels, [group.point for group in groups])
        rows[0] = marked_alone(rows[0], [group.alone for group in groups])
        print_table(console, rows, group_columns(groups, name, unit, run), valid)
        same = in_common(labels, [column.count for column in columns], name)
        if same:
            _print_note(console, _("every row: {same}").format(same=same), "")
        if run is not None and run.virtual:
            _print_note(console, retold(VIRTUAL_TIME))
    if any(len(group.counted) == 1 for group in groups):
        _print_note(console, one_is_none(run))
    _print_group_notes(console, groups, run)


def group_title(
    groups: Sequence[Group], name: str, unit: Unit, seconds: Mapping[str, float], run: Run | None
) -> str:
    """ "Wake-up latency in us: spread over 8 seeds, each measured for 2 s"."""
    counts = {group.planned for group in groups}
    many = f"{max(counts)} " if len(counts) == 1 else ""
    what = _("{name} in {name2}: spread over {many}{run}").format(
        name=_under(title_of_column(name), [group.labels for group in groups]),
        name2=unit.name,
        many=many,
        run=_(repetitions(run, max(counts))),
    )
    summaries = [cell for group in groups for cell in group.cells]
    known = [seconds.get(s.id) or measured_s(s) for s in summaries]
    times = [t for t in known if t is not None]
    return (
        _("{what}, each measured for {times}").format(what=what, times=_span(times))
        if times and len(times) == len(known)
        else what
    )


def group_columns(groups: Sequence[Group], name: str, unit: Unit, run: Run | None) -> list[Column]:
    """(heading, one text a point)."""
    spreads = [group.spread(name) for group in groups]
    maxima = [None if s is None else s.maxima for s in spreads]
    found = [
        (_(repetitions(run)), [group.of for group in groups]),
        (_("median of\nmedians"), [unit.text(None if s is None else s.medians) for s in spreads]),
        (_("smallest\nmax"), [unit.text(None if m is None else m.smallest) for m in maxima]),
        (_("median\nmax"), [unit.text(None if m is None else m.median) for m in maxima]),
        (_("largest\nmax"), [unit.text(None if m is None else m.largest) for m in maxima]),
    ]
    cpus = [group.max_cpu(name) for group in groups]
    if any(cpus):
        found.append((_("on\nCPU"), [cpu or "-" for cpu in cpus]))
    if any(s is not None and s.period_exceeded for s in spreads):
        found.append((_("period\nexceeded"), ["-" if s is None else str(s.period_exceeded) for s in spreads]))
    found.append((_("over-\nruns"), [str(group.overruns) for group in groups]))
    if any(group.deadline is not None for group in groups) and _is_first(groups, name):
        misses = [None if its is None else its.misses for its in (group.deadline for group in groups)]
        found.append((_("deadline\nmisses"), [_count(count) for count in misses]))
    if any(group.dropped for group in groups):
        found.append((_("dropped"), [str(group.dropped) for group in groups]))
    return [*found, *load_column([(group.load_shares, group.starved) for group in groups])]


def load_column(shares: Sequence[tuple[Sequence[float], bool]]) -> list[Column]:
    """What the loads achieved of what was expected of them, a row each, and whether the study expects that
    they starve; no column where nothing was expected of any."""
    if not any(values for values, _starved in shares):
        return []
    return [(_("load\nachieved"), [load_text(values, starved) for values, starved in shares])]


def load_text(shares: Sequence[float], starved: bool = False) -> str:
    """ "98 %", "96..98 %" over repetitions, "0.5 %, starved (expected)"; "-" without a load."""
    if not shares:
        return "-"
    return _("{share}, starved (expected)").format(share=percents(shares)) if starved else percents(shares)


def _shares(summary: CellSummary) -> tuple[Sequence[float], bool]:
    return () if summary.load_share is None else (summary.load_share,), summary.starved


def _is_first(groups: Sequence[Group], name: str) -> bool:
    """What is said once of a row stands in the table of its first column."""
    return any(next(iter(cell.columns), name) == name for group in groups for cell in group.cells)


def in_common(labels: Sequence[Mapping[str, str]], counts: Sequence[int] = (), column: str = LATENCY) -> str:
    """Which kernel it was, and how the task slept and ran, in every row: no number is to be read without it, and a
    table that is sent to somebody is understood alone. `counts`: samples of each cell."""
    said = {name: {one.get(name, "") for one in labels} for name in OF_EVERY_ROW}
    shown = axes_that_vary(labels)
    same = {name: next(iter(values)) for name, values in said.items() if len(values) == 1}
    words = [f"{heading(name)} {value}" for name, value in same.items() if value and name not in shown]
    if counts and column in (LATENCY, RESPONSE):
        low, high = f"{min(counts):,}", f"{max(counts):,}"
        many = low if low == high else _("{low} to {high}").format(low=low, high=high)
        words.append(_("{many} {things} each").format(many=many, things=things_of(column)))
    return ", ".join(words)


def one_is_none(run: Run | None) -> str:
    """Said where a row has one repetition."""
    if run is not None and run.virtual:
        return _(
            "one seed is one case of phase and dither, not a kernel's value: another moved one "
            "maximum by 1.8 times. Use several (--seeds, 8 by default)."
        )
    return _("a row of one repetition has no spread.")


def _print_group_notes(console: Console, groups: Sequence[Group], run: Run | None) -> None:
    """Warnings once, with the points that they are about and in how many repetitions."""
    axes = axes_that_vary([group.labels for group in groups])
    named: dict[str, list[str]] = {}
    for group in groups:
        name = ", ".join(group.labels.get(axis, "-") for axis in axes) or group.point
        said = [(text, cell.valid) for cell in group.cells for text in cell.warnings]
        for text, many in kinds_of(text for text, _valid in said):
            invalid = "" if dict(said)[text] else _(", invalid")
            named.setdefault(text, []).append(
                _("{name} ({many} of {cells}{invalid})").format(
                    name=name, many=many, cells=len(group.cells), invalid=invalid
                )
            )
    for text, rows in named.items():
        more = _(" and {rows} more rows").format(rows=len(rows) - MOST_ROWS) if len(rows) > MOST_ROWS else ""
        _print_note(console, f"{'; '.join(rows[:MOST_ROWS])}{more}: {retold(text)}")
    if any(s.accounting.late_policy == "as-published" for group in groups for s in group.cells):
        _print_note(console, _(AS_PUBLISHED))


def _span(times: Sequence[float]) -> str:
    short, long = seconds_text(min(times), " "), seconds_text(max(times), " ")
    return short if short == long else _("{short} to {long}").format(short=short, long=long)


def title(summaries: Sequence[CellSummary], name: str, unit: Unit, seconds: Mapping[str, float]) -> str:
    """What the table shows, and for how long it was looked at: "Wake-up latency in us, largest seen in 12 s a
    row"."""
    what = _under(title_of_column(name), [s.labels for s in summaries])
    known = [seconds.get(s.id) or measured_s(s) for s in summaries]
    times = [t for t in known if t is not None]
    if not times or len(times) < len(known):
        return _("{column} in {unit}").format(column=what, unit=unit.name)
    span = _span(times)
    each = "" if len(times) == 1 else _(" each")
    return _("{what} in {name}; the maximum is the largest seen in {span}{each}").format(
        what=what, name=unit.name, span=span, each=each
    )


def _under(what: str, labels: Sequence[Mapping[str, str]]) -> str:
    """With the policy in force."""
    policy = policy_in_force(labels)
    return _("{what} under {policy}").format(what=what, policy=policy) if policy else what


def number_columns(
    summaries: Sequence[CellSummary], columns: Sequence[ColumnSummary | None], unit: Unit, name: str = LATENCY
) -> list[Column]:
    """(heading, one text a cell). What a test says of its outcome stands beside its first column."""
    points = name not in (LATENCY, RESPONSE)

    def times(pick: str) -> list[str]:
        return [unit.text(None if c is None else getattr(c, pick)) for c in columns]

    def quantile(key: str) -> list[str]:
        return [unit.text(None if c is None else c.quantiles.get(key)) for c in columns]

    found = [(_("data\npoints"), [_count(None if c is None else c.count) for c in columns])] if points else []
    found += [
        (_("min"), times("min")),
        (_("mean"), times("mean")),
        (_("median"), quantile("0.5")),
        ("p99", quantile("0.99")),
        ("p99.9", quantile("0.999")),
        (_("max"), times("max")),
        *_cpus_of(columns),
        (_("std\ndev"), times("stddev")),
    ]
    exceeded = [None if c is None else c.period_exceeded for c in columns]
    if not points or any(count is not None for count in exceeded):
        found.append((_("period\nexceeded"), [_count(count) for count in exceeded]))
    if not points or any(s.accounting.overruns for s in summaries):
        found.append(
            (_("missing") if points else _("over-\nruns"), [str(s.accounting.overruns) for s in summaries])
        )
    if any(s.accounting.dropped for s in summaries):
        found.append((_("dropped"), [str(s.accounting.dropped) for s in summaries]))
    found += load_column([_shares(s) for s in summaries])
    if any(next(iter(s.columns), name) == name for s in summaries):
        found += outcome_columns(summaries, unit)
    return found


def _cpus_of(columns: Sequence[ColumnSummary | None]) -> list[Column]:
    """Which CPU had each maximum, where several measured."""
    cpus = ["" if column is None else column.max_cpu for column in columns]
    return [(_("on\nCPU"), [cpu or "-" for cpu in cpus])] if any(cpus) else []


def outcome_columns(summaries: Sequence[CellSummary], unit: Unit) -> list[Column]:
    """Passes and failures, and whatever else a test counts itself; times in the table's unit."""
    names = dict.fromkeys(name for s in summaries for name in s.outcomes)
    return [
        (
            _("deadline\nmisses")
            if name == MISSES
            else name.replace("_", "\n")
            if not name.endswith("_ns")
            else name[:-3].replace("_", "\n") + f"\n({unit.name})",
            [_figure(s.outcomes.get(name), unit if name.endswith("_ns") else None) for s in summaries],
        )
        for name in names
    ]


def _figure(value: float | None, unit: Unit | None) -> str:
    if value is None or unit is not None:
        return "-" if unit is None else unit.text(value)
    return str(value) if isinstance(value, int) else f"{value:.4g}"


def _count(value: int | None) -> str:
    return "-" if value is None else str(value)


def _print_notes(console: Console, summaries: Sequence[CellSummary]) -> None:
    """Warnings once, with the rows that they are about."""
    named: dict[str, list[str]] = {}
    names: set[str] = set()
    axes = axes_that_vary([s.labels for s in summaries])
    for summary in summaries:
        name = ", ".join(summary.labels.get(axis, "-") for axis in axes) or summary.id
        names.add(name)
        for warning in summary.warnings:
            named.setdefault(warning, []).append(
                name if summary.valid else _("{name} (invalid)").format(name=name)
            )
        if summary.accounting.dropped:
            text = _(
                "{dropped} {things} were not recorded: the statistics of this row are incomplete."
            ).format(
                dropped=summary.accounting.dropped, things=things_of(next(iter(summary.columns), LATENCY))
            )
            named.setdefault(text, []).append(name)
    if named:
        console.print()
    for warning, rows in named.items():
        every = len(rows) == len(summaries) > 1 and not any(r not in names for r in rows)
        who = _("every row") if every else "; ".join(rows)
        _print_note(console, f"{who}: {retold(warning)}")
    if any(s.accounting.late_policy == "as-published" for s in summaries):
        _print_note(console, _(AS_PUBLISHED))


def _print_note(console: Console, text: str, sign: str = "!") -> None:
    """A sentence below a table. `sign`: before what a reader must know; without one it belongs to the table."""
    for i, line in enumerate(wrapped(text, max(30, console.width - 2))):
        console.print(Text(f"{' ' if i or not sign else sign} {line}"), soft_wrap=True)


def print_warnings(console: Console, warnings: Sequence[str]) -> None:
    """What a run says of itself."""
    for warning in warnings:
        _print_note(console, retold(warning))


AS_PUBLISHED = N_(
    "The late policy as-published is the loop that the study printed: after a stall it "
    "counts on from where it was and never finds back to the clock, so every later "
    "activation looks late. Its numbers are for comparison with that study alone."
)
