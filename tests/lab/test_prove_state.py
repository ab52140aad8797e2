"""Two guests that wait for different releases are the same machine until the earlier one: memory, registers and
devices, word by word."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from howlate.lab.bench import Bench
from howlate.lab.guests.fork import Fork
from howlate.lab.guests.machine_state import MachineState
from howlate.lab.guests.single import SingleState
from howlate.lab.kernels.label import Label
from howlate.lab.replay import symbols_of
from howlate.prove.same_state import DifferenceKind, StateDifference, differences
from lab.equipped import Guest
from lab.guests import LIMITS, RT, STANDARD, bench
from lab.test_prove import WINDOW, single

TICK_NS, SECOND_NS = 4_000_000, 1_000_000_000
"""The kernel's tick is at multiples of this: a pair with it in between arms its timers in another order."""
SOON_NS = 2_000
"""So long before its release at least a guest is stopped."""


def pairs(fork: Fork, many: int, seed: str) -> Iterator[tuple[int, int, int]]:
    """Two releases with no tick in between, and an instant up to 3 ms before both, most of them just before."""
    draws = random.Random(seed)
    while many:
        first_ns = fork.words.planned_ns + draws.randrange(WINDOW.end_ns)
        later_ns = first_ns + round(10 ** draws.uniform(2, 6)) | 1
        at_ns = first_ns - SOON_NS - round(10 ** draws.uniform(0, 6.5))
        if first_ns // TICK_NS == later_ns // TICK_NS:
            many -= 1
            yield first_ns, later_ns, at_ns


def unequal(
    fork: Fork, first_ns: int, later_ns: int, at_ns: int
) -> tuple[MachineState, list[StateDifference]]:
    """All words that differ in two guests that were stopped at one instant."""
    (words, one), (later_words, later) = (fork.state(ns, at_ns) for ns in (first_ns, later_ns))
    assert words.state == later_words.state == SingleState.STOPPED_BEFORE
    return one, differences(one, later, later_ns - first_ns)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "many"),
    [
        (STANDARD, 3),
        (RT, 3),
        pytest.param(STANDARD, 40, marks=pytest.mark.sweep),
        pytest.param(RT, 40, marks=pytest.mark.sweep),
        pytest.param("6.1[preempt=full]", 40, marks=pytest.mark.sweep),
        pytest.param("6.12@arm64", 40, marks=pytest.mark.sweep),
    ],
)
def test_until_the_earlier_of_two_releases_nothing_but_their_instants_differs(
    tmp_path: Path, booted: Path, name: str, many: int
) -> None:
    on = bench(tmp_path / str(Label.parse(name)), name, snapshots=booted)
    lines = single(on, "memory-alloc:100")
    symbols = symbols_of(on, lines[:-1])
    kinds: list[Counter[DifferenceKind]] = []
    with on.forked(lines, LIMITS) as fork:
        for pair in pairs(fork, many, name):
            one, found = unequal(fork, *pair)
            kinds.append(Counter(each.kind for each in found))
            unexplained = [each.text(symbols, one) for each in found if each.kind is DifferenceKind.OTHER]
            assert not unexplained, (pair, unexplained)
            assert kinds[-1][DifferenceKind.INSTANT] >= 10
    for kind in DifferenceKind:
        print(f"{kind.value}: {min(each[kind] for each in kinds)} to {max(each[kind] for each in kinds)}")


def test_a_machine_whose_timer_has_expired_is_another(tmp_path: Path, booted: Path) -> None:
    """Stopped 3 us behind the earlier release, in its interrupt: its load is a program, which has interrupts on."""
    on = bench(tmp_path / "cache", STANDARD, snapshots=booted)
    lines = single(on, "cpu:100")
    symbols = symbols_of(on, lines[:-1])
    with on.forked(lines, LIMITS) as fork:
        first_ns = fork.words.planned_ns
        one, found = unequal(fork, first_ns, first_ns + 100_001, first_ns + 3_000)
    unexplained = [each.text(symbols, one) for each in found if each.kind is DifferenceKind.OTHER]
    print(len(unexplained), "\n".join(unexplained))
    assert len(unexplained) > 50
    assert any("(runqueues+" in each for each in unexplained)
    assert any("(hrtimer_bases+" in each for each in unexplained)


def test_a_load_that_looks_at_the_timer_makes_another_machine_of_it(guest: Guest) -> None:
    """15 us before one release, and 40 us before the other: the module `reacts` holds the CPU for one of them."""
    on: Bench = guest(STANDARD)
    lines = [["module", "reacts", "hold_us=300"], *single(on, "none")]
    symbols = symbols_of(on, lines[:-1])
    with on.forked(lines, LIMITS) as fork:
        grid_ns = -(-fork.words.planned_ns // 200_000) * 200_000 + 150_000
        one, found = unequal(fork, grid_ns, grid_ns + 25_000, grid_ns - SOON_NS)
    unexplained = [each.text(symbols, one) for each in found if each.kind is DifferenceKind.OTHER]
    print(len(unexplained), unexplained[:8])
    assert unexplained
