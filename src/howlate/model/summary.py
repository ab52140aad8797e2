"""What is said of one measured cell: `summary.json`, the entries of `show --json` (DESIGN.md, Contracts).

Decoding and encoding live beside the types: `CellSummary.from_json(value)` and `to_json()`, exact inverses.
Keys that a newer howlate added are left alone (the schema grows by additions); keys that are missing or of
another type are refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from howlate.errors import DamagedError
from howlate.model.decode import Table, kind_of
from howlate.model.others import Others, others_in

SCHEMA = 1
MISSES = "deadline_misses"
"""Among the outcomes, where a deadline was stated."""
WATCHED = "watched_ns"
"""The outcome of a test that watches for something: for how long it did."""
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

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_table(cls, table: Table) -> Accounting:
        counts = {name: table.integer(name) for name in _COUNTS}
        return cls(**counts, late_policy=table.text("late_policy"))


_COUNTS = ("releases", "recorded", "overruns", "dropped", "late_starts", "early", "warm_up")


@dataclass(frozen=True)
class LargestAlone:
    """Of a column whose largest sample alone makes its maximum and its deviation (stats/alone.py)."""

    index: int
    """Of the activation or data point."""
    max: int
    """Without it."""
    stddev: float
    """Without it."""

    @classmethod
    def from_table(cls, table: Table) -> LargestAlone:
        return cls(table.integer("index"), table.integer("max"), table.real("stddev"))


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
    alone: LargestAlone | None = None
    """Where one sample makes maximum and deviation: both without it. Absent from an older howlate's summaries."""
    max_by_cpu: dict[str, int] = field(default_factory=dict)
    """The largest value of each measuring CPU, where there are several; "-1": of threads that were not pinned."""

    @property
    def max_cpu(self) -> str:
        """The CPU that had the maximum; "" where one alone measured."""
        return max(self.max_by_cpu, key=lambda cpu: self.max_by_cpu[cpu], default="")

    def to_json(self) -> dict[str, Any]:
        value = {name: its for name, its in vars(self).items() if name not in ("alone", "max_by_cpu")}
        alone = {} if self.alone is None else {"alone": dict(vars(self.alone))}
        by_cpu = {"max_by_cpu": dict(self.max_by_cpu)} if self.max_by_cpu else {}
        return {**value, "quantiles": dict(self.quantiles), **alone, **by_cpu}

    @classmethod
    def from_table(cls, table: Table) -> ColumnSummary:
        quantiles = table.table("quantiles", required=True)
        return cls(
            count=table.integer("count"),
            min=_integer(table, "min"),
            mean=_real(table, "mean"),
            max=_integer(table, "max"),
            stddev=_real(table, "stddev"),
            period_exceeded=_integer(table, "period_exceeded"),
            quantiles={name: _integer(quantiles, name) for name in quantiles.values},
            max_at_s=_real(table, "max_at_s"),
            alone=LargestAlone.from_table(table.table("alone")) if table.values.get("alone") else None,
            max_by_cpu=_integers(table.table("max_by_cpu")),
        )


@dataclass(frozen=True)
class LoadSummary:
    """What a load was to achieve and did; shares are of the CPUs given to it."""

    name: str
    target_cpu: float | None
    achieved_cpu: float | None
    results: dict[str, Any]
    spec: str = ""
    """As it was asked for: "cpu:100,nice=10"; "" where an older howlate wrote it."""
    unit: str = ""
    """Of the next three: "CPU" (of the share of those given), or the load's own a second: "B/s"."""
    target: float | None = None
    """None where it asks for as much as the machine gives."""
    reference: float | None = None
    """What it did with nothing measured beside it; None where nobody looked."""
    achieved: float | None = None
    share: float | None = None
    """Achieved of what it is held against: its target, but no more than its reference."""

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "results": dict(self.results)}

    @classmethod
    def from_table(cls, table: Table) -> LoadSummary:
        target, achieved = _real(table, "target_cpu"), _real(table, "achieved_cpu")
        results = table.mapping("results", required=True)
        if "share" not in table.values:
            return cls.of_share(table.text("name"), target, achieved, results)
        return cls(
            table.text("name"),
            target,
            achieved,
            results,
            spec=table.text("spec", ""),
            unit=table.text("unit", ""),
            target=_real(table, "target"),
            reference=_real(table, "reference"),
            achieved=_real(table, "achieved"),
            share=_real(table, "share"),
        )

    @classmethod
    def of_share(
        cls, name: str, target: float | None, achieved: float | None, results: dict[str, Any], spec: str = ""
    ) -> LoadSummary:
        """Of a run that holds loads to a share of the CPUs alone, or to nothing."""
        if target is None or achieved is None:
            return cls(name, target, achieved, results, spec)
        share = achieved / target if target > 0 else None
        return cls(name, target, achieved, results, spec, "CPU", target, None, achieved, share)


@dataclass(frozen=True)
class DeadlineSummary:
    """The releases outside warm-up against a stated deadline (docs/statistics.md, "Deadline misses")."""

    deadline_ns: int
    """0 where a summary of an older howlate does not say it."""
    releases: int
    late: int
    """Served, but later than the deadline allows."""
    unserved: int
    """Overruns: releases that no activation answered."""

    @property
    def misses(self) -> int:
        """Releases that were not answered in time."""
        return self.late + self.unserved

    def to_json(self) -> dict[str, int]:
        return {**vars(self), "misses": self.misses}

    @classmethod
    def from_table(cls, table: Table) -> DeadlineSummary:
        return cls(*(table.integer(name) for name in ("deadline_ns", "releases", "late", "unserved")))


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
    outcomes: dict[str, int | float] = field(default_factory=dict)
    """Passes and failures where a test has them, other figures of its own, misses of a stated deadline."""
    loads: tuple[LoadSummary, ...] = ()
    warnings: tuple[str, ...] = ()
    """Sentences. A cell with `valid` false has the failed checks here, first."""
    deadline: DeadlineSummary | None = None
    """None where no deadline was stated."""
    starved: bool = False
    """A load was not there, as the study expects: nothing is said of the cell "under load"."""
    others: Others | None = None
    """None where an older howlate did not look."""

    @property
    def load_share(self) -> float | None:
        """Of its loads the one that came least near to what was expected of it; None without such a load."""
        return min((load.share for load in self.loads if load.share is not None), default=None)

    @property
    def watched_nothing(self) -> bool:
        """Of a test that watches for something: it never did, so that it saw none means nothing."""
        return self.outcomes.get(WATCHED) == 0

    @property
    def alone(self) -> bool:
        """False where others took so much of the CPUs that the row is marked; true where nobody looked."""
        return self.others is None or not self.others.disturbs

    def to_json(self) -> dict[str, Any]:
        """The entry of `show --json`."""
        return {
            "id": self.id,
            "test": self.test,
            "labels": dict(self.labels),
            "accounting": self.accounting.to_json(),
            "stop_reason": self.stop_reason,
            "clocksource": dict(self.clocksource),
            "valid": self.valid,
            "columns": {name: column.to_json() for name, column in self.columns.items()},
            "outcomes": dict(self.outcomes),
            "loads": [load.to_json() for load in self.loads],
            "warnings": list(self.warnings),
            **({"deadline": self.deadline.to_json()} if self.deadline is not None else {}),
            **({"others": self.others.to_json()} if self.others is not None else {}),
            **({"starved": True} if self.starved else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], file: str = "summary.json") -> CellSummary:
        """The cell of such an entry; DamagedError names file, place and what is wrong there."""
        table = Table(value, file, "", DamagedError)
        if table.integer("schema", SCHEMA) != SCHEMA:
            raise table.fail(f"schema {value['schema']} is not known to this howlate", "use a newer howlate")
        columns = table.table("columns", required=True)
        accounting = Accounting.from_table(table.table("accounting", required=True))
        outcomes = _figures(table.table("outcomes", required=True))
        deadline = _deadline(table, accounting, outcomes)
        if deadline is not None and "deadline" not in table.values:
            outcomes[MISSES] = deadline.misses
        return cls(
            id=table.text("id"),
            test=table.text("test"),
            labels=_texts(table.table("labels", required=True)),
            accounting=accounting,
            stop_reason=table.text("stop_reason"),
            clocksource=_texts(table.table("clocksource", required=True)),
            valid=table.boolean("valid"),
            columns={n: ColumnSummary.from_table(columns.table(n, required=True)) for n in columns.values},
            outcomes=outcomes,
            loads=tuple(LoadSummary.from_table(load) for load in table.tables("loads", required=True)),
            warnings=_sentences(table),
            deadline=deadline,
            starved=table.boolean("starved", False),
            others=others_in(table),
        )


def _deadline(
    table: Table, accounting: Accounting, outcomes: Mapping[str, int | float]
) -> DeadlineSummary | None:
    """As stored; an older howlate counted the late ones alone and called them misses."""
    if "deadline" in table.values:
        return DeadlineSummary.from_table(table.table("deadline"))
    if MISSES not in outcomes:
        return None
    releases = accounting.releases - accounting.warm_up
    return DeadlineSummary(0, releases, int(outcomes[MISSES]), accounting.overruns)


def _integers(table: Table) -> dict[str, int]:
    return {name: table.integer(name) for name in table.values}


def _integer(table: Table, name: str) -> int | None:
    if name in table.values and table.values[name] is None:
        return None
    return table.integer(name)


def _real(table: Table, name: str) -> float | None:
    if name in table.values and table.values[name] is None:
        return None
    value = table.real(name)
    if not math.isfinite(value):
        raise table.fail(f'"{name}" is no number')
    return value


def _texts(table: Table) -> dict[str, str]:
    return {name: table.text(name) for name in table.values}


def _figures(table: Table) -> dict[str, int | float]:
    found: dict[str, int | float] = {}
    for name, value in table.values.items():
        number = _real(table, name)
        if number is None:
            raise table.fail(f'"{name}" must be a number, not {kind_of(value)}')
        found[name] = value if isinstance(value, int) else number
    return found


def _sentences(table: Table) -> tuple[str, ...]:
    found = table.items("warnings", required=True)
    for value in found:
        if not isinstance(value, str):
            raise table.fail(f'each of "warnings" must be text, not {kind_of(value)}')
    return tuple(found)
