"""What each knob is shown to buy, of made runs: nothing is named that changes nothing, and what helps is."""

import random
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.model.loaded import CellContent, RunContent
from howlate.model.plan import Cell, Plan
from howlate.model.study import Order, Part, Study
from howlate.sides.sides import fewest_pairs
from howlate.why.advise.advice import (
    NOT_WHOLE,
    NOTHING,
    RESULT,
    STANDINGS,
    TOGETHER_RESULT,
    UNMEASURED,
    Standing,
    advice_of,
    counted_statement,
)
from howlate.why.advise.chart import draw
from howlate.why.advise.flip import ADVISE, AGAIN, START, TOGETHER, Flip, is_advice
from howlate.words.say import english, text_of
from made_sides import Made, real_run, summary_of

KNOBS = ("thp=never", "rt_throttling=off", "timer_migration=off", "c_states=0")
NO_CHANGE = STANDINGS[Standing.NOTHING]
Latency = Callable[[str, str, int], float]
"""The p99 of a cell in microseconds, by its knobs, load and turn."""


def made(
    latency: Latency,
    knobs: Sequence[str] = KNOBS,
    pairs: int = 12,
    loads: Sequence[str] = ("none",),
    together: Sequence[str] = (),
    invalid: Sequence[tuple[str, int]] = (),
) -> RunContent:
    """A run of the study; the largest of a cell is twice its p99."""
    sides = {START: (), **{Flip.of(knob).part: (knob,) for knob in knobs}}
    if together:
        sides |= {AGAIN: (), TOGETHER: tuple(together)}
    study = Study(
        ADVISE,
        "t",
        "q",
        parts=tuple(Part(part, part, "cyclic") for part in sides),
        order=Order("random", 1, pairs),
    )
    cells, contents = [], []
    for turn in range(1, pairs + 1):
        for part, flipped in sides.items():
            for load in loads:
                cell = Cell(
                    f"{part}-{load}-{turn}", "cyclic", {"knob": flipped} if flipped else {},
                    {"part": part, "load": load}, turn, 1.0,
                )  # fmt: skip
                us = latency("+".join(flipped), load, turn)
                figures = Made(median=us / 2, maximum=us * 2, valid=(part, turn) not in invalid)
                cells.append(cell)
                contents.append(CellContent(summary_of(cell, figures, "6.1"), None))
    run = replace(real_run({}).run, study=study, plan=Plan(tuple(cells)))
    return RunContent(run, tuple(contents))


def noise(seed: int, spread: float = 0.3) -> Callable[[], float]:
    draws = random.Random(seed)
    return lambda: draws.lognormvariate(0, spread)


def standings(content: RunContent) -> dict[str, Standing]:
    return {knob.names[0]: knob.standing for knob in advice_of(content).knobs}


def test_the_knob_that_halves_the_latency_is_named_and_no_other() -> None:
    draw_one = noise(1)
    content = made(lambda knobs, _load, _turn: (50 if "rt_throttling" in knobs else 100) * draw_one())
    found = advice_of(content)
    assert standings(content) == {
        "rt_throttling=off": Standing.HELPS,
        **{knob: Standing.NOTHING for knob in KNOBS if knob != "rt_throttling=off"},
    }
    assert found.knobs[0].names == ("rt_throttling=off",)
    assert found.helping == (Flip("rt_throttling", "off"),)
    assert 0.4 < found.knobs[0].best < 0.65
    first, *_, last = found.statements()
    assert (first.rule, first.values["knobs"]) == (RESULT.id, ("rt_throttling=off",))
    change, *_ = first.values["changes"]
    assert change.values["figure"] == "p99" and change.values["ratio"] < 1
    assert (last.rule, len(last.values["knobs"])) == (NOTHING.id, len(KNOBS) - 1)


def test_among_ten_knobs_that_change_nothing_none_is_named_in_twenty_runs() -> None:
    ten = [f"knob{number}=on" for number in range(10)]
    for seed in range(20):
        draw_one = noise(seed, 0.5)
        found = advice_of(made(lambda _knobs, _load, _turn: 100 * draw_one(), ten))  # noqa: B023
        assert {knob.standing for knob in found.knobs} == {Standing.NOTHING}
        assert found.helping == ()


def test_a_drift_over_the_turns_is_no_difference() -> None:
    draw_one = noise(3, 0.1)
    found = advice_of(made(lambda _knobs, _load, turn: 100 * turn * draw_one()))
    assert found.helping == () and {knob.standing for knob in found.knobs} == {Standing.NOTHING}


def test_a_difference_within_the_margin_is_not_named() -> None:
    found = advice_of(made(lambda knobs, _load, turn: (95 if knobs else 100) + turn / 10))
    assert {knob.standing for knob in found.knobs} == {Standing.NOTHING}


def test_what_harms_is_ranked_last_and_not_recommended() -> None:
    draw_one = noise(4, 0.05)
    factors: Mapping[str, float] = {"thp=never": 2.0, "c_states=0": 0.5}
    content = made(lambda knobs, _load, _turn: 100 * factors.get(knobs, 1.0) * draw_one())
    found = advice_of(content)
    assert [knob.names[0] for knob in found.knobs][0::3] == ["c_states=0", "thp=never"]
    assert found.knobs[-1].standing is Standing.HARMS
    assert found.helping == (Flip("c_states", "0"),)


def test_one_load_helped_and_another_harmed_is_said_as_both() -> None:
    draw_one = noise(5, 0.05)

    def latency(knobs: str, load: str, _turn: int) -> float:
        factor = {"none": 0.5, "disk": 2.0}[load] if "thp" in knobs else 1.0
        return 100 * factor * draw_one()

    content = made(latency, loads=("none", "disk"))
    assert standings(content)["thp=never"] is Standing.BOTH
    assert advice_of(content).helping == ()


def test_of_two_values_of_a_knob_the_better_one_is_recommended() -> None:
    draw_one = noise(6, 0.05)
    factors = {"thp=never": 0.5, "thp=madvise": 0.7}
    found = advice_of(
        made(
            lambda knobs, _load, _turn: 100 * factors.get(knobs, 1.0) * draw_one(),
            ("thp=madvise", "thp=never"),
        )
    )
    assert found.helping == (Flip("thp", "never"),)


def test_the_combination_is_compared_with_the_start_that_was_measured_beside_it() -> None:
    """The machine became slower after the first stage: the old start would say that the combination harms."""
    draw_one = noise(7, 0.05)
    helping = ("thp=never", "c_states=0")

    def latency(knobs: str, _load: str, _turn: int) -> float:
        return 100 * 0.5 ** len([k for k in knobs.split("+") if k]) * draw_one()

    content = made(latency, helping, together=helping)
    found = advice_of(content)
    assert found.together is not None
    assert found.together.standing is Standing.HELPS and 0.2 < found.together.best < 0.3
    (together,) = (each for each in found.statements() if each.rule == TOGETHER_RESULT.id)
    assert together.values["knobs"] == helping and len(together.values["changes"]) == 2


def test_a_combination_that_shows_nothing_is_said_to() -> None:
    draw_one = noise(8, 0.05)
    content = made(lambda _knobs, _load, _turn: 100 * draw_one(), ("thp=never",), together=("thp=never",))
    assert TOGETHER_RESULT(knobs=("thp=never",), changes=(NO_CHANGE,)) in advice_of(content).statements()


def test_a_combination_that_was_not_measured_is_not_said_to_show_nothing() -> None:
    content = made(lambda _k, _l, turn: 100.0 + turn, ("thp=never",), together=("thp=never", "c_states=0"))
    kept = tuple(cell for cell in content.cells if not cell.summary.id.startswith(TOGETHER))
    few = tuple(cell for cell in content.cells if cell in kept or cell.summary.id.endswith(("-1", "-2")))
    for cells, is_whole in ((kept, False), (few, True)):
        kept_ids = {cell.summary.id for cell in cells}
        broke = {each.id: {"exit_code": 4} for each in content.run.plan.cells if each.id not in kept_ids}
        said = [*advice_of(replace(content, cells=cells, failed=broke)).statements()]
        assert not any(each.rule == TOGETHER_RESULT.id for each in said)
        (told,) = (each for each in said if each.values.get("knobs") == ("thp=never", "c_states=0"))
        assert told.rule == UNMEASURED.id and (told.values["why"] == NOT_WHOLE()) is not is_whole


def test_invalid_cells_leave_their_pairs_out() -> None:
    content = made(lambda _k, _l, turn: 100.0 + turn, invalid=[("thp-never", 1), (START, 2)])
    found = {knob.names[0]: knob for knob in advice_of(content).knobs}
    pairs = {name: knob.trials[0].decisions[0].interval for name, knob in found.items()}
    assert {name: interval.pairs for name, interval in pairs.items() if interval is not None} == {
        "thp=never": 10, "rt_throttling=off": 11, "timer_migration=off": 11, "c_states=0": 11,
    }  # fmt: skip


def test_too_few_pairs_are_unmeasured_and_not_silent() -> None:
    found = advice_of(made(lambda _k, _l, turn: 100.0 + turn, pairs=5))
    assert {knob.standing for knob in found.knobs} == {Standing.UNMEASURED}
    assert counted_statement(found) is None and draw(found) is None


def test_a_part_without_a_cell_says_why() -> None:
    content = made(lambda _k, _l, turn: 100.0 + turn)
    kept = tuple(cell for cell in content.cells if "thp" not in cell.summary.id)
    broke = [cell.id for cell in content.run.plan.cells if "thp" in cell.id]
    broke_with = "the kernel does not take this value."
    failed = {name: {"exit_code": 4, "message": broke_with} for name in broke}
    said = [*advice_of(replace(content, cells=kept, failed=failed)).statements()]
    (told,) = (each for each in said if each.rule == UNMEASURED.id)
    assert told.values["knobs"] == ("thp=never",) and english(told.values["why"]) == broke_with.rstrip(".")


@pytest.mark.parametrize(("comparisons", "pairs"), [(1, 6), (2, 7), (25, 10), (26, 11), (51, 11), (52, 12)])
def test_the_fewest_pairs_are_those_whose_smallest_p_holm_accepts(comparisons: int, pairs: int) -> None:
    assert fewest_pairs(comparisons) == pairs
    assert 2 / 2**pairs <= 0.05 / comparisons


@settings(max_examples=20, deadline=None)
@given(st.floats(0.05, 20), st.integers(0, 1000))
def test_the_unit_of_the_samples_changes_nothing(factor: float, seed: int) -> None:
    first, second = noise(seed, 0.2), noise(seed, 0.2)
    content = made(lambda _k, _l, _t: 1000 * first(), pairs=8)
    scaled = made(lambda _k, _l, _t: 1000 * factor * second(), pairs=8)
    assert standings(content) == standings(scaled)


def test_other_runs_have_no_advice() -> None:
    assert not is_advice(real_run({}).run)


def test_the_chart_has_a_panel_a_load_and_writes_what_is_shown() -> None:
    draw_one = noise(9, 0.05)
    content = made(lambda knobs, _l, _t: (50 if "thp" in knobs else 100) * draw_one(), loads=("none", "disk"))
    figure = draw(advice_of(content))
    assert figure is not None
    assert [text_of(panel.label) for panel in figure.panels] == ["without load", "under disk"]
    told = [text_of(note.text) for note in figure.panels[0].picture.notes if note.marker and note.text]
    assert len(told) == 2 and all(text.startswith("0.") for text in told)
    names = [text_of(note.text) for note in figure.panels[0].picture.notes if not note.marker]
    assert names[0] == "thp=never" and sorted(names) == sorted(KNOBS)
