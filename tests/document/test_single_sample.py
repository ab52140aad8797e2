"""A row that others disturbed is marked wherever it is shown, and counts no less for it."""

import io
import json

from msgspec.structs import replace
from rich.console import Console

from howlate.compare.compare import compare
from howlate.document import html
from howlate.model.loaded import RunContent
from howlate.model.others import Others, OtherTask
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


def test_compare_names_no_rows_where_every_row_of_a_side_was_not_alone() -> None:
    cells = [(replace(summary, others=OTHERS), bins) for summary, bins in five_cells(1_000)]
    everywhere = made_run(cells, "20261121T114000-check")
    told = compare([made_run(five_cells(1_000)), everywhere]).joined.warnings
    assert NEVER_ALONE(side="20261121T114000-check") in told
    assert NOT_ALONE.id not in {warning.rule for warning in told}
