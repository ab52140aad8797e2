"""The page of explained samples: the causes, a bar for each sample, its point in the course of time, the worst one by
one, and of those that were played again a flame graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.charts.course import CHART as COURSE
from howlate.document.coarser import coarser
from howlate.document.document import ChartItem, Document, Section, texts
from howlate.document.first_screen.on_page import head, title
from howlate.document.flame import flame_html
from howlate.document.html import fits, fitted
from howlate.document.html import page as html_page
from howlate.document.report_input import FEWER_DRAWN, JOINED, ReportInput
from howlate.document.results import Fit, latest
from howlate.document.sheet import PAGE
from howlate.document.text import virtual_note
from howlate.figures.figure import Figure, Subject
from howlate.model.loaded import CellContent, RunContent
from howlate.why.charts.causes import CHART as CAUSES
from howlate.why.explained_cells import CellCase, ExplainedCell
from howlate.why.late_cases import OF_CASE
from howlate.words.language import _
from howlate.words.quantities import time_text
from howlate.words.statement import Statement, message

FEWER_CASES = message(
    "late.fewer-cases",
    "There is no room for all samples: of the {cases} worst, {listed} are shown one by one.",
)


def replayed_page(shown: Document, cases: Sequence[CellCase]) -> str:
    """Of samples that were played again, each with its flame graph: their sections come in the order of `cases`."""
    flames = [
        flame_html(
            one.replayed.stacks,
            f"{one.cell.name}, {time_text(one.replayed.latency_ns)}",
            one.replayed.places,
        )
        for one in cases
    ]
    before = [""] * sum(not section.id.startswith(OF_CASE) for section in shown.sections)
    return html_page(replace(shown, title=shown.title or _("Why it was late")), [*before, *flames], "flame")


def headed(shown: Document, content: RunContent, cells: Sequence[ExplainedCell], folder: str) -> Document:
    """`folder`: the run's, as the user would type it in a command."""
    material = ReportInput([content], PAGE, folder=folder, explained=[{cell.id: cell for cell in cells}])
    first = [section for section in head(material) if section.items]
    return Document((*first, *shown.sections), _title(material))


def _title(material: ReportInput) -> str:
    return title(material, _("Why it was late"))


def page(content: RunContent, cells: Sequence[ExplainedCell], shown: Document, folder: str) -> str:
    """One self-contained file, small enough for any browser. `shown`: what the terminal shows; the charts come after
    its first section. `folder`: as of `headed`."""
    explained = {cell.id: cell for cell in cells}
    traced = [cell for cell in content.cells if cell.summary.id in explained]
    of_cases = sum(section.id.startswith(OF_CASE) for section in shown.sections)
    made = _LatePage(content, explained, traced, shown, of_cases, folder)
    return fitted(list(fits(len(traced), of_cases)), lambda fit: html_page(made.document(fit)))


class _LatePage(Struct, frozen=True):
    content: RunContent
    explained: dict[str, ExplainedCell]
    traced: Sequence[CellContent]
    shown: Document
    of_cases: int
    """The number of sections with one case each."""
    folder: str

    def document(self, fit: Fit) -> Document:
        first, rest = self.shown.sections[:1], self.shown.sections[1:]
        cases = [section for section in rest if section.id.startswith(OF_CASE)]
        others = [section for section in rest if not section.id.startswith(OF_CASE)]
        left_out = Section("left-out", texts("cautions", list(self._left_out(fit))))
        charts = Section("charts", tuple(self._drawn(fit)))
        material = ReportInput([self.content], PAGE, folder=self.folder)
        sections = (*head(material), *first, left_out, charts, *cases[: fit.in_tables], *others)
        return Document(sections, _title(material))

    def _drawn(self, fit: Fit) -> Iterator[ChartItem]:
        subjects = [self._subject(self.traced[place], fit) for place in latest(self.traced, fit.in_charts)]
        for chart in (CAUSES, COURSE):
            figure = chart.figure(subjects) if subjects else None
            if isinstance(figure, Figure):
                yield ChartItem(figure, caution=virtual_note(virtual=self.content.run.virtual))

    def _subject(self, cell: CellContent, fit: Fit) -> Subject:
        own = self.explained[cell.summary.id]
        return Subject(own.name, cell.summary, coarser(cell.bins, fit.joined), cases=own.cases)

    def _left_out(self, fit: Fit) -> Iterator[Statement]:
        if fit.joined > 1:
            yield JOINED(joined=fit.joined)
        if fit.in_charts < len(self.traced):
            yield FEWER_DRAWN(cells=len(self.traced), drawn=fit.in_charts)
        if fit.in_tables < self.of_cases:
            yield FEWER_CASES(cases=self.of_cases, listed=fit.in_tables)
