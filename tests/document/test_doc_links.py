"""Every figure of a page leads to the page of docs/ that explains it."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.charts import all_charts
from howlate.compare.compare import compare_if_several
from howlate.document import doc_links
from howlate.document.document import Document, Folded, Item
from howlate.document.document_html import sections_html, sources
from howlate.document.html import render, write_report
from howlate.document.of_runs import document
from howlate.document.report_input import ReportInput
from howlate.document.sheet import PAGE, Sheet
from howlate.model.loaded import RunContent
from howlate.model.summary import DeadlineSummary
from howlate.system.paths import ROOT
from howlate.words.rooms import messages_of_results
from howlate.words.statement import MESSAGES
from made_points import made_points, virtual_run
from made_runs import five_cells, made_run
from made_sides import RT, Made, at, real_run
from test_docs import DOCS, anchors

TARGETS = {
    *doc_links.SHEETS.values(),
    *doc_links.COLUMNS.values(),
    *doc_links.CHARTS.values(),
    *doc_links.STATEMENTS.values(),
    doc_links.CHART,
}


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_every_target_is_a_file_with_that_heading(target: str) -> None:
    page, _, anchor = target.partition("#")
    assert (DOCS / page).is_file()
    assert not anchor or anchor in anchors(DOCS / page)


def test_every_entry_is_of_something_that_is_stated_or_drawn() -> None:
    ids = [rule.id for rule in messages_of_results()]
    assert [start for start in doc_links.STATEMENTS if not any(id_.startswith(start) for id_ in ids)] == []
    assert set(doc_links.CHARTS) <= {
        *(chart.name for chart in all_charts()),
        "history",
        "landscape",
        "advice",
    }


def with_deadline() -> RunContent:
    """Every cell held against a deadline."""
    content = made_run(five_cells(2000))
    deadline = DeadlineSummary(deadline_ns=200_000, releases=2000, late=3, unserved=0)
    cells = [replace(cell, summary=replace(cell.summary, deadline=deadline)) for cell in content.cells]
    return replace(content, cells=tuple(cells))


def two_sides() -> list[RunContent]:
    points = {at(load=load): [Made(maximum=10 + i) for i in range(8)] for load in ("none", "cpu:50")}
    return [real_run(points), real_run(points, RT, "run-b")]


def documents() -> Iterator[Document]:
    for runs in ([with_deadline()], [virtual_run(made_points())], two_sides()):
        yield document(ReportInput(runs, PAGE, compare_if_several(runs)))


def sheets_of(items: Iterable[Item]) -> Iterator[Sheet]:
    for item in items:
        if isinstance(item, Sheet):
            yield item
        elif isinstance(item, Folded):
            yield from sheets_of(item.items)


def test_every_column_of_every_sheet_leads_to_the_documentation() -> None:
    kinds = set()
    for shown in documents():
        for sheet in sheets_of(shown.items()):
            kinds.add(sheet.kind)
            assert {doc_links.of_column(sheet, column) for column in sheet.columns} <= TARGETS
        page = "".join(sections_html(shown))
        heads = re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", page)
        assert heads and all(head == "" or 'href="docs/' in head for head in heads)
        charts = re.findall(r'<section class="chart" data-chart.*?<p class="reading">(.*?)</p>', page)
        assert charts and all('href="docs/' in reading for reading in charts)
    assert {"summary", "summary spread", "disturbances", "verdict", "sides"} <= kinds


def test_a_statement_and_those_inside_it_lead_to_their_pages() -> None:
    steal = MESSAGES["report.steal"](steal_ns=12)
    wrapped = MESSAGES["report.of-rows"](rows=("none",), what=steal)
    assert list(doc_links.of_text((wrapped, steal))) == ["doctor.md#steal-steal-weight-86"]
    assert sources(wrapped).count("<a ") == 1
    assert sources("another text") == ""


def test_links_lead_to_where_the_documentation_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout by a relative path, with a site to that, elsewhere from the top of the source tree."""
    page = '<a href="docs/verdict.md#virtual-time">?</a><a href="#part">docs/</a>'
    assert doc_links.linked(page, tmp_path / "report.html") == '<a>?</a><a href="#part">docs/</a>'
    assert 'href="../../docs/verdict.md#' in doc_links.linked(page, ROOT / "runs" / "made" / "report.html")
    monkeypatch.setenv(doc_links.SITE, "https://docs.example.org/howlate/")
    assert 'href="https://docs.example.org/howlate/docs/verdict.html#virtual-time"' in doc_links.linked(
        page, None
    )
    written = write_report([with_deadline()], tmp_path / "report.html").read_text(encoding="utf-8")
    assert written != render([with_deadline()]) and 'href="docs/' not in written
