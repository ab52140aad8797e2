"""Runs over time: one value a run of each configuration, where it changed and what else changed then, and how often
the bound on the horizon held (docs/history.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from howlate.history.courses import MARGIN, Change, Course, PastRun, Series, searches, stating
from howlate.history.known_runs import KnownCell, KnownRun
from howlate.history.level_shifts import FEWEST, LEVEL
from howlate.model.run import VIRTUAL
from howlate.statistics.diagnose import confidence_ahead
from howlate.statistics.labels import row_names
from howlate.statistics.statistics import STATISTICS
from howlate.words.statement import Caption, Statement, message

SINCE = message(
    "history.since",
    "{series}: {statistic} {changed} since run {run} of {date}: {size}, {after_ns:time} in the {after} runs from "
    "there on, {before_ns:time} in the {before} before (medians; p = {p:probability}).",
)
SINCE_EXACTLY = message(
    "history.since-exactly",
    "{series}: {statistic} {changed} since run {run} of {date}: {after_ns:time} in the {after} runs from there on, "
    "{before_ns:time} in the {before} before, in virtual time, where equal runs give equal values.",
)
PLACE = message("history.place", "It may have begun with run {first} already, or only with run {last}.")
TREND = message(
    "history.trend",
    "{series}: {statistic} {changed} from run to run (Kendall's tau {tau:significant}, p = {p:probability}).",
)
NO_CHANGE = message(
    "history.no-change",
    "No change of more than {margin:percent} was found; {tested} series of values were searched.",
)
CANNOT_YET = message(
    "history.cannot-yet",
    "Too few runs per series to show a change in {series} series: {runs}; {needed} are enough.",
)
FEW_BOOTS = message(
    "history.few-boots",
    "{series}: {statistic} is {after_ns:time} in the {after} runs since run {run} of {date}, {before_ns:time} in the "
    "{before} before (medians), but it takes {needed} boots to tell a change from a reboot, and there were {boots}.",
)
FEW_BOOTS_ALIKE = message(
    "history.few-boots-alike",
    "It takes {needed} boots to tell a change from a reboot, and there were {boots}.",
)
TOO_FEW = message(
    "history.too-few", "No configuration has {fewest} valid runs, so none was searched for a change."
)

DEFAULT_STATISTICS = ("max", "0.999")
CONFIDENCE = 0.95
"""The confidence of the bound whose hit rate is tested."""
_OF_PARAMETERS = re.compile(r"-([0-9a-f]{10})-[0-9]+")
"""In a cell's id: the digest of its test and parameters."""


class HitRate(Struct, frozen=True):
    """The bound on the horizon, applied to each run and checked on what followed."""

    applied: int = 0
    hits: int = 0
    nominal: float | None = None
    """The mean of the confidences with which it was stated."""

    def to_json(self) -> dict[str, float | None]:
        return {"applied": self.applied, "held": self.hits, "nominal": self.nominal}


class History(Struct, frozen=True):
    runs: tuple[KnownRun, ...]
    series: tuple[Series, ...]
    courses: tuple[Course, ...]
    tested: int
    """Courses that were searched for a change."""
    level: float
    """Of the search that has least: LEVEL is shared by the number of series among those that are stated by the same
    runs."""
    margin: float = MARGIN
    statements: tuple[tuple[Statement, ...], ...] = ()
    """What is said first; each is a sentence with those that belong to it."""

    @property
    def is_worse(self) -> bool:
        return any(course.is_worse for course in self.courses)

    @property
    def is_clear(self) -> bool:
        """Whether something was searched, and no level moved with a reboot alone."""
        moved = any(course.few_boots is not None and course.few_boots.has_moved for course in self.courses)
        return self.tested > 0 and not moved


def history(
    runs: Iterable[KnownRun],
    statistics: Sequence[str] = DEFAULT_STATISTICS,
    machine: str = "",
    labels: Mapping[str, str] | None = None,
    margin: float = MARGIN,
) -> History:
    """Of the runs of machines whose name has `machine` in it, and of the cells with these labels. `margin`: of a
    smaller change of a level is not reported."""
    known = tuple(runs)
    series = _named(_series(known, machine.lower(), labels or {}))
    searched = searches(series, statistics)
    share = LEVEL / max(1, sum(search.series for search in searched if search.is_long))
    levels = [share * search.series if search.is_long else LEVEL for search in searched]
    pairs = list(zip(searched, levels, strict=True))
    tested = sum(search.series for search, level in pairs if search.is_tested(level))
    courses = tuple(course for search, level in pairs for course in search.courses(level, margin))
    in_order = tuple(
        sorted(courses, key=lambda course: (series.index(course.series), _rank(course, statistics)))
    )
    cannot = [
        CANNOT_YET(
            runs=len(search.runs), series=sum(each.is_long * each.series for each in searched), needed=needed
        )
        for search, level in pairs
        if (needed := search.missing_runs(level))
    ]
    told = tuple(_statements(in_order, tested, margin, cannot[:1]))
    return History(known, series, in_order, tested, min(levels, default=LEVEL), margin, told)


def _rank(course: Course, statistics: Sequence[str]) -> int:
    return list(statistics).index(course.statistic)


def machine_of(run: KnownRun, facts: Mapping[str, Any]) -> str:
    """What to call the machine of a run: what it is, and how it was reached."""
    what = next((facts[name] for name in ("machine.product", "cpu.model") if facts.get(name)), "")
    return ", ".join(filter(None, (str(what).strip(), run.target)))


def _series(runs: Sequence[KnownRun], machine: str, labels: Mapping[str, str]) -> list[Series]:
    """The series by configuration, in the order in which these come first."""
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
    """The series with names: what they differ in, with column and machine where there are several."""
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
        Series(**{**asdict(each), "name": name}) for each, name in zip(series, row_names(told), strict=True)
    )


def _statements(
    courses: Sequence[Course], tested: int, margin: float, cannot: Sequence[Statement]
) -> Iterable[tuple[Statement, ...]]:
    """Changes and trends, the newest changes first, and what may be one or a reboot. `cannot`: what so few runs
    cannot show."""
    said = [
        (course.runs[change.at].run.started, _of_change(course, change))
        for course in courses
        for change in course.changes
    ]
    yield from (statements for _, statements in sorted(said, key=lambda pair: pair[0], reverse=True))
    trends = [trend_statement(course) for course in courses if course.has_trend and course.trend is not None]
    yield from ((trend,) for trend in trends)
    few = [course for course in courses if course.few_boots is not None]
    moved = [_of_few_boots(course) for course in few if course.few_boots and course.few_boots.has_moved]
    yield from ((each,) for each in moved)
    if said or trends or moved:
        return
    alike = [
        FEW_BOOTS_ALIKE(boots=each.few_boots.boots, needed=each.few_boots.needed)
        for each in few[:1]
        if each.few_boots
    ]
    none = [NO_CHANGE(tested=tested, margin=margin)] if tested else []
    yield (*none, *cannot, *alike) or (TOO_FEW(fewest=FEWEST),)


def _of_few_boots(course: Course) -> Statement:
    few = course.few_boots
    assert few is not None
    run = course.runs[few.at].run
    return FEW_BOOTS(
        series=course.series.name,
        statistic=heading_of(course.statistic),
        run=run.id,
        date=run.started.partition("T")[0],
        before=few.at,
        after=len(course.runs) - few.at,
        before_ns=few.before_ns,
        after_ns=few.after_ns,
        boots=few.boots,
        needed=few.needed,
    )


def _of_change(course: Course, change: Change) -> tuple[Statement, ...]:
    run = course.runs[change.at].run
    values = {
        "series": course.series.name,
        "statistic": heading_of(course.statistic),
        "changed": Caption("is worse") if change.is_worse else Caption("is better"),
        "run": run.id,
        "date": run.started.partition("T")[0],
        "before": change.before,
        "after": change.after,
        "before_ns": change.before_ns,
        "after_ns": change.after_ns,
    }
    if course.series.virtual:
        return SINCE_EXACTLY(**values), change.then
    told = [SINCE(**values, size=change.size.statement, p=change.p)]
    if change.first < change.last:
        told.append(place_statement(course, change))
    return *told, change.then


def place_statement(course: Course, change: Change) -> Statement:
    first, last = (course.runs[place].run.id for place in (change.first, change.last))
    return PLACE(first=first, last=last)


def trend_statement(course: Course) -> Statement:
    trend = course.trend
    assert trend is not None
    changed = Caption("rises") if trend.tau > 0 else Caption("falls")
    values = {"series": course.series.name, "statistic": heading_of(course.statistic), "changed": changed}
    return TREND(**values, tau=trend.tau, p=trend.p)


def heading_of(statistic: str) -> str:
    """What tables call a statistic: "max", "p99.9"."""
    entry = next(entry for entry in STATISTICS if entry.name == statistic)
    return entry.heading or f"p{float(statistic) * 100:.6f}".rstrip("0").rstrip(".")


def hit_rate(series: Series, confidence: float = 0.0) -> HitRate:
    """The bound on the horizon (statistics/diagnose.py), applied to the past: before each run it is the largest
    value of as few of the latest runs as give at least `confidence` for as many samples as that run has; 0: of the
    one run before it. It held where the run has no larger value."""
    runs = stating(series, "max")
    stated, held = [], 0
    for place in range(1, len(runs)):
        seen = 0
        for first in range(place - 1, -1, -1):
            seen += runs[first].count
            reached = confidence_ahead(seen, runs[place].count)
            if reached >= confidence:
                stated.append(reached)
                held += runs[place].figures["max"] <= max(each.figures["max"] for each in runs[first:place])
                break
    return HitRate(len(stated), held, sum(stated) / len(stated) if stated else None)
