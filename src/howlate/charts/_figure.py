"""The shapes that charts take and give: a cell to draw, a picture, its panels, and the figure around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from howlate.charts._scale import OWN_AXES, Axes, Scale
from howlate.model.bins import CellBins
from howlate.model.summary import CellSummary
from howlate.stats.groups import Group


@dataclass(frozen=True)
class Subject:
    """One cell as a chart sees it: what to call it, its summary, its bins."""

    label: str
    summary: CellSummary
    bins: CellBins | None
    group: Group | None = None
    """The point with its repetitions, where the report is of points; `summary` is then of the one repetition with
    the largest latency, or of all (`Chart.shows`)."""
    one: CellBins | None = None
    """Where `bins` are of all repetitions: those of the one with the largest latency, which have courses in time and
    against the index."""


Shows = Literal["cells", "pooled", "worst", "points", "sides"]
"""What a chart draws where points are repeated: nothing (cells are all it knows), each point's repetitions as one,
the repetition with the largest latency, or the points with their spread. Where nothing is repeated: the cells.
"sides": once for the whole page, whatever is repeated: each point as one, `Subject.group` with its labels, whose
`kernel` is the side (report/join.py)."""


@dataclass(frozen=True)
class Key:
    """One entry of a legend: the CSS classes that its sample is drawn with, and what it stands for."""

    classes: str
    text: str
    mark: str = "line"
    """"line", "area", or the name of a marker (_svg.MARKERS)."""
    series: int | None = None
    """The series of the panel that lights up under this entry; None: it belongs to all panels alike."""


@dataclass(frozen=True)
class Note:
    """A direct label at a place of the plane, in shares from left and bottom; follows the zoom."""

    x: float
    y: float
    text: str
    marker: str = ""
    classes: str = ""


@dataclass(frozen=True)
class Picture:
    """The drawing of one panel: what lies on the plane (zoomed), and the frame around it (ticks, which zoom
    redraws)."""

    x: Scale
    y_ticks: Sequence[tuple[float, str]]
    """Share of the height from the bottom, text."""
    marks: str
    """SVG in a plane of `width` x `height` units, y downwards; the page stretches it."""
    width: float
    height: float
    notes: Sequence[Note] = ()


@dataclass(frozen=True)
class Panel:
    """One plot: its heading, picture, height in pixels, and the exact numbers that hover reads."""

    label: str
    picture: Picture
    height: int
    summary: str
    """What the picture shows, in words, for those who cannot see it."""
    data: Mapping[str, Any]
    """See _data.py for the two kinds."""
    link: str = ""
    """Panels with the same link zoom together."""
    aside: str = ""


@dataclass(frozen=True)
class Figure:
    """All panels of one chart, with what the reader must know to read them."""

    name: str
    title: str
    reading: str
    """How to read it, and what it hides, in a sentence or two."""
    x_title: str
    y_title: str
    panels: tuple[Panel, ...]
    keys: tuple[Key, ...] = ()
    columns: int = 0
    """So many panels stand in a row where there is room; 0: as the page has it."""


@dataclass(frozen=True)
class Chart:
    """A plug-in of this folder."""

    name: str
    place: int
    """Where it stands in the report: smaller first."""
    draw: Callable[..., Figure | str | None] = field(repr=False)
    """Of the subjects, and of the axes that are asked for where it has some. None: nothing to draw. A text: nothing
    to draw, and why."""
    shows: Shows = "worst"
    every: bool = False
    """Drawn for every column of the samples; else for the first alone."""
    axes: tuple[str, ...] = ()
    """Those of _scale.AXES that somebody may ask for; `draw` takes them."""

    def figure(self, subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | str | None:
        """What it draws of these, on these axes."""
        mine = {name: axis for name, axis in axes.items() if name in self.axes}
        return self.draw(subjects, mine) if mine else self.draw(subjects)
