"""The course of one statistic over the runs of a configuration: where its level changed, by how much, and what else
changed then (docs/history.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from statistics import NormalDist, median
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from howlate.history.known_runs import KnownRun
from howlate.history.level_shifts import (
    FEWEST,
    OF_TRENDS,
    RUNS,
    Reals,
    Shift,
    correlation_of,
    difference,
    fewest_of,
    interval_of,
    places_of,
    refined,
    scores_of,
    shifts,
)
from howlate.statistics.diagnose import Trend, kendall_trend
from howlate.words.statement import Statement, message

TIMES = message(
    "history.times", "{ratio:significant} times as large ({low:significant} to {high:significant})"
)
MOVED_BY = message(
    "history.moved-by", "{by_ns:time} apart ({low_ns:time-at-least} to {high_ns:time-at-most})"
)
CHANGED_THEN = message("history.changed-then", "What changed with run {run}: {facts:items}.")
"""Of that run, or of one near it."""
NOTHING_CHANGED = message(
    "history.nothing-changed",
    "No recorded fact of the machine changed about then; what howlate does not record may have, such as other "
    "software, firmware or the temperature.",
)
FACTS_UNKNOWN = message(
    "history.facts-unknown", "These runs do not say what the machine was, so nothing can be named."
)
FACT_CHANGED = message("history.fact-changed", "{fact} from {before} to {after}")

NEARBY = 10
"""The place of a change is an estimate: facts that changed within this number of runs are named where none changed
with the run itself."""
MARGIN = 0.1
"""A smaller change of a level is called none."""
BOOT = "kernel.boot_id"
_FIRST_TREND = 16
"""A trend is tested after this number of runs, after twice that, and so on."""
_MOST_INFLATED = 2.0
"""What is left of a smooth rise after a straight one looks as if neighbours were alike."""
_FIRST_FACTS = ("kernel.release", "kernel.version", "kernel.cmdline", "howlate", "probe")


class PastRun(Struct, frozen=True):
    """What a series has of one run."""

    run: KnownRun
    facts: Mapping[str, Any]
    count: int
    """Samples, of all repetitions."""
    figures: Mapping[str, float]
    """By statistic: the largest maximum and the smallest minimum of the repetitions, of the others the median. What a
    repetition does not state is not there."""


class Series(Struct, frozen=True):
    """The runs of one configuration on one machine, the oldest first."""

    machine: str
    test: str
    labels: Mapping[str, str]
    parameters: str
    """A digest; "" where the runs do not have one."""
    column: str
    virtual: bool
    runs: tuple[PastRun, ...]
    name: str = ""
    """What tells it from the others."""


class Size(Struct, frozen=True):
    """Of a change, with its interval of 95 %: the ratio of the levels; of values that are not all above zero their
    difference in ns."""

    value: float
    low: float
    high: float
    is_ratio: bool

    @property
    def statement(self) -> Statement:
        if self.is_ratio:
            return TIMES(ratio=self.value, low=self.low, high=self.high)
        return MOVED_BY(by_ns=self.value, low_ns=self.low, high_ns=self.high)

    def to_json(self) -> dict[str, Any]:
        return {"ratio" if self.is_ratio else "difference_ns": self.value, "low": self.low, "high": self.high}


class Change(Struct, frozen=True):
    """From this run on a statistic has another level."""

    at: int
    p: float
    before: int
    after: int
    """Runs between it and the changes next to it."""
    before_ns: float
    after_ns: float
    then: Statement
    """The facts that changed with it."""
    size: Size
    first: int
    last: int
    """It may as well have been at these places, and at those between them."""

    @property
    def is_worse(self) -> bool:
        return self.after_ns > self.before_ns


class FewBoots(Struct, frozen=True):
    """Boots that are too few to tell a change from a reboot, and the reboot that divides the values best."""

    boots: int
    needed: int
    at: int
    before_ns: float
    after_ns: float
    has_moved: bool
    """Whether the levels differ by the margin or more."""


class Course(Struct, frozen=True):
    """One statistic of a series, over the runs that state it."""

    series: Series
    statistic: str
    runs: tuple[PastRun, ...]
    values: tuple[float, ...]
    trend: Trend | None
    changes: tuple[Change, ...]
    has_trend: bool = False
    """Whether the trend is stated."""
    is_tested: bool = False
    """Whether its runs can show a change."""
    few_boots: FewBoots | None = None
    """If they cannot because of the reboots between them."""

    @property
    def is_worse(self) -> bool:
        """Whether it is worse than it was: after the newest change, or with a rise from run to run."""
        if self.changes:
            return self.changes[-1].is_worse
        return self.has_trend and self.trend is not None and self.trend.tau > 0


class RunValues(Struct, frozen=True):
    """One statistic of a series, over the runs that state it."""

    series: Series
    statistic: str
    runs: tuple[PastRun, ...]

    @property
    def values(self) -> list[float]:
        return [past.figures[self.statistic] for past in self.runs]


class JointSearch(Struct, frozen=True):
    """All values that are stated by the same runs: these are searched together, so they share one level."""

    rows: tuple[RunValues, ...]

    @property
    def series(self) -> int:
        series = [row.series for row in self.rows]
        return sum(each not in series[:place] for place, each in enumerate(series))

    @property
    def is_virtual(self) -> bool:
        return self.rows[0].series.virtual

    @property
    def runs(self) -> tuple[PastRun, ...]:
        return self.rows[0].runs

    @property
    def is_long(self) -> bool:
        """Whether it has a share of the level."""
        return len(self.runs) >= FEWEST and not self.is_virtual

    def missing_boots(self, level: float) -> int:
        """How many boots it takes to tell a change from a reboot, where runs share fewer boots; else 0."""
        boots, needed = len(_boots(self.runs)), fewest_of(level / 2)
        return needed if self.is_long and 1 < boots < min(needed, len(self.runs)) else 0

    def missing_runs(self, level: float) -> int:
        """How many runs it takes to show a change, where these are fewer; else 0."""
        needed = fewest_of(level)
        return needed if self.is_long and len(self.runs) < needed and not self.missing_boots(level) else 0

    def is_tested(self, level: float) -> bool:
        return self.is_long and not self.missing_boots(level) and not self.missing_runs(level)

    def courses(self, level: float, margin: float) -> list[Course]:
        """Kendall's test is of one series, so its level is divided by their number."""
        scaled = np.array([_scaled(row.values)[0] for row in self.rows])
        found = self._found(scaled, level, margin)
        needed, of_each = self.missing_boots(level), level / max(1, self.series)
        return [
            replace(
                _course(
                    row.series, row.statistic, row.runs, row.values, [f for f in found if f.series == place],
                    margin, has_trend=self.is_tested(level) and _has_trend(row.values, of_each, margin),
                ),
                is_tested=self.is_tested(level),
                few_boots=few_boots_of(row, scaled[place], needed, margin) if needed else None,
            )
            for place, row in enumerate(self.rows)
        ]  # fmt: skip

    def _found(self, rows: Reals, level: float, margin: float) -> list[Shift]:
        """In real time. Runs of one boot are one group: whether boots differ is looked for among the boots, and
        whether runs of one boot do among these."""
        if self.is_virtual:  # exact: equal runs give equal values
            return [
                Shift(row, at, at, 0.0)
                for row, values in enumerate(rows)
                for at, (before, after) in enumerate(pairwise(values), 1)
                if before != after
            ]
        least, boots = math.log1p(margin), _boots(self.runs)
        if len(boots) in (1, rows.shape[1]):
            return shifts(rows, level, least)
        medians = np.array([[np.median(values[a:b]) for a, b in boots] for values in rows])
        found = [
            Shift(each.series, boots[each.at][0], boots[each.seen_at - 1][1], each.p)
            for each in shifts(medians, level / 2, least)
        ]
        for a, b in boots:
            inside = shifts(rows[:, a:b], level / 2 * min(1.0, (b - a) / RUNS), least)
            found += [Shift(each.series, each.at + a, each.seen_at + a, each.p) for each in inside]
        return found


def few_boots_of(row: RunValues, scaled: Reals, needed: int, margin: float) -> FewBoots:
    """The reboot at which the levels before and after differ most for their lengths."""
    boots = _boots(row.runs)
    medians = np.array([np.median(scaled[a:b]) for a, b in boots])
    first = np.arange(1, len(medians))
    apart = np.cumsum(medians)[:-1] - first * medians.mean()
    boot = int(first[np.argmax(np.abs(apart) / np.sqrt(first * (len(medians) - first)))])
    at = boots[boot][0]
    step = abs(float(np.median(scaled[at:]) - np.median(scaled[:at])))
    return FewBoots(
        len(boots), needed, at, median(row.values[:at]), median(row.values[at:]), step >= math.log1p(margin)
    )


def stating(series: Series, statistic: str) -> list[PastRun]:
    return [past for past in series.runs if statistic in past.figures]


def searches(series: Sequence[Series], statistics: Sequence[str]) -> list[JointSearch]:
    together: dict[tuple[Any, ...], list[RunValues]] = {}
    for each in series:
        for statistic in statistics:
            runs = tuple(stating(each, statistic))
            if runs:
                same = tuple((past.run.folder, past.facts.get(BOOT)) for past in runs)
                together.setdefault((each.virtual, same), []).append(RunValues(each, statistic, runs))
    return [JointSearch(tuple(rows)) for rows in together.values()]


def _boots(runs: Sequence[PastRun]) -> list[tuple[int, int]]:
    """The first run of each boot, and the one behind its last. A run that without the fact has a boot of its own."""
    keys = [past.facts.get(BOOT) or place for place, past in enumerate(runs)]
    ends, boots = 0, []
    for _, same in groupby(keys):
        start, ends = ends, ends + len(list(same))
        boots.append((start, ends))
    return boots


def _scaled(values: Sequence[float]) -> tuple[Reals, float]:
    """Their logarithms; where not all are above zero, the values in units of their median size, and that unit."""
    numbers = np.asarray(values, np.float64)
    if numbers.min() > 0:
        return np.log(numbers), 0.0
    unit = float(np.median(np.abs(numbers))) or 1.0
    return numbers / unit, unit


def _course(
    series: Series,
    statistic: str,
    runs: Sequence[PastRun],
    values: Sequence[float],
    found: Sequence[Shift],
    margin: float,
    *,
    has_trend: bool,
) -> Course:
    """`found`: the shifts of its values."""
    scaled, unit = _scaled(values)
    p_of = {each.at: each.p for each in sorted(found, key=lambda each: -each.p)}
    places = sorted(p_of)
    best = places
    if not series.virtual and len(_boots(runs)) in (1, len(runs)):
        best = refined(scaled, places)
        p_of = (
            dict(zip(best, [p_of[at] for at in places], strict=False)) if len(best) == len(places) else p_of
        )
        best = sorted(p_of)
    changes = [_change(runs, values, scaled, unit, best, i, p_of[at]) for i, at in enumerate(best)]
    if not series.virtual:
        least = 1 + margin
        changes = [
            each for each in changes if not each.size.is_ratio or not 1 / least < each.size.value < least
        ]
    trend = None if series.virtual else kendall_trend(values)
    return Course(
        series, statistic, tuple(runs), tuple(values), trend, tuple(changes), has_trend and not changes
    )


def _change(
    runs: Sequence[PastRun],
    values: Sequence[float],
    scaled: Reals,
    unit: float,
    places: Sequence[int],
    number: int,
    p: float,
) -> Change:
    """One of the places, between its neighbours."""
    at = places[number]
    start = places[number - 1] if number else 0
    end = places[number + 1] if number + 1 < len(places) else len(values)
    before, after, beside = values[start:at], values[at:end], scaled[start:end]
    low, high = interval_of(beside, at - start)
    sizes = [difference(beside, at - start), low, high]
    sizes = [size * unit for size in sizes] if unit else [math.exp(size) for size in sizes]
    first, last = places_of(beside, at - start)
    return Change(
        at=at,
        p=p,
        before=len(before),
        after=len(after),
        before_ns=median(before),
        after_ns=median(after),
        then=_changed_then(runs, at, start, end),
        size=Size(sizes[0], sizes[1], sizes[2], not unit),
        first=start + first,
        last=start + last,
    )


def _has_trend(values: Sequence[float], level: float, margin: float) -> bool:
    """Whether a trend is stated: looked for in 16 runs, in 32 and so on, each time at half of the level that is left,
    with less weight for neighbours that are alike, and only where it moves the values by more than the margin."""
    doublings = int(math.log2(len(values) / _FIRST_TREND)) if len(values) >= _FIRST_TREND else -1
    count = _FIRST_TREND << doublings if doublings >= 0 else 0
    trend = kendall_trend(values[:count]) if count else None
    if trend is None or trend.p >= 1:
        return False
    scaled = _scaled(values[:count])[0]
    i, j = np.triu_indices(count, 1)
    slope = float(np.median((scaled[j] - scaled[i]) / (j - i)))
    normal = NormalDist()
    r = correlation_of([scores_of(scaled - slope * np.arange(count))], 1 / math.sqrt(count))
    inflation = min(_MOST_INFLATED, math.sqrt((1 + r) / (1 - r)))
    z = normal.inv_cdf(1 - max(trend.p, 1e-15) / 2) / inflation
    p = 2 * (1 - normal.cdf(z))
    return p <= OF_TRENDS * level / 2 ** (doublings + 1) and abs(slope) * count >= math.log1p(margin)


def _changed_then(runs: Sequence[PastRun], at: int, start: int, end: int) -> Statement:
    """The facts that changed with a run, else with the nearest run of the neighbouring segments."""
    if not (runs[at - 1].facts and runs[at].facts):
        return FACTS_UNKNOWN()
    for distance in range(NEARBY + 1):
        for place in (at - distance, at + distance):
            facts = facts_changed(runs[place - 1], runs[place]) if start < place < end else ()
            if facts:
                return CHANGED_THEN(run=runs[place].run.id, facts=facts)
    return NOTHING_CHANGED()


def facts_changed(earlier: PastRun, later: PastRun) -> tuple[Statement, ...]:
    """Facts and versions that are not the same in two runs: kernel, command line and howlate first. Of a long text
    only the words that differ are named."""
    before, after = ({**past.facts, **past.run.versions} for past in (earlier, later))
    names = [name for name in before if name != BOOT and name in after and before[name] != after[name]]
    ranked = {name: place for place, name in enumerate(_FIRST_FACTS)}
    ordered = sorted(names, key=lambda name: (ranked.get(name, len(ranked)), name))
    return tuple(
        FACT_CHANGED(fact=name, **_differing(str(before[name]), str(after[name]))) for name in ordered
    )


def _differing(before: str, after: str) -> dict[str, str]:
    """Two texts, without the words that both have where there are several."""
    old, new = before.split(), after.split()
    only_old, only_new = [w for w in old if w not in new], [w for w in new if w not in old]
    if len(old) > 1 and len(new) > 1 and (only_old or only_new):
        before, after = " ".join(only_old), " ".join(only_new)
    return {"before": before or "nothing", "after": after or "nothing"}
