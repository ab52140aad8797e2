"""Cells that ended at a latency above their `threshold`, each with a statement: the reason for exit code 1 of
`run`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from howlate.model.columns import LATENCY
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.model.study import spell
from howlate.model.summary import CellSummary
from howlate.statistics.labels import in_sentence, row_names
from howlate.words.statement import Statement, message

MOST_NAMED = 8

ENDED = message("threshold.ended", "{cell}: ended at the first latency above {threshold}.")
UNSTATED = message("threshold.unstated", "{cell}: ended by its threshold.")
"""An older run lacks the threshold."""
ON_CPU = message("threshold.on-cpu", "It was on CPU {cpu}, {at_s:seconds} after the first release.")
AT = message("threshold.at", "It was {at_s:seconds} after the first release.")
TRACED = message(
    "threshold.traced",
    "The kernel's trace was stopped there: read /sys/kernel/tracing/trace on that machine before anything else uses "
    "the trace.",
)
TRACE_IT = message(
    "threshold.trace-it",
    "To see what led there, measure again with `--set break-trace=true`, which stops the kernel's trace at such a "
    "latency.",
)
MORE = message(
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
    ended = [(name, s) for name, s in zip(names, summaries, strict=True) if s.at_threshold]
    thresholds = stated_thresholds(run)
    told: list[tuple[Statement, ...]] = [
        (_ended(name, thresholds.get(summary.id, "")), *_where(summary))
        for name, summary in ended[:MOST_NAMED]
    ]
    if len(ended) > MOST_NAMED:
        told.append((MORE(count=len(ended) - MOST_NAMED),))
    if ended and run is not None:
        told[-1] += _next(run, {summary.id for _, summary in ended})
    return told


def the_ended(summaries: Sequence[CellSummary]) -> CellSummary | None:
    """The cell that ended by its threshold; None too where several did."""
    ended = [summary for summary in summaries if summary.at_threshold]
    return ended[0] if len(ended) == 1 else None


def of_the_ended(summaries: Sequence[CellSummary], run: Run) -> tuple[Statement, ...]:
    """Where one cell ended so: by which threshold, and where and when the sample was."""
    ended = the_ended(summaries)
    threshold = stated_thresholds(run).get(ended.id, "") if ended is not None else ""
    if ended is None or not threshold:
        return ()
    names = row_names([summary.labels for summary in summaries])
    name = next(name for name, summary in zip(names, summaries, strict=True) if summary is ended)
    return (_ended(name, threshold), *_where(ended))


def _where(summary: CellSummary) -> tuple[Statement, ...]:
    """Of which CPU it was, if the thread was pinned, and when. The largest latency is the one that ended the cell."""
    column = summary.columns.get(LATENCY)
    if column is None or column.max_at_s is None:
        return ()
    cpu = column.max_cpu or summary.labels.get("cpu", "")
    return (ON_CPU(cpu=cpu, at_s=column.max_at_s) if cpu.isdecimal() else AT(at_s=column.max_at_s),)


def _next(run: Run, ended: Collection[str]) -> tuple[Statement, ...]:
    """Nothing where what led there was recorded."""
    if run.virtual:
        return ()
    cells = [cell for cell in run.plan.cells if cell.id in ended]
    if any(_is_on(cell, "break-trace") for cell in cells):
        return (TRACED(),)
    return () if all(_is_on(cell, "explain") for cell in cells) else (TRACE_IT(),)


def _is_on(cell: Cell, flag: str) -> bool:
    return spell(cell.parameters.get(flag, False)) in ("on", "true")


def _ended(cell: str, threshold: str) -> Statement:
    row = in_sentence(cell)
    return ENDED(cell=row, threshold=threshold) if threshold else UNSTATED(cell=row)


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
        if summary.at_threshold
    ]
