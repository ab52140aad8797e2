"""The results: the short answer, tables and charts of each part of a study, and the notes on its rows. No sentence
promises anything beyond the samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from howlate.charts import all_charts
from howlate.charts.histogram import CHART as HISTOGRAM
from howlate.document import cautions, disturbances, histogram, tables
from howlate.document.coarser import coarser
from howlate.document.document import ChartItem, Folded, Item, texts
from howlate.document.points import Points
from howlate.document.text import every_note, virtual_note
from howlate.figures.figure import Chart, Figure, Shows, Subject, words_of_column
from howlate.figures.scale import Axes
from howlate.model.cause import ExplainedCase
from howlate.model.columns import LATENCY
from howlate.model.loaded import CellContent, RunContent
from howlate.model.summary import CellSummary
from howlate.rooms import hooks
from howlate.sides.join import gravity_of_runs
from howlate.statistics.groups import Group
from howlate.statistics.labels import axes_that_vary, in_sentence, row_names, title_of
from howlate.statistics.valid import holds
from howlate.words.language import N_, _, as_called
from howlate.words.quantities import seconds_text
from howlate.words.say import text_of
from howlate.words.statement import Caption, Listed, Statement, message

LARGEST = message("report.largest", "Largest {what} seen in {span}: {largest_ns:time}{row}.")
NO_ANSWER = message("report.no-answer", "No answer yet: {why}.")
NOT_MEASURED = Caption(N_("nothing was measured"))
NOT_VALID = Caption(N_("no cell is valid"))
NOT_LOADED = Caption(N_("the load was starved, as the study expects"))
NO_VALUE = Caption(N_("the valid cells have no value"))


def answer_of_points(groups: Sequence[Group], *, virtual: bool) -> Statement:
    held = [(group, largest) for group in groups if (largest := group.largest(_column(group))) is not None]
    if not held:
        return NO_ANSWER(why=NOT_VALID if groups else NOT_MEASURED)
    worst, largest_ns = max(held, key=lambda pair: (_is_answer(pair[0].cells), pair[1]))
    axes = axes_that_vary([group.labels for group, _largest in held])
    row = " · ".join(worst.labels[axis] for axis in axes if worst.labels.get(axis))
    return LARGEST(
        what=words_of_column(_column(worst)),
        span=Caption("all seeds") if virtual else Caption("all repetitions"),
        largest_ns=largest_ns,
        row=_row(row, several=len(held) > 1),
    )


def _is_answer(cells: Sequence[CellSummary]) -> bool:
    """A deadline is held against its values. Others are the answer of a run that has nothing else."""
    return any(cell.judged for cell in cells)


def _column(group: Group) -> str:
    cells = [cell for cell in group.seen or group.cells if cell.columns]
    worst = max(cells, key=lambda cell: _max(cell) or 0, default=None)
    return LATENCY if worst is None else worst.latest


def answer(cells: Sequence[CellContent], names: Sequence[str]) -> Statement:
    """The largest of the cells that count; `names`: what a row is called."""
    usable = [
        (largest_ns, name, cell)
        for name, cell in zip(names, cells, strict=True)
        if holds(cell.summary) and not cell.summary.starved and (largest_ns := _max(cell.summary)) is not None
    ]
    if not usable:
        return NO_ANSWER(why=_why_none(cells))
    largest_ns, name, worst = max(usable, key=lambda row: (_is_answer([row[2].summary]), row[0]))
    seconds = [cell.looked_s for _largest, _name, cell in usable]
    return LARGEST(
        what=words_of_column(worst.summary.latest),
        span=seconds_text(sum(seconds), " ") if all(seconds) else Caption("an unknown time"),
        largest_ns=largest_ns,
        row=_row(name, several=len(usable) > 1),
    )


def _row(name: str, *, several: bool) -> str | Listed:
    return Listed((" (", in_sentence(name), ")"), "") if several else ""


def _why_none(cells: Sequence[CellContent]) -> Caption:
    if any(cell.summary.starved for cell in cells):
        return NOT_LOADED
    if any(cell.summary.valid for cell in cells):
        return NO_VALUE
    return NOT_VALID if cells else NOT_MEASURED


def _max(cell: CellSummary) -> int | None:
    column = cell.columns.get(cell.latest)
    return None if column is None else column.max


class Fit(Struct, frozen=True):
    """How much of a run fits on a page of limited size."""

    joined: int
    """How many blocks of time are drawn as one."""
    in_charts: int
    """How many cells the charts draw: those with the largest latencies."""
    in_tables: int
    """How many cells the tables and lists hold."""

    def share(self, cells: int, of: int) -> Fit:
        """The room of some of the cells, where all of them share this one."""
        drawn, listed = (max(1, most * cells // max(1, of)) for most in (self.in_charts, self.in_tables))
        return Fit(self.joined, drawn, listed)


VERSIONS = "versions"
"""The chart that is never folded: no chart of sides shows the same."""
EVERYTHING = Fit(1, 1 << 30, 1 << 30)


class WithCases(Protocol):
    """A cell whose late samples are explained, as the room that does so has it (why/explained_cells.py)."""

    @property
    def cases(self) -> tuple[ExplainedCase, ...]: ...


def rulings_of(content: RunContent) -> Mapping[str, str]:
    """The verdicts on the deadlines that were stated, by cell and by point."""
    return {row: ruling for judge in hooks("rulings") for row, ruling in judge(content).items()}


class StudyPart(Struct, frozen=True):
    """The cells of one part of the study, or all cells if it has no parts."""

    runs: Sequence[RunContent]
    part: str
    cells: Sequence[CellContent]
    labels: Sequence[dict[str, str]]
    names: Sequence[str]
    points: Points | None
    cases: Sequence[tuple[ExplainedCase, ...]]
    """The explained samples of each cell."""

    @classmethod
    def of(
        cls,
        runs: Sequence[RunContent],
        part: str,
        cells: Sequence[CellContent],
        labels: Sequence[dict[str, str]],
        cases: Sequence[tuple[ExplainedCase, ...]],
    ) -> StudyPart:
        return cls(runs, part, cells, labels, row_names(labels), Points.of(runs, cells, labels, cases), cases)

    @property
    def title(self) -> str:
        return as_called(title_of(self.part, self.runs[0].run.study))

    @property
    def answer(self) -> Statement:
        if self.points is None:
            return answer(self.cells, self.names)
        return answer_of_points(self.points.groups, virtual=self.runs[0].run.virtual)

    @property
    def rows(self) -> list[cautions.Named]:
        if self.points is None:
            return [(name, (cell.summary,)) for name, cell in zip(self.names, self.cells, strict=True)]
        return [
            (name, group.cells) for name, group in zip(self.points.names, self.points.groups, strict=True)
        ]

    @property
    def rulings(self) -> Mapping[str, str]:
        """For a single run: the verdict on the stated deadline, by cell and by point."""
        return rulings_of(self.runs[0]) if len(self.runs) == 1 else {}

    def latest(self, most: int) -> StudyPart:
        """With at most this many cells, those with the largest latencies; the points stay those of all."""
        kept = latest(self.cells, most)
        all_of = (self.cells, self.labels, self.names, self.cases)
        cells, labels, names, cases = ([held[i] for i in kept] for held in all_of)
        return replace(self, cells=cells, labels=labels, names=names, cases=cases)

    def subjects(self, fit: Fit) -> Mapping[Shows, Sequence[Subject]]:
        if self.points is not None:
            return self.points.subjects(fit.in_charts, fit.joined)
        part = self.latest(fit.in_tables).latest(fit.in_charts)
        subjects = [
            Subject(
                name if cell.summary.valid else Caption("{name} (invalid)", name=name),
                cell.summary,
                coarser(cell.bins, fit.joined),
                cases=cases,
            )
            for name, cell, cases in zip(part.names, part.cells, part.cases, strict=True)
        ]
        return {"cells": subjects, "pooled": subjects, "worst": subjects}

    def in_terminal(self, *, every: bool, histograms: bool) -> Iterator[Item]:
        """Tables, histograms if wanted, and notes; with `every` a row a cell also where points are repeated."""
        points = None if every else self.points
        yield from self.tables(points)
        part = replace(self, points=points)
        if histograms:
            yield from part.histograms()
        single = any(len(group.counted) == 1 for group in points.groups) if points is not None else False
        notes = [cautions.one_is_none(self.runs[0].run)] if single else []
        yield from texts("notes", [*notes, *cautions.of_rows(part.rows)])

    def on_page(self, fit: Fit, axes: Axes, *, briefly: bool = False) -> Iterator[Item]:
        """Charts, then the tables; the charts that are folded, and those of further columns, on demand. `briefly`:
        all of it on demand, but the latency against the kernel's version."""
        subjects, rest = self.subjects(fit), []
        for chart in all_charts():
            for drawn in figures(chart, subjects.get(chart.shows) or (), axes, self):
                if (briefly and chart.name != VERSIONS) or chart.folded or drawn.column:
                    rest.append(drawn)
                else:
                    yield drawn
        shown = tuple(self.latest(fit.in_tables).page_tables())
        if briefly:
            yield Folded(_("Row by row"), shown)
        else:
            yield from shown
        yield from folded_charts(rest)

    def histograms(self) -> Iterator[Item]:
        for _column, subjects in _by_column(HISTOGRAM, self.subjects(EVERYTHING).get(HISTOGRAM.shows) or ()):
            sheet = histogram.sheet(subjects)
            if sheet is not None:
                yield sheet

    def page_tables(self) -> Iterator[Item]:
        names = row_names(self.labels)
        more = disturbances.sheet(self.cells, names, self.part)
        if self.points is None:
            first, *rest = self.tables(None)
            yield first
            yield Folded(_("More tables: quantiles with their intervals, disturbances"), (*rest, more))
            return
        single = (*self.tables(None), more)
        yield from self.tables(self.points)
        yield Folded(_("Every repetition: {count} cells").format(count=len(self.cells)), single, "cells")

    def tables(self, points: Points | None) -> Sequence[Item]:
        """A row a point, or a cell; one table for each column of the samples."""
        virtual = self.runs[0].run.virtual
        rows = tables.Rows(
            [cell.summary for cell in self.cells],
            self.labels,
            [cell.looked_s or None for cell in self.cells],
            virtual_note(virtual=virtual),
            self.part,
            self.rulings,
        )
        if points is None:
            return tables.of_cells(rows)
        return tables.of_points(points.groups, rows, virtual=virtual)


def on_demand(drawn: Sequence[ChartItem]) -> Iterator[Item]:
    """The charts as they are, then those that are folded."""
    names = {chart.name for chart in all_charts() if chart.folded}
    is_folded = [isinstance(each.figure, Figure) and each.figure.name in names for each in drawn]
    yield from (each for each, folds in zip(drawn, is_folded, strict=True) if not folds)
    yield from folded_charts([each for each, folds in zip(drawn, is_folded, strict=True) if folds])


def folded_charts(drawn: Sequence[ChartItem]) -> Iterator[Folded]:
    titles = dict.fromkeys(text_of(d.figure.title if isinstance(d.figure, Figure) else "") for d in drawn)
    if drawn:
        named = text_of(Listed(tuple(filter(None, titles)), ", "))
        yield Folded(_("More charts: {titles}").format(titles=named), tuple(drawn), "charts")


def figures(chart: Chart, subjects: Sequence[Subject], axes: Axes, part: StudyPart) -> Iterator[ChartItem]:
    """The figures of a chart: one for each column if it is drawn for every one, none if there is nothing to draw."""
    for column, some in _by_column(chart, subjects):
        figure = chart.figure(some, axes)
        if figure:
            note = every_note(
                virtual=part.runs[0].run.virtual, labels=part.labels, gravity=gravity_of_runs(part.runs)
            )
            yield ChartItem(figure, part.part, column, note)


def _by_column(chart: Chart, subjects: Sequence[Subject]) -> Iterator[tuple[str, Sequence[Subject]]]:
    """The subjects of each column; the name of the first is empty."""
    if not subjects:
        return
    yield "", subjects
    if chart.every:
        held = [s.bins for s in subjects if s.bins is not None]
        for name in dict.fromkeys(other.column for bins in held for other in bins.others):
            own = [(s, s.bins.of(name)) for s in subjects if s.bins is not None]
            yield name, [replace(s, bins=bins) for s, bins in own if bins is not None]


def latest(cells: Sequence[CellContent], most: int) -> list[int]:
    """The places of at most this many cells, those with the largest latencies, in their order."""
    by_size = sorted(range(len(cells)), key=lambda i: -(((c := cells[i].column) and c.max) or 0))
    return sorted(by_size[:most])
