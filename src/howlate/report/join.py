"""Several runs as one set of cells (docs/compare.md, "What is joined").

A *place* is a point of the matrix without its kernel: test, part and every other label. A *side* is where it was
measured: a machine under one kernel. Places that two sides have in common can be compared; what does not match,
or was not measured alike, is said in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from howlate.errors import UsageError
from howlate.language import N_, _
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.model.study import spell
from howlate.model.summary import CellSummary
from howlate.report.content import RunContent, must_be_one_clock
from howlate.report.preemption import preemption_of, spelt
from howlate.report.sides import Side, as_called, fact, told_apart
from howlate.stats.groups import IN_FORCE, Group, groups_of
from howlate.stats.loaded import NOT_LOADED

KERNEL, PART, TEST = "kernel", "part", "test"
OF_THE_SEED = ("first", "seed")
"""Parameters that tell one repetition from the next in virtual time."""
OF_THE_HOST = ("json", "progress", "quiet", "stream", "end-with-parent", "parent")
MOST_NAMED = 6
_REPETITION = re.compile(r".+-[0-9a-f]{10}-(?P<number>[0-9]+)")

Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Member:
    """A place's repetitions on one side."""

    group: Group
    run: int
    parameters: Mapping[int, Mapping[str, str]]
    """What was asked for, by repetition, as the plan has it."""

    @property
    def by_repetition(self) -> dict[int, CellSummary]:
        """The valid ones."""
        return {repetition_of(cell.id): cell for cell in self.group.counted}

    @property
    def not_loaded(self) -> tuple[float, ...]:
        """Where none is valid and a load was not there in any: what the loads achieved."""
        without = [
            cell for cell in self.group.cells if cell.warnings and cell.warnings[0].startswith(NOT_LOADED)
        ]
        if self.group.counted or len(without) < len(self.group.cells):
            return ()
        return self.group.load_shares


@dataclass(frozen=True)
class Place:
    """A point of the matrix without its kernel, and who measured it."""

    test: str
    labels: Mapping[str, str]
    members: Mapping[int, Member]
    """By the side's place."""


@dataclass(frozen=True)
class Joined:
    """All cells of all runs."""

    runs: tuple[Run, ...]
    sides: tuple[Side, ...]
    places: tuple[Place, ...]
    warnings: tuple[str, ...]
    by: str = KERNEL
    """The label whose values are the sides."""

    @property
    def virtual(self) -> bool:
        return self.runs[0].virtual

    @property
    def matched(self) -> tuple[Place, ...]:
        """What at least two sides have."""
        return tuple(place for place in self.places if len(place.members) > 1)


def repetition_of(cell_id: str) -> int:
    """The number at the end of an id; 1 for an id of another make."""
    match = _REPETITION.fullmatch(cell_id)
    return int(match["number"]) if match else 1


@dataclass(frozen=True)
class _Point:
    """A group with what was asked for."""

    run: int
    machine: str
    kernel: str
    test: str
    asked: Mapping[str, str]
    member: Member


def join(contents: Sequence[RunContent], by: str = KERNEL) -> Joined:
    """One set of cells. `by`: the label whose values are the sides; with another one than the kernel, kernel and
    machine are kept apart as well."""
    if not contents:
        raise UsageError("there is no run to compare", "name a run folder")
    must_be_one_clock(contents)
    points = _same_names([point for i, content in enumerate(contents) for point in _points(i, content)])
    if by == PART:
        points = _common(points)
    if by != KERNEL and not any(by in point.asked for point in points):
        known = sorted({name for point in points for name in point.asked})
        raise UsageError(f'no cell has a label "{by}"', f"use one of {', '.join(['kernel', *known])}")
    keys = _side_keys(contents, points, by)
    order = list(dict.fromkeys(keys))
    sides = _named(contents, points, keys, order, by)
    places: dict[tuple[str, Key], dict[int, Member]] = {}
    for point, key in zip(points, keys, strict=True):
        side, test = order.index(key), "" if by == PART else point.test
        identity = (test, _identity(point.asked, by))
        if side in places.get(identity, {}):  # cells that no plan tells apart: none of them is lost
            identity = (test, (*identity[1], ("cell", point.member.group.point)))
        places.setdefault(identity, {})[side] = point.member
    found = tuple(
        Place(test or _(" and ").join(_tests(members)), dict(labels), members)
        for (test, labels), members in places.items()
    )
    joined = Joined(tuple(content.run for content in contents), sides, found, (), by)
    return replace(joined, warnings=tuple(_warnings(joined)))


def _points(number: int, content: RunContent) -> list[_Point]:
    planned = {cell.id: cell for cell in content.run.plan.cells}
    found = []
    for group in groups_of([cell.summary for cell in content.cells], content.run):
        cells = [planned.get(cell.id) for cell in group.cells]
        first = next((cell for cell in cells if cell is not None), None)
        asked = dict(first.labels if first is not None else group.labels)
        kernel = asked.pop(KERNEL, group.labels.get(KERNEL, ""))
        parameters = {repetition_of(c.id): _spelt(planned.get(c.id)) for c in group.cells}
        found.append(
            _Point(
                number,
                first.machine if first is not None else "",
                kernel,
                group.cells[0].test,
                asked,
                Member(group, number, parameters),
            )
        )
    return found


def _tests(members: Mapping[int, Member]) -> list[str]:
    """Of parts that are compared with each other: another part may have another test."""
    return list(dict.fromkeys(cell.test for member in members.values() for cell in member.group.cells))


def _spelt(cell: Cell | None) -> dict[str, str]:
    if cell is None:
        return {}
    return {name: spell(value) for name, value in cell.parameters.items() if name not in OF_THE_HOST}


def _same_names(points: Sequence[_Point]) -> list[_Point]:
    """A label that one study has as an axis and another has as a setting is a label of both."""
    names = dict.fromkeys(name for point in points for name in point.asked)
    found = []
    for point in points:
        asked = dict(point.asked)
        parameters = next(iter(point.member.parameters.values()), {})
        for name in names:
            if name not in asked and name in parameters:
                asked[name] = parameters[name]
        found.append(replace(point, asked=asked))
    return found


def _common(points: Sequence[_Point]) -> list[_Point]:
    """With the labels that every part has: another test has other options."""
    names = set.intersection(*(set(point.asked) for point in points)) if points else set()
    return [replace(p, asked={n: text for n, text in p.asked.items() if n in names}) for p in points]


def _identity(asked: Mapping[str, str], by: str) -> Key:
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
    """For each point the side that it is of. Runs on one machine under one kernel are one side as long as they
    measured different places; a place that both measured makes them two."""
    bare: list[_SideKey] = []
    for point in points:
        facts = _facts(contents[point.run], point.machine)
        value = "" if by == KERNEL else point.asked.get(by, "-")
        bare.append((value, point.machine, point.kernel, *(fact(facts, key) for key in _IDENTITY)))
    holders: dict[tuple[_SideKey, str, Key], set[int]] = {}
    for point, key in zip(points, bare, strict=True):
        holders.setdefault((key, point.test, _identity(point.asked, by)), set()).add(point.run)
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
            replace(s, name=v if alone else f"{v}, {s.name}") for s, v in zip(sides, values, strict=True)
        ]
    return told_apart(as_called(sides, contents), contents)


# --- What does not match ------------------------------------------------------------------------------------


def _warnings(joined: Joined) -> list[str]:
    return [
        *_one_sided(joined),
        *_settings(joined),
        *_in_force(joined),
        *_clock_sources(joined),
        *_not_alone(joined),
        *_machines(joined),
        *_made_with(joined),
    ]


def described(place: Place, names: Sequence[str]) -> str:
    """A place by these of its labels: "load none, period 1ms"."""
    shown = [f"{name} {place.labels[name]}" for name in names if name in place.labels]
    return ", ".join([*([_("test {test}").format(test=place.test)] if TEST in names else []), *shown]) or _(
        "test {test}"
    ).format(test=place.test)


def labels_that_vary(places: Sequence[Place]) -> tuple[str, ...]:
    """What tells places apart: test and part first."""
    names = dict.fromkeys(name for place in places for name in place.labels)
    vary = [n for n in names if len({place.labels.get(n) for place in places}) > 1]
    test = [TEST] if len({place.test for place in places}) > 1 else []
    return (*test, *sorted(vary, key=lambda name: name != PART))


def _named_places(places: Sequence[Place], names: Sequence[str]) -> str:
    said = [described(place, names) for place in places[:MOST_NAMED]]
    more = _(" and {places} more").format(places=len(places) - MOST_NAMED) if len(places) > MOST_NAMED else ""
    return "; ".join(said) + more


def _one_sided(joined: Joined) -> list[str]:
    """Places that some side lacks."""
    names = labels_that_vary(joined.places)
    by_sides: dict[tuple[int, ...], list[Place]] = {}
    for place in joined.places:
        if len(place.members) < len(joined.sides):
            by_sides.setdefault(tuple(sorted(place.members)), []).append(place)
    found = []
    for some, places in by_sides.items():
        who = ", ".join(joined.sides[i].name for i in some)
        found.append(
            _("on {who} alone ({places}): {places2}").format(
                who=who, places=len(places), places2=_named_places(places, names)
            )
        )
    return found


def _differing(
    joined: Joined, values: Mapping[tuple[int, int], str]
) -> list[tuple[dict[str, list[str]], int]]:
    """Of (place, side) to text: each way in which the sides differ, once, and at how many places."""
    found: dict[tuple[tuple[str, str], ...], int] = {}
    for number, place in enumerate(joined.places):
        here = [i for i in sorted(place.members) if (number, i) in values]
        row = tuple((joined.sides[i].name, values[number, i]) for i in here)
        if len({text for _, text in row}) > 1:
            found[row] = found.get(row, 0) + 1
    ways = []
    for row, many in found.items():
        who: dict[str, list[str]] = {}
        for side, text in row:
            who.setdefault(text, []).append(side)
        ways.append((who, many))
    return ways


def _sentences(joined: Joined, what: str, values: Mapping[tuple[int, int], str]) -> list[str]:
    found = []
    for who, many in _differing(joined, values):
        said = "; ".join(f"{text or _('not set')} ({', '.join(sides)})" for text, sides in who.items())
        where = (
            ""
            if many == len(joined.places)
            else _(", at {many} of {places} points").format(many=many, places=len(joined.places))
        )
        found.append(_("{what} differs: {said}{where}").format(what=what, said=said, where=where))
    return found


def parameters_of(member: Member) -> dict[str, str]:
    """What was asked for at all repetitions alike."""
    known = [its for its in member.parameters.values() if its]
    names = dict.fromkeys(name for its in known for name in its if name not in OF_THE_SEED)
    return {name: _(" or ").join(dict.fromkeys(its.get(name, "") for its in known)) for name in names}


def _settings(joined: Joined) -> list[str]:
    asked = {
        (number, i): parameters_of(member)
        for number, place in enumerate(joined.places)
        for i, member in place.members.items()
    }
    names = dict.fromkeys(name for its in asked.values() for name in its)
    compared = {name for place in joined.places for name in place.labels}
    found = []
    for name in names:
        if name not in compared:
            values = {where: its.get(name, "") for where, its in asked.items() if its}
            found += _sentences(joined, _("the setting {name}").format(name=name), values)
    return found


def _in_force(joined: Joined) -> list[str]:
    """What was asked for alike and read back otherwise."""
    found = []
    for name in IN_FORCE:
        values = {
            (number, i): _(" or ").join(dict.fromkeys(c.labels.get(name, "") for c in member.group.cells))
            for number, place in enumerate(joined.places)
            for i, member in place.members.items()
        }
        found += _sentences(joined, _("the {name} in force").format(name=name.replace("cpu", "CPU")), values)
    return found


def _clock_sources(joined: Joined) -> list[str]:
    values = {
        (number, i): _(" or ").join(
            dict.fromkeys(c.clocksource.get("before", "") for c in member.group.cells)
        )
        for number, place in enumerate(joined.places)
        for i, member in place.members.items()
    }
    return _sentences(joined, _("the clock source"), values)


def _not_alone(joined: Joined) -> list[str]:
    """The sides that others disturbed, and where: their difference can be the others'."""
    where: dict[int, list[str]] = {}
    names = labels_that_vary(joined.places)
    for place in joined.places:
        for side, member in place.members.items():
            if not member.group.alone:
                where.setdefault(side, []).append(described(place, names))
    return [
        _(
            "{side} was not alone ({places}): other tasks used its CPUs while it was measured, and a "
            "difference may be their doing"
        ).format(side=joined.sides[side].name, places="; ".join(places))
        for side, places in where.items()
    ]


_MACHINE = {
    "machine.vendor": N_("vendor"),
    "machine.product": N_("product"),
    "machine.model": N_("model"),
    "machine.hypervisor": N_("hypervisor"),
    "cpu.model": "CPU",
    "cpu.online": N_("CPUs online"),
    "memory.total_kib": N_("memory"),
    "lab.emulator": "QEMU",
}


def _machines(joined: Joined) -> list[str]:
    found = []
    for key, what in _MACHINE.items():
        who: dict[str, list[str]] = {}
        for side in joined.sides:
            text = fact(side.facts, key)
            if key == "memory.total_kib" and text:  # kernels keep different shares of it to themselves
                text = _("about {round:g} GiB").format(round=round(int(text) / 2**19) / 2)
            if text:
                who.setdefault(text, []).append(side.name)
        if len(who) > 1:
            said = "; ".join(f"{text} ({', '.join(sides)})" for text, sides in who.items())
            found.append(
                _(
                    "these are different machines, {what}: {said}; what differs between them is "
                    "not the kernel's alone"
                ).format(what=_(what), said=said)
            )
    return found


def _made_with(joined: Joined) -> list[str]:
    found = []
    scales = dict.fromkeys(f"{run.scale:g}" for run in joined.runs)
    if len(scales) > 1:
        found.append(_("the runs have different scales (--scale): {scales}").format(scales=", ".join(scales)))
    for name in dict.fromkeys(name for run in joined.runs for name in run.versions):
        versions = dict.fromkeys(run.versions.get(name, _("unknown")) for run in joined.runs)
        if len(versions) > 1:
            found.append(
                _("the runs were measured with different versions of {name}: {versions}").format(
                    name=name, versions=", ".join(versions)
                )
            )
    return found
