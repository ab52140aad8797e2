"""What of ours stands beside a published figure."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from howlate.model.decode import parse_toml
from howlate.model.reference import decode_reference
from howlate.reference.beside import look_up, published, value_in

CELL: dict[str, Any] = {
    "test": "cyclic",
    "labels": {"load": "hackbench:30"},
    "accounting": {"overruns": 7},
    "columns": {
        "latency_ns": {"max": 28_101_026, "period_exceeded": 3, "quantiles": {"0.5": 3000, "0.99": None}},
        "cs1_ns": {"min": 684},
    },
    "outcomes": {"passes": 99, "spin_ns": 100_000},
    "loads": [
        {"name": "hackbench", "achieved_cpu": None, "results": {"time_s": 1.25, "run_ns_mean": 2_500_000_000}}
    ],
}


@pytest.mark.parametrize(
    ("field", "unit", "value"),
    [
        ("columns.latency_ns.max", "us", 28101.026),
        ("columns.latency_ns.max", "ms", 28.101026),
        ("columns.cs1_ns.min", "ns", 684),
        ("columns.latency_ns.period_exceeded", "", 3),
        ("columns.latency_ns.quantiles.0.5", "us", 3),
        ("columns.latency_ns.quantiles.0.99", "us", None),
        ("columns.latency_ns.quantiles", "us", None),
        ("columns.none_ns.max", "us", None),
        ("accounting.overruns", "", 7),
        ("accounting.overruns.more", "", None),
        ("outcomes.passes", "", 99),
        ("outcomes.spin_ns", "us", 100),
        ("loads.hackbench.results.time_s", "s", 1.25),
        ("loads.hackbench.results.run_ns_mean", "s", 2.5),
        ("loads.hackbench.achieved_cpu", "", None),
        ("loads.cpu.results.time_s", "s", None),
    ],
)
def test_fields_are_found_and_converted(field: str, unit: str, value: float | None) -> None:
    assert value_in(CELL, field, unit) == (pytest.approx(value, rel=1e-12) if value is not None else None)
    if unit in ("", "ns"):
        assert look_up(CELL, field) == value


TEXT = """
schema = 1
study = "s"
title = "t"
document = "d"
language = "de"
[[table]]
id = "one"
title = "t"
place = "p"
kind = "listing"
[[table.column]]
name = "Min"
unit = "ns"
field = "columns.{column}.min"
[[table.column]]
name = "Max"
unit = "us"
field = "columns.{column}.max"
[[table.row]]
label = "cs1"
column = "cs1_ns"
values = { Min = { value = 684.00, mark = "text" } }
[[table.row]]
label = "latency"
column = "latency_ns"
values = { Max = { value = 28101.0, mark = "text" } }
[[table]]
id = "again"
title = "t"
place = "q"
kind = "text"
[[table.column]]
name = "Min"
unit = "ns"
field = "columns.cs1_ns.min"
[[table.row]]
label = "cs1"
values = { Min = { value = 700, mark = "text", about = true } }
"""


def test_each_figure_once_by_our_field() -> None:
    found = published(decode_reference(parse_toml(TEXT, "s.toml", Decimal)), CELL)
    assert {field: (one.table.id, one.figure.printed, one.ours(CELL)) for field, one in found.items()} == {
        "columns.cs1_ns.min": ("one", "684.00", 684.0),
        "columns.latency_ns.max": ("one", "28101.0", 28101.026),
    }
