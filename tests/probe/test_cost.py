"""What an activation costs in user space, counted and not timed: instructions, system calls, page faults."""

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lacks import MACHINE, skip
from probe.activations import BUDGETS, RATIO, Task, step_cyclictest, step_task, tasks
from probe.drive import probe_list, probe_path
from probe.stepping import possible

pytestmark = pytest.mark.beside


@cache
def _refusal() -> str:
    return possible()


@pytest.fixture(autouse=True)
def _steps(probe: Path) -> None:
    if _refusal():
        skip(_refusal(), MACHINE)


def _tasks() -> list[Any]:
    """Each loop of each way to sleep. Dither and single sleeps are the same code in all: one stands for it. Both late
    policies of most are a sweep."""
    if not probe_path().is_file():
        return [Task("clock_nanosleep")]  # the fixture `probe` then says what is missing
    each = [task for task in tasks() if task.timer == "clock_nanosleep" or task.plain]
    timers = list(dict.fromkeys(task.timer for task in each))
    swept = {Task(name, ("skip", "backlog")[at % 2]) for at, name in enumerate(timers) if at}
    return [pytest.param(task, marks=[pytest.mark.sweep] * (task in swept)) for task in each]


@pytest.mark.parametrize("task", _tasks(), ids=str)
def test_an_activation_makes_the_calls_it_is_about_and_keeps_within_its_instructions(task: Task) -> None:
    steps = step_task(task, 5)
    assert steps.calls == {BUDGETS[task.timer].calls}
    assert steps.own <= task.own_limit
    assert steps.faults == 0


def test_an_activation_takes_at_most_half_of_cyclictests_instructions() -> None:
    if shutil.which("cyclictest") is None:
        skip("cyclictest", "apt-get install rt-tests")
    theirs = step_cyclictest()
    assert theirs.calls == {("clock_nanosleep",)}
    assert step_task(Task("clock_nanosleep")).own <= RATIO * theirs.own


def test_every_way_to_sleep_has_its_budget() -> None:
    assert {timer["name"] for timer in probe_list()["timers"]} == {*BUDGETS, "spin"}
