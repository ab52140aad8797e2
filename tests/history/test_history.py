"""Runs over time: what is one configuration, what changed since when, and how often the bound held."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from howlate.history.courses import Course, Series, facts_changed
from howlate.history.document import to_json_value
from howlate.history.history import history, hit_rate
from howlate.history.known_runs import KnownCell, KnownColumn, KnownRun
from howlate.history.level_shifts import FEWEST, LEVEL, shifts
from howlate.history.screen import brief_of
from howlate.words.statement import Caption
from made_noise import found_in, history_of

FACTS = {"kernel.release": "6.1", "kernel.cmdline": "quiet isolcpus=1 mitigations=off", "cpu.model": "A CPU"}


def cell(largest: int, load: str = "none", **changes: Any) -> KnownCell:
    column = KnownColumn(changes.pop("count", 1000), {"max": largest, "0.999": largest - 1, "min": 1})
    labels = {"load": load, "kernel": "6.1"}
    whole = KnownCell(
        id=f"{load}-0123456789-1",
        test="cyclic",
        labels=labels,
        repetition=1,
        valid=True,
        stop_reason="activations",
        releases=1000,
        recorded=1000,
        overruns=0,
        dropped=0,
        columns={"latency_ns": column},
    )
    return replace(whole, **changes)


def run(number: int, *cells: KnownCell, facts: Mapping[str, Any] = FACTS, **changes: Any) -> KnownRun:
    name = f"run-{number:03}"
    whole = KnownRun(
        folder=f"runs/{name}",
        id=name,
        started=f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z",
        study="check",
        target="local",
        clock="real",
        scale=1.0,
        versions={"howlate": "0.1.0"},
        machines={"": dict(facts)},
        cells=cells,
    )
    return replace(whole, **changes)


def runs_of(maxima: Sequence[int]) -> list[KnownRun]:
    return [run(i, cell(largest)) for i, largest in enumerate(maxima)]


def course(runs: Sequence[KnownRun], statistic: str = "max") -> Course:
    return history(runs, [statistic]).courses[0]


def steady(runs: int, low: int = 100) -> list[int]:
    return [int(value) for value in np.random.default_rng(7).integers(low, low + 20, runs)]


def test_runs_of_one_configuration_are_one_series_whatever_their_kernel() -> None:
    later = replace(cell(7), labels={"load": "none", "kernel": "6.12"})
    made = history([run(0, cell(5), cell(6, "cpu:50")), run(1, later)])
    assert {series.name: len(series.runs) for series in made.series} == {"none": 2, "cpu:50": 1}


def test_kernels_side_by_side_are_configurations_of_their_own() -> None:
    both = (cell(5), replace(cell(7), id="b", labels={"load": "none", "kernel": "6.1-rt"}))
    machines = {"6.1": FACTS, "6.1-rt": FACTS}
    made = history([run(i, *both, machines=machines, several=True) for i in range(2)])
    assert [series.name for series in made.series] == ["6.1", "6.1-rt"]


def test_other_parameters_machines_and_clocks_are_other_series() -> None:
    made = history(
        [
            run(0, cell(5)),
            run(1, replace(cell(5), id="none-aaaaaaaaaa-1")),
            run(2, cell(5), facts={**FACTS, "cpu.model": "Another"}),
            run(3, cell(5), clock="virtual"),
        ]
    )
    assert [len(series.runs) for series in made.series] == [1, 1, 1, 1]


def test_repetitions_are_one_value_and_cells_that_are_not_valid_none() -> None:
    repeated = (cell(5), replace(cell(9), id="none-0123456789-2"), replace(cell(99), valid=False))
    series = history([run(0, *repeated), run(1, replace(cell(4), valid=False))]).series[0]
    assert [past.figures for past in series.runs] == [{"max": 9.0, "0.999": 6.0, "min": 1.0}]
    assert series.runs[0].count == 2000


def test_machine_and_labels_choose() -> None:
    known = [run(0, cell(5), cell(6, "cpu:50")), run(1, cell(7), facts={"cpu.model": "Left Board"})]
    assert [s.machine for s in history(known, machine="left").series] == ["Left Board, local"]
    assert [s.labels["load"] for s in history(known, labels={"load": "cpu:50"}).series] == ["cpu:50"]
    assert history(known, labels={"load": "gone"}).series == ()


def test_a_change_for_the_worse_names_the_run_and_what_changed_with_it() -> None:
    newer = {
        **FACTS,
        "kernel.release": "6.12",
        "kernel.cmdline": "quiet isolcpus=1 mitigations=auto",
        "kernel.boot": "x",
    }
    known = runs_of(steady(15)) + [
        run(15 + i, cell(largest), facts=newer, versions={"howlate": "0.2.0"})
        for i, largest in enumerate(steady(15, 300))
    ]
    made = history(known, ["max"])
    (worse, then), *rest = made.statements
    assert not rest
    assert (worse.rule, worse.values["changed"], worse.values["run"]) == (
        *("history.since", Caption("is worse")),
        "run-015",
    )
    assert worse.values["size"].values["ratio"] == pytest.approx(2.78, abs=0.005)
    assert then.values["run"] == "run-015"
    assert [tuple(fact.values.values()) for fact in then.values["facts"]] == [
        ("kernel.release", "6.1", "6.12"),
        ("kernel.cmdline", "mitigations=off", "mitigations=auto"),
        ("howlate", "0.1.0", "0.2.0"),
    ]
    back = history(known[15:] + _later(known[:15], 60), ["max"])
    assert [s[0].values["changed"] for s in back.statements] == [Caption("is better")]
    assert back.statements[0][0].values["run"] == "run-060" and not back.is_worse and made.is_worse


def _later(runs: Sequence[KnownRun], by: int) -> list[KnownRun]:
    return [run(by + i, *known.cells) for i, known in enumerate(runs)]


def test_a_fact_that_changed_a_few_runs_beside_is_named_as_such() -> None:
    known = [
        run(i, cell(largest), facts={**FACTS, "kernel.release": "6.12"} if i >= 13 else FACTS)
        for i, largest in enumerate(steady(15) + steady(15, 300))
    ]
    then = history(known, ["max"]).statements[0][1]
    assert then.rule == "history.changed-then" and then.values["run"] == "run-013"
    same = [replace(known_run, machines={"": dict(FACTS)}) for known_run in known]
    assert history(same, ["max"]).statements[0][1].rule == "history.nothing-changed"
    unknown = [replace(known_run, machines={"": {}}) for known_run in known]
    assert history(unknown, ["max"]).statements[0][1].rule == "history.facts-unknown"


def test_a_fact_that_one_run_does_not_have_is_no_change() -> None:
    made = history([run(0, cell(5)), run(1, cell(5), facts={"kernel.release": "6.1", "new.fact": 1})])
    series = {name: s for s in made.series for name in [s.machine]}
    first, second = (s.runs[0] for s in series.values())
    assert facts_changed(first, second) == ()


def test_without_a_change_that_is_said_and_of_few_runs_too() -> None:
    assert [s[0].rule for s in history(runs_of(steady(30))).statements] == ["history.no-change"]
    assert [s[0].rule for s in history(runs_of(steady(FEWEST - 1))).statements] == ["history.too-few"]
    assert history([]).courses == ()


def test_a_slow_rise_without_a_level_is_a_trend_or_a_change() -> None:
    made = course(runs_of([100 + 2 * i + i % 3 for i in range(32)]))
    assert made.trend is not None and made.trend.tau > 0.9
    assert made.changes or made.has_trend
    assert made.is_worse


def test_series_of_equal_runs_have_one_level_and_others_share_it() -> None:
    both = [run(i, cell(x), cell(x, "cpu:50")) for i, x in enumerate(steady(10))]
    made = history(both)
    assert made.tested == 2 and made.level == pytest.approx(0.05)
    longer = [run(i, cell(x), *([cell(x, "cpu:50")] if i else [])) for i, x in enumerate(steady(14))]
    made = history(longer)
    assert (made.tested, made.level) == (2, 0.05 / 2)


def test_histories_without_a_change_show_one_in_at_most_one_of_twenty() -> None:
    random = np.random.default_rng(20260102)
    wrong = 0
    for _ in range(60):
        values = random.lognormal(10, 0.5, (20, 3)).astype(int)
        known = [
            run(i, *(cell(int(x), f"cpu:{n}") for n, x in enumerate(row))) for i, row in enumerate(values)
        ]
        wrong += any(made.changes or made.has_trend for made in history(known).courses)
    assert wrong <= 9  # of 60 at 5 %: 0.999 quantile


NIGHTLY = (48, 68, 66, 54, 62, 56, 186, 182, 190, 191)
"""Maxima in us."""


@pytest.mark.parametrize("order", range(4))
def test_six_runs_and_four_that_are_later_by_far_are_told_by_size_and_date(order: int) -> None:
    """With what ten values can show: one order in 210 is as extreme."""
    random = np.random.default_rng(order)
    values = [*random.permutation(NIGHTLY[:6]), *random.permutation(NIGHTLY[6:])] if order else NIGHTLY
    made = history([run(i, cell(int(us) * 1000)) for i, us in enumerate(values)])
    for each in made.courses:
        (change,) = each.changes
        assert (change.at, change.before, change.after, change.is_worse) == (6, 6, 4, True)
        assert change.p == pytest.approx(1 / 210)
        assert [change.before_ns, change.after_ns] == pytest.approx([59_000, 188_000], abs=1)
        assert change.size.low < 188 / 59 < change.size.high and change.size.low > 2.6
    told = made.statements[0][0]
    assert (told.rule, told.values["run"], told.values["date"]) == (
        "history.since",
        "run-006",
        "2026-01-01",
    )
    assert told.values["p"] == pytest.approx(1 / 210) and made.is_worse


def test_a_statistic_that_did_not_change_is_not_called_with_one_that_did() -> None:
    random = np.random.default_rng(1)
    rows = np.array([NIGHTLY, random.integers(20, 25, 10)], float) * 1000
    changed, same = history_of(rows, ("max", "0.999"))
    assert [change.at for change in changed.changes] == [6] and same.changes == ()


@pytest.mark.parametrize("factor", [1.05, 1 / 1.05, 1.5, 1 / 1.5])
def test_below_the_margin_nothing_is_called_a_change(factor: float) -> None:
    """However clear it is; a margin of its own moves the line."""
    values = 1e5 * (1 + 0.001 * np.sin(np.arange(40)))
    values[20:] *= factor
    for margin in (0.01, 0.1, 0.8):
        (made,) = found_in(values[np.newaxis], ("max",), margin=margin).courses
        assert len(made.changes) == (max(factor, 1 / factor) > 1 + margin)
        if made.changes:
            (change,) = made.changes
            assert change.size.value == pytest.approx(factor, rel=0.01)
            assert (change.at, change.first, change.last) == (20, 20, 20)


CHECK = ("none", "cpu:100", "disk", "memory-alloc:100", "hackbench")


def test_six_runs_and_four_are_told_in_all_rows_of_a_check() -> None:
    """Rows that move together are one search: five times the orders of one would show nothing."""
    made = history([run(i, *(cell(us * 1000, load) for load in CHECK)) for i, us in enumerate(NIGHTLY)])
    assert made.tested == 5 and made.is_worse
    for each in made.courses:
        (change,) = each.changes
        assert change.at == 6 and change.p == pytest.approx(1 / 210)


def each_without_one(count: int) -> list[KnownRun]:
    """Each row of a check lacks a run of its own, so that none has the runs of another; after six of them all are
    later."""
    random = np.random.default_rng(6)
    values = [*random.integers(48, 69, 7), *random.integers(180, 192, count - 6)]
    return [
        run(i, *(cell(int(us) * 1000, load) for n, load in enumerate(CHECK) if n != i))
        for i, us in enumerate(values)
    ]


def test_what_so_few_runs_cannot_show_is_said_and_shown_once_they_are_enough() -> None:
    ten, later = (history(each_without_one(runs)) for runs in (10, 40))
    (told,) = ten.statements
    assert [each.rule for each in told] == ["history.cannot-yet"]
    needed = told[0].values["needed"]
    assert (told[0].values["runs"], told[0].values["series"], ten.tested) == (10, 5, 0)
    assert not ten.is_clear and history(each_without_one(needed)).tested == 5
    assert later.is_worse
    assert [[each.at for each in made.changes] for made in later.courses] == [[6]] * 10


@pytest.mark.parametrize(("before", "within"), [(6, 8), (8, 8), (10, 4)])
def test_an_early_shift_is_found_at_a_fifth_of_the_level_once_enough_runs_follow(
    before: int, within: int
) -> None:
    """After six runs four are too few; they were the only ones that were compared with fewer than eight before."""
    random = np.random.default_rng(before)
    values = random.normal(0, 0.13, (1, before + 24))
    values[0, before:] += np.log(3)
    (shift,) = shifts(values, LEVEL / 5, np.log(1.1))
    assert (shift.at, shift.seen_at) == (before, before + within)


@pytest.mark.parametrize("boots", [(30, 30), (12,) * 9, (6, 4)])
def test_too_few_boots_to_tell_a_change_from_a_reboot_are_told_with_both_levels(boots: Sequence[int]) -> None:
    """Nothing is searched then: of six runs and four, of five boots and four, of thirty runs before an update."""
    random, half = np.random.default_rng(1), (len(boots) + 1) // 2
    known: list[KnownRun] = []
    values: list[int] = []
    for boot, length in enumerate(boots):
        for _ in range(length):
            values.append(int(random.integers(48, 68) if boot < half else random.integers(900, 1100)) * 1000)
            facts = {**FACTS, "kernel.boot_id": str(boot), "kernel.release": "6.1" if boot < half else "6.12"}
            known.append(run(len(known), cell(values[-1]), facts=facts))
    made, before = history(known, ["max"]), sum(boots[:half])
    ((told,),) = made.statements
    assert told.rule == "history.few-boots"
    assert {name: told.values[name] for name in ("run", "before", "after", "boots")} == {
        "run": f"run-{before:03}", "before": before, "after": len(known) - before, "boots": len(boots),
    }  # fmt: skip
    assert told.values["before_ns"] == np.median(values[:before])
    assert told.values["after_ns"] == np.median(values[before:]) and len(boots) < told.values["needed"] <= 10
    assert (made.tested, made.is_worse, made.is_clear) == (0, False, False)
    (value,) = to_json_value(made)["series"][0]["courses"]
    assert value["tested"] is False
    assert value["few_boots"] == {
        "boots": len(boots), "needed": 10, "run": f"run-{before:03}", "started": known[before].started,
        "before_ns": told.values["before_ns"], "after_ns": told.values["after_ns"],
    }  # fmt: skip
    assert brief_of(made).startswith("INCONCLUSIVE ")


def test_boots_alike_are_too_few_as_well_and_a_step_inside_one_is_told() -> None:
    boots = [f"boot-{place // 20}" for place in range(60)]
    values = 1e5 * np.exp(np.random.default_rng(2).normal(0, 0.02, (1, 60)))
    same = found_in(values, ("max",), boots)
    assert [[each.rule for each in told] for told in same.statements] == [["history.few-boots-alike"]]
    assert (same.tested, same.is_worse) == (0, False)
    values[0, 54:] *= 2
    stepped = found_in(values, ("max",), boots)
    assert [change.at for change in stepped.courses[0].changes] == [54] and stepped.is_worse


def test_runs_of_one_boot_are_one_group() -> None:
    """Levels that move with the boots alone are no change; one inside a boot is."""
    random = np.random.default_rng(2)
    boots = [f"boot-{place // 10}" for place in range(60)]
    levels = np.repeat([1.0, 1.6, 0.9, 1.7, 1.1, 1.5], 10)
    values = 1e5 * levels * np.exp(random.normal(0, 0.02, 60))
    assert history_of(values[np.newaxis], ("max",))[0].changes
    assert not history_of(values[np.newaxis], ("max",), boots)[0].changes
    boots = [f"boot-{place // 20}" for place in range(60)]
    values = 1e5 * np.exp(np.repeat([0.0, 0.5, -0.3], 20) + random.normal(0, 0.02, 60))
    values[54:] *= 2
    (change,) = history_of(values[np.newaxis], ("max",), boots)[0].changes
    assert (change.at, change.is_worse) == (54, True)


def test_a_step_between_boots_is_found_where_boots_are_many() -> None:
    random = np.random.default_rng(3)
    boots = [f"boot-{place // 2}" for place in range(60)]
    values = 1e5 * np.exp(random.normal(0, 0.1, 60))
    values[40:] *= 2
    (change,) = history_of(values[np.newaxis], ("max",), boots)[0].changes
    assert (change.at, change.is_worse) == (40, True)


@pytest.mark.parametrize("values", [[0.0] * 30, [-5.0] * 15 + [-1.0] * 15, [0.0, 1000.0] * 15, [3000.0] * 40])
def test_values_that_have_no_logarithm_are_searched_all_the_same(values: list[float]) -> None:
    (made,) = history_of(np.array([values]), ("max",))
    assert [change.at for change in made.changes] == ([15] if min(values) < 0 else [])
    assert all(not change.size.is_ratio for change in made.changes)


def test_in_virtual_time_every_difference_is_a_change() -> None:
    known = [run(i, cell(largest), clock="virtual") for i, largest in enumerate([5, 5, 7])]
    made = course(known)
    assert [(change.at, change.before_ns, change.after_ns) for change in made.changes] == [(2, 5, 7)]
    assert made.trend is None


def series_of(maxima: Sequence[int]) -> Series:
    return history(runs_of(maxima)).series[0]


def test_the_bound_of_one_run_is_checked_on_the_next() -> None:
    rate = hit_rate(series_of([5, 5, 7, 6]))
    assert (rate.applied, rate.hits, rate.nominal) == (3, 2, 0.5)


def test_the_bound_at_a_confidence_takes_as_many_runs_as_it_needs() -> None:
    rate = hit_rate(series_of([50, *range(1, 20), 49, 51]), 0.95)
    assert (rate.applied, rate.hits) == (3, 1)
    assert rate.nominal == pytest.approx(0.95)
    shorter = [run(0, cell(9, count=19_000)), run(1, cell(9))]
    assert hit_rate(history(shorter).series[0], 0.95).applied == 1
    assert hit_rate(series_of([5]), 0.95) == hit_rate(series_of([5]))


def test_over_exchangeable_runs_the_bound_holds_as_often_as_it_says() -> None:
    random = np.random.default_rng(20260101)
    made = series_of([int(value) for value in random.lognormal(10, 1, 1500)])
    for confidence in (0.0, 0.95):
        rate = hit_rate(made, confidence)
        assert rate.nominal is not None
        assert rate.hits / rate.applied == pytest.approx(rate.nominal, abs=0.03)
