"""A threshold that ends a cell is told: which cell, the value, and that the threshold ended it."""

from __future__ import annotations

import io
import json
from dataclasses import replace

from rich.console import Console

from howlate.report import html
from howlate.report.content import RunContent
from howlate.report.terminal import print_cells, show_json
from made_runs import five_cells, made_run


def ended() -> RunContent:
    """Five cells, of which disk was ended by its threshold of 100us at 123 us."""
    cells = five_cells(1_000)
    summary, bins = cells[3]
    column = replace(summary.columns["latency_ns"], max=123_000)
    cells[3] = (replace(summary, stop_reason="threshold", columns={"latency_ns": column}), bins)
    content = made_run(cells)
    plan = replace(
        content.run.plan,
        cells=tuple(replace(cell, parameters={"threshold": "100us"}) for cell in content.run.plan.cells),
    )
    return replace(content, run=replace(content.run, plan=plan))


SAID = "disk: ended by its threshold of 100us before its planned length; the latency was 123 us."


def test_terminal_page_and_json_name_the_cell_and_the_value() -> None:
    content = ended()
    summaries = [cell.summary for cell in content.cells]
    out = io.StringIO()
    print_cells(Console(file=out, width=120), summaries, None, content.run)
    assert SAID in out.getvalue() and out.getvalue().count("threshold") == 1
    page = html.render([content])
    assert page.index(SAID.replace(" us.", " µs.")) < page.index('data-chart="overview"')
    (told,) = json.loads(show_json(summaries, content.run))["exceeded"]
    assert told == {"id": summaries[3].id, "threshold": "100us", "latency_ns": 123_000}


def test_nothing_is_said_where_no_cell_was_ended() -> None:
    content = made_run(five_cells(1_000))
    summaries = [cell.summary for cell in content.cells]
    assert "exceeded" not in json.loads(show_json(summaries, content.run))
    assert "threshold" not in html.render([content])
