"""Causes in the document of runs: why samples were late, and what knobs buy in a run of `howlate advise`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from howlate.document.document import Folded, Section
from howlate.document.report_input import DocumentPart, ReportInput
from howlate.document.results import WithCases
from howlate.document.sheet import PAGE, TERMINAL
from howlate.model.loaded import RunContent
from howlate.why.advise.flip import is_advice
from howlate.words.language import _
from howlate.words.statement import Statement

if TYPE_CHECKING:  # what explains is imported where something is to be explained
    from howlate.verdict.judge import Judged
    from howlate.why.explained_cells import ExplainedCell


def advised(material: ReportInput) -> Iterator[Section]:
    """Of runs of `howlate advise`: what each knob buys."""
    for content in material.runs:
        if is_advice(content.run):
            from howlate.why.advise.document import sections

            yield from sections(content, material.style)


def late_causes(material: ReportInput) -> Sequence[Section]:
    """Where the time of the late samples went, if events were recorded."""
    if all(cell is None for cell in material.with_cases):
        return ()
    from howlate.why.explained_cells import explained_by_row
    from howlate.why.late_cases import causes_section
    from howlate.why.on_screen import looked_at

    cells = explained_by_row(material)
    found = [finding for content in material.runs for finding in content.findings]
    return causes_section(looked_at(cells, material.runs), found)


def all_causes(material: ReportInput) -> Iterator[Section]:
    for section in late_causes(material):
        yield Section("causes-table", (Folded(_("All causes, and what to do about them"), section.items),))


PARTS = (
    DocumentPart(50, advised, (PAGE, TERMINAL)),
    DocumentPart(111, all_causes, (PAGE,)),
    DocumentPart(130, late_causes, (TERMINAL,)),
)


def doubts(
    content: RunContent, rows: Sequence[Judged], explained: Mapping[str, WithCases]
) -> Sequence[Statement]:
    """Which of the rows are on samples that recording made slower."""
    if not rows or not explained:
        return ()
    from howlate.why.recorded import slower_by_recording

    return slower_by_recording(content.run, rows, list(map(_own, explained.values())))


def _own(cell: WithCases) -> ExplainedCell:
    return cast("ExplainedCell", cell)
