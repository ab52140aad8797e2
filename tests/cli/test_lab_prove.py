"""`howlate lab prove` refuses what it cannot ask, before a guest is booted."""

from __future__ import annotations

import pytest

from howlate.analysis.landscape import Goal
from howlate.cli.lab.prove import _goal, _goes_idle
from howlate.errors import UsageError


def test_the_goal_is_a_share_or_a_deadline() -> None:
    assert _goal("", "") == Goal(within=0.05)
    assert _goal("10%", "") == Goal(within=0.1)
    assert _goal("", "100us") == Goal(deadline_ns=100_000)


@pytest.mark.parametrize(
    ("within", "deadline", "reason"),
    [("5%", "1ms", "two questions"), ("0%", "", "--within"), ("101%", "", "--within"), ("x", "", "--within")],
)
def test_another_goal_is_refused(within: str, deadline: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        _goal(within, deadline)


@pytest.mark.parametrize(
    ("load", "parameters", "idle"),
    [
        ("none", (), True),
        ("none", ("nohz=off",), False),
        ("cpu:50", (), True),
        ("memory-alloc:100", (), False),
        ("cpu:100,nice=19+hackbench:10", (), False),
    ],
)
def test_a_bound_is_claimed_where_the_cpu_is_never_idle_or_idle_does_not_depend_on_timers(
    load: str, parameters: tuple[str, ...], idle: bool
) -> None:
    assert _goes_idle(load, parameters) is idle
