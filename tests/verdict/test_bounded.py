"""One condition for every place that states the bound of the horizon: nothing forbids it, its confidence is the one
that is asked for, and every release was served."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from howlate.document.sheet import NOTHING
from howlate.verdict.document import sheet
from howlate.verdict.evidence import Evidence
from howlate.verdict.on_screen import promised
from howlate.verdict.promise_bounds import assumptions, horizon_line
from howlate.verdict.ruling import Question, Ruling, Verdict
from howlate.verdict.verdict import verdict
from howlate.verdict.verdict_json import verdict_json
from howlate.words.quantities import rate_bound
from howlate.words.say import Text
from howlate.words.statement import Caption
from made_evidence import made_evidence, quiet
from statement_parts import parts

DEADLINE_NS = 200_000


def with_single_misses(*late_ns: int) -> Evidence:
    """A repetition for each."""
    runs = [quiet(10_000, seed) for seed in range(len(late_ns))]
    for values, late in zip(runs, late_ns, strict=True):
        values[100::250] = late
    return made_evidence(DEADLINE_NS, *runs)


def with_one_unserved() -> Evidence:
    evidence = made_evidence(DEADLINE_NS, quiet())
    of_round = replace(evidence.deadline, unserved=1, clusters=1, squares=1, largest=1)
    return replace(evidence, deadline=of_round)


UNLIKE = with_single_misses(210_000, 400_000, 800_000, 1_600_000)
STATED = {
    "a quiet row": verdict(made_evidence(DEADLINE_NS, quiet()), Question(DEADLINE_NS)),
    "late, at a tolerated rate": verdict(
        with_single_misses(210_000, 210_000, 210_000, 210_000), Question(DEADLINE_NS, 9e-3)
    ),
    "nineteen seeds": verdict(
        made_evidence(DEADLINE_NS, *map(quiet, [500] * 19, range(19)), virtual=True, boots=19),
        Question(DEADLINE_NS),
    ),
}
WITHHELD = {
    "an hour after 100 s": verdict(
        made_evidence(DEADLINE_NS, quiet()), Question(DEADLINE_NS, horizon_s=3600)
    ),
    "four unlike repetitions": verdict(UNLIKE, Question(DEADLINE_NS, 9e-3)),
    "a release that was never served": verdict(with_one_unserved(), Question(DEADLINE_NS, 1e-2)),
    "never served, in virtual time": verdict(
        replace(with_one_unserved(), virtual=True, boots=1), Question(DEADLINE_NS, 1e-2)
    ),
    "eight seeds": verdict(
        made_evidence(DEADLINE_NS, *map(quiet, [500] * 8, range(8)), virtual=True, boots=8),
        Question(DEADLINE_NS),
    ),
}


def captions(told: Text) -> list[Caption]:
    """With those that they are made of."""
    if not isinstance(told, Caption):
        return []
    inner = list(told.values.values())
    listed = [each for value in inner for each in getattr(value, "texts", [value])]
    return [told, *(caption for each in listed for caption in captions(each))]


def on_first_screen(found: Verdict) -> Mapping[str, Any] | None:
    told = [each for text in promised([found]) for each in captions(text)]
    return next((each.values for each in told if {"max", "seconds"} <= set(each.values)), None)


def in_table(found: Verdict) -> str:
    (column,) = [column for column in sheet([found]).columns if column.key == "horizon"]
    return column.cells[0].text


@pytest.mark.parametrize("name", STATED)
def test_it_is_stated_in_every_place(name: str) -> None:
    found = STATED[name]
    assert in_table(found) != NOTHING
    assert found.evidence.virtual or on_first_screen(found)
    said = parts(*horizon_line(found))["verdict.nothing-later"]
    assert said["confidence"] == pytest.approx(0.95) and assumptions(found)
    assert verdict_json(found)["stretch"]["bound_ns"] == said["max_ns"] == found.evidence.max_ns


@pytest.mark.parametrize("name", WITHHELD)
def test_it_is_stated_nowhere_with_a_confidence_that_it_does_not_have(name: str) -> None:
    """A sentence, and JSON, state it with the confidence that it has."""
    found = WITHHELD[name]
    assert on_first_screen(found) is None
    assert in_table(found) == NOTHING
    said = parts(*horizon_line(found)).get("verdict.nothing-later")
    told = verdict_json(found)["stretch"]
    assert (told["bound_ns"] is None) == (said is None)
    if said is not None:
        assert said["confidence"] == told["confidence"] < 0.94
    if found.evidence.deadline.unserved:
        assert said is None
        assert "extrapolation.unserved" in {why["rule"] for why in told["forbidden_by"]}


def test_a_row_that_missed_names_the_largest_beside_its_horizon() -> None:
    """160 releases were late, so "none later" needs to say later than what."""
    found = STATED["late, at a tolerated rate"]
    assert found.outcome is Ruling.PASS and found.evidence.deadline.misses == 160
    assert (on_first_screen(found) or {})["max"] == "210 µs"
    of_two = [found, STATED["a quiet row"]]
    told = [each for text in promised(of_two) for each in captions(text)]
    assert [each.values["max"] for each in told if "max" in each.values] == ["210 µs"]


def test_events_an_hour_are_those_of_the_row_that_has_most() -> None:
    """Never a mean or a sum over unlike rows, in whichever order; and none where a row does not state it."""
    rows = [STATED["a quiet row"], STATED["late, at a tolerated rate"]]
    few, many = (row.rate.events_per_h for row in rows)
    assert few is not None and many is not None and many > 10 * few
    for of_rows in (rows, rows[::-1], [rows[0], rows[0], rows[1]]):
        assert events_an_hour(of_rows) == [rate_bound(many)]
    assert events_an_hour(rows[:1]) == [rate_bound(few)]
    unstated = replace(rows[1], rate=replace(rows[1].rate, events_per_h=None))
    assert events_an_hour([rows[0], unstated]) == []


def events_an_hour(rows: list[Verdict]) -> list[str]:
    told = [each for text in promised(rows) for each in captions(text)]
    return [str(each.values["count"]) for each in told if "count" in each.values]
