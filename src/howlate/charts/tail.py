"""The empirical tail: how rare are wake-ups later than x, both axes logarithmic; several cells in one
plot."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.figures.deadline import deadlines, with_upright
from howlate.figures.figure import (
    Chart,
    Figure,
    Key,
    Note,
    Panel,
    Subject,
    are_wake_ups,
    around_zero,
    names_of,
    things_of,
)
from howlate.figures.frame import Piece, exact_of, picture_of
from howlate.figures.scale import Scale, log_ticks, spread
from howlate.figures.svg import MARKERS, el, pack
from howlate.model.bins import CellBins
from howlate.words.quantities import one_in, time_text
from howlate.words.say import Text
from howlate.words.statement import Caption

WIDTH = 2000.0
HEIGHT = 260
TOGETHER = 8
"""More lines in one plot cannot be told apart."""
MOST_POINTS = 600
"""Points of each cell that are embedded in the page, including all of the rarest."""


def draw(subjects: Sequence[Subject]) -> Figure | None:
    drawn = [(s, s.bins) for s in subjects if s.bins is not None and s.bins.tail.latency_ns]
    if not drawn:
        return None
    total = max(sum(b.histogram.counts) for _, b in drawn)
    ends = [*(b.tail.latency_ns[i] for _, b in drawn for i in (0, -1)), *deadlines([s for s, _ in drawn])]
    x = spread(min(ends), max(ends), "ns", 0.02)
    y = Scale(0.6 / total, 1.0, log=True, kind="share")
    title, value, of = names_of(subjects)
    late = are_wake_ups(subjects)
    more = Caption("later") if late else Caption("larger")
    groups = [drawn[i : i + TOGETHER] for i in range(0, len(drawn), TOGETHER)]
    return Figure(
        name="tail",
        title=Caption("Exceedance (CCDF)") if late else Caption("Exceedance (CCDF): {said}", said=value),
        reading=(
            Caption(
                "The share of the {of} that was {more} than x. A line ends at the largest {value} seen; what lies "
                "beyond was not measured, which is not the same as impossible.",
                value=Caption("latency") if late else Caption("value"),
                of=of,
                more=more,
            ),
            around_zero(x),
        ),
        x_title=title,
        y_title=Caption("Share of {of} that were {more}", of=of, more=more),
        panels=tuple(
            with_upright(_panel(group, x, y, i, len(groups)), [s for s, _ in group])
            for i, group in enumerate(groups)
        ),
        keys=tuple(
            Key(f"c{i + 1} dash{i + 1}", s.label, list(MARKERS)[i], i) for i, (s, _) in enumerate(groups[0])
        )
        if len(groups) == 1
        else (),
    )


def _panel(group: Sequence[tuple[Subject, CellBins]], x: Scale, y: Scale, part: int, parts: int) -> Panel:
    worst = max(group, key=lambda g: g[1].tail.latency_ns[-1])
    return tails_panel(
        Caption("All cells")
        if parts == 1
        else Caption("Cells {part} to {part2}", part=part * TOGETHER + 1, part2=part * TOGETHER + len(group)),
        [tail_piece(i, subject.label, bins, x, y, MOST_POINTS) for i, (subject, bins) in enumerate(group)],
        x,
        y,
        Caption(
            "Tails of {group} cells; the largest, {time_text}, was seen under {label}.",
            group=len(group),
            time_text=time_text(worst[1].tail.latency_ns[-1]),
            label=worst[0].label,
        ),
        group[0][1].column,
    )


def tails_panel(label: Text, pieces: Sequence[Piece], x: Scale, y: Scale, summary: Text, link: str) -> Panel:
    """Tails in one plot, with the shares on the left as "1 in ...", for integers."""
    places = [v for v in log_ticks(y.low, y.high, 8) if abs(round(1 / v) * v - 1) < 1e-6]
    y_ticks = [(y.at(v), one_in(1 / v) if v < 1 else Caption("all")) for v in places]
    return Panel(
        label=label,
        picture=picture_of(pieces, x, y_ticks, WIDTH, 2 * HEIGHT),
        height=HEIGHT,
        summary=summary,
        data=exact_of(pieces, y.low, y.high, log=True),
        link=link,
    )


def tail_piece(place: int, name: Text, bins: CellBins, x: Scale, y: Scale, most: int) -> Piece:
    """One tail with its markers. `place`: among the colours, dashes and markers; `most`: points embedded in
    the page."""
    points = tail_points(bins)
    colour = f"c{place + 1}"
    kept = thin(points, most)
    return Piece(
        el("path", {"class": f"line {colour} dash{place + 1} s{place}", "d": staircase(points, x, y)}),
        markers(points, x, y, list(MARKERS)[place], f"{colour} s{place}"),
        {
            "name": name,
            "key": colour,
            "unit": things_of(bins.column),
            "total": sum(bins.histogram.counts),
            "x": pack(p[0] for p in kept),
            "y": pack(p[1] for p in kept),
        },
    )


def tail_points(bins: CellBins) -> list[tuple[int, int, int]]:
    """(latency, samples later than it, samples); the maximum is the last."""
    total = sum(bins.histogram.counts)
    return [
        (v, round(s * total), total)
        for v, s in zip(bins.tail.latency_ns, bins.tail.share_beyond, strict=True)
    ]


def thin(points: Sequence[tuple[int, int, int]], most: int = MOST_POINTS) -> list[tuple[int, int, int]]:
    """At most this many points: the last third unchanged, the rest evenly spaced, always including the first
    and the last."""
    if len(points) <= most:
        return list(points)
    rare = most // 3
    head, last = points[:-rare], points[-rare:]
    step = len(head) / (most - rare)
    return [head[int(i * step)] for i in range(most - rare)] + list(last)


def staircase(points: Sequence[tuple[int, int, int]], x: Scale, y: Scale) -> str:
    """From "all are later" down to the maximum; steps smaller than about half a pixel are joined."""
    at_x, at_y = round(x.at(points[0][0]) * WIDTH), 0
    out = [f"M{at_x},0"]
    for i, (latency, beyond, total) in enumerate(points):
        px = round(x.at(latency) * WIDTH)
        py = at_y if beyond == 0 else round(2 * HEIGHT * (1 - y.at(beyond / total)))
        if i < len(points) - 1 and px - at_x < 2 and py - at_y < 2:
            continue
        out.append((f"h{px - at_x}" if px != at_x else "") + (f"v{py - at_y}" if py != at_y else ""))
        at_x, at_y = px, py
    return "".join(out)


def markers(
    points: Sequence[tuple[int, int, int]], x: Scale, y: Scale, marker: str, classes: str
) -> list[Note]:
    """A marker where the line crosses each power of ten, and one at the maximum, so that lines differ without
    colour."""
    notes: list[Note] = []
    wanted = 0.1
    before = points[0][2]
    for latency, beyond, total in points:
        while beyond > 0 and beyond / total <= wanted and wanted * total >= 3:
            notes.append(Note(x.at(latency), y.at(wanted), "", marker, f"{classes} small"))
            wanted /= 10
        if beyond > 0:
            before = beyond
    latency, beyond, total = points[-1]
    notes.append(Note(x.at(latency), y.at((beyond or before) / total), "", marker, classes))
    return notes


CHART = Chart("tail", 28, draw, "pooled")
