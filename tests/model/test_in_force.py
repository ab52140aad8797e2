"""What a header says was in force: read in one place, and unknown where it says something else."""

from typing import Any

import pytest

from howlate.model.bins import CellBins, Histogram, LoadCourse, Tail, TimeBlocks
from howlate.model.in_force import measuring_cpus, timer_slack_ns

HEADER: dict[str, Any] = {
    "in_force": {"threads": [{"timer_slack_ns": 1}, {"timer_slack_ns": 50_000}, {}]},
    "tables": [
        {"name": "samples", "cpu": 3},
        {"name": "samples", "cpu": 1, "thread": 1},
        {"name": "samples", "cpu": -1, "thread": 2},
        {"name": "cpus", "cpu": 7, "thread": 3},
    ],
}


def test_slack_and_cpus_of_the_measuring_threads() -> None:
    assert timer_slack_ns(HEADER) == 50_000
    assert measuring_cpus(HEADER) == {0: 3, 1: 1}


@pytest.mark.parametrize(("timer", "slack_ns"), [("futex", 50_000), ("timerfd", 0), ("io_uring", 0)])
def test_a_timer_with_an_object_of_its_own_has_no_slack(timer: str, slack_ns: int) -> None:
    assert timer_slack_ns({**HEADER, "parameters": {"timer": timer}}) == slack_ns


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"in_force": [], "tables": {}},
        {"in_force": {"threads": ["x"]}, "tables": ["x"]},
        {"in_force": {"threads": [{"timer_slack_ns": "50us"}]}, "tables": [{"name": "samples", "cpu": "1"}]},
    ],
)
def test_what_a_header_does_not_say_is_unknown(header: dict[str, Any]) -> None:
    assert timer_slack_ns(header) == 0
    assert measuring_cpus(header) == {}


def test_a_load_is_read_in_the_second_that_ends_after_the_time() -> None:
    blocks, course = TimeBlocks((), 1.0, (), (), (), ()), LoadCourse("cpu 1 steal", (1.0, 2.0), (0.25, 0.5))
    bins = CellBins("latency_ns", Histogram((), (), ()), blocks, Tail((), ()), (course,))
    shares = [bins.load_at("cpu 1 steal", at_s) for at_s in (0.0, 1.0, 1.1, 2.0, 2.1)]
    assert shares == [0.25, 0.25, 0.5, 0.5, None]
    assert bins.load_at("cpu 2 steal", 0.0) is None
