"""How long a plan takes, and the plan as programs read it."""

from __future__ import annotations

from typing import Any

from howlate.measure.prepare import PlannedRun
from howlate.model.study import PART
from howlate.plan.cost import makespan
from howlate.words.say import english, to_json
from howlate.words.statement import Statement


def costs_of(prepared: PlannedRun) -> dict[str, float]:
    """How long each possible cell takes now, by its id."""
    possible = (c for c in prepared.run.plan.cells if not c.impossible and c.machine not in prepared.broken)
    return {cell.id: prepared.target.cost_s(cell) for cell in possible}


def left_s(prepared: PlannedRun) -> float:
    """How long all of them take, with the time between rounds."""
    costs, rounds = costs_of(prepared), dict[int, list[float]]()
    for cell in prepared.run.plan.cells:
        if cell.id in costs:
            rounds.setdefault(cell.repetition if prepared.every_s else 0, []).append(costs[cell.id])
    *before, last = [makespan(each, prepared.target.parallel) for each in rounds.values()] or [0.0]
    return sum(max(each, prepared.every_s) for each in before) + last


def parts_json(prepared: PlannedRun) -> list[dict[str, Any]]:
    """Of each part of the study: what it is, the number of its cells, and their time."""
    costs, run = costs_of(prepared), prepared.run
    rows = []
    for part in run.study.parts:
        cells = [cell.id for cell in run.plan.cells if cell.labels[PART] == part.id]
        possible = [costs[cell] for cell in cells if cell in costs]
        row = {"id": part.id, "title": part.title, "test": part.test, "cells": len(cells)}
        seconds = makespan(possible, prepared.target.parallel)
        rows.append({**row, "possible": len(possible), "expected_s": seconds})
    return rows


def plan_json(prepared: PlannedRun) -> dict[str, Any]:
    """What `--dry-run --json` prints."""
    run = prepared.run
    value = {
        "schema": 1,
        "clock": run.clock,
        "expected_s": run.plan.expected_s,
        "left_s": left_s(prepared),
    }
    if run.study.parts:
        value["parts"] = parts_json(prepared)
    if run.warnings or prepared.notes:
        warnings = [*run.warnings, *map(Statement.verbatim, prepared.notes)]
        value["warnings"] = [english(warning) for warning in warnings]
        value["statements"] = [to_json(warning) for warning in warnings]
    value |= run.plan.to_json()
    if prepared.broken:
        value["broken"] = {machine: problem.message for machine, problem in prepared.broken.items()}
    return value
