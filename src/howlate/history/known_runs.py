"""What is known of many runs at once: of each run and cell the figures that `query` and `history` need, without
samples, bins and warnings. history/catalogue.py reads them, and may keep them in an index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from howlate.model.decode import members
from howlate.model.run import Run
from howlate.model.summary import CellSummary, ColumnSummary

OF_THE_MOMENT = (
    *("caller.", "irq.", "tasks.", "trace.", "kernel.uptime_s"),
    *("cpu.steal_ticks", "cpu.total_ticks"),
)
"""Facts that differ from run to run on an unchanged machine, by the beginning of their names. The id of the boot is
kept: it tells which runs are of one."""


class KnownColumn(Struct, frozen=True):
    """The statistics of one column of a cell's samples."""

    count: int | None
    figures: dict[str, int | float | None]
    """By the names of statistics/statistics.py: "max", "0.999"."""


class KnownCell(Struct, frozen=True):
    """One whole cell."""

    id: str
    test: str
    labels: dict[str, str]
    repetition: int
    valid: bool
    stop_reason: str
    releases: int
    recorded: int
    overruns: int
    dropped: int
    columns: dict[str, KnownColumn]
    deadline_ns: int | None = None
    misses: int | None = None
    samples: bool = True
    """Whether samples.parquet is as it was measured."""
    altered: bool = False
    """Whether it differs from what was measured: the cell is not valid."""

    @classmethod
    def of(cls, summary: CellSummary, *, samples: bool, altered: bool = False) -> KnownCell:
        deadline = summary.deadline
        counts = summary.accounting
        return cls(
            id=summary.id,
            test=summary.test,
            labels=summary.labels,
            repetition=summary.repetition,
            valid=summary.valid,
            stop_reason=summary.stop_reason,
            releases=counts.releases,
            recorded=counts.recorded,
            overruns=counts.overruns,
            dropped=counts.dropped,
            columns={name: _known(column) for name, column in summary.columns.items()},
            deadline_ns=None if deadline is None else deadline.deadline_ns or None,
            misses=None if deadline is None else deadline.misses,
            samples=samples,
            altered=altered,
        )


class KnownRun(Struct, frozen=True):
    """One run with its whole cells."""

    folder: str
    """Where it stands, as its caller named it."""
    id: str
    started: str
    study: str
    target: str
    clock: str
    scale: float
    versions: dict[str, str]
    machines: dict[str, dict[str, Any]]
    """Facts that are one value, by machine; "" where the run has one machine without a name."""
    cells: tuple[KnownCell, ...]
    several: bool = False
    """The machines are kernels side by side: a cell's label `kernel` says which one it is of."""
    unmeasured: tuple[str, ...] = ()
    """Cells of the plan that never became whole, but those that are not possible on the machine."""

    @classmethod
    def of(
        cls, folder: str, run: Run, cells: tuple[KnownCell, ...], unmeasured: tuple[str, ...] = ()
    ) -> KnownRun:
        machines = run.machines or {"": run.facts}
        return cls(
            folder=folder,
            id=run.id,
            started=run.started,
            study=run.study.id,
            target=run.target,
            clock=run.clock,
            scale=run.scale,
            versions=dict(run.versions),
            machines={name: _single(facts) for name, facts in machines.items()},
            cells=cells,
            several=bool(run.machines),
            unmeasured=unmeasured,
        )

    def facts_of(self, cell: KnownCell) -> Mapping[str, Any]:
        return self.machines.get(cell.labels.get("kernel", "") if self.several else "", {})


def _known(column: ColumnSummary) -> KnownColumn:
    named = members(column, "max", "mean", "min", "stddev")
    return KnownColumn(column.count, {**named, **column.quantiles, **column.statistics})


def _single(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a machine that are one value and last longer than a moment."""
    values = facts.get("values")
    if not isinstance(values, dict):
        return {}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, (str, int, float)) and not name.startswith(OF_THE_MOMENT)
    }
