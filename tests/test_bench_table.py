"""The page of the benchmarks: made from their figures, not from their prose."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import table
from figures import Figure, all_kept, read


def _table(page: Path, figures: list[Figure] | int, *words: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "run", lambda _: figures)
        patch.setattr(sys, "argv", ["table", "--out", str(page), *words])
        return table.main()


def test_a_limit_that_is_not_kept_is_in_the_page_and_in_the_exit_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert _table(page, [Figure("time", 1.25, "s", at_most=1)], "--only", "startup") == 1
    assert "| time | **1.25 s (at most 1)** |" in page.read_text()


def test_what_was_not_run_again_keeps_its_section(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert _table(page, [Figure("before", 7)], "--only", "startup") == 0
    before = page.read_text()
    assert _table(page, [Figure("after", 8, at_least=8)], "--only", "resume") == 0
    after = page.read_text()
    startup = before[before.index("## startup") :]
    assert startup in after and "| after | 8 (at least 8) |" in after
    assert after.count("Not measured yet.") == before.count("Not measured yet.") - 1


def test_a_benchmark_that_could_not_run_is_an_error_and_keeps_its_figures(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    _table(page, [Figure("before", 7)], "--only", "startup")
    before = page.read_text()
    assert _table(page, 4, "--only", "startup") == 4
    assert page.read_text() == before


def test_a_benchmark_that_this_machine_cannot_run_is_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert _table(page, 3, "--only", "startup") == 0
    assert "## startup" in page.read_text()


def test_a_case_is_one_line_with_a_column_for_each_measure(tmp_path: Path) -> None:
    names = (
        "a, x: held",
        "a, x: lost",
        "a, x: lost: lower end",
        "a, x: lost: upper end",
        "a, y: held",
        "a, z: cost",
    )
    page = tmp_path / "page.md"
    figures = [Figure(name, number) for number, name in enumerate(names, 1)]
    assert _table(page, figures, "--only", "startup") == 0
    part = page.read_text().partition("## startup")[2].partition("## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|") and "---" not in line]
    assert lines == [
        "| of | held | lost |",
        "| x | 1 | 2 [3, 4] |",
        "| y | 5 |  |",
        "| of | cost |",
        "| z | 6 |",
    ]
    assert "All: a." in part


def test_figures_are_read_back_as_written(tmp_path: Path) -> None:
    file, made = tmp_path / "figures.json", [Figure("a", 1.5, "us", at_most=2), Figure("b", 3, at_least=4)]
    assert not all_kept(made, file) and read(file) == made
    assert [each["name"] for each in json.loads(file.read_text())] == ["a", "b"]
