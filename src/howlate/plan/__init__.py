"""Turns a study into its cells: changes, checks, matrix, order, resume. Pure: no file and no process."""

from howlate.model.study import KERNEL
from howlate.plan.changes import (
    apply_changes,
    is_length_set,
    parse_change,
    scale_study,
    scaled_words,
    with_every_timer,
    with_shared,
)
from howlate.plan.machines import SEEDS, kernels_of, on_machines, seeded
from howlate.plan.matrix import MOST_CELLS, Draft, Machines, Planned, draft_plan, make_plan
from howlate.plan.resume import differences, has_all_of, has_same_points, is_same_plan, still_to_measure

__all__ = [
    "KERNEL",
    "MOST_CELLS",
    "SEEDS",
    "Draft",
    "Machines",
    "Planned",
    "apply_changes",
    "differences",
    "draft_plan",
    "has_all_of",
    "has_same_points",
    "is_length_set",
    "is_same_plan",
    "kernels_of",
    "make_plan",
    "on_machines",
    "parse_change",
    "scale_study",
    "scaled_words",
    "seeded",
    "still_to_measure",
    "with_every_timer",
    "with_shared",
]
