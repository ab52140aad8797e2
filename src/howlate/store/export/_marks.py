"""Which cells are not to be believed as they stand: every format says it with their samples."""

from __future__ import annotations

from howlate.model.summary import CellSummary
from howlate.statistics.load_reached import LOADED_SHARE, NOT_LOADED

VALID, LOADED = "valid", "loaded"
"""Columns of each row, where a format has named columns."""


def loaded(summary: CellSummary) -> bool | None:
    """Whether every load of the cell was there, also where the study expects that one starves; None where
    the probe did not live to say it."""
    if summary.stop_reason == "killed" and not summary.loads:
        return None
    absent = summary.starved or any(warning.rule == NOT_LOADED.id for warning in summary.warnings)
    return not absent and (summary.load_share is None or summary.load_share >= LOADED_SHARE)


def mark(summary: CellSummary) -> str:
    """What is put behind a cell's name: " (not loaded)" or " (not valid)"; "" where nothing is wrong with it."""
    if loaded(summary) is False:
        return " (not loaded)"
    return "" if summary.valid else " (not valid)"
