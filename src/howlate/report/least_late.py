"""Which way to sleep was the least late, in words: what the numbers carry, and what they do not (docs/studies.md)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from howlate.charts._words import time_text
from howlate.language import _
from howlate.model.columns import LATENCY
from howlate.model.summary import CellSummary
from howlate.report.parts import under
from howlate.stats.groups import Group, groups_of

AXIS = "timer"
MOST_NAMED = 3
BESIDE = ("kernel", "load", "policy", "period")
"""What else is told of the rows that are ranked among themselves."""

Ranked = list[tuple[float, str]]


def least_late(summaries: Sequence[CellSummary], micro: str = "us", run: str = "") -> list[str]:
    """For each load (and whatever else varies) the ways with the smallest medians and maxima; nothing where
    there are not several ways. A rank is what was seen: whether it is the way's doing, pairs must show. `run`: what
    `howlate compare` is given to look at them."""
    groups = [group for group in groups_of(summaries) if group.spread(LATENCY) is not None]
    places: dict[tuple[tuple[str, str], ...], list[Group]] = {}
    for group in groups:
        rest = tuple(sorted((n, text) for n, text in group.labels.items() if n not in (AXIS, "cpu")))
        places.setdefault(rest, []).append(group)
    ranked = {rest: some for rest, some in places.items() if len({g.labels.get(AXIS) for g in some}) > 1}
    if not ranked:
        return []
    vary = [name for name in BESIDE if len({dict(rest).get(name) for rest in ranked}) > 1]
    said = [_place(dict(rest), some, vary, micro) for rest, some in ranked.items()]
    return [*said, _caution(list(ranked.values()), run)]


def _place(labels: dict[str, str], groups: Sequence[Group], vary: Sequence[str], micro: str) -> str:
    where = ", ".join(under(labels[n]) if n == "load" else f"{n} {labels[n]}" for n in vary if n in labels)
    medians, maxima = _medians(groups), _maxima(groups)
    said = _("smallest maximum {maxima}").format(maxima=_listed(maxima, micro))
    if medians:
        said = _("smallest median {medians}; {rest}").format(medians=_listed(medians, micro), rest=said)
    text = f"{where}: {said}." if where else f"{said}."
    return text[:1].upper() + text[1:]


def _medians(groups: Sequence[Group]) -> Ranked:
    """Of the ways that state one, smallest first."""
    spreads = [(group.spread(LATENCY), group) for group in groups]
    return sorted(
        (s.medians, g.labels.get(AXIS, "")) for s, g in spreads if s is not None and s.medians is not None
    )


def _maxima(groups: Sequence[Group]) -> Ranked:
    """The median of the repetitions' maxima."""
    spreads = [(group.spread(LATENCY), group) for group in groups]
    return sorted((s.maxima.median, g.labels.get(AXIS, "")) for s, g in spreads if s is not None)


def _listed(ranked: Ranked, micro: str) -> str:
    best = ", ".join(f"{name} {time_text(ns, micro, ' ')}" for ns, name in ranked[:MOST_NAMED])
    if len(ranked) <= MOST_NAMED:
        return best
    return _("{best} (median of all {count}: {middle})").format(
        best=best, count=len(ranked), middle=time_text(median(ns for ns, _name in ranked), micro, " ")
    )


def _caution(places: Sequence[Sequence[Group]], run: str) -> str:
    fewest = min(len(group.counted) for groups in places for group in groups)
    if fewest < 6:
        return _(
            "This is what was seen, and no ranking of the ways: {count} of the 6 repetitions that tell ways apart. "
            "The same command with `--set order.repetitions=8` (in the lab `--seeds 8`) measures enough of them."
        ).format(count=fewest)
    if not run:
        return _(
            "This is what was seen; `howlate compare --by timer` with this run's folder says which ways differ."
        )
    return _(
        "This is what was seen; `howlate compare {run} --by timer` says which of these ways differ."
    ).format(run=run)
