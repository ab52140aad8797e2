"""A row that others disturbed is marked wherever it is shown, and counts no less for it."""

import io
import json

import pytest
from msgspec.structs import replace
from rich.console import Console

from howlate.compare.compare import compare
from howlate.compare.screen import screen
from howlate.document import html
from howlate.model.disturbances import Others, OtherTask
from howlate.model.loaded import RunContent
from howlate.model.summary import CellSummary
from howlate.sides.join_warnings import NEVER_ALONE, NOT_ALONE
from howlate.words.say import english
from howlate.words.statement import Statement
from made_runs import five_cells, made_run
from printed import print_cells, show_json

SECOND = 1_000_000_000
HOG = OtherTask("sh", 4711, 9_900_000_000, 1, pinned=True, kernel=False, children=False)
OTHERS = Others(10 * SECOND, 9_900_000_000, 9_900_000_000, 0, 0, alone=False, expected=False, tasks=(HOG,))
SAID = "not alone: sh[4711] took 99 % of CPU 1"


def disturbed(others: Others = OTHERS, run_id: str = "20261121T104000-check") -> RunContent:
    """Five cells; beside the first a task ran on the measuring CPU."""
    cells = five_cells(1_000)
    summary, bins = cells[0]
    warnings = (Statement.verbatim(SAID),) if others.disturbs else ()
    cells[0] = (replace(summary, others=others, warnings=warnings), bins)
    return made_run(cells, run_id)


def summaries_of(content: RunContent) -> list[CellSummary]:
    return [cell.summary for cell in content.cells]


def terminal(content: RunContent) -> str:
    out = io.StringIO()
    print_cells(Console(file=out, width=120), summaries_of(content), None, content.run)
    return out.getvalue()


def test_terminal_and_page_mark_the_row_and_name_the_task() -> None:
    content = disturbed()
    text = terminal(content)
    assert "none (not alone)" in text
    assert SAID in text
    assert text.count("(not alone)") == 1
    page = html.render([content])
    assert '<span class="bad">not alone</span>' in page
    assert SAID in page


def test_what_is_expected_is_stored_and_not_marked() -> None:
    content = disturbed(replace(OTHERS, expected=True))
    assert "not alone" not in terminal(content)
    assert "not alone" not in html.render([content])
    assert json.loads(show_json(summaries_of(content)))["cells"][0]["others"]["user_ns"] == 9_900_000_000


def test_a_summary_is_read_back_and_one_of_an_older_howlate_is_not_marked() -> None:
    summary = summaries_of(disturbed())[0]
    assert CellSummary.from_json(summary.to_json()) == summary
    older = {name: value for name, value in summary.to_json().items() if name != "others"}
    assert CellSummary.from_json(older).others is None
    assert CellSummary.from_json(older).alone


def test_compare_says_which_side_was_not_alone() -> None:
    found = compare([disturbed(), disturbed(replace(OTHERS, alone=True), "20261121T114000-check")])
    told = [text for text in map(english, found.joined.warnings) if "was not alone" in text]
    assert len(told) == 1
    assert "load none" in told[0]


@pytest.mark.parametrize("sides", [1, 2])
def test_compare_names_each_side_and_no_rows_where_every_row_was_not_alone(sides: int) -> None:
    cells = [(replace(summary, others=OTHERS), bins) for summary, bins in five_cells(1_000)]
    runs = [made_run(five_cells(1_000)), *(made_run(cells, f"2026112{n}T114000-check") for n in (1, 2))]
    found = compare(runs[sides - 1 :][:2])
    told = NEVER_ALONE(sides=tuple(f"2026112{n}T114000-check" for n in (1, 2))[:sides])
    assert told in found.joined.warnings
    assert NOT_ALONE.id not in {warning.rule for warning in found.joined.warnings}


def test_the_screen_drops_no_side_of_a_warning() -> None:
    runs = [disturbed(), disturbed(run_id="20261121T114000-check")]
    lines = " ".join(text for line in screen(compare(runs), [], "a b", every=True) for text, _ in line)
    told = [warning for warning in compare(runs).joined.warnings if warning.rule == NOT_ALONE.id]
    assert len(told) == 2 and all(
        english(warning).split("(")[0] in " ".join(lines.split()) for warning in told
    )
