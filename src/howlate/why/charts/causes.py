"""Where the time of the worst samples went: a bar for each, from the release to the time stamp, as long as it was
late. Each cell has an axis of its own, so that one that is a hundred times as late hides no other. What it hides:
parts below a thousandth are drawn with their neighbour; `howlate why` lists them, and more samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from howlate.figures.cases import DrawnCase, drawn_cases, time_axis
from howlate.figures.figure import Chart, Figure, Key, Note, Panel, Subject, columns_of
from howlate.figures.frame import Piece, exact_of, from_bottom, picture_of
from howlate.figures.scale import OWN_AXES, Axes, Scale
from howlate.figures.svg import el, pack
from howlate.model.cause import Cause, CausePart, ExplainedCase
from howlate.why.cause_words import NAMES, cause_caption
from howlate.words.quantities import seconds_text, time_text
from howlate.words.statement import Caption

WIDTH = 1000
ROW, NAME_AT, BAR_AT, BAR = 36, 9, 18, 12
"""The row's share of the picture's height: where its name and its bar are, and the bar's height."""
COLOURS = 8
REST = "rest"


class _Slice(Struct, frozen=True):
    """What is drawn of a bar in one colour, in units of the picture."""

    cause: Cause
    left: int
    right: int
    part: CausePart
    """The longest of those in it."""
    ns: int


def draw(subjects: Sequence[Subject], axes: Axes = OWN_AXES) -> Figure | None:
    x = time_axis(subjects, axes)
    held = [(subject, drawn_cases(place, subject, x)) for place, subject in enumerate(subjects)]
    drawn = [(subject, cases) for subject, cases in held if cases]
    if not drawn:
        return None
    classes = classes_of(case.explained for _subject, cases in drawn for case in cases)
    keys = [Key(css, NAMES[cause], "area") for cause, css in classes.items() if css != REST]
    if REST in classes.values():
        keys.append(Key(REST, Caption("other causes"), "area"))
    return Figure(
        name="causes",
        title=Caption("Why the worst were late"),
        reading=Caption(
            "A bar for each of the worst samples of a row, from its release to its time stamp, as long as it was "
            "late; each row has its own axis. The colours are the causes. A name links to the sample above."
        ),
        x_title=Caption("Time since the release"),
        y_title="",
        panels=tuple(_panel(subject, cases, classes) for subject, cases in drawn),
        keys=tuple(keys),
        columns=columns_of(len(drawn)),
    )


def classes_of(cases: Iterable[ExplainedCase]) -> dict[Cause, str]:
    """A colour for each of the causes with the most time, another one for all the rest."""
    sums: Counter[Cause] = Counter()
    for case in cases:
        for part in case.parts:
            sums[part.cause] += part.ns
    ranked = sorted(sums, key=lambda cause: (-sums[cause], cause))
    return {cause: f"c{i + 1}" if i < COLOURS else REST for i, cause in enumerate(ranked)}


def _panel(subject: Subject, cases: Sequence[DrawnCase], classes: dict[Cause, str]) -> Panel:
    height = ROW * len(cases)
    worst = cases[0].explained
    longest_ns = max(case.explained.case.latency_ns for case in cases)
    pieces = [_piece(case, ROW * i, height, classes, longest_ns) for i, case in enumerate(cases)]
    return Panel(
        label=subject.label,
        picture=picture_of(pieces, Scale(0.0, float(longest_ns), log=False, kind="ns"), (), WIDTH, height),
        height=height,
        summary=Caption(
            "Causes of the {count} worst samples. Main cause of the worst, {latency}: {cause}.",
            count=len(cases),
            latency=time_text(worst.case.latency_ns),
            cause=cause_caption(*worst.largest.key),
        ),
        data=exact_of(pieces),
    )


def _piece(drawn: DrawnCase, above: int, height: int, classes: dict[Cause, str], longest_ns: int) -> Piece:
    """`longest_ns`: as long as the picture is wide."""
    case = drawn.explained.case
    slices = list(_slices(drawn.explained, longest_ns))
    top, foot = above + BAR_AT, above + BAR_AT + BAR
    paths: dict[str, list[str]] = {}
    for each in slices:
        paths.setdefault(classes[each.cause], []).append(
            f"M{each.left},{top}H{each.right}V{foot}H{each.left}z"
        )
    name = Caption(
        "{latency} · release {release}, after {seconds}",
        latency=time_text(case.latency_ns),
        release=case.release,
        seconds=seconds_text(case.release_ns / 1e9),
    )
    point = drawn.point if drawn.at is not None else ""
    y = from_bottom(1 - (above + BAR_AT + BAR / 2) / height)
    return Piece(
        "".join(el("path", {"class": f"part {css}", "d": "".join(path)}) for css, path in paths.items()),
        [Note(0, 1 - (above + NAME_AT) / height, name, "", "row", drawn.bar, point)],
        {
            "name": name,
            "names": [cause_caption(*each.part.key) for each in slices],
            "says": [time_text(each.ns) for each in slices],
            "x": pack(round((each.left + each.right) / 2 / WIDTH * longest_ns) for each in slices),
            "y": pack([y] * len(slices)),
        },
    )


def _slices(explained: ExplainedCase, longest_ns: int) -> Iterator[_Slice]:
    """At least a unit wide each: what is narrower belongs to what comes before it."""
    before: _Slice | None = None
    for part in explained.parts:
        right = round((part.from_ns + part.ns) / longest_ns * WIDTH)
        if before is None:
            before = _Slice(part.cause, 0, right, part, part.ns)
        elif part.cause is before.cause or right <= before.right:
            longest = max(before.part, part, key=lambda each: each.ns)
            cause = longest.cause if before.left == before.right else before.cause
            before = _Slice(cause, before.left, max(right, before.right), longest, before.ns + part.ns)
        else:
            if before.left < before.right:
                yield before
            before = _Slice(part.cause, before.right, right, part, part.ns)
    if before is not None and before.left < before.right:
        yield before


CHART = Chart("causes", 32, draw, axes=("time",))
