"""`howlate plan`: how much to measure before one starts."""

import json
from pathlib import Path

import numpy as np
import pytest

from cli.commands import Run, is_a_sentence
from made_evidence import quiet
from verdict.test_command import measured


def test_what_is_needed_for_a_rate_a_horizon_and_a_difference(howlate: Run) -> None:
    shown = howlate("plan", "--miss-rate", "1e-7", "--horizon", "1h", "--ratio", "2", "--deadline", "200us")
    assert shown.code == 0
    text = " ".join(shown.out.split())
    assert "if none misses 30,286,179 activations 8 h 25 min" in text
    assert "measure 19 h" in text and "than 8 pairs" in text
    verdict = "Then: howlate verdict RUN --deadline 200us"
    assert shown.out.splitlines()[-2:] == [f"{verdict} --miss-rate 1e-07", f"{verdict} --horizon 1h"]


@pytest.mark.parametrize("width", [80, 60, 40])
def test_no_line_is_wider_than_the_screen(howlate: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = howlate("plan", "--miss-rate", "1e-4", "--horizon", "1h", "--ratio", "2", "--deadline", "200us")
    lines = [line for line in said.out.splitlines() if not line.startswith("Then: ")]
    assert len(lines) > 10 and max(map(len, lines)) <= width


def test_the_same_for_programs(howlate: Run) -> None:
    value = json.loads(
        howlate("plan", "--miss-rate", "1e-6", "--period", "250us", "--cluster", "2", "--json").out
    )
    assert value["rate"]["by_misses"][0]["seconds"] == pytest.approx(
        1.0245 * 2 * 2_995_733 * 250e-6, rel=1e-3
    )
    assert "pairs" not in value and "horizon" not in value


def test_the_power_of_each_figure_is_there_for_programs(howlate: Run) -> None:
    (without,), (with_,) = (
        [json.loads(howlate("plan", "--ratio", "2", "--json", *more).out)["pairs"]]
        for more in ((), ("--miss-rate", "1e-3", "--deadline", "1ms"))
    )
    assert (len(without["figures"]), without["fewest"]) == (4, 8)
    assert (len(with_["figures"]), with_["misses"]) == (5, {"expected": pytest.approx(12), "cluster": 1.0})
    assert all(set(power["found"]) == set(with_["figures"]) for power in with_["power"])
    assert [set(power["found"].values()) for power in without["power"] if power["pairs"] < 8] == [{0.0}]


def test_the_command_that_is_printed_asks_the_same(howlate: Run) -> None:
    """With the size of groups that was assumed, and the confidence."""
    shown = howlate("plan", "--miss-rate", "1e-3", "--cluster", "4", "--confidence", "0.9").out.splitlines()
    assert shown[-1].endswith("--confidence 0.9 --miss-rate 0.001 --cluster 4")
    assert len(shown) == len(howlate("plan", "--miss-rate", "1e-3").out.splitlines()) + 1


@pytest.mark.parametrize("deadline", ["200us", "100us"])
@pytest.mark.parametrize("missed", [0, 1])
def test_the_command_that_is_printed_can_pass(
    howlate: Run, deadline: str, missed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As often as it was planned with so many misses, on a run of that length."""
    monkeypatch.setenv("HOWLATE_COMMAND", "howlate")
    words = ("plan", "--miss-rate", "5e-4", "--true-rate", "5e-5", "--deadline", deadline)
    needed = json.loads(howlate(*words, "--json").out)["rate"]["by_misses"][0]
    shuffled = np.random.default_rng(1).permutation(quiet(needed["activations"]))
    samples = [int(value) for value in shuffled]
    samples[len(samples) // 2 : len(samples) // 2 + missed] = [500_000] * missed
    measured(Path("RUN"), none=samples)
    printed = howlate(*words).out.splitlines()[-1].removeprefix("Then: howlate ")
    assert needed["misses"] >= missed
    assert howlate(*printed.split()).code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "plan needs"),
        (["--miss-rate", "0"], "no number of activations"),
        (["--ratio", "1"], "not 1"),
        (["--ratio", "nan"], "above 0"),
        (["--ratio", "inf"], "above 0"),
        (["--horizon", "5"], "has no unit"),
        (["--miss-rate", "1e-6", "--true-rate", "1e-6"], "below --miss-rate"),
        (["--miss-rate", "1e-6", "--true-rate", "nan"], "below --miss-rate"),
        (["--ratio", "2", "--true-rate", "1e-7"], "below --miss-rate"),
        (["--miss-rate", "1e-6", "--true-rate", "9.99e-7"], "below --miss-rate"),
        (["--ratio", "2", "--cell-duration", "0"], "must be between"),
        (["--ratio", "2", "--cell-duration", "5x"], "not a unit"),
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
