"""Sentences from made figures: every rule can say the one, the other and neither."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.model.study import numbered
from howlate.report.boundaries import boundary
from howlate.report.compare import compare
from howlate.report.conclusions import conclusions
from howlate.report.content import RunContent
from howlate.report.relations import judge
from howlate.stats.sides import Direction
from made_sides import RT, Made, Points, at, lab_run, real_run

LOADS = ("none", "cpu:50", "memory-alloc:100")


def said(*runs: RunContent, by: str = "kernel", rule: str = "") -> str:
    """All sentences, one a line."""
    found = conclusions(compare(list(runs), by))
    return "\n".join(s.text for _, sentences in found for s in sentences if rule in ("", s.rule))


def seeds(
    maximum: float, median: float = 4.0, deviation: float = 1.0, count: int = 8, **more: float
) -> list[Made]:
    """Repetitions around these figures, a little apart from each other."""
    return [
        Made(median + i / 100, maximum + i / 10, deviation + i / 1000, **more)  # type: ignore[arg-type]
        for i in range(count)
    ]


def side(**maxima: float) -> Points:
    """By load, with points instead of dashes: none, cpu50, memory."""
    names = dict(zip(("none", "cpu50", "memory"), LOADS, strict=True))
    return {at(load=names[key]): seeds(value, deviation=value / 10) for key, value in maxima.items()}


STANDARD, PREEMPT_RT = side(none=8, cpu50=100, memory=560), side(none=7.9, cpu50=9, memory=8)


def test_the_steadier_side_is_named_whichever_it_is() -> None:
    first = said(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT}), rule="against")
    assert "6.1-rt is steadier than 6.1: its standard deviation is smaller at 2 of 3 points" in first
    assert "6.1-rt has a smaller maximum than 6.1 at 2 of 3 points" in first
    assert "not distinguishable: without load" in first
    turned = said(lab_run({"6.1": PREEMPT_RT, "6.1-rt": STANDARD}), rule="against")
    assert "6.1 is steadier than 6.1-rt: its standard deviation is smaller at 2 of 3 points" in turned
    alike = "not distinguishable in their median"
    told = [line for line in first.splitlines() if alike not in line]
    swapped = [t.replace("6.1-rt", "X").replace("6.1", "6.1-rt").replace("X", "6.1") for t in told]
    assert swapped == [line for line in turned.splitlines() if alike not in line]


def test_what_rests_on_one_sample_a_cell_carries_the_caution() -> None:
    idle = [*seeds(22, count=6, rest=8.6), *seeds(22, count=2)]
    found = lab_run({"6.1": {at(load="none"): idle}, "6.1-rt": {at(load="none"): seeds(8)}})
    assert said(found, rule="alone") == (
        "Caution, 6.1: in 6 of 8 cells one sample alone makes the maximum and the deviation; without it the maxima "
        "of these are 8.60 µs to 8.60 µs. What is said here of maxima and deviations rests on such samples."
    )
    assert said(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT}), rule="alone") == ""


def test_no_side_is_ahead_where_a_point_contradicts() -> None:
    """The contrary points are counted and named, not made an exception of a claim."""
    text = said(
        lab_run({"6.1": side(none=5, cpu50=100, memory=560), "6.1-rt": side(none=20, cpu50=9, memory=8)}),
        rule="against",
    )
    assert "is steadier" not in text and "has a smaller maximum" not in text
    assert (
        "Neither of 6.1 and 6.1-rt has the smaller standard deviation everywhere: 6.1's is smaller at 1 of 3 points "
        "(without load), 6.1-rt's at 2 (under cpu:50; under memory-alloc:100); not distinguishable at 0."
        in text
    )


OVER_ALL = [
    # Without load, under cpu:50, under memory-alloc:100: maxima, a tenth of which is the deviation.
    ((8, 100, 560), (8, 9, 8), "confirmed", "smaller at 2, larger at none, not distinguishable at 1"),
    ((5, 100, 560), (20, 9, 8), "confirmed", "smaller at 2, larger at 1 (without load), not distin"),
    ((20, 9, 8), (5, 100, 560), "contradicted", "smaller at 1 (without load), larger at 2, not distin"),
    ((8, 9, 8), (8, 100, 560), "contradicted", "smaller at none, larger at 2, not distinguishable at 1"),
    ((8, 9, 8), (8, 9, 8), "neither", "smaller at none, larger at none, not distinguishable at 3"),
    # At two points a little steadier, at one far less: the count and the mean do not agree.
    ((10, 10, 10), (8, 8, 1000), "neither", "smaller at 2, larger at 1, not distinguishable at none"),
    # As far ahead at one point as behind at another.
    ((10, 10, 100), (10, 100, 10), "neither", "smaller at 1, larger at 1, not distinguishable at 1"),
]


@pytest.mark.parametrize(("standard", "rt", "found", "counts"), OVER_ALL)
def test_what_studies_conclude_of_rt_is_confirmed_contradicted_or_neither(
    standard: tuple[float, ...], rt: tuple[float, ...], found: str, counts: str
) -> None:
    """Whichever side comes first."""
    points = [side(**dict(zip(("none", "cpu50", "memory"), its, strict=True))) for its in (standard, rt)]
    words = "neither confirmed nor contradicted" if found == "neither" else found
    for kernels in ({"6.1": points[0], "6.1-rt": points[1]}, {"6.1-rt": points[1], "6.1": points[0]}):
        text = said(lab_run(kernels), rule="over all")
        assert text.startswith(f"That RT is steadier over all is {words}: 6.1-rt's standard deviation is ")
        assert " times 6.1's in the mean over 3 points (95 % interval from " in text
        assert counts in text


def test_nothing_is_concluded_of_rt_where_it_is_not_or_no_pairs_are() -> None:
    assert said(lab_run({"6.1": STANDARD, "6.12": PREEMPT_RT}), rule="over all") == ""
    assert said(real_run(STANDARD), real_run(PREEMPT_RT, RT, "run-b"), rule="over all") == ""
    few = {at(load="none"): seeds(5, count=5)}
    assert said(lab_run({"6.1": few, "6.1-rt": few}), rule="over all") == ""


def test_a_side_that_is_ahead_at_few_points_is_ahead_there_alone() -> None:
    one, other = side(none=8, cpu50=9, memory=560), side(none=8, cpu50=9, memory=8)
    text = said(lab_run({"6.1": one, "6.1-rt": other}), rule="against")
    assert "Where they can be told apart, 6.1-rt is steadier than 6.1: its standard deviation" in text
    assert "is smaller at 1 of 3 points, larger at none" in text
    assert "not distinguishable: without load; under cpu:50" in text


def test_a_tie_is_neither() -> None:
    text = said(lab_run({"6.1": side(none=5, cpu50=100), "6.1-rt": side(none=20, cpu50=9)}), rule="against")
    assert (
        "Neither of 6.1 and 6.1-rt has the smaller maximum everywhere: 6.1's is smaller at 1 of 2 points "
        "(without load)" in text
    )
    assert "6.1-rt's at 1 (under cpu:50)" in text
    assert "steadier" not in text


def test_no_difference_is_not_called_equal() -> None:
    text = said(lab_run({"6.1": STANDARD, "6.1-rt": STANDARD}), rule="against")
    assert text.count("are not distinguishable") == 3
    assert text.count("That is not to say that they are equal.") == 3
    assert "steadier" not in text and "smaller at" not in text


def test_typically_later_and_yet_steadier() -> None:
    """What setitimer shows on kernels whose timers expire in a thread."""
    late = {at(load="memory-alloc:100"): seeds(20, median=18, deviation=0.3)}
    early = {at(load="memory-alloc:100"): seeds(240, median=8, deviation=30)}
    text = said(lab_run({"6.1": early, "6.1-rt": late}), rule="against")
    assert "6.1 is typically sooner than 6.1-rt" in text
    assert "6.1-rt is steadier than 6.1" in text
    assert "6.1-rt has a smaller maximum than 6.1" in text


def test_runs_that_are_not_interleaved_are_told_as_seen() -> None:
    text = said(real_run(STANDARD), real_run(PREEMPT_RT, RT, "run-b"), rule="against")
    assert "As seen, the median is the same at 3; " in text
    assert "the maximum is smaller on 6.1.0 (preempt=none) at 0, on 6.1.0-rt (rt) at 3 of 3" in text
    assert "not interleaved" in text and "is smaller than" not in text
    assert "steadier" not in text
    back = said(real_run(PREEMPT_RT), real_run(STANDARD, RT, "run-b"), rule="against")
    assert "the maximum is smaller on 6.1.0 (preempt=none) at 3, on 6.1.0-rt (rt) at 0 of 3" in back


def test_interleaved_cells_of_one_run_are_pairs_in_real_time_too() -> None:
    timers = {at(timer="futex"): seeds(10, deviation=1), at(timer="timerfd"): seeds(50, deviation=9)}
    assert "futex is steadier than timerfd" in said(real_run(timers), by="timer")
    run = real_run(timers)
    blocked = real_run(timers, study=type(run.run.study)("made", "Made", "?", "cyclic"))
    assert "measured in blocks" in said(blocked, by="timer") and "steadier" not in said(blocked, by="timer")


def test_what_was_not_measured_alike_is_not_judged() -> None:
    rt = lab_run({"6.1-rt": PREEMPT_RT})
    short = lab_run({"6.1": STANDARD}, id="other")
    cells = [
        type(c)(**{**vars(c), "parameters": {**c.parameters, "activations": "10"}})
        for c in short.run.plan.cells
    ]
    plan = type(short.run.plan)(tuple(cells))
    short = type(short)(type(short.run)(**{**vars(short.run), "plan": plan}), short.cells)
    text = said(short, rt, rule="against")
    assert "not measured alike (activations)" in text and "steadier" not in text


def test_two_lab_runs_are_paired_seed_by_seed() -> None:
    text = said(lab_run({"6.1": STANDARD}), lab_run({"6.1-rt": PREEMPT_RT}, id="other"), rule="against")
    assert "6.1-rt is steadier than 6.1" in text


def test_instructions_of_two_probes_are_not_laid_to_the_kernels() -> None:
    newer = {"howlate": "0.1", "probe": "0.2"}
    rt = lab_run({"6.1-rt": PREEMPT_RT}, id="other", versions=newer)
    text = said(lab_run({"6.1": STANDARD}), rt, rule="against")
    assert "not measured with the same probe" in text and "steadier" not in text


def test_the_largest_is_told_with_its_place_and_its_spread() -> None:
    text = said(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT}), rule="largest")
    assert (
        "6.1: the largest seen is 561 µs under memory-alloc:100; over its 8 seeds the maximum is 560 µs to 561 µs."
        in text
    )
    assert "6.1-rt: the largest seen is 9.70 µs under cpu:50" in text
    assert "one more seed shows none larger has a probability of 8 in 9" in text
    calm = said(lab_run({"6.1": side(none=900, cpu50=9), "6.1-rt": PREEMPT_RT}), rule="largest")
    assert "6.1: the largest seen is 901 µs without load" in calm


def test_one_repetition_has_no_spread_and_promises_little() -> None:
    once = {at(load="none"): [Made()]}
    text = said(real_run(once), real_run(once, RT, "run-b"), rule="largest")
    assert "one repetition, so without a spread" in text
    assert "as long again shows none larger has a probability of 1 in 2" in text


def test_one_seed_is_not_a_kernels_value() -> None:
    one = {at(load="none"): [Made()]}
    text = said(lab_run({"6.1": one, "6.1-rt": one}), rule="largest")
    assert "One seed is one case of phase and dither, not a kernel's value" in text


def test_typical_is_the_highest_level_that_all_state() -> None:
    text = said(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT}), rule="typical")
    assert (
        "6.1: in the median over its seeds 99 % of the wake-ups came within 8.07 µs without load, 8.07"
        in text
    )
    once = {at(load="none"): [Made()]}
    assert ": 99 % of the wake-ups came within 8.00 µs." in said(real_run(once), real_run(once, RT, "b"))


def test_invalid_repetitions_count_for_nothing() -> None:
    bad = {at(load="none"): [*seeds(5, count=7), Made(maximum=9999, valid=False)]}
    text = said(lab_run({"6.1": bad, "6.1-rt": {at(load="none"): seeds(6)}}))
    assert "9999" not in text and "10.0 ms" not in text
    assert "over its 7 seeds" in text


# --- Overruns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overruns", "kind", "free", "hit"),
    [
        ({100: 5, 300: 0, 1000: 0}, "below", 300, 100),
        ({100: 5, 300: 2, 1000: 0}, "below", 1000, 300),
        ({100: 0, 300: 0}, "never", 100, 0),
        ({100: 1, 300: 1}, "always", 0, 300),
        ({100: 0, 300: 93, 500: 0}, "unclear", 100, 300),
        ({100: 0, 1000: 54}, "unclear", 100, 1000),
    ],
)
def test_the_period_below_which_overruns_begin(
    overruns: dict[int, float], kind: str, free: int, hit: int
) -> None:
    found = boundary(overruns)
    assert (found.kind, found.free_ns, found.hit_ns) == (kind, free, hit)


@given(st.dictionaries(st.integers(1, 10**7), st.integers(0, 3), min_size=1))
def test_a_boundary_parts_the_periods(overruns: dict[int, float]) -> None:
    found = boundary(overruns)
    if found.kind == "below":
        assert all((count > 0) == (period < found.free_ns) for period, count in overruns.items())
    elif found.kind == "unclear":
        assert found.hit_ns > found.free_ns and overruns[found.hit_ns] > 0 and overruns[found.free_ns] == 0
    else:
        assert {count > 0 for count in overruns.values()} == {found.kind == "always"}


def periods(**overruns: int) -> dict[tuple[tuple[str, str], ...], Sequence[Made]]:
    return {at(load="cpu:50", period=p.removeprefix("p")): [Made(overruns=n)] for p, n in overruns.items()}


def test_overruns_are_told_by_side_and_load() -> None:
    high = {at(load="none", period="100us"): [Made()], at(load="none", period="300us"): [Made()]}
    text = said(
        real_run({**periods(p100us=334, p300us=0), **high}),
        real_run({**periods(p100us=0, p300us=93), **high}, RT, "run-b"),
        rule="overruns",
    )
    assert (
        "6.1.0 (preempt=none): overruns begin below a period of 300 µs (none from there on, some at 100 µs) "
        "(under cpu:50); "
        "no overrun at any period measured, down to 100 µs (without load)." in text
    )
    assert "6.1.0-rt (rt): overruns at 300 µs though none at 100 µs: no period below which they begin" in text


def test_one_period_has_no_boundary() -> None:
    assert said(real_run(periods(p100us=3)), real_run(periods(p100us=0), RT, "b"), rule="overruns") == ""


# --- Judging ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("directions", "judged"),
    [
        (["smaller"] * 3, "first"),
        (["smaller", "smaller", "larger"], "mixed"),
        (["larger", "larger", "smaller"], "mixed"),
        (["smaller"] * 99 + ["larger"], "mixed"),
        (["smaller", "smaller", "indistinct"], "first"),
        (["smaller", "larger"], "mixed"),
        (["smaller", "indistinct"], "first where told"),
        (["larger", "indistinct", "indistinct"], "second where told"),
        (["smaller", "larger", "indistinct"], "mixed"),
        (["smaller", "smaller", "larger", "indistinct", "indistinct"], "mixed"),
        (["indistinct"], "indistinct"),
        (["unstated", "unstated"], "unstated"),
        (["unstated", "smaller"], "first"),
        ([], "unstated"),
    ],
)
def test_one_side_is_ahead_where_it_is_at_more_than_half_and_nowhere_behind(
    directions: list[Direction], judged: str
) -> None:
    assert judge(directions) == judged


@given(st.lists(st.sampled_from(["smaller", "larger", "indistinct", "unstated"])))
def test_judging_is_fair_to_both(directions: list[Direction]) -> None:
    turn: dict[Direction, Direction] = {"smaller": "larger", "larger": "smaller"}
    one, other = judge(directions), judge([turn.get(d, d) for d in directions])
    swapped = {"first": "second", "second": "first"}
    assert other == " ".join(swapped.get(word, word) for word in one.split())
    told_apart = {"smaller", "larger"} & set(directions)
    assert (one == "mixed") == (len(told_apart) == 2)


# --- Loads with a number ------------------------------------------------------------------------------------


def groups(maxima: Sequence[float], run_ms: float = 100.0) -> Points:
    return {
        at(load=f"hackbench:{n}"): [Made(maximum=value, run_ms=run_ms * n)]
        for n, value in zip((1, 2, 4, 6, 10, 15), maxima, strict=True)
    }


def test_a_rise_a_fall_and_neither_are_told_apart() -> None:
    up, down, flat = (10, 20, 40, 80, 160, 320), (320, 160, 80, 40, 20, 10), (10, 11, 10, 11, 10, 11)
    text = said(real_run(groups(up)), real_run(groups(flat), RT, "b"), rule="trend")
    assert (
        "6.1.0 (preempt=none): the maximum rises from 1 to 15 of hackbench (10.0 µs to 320 µs, tau 1.00"
        in text
    )
    assert "6.1.0-rt (rt): no rise and no fall of the maximum is shown from 1 to 15 of hackbench" in text
    assert "the maximum falls" in said(real_run(groups(down)), real_run(groups(flat), RT, "b"), rule="trend")


def test_equal_maxima_are_neither_a_rise_nor_a_fall() -> None:
    """Nor are two maxima at one number, in whichever order they come."""
    for flat in ((10,) * 6, (10, 10, 10, 10, 10, 20), (20, 10, 10, 10, 10, 10)):
        assert "no rise and no fall of the maximum is shown" in said(
            real_run(groups(flat)), real_run(groups(flat), RT, "b"), rule="trend"
        )
    once = {at(load=f"hackbench:{n}"): [Made(maximum=10.0)] for n in (1, 2, 4, 6, 10)}
    again = {at(load=f"hackbench:{n}.0"): [Made(maximum=20.0)] for n in (1, 2, 4, 6, 10)}
    text = said(real_run({**once, **again}), real_run({**once, **again}, RT, "b"), rule="trend")
    assert "tau 0.00, p 1" in text


def test_a_loads_own_run_time_is_compared() -> None:
    text = said(real_run(groups([10] * 6)), real_run(groups([10] * 6, 150.0), RT, "b"), rule="run time")
    assert (
        "A run of hackbench takes 0.667 to 0.667 times as long on 6.1.0 (preempt=none) as on 6.1.0-rt (rt), as seen"
        in text
    )
    assert "not interleaved" in text


@pytest.mark.parametrize(
    ("load", "found"),
    [
        ("hackbench:10", ("hackbench", 10.0)),
        ("hackbench:4,pipe", ("hackbench,pipe", 4.0)),
        ("none", None),
        ("disk", None),
        ("cpu:50+disk", None),
        ("hackbench:4,pipe+disk", None),
    ],
)
def test_a_loads_number(load: str, found: tuple[str, float] | None) -> None:
    assert numbered(load) == found


def test_no_sentence_calls_anything_a_bound_or_a_worst_case() -> None:
    text = said(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT})).lower()
    for phrase in ("worst", "guarantee", "bound", "at most", "never", "always"):
        assert phrase not in text
