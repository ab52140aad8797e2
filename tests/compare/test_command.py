"""`howlate compare`: the misses of a deadline that is asked for."""

import json
from pathlib import Path

import pytest

from cli.commands import Run, is_a_sentence
from howlate.model.summary import MISSES
from howlate.sides.sides import COMPARED, fewest_pairs
from howlate.studies import find_study, studies
from verdict.test_command import SAMPLES, measured


@pytest.fixture
def runs(howlate: Run) -> list[Path]:
    """Two runs of one machine, one of them without a deadline of its own."""
    return [measured(Path("a"), "1ms", none=SAMPLES), measured(Path("b"), none=[n + 1000 for n in SAMPLES])]


def counts(howlate: Run, *argv: object) -> list[float | None]:
    """The misses of each row."""
    done = howlate("compare", *argv, "--json")
    assert done.code == 0
    (table,) = json.loads(done.out)["tables"]
    return [row[MISSES] and row[MISSES]["median"] for row in table["rows"]]


@pytest.mark.parametrize("deadline_ns", [5_000, 5_500, 1_000_000])
def test_the_misses_of_a_deadline_that_is_asked_for_are_counted_on_samples(
    howlate: Run, runs: list[Path], deadline_ns: int
) -> None:
    expected = [sum(n + more > deadline_ns for n in SAMPLES) for more in (0, 1000)]
    assert counts(howlate, *runs, "--deadline", f"{deadline_ns}ns") == expected


def test_without_a_question_the_stated_deadlines_count(howlate: Run, runs: list[Path]) -> None:
    assert counts(howlate, *runs) == [0, None]


def test_what_cannot_be_compared_has_a_ratio_all_the_same(howlate: Run, runs: list[Path]) -> None:
    (table,) = json.loads(howlate("compare", *runs, "--deadline", "5us", "--json").out)["tables"]
    told = {each["figure"]: each for each in table["differences"]}
    assert set(told) == set(COMPARED)
    assert {each["direction"] for each in told.values()} == {"unstated"}
    assert all(each["ratio"] > 0 and each["low"] is None for each in told.values())
    assert told[MISSES]["ratio"] < 1


@pytest.mark.parametrize("deadline", ["5", "0us", "soon"])
def test_a_deadline_that_is_none_is_a_sentence(howlate: Run, runs: list[Path], deadline: str) -> None:
    done = howlate("compare", *runs, "--deadline", deadline)
    assert done.code == 2 and is_a_sentence(done.err)


@pytest.mark.parametrize("name", studies())
def test_a_study_that_repeats_its_points_repeats_them_often_enough(name: str) -> None:
    repetitions = find_study(name).order.repetitions
    assert repetitions == 1 or repetitions >= fewest_pairs(len(COMPARED))
