"""Which step of an ordered list first crosses a limit, by asking few of them: the questions, and the sentence in the
end (docs/lab/bisect.md). Pure.

A deterministic figure is not a representative one: a parameter without a meaning moved one maximum by 38 %. So a step
is good or bad only if all its seeds are on one side of the limit, and not near it; any other is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from typing import Any

from msgspec import Struct, field

from howlate.model.decode import members
from howlate.model.summary import CellSummary
from howlate.prove.landscape import Goal
from howlate.prove.proof import Proof, ProofRuling
from howlate.verdict.evidence import answers_of
from howlate.words.language import N_
from howlate.words.say import english, to_json
from howlate.words.statement import Caption, Statement, message

SEEDS = 8
"""Phases of the load in which a step is measured."""
MARGIN = 0.1
"""A figure nearer to the limit than this share of it decides nothing."""


class Step(Struct, frozen=True):
    """One kernel."""

    name: str
    change: str
    """What differs from the step before; "" in the first."""
    label: str = ""
    """The label of one of the archive's; "" for one that is built."""


class StepSide(Enum):
    """What a step is."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"
    """It cannot be built, booted or measured, or its seeds do not agree."""


def side_of(largest_ns: Sequence[int], limit_ns: int) -> StepSide:
    """By the largest latency of each seed; SKIP where a seed is missing."""
    if len(largest_ns) < SEEDS:
        return StepSide.SKIP
    if max(largest_ns) <= limit_ns * (1 - MARGIN):
        return StepSide.GOOD
    return StepSide.BAD if min(largest_ns) > limit_ns * (1 + MARGIN) else StepSide.SKIP


class Bisection(Struct):
    """A list of `count` steps, of which the first should be good and the last bad."""

    count: int
    sides: dict[int, StepSide] = field(default_factory=dict)
    """Those of the measured steps."""

    def put(self, step: int, side: StepSide) -> None:
        self.sides[step] = side

    @property
    def ends_differ(self) -> bool | None:
        """Whether the first is good and the last bad; None as long as one of them was not asked."""
        if not {0, self.count - 1} <= self.sides.keys():
            return None
        return self.sides[0] is StepSide.GOOD and self.sides[self.count - 1] is StepSide.BAD

    @property
    def good(self) -> int:
        """The last step that is known to be good, before all that are known to be bad."""
        return max(step for step, side in self.sides.items() if side is StepSide.GOOD and step < self.bad)

    @property
    def bad(self) -> int:
        return min(step for step, side in self.sides.items() if side is StepSide.BAD)

    def next(self) -> int | None:
        """The step to ask: first the two ends, then the one nearest to the middle that was not asked; None where
        nothing is left to ask."""
        for end in (0, self.count - 1):
            if end not in self.sides:
                return end
        if not self.ends_differ:
            return None
        middle = (self.good + self.bad) / 2
        left = [step for step in range(self.good + 1, self.bad) if step not in self.sides]
        return min(left, key=lambda step: abs(step - middle), default=None)

    @property
    def suspects(self) -> range:
        """The steps of which one is the first bad one; empty where the ends do not differ."""
        return range(self.good + 1, self.bad + 1) if self.ends_differ else range(0)


NAMED = message(
    "bisect.change",
    "{change} makes the difference: {good} keeps {limit_ns:given}, {bad} does not; confirmed by 8 other {units}.",
)
NOT_CONFIRMED = message(
    "bisect.unconfirmed",
    "Not confirmed: {bad} is the first that does not keep {limit_ns:given}, but in 8 other {units} {good} is "
    "{good_again} and {bad} {bad_again}.",
)
RANGE = message(
    "bisect.among",
    "Not narrowed down: the first bad one is among {suspects:list}; all but the last of these were skipped.",
)
ENDS = message(
    "bisect.same-ends",
    "Not searched: {first} is {first_is}, and {last} is {last_is}; one must be good and the other bad.",
)
SCATTERED = message(
    "bisect.margin",
    "{outcome} The margin is {margin:percent} of the limit, because the windows of one end differ by as much. A "
    "limit further from both ends, or a longer window, makes it smaller.",
)
SIDES = {
    StepSide.GOOD: Caption(N_("good")),
    StepSide.BAD: Caption(N_("bad")),
    StepSide.SKIP: Caption(N_("skipped")),
}
SEEDS_CAPTION, WINDOWS_CAPTION = Caption(N_("seeds")), Caption(N_("searched windows"))


class StepAnswer(Struct, frozen=True):
    side: StepSide
    largest_ns: tuple[int, ...] = ()
    """Of each seed, or of each window that was searched, over all loads."""
    why: Statement | None = None
    """Why it was skipped, where it is not for its figures."""


class StepRequest(Struct, frozen=True):
    again: bool = False
    """Once more and elsewhere: with other seeds, or in other windows."""
    margin: float = MARGIN
    """A figure nearer to the limit than this share of it decides nothing (of proofs)."""
    scatter: bool = False
    """Its windows' figures are wanted, not only on which side of the limit they are."""


Ask = Callable[[Step, StepRequest], StepAnswer]
"""Measures a step."""
Prove = Callable[[int, Goal], Sequence[Proof]]
"""Searches a window by its number: a proof of each load."""
WINDOWS = SEEDS
"""Landscapes in which a step is searched: a change without a meaning moves the figure of one as it moves a seed's."""
SCATTER_WITHIN = 0.1
"""How near to the worst case the bound is if a window's figure is needed."""


class BisectionEnd(Enum):
    NAMED = "named"
    NOT_CONFIRMED = "not confirmed"
    RANGE = "range"
    ENDS = "ends"


class Bisected(Struct, frozen=True):
    steps: tuple[Step, ...]
    limit_ns: int
    answers: dict[int, StepAnswer]
    again: dict[int, StepAnswer]
    """The two neighbours, measured elsewhere."""
    suspects: range
    proved: bool
    margin: float = MARGIN
    """How far from the limit a step had to be, as a share of it; more than `MARGIN` where the ends' scatter is."""

    @property
    def end(self) -> BisectionEnd:
        if not self.suspects:
            return BisectionEnd.ENDS
        if len(self.suspects) > 1:
            return BisectionEnd.RANGE
        sides = [self.again[step].side for step in (self.suspects[0] - 1, self.suspects[0])]
        return BisectionEnd.NAMED if sides == [StepSide.GOOD, StepSide.BAD] else BisectionEnd.NOT_CONFIRMED

    def sentence(self) -> Statement:
        outcome = self._outcome()
        return outcome if self.margin <= MARGIN else SCATTERED(outcome=outcome, margin=self.margin)

    def _outcome(self) -> Statement:
        names = [step.name for step in self.steps]
        if self.end is BisectionEnd.ENDS:
            first, last = self.answers[0], self.answers[len(names) - 1]
            sides = SIDES[first.side], SIDES[last.side]
            return ENDS(first=names[0], first_is=sides[0], last=names[-1], last_is=sides[1])
        bad = self.suspects[-1]
        good = self.suspects[0] - 1
        if self.end is BisectionEnd.RANGE:
            return RANGE(suspects=tuple(names[step] for step in self.suspects))
        values = {
            "good": names[good],
            "bad": names[bad],
            "limit_ns": self.limit_ns,
            "units": WINDOWS_CAPTION if self.proved else SEEDS_CAPTION,
        }
        if self.end is BisectionEnd.NAMED:
            return NAMED(change=self.steps[bad].change, **values)
        good_again, bad_again = (SIDES[self.again[step].side] for step in (good, bad))
        return NOT_CONFIRMED(good_again=good_again, bad_again=bad_again, **values)

    def to_json(self) -> dict[str, Any]:
        """For `--json` (docs/lab/bisect.md)."""
        named = self.end is BisectionEnd.NAMED
        return {
            "schema": 1,
            "found": self.end.value,
            "culprit": self.steps[self.suspects[0]].name if named else None,
            "change": self.steps[self.suspects[0]].change if named else None,
            "suspects": [self.steps[step].name for step in self.suspects],
            **members(self, "limit_ns", "margin"),
            "sentence": english(self.sentence()),
            "statement": to_json(self.sentence()),
            "steps": [
                {
                    **members(step, "name", "change"),
                    **_answer_json("", self.answers.get(number)),
                    **_answer_json("again_", self.again.get(number)),
                }
                for number, step in enumerate(self.steps)
            ],
        }


def _answer_json(prefix: str, asked: StepAnswer | None) -> dict[str, Any]:
    if asked is None:
        return {}
    return {
        f"{prefix}side": asked.side.value,
        f"{prefix}largest_ns": list(asked.largest_ns),
        **({f"{prefix}why": english(asked.why)} if asked.why else {}),
    }


def bisect(steps: Sequence[Step], limit_ns: int, ask: Ask, *, proved: bool = False) -> Bisected:
    """Ask the two ends, then steps until one is found or nothing is left to ask, and the two neighbours again. Of
    proofs the ends' scatter is the margin."""
    search = Bisection(len(steps))
    answers: dict[int, StepAnswer] = {}

    def answered(number: int, how: StepRequest) -> None:
        answers[number] = ask(steps[number], how)
        search.put(number, answers[number].side)

    ends = 0, len(steps) - 1
    for end in ends:
        answered(end, StepRequest(scatter=proved))
    margin = MARGIN
    if proved and search.ends_differ:
        margin = max(MARGIN, *(_scatter(answers[end].largest_ns, limit_ns) for end in ends))
    if margin > MARGIN:
        for end in ends:
            answered(end, StepRequest(margin=margin, scatter=True))
    while (number := search.next()) is not None:
        answered(number, StepRequest(margin=margin))
    suspects = search.suspects
    again = {}
    if len(suspects) == 1:
        how = StepRequest(again=True, margin=margin)
        again = {number: ask(steps[number], how) for number in (suspects[0] - 1, suspects[0])}
    return Bisected(tuple(steps), limit_ns, answers, again, suspects, proved, margin)


def _scatter(largest_ns: Sequence[int], limit_ns: int) -> float:
    """How far a step's smallest figure is below its largest, as a share of the largest: what would move the one to
    the other does not move a step from good to bad, which are further apart. A figure below half of the limit counts
    as the half, and one above its double as the double: those are far enough from it. So this is below 0.5."""
    counted = [min(max(ns, _half(limit_ns)), 2 * limit_ns) for ns in largest_ns]
    return 1 - min(counted) / max(counted)


def _half(limit_ns: int) -> int:
    """Never 0, which would be no deadline."""
    return -(-limit_ns // 2)


def sampled(
    summaries: Iterable[CellSummary], points: Iterable[str], limit_ns: int, *, again: bool
) -> StepAnswer:
    """By the largest latency of each seed, over all points of the plan; the seeds 9 to 16 for `again`. A seed of
    which a cell is not whole and valid at one of the points is missing."""
    wanted = range(SEEDS + 1, 2 * SEEDS + 1) if again else range(1, SEEDS + 1)
    largest: dict[int, dict[str, int]] = {seed: {} for seed in wanted}
    for summary in summaries:
        column = answers_of(summary)
        if summary.repetition in largest and summary.valid and column is not None and column.max is not None:
            largest[summary.repetition][summary.point] = column.max
    every = set(points)
    figures = tuple(max(each.values()) for each in largest.values() if every and each.keys() >= every)
    return StepAnswer(side_of(figures, limit_ns), figures)


def proved(prove: Prove, limit_ns: int, how: StepRequest) -> StepAnswer:
    """By whether a release can come near the limit, or is far beyond it, in each of 8 windows, or in 8 others. The
    first window that decides nothing, or contradicts another one, is the last."""
    first = WINDOWS if how.again else 0
    figures: list[int] = []
    sides: set[StepSide] = set()
    for number in range(first, first + WINDOWS):
        answer = _of_window(partial(prove, number), limit_ns, how)
        figures += answer.largest_ns
        sides.add(answer.side)
        if answer.side is StepSide.SKIP or len(sides) > 1:
            return StepAnswer(StepSide.SKIP, tuple(figures), answer.why)
    return StepAnswer(sides.pop(), tuple(figures))


def _of_window(prove: Callable[[Goal], Sequence[Proof]], limit_ns: int, how: StepRequest) -> StepAnswer:
    """On which side of the limit one window is, and the latest release that was found in it."""
    good_ns, bad_ns = (max(1, round(limit_ns * (1 + share))) for share in (-how.margin, how.margin))
    proofs = prove(Goal(deadline_ns=good_ns))
    if all(proof.is_bounded for proof in proofs):
        half_ns = _half(limit_ns)
        is_near = how.scatter and _found_ns(prove(Goal(deadline_ns=half_ns))) > half_ns
        found_ns = _found_ns(prove(Goal(within=SCATTER_WITHIN)) if is_near else proofs)
        return StepAnswer(StepSide.GOOD, (found_ns,))
    if _found_ns(proofs) <= bad_ns:
        proofs = [*proofs, *prove(Goal(deadline_ns=bad_ns))]
    found_ns = _found_ns(proofs)
    if found_ns <= bad_ns:
        return StepAnswer(StepSide.SKIP, (found_ns,), _why_undecided(proofs))
    if how.scatter and found_ns < 2 * limit_ns:
        found_ns = _found_ns(prove(Goal(within=SCATTER_WITHIN)))
    return StepAnswer(StepSide.BAD, (found_ns,))


def _found_ns(proofs: Sequence[Proof]) -> int:
    return max(proof.latest.latency_ns for proof in proofs)


def _why_undecided(proofs: Sequence[Proof]) -> Statement | None:
    """Of the first proof that could not answer; None where all did, and the figure is too near to the limit."""
    without = (ProofRuling.BROKEN, ProofRuling.WITHHELD, ProofRuling.OPEN)
    return next((proof.outcome() for proof in proofs if proof.ruling in without), None)
