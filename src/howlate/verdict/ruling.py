"""PASS, FAIL or INCONCLUSIVE, as values: a question about a row, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from howlate.verdict.evidence import Evidence
from howlate.verdict.extrapolate import Extrapolation
from howlate.words.statement import Statement

CONFIDENCE = 0.95


class Ruling(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


class Question(Struct, frozen=True):
    """What a verdict is about."""

    deadline_ns: int
    miss_rate: float = 0.0
    """What is tolerated; 0: no miss at all."""
    horizon_s: float | None = None
    """The time ahead that is judged; None: as long as what was measured can bound; 0: none."""
    confidence: float = CONFIDENCE
    cluster: float = 1.0
    """How many misses come together at most, where too few were seen to say it."""
    rows: int = 1
    """Of how many rows and columns it is asked: one that fails is enough, so their lower bounds hold together."""

    @property
    def judges_horizon(self) -> bool:
        """Whether the horizon decides: not where a rate is tolerated, unless a horizon was stated."""
        return bool(self.horizon_s) or not self.miss_rate


class PartVerdict(Struct, frozen=True):
    """The answer to one of the two questions."""

    outcome: Ruling | None
    """None where it is stated only."""
    forbids: tuple[Statement, ...] = ()
    """What keeps the bound from being stated; phrases."""
    needed_s: float | None = None
    """How much longer to measure, if it goes on as before; None where no time would help, or none is needed."""


class RateVerdict(PartVerdict, frozen=True):
    upper: float | None = None
    lower: float = 0.0
    theta: float | None = None
    """Which part of the releases tells as much as independent ones; None where it is not known."""
    cpu: str = ""
    """Of several CPUs the worst, which the bounds are about; "" where one alone measured."""
    releases: int = 0
    """The releases of that CPU."""
    misses: int = 0
    cluster: float = 1.0
    """How many misses come together at most, as stated or seen."""
    events: int = 0
    """Groups of misses, of all CPUs together."""
    events_per_h: float | None = None
    """The upper bound of how many come an hour; None where it is not stated."""


class StretchVerdict(PartVerdict, frozen=True):
    horizon_s: float = 0.0
    confidence: float = 0.0
    """With which the largest value seen is not exceeded in that time."""
    blocks: str = "time"
    """What is taken to be exchangeable: intervals of "time", "runs", or "boots"; in virtual time "seeds"."""
    bound: bool = True
    """Whether it may be stated with that confidence: False where something forbids it."""
    rises: tuple[Statement, ...] = ()
    """Why the largest value bounds nothing, where the deadline is so far above that it is judged all the same."""


class Verdict(Struct, frozen=True):
    """The verdict on one row."""

    outcome: Ruling
    question: Question
    evidence: Evidence
    rate: RateVerdict
    stretch: StretchVerdict
    valid: bool = True
    """False where a validity check failed, so that neither question was looked at."""
    extrapolation: Extrapolation | None = None
    """A model's answer, which decides nothing; None where there is none."""

    @property
    def open(self) -> list[PartVerdict]:
        return [answer for answer in (self.rate, self.stretch) if answer.outcome is Ruling.INCONCLUSIVE]

    @property
    def needed_s(self) -> float | None:
        """How much longer to measure until both questions can be answered; None where no time would help."""
        times = [answer.needed_s for answer in self.open]
        known = [seconds for seconds in times if seconds is not None]
        return max(known) if known and len(known) == len(times) else None

    @property
    def bounded_s(self) -> float | None:
        """The time for which the largest value is a bound with the required confidence; None if it is not a bound."""
        stretch = self.stretch
        is_enough = stretch.confidence >= self.question.confidence - 1e-9
        return stretch.horizon_s if stretch.bound and stretch.horizon_s and is_enough else None

    @property
    def forbids(self) -> tuple[Statement, ...]:
        return tuple(dict.fromkeys((*self.rate.forbids, *self.stretch.forbids)))


def severity(outcome: Ruling) -> int:
    return (Ruling.PASS, Ruling.INCONCLUSIVE, Ruling.FAIL).index(outcome)


def together(outcomes: Sequence[Ruling | None]) -> Ruling:
    """The ruling of several rows or questions: one that fails fails them all."""
    for outcome in (Ruling.FAIL, Ruling.INCONCLUSIVE):
        if outcome in outcomes:
            return outcome
    return Ruling.PASS
