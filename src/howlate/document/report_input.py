"""What a document of runs is made from, and what several parts of it say of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec import Struct, field

from howlate.document.document import ChartItem, Section
from howlate.document.results import EVERYTHING, Fit, StudyPart, WithCases
from howlate.document.sheet import Style
from howlate.errors import UsageError
from howlate.figures.scale import OWN_AXES, Axes
from howlate.model.loaded import CellContent, RunContent
from howlate.model.summary import CellSummary
from howlate.rooms import hooks
from howlate.sides.cell_labels import labelled, labels_of
from howlate.sides.joined import Joined
from howlate.statistics.labels import by_part
from howlate.statistics.threshold import threshold_statements
from howlate.words.language import _, as_called
from howlate.words.say import Text
from howlate.words.statement import Statement, message

NO_CELL = message("report.no-cell", "No cell of this run is whole yet.")
JOINED = message(
    "report.blocks-joined",
    "To save room the charts join {joined} blocks of time into one, with the largest maximum, p99 and median.",
)
FEWER_DRAWN = message(
    "report.fewer-drawn",
    "To save room the charts show the {drawn} of {cells} cells with the largest latencies.",
)
FEWER_LISTED = message(
    "report.fewer-listed",
    "To save room the tables hold the {listed} of {cells} cells with the largest latencies; `howlate show --all` "
    "holds all.",
)

WORST = 5
"""Explained samples of a cell that the page shows."""

T = TypeVar("T")


class Compared(Protocol):
    """A comparison, as the room that makes it has it (compare/compare.py)."""

    @property
    def joined(self) -> Joined: ...


def compared(runs: Sequence[RunContent], by: str = "") -> Compared | None:
    """The comparison of runs along the label `by`; UsageError where they cannot be. Without it of kernels, if there
    are several."""
    for compare in hooks("comparison"):
        comparison: Compared | None = compare(runs, by)
        return comparison
    if by:
        raise UsageError(
            "this howlate does not compare runs", remedy="leave out --by, or add its room compare"
        )
    return None


def explained(content: RunContent) -> Mapping[str, WithCases]:
    """The cells whose late samples a room explains, by their ids."""
    return {name: cell for explain in hooks("explained") for name, cell in explain(content).items()}


class ReportInput(Struct, frozen=True, dict=True):
    runs: Sequence[RunContent]
    style: Style
    comparison: Compared | None = None
    fit: Fit = EVERYTHING
    axes: Axes = field(default_factory=lambda: OWN_AXES)
    over_sides: Sequence[ChartItem] = ()
    """The charts of the whole page."""
    every: bool = False
    """In the terminal: every cell, where points are repeated."""
    histograms: bool = False
    """In the terminal: histograms below the tables."""
    failures: tuple[str, ...] = ()
    """In the terminal: what could not be measured."""
    folder: str = ""
    """The folder of the run, as the user would type it in a command."""
    explained: Sequence[Mapping[str, WithCases]] | None = None
    """Of each run the cells whose late samples are explained, by their ids; None: to be found."""

    @cached_property
    def _once(self) -> dict[Callable[[ReportInput], Any], Any]:
        return {}

    @cached_property
    def cells(self) -> list[CellContent]:
        return [cell for content in self.runs for cell in content.cells]

    @property
    def joined(self) -> Joined | None:
        return None if self.comparison is None else self.comparison.joined

    @cached_property
    def summaries(self) -> list[CellSummary]:
        return labelled(self.runs, self.joined)

    def once(self, make: Callable[[ReportInput], T]) -> T:
        """What a room makes of it, made once."""
        if make not in self._once:
            self._once[make] = make(self)
        made: T = self._once[make]
        return made

    def made_before(self, make: Callable[[ReportInput], T], made: T) -> ReportInput:
        """With what `once` would make of it."""
        self._once[make] = made
        return self

    @cached_property
    def labels(self) -> list[dict[str, str]]:
        return labels_of(self.runs, self.joined)

    @cached_property
    def whole(self) -> StudyPart:
        return self._part("", range(len(self.cells)))

    @cached_property
    def explained_cells(self) -> Sequence[Mapping[str, WithCases]]:
        return list(map(explained, self.runs)) if self.explained is None else self.explained

    @property
    def with_cases(self) -> list[WithCases | None]:
        runs = zip(self.runs, self.explained_cells, strict=True)
        return [own.get(cell.summary.id) for content, own in runs for cell in content.cells]

    @cached_property
    def parts(self) -> list[StudyPart]:
        """The parts of the study in order; a single part of all cells if it has none."""
        places = by_part(self.labels)
        if set(places) <= {""}:
            return [self.whole]
        return [self._part(part, here) for part, here in places.items()]

    def _part(self, part: str, here: Sequence[int]) -> StudyPart:
        cases = [() if own is None else own.cases[:WORST] for own in self.with_cases]
        cells, labels = [self.cells[i] for i in here], [self.labels[i] for i in here]
        return StudyPart.of(self.runs, part, cells, labels, [cases[i] for i in here])


class DocumentPart(NamedTuple):
    place: int
    """Parts are shown in the order of their places."""
    make: Callable[[ReportInput], Iterable[Section]]
    styles: tuple[Style, ...]
    """Who shows it."""


def question(material: ReportInput) -> str:
    """The study's question, or the names of several studies."""
    studies = {content.run.study.id: content.run.study for content in material.runs}
    if len(studies) > 1:
        return _("Studies side by side: {studies}").format(studies=", ".join(studies))
    first = next(iter(studies.values()))
    return as_called(first.question or first.title)


def answered(material: ReportInput) -> bool:
    """A room has the answer of all runs: the largest latency is none."""
    return any(answers(material.runs) for answers in hooks("answers"))


def left_out(material: ReportInput) -> Iterator[Statement]:
    fit, cells = material.fit, len(material.cells)
    rows = sum(len(part.rows) for part in material.parts)
    if fit.joined > 1:
        yield JOINED(joined=fit.joined)
    if fit.in_charts < rows:
        yield FEWER_DRAWN(cells=rows, drawn=fit.in_charts)
    if fit.in_tables < cells:
        yield FEWER_LISTED(cells=cells, listed=fit.in_tables)


def thresholds(material: ReportInput) -> list[Text]:
    """The cells that ended because a sample exceeded their threshold."""
    return [
        tuple(ended)
        for content in material.runs
        for ended in threshold_statements(content.summaries, content.run)
    ]
