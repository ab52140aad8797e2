"""What `why --json` prints, exactly (docs/why.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from howlate.model.cause import CausePart, ExplainedCase, Lateness
from howlate.model.decode import members
from howlate.model.facts import Finding
from howlate.model.loaded import RunContent
from howlate.model.trace import UNKNOWN_PRIO, TracedTask
from howlate.why.explained_cells import CauseSum, ExplainedCell, cause_sums
from howlate.why.flow import ExplainedRun
from howlate.why.late_cases import no_cases_statement
from howlate.why.late_counters import counters_json
from howlate.why.late_parts import part_text
from howlate.why.on_screen import looked_at, weighty_gains
from howlate.why.remedies import findings_for, of_sum, shares_of
from howlate.words import language
from howlate.words.say import english_text
from howlate.words.say import to_json as statement_json

SCHEMA = 2


def recorded_json(found: ExplainedRun) -> dict[str, Any]:
    """The causes of a run whose events were recorded; of cells without events what was counted."""
    return {**cells_json(found.cells, found.content), "counters": counters_json(found.without_trace.cells)}


def cells_json(cells: Sequence[ExplainedCell], content: RunContent) -> dict[str, Any]:
    """All causes of the samples that the screen looks at, and all samples, whether recorded or played again."""
    counted = looked_at(cells, [content])
    ids = {cell.id for cell in counted}
    sums = cause_sums(counted)
    with language.english():
        gains = weighty_gains(sums, content.findings)
    return {
        "schema": SCHEMA,
        "causes": causes_json(sums, content.findings),
        "advice": [{"text": g.text, "saves_ns": g.ns, "open": g.is_open, "kernel": g.kernel} for g in gains],
        "cells": [{**cell_json(cell), "counted": cell.id in ids} for cell in cells],
    }


def causes_json(sums: Sequence[CauseSum], findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [
        {
            "cause": str(each.cause),
            **members(each, "name", "cases", "largest_in", "total_ns", "worst_ns"),
            "worst_in": members(each.worst_in, "cell", "thread", "release"),
            **_remedy_json(each, findings),
        }
        for each in sums
    ]


def _remedy_json(cause: CauseSum, findings: Sequence[Finding]) -> dict[str, Any]:
    remedy = of_sum(cause)
    if remedy is None:
        return {"remedy": None, "saves_ns": 0, "checks": [], "knobs": []}
    return {
        "remedy": statement_json(remedy.text()),
        "saves_ns": sum(ns for ns, each in shares_of(cause) if each.text is remedy.text),
        "checks": [
            members(each, "check", "level", "change") for each in findings_for(remedy, findings, cause.kernel)
        ],
        "knobs": list(remedy.knobs),
    }


def cell_json(cell: ExplainedCell) -> dict[str, Any]:
    return {
        "id": cell.id,
        "labels": dict(cell.labels),
        **members(cell, "samples", "median_ns", "own_cost_ns"),
        "absent": list(cell.absent),
        **members(cell, "cases_lost", "events_lost", "events_missed"),
        **({} if cell.cases else {"no_cases": statement_json(no_cases_statement(cell))}),
        "cases": [_case_json(case) for case in cell.cases],
    }


def _case_json(explained: ExplainedCase) -> dict[str, Any]:
    return {
        **members(explained.case, "thread", "release", "release_ns", "latency_ns", "state"),
        "steal_permille": explained.steal_permille,
        "parts": [_part_json(part) for part in explained.parts],
        **({} if explained.replayed is None else _replay_json(explained.replayed)),
    }


def lateness_json(lateness: Lateness) -> dict[str, Any]:
    """A latency that was played again."""
    parts = [_part_json(part) for part in lateness.parts]
    return {"latency_ns": lateness.latency_ns, "parts": parts, **_replay_json(lateness)}


def _replay_json(lateness: Lateness) -> dict[str, Any]:
    return {
        **members(lateness, "instructions", "halted_ns"),
        "functions": [
            {
                **members(each, "name", "self_ns", "inclusive_ns"),
                "stack": list(each.stack),
                **({"place": each.place} if each.place else {}),
            }
            for each in lateness.functions
        ],
    }


def _part_json(part: CausePart) -> dict[str, Any]:
    return {
        "cause": str(part.cause),
        "from_ns": part.from_ns,
        "ns": part.ns,
        **({"name": part.name} if part.name else {}),
        **({"task": _task_json(part.task)} if part.task is not None else {}),
        **({"why": str(part.why)} if part.why is not None else {}),
        **({"function": part.function} if part.function else {}),
        **({"callers": list(part.callers)} if part.callers else {}),
        **({"idle_state": part.state} if part.state is not None else {}),
        **({"reasons": {str(why): ns for why, ns in part.reasons}} if part.reasons else {}),
        **({"place": part.place} if part.place else {}),
        "text": english_text(part_text(part)),
    }


def _task_json(task: TracedTask) -> dict[str, Any]:
    prio = {} if task.prio == UNKNOWN_PRIO else {"prio": task.prio}
    return {"pid": task.pid, "name": task.name, **prio}
