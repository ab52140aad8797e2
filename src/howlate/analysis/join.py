"""Several runs as one set of cells (docs/compare.md, "What is joined").

A *place* is a point of the matrix without its kernel: test, part and every other label. A *side* is where it
was measured: a machine under one kernel. Places that two sides share can be compared; places that do not
match, or were not measured in the same way, are reported in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from howlate.analysis.groups import IN_FORCE, Group, groups_of
from howlate.analysis.loaded import NOT_LOADED
from howlate.analysis.modes import Telling, telling
from howlate.analysis.side_names import Side, as_called, fact, told_apart
from howlate.errors import UsageError
from howlate.model.guest_cpus import GUEST, USUAL
from howlate.model.loaded import RunContent
from howlate.model.plan import Cell
from howlate.model.preemption import preemption_of, spelt
from howlate.model.run import Run
from howlate.model.study import spell
from howlate.model.summary import CellSummary
from howlate.words.statement import Statement, rule

KERNEL, PART, TEST = "kernel", "part", "test"
OF_THE_SEED = ("first", "seed")
"""Parameters that distinguish repetitions in virtual time."""
OF_THE_HOST = ("json", "progress", "quiet", "stream", "end-with-parent", "parent")
MEMORY = "memory.total_kib"

TWO_CLOCKS = rule(
    "join.two-clocks",
    "these runs are of two clocks, real and virtual time: their numbers have nothing in common",
    remedy="make a report of each",
)
NO_RUN = rule("join.no-run", "there is no run to compare", remedy="name a run folder")
NO_LABEL = rule("join.no-label", 'no cell has a label "{label}"', remedy="use one of {known:all}")

Labelling = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Member:
    """A place's repetitions on one side."""

    group: Group
    run: int
    parameters: Mapping[int, Mapping[str, str]]
    """The requested parameters, by repetition, as in the plan."""

    @property
    def by_repetition(self) -> dict[int, CellSummary]:
        """The valid repetitions."""
        return {cell.repetition: cell for cell in self.group.counted}

    @property
    def not_loaded(self) -> tuple[float, ...]:
        """If no repetition is valid because a load was not there: what the loads achieved."""
        without = [
            cell for cell in self.group.cells if cell.warnings and cell.warnings[0].rule == NOT_LOADED.id
        ]
        if self.group.counted or len(without) < len(self.group.cells):
            return ()
        return self.group.load_shares


@dataclass(frozen=True)
class Place:
    """A point of the matrix without its kernel, and the sides that measured it."""

    test: str
    labels: Mapping[str, str]
    members: Mapping[int, Member]
    """By the position of the side."""


@dataclass(frozen=True)
class Joined:
    """All cells of all runs."""

    runs: tuple[Run, ...]
    sides: tuple[Side, ...]
    places: tuple[Place, ...]
    warnings: tuple[Statement, ...]
    by: str = KERNEL
    """The label whose values are the sides."""

    @property
    def virtual(self) -> bool:
        return self.runs[0].virtual

    @property
    def matched(self) -> tuple[Place, ...]:
        """The places that at least two sides have."""
        return tuple(place for place in self.places if len(place.members) > 1)


@dataclass(frozen=True)
class _Point:
    """A group with its requested parameters."""

    run: int
    machine: str
    kernel: str
    test: str
    asked: Mapping[str, str]
    member: Member


def must_be_one_clock(runs: Sequence[RunContent]) -> None:
    """Refuse to put virtual and real time into one table."""
    if len({content.run.clock for content in runs}) > 1:
        raise UsageError(TWO_CLOCKS())


def join(contents: Sequence[RunContent], by: str = KERNEL) -> Joined:
    """One set of cells. `by`: the label whose values are the sides; if it is not the kernel, kernel and
    machine are kept apart as well."""
    if not contents:
        raise UsageError(NO_RUN())
    must_be_one_clock(contents)
    points = [point for i, content in enumerate(contents) for point in _points(i, content)]
    points = _same_names(points, telling(contents))
    if by == PART:
        points = _common(points)
    if by != KERNEL and not any(by in point.asked for point in points):
        known = sorted({name for point in points for name in point.asked})
        raise UsageError(NO_LABEL(label=by, known=[KERNEL, *known]))
    keys = _side_keys(contents, points, by)
    order = list(dict.fromkeys(keys))
    sides = _named(contents, points, keys, order, by)
    places: dict[tuple[str, Labelling], dict[int, Member]] = {}
    for point, key in zip(points, keys, strict=True):
        side, test = order.index(key), "" if by == PART else point.test
        identity = (test, _identity(point.asked, by))
        if side in places.get(identity, {}):  # cells that no plan distinguishes: none of them is lost
            identity = (test, (*identity[1], ("cell", point.member.group.point)))
        places.setdefault(identity, {})[side] = point.member
    places_of_all = tuple(
        Place(test or " and ".join(_tests(members)), dict(labels), members)
        for (test, labels), members in places.items()
    )
    joined = Joined(tuple(content.run for content in contents), sides, places_of_all, (), by)
    return replace(joined, warnings=tuple(_warnings(joined)))


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
    names = dict.fromkeys(name for point in points for name in point.asked)
    renamed = []
    for point in points:
        asked = {**({GUEST: str(USUAL)} if GUEST in names else {}), **point.asked}
        parameters = next(iter(point.member.parameters.values()), {})
        for name in names:
            if name not in asked and name in parameters:
                asked[name] = parameters[name]
        renamed.append(replace(point, asked=told(asked)))
    return renamed


def _common(points: Sequence[_Point]) -> list[_Point]:
    """The labels that every part has, since another test has other options."""
    names = set.intersection(*(set(point.asked) for point in points)) if points else set()
    return [replace(p, asked={n: text for n, text in p.asked.items() if n in names}) for p in points]


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
        value = "" if by == KERNEL else point.asked.get(by, "-")
        bare.append((value, point.machine, point.kernel, *(fact(facts, key) for key in _IDENTITY)))
    holders: dict[tuple[_SideKey, str, Labelling], set[int]] = {}
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

ONE_SIDED = rule(
    "join.one-sided",
    "measured on {sides} alone, {count} place: {places:items}",
    "measured on {sides} alone, {count} places: {places:items}",
    by="count",
)
SETTING = rule(
    "join.setting",
    "the setting {name} differs at {points} of {of} point: {values:items}",
    "the setting {name} differs at {points} of {of} points: {values:items}",
    by="of",
)
IN_FORCE_DIFFERS = rule(
    "join.in-force",
    "the {name} in force differs at {points} of {of} point: {values:items}",
    "the {name} in force differs at {points} of {of} points: {values:items}",
    by="of",
)
CLOCK_SOURCE = rule(
    "join.clock-source",
    "the clock source differs at {points} of {of} point: {values:items}",
    "the clock source differs at {points} of {of} points: {values:items}",
    by="of",
)
VALUE_OF = rule("join.value-of", "{value} ({sides})")
NOT_SET = rule("join.not-set", "not set ({sides})")
NOT_ALONE = rule(
    "join.not-alone",
    "{side} was not alone ({places:items}): other tasks used its CPUs while it was measured, and a difference may "
    "be their doing",
)
_MACHINES = (
    "these are different machines, {what}: {{values:items}}; "
    "what differs between them is not the kernel's alone"
)
MACHINES = {
    key: rule(f"join.machine-{name.replace(' ', '-')}", _MACHINES.format(what=what))
    for key, name, what in (
        ("machine.vendor", "vendor", "vendor"),
        ("machine.product", "product", "product"),
        ("machine.model", "model", "model"),
        ("machine.hypervisor", "hypervisor", "hypervisor"),
        ("cpu.model", "cpu", "CPU"),
        ("cpu.online", "cpus", "CPUs online"),
        ("memory.total_kib", "memory", "memory"),
        ("lab.emulator", "emulator", "QEMU"),
    )
}
"""Rules by the fact that differs."""
ABOUT_GIB = rule("join.about-gib", "about {gib:number} GiB ({sides})")
SCALES = rule("join.scales", "the runs have different scales (--scale): {scales}")
VERSIONS = rule("join.versions", "the runs were measured with different versions of {name}: {versions}")


def _warnings(joined: Joined) -> list[Statement]:
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
    """A place by these labels: "load none, period 1ms"."""
    labels = [f"{name} {place.labels[name]}" for name in names if name in place.labels]
    test = f"test {place.test}"
    return ", ".join([test, *labels] if TEST in names else labels) or test


def labels_that_vary(places: Sequence[Place]) -> tuple[str, ...]:
    """The labels that distinguish places: test and part first."""
    names = dict.fromkeys(name for place in places for name in place.labels)
    vary = [n for n in names if len({place.labels.get(n) for place in places}) > 1]
    test = [TEST] if len({place.test for place in places}) > 1 else []
    return (*test, *sorted(vary, key=lambda name: name != PART))


def _one_sided(joined: Joined) -> list[Statement]:
    """Places that some side lacks."""
    names = labels_that_vary(joined.places)
    by_sides: dict[tuple[int, ...], list[Place]] = {}
    for place in joined.places:
        if len(place.members) < len(joined.sides):
            by_sides.setdefault(tuple(sorted(place.members)), []).append(place)
    return [
        ONE_SIDED(
            sides=tuple(joined.sides[i].name for i in sides),
            count=len(places),
            places=tuple(described(place, names) for place in places),
        )
        for sides, places in by_sides.items()
    ]


Values = Mapping[tuple[int, int], str]
"""A text by place and side."""


def _differing(joined: Joined, values: Values) -> list[dict[str, Any]]:
    """Each difference between the sides, once, with the number of places."""
    ways: dict[tuple[tuple[str, str], ...], int] = {}
    for number, place in enumerate(joined.places):
        here = [i for i in sorted(place.members) if (number, i) in values]
        row = tuple((joined.sides[i].name, values[number, i]) for i in here)
        if len({text for _, text in row}) > 1:
            ways[row] = ways.get(row, 0) + 1
    differing = []
    for row, points in ways.items():
        sides_by_value: dict[str, list[str]] = {}
        for side, text in row:
            sides_by_value.setdefault(text, []).append(side)
        differing.append({"points": points, "of": len(joined.places), "values": _values(sides_by_value)})
    return differing


def _values(sides_by_value: Mapping[str, Sequence[str]]) -> tuple[Statement, ...]:
    """Each value with the sides that have it."""
    return tuple(
        VALUE_OF(value=value, sides=tuple(sides)) if value else NOT_SET(sides=tuple(sides))
        for value, sides in sides_by_value.items()
    )


def parameters_of(member: Member) -> dict[str, str]:
    """The parameters that all repetitions share; "1ms / 2ms" if they differ."""
    known = [parameters for parameters in member.parameters.values() if parameters]
    names = dict.fromkeys(name for parameters in known for name in parameters if name not in OF_THE_SEED)
    return {name: _alternatives(parameters.get(name, "") for parameters in known) for name in names}


def _alternatives(texts: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(texts))


def _each_member(joined: Joined, text_of: Callable[[Member], str]) -> dict[tuple[int, int], str]:
    return {
        (number, i): text_of(member)
        for number, place in enumerate(joined.places)
        for i, member in place.members.items()
    }


def _settings(joined: Joined) -> list[Statement]:
    asked = {
        (number, i): parameters_of(member)
        for number, place in enumerate(joined.places)
        for i, member in place.members.items()
    }
    names = dict.fromkeys(name for parameters in asked.values() for name in parameters)
    compared = {name for place in joined.places for name in place.labels}
    statements = []
    for name in names:
        if name not in compared:
            values = {at: parameters.get(name, "") for at, parameters in asked.items() if parameters}
            statements += [SETTING(name=name, **differs) for differs in _differing(joined, values)]
    return statements


def _in_force(joined: Joined) -> list[Statement]:
    """Parameters that were requested alike and read back differently."""
    statements = []
    for name in IN_FORCE:

        def in_force(member: Member, name: str = name) -> str:
            return _alternatives(cell.labels.get(name, "") for cell in member.group.cells)

        label = name.replace("cpu", "CPU")
        for differs in _differing(joined, _each_member(joined, in_force)):
            statements.append(IN_FORCE_DIFFERS(name=label, **differs))
    return statements


def _clock_sources(joined: Joined) -> list[Statement]:
    def before(member: Member) -> str:
        return _alternatives(cell.clocksource.get("before", "") for cell in member.group.cells)

    return [CLOCK_SOURCE(**differs) for differs in _differing(joined, _each_member(joined, before))]


def _not_alone(joined: Joined) -> list[Statement]:
    """The sides that others disturbed, and where, because their difference may come from the others."""
    places_by_side: dict[int, list[str]] = {}
    names = labels_that_vary(joined.places)
    for place in joined.places:
        for side, member in place.members.items():
            if not member.group.alone:
                places_by_side.setdefault(side, []).append(described(place, names))
    return [
        NOT_ALONE(side=joined.sides[side].name, places=tuple(places))
        for side, places in places_by_side.items()
    ]


def _machines(joined: Joined) -> list[Statement]:
    statements = []
    for key, differ in MACHINES.items():
        sides_by_value: dict[str, list[str]] = {}
        for side in joined.sides:
            text = fact(side.facts, key)
            if key == MEMORY and text:  # kernels keep different shares of it to themselves
                text = str(round(int(text) / 2**19) / 2)
            if text:
                sides_by_value.setdefault(text, []).append(side.name)
        if len(sides_by_value) > 1:
            values = _values(sides_by_value)
            if key == MEMORY:
                values = tuple(
                    ABOUT_GIB(gib=float(gib), sides=tuple(sides)) for gib, sides in sides_by_value.items()
                )
            statements.append(differ(values=values))
    return statements


def _made_with(joined: Joined) -> list[Statement]:
    statements = []
    scales = tuple(dict.fromkeys(f"{run.scale:g}" for run in joined.runs))
    if len(scales) > 1:
        statements.append(SCALES(scales=scales))
    for name in dict.fromkeys(name for run in joined.runs for name in run.versions):
        versions = tuple(dict.fromkeys(run.versions.get(name, "unknown") for run in joined.runs))
        if len(versions) > 1:
            statements.append(VERSIONS(name=name, versions=versions))
    return statements
