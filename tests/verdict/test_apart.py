"""Rounds far apart: when they begin, what the run notes, and that each is a unit of the verdict."""

import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.commands import Run
from howlate.verdict import measured_rounds
from made_study import study_text

STUDY = study_text(period="1ms", activations=300, deadline="1ms")
ROUNDS = ("--rounds", "20", "--every", "5min", "--no-wait")


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were slept, which pass at once."""
    slept: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + sum(slept), sleep=slept.append)
    monkeypatch.setattr(measured_rounds, "time", clock)
    Path("mine.toml").write_text(STUDY)
    return slept


def test_twenty_rounds_bound_the_next(howlate: Run, waited: list[float]) -> None:
    """One begins five minutes after the other, 19 times; 20 / 21 is more than 95 %."""
    done = howlate("run", "mine.toml", *ROUNDS, "--out", "r")
    assert done.code == 0
    assert len(waited) == 19 and all(0 < seconds <= 300 for seconds in waited)
    assert 19 * 300 - 60 < sum(waited) <= 19 * 300
    run = json.loads(Path("r/run.json").read_text())
    (note,) = [told for told in run["statements"] if told["rule"] == "run.rounds-apart"]
    assert note["values"] == {"every_s": 300.0}
    (row,) = json.loads(howlate("verdict", "r", "--json").out)["rows"]
    assert (row["stretch"]["blocks"], row["stretch"]["confidence"]) == ("runs", 20 / 21)


@pytest.mark.parametrize(("every", "least_s"), [("5min", 19 * 300), ("1ms", 0)])
def test_the_plan_counts_the_time_between_rounds(howlate: Run, every: str, least_s: float) -> None:
    Path("mine.toml").write_text(STUDY)
    words = ("--rounds", "20", "--every", every, "--dry-run", "--json")
    value = json.loads(howlate("run", "mine.toml", *words).out)
    measured_s = sum(cell["expected_s"] for cell in value["cells"])
    assert value["left_s"] == pytest.approx(least_s + measured_s / 20 if least_s else measured_s)


def test_it_goes_on_where_it_ended(howlate: Run, waited: list[float]) -> None:
    """With the same folder: nothing is measured again, and further rounds follow."""
    few = ("--rounds", "2", "--every", "5min", "--no-wait", "--out", "r")
    howlate("run", "mine.toml", *few)
    kept = {path: path.stat().st_mtime_ns for path in Path("r").glob("cells/*/summary.json")}
    assert len(kept) == 2
    howlate("run", "mine.toml", "--rounds", "4", *few[2:])
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(list(Path("r").glob("cells/*/summary.json"))) == 4
    run = json.loads(Path("r/run.json").read_text())
    assert [told["rule"] for told in run["statements"]].count("run.rounds-apart") == 1


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (("--rounds", "3"), "belong together"),
        (("--every", "5min"), "belong together"),
        (("--rounds", "3", "--every", "0"), "must be above 0"),
        (
            ("--rounds", "3", "--every", "1s", "--until-decided", "--miss-rate", "0.1"),
            "without --until-decided",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(
    howlate: Run, waited: list[float], words: tuple[str, ...], rule: str
) -> None:
    done = howlate("run", "mine.toml", *words)
    assert done.code == 2 and rule in " ".join(done.err.split())
    assert not Path("runs").exists() and not waited
