"""A grid of counts as a small PNG: one colour that is visible on light and on dark paper, more opaque for
higher counts."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Mapping

COLOUR = (0x2F, 0x83, 0xD6)
FAINTEST = 0.62
"""The opacity of a cell with a single value: a single point is visible, among others and alone."""
SPARSE = 0.05
"""If fewer cells than this share are filled, each is drawn larger: single points would be lost in a wide
picture."""


Cells = Mapping[tuple[int, int], int]
"""Counts by (column from the left, row from the bottom)."""


def thickened(width: int, height: int, counts: Cells, across: int, up: int) -> Cells:
    """If cells are few, each with its neighbours to both sides, this many columns and rows, as far as those
    are free."""
    if len(counts) > SPARSE * width * height or not (across or up):
        return counts
    found: dict[tuple[int, int], int] = {}
    for (column, row), count in counts.items():
        for x in range(max(0, column - across), min(width, column + across + 1)):
            for y in range(max(0, row - up), min(height, row + up + 1)):
                found[x, y] = max(count, found.get((x, y), 0))
    return {**found, **counts}


def png(width: int, height: int, counts: Cells, most: int, colour: tuple[int, int, int] = COLOUR) -> str:
    """A data URI. `counts` by (column from the left, row from the bottom); `most` is fully opaque, the scale
    is logarithmic."""
    lines = [bytearray(width) for _ in range(height)]
    top = math.log(max(2, most))
    for (column, row), count in counts.items():
        if count > 0:
            share = FAINTEST + (1 - FAINTEST) * min(1.0, math.log(count) / top)
            lines[height - 1 - row][column] = max(1, round(255 * share))
    data = zlib.compress(b"".join(b"\0" + bytes(line) for line in lines), 9)
    palette = bytes(colour) * 256
    parts = (
        _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        _chunk(b"PLTE", palette),
        _chunk(b"tRNS", bytes(range(256))),
        _chunk(b"IDAT", data),
        _chunk(b"IEND", b""),
    )
    whole = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    return "data:image/png;base64," + base64.b64encode(whole).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
