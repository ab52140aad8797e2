"""How a guest's CPUs share its virtual clock."""

from itertools import groupby

import pytest

from howlate.model.turns import _shares, _stretches, turns_of

SHARES = {2: (1 / 2, 1 / 2), 3: (0.327, 0.272, 0.401), 4: (0.235, 0.204, 0.305, 0.256)}
"""From 10 us on, at every speed."""


def test_the_shares_of_two_and_four_cpus_by_hand() -> None:
    """What is left is divided anew for each CPU that was asked to leave: 1/2, 1/2 of 1/2, then twice 1/8; and 1/4,
    3/16, 9/64, 27/256, then four times 81/1024. 1024 divides both, so that nothing remains."""
    assert _shares(2, 2, 1024) == (5 / 8, 3 / 8)
    parts = [(3 / 4) ** k / 4 + 81 / 1024 for k in range(4)]
    assert _shares(4, 4, 1024 * 1024) == pytest.approx(parts, abs=0.001)


@pytest.mark.parametrize("turn_us", [10, 20, 33, 100, 1000])
@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("cpus", SHARES)
def test_from_ten_microseconds_on_they_depend_on_neither_turn_nor_speed(
    cpus: int, turn_us: int, shift: int
) -> None:
    turns = turns_of(cpus, turn_us * 1000, shift)
    assert turns.shares == pytest.approx(SHARES[cpus], abs=0.005)
    assert sum(turns.shares) == pytest.approx(1)


@pytest.mark.parametrize("turn_us", range(1, 50))
@pytest.mark.parametrize("shift", range(4))
@pytest.mark.parametrize("cpus", SHARES)
def test_no_turn_is_longer_than_asked_for(cpus: int, turn_us: int, shift: int) -> None:
    """What a CPU executes until another one does; where only CPUs that never start are between two of its turns, that
    is the remainder of the instructions and a turn."""
    turns = turns_of(cpus, turn_us * 1000, shift)
    assert turns.interval_ns % 1000 == 0
    stretches = _stretches(cpus, turns.counted, turns.interval_ns >> shift)
    by_cpu = groupby(stretches, key=lambda stretch: stretch[0])
    longest = max(sum(took for _, took in turn) for _, turn in by_cpu)
    assert 0 < longest << shift <= turn_us * 1000 + (turns.counted << shift)
