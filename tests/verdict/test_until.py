"""`--until-decided`: it ends when the verdict is decided, and does not begin what cannot be."""

import json
import shlex
from pathlib import Path

import pytest

from cli.commands import Run, is_a_sentence
from howlate.cli import _progress
from howlate.measure.execute import Tally
from howlate.measure.prepare import PlannedRun
from howlate.measure.session import Session
from made_study import study_text

STUDY = study_text(period="1ms", activations=300, deadline="1500ns")


@pytest.fixture
def study(howlate: Run) -> str:
    Path("mine.toml").write_text(STUDY)
    return "mine.toml"


@pytest.mark.parametrize("asked", [["--miss-rate", "1e-6"], ["--horizon", "1h"]])
def test_what_is_out_of_reach_is_not_begun(howlate: Run, study: str, asked: list[str]) -> None:
    """3.44e6 activations at 1 ms take 57 min, an hour takes 19."""
    done = howlate("run", study, *asked, "--until-decided", "--at-most", "10min")
    assert done.code == 5
    assert done.out.startswith("INCONCLUSIVE: this needs ") and done.out.endswith("Nothing was measured.\n")
    assert not Path("runs").exists()


@pytest.mark.parametrize("command", ["check", "run"])
def test_the_help_says_what_it_needs(howlate: Run, command: str) -> None:
    words = "".join(howlate(command, "--help").out.split())
    assert "decided;needs--miss-rate,--horizon,orboth." in words


@pytest.mark.parametrize(
    ("deadline", "code", "rounds"), [("1us", 1, range(1, 2)), ("1500ns", 5, range(2, 16))]
)
def test_it_ends_when_it_is_decided(
    howlate: Run, study: str, deadline: str, code: int, rounds: range
) -> None:
    """Every latency of the stand-in is above 1 us: the first round decides it. They rise to 1.3 us, so at 1.5 us
    no round does of those that there is time for: 15, fewer where other work takes the CPU."""
    until = ["--until-decided", "--horizon", "20ms", "--at-most", "20s"]
    done = howlate("run", study, *until, "--set", f"deadline={deadline}", "--out", "r")
    run = json.loads((Path("r") / "run.json").read_text())
    cells = [cell["id"] for cell in run["plan"]["cells"]]
    assert sorted(cells) == sorted(path.name for path in (Path("r") / "cells").iterdir())
    assert "run.until-decided" in [told["rule"] for told in run["statements"]]
    assert done.code == code and len(cells) in rounds


def rounds_of(folder: str) -> int:
    run = json.loads((Path(folder) / "run.json").read_text())
    assert [told["rule"] for told in run["statements"]].count("run.until-decided") == 1
    assert sorted(cell["id"] for cell in run["plan"]["cells"]) == sorted(
        path.name for path in (Path(folder) / "cells").iterdir()
    )
    return len(run["plan"]["cells"])


def test_the_same_folder_goes_on_with_further_rounds(howlate: Run, study: str) -> None:
    """What was measured counts; the further rounds are of the same points."""
    until = ["--until-decided", "--horizon", "60ms", "--out", "r"]
    assert howlate("run", study, *until, "--at-most", "2s").code == 5
    first = rounds_of("r")
    kept = {path: path.stat().st_mtime_ns for path in Path("r").glob("cells/*/summary.json")}
    assert howlate("run", study, *until, "--at-most", "2s").code == 5
    assert rounds_of("r") > first
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_what_is_decided_measures_no_further_round(howlate: Run, study: str) -> None:
    until = ["--until-decided", "--horizon", "20ms", "--at-most", "20s", "--out", "r"]
    for _ in range(2):
        assert howlate("run", study, *until, "--set", "deadline=1us").code == 1
        assert rounds_of("r") == 1


def test_a_run_that_was_measured_once_goes_on_until_it_is_decided(howlate: Run, study: str) -> None:
    """The bounds that hold at all looks hold at that first one too."""
    assert howlate("run", study, "--out", "r").code == 5
    assert (
        howlate("run", study, "--until-decided", "--horizon", "60ms", "--at-most", "2s", "--out", "r").code
        == 5
    )
    assert rounds_of("r") > 1


def test_a_folder_of_other_points_is_refused(howlate: Run, study: str) -> None:
    until = ["--until-decided", "--horizon", "20ms", "--at-most", "20s", "--out", "r"]
    howlate("run", study, *until, "--set", "deadline=1us")
    done = howlate("run", study, *until)
    assert done.code == 2 and "holds another plan" in done.err


def test_an_interrupt_says_how_to_go_on_until_it_is_decided(
    howlate: Run, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure, rounds = _progress.execute_cells, iter([True, False])

    def once(prepared: PlannedRun, session: Session) -> Tally:
        if next(rounds):
            return measure(prepared, session)
        raise KeyboardInterrupt

    until = ["--until-decided", "--horizon=60ms", "--at-most=10s"]
    monkeypatch.setattr(_progress, "execute_cells", once)
    done = howlate("run", study, *until, "--out", "r")
    assert done.code == 5 and "interrupted with 1 of " in done.err
    again = shlex.split(done.err.partition("To go on: howlate ")[2].splitlines()[0])
    assert set(until) <= set(again) and not any("order." in word for word in again)
    monkeypatch.setattr(_progress, "execute_cells", measure)
    assert howlate(*again, "--at-most=2s").code == 5
    assert rounds_of("r") > 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--at-most", "1min"], "--at-most is for --until-decided"),
        (["--miss-rate", "0.1"], "--miss-rate is for --until-decided"),
        (["--until-decided"], "needs --miss-rate or --horizon"),
        (["--until-decided", "--horizon", "1s", "--set", "deadline="], ""),
        (["--until-decided", "--miss-rate", "2"], "below 1"),
    ],
)
def test_a_wrong_question_is_a_sentence(howlate: Run, study: str, options: list[str], words: str) -> None:
    done = howlate("run", study, *options)
    assert done.code == 2 and words in done.err
    assert is_a_sentence(done.err)
