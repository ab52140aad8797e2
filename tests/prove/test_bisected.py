"""How a step is decided by what was measured, and what a search says in the end."""

import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from howlate.model.summary import CellSummary
from howlate.prove import bisected
from howlate.prove.bisected import (
    MARGIN,
    SEEDS,
    WINDOWS,
    Bisected,
    BisectionEnd,
    Step,
    StepAnswer,
    StepRequest,
    StepSide,
    bisect,
    sampled,
)
from howlate.prove.bisected import proved as by_proof
from howlate.prove.landscape import Goal, Probed, ReleaseWindow, Search
from howlate.prove.proof import Landscape, Proof
from howlate.replay.premises import Witness
from howlate.words.say import english
from made_prober import proved as made_proof
from made_sides import Made, planned, summary_of

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
def test_a_window_is_decided_by_proofs_away_from_the_limit(
    worst_ns: int, side: StepSide, deadlines_ns: list[int]
) -> None:
    """The first instant is the latest, and is probed first."""
    asked: list[tuple[int, int]] = []

    def proofs(window: int, goal: Goal) -> list[Proof]:
        asked.append((window, goal.deadline_ns))
        made = [lambda _: 4_000, lambda at_ns: 4_000 + max(0, worst_ns - 4_000 - at_ns)]
        return [made_proof(latency_ns, goal) for latency_ns in made]

    answer = by_proof(proofs, LIMIT_NS, StepRequest())
    windows = range(1 if side is SKIP else WINDOWS)
    assert answer.side is side
    assert asked == [(window, deadline_ns) for window in windows for deadline_ns in deadlines_ns]
    assert len(answer.largest_ns) == len(windows) and max(answer.largest_ns) <= worst_ns


def proof_at(found_ns: int, goal: Goal, withheld: bool = False) -> Proof:
    """Of a landscape whose latest release is found at once."""
    search = Search(ReleaseWindow(0, 1), goal, 0)
    search.add(Probed(0, found_ns))
    said = [Witness(found_ns, found_ns, (), ())] if withheld else []
    return Proof.of_search(Landscape("6.1", "made", 0), search, [], said)


def test_the_first_window_that_contradicts_another_skips_the_step_and_is_the_last() -> None:
    found_ns = [50_000, 60_000, 150_000, 50_000]
    asked: list[int] = []

    def proofs(window: int, goal: Goal) -> list[Proof]:
        asked.append(window)
        return [proof_at(found_ns[window], goal)]

    assert by_proof(proofs, LIMIT_NS, StepRequest()) == StepAnswer(SKIP, (50_000, 60_000, 150_000))
    assert asked == [0, 1, 2]


def test_a_proof_that_claims_nothing_decides_nothing_unless_it_found_a_release_beyond_the_limit() -> None:
    for found_ns, side in ((50_000, SKIP), (150_000, BAD)):

        def proofs(_: int, goal: Goal, found_ns: int = found_ns) -> list[Proof]:
            return [proof_at(found_ns, goal, withheld=True)]

        answer = by_proof(proofs, LIMIT_NS, StepRequest())
        assert answer.side is side
        assert bool(answer.why) == (side is SKIP)


def broken(proof: Proof) -> Proof:
    return replace(proof, beside=8, above=(Probed(1, 60_000), Probed(2, 70_000)))


def uncovered(proof: Proof) -> Proof:
    return replace(proof, window=ReleaseWindow(0, 100), open_ns=25)


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        (broken, "2 of 8"),
        (uncovered, "25 % of the instants"),
    ],
)
@pytest.mark.parametrize("at_both", [True, False])
def test_a_step_that_a_proof_could_not_decide_says_why(
    spoilt: Callable[[Proof], Proof], reason: str, at_both: bool
) -> None:
    """Whether or not the second proof, of the larger deadline, can answer."""

    def proofs(_: int, goal: Goal) -> list[Proof]:
        proof = proof_at(50_000, goal)
        return [proof, spoilt(proof) if at_both or goal.deadline_ns < LIMIT_NS else proof]

    answer = by_proof(proofs, LIMIT_NS, StepRequest())
    assert answer.side is SKIP and answer.why is not None
    assert reason in english(answer.why)


def test_a_step_that_is_too_near_to_the_limit_has_its_figure_for_a_reason() -> None:
    assert by_proof(lambda _, goal: [proof_at(95_000, goal)], LIMIT_NS, StepRequest()) == StepAnswer(
        SKIP, (95_000,)
    )


@pytest.mark.parametrize(
    ("worst_ns", "asked_for"),
    [
        (40_000, [Goal(deadline_ns=90_000), Goal(deadline_ns=50_000)]),
        (70_000, [Goal(deadline_ns=90_000), Goal(deadline_ns=50_000), Goal(within=0.1)]),
        (150_000, [Goal(deadline_ns=90_000), Goal(within=0.1)]),
        (250_000, [Goal(deadline_ns=90_000)]),
    ],
)
def test_of_an_end_a_window_is_searched_to_its_figure_where_that_is_not_far_from_the_limit(
    worst_ns: int, asked_for: list[Goal]
) -> None:
    asked: list[Goal] = []

    def proofs(window: int, goal: Goal) -> list[Proof]:
        asked.append(goal)
        return [made_proof(lambda at_ns: 4_000 + max(0, worst_ns - 4_000 - at_ns), goal)]

    figures = by_proof(proofs, LIMIT_NS, StepRequest(scatter=True)).largest_ns
    assert asked == asked_for * WINDOWS
    assert not LIMIT_NS // 2 < worst_ns < 2 * LIMIT_NS or set(figures) == {worst_ns}


def test_once_more_is_by_eight_other_windows() -> None:
    asked: set[int] = set()

    def proofs(window: int, goal: Goal) -> list[Proof]:
        asked.add(window)
        return [proof_at(50_000, goal)]

    assert by_proof(proofs, LIMIT_NS, StepRequest()) == StepAnswer(GOOD, (50_000,) * WINDOWS)
    assert by_proof(proofs, LIMIT_NS, StepRequest(again=True)) == StepAnswer(GOOD, (50_000,) * WINDOWS)
    assert asked == set(range(2 * WINDOWS))


Figure = Callable[[int, int], int]
"""The latest release of a step in a window."""


def searched(figure: Figure, count: int, limit_ns: int = LIMIT_NS) -> Bisected:
    """A list of builds, by proofs."""
    steps = [Step(str(number), f"change{number}") for number in range(count)]

    def ask(step: Step, how: StepRequest) -> StepAnswer:
        number = int(step.name)
        return by_proof(lambda window, goal: [proof_at(figure(number, window), goal)], limit_ns, how)

    return bisect(steps, limit_ns, ask, proved=True)


def scattered(draws: random.Random, middle_ns: int = LIMIT_NS) -> Figure:
    """Each window of each step is moved by up to 38 %: so much a parameter without a meaning moved one maximum."""
    kept: dict[tuple[int, int], int] = {}

    def figure(step: int, window: int) -> int:
        return kept.setdefault((step, window), round(middle_ns * draws.uniform(0.62, 1.38)))

    return figure


MADE = {seed: cell("none", seed, 5) for seed in range(1, 2 * SEEDS + 1)}


def late_by(largest_ns: int, made: CellSummary) -> CellSummary:
    return replace(
        made, columns={name: replace(column, max=largest_ns) for name, column in made.columns.items()}
    )


def by_seeds(figure: Figure, count: int, limit_ns: int = LIMIT_NS) -> Bisected:
    """The same by samples: a step's seeds have what its windows have by proofs."""
    steps = [Step(str(number), f"change{number}") for number in range(count)]

    def ask(step: Step, how: StepRequest) -> StepAnswer:
        measured = [late_by(figure(int(step.name), seed - 1), made) for seed, made in MADE.items()]
        return sampled(measured, {made.point for made in MADE.values()}, limit_ns, again=how.again)

    return bisect(steps, limit_ns, ask)


SEARCHES = pytest.mark.parametrize("search", [searched, by_seeds])
Decided = Callable[[Figure, int, int], Bisected]


def named_without_a_meaning(search: Decided) -> int:
    """Of 2,000 lists whose figures lie around the limit."""
    draws = random.Random(1)
    ends = [search(scattered(draws), draws.choice([2, 10]), LIMIT_NS).end for _ in range(2_000)]
    return ends.count(BisectionEnd.NAMED)


@SEARCHES
def test_a_change_without_a_meaning_is_never_named(search: Decided) -> None:
    assert named_without_a_meaning(search) == 0


@SEARCHES
def test_one_window_or_seed_a_step_would_name_some_of_them(
    search: Decided, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the test before can fail."""
    monkeypatch.setattr(bisected, "WINDOWS", 1)
    monkeypatch.setattr(bisected, "SEEDS", 1)
    monkeypatch.setattr(bisected, "SEEDS", 1)
    assert named_without_a_meaning(search) > 20


LISTS = pytest.mark.parametrize("lists", [100, pytest.param(2_000, marks=pytest.mark.sweep)])


@LISTS
@SEARCHES
def test_a_change_that_makes_all_later_builds_late_is_named_in_every_list(
    search: Decided, lists: int
) -> None:
    """By five times what the builds before it have, amid the same scatter."""
    draws = random.Random(2)
    for _ in range(lists):
        late_from, moved = draws.randrange(1, 10), scattered(draws)

        def figure(step: int, window: int, late_from: int = late_from, moved: Figure = moved) -> int:
            return moved(step, window) + (5 * LIMIT_NS if step >= late_from else 0)

        found = search(figure, 10, 3 * LIMIT_NS)
        assert (found.end, found.suspects[0]) == (BisectionEnd.NAMED, late_from)


@LISTS
def test_ends_that_are_far_from_the_limit_are_searched_however_far_their_windows_are_apart(
    lists: int,
) -> None:
    """Good ones of 5 to 50 % of the limit, and bad ones of 2 to 40 times it."""
    draws = random.Random(3)
    for _ in range(lists):
        late_from, kept = draws.randrange(1, 6), dict[tuple[int, int], float]()

        def figure(
            step: int,
            window: int,
            late_from: int = late_from,
            kept: dict[tuple[int, int], float] = kept,
        ) -> int:
            share = draws.uniform(2, 40) if step >= late_from else draws.uniform(0.05, 0.5)
            return round(LIMIT_NS * kept.setdefault((step, window), share))

        found = searched(figure, 6)
        assert (found.end, found.suspects[0]) == (BisectionEnd.NAMED, late_from)


def test_a_plain_culprit_is_named_though_its_windows_are_420_us_apart() -> None:
    found = searched(lambda step, window: 400_000 + 60_000 * (window % WINDOWS) if step else 10_000, 3)
    assert found.end is BisectionEnd.NAMED and found.to_json()["change"] == "change1"


@pytest.mark.parametrize("limit_ns", [1, 2, 7, LIMIT_NS])
def test_no_window_is_asked_for_a_deadline_of_0(limit_ns: int) -> None:
    """A goal without a deadline is another question."""
    goals: list[Goal] = []
    draws = random.Random(4)

    def ask(step: Step, how: StepRequest) -> StepAnswer:
        def proofs(_: int, goal: Goal) -> list[Proof]:
            goals.append(goal)
            return [proof_at(round(limit_ns * draws.choice([0, 0.5, 0.6, 0.8, 1.3, 1.5, 9])), goal)]

        return by_proof(proofs, limit_ns, how)

    for _ in range(200):
        bisect([Step("good", ""), Step("bad", "change")], limit_ns, ask, proved=True)
    assert all(goal.deadline_ns > 0 or goal.within > 0 for goal in goals)


def test_a_step_nearer_to_the_limit_than_the_ends_scatter_is_skipped_and_the_scatter_is_said() -> None:
    """The smallest figure of the bad end is 30 % below its largest: a step that is 25 % beyond the limit in all
    windows may be moved there by nothing, and one at 25 % below it too."""

    def figure(step: int, window: int) -> int:
        return [10_000 + 30_000 * (window % 2), 75_000, 125_000, 140_000 + 60_000 * (window % 2)][step]

    found = searched(figure, 4)
    assert found.margin == pytest.approx(0.3)
    assert [found.answers[number].side for number in range(4)] == [GOOD, SKIP, SKIP, BAD]
    assert found.end is BisectionEnd.RANGE and found.to_json()["margin"] == found.margin
    assert found.sentence().values["margin"] == found.margin


def test_an_end_within_the_scatter_is_none_and_what_helps_is_said() -> None:
    found = searched(lambda step, window: 120_000 + 40_000 * (window % 2) if step else 20_000, 2)
    assert found.end is BisectionEnd.ENDS and found.margin == 0.25
    assert [found.answers[end].side for end in range(2)] == [GOOD, SKIP]
    assert found.sentence().values["margin"] == found.margin


def test_the_scatter_is_not_said_where_it_did_not_matter() -> None:
    alike = searched(lambda step, window: 50_000 + 80_000 * (window % 2), 3)
    far_apart = searched(lambda step, window: 500_000 + 80_000 * (window % 2) if step else 10_000, 3)
    assert (alike.end, far_apart.end) == (BisectionEnd.ENDS, BisectionEnd.NAMED)
    for found in (alike, far_apart):
        assert found.margin == MARGIN and "margin" not in found.sentence().values


STEPS = [Step(f"build{number}", f"change{number}") for number in range(4)]


@pytest.mark.parametrize(
    ("sides", "again", "end", "sentence"),
    [
        (
            [GOOD, GOOD, BAD, BAD],
            [GOOD, BAD],
            BisectionEnd.NAMED,
            "change2 makes the difference",
        ),
        ([GOOD, GOOD, BAD, BAD], [GOOD, GOOD], BisectionEnd.NOT_CONFIRMED, "build1 is good and build2 good"),
        ([GOOD, GOOD, BAD, BAD], [SKIP, BAD], BisectionEnd.NOT_CONFIRMED, "build1 is skipped and build2 bad"),
        ([GOOD, SKIP, SKIP, BAD], [], BisectionEnd.RANGE, "build1, build2, build3"),
        ([GOOD, GOOD, GOOD, GOOD], [], BisectionEnd.ENDS, "build0 is good, and build3 is good"),
    ],
)
def test_what_is_said_follows_from_the_answers(
    sides: list[StepSide], again: list[StepSide], end: BisectionEnd, sentence: str
) -> None:
    second = dict(zip(("build1", "build2"), again, strict=False))

    def ask(step: Step, how: StepRequest) -> StepAnswer:
        return StepAnswer(second[step.name] if how.again else sides[STEPS.index(step)])

    found = bisect(STEPS, LIMIT_NS, ask)
    assert found.end is end and sentence in english(found.sentence())
    assert (found.to_json()["culprit"] == "build2") is (end is BisectionEnd.NAMED)
