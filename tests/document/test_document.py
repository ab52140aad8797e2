"""One document for page, terminal, JSON and pictures; the renderers know no result."""

import ast
import json
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from howlate.document import html, of_runs
from howlate.document.document import Document, Folded, Section, Texts, to_json
from howlate.document.document_html import sections_html
from howlate.document.of_runs import document
from howlate.document.report_input import DocumentPart, ReportInput
from howlate.document.sheet import PAGE, TERMINAL, Sheet, Style
from howlate.system.paths import ROOT
from howlate.words.statement import MESSAGES, message
from made_points import made_points, virtual_run
from made_runs import five_cells, made_run
from printed import lines_of, show_json

REPORT = ROOT / "src" / "howlate" / "document"
RENDERERS = ("document_html.py", "document_terminal.py", "figure_html.py", "table_terminal.py")


@pytest.fixture
def verdict() -> Iterator[str]:
    """A rule of a part that howlate does not have."""
    made = message("test.verdict", "{verdict}: the deadline of {deadline_ns:time}.")
    yield made.id
    del MESSAGES[made.id]


def test_one_entry_in_one_place_puts_a_part_on_page_terminal_and_json(
    monkeypatch: pytest.MonkeyPatch, verdict: str
) -> None:
    def section(material: ReportInput) -> Iterator[Section]:
        statement = MESSAGES[verdict](verdict="PASS", deadline_ns=200_000)
        yield Section("verdict", (Texts("conclusions", (statement,)),))

    monkeypatch.setattr(of_runs, "PARTS", (DocumentPart(0, section, (PAGE, TERMINAL)), *of_runs.PARTS))
    run = made_run(five_cells(200))
    said = "PASS: the deadline of 200 µs."
    assert html.render([run]).partition("<main>")[2].startswith(f'\n<p class="conclusions">{said}')
    assert lines_of(document(ReportInput([run], TERMINAL))).strip().startswith(said)
    (first, *_) = json.loads(show_json(run.summaries, run.run))["document"]
    assert first["items"][0]["statements"][0]["values"] == {"verdict": "PASS", "deadline_ns": 200_000}


@pytest.mark.parametrize("style", [PAGE, TERMINAL])
def test_every_sentence_and_every_value_of_a_document_is_drawn(style: Style) -> None:
    run = virtual_run(made_points())
    shown = document(ReportInput([run], style))
    page = "".join(sections_html(shown))
    text = lines_of(shown, 300)
    for item in shown.items():
        if isinstance(item, Sheet):
            as_drawn, drawn = (item, unescape(page)) if style is PAGE else (item.plain(), text)
            cells = [cell.text for column in as_drawn.columns for cell in column.cells]
            assert item.title in unescape(page) and all(cell in drawn for cell in cells[:50])
    assert page.count("<table") == sum(_tables(item) for item in shown.items())


def _tables(item: object) -> int:
    if isinstance(item, Folded):
        return sum(map(_tables, item.items))
    return isinstance(item, Sheet) and item.kind.split()[0] in ("summary", "disturbances", "kernels")


def test_the_json_of_a_sheet_has_its_exact_values() -> None:
    run = made_run(five_cells(200))
    (section,) = (s for s in to_json(document(ReportInput([run], TERMINAL))) if s["id"] == "part-")
    sheet = section["items"][0]["sheet"]
    place = [column["key"] for column in sheet["columns"]].index("max")
    assert [row[place] for row in sheet["rows"]] == [s.columns["latency_ns"].max for s in run.summaries]


@pytest.mark.parametrize("name", RENDERERS)
def test_a_renderer_knows_no_result(name: str) -> None:
    """It imports neither the analysis nor what a run holds; shapes of document/, charts/ and figures/ alone."""
    for node in ast.walk(ast.parse((REPORT / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("howlate."):
            room = Path(*node.module.split(".")[1:2]).name
            assert room in ("document", "charts", "figures", "words"), node.module


def test_an_empty_document_draws_nothing() -> None:
    assert sections_html(Document((Section("nothing", ()),))) == []
    assert lines_of(Document((Section("nothing", ()),))) == ""
