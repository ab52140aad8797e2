"""Runs as the terminal and `show --json` have them, for tests."""

import io
from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from rich.console import Console

from howlate.compare import document as comparison
from howlate.compare.compare import Comparison
from howlate.document import of_runs
from howlate.document.document import Document, Section, Texts
from howlate.document.document_html import sections_html
from howlate.document.document_terminal import print_document
from howlate.document.of_runs import document
from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.model.loaded import CellContent, RunContent
from howlate.model.run import Run
from howlate.model.summary import CellSummary
from howlate.words.say import say
from howlate.words.statement import Statement
from made_runs import made_run


def material_of(
    summaries: Sequence[CellSummary],
    run: Run | None = None,
    seconds: Mapping[str, float] | None = None,
    every: bool = False,
) -> ReportInput:
    """Of these cells, and nothing that the doctor found."""
    cells = [
        CellContent(summary, None, trailer={"duration_ns": 1e9 * (seconds or {}).get(summary.id, 0)})
        for summary in summaries
    ]
    run = replace(run or made_run([]).run, findings=())
    return ReportInput([RunContent(run, cells)], TERMINAL, every=every)


def print_cells(
    console: Console,
    summaries: Sequence[CellSummary],
    seconds: Mapping[str, float] | None = None,
    run: Run | None = None,
    every: bool = False,
) -> None:
    print_document(console, document(material_of(summaries, run, seconds, every)))


def show_json(summaries: Sequence[CellSummary], run: Run | None = None) -> str:
    return of_runs.show_json(material_of(summaries, run))


def print_comparison(console: Console, found: Comparison) -> None:
    """Its tables and sentences."""
    print_document(console, Document((comparison.section(found, len(found.blocks)),)))


def compared_html(found: Comparison, most: int) -> str:
    return "".join(sections_html(Document((comparison.section(found, most),))))


def lines_of(shown: Document, width: int = 80) -> str:
    """The terminal's text."""
    out = io.StringIO()
    print_document(Console(file=out, width=width), shown)
    return out.getvalue()


def plain(statement: Statement) -> str:
    """As the terminal prints it, which marks no commands."""
    return say(statement).replace("`", "")


def statements_in(*sections: Section) -> list[Statement]:
    """Of their sentences."""
    texts = [
        text
        for section in sections
        for item in section.items
        if isinstance(item, Texts)
        for text in item.texts
    ]
    flat = [part for text in texts for part in (text if isinstance(text, tuple) else (text,))]
    return [part for part in flat if isinstance(part, Statement)]
