"""`howlate lab prove` refuses what it cannot ask, before a guest is booted."""

import pytest

from howlate.errors import UsageError
from howlate.prove.lab.prove import _asked, _goal
from howlate.prove.landscape import Goal
from howlate.prove.searched import LandscapesRequest, requested_landscapes


def test_the_goal_is_a_share_or_a_deadline() -> None:
    assert _goal("", "") == Goal(within=0.05)
    assert _goal("10%", "") == Goal(within=0.1)
    assert _goal("", "100us") == Goal(deadline_ns=100_000)


@pytest.mark.parametrize(
    ("within", "deadline", "reason"),
    [
        ("5%", "1ms", "--within.*--deadline"),
        ("0%", "", "--within"),
        ("101%", "", "--within"),
        ("x", "", "--within"),
        ("5", "", "--within must be a share"),
        ("0us", "", "--within"),
        ("", "0", "--deadline must be above 0"),
        ("", "0us", "--deadline must be above 0"),
    ],
)
def test_another_goal_is_refused(within: str, deadline: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        _goal(within, deadline)


@pytest.mark.parametrize("window", ["0", "61s", "1h"])
def test_a_window_without_instants_or_too_long_is_refused(window: str) -> None:
    with pytest.raises(UsageError, match="--window must be between 1ns and 1min"):
        _asked(window, "100ms", "", "", checks=60, jobs=0, fresh=False)


def test_loads_are_the_studys_or_those_that_are_named() -> None:
    assert requested_landscapes("preemption-models", (), "6.1") == LandscapesRequest(
        "6.1", ("none", "memory-alloc:100", "hackbench")
    )
    assert requested_landscapes(None, ("cpu:50", "cpu:50"), "6.1").loads == ("cpu:50",)
    assert requested_landscapes(None, (), "6.1").loads == ("none",)
    assert requested_landscapes("preemption-models", (), "", has_own=True).kernels == ""
    assert requested_landscapes(None, ("none",), "", has_own=True).kernels == ""
    for study, loads, kernels in (("preemption-models", ("none",), "6.1"), (None, (), "")):
        with pytest.raises(UsageError):
            requested_landscapes(study, loads, kernels)
