"""Connects the search for the step that first crosses a limit with the lab that measures steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from howlate.analysis.bisection import SEEDS, Bisection, Side, side_of
from howlate.analysis.evidence import answers_of
from howlate.analysis.proof import Proof, ProofRuling
from howlate.lab.steps import Step
from howlate.model.summary import CellSummary
from howlate.words.say import english, to_json
from howlate.words.statement import Statement, rule

NAMED = rule(
    "bisect.named",
    "{change} makes the difference: {good} keeps {limit_ns:asked}, {bad} does not, and {how} confirms both.",
)
OTHER_SEEDS = rule("bisect.other-seeds", "a second measurement, with 8 other seeds,")
OTHER_WINDOW = rule("bisect.other-window", "a second proof, of the window after the first,")
NOT_CONFIRMED = rule(
    "bisect.not-confirmed",
    "Nothing is named: {bad} seemed to be the first that does not keep {limit_ns:asked}, but {how} is not of that "
    "opinion ({good}: {good_again}; {bad}: {bad_again}).",
)
RANGE = rule(
    "bisect.range",
    "Nothing is named: it is one of {suspects:list}, and the others of them were skipped.",
)
ENDS = rule(
    "bisect.ends",
    "Nothing was searched: {first} is {first_is}, and {last} is {last_is}; one should be good and the other bad.",
)
GOOD = rule("bisect.good", "good")
BAD = rule("bisect.bad", "bad")
SKIPPED = rule("bisect.skipped", "skipped")
SIDES = {Side.GOOD: GOOD, Side.BAD: BAD, Side.SKIP: SKIPPED}


@dataclass(frozen=True)
class Asked:
    """One answer about a step."""

    side: Side
    largest_ns: tuple[int, ...] = ()
    """Of each seed, or of each load of a proof."""
    why: Statement | None = None
    """Why it was skipped, where it is not for its figures."""


Ask = Callable[[Step, bool], Asked]
"""Measures a step; once more and elsewhere (other seeds, another window) for True."""


class Found(Enum):
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
    answers: dict[int, Asked]
    again: dict[int, Asked]
    """The two neighbours, measured elsewhere."""
    suspects: range
    proved: bool

    @property
    def found(self) -> Found:
        if not self.suspects:
            return Found.ENDS
        if len(self.suspects) > 1:
            return Found.RANGE
        sides = [self.again[step].side for step in (self.suspects[0] - 1, self.suspects[0])]
        return Found.NAMED if sides == [Side.GOOD, Side.BAD] else Found.NOT_CONFIRMED

    def sentence(self) -> Statement:
        how = OTHER_WINDOW() if self.proved else OTHER_SEEDS()
        names = [step.name for step in self.steps]
        if self.found is Found.ENDS:
            first, last = self.answers[0], self.answers[len(names) - 1]
            sides = SIDES[first.side](), SIDES[last.side]()
            return ENDS(first=names[0], first_is=sides[0], last=names[-1], last_is=sides[1])
        bad = self.suspects[-1]
        good = self.suspects[0] - 1
        if self.found is Found.RANGE:
            return RANGE(suspects=tuple(names[step] for step in self.suspects))
        if self.found is Found.NAMED:
            change = self.steps[bad].change
            return NAMED(change=change, good=names[good], bad=names[bad], limit_ns=self.limit_ns, how=how)
        sides = SIDES[self.again[good].side](), SIDES[self.again[bad].side]()
        return NOT_CONFIRMED(
            good=names[good],
            bad=names[bad],
            limit_ns=self.limit_ns,
            how=how,
            good_again=sides[0],
            bad_again=sides[1],
        )

    def to_json(self) -> dict[str, Any]:
        """For `--json` (docs/lab/bisect.md)."""
        named = self.found is Found.NAMED
        return {
            "schema": 1,
            "found": self.found.value,
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


def _answer_json(prefix: str, asked: Asked | None) -> dict[str, Any]:
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
    answers: dict[int, Asked] = {}
    while (number := search.next()) is not None:
        answers[number] = ask(steps[number], False)
        search.put(number, answers[number].side)
    suspects = search.suspects
    again = {}
    if len(suspects) == 1:
        again = {number: ask(steps[number], True) for number in (suspects[0] - 1, suspects[0])}
    return Bisected(tuple(steps), limit_ns, answers, again, suspects, proved)


def sampled(summaries: Iterable[CellSummary], limit_ns: int, again: bool) -> Asked:
    """By the largest latency of each seed, over all points of the study; the seeds 9 to 16 for `again`. A seed of
    which a cell is not whole and valid is missing."""
    wanted = range(SEEDS + 1, 2 * SEEDS + 1) if again else range(1, SEEDS + 1)
    largest: dict[int, int] = {}
    invalid: set[int] = set()
    points: dict[str, set[int]] = {}
    for summary in summaries:
        seed, column = summary.repetition, answers_of(summary)
        points.setdefault(summary.point, set()).add(seed)
        if not summary.valid or column is None or column.max is None:
            invalid.add(seed)
        else:
            largest[seed] = max(largest.get(seed, 0), column.max)
    whole = set.intersection(*points.values()) - invalid if points else set()
    figures = tuple(largest[seed] for seed in wanted if seed in whole)
    return Asked(side_of(figures, limit_ns), figures)


def proved(proofs: Sequence[Proof]) -> Asked:
    """By whether a release in the window can miss the limit."""
    rulings = {proof.ruling for proof in proofs}
    figures = tuple(proof.found.latency_ns for proof in proofs)
    if ProofRuling.MISSED in rulings:
        return Asked(Side.BAD, figures)
    return Asked(Side.GOOD if rulings == {ProofRuling.KEPT} else Side.SKIP, figures)
