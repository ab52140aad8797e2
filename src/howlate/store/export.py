"""Whole runs in other formats, streamed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from howlate.store.run_folder import RunFolder


def export_csv(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """All samples of the cells (default: all whole ones) with their labels as columns; returns the rows
    written."""
    raise NotImplementedError


def export_parquet(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """The same as one Parquet file."""
    raise NotImplementedError


def export_text(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """The three-column text of sh7780-2008: time in s, wake-up latency in us, interrupt handler latency in us
    (nan)."""
    raise NotImplementedError
