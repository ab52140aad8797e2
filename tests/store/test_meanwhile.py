"""A cell whose stream tells of a lost CPU, a suspend, a step or a slew."""

from pathlib import Path
from typing import Any

import pytest

from store.runs import a_folder
from store.streams import stream

LATENCIES = [10, 20, 30]


@pytest.mark.parametrize(
    ("changes", "valid", "rule"),
    [
        ({"trailer_changes": {"clocks": {"suspended_ns": 5 * 10**9}}}, False, "cell.suspended"),
        ({"trailer_changes": {"clocks": {"stepped_ns": -(10**9)}}}, True, "cell.clock-stepped"),
        ({"trailer_changes": {"clocks": {"slewed_ppm": 500}}}, True, "cell.clock-slewed"),
        ({"account_changes": {"place_changed": True}}, False, "cell.cpu-offline"),
        ({"account_changes": {"place_changed": False}}, True, None),
        ({}, True, None),
    ],
)
def test_the_row_says_so(changes: dict[str, Any], valid: bool, rule: str | None, tmp_path: Path) -> None:
    folder = a_folder(tmp_path / "run", {"one": stream(LATENCIES, **changes)})
    (cell,) = folder.summaries()
    assert cell.valid is valid
    assert [told.rule for told in cell.warnings] == ([] if rule is None else [rule])
