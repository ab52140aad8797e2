"""How a step is decided by what was measured, and what a search says in the end."""

from __future__ import annotations

import pytest

from howlate.analysis.bisected import BisectionEnd, StepAnswer, bisect, sampled
from howlate.analysis.bisected import proved as by_proof
from howlate.analysis.bisection import SEEDS, Step, StepSide
from howlate.analysis.landscape import Goal
from howlate.analysis.proof import Proof
from howlate.model.summary import CellSummary
from howlate.words.say import english
from made_sides import Made, planned, summary_of
from test_prove import proved as made_proof

LIMIT_NS = 100_000
LOADS = ("none", "cpu:50")
GOOD, BAD, SKIP = StepSide.GOOD, StepSide.BAD, StepSide.SKIP


def cell(load: str, seed: int, largest_us: float, valid: bool = True) -> CellSummary:
    made = Made(maximum=largest_us, valid=valid)
    return summary_of(planned({"load": load}, seed), made, "6.1")


def cells(largest_us: dict[str, float], seeds: range = range(1, SEEDS + 1)) -> list[CellSummary]:
    return [cell(load, seed, us) for load, us in largest_us.items() for seed in seeds]


POINTS = {planned({"load": load}).point for load in LOADS}


def test_a_step_is_decided_by_the_largest_latency_over_all_points() -> None:
    assert sampled(cells({"none": 5, "cpu:50": 50}), POINTS, LIMIT_NS, again=False).side is GOOD
    late = sampled(cells({"none": 5, "cpu:50": 500}), POINTS, LIMIT_NS, again=False)
    assert late == StepAnswer(BAD, (500_000,) * SEEDS)


def test_a_point_of_which_no_cell_is_whole_skips_the_step() -> None:
    """Each guest with that load died, so nothing of it is in the run folder."""
    assert sampled(cells({"none": 5}), POINTS, LIMIT_NS, again=False) == StepAnswer(SKIP)


def test_a_seed_with_a_cell_that_is_missing_or_invalid_skips_the_step() -> None:
    whole = cells({"none": 5, "cpu:50": 50})
    for fewer in (whole[1:], [*whole[1:], cell("none", 1, 5, valid=False)]):
        answer = sampled(fewer, POINTS, LIMIT_NS, again=False)
        assert (answer.side, len(answer.largest_ns)) == (SKIP, SEEDS - 1)


def test_once_more_is_by_the_other_seeds_alone() -> None:
    first = cells({"none": 5, "cpu:50": 500})
    others = cells({"none": 5, "cpu:50": 50}, range(SEEDS + 1, 2 * SEEDS + 1))
    assert sampled([*first, *others], POINTS, LIMIT_NS, again=True) == StepAnswer(GOOD, (50_000,) * SEEDS)
    assert sampled(first, POINTS, LIMIT_NS, again=True) == StepAnswer(SKIP)


@pytest.mark.parametrize(
    ("worst_ns", "side", "deadlines_ns"),
    [
        (80_000, GOOD, [90_000]),
        (95_000, SKIP, [90_000, 110_000]),
        (105_000, SKIP, [90_000, 110_000]),
        (150_000, BAD, [90_000]),
    ],
)
def test_a_step_is_decided_by_proofs_away_from_the_limit(
    worst_ns: int, side: StepSide, deadlines_ns: list[int]
) -> None:
    """The first instant is the latest, and is probed first."""
    asked: list[int] = []

    def proofs(deadline_ns: int) -> list[Proof]:
        asked.append(deadline_ns)
        made = [lambda _: 4_000, lambda at_ns: 4_000 + max(0, worst_ns - 4_000 - at_ns)]
        return [made_proof(latency_ns, Goal(deadline_ns=deadline_ns)) for latency_ns in made]

    answer = by_proof(proofs, LIMIT_NS)
    assert (answer.side, asked) == (side, deadlines_ns)
    assert max(answer.largest_ns) <= worst_ns


STEPS = [Step(f"build{number}", f"change{number}") for number in range(4)]


@pytest.mark.parametrize(
    ("sides", "again", "end", "sentence"),
    [
        (
            [GOOD, GOOD, BAD, BAD],
            [GOOD, BAD],
            BisectionEnd.NAMED,
            "change2 makes the difference: build1 keeps",
        ),
        ([GOOD, GOOD, BAD, BAD], [GOOD, GOOD], BisectionEnd.NOT_CONFIRMED, "build1 is good and build2 good"),
        ([GOOD, GOOD, BAD, BAD], [SKIP, BAD], BisectionEnd.NOT_CONFIRMED, "build1 is skipped and build2 bad"),
        ([GOOD, SKIP, SKIP, BAD], [], BisectionEnd.RANGE, "one of build1, build2, build3"),
        ([GOOD, GOOD, GOOD, GOOD], [], BisectionEnd.ENDS, "build0 is good, and build3 is good"),
    ],
)
def test_what_is_said_follows_from_the_answers(
    sides: list[StepSide], again: list[StepSide], end: BisectionEnd, sentence: str
) -> None:
    second = dict(zip(("build1", "build2"), again, strict=False))

    def ask(step: Step, once_more: bool) -> StepAnswer:
        return StepAnswer(second[step.name] if once_more else sides[STEPS.index(step)])

    found = bisect(STEPS, LIMIT_NS, ask)
    assert found.end is end and sentence in english(found.sentence())
    assert (found.to_json()["culprit"] == "build2") is (end is BisectionEnd.NAMED)
