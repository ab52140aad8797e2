"""Synthetic landscapes: stretches in which the CPU is kept, and a wake-up path of some noise."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from howlate.prove.landscape import (
    FINEST_NS,
    Goal,
    Probed,
    ReleaseWindow,
    Search,
    Unprobed,
    excess_ns,
    stretches,
)


class SawTooth(Struct, frozen=True):
    """`kept`: (begin, length) of stretches in which nobody else gets the CPU."""

    kept: tuple[tuple[int, int], ...]
    base_ns: int
    noise_ns: int

    def latency_ns(self, at_ns: int) -> int:
        free_ns = at_ns
        for begin, length in sorted(self.kept):
            if begin <= free_ns < begin + length:
                free_ns = begin + length
        own_ns = (at_ns * 2654435761 >> 7) % (self.noise_ns + 1)
        return free_ns - at_ns + self.base_ns + own_ns


WINDOW = ReleaseWindow(1_000, 5_000)
teeth = st.builds(
    SawTooth,
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(1, 1_000)), max_size=8).map(tuple),
    st.integers(20, 400),
    st.integers(0, 40),
)
goals = st.one_of(
    st.builds(Goal, within=st.sampled_from([0.05, 0.5])),
    st.builds(Goal, deadline_ns=st.integers(100, 2_000)),
)


def searched(land: SawTooth, goal: Goal, eps_ns: int, at_once: int = 1) -> Search:
    search = Search(WINDOW, goal, eps_ns)
    while not search.is_over:
        for at_ns in search.propose(at_once):
            search.add(Probed(at_ns, land.latency_ns(at_ns)))
        assert len(search.probes) < WINDOW.length_ns
    return search


@pytest.mark.hypothesis
@given(teeth, goals, st.integers(1, 4))
def test_no_release_exceeds_the_bound_and_the_largest_found_is_there(
    land: SawTooth, goal: Goal, at_once: int
) -> None:
    search = searched(land, goal, land.noise_ns, at_once)
    largest_ns = max(map(land.latency_ns, range(WINDOW.first_ns, WINDOW.end_ns)))
    assert search.worst is not None
    assert land.latency_ns(search.worst.at_ns) == search.found_ns <= largest_ns
    if not search.refuted:
        assert largest_ns <= search.bound_ns < math.inf
    if search.refuted:
        assert largest_ns > goal.deadline_ns


def uncovered(search: Search) -> list[Unprobed]:
    """Open, and too short to be divided."""
    return [stretch for stretch in search.open_stretches() if not stretch.is_divisible]


@pytest.mark.hypothesis
@given(teeth, st.sampled_from([0.05, 0.5]))
def test_a_search_within_a_share_ends_within_it(land: SawTooth, within: float) -> None:
    search = searched(land, Goal(within=within), land.noise_ns)
    left = uncovered(search)
    assert search.bound_ns <= search.aim_ns + (FINEST_NS if left else 0)


@pytest.mark.hypothesis
@given(teeth, st.integers(100, 2_000))
def test_a_deadline_is_refuted_by_an_example_or_kept_but_for_what_is_said(
    land: SawTooth, deadline_ns: int
) -> None:
    search = searched(land, Goal(deadline_ns=deadline_ns), land.noise_ns)
    if search.refuted:
        return
    open_instants = {at for s in uncovered(search) for at in range(s.first_ns, s.end_ns)}
    for at_ns in range(WINDOW.first_ns, WINDOW.end_ns):
        assert land.latency_ns(at_ns) <= deadline_ns or at_ns in open_instants


@pytest.mark.hypothesis
@given(teeth)
def test_starts_of_a_landscape_are_out_of_order_by_its_noise_at_most(land: SawTooth) -> None:
    probes = [Probed(at, land.latency_ns(at)) for at in range(WINDOW.first_ns, WINDOW.end_ns, 3)]
    assert 0 <= excess_ns(probes) <= land.noise_ns


def test_a_load_that_reacts_to_the_release_is_noticed_by_its_starts() -> None:
    """It lets a release at 5,000 wait, and one at 5,010 not."""
    assert excess_ns([Probed(5_000, 900), Probed(5_010, 100)]) == 790


def test_a_larger_eps_opens_what_was_closed() -> None:
    land = SawTooth(((2_000, 1_000),), 50, 0)
    search = searched(land, Goal(deadline_ns=1_100), 10)
    assert not search.refuted and search.bound_ns <= 1_100
    search.assume(60)
    assert search.bound_ns > 1_100 or not search.open_stretches()


def test_the_last_instant_is_probed_first_and_a_probe_beyond_covers_it_too() -> None:
    assert Search(WINDOW, Goal(deadline_ns=100), 1).propose() == [4_999]
    beyond = stretches(WINDOW, [Probed(5_500, 10)], 3)
    assert [(s.first_ns, s.end_ns, s.bound_ns) for s in beyond] == [(1_000, 5_000, 4_513)]


def test_what_no_probe_follows_has_no_bound() -> None:
    assert [s.bound_ns for s in stretches(WINDOW, [Probed(4_000, 10)], 0)] == [3_010, math.inf]


def test_the_number_of_probes_is_near_the_least() -> None:
    land = SawTooth(tuple((at, 80) for at in range(0, 5_000, 500)), 20, 0)
    search = searched(land, Goal(deadline_ns=300), 5)
    assert search.least == 15
    assert 15 <= len(search.probes) <= 45
