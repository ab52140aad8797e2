"""Where the time of the worst samples went: a bar for each, from the release to the time stamp. All bars are equally
long, so that the parts of one sample can be read beside another that is a hundred times as late. What it hides: parts
below a thousandth are drawn with their neighbour; `howlate why` lists them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from howlate.charts._cases import DrawnCase, drawn_cases, time_axis
from howlate.charts._data import pack
from howlate.charts._figure import Chart, Figure, Key, Note, Panel, Subject
from howlate.charts._pieces import Piece, exact_of, from_bottom, picture_of
from howlate.charts._scale import OWN_AXES, Axes, Scale
from howlate.charts._svg import el
from howlate.model.cause import Cause, CausePart, ExplainedCase
from howlate.why.cause_names import NAMES, cause_caption
from howlate.words.caption import Caption
from howlate.words.quantities import seconds_text, time_text

WIDTH = 1000
WHOLE = Scale(0.0, 1.0, log=False, kind="share")
ROW, NAME_AT, BAR_AT, BAR = 42, 10, 20, 14
"""The row's share of the picture's height: where its name and its bar are, and the bar's height."""
COLOURS = 8
REST = "rest"


@dataclass(frozen=True)
class _Slice:
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
            "A bar for each of the worst samples, from its release on the left to its time stamp on the right, "
            "however long that took. The colours say what the time went to, in the order in which it went. A name "
            "leads to the sample's point in the course of time."
        ),
        x_title=Caption("Share of the latency"),
        y_title="",
        panels=tuple(_panel(subject, cases, classes) for subject, cases in drawn),
        keys=tuple(keys),
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
    pieces = [_piece(case, ROW * i, height, classes) for i, case in enumerate(cases)]
    worst = cases[0].explained
    return Panel(
        label=subject.label,
        picture=picture_of(pieces, WHOLE, (), WIDTH, height),
        height=height,
        summary=Caption(
            "What the time of the {count} worst samples went to. Of the worst, {latency}, most went to: {cause}.",
            count=len(cases),
            latency=time_text(worst.case.latency_ns),
            cause=cause_caption(*worst.largest.key),
        ),
        data=exact_of(pieces),
    )


def _piece(drawn: DrawnCase, above: int, height: int, classes: dict[Cause, str]) -> Piece:
    case = drawn.explained.case
    slices = list(_slices(drawn.explained))
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
            "x": pack((each.left + each.right) // 2 for each in slices),
            "per": WIDTH,
            "y": pack([y] * len(slices)),
        },
    )


def _slices(explained: ExplainedCase) -> Iterator[_Slice]:
    """At least a unit wide each: what is narrower belongs to what comes before it."""
    before: _Slice | None = None
    for part in explained.parts:
        right = round((part.from_ns + part.ns) / explained.case.latency_ns * WIDTH)
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
