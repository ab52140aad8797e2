"""From a cell's Parquet to summary.json and bins.json. Bounded memory, whatever the number of samples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from howlate.model.bins import CellBins
from howlate.model.summary import CellSummary


def summarise(folder: Path, cell_id: str, labels: Mapping[str, str]) -> CellSummary:
    """Reads samples.parquet, cpus.parquet, loads.parquet and cell.json of a cell's folder, writes bins.json,
    then summary.json."""
    raise NotImplementedError


def make_bins(folder: Path) -> CellBins:
    """The bins of a cell's folder, made from its samples and written to bins.json."""
    raise NotImplementedError
