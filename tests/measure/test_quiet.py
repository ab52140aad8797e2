"""Waiting for a quiet machine: with a clock and CPUs that are made up, and on this machine's own /proc."""

import os
from collections.abc import Iterator

import pytest

from howlate.errors import UsageError
from howlate.measure.quiet import (
    LIMIT_S,
    Busy,
    Look,
    ThisMachine,
    busy_between,
    limit_of,
    parse_stat,
    parse_task,
    wait_until_quiet,
)
from howlate.words.say import english

HOG = (4711, "sh")


class MadeMachine:
    """Others use the shares given, one after the other for each second slept; the last one from then on."""

    def __init__(self, *shares: float) -> None:
        self._shares: Iterator[float] = iter(shares[:-1])
        self._last = shares[-1]
        self.now_s, self.busy_s, self.hog_s = 100.0, 1000.0, 0.0
        self.slept_s = 0.0

    def pass_time(self, seconds: float, own_share: float = 0.0) -> None:
        share = next(self._shares, self._last)
        self.now_s += seconds
        self.busy_s += (share + own_share) * seconds
        self.hog_s += share * seconds

    def look(self, tasks: bool) -> Look:
        return Look(self.now_s, self.busy_s, 0.0, {HOG: self.hog_s, (1, "init"): 5.0} if tasks else {})

    def sleep(self, seconds: float) -> None:
        self.slept_s += seconds
        self.pass_time(seconds)


def waited(machine: MadeMachine, prepare_s: float = 0.4, limit_s: float = LIMIT_S) -> tuple[str, list[Busy]]:
    said: list[Busy] = []
    first = machine.look(tasks=False)
    machine.pass_time(prepare_s)
    warning = wait_until_quiet(machine, first, lambda busy, _left: said.append(busy), limit_s)
    return english(warning) if warning else "", said


def test_a_quiet_machine_costs_no_time() -> None:
    machine = MadeMachine(0.02)
    assert waited(machine) == ("", [])
    assert machine.slept_s == 0


def test_the_own_work_of_preparing_is_not_anothers() -> None:
    first = Look(0.0, 50.0, 10.0)
    assert busy_between(first, Look(0.5, 50.4, 10.4)).share == pytest.approx(0.0)


def test_a_burst_is_waited_for_and_named() -> None:
    machine = MadeMachine(1.5, 1.0, 0.5, 0.0)
    warning, said = waited(machine)
    assert warning == ""
    assert machine.slept_s == 3
    assert [busy.words for busy in said] == [
        "100 % of a CPU (sh[4711] 100 %)",
        "50 % of a CPU (sh[4711] 50 %)",
    ]


def test_one_second_more_is_looked_at_where_the_first_look_is_not_clear() -> None:
    machine = MadeMachine(1.0, 0.0)
    assert waited(machine) == ("", [])
    assert machine.slept_s == 1


@pytest.mark.parametrize("prepare_s", [0.02, 0.1, 0.3])
def test_a_short_look_takes_no_busy_cpu_for_none(prepare_s: float) -> None:
    machine = MadeMachine(1.0, 1.0, 0.0)
    assert waited(machine, prepare_s)[0] == ""
    assert machine.slept_s == 2


def test_it_waits_no_longer_than_the_limit_and_says_so() -> None:
    machine = MadeMachine(0.99)
    warning, said = waited(machine)
    assert machine.slept_s == LIMIT_S
    assert len(said) == LIMIT_S - 1
    assert all(part in warning for part in ("30 s", "99 % of a CPU", "(sh[4711] 99 %)"))


@pytest.mark.parametrize(("value", "limit_s"), [(None, 30.0), ("", 30.0), ("5", 5.0), ("0", 0.0)])
def test_the_limit_can_be_set(value: str | None, limit_s: float) -> None:
    assert limit_of({} if value is None else {"HOWLATE_QUIET_S": value}) == limit_s


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf", "5s"])
def test_a_limit_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match=f'HOWLATE_QUIET_S is "{value}", which is not a number of seconds'):
        limit_of({"HOWLATE_QUIET_S": value})


def test_interrupts_count_and_idle_io_and_steal_do_not() -> None:
    text = "cpu  10 20 30 4000 500 6 7 800 0 0\ncpu0 1 1 1\ncpu1 1 1 1\nintr 5\n"
    assert parse_stat(text, 0.01, 100.0) == pytest.approx(200 - 53)
    assert parse_stat("", 0.01, 100.0) == 0


def test_a_tasks_name_may_hold_anything() -> None:
    line = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0"
    assert parse_task(line, 0.01) == ((42, "a) b (c"), 2.0)
    assert parse_task("", 0.01) is None


def test_this_machine_can_be_looked_at() -> None:
    machine = ThisMachine()
    before = machine.look(tasks=True)
    sum(n * n for n in range(2_000_000))
    after = machine.look(tasks=True)
    assert after.own_s > before.own_s
    assert after.busy_s >= before.busy_s - 0.03
    assert 1 in {pid for pid, _name in after.tasks}
    assert os.getpid() not in {pid for pid, _name in after.tasks}
