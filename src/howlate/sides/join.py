"""Several runs as one set of cells (docs/compare.md, "What is joined").

Places that two sides share can be compared; places that do not match, or were not measured in the same way, are
reported in a sentence (join_warnings.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.model.guest_cpus import GUEST, USUAL
from howlate.model.loaded import RunContent
from howlate.model.plan import Cell
from howlate.model.preemption import preemption_of, spelt
from howlate.model.study import spell
from howlate.sides.gravity import gravity_ns, gravity_of
from howlate.sides.join_warnings import unlike
from howlate.sides.joined import KERNEL, PART, Joined, MatrixPlace, Member
from howlate.sides.side_names import Side, Telling, as_called, fact, telling, told_apart
from howlate.statistics.groups import groups_of
from howlate.words.statement import Statement

OF_THE_HOST = ("json", "progress", "quiet", "stream", "end-with-parent", "parent")


Labelling = tuple[tuple[str, str], ...]


class _Point(Struct, frozen=True):
    run: int
    machine: str
    kernel: str
    test: str
    settings: Mapping[str, str]
    member: Member


def must_be_one_clock(runs: Sequence[RunContent]) -> None:
    """Refuse to put virtual and real time into one table."""
    if len({content.run.clock for content in runs}) > 1:
        raise UsageError(
            "these runs are of two clocks, real and virtual time: their numbers have nothing in common",
            remedy="make a report of each",
        )


def join(contents: Sequence[RunContent], by: str = KERNEL) -> Joined:
    """One set of cells. `by`: the label whose values are the sides; if it is not the kernel, kernel and
    machine are kept apart as well."""
    if not contents:
        raise UsageError("there is no run to compare", remedy="name a run folder")
    must_be_one_clock(contents)
    points = [point for i, content in enumerate(contents) for point in _points(i, content)]
    points = _same_names(points, telling(contents))
    if by == PART:
        points = _common(points)
    if by != KERNEL and not any(by in point.settings for point in points):
        known = sorted({name for point in points for name in point.settings})
        raise UsageError(
            'no cell has a label "{label}"', remedy="use one of {known:all}", label=by, known=[KERNEL, *known]
        )
    keys = _side_keys(contents, points, by)
    order = list(dict.fromkeys(keys))
    sides = _named(contents, points, keys, order, by)
    places: dict[tuple[str, Labelling], dict[int, Member]] = {}
    for point, key in zip(points, keys, strict=True):
        side, test = order.index(key), "" if by == PART else point.test
        identity = (test, _identity(point.settings, by))
        if side in places.get(identity, {}):  # cells that no plan distinguishes: none of them is lost
            identity = (test, (*identity[1], ("cell", point.member.group.point)))
        places.setdefault(identity, {})[side] = point.member
    places_of_all = tuple(
        MatrixPlace(test or " and ".join(_tests(members)), dict(labels), members)
        for (test, labels), members in places.items()
    )
    joined = Joined(tuple(content.run for content in contents), sides, places_of_all, (), by)
    return replace(joined, warnings=tuple(unlike(joined)))


def gravity_of_runs(contents: Sequence[RunContent]) -> Statement | None:
    """The gravity of each of their sides; None if none has any."""
    held = any(gravity_ns(content.summaries) for content in contents)
    return gravity_of(join(contents)) if held else None


def _points(number: int, content: RunContent) -> list[_Point]:
    planned = {cell.id: cell for cell in content.run.plan.cells}
    grouped = []
    for group in groups_of([cell.summary for cell in content.cells], content.run):
        cells = [planned.get(cell.id) for cell in group.cells]
        first = next((cell for cell in cells if cell is not None), None)
        asked = dict(first.labels if first is not None else group.labels)
        kernel = asked.pop(KERNEL, group.labels.get(KERNEL, ""))
        parameters = {c.repetition: _spelt(planned.get(c.id)) for c in group.cells}
        grouped.append(
            _Point(
                number,
                first.machine if first is not None else "",
                kernel,
                group.cells[0].test,
                asked,
                Member(group, number, parameters),
            )
        )
    return grouped


def _tests(members: Mapping[int, Member]) -> list[str]:
    """The tests of parts that are compared with each other, since another part may have another test."""
    return list(dict.fromkeys(cell.test for member in members.values() for cell in member.group.cells))


def _spelt(cell: Cell | None) -> dict[str, str]:
    if cell is None:
        return {}
    return {name: spell(value) for name, value in cell.parameters.items() if name not in OF_THE_HOST}


def _same_names(points: Sequence[_Point], told: Telling) -> list[_Point]:
    """A label that is an axis in one study and a setting in another is a label of both. The lab's usual guest has
    a label where another kind is compared with it."""
    names = dict.fromkeys(name for point in points for name in point.settings)
    renamed = []
    for point in points:
        asked = {**({GUEST: str(USUAL)} if GUEST in names else {}), **point.settings}
        parameters = next(iter(point.member.parameters.values()), {})
        for name in names:
            if name not in asked and name in parameters:
                asked[name] = parameters[name]
        renamed.append(replace(point, settings=told(asked)))
    return renamed


def _common(points: Sequence[_Point]) -> list[_Point]:
    """The labels that every part has, since another test has other options."""
    names = set.intersection(*(set(point.settings) for point in points)) if points else set()
    return [replace(p, settings={n: text for n, text in p.settings.items() if n in names}) for p in points]


def _identity(asked: Mapping[str, str], by: str) -> Labelling:
    return tuple(sorted((name, text) for name, text in asked.items() if name not in (KERNEL, by)))


def _facts(content: RunContent, machine: str) -> Mapping[str, Any]:
    return content.run.machines.get(machine) or content.run.facts


_IDENTITY = (
    "kernel.release",
    "kernel.version",
    "kernel.cmdline",
    "cpu.model",
    "cpu.online",
    "machine.product",
    "lab.kernel_sha256",
    "lab.emulator",
)
"""What two runs on the same machine under the same kernel have in common."""

_SideKey = tuple[str, ...]


def _side_keys(contents: Sequence[RunContent], points: Sequence[_Point], by: str) -> list[_SideKey]:
    """The side of each point. Runs on one machine under one kernel are one side as long as they measured
    different places; a place that both measured makes them two sides."""
    bare: list[_SideKey] = []
    for point in points:
        facts = _facts(contents[point.run], point.machine)
        value = "" if by == KERNEL else point.settings.get(by, "-")
        bare.append((value, point.machine, point.kernel, *(fact(facts, key) for key in _IDENTITY)))
    holders: dict[tuple[_SideKey, str, Labelling], set[int]] = {}
    for point, key in zip(points, bare, strict=True):
        holders.setdefault((key, point.test, _identity(point.settings, by)), set()).add(point.run)
    twice = {key for (key, _, _), runs in holders.items() if len(runs) > 1}
    return [
        (*key, str(point.run)) if key in twice else (*key, "")
        for point, key in zip(points, bare, strict=True)
    ]


def _named(
    contents: Sequence[RunContent],
    points: Sequence[_Point],
    keys: Sequence[_SideKey],
    order: Sequence[_SideKey],
    by: str,
) -> tuple[Side, ...]:
    sides = []
    for key in order:
        point = points[keys.index(key)]
        content = contents[point.run]
        facts = _facts(content, point.machine)
        config = next((k.config for k in content.kernels if k.label == point.machine), None)
        preemption = preemption_of(facts, config)
        told = f" ({spelt(preemption)})" if preemption and not point.machine else ""
        kernel = point.kernel or fact(facts, "kernel.release") or content.run.target
        sides.append(Side(f"{kernel}{told}", kernel, preemption, point.run, facts))
    if by != KERNEL:
        values = [key[0] for key in order]
        alone = len({side.name for side in sides}) == 1
        sides = [
            dataclasses.replace(s, name=v if alone else f"{v}, {s.name}")
            for s, v in zip(sides, values, strict=True)
        ]
    return told_apart(as_called(sides, contents), contents)
