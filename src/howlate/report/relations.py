"""The rules "against" and "over all" of docs/compare.md: which of two sides is typically sooner, is steadier, has the
smaller maximum; and whether what the studies conclude is so, that RT is steadier over all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from howlate.charts._words import significant
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
_WORDS = {"0.5": "median", "max": "maximum", STEADY: "standard deviation"}

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
    text = (
        f"Of {len(unstated)} pairs of sides no difference is stated: {'; '.join(whys)}. The tables show all."
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
            bare.append(Said("against", f"{seen} Whether that is the side's doing is not stated: {reason}."))
    return out, bare


def _told(part: Part, one: int, other: int, figure: str, kind: Judged, found: Found) -> str:
    better = [(b, v) for b, v in found if v.direction == "smaller"]
    worse = [(b, v) for b, v in found if v.direction == "larger"]
    unclear = [(b, v) for b, v in found if v.direction == "indistinct"]
    tried = len(better) + len(worse) + len(unclear)
    a, b, what = part.sides[one], part.sides[other], _WORDS[figure]
    if kind == "indistinct":
        return (
            f"{a} and {b} are not distinguishable in their {what}{_at(tried)} ({_ratios(unclear)}). "
            "That is not to say that they are equal."
        )
    if kind == "mixed":
        said = [
            f"{a}'s is smaller at {len(better)} of {tried} points"
            + (f" ({_names(part, better)})" if better else "")
        ]
        said.append(f"{b}'s at {len(worse)}" + (f" ({_names(part, worse)})" if worse else ""))
        return (
            f"Neither of {a} and {b} has the smaller {what} everywhere: {', '.join(said)}; not distinguishable at "
            f"{len(unclear)}."
        )
    sooner = "sooner" if part.values == "wake-ups" else "smaller"
    head = {
        "0.5": f"{a} is typically {sooner} than {b}: its median is smaller",
        "max": f"{a} has a smaller maximum than {b}",
        "stddev": f"{a} is steadier than {b}: its standard deviation is smaller",
    }[figure]
    where = "" if len(found) == 1 else f" at {len(better)} of {tried} points"
    if kind == "first where told":
        head = f"Where they can be told apart, {head}"
    if tried > 1:
        where += ", larger at none"
    tail = f" ({_ratios(better)})"
    if unclear:
        tail += f"; not distinguishable: {_names(part, unclear)}"
    if tried < len(found):
        tail += f"; {len(found) - tried} more points state nothing"
    return f"{head}{where}{tail}."


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
    words: str = "neither confirmed nor contradicted" if said == "neither" else said
    by = {d: [(p, v) for p, v in found if v.direction == d] for d in ("smaller", "larger", "indistinct")}
    tried = sum(map(len, by.values()))
    contrary = {"confirmed": "larger", "contradicted": "smaller"}.get(said)
    counts = []
    for direction, told in (
        ("smaller", "smaller"),
        ("larger", "larger"),
        ("indistinct", "not distinguishable"),
    ):
        names = f" ({_names(part, by[direction])})" if direction == contrary and by[direction] else ""
        counts.append(f"{told} at {len(by[direction]) or 'none'}{names}")
    its = over_all.interval
    assert its is not None
    return (
        f"That RT is steadier over all is {words}: {a}'s standard deviation is {significant(its.ratio)} times {b}'s "
        f"in the mean over {tried} point{'s' * (tried > 1)} (95 % interval from {significant(its.low)} to "
        f"{significant(its.high)}); {', '.join(counts)}."
    )


def _at(points: int) -> str:
    return "" if points == 1 else f" at any of {points} points"


def _names(part: Part, rows: Found) -> str:
    named = [part.where(block) or "there" for block, _ in rows[:MOST_NAMED]]
    more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    return "; ".join(named) + more


def _ratios(found: Found) -> str:
    """ "ratio 0.011 to 0.9, 95 % intervals from 0.01 to 0.95": of the side that is told of to the other."""
    held = [v.interval for _, v in found if v.interval is not None]
    if not held:
        return "no ratio"
    ratios = [i.ratio for i in held]
    low, high = min(i.low for i in held), max(i.high for i in held)
    one = (
        significant(ratios[0])
        if len(held) == 1
        else f"{significant(min(ratios))} to {significant(max(ratios))}"
    )
    return f"ratio {one}, 95 % interval{'s' * (len(held) > 1)} from {significant(low)} to {significant(high)}"


def _as_seen(part: Part, first: int, second: int, figures: Sequence[str]) -> str:
    """The counts alone, where no interval may be given."""
    said = []
    a, b = part.sides[first], part.sides[second]
    for figure in figures:
        smaller = larger = 0
        for block in part.blocks:
            one, other = block.row(first), block.row(second)
            mine = one.range(figure) if one is not None and one.once else None
            its = other.range(figure) if other is not None and other.once else None
            if mine is not None and its is not None:
                smaller += mine.median < its.median
                larger += mine.median > its.median
        if smaller + larger:
            said.append(f"the {_WORDS[figure]} at {smaller} of {smaller + larger}")
    if not said:
        return ""
    return f"As seen, {a}'s is smaller than {b}'s: {', '.join(said)} points."
