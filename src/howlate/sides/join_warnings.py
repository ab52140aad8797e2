"""What does not match between the sides of a joined set, in sentences (docs/compare.md, "What is joined")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from howlate.sides.gravity import gravity_of
from howlate.sides.joined import (
    Joined,
    MatrixPlace,
    Member,
    alternatives,
    described,
    labels_that_vary,
    parameters_of,
)
from howlate.sides.side_names import fact
from howlate.statistics.groups import IN_FORCE
from howlate.words.language import N_
from howlate.words.statement import Caption, Statement, message

MEMORY = "memory.total_kib"

ONE_SIDED = message(
    "join.one-sided",
    "measured on {sides} alone, {count} place: {places:items}",
    "measured on {sides} alone, {count} places: {places:items}",
    by="count",
)
SETTING = message(
    "join.setting",
    "the setting {name} differs at {points} of {of} point: {values:items}",
    "the setting {name} differs at {points} of {of} points: {values:items}",
    by="of",
)
IN_FORCE_DIFFERS = message(
    "join.in-force",
    "the {name} in force differs at {points} of {of} point: {values:items}",
    "the {name} in force differs at {points} of {of} points: {values:items}",
    by="of",
)
VALUE_OF = message("join.value-of", "{value} ({sides})")
NOT_ALONE = message(
    "join.not-alone",
    "{side} was not alone ({places:items}): other tasks used its CPUs while it was measured, and a difference may "
    "be their doing",
)
NEVER_ALONE = message("join.never-alone", "other tasks ran during {sides} and may have caused a difference")
MACHINES = message(
    "join.machine",
    "these are different machines, {what}: {values:items}; what differs between them is not the kernel's alone",
)
IDENTITY = {
    "machine.vendor": Caption(N_("vendor")),
    "machine.product": Caption(N_("product")),
    "machine.model": Caption(N_("model")),
    "machine.hypervisor": Caption(N_("hypervisor")),
    "cpu.model": Caption("CPU"),
    "cpu.online": Caption(N_("CPUs online")),
    MEMORY: Caption(N_("memory")),
    "lab.emulator": Caption("QEMU"),
}
"""The facts that tell machines apart, and their names."""
MADE_WITH = message("join.made-with", "the runs have different {what}: {values:all}")


def unlike(joined: Joined) -> list[Statement]:
    """Every mismatch, and the gravity of each side."""
    return [
        *_one_sided(joined),
        *_settings(joined),
        *_in_force(joined),
        *_clock_sources(joined),
        *filter(None, [gravity_of(joined)]),
        *_not_alone(joined),
        *_machines(joined),
        *_made_with(joined),
    ]


def _one_sided(joined: Joined) -> list[Statement]:
    """Places that some side lacks."""
    names = labels_that_vary(joined.places)
    by_sides: dict[tuple[int, ...], list[MatrixPlace]] = {}
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
    return tuple(
        VALUE_OF(value=value or Caption("not set"), sides=tuple(sides))
        for value, sides in sides_by_value.items()
    )


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
        if name not in compared | joined.changes_nothing:
            values = {at: parameters.get(name, "") for at, parameters in asked.items() if parameters}
            statements += [SETTING(name=name, **differs) for differs in _differing(joined, values)]
    return statements


def _in_force(joined: Joined) -> list[Statement]:
    """Parameters that were requested alike and read back differently."""
    statements = []
    for name in IN_FORCE:

        def in_force(member: Member, name: str = name) -> str:
            return alternatives(cell.labels.get(name, "") for cell in member.group.cells)

        label = name.replace("cpu", "CPU")
        for differs in _differing(joined, _each_member(joined, in_force)):
            statements.append(IN_FORCE_DIFFERS(name=label, **differs))
    return statements


def _clock_sources(joined: Joined) -> list[Statement]:
    def before(member: Member) -> str:
        return alternatives(cell.clocksource.get("before", "") for cell in member.group.cells)

    return [
        IN_FORCE_DIFFERS(name=Caption("clock source"), **differs)
        for differs in _differing(joined, _each_member(joined, before))
    ]


def _not_alone(joined: Joined) -> list[Statement]:
    """The sides that others disturbed, and where, because their difference may come from the others."""
    places_by_side: dict[int, list[str]] = {}
    names = labels_that_vary(joined.places)
    for place in joined.places:
        for side, member in place.members.items():
            if not member.group.alone:
                places_by_side.setdefault(side, []).append(described(place, names))
    everywhere = [
        side
        for side, places in places_by_side.items()
        if 1 < len(places) == sum(side in place.members for place in joined.places)
    ]
    never = NEVER_ALONE(sides=tuple(joined.sides[side].name for side in everywhere))
    return [
        *([never] if everywhere else []),
        *(
            NOT_ALONE(side=joined.sides[side].name, places=tuple(places))
            for side, places in places_by_side.items()
            if side not in everywhere
        ),
    ]


def _machines(joined: Joined) -> list[Statement]:
    statements = []
    for key, what in IDENTITY.items():
        sides_by_value: dict[str, list[str]] = {}
        for side in joined.sides:
            text = fact(side.facts, key)
            if key == MEMORY and text:  # kernels keep different shares of it to themselves
                text = f"{round(int(text) / 2**19) / 2:g} GiB"
            if text:
                sides_by_value.setdefault(text, []).append(side.name)
        if len(sides_by_value) > 1:
            statements.append(MACHINES(what=what, values=_values(sides_by_value)))
    return statements


def _made_with(joined: Joined) -> list[Statement]:
    statements = []
    scales = tuple(dict.fromkeys(f"{run.scale:g}" for run in joined.runs))
    if len(scales) > 1:
        statements.append(MADE_WITH(what=Caption("scales (--scale)"), values=scales))
    for name in dict.fromkeys(name for run in joined.runs for name in run.versions):
        versions = tuple(dict.fromkeys(run.versions.get(name, "unknown") for run in joined.runs))
        if len(versions) > 1:
            statements.append(MADE_WITH(what=Caption("versions of {name}", name=name), values=versions))
    return statements
