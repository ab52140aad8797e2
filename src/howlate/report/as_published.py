"""A study's figures drawn of our samples, on the axes of the study (`report --axes published`). Which figures there
are, which of our cells are in them and which axes they have is declared in reference/*.toml; nothing here names a
study."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from howlate.charts import Figure, Panel
from howlate.charts._bars import FEW, most_in_a_bar
from howlate.charts._scale import AXES as KINDS
from howlate.charts._scale import Axes, Axis, Scale, asked
from howlate.charts._sides import Curve, Spot, keys_of, legend, maxima, panel_of, scales
from howlate.charts._words import column_of, grouped, things_of, time_text, title_of_column
from howlate.charts.histogram import binned_on, panel_on
from howlate.charts.runtime import run_times
from howlate.charts.together import figure_of
from howlate.charts.together import scales as time_scales
from howlate.language import _
from howlate.model.reference import UNITS, Row, Table
from howlate.model.study import numbered
from howlate.reference.load import find_reference
from howlate.report.content import RunContent
from howlate.report.join import join, parameters_of
from howlate.report.side_charts import Drawn, Placed, placed, side_charts
from howlate.stats.sides import Range

HEIGHT = 150


@dataclass(frozen=True)
class Shown:
    """A row of a published figure, and what of ours stands for it."""

    row: Row
    ours: Placed
    name: str

    @property
    def spot(self) -> Spot:
        return Spot(self.ours.subject.label, self.ours.place.labels, self.ours.subject)


def published_figures(contents: Sequence[RunContent]) -> Iterator[Drawn]:
    """Every figure of the studies' documents that has axes of ours and cells of ours."""
    names = dict.fromkeys(c.run.study.reference for c in contents if c.run.study.reference)
    if not names or not any(content.cells for content in contents):
        return
    joined = join(contents)
    every = placed(contents, joined)
    models = [side.preemption for side in joined.sides]
    for name in names:
        for table in find_reference(name).tables:
            draw = _DRAWN.get(frozenset(axis.of for axis in table.axes if axis.of))
            if draw is not None and (rows := _rows(table, every, models)):
                figure = draw(table, rows)
                if figure is not None:
                    yield replace(figure, name=f"published-{table.id}"), "", ""


def over_sides(contents: Sequence[RunContent], axes: Axes, published: bool) -> Iterator[Drawn]:
    """The charts of the whole page: the study's figures first, where they are asked for."""
    if published:
        yield from published_figures(contents)
    yield from side_charts(contents, axes)


def _rows(table: Table, every: Sequence[Placed], models: Sequence[str]) -> list[Shown]:
    """By the document's rows, in their order, ours."""
    found = []
    for row in table.rows:
        ours = [one for one in every if row in _rows_for(table, one, models[one.side])]
        for one in ours:  # the document's word, and whose samples stand for it
            name = ": ".join(part for part in (row.label, one.subject.label) if part)
            found.append(Shown(row, one, name))
    return found


def _rows_for(table: Table, one: Placed, preemption: str) -> tuple[Row, ...]:
    """A load's further options (`hackbench:10,loops=5`) make it another size of the same load."""
    member = one.place.members[one.side]
    labels = {**member.group.labels, **one.place.labels}
    for load in dict.fromkeys((labels.get("load", ""), _plain(labels.get("load", "")))):
        cell = {"labels": {**labels, "load": load}, "parameters": parameters_of(member)}
        if rows := table.rows_for(cell, preemption):
            return rows
    return ()


def _plain(load: str) -> str:
    return "+".join(re.sub(r",.*", "", one) for one in load.split("+"))


def _axes(table: Table, row: Row | None = None) -> dict[str, Axis]:
    """The figure's axes in our units; those of a row's own where it has some."""
    found: dict[str, Axis] = {}
    for axis in sorted(table.axes, key=lambda its: bool(its.rows)):
        if axis.of and (not axis.rows or (row is not None and row.label in axis.rows)):
            size = UNITS.get(axis.unit, 1.0) / (1e9 if KINDS[axis.of] == "s" else 1.0)
            ends = [None if end is None else end * size for end in (axis.start, axis.end)]
            found[axis.of] = Axis(ends[0], ends[1], False)
    return found


def _title(table: Table) -> str:
    return f"{table.title} ({table.place})"


def _absent(table: Table, rows: Sequence[Shown]) -> str:
    """Which of the document's rows have nothing of ours, and why."""
    drawn = {shown.row.label for shown in rows}
    said = [
        (
            _(' Nothing stands for "{row}", which cannot be measured here.')
            if row.why
            else _(' Nothing stands for "{row}", which was not measured.')
        ).format(row=row.label)
        for row in table.rows
        if row.label not in drawn
    ]
    return "".join(said)


# --- Histograms ---


def _histograms(table: Table, rows: Sequence[Shown]) -> Figure | None:
    panels = [panel for shown in rows if (panel := _histogram(table, shown)) is not None]
    if not panels:
        return None
    subjects = [shown.ours.subject for shown in rows]
    of = things_of(column_of(subjects))
    counts = _axes(table).get("counts", Axis())
    scaled = _(
        " The study's axis of counts ends at {end}, for {samples} samples; here it ends at the same share of ours."
    )
    told = (
        scaled.format(end=grouped(round(counts.high)), samples=grouped(table.samples))
        if counts.high and table.samples
        else ""
    )
    return Figure(
        name="published",
        title=_title(table),
        reading=_(
            "Histograms on the axes of the study's figure, both linear. What lies outside of them is counted beside "
            "each panel.{few}{told}{absent}"
        ).format(few=_(FEW), told=told, absent=_absent(table, rows)),
        x_title=title_of_column(column_of(subjects)),
        y_title=_("{things} per bin").format(things=of[:1].upper() + of[1:]),
        panels=tuple(panels),
        columns=table.across,
    )


def _histogram(table: Table, shown: Shown) -> Panel | None:
    subject, column = shown.ours.subject, shown.row.column
    bins = subject.bins.of(column) if subject.bins is not None and column else subject.bins
    if bins is None or not bins.histogram.counts:
        return None
    axes, total = _axes(table, shown.row), sum(bins.histogram.counts)
    x = asked(Scale(0.0, float(bins.histogram.upper_ns[-1]), False, "ns"), axes.get("latency"))
    binned = binned_on(bins.histogram, x)
    wanted = axes.get("counts", Axis())
    share = total / table.samples if table.samples else 1.0
    high = wanted.high * share if wanted.high is not None else most_in_a_bar([binned]) * 1.05
    y = Scale((wanted.low or 0.0) * share, high, False, "count")
    return panel_on(shown.name, replace(subject, bins=bins), bins, binned, x, y, HEIGHT, "")


# --- Lines against a load's number ---


def _lines(table: Table, rows: Sequence[Shown], of: str) -> Figure | None:
    points: dict[str, list[tuple[float, Range]]] = {}
    for shown in rows:
        load = numbered(shown.ours.place.labels.get("load", ""))
        its = run_times(shown.spot) if of == "runtime" else maxima(shown.spot, _column(shown))
        if load is not None and its is not None:
            points.setdefault(shown.name, []).append((load[1], its))
    curves = [Curve(name, tuple(sorted(some, key=lambda p: p[0]))) for name, some in points.items()]
    if not any(len(curve.points) > 1 for curve in curves):
        return None
    panels: Mapping[str, Sequence[Curve]] = {_title(table): curves}
    x, y = scales(panels, _axes(table), of)
    inside = [Curve(c.name, tuple(p for p in c.points if x.low <= p[0] <= x.high)) for c in curves]
    inside = [curve for curve in inside if curve.points]
    places = keys_of(panels)
    what = _("mean time of a run") if of == "runtime" else _("maximum")
    return Figure(
        name="published",
        title=_title(table),
        reading=_(
            "The lines of the study's figure, on linear axes. Each mark is the median over the repetitions, its bar "
            "reaches from the smallest to the largest.{absent}"
        ).format(absent=_absent(table, rows)),
        x_title=_("Number that the load was asked for"),
        y_title=what[:1].upper() + what[1:],
        panels=(panel_of(_title(table), inside, x, y, places, what),),
        keys=legend(places),
    )


def _column(shown: Shown) -> str:
    bins = shown.ours.subject.bins
    return shown.row.column or (bins.column if bins is not None else "")


# --- Courses in time ---


def _courses(table: Table, rows: Sequence[Shown]) -> Figure | None:
    series = []
    for shown in rows:
        one = shown.ours.subject.one
        bins = one.of(_column(shown)) if one is not None else None
        if bins is not None and bins.blocks.start_s:
            series.append((shown.name, bins))
    if not series:
        return None
    axes: Axes = _axes(table)
    x, y = time_scales([series], axes)
    ends = axes.get("latency", Axis())
    more = (
        _(" The axis of the study's figure ends at {end}.").format(end=time_text(ends.high))
        if ends.high is not None
        else ""
    )
    return figure_of("published", _title(table), [(_title(table), series)], x, y, more + _absent(table, rows))


Draw = Callable[[Table, Sequence[Shown]], Figure | None]
_DRAWN: Mapping[frozenset[str], Draw] = {
    frozenset({"latency", "counts"}): _histograms,
    frozenset({"number", "latency"}): lambda table, rows: _lines(table, rows, "latency"),
    frozenset({"number", "runtime"}): lambda table, rows: _lines(table, rows, "runtime"),
    frozenset({"time", "latency"}): _courses,
}
"""By what the figure's axes hold how it is drawn."""
