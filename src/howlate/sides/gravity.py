"""By how much real-time cores program their timers ahead of the release, which their latencies are smaller by; stated
wherever such latencies are shown with others (docs/cores.md, "Gravity")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from howlate.model.study import TIMER
from howlate.model.summary import CellSummary
from howlate.sides.joined import Joined, MatrixPlace, described, labels_that_vary
from howlate.statistics.valid import GRAVITY
from howlate.words.statement import Statement, message

OF = message("gravity.of", "{gravity_ns:time} ({names:all})")
ALIKE = message("gravity.alike", "latencies are smaller by the gravity of the real-time core: {values:items}")
DIFFERS = message(
    "gravity.differs",
    "latencies must not be compared as they stand (measure with --set knob=core_gravity=0, or add the gravity), "
    "because those of a real-time core are smaller by its gravity: {values:items}",
)
BESIDE_PUBLISHED = message(
    "gravity.beside-published",
    "the published figures must not be compared with ours as they stand, because ours are smaller by the gravity of "
    "the real-time core, and that of the published ones is not known: {values:items}",
)

ANTICIPATED = message(
    "verdict.anticipated",
    "In {rows:list} the real-time core programs its timers {gravity_ns:time} ahead of the release (its gravity), and "
    "a task that starts before its release keeps every deadline: from the timer on it has {from_timer_ns:time}.",
)

Names = Mapping[int, Sequence[str]]
"""By gravity in nanoseconds, what has it."""


def gravity_ns(cells: Iterable[CellSummary]) -> int:
    """The largest of these cells; 0 without a core, and for a core that programs its timers to the release."""
    return max((_of_cell(cell) for cell in cells), default=0)


def gravity_of(joined: Joined) -> Statement | None:
    """The gravity of each side; None if none has any."""
    names: dict[int, list[str]] = {}
    for number, side in enumerate(joined.sides):
        of_side = [
            (place, gravity_ns(place.members[number].group.cells))
            for place in joined.places
            if number in place.members
        ]
        for name, gravity in _named(side.name, of_side):
            names.setdefault(gravity, []).append(name)
    return stated(names)


def stated(names: Names) -> Statement | None:
    if not any(names):
        return None
    return (DIFFERS if len(names) > 1 else ALIKE)(values=_values(names))


def anticipated(rows: Sequence[tuple[str, int, int]]) -> list[Statement]:
    """Of judged rows by name, gravity and deadline: what a deadline means where the core is ahead of the release."""
    names: dict[tuple[int, int], list[str]] = {}
    for name, gravity, deadline_ns in rows:
        names.setdefault((gravity, deadline_ns), []).append(name)
    told = []
    for (gravity, deadline_ns), own in names.items():
        values = {"gravity_ns": gravity, "from_timer_ns": deadline_ns + gravity}
        if gravity:
            told.append(ANTICIPATED(rows=tuple(own), **values))
    return told


def beside_published(names: Names) -> Statement | None:
    """The gravity of sides with published figures; None if none of them has one."""
    held = {gravity: own for gravity, own in names.items() if gravity}
    return BESIDE_PUBLISHED(values=_values(held)) if held else None


def _of_cell(cell: CellSummary) -> int:
    stated = (warning.values for warning in cell.warnings if warning.rule == GRAVITY.id)
    return max((int(values.get("gravity_ns", 0)) for values in stated), default=0)


def _named(side: str, of_side: Sequence[tuple[MatrixPlace, int]]) -> list[tuple[str, int]]:
    """The side with its gravity; if it has several, each with the label that decides it: a core's handlers have
    another than its tasks."""
    gravities = {gravity for _, gravity in of_side}
    if len(gravities) == 1:
        return [(side, gravities.pop())]
    vary = sorted(labels_that_vary([place for place, _ in of_side]), key=lambda name: name != TIMER)
    for labels in ([name] for name in vary):
        told = dict.fromkeys((f"{side}, {described(place, labels)}", gravity) for place, gravity in of_side)
        if len({name for name, _ in told}) == len(told):
            return list(told)
    return [(f"{side}, {described(place, vary)}", gravity) for place, gravity in of_side]


def _values(names: Names) -> tuple[Statement, ...]:
    return tuple(OF(gravity_ns=gravity, names=tuple(own)) for gravity, own in names.items())
