"""Sides whose samples are identical bytes: the result of virtual time for equal kernels, and the strongest
conclusion of a comparison."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from howlate.sides.joined import Joined
from howlate.words.statement import Caption, Statement, message

Hashes = Callable[[int, str], str]
"""From a run's position and a cell's id to the hash of that cell's samples; "" if they are missing."""

SAMPLES_HEADING = Caption("samples")
EQUAL = message(
    "equal.samples",
    "{first} and {second} are identical: all samples of their {cells} cell are the same.",
    "{first} and {second} are identical: all samples of their {cells} cells are the same.",
    by="cells",
)


def equal_sides(joined: Joined, hash_of: Hashes) -> list[Statement]:
    """Pairs of sides that measured the same places and repetitions with equal samples in all of them. In real
    time no two runs are equal, so nothing is read."""
    if not joined.virtual:
        return []
    sides = [_hashes(joined, side, hash_of) for side in range(len(joined.sides))]
    return [
        EQUAL(first=joined.sides[a].name, second=joined.sides[b].name, cells=len(sides[a]))
        for a, b in combinations(range(len(sides)), 2)
        if sides[a] and sides[a] == sides[b]
    ]


def _hashes(joined: Joined, side: int, hash_of: Hashes) -> dict[tuple[int, int], str]:
    """The hashes of every repetition of every place of the side; empty if the samples of one are missing."""
    hashes = {
        (number, repetition): hash_of(place.members[side].run, cell.id)
        for number, place in enumerate(joined.places)
        if side in place.members
        for repetition, cell in place.members[side].by_repetition.items()
    }
    return hashes if all(hashes.values()) else {}
