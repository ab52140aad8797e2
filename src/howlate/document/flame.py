"""A flame graph of a latency: each function as wide as the time that it and all that it called took, on its
caller. From left to right in the order of the first instruction. It can be read without the script (flame.js),
which enlarges a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from zlib import crc32

from msgspec import Struct, field

from howlate.words.language import _
from howlate.words.quantities import time_text

WIDTH, ROW = 1000, 17
LEAST = 0.0004
"""The narrowest function that is drawn, as a share of the latency."""
_LETTER, _PADDING = 6.7, 3
NO_PLACES: Mapping[str, str] = MappingProxyType({})
_HUES = (18, 52)
"""Of the colours, from the function's name."""


class _Node(Struct):
    name: str
    ns: int = 0
    above: dict[str, _Node] = field(default_factory=dict)


class Box(Struct, frozen=True):
    """One function of the graph; place and width as shares of the whole."""

    name: str
    depth: int
    from_share: float
    share: float
    ns: int


def boxes(stacks: Iterable[tuple[Sequence[str], int]], title: str) -> list[Box]:
    """All functions that are wide enough to be seen, the root (`title`) first."""
    root = _Node(title)
    for stack, ns in stacks:
        node = root
        node.ns += ns
        for name in stack:
            node = node.above.setdefault(name, _Node(name))
            node.ns += ns
    found: list[Box] = []
    waiting = [(root, 0, 0)]
    while waiting:
        node, depth, from_ns = waiting.pop()
        if node.ns < LEAST * root.ns:
            continue
        found.append(Box(node.name, depth, from_ns / root.ns, node.ns / root.ns, node.ns))
        for above in node.above.values():
            waiting.append((above, depth + 1, from_ns))
            from_ns += above.ns
    return sorted(found, key=lambda box: (box.depth, box.from_share))


def flame_html(
    stacks: Iterable[tuple[Sequence[str], int]], title: str, places: Mapping[str, str] = NO_PLACES
) -> str:
    """The graph as a figure of a page; its root is called `title`. `places` are lines of source, by function."""
    drawn = boxes(stacks, title)
    depth = max((box.depth for box in drawn), default=0) + 1
    height = depth * ROW
    inside = "".join(_box_svg(box, height, places.get(box.name, "")) for box in drawn)
    said = escape(_("Width is time, of a function with all that it called. A click enlarges a function."))
    return (
        f'<section class="chart flame"><svg viewBox="0 0 {WIDTH} {height}" data-width="{WIDTH}" role="img" '
        f'aria-label="{escape(title)}">{inside}</svg><p class="reading">{said}</p></section>'
    )


def _box_svg(box: Box, height: int, place: str) -> str:
    x, width, y = box.from_share * WIDTH, box.share * WIDTH, height - (box.depth + 1) * ROW
    room = int((width - 2 * _PADDING) / _LETTER)
    text = "" if room < 3 else box.name if len(box.name) <= room else f"{box.name[: room - 1]}…"
    low, high = _HUES
    hue = low + crc32(box.name.encode()) % (high - low)
    named = f"{box.name} ({place})" if place else box.name
    said = escape(f"{named}: {time_text(box.ns)}, {box.share:.1%}")
    return (
        f'<g tabindex="0" data-x="{box.from_share:.6f}" data-w="{box.share:.6f}" data-d="{box.depth}" '
        f'data-name="{escape(box.name)}"><title>{said}</title>'
        f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{ROW - 1}" fill="hsl({hue} 75% 68%)"/>'
        f'<text x="{x + _PADDING:.2f}" y="{y + ROW - 5}">{escape(text)}</text></g>'
    )
