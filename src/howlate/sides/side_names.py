"""Where the cells of a comparison were measured, and the names that distinguish these sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from howlate.model.capabilities import MODE, with_mode
from howlate.model.loaded import RunContent
from howlate.sides.printed_figures import of_both_modes
from howlate.words.statement import Statement, message


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


Telling = Callable[[Mapping[str, str]], dict[str, str]]
"""The labels that a cell is shown with, from its own."""
IN_MODE = message("run.in-mode", "every activation is in {mode} mode")


def telling(contents: Sequence[RunContent]) -> Telling:
    """The modes of the cells of these runs. Each says its mode if one of the cells has a
    core's timer, or if the document of a study has rows of both modes."""
    documents = {content.run.study.reference for content in contents} - {""}
    told = any(map(of_both_modes, documents)) or any(
        MODE in cell.summary.labels for content in contents for cell in content.cells
    )
    return with_mode if told else dict


def mode_of_all(labels: Iterable[Mapping[str, str]]) -> Statement | None:
    """The mode of all cells; None if they do not say it, or differ in it: then their names have it."""
    modes = {own.get(MODE, "") for own in labels}
    mode = modes.pop() if len(modes) == 1 else ""
    return IN_MODE(mode=mode) if mode else None
