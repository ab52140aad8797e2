"""One value a run against the order of the runs, each configuration a panel; a dashed line stands where its level
changed. It hides how much time lies between two runs. `howlate history` draws it; the report's charts are of cells,
so the underscore keeps it out of their list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from howlate.figures.figure import Figure, Key, Note, Panel, around_zero
from howlate.figures.frame import Piece, exact_of, from_bottom, picture_of
from howlate.figures.scale import Scale, spread
from howlate.figures.svg import el, line_path, pack
from howlate.history.courses import Course
from howlate.history.history import History, heading_of
from howlate.words.quantities import time_text
from howlate.words.say import more_rows_text
from howlate.words.statement import Caption

WIDTH = 1000.0
HEIGHT = 150
MOST_POINTS, MOST_PANELS = 20_000, 12
"""Values and configurations that fit on a page."""
CLASSES: Mapping[str, str] = {"max": "c-max", "0.999": "c-p999", "0.99": "c-p99", "0.5": "c-median"}


def draw(history: History) -> Figure | None:
    """The configurations with changes first, as many as have room."""
    by_series: dict[str, list[Course]] = {}
    for course in sorted(history.courses, key=lambda course: not course.changes):
        by_series.setdefault(course.series.name, []).append(course)
    drawn: dict[str, list[Course]] = {}
    points = 0
    for name, courses in by_series.items():
        points += sum(len(course.values) for course in courses)
        if not drawn or (points <= MOST_POINTS and len(drawn) < MOST_PANELS):
            drawn[name] = courses
    if not drawn:
        return None
    shown = [course for courses in drawn.values() for course in courses]
    y = spread(
        min(min(course.values) for course in shown), max(max(course.values) for course in shown), "ns", 0.08
    )
    places = {run.folder: place for place, run in enumerate(history.runs)}
    x = Scale(0.0, float(max(1, len(places))), log=False, kind="count")
    statistics = list(dict.fromkeys(course.statistic for course in shown))
    return Figure(
        name="history",
        title=Caption("One value a run"),
        reading=(
            Caption(
                "Each point is a run, in the order in which they were begun; all panels share both axes. A "
                "dashed line marks a change, with the first run after it."
            ),
            around_zero(y),
            more_rows_text(left) if (left := len(by_series) - len(drawn)) else "",
        ),
        x_title=Caption("Run, the oldest first"),
        y_title=Caption("Latency"),
        panels=tuple(_panel(name, courses, x, y, places) for name, courses in drawn.items()),
        keys=tuple(
            Key(CLASSES.get(statistic, "c1"), heading_of(statistic), "circle") for statistic in statistics
        ),
    )


def _panel(name: str, courses: Sequence[Course], x: Scale, y: Scale, places: Mapping[str, int]) -> Panel:
    dated: set[str] = set()
    pieces = [_piece(course, x, y, places, dated) for course in courses]
    changes = sum(len(course.changes) for course in courses)
    largest = max(max(course.values) for course in courses)
    return Panel(
        label=name,
        picture=picture_of(pieces, x, y.ticks(4), WIDTH, 2.0 * HEIGHT),
        height=HEIGHT,
        summary=Caption(
            "{name}. Runs: {runs}; changes found: {changes}; the largest value: {largest}.",
            runs=max(len(course.values) for course in courses),
            name=name,
            largest=time_text(largest),
            changes=changes,
        ),
        data=exact_of(pieces),
        link="history",
    )


def _piece(course: Course, x: Scale, y: Scale, places: Mapping[str, int], dated: set[str]) -> Piece:
    """`dated`: the dates that the panel says; each once."""
    classes = CLASSES.get(course.statistic, "c1")
    numbers = [places[past.run.folder] + 0.5 for past in course.runs]
    points = [
        (x.at(number) * WIDTH, (1 - y.at(value)) * 2 * HEIGHT)
        for number, value in zip(numbers, course.values, strict=True)
    ]
    marks = [el("path", {"class": f"line {classes}", "d": line_path(points)})]
    notes = []
    for change in course.changes:
        at = x.at((numbers[change.at - 1] + numbers[change.at]) / 2)
        marks.append(el("path", {"class": "knee", "d": f"M{at * WIDTH:.1f},0V{2 * HEIGHT}"}))
        started = course.runs[change.at].run.started[:10]
        date = "" if started in dated else started
        dated.add(started)
        notes.append(Note(at, min(1.0, y.at(change.after_ns)), date, "diamond", classes))
    largest = course.values.index(max(course.values))
    notes.append(Note(x.at(numbers[largest]), y.at(course.values[largest]), "", "circle", classes))
    series = {
        "name": heading_of(course.statistic),
        "key": classes,
        "names": [past.run.started[:16].replace("T", " ") for past in course.runs],
        "says": [time_text(value) for value in course.values],
        "per": 1000,
        "x": pack(round(number * 1000) for number in numbers),
        "y": pack(from_bottom(y.at(value)) for value in course.values),
    }
    return Piece("".join(marks), notes, series)
