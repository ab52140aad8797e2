"""The late samples of a run, explained by what the kernel recorded (docs/why.md)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.model.decode import unknown
from howlate.model.facts import Finding
from howlate.model.loaded import RunContent
from howlate.store.continued import no_whole_cell
from howlate.why.explained_cells import ExplainedCell, explained_cells


class ExplainedRun(Struct, frozen=True):
    """A run whose late samples are to be explained."""

    content: RunContent
    """Its chosen cells alone."""
    cells: Sequence[ExplainedCell]
    """Those of them that were measured with a trace."""

    @property
    def without_trace(self) -> RunContent:
        """The other cells: only counters tell of them."""
        traced = {cell.id for cell in self.cells}
        return replace(
            self.content, cells=tuple(cell for cell in self.content.cells if cell.summary.id not in traced)
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.content.findings


def explained_run(path: Path, content: RunContent, wanted: str = "") -> ExplainedRun:
    """The cells that are named by their id or a part of it; all cells for ""."""
    ids = [cell.summary.id for cell in content.cells]
    if not ids:
        raise no_whole_cell(content.run, path)
    named = {each for each in ids if each == wanted} or {each for each in ids if wanted in each}
    if not named:
        raise UsageError(unknown("whole cell", wanted, ids))
    every = explained_cells(content)
    return ExplainedRun(
        replace(content, cells=tuple(cell for cell in content.cells if cell.summary.id in named)),
        tuple(cell for cell in every if cell.id in named),
    )
