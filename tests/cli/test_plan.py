"""`howlate plan`: how much to measure before one starts."""

from __future__ import annotations

import json

import pytest

from .commands import Run, is_a_sentence


def test_what_is_needed_for_a_rate_a_horizon_and_a_difference(howlate: Run) -> None:
    shown = howlate("plan", "--miss-rate", "1e-7", "--horizon", "1h", "--ratio", "2", "--deadline", "200us")
    assert shown.code == 0
    assert "no miss 29,957,323 activations 8 h 19 min" in " ".join(shown.out.split())
    assert "For a bound on the next 60 min with 95 % confidence: measure 19 h" in shown.out
    assert "12 pairs find it in" in shown.out
    assert shown.out.endswith("Then: howlate verdict RUN --deadline 200us --miss-rate 1e-07\n")


def test_the_same_for_programs(howlate: Run) -> None:
    value = json.loads(
        howlate("plan", "--miss-rate", "1e-6", "--period", "250us", "--cluster", "2", "--json").out
    )
    assert value["rate"]["by_misses"][0]["seconds"] == pytest.approx(2 * 2_995_733 * 250e-6, rel=1e-5)
    assert "pairs" not in value and "horizon" not in value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "nothing is asked"),
        (["--miss-rate", "0"], "no number of activations"),
        (["--ratio", "1"], "not 1"),
        (["--ratio", "nan"], "above 0"),
        (["--ratio", "inf"], "above 0"),
        (["--horizon", "5"], "has no unit"),
        (["--horizon", "0"], "above 0"),
        (["--miss-rate", "1e-6", "--cluster", "0.5"], "at least 1"),
        (["--miss-rate", "1e-6", "--cluster", "inf"], "at least 1"),
        (["--miss-rate", "1e-6", "--cluster", "nan"], "at least 1"),
    ],
)
def test_a_question_that_cannot_be_answered_is_a_sentence(
    howlate: Run, options: list[str], words: str
) -> None:
    done = howlate("plan", *options)
    assert done.code == 2 and words in done.err
    assert is_a_sentence(done.err)
