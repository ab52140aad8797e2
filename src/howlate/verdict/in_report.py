"""Verdicts in the document of runs: whether the stated deadlines are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from howlate.document.document import Section, texts
from howlate.document.report_input import DocumentPart, ReportInput
from howlate.document.sheet import PAGE, TERMINAL
from howlate.model.loaded import RunContent
from howlate.rooms import hooks
from howlate.words.language import _
from howlate.words.statement import Statement

if TYPE_CHECKING:  # what judges is imported where a deadline was stated
    from howlate.verdict.judge import Judged


def rows(material: ReportInput) -> list[Judged]:
    """The verdicts on the deadlines that were stated."""
    return [row for content in material.runs for row in rows_of(content)]


def rows_of(content: RunContent) -> list[Judged]:
    """The verdicts on one run; without a stated deadline nothing that judges is imported."""
    if not any(cell.deadline or cell.by_column for cell in content.summaries):
        return []
    from howlate.verdict.judge import stated

    return stated(content)


def doubts(material: ReportInput) -> list[Statement]:
    """What other rooms know against the samples of rows that are judged."""
    return [
        doubt
        for content, explained in zip(material.runs, material.explained_cells, strict=True)
        for of_room in hooks("doubts")
        for doubt in of_room(content, rows_of(content), explained)
    ]


def section(material: ReportInput) -> Iterator[Section]:
    """In the terminal briefly and before all else; on the page in words for a report."""
    judged = [row.verdict for row in material.once(rows)]
    if judged:
        from howlate.verdict.document import briefly, items

        brief = material.style is TERMINAL
        shown = (briefly if brief else items)(judged, *material.runs)
        more = texts("more", material.once(doubts))
        yield Section("verdict", (*shown, *more), "" if brief else _("The verdict"))


PARTS = (DocumentPart(20, section, (TERMINAL,)), DocumentPart(112, section, (PAGE,)))


def json_members(material: ReportInput) -> dict[str, Any]:
    """For `show --json`."""
    judged = material.once(rows)
    if not judged:
        return {}
    from howlate.verdict.verdict_json import verdict_json

    return {"verdicts": [verdict_json(row.verdict, row.others) for row in judged]}
