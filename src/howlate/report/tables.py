"""The summary table of the report. Each number also stands exactly, as nanoseconds, in its <data> element."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from howlate.charts._scale import NARROW_SPACE
from howlate.charts._words import grouped, seconds_text, title_of_column
from howlate.language import N_, _, retold
from howlate.model.columns import LATENCY, RESPONSE
from howlate.model.run import VIRTUAL_TIME, Run
from howlate.model.summary import MISSES, ColumnSummary
from howlate.report.content import CellContent
from howlate.report.labels import axes_that_vary, heading
from howlate.report.terminal import each_cpu, in_common, load_text, outcome_columns
from howlate.report.text import listed
from howlate.report.units import Unit, unit_for
from howlate.stats.groups import Group, repetitions

TIMES = (N_("largest"), N_("median"), "p99", "p99.9", N_("mean"), N_("min"), N_("std dev"))
"""What matters most first: on a telephone the rest is behind the edge."""
COUNTS = ((N_("period exceeded"), " first"), (N_("overruns"), ""), (N_("dropped"), ""))
POINT_COUNTS = ((N_("missing"), " first"), (N_("dropped"), ""))
"""Of data points, which no period brings: those that were wanted and not had."""


def noted(note: str) -> str:
    """What must be known at this table or chart."""
    if not note:
        return ""
    said = retold(note)
    return f'<p class="virtual">{escape(_("{sentence}.").format(sentence=said[:1].upper() + said[1:]))}</p>'


def summary(
    cells: Sequence[CellContent],
    labels: Sequence[Mapping[str, str]],
    note: str = "",
    part: str = "",
) -> str:
    """One table for each column of the samples that says anything. `part`: whose cells they are."""
    names = list(dict.fromkeys(name for cell in cells for name in cell.summary.columns))
    shown = [n for n in names if n != RESPONSE or any(_says(c.summary.columns.get(n)) for c in cells)]
    return "".join(_table(cells, labels, name, note, part) for name in shown)


def spread(groups: Sequence[Group], run: Run, part: str = "") -> str:
    """A row a point: the spread over its repetitions, a table for each column of the samples that says anything."""
    cells = [cell for group in groups for cell in group.cells]
    names = list(dict.fromkeys(name for cell in cells for name in cell.columns))
    note = VIRTUAL_TIME if run.virtual else ""
    return "".join(
        _spread_table(groups, name, run, note, part)
        for name in names
        if name != RESPONSE or any(_says(c.columns.get(name)) for c in cells)
    )


def _spread_table(groups: Sequence[Group], name: str, run: Run, note: str, part: str) -> str:
    unit = unit_for(c.columns[name] for group in groups for c in group.cells if name in c.columns)
    shown = "µs" if unit.name == "us" else unit.name
    labels = [group.labels for group in groups]
    axes = axes_that_vary(labels) or ("point",)
    loaded = any(group.load_shares for group in groups)
    heads = [
        *_heads(heading(axis) for axis in axes),
        *_heads(
            (
                _(repetitions(run)),
                _("median of medians"),
                _("smallest maximum"),
                _("median maximum"),
                _("largest maximum"),
                *([_("on CPU")] if any(group.max_cpu(name) for group in groups) else []),
                _("period exceeded"),
                _("overruns"),
                _("dropped"),
                *([_("deadline misses")] if _with_deadline(groups, name) else []),
                *([_("load achieved")] if loaded else []),
            ),
            "n",
        ),
    ]
    rows = (
        _spread_row(
            group,
            name,
            unit,
            [one.get(axis, group.point if axis == "point" else "–") for axis in axes],
            _with_deadline(groups, name),
            loaded,
            any(its.max_cpu(name) for its in groups),
        )
        for group, one in zip(groups, labels, strict=True)
    )
    counts = [c.columns[name].count for group in groups for c in group.cells if name in c.columns]
    same = in_common(labels, counts, name)
    title = _("{name}, in {shown}: spread over {run}. ").format(
        name=title_of_column(name), shown=shown, run=_(repetitions(run))
    ) + (_("Every row: {same}.").format(same=same) if same else "")
    ident = "-".join(word for word in ("spread", part, name) if word)
    return _titled(ident, title.strip(), "summary spread", name, note, heads, rows)


def _heads(texts: Iterable[str], kind: str = "") -> list[str]:
    """Of columns. `kind`: their classes."""
    css = f' class="{kind}"' if kind else ""
    return [f'<th scope="col"{css}>{escape(text)}</th>' for text in texts]


def _titled(
    ident: str, title: str, kind: str, column: str, note: str, heads: Iterable[str], rows: Iterable[str]
) -> str:
    """A table below its title, in a frame that can be scrolled. `kind`: its classes."""
    ident = escape(ident)
    return (
        f'<p class="table-title" id="{ident}">{escape(title)}</p>{noted(note)}'
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{ident}">'
        f'<table class="{kind}" data-column="{escape(column)}" aria-labelledby="{ident}">'
        f"<thead><tr>{''.join(heads)}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _with_deadline(groups: Sequence[Group], name: str) -> bool:
    """Whether the table of this column has the misses: the first one of each row has."""
    cells = [cell for group in groups if group.deadline is not None for cell in group.cells]
    return any(next(iter(cell.columns), "") == name for cell in cells)


def _spread_row(
    group: Group,
    name: str,
    unit: Unit,
    labels: Sequence[str],
    with_deadline: bool,
    loaded: bool,
    with_cpu: bool,
) -> str:
    first, *rest = labels
    found = group.spread(name)
    maxima = None if found is None else found.maxima
    mark = "" if found else ' <span class="bad">' + _("invalid") + "</span>"
    if not group.alone:
        mark += ' <span class="bad">' + _("not alone") + "</span>"
    if group.dropped:
        mark += ' <span class="bad">' + _("incomplete") + "</span>"
    out = [f'<th scope="row">{escape(first)}{mark}</th>', *(f"<td>{escape(text)}</td>" for text in rest)]
    out.append(f'<td class="n" data-of="repetitions">{group.of}</td>')
    out += [
        _time(None if found is None else found.medians, unit, "median"),
        _time(None if maxima is None else maxima.smallest, unit, "smallest"),
        _time(None if maxima is None else maxima.median, unit, "median_max"),
        _time(None if maxima is None else maxima.largest, unit, "max"),
        *([f'<td class="n" data-of="max_cpu">{escape(group.max_cpu(name)) or "–"}</td>'] if with_cpu else []),
    ]
    counts = (
        ("period_exceeded", 0 if found is None else found.period_exceeded),
        ("overruns", group.overruns),
        ("dropped", group.dropped),
    )
    for what, count in counts:
        quiet = "" if count else " zero"
        out.append(
            f'<td class="n{quiet}" data-of="{what}"><data value="{count}">{grouped(count)}</data></td>'
        )
    if with_deadline:
        deadline = group.deadline
        out.append(_number(MISSES, None if deadline is None else deadline.misses, ""))
    if loaded:
        out.append(_load(group.load_shares, group.starved))
    return f'<tr class="{"" if found else "invalid"}" data-point="{escape(group.point)}">{"".join(out)}</tr>'


def _says(column: ColumnSummary | None) -> bool:
    return column is not None and bool(column.max)


def _table(
    cells: Sequence[CellContent], labels: Sequence[Mapping[str, str]], name: str, note: str, part: str
) -> str:
    columns = [c.summary.columns.get(name) for c in cells]
    unit = unit_for(c for c in columns if c is not None)
    shown = "µs" if unit.name == "us" else unit.name
    axes = axes_that_vary(labels) or ("cell",)
    points = name not in (LATENCY, RESPONSE)
    loaded = any(c.summary.load_share is not None for c in cells)
    outcomes = (
        outcome_columns([c.summary for c in cells], unit)
        if name == next(iter(cells[0].summary.columns), "")
        else []
    )
    heads = _all_heads(axes, points, loaded, [text for text, _its in outcomes])
    rows = (
        _row(
            cell,
            column,
            unit,
            [one.get(axis, cell.summary.id if axis == "cell" else "–") for axis in axes],
            points,
            [its[i] for _, its in outcomes],
            loaded,
        )
        for i, (cell, column, one) in enumerate(zip(cells, columns, labels, strict=True))
    )
    title = _("{name}, in {shown}. The largest is the largest seen, not a limit.").format(
        name=title_of_column(name), shown=shown
    )
    same = in_common(labels, [c.count for c in columns if c is not None], name)
    if same:
        title += " " + _("Every row: {same}.").format(same=same)
    by_cpu = each_cpu([c.summary for c in cells], columns, unit)
    ident = "-".join(word for word in ("table", part, name) if word)
    return _titled(ident, title, "summary", name, note, heads, rows) + "".join(
        f'<p class="lead note">{escape(line)}</p>' for line in by_cpu
    )


def _all_heads(axes: Sequence[str], points: bool, loaded: bool, outcomes: Sequence[str]) -> list[str]:
    """Over the cells of `_row`. `points`: the samples are data points, not activations."""
    return [
        *_heads(heading(axis) for axis in axes),
        *_heads([_("data points")] if points else [], "n"),
        *_heads(map(_, TIMES), "n"),
        *(
            head
            for text, group in (POINT_COUNTS if points else COUNTS)
            for head in _heads([_(text)], f"n{group}")
        ),
        *_heads([_("load achieved")] if loaded else [], "n"),
        *_heads(outcomes, "n"),
        *_heads([] if points else [_("late policy")]),
        *_heads([_("measured")], "n"),
    ]


def _row(
    cell: CellContent,
    column: ColumnSummary | None,
    unit: Unit,
    labels: Sequence[str],
    points: bool,
    outcomes: Sequence[str],
    loaded: bool,
) -> str:
    summary = cell.summary
    first, *rest = labels
    mark = "" if summary.valid else ' <span class="bad">' + _("invalid") + "</span>"
    if not summary.alone:
        mark += ' <span class="bad">' + _("not alone") + "</span>"
    if summary.accounting.dropped:
        mark += ' <span class="bad">' + _("incomplete") + "</span>"
    out = [f'<th scope="row">{escape(first)}{mark}</th>', *(f"<td>{escape(text)}</td>" for text in rest)]
    if points:
        out.append(_number("count", None if column is None else column.count, ""))
    out += [_time(value, unit, name) for name, value in times(column)]
    if points:
        out.append(_number("overruns", summary.accounting.overruns, "first"))
    else:
        out.append(_number("period_exceeded", None if column is None else column.period_exceeded, "first"))
        out.append(_number("overruns", summary.accounting.overruns, ""))
    out.append(_number("dropped", summary.accounting.dropped, ""))
    if loaded:
        share = summary.load_share
        out.append(_load(() if share is None else (share,), summary.starved))
    out += [f'<td class="n" data-of="outcome">{escape(text)}</td>' for text in outcomes]
    if not points:
        out.append(f"<td>{escape(summary.accounting.late_policy)}</td>")
    seconds = cell.seconds
    out.append(f'<td class="n">{"–" if seconds is None else seconds_text(seconds)}</td>')
    state = "" if summary.valid else "invalid"
    row = f'<tr class="{state}" data-cell="{escape(summary.id)}">{"".join(out)}</tr>'
    if summary.valid:
        return row
    why = listed(summary.warnings) or _("a check failed")
    return f'{row}<tr class="why"><td colspan="{len(out)}"><span>{escape(why)}</span></td></tr>'


def _load(shares: Sequence[float], starved: bool) -> str:
    """What the loads achieved of what was expected of them."""
    text = escape(load_text(shares, starved)) if shares else "–"
    value = f'<data value="{min(shares)!r}">{text}</data>' if shares else text
    return f'<td class="n" data-of="load">{value}</td>'


def _number(name: str, count: int | None, group: str) -> str:
    quiet = " zero" if count == 0 else ""
    text = "–" if count is None else f'<data value="{count}">{grouped(count)}</data>'
    return f'<td class="n {group}{quiet}" data-of="{name}">{text}</td>'


def times(column: ColumnSummary | None) -> list[tuple[str, float | None]]:
    """The times of a row, in the table's order."""
    if column is None:
        return [(name, None) for name in ("max", "0.5", "0.99", "0.999", "mean", "min", "stddev")]
    return [
        ("max", column.max),
        ("0.5", column.quantiles.get("0.5")),
        ("0.99", column.quantiles.get("0.99")),
        ("0.999", column.quantiles.get("0.999")),
        ("mean", column.mean),
        ("min", column.min),
        ("stddev", column.stddev),
    ]


def _time(value: float | None, unit: Unit, name: str) -> str:
    head = f'<td class="n{" strong" if name == "max" else ""}" data-of="{name}">'
    if value is None:
        return f"{head}–</td>"
    return f'{head}<data value="{value!r}">{unit.text(value, NARROW_SPACE)}</data></td>'
