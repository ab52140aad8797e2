"""The screen of runs over time: what is worse or better since when and by how much, with a line of its values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from rich.cells import cell_len

from howlate.document.first_screen.brief import NOTHING as NOTHING_NAMED
from howlate.document.first_screen.brief import labels_of, line
from howlate.document.first_screen.lines import (
    BETWEEN,
    COLUMNS,
    FAINT,
    LEAST_COLUMNS,
    Line,
    apart,
    cut,
    height,
    middle,
    note_lines,
    spaced,
    typed,
    under,
)
from howlate.document.first_screen.table import LEAST_NAME, ScreenColumn, ScreenTable
from howlate.document.sheet import NOTHING
from howlate.figures.strip import BLOCKS, LETTERS
from howlate.history.courses import Course
from howlate.history.history import History, heading_of, hit_rate, place_statement, trend_statement
from howlate.statistics.labels import axes_that_vary
from howlate.statistics.labels import heading as named
from howlate.words.language import N_, _
from howlate.words.printable import printable, shell_path
from howlate.words.quantities import percent, ratio_interval, time_text
from howlate.words.say import Text, more_rows_text, text_of
from howlate.words.statement import Caption

MOST_LINES, FEWEST_ROWS = 20, 4
WORSE, BETTER = N_("worse"), N_("better")
STYLES = {WORSE: "bold red", BETTER: "bold green"}
WIDEST, LEAST_SPARK = 16, 8


def screen(
    history: History, width: int = COLUMNS, *, every: bool = False, letters: bool = False
) -> list[Line]:
    """`every` row, on as many lines as it takes."""
    width = max(LEAST_COLUMNS, min(width, COLUMNS))
    courses = worst_first(history)
    head = list(_head(history, courses, width))
    heading, rows = _table(courses, width, letters=letters).lines(width)
    notes = list(note_lines(list(map(text_of, _notes(history))), width))
    last: list[Line] = [((cut(_span(history, width), width), FAINT),)] if history.runs else []
    every_row, page = _("all figures"), _("as a page")
    last.append(((cut(f"{every_row}: --all; {page}: -o FILE", width), ""),))
    room = MOST_LINES - height([*head, heading, *notes, *last], width)
    if not every and len(rows) > room:
        kept = max(FEWEST_ROWS, room - 1)
        more = more_rows_text(len(rows) - kept)
        rows = [*rows[:kept], ((f"  {more}: --all", FAINT),)]
    blocks = [head, [heading, *rows] if rows else [], notes, last]
    return typed(spaced(blocks, width, 10**9 if every else MOST_LINES), letters=letters)


def brief_of(history: History) -> str:
    """Of the newest run of the first row: FAIL where a value is worse than it was."""
    first = next(iter(worst_first(history)), None)
    outcome = "FAIL" if history.is_worse else "PASS" if history.is_clear else "INCONCLUSIVE"
    if first is None:
        return line(outcome, (None, None), [], NOTHING_NAMED)
    newest = first.runs[-1]
    labels = labels_of(first.series.labels, [series.labels for series in history.series])
    figures = newest.figures.get("max"), newest.figures.get("0.99")
    return line(outcome, figures, labels, shell_path(Path(newest.run.folder)))


def worst_first(history: History) -> list[Course]:
    return sorted(history.courses, key=_rank)


def verdict_of(course: Course) -> str:
    """What its newest change was, else its trend; "" for neither."""
    if course.changes:
        return WORSE if course.changes[-1].is_worse else BETTER
    if course.has_trend and course.trend is not None:
        return WORSE if course.trend.tau > 0 else BETTER
    return ""


def _rank(course: Course) -> tuple[int, float]:
    verdict = verdict_of(course)
    size = course.changes[-1].size if course.changes else None
    moved = 0.0 if size is None else abs(math.log(size.value)) if size.is_ratio else math.inf
    return [*STYLES, ""].index(verdict), -(round(moved, 1) or course.values[-1] / 1e18)


def _head(history: History, courses: Sequence[Course], width: int) -> Iterator[Line]:
    names = apart([printable(course.series.name) for course in courses], width // 2)
    verdict, word, said, *more = headline(history, courses, (next(iter(names), ""), width // 2))
    yield from under(word, [said], width, 3, style=STYLES.get(verdict, ""))
    for text in more:
        yield from under("", [text], width, 3, indent=2)


def headline(
    history: History, courses: Sequence[Course], short: tuple[str, int] = ("", 0)
) -> tuple[str, str, Text, *tuple[Text, ...]]:
    """The verdict, how many changed, and the sentence about the first of the courses, which are sorted. `short`: its
    name, and the room for that of a run, where there is little."""
    first = next(iter(courses), None)
    verdict = "" if first is None else verdict_of(first)
    if first is None or not verdict:
        return "", "", tuple(history.statements[0]) if history.statements else ""
    counts = [(kind, sum(verdict_of(course) == kind for course in courses)) for kind in STYLES]
    said, *more = _said(first, *short)
    return verdict, ", ".join(f"{count} {_(kind)}" for kind, count in counts if count), said, *more


def _said(course: Course, name: str, room: int) -> Iterator[Text]:
    """Since when, and what changed then; of a trend that it is one."""
    if not course.changes:
        yield trend_statement(course)
        return
    change = course.changes[-1]
    name = name or printable(course.series.name)
    row = " ".join(filter(None, (name, printable(heading_of(course.statistic)))))
    run = course.runs[change.at].run
    ident = printable(run.id)
    date, named = run.started[:10], middle(ident, room) if room else ident
    yield Caption("{row}: since {date}, run {run}", row=row, date=date, run=named)
    if change.first < change.last:
        yield place_statement(course, change)
    yield change.then


def _table(courses: Sequence[Course], width: int, *, letters: bool) -> ScreenTable:
    labels = [course.series.labels for course in courses]
    axes = axes_that_vary(labels) if labels else ()
    names = [printable(course.series.name) for course in courses]
    several = len({*names}) > 1
    room = min(WIDEST, max(LEAST_SPARK, width // 4))
    verdicts = [verdict_of(course) for course in courses]
    levels = [_levels(course) for course in courses]
    columns = [
        ScreenColumn(_("figure"), [heading_of(course.statistic) for course in courses], 1, words=True),
        ScreenColumn(
            _("runs"),
            [_spark(course.values, room, LETTERS if letters else BLOCKS) for course in courses],
            words=True,
        ),
        ScreenColumn(_("old median"), [_time(before) for before, _now in levels], 5),
        ScreenColumn(_("median"), [_time(now) for _before, now in levels], 4),
        ScreenColumn(_("ratio"), [_ratio(course) for course in courses], 3, words=True),
        ScreenColumn(_("since"), [_date(course) for course in courses], 2, words=True),
        ScreenColumn(
            "",
            [_(verdict) if verdict else "" for verdict in verdicts],
            words=True,
            styles=[STYLES.get(verdict, "") for verdict in verdicts],
        ),
    ]
    return ScreenTable(
        named(axes[0]) if len(axes) == 1 and several and not any(BETWEEN in name for name in names) else "",
        names if several else [""] * len(names),
        columns,
    )


def _levels(course: Course) -> tuple[float | None, float]:
    if not course.changes:
        return None, median(course.values)
    return course.changes[-1].before_ns, course.changes[-1].after_ns


def _time(value: float | None) -> str:
    return NOTHING if value is None else time_text(value, space=" ")


def _ratio(course: Course) -> str:
    """By how much, with its interval of 95 %; where values are not all above zero in time."""
    if not course.changes:
        return ""
    size = course.changes[-1].size
    if not size.is_ratio:
        return " ".join((time_text(size.value, space=" "), f"[{_time(size.low)}, {_time(size.high)}]"))
    return ratio_interval(size.value, size.low, size.high)


def _date(course: Course) -> str:
    return course.runs[course.changes[-1].at].run.started[:10] if course.changes else ""


def _spark(values: Sequence[float], width: int, signs: str) -> str:
    """The values as one line, the oldest first, from the smallest on: on a logarithm's scale of a factor of two at
    least, where all are above zero. Of more than there is room for, the largest of neighbours."""
    step = math.ceil(len(values) / width)
    shown = [max(values[start : start + step]) for start in range(0, len(values), step)]
    positive = min(shown) > 0
    scaled = [math.log2(value) for value in shown] if positive else list(shown)
    low, high = min(scaled), max(scaled)
    span = max(high - low, 1.0) if positive else (high - low) or 1.0
    return "".join(signs[round((len(signs) - 1) * (value - low) / span)] for value in scaled)


def _notes(history: History) -> Iterator[Text]:
    """What differs between rows of one name, and how often the bound of a run held in the next."""
    rows = [(each.machine, each.test, each.column, *sorted(each.labels.items())) for each in history.series]
    if len({*rows}) < len(rows):
        yield Caption("numbered rows differ in settings that their names leave out")
    rates = [rate for series in history.series if (rate := hit_rate(series)).applied]
    applied, held = sum(rate.applied for rate in rates), sum(rate.hits for rate in rates)
    if applied:
        nominal = sum((rate.nominal or 0.0) * rate.applied for rate in rates) / applied
        yield Caption(
            "the previous run's maximum held in {held} of {applied}; expected: {nominal}",
            held=held,
            applied=applied,
            nominal=percent(nominal),
        )


def _span(history: History, width: int) -> str:
    first, last = history.runs[0].started[:10], history.runs[-1].started[:10]
    machines = [*map(printable, dict.fromkeys(series.machine for series in history.series))]
    dates = first if first == last else f"{first} – {last}"
    runs = _("runs")
    told = f"{runs}: {len(history.runs)}, {dates}"
    if cell_len(whole := "; ".join((told, *machines))) <= width:
        return whole
    room = (width - cell_len(told)) // len(machines) - cell_len("; ")
    return "; ".join((told, *apart(machines, max(LEAST_NAME, room))))
