"""What a report is made of: a run with its cells, read from its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howlate.errors import UsageError
from howlate.language import N_, _, retold
from howlate.model.bins import CellBins
from howlate.model.finding import Finding
from howlate.model.run import Run
from howlate.model.summary import CellSummary, ColumnSummary
from howlate.report.kernels import Kernel, read_kernels
from howlate.report.labels import measured_s
from howlate.store.run_folder import RunFolder


@dataclass(frozen=True)
class CellContent:
    """One whole cell."""

    summary: CellSummary
    bins: CellBins | None
    header: Mapping[str, Any] = field(default_factory=dict)
    """The stream's header: parameters, what was in force."""
    trailer: Mapping[str, Any] = field(default_factory=dict)
    """The stream's trailer; empty where the probe did not end by itself."""
    frequency_khz: tuple[int, int] | None = None
    """Of the measuring CPUs, the smallest and the largest that was seen; None where nothing says it."""

    @property
    def column_name(self) -> str:
        """The column that the report is about."""
        if self.bins is not None and self.bins.column in self.summary.columns:
            return self.bins.column
        return next(iter(self.summary.columns), "latency_ns")

    @property
    def column(self) -> ColumnSummary | None:
        return self.summary.columns.get(self.column_name)

    @property
    def seconds(self) -> float | None:
        """How long it measured: as the probe said, else from blocks, else from releases and period."""
        said = _said_s(self.trailer)
        if said is not None:
            return said
        if self.bins is not None and self.bins.blocks.start_s:
            return self.bins.blocks.start_s[-1] + self.bins.blocks.width_s
        return measured_s(self.summary)


@dataclass(frozen=True)
class RunContent:
    """One run: what was asked, where, and what was measured."""

    run: Run
    cells: Sequence[CellContent]
    failed: Mapping[str, str] = field(default_factory=dict)
    """Cells that could not be measured, and why."""
    kernels: tuple[Kernel, ...] = ()
    """Of a run of the lab's: version, command line and configuration of each."""
    name: str = ""
    """What the user calls it beside others; "" for nothing."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(Finding.from_json(dict(f)) for f in self.run.findings)


def read_content(path: Path, bins: bool = True) -> RunContent:
    """Everything that the report shows of a run folder; no sample is read where bins.json is there. Without `bins`
    what tables need: neither bins nor frequencies."""
    if not bins:
        return _without_bins(RunFolder.open(path))
    from howlate.report.disturbances import frequencies_khz, told_khz
    from howlate.store.summarise import bins_of  # needs duckdb, which `show` does not

    folder = RunFolder.open(path)
    headers = [(cell_id, _mapping(folder.cell(cell_id).get("header"))) for cell_id in folder.whole_cells()]
    frequencies = frequencies_khz(folder.path, headers)
    cells = []
    for cell_id in folder.whole_cells():
        recorded = folder.cell(cell_id)
        trailer = _mapping(recorded.get("trailer"))
        cells.append(
            CellContent(
                folder.summary(cell_id),
                bins_of(folder, cell_id),
                _mapping(recorded.get("header")),
                trailer,
                told_khz(trailer) or frequencies.get(cell_id),
            )
        )
    failed = {name: _reason(error) for name, error in folder.failed_cells().items()}
    run = folder.read_run()
    return RunContent(run, tuple(cells), failed, read_kernels(folder, run))


def _without_bins(folder: RunFolder) -> RunContent:
    cells = tuple(CellContent(summary, None) for summary in folder.summaries())
    failed = {name: _reason(error) for name, error in folder.failed_cells().items()}
    run = folder.read_run()
    return RunContent(run, cells, failed, read_kernels(folder, run))


def measured_seconds(folder: RunFolder) -> dict[str, float]:
    """How long each whole cell measured, as its probe said."""
    said = {
        cell_id: _said_s(_mapping(folder.cell(cell_id).get("trailer"))) for cell_id in folder.whole_cells()
    }
    return {cell_id: seconds for cell_id, seconds in said.items() if seconds is not None}


def _said_s(trailer: Mapping[str, Any]) -> float | None:
    ns = trailer.get("duration_ns")
    return float(ns) / 1e9 if isinstance(ns, int | float) and ns > 0 else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _reason(error: Mapping[str, Any]) -> str:
    said = retold(str(error.get("message") or N_("it failed")))
    remedy = retold(str(error.get("remedy", "")))
    if not remedy:
        return said
    both = (said.rstrip("."), f"{remedy[:1].upper()}{remedy[1:]}")
    return " ".join(_("{sentence}.").format(sentence=its) for its in both)


def must_be_one_clock(runs: Sequence[RunContent]) -> None:
    """Virtual and real time are never put into one table."""
    if len({content.run.clock for content in runs}) > 1:
        raise UsageError(
            "these runs are of two clocks, real and virtual time: their numbers have nothing in common",
            "make a report of each",
        )
