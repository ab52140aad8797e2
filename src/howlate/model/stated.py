"""What another tool states of the samples that it measured: the figures of its own, per thread and column, as it
printed them. The header of an imported cell's cell.json holds them, under `stated`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct

from howlate.errors import DamagedError
from howlate.model.decode import Table, decoded

STATED = "stated"
"""The member of the stream's header."""
MEANS = "means"
"""Of the trailer: the mean of each thread's samples in a file whose tool states none."""


class Stated(Struct, frozen=True):
    """A tool's figures of one column of one measuring thread. None where the tool does not state the figure."""

    column: str
    thread: int = 0
    cpu: int = -1
    unit_ns: int = 1000
    """The unit of the four figures below."""
    min: str | None = None
    mean: str | None = None
    max: str | None = None
    stddev: str | None = None
    """Decimal, as printed: how many digits a figure has says how exactly it is known."""
    count: int | None = None
    """All samples, those beyond the histogram's range included."""
    beyond: int | None = 0
    """Samples above the range of the histogram, of which only that is known; None: perhaps some, not counted."""
    beyond_from_ns: int | None = None
    """Where the range ends: every sample beyond is at least so large."""
    width_ns: int = 0
    """Of a bin that holds several of the tool's values: statistics of its edges are none of the samples. 0: each bin
    is one value."""
    sound: bool = True
    """False where the figures contradict each other: none of them is used."""

    def ns(self, name: str) -> float | None:
        text: str | None = getattr(self, name)
        return None if text is None else float(Decimal(text) * self.unit_ns)


def stated_in(header: Mapping[str, Any], file: str, member: str = STATED) -> tuple[Stated, ...]:
    """The figures that an imported cell's header (MEANS: its trailer) holds; none of a cell that howlate measured."""
    entries = Table(header, file, "header" if member == STATED else "trailer", DamagedError).tables(member)
    return tuple(decoded(Stated, entry.values, file) for entry in entries)
