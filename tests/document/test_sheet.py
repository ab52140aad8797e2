"""A table is made once: terminal, page and JSON have the same columns, and a statistic is one entry."""

import io
import re

import pytest
from msgspec.structs import replace
from rich.console import Console

from howlate.document import tables
from howlate.document.document import Document, Folded, Section, to_json
from howlate.document.document_html import sheet_html
from howlate.document.document_terminal import print_document, print_sheet, sheet_lines
from howlate.document.html import page
from howlate.document.sheet import NOTHING, Sheet, labels, numbers, plain_text
from howlate.document.sheet import texts as column_of
from howlate.model.summary import CellSummary
from howlate.statistics import statistics
from howlate.statistics.describe import ValueCounts
from howlate.statistics.statistics import STATISTICS, Statistic, describe
from made_cells import LOADS, made_cell


def rows() -> tables.Rows:
    summaries = [made_cell(load, seed, 2000)[0] for seed, load in enumerate(LOADS, 1)]
    return tables.Rows(summaries, [cell.labels for cell in summaries], [12.0] * len(summaries))


def in_terminal(sheet: Sheet) -> str:
    out = io.StringIO()
    print_sheet(Console(file=out, width=200, highlight=False), sheet)
    return out.getvalue()


def test_terminal_and_page_have_the_same_columns_and_values() -> None:
    for sheet in tables.of_cells(rows()):
        heads = re.findall(r'<th scope="col"[^>]*><a [^>]*>([^<]*)</a></th>', sheet_html(sheet))
        assert heads == [column.heading for column in sheet.columns]
        words = in_terminal(sheet.plain()).split()
        for column in sheet.plain().columns:
            assert all(cell.text in words for cell in column.cells), column.key


def test_a_sheet_is_plain_in_terminal_and_json() -> None:
    texts = ["12\u202f345", "1.5\u202fms", "3\u202fµs", "–", "1\u202fh 30\u202fmin", "6.1–6.6"]
    assert list(map(plain_text, texts)) == ["12345", "1.5 ms", "3 us", "-", "1 h 30 min", "6.1–6.6"]
    (sheet,) = tables.of_cells(rows())
    assert "µs" in sheet.title and "µs" not in sheet.plain().title
    assert sheet.to_json() == sheet.plain().to_json()


def test_a_statistic_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored, read back, and a column of terminal and page; of an older run a dash."""
    distinct = Statistic("distinct", "distinct values", lambda data: len(data.values))
    monkeypatch.setattr(statistics, "STATISTICS", (*STATISTICS, distinct))
    monkeypatch.setattr(tables, "STATISTICS", (*STATISTICS, distinct))
    older, cell = rows().summaries[:2]
    new = replace(cell, columns={"latency_ns": describe(ValueCounts.of([1_000, 2_000, 2_000]))})
    assert new.columns["latency_ns"].figure("distinct") == 2
    assert CellSummary.from_json(new.to_json()) == new
    both = tables.Rows([older, new], [older.labels, new.labels], [None, None])
    (sheet,) = tables.of_cells(both)
    (column,) = [column for column in sheet.columns if column.key == "distinct"]
    assert [each.value for each in column.cells] == [None, 2]
    assert column.cells[0].text == NOTHING
    assert "distinct" in in_terminal(sheet.plain()) and "distinct values" in sheet_html(sheet)


def test_no_two_statistics_have_one_name() -> None:
    names = [entry.name for entry in STATISTICS]
    assert len(set(names)) == len(names)


def test_of_what_is_absent_nothing_is_drawn() -> None:
    """No column, table, fold or heading; the JSON has all of it."""
    columns = (labels("row", "Row", "ab"), numbers("x", "X", [None, None]), column_of("y", "Y", ["", "-"]))
    absent = Sheet("absent", "Nothing", columns, notes=("a dash",))
    half = Sheet("half", "Half", (*columns, numbers("z", "Z", [None, 3])))
    first = Section("first", (absent, Folded("more", (absent,)), half))
    shown = Document((first, Section("second", (absent,), "Second")))
    out = io.StringIO()
    print_document(Console(file=out, width=80, highlight=False), shown)
    assert [line.split() for line in out.getvalue().splitlines() if line] == [
        ["Half"],
        ["Row", "Z"],
        ["a", "-"],
        ["b", "3"],
    ]
    html = page(shown)
    assert re.findall(r'<th scope="col"[^>]*>(\w)', html) == re.findall(r"<th[^>]*>(Z)", html)
    assert (html.count("<table"), html.count("<details"), "Second" in html) == (1, 0, False)
    assert sheet_lines(absent, 80) == []
    kept = [item for section in to_json(shown) for item in section["items"]]
    assert [len(item["sheet"]["columns"]) for item in kept if "sheet" in item] == [3, 4, 3]
