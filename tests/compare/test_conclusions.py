"""Statements from made figures: every rule can state the one, the other and neither."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict

from howlate.compare.compare import IN_BLOCKS, NOT_INTERLEAVED, compare, to_json
from howlate.compare.conclusions import (
    ALONE,
    LARGEST,
    NEXT,
    TYPICAL,
    conclusions,
    conclusions_json,
)
from howlate.compare.document import _ratio
from howlate.compare.relations import (
    ALIKE,
    AS_SEEN,
    MIXED,
    RATIO,
    RATIO_FROM,
    SMALLER,
    SMALLER_AT_FEW,
    SMALLER_SEEN,
)
from howlate.compare.screen import CompareRow
from howlate.compare.trends import AS_SEEN as RUN_TIME_AS_SEEN
from howlate.compare.trends import BELOW, FALLS, NEITHER, NEVER, RISES, TREND, UNCLEAR, boundary
from howlate.model.loaded import RunContent
from howlate.model.study import numbered
from howlate.model.summary import MISSES
from howlate.sides.sides import DIRECTIONS, NOT_ALIKE, Direction
from howlate.statistics.phrases import FIGURES
from howlate.words.say import english, from_json
from howlate.words.statement import Caption, Message, Statement
from made_sides import RT, Made, Points, at, lab_run, real_run

LOADS = ("none", "cpu:50", "memory-alloc:100")


def stated(*runs: RunContent, by: str = "kernel") -> list[Statement]:
    """All statements."""
    concluded = conclusions(compare(list(runs), by))
    return [statement for _, statements in concluded for statement in statements]


def of_rule(statements: Sequence[Statement], *rules: Message) -> list[Mapping[str, Any]]:
    """The values of the statements that these rules made."""
    ids = {made_by.id for made_by in rules}
    return [statement.values for statement in statements if statement.rule in ids]


def rules_of(statements: Sequence[Statement], family: str) -> list[str]:
    """The rules of a family, in the order of the statements: "against.smaller"."""
    return [s.rule for s in statements if s.rule.partition(".")[0] == family]


def of_figure(statements: Sequence[Statement], made_by: Message, figure: str) -> list[Mapping[str, Any]]:
    """Those about one of the compared figures."""
    return [values for values in of_rule(statements, made_by) if values["figure"] == FIGURES[figure]]


def alike(statements: Sequence[Statement], direction: Direction) -> list[Mapping[str, Any]]:
    """The values of what is said of points without a difference."""
    return [v for v in of_rule(statements, ALIKE) if v["outcome"] == Caption(DIRECTIONS[direction])]


def texts(places: tuple[Statement, ...]) -> list[str]:
    return [english(place) for place in places]


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
    first = stated(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT}))
    turned = stated(lab_run({"6.1": PREEMPT_RT, "6.1-rt": STANDARD}))
    for statements, ahead, behind in ((first, "6.1-rt", "6.1"), (turned, "6.1", "6.1-rt")):
        for figure in ("stddev", "max"):
            (values,) = of_figure(statements, SMALLER, figure)
            assert (values["a"], values["b"], values["smaller"], values["points"]) == (ahead, behind, 2, 3)
        equal = [values for values in alike(statements, "equal") if values["count"] < values["points"]]
        assert [texts(values["reason"]) for values in equal] == [["without load"]] * 2
        assert alike(statements, "indistinct") == []
    assert [s.rule for s in first if "6.1-rt" in s.values.values()][:3] == [
        s.rule for s in turned if "6.1-rt" in s.values.values()
    ][:3]


def test_what_rests_on_one_sample_a_cell_carries_the_caution() -> None:
    idle = [*seeds(22, count=6, rest=8.6), *seeds(22, count=2)]
    run = lab_run({"6.1": {at(load="none"): idle}, "6.1-rt": {at(load="none"): seeds(8)}})
    assert of_rule(stated(run), ALONE) == [
        {"side": "6.1", "count": 6, "cells": 8, "least_ns": 8_600, "most_ns": 8_600}
    ]
    assert of_rule(stated(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT})), ALONE) == []


def test_no_side_is_ahead_where_a_point_contradicts() -> None:
    """The contrary points are counted and named, not made an exception of a claim."""
    one, other = side(none=5, cpu50=100, memory=560), side(none=20, cpu50=9, memory=8)
    statements = stated(lab_run({"6.1": one, "6.1-rt": other}))
    assert of_rule(statements, SMALLER, SMALLER_AT_FEW) == []
    mixed = of_figure(statements, MIXED, "stddev")
    assert [(m["a"], m["b"], m["smaller"], m["larger"], m["points"]) for m in mixed] == [
        ("6.1", "6.1-rt", 1, 2, 3)
    ]
    assert texts(mixed[0]["smaller_at"]) == ["without load"]
    assert texts(mixed[0]["larger_at"]) == ["under cpu:50", "under memory-alloc:100"]


def test_no_study_speaks_of_runs_that_are_not_of_it() -> None:
    assert rules_of(stated(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT})), "over-all") == []


def test_a_side_that_is_ahead_at_few_points_is_ahead_there_alone() -> None:
    one, other = side(none=8, cpu50=9, memory=560), side(none=8, cpu50=9, memory=8)
    statements = stated(lab_run({"6.1": one, "6.1-rt": other}))
    (values,) = of_figure(statements, SMALLER_AT_FEW, "stddev")
    assert (values["a"], values["b"], values["smaller"], values["points"]) == ("6.1-rt", "6.1", 1, 3)
    assert of_rule(statements, SMALLER) == []
    (deviation,) = [v for v in alike(statements, "equal") if v["figure"] == FIGURES["stddev"]]
    assert texts(deviation["reason"]) == ["without load", "under cpu:50"]


def test_a_tie_is_neither() -> None:
    statements = stated(lab_run({"6.1": side(none=5, cpu50=100), "6.1-rt": side(none=20, cpu50=9)}))
    mixed = of_figure(statements, MIXED, "max")
    assert [(texts(m["smaller_at"]), texts(m["larger_at"])) for m in mixed] == [
        (["without load"], ["under cpu:50"])
    ]
    assert of_rule(statements, SMALLER, SMALLER_AT_FEW) == []


def scattered(factor: float) -> Points:
    """Repetitions too far apart for any statement."""
    factors = [factor ** (i - 3.5) for i in range(8)]
    return {at(load="none"): [Made(4 * each, 10 * each, each) for each in factors]}


def test_no_difference_is_not_called_equal() -> None:
    statements = stated(lab_run({"6.1": scattered(1.3), "6.1-rt": scattered(0.8)}))
    assert rules_of(statements, "against") == [ALIKE.id] * 3
    assert len(alike(statements, "indistinct")) == 3
    assert all(values["reason"].rule == RATIO.id for values in alike(statements, "indistinct"))


def test_equal_within_the_margin_is_a_conclusion_of_its_own() -> None:
    statements = stated(lab_run({"6.1": STANDARD, "6.1-rt": STANDARD}))
    assert rules_of(statements, "against") == [ALIKE.id] * 3
    assert [(values["count"], values["points"]) for values in alike(statements, "equal")] == [(3, 3)] * 3


def test_a_point_that_shows_equality_and_one_that_shows_nothing_are_told_apart() -> None:
    points = [{**scattered(factor), at(load="cpu:50"): seeds(9)} for factor in (1.3, 0.8)]
    statements = stated(lab_run({"6.1": points[0], "6.1-rt": points[1]}))
    assert [texts(values["reason"]) for values in alike(statements, "equal")] == [["under cpu:50"]] * 3
    assert [texts(values["reason"]) for values in alike(statements, "indistinct")] == [["without load"]] * 3


def test_typically_later_and_yet_steadier() -> None:
    """What setitimer shows on kernels whose timers expire in a thread."""
    late = {at(load="memory-alloc:100"): seeds(20, median=18, deviation=0.3)}
    early = {at(load="memory-alloc:100"): seeds(240, median=8, deviation=30)}
    statements = stated(lab_run({"6.1": early, "6.1-rt": late}))
    ahead = {
        figure: [v["a"] for v in of_figure(statements, SMALLER, figure)]
        for figure in ("0.5", "stddev", "max")
    }
    assert ahead == {"0.5": ["6.1"], "stddev": ["6.1-rt"], "max": ["6.1-rt"]}


def test_runs_that_are_not_interleaved_are_told_as_seen() -> None:
    statements = stated(real_run(STANDARD), real_run(PREEMPT_RT, RT, "run-b"))
    assert rules_of(statements, "against") == [AS_SEEN.id]
    (seen,) = of_rule(statements, AS_SEEN)
    median, maximum, _deviation = seen["figures"]
    counts = [
        (seen.values["smaller"], seen.values["larger"], seen.values["points"]) for seen in (median, maximum)
    ]
    assert median.rule == maximum.rule == SMALLER_SEEN.id and counts == [(0, 0, 3), (0, 3, 3)]
    assert seen["why"] == NOT_INTERLEAVED()
    (back,) = of_rule(stated(real_run(PREEMPT_RT), real_run(STANDARD, RT, "run-b")), AS_SEEN)
    assert (back["figures"][1].values["smaller"], back["figures"][1].values["larger"]) == (3, 0)


def test_interleaved_cells_of_one_run_are_pairs_in_real_time_too() -> None:
    timers = {at(timer="futex"): seeds(10, deviation=1), at(timer="timerfd"): seeds(50, deviation=9)}
    (steadier,) = of_figure(stated(real_run(timers), by="timer"), SMALLER, "stddev")
    assert (steadier["a"], steadier["b"]) == ("futex", "timerfd")
    run = real_run(timers)
    blocked = real_run(timers, study=type(run.run.study)("made", "Made", "?", "cyclic"))
    assert [seen["why"] for seen in of_rule(stated(blocked, by="timer"), AS_SEEN)] == [IN_BLOCKS()]
    assert of_rule(stated(blocked, by="timer"), SMALLER, SMALLER_AT_FEW) == []


def test_what_was_not_measured_alike_is_not_judged() -> None:
    rt = lab_run({"6.1-rt": PREEMPT_RT})
    short = lab_run({"6.1": STANDARD}, id="other")
    cells = [
        type(c)(**{**asdict(c), "parameters": {**c.parameters, "activations": "10"}})
        for c in short.run.plan.cells
    ]
    plan = type(short.run.plan)(tuple(cells))
    short = type(short)(type(short.run)(**{**asdict(short.run), "plan": plan}), short.cells)
    assert rules_of(stated(short, rt), "against") == [AS_SEEN.id]
    assert of_rule(stated(short, rt), AS_SEEN)[0]["why"] == NOT_ALIKE(settings=("activations",))


def test_two_lab_runs_are_paired_seed_by_seed() -> None:
    statements = stated(lab_run({"6.1": STANDARD}), lab_run({"6.1-rt": PREEMPT_RT}, id="other"))
    assert [values["a"] for values in of_figure(statements, SMALLER, "stddev")] == ["6.1-rt"]


def test_instructions_of_two_probes_are_not_laid_to_the_kernels() -> None:
    newer = {"howlate": "0.1", "probe": "0.2"}
    rt = lab_run({"6.1-rt": PREEMPT_RT}, id="other", versions=newer)
    statements = stated(lab_run({"6.1": STANDARD}), rt)
    assert rules_of(statements, "against") == [AS_SEEN.id]
    assert of_rule(statements, AS_SEEN)[0]["why"] == NOT_ALIKE(settings=("probe",))


def test_the_largest_is_told_with_its_place_and_its_spread() -> None:
    statements = stated(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT}))
    first, second = [s for s in statements if s.rule == LARGEST.id]
    assert english(first.values["largest"]) == "561 µs under memory-alloc:100"
    assert english(first.values["repetitions"]) == "8 seeds"
    assert (first.values["smallest_ns"], first.values["largest_ns"]) == (560_000, 560_700)
    assert english(second.values["largest"]) == "9.70 µs under cpu:50"
    assert of_rule(statements, NEXT) == [{"unit": Caption("seed"), "of": 9}]
    calm = stated(lab_run({"6.1": side(none=900, cpu50=9), "6.1-rt": PREEMPT_RT}))
    assert english(of_rule(calm, LARGEST)[0]["largest"]) == "901 µs without load"


def test_one_repetition_has_no_spread_and_promises_little() -> None:
    once = {at(load="none"): [Made()]}
    real = stated(real_run(once), real_run(once, RT, "run-b"))
    seed = stated(lab_run({"6.1": once, "6.1-rt": once}))
    for statements, unit in ((real, "repetition"), (seed, "seed")):
        assert rules_of(statements, "largest") == [LARGEST.id, LARGEST.id, NEXT.id]
        assert of_rule(statements, NEXT) == [{"unit": Caption(unit), "of": 2}]
        assert all(" to " not in english(s) for s in statements if s.rule == LARGEST.id)
    assert english(of_rule(seed, LARGEST)[0]["repetitions"]) == "1 seed"


def test_typical_is_the_highest_level_that_all_state() -> None:
    statements = stated(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT}))
    first, _ = of_rule(statements, TYPICAL)
    assert (english(first["side"]), first["share"]) == ("6.1 (median over seeds)", 0.99)
    assert texts(first["times"])[:2] == [
        f"8.07 µs (8.00 µs to 8.14 µs with 95 %) {where}" for where in ("without load", "under cpu:50")
    ]
    assert [time.values["time"].values["time_ns"] for time in first["times"]] == [8_070] * 3
    once = {at(load="none"): [Made()]}
    (typical, _) = of_rule(stated(real_run(once), real_run(once, RT, "b")), TYPICAL)
    assert (typical["share"], [time.values for time in typical["times"]]) == (0.99, [{"time_ns": 8_000}])


def test_typical_times_below_zero_stay_below_zero() -> None:
    early = {at(load="none"): [Made(median=-1.4, maximum=-1.1, minimum=-1.5)]}
    (typical, _) = of_rule(stated(real_run(early), real_run(early, RT, "b")), TYPICAL)
    assert [time.values for time in typical["times"]] == [{"time_ns": -2_800}]


def test_invalid_repetitions_count_for_nothing() -> None:
    bad = {at(load="none"): [*seeds(5, count=7), Made(maximum=9999, valid=False)]}
    statements = stated(lab_run({"6.1": bad, "6.1-rt": {at(load="none"): seeds(6)}}))
    assert english(of_rule(statements, LARGEST)[0]["repetitions"]) == "7 seeds"
    assert max(values["largest_ns"] for values in of_rule(statements, LARGEST)) < 10_000


def test_the_json_has_each_rule_with_its_values_and_its_text() -> None:
    concluded = conclusions(compare([lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT})]))
    entries = conclusions_json(concluded)
    assert {entry["about"] for entry in entries} == {"Wake-up latency"}
    assert {entry["rule"] for entry in entries} == {"typical", "largest", "against"}
    for entry, statement in zip(entries, [s for _, of_one in concluded for s in of_one], strict=True):
        read = from_json(json.loads(json.dumps(entry["statement"])))
        assert (read.rule, read.values.keys()) == (statement.rule, statement.values.keys())
        assert english(read) == english(statement)
        assert entry["text"] == entry["statement"]["text"] == english(statement)


def test_a_ratio_without_an_upper_end_is_told_and_stored_as_such() -> None:
    """Of misses, where one side has none."""
    cells = [{at(load="none"): [Made(misses=misses)] * 12} for misses in (30, 0)]
    found = compare([lab_run(dict(zip(("6.1", "6.1-rt"), cells, strict=True)))])
    concluded = conclusions(found)
    json.dumps([to_json(found), conclusions_json(concluded)], allow_nan=False)
    statements = [statement for _, of_one in concluded for statement in of_one]
    (ratio,) = [values["ratios"] for values in of_rule(statements, SMALLER)]
    assert ratio.rule in (RATIO.id, RATIO_FROM.id) and english(ratio)
    decided = [decision for pair in found.blocks[0].pairs for decision in pair.decisions][-1]
    told = _ratio(decided if decided.direction == "larger" else decided.turned())
    assert told.text.endswith(", ∞]")
    assert CompareRow("", "b", MISSES, (1, 30), decided).ratio


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
    statements = stated(
        real_run({**periods(p100us=334, p300us=0), **high}),
        real_run({**periods(p100us=0, p300us=93), **high}, RT, "run-b"),
    )
    overruns = [s for s in statements if s.rule.startswith("overruns.")]
    assert [s.rule for s in overruns] == [BELOW.id, NEVER.id, UNCLEAR.id, NEVER.id]
    first = "6.1.0 (preempt=none)"
    sides = [f"{first} (under cpu:50)", f"{first} (without load)"]
    assert [english(s.values["side"]) for s in overruns[:2]] == sides
    periods_ns = [(s.values.get("free_ns"), s.values.get("hit_ns")) for s in overruns[:3]]
    assert periods_ns == [(300_000, 100_000), (100_000, None), (100_000, 300_000)]


def test_one_period_has_no_boundary() -> None:
    statements = stated(real_run(periods(p100us=3)), real_run(periods(p100us=0), RT, "b"))
    assert rules_of(statements, "overruns") == []


# --- Loads with a number ------------------------------------------------------------------------------------


def groups(maxima: Sequence[float], run_ms: float = 100.0) -> Points:
    return {
        at(load=f"hackbench:{n}"): [Made(maximum=value, run_ms=run_ms * n)]
        for n, value in zip((1, 2, 4, 6, 10, 15), maxima, strict=True)
    }


def test_a_rise_a_fall_and_neither_are_told_apart() -> None:
    up, down, flat = (10, 20, 40, 80, 160, 320), (320, 160, 80, 40, 20, 10), (10, 11, 10, 11, 10, 11)
    rising = stated(real_run(groups(up)), real_run(groups(flat), RT, "b"))
    rise, flat_one = of_rule(rising, TREND)
    assert (rise["trend"], flat_one["trend"]) == (RISES, NEITHER)
    assert (rise["first"], rise["last"], rise["load"]) == (1, 15, "hackbench")
    assert (rise["first_ns"], rise["last_ns"], rise["tau"]) == (10_000, 320_000, pytest.approx(1))
    falling = stated(real_run(groups(down)), real_run(groups(flat), RT, "b"))
    assert [values["trend"] for values in of_rule(falling, TREND)] == [FALLS, NEITHER]


def test_equal_maxima_are_neither_a_rise_nor_a_fall() -> None:
    """Nor are two maxima at one number, in whichever order they come."""
    for flat in ((10,) * 6, (10, 10, 10, 10, 10, 20), (20, 10, 10, 10, 10, 10)):
        statements = stated(real_run(groups(flat)), real_run(groups(flat), RT, "b"))
        assert [values["trend"] for values in of_rule(statements, TREND)] == [NEITHER] * 2
    once = {at(load=f"hackbench:{n}"): [Made(maximum=10.0)] for n in (1, 2, 4, 6, 10)}
    again = {at(load=f"hackbench:{n}.0"): [Made(maximum=20.0)] for n in (1, 2, 4, 6, 10)}
    statements = stated(real_run({**once, **again}), real_run({**once, **again}, RT, "b"))
    neither = [(values["trend"], values["tau"], values["p"]) for values in of_rule(statements, TREND)]
    assert neither == [(NEITHER, 0, 1)] * 2


def test_a_loads_own_run_time_is_compared() -> None:
    statements = stated(real_run(groups([10] * 6)), real_run(groups([10] * 6, 150.0), RT, "b"))
    (run_time,) = of_rule(statements, RUN_TIME_AS_SEEN)
    assert (run_time["load"], run_time["why"]) == ("hackbench", NOT_INTERLEAVED())
    assert (run_time["a"], run_time["b"]) == ("6.1.0 (preempt=none)", "6.1.0-rt (rt)")
    assert english(run_time["ratio"]) == "0.667"


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
    text = " ".join(map(english, stated(lab_run({"6.1": STANDARD, "6.1-rt": PREEMPT_RT})))).lower()
    for phrase in ("worst", "guarantee", "bound", "at most", "never", "always"):
        assert phrase not in text
