"""A prober of made landscapes: answers from a function, in place of guests."""

import random
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from howlate.model.cause import Cause, CausePart, Lateness
from howlate.prove.flow import Prober, prove
from howlate.prove.forked_part import AROUND_NS
from howlate.prove.landscape import Goal, Probed, ReleaseWindow
from howlate.prove.proof import Landscape, Proof
from howlate.replay.premises import (
    ComparedPair,
    RealTimeThread,
    Witness,
)

WINDOW = ReleaseWindow(0, 400_000)
STOPPER = RealTimeThread(16, "migration/0", 1, 99, 1_000, 3)
EQUAL = ComparedPair(0, 101, 5_000, ())
BUSY = Witness(0, 1_000_000, (STOPPER,), (0,))


@dataclass
class MadeProber(Prober):
    """Answers from a function."""

    latency_ns: Callable[[int], int]
    said: Witness = BUSY
    window: ReleaseWindow = WINDOW
    jobs: int = 1
    asked: list[int] = field(default_factory=list)
    pair: ComparedPair = EQUAL
    shifted_ns: int = 0
    witnessed: list[Probed] = field(default_factory=list)
    """The release that a witness is of."""

    @property
    def tiles(self) -> tuple[ReleaseWindow, ...]:
        return (self.window,)

    def witnesses(self) -> list[Witness]:
        at_ns = self.window.end_ns - 1
        self.witnessed = [Probed(at_ns, self.latency_ns(at_ns))]
        return [self.said]

    def pairs(self) -> list[ComparedPair]:
        return [self.pair]

    def multiples_ns(self, draws: random.Random) -> list[list[int]]:
        return [[*range(1_000_000, self.window.end_ns - max(AROUND_NS), 1_000_000)]]

    def shift_ns(self, tick_ns: int) -> int:
        return self.shifted_ns

    def ask(self, at_ns: int, logged: bool = True) -> Future[Probed]:
        self.asked.append(at_ns)
        answer: Future[Probed] = Future()
        answer.set_result(Probed(at_ns, self.latency_ns(at_ns)))
        return answer

    def note(self, probe: Probed) -> None:
        pass

    def known(self) -> list[Probed]:
        return self.witnessed

    @property
    def eps_ns(self) -> int:
        return 0

    def keep_eps(self, eps_ns: int) -> None:
        pass

    def why(self, probe: Probed) -> Lateness:
        ns = probe.latency_ns
        part = CausePart(Cause.NOT_PREEMPTIBLE, 0, ns, function="work", callers=("main",))
        return Lateness(ns, (part,), ((("main", "work"), ns),), (), ns, 0)

    def all(self, instants_ns: Iterable[int], logged: bool = True) -> list[Probed]:
        return [self.ask(at_ns, logged).result() for at_ns in instants_ns]


def proved(latency_ns: Callable[[int], int], goal: Goal, said: Witness = BUSY, *parameters: str) -> Proof:
    return prove(Landscape("6.1", "made", 0, parameters), goal, 60, MadeProber(latency_ns, said))


def tooth(at_ns: int) -> int:
    """The CPU is kept for 50 us in every 100."""
    return 4_000 + max(0, 50_000 - at_ns % 100_000)
