"""`howlate advise`: what is refused before anything is measured, and what the plan says."""

import json
from pathlib import Path

import pytest

from cli.commands import Run, is_a_sentence


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--cell-duration", "soon"], "--cell-duration"),
        (["--cell-duration", "10ms"], "between 100ms and 1h"),
        (["--pairs", "5"], "6-1000"),
        (["--pairs", "100000"], "6-1000"),
        (["--quantile", "0.7"], "0.7"),
        (["--knobs", "thq"], "thq"),
        (["--knobs", "thp="], "thp="),
        (["--knobs", ""], "names no knob"),
        (["--load", "none", "--load", "none"], "twice"),
        (["--load", "foo"], "foo"),
        (["--kernels", "6.1,6.1-rt"], "one kernel"),
        (["--guest-cpus", "2"], "--kernels"),
        (["--set", "colour=red"], "colour"),
        (["--cell-duration", "200ms"], "200 samples"),
    ],
)
def test_wrong_words_are_a_sentence_with_a_remedy_and_code_2(
    howlate: Run, words: list[str], says: str
) -> None:
    knob = [] if "--knobs" in words else ["--knobs", "cpu_dma_latency"]
    done = howlate("advise", *knob, *words)
    assert done.code == 2, done
    assert says in done.err and is_a_sentence(done.err)
    assert done.out == "" and not Path("runs").exists()


def test_a_knob_that_this_machine_lacks_is_not_possible_and_says_why(howlate: Run) -> None:
    done = howlate("advise", "--knobs", "governor")
    assert done.code == 3
    assert "governor" in done.err and is_a_sentence(done.err)


def test_the_plan_has_every_side_in_every_turn(howlate: Run) -> None:
    done = howlate(
        "advise", "--knobs", "cpu_dma_latency", "--load", "none", "--pairs", "7", "--dry-run", "--json"
    )
    assert done.code == 0, done.err
    plan = json.loads(done.out)
    assert [part["id"] for part in plan["parts"]] == ["start", "cpu-dma-latency-0"]
    turns: dict[int, set[str]] = {}
    for cell in plan["cells"]:
        turns.setdefault(cell["repetition"], set()).add(cell["labels"]["part"])
    assert turns == {turn: {"start", "cpu-dma-latency-0"} for turn in range(1, 8)}
    assert not Path("runs").exists()


def test_a_whole_call_tells_the_table_and_leaves_an_ordinary_run(howlate: Run) -> None:
    words = [
        "--knobs",
        "cpu_dma_latency",
        "--load",
        "none",
        "--pairs",
        "7",
        "--no-wait",
        "--out",
        "r",
        "-o",
        "page.html",
    ]
    done = howlate("advise", *words)
    assert done.code == 0, done.err
    assert "cpu_dma_latency=0" in done.out and "nothing shown" in done.out
    assert done.out.splitlines()[-1] == "r"
    pages = Path("page.html").read_text(), (Path("r") / "report.html").read_text()
    assert all('id="advice"' in page for page in pages)
    assert "cpu_dma_latency=0" in howlate("show", "r").out
    assert json.loads(howlate("show", "r", "--json").out)["cells"]
    again = howlate("advise", *words[:-2], "--json")
    found = json.loads(again.out)
    assert found["knobs"][0]["standing"] == "nothing shown" and found["together"] is None
    assert {statement["rule"] for statement in found["statements"]} == {"advice.none-helps", "advice.nothing"}
