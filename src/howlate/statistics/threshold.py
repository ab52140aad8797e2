"""Cells that ended at a latency above their `threshold`, each with a statement: the reason for exit code 1 of
`run`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from howlate.model.columns import LATENCY
from howlate.model.run import Run
from howlate.model.study import spell
from howlate.model.summary import CellSummary
from howlate.statistics.labels import row_names
from howlate.words.statement import Statement, rule

MOST_NAMED = 8
REASON = "threshold"
"""The cell's stop reason."""

ENDED_AT = rule(
    "threshold.ended-at",
    "{cell}: ended by its threshold of {threshold} before its planned length; the latency was {latency_ns:time}.",
)
ENDED_BY = rule(
    "threshold.ended-by", "{cell}: ended by its threshold of {threshold} before its planned length."
)
UNSTATED_AT = rule(
    "threshold.unstated-at",
    "{cell}: ended by its threshold before its planned length; the latency was {latency_ns:time}.",
)
UNSTATED = rule("threshold.unstated", "{cell}: ended by its threshold before its planned length.")
ON_CPU = rule("threshold.on-cpu", "It was on CPU {cpu}, {at_s:seconds} after the first release.")
AT = rule("threshold.at", "It was {at_s:seconds} after the first release.")
TRACED = rule(
    "threshold.traced",
    "The kernel's trace was stopped there: read /sys/kernel/tracing/trace on that machine before anything else uses "
    "the trace.",
)
TRACE_IT = rule(
    "threshold.trace-it",
    "To see what led there, measure again with `--set break-trace=true`, which stops the kernel's trace at such a "
    "latency.",
)
SAME_AGAIN = rule(
    "threshold.same-again",
    "The same seed of the same kernel reaches it again at the same instant of virtual time.",
)
MORE = rule(
    "threshold.more",
    "{count} more cell was ended by its threshold.",
    "{count} more cells were ended by their threshold.",
    by="count",
)


def threshold_statements(
    summaries: Sequence[CellSummary], run: Run | None = None
) -> list[tuple[Statement, ...]]:
    """Sentences for each cell: what ended it, where and when; of many the first few and how many more. Behind the
    last what to do next."""
    names = row_names([summary.labels for summary in summaries])
    ended = [(name, s) for name, s in zip(names, summaries, strict=True) if s.stop_reason == REASON]
    thresholds = stated_thresholds(run)
    told: list[tuple[Statement, ...]] = [
        (_ended(name, thresholds.get(summary.id, ""), _latency_ns(summary)), *_where(summary))
        for name, summary in ended[:MOST_NAMED]
    ]
    if len(ended) > MOST_NAMED:
        told.append((MORE(count=len(ended) - MOST_NAMED),))
    if ended and run is not None:
        told[-1] += (_next(run, {summary.id for _, summary in ended}),)
    return told


def _where(summary: CellSummary) -> tuple[Statement, ...]:
    """Of which CPU it was, if the thread was pinned, and when. The largest latency is the one that ended the cell."""
    column = summary.columns.get(LATENCY)
    if column is None or column.max_at_s is None:
        return ()
    cpu = column.max_cpu or summary.labels.get("cpu", "")
    return (ON_CPU(cpu=cpu, at_s=column.max_at_s) if cpu.isdecimal() else AT(at_s=column.max_at_s),)


def _next(run: Run, ended: Collection[str]) -> Statement:
    if run.virtual:
        return SAME_AGAIN()
    cells = [cell for cell in run.plan.cells if cell.id in ended]
    traced = any(spell(cell.parameters.get("break-trace", False)) in ("on", "true") for cell in cells)
    return TRACED() if traced else TRACE_IT()


def _ended(cell: str, threshold: str, latency_ns: int | None) -> Statement:
    """An older run may not record the threshold; a test of data points has no latency."""
    if threshold and latency_ns is not None:
        return ENDED_AT(cell=cell, threshold=threshold, latency_ns=latency_ns)
    if threshold:
        return ENDED_BY(cell=cell, threshold=threshold)
    return UNSTATED(cell=cell) if latency_ns is None else UNSTATED_AT(cell=cell, latency_ns=latency_ns)


def _latency_ns(summary: CellSummary) -> int | None:
    column = summary.columns.get(LATENCY)
    return None if column is None else column.max


def stated_thresholds(run: Run | None) -> dict[str, str]:
    """The requested threshold of each cell, as spelt."""
    cells = run.plan.cells if run is not None else ()
    return {cell.id: spell(cell.parameters["threshold"]) for cell in cells if "threshold" in cell.parameters}


def thresholds_json(summaries: Sequence[CellSummary], run: Run | None) -> list[dict[str, Any]]:
    """`exceeded` of `show --json`."""
    stated = stated_thresholds(run)
    return [
        {
            "id": summary.id,
            "threshold": stated.get(summary.id, ""),
            "latency_ns": _latency_ns(summary),
            **{name: value for told in _where(summary) for name, value in told.values.items()},
        }
        for summary in summaries
        if summary.stop_reason == REASON
    ]
