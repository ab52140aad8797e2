"""The page of explained samples: the causes, a bar for each sample, its point in the course of time, and the worst
one by one."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.analysis.explained_cells import ExplainedCell
from howlate.charts import Figure, Subject
from howlate.charts.causes import CHART as CAUSES
from howlate.charts.course import CHART as COURSE
from howlate.model.loaded import RunContent
from howlate.report.document import Document, Drawn, Section
from howlate.report.html import page as html_page
from howlate.report.text import virtual_note
from howlate.words.language import _


def page(content: RunContent, cells: Sequence[ExplainedCell], shown: Document) -> str:
    """One self-contained file. `shown`: what the terminal shows; the charts come after its first section."""
    explained = {cell.id: cell for cell in cells}
    subjects = [
        Subject(
            explained[cell.summary.id].name, cell.summary, cell.bins, cases=explained[cell.summary.id].cases
        )
        for cell in content.cells
        if cell.summary.id in explained
    ]
    caution = virtual_note(content.run.virtual)
    figures = [chart.figure(subjects) for chart in (CAUSES, COURSE)] if subjects else []
    drawn = tuple(Drawn(figure, caution=caution) for figure in figures if isinstance(figure, Figure))
    first, rest = shown.sections[:1], shown.sections[1:]
    return html_page(Document((*first, Section("charts", drawn), *rest), _("Why it was late")))
