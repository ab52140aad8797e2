"""From which size on a time that was measured in a guest of several CPUs is the kernel's.

The CPUs of such a guest execute in turns, and an answer from another CPU waits for turns. The artefact table
(docs/lab/turns.md) says how long: where a turn is halved, each other CPU's turn is shorter by half of it, and no
figure moved by more than `WAITS` times the sum of these. A figure counts as the kernel's if halving the turn moves it
by less than `MOVE`, so the smallest such figure is that move divided by `MOVE`. To run each cell at two turns would
say it exactly, at three times the cost.

Median and maximum are judged apart, because a table shows both: a kernel without preemption has a maximum far above
the resolution and a median far below it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from howlate.model.guest_cpus import GUEST, GuestCpus
from howlate.model.summary import CellSummary, ColumnSummary
from howlate.words.statement import Statement, message

WAITS = 4
"""By how many times the sum of what the other CPUs' turns were shortened by a figure moved, at most: 3.2 in the
artefact table, rounded up because its maxima are those of 200 points."""
MOVE = 0.10
"""The share of a figure by which halving the turn may move it."""

BELOW = message(
    "resolution.below",
    "below the lab's resolution: {columns}. The CPUs of this guest execute in turns of {turn_ns:time}; halving them "
    "could move a time below {least_ns:time} by 10 % or more.",
)


def resolution_ns(guest: GuestCpus) -> int:
    """The smallest time that halving the turn moves by less than `MOVE`; 0 for one CPU, which takes no turns."""
    return round(WAITS * (guest.cpus - 1) * guest.turn_ns / 2 / MOVE)


def below_resolution(cells: Sequence[CellSummary]) -> list[Statement]:
    """What must be said of a row, of which these are the repetitions."""
    guest = GuestCpus.parse(cells[0].labels.get(GUEST, "")) if cells else GuestCpus()
    least_ns = resolution_ns(guest)
    if least_ns == 0:
        return []
    names = dict.fromkeys(name for cell in cells for name in cell.columns)
    below = []
    for name in names:
        columns = [cell.columns[name] for cell in cells if name in cell.columns]
        if max((column.max for column in columns if column.max is not None), default=0) < least_ns:
            below.append(name.removesuffix("_ns"))
        elif _smallest_median_ns(columns, least_ns) < least_ns:
            below.append(f"{name.removesuffix('_ns')} (p50)")
    return [BELOW(columns=below, turn_ns=guest.turn_ns, least_ns=least_ns)] if below else []


def _smallest_median_ns(columns: Iterable[ColumnSummary], otherwise_ns: float) -> float:
    medians = (column.quantiles.get("0.5") for column in columns)
    return min((median for median in medians if median is not None), default=otherwise_ns)
