"""What `--dry-run` shows, as JSON for programs and on one screen: how many cells and how long, the points by the time
that they take, and what cannot be measured (docs/first-screen.md). Each cell in its order is in JSON. English, as
errors are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from howlate.document.first_screen.lines import (
    COLUMNS,
    FAINT,
    LEAST_COLUMNS,
    Line,
    cut,
    fitting,
    typed,
    under,
)
from howlate.document.first_screen.table import ScreenColumn, ScreenTable
from howlate.measure.prepare import PlannedRun
from howlate.model.plan import Cell
from howlate.model.study import PART
from howlate.plan.cost import makespan
from howlate.statistics.groups import VIRTUAL_TIME
from howlate.statistics.labels import row_names, title_of
from howlate.words.language import as_called
from howlate.words.printable import printable
from howlate.words.quantities import clock
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


MOST_ROWS, MOST_REASONS, MOST_NOTES = 16, 4, 3


def plan_screen(prepared: PlannedRun, width: int = COLUMNS, *, letters: bool = False) -> list[Line]:
    """`letters`: the terminal has no UTF-8."""
    width = max(LEAST_COLUMNS, min(width, COLUMNS))
    run = prepared.run
    costs = costs_of(prepared)
    parallel = prepared.target.parallel
    at_once = f" with {parallel} at once" if parallel > 1 else ""
    cached = " (less where the cache has them)" if run.virtual else ""
    time = clock(left_s(prepared))
    head = f"{len(costs)} of {len(run.plan.cells)} cells, about {time} in all{at_once}{cached}; nothing was measured."
    notes = [*map(english, run.warnings), *prepared.notes]
    shown = list(map(as_called, notes[:MOST_NOTES]))
    if len(notes) > MOST_NOTES:
        shown.append(f"{_more(len(notes) - MOST_NOTES, 'note')}: --json")
    if run.virtual:
        shown.append(f"{english(VIRTUAL_TIME())}.")
    told = [line for note in shown for line in under("", [f"! {note}"], width, 2)]
    reasons = list(_reasons(prepared, width))
    table = _rows(prepared, costs, width)

    def blocks(rows: int) -> list[list[Line]]:
        left = len(table) - 1 - rows
        more: list[Line] = [((f"  {_more(left, 'row')}: --json", FAINT),)] if left > 0 else []
        return [list(under("", [head], width, 2, style="bold")), [*table[: rows + 1], *more], reasons, told]

    return typed(fitting(blocks, MOST_ROWS, width), letters=letters)


def _more(count: int, what: str) -> str:
    return f"{count:,} more {what}{'s' * (count > 1)}"


def _rows(prepared: PlannedRun, costs: dict[str, float], width: int) -> list[Line]:
    """The headings, and a row for each part of the study, or for each point, those first that take most."""
    run, parallel = prepared.run, prepared.target.parallel
    groups: dict[str, list[Cell]] = {}
    for cell in run.plan.cells:
        if cell.id in costs:
            groups.setdefault(cell.labels[PART] if run.study.parts else cell.point, []).append(cell)
    if not groups:
        return []
    takes = {name: makespan([costs[cell.id] for cell in cells], parallel) for name, cells in groups.items()}
    order = sorted(groups, key=lambda name: -takes[name])
    if run.study.parts:
        names = [f"{part}: {title_of(part, run.study)}" for part in order]
    else:
        axes = [{axis: groups[name][0].labels.get(axis, "") for axis in run.axes} for name in order]
        names = row_names(axes)
    every = [groups[name] for name in order]
    table = ScreenTable(
        "",
        [printable(name) for name in names],
        [
            ScreenColumn("cells", [str(len(cells)) for cells in every]),
            ScreenColumn("each", [_each([costs[cell.id] for cell in cells]) for cells in every], 1),
            ScreenColumn("time", [clock(takes[name]) for name in order]),
        ],
    )
    head, lines = table.lines(width)
    return [head, *lines]


def _each(costs: Sequence[float]) -> str:
    return "in the cache" if not any(costs) else clock(max(costs))


def _reasons(prepared: PlannedRun, width: int) -> Iterator[Line]:
    """What cannot be measured, and what fails: each reason once, with how many cells it is of."""
    run = prepared.run
    found: dict[str, list[Cell]] = {}
    for cell in run.plan.cells:
        if cell.impossible:
            found.setdefault(f"not possible here: {cell.impossible}", []).append(cell)
        elif cell.machine in prepared.broken:
            problem = prepared.broken[cell.machine].message.splitlines()[0]
            found.setdefault(f"fails: {problem}", []).append(cell)
    by_count = sorted(found.items(), key=lambda item: -len(item[1]))
    for reason, cells in by_count[:MOST_REASONS]:
        labels = [printable(cells[0].labels.get(axis, "")) for axis in run.axes]
        name = ", ".join(filter(None, labels)) if len(cells) == 1 else f"{len(cells)} cells"
        yield from under("", [f"! {name}: {as_called(reason)}"], width, 2)
    if rest := by_count[MOST_REASONS:]:
        yield ((cut(f"  {sum(len(cells) for _reason, cells in rest)} more cells: --json", width), FAINT),)
