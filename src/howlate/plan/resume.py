"""Going on with a run that was cut short."""

from __future__ import annotations

from collections.abc import Collection

from howlate.model.plan import Cell, Plan


def still_to_measure(plan: Plan, whole: Collection[str]) -> tuple[Cell, ...]:
    """The possible cells that are not whole yet, in the plan's order: failed ones again, whole ones never."""
    done = frozenset(whole)
    return tuple(cell for cell in plan.cells if cell.id not in done and not cell.impossible)


def same_plan(one: Plan, other: Plan) -> bool:
    """Whether two plans measure the same cells; the order may differ."""
    return sorted(c.id for c in one.cells) == sorted(c.id for c in other.cells)
