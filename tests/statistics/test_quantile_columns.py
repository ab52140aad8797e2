"""Each quantile has its interval in the tables of terminal and page, in JSON, and in a sentence of `compare`."""

import io
import json
import math

import pytest
from msgspec.structs import replace
from rich.console import Console

from compare.test_conclusions import of_rule, stated
from howlate.compare.compare import compare, to_json
from howlate.compare.conclusions import TYPICAL
from howlate.document import html
from howlate.model.loaded import RunContent
from howlate.model.summary import CellSummary, QuantileInterval
from howlate.statistics.quantiles import with_intervals
from howlate.words.say import english
from made_cells import LOADS, made_cell
from made_runs import five_cells, made_run
from made_sides import RT, Made, at, lab_run, real_run
from printed import print_cells, show_json


def with_them() -> list[CellSummary]:
    return [with_intervals(*made_cell(load, seed)[:2]) for seed, load in enumerate(LOADS, 1)]


def ends(interval: QuantileInterval) -> str:
    """In us, rounded so that they stay bounds."""
    return f"[{math.floor(interval.low / 100) / 10:.1f}, {math.ceil(interval.high / 100) / 10:.1f}]"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_terminal_has_each_quantile_with_its_interval(width: int) -> None:
    """A column that has no room is left out and named."""
    out = io.StringIO()
    print_cells(Console(file=out, width=width), with_them())
    words = " ".join(out.getvalue().split())
    assert "quantiles [95 % interval]" in words
    left_out = {"0.999"} if "no room for: p99.9" in words else set()
    assert bool(left_out) is (width == 60)
    for summary in with_them():
        column = summary.columns["latency_ns"]
        for share, interval in column.intervals.items():
            if share in left_out:
                continue
            value = (column.quantiles[share] or 0) / 1000
            assert f"{value:.1f} {ends(interval)}" in words
    assert all(len(line) <= width for line in out.getvalue().splitlines())


def test_json_has_them_and_they_are_read_back() -> None:
    cells = json.loads(show_json(with_them()))["cells"]
    for value, summary in zip(cells, with_them(), strict=True):
        assert CellSummary.from_json(value) == summary
        assert value["columns"]["latency_ns"]["intervals"].keys() >= {"0.5", "0.99"}


def test_the_page_has_them() -> None:
    content = made_run(five_cells())
    cells = [
        replace(cell, summary=with_intervals(cell.summary, cell.bins)) if cell.bins is not None else cell
        for cell in content.cells
    ]
    page = html.render([replace(content, cells=tuple(cells))])
    held = cells[0].summary.columns["latency_ns"].intervals["0.99"]
    assert ends(held) in page


def _repeated(count: int) -> RunContent:
    return real_run({at(load="none"): [Made(median=4.0 + number / 10) for number in range(count)]})


@pytest.mark.parametrize("count", [5, 6, 12])
def test_of_six_repetitions_and_more_it_is_that_of_their_median(count: int) -> None:
    """The sign test's: the smallest and the largest of six, the third and the tenth of twelve."""
    content = _repeated(count)
    (group,) = json.loads(show_json(list(content.summaries), content.run))["groups"]
    found = group["columns"]["latency_ns"]["quantiles"]
    if count == 5:
        assert found == {}
    else:
        low, high = (4_000, 4_500) if count == 6 else (4_200, 4_900)
        assert (found["0.5"]["low"], found["0.5"]["high"]) == (low, high)
        assert low < found["0.5"]["median"] < high


def test_compare_says_it_beside_the_typical_time() -> None:
    points = {at(load="none"): [Made() for _ in range(6)]}
    (typical,) = of_rule(stated(lab_run({"6.1": points, "6.1-rt": points})), TYPICAL)[:1]
    assert "with 95 %" in english(typical["times"][0])
    runs = [real_run({at(load="none"): [Made()]}), real_run({at(load="none"): [Made()]}, RT, "run-b")]
    alone = [
        replace(run, cells=tuple(replace(c, summary=_with(c.summary)) for c in run.cells)) for run in runs
    ]
    (typical, _) = of_rule(stated(*alone), TYPICAL)
    assert "(7.90 µs to 8.20 µs with 95 %)" in english(typical["times"][0])
    (table,) = to_json(compare(alone))["tables"]
    assert [row["intervals"] for row in table["rows"]] == [{"0.99": {"low": 7_900, "high": 8_200}}] * 2


def _with(summary: CellSummary) -> CellSummary:
    column = replace(summary.columns["latency_ns"], intervals={"0.99": QuantileInterval(7_900, 8_200, 1_000)})
    return replace(summary, columns={**summary.columns, "latency_ns": column})
