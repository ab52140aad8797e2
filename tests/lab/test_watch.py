"""When a guest is given up: by what its QEMU uses, never by how long the host takes."""

import os
from pathlib import Path

from howlate.lab.guests.guest import LOOPS
from howlate.lab.guests.snapshot import boot_limit_s
from howlate.lab.guests.watch import ASLEEP, STILL_S, Limits, Standstill, Used, Watch, used_by

NO_RESULT = f"no result in {{}} s of its clock and {{}} s of CPU time: {LOOPS}"


class Process:
    """One whose clock and use the test sets."""

    def __init__(
        self,
        limit_s: float = 10.0,
        virtual_s: float = float("inf"),
        soon_s: float = float("inf"),
        start_s: float = 0.0,
    ) -> None:
        self.now, self.used = 0.0, Used(0.0, False)
        self.clock: float | None = 0.0
        self.asked = self.results = 0
        limits = Limits(limit_s, virtual_s, soon_s, start_virtual_s=start_s)
        self.watch = Watch(lambda: self.used, limits, self.ask, lambda: self.results, lambda: self.now)

    def ask(self) -> float | None:
        self.asked += 1
        return self.clock

    def after(self, seconds: float, cpu_s: float, asleep: bool = False) -> str:
        """Why it should be ended; "" if it gets on."""
        self.now += seconds
        self.used = Used(self.used.cpu_s + cpu_s, asleep)
        trouble = self.watch.trouble()
        if isinstance(trouble, Standstill):
            trouble = trouble.problem(LOOPS)
        return trouble or ""


def test_a_guest_is_ended_when_it_has_used_its_cpu_time() -> None:
    process = Process(limit_s=10.0)
    assert process.after(60.0, 9.9) == ""
    assert process.after(1.0, 0.2) == "no result in 10 s of CPU time"


def test_a_guest_is_ended_when_its_own_clock_has_gone_on_too_far() -> None:
    process = Process(limit_s=100.0, virtual_s=30.0)
    process.clock = 29.9
    assert process.after(1.0, 20.0) == ""
    process.clock = 30.1
    assert process.after(1.0, 1.0) == NO_RESULT.format(30.1, 21)


def test_a_guest_that_needs_no_more_than_usual_is_not_asked() -> None:
    process = Process(limit_s=40.0, virtual_s=1.0)
    process.clock = 1000.0
    for _ in range(9):
        assert process.after(1.0, 1.0) == ""
    assert process.asked == 0
    process.after(1.0, 2.0)
    assert process.asked == 1
    unlimited = Process(limit_s=40.0)
    unlimited.after(1.0, 39.0)
    assert unlimited.asked == 0


def test_without_its_clock_a_guest_is_ended_by_its_cpu_time() -> None:
    process = Process(limit_s=40.0, virtual_s=1.0)
    process.clock = None
    assert process.after(1.0, 39.0) == ""
    assert process.after(1.0, 2.0) == "no result in 40 s of CPU time"


def test_a_slow_host_is_not_taken_for_a_guest_that_hangs() -> None:
    """It uses ten times its CPU time, but its clock goes on."""
    process = Process(limit_s=40.0, virtual_s=30.0)
    process.clock = 0.0
    for _ in range(80):
        process.clock += 0.3
        assert process.after(10.0, 5.0) == ""
    assert process.watch.cpu_s == 400.0


def test_a_guest_whose_clock_stands_still_is_ended() -> None:
    process = Process(limit_s=40.0, virtual_s=30.0)
    process.clock = 2.0
    assert {process.after(1.0, 4.0) for _ in range(5)} == {""}
    said = "its clock has stood still for 12 s of CPU time: it is in an endless loop with interrupts on"
    assert process.after(1.0, 4.0) == said


def test_a_guest_whose_results_come_goes_on_however_slow_it_is() -> None:
    process = Process(limit_s=40.0, virtual_s=30.0, soon_s=3.0)
    process.clock = 0.0
    for number in range(80):
        process.clock += 20.0
        process.results += number % 2
        assert process.after(10.0, 25.0) == ""
    assert process.watch.cpu_s == 2000.0


def test_until_its_first_result_a_guest_may_take_longer() -> None:
    limits = Limits(40.0, 30.0, 3.0, 100.0, 50.0)
    assert (limits.until_first.cpu_s, limits.until_first.virtual_s) == (140.0, 80.0)
    process = Process(limit_s=40.0, virtual_s=30.0, start_s=50.0)
    process.clock = 79.0
    assert process.after(1.0, 60.0) == ""
    process.results += 1
    assert process.after(1.0, 60.0) == ""
    assert process.after(1.0, 60.0) == ""
    process.clock = 110.0
    assert process.after(1.0, 60.0) == NO_RESULT.format(31.0, 60)


def test_a_guest_whose_results_stand_still_is_ended_after_the_last() -> None:
    process = Process(limit_s=40.0, virtual_s=30.0, soon_s=3.0)
    process.clock, process.results = 100.0, 7
    assert process.after(1.0, 100.0) == ""
    process.clock = 101.0
    assert process.after(1.0, 30.0) == ""  # asked for the first time since
    process.clock = 103.5
    assert process.after(1.0, 9.0) == ""
    process.clock = 104.5
    assert process.after(1.0, 5.0) == NO_RESULT.format(3.5, 14)


def test_a_guest_that_gets_no_cpu_is_not_given_up() -> None:
    process = Process()
    for _ in range(100):
        assert process.after(10.0, 0.0) == ""


def test_a_guest_that_sleeps_for_good_is_ended() -> None:
    process = Process()
    process.after(1.0, 1.0)
    found = [process.after(1.0, 0.0, asleep=True) for _ in range(int(STILL_S) + 1)]
    assert found[:-2] == [""] * (len(found) - 2)
    assert found[-1] == ASLEEP


def test_a_guest_that_is_seen_between_two_turns_is_not_asleep() -> None:
    process = Process(limit_s=1000.0)
    assert {process.after(1.0, 0.5, asleep=True) for _ in range(100)} == {""}


def test_a_process_says_what_it_has_used(tmp_path: Path) -> None:
    assert used_by(os.getpid()).cpu_s > 0
    assert not used_by(os.getpid()).is_asleep
    stat = "7 (a ) name) {} 1 1 1 0 -1 0 0 0 0 0 250 150 0 0 20 0 2 0 0 0 0"
    for task, state in (("7", "S"), ("8", "S")):
        (tmp_path / "7" / "task" / task).mkdir(parents=True)
        (tmp_path / "7" / "task" / task / "stat").write_text(stat.format(state))
    (tmp_path / "7" / "stat").write_text(stat.format("S"))
    assert used_by(7, tmp_path) == Used(400 / os.sysconf("SC_CLK_TCK"), True)
    (tmp_path / "7" / "task" / "8" / "stat").write_text(stat.format("R"))
    assert not used_by(7, tmp_path).is_asleep
    assert used_by(8, tmp_path) == Used(0.0, False)


def test_a_boot_may_take_some_times_the_usual_and_more_where_it_idles_by_pause() -> None:
    assert boot_limit_s("quiet", 0.0) == 60.0
    assert boot_limit_s("quiet", 5.0) == 40.0
    assert boot_limit_s("quiet", 20.0) == 90.0
    assert boot_limit_s("quiet idle=poll", 0.0) == 480.0
