"""How many releases missed a deadline that the user stated, in a sentence: facts of what was measured, no verdict."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from howlate.charts._words import time_text
from howlate.language import _
from howlate.model.summary import CellSummary, DeadlineSummary
from howlate.report.labels import axes_that_vary
from howlate.stats.deadline import by_deadline, together
from howlate.stats.groups import groups_of


def deadline_sentences(
    summaries: Sequence[CellSummary], micro: str = "us", thousands: str = ","
) -> list[str]:
    """A sentence for each deadline; of several rows also the one with the most misses. Invalid cells do not count."""
    space = " " if thousands == "," else thousands
    said = []
    for deadline_ns, cells in by_deadline(summaries).items():
        every = together(cell.deadline for cell in cells if cell.deadline is not None)
        assert every is not None
        time = re.sub(r"\.0+(?=\D)", "", time_text(deadline_ns, micro, space)) if deadline_ns else ""
        said.append(" ".join([_of_all(every, time, thousands), *_worst_row(cells, every, thousands)]))
    return said


def _of_all(every: DeadlineSummary, time: str, thousands: str) -> str:
    the_deadline = _("the deadline of {time}").format(time=time) if time else _("the deadline")
    releases = _grouped(every.releases, thousands)
    if not every.misses:
        return _("None of {releases} releases missed {the_deadline}.").format(
            releases=releases, the_deadline=the_deadline
        )
    return _(
        "Of {releases} releases {misses} missed {the_deadline} ({late} late, {unserved} never served)."
    ).format(
        releases=releases,
        misses=_grouped(every.misses, thousands),
        the_deadline=the_deadline,
        late=_grouped(every.late, thousands),
        unserved=_grouped(every.unserved, thousands),
    )


def _worst_row(cells: Sequence[CellSummary], every: DeadlineSummary, thousands: str) -> list[str]:
    groups = groups_of(cells)
    if len(groups) < 2 or not every.misses:
        return []
    axes = axes_that_vary([group.labels for group in groups])
    rows = [(group.deadline, " · ".join(group.labels.get(axis, "-") for axis in axes)) for group in groups]
    counted = [(its, name) for its, name in rows if its is not None]
    worst, name = max(counted, key=lambda row: row[0].misses / max(1, row[0].releases))
    return [
        _("The largest share missed it in the row {name}: {misses} of {releases}.").format(
            name=name,
            misses=_grouped(worst.misses, thousands),
            releases=_grouped(worst.releases, thousands),
        )
    ]


def _grouped(count: int, thousands: str) -> str:
    return f"{count:,}".replace(",", thousands)


def deadlines_json(summaries: Sequence[CellSummary]) -> list[dict[str, Any]]:
    """`deadlines` of `show --json`: the valid cells together, for each deadline that was stated."""
    counts = [
        together(cell.deadline for cell in cells if cell.deadline is not None)
        for cells in by_deadline(summaries).values()
    ]
    return [its.to_json() for its in counts if its is not None]
