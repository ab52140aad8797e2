"""How often samples are later than deadlines in decades, of the row with the largest value: shown
where no deadline was stated. Facts of what was measured, not a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from howlate.model.columns import LATENCY
from howlate.model.loaded import RunContent
from howlate.model.summary import DeadlineSummary
from howlate.statistics.deadline import together
from howlate.statistics.groups import Group, groups_of
from howlate.statistics.labels import in_sentence, row_names
from howlate.statistics.phrases import column_heading
from howlate.words.quantities import given_text, odds, seconds_text
from howlate.words.say import Text, count_text
from howlate.words.statement import Caption, Listed, Statement, message

LATER = message("ladder.later", "Measured {of:list}; later than {steps:items}.")
LATER_ALONE = message("ladder.later-alone", "Later than {steps:items}.")
LONGER = message("ladder.longer", "Watched {of:list}; gaps longer than {steps:items}.")


class Ladder(Struct, frozen=True):
    """The ladder of one row."""

    row: str
    """"" where there is but one."""
    column: str
    seconds: float
    """How long it was measured; 0 where that is not known."""
    steps: tuple[DeadlineSummary, ...]
    gaps: bool = False
    threshold_ns: int = 0

    def statement(self) -> Statement:
        steps = tuple(self._step(step) for step in self._told())
        column = () if self.column == LATENCY else (column_heading(self.column),)
        where = tuple(filter(None, (in_sentence(self.row), *column)))
        of = tuple(filter(None, (seconds_text(self.seconds, " ") if self.seconds > 0 else "", *where)))
        if self.gaps:
            return LONGER(of=of, steps=steps)
        return LATER(of=of, steps=steps) if of else LATER_ALONE(steps=steps)

    def to_json(self) -> dict[str, Any]:
        return {
            "row": self.row,
            "column": self.column,
            "measured_s": self.seconds,
            "steps": [step.to_json() for step in self.steps],
        }

    def _told(self) -> Sequence[DeadlineSummary]:
        """From the first deadline that half of the releases keep, or from the gaps' threshold on."""
        if self.gaps:
            return [step for step in self.steps if step.deadline_ns >= self.threshold_ns] or self.steps[-1:]
        kept = [step for step in self.steps if step.misses * 2 <= step.releases]
        return kept or self.steps[-1:]

    def _step(self, step: DeadlineSummary) -> Text:
        return Listed((given_text(step.deadline_ns), self._how_often(step)), ": ")

    def _how_often(self, step: DeadlineSummary) -> Text:
        if not step.misses:
            return Caption("not known") if step.at_least else Caption("never")
        misses = count_text(step.misses)
        if not self.gaps and not step.late and not step.at_least:
            return Caption("{count} skipped", count=misses)
        times = odds(step.releases / step.misses, math.ceil if step.at_least else round)
        how_often = misses if self.gaps else Caption("1 in {many}", many=count_text(times))
        return Caption("at least {count}", count=how_often) if step.at_least else how_often


def ladder_of(content: RunContent) -> Ladder | None:
    """The ladder of the row with the largest value, of those that count. None where no latency was measured, or
    by an older howlate."""
    groups = groups_of(content.summaries, content.run)
    names = row_names([group.labels for group in groups])
    seconds = {cell.summary.id: cell.looked_s for cell in content.cells}
    named = [
        (group, name if len(groups) > 1 else "")
        for group, name in zip(groups, names, strict=True)
        if any(cell.ladder for cell in group.seen)
    ]
    if not named:
        return None
    group, name = max(named, key=lambda pair: _largest(pair[0]))
    return _of_row(group, name, seconds)


def _largest(group: Group) -> int:
    return max(cell.columns[cell.latest].max or 0 for cell in group.latest if cell.ladder)


def _of_row(group: Group, name: str, seconds: Mapping[str, float]) -> Ladder:
    cells = [cell for cell in group.latest if cell.ladder]
    deadlines = max((cell.ladder for cell in cells), key=len)
    steps = [together(at_step(cell.ladder, step.deadline_ns) for cell in cells) for step in deadlines]
    worst = max(cells, key=lambda cell: cell.columns[cell.latest].max or 0)
    return Ladder(
        name,
        worst.latest,
        sum(seconds.get(cell.id, 0.0) for cell in cells),
        tuple(step for step in steps if step is not None),
        worst.waits_for_gaps,
        max(cell.known.threshold_ns or 0 for cell in cells),
    )


def at_step(ladder: Sequence[DeadlineSummary], deadline_ns: int) -> DeadlineSummary:
    """A step of a cell's ladder; above its last one only what was never answered is missed."""
    if (step := next((each for each in ladder if each.deadline_ns == deadline_ns), None)) is not None:
        return step
    last = ladder[-1]
    return DeadlineSummary(deadline_ns, last.releases, 0, last.unserved, at_least=last.at_least)
