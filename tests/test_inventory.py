"""tools/inventory.py: the same document each time, and a line for each thing that differs."""

import copy
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import made_once
from house_tools import tool
from made_inventory import OF_A_RUN, RUNS, make_runs

TWO = ("imported", "traced")
CALLS = [
    *("show RUN --all", "verdict RUN --deadline 100us", "why RUN --json", "report RUN -o out.html"),
    "export RUN --format parquet -o out",
]


@pytest.fixture(scope="module")
def inventory() -> ModuleType:
    return tool("inventory")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("old") / "runs"


@pytest.fixture(scope="module")
def document(inventory: ModuleType, runs: Path) -> Any:
    """As it is read from a file."""
    return json.loads(json.dumps(inventory.inventory(runs, TWO, CALLS)))


def test_it_is_the_same_each_time(
    inventory: ModuleType, runs: Path, document: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_once, "place", None)
    assert {path.name for path in runs.iterdir()} == set(TWO)
    again = inventory.inventory(None, TWO, CALLS)  # of runs that are made anew
    assert list(inventory.differences(document, again)) == []
    assert json.dumps(again, sort_keys=True) == json.dumps(document, sort_keys=True)


def test_each_call_is_made_over_each_run(document: Any) -> None:
    assert set(CALLS) <= set(OF_A_RUN) and set(TWO) <= set(RUNS) and len(RUNS) == 12
    for name in TWO:
        calls = document["figures"][name]
        assert set(calls) == set(CALLS)
        assert all(told["exit"] in (0, 1) and told.keys() & {"stdout", "json"} for told in calls.values())
        assert all("files" in told for words, told in calls.items() if " -o out" in words)
    assert any(path == ".cells[].cases[].parts[].ns" for path in document["json_members"]["why RUN --json"])
    assert document["exit_codes"]["lab why"].startswith("0 |")
    assert "--deadline" in document["commands"]["howlate verdict"]["parameters"]
    assert "howlate lab prove" in document["commands"]


def test_runs_that_are_there_are_read_and_not_made(tmp_path: Path) -> None:
    make_runs(tmp_path, TWO)
    assert list(tmp_path.iterdir()) == []


def test_each_difference_is_a_line_that_names_it(inventory: ModuleType, document: Any) -> None:
    after = copy.deepcopy(document)
    verdict = after["commands"]["howlate verdict"]["parameters"]
    verdict["--confidence"]["default"] = 0.99
    del verdict["--junit"]
    after["messages"]["cell.new"] = {"text": "new"}
    after["exit_codes"]["why"] += "1"
    shown = after["figures"]["traced"]["show RUN --all"]["stdout"]
    place = next(number for number, line in enumerate(shown) if line.startswith("cpu:50 "))
    shown[place] = shown[place].replace("161.7", "161.8")
    after["figures"]["imported"]["show RUN --all"]["stdout"].insert(1, "a line more")
    after["figures"]["traced"]["why RUN --json"]["json"]["cells"][0]["cases"][0]["latency_ns"] += 0.0
    parameters = "commands / howlate verdict / parameters"
    lines = list(inventory.differences(document, after))
    assert len(lines) == 7 and not any("\n" in line for line in lines)
    assert f"{parameters} / --confidence / default: 0.95 -> 0.99" in lines
    assert any(
        line.startswith(f"{parameters} / --junit: {{") and line.endswith(" -> nothing") for line in lines
    )
    assert 'messages / cell.new: nothing -> {"text": "new"}' in lines
    assert 'figures / imported / show RUN --all / stdout[1]: nothing -> "a line more"' in lines
    (changed,) = (
        line for line in lines if line.startswith(f"figures / traced / show RUN --all / stdout[{place}]: ")
    )
    assert "161.7" in changed.partition(" -> ")[0] and "161.8" in changed.partition(" -> ")[2]
    (same_value,) = (line for line in lines if "latency_ns" in line)
    assert same_value.endswith(".0"), "to the digit"
