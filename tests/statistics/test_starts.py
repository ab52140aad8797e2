"""What is said of a row whose largest value, or all above its period, the start of a cell may have made."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.document.cautions import of_figures, of_rows
from howlate.model.summary import CellSummary
from howlate.model.tail import BLOCKS, TailSummary
from howlate.statistics.starts import starts
from howlate.verdict.promise_facts import facts
from howlate.verdict.ruling import Question
from howlate.verdict.verdict import verdict
from made_cells import made_cell
from made_evidence import made_evidence, quiet

PERIOD_NS = 1_000_000


def cell(blocks: Sequence[int], exceeded: int = 0) -> CellSummary:
    """One whose stretches of time have these maxima."""
    summary, _bins, _values = made_cell("none", n=1_000, labels={"period": "1ms"})
    column = replace(summary.columns["latency_ns"], max=max(blocks), period_exceeded=exceeded)
    tail = TailSummary(0, block_max_ns=tuple(blocks))
    return replace(summary, columns={"latency_ns": column}, tail=tail, answers=("latency_ns",), by_column={})


def with_largest_at(place: int, largest_ns: int = 90_000) -> list[int]:
    blocks = [10_000] * BLOCKS
    blocks[place] = largest_ns
    return blocks


@pytest.mark.parametrize("place", range(BLOCKS))
def test_a_maximum_of_the_first_four_per_cent_is_said(place: int) -> None:
    told = starts([cell(with_largest_at(place)), cell([20_000] * BLOCKS)])
    assert [one.rule for one in told] == (["start.maximum"] if place < 2 else [])
    if told:
        assert told[0].values == {"column": "latency", "max_ns": 90_000, "rest_ns": 20_000}


@given(st.lists(st.lists(st.integers(-1000, 1000), min_size=BLOCKS, max_size=BLOCKS), min_size=1, max_size=4))
def test_it_is_said_exactly_where_no_later_value_of_the_row_is_as_large(rows: list[list[int]]) -> None:
    later = max(value for blocks in rows for value in blocks[2:])
    is_first = max(map(max, rows)) > later
    assert [one.rule for one in starts([cell(blocks) for blocks in rows])] == ["start.maximum"] * is_first


def test_it_is_one_row_of_25_where_nothing_is_of_the_start() -> None:
    random = np.random.default_rng(3)
    told = sum(bool(starts([cell(list(random.permutation(BLOCKS)))])) for _ in range(2_000))
    assert 50 <= told <= 110  # of 2,000: 80, deviation 8.8


def test_all_that_exceeded_the_period_at_the_start() -> None:
    told = starts([cell(with_largest_at(0, 3 * PERIOD_NS), exceeded=4), cell([20_000] * BLOCKS)])
    assert [one.rule for one in told] == ["start.maximum", "start.exceeded"]
    assert told[1].values["count"] == 4
    later = with_largest_at(0, 3 * PERIOD_NS)
    later[30] = 2 * PERIOD_NS
    assert [one.rule for one in starts([cell(later, exceeded=5)])] == ["start.maximum"]


def test_nothing_is_said_where_a_stretch_is_not_known() -> None:
    assert starts([cell(with_largest_at(0)[: BLOCKS - 1])]) == []
    assert starts([cell(with_largest_at(0)), replace(cell([20_000] * BLOCKS), tail=None)]) == []


def test_page_terminal_comparison_and_verdict_say_it() -> None:
    rows = [("idle", [cell(with_largest_at(0))]), ("loaded", [cell([20_000] * BLOCKS)])]
    for said in (of_rows(rows), of_figures(rows)):
        (one,) = [told for told in said if getattr(told.values.get("what"), "rule", "") == "start.maximum"]
        assert list(one.values["rows"]) == ["idle"]
    samples = quiet()
    for place, expected in ((500, True), (50_000, False)):
        values = samples.copy()
        values[place] = 900_000
        found = facts(verdict(made_evidence(1_000_000, values), Question(1_000_000)))
        assert any(told.rule == "verdict.fact-start" for told in found) is expected
