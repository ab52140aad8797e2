"""From a study to its cells: changes, checks, matrix, order, resume. Pure: no file and no process."""

from howlate.plan.changes import apply_changes, parse_change, scale_study
from howlate.plan.matrix import MOST_CELLS, expected_stream_bytes, make_plan
from howlate.plan.resume import same_plan, still_to_measure

__all__ = [
    "MOST_CELLS",
    "apply_changes",
    "expected_stream_bytes",
    "make_plan",
    "parse_change",
    "same_plan",
    "scale_study",
    "still_to_measure",
]
