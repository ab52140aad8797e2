"""Cells that a latency above their `threshold` ended, each with a sentence: what `run` returns exit code 1 for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.charts._words import time_text
from howlate.language import _
from howlate.model.columns import LATENCY
from howlate.model.run import Run
from howlate.model.study import spell
from howlate.model.summary import CellSummary
from howlate.report.labels import row_names

MOST_NAMED = 8
REASON = "threshold"
"""The cell's stop reason."""


def threshold_sentences(
    summaries: Sequence[CellSummary], run: Run | None = None, micro: str = "us"
) -> list[str]:
    """A sentence for each cell, of many the first few and how many more."""
    names = row_names([summary.labels for summary in summaries])
    ended = [(name, s) for name, s in zip(names, summaries, strict=True) if s.stop_reason == REASON]
    said = [_sentence(name, summary, run, micro) for name, summary in ended[:MOST_NAMED]]
    if len(ended) > MOST_NAMED:
        said.append(
            _("{count} more cells were ended by their threshold.").format(count=len(ended) - MOST_NAMED)
        )
    return said


def _sentence(name: str, summary: CellSummary, run: Run | None, micro: str) -> str:
    latency_ns = _latency_ns(summary)
    stated = thresholds(run).get(summary.id, "")
    of = _("its threshold of {threshold}").format(threshold=stated) if stated else _("its threshold")
    if latency_ns is None:
        return _("{name}: ended by {of} before its planned length.").format(name=name, of=of)
    return _("{name}: ended by {of} before its planned length; the latency was {latency}.").format(
        name=name, of=of, latency=time_text(latency_ns, micro, " ")
    )


def _latency_ns(summary: CellSummary) -> int | None:
    column = summary.columns.get(LATENCY)
    return None if column is None else column.max


def thresholds(run: Run | None) -> dict[str, str]:
    """By cell the threshold that was asked for, as it is spelt."""
    cells = run.plan.cells if run is not None else ()
    return {cell.id: spell(cell.parameters["threshold"]) for cell in cells if "threshold" in cell.parameters}


def thresholds_json(summaries: Sequence[CellSummary], run: Run | None) -> list[dict[str, Any]]:
    """`exceeded` of `show --json`."""
    stated = thresholds(run)
    return [
        {"id": summary.id, "threshold": stated.get(summary.id, ""), "latency_ns": _latency_ns(summary)}
        for summary in summaries
        if summary.stop_reason == REASON
    ]
