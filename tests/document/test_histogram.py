"""The histogram in the terminal: the chart's bins as counts with bars, however wide the terminal is."""

import io
import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from rich.console import Console

from howlate.document.document import to_json
from howlate.document.document_terminal import print_document
from howlate.document.histogram import sheet
from howlate.document.of_runs import document
from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.document.table_terminal import print_bars
from howlate.figures.figure import Subject
from howlate.model.bins import Histogram
from howlate.model.loaded import RunContent
from made_runs import five_cells, made_run

LINE = re.compile(r"^ *[\d.]+ (?:ns|us|ms|s)  ")


def of(content: RunContent, histograms: bool = True) -> ReportInput:
    return ReportInput([content], TERMINAL, histograms=histograms)


def printed(content: RunContent, width: int) -> list[str]:
    out = io.StringIO()
    print_document(Console(file=out, width=width), document(of(content)))
    return out.getvalue().splitlines()


def subject(*bins: tuple[int, int, int], label: str = "none") -> Subject:
    summary, cell_bins = five_cells(1_000)[0]
    return Subject(
        label, summary, replace(cell_bins, histogram=Histogram(*zip(*bins, strict=True)), scatter=None)
    )


def bars(counts: Sequence[tuple[str, list[int]]], width: int = 80) -> list[str]:
    out = io.StringIO()
    edges = [f"{n} us" for n in range(len(counts[0][1]))]
    print_bars(Console(file=out, width=width), ("from", edges), counts)
    return out.getvalue().splitlines()


def test_each_column_counts_every_sample_in_the_same_bins() -> None:
    content = made_run(five_cells(3_000))
    (part,) = (section for section in to_json(document(of(content))) if section["id"] == "part-")
    (shown,) = (item["sheet"] for item in part["items"] if item.get("sheet", {}).get("kind") == "histogram")
    rows = shown["rows"]
    totals = [sum(counts) for counts in list(zip(*rows, strict=True))[1:]]
    assert totals == [cell.summary.columns["latency_ns"].count for cell in content.cells]
    lows = [row[0] for row in rows]
    assert lows == sorted(set(lows))
    smallest = min(cell.summary.columns["latency_ns"].min or 0 for cell in content.cells)
    assert lows[0] <= smallest < lows[1]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_it_is_as_wide_as_the_terminal_and_no_count_is_cut_off(width: int) -> None:
    lines = printed(made_run(five_cells(12_000), findings=()), width)
    rows = [line for line in lines if LINE.match(line)]
    assert all(len(line.rstrip()) <= width for line in lines)
    counts = [int(count) for line in rows for count in re.findall(r"(\d+) #", line)]
    assert sum(counts) == 5 * 12_000
    assert "\x1b" not in "".join(rows)


def test_a_bar_is_as_long_as_the_logarithm_of_its_count() -> None:
    lines = bars([("none", [1, 10, 100, 0, 1000])])
    lengths = [line.count("#") for line in lines[1:]]
    assert lengths[0] == 1 and lengths[3] == 0 and lengths[4] == max(lengths)
    first, second, third = lengths[1] - lengths[0], lengths[2] - lengths[1], lengths[4] - lengths[2]
    assert max(first, second, third) - min(first, second, third) <= 1


def test_histograms_that_have_no_room_beside_each_other_go_on_below() -> None:
    counts = [(f"load {n}", [n + 1, 100_000]) for n in range(4)]
    narrow = bars(counts, 40)
    assert max(map(len, narrow)) <= 40
    assert [line.split() for line in narrow].count([]) == 1
    assert sum(line.count("100000") for line in narrow) == 4
    assert sum("from" in line for line in bars(counts, 120)) == 1


def test_one_value_and_a_second_of_silence_between_two_fit_too() -> None:
    alone = sheet([subject((4_000, 4_016, 7))])
    assert alone is not None and [row[1] for row in alone.to_json()["rows"]] == [7]
    apart = sheet([subject((0, 1, 3), (1_000_000_000, 1_008_000_000, 1))])
    assert apart is not None
    assert [row[1] for row in apart.to_json()["rows"]] == [3, *[0] * 29, 1]
    assert sheet([subject((-16, -8, 2), (4_000, 4_016, 7))]) is not None


def test_it_is_shown_where_it_was_asked_for() -> None:
    content = made_run(five_cells(1_000))
    assert "histogram" not in str(to_json(document(of(content, histograms=False))))
    without = replace(content, cells=tuple(replace(cell, bins=None) for cell in content.cells))
    assert "histogram" not in str(to_json(document(of(without))))
