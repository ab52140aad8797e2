"""A study's figures drawn from our samples, on the axes of the study (`report --axes published`).
documents/*.toml declares the figures, the cells that belong to them and their axes; nothing here names a
study."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.charts.histogram import binned_on, panel_on
from howlate.charts.runtime import run_times
from howlate.charts.together import figure_of
from howlate.charts.together import scales as time_scales
from howlate.document.document import ChartItem
from howlate.document.side_charts import Placed, placed
from howlate.figures.bars import FEW, most_in_a_bar
from howlate.figures.figure import Figure, Panel, column_of, things_of, title_of_column
from howlate.figures.scale import AXES as KINDS
from howlate.figures.scale import Axes, AxisRange, Scale, with_range
from howlate.figures.sides import Curve, Spot, keys_of, legend, maxima, panel_of, scales
from howlate.model.loaded import RunContent
from howlate.model.study import numbered
from howlate.published.load import find_reference
from howlate.published.reference import UNITS, PublishedRow, PublishedTable
from howlate.sides.join import join
from howlate.sides.joined import parameters_of
from howlate.statistics.spread import Spread
from howlate.words.quantities import grouped, time_text
from howlate.words.say import Text
from howlate.words.statement import Capitalised, Caption

HEIGHT = 150


class ShownRow(Struct, frozen=True):
    """A row of a published figure, and our cells that correspond to it."""

    row: PublishedRow
    ours: Placed
    name: str

    @property
    def spot(self) -> Spot:
        return Spot(self.ours.name, self.ours.place.labels, self.ours.subject)


def published_figures(contents: Sequence[RunContent]) -> Iterator[ChartItem]:
    """Every figure of the studies' documents for which we have axes and cells."""
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
                    yield ChartItem(replace(figure, name=f"published-{table.id}"))


def _rows(table: PublishedTable, every: Sequence[Placed], models: Sequence[str]) -> list[ShownRow]:
    """Our cells by the document's rows, in their order."""
    panels = []
    for row in table.rows:
        ours = [cell for cell in every if row in _rows_for(table, cell, models[cell.side])]
        for cell in ours:  # the document's word, and whose samples represent it
            name = ": ".join(part for part in (row.named, cell.name) if part)
            panels.append(ShownRow(row, cell, name))
    return panels


def _rows_for(table: PublishedTable, one: Placed, preemption: str) -> tuple[PublishedRow, ...]:
    """Our cells for a row. A load's further options (`hackbench:10,loops=5`) make it another size of the same
    load."""
    member = one.place.members[one.side]
    labels = {**member.group.labels, **one.place.labels}
    for load in dict.fromkeys((labels.get("load", ""), _plain(labels.get("load", "")))):
        cell = {"labels": {**labels, "load": load}, "parameters": parameters_of(member)}
        if rows := table.rows_for(cell, preemption):
            return rows
    return ()


def _plain(load: str) -> str:
    return "+".join(re.sub(r",.*", "", one) for one in load.split("+"))


def _axes(table: PublishedTable, row: PublishedRow | None = None) -> dict[str, AxisRange]:
    """The figure's axes in our units; a row's own axes if it has some."""
    found: dict[str, AxisRange] = {}
    for axis in sorted(table.axes, key=lambda its: bool(its.rows)):
        if axis.of and (not axis.rows or (row is not None and row.label in axis.rows)):
            size = UNITS.get(axis.unit, 1.0) / (1e9 if KINDS[axis.of] == "s" else 1.0)
            ends = [None if end is None else end * size for end in (axis.start, axis.end)]
            found[axis.of] = AxisRange(ends[0], ends[1], log=False)
    return found


def _title(table: PublishedTable) -> str:
    return f"{table.title} ({table.place})"


def _absent(table: PublishedTable, rows: Sequence[ShownRow]) -> Text:
    """The document's rows for which we have nothing, and why."""
    labels = {shown.row.label for shown in rows}
    return tuple(
        Caption('"{row}" is missing: it cannot be measured here.', row=row.named)
        if row.why
        else Caption('"{row}" is missing: it was not measured.', row=row.named)
        for row in table.rows
        if row.label not in labels
    )


def _histograms(table: PublishedTable, rows: Sequence[ShownRow]) -> Figure | None:
    panels = [panel for shown in rows if (panel := _histogram(table, shown)) is not None]
    if not panels:
        return None
    subjects = [shown.ours.subject for shown in rows]
    things = things_of(column_of(subjects))
    counts = _axes(table).get("counts", AxisRange())
    scaled = Caption(
        "The study's axis of counts ends at {end}, for {samples} samples; here it ends at the same share of ours.",
        end=grouped(round(counts.high or 0)),
        samples=grouped(table.samples),
    )
    return Figure(
        name="published",
        title=_title(table),
        reading=(
            Caption(
                "Histograms on the linear axes of the study's figure. Samples outside are counted at each panel."
            ),
            FEW,
            scaled if counts.high and table.samples else "",
            _absent(table, rows),
        ),
        x_title=title_of_column(column_of(subjects)),
        y_title=Capitalised(Caption("{things} per bin", things=things)),
        panels=tuple(panels),
        columns=table.across,
    )


def _histogram(table: PublishedTable, shown: ShownRow) -> Panel | None:
    subject, column = shown.ours.subject, shown.row.column
    bins = subject.bins.of(column) if subject.bins is not None and column else subject.bins
    if bins is None or not bins.histogram.counts:
        return None
    axes, total = _axes(table, shown.row), sum(bins.histogram.counts)
    x = with_range(Scale(0.0, float(bins.histogram.upper_ns[-1]), log=False, kind="ns"), axes.get("latency"))
    binned = binned_on(bins.histogram, x)
    counts_range = axes.get("counts", AxisRange())
    share = total / table.samples if table.samples else 1.0
    high = counts_range.high * share if counts_range.high is not None else most_in_a_bar([binned]) * 1.05
    y = Scale((counts_range.low or 0.0) * share, high, log=False, kind="count")
    return panel_on(shown.name, replace(subject, bins=bins), bins, binned, x, y, HEIGHT, "")


def _lines(table: PublishedTable, rows: Sequence[ShownRow], of: str) -> Figure | None:
    points: dict[str, list[tuple[float, Spread]]] = {}
    for shown in rows:
        load = numbered(shown.ours.place.labels.get("load", ""))
        spread = run_times(shown.spot) if of == "runtime" else maxima(shown.spot, _column(shown))
        if load is not None and spread is not None:
            points.setdefault(shown.name, []).append((load[1], spread))
    curves = [Curve(name, tuple(sorted(values, key=lambda p: p[0]))) for name, values in points.items()]
    if not any(len(curve.points) > 1 for curve in curves):
        return None
    panels: Mapping[str, Sequence[Curve]] = {_title(table): curves}
    x, y = scales(panels, _axes(table), of)
    inside = [Curve(c.name, tuple(p for p in c.points if x.low <= p[0] <= x.high)) for c in curves]
    inside = [curve for curve in inside if curve.points]
    places = keys_of(panels)
    what = Caption("mean time of a run") if of == "runtime" else Caption("maximum")
    return Figure(
        name="published",
        title=_title(table),
        reading=(
            Caption(
                "The lines of the study's figure, on linear axes. Each mark is the median over the repetitions, its "
                "bar reaches from the smallest to the largest."
            ),
            _absent(table, rows),
        ),
        x_title=Caption("Argument of the load"),
        y_title=Capitalised(what),
        panels=(panel_of(_title(table), inside, x, y, places, what),),
        keys=legend(places),
    )


def _column(shown: ShownRow) -> str:
    bins = shown.ours.subject.bins
    return shown.row.column or (bins.column if bins is not None else "")


def _courses(table: PublishedTable, rows: Sequence[ShownRow]) -> Figure | None:
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
    ends = axes.get("latency", AxisRange())
    more = (
        Caption("The axis of the study's figure ends at {end}.", end=time_text(ends.high))
        if ends.high is not None
        else ""
    )
    return figure_of(
        "published", _title(table), [(_title(table), series)], x, y, (more, _absent(table, rows))
    )


Draw = Callable[[PublishedTable, Sequence[ShownRow]], Figure | None]
_DRAWN: Mapping[frozenset[str], Draw] = {
    frozenset({"latency", "counts"}): _histograms,
    frozenset({"number", "latency"}): lambda table, rows: _lines(table, rows, "latency"),
    frozenset({"number", "runtime"}): lambda table, rows: _lines(table, rows, "runtime"),
    frozenset({"time", "latency"}): _courses,
}
"""How a figure is drawn, by the quantities on its axes."""
