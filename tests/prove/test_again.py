"""The same question of a made landscape again: what is kept is known, and the order of answers chooses nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howlate.prove.flow import prove
from howlate.prove.landscape import Goal, Probed
from howlate.prove.proof import Landscape, ProofRuling
from howlate.replay.premises import Witness
from howlate.replay.release_path import ReleasePath
from made_prober import WINDOW, MadeProber, tooth


class AnyOrder(Future[Probed]):
    """Is answered when it is asked for, after any others."""

    def __init__(self, prober: KeepingProber, at_ns: int, logged: bool) -> None:
        super().__init__()
        self.prober, self.at_ns, self.logged = prober, at_ns, logged

    def result(self, timeout: float | None = None) -> Probed:
        waiting = self.prober.waiting
        while not self.done():
            waiting.pop(self.prober.order.randrange(len(waiting))).answer()
        return super().result()

    def answer(self) -> None:
        self.set_result(self.prober.answer(self.at_ns, self.logged))


@dataclass
class KeepingProber(MadeProber):
    """Keeps what it answered, as a cache does, and answers in any order."""

    order: random.Random = field(default_factory=random.Random)
    kept: dict[int, Probed] = field(default_factory=dict)
    kept_eps_ns: int = 0
    waiting: list[AnyOrder] = field(default_factory=list)
    own_ns: Callable[[int], int] = lambda at_ns: 1_000 + at_ns * 7919 % 100

    def answer(self, at_ns: int, logged: bool) -> Probed:
        latency_ns, own_ns = self.latency_ns(at_ns), self.own_ns(at_ns)
        path = ReleasePath(latency_ns - own_ns, own_ns, (), "work")
        return Probed(at_ns, latency_ns, path if logged else None)

    def ask(self, at_ns: int, logged: bool = True) -> Future[Probed]:
        kept = self.kept.get(at_ns)
        if kept is not None and (kept.path is not None or not logged):
            known: Future[Probed] = Future()
            known.set_result(kept)
            return known
        self.asked.append(at_ns)
        asked = AnyOrder(self, at_ns, logged)
        self.waiting.append(asked)
        return asked

    def note(self, probe: Probed) -> None:
        known = self.kept.get(probe.at_ns)
        if known is None or known.path is None:
            self.kept[probe.at_ns] = probe

    def all(self, instants_ns: Iterable[int], logged: bool = True) -> list[Probed]:
        answers = [future.result() for future in [self.ask(at_ns, logged) for at_ns in instants_ns]]
        for probe in answers:
            self.note(probe)
        return answers

    def witnesses(self) -> list[Witness]:
        said = super().witnesses()
        for probe in self.witnessed:
            self.note(probe)
        return said

    def known(self) -> list[Probed]:
        return [probe for at_ns, probe in sorted(self.kept.items()) if self.window.holds(at_ns)]

    @property
    def eps_ns(self) -> int:
        return self.kept_eps_ns

    def keep_eps(self, eps_ns: int) -> None:
        self.kept_eps_ns = max(self.kept_eps_ns, eps_ns)

    def again(self, order: int) -> KeepingProber:
        """The same command once more."""
        later = KeepingProber(self.latency_ns, order=random.Random(order), kept=dict(self.kept))
        later.kept_eps_ns = self.kept_eps_ns
        return later


def rough(seed: int) -> Callable[[int], int]:
    """Teeth of several lengths, whose starts are up to 200 ns out of order."""
    draws = random.Random(seed)
    ends = sorted(draws.randrange(WINDOW.end_ns) for _ in range(12))

    def latency_ns(at_ns: int) -> int:
        end_ns = next((end for end in ends if at_ns < end <= at_ns + 60_000), at_ns)
        return 4_000 + end_ns - at_ns + at_ns * 31 % 200

    return latency_ns


SEEDS, GOALS = st.integers(0, 10_000), [Goal(within=0.05), Goal(within_ns=900), Goal(deadline_ns=40_000)]
OF = Landscape("6.1", "made", 0)


@pytest.mark.hypothesis
@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from(GOALS), SEEDS, SEEDS)
def test_the_order_of_answers_chooses_no_probe_and_the_same_question_again_asks_none_and_answers_the_same(
    seed: int, goal: Goal, one: int, other: int
) -> None:
    first, second = (KeepingProber(rough(seed), order=random.Random(order)) for order in (one, other))
    said = prove(OF, goal, 20, first).to_json()
    assert prove(OF, goal, 20, second).to_json() == said
    assert first.asked == second.asked
    again = first.again(other)
    assert prove(OF, goal, 20, again).to_json() == said
    assert again.asked == []


@pytest.mark.hypothesis
@settings(max_examples=25, deadline=None)
@given(
    SEEDS,
    st.lists(st.tuples(st.integers(0, WINDOW.end_ns - 1), st.booleans()), max_size=40),
    st.lists(st.sampled_from(GOALS), min_size=1, max_size=3),
)
def test_whatever_is_kept_is_known_to_a_search_and_what_was_found_never_falls(
    seed: int, before: list[tuple[int, bool]], goals: list[Goal]
) -> None:
    """Also of what was asked without a log."""
    prober = KeepingProber(rough(seed), order=random.Random(seed))
    for at_ns, logged in before:
        prober.note(prober.answer(at_ns, logged))
    found_ns = max((probe.latency_ns for probe in prober.known()), default=0)
    for goal in goals:
        prober = prober.again(seed)
        proof = prove(OF, goal, 10, prober)
        assert proof.latest.latency_ns >= found_ns
        assert {probe.at_ns for probe in prober.known() if probe.path} == {p.at_ns for p in proof.probes}
        assert prove(OF, goal, 10, prober.again(1)).to_json() == proof.to_json()
        found_ns = proof.latest.latency_ns


def test_a_release_that_is_kept_and_above_its_bound_takes_the_claim_back() -> None:
    """The search would not ask that instant again."""
    prober = KeepingProber(tooth)
    assert prove(OF, Goal(within=0.1), 20, prober).ruling is ProofRuling.CONDITIONAL
    later = prober.again(1)
    at_ns = next(at for at in range(60_001, 90_000) if at not in later.kept)
    later.kept[at_ns] = Probed(at_ns, 300_000)
    proof = prove(OF, Goal(within=0.1), 20, later)
    assert proof.ruling is ProofRuling.BROKEN and proof.latest.at_ns == at_ns
    assert prove(OF, Goal(deadline_ns=60_000), 20, later.again(1)).ruling is ProofRuling.MISSED


def test_more_check_instants_are_those_before_and_others() -> None:
    """So they add to what is known, where the same number has nothing new to say."""
    few = KeepingProber(tooth)
    prove(OF, Goal(within=0.1), 20, few)
    more = few.again(1)
    proof = prove(OF, Goal(within=0.1), 50, more)
    assert len(more.asked) == 30 and proof.checks == 50


def test_a_deadline_that_the_first_probes_miss_ends_what_is_asked_before_the_search() -> None:
    prober = KeepingProber(tooth)
    assert prove(OF, Goal(deadline_ns=3_000), 20, prober).ruling is ProofRuling.MISSED
    assert len(prober.asked) <= 6
