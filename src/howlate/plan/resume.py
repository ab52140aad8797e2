"""Continuing a run that was cut short."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from howlate.model.plan import Cell, Plan
from howlate.model.study import spell


def still_to_measure(plan: Plan, whole: Collection[str]) -> tuple[Cell, ...]:
    """The possible cells that are not whole yet, in the plan's order: failed ones again, whole ones never."""
    done = frozenset(whole)
    return tuple(cell for cell in plan.cells if cell.id not in done and not cell.impossible)


def differences(before: Plan, now: Plan) -> list[str]:
    """The differences between two plans: each parameter whose values differ, and the number of repetitions of
    a point. A seed's own parameters differ with the seeds, so only the seeds are named."""
    changes = []
    if (was := _repetitions(before)) != (is_now := _repetitions(now)):
        changes.append(f"{was} seeds or repetitions of a point, now {is_now}")
    for what in ("test", "machine"):
        changes += _changed(
            what, [getattr(c, what) for c in before.cells], [getattr(c, what) for c in now.cells]
        )
    by_seed = {"seed", "first"} if changes else set()
    names = dict.fromkeys(name for plan in (before, now) for cell in plan.cells for name in cell.parameters)
    for name in names:
        if name not in by_seed:
            changes += _changed(name, _values(before, name), _values(now, name))
    return changes or ["other combinations of the same values"]


def _repetitions(plan: Plan) -> int:
    return max((cell.repetition for cell in plan.cells), default=0)


def _values(plan: Plan, name: str) -> list[str]:
    return [spell(cell.parameters[name]) if name in cell.parameters else "not set" for cell in plan.cells]


def _changed(name: str, before: Sequence[str], now: Sequence[str]) -> list[str]:
    was, is_now = (", ".join(text or "none" for text in dict.fromkeys(texts)) for texts in (before, now))
    return [] if set(before) == set(now) else [f"{name} {was}, now {is_now}"]


def is_same_plan(one: Plan, other: Plan) -> bool:
    return sorted(c.id for c in one.cells) == sorted(c.id for c in other.cells)


def has_same_points(one: Plan, other: Plan) -> bool:
    first, second = (sorted(c.id for c in plan.cells if c.repetition == 1) for plan in (one, other))
    return first == second


def has_all_of(one: Plan, other: Plan) -> bool:
    return {cell.id for cell in one.cells} >= {cell.id for cell in other.cells}
