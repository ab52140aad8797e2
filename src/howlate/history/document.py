"""Runs over time as a document (docs/history.md): what changed, the chart, a table of courses, how often the bound
held, and the newest runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from msgspec.structs import asdict

from howlate.document import sheet as sheets
from howlate.document.document import ChartItem, Document, Folded, Section, Texts, bar
from howlate.document.sheet import Row, Sheet, Unit
from howlate.history.chart import draw
from howlate.history.courses import Course, FewBoots, PastRun
from howlate.history.history import CONFIDENCE, History, HitRate, heading_of, hit_rate
from howlate.history.level_shifts import LEVEL, RUNS
from howlate.history.screen import headline, worst_first
from howlate.model.decode import members
from howlate.system.version import __version__
from howlate.words.language import _
from howlate.words.quantities import percent, significant
from howlate.words.say import english, more_rows_text, say, to_json
from howlate.words.statement import message

MOST_RUNS, MOST_COLUMNS, MOST_ROWS = 30, 6, 20
"""The newest runs that are listed, and the configurations: those whose newest value is the largest. The rows of
configurations that are seen before all of them."""

LEVEL_HELD = message(
    "history.level",
    "{tested} series of values were searched for changes. Of histories of {runs} runs without any change, at "
    "most {all:percent} show one, however often they are examined; a change of less than {margin:percent} does not "
    "count. Kendall's p is for a single examination.",
)
HOW_BOUND = message(
    "history.how-bound",
    "The bound on the horizon, applied to the past: the largest value of earlier runs, and whether the run that "
    "followed stayed within it. One run bounds the next of the same length with a confidence of 50 %; "
    "{confidence:percent} takes 19 earlier runs of that length. The bound assumes that runs are alike: after a "
    "change for the worse it does not hold.",
)
FOOT = message(
    "history.foot",
    "{runs} runs. This page was made by howlate {version}. It is self-contained.",
)


def document(history: History) -> Document:
    title = _("Runs over time")
    _verdict, word, *_said = headline(history, worst_first(history))
    return Document(tuple(_sections(history, title)), " – ".join(filter(None, (word, title, "howlate"))))


def _sections(history: History, title: str) -> Iterator[Section]:
    verdict, word, first, *more = headline(history, worst_first(history))
    yield bar(verdict or "measured", word, first, more, (title,))
    said = tuple(history.statements)
    title = _("What changed")
    yield Section("changes", (Texts("said", said, title),), title)
    figure = draw(history)
    if figure is not None:
        yield Section("chart", (ChartItem(figure),))
    if history.courses:
        courses = worst_first(history)
        rest = courses[MOST_ROWS:]
        folded = Folded(more_rows_text(len(rest)), (_courses(history, rest, "-more"),))
        shown = _courses(history, courses[:MOST_ROWS])
        yield Section("courses", (shown, *([folded] if rest else [])), _("Each configuration"))
    if any(len(series.runs) > 1 for series in history.series):
        yield Section("bound", (_bound(history),), _("Did the bound hold?"))
    if history.runs:
        yield Section("runs", (_newest(history),), _("The newest runs"))
    foot = FOOT(runs=len(history.runs), version=__version__)
    yield Section("foot", (Texts("", (foot,)),), kind="footer")


def _courses(history: History, courses: Sequence[Course], more: str = "") -> Sheet:
    unit = _unit([value for course in courses for value in course.values])
    named = _("median of the runs"), _("smallest"), _("largest"), _("newest")
    figures = [[median(c.values), min(c.values), max(c.values), c.values[-1]] for c in courses]
    times = [
        sheets.times(f"time-{i}", heading, [row[i] for row in figures], unit)
        for i, heading in enumerate(named)
    ]
    taus = [None if c.trend is None else c.trend.tau for c in courses]
    ps = [None if c.trend is None else c.trend.p for c in courses]
    return Sheet(
        key=f"history-courses{more}",
        title=_("One value a run, in {unit}").format(unit=unit.sign),
        columns=(
            sheets.labels("configuration", _("configuration"), (c.series.name for c in courses)),
            sheets.texts("statistic", _("statistic"), (heading_of(c.statistic) for c in courses), words=True),
            sheets.numbers("runs", _("runs"), [len(c.values) for c in courses]),
            *times,
            sheets.numbers("tau", _("Kendall's tau"), taus, significant, apart=True),
            sheets.numbers("p", "p", ps, lambda p: f"{p:.2g}"),
            sheets.numbers("changes", _("changes"), [len(c.changes) for c in courses]),
        ),
        notes=_level_note(history),
        of="course",
    )


def _level_note(history: History) -> tuple[str, ...]:
    if not history.tested:
        return ()
    return (say(LEVEL_HELD(tested=history.tested, runs=RUNS, all=LEVEL, margin=history.margin)),)


def _bound(history: History) -> Sheet:
    series = [each for each in history.series if len(each.runs) > 1]
    rates = [(hit_rate(each), hit_rate(each, CONFIDENCE)) for each in series]
    one, many = [pair[0] for pair in rates], [pair[1] for pair in rates]
    first = _("the run before")
    second = _("as many runs as {confidence} takes").format(confidence=percent(CONFIDENCE))
    return Sheet(
        key="history-bound",
        title=_("The bound on the horizon, over past runs"),
        columns=(
            sheets.labels("configuration", _("configuration"), (each.name for each in series)),
            sheets.texts("one", first, map(_rate_text, one)),
            sheets.texts("one-nominal", _("nominal"), map(_nominal_text, one)),
            sheets.texts("many", second, map(_rate_text, many)),
            sheets.texts("many-nominal", _("nominal"), map(_nominal_text, many)),
        ),
        notes=(say(HOW_BOUND(confidence=CONFIDENCE)),),
        of="series",
    )


def _rate_text(rate: HitRate) -> str:
    if not rate.applied:
        return "–"
    return _("{share} ({held} of {applied})").format(
        share=percent(rate.hits / rate.applied), held=rate.hits, applied=rate.applied
    )


def _nominal_text(rate: HitRate) -> str:
    return "–" if rate.nominal is None else percent(rate.nominal)


def _newest(history: History) -> Sheet:
    runs = history.runs[-MOST_RUNS:][::-1]
    first = {course.series.name: course for course in reversed(history.courses)}
    latest = sorted(first, key=lambda name: -first[name].values[-1])[:MOST_COLUMNS]
    first = {name: first[name] for name in latest}
    unit = _unit([value for course in first.values() for value in course.values])
    columns = []
    for name, course in first.items():
        own = {past.run.folder: value for past, value in zip(course.runs, course.values, strict=True)}
        columns.append(sheets.times(name, name, [own.get(run.folder) for run in runs], unit))
    kernels = [", ".join(_kernels(run.machines)) or "–" for run in runs]
    statistic = heading_of(next(iter(first.values())).statistic) if first else ""
    return Sheet(
        key="history-runs",
        title=_("{statistic} of each run, in {unit}").format(statistic=statistic, unit=unit.sign),
        columns=(
            sheets.labels("run", _("run"), (run.id for run in runs)),
            sheets.texts("kernel", _("kernel"), kernels, words=True),
            *columns,
        ),
        rows=tuple(Row(run.id) for run in runs),
        of="run",
    )


def _kernels(machines: Mapping[str, Mapping[str, Any]]) -> list[str]:
    releases = (facts.get("kernel.release") for facts in machines.values())
    return list(dict.fromkeys(str(release) for release in releases if release))


def _unit(values: Sequence[float]) -> Unit:
    return Unit("ns", 1, 0) if not values or max(values) < 1000 else Unit("us", 1000, 1)


def to_json_value(history: History) -> dict[str, Any]:
    """Every series with every value (docs/history.md)."""
    return {
        "worse": history.is_worse,
        **members(history, "level", "tested", "margin"),
        "statements": [to_json(statement) for statements in history.statements for statement in statements],
        "series": [
            {
                **members(series, "name", "machine", "test"),
                "labels": dict(series.labels),
                "column": series.column,
                "virtual": series.virtual,
                "runs": [_run_json(past) for past in series.runs],
                "courses": [_course_json(c) for c in history.courses if c.series == series],
                "bound": {
                    "one_run": hit_rate(series).to_json(),
                    "confidence": CONFIDENCE,
                    "at_confidence": hit_rate(series, CONFIDENCE).to_json(),
                },
            }
            for series in history.series
        ],
    }


def _run_json(past: PastRun) -> dict[str, Any]:
    return {
        "run": past.run.id,
        "folder": past.run.folder,
        "started": past.run.started,
        "count": past.count,
        "figures": dict(past.figures),
    }


def _course_json(course: Course) -> dict[str, Any]:
    trend = None if course.trend is None else asdict(course.trend)
    changes = [
        {
            "run": course.runs[change.at].run.id,
            "started": course.runs[change.at].run.started,
            "first_run": course.runs[change.first].run.id,
            "last_run": course.runs[change.last].run.id,
            "direction": "worse" if change.is_worse else "better",
            **change.size.to_json(),
            **members(change, "p", "before_ns", "after_ns"),
            "then": english(change.then),
        }
        for change in course.changes
    ]
    told = {"worse": course.is_worse, "trend": trend, "trend_stated": course.has_trend, "changes": changes}
    few = None if course.few_boots is None else _few_boots_json(course, course.few_boots)
    return {"statistic": course.statistic, "tested": course.is_tested, **told, "few_boots": few}


def _few_boots_json(course: Course, few: FewBoots) -> dict[str, Any]:
    run = course.runs[few.at].run
    return {
        **members(few, "boots", "needed"),
        "run": run.id,
        "started": run.started,
        **members(few, "before_ns", "after_ns"),
    }
