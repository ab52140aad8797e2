"""The input and output types of charts: a cell to draw, a picture, its panels, and the figure around them; and the
names of what they draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from howlate.figures.scale import OWN_AXES, Axes, Scale
from howlate.model.bins import CellBins
from howlate.model.columns import LATENCY, RESPONSE, column_title, column_words, things
from howlate.model.summary import CellSummary
from howlate.statistics.groups import Group
from howlate.words.quantities import time_text
from howlate.words.say import Text
from howlate.words.statement import Caption

if TYPE_CHECKING:
    from howlate.model.cause import ExplainedCase


class Subject(Struct, frozen=True):
    """One cell as a chart sees it: its name, its summary, its bins."""

    label: Text
    summary: CellSummary
    bins: CellBins | None
    group: Group | None = None
    """The point with its repetitions, if the report shows points; `summary` is then that of the repetition
    with the largest latency, or of all (`Chart.shows`)."""
    ruling: str = ""
    """Of a point on a side: the verdict on the stated deadline (verdict/ruling.py); "" if none was stated."""
    one: CellBins | None = None
    """If `bins` cover all repetitions: those of the one with the largest latency, which have courses in time
    and against the index."""
    cases: tuple[ExplainedCase, ...] = ()
    """Its explained samples, the worst first."""
    end: Text = ""


Shows = Literal["cells", "pooled", "worst", "points", "sides"]
"""What a chart draws for repeated points: nothing (it knows only cells), each point's repetitions as one, the
repetition with the largest latency, or the points with their spread. Without repetitions: the cells. "sides":
once for the whole page, whether repeated or not: each point as one, `Subject.group` with its labels, whose
`kernel` is the side (sides/join.py)."""


class Key(Struct, frozen=True):
    """One entry of a legend: the CSS classes of its sample, and its meaning."""

    classes: str
    text: Text
    mark: str = "line"
    """"line", "area", or the name of a marker (_svg.MARKERS)."""
    series: int | None = None
    """The series of the panel that lights up under this entry; None: the entry belongs to all panels."""


class Note(Struct, frozen=True):
    """A direct label at a place of the plane, in shares from left and bottom; follows the zoom."""

    x: float
    y: float
    text: Text
    marker: str = ""
    classes: str = ""
    ident: str = ""
    """The id by which other places of the page link to it; "" for none."""
    link: str = ""
    """The id of the place that it links to; "" for none."""
    says: Text = ""
    """What a link without a text is, for readers who cannot see it."""


class Picture(Struct, frozen=True):
    """The drawing of one panel: the plane (zoomed), and the frame around it (ticks, which zooming redraws)."""

    x: Scale
    y_ticks: Sequence[tuple[float, Text]]
    """Share of the height from the bottom, text."""
    marks: str
    """SVG in a plane of `width` x `height` units, y downwards; the page stretches it."""
    width: float
    height: float
    notes: Sequence[Note] = ()


class Panel(Struct, frozen=True):
    """One plot: its heading, picture, height in pixels, and the exact numbers for hovering."""

    label: Text
    picture: Picture
    height: int
    summary: Text
    """A description of the picture in words, for readers who cannot see it."""
    data: Mapping[str, Any]
    """See svg.py for the two kinds."""
    link: Text = ""
    """Panels with the same link zoom together."""
    aside: Text = ""


class Figure(Struct, frozen=True):
    """All panels of one chart, with what the reader needs to interpret them."""

    name: str
    title: Text
    reading: Text
    """How to read it, and what it hides, in a sentence or two."""
    x_title: Text
    y_title: Text
    panels: tuple[Panel, ...]
    keys: tuple[Key, ...] = ()
    columns: int = 0
    """The number of panels in a row if there is room; 0: the page's default."""


def columns_of(panels: int, most: int = 3) -> int:
    """How many panels a row has; 0 for a single one."""
    return min(panels, most) if panels > 1 else 0


class Chart(Struct, frozen=True):
    """A plug-in of this folder."""

    name: str
    place: int
    """Its position in the report: smaller first."""
    draw: Callable[..., Figure | Text | None]
    """A function of the subjects, and of the requested axes if the chart has some. None: nothing to draw. A
    text: nothing to draw, and the reason."""
    shows: Shows = "worst"
    every: bool = False
    """Drawn for every column of the samples; otherwise only for the first."""
    axes: tuple[str, ...] = ()
    """The axes of _scale.AXES that the user may set; `draw` takes them."""
    folded: bool = False
    """Shown on demand."""

    def figure(self, subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | Text | None:
        mine = {name: axis for name, axis in axes.items() if name in self.axes}
        return self.draw(subjects, mine) if mine else self.draw(subjects)


NAMES = (
    Caption("Wake-up latency"),
    Caption("Response time"),
    Caption("Interrupt latency"),
    Caption("wake-up latency"),
    Caption("response time"),
    Caption("interrupt latency"),
    Caption("wake-up"),
    Caption("wake-ups"),
    Caption("data point"),
    Caption("data points"),
)
"""Columns, as headings and inside a sentence, and the units being counted: model/columns.py makes them, and here
the catalogues find them."""


def column_of(subjects: Sequence[Subject]) -> str:
    return next((s.bins.column for s in subjects if s.bins is not None), LATENCY)


def names_of(subjects: Sequence[Subject]) -> tuple[Caption, Caption, Caption]:
    """The drawn quantity, as a heading and inside a sentence, and the unit being counted."""
    column = column_of(subjects)
    return title_of_column(column), words_of_column(column), things_of(column)


def title_of_column(column: str) -> Caption:
    return Caption(column_title(column))


def words_of_column(column: str) -> Caption:
    return Caption(column_words(column))


def things_of(column: str, count: int = 2) -> Caption:
    return Caption(things(column, count))


def around_zero(x: Scale) -> Text:
    """How to read an axis with values of 0 or below; "" for one of values above zero, or a linear one."""
    return (
        Caption(
            "The axis is nearly linear within {knee} of zero, and logarithmic beyond it.",
            knee=time_text(x.knee),
        )
        if x.log and x.knee
        else ""
    )


def are_wake_ups(subjects: Sequence[Subject]) -> bool:
    return column_of(subjects) in (LATENCY, RESPONSE)
