"""The screen of a verdict: the answer first, and each row on one line of 80 columns."""

import re
import shlex
from pathlib import Path

import pytest
from rich.cells import cell_len

import made_inventory
from howlate.cli.check import command as check
from howlate.document.first_screen.again import again
from howlate.document.first_screen.answer import ScreenAnswer
from howlate.document.first_screen.brief import brief_of
from howlate.document.first_screen.lines import LINES
from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.store.loaded import load_run
from howlate.verdict.cli.verdict import question_from
from howlate.verdict.in_report import rows
from howlate.verdict.of_run import on_deadline, verdicts_of
from howlate.verdict.on_screen import ROUNDS
from howlate.verdict.screen import screen
from howlate.words.language import speak

DEADLINE_NS = 20_000


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReportInput]:
    """The runs of the inventory, held against a deadline that some rows keep."""
    place = tmp_path_factory.mktemp("inventory") / "runs"
    made_inventory.make_runs(place)
    return {name: material_of(place / name) for name in made_inventory.RUNS}


def material_of(run: Path, deadline_ns: int = DEADLINE_NS) -> ReportInput:
    content = on_deadline(run, load_run(run, bins=False, kernels=False), deadline_ns)
    question = question_from(f"{deadline_ns}ns", 0.0, None, 0.95)
    found = verdicts_of(run, content, question)
    return ReportInput([content], TERMINAL, folder=f"runs/{run.name}").made_before(rows, found)


def shown(material: ReportInput, width: int = 80) -> list[str]:
    lines = screen(material, (), "verdict --all --deadline 20us", width)
    return ["".join(text for text, _ in line) for line in lines]


@pytest.mark.parametrize("language", ["en", "de", "ja"])
@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("name", made_inventory.RUNS)
def test_it_is_one_screen_with_the_answer_first(
    judged: dict[str, ReportInput], name: str, width: int, language: str
) -> None:
    material = judged[name]
    try:
        speak(language)
        lines = shown(material, width)
        outcome = ScreenAnswer.of(material).outcome
    finally:
        speak("en")
    assert len(lines) <= LINES
    assert lines[0].startswith(outcome)
    assert lines[-1].endswith(f"howlate verdict --all --deadline 20us runs/{name}")
    assert all(
        cell_len(line) <= width
        for line in lines
        if f"runs/{name}" not in line and "howlate check" not in line
    )


def test_the_command_that_measures_rows_again_is_one(judged: dict[str, ReportInput]) -> None:
    """With the deadline, the loads of the rows, and the rounds that may decide it."""
    made = set()
    for name, material in judged.items():
        answer = ScreenAnswer.of(material)
        every = [row.group.point for row in answer.rows.judged]
        for points in ([], every[-1:], every):
            if not (told := again(material, points, *ROUNDS)):
                continue
            context = check.make_context("check", shlex.split(told)[2:])
            wanted = [row for row in answer.rows.rows if row.group.point in points] or answer.rows.rows[:1]
            asked = {row.labels["load"] for row in wanted if "load" in row.labels}
            assert {*context.params["loads"]} == asked, name
            made.add((context.params["deadline"], context.params["rounds"]))
    assert made == {("20us", 20)}


@pytest.mark.parametrize("name", made_inventory.RUNS)
def test_each_row_has_its_largest_value_and_its_misses_on_one_line(
    judged: dict[str, ReportInput], name: str
) -> None:
    """As they are judged, the worst first."""
    answer = ScreenAnswer.of(judged[name])
    lines = [line for line in shown(judged[name]) if re.match("[F?P]!? ", line)]
    assert [line.split()[0] for line in lines] == [row.letter for row in answer.rows.rows if row.outcome]
    for line, row in zip(lines, answer.rows.judged, strict=True):
        words = line.split()
        assert row.counts is not None
        if row.name:
            assert words[1][:3] == row.name[:3]
        assert f"{row.counts.misses:,}" in words
    verdicts = {cell: each.verdict for each in judged[name].once(rows) for cell in each.cells}
    for row in answer.rows.judged:
        assert row.outcome == verdicts[row.group.cells[0].id].outcome


def test_where_a_row_fails_the_next_command_explains_it(judged: dict[str, ReportInput]) -> None:
    """Where its events were recorded, or the lab can play it again."""
    told = {name for name in judged if f"why late: howlate why runs/{name}" in shown(judged[name])}
    assert told == {"traced", "lab"}
    assert {ScreenAnswer.of(judged[name]).outcome for name in told} == {"FAIL"}
    assert ScreenAnswer.of(judged["failed"]).outcome == "FAIL"


@pytest.mark.parametrize("name", made_inventory.RUNS)
def test_the_line_for_programs_is_of_its_first_row(judged: dict[str, ReportInput], name: str) -> None:
    first = ScreenAnswer.of(judged[name]).rows.rows[0]
    outcome, largest, *_ = brief_of(judged[name]).split()
    assert outcome == ScreenAnswer.of(judged[name]).outcome
    assert largest == f"max={(first.max_ns or 0) / 1000:.1f}us"


def test_a_count_of_an_imported_file_that_may_be_larger_says_at_least(tmp_path: Path) -> None:
    """Some of its samples lie beyond the histograms, which end below the deadline."""
    made_inventory.RUNS["imported"](tmp_path / "imported")
    lines = shown(material_of(tmp_path / "imported", 100_000))
    assert ": at least 4 of 4,000 " in lines[0]
    assert any(" ≥4 " in line for line in lines[1:]), lines


def test_a_row_without_misses_says_for_how_long_its_largest_value_holds(
    judged: dict[str, ReportInput],
) -> None:
    """A nineteenth of its second; and how many late events come an hour: 3.0 / 1 s, rounded up."""
    (calm,) = [line for line in shown(judged["passed"]) if line.startswith("P none")]
    assert calm.split()[2:] == ["13.0", "us", "0", "20,000", "10,800", "0.052", "s"]


def test_no_row_has_a_bound_with_less_confidence_than_is_asked_for(tmp_path: Path) -> None:
    """An hour after one second has 1 / 3601."""
    made_inventory.RUNS["passed"](tmp_path / "passed")
    content = on_deadline(tmp_path / "passed", load_run(tmp_path / "passed", bins=False), DEADLINE_NS)
    question = question_from(f"{DEADLINE_NS}ns", 0.0, "1h", 0.95)
    found = verdicts_of(tmp_path / "passed", content, question)
    material = ReportInput([content], TERMINAL, folder="runs/passed").made_before(rows, found)
    (calm,) = [line for line in shown(material) if line.startswith("? none")]
    assert calm.split()[2:] == ["13.0", "us", "0", "20,000", "10,800"]
