"""What `./dev test` says of its time: the most expensive tests of both parts, the whole, and the budget."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from house_tools import tool
from howlate.system.paths import ROOT
from made_suite import suite
from processes import completed

TOOL = ROOT / "tools" / "suite.py"
BURNS = """import os
def burn(seconds):
    end = sum(os.times()[:4]) + seconds
    while sum(os.times()[:4]) < end: pass
"""
TESTS = {
    "test_beside.py": BURNS + "def test_burns(): burn(1.2)\ndef test_does_nothing(): pass\n",
    "probe/test_alone.py": "import time\ndef test_waits(): time.sleep(0.9)\n",
}


def ran(folder: Path, budget_min: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOWLATE_BUDGET_MIN": budget_min}
    argv = [sys.executable, str(TOOL), "not sweep", "tests"]
    return completed(argv, cwd=folder, env=environment)


def test_the_most_expensive_tests_are_told_and_beyond_the_budget_it_fails(tmp_path: Path) -> None:
    """A test that burns a CPU while another test may have the second one counts half; one that waits alone, whole."""
    done = ran(suite(tmp_path, TESTS), "0.01")
    assert done.returncode == 1 and done.stderr.endswith("0.01 min (HOWLATE_BUDGET_MIN)\n")
    lines = done.stdout.splitlines()
    at = lines.index("the 3 most expensive tests")
    assert [line.split()[-1].partition("::")[2] for line in lines[at + 2 : at + 5]] == [
        "test_waits",
        "test_burns",
        "test_does_nothing",
    ]
    waits_cpu_s, waits_clock_s = map(float, lines[at + 2].split()[:2])
    burns_cpu_s, _ = map(float, lines[at + 3].split()[:2])
    assert waits_cpu_s < 0.5 < 0.9 <= waits_clock_s
    assert burns_cpu_s >= 1.2
    assert lines[-2].startswith("about ") and "2 CPUs" in lines[-2]
    assert lines[-1] == "3 passed, 0 failed, 0 skipped"


def test_of_marks_with_or_each_test_is_in_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """`and` binds closer."""
    suite_tool = tool("suite")
    asked: list[str] = []

    def noted(name: str, arguments: list[str]) -> Any:
        asked.append(arguments[1])
        return suite_tool.Part(name, 0, {}, 0.0, 0.0)

    monkeypatch.setattr(suite_tool, "run_part", noted)
    suite_tool.run_parts("sweep or long", [])
    assert asked == ["(sweep or long) and not alone", "(sweep or long) and alone"]


@pytest.mark.parametrize("budget", ["abc", "-1", "nan"])
def test_a_budget_that_is_none_is_refused_before_anything_runs(tmp_path: Path, budget: str) -> None:
    done = ran(tmp_path, budget)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f'HOWLATE_BUDGET_MIN is "{budget}"')


def test_the_whole_is_half_of_the_shared_cpu_time_and_the_clock_of_the_rest() -> None:
    suite_tool = tool("suite")
    parts = [
        suite_tool.Part("beside each other", 0, {}, cpu_s=600.0, clock_s=2000.0),
        suite_tool.Part("one by one", 0, {}, cpu_s=50.0, clock_s=120.0),
    ]
    assert suite_tool.whole_min(120.0, parts) == pytest.approx((120 + 600) / 2 / 60 + 2)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [((0, 0), 0), ((1, 0), 1), ((0, 1), 1), ((5, 0), 0), ((0, 5), 0), ((5, 5), 5), ((1, 5), 1), ((2,), 2)],
)
@pytest.mark.parametrize("budget_min", [0.9, 1.1])
def test_the_exit_code_is_that_of_what_failed_else_of_the_budget(
    codes: tuple[int, ...], expected: int, budget_min: float
) -> None:
    """5 is pytest's where none of the tests that were asked for is in a part."""
    suite_tool = tool("suite")
    parts = [suite_tool.Part("", code, {}, 0.0, 0.0) for code in codes]
    code = suite_tool.exit_code(parts, minutes=1.0, budget_min=budget_min)
    assert code == (1 if expected == 0 and budget_min < 1 else expected)


SKIPPING = """import pytest, lacks
def test_without_a_program(): lacks.skip("hackbench", "apt-get install rt-tests")
@lacks.needs_program("no-such-program", "rt-tests")
def test_with_a_mark(): pass
def test_passes(): pass
def test_without_a_remedy(): pytest.skip("there is no hackbench")
"""


def test_a_skip_says_what_lacks_and_what_brings_it_or_fails(tmp_path: Path) -> None:
    outcomes = tmp_path / "outcomes.json"
    os.environ["HOWLATE_OUTCOMES"] = str(outcomes)
    try:
        done = ran(suite(tmp_path, {"test_skipping.py": SKIPPING}))
    finally:
        del os.environ["HOWLATE_OUTCOMES"]
    assert done.returncode == 1, done.stdout
    assert json.loads(outcomes.read_text()) == {
        "counts": {"passed": 1, "failed": 1, "skipped": 2},
        "skips": {
            "lacks hackbench: apt-get install rt-tests": 1,
            "lacks no-such-program: apt-get install rt-tests": 1,
        },
    }
    assert done.stdout.splitlines()[-1] == "1 passed, 1 failed, 2 skipped"
