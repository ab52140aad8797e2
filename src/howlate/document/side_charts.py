"""What charts over sides draw: every place on every side as one, whichever part or run it is of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.charts import all_charts
from howlate.document.document import ChartItem
from howlate.document.points import together
from howlate.document.results import rulings_of
from howlate.document.text import every_note
from howlate.figures.figure import Chart, Subject
from howlate.figures.scale import OWN_AXES, Axes
from howlate.model.loaded import RunContent
from howlate.model.study import PART
from howlate.rooms import hooks
from howlate.sides.cell_labels import labels_of
from howlate.sides.join import gravity_of_runs, join
from howlate.sides.joined import Joined, MatrixPlace
from howlate.statistics.bins.pool import pool


def side_subjects(contents: Sequence[RunContent], joined: Joined) -> list[Subject]:
    """One subject for each place and side with a valid repetition; its label `kernel` is the side's name."""
    return [spot.subject for spot in placed(contents, joined)]


class Placed(Struct, frozen=True):
    """A subject, and where it was measured."""

    place: MatrixPlace
    side: int
    name: str
    """The side's."""
    subject: Subject


def placed(contents: Sequence[RunContent], joined: Joined) -> list[Placed]:
    rulings = list(map(rulings_of, contents))
    subjects = []
    for place in joined.places:
        for side, member in sorted(place.members.items()):
            own = member.group
            labels = {**place.labels, "kernel": joined.sides[side].name}
            group = replace(own, labels=labels)
            if not own.counted:
                continue
            cells = [contents[member.run].cells[at] for at in own.places]
            held = [cell.bins for cell in cells if cell.summary.valid and cell.bins is not None]
            summary = together(own.counted) if held else own.counted[0]
            worst = own.worst_at(held[0].column) if held else None
            one = None if worst is None else cells[worst].bins
            ruling = rulings[member.run].get(own.point, "")
            name = joined.sides[side].name
            subjects.append(Placed(place, side, name, Subject(name, summary, pool(held), group, ruling, one)))
    return subjects


def side_charts(contents: Sequence[RunContent], axes: Axes = OWN_AXES) -> Iterator[ChartItem]:
    """Every chart over sides, in the report's order."""
    if not any(content.cells for content in contents):
        return
    subjects = side_subjects(contents, join(contents))
    for chart in all_charts():
        if chart.shows == "sides":
            yield from _drawn(chart, subjects, axes)


def _drawn(chart: Chart, subjects: Sequence[Subject], axes: Axes) -> Iterator[ChartItem]:
    if not chart.every:
        figure = chart.figure(subjects, axes)
        if figure is not None:
            yield ChartItem(figure)
        return
    parts = dict.fromkeys(_part(subject) for subject in subjects)
    for part in parts:
        own = [subject for subject in subjects if _part(subject) == part and subject.bins is not None]
        names = dict.fromkeys(
            name
            for s in own
            if s.bins is not None
            for name in (s.bins.column, *(other.column for other in s.bins.others))
        )
        for number, name in enumerate(names):
            some = [(s, s.bins.of(name)) for s in own if s.bins is not None]
            figure = chart.figure([replace(s, bins=bins) for s, bins in some if bins is not None], axes)
            if figure is not None:
                yield ChartItem(figure, part, name if number else "")


def _part(subject: Subject) -> str:
    return subject.group.labels.get(PART, "") if subject.group is not None else ""


def over_sides(contents: Sequence[RunContent], axes: Axes, *, published: bool) -> Iterator[ChartItem]:
    """The charts of the whole page: the study's figures first, if wanted."""
    virtual = bool(contents) and contents[0].run.virtual
    note = every_note(virtual=virtual, labels=labels_of(contents, None), gravity=gravity_of_runs(contents))
    if published:
        for draw in hooks("published_figures"):
            yield from (drawn._replace(caution=note) for drawn in draw(contents))
    yield from (drawn._replace(caution=note) for drawn in side_charts(contents, axes))
