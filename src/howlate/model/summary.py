"""The results of one measured cell: `summary.json`, the entries of `show --json` (docs/architecture.md,
Contracts).

The types decode and encode themselves: `CellSummary.from_json(value)` and `to_json()`, exact inverses.
The schema grows by additions: keys that a newer howlate added are ignored, and keys that the first summaries
did not have may be missing. A value of another type is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import DamagedError
from howlate.model.columns import LATENCY, RESPONSE
from howlate.model.decode import Table, decoded, known_schema, plain, warnings_of
from howlate.model.disturbances import Others
from howlate.model.knowledge import EVERYTHING, Knowledge
from howlate.model.plan import point_of
from howlate.model.ranges import Count, CpuKey, Int64, Real, ShareKey
from howlate.model.tail import TailSummary, must_be_by_block
from howlate.model.units import period_ns_of
from howlate.words.printable import printable
from howlate.words.say import english, to_json
from howlate.words.statement import VERBATIM, Statement

SCHEMA = 1
THRESHOLD = "threshold"
MISSES = "deadline_misses"
"""The outcome that is present if a deadline was stated."""
WATCHED = "watched_ns"
"""The outcome of a test that watches for events: how long it watched."""


class Accounting(Struct, frozen=True):
    """Every release is accounted for: releases = recorded + overruns + dropped."""

    releases: Count
    recorded: Count
    overruns: Count
    dropped: Count
    late_starts: Count
    early: Count
    warm_up: Count
    late_policy: str


class LargestAlone(Struct, frozen=True):
    """For a column whose largest sample alone makes its maximum and its deviation (statistics/statistics.py)."""

    index: Count = 0
    """The index of that activation or data point."""
    max: Int64 = 0
    """The maximum without it."""
    stddev: Real = 0.0
    """The deviation without it."""


class QuantileInterval(Struct, frozen=True):
    """Between these two samples, to the width of a bin, a quantile lies with 95 %."""

    low: Int64
    high: Int64
    independent: Count
    """How many independent samples tell as much as those of the cell."""


class ColumnSummary(Struct, frozen=True):
    """Statistics of one column, without warm-up. `None` if the samples do not allow the figure."""

    count: Count | None
    """None where another tool measured and does not say it."""
    min: Int64 | None = None
    mean: Real | None = None
    max: Int64 | None = None
    stddev: Real | None = None
    """The sample's standard deviation (n - 1)."""
    period_exceeded: Count | None = None
    quantiles: dict[ShareKey, Int64 | None] = field(default_factory=dict)
    """By share ("0.99"): order statistics of the samples; None if fewer than ten samples lie beyond."""
    max_at_s: Real | None = None
    """The release of the maximum, in seconds after t0."""
    alone: LargestAlone | None = None
    """If one sample makes maximum and deviation: both without it. Absent from an older howlate's summaries.
    """
    max_by_cpu: dict[CpuKey, Int64] = field(default_factory=dict)
    """The largest value of each measuring CPU, if there are several; "-1": of threads that were not pinned.
    """
    statistics: dict[str, Int64 | Real | None] = field(default_factory=dict)
    """By name: the statistics of statistics/statistics.py that this type does not name."""
    intervals: dict[str, QuantileInterval] = field(default_factory=dict)
    """By share, of the quantiles that have one: made when a run is read (statistics/quantiles.py), never stored."""

    @classmethod
    def of(
        cls, count: int | None, figures: Mapping[str, Any], quantiles: Sequence[str], **known: Any
    ) -> ColumnSummary:
        """From all statistics by name; those in `quantiles` are shares."""
        named = {name: figures[name] for name in figures if name in cls.__struct_fields__}
        rest = {name: figures[name] for name in figures if name not in named and name not in quantiles}
        shares = {name: figures[name] for name in quantiles}
        return cls(count, quantiles=shares, statistics=rest, **named, **known)

    def figure(self, name: str) -> int | float | None:
        """A statistic by its name; None if it is not stated, or if an older howlate did not know it."""
        if name in self.__struct_fields__:
            return getattr(self, name)  # type: ignore[no-any-return]
        return self.quantiles[name] if name in self.quantiles else self.statistics.get(name)

    @property
    def max_cpu(self) -> str:
        """The CPU that had the maximum; "" if only one measured."""
        return max(self.max_by_cpu, key=lambda cpu: self.max_by_cpu[cpu], default="")

    def to_json(self) -> dict[str, Any]:
        absent = {
            name for name in ("alone", "max_by_cpu", "statistics", "intervals") if not getattr(self, name)
        }
        return {name: value for name, value in plain(self).items() if name not in absent}


class LoadSummary(Struct, frozen=True):
    """A load's target and what it achieved; shares are of the CPUs given to it."""

    name: str
    target_cpu: Real | None
    achieved_cpu: Real | None
    results: dict[str, Any]
    spec: str = ""
    """The load as requested: "cpu:100,nice=10"; "" in files of an older howlate."""
    unit: str = ""
    """The unit of the next three: "CPU" (a share of those given), or the load's own unit a second: "B/s"."""
    target: Real | None = None
    """None if the load asks for as much as the machine gives."""
    reference: Real | None = None
    """What it did while nothing was measured; None if that was not measured."""
    achieved: Real | None = None
    share: Real | None = None
    """Achieved, relative to what it is held against: the smaller of target and reference."""

    @classmethod
    def of_share(
        cls, name: str, target: float | None, achieved: float | None, results: dict[str, Any], spec: str = ""
    ) -> LoadSummary:
        """For a run that holds loads only to a share of the CPUs, or to nothing."""
        if target is None or achieved is None:
            return cls(name, target, achieved, results, spec)
        share = achieved / target if target > 0 else None
        return cls(
            name, target, achieved, results, spec, unit="CPU", target=target, achieved=achieved, share=share
        )


class OfCpu(Struct, frozen=True):
    """The releases of one measuring CPU against a deadline."""

    releases: Count = 0
    late: Count = 0
    unserved: Count = 0
    clusters: Count | None = None
    """Of its own misses; None where none missed, or nobody looked."""
    squares: Count | None = None
    largest: Count | None = None
    by_stretch: tuple[Count, ...] = ()
    """As of a DeadlineSummary."""

    def __post_init__(self) -> None:
        must_be_by_block(self.by_stretch)

    @property
    def misses(self) -> int:
        return self.late + self.unserved

    def to_json(self) -> dict[str, Any]:
        known = _known(plain(self) | {"by_stretch": list(self.by_stretch)})
        return {name: value for name, value in known.items() if name != "by_stretch" or value}


class DeadlineSummary(Struct, frozen=True):
    """The releases outside warm-up against a stated deadline (docs/statistics.md, "Deadline misses")."""

    deadline_ns: Count = 0
    """0 if a summary of an older howlate does not have it."""
    releases: Count = 0
    late: Count = 0
    """Answered, but later than the deadline allows."""
    unserved: Count = 0
    """Overruns: releases that no activation answered."""
    clusters: Count | None = None
    """Clusters of misses with fewer than ten kept releases between them. None where none missed, one in a hundred
    did, or an older howlate did not look."""
    skipped: Count = 0
    """Releases that the late policy skipped and that count as answered, because the deadline is above the period:
    when the activation that skipped them began. The late ones among them are in `late`."""
    at_least: bool = False
    """More may have missed it: another tool's histogram ended below the deadline."""
    by_cpu: dict[CpuKey, OfCpu] = field(default_factory=dict)
    """Of each measuring CPU, if there are several."""
    squares: Count | None = None
    """The sum of the squares of the clusters' sizes in misses; None where `clusters` is, and of an older howlate."""
    largest: Count | None = None
    """The misses of the largest cluster."""
    by_stretch: tuple[Count, ...] = ()
    """How many clusters began in each fiftieth of the cell, if any did."""

    def __post_init__(self) -> None:
        must_be_by_block(self.by_stretch)

    @property
    def misses(self) -> int:
        """Releases that were not answered in time."""
        return self.late + self.unserved

    @property
    def worst_cpu(self) -> str:
        """The CPU that missed most; "" if none did, or only one measured."""
        worst = max(self.by_cpu, key=lambda cpu: self.by_cpu[cpu].misses, default="")
        return worst if worst and self.by_cpu[worst].misses else ""

    def to_json(self) -> dict[str, Any]:
        absent = {name for name in ("skipped", "at_least", "by_cpu", "by_stretch") if not getattr(self, name)}
        by_cpu = {cpu: count.to_json() for cpu, count in self.by_cpu.items()}
        known = _known(plain(self) | {"by_cpu": by_cpu, "by_stretch": list(self.by_stretch)})
        return {**{n: v for n, v in known.items() if n not in absent}, "misses": self.misses}


class JudgedColumn(Struct, frozen=True):
    """What a verdict needs of one column in addition to its statistics."""

    deadline: DeadlineSummary | None = None
    """None if no deadline was stated."""
    tail: TailSummary | None = None
    """None where an older howlate did not look, or the samples are too few."""
    ladder: tuple[DeadlineSummary, ...] = ()
    """Against deadlines of 1 us, 10 us and so on, up to the first that nothing misses."""

    def to_json(self) -> dict[str, Any]:
        return {
            **({"deadline": self.deadline.to_json()} if self.deadline is not None else {}),
            **({"tail": self.tail.to_json()} if self.tail is not None else {}),
            **({"ladder": [step.to_json() for step in self.ladder]} if self.ladder else {}),
        }


class CellSummary(Struct, frozen=True):
    """One cell, as stored in summary.json and in show --json."""

    id: str
    test: str
    labels: dict[str, str]
    accounting: Accounting
    stop_reason: str
    clocksource: dict[str, str]
    valid: bool
    columns: dict[str, ColumnSummary]
    outcomes: dict[str, Int64 | Real] = field(default_factory=dict)
    """Passes and failures if a test has them, other figures of its own, misses of a stated deadline."""
    loads: tuple[LoadSummary, ...] = ()
    warnings: tuple[Statement, ...] = ()
    """If `valid` is false, the failed checks come first: `failed`."""
    deadline: DeadlineSummary | None = None
    """The misses of the column `latest`. None if no deadline was stated."""
    starved: bool = False
    """A load was not there, as the study expects: no conclusion calls the cell "under load"."""
    repetition: Count = 1
    """The repetition of its point, from 1; the last part of its id."""
    others: Others | None = None
    """None if an older howlate did not measure it."""
    known: Knowledge = EVERYTHING
    """What is known of the samples besides their values."""
    tail: TailSummary | None = None
    """The tail of the only column that is judged; of several an older howlate kept the first one's. None where it
    did not look, or the samples are too few."""
    answers: tuple[str, ...] | None = None
    """The columns that answer "how late", as the test or format declares them. None of an older howlate, which did
    not say it."""
    ladder: tuple[DeadlineSummary, ...] = ()
    """The column `latest` against deadlines of 1 us, 10 us and so on, up to the first that nothing misses."""
    by_column: dict[str, JudgedColumn] = field(default_factory=dict)
    """Where several columns are judged: each of them. Absent of an older howlate."""
    failed_checks: Count | None = None
    """How many of the warnings are failed checks. None of an older howlate, which did not say it."""

    @property
    def at_threshold(self) -> bool:
        return self.stop_reason == THRESHOLD

    @property
    def failed(self) -> tuple[Statement, ...]:
        """Why it is not valid; of an older howlate at least the first reason."""
        return () if self.valid else self.warnings[: self.failed_checks or 1]

    @property
    def judged(self) -> tuple[str, ...]:
        """The columns that a deadline is held against."""
        return judged_of(self.answers, self.columns)

    @property
    def latest(self) -> str:
        """The column that the answer is about: of those that are judged the one with the largest value; the first
        of a test that measures no latency."""
        return latest_of(self.judged, self.columns) or next(iter(self.columns), LATENCY)

    def of_column(self, column: str) -> CellSummary:
        """The same cell with one of the judged columns alone. An older howlate counted the column `latest` against
        the stated deadline, and kept the first one's tail."""
        one = self.by_column.get(column)
        if one is None:
            is_latest = column == self.latest
            one = JudgedColumn(
                self.deadline if is_latest else None,
                self.tail if column == self.judged[0] else None,
                self.ladder if is_latest else (),
            )
        return replace(
            self, answers=(column,), deadline=one.deadline, tail=one.tail, ladder=one.ladder, by_column={}
        )

    @property
    def scheduled_s(self) -> float | None:
        """How long the cell measured, from its releases (summed over its CPUs) and its period; None if the
        period is not known."""
        cpus = 1 + self.labels.get("cpu", "").count(",")
        period_ns = period_ns_of(self.labels)
        return None if period_ns is None else self.accounting.releases / cpus * period_ns / 1e9

    @property
    def overruns(self) -> int | None:
        """Releases without an activation; None where the tool that measured did not count them."""
        return self.accounting.overruns if self.known.missed_releases else None

    @property
    def point(self) -> str:
        return point_of(self.id, self.repetition)

    @property
    def load_share(self) -> float | None:
        """The load that came least near to its expected share; None without such a load."""
        return min((load.share for load in self.loads if load.share is not None), default=None)

    @property
    def watched_nothing(self) -> bool:
        """True for a test that watches for events but never watched, so that seeing none means nothing."""
        return self.outcomes.get(WATCHED) == 0

    @property
    def waits_for_gaps(self) -> bool:
        """True for a test whose samples are not answers to releases but gaps above a threshold."""
        return WATCHED in self.outcomes or self.known.threshold_ns != 0

    @property
    def alone(self) -> bool:
        """False if others took so much of the CPUs that the row is marked; true if that was not measured."""
        return self.others is None or not self.others.disturbs

    def to_json(self) -> dict[str, Any]:
        """The entry of `show --json`."""
        apart = ("columns", "warnings", "others", "starved", "known", "answers", "deadline", "tail", "ladder")
        whole = plain(replace(self, columns={}, warnings=()))
        return {
            **{
                name: value
                for name, value in whole.items()
                if name not in (*apart, "by_column", "failed_checks")
            },
            "columns": {name: column.to_json() for name, column in self.columns.items()},
            "loads": list(whole["loads"]),
            "warnings": [english(warning) for warning in self.warnings],
            "statements": [to_json(warning) for warning in self.warnings],
            **JudgedColumn(self.deadline, self.tail, self.ladder).to_json(),
            **({"others": plain(self.others)} if self.others is not None else {}),
            **({"starved": True} if self.starved else {}),
            **({} if self.known.complete else {"known": plain(self.known)}),
            **({"answers": list(self.answers)} if self.answers is not None else {}),
            **({"failed_checks": self.failed_checks} if self.failed_checks else {}),
            **({"by_column": {n: c.to_json() for n, c in self.by_column.items()}} if self.by_column else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any], file: str = "summary.json") -> CellSummary:
        """The cell of such an entry; DamagedError names file, place and fault."""
        known_schema(value, SCHEMA, file, required=False)
        members = {name: member for name, member in value.items() if name not in ("warnings", "statements")}
        cell = decoded(cls, members, file)
        loads = tuple(
            load
            if "share" in stored
            else LoadSummary.of_share(load.name, load.target_cpu, load.achieved_cpu, load.results, load.spec)
            for load, stored in zip(cell.loads, value.get("loads", ()), strict=True)
        )
        labels = {printable(name): printable(label) for name, label in cell.labels.items()}
        cell = replace(
            cell,
            labels=labels,
            loads=loads,
            warnings=warnings_of(Table(value, file, "", DamagedError), _of_older),
        )
        if "repetition" not in value:
            cell = replace(cell, repetition=_repetition_of(cell.id))
        return cell if "deadline" in value else _with_older_misses(cell)


def judged_of(answers: Sequence[str] | None, columns: Collection[str]) -> tuple[str, ...]:
    """The columns that a deadline is held against. A response time includes the latency before it, and only a task
    that works has one."""
    declared = (LATENCY, RESPONSE) if answers is None else answers
    there = tuple(name for name in declared if name in columns)
    return (RESPONSE,) if RESPONSE in there else there


def latest_of(judged: Sequence[str], columns: Mapping[str, ColumnSummary]) -> str:
    """Of these columns the one with the largest value, whatever their order; "" of none."""
    held = [name for name in sorted(judged) if columns[name].max is not None]
    return max(held, key=lambda name: columns[name].max or 0, default=next(iter(judged), ""))


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _with_older_misses(cell: CellSummary) -> CellSummary:
    """Convert an older howlate's misses, which counted only the late releases."""
    if MISSES not in cell.outcomes:
        return cell
    releases = cell.accounting.releases - cell.accounting.warm_up
    deadline = DeadlineSummary(0, releases, int(cell.outcomes[MISSES]), cell.accounting.overruns)
    return replace(cell, deadline=deadline, outcomes={**cell.outcomes, MISSES: deadline.misses})


def _of_older(text: str) -> Statement:
    """An older howlate's text, with the id of its rule if anything depends on it."""
    rules = (rule for start, rule in _OLDER_TEXTS.items() if text.startswith(start))
    return Statement.verbatim(text, next(rules, VERBATIM))


_OLDER_TEXTS = {"not loaded: ": "load.not-loaded", "starved, ": "cell.starved"}
_REPEATED = re.compile(r".+-[0-9a-f]{10}-(?P<number>[0-9]+)")
"""The id of a repetition of a point: a slug, a digest, the repetition."""


def _repetition_of(cell_id: str) -> int:
    repeated = _REPEATED.fullmatch(cell_id)
    return int(repeated["number"]) if repeated else 1
