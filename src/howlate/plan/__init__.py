"""From a study to its cells: changes, checks, matrix, order, resume. Pure: no file and no process."""

from howlate.model.study import KERNEL
from howlate.plan.changes import (
    apply_changes,
    is_length_set,
    parse_change,
    scale_study,
    scaled_words,
    with_shared,
)
from howlate.plan.lasting import too_short
from howlate.plan.machines import SEEDS, kernels_of, on_machines, seeded
from howlate.plan.matrix import MOST_CELLS, Machines, expected_stream_bytes, make_plan, planned_length
from howlate.plan.resume import differences, same_plan, still_to_measure

__all__ = [
    "KERNEL",
    "MOST_CELLS",
    "SEEDS",
    "Machines",
    "apply_changes",
    "differences",
    "expected_stream_bytes",
    "is_length_set",
    "kernels_of",
    "make_plan",
    "on_machines",
    "parse_change",
    "planned_length",
    "same_plan",
    "scale_study",
    "scaled_words",
    "seeded",
    "still_to_measure",
    "too_short",
    "with_shared",
]
