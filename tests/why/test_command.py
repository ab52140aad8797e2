"""`howlate why`: what it prints, its JSON, its page, and what it refuses."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from cli.commands import Run, is_a_sentence
from howlate.model.cause import Cause
from howlate.why.cause_words import REMEDIES
from howlate.why.late_counters import COUNTERS, UNRECORDED
from howlate.words.say import from_json, text_of
from made_trace import LOAD, late_samples
from printed import plain
from store.runs import a_folder
from store.streams import stream, traced_stream

TRACE = late_samples(12)
WORST = "Where the time went"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    streams = {"cpu-traced": traced_stream(TRACE), "none-plain": stream([10, 20])}
    return a_folder(tmp_path / "run", streams).path


def test_causes_come_first_then_the_worst_and_then_what_counters_tell(howlate: Run, run: Path) -> None:
    done = howlate("why", run, "--all", "--worst", "2")
    assert done.code == 0
    texts = "Causes of the late samples", "What to do", WORST, plain(COUNTERS())
    shown = " ".join(done.out.split())
    places = [shown.index(text) for text in texts]
    assert places == sorted(places) and shown.count(WORST) == 2
    assert 'IRQ interference: "acpi"' in shown and plain(REMEDIES[Cause.IRQ]()) in shown


def test_json_has_every_part_and_the_parts_add_up(howlate: Run, run: Path) -> None:
    told = json.loads(howlate("why", run, "--json").out)
    assert told["schema"] == 2
    (cell,) = told["cells"]
    assert cell["id"] == "cpu-traced" and len(cell["cases"]) == len(TRACE.cases)
    assert all(sum(part["ns"] for part in case["parts"]) == case["latency_ns"] for case in cell["cases"])
    whole = sum(cause["total_ns"] for cause in told["causes"])
    assert whole == sum(case["latency_ns"] for case in cell["cases"])
    assert [counted["id"] for counted in told["counters"]] == ["none-plain"]
    irq = next(cause for cause in told["causes"] if cause["cause"] == "irq")
    assert irq["name"] == "acpi" and irq["knobs"] == ["irq_affinity"]


def test_a_cell_is_named_by_a_part_of_its_id(howlate: Run, run: Path) -> None:
    assert json.loads(howlate("why", run, "plain", "--json").out)["cells"] == []
    done = howlate("why", run, "plan")
    assert done.code == 2 and '"plan"' in done.err and is_a_sentence(done.err)
    for worst in ("-1", "1000000"):
        assert howlate("why", run, f"--worst={worst}").code == 2
    assert howlate("why", "nowhere").code == 2


def test_the_page_has_a_bar_for_each_sample(howlate: Run, run: Path, tmp_path: Path) -> None:
    assert howlate("why", run, "-o", tmp_path / "page.html").code == 0
    page = (tmp_path / "page.html").read_text()
    assert page.count('id="case-') == page.count('href="#case-') == len(TRACE.cases)
    assert page.count('id="at-') == page.count('href="#at-') == len(TRACE.cases)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (("export", "--format", "perfetto"), "run.json"),
        (("export", "--format", "csv"), "cells/cpu-traced/samples.parquet"),
        (("why",), "run.json"),
        (("report",), "cells/cpu-traced/cell.json"),
    ],
)
def test_no_output_takes_the_place_of_a_file_of_the_run(
    howlate: Run, run: Path, command: tuple[str, ...], file: str
) -> None:
    before = (run / file).read_bytes()
    done = howlate(command[0], run, *command[1:], "-o", run / file)
    assert done.code == 2 and "would be lost" in done.err and "-o" in done.err and is_a_sentence(done.err)
    assert (run / file).read_bytes() == before


def test_a_page_in_the_run_folder_may_be_written_again(howlate: Run, run: Path) -> None:
    assert [howlate("why", run, "-o", run / "why.html").code for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("place", ["nowhere/x.html", "run"])
def test_a_place_where_no_page_can_be_is_told_with_its_option(howlate: Run, run: Path, place: str) -> None:
    done = howlate("why", run, "-o", run.parent / place)
    assert done.code == 4 and "-o" in done.err and "--out" not in done.err and is_a_sentence(done.err)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--pairs", "0"), "6-1000"),
        (("--pairs", "100000"), "6-1000"),
        (("--cell-duration", "0"), "between"),
        (("--cell-duration", "soon"), "not a time"),
    ],
)
def test_what_cannot_be_tried_is_refused_before_the_run_is_told(
    howlate: Run, run: Path, words: tuple[str, ...], says: str
) -> None:
    done = howlate("why", run, "--try", *words)
    assert (done.code, done.out) == (2, "") and says in done.err and is_a_sentence(done.err)


def test_why_of_a_run_without_events_says_that_counters_tell_less(howlate: Run) -> None:
    assert howlate("run", "mine.toml", "--out", "r").code == 0
    done = howlate("why", "r")
    assert done.code == 0 and text_of(UNRECORDED) in " ".join(done.out.split())


@pytest.mark.parametrize("words", [("why",), ("why", "--json"), ("show",), ("report", "-o", "page.html")])
def test_a_tasks_name_cannot_write_to_the_terminal_or_the_page(
    howlate: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    evil = replace(TRACE.names, tasks={**TRACE.names.tasks, LOAD.pid: "e\x1b[2J\nvil<b>"})
    run = a_folder(tmp_path / "run", {"cpu-traced": traced_stream(replace(TRACE, names=evil))}).path
    done = howlate(words[0], run, *words[1:])
    assert done.code == 0, done.err
    page = Path("page.html").read_text() if "report" in words else ""
    assert "\x1b" not in done.out + page and "e\\x1b" not in page.replace("e\\x1b[2J\\nvil", "")
    assert "vil<b>" not in page
    if words[0] == "why":
        assert "x1b[2J" in done.out and "nvil<b>" in done.out


def test_a_cell_without_a_late_sample_says_so_with_the_reason(howlate: Run, tmp_path: Path) -> None:
    empty = replace(TRACE, cases=(), events=())
    streams = {"cpu-calm": traced_stream(empty), "none-traced": traced_stream(TRACE)}
    run = a_folder(tmp_path / "run", streams).path
    done = howlate("why", run, "calm")
    assert done.code == 0, done.err
    told = json.loads(howlate("why", run, "calm", "--json").out)
    no_cases = from_json(told["cells"][0]["no_cases"])
    assert (no_cases.values["samples"], no_cases.values["settings"]) == (3, "explain-worst=20")
    assert told["cells"][0]["cases"] == []
    for shown in (done, howlate("why", run)):
        assert plain(no_cases).partition(": ")[2] in " ".join(shown.out.split())
    export = howlate("export", run, "--format", "perfetto", "--cell", "cpu-calm")
    assert export.code == 2 and "has a late sample" in export.err and is_a_sentence(export.err)
    assert list(Path().glob("*.json")) == []
    assert howlate("export", run, "--format", "perfetto").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--from", "events", "--stacks", "s"),
        ("--try", "--from", "replay"),
        ("--try", "--speedscope", "s"),
        ("--own-kernel", "mine=mine.toml"),
        ("--module", "."),
        ("--mirror", "http://localhost"),
        ("--against", "6.1"),
    ],
)
def test_options_of_replays_are_refused_where_nothing_is_played_again(
    howlate: Run, run: Path, words: tuple[str, ...]
) -> None:
    done = howlate("why", run, *words)
    assert (done.code, done.out) == (2, "") and is_a_sentence(done.err)
