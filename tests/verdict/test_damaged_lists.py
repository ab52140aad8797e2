"""Lists of a summary whose length has a meaning: another length is damage, any values are judged."""

import json
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from howlate.document.report_input import ReportInput
from howlate.document.sheet import TERMINAL
from howlate.errors import DamagedError
from howlate.model.summary import CellSummary, DeadlineSummary, OfCpu
from howlate.statistics.special import chi2_quantile
from howlate.verdict.judge import Judged, stated
from howlate.verdict.row_statements import statements
from howlate.verdict.screen import screen
from howlate.words.say import english
from made_cells import made_cell
from made_evidence import counts_of, quiet, tail_of
from made_runs import made_run

MADE = made_cell("none", 1, 12_000)


def summary() -> dict[str, Any]:
    """Of a cell of two CPUs that missed 40 times, with a tail."""
    values = quiet(12_000)
    values[np.arange(100, 12_000, 300)] = 300_000
    counts = counts_of(200_000, values)
    of_cpu = OfCpu(6_000, 20, 0, 20, 20, 1, tuple(n // 2 for n in counts.by_stretch))
    counts = replace(counts, by_cpu={"0": of_cpu, "1": of_cpu})
    cell = replace(
        MADE[0], deadline=counts, tail=tail_of(values), ladder=(DeadlineSummary(1_000_000, 12_000),)
    )
    value: dict[str, Any] = json.loads(json.dumps(cell.to_json()))
    return value


PLACES = ["deadline.by_stretch", "deadline.by_cpu.0.by_stretch", "tail.clusters", "tail.block_max_ns"]
LENGTHS = [0, 1, 2, 13, 49, 51, 500]
WHOLE = {0, 50}


def with_list(place: str, values: list[Any]) -> dict[str, Any]:
    value = summary()
    *path, last = place.split(".")
    part = value
    for name in path:
        part = part[name]
    assert len(part[last]) == 50
    part[last] = values
    return value


def judged(value: dict[str, Any]) -> list[Judged]:
    """Everything that is said of the cell."""
    content = made_run([(CellSummary.from_json(value), MADE[1])])
    found = stated(content)
    assert [english(told) for row in found for told in statements(row.verdict)]
    assert screen(ReportInput([content], TERMINAL, folder="r"), (), "verdict")
    return found


def test_the_made_summary_is_judged() -> None:
    (row,) = judged(summary())
    assert row.verdict.evidence.deadline.misses == 40 and row.verdict.evidence.deadline.clusters == 40


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("length", LENGTHS)
def test_a_list_of_another_length_is_damage(place: str, length: int) -> None:
    """Blocks without a sample have no maximum, so of these there may be fewer."""
    value = with_list(place, [1] * length)
    if length in WHOLE or (place == "tail.block_max_ns" and length < 50):
        judged(value)
        return
    with pytest.raises(DamagedError, match=r"summary\.json, "):
        CellSummary.from_json(value)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", [0, 1, 2**40, 2**63 - 1])
def test_a_list_of_any_values_is_judged(place: str, number: int) -> None:
    for values in ([number] * 50, [number, *[0] * 49], [0] * 49 + [number]):
        judged(with_list(place, values))


@pytest.mark.parametrize(
    ("place", "number"),
    [
        *((f"deadline.{name}", n) for name in ("clusters", "squares", "largest") for n in (0, 1, 2**62)),
        *(
            (f"deadline.by_cpu.1.{name}", n)
            for name in ("clusters", "squares", "largest")
            for n in (0, 2**62)
        ),
        *(("tail.theta", n) for n in (0, 1e-300, 1)),
        *(("tail.exceedances", n) for n in (0, 2**62)),
    ],
)
def test_a_number_that_contradicts_the_lists_is_judged(place: str, number: float) -> None:
    value = summary()
    *path, last = place.split(".")
    part = value
    for name in path:
        part = part[name]
    part[last] = number
    judged(value)


def test_chi_squared_of_many_degrees_goes_on_as_before() -> None:
    """Where another formula takes over: to six digits, and for any number that a summary may hold."""
    below, above = (chi2_quantile(0.95, degrees) / degrees for degrees in (1e9 - 1, 1e9 + 1))
    assert below == pytest.approx(above, rel=1e-6) and below > 1
    assert chi2_quantile(0.95, 2.0**64) == pytest.approx(2.0**64, rel=1e-6)
