"""Runs over time: one value a run of each configuration, where it changed and what else changed then, and how often
the bound on the next stretch held (docs/history.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

from howlate.analysis.change_points import FEWEST, LEVEL, change_points
from howlate.analysis.diagnose import Trend, kendall_trend, next_stretch_confidence
from howlate.analysis.labels import row_names
from howlate.analysis.statistics import STATISTICS
from howlate.model.catalogue import KnownCell, KnownRun
from howlate.model.run import VIRTUAL
from howlate.words.statement import Statement, rule

WORSE_SINCE = rule(
    "history.worse-since",
    "{series}: {statistic} is worse since run {run}: {after_ns:time} in the {after} runs from there on, "
    "{before_ns:time} in the {before} before (medians).",
)
BETTER_SINCE = rule(
    "history.better-since",
    "{series}: {statistic} is better since run {run}: {after_ns:time} in the {after} runs from there on, "
    "{before_ns:time} in the {before} before (medians).",
)
CHANGED_THEN = rule("history.changed-then", "What changed with it: {facts:items}.")
CHANGED_NEARBY = rule(
    "history.changed-nearby",
    "No recorded fact changed with that run; near it, with run {run}, these did: {facts:items}.",
)
NOTHING_CHANGED = rule(
    "history.nothing-changed",
    "No recorded fact of the machine changed about then; what howlate does not record may have, such as other "
    "software, firmware or the temperature.",
)
FACTS_UNKNOWN = rule(
    "history.facts-unknown", "These runs do not say what the machine was, so nothing can be named."
)
FACT_CHANGED = rule("history.fact-changed", "{fact} from {before} to {after}")
RISES = rule(
    "history.rises",
    "{series}: {statistic} rises from run to run (Kendall's tau {tau:significant}, p = {p:probability}).",
)
FALLS = rule(
    "history.falls",
    "{series}: {statistic} falls from run to run (Kendall's tau {tau:significant}, p = {p:probability}).",
)
NO_CHANGE = rule("history.no-change", "No change was found; {tested} series of values were searched.")
TOO_FEW = rule(
    "history.too-few", "No configuration has {fewest} valid runs, so none was searched for a change."
)

DEFAULT_STATISTICS = ("max", "0.999")
CONFIDENCE = 0.95
"""Of the bound whose hit rate is looked at."""
NEARBY = 10
"""The place of a change is an estimate: facts that changed so many runs before or after are named where none changed
with the run itself."""
_FIRST_FACTS = ("kernel.release", "kernel.version", "kernel.cmdline", "howlate", "probe")
_OF_PARAMETERS = re.compile(r"-([0-9a-f]{10})-[0-9]+")
"""In a cell's id: the digest of its test and parameters."""


@dataclass(frozen=True)
class PastRun:
    """What a series has of one run."""

    run: KnownRun
    facts: Mapping[str, Any]
    count: int
    """Samples, of all repetitions."""
    figures: Mapping[str, float]
    """By statistic: the largest maximum and the smallest minimum of the repetitions, of the others the median. What a
    repetition does not state is not there."""


@dataclass(frozen=True)
class Series:
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


@dataclass(frozen=True)
class Change:
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


@dataclass(frozen=True)
class Course:
    """One statistic of a series, over the runs that state it."""

    series: Series
    statistic: str
    runs: tuple[PastRun, ...]
    values: tuple[float, ...]
    trend: Trend | None
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class HitRate:
    """The bound on the next stretch, applied to each run and checked on what followed."""

    applied: int = 0
    held: int = 0
    nominal: float | None = None
    """The mean of the confidences with which it was stated."""


@dataclass(frozen=True)
class History:
    """Everything that is said of some runs."""

    runs: tuple[KnownRun, ...]
    series: tuple[Series, ...]
    courses: tuple[Course, ...]
    tested: int
    """Courses that were searched for a change."""
    level: float
    """Of each search: LEVEL, divided by their number."""
    statements: tuple[tuple[Statement, ...], ...] = field(default=())
    """What is said first; each is a sentence with those that belong to it."""


def history(
    runs: Iterable[KnownRun],
    statistics: Sequence[str] = DEFAULT_STATISTICS,
    machine: str = "",
    labels: Mapping[str, str] | None = None,
) -> History:
    """Of the runs of machines whose name has `machine` in it, and of the cells with these labels."""
    known = tuple(runs)
    series = _named(_series(known, machine.lower(), labels or {}))
    stated = [(each, statistic, _stating(each, statistic)) for each in series for statistic in statistics]
    tested = sum(_is_searched(each, len(past)) for each, _, past in stated)
    level = LEVEL / max(1, tested)
    courses = tuple(_course(each, statistic, past, level) for each, statistic, past in stated if past)
    return History(known, series, courses, tested, level, tuple(_statements(courses, tested, level)))


def machine_of(run: KnownRun, facts: Mapping[str, Any]) -> str:
    """What to call the machine of a run: what it is, and how it was reached."""
    what = next((facts[name] for name in ("machine.product", "cpu.model") if facts.get(name)), "")
    return ", ".join(filter(None, (str(what).strip(), run.target)))


def _series(runs: Sequence[KnownRun], machine: str, labels: Mapping[str, str]) -> list[Series]:
    """By configuration, in the order in which these come first."""
    cells: dict[tuple[Any, ...], dict[int, list[KnownCell]]] = {}
    for place, run in enumerate(runs):
        for cell in run.cells:
            own = {"machine": machine_of(run, run.facts_of(cell)), **cell.labels}
            wanted = machine in own["machine"].lower() and labels.items() <= cell.labels.items()
            if wanted and cell.valid:
                for column in cell.columns:
                    key = (own["machine"], run.clock, cell.test, *_configuration(run, cell), column)
                    cells.setdefault(key, {}).setdefault(place, []).append(cell)
    return [
        Series(
            machine=key[0],
            test=key[2],
            labels=dict(key[3]),
            parameters=key[4],
            column=key[5],
            virtual=key[1] == VIRTUAL,
            runs=tuple(_past(runs[place], repeated, key[5]) for place, repeated in by_run.items()),
        )
        for key, by_run in cells.items()
    ]


def _configuration(run: KnownRun, cell: KnownCell) -> tuple[tuple[tuple[str, str], ...], str]:
    """The labels, and the digest of the parameters. The kernel of a machine that has one is not part of it: that is
    what may change from run to run."""
    labels = {name: text for name, text in cell.labels.items() if run.several or name != "kernel"}
    digest = _OF_PARAMETERS.search(cell.id)
    return tuple(sorted(labels.items())), digest[1] if digest else ""


def _past(run: KnownRun, cells: Sequence[KnownCell], column: str) -> PastRun:
    figures = {}
    for statistic in (entry.name for entry in STATISTICS):
        values = [cell.columns[column].figures.get(statistic) for cell in cells]
        stated = [float(value) for value in values if value is not None]
        if len(stated) == len(cells):
            together = {"max": max, "min": min}.get(statistic, median)
            figures[statistic] = float(together(stated))
    return PastRun(
        run, run.facts_of(cells[0]), sum(cell.columns[column].count or 0 for cell in cells), figures
    )


def _named(series: Sequence[Series]) -> tuple[Series, ...]:
    """By what they differ in; of several columns or machines with that."""
    columns = len({each.column for each in series}) > 1
    tests = len({each.test for each in series}) > 1
    machines = len({each.machine for each in series}) > 1
    told = [
        {
            **({"machine": each.machine} if machines else {}),
            **({"test": each.test} if tests else {}),
            **each.labels,
            **({"column": each.column} if columns else {}),
        }
        for each in series
    ]
    return tuple(
        Series(**{**vars(each), "name": name}) for each, name in zip(series, row_names(told), strict=True)
    )


def _stating(series: Series, statistic: str) -> list[PastRun]:
    return [past for past in series.runs if statistic in past.figures]


def _is_searched(series: Series, runs: int) -> bool:
    return runs >= FEWEST and not series.virtual


def _course(series: Series, statistic: str, runs: Sequence[PastRun], level: float) -> Course:
    values = tuple(past.figures[statistic] for past in runs)
    if series.virtual:  # exact: equal runs give equal values
        places = [(i, 0.0) for i, (before, after) in enumerate(pairwise(values), 1) if before != after]
    else:
        searched = _is_searched(series, len(runs))
        places = [(d.at, d.p) for d in change_points(values, level)] if searched else []
    edges = [0, *(at for at, _ in places), len(values)]
    changes = []
    for i, (at, p) in enumerate(places, 1):
        before, after = values[edges[i - 1] : at], values[at : edges[i + 1]]
        changes.append(
            Change(
                at=at,
                p=p,
                before=len(before),
                after=len(after),
                before_ns=median(before),
                after_ns=median(after),
                then=_changed_then(runs, at, edges[i - 1], edges[i + 1]),
            )
        )
    trend = None if series.virtual else kendall_trend(values)
    return Course(series, statistic, tuple(runs), values, trend, tuple(changes))


def _changed_then(runs: Sequence[PastRun], at: int, start: int, end: int) -> Statement:
    """The facts that changed with a run, else with the nearest run of the segments beside it."""
    if not (runs[at - 1].facts and runs[at].facts):
        return FACTS_UNKNOWN()
    for distance in range(NEARBY + 1):
        for place in (at - distance, at + distance):
            facts = facts_changed(runs[place - 1], runs[place]) if start < place < end else ()
            if facts:
                run = runs[place].run.id
                return CHANGED_NEARBY(run=run, facts=facts) if distance else CHANGED_THEN(facts=facts)
    return NOTHING_CHANGED()


def facts_changed(earlier: PastRun, later: PastRun) -> tuple[Statement, ...]:
    """Facts and versions that are not the same in two runs: kernel, command line and howlate first. Of a long text
    only the words that differ are named."""
    before, after = ({**past.facts, **past.run.versions} for past in (earlier, later))
    names = [name for name in before if name in after and before[name] != after[name]]
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


def _statements(courses: Sequence[Course], tested: int, level: float) -> Iterable[tuple[Statement, ...]]:
    """Changes and trends, the newest changes first."""
    said = [
        (course.runs[change.at].run.started, _of_change(course, change))
        for course in courses
        for change in course.changes
    ]
    yield from (statements for _, statements in sorted(said, key=lambda pair: pair[0], reverse=True))
    trends = [_of_trend(course, level) for course in courses if not course.changes]
    yield from ((trend,) for trend in trends if trend is not None)
    if not said and not any(trends):
        yield (NO_CHANGE(tested=tested),) if tested else (TOO_FEW(fewest=FEWEST),)


def _of_change(course: Course, change: Change) -> tuple[Statement, ...]:
    made = WORSE_SINCE if change.after_ns > change.before_ns else BETTER_SINCE
    said = made(
        series=course.series.name,
        statistic=heading_of(course.statistic),
        run=course.runs[change.at].run.id,
        before=change.before,
        after=change.after,
        before_ns=change.before_ns,
        after_ns=change.after_ns,
    )
    return said, change.then


def _of_trend(course: Course, level: float) -> Statement | None:
    trend = course.trend
    if trend is None or trend.p > level or not _is_searched(course.series, len(course.values)):
        return None
    made = RISES if trend.tau > 0 else FALLS
    name = heading_of(course.statistic)
    return made(series=course.series.name, statistic=name, tau=trend.tau, p=trend.p)


def heading_of(statistic: str) -> str:
    """What tables call a statistic: "max", "p99.9"."""
    entry = next(entry for entry in STATISTICS if entry.name == statistic)
    return entry.heading or f"p{float(statistic) * 100:.6f}".rstrip("0").rstrip(".")


def hit_rate(series: Series, confidence: float = 0.0) -> HitRate:
    """The bound on the next stretch (analysis/diagnose.py), applied to the past: before each run it is the largest
    value of as few of the latest runs as give at least `confidence` for as many samples as that run has; 0: of the
    one run before it. It held where the run has no larger value."""
    runs = _stating(series, "max")
    stated, held = [], 0
    for place in range(1, len(runs)):
        for first in range(place - 1, -1, -1):
            past = runs[first:place]
            reached = next_stretch_confidence(sum(each.count for each in past), runs[place].count)
            if reached >= confidence:
                stated.append(reached)
                held += runs[place].figures["max"] <= max(each.figures["max"] for each in past)
                break
    return HitRate(len(stated), held, sum(stated) / len(stated) if stated else None)
