"""A threshold that ends a cell is told: which cell, the value, and that the threshold ended it."""

import io
import json

from msgspec.structs import replace
from rich.console import Console

from howlate.document import html
from howlate.document.first_screen.screen import screen
from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.model.loaded import RunContent
from howlate.model.plan import Plan
from howlate.statistics.threshold import ENDED, ON_CPU, threshold_statements
from howlate.words.quantities import NARROW_SPACE
from howlate.words.say import english
from made_runs import five_cells, made_run
from printed import print_cells, show_json


def ended() -> RunContent:
    """Five cells, of which disk was ended by its threshold of 100us at 123 us."""
    cells = five_cells(1_000)
    summary, bins = cells[3]
    column = replace(summary.columns["latency_ns"], max=123_000, max_at_s=3.2)
    cells[3] = (replace(summary, stop_reason="threshold", columns={"latency_ns": column}), bins)
    content = made_run(cells)
    plan = replace(
        content.run.plan,
        cells=tuple(replace(cell, parameters={"threshold": "100us"}) for cell in content.run.plan.cells),
    )
    return replace(content, run=replace(content.run, plan=plan))


SAID = f"{english(ENDED(cell='disk', threshold='100us'))} {english(ON_CPU(cpu='1', at_s=3.2))}"


def test_terminal_page_and_json_name_the_cell_and_the_value() -> None:
    content = ended()
    summaries = [cell.summary for cell in content.cells]
    out = io.StringIO()
    print_cells(Console(file=out, width=120), summaries, None, content.run)
    shown = " ".join(out.getvalue().split())
    assert SAID in shown and shown.count("100us") == 1
    page = html.render([content])
    tied = SAID.replace("3.2 s", f"3.2{NARROW_SPACE}s")
    assert page.index(tied) < page.index('id="histogram"')
    (told,) = json.loads(show_json(summaries, content.run))["exceeded"]
    assert told == {
        "id": summaries[3].id,
        "threshold": "100us",
        "latency_ns": 123_000,
        "cpu": "1",
        "at_s": 3.2,
    }


def test_the_first_screen_tells_what_ended_the_run() -> None:
    shown = " ".join("".join(text for text, _ in line) for line in screen(ReportInput([ended()], TERMINAL)))
    assert SAID[:30] in shown


def test_nothing_is_said_where_no_cell_was_ended() -> None:
    content = made_run(five_cells(1_000))
    summaries = [cell.summary for cell in content.cells]
    assert "exceeded" not in json.loads(show_json(summaries, content.run))
    assert "threshold" not in html.render([content])


def rules_of(content: RunContent) -> list[str]:
    (told,) = threshold_statements(content.summaries, content.run)
    return [each.rule.removeprefix("threshold.") for each in told]


def test_of_several_cpus_the_one_that_was_late_is_named() -> None:
    content = ended()
    summary = content.cells[3].summary
    column = replace(summary.columns["latency_ns"], max_by_cpu={"0": 90_000, "3": 123_000})
    late = replace(summary, labels={**summary.labels, "cpu": "0-3"}, columns={"latency_ns": column})
    ((_, place, *_more),) = threshold_statements([late], content.run)
    assert place == ON_CPU(cpu="3", at_s=3.2)
    unpinned = replace(column, max_by_cpu={"-1": 123_000})
    ((_, place),) = threshold_statements([replace(late, columns={"latency_ns": unpinned})])
    assert place.rule == "threshold.at"


def test_there_is_no_next_step_where_what_led_there_was_recorded() -> None:
    content = ended()
    cells = (replace(c, parameters={**c.parameters, "explain": True}) for c in content.run.plan.cells)
    recorded = replace(content, run=replace(content.run, plan=Plan(tuple(cells))))
    assert [*rules_of(recorded), "trace-it"] == rules_of(content)


def test_the_next_step_is_the_one_that_is_possible() -> None:
    content = ended()
    traced = tuple(
        replace(c, parameters={**c.parameters, "break-trace": True}) for c in content.run.plan.cells
    )
    with_trace = replace(content, run=replace(content.run, plan=replace(content.run.plan, cells=traced)))
    assert rules_of(with_trace) == ["ended", "on-cpu", "traced"]
    virtual = replace(content, run=replace(content.run, target="lab:6.1", clock="virtual"))
    assert rules_of(virtual) == ["ended", "on-cpu"]
