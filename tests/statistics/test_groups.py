"""The spread over the repetitions of a point, literal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.document.first_screen.rows import screen_rows
from howlate.model.bins import CellBins, TimeBlocks
from howlate.model.disturbances import Others
from howlate.model.summary import CellSummary
from howlate.statistics.bins.pool import pool
from howlate.statistics.groups import groups_of, is_grouped, kinds_of
from howlate.statistics.spread import Spread, spread_of
from howlate.statistics.valid import DROPPED, FAILED, OFF_TARGET, STEAL
from howlate.words.statement import Statement
from made_cells import histogram_of, made_cell, tail_of
from made_points import made_points, virtual_run

SAMPLES = st.lists(st.integers(1, 2**40), min_size=1, max_size=200).map(lambda v: np.array(v, np.int64))


def test_the_spread_of_known_numbers() -> None:
    assert spread_of([5, 1, 9]) == Spread(1, 5.0, 9)
    assert spread_of([5, 1, 9, 8]) == Spread(1, 6.5, 9)
    assert spread_of([7]) == Spread(7, 7.0, 7)
    assert spread_of([]) is None


def test_a_point_is_the_id_without_its_repetition() -> None:
    cell = replace(made_cell("none")[0], id="6.1-none-0123456789-12", repetition=12)
    assert cell.point == "6.1-none-0123456789"
    older = cell.to_json()
    del older["repetition"]
    assert CellSummary.from_json(older).repetition == 12
    assert CellSummary.from_json({**older, "id": "imported-7"}).point == "imported-7"


def test_repetitions_are_grouped_and_invalid_ones_left_out() -> None:
    cells = [s for s, _ in made_points(("6.1",), ("none",), 4)]
    maxima = [10, 40, 20, 90]
    medians = [3, 5, 4, 9]
    made = [
        replace(
            c,
            columns={
                "latency_ns": replace(c.columns["latency_ns"], max=m, quantiles={"0.5": q}, period_exceeded=1)
            },
        )
        for c, m, q in zip(cells, maxima, medians, strict=True)
    ]
    made[3] = replace(made[3], valid=False)
    (group,) = groups_of(made)
    found = group.spread("latency_ns")
    assert found is not None
    assert (found.maxima, found.medians, found.period_exceeded) == (Spread(10, 20.0, 40), 4.0, 3)
    assert group.of == "3 of 4"
    worst = group.worst("latency_ns")
    assert worst is not None and worst.id == made[1].id
    entry = group.to_json()
    assert entry["columns"]["latency_ns"]["max"] == {"smallest": 10, "median": 20.0, "largest": 40}
    assert entry["cells"] == [c.id for c in made]
    assert group.spread("response_ns") is None


@pytest.mark.parametrize(("check", "is_counted"), [(DROPPED(count=1), True), (FAILED(), False)])
def test_a_row_without_a_valid_repetition_has_the_maxima_that_count(
    check: Statement, *, is_counted: bool
) -> None:
    """As the screens have them (statistics/valid.py), but no interval; nothing of those after which nothing holds."""
    cells = made_points(("6.1",), ("none",), 8)
    failed = [(replace(cell, valid=False, warnings=(check,), failed_checks=1), bins) for cell, bins in cells]
    (valid,), (group,) = (groups_of([cell for cell, _bins in some]) for some in (cells, failed))
    whole, found = valid.spread("latency_ns"), group.spread("latency_ns")
    assert whole is not None and whole.quantiles and not group.counted
    assert found == (replace(whole, quantiles={}) if is_counted else None)
    assert group.worst_at("latency_ns") == (valid.worst_at("latency_ns") if is_counted else None)
    assert (group.to_json()["columns"], group.of) == (
        ({"latency_ns": {**valid.to_json()["columns"]["latency_ns"], "quantiles": {}}}, "8")
        if is_counted
        else ({}, "0 of 8")
    )
    (row,) = screen_rows([virtual_run(failed)]).rows
    assert (row.is_counted, row.max_ns) == (is_counted, valid.largest("latency_ns"))


def test_the_plan_says_how_many_there_were_to_be() -> None:
    content = virtual_run(made_points(("6.1",), ("none",), 4))
    (group,) = groups_of([c.summary for c in content.cells[:3]], content.run)
    assert group.of == "3 of 4"


def test_cells_that_are_not_repeated_are_shown_as_cells_but_in_virtual_time() -> None:
    alone = [made_cell(load)[0] for load in ("none", "disk")]
    assert not is_grouped(None, groups_of(alone))
    content = virtual_run(made_points(("6.1",), ("none",), 1))
    assert is_grouped(content.run, groups_of([c.summary for c in content.cells], content.run))


@given(st.lists(SAMPLES, min_size=1, max_size=5))
def test_pooled_bins_are_those_of_all_samples(
    parts: list[np.ndarray[tuple[int], np.dtype[np.int64]]],
) -> None:
    nothing = TimeBlocks((), 0.0, (), (), (), ())
    pooled = pool([CellBins("latency_ns", histogram_of(v), nothing, tail_of(v), ()) for v in parts])
    whole = np.concatenate(parts)
    assert pooled is not None
    assert pooled.histogram == histogram_of(whole)
    assert pooled.tail.latency_ns == tail_of(whole).latency_ns
    assert np.allclose(pooled.tail.share_beyond, tail_of(whole).share_beyond)
    assert pool([]) is None


def test_sentences_that_differ_in_numbers_alone_are_told_once() -> None:
    first, second = (STEAL(steal_ns=ns, share=0.1) for ns in (5, 7))
    calm, loaded = (OFF_TARGET(load=load, achieved=0.4, target=0.5) for load in ("cpu:50", "disk"))
    older = Statement.verbatim("it slept.")
    told = [first, calm, older, second, loaded, older]
    assert kinds_of(told) == [(first, 2), (calm, 1), (older, 2), (loaded, 1)]


def test_a_row_of_invalid_repetitions_keeps_the_mark_of_those_that_were_not_alone() -> None:
    disturbed = replace(
        made_cell("none")[0], valid=False, others=Others(10, 9, 9, 0, 0, alone=False, expected=False)
    )
    (group,) = groups_of([disturbed])
    assert not group.alone
