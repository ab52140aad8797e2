"""Elements of SVG as text, and the compact paths that keep a page of 40 cells small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

from howlate.words.say import Text, text_of

MARKERS: dict[str, str] = {
    "circle": "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0",
    "square": "M-3.5,-3.5h7v7h-7z",
    "triangle": "M0,-4.6L4.4,3.4H-4.4z",
    "diamond": "M0,-5L4.6,0L0,5L-4.6,0z",
    "cross": "M-3.5,-3.5L3.5,3.5M-3.5,3.5L3.5,-3.5",
    "plus": "M-4.5,0H4.5M0,-4.5V4.5",
    "down": "M0,4.6L4.4,-3.4H-4.4z",
    "star": "M-4.5,0H4.5M-2.3,-3.9L2.3,3.9M-2.3,3.9L2.3,-3.9",
}


def el(name: str, attributes: dict[str, str | int | float], *children: str) -> str:
    """One element; attributes are escaped, children are SVG already (use `words` for text)."""
    head = "".join(f' {key}="{escape(number(value), quote=True)}"' for key, value in attributes.items())
    return f"<{name}{head}>{''.join(children)}</{name}>" if children else f"<{name}{head}/>"


def words(text: Text) -> str:
    """Text in the reader's language, escaped."""
    return escape(text_of(text))


def number(value: str | int | float) -> str:
    """Two decimals at most."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    return str(value)


def percent(share: float) -> str:
    return f"{share * 100:.3f}".rstrip("0").rstrip(".") + "%"


def step_path(index: Sequence[int], y: Sequence[int]) -> str:
    """A staircase: value y[i] over [index[i], index[i] + 1); gaps between blocks are left open."""
    out: list[str] = []
    at_y = run = 0
    expected: int | None = None
    for i, v in zip(index, y, strict=True):
        if i != expected:
            out.append(f"{_run(run)}M{i},{v}")
            run = 0
        elif v != at_y:
            out.append(f"{_run(run)}v{v - at_y}")
            run = 0
        run += 1
        at_y, expected = v, i + 1
    out.append(_run(run))
    return "".join(out)


def _run(length: int) -> str:
    return f"h{length}" if length else ""


def area_path(index: Sequence[int], y: Sequence[int], floor: int) -> str:
    """As `step_path`, down to the floor, closed."""
    out: list[str] = []
    at_y = floor
    run = 0
    expected: int | None = None
    for i, v in zip(index, y, strict=True):
        if i != expected:
            out.append(f"{_run(run)}V{floor}z" if expected is not None else "")
            out.append(f"M{i},{floor}V{v}")
            run = 0
        elif v != at_y:
            out.append(f"{_run(run)}v{v - at_y}")
            run = 0
        run += 1
        at_y, expected = v, i + 1
    if expected is not None:
        out.append(f"{_run(run)}V{floor}z")
    return "".join(out)


def line_path(points: Sequence[tuple[float, float]]) -> str:
    """Straight lines through the points, in tenths of a unit."""
    if not points:
        return ""
    first, *rest = ((round(x, 1), round(y, 1)) for x, y in points)
    out = [f"M{first[0]:g},{first[1]:g}L"]
    out.append(" ".join(f"{x:g},{y:g}" for x, y in rest) if rest else f"{first[0]:g},{first[1]:g}")
    return "".join(out)


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def pack(values: Iterable[int]) -> str:
    """Integers as text ("VLQ"): the numbers that travel with a picture, for hover and zoom, in one of two kinds that
    document/page.js reads:

        intervals  {"kind": "intervals", "base": b, "unit": u, "low": VLQ, "size": VLQ,
                    "series": [{"name", "kind", "values": VLQ}]}
                   interval i covers b + u * low[i] to b + u * (low[i] + size[i]) of the x axis;
                   a number n as low means 0 to n - 1, a number as size that all have it
        points     {"kind": "points", "series": [{"name", "unit", "total", "x": VLQ, "y": VLQ, ...}]}

    VLQ: the differences of the whole numbers, each in base 64 with 5 bits a digit, lowest first, bit 5 of a digit:
    more follow; the lowest bit of the number is its sign. It is half the size of JSON's decimals."""
    out: list[str] = []
    for before, value in pairwise([0, *values]):
        step = value - before
        rest = step << 1 if step >= 0 else (-step << 1) | 1
        while rest > 31:
            out.append(DIGITS[32 | (rest & 31)])
            rest >>= 5
        out.append(DIGITS[rest])
    return "".join(out)
