"""The rule "against" of docs/compare.md: which of two sides is typically sooner, is steadier, has the smaller
maximum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from howlate.charts._words import significant
from howlate.report.compare import Block
from howlate.report.join import MOST_NAMED
from howlate.report.parts import MOST_SAID, Part, Said
from howlate.stats.sides import Direction, Verdict

Judged = Literal[
    "first", "second", "first where told", "second where told", "mixed", "indistinct", "unstated"
]


def judge(directions: Sequence[Direction]) -> Judged:
    """Which side has the smaller figure over all points.

    "first": smaller at more points than larger, and at more than half of those that were tried. "first where told":
    smaller at some and larger at none, but at no more than half. "indistinct": no point tells them apart. Likewise
    for the second. "mixed": anything else; "unstated" where none could be tried.
    """
    smaller, larger = directions.count("smaller"), directions.count("larger")
    tried = smaller + larger + directions.count("indistinct")
    if not tried:
        return "unstated"
    if not smaller + larger:
        return "indistinct"
    if smaller > larger and 2 * smaller > tried:
        return "first"
    if larger > smaller and 2 * larger > tried:
        return "second"
    if smaller and larger:
        return "mixed"
    return "first where told" if smaller else "second where told"


_WORDS = {"0.5": "median", "max": "maximum", "stddev": "standard deviation"}

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


def _relation(part: Part, first: int, second: int) -> tuple[list[Said], list[Said]]:
    """What is stated of two sides, and what is as seen alone."""
    out, bare = [], []
    refusals: dict[str, list[str]] = {}
    for figure in _WORDS:
        found = [
            (block, verdict)
            for block in part.blocks
            for pair in block.pairs
            if (pair.first, pair.second) == (first, second)
            for verdict in pair.verdicts
            if verdict.figure == figure
        ]
        kind = judge([verdict.direction for _, verdict in found])
        if kind == "unstated":
            refusals.setdefault(found[0][1].why if found else "", []).append(figure)
        elif kind in ("second", "second where told"):  # told from the side that is ahead
            turned = [(block, verdict.turned()) for block, verdict in found]
            ahead: Judged = "first" if kind == "second" else "first where told"
            out.append(Said("against", _told(part, second, first, figure, ahead, turned)))
        else:
            out.append(Said("against", _told(part, first, second, figure, kind, found)))
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
            f"Neither of {a} and {b} has the smaller {what} over all: {', '.join(said)}; not distinguishable at "
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
        where += ", larger at none"
    tail = f" ({_ratios(better)})"
    if worse:
        tail += f"; the exception{'s' * (len(worse) > 1)}, where it is larger: {_names(part, worse)}"
    if unclear:
        tail += f"; not distinguishable: {_names(part, unclear)}"
    if tried < len(found):
        tail += f"; {len(found) - tried} more points state nothing"
    return f"{head}{where}{tail}."


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
