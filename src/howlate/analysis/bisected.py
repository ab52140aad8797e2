"""Which step first crosses a limit: the questions that are asked, and what is said in the end (docs/lab/bisect.md).
Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from howlate.analysis.bisection import MARGIN, SEEDS, Bisection, Step, StepSide, side_of
from howlate.analysis.evidence import answers_of
from howlate.analysis.proof import Proof, ProofRuling
from howlate.model.summary import CellSummary
from howlate.words.say import english, to_json
from howlate.words.statement import Statement, rule

NAMED = rule(
    "bisect.named",
    "{change} makes the difference: {good} keeps {limit_ns:asked}, {bad} does not, and 8 other seeds confirm both.",
)
NAMED_BY_PROOF = rule(
    "bisect.named-by-proof",
    "{change} makes the difference: {good} keeps {limit_ns:asked}, {bad} does not, and the window after the first "
    "confirms both.",
)
NOT_CONFIRMED = rule(
    "bisect.not-confirmed",
    "Nothing is named: {bad} seemed to be the first that does not keep {limit_ns:asked}, but once more, under other "
    "conditions, {good} is {good_again} and {bad} {bad_again}.",
)
RANGE = rule(
    "bisect.range",
    "Nothing is named: it is one of {suspects:list}, of which all but the last were skipped.",
)
ENDS = rule(
    "bisect.ends",
    "Nothing was searched: {first} is {first_is}, and {last} is {last_is}; one should be good and the other bad.",
)
GOOD = rule("bisect.good", "good")
BAD = rule("bisect.bad", "bad")
SKIPPED = rule("bisect.skipped", "skipped")
SIDES = {StepSide.GOOD: GOOD, StepSide.BAD: BAD, StepSide.SKIP: SKIPPED}


@dataclass(frozen=True)
class StepAnswer:
    """One answer about a step."""

    side: StepSide
    largest_ns: tuple[int, ...] = ()
    """Of each seed, or of each load of a proof."""
    why: Statement | None = None
    """Why it was skipped, where it is not for its figures."""


Ask = Callable[[Step, bool], StepAnswer]
"""Measures a step; once more and elsewhere (other seeds, another window) for True."""


class BisectionEnd(Enum):
    """What became of the search."""

    NAMED = "named"
    NOT_CONFIRMED = "not confirmed"
    RANGE = "range"
    ENDS = "ends"


@dataclass(frozen=True)
class Bisected:
    """A search that is over."""

    steps: tuple[Step, ...]
    limit_ns: int
    answers: dict[int, StepAnswer]
    again: dict[int, StepAnswer]
    """The two neighbours, measured elsewhere."""
    suspects: range
    proved: bool

    @property
    def end(self) -> BisectionEnd:
        if not self.suspects:
            return BisectionEnd.ENDS
        if len(self.suspects) > 1:
            return BisectionEnd.RANGE
        sides = [self.again[step].side for step in (self.suspects[0] - 1, self.suspects[0])]
        return BisectionEnd.NAMED if sides == [StepSide.GOOD, StepSide.BAD] else BisectionEnd.NOT_CONFIRMED

    def sentence(self) -> Statement:
        names = [step.name for step in self.steps]
        if self.end is BisectionEnd.ENDS:
            first, last = self.answers[0], self.answers[len(names) - 1]
            sides = SIDES[first.side](), SIDES[last.side]()
            return ENDS(first=names[0], first_is=sides[0], last=names[-1], last_is=sides[1])
        bad = self.suspects[-1]
        good = self.suspects[0] - 1
        if self.end is BisectionEnd.RANGE:
            return RANGE(suspects=tuple(names[step] for step in self.suspects))
        if self.end is BisectionEnd.NAMED:
            change = self.steps[bad].change
            named = NAMED_BY_PROOF if self.proved else NAMED
            return named(change=change, good=names[good], bad=names[bad], limit_ns=self.limit_ns)
        sides = SIDES[self.again[good].side](), SIDES[self.again[bad].side]()
        return NOT_CONFIRMED(
            good=names[good],
            bad=names[bad],
            limit_ns=self.limit_ns,
            good_again=sides[0],
            bad_again=sides[1],
        )

    def to_json(self) -> dict[str, Any]:
        """For `--json` (docs/lab/bisect.md)."""
        named = self.end is BisectionEnd.NAMED
        return {
            "schema": 1,
            "found": self.end.value,
            "culprit": self.steps[self.suspects[0]].name if named else None,
            "change": self.steps[self.suspects[0]].change if named else None,
            "suspects": [self.steps[step].name for step in self.suspects],
            "limit_ns": self.limit_ns,
            "sentence": english(self.sentence()),
            "statement": to_json(self.sentence()),
            "steps": [
                {
                    "name": step.name,
                    "change": step.change,
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


def bisect(steps: Sequence[Step], limit_ns: int, ask: Ask, proved: bool = False) -> Bisected:
    """Ask steps until one is found or nothing is left to ask, and the two neighbours once more."""
    search = Bisection(len(steps))
    answers: dict[int, StepAnswer] = {}
    while (number := search.next()) is not None:
        answers[number] = ask(steps[number], False)
        search.put(number, answers[number].side)
    suspects = search.suspects
    again = {}
    if len(suspects) == 1:
        again = {number: ask(steps[number], True) for number in (suspects[0] - 1, suspects[0])}
    return Bisected(tuple(steps), limit_ns, answers, again, suspects, proved)


def sampled(
    summaries: Iterable[CellSummary], points: Iterable[str], limit_ns: int, again: bool
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


def proved(asked: Callable[[int], Sequence[Proof]], limit_ns: int) -> StepAnswer:
    """By whether a release in the window can come near the limit, or is far beyond it. `asked`: a proof of each load
    for a deadline in ns. A change without a meaning moves these figures as it moves those of a seed."""
    least_ns, most_ns = (round(limit_ns * (1 + share)) for share in (-MARGIN, MARGIN))
    proofs = asked(least_ns)
    is_good = all(proof.ruling is ProofRuling.KEPT for proof in proofs)
    if not is_good and max(proof.found.latency_ns for proof in proofs) <= most_ns:
        proofs = asked(most_ns)
    figures = tuple(proof.found.latency_ns for proof in proofs)
    if is_good:
        return StepAnswer(StepSide.GOOD, figures)
    return StepAnswer(StepSide.BAD if max(figures) > most_ns else StepSide.SKIP, figures)
