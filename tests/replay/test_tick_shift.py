from collections.abc import Sequence

import pytest

from howlate.replay.execution import Execution
from howlate.replay.tick_shift import BEFORE_NS, COMPARED_NS, shift_ns
from made_execution import PLAIN, execution

EACH = 12_000
RELEASE_NS = 1_000 + EACH


def guest(extra: int, places: Sequence[int] = ()) -> Execution:
    """12 us of which the last is the release; `extra` instructions are executed first."""
    course = places or [number // 0x80 for number in range(EACH)]
    steps = [("lock", number % 7, PLAIN) for number in range(extra)]
    steps += [("work", place, PLAIN) for place in course]
    return execution(steps)


@pytest.mark.parametrize("extra", [0, 6, 48])
def test_it_is_by_how_much_the_same_instructions_are_apart(extra: int) -> None:
    one, later = guest(0), guest(extra)
    assert shift_ns(one, RELEASE_NS, later) == extra
    assert shift_ns(later, RELEASE_NS, one) == extra


def test_what_the_later_guest_did_not_execute_counts_as_a_whole() -> None:
    other = guest(0, [0x70 - number // 0x80 for number in range(EACH)])
    assert shift_ns(guest(0), RELEASE_NS, other) == COMPARED_NS


def test_what_comes_right_before_the_release_is_not_compared() -> None:
    course = [number // 0x80 for number in range(EACH)]
    course[-BEFORE_NS + 1 :] = [0x7F] * (BEFORE_NS - 1)
    assert shift_ns(guest(0), RELEASE_NS, guest(0, course)) == 0


def test_a_cpu_that_executed_nothing_there_is_not_moved() -> None:
    assert shift_ns(guest(0), 1_000, guest(0)) == 0
