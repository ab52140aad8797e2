"""Which readings of the clock may be a release's time stamp. Logs written by hand; no guest."""

from howlate.lab.replay import readings, stamp_readings
from made_execution import IRET, PLAIN, RDTSC, execution

KERNEL_STEPS = [("work", 0, PLAIN), ("work", 1, IRET)]


def program(*reads_at: int, length: int) -> list[tuple[str, int, bytes]]:
    """An instruction a nanosecond, of which these read the clock."""
    return [("main", offset, RDTSC if offset in reads_at else PLAIN) for offset in range(length)]


def test_what_a_program_reads_long_after_it_came_back_is_no_time_stamp() -> None:
    """The probe reads the clock again 130 ns after the time stamp, for its own use."""
    log = execution([*KERNEL_STEPS, *program(10, 144, 237, length=250)])
    assert list(readings(log)[0]) == [12, 146, 239]
    assert list(stamp_readings(log)[0]) == [12]


def test_a_reading_that_was_repeated_for_a_tick_may_be_the_time_stamp() -> None:
    log = execution([*KERNEL_STEPS, *program(10, 41, 200, length=210)])
    assert list(stamp_readings(log)[0]) == [12, 43]


def test_after_each_return_from_the_kernel_there_may_be_one() -> None:
    log = execution([*KERNEL_STEPS, *program(10, length=80), *KERNEL_STEPS, *program(10, 100, length=110)])
    assert list(stamp_readings(log)[0]) == [12, 94]


def test_a_log_without_a_return_from_the_kernel_has_none() -> None:
    assert not len(stamp_readings(execution(program(10, length=20)))[0])
