"""A deadline that was asked for decides the exit code, by whichever command; what only shows a run judges nothing."""

from pathlib import Path

import pytest

from cli.commands import STUDY, Run
from store.streams import header, stream

LATE, KEPT = "1us", "1s"
"""Every latency of the stand-in is above the one; of none can be shown that it stays below the other for an hour."""


@pytest.fixture
def study(howlate: Run) -> str:
    Path("late.toml").write_text(STUDY.replace("[settings]", f'[settings]\ndeadline = "{LATE}"'))
    return "late.toml"


def test_a_studys_own_decides(howlate: Run, study: str) -> None:
    assert howlate("run", study, "--out", "r").code == 1
    again = howlate("run", study, "--out", "r")
    assert again.code == 1 and "nothing was measured" in again.err
    assert howlate("run", study, "--resume").code == 2
    assert howlate("verdict", "r").code == 1
    assert howlate("run", study, "--dry-run").code == 0
    assert howlate("run", study, "--emit-job", "job").code == 0


def test_one_that_is_set_decides(howlate: Run) -> None:
    assert howlate("run", "mine.toml", "--set", f"deadline={LATE}", "--out", "r").code == 1
    assert howlate("run", "mine.toml", "--set", f"deadline={LATE}", "--json").code == 1
    assert howlate("run", "mine.toml", "--out", "s").code == 0
    assert howlate("check", "--duration", "1s", "--deadline", LATE, "--no-wait").code == 1


def test_what_can_be_shown_passes(howlate: Run) -> None:
    Path("long.toml").write_text(STUDY.replace("activations = 100", "activations = 4000"))
    said = howlate("run", "long.toml", "--set", f"deadline={KEPT}", "--out", "r")
    assert said.code == howlate("verdict", "r").code


def test_an_imported_measurement_was_asked_too(howlate: Run) -> None:
    asked = {"parameters": header()["parameters"] | {"deadline": "3us"}}
    Path("late.stream").write_bytes(stream([1_000, 2_000, 9_000], header_changes=asked))
    Path("free.stream").write_bytes(stream([1_000, 2_000, 9_000]))
    assert howlate("import", "late.stream", "--out", "r").code == 1
    assert howlate("import", "free.stream", "--out", "s").code == 0


def test_what_failed_to_be_measured_comes_first(howlate: Run, study: str) -> None:
    assert howlate("run", study, "--out", "r", stand_in="broken").code == 4
    assert howlate("run", study, "--out", "s", "--set", "policy=fifo:80", stand_in="no-fifo").code == 3


@pytest.mark.parametrize(
    "words", [("show", "r"), ("report", "r"), ("compare", "r", "--by", "load"), ("why", "r")]
)
def test_what_only_shows_a_run_does_not_judge_it(howlate: Run, study: str, words: tuple[str, ...]) -> None:
    howlate("run", study, "--out", "r")
    assert howlate(*words).code == 0
