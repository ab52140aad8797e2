"""A stated deadline is answered everywhere alike: a sentence, a column, a line in the charts."""

import io
import json

import pytest
from msgspec.structs import replace
from rich.console import Console

from howlate.compare.compare import compare, to_json
from howlate.document import html
from howlate.document.sheet import NOTHING
from howlate.document.sheet import missed as missed_of
from howlate.figures.deadline import deadlines
from howlate.figures.figure import Subject
from howlate.model.bins import CellBins
from howlate.model.loaded import RunContent
from howlate.model.summary import CellSummary, DeadlineSummary
from howlate.statistics.misses import (
    MISSED,
    MISSED_AT_LEAST,
    UNSTATED_MISSED,
    WORST_ROW,
    deadline_statements,
)
from howlate.statistics.phrases import RELEASES
from howlate.words.say import english
from made_cells import made_cell
from made_points import made_points
from made_runs import made_run
from printed import print_cells, print_comparison, show_json

Cells = list[tuple[CellSummary, CellBins]]
US = 1_000


def against(cells: Cells, late: int = 872, unserved: int = 800, deadline_ns: int = 200 * US) -> Cells:
    """The same cells, each of which missed a deadline so often."""
    return [
        (
            replace(
                summary,
                deadline=DeadlineSummary(deadline_ns, 12_126, late, unserved),
                outcomes={"deadline_misses": late + unserved},
            ),
            bins,
        )
        for summary, bins in cells
    ]


def repeated() -> Cells:
    """One kernel and load, three repetitions."""
    return against(made_points(("6.1",), ("none",), 3), 100, 20)


def one(load: str = "none", **changes: int) -> Cells:
    return against([made_cell(load, 1)[:2]], **changes)


def in_terminal(content: RunContent, width: int = 100) -> str:
    out = io.StringIO()
    print_cells(Console(file=out, width=width), [cell.summary for cell in content.cells], None, content.run)
    return out.getvalue()


def chart(page: str, name: str) -> str:
    """That section of the page."""
    return page[page.index(f'<section class="chart" data-chart="{name}"') :].partition("</section>")[0]


def test_the_sentence_is_made_of_facts() -> None:
    ((missed,),) = deadline_statements([summary for summary, _ in one()])
    assert missed == MISSED(
        releases=12_126, things=RELEASES, misses=1_672, late=872, unserved=800, deadline_ns=200 * US
    )
    assert deadline_statements([summary for summary, _ in one(late=0, unserved=0)]) == [
        [MISSED(releases=12_126, things=RELEASES, misses=0, late=0, unserved=0, deadline_ns=200 * US)]
    ]


@pytest.mark.parametrize("late", [0, 872])
def test_where_more_may_have_missed_at_least_is_said(late: int) -> None:
    """In the sentence, and in the tables beside it; no row is the worst then."""
    cells = [summary for summary, _ in [*one(late=late, unserved=0), *one("cpu:50", late=late, unserved=0)]]
    cells = [
        replace(cell, deadline=cell.deadline and replace(cell.deadline, at_least=True)) for cell in cells
    ]
    ((missed,),) = deadline_statements(cells)
    assert (missed.rule, missed.values["misses"]) == (MISSED_AT_LEAST.id, 2 * late)
    column = missed_of("misses", "misses", [*(cell.deadline for cell in cells), None])
    assert [cell.text for cell in column.cells] == [f"≥{late}", f"≥{late}", NOTHING]
    assert [cell.value for cell in column.cells] == [late, late, None]


def test_of_several_rows_the_one_with_the_largest_share_is_named() -> None:
    cells = [*one(late=1, unserved=0), *one("cpu:50", late=7, unserved=2)]
    assert deadline_statements([summary for summary, _ in cells]) == [
        [
            MISSED(releases=24_252, things=RELEASES, misses=10, late=8, unserved=2, deadline_ns=200 * US),
            WORST_ROW(row="cpu:50", misses=9, releases=12_126),
        ]
    ]


def test_an_invalid_cell_is_not_counted_and_each_deadline_has_its_sentence() -> None:
    cells = [summary for summary, _ in [*one(), *one("cpu:50"), *one("disk", deadline_ns=500 * US)]]
    cells[1] = replace(cells[1], valid=False)
    deadlines = [statements[0].values["deadline_ns"] for statements in deadline_statements(cells)]
    assert deadlines == [200 * US, 500 * US]
    assert deadline_statements([made_cell("none", 1)[0]]) == []


def test_an_old_summary_that_counted_late_ones_alone_gets_its_overruns() -> None:
    ((summary, _bins),) = one()
    old = summary.to_json() | {"outcomes": {"deadline_misses": 7}}
    del old["deadline"]
    old["accounting"] = {**old["accounting"], "overruns": 5}
    read = CellSummary.from_json(old)
    assert read.deadline is not None
    assert (read.deadline.late, read.deadline.unserved, read.outcomes["deadline_misses"]) == (7, 5, 12)
    ((missed,),) = deadline_statements([read])
    assert (missed.rule, missed.values["late"], missed.values["unserved"]) == (UNSTATED_MISSED.id, 7, 5)
    assert CellSummary.from_json(summary.to_json()) == summary


def test_repetitions_keep_their_misses_in_table_and_json() -> None:
    content = made_run(repeated())
    text = in_terminal(content)
    assert "deadline" in text and "misses" in text
    told = MISSED(releases=36_378, things=RELEASES, misses=360, late=300, unserved=60, deadline_ns=200 * US)
    assert english(told) in text
    (row,) = [line for line in text.splitlines() if line.split()[-2:] == ["360", "FAIL"]]
    assert row
    value = json.loads(show_json([cell.summary for cell in content.cells], content.run))
    expected = {"deadline_ns": 200_000, "releases": 36_378, "late": 300, "unserved": 60, "misses": 360}
    assert [group["deadline"] for group in value["groups"]] == [expected]
    assert value["deadlines"] == [expected]


def test_the_page_answers_in_its_head_its_table_and_its_charts() -> None:
    page = html.render([made_run(repeated())])
    head = page[page.index("<header") : page.index("</header>")]
    assert "deadline 200\u202fµs: 360 of 36,378 releases missed it" in head
    table = page[page.index('class="summary spread"') :]
    assert "deadline misses" in table[: table.index("</thead>")]
    assert '<data value="360">360</data>' in table[: table.index("</table>")]
    for name in ("kernels", "histogram", "tail", "course"):
        assert 'class="deadline"' in chart(page, name), name
    assert "late or never" in page[page.index('class="meaning"') :]
    assert 'class="deadline"' not in html.render([made_run([made_cell("none", 1)[:2]])])


def test_one_by_one_has_the_line_where_its_values_reach_the_deadline() -> None:
    low = html.render([made_run(one(deadline_ns=4 * US))])
    beyond = html.render([made_run(one(deadline_ns=10**9))])
    assert ['class="deadline"' in chart(page, "scatter") for page in (low, beyond)] == [True, False]


def test_an_axis_reaches_a_deadline_beyond_everything_that_was_measured() -> None:
    page = html.render([made_run(one(late=0, unserved=0, deadline_ns=10**9))])
    for name in ("overview", "histogram", "tail"):
        _, _, line = chart(page, name).partition('class="deadline" d="M')
        assert 0 < float(line[: line.index(",")]) < 2000, name


def test_compare_has_the_misses_of_each_side() -> None:
    cells = against(made_points(("6.1", "6.1-rt"), ("none",), 3), 100, 20)
    found = compare([made_run(cells)])
    out = io.StringIO()
    print_comparison(Console(file=out, width=120, highlight=False), found)
    assert "misses" in out.getvalue() and "120" in out.getvalue().split()
    for row in to_json(found)["tables"][0]["rows"]:
        assert row["deadline_misses"] == {"smallest": 120, "median": 120.0, "largest": 120}
    page = html.render([made_run(cells)])
    assert 'data-of="deadline_misses"' in page[page.index('id="compare"') :]


DECLARED = ["latency_ns", "response_ns", "delay_ns", "wait_ns", "wake_latency_ns", "gap_ns", "outer_ns"]


def of_column(column: str, is_judged: bool) -> tuple[CellSummary, CellBins]:
    summary, bins, _values = made_cell("none")
    columns = {column: summary.columns["latency_ns"]}
    answers = (column,) if is_judged else ()
    deadline = DeadlineSummary(200_000, 12_000)
    made = replace(summary, columns=columns, answers=answers, deadline=deadline, id=f"{column}-1")
    return made, replace(bins, column=column)


@pytest.mark.parametrize("column", DECLARED)
def test_a_deadline_is_drawn_with_the_columns_that_it_is_held_against(column: str) -> None:
    for is_judged in (True, False):
        summary, bins = of_column(column, is_judged)
        assert deadlines([Subject("x", summary, bins)]) == ([200_000] if is_judged else [])
