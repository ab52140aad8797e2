"""Which way to sleep was the least late: what the numbers support, and what they do not (docs/studies.md)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from howlate.model.columns import LATENCY
from howlate.model.summary import CellSummary
from howlate.statistics.groups import Group, groups_of
from howlate.words.statement import Caption, Statement, message

AXIS = "timer"
MOST_NAMED = 3
BESIDE = ("kernel", "load", "policy", "period")
"""Labels of the rows that are ranked separately."""

AT = message("least-late.at", "{place}: smallest median {medians}; smallest maximum {maxima}.")
WAY = message("least-late.way", "{timer} {time_ns:time}")
BEST = message("least-late.best", "{ways} (median of all {count}: {middle_ns:time})")
TOO_FEW = message(
    "least-late.too-few-repetitions",
    "Observed, not ranked: {count} of the {needed} repetitions that a ranking takes. The same command with "
    "`--set order.repetitions=8` (in the lab `--seeds 8`) measures enough of them.",
)
COMPARE = message(
    "least-late.compare-run",
    "Observed, not ranked: `howlate compare {run} --by timer` says which of these ways differ.",
)

Ranked = list[tuple[float, str]]


def least_late(summaries: Sequence[CellSummary], run: str = "") -> list[Statement]:
    """For each load (and other varying labels) the ways with the smallest medians and maxima; empty if there
    are not several ways. A rank is what was observed; only pairs can show that the way is the cause. `run`:
    the argument of `howlate compare` for that."""
    every = groups_of(summaries)
    groups = [group for group in every if group.counted and group.spread(LATENCY) is not None]
    places: dict[tuple[tuple[str, str], ...], list[Group]] = {}
    for group in groups:
        rest = tuple(sorted((n, text) for n, text in group.labels.items() if n not in (AXIS, "cpu")))
        places.setdefault(rest, []).append(group)
    ranked = {
        rest: here for rest, here in places.items() if len({group.labels.get(AXIS) for group in here}) > 1
    }
    if not ranked:
        return []
    vary = [name for name in BESIDE if len({dict(rest).get(name) for rest in ranked}) > 1]
    statements = [_place(dict(rest), here, vary) for rest, here in ranked.items()]
    return [*statements, _caution(list(ranked.values()), run)]


def _place(labels: dict[str, str], groups: Sequence[Group], vary: Sequence[str]) -> Statement:
    medians, maxima = _best(_medians(groups)), _best(_maxima(groups))
    place = tuple(f"{name} {labels[name]}" for name in vary if name in labels)
    return AT(place=place or Caption("all rows"), medians=medians, maxima=maxima)


def _medians(groups: Sequence[Group]) -> Ranked:
    spreads = [(group.spread(LATENCY), group) for group in groups]
    return sorted(
        (s.medians, g.labels.get(AXIS, "")) for s, g in spreads if s is not None and s.medians is not None
    )


def _maxima(groups: Sequence[Group]) -> Ranked:
    spreads = [(group.spread(LATENCY), group) for group in groups]
    return sorted((s.maxima.median, g.labels.get(AXIS, "")) for s, g in spreads if s is not None)


def _best(ranked: Ranked) -> Caption | Statement | tuple[Statement, ...]:
    if not ranked:
        return Caption("not stated for want of samples")
    ways = tuple(WAY(timer=timer, time_ns=time_ns) for time_ns, timer in ranked[:MOST_NAMED])
    if len(ranked) <= MOST_NAMED:
        return ways
    return BEST(ways=ways, count=len(ranked), middle_ns=median(time_ns for time_ns, _timer in ranked))


def _caution(places: Sequence[Sequence[Group]], run: str) -> Statement:
    from howlate.sides.sides import COMPARED, fewest_pairs

    fewest = min(len(group.counted) for groups in places for group in groups)
    needed = fewest_pairs(len(COMPARED))
    if fewest < needed:
        return TOO_FEW(count=fewest, needed=needed)
    return COMPARE(run=run or "RUN")
