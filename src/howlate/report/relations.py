"""The rules "against" and "over all" of docs/compare.md: which of two sides is typically sooner, is steadier, has the
smaller maximum; and whether what the studies conclude is so, that RT is steadier over all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from howlate.charts._words import significant
from howlate.language import N_, _, ngettext, retold
from howlate.report.compare import Block
from howlate.report.join import MOST_NAMED
from howlate.report.parts import MOST_SAID, Part, Said
from howlate.stats.sides import Direction, Row, Verdict, over_points

Judged = Literal[
    "first", "second", "first where told", "second where told", "mixed", "indistinct", "unstated"
]
RT = "rt"
Answer = Literal["confirmed", "contradicted", "neither"]


def judge(directions: Sequence[Direction]) -> Judged:
    """Which side has the smaller figure: nothing that a point contradicts.

    "first": larger at no point, and smaller at more than half of those that were tried. "first where told": larger at
    none, smaller at some but at no more than half. "mixed": smaller at some and larger at others. "indistinct": no
    point tells them apart. Likewise for the second. "unstated" where none could be tried.
    """
    smaller, larger = directions.count("smaller"), directions.count("larger")
    tried = smaller + larger + directions.count("indistinct")
    if not tried:
        return "unstated"
    if smaller and larger:
        return "mixed"
    if smaller:
        return "first" if 2 * smaller > tried else "first where told"
    if larger:
        return "second" if 2 * larger > tried else "second where told"
    return "indistinct"


def answer(directions: Sequence[Direction], over_all: Direction) -> Answer:
    """Whether the first side's figure is smaller over all points.

    "confirmed": it is in the mean over the points, and at more points smaller than larger; "contradicted": the second
    side's is. "neither": anything else. One number over all points may be the doing of few, the count of points says
    nothing of how much: a conclusion needs both.
    """
    smaller, larger = directions.count("smaller"), directions.count("larger")
    if over_all == "smaller" and smaller > larger:
        return "confirmed"
    if over_all == "larger" and larger > smaller:
        return "contradicted"
    return "neither"


STEADY = "stddev"
_WORDS = {"0.5": N_("median"), "max": N_("maximum"), STEADY: N_("standard deviation")}

Found = Sequence[tuple[Block, Verdict]]


def relations(part: Part) -> list[Said]:
    """For each pair of sides and each figure."""
    pairs = dict.fromkeys((p.first, p.second) for block in part.blocks for p in block.pairs)
    found = [_relation(part, first, second) for first, second in pairs]
    stated = [said for some, _ in found for said in some]
    unstated = [said for _, some in found for said in some]
    if len(unstated) <= MOST_SAID:
        return stated + unstated
    whys = dict.fromkeys(
        v.why for b in part.blocks for p in b.pairs for v in p.verdicts if v.direction == "unstated"
    )
    text = _("Of {unstated} pairs of sides no difference is stated: {whys}. The tables show all.").format(
        unstated=len(unstated), whys="; ".join(map(retold, whys))
    )
    return [*stated, Said("against", text)]


def _found(part: Part, first: int, second: int, figure: str) -> list[tuple[Block, Verdict]]:
    return [
        (block, verdict)
        for block in part.blocks
        for pair in block.pairs
        if (pair.first, pair.second) == (first, second)
        for verdict in pair.verdicts
        if verdict.figure == figure
    ]


def _relation(part: Part, first: int, second: int) -> tuple[list[Said], list[Said]]:
    """What is stated of two sides, and what is as seen alone."""
    out, bare = [], []
    refusals: dict[str, list[str]] = {}
    for figure in _WORDS:
        found = _found(part, first, second, figure)
        kind = judge([verdict.direction for _, verdict in found])
        if kind == "unstated":
            refusals.setdefault(found[0][1].why if found else "", []).append(figure)
        elif kind in ("second", "second where told"):  # told from the side that is ahead
            turned = [(block, verdict.turned()) for block, verdict in found]
            ahead: Judged = "first" if kind == "second" else "first where told"
            out.append(Said("against", _told(part, second, first, figure, ahead, turned)))
        else:
            out.append(Said("against", _told(part, first, second, figure, kind, found)))
    out += _conclusion(part, first, second)
    for reason, figures in refusals.items():
        seen = _as_seen(part, first, second, figures)
        if seen:
            bare.append(
                Said(
                    "against",
                    _("{seen} Whether that is the side's doing is not stated: {reason}.").format(
                        seen=seen, reason=retold(reason)
                    ),
                )
            )
    return out, bare


def _told(part: Part, one: int, other: int, figure: str, kind: Judged, found: Found) -> str:
    better = [(b, v) for b, v in found if v.direction == "smaller"]
    worse = [(b, v) for b, v in found if v.direction == "larger"]
    unclear = [(b, v) for b, v in found if v.direction == "indistinct"]
    tried = len(better) + len(worse) + len(unclear)
    a, b, what = part.sides[one], part.sides[other], _(_WORDS[figure])
    if kind == "indistinct":
        return _(
            "{a} and {b} are not distinguishable in their {what}{tried} ({unclear}). That is not "
            "to say that they are equal."
        ).format(a=a, b=b, what=what, tried=_at(tried), unclear=_ratios(unclear))
    if kind == "mixed":
        said = [
            _("{a}'s is smaller at {better} of {tried} points").format(a=a, better=len(better), tried=tried)
            + (f" ({_names(part, better)})" if better else "")
        ]
        said.append(
            _("{b}'s at {worse}").format(b=b, worse=len(worse))
            + (f" ({_names(part, worse)})" if worse else "")
        )
        return _(
            "Neither of {a} and {b} has the smaller {what} everywhere: {said}; not "
            "distinguishable at {unclear}."
        ).format(a=a, b=b, what=what, said=", ".join(said), unclear=len(unclear))
    head = {
        "0.5": (
            _("{a} is typically sooner than {b}: its median is smaller")
            if part.are_wake_ups
            else _("{a} is typically smaller than {b}: its median is smaller")
        ).format(a=a, b=b),
        "max": _("{a} has a smaller maximum than {b}").format(a=a, b=b),
        "stddev": _("{a} is steadier than {b}: its standard deviation is smaller").format(a=a, b=b),
    }[figure]
    where = (
        "" if len(found) == 1 else _(" at {better} of {tried} points").format(better=len(better), tried=tried)
    )
    if kind == "first where told":
        head = _("Where they can be told apart, {head}").format(head=head)
    if tried > 1:
        where += _(", larger at none")
    tail = f" ({_ratios(better)})"
    if unclear:
        tail += _("; not distinguishable: {part}").format(part=_names(part, unclear))
    if tried < len(found):
        tail += _("; {found} more points state nothing").format(found=len(found) - tried)
    return _("{sentence}.").format(sentence=f"{head}{where}{tail}")


def _conclusion(part: Part, first: int, second: int) -> list[Said]:
    """What the studies conclude of RT, of each pair with one side that has it."""
    models = [part.preemption[side] == RT for side in (first, second)]
    if models[0] == models[1]:
        return []
    rt, other = (first, second) if models[0] else (second, first)
    points: dict[str, list[tuple[Row, Row]]] = {}
    for figure in _WORDS:
        for block, verdict in _found(part, first, second, figure):
            one, its = block.row(rt), block.row(other)
            if verdict.direction != "unstated" and one is not None and its is not None:
                points.setdefault(figure, []).append((one, its))
    over_all = over_points(points).get(STEADY)
    if over_all is None:
        return []
    found = _found(part, first, second, STEADY)
    if rt != first:
        found = [(block, verdict.turned()) for block, verdict in found]
    return [Said("over all", _answered(part, (rt, other), found, over_all))]


def _answered(part: Part, sides: tuple[int, int], found: Found, over_all: Verdict) -> str:
    a, b = (part.sides[side] for side in sides)
    said = answer([verdict.direction for _, verdict in found], over_all.direction)
    by = {d: [(p, v) for p, v in found if v.direction == d] for d in ("smaller", "larger", "indistinct")}
    tried = sum(map(len, by.values()))
    contrary = {"confirmed": "larger", "contradicted": "smaller"}.get(said)
    counts = []
    for direction, told in (
        ("smaller", _("smaller at {count}{names}")),
        ("larger", _("larger at {count}{names}")),
        ("indistinct", _("not distinguishable at {count}{names}")),
    ):
        names = f" ({_names(part, by[direction])})" if direction == contrary and by[direction] else ""
        counts.append(told.format(count=len(by[direction]) or _("none"), names=names))
    its = over_all.interval
    assert its is not None
    confirmed = {
        "confirmed": _("That RT is steadier over all is confirmed:"),
        "contradicted": _("That RT is steadier over all is contradicted:"),
        "neither": _("That RT is steadier over all is neither confirmed nor contradicted:"),
    }[said]
    figures = ngettext(
        "{a}'s standard deviation is {ratio} times {b}'s in the mean over {tried} point (95 % interval "
        "from {low} to {high}); {counts}.",
        "{a}'s standard deviation is {ratio} times {b}'s in the mean over {tried} points (95 % interval "
        "from {low} to {high}); {counts}.",
        tried,
    ).format(
        a=a,
        ratio=significant(its.ratio),
        b=b,
        tried=tried,
        low=significant(its.low),
        high=significant(its.high),
        counts=", ".join(counts),
    )
    return f"{confirmed} {figures}"


def _at(points: int) -> str:
    return "" if points == 1 else _(" at any of {points} points").format(points=points)


def _names(part: Part, rows: Found) -> str:
    named = [part.where(block) or _("there") for block, _verdict in rows[:MOST_NAMED]]
    more = _(" and {rows} more").format(rows=len(rows) - MOST_NAMED) if len(rows) > MOST_NAMED else ""
    return "; ".join(named) + more


def _ratios(found: Found) -> str:
    """ "ratio 0.011 to 0.9, 95 % intervals from 0.01 to 0.95": of the side that is told of to the other."""
    held = [v.interval for _, v in found if v.interval is not None]
    if not held:
        return _("no ratio")
    ratios = [i.ratio for i in held]
    low, high = min(i.low for i in held), max(i.high for i in held)
    one = (
        significant(ratios[0])
        if len(held) == 1
        else _("{significant} to {significant2}").format(
            significant=significant(min(ratios)), significant2=significant(max(ratios))
        )
    )
    return ngettext(
        "ratio {one}, 95 % interval from {low} to {high}",
        "ratio {one}, 95 % intervals from {low} to {high}",
        len(held),
    ).format(one=one, low=significant(low), high=significant(high))


def _as_seen(part: Part, first: int, second: int, figures: Sequence[str]) -> str:
    """The counts alone, where no interval may be given."""
    said = []
    a, b = part.sides[first], part.sides[second]
    for figure in figures:
        smaller = larger = points = 0
        for block in part.blocks:
            one, other = block.row(first), block.row(second)
            mine = one.range(figure) if one is not None and one.once else None
            its = other.range(figure) if other is not None and other.once else None
            if mine is not None and its is not None:
                points += 1
                smaller += mine.median < its.median
                larger += mine.median > its.median
        if points and not smaller and not larger:
            said.append(
                _("the {words} is the same at {points}").format(words=_(_WORDS[figure]), points=points)
            )
        elif points:
            said.append(
                _("the {words} is smaller on {a} at {smaller}, on {b} at {larger} of {points}").format(
                    words=_(_WORDS[figure]), a=a, b=b, smaller=smaller, larger=larger, points=points
                )
            )
    if not said:
        return ""
    return _("As seen, {said} points.").format(said="; ".join(said))
