"""`howlate history`: in the terminal, as JSON and as a page."""

import json
from pathlib import Path

import pytest
from msgspec.structs import asdict

from cli.commands import Run, is_a_sentence
from store.runs import a_folder
from store.streams import stream

RUNS, BEFORE = 10, 6


@pytest.fixture
def runs(howlate: Run) -> Path:
    """Six runs, and four that are later than these by far."""
    for number in range(RUNS):
        latency = 50 + number + (1000 if number >= BEFORE else 0)
        folder = a_folder(Path("runs") / f"r{number}", {"none": stream([latency, 1])})
        run = folder.read_run()
        changed = {"id": f"r{number}", "started": f"2026-01-{number + 1:02}T00:00:00Z"}
        folder.write_run(type(run)(**{**asdict(run), **changed}))
    return Path("runs")


def test_the_terminal_says_since_when_it_is_worse_and_by_how_much(howlate: Run, runs: Path) -> None:
    answered = howlate("history", "--statistic", "max")
    assert answered.code == 0
    head, *_, last = answered.out.splitlines()
    assert head == "1 worse  none max: since 2026-01-07, run r6"
    assert "▁▁▁▁▁▁████ 52.5 ns 1.06 us 20 [19, 22] 2026-01-07 worse" in " ".join(answered.out.split())
    assert "0 of 9; expected: 50 %" in answered.out
    assert last == "all figures: --all; as a page: -o FILE"


def test_the_line_for_programs_is_of_the_newest_run(howlate: Run, runs: Path) -> None:
    """Asked for, and the last one where worse values fail."""
    line = "FAIL max=1.1us p99=- load=none runs/r9"
    assert howlate("history", "--brief").out == f"{line}\n"
    failed = howlate("history", "--fail-on", "worse", "--statistic", "max")
    assert failed.code == 1 and failed.out.splitlines()[-1] == line
    assert line not in howlate("history").out
    few = howlate("history", "runs/r0", "runs/r1", "--brief", "--fail-on", "worse")
    assert (few.code, few.out) == (0, "INCONCLUSIVE max=0.1us p99=- load=none runs/r1\n")


def test_json_has_every_value(howlate: Run, runs: Path) -> None:
    value = json.loads(howlate("history", "--statistic", "max", "--json").out)
    (series,) = value["series"]
    assert [run["figures"]["max"] for run in series["runs"]] == [
        50,
        51,
        52,
        53,
        54,
        55,
        1056,
        1057,
        1058,
        1059,
    ]
    (course,) = series["courses"]
    (change,) = course["changes"]
    assert (change["run"], change["started"], change["direction"]) == ("r6", "2026-01-07T00:00:00Z", "worse")
    assert (change["first_run"], change["last_run"], change["p"]) == ("r6", "r6", pytest.approx(1 / 210))
    assert change["low"] < change["ratio"] < change["high"] and (value["worse"], course["worse"]) == (
        True,
        True,
    )
    assert series["bound"]["one_run"] == {"applied": 9, "held": 0, "nominal": 0.5}
    assert value["statements"][0]["rule"] == "history.since"


def test_the_page_holds_the_chart_and_loads_nothing(howlate: Run, runs: Path) -> None:
    answered = howlate("history", "-o", "history.html")
    assert (answered.code, answered.out) == (0, "history.html\n")
    page = Path("history.html").read_text()
    assert 'data-chart="history"' in page and "since run r6" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_a_name_from_a_run_is_escaped(howlate: Run) -> None:
    a_folder(Path("runs") / "a", {"none": stream([1])}, {"none": {"load": "<b>&"}})
    howlate("history", "-o", "history.html")
    page = Path("history.html").read_text()
    assert "<b>&" not in page and "&lt;b&gt;&amp;" in page


@pytest.mark.parametrize(
    ("argv", "part"),
    [
        (["--statistic", "maximum"], "is not a statistic"),
        (["--label", "load"], "is not a label"),
        (["--label", "load=gone"], "no valid cell"),
        (["--machine", "gone"], "no valid cell"),
        (["--margin", "-0.1"], "--margin must be"),
        (["--margin", "nan"], "--margin must be"),
        (["--fail-on", "better"], "is not"),
        (["nowhere"], "there is no run"),
        (["runs", "nowhere"], "there is no run in nowhere"),
    ],
)
def test_what_is_wrong_is_a_sentence(howlate: Run, runs: Path, argv: list[str], part: str) -> None:
    answered = howlate("history", *argv)
    assert answered.code == 2
    assert is_a_sentence(answered.err) and part in answered.err


def test_a_damaged_run_is_named_and_the_others_count(howlate: Run, runs: Path) -> None:
    (runs / "r0" / "run.json").write_text("{}")
    answered = howlate("history", "--json")
    assert answered.code == 4 and "! runs/r0 is left out: " in answered.err
    assert len(json.loads(answered.out)["series"][0]["runs"]) == RUNS - 1
