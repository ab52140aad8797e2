"""What the charts of explained samples share: the ids by which a sample's point and its bar lead to each other."""

from __future__ import annotations

import re

from howlate.charts._figure import Subject
from howlate.model.trace import TraceCase


def ids_of(place: int, subject: Subject, case: TraceCase) -> tuple[str, str]:
    """Of the sample's point in the course of time, and of its bar. `place`: of the subject among all."""
    cell = re.sub(r"[^A-Za-z0-9.-]", "_", subject.summary.id)
    own = f"{place}-{cell}-{case.thread}-{case.release}"
    return f"at-{own}", f"case-{own}"
