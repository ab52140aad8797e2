"""What each knob buys: the ratio of each figure with the knob to the same without it, with its exact interval, a row
for each knob. The band is the margin within which differences are not reported. The chart hides the latencies,
which are in the tables. `howlate advise` draws it. The report draws charts of cells, so the underscore keeps it out
of their list."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.figures.figure import Figure, Key, Note, Panel
from howlate.figures.frame import Piece, exact_of, from_bottom, picture_of
from howlate.figures.scale import Scale
from howlate.figures.svg import el, pack
from howlate.sides.sides import MARGIN, Decision
from howlate.statistics.phrases import under
from howlate.why.advise.advice import Advice, KnobAdvice, heading_of
from howlate.words.quantities import significant
from howlate.words.say import Text
from howlate.words.statement import Caption

WIDTH = 1000.0
HEAD, LINE = 24, 16
"""Of a row: the height of its name, and of each figure below."""
PER = 10**9
"""Parts of a ratio in the exact numbers."""
CLASSES = {"0.5": "c-median", "0.99": "c-p99", "0.999": "c-p999", "max": "c-max"}
MARKS = {"0.5": "plus", "0.99": "square", "0.999": "diamond", "max": "circle"}


def draw(advice: Advice) -> Figure | None:
    """A panel for each load; None if no interval is stated."""
    rows = [*advice.knobs, *([advice.together] if advice.together is not None else [])]
    loads = [start.load for start in advice.starts]
    intervals = [
        d.interval for row in rows for trial in row.trials for d in trial.decisions if d.interval is not None
    ]
    if not intervals:
        return None
    low = min(1 / MARGIN, *(interval.low for interval in intervals)) / 1.1
    high = max(MARGIN, *(interval.high for interval in intervals)) * 1.1
    x = Scale(low, high, log=True, kind="count")
    return Figure(
        name="advice",
        title=Caption("With each knob, divided by without"),
        reading=Caption(
            "Each mark is a figure with the knob, divided by the same without it, with its interval: left of "
            "the band the knob makes it less late, right of it later. A value is written where a difference is "
            "shown; elsewhere the interval reaches into the band, or does not suffice among all comparisons."
        ),
        x_title=Caption("with the knob, divided by without"),
        y_title="",
        panels=tuple(panel for load in loads if (panel := _panel(load, rows, x)) is not None),
        keys=tuple(
            Key(CLASSES.get(name, "c1"), heading_of(name), MARKS.get(name, "circle"))
            for name in advice.figures
        ),
        columns=1,
    )


def _panel(load: str, rows: Sequence[KnobAdvice], x: Scale) -> Panel | None:
    drawn = [
        (row, decisions)
        for row in rows
        for trial in row.trials
        if trial.load == load and (decisions := [d for d in trial.decisions if d.interval is not None])
    ]
    if not drawn:
        return None
    height = sum(HEAD + LINE * len(decisions) for _, decisions in drawn)
    pieces, above = [_margin(x, height)], 0
    for row, decisions in drawn:
        pieces += _row(row, decisions, above, height, x)
        above += HEAD + LINE * len(decisions)
    best = min(drawn, key=lambda each: each[0].best)[0]
    return Panel(
        label=under(load),
        picture=picture_of(pieces, x, (), WIDTH, height),
        height=height,
        summary=Caption(
            "{rows} rows, of which the first is {name}; the table has every figure.",
            rows=len(drawn),
            name=" ".join(best.names),
        ),
        data=exact_of([piece for piece in pieces if piece.series]),
        link="advice",
    )


def _margin(x: Scale, height: int) -> Piece:
    left, right = x.at(1 / MARGIN) * WIDTH, x.at(MARGIN) * WIDTH
    band = el(
        "rect",
        {"class": "band", "x": f"{left:.1f}", "y": 0, "width": f"{right - left:.1f}", "height": height},
    )
    one = el("path", {"class": "knee", "d": f"M{x.at(1) * WIDTH:.1f},0V{height}"})
    return Piece(band + one, (), {})


def _row(row: KnobAdvice, decisions: Sequence[Decision], above: int, height: int, x: Scale) -> list[Piece]:
    name = " ".join(row.names)
    heading: Text = Caption("together: {knobs}", knobs=name) if len(row.flips) > 1 else name
    pieces = [Piece("", [Note(0, 1 - (above + 12) / height, heading, "", "row")], {})]
    for number, decision in enumerate(decisions):
        y = 1 - (above + HEAD + LINE * number + LINE / 2) / height
        pieces.append(_line(heading, decision, y, height, x))
    return pieces


def _line(name: Text, decision: Decision, y: float, height: int, x: Scale) -> Piece:
    interval = decision.interval
    assert interval is not None
    shown = decision.direction in ("smaller", "larger")
    classes = CLASSES.get(decision.figure, "c1")
    low, high = (x.at(value) * WIDTH for value in (interval.low, interval.high))
    line = el("path", {"class": f"range {classes}", "d": f"M{low:.1f},{height * (1 - y):g}H{high:.1f}"})
    told = significant(interval.ratio) if shown else ""
    return Piece(
        line,
        [Note(x.at(interval.ratio), y, told, MARKS.get(decision.figure, "circle"), classes)],
        {
            "name": name,
            "names": [heading_of(decision.figure)],
            "says": [
                f"{significant(interval.ratio)} ({significant(interval.low)} – {significant(interval.high)})"
            ],
            "per": PER,
            "x": pack([round(interval.ratio * PER)]),
            "y": pack([from_bottom(y)]),
        },
    )
