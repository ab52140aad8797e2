"""Sides whose samples are the same bytes: what virtual time gives for equal kernels, and the strongest thing that a
comparison can say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from howlate.language import _
from howlate.report.join import Joined

Hashes = Callable[[int, str], str]
"""From a run's place and a cell's id to the hash of that cell's samples; "" where they are missing."""


@dataclass(frozen=True)
class Equal:
    """Two sides that measured the same places and repetitions, and equal samples in all of them."""

    first: str
    second: str
    cells: int

    @property
    def text(self) -> str:
        return _(
            "{first} and {second} are equal to the last digit: all samples of their {cells} cells are the same."
        ).format(first=self.first, second=self.second, cells=self.cells)

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


def equal_sides(joined: Joined, hash_of: Hashes) -> list[Equal]:
    """Pairs of sides whose samples are all there. In real time no two runs are equal: nothing is read there."""
    if not joined.virtual:
        return []
    sides = [_hashes(joined, side, hash_of) for side in range(len(joined.sides))]
    return [
        Equal(joined.sides[a].name, joined.sides[b].name, len(sides[a]))
        for a, b in combinations(range(len(sides)), 2)
        if sides[a] and sides[a] == sides[b]
    ]


def _hashes(joined: Joined, side: int, hash_of: Hashes) -> dict[tuple[int, int], str]:
    """Of every repetition of every place that the side has; empty where the samples of one are missing."""
    hashes = {
        (number, repetition): hash_of(place.members[side].run, cell.id)
        for number, place in enumerate(joined.places)
        if side in place.members
        for repetition, cell in place.members[side].by_repetition.items()
    }
    return hashes if all(hashes.values()) else {}
