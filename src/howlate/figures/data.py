"""The numbers that travel with a picture, for hover and zoom: whole, exact, and small.

Two kinds, both read by document/page.js:

    intervals  {"kind": "intervals", "base": b, "unit": u, "low": VLQ, "size": VLQ,
                "series": [{"name", "kind", "values": VLQ}]}
               interval i covers b + u * low[i] to b + u * (low[i] + size[i]) of the x axis;
               a number n as low means 0 to n - 1, a number as size that all have it
    points     {"kind": "points", "series": [{"name", "unit", "total", "x": VLQ, "y": VLQ, ...}]}

VLQ: the differences of the whole numbers, each in base 64 with 5 bits a digit, lowest first, bit 5 of a
digit: more follow;
the lowest bit of the number is its sign. It is half the size of JSON's decimals, so that 40 cells fit into
one page.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def pack(values: Iterable[int]) -> str:
    """Integers as text."""
    out: list[str] = []
    for before, value in pairwise([0, *values]):
        step = value - before
        rest = step << 1 if step >= 0 else (-step << 1) | 1
        while rest > 31:
            out.append(DIGITS[32 | (rest & 31)])
            rest >>= 5
        out.append(DIGITS[rest])
    return "".join(out)
