"""What is said of one measured cell: `summary.json`, the entries of `show --json` (DESIGN.md, Contracts).

Decoding and encoding live beside the types: `CellSummary.from_json(value)` and `to_json()`, exact inverses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

QUANTILES: tuple[str, ...] = ("0.5", "0.99", "0.999", "0.9999", "0.99999")


@dataclass(frozen=True)
class Accounting:
    """Every release is accounted for: releases = recorded + overruns + dropped."""

    releases: int
    recorded: int
    overruns: int
    dropped: int
    late_starts: int
    early: int
    warm_up: int
    late_policy: str


@dataclass(frozen=True)
class ColumnSummary:
    """Statistics of one column, warm-up left out. `None` where the numbers do not allow the figure."""

    count: int
    min: int | None
    mean: float | None
    max: int | None
    stddev: float | None
    """The sample's standard deviation (n - 1)."""
    period_exceeded: int | None
    quantiles: dict[str, int | None]
    """By QUANTILES: order statistics of the samples; None where fewer than ten samples lie beyond."""
    max_at_s: float | None
    """The release of the maximum, in seconds after t0."""


@dataclass(frozen=True)
class LoadSummary:
    """What a load was to achieve and did; shares are of the CPUs given to it."""

    name: str
    target_cpu: float | None
    achieved_cpu: float | None
    results: dict[str, Any]


@dataclass(frozen=True)
class CellSummary:
    """One cell, as it stands in summary.json and in show --json."""

    id: str
    test: str
    labels: dict[str, str]
    accounting: Accounting
    stop_reason: str
    clocksource: dict[str, str]
    valid: bool
    columns: dict[str, ColumnSummary]
    outcomes: dict[str, int] = field(default_factory=dict)
    loads: tuple[LoadSummary, ...] = ()
    warnings: tuple[str, ...] = ()
    """Sentences. A cell with `valid` false has the failed checks here."""
