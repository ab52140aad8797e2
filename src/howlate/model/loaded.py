"""A run, loaded once and passed to rooms, documents and commands. store/loaded.py reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from howlate.model.bins import CellBins
from howlate.model.facts import Finding, parse_cpus
from howlate.model.run import Run
from howlate.model.summary import WATCHED, CellSummary, ColumnSummary

if TYPE_CHECKING:
    from howlate.model.trace import CellTrace


class MeasuredKernel(Struct, frozen=True):
    """One kernel as it was measured."""

    label: str
    release: str
    version: str
    command_line: str
    config: Mapping[str, str]
    """Its options; those in the facts if the whole configuration is not available."""
    whole: bool
    """Whether `config` is the whole configuration."""


class CellContent(Struct, frozen=True):
    """One whole cell."""

    summary: CellSummary
    bins: CellBins | None
    header: Mapping[str, Any] = field(default_factory=dict)
    """The stream's header: parameters, what was in force."""
    trailer: Mapping[str, Any] = field(default_factory=dict)
    """The stream's trailer; empty if the probe did not end by itself."""
    frequency_khz: tuple[int, int] | None = None
    """The smallest and the largest frequency seen on the measuring CPUs; None if unknown."""
    trace: CellTrace | None = None
    """What the kernel recorded around its worst samples; None if it was measured without that."""

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
        """How long the cell measured: from the trailer, else from releases and period."""
        ns = self.trailer.get("duration_ns")
        if isinstance(ns, int | float) and ns > 0:
            return float(ns) / 1e9
        return self.summary.scheduled_s

    @property
    def looked_s(self) -> float:
        """How long a CPU was looked at, 0 where that is not known: a test that waits for gaps rests between two
        windows, and counts what it watched over all its CPUs."""
        if WATCHED not in self.summary.outcomes:
            return self.seconds or 0.0
        cpus = len(parse_cpus(self.summary.labels.get("cpu", "")) or ()) or 1
        return float(self.summary.outcomes[WATCHED]) / 1e9 / cpus


class RunContent(Struct, frozen=True):
    """One run: the request, the target, and the measurements."""

    run: Run
    cells: Sequence[CellContent]
    """The whole cells, in the order of the plan."""
    failed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """error.json of each cell that could not be measured."""
    kernels: tuple[MeasuredKernel, ...] = ()
    """For a run in the lab: version, command line and configuration of each kernel."""
    name: str = ""
    """The user's name for the run among others; "" if there is none."""
    gone: tuple[str, ...] = ()
    """Cells that were measured and finished, and are not there any more."""

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Cells of the plan that never became whole. What is not possible on the machine is not among them."""
        return self.run.plan.unmeasured({*self.gone, *(summary.id for summary in self.summaries)})

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(Finding.from_json(dict(f)) for f in self.run.findings)

    @property
    def summaries(self) -> tuple[CellSummary, ...]:
        return tuple(cell.summary for cell in self.cells)
