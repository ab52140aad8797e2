"""Where the cells of a comparison were measured, and the names that distinguish these sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from howlate.model.loaded import RunContent


@dataclass(frozen=True)
class Side:
    """A machine under one kernel, or, if an axis is compared, that axis's value there."""

    name: str
    kernel: str
    preemption: str
    """none, voluntary, full, lazy or rt; "" if unknown."""
    run: int
    """The position of its run; of the first if it has several."""
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


def fact(facts: Mapping[str, Any], key: str) -> str:
    values = facts.get("values")
    value = values.get(key) if isinstance(values, dict) else None
    return "" if value is None else str(value)


def as_called(sides: Sequence[Side], contents: Sequence[RunContent]) -> list[Side]:
    """The sides with the names that the user gave to runs; in a run with several sides each keeps its own
    name after that."""
    runs = [side.run for side in sides]
    called = []
    for side in sides:
        given = contents[side.run].name
        alone = runs.count(side.run) == 1
        called.append(replace(side, name=given if alone else f"{given}: {side.name}") if given else side)
    return called


def told_apart(sides: Sequence[Side], contents: Sequence[RunContent]) -> tuple[Side, ...]:
    """Equal names get the part that differs: the CPU, else the run, else a number. Common parts are left out,
    so that names stay short."""
    common = sides[0].name if len({side.name for side in sides}) == 1 else ""
    for tell in (
        lambda side: fact(side.facts, "cpu.model"),
        lambda side: contents[side.run].run.id,
        lambda side: f"run {side.run + 1}",
    ):
        names = [side.name for side in sides]
        twice = [side for side in sides if names.count(side.name) > 1]
        if not twice:
            break
        if len({tell(side) for side in twice}) > 1:
            sides = [replace(s, name=f"{s.name}, {tell(s)}") if s in twice and tell(s) else s for s in sides]
    if common and len(sides) > 1:
        sides = [replace(s, name=s.name.removeprefix(f"{common}, ")) for s in sides]
    return tuple(sides)
