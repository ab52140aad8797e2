"""A study: a question, and the matrix of settings that answers it. Decoded strictly (docs/studies.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import HowlateError, UsageError
from howlate.model.decode import UNKNOWN_SCHEMA, Table, kind_of, parse_toml, read_text, twice
from howlate.words.printable import one_line

REPEAT = "repeat cells with order.repetitions"
ORDERS = ("blocked", "interleaved", "random")
KERNEL = "kernel"
"""The axis and label of a target's machines."""
PART = "part"
"""The label of a study's parts. No part is called "order", because `--set order.NAME` changes the order."""
TIMER = "timer"
"""The label of the way to sleep."""

MOST_GUEST_CPUS = 1024
"""The limit of a guest in real time; in virtual time the lab has its own."""
EXPECTED = "expected"
"""The only value of a study's or part's `starvation`."""

_NUMBERED = re.compile(r"(?P<name>[a-z][a-z0-9-]*):(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<rest>,[^+]*)?")

Value = str | bool | tuple[str, ...]
"""A parameter's value as on the command line: text, a flag, or several values of a repeated option."""


class Order(Struct, frozen=True):
    """The order in which the cells are measured."""

    kind: str = "blocked"
    seed: int = 0
    repetitions: int = 1


class Part(Struct, frozen=True):
    """One matrix of a study that has several: a test with its settings and axes."""

    id: str
    title: str
    test: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    axes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    exclude: tuple[Mapping[str, tuple[Value, ...]], ...] = ()
    starvation: str = ""
    """EXPECTED if the measurement may starve the load; "" if the study's own value applies."""

    def to_json(self) -> dict[str, Any]:
        own = {"starvation": self.starvation} if self.starvation else {}
        return {"id": self.id, "title": self.title, **own, **_matrix_json(self)}


class Study(Struct, frozen=True):
    """The content of a study file."""

    id: str
    title: str
    question: str
    test: str = ""
    """Empty if the study has parts."""
    settings: Mapping[str, Value] = field(default_factory=dict)
    """If the study has parts: the settings that they share, as far as each part's test takes them."""
    axes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    order: Order = Order()
    exclude: tuple[Mapping[str, tuple[Value, ...]], ...] = ()
    schema: int = 1
    parts: tuple[Part, ...] = ()
    reference: str = ""
    """The published figures to show with its own: the name in `howlate reference list`."""
    kernels: tuple[str, ...] = ()
    """The lab's kernels unless others are named. Not an axis: a machine has its own kernel."""
    cpus: int = 0
    """CPUs of the lab's guests unless told otherwise; 0: the usual number."""
    part: str = ""
    """The part that a study from `pieces` is."""
    starvation: str = ""
    """EXPECTED if the measurement may starve the load: such cells are valid, and no conclusion calls them
    "under load"."""

    @property
    def name(self) -> str:
        return f"{self.id}, part {self.part}" if self.part else self.id

    @property
    def names_of_axes(self) -> tuple[str, ...]:
        """The axes of all parts, the part itself first."""
        every = [name for part in self.parts for name in part.axes]
        return (PART, *dict.fromkeys(every)) if self.parts else tuple(self.axes)

    def pieces(self) -> tuple[Study, ...]:
        """Each part as a study of its own; the study itself if it has none."""
        if not self.parts:
            return (self,)
        return tuple(
            replace(
                self,
                test=part.test,
                settings=part.settings,
                axes=part.axes,
                exclude=part.exclude,
                parts=(),
                part=part.id,
                starvation=part.starvation or self.starvation,
            )
            for part in self.parts
        )

    def each(self, change: Callable[[Study], Study]) -> Study:
        if not self.parts:
            return change(self)
        changed = [change(piece) for piece in self.pieces()]
        parts = (
            replace(part, settings=one.settings, axes=one.axes, exclude=one.exclude)
            for part, one in zip(self.parts, changed, strict=True)
        )
        return replace(self, parts=tuple(parts))

    def to_json(self) -> dict[str, Any]:
        """The study as stored in run.json; `from_json` is its inverse."""
        own: dict[str, Any] = {"schema": self.schema, "id": self.id, "title": self.title}
        own |= {"question": self.question}
        if self.starvation:
            own["starvation"] = self.starvation
        order = {"kind": self.order.kind, "seed": self.order.seed, "repetitions": self.order.repetitions}
        if self.parts:
            own["settings"] = {k: _plain(v) for k, v in self.settings.items()}
            own |= {"order": order, "part": [part.to_json() for part in self.parts]}
        else:
            own |= {**_matrix_json(self), "order": order}
        if self.reference:
            own["published"] = {"reference": self.reference}
        lab: dict[str, Any] = {"kernels": list(self.kernels)} if self.kernels else {}
        lab |= {"cpus": self.cpus} if self.cpus else {}
        if lab:
            own["lab"] = lab
        return own

    @classmethod
    def from_json(cls, value: dict[str, Any], file: str, error: type[HowlateError] = UsageError) -> Study:
        return decode_study(Table(value, file, "", error))


def _matrix_json(of: Study | Part) -> dict[str, Any]:
    return {
        "test": of.test,
        "settings": {k: _plain(v) for k, v in of.settings.items()},
        "axes": {k: [_plain(v) for v in values] for k, values in of.axes.items()},
        "exclude": [{k: [_plain(v) for v in values] for k, values in e.items()} for e in of.exclude],
    }


def read_study(path: Path) -> Study:
    """Decode a study's file; errors name file and place."""
    return decode_study(parse_toml(read_text(path, UsageError), str(path)))


OF_MATRIX = ("test", "axes", "exclude", "scaled")
"""`scaled` held a warm-up, in studies of older howlates; now every cell has one."""
OF_STUDY = ("schema", "id", "title", "question", "settings", "order", "published", "lab", "starvation")


def decode_study(table: Table) -> Study:
    """Decode a study and refuse unknown keys, with the nearest name."""
    table.only(*OF_STUDY, *OF_MATRIX, PART)
    schema = table.integer("schema")
    if schema != 1:
        raise table.fail(UNKNOWN_SCHEMA(schema=schema))
    study_id = table.text("id")
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", study_id):
        raise table.wrong("id", "small letters, digits, dots and dashes", '"my-study"')
    parts = _parts(table) if PART in table.values else ()
    settings = table.table("settings")
    axes = table.table("axes")
    lab = table.table("lab")
    lab.only("kernels", "cpus")
    study = Study(
        id=study_id,
        title=one_line(table.text("title")),
        question=one_line(table.text("question")),
        test="" if parts else table.text("test"),
        settings={name: _setting(settings, name) for name in settings.values},
        axes=_axes(axes, settings),
        order=decode_order(table.table("order")),
        exclude=tuple(_exclude(t, axes) for t in table.tables("exclude")),
        parts=parts,
        reference=_reference(table.table("published")),
        kernels=tuple(spell(value) for value in _axis(lab, "kernels")) if "kernels" in lab.values else (),
        cpus=_cpus(lab),
        starvation=_starvation(table),
    )
    if study.kernels and (KERNEL in study.axes or KERNEL in study.settings):
        raise _misplaced(table, KERNEL, "in a study with [lab] kernels", "leave it in one of them")
    return study


def _misplaced(table: Table, key: str, where: str, remedy: str) -> HowlateError:
    return table.fail('"{key}" does not belong {where}', remedy="{hint}", key=key, where=where, hint=remedy)


def _parts(table: Table) -> tuple[Part, ...]:
    """At least one part, each with an id of its own; a study with parts has no matrix of its own."""
    for key in OF_MATRIX:
        if key in table.values:
            raise _misplaced(table, key, "in a study of parts", "put it into its parts")
    _without_kernel(table.table("settings"))
    tables = table.tables(PART, required=True)
    if not tables:
        raise table.wrong(PART, "a list with at least one table", "[{ ... }]", "empty")
    parts: list[Part] = []
    for one in tables:
        part = _part(one)
        if any(part.id == other.id for other in parts):
            raise one.fail(twice("part", part.id, "give each part an id of its own"))
        parts.append(part)
    return tuple(parts)


def _part(table: Table) -> Part:
    table.only("id", "title", "settings", "starvation", *OF_MATRIX)
    part_id = table.text("id")
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", part_id) or part_id == "order":
        raise table.wrong("id", 'at most 40 small letters, digits and dashes, and not "order"', '"my-part"')
    table = Table(table.values, table.file, f"the part {part_id}", table.error)
    settings, axes = table.table("settings"), table.table("axes")
    _without_kernel(settings)
    _without_kernel(axes)
    if PART in axes.values:
        raise _misplaced(axes, PART, "in axes", "give the axis another name")
    return Part(
        part_id,
        one_line(table.text("title", part_id)),
        table.text("test"),
        {name: _setting(settings, name) for name in settings.values},
        _axes(axes, settings),
        tuple(_exclude(t, axes) for t in table.tables("exclude")),
        _starvation(table),
    )


def _without_kernel(table: Table) -> None:
    if KERNEL in table.values:
        raise _misplaced(table, KERNEL, "in a study of parts", "write [lab] kernels = [...]")


def _starvation(table: Table) -> str:
    word = table.text("starvation", "")
    if word not in ("", EXPECTED):
        raise table.wrong("starvation", EXPECTED, f'"{EXPECTED}"')
    return word


def _axes(axes: Table, settings: Table) -> dict[str, tuple[Value, ...]]:
    for name in axes.values:
        if name in settings.values:
            raise _misplaced(axes, name, "in both [settings] and [axes]", "leave it in one of them")
    return {name: _axis(axes, name) for name in axes.values}


def _reference(table: Table) -> str:
    table.only("reference")
    name = table.text("reference", "")
    if name and not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name):
        raise table.wrong("reference", "one of `howlate reference list`", '"its-id"')
    return name


def _cpus(table: Table) -> int:
    if "cpus" not in table.values:
        return 0
    cpus = table.integer("cpus")
    if not 1 <= cpus <= MOST_GUEST_CPUS:
        raise table.wrong("cpus", f"between 1 and {MOST_GUEST_CPUS}", "1")
    return cpus


def scalar(value: object, table: Table, name: str) -> str | bool:
    """A single value; numbers become their spelling on the command line."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value.strip() and "\0" not in value:
            return value
    elif isinstance(value, int | float):
        return str(value)
    raise table.wrong(
        name,
        "text, a number, true or false, or a list of them",
        '"..."',
        "empty" if isinstance(value, str) else kind_of(value),
    )


def _setting(table: Table, name: str) -> Value:
    value = table.values[name]
    if isinstance(value, list):
        return tuple(str(scalar(v, table, name)) for v in value)
    return scalar(value, table, name)


def _axis(table: Table, name: str) -> tuple[Value, ...]:
    value = table.values[name]
    if not isinstance(value, list):
        raise table.wrong(name, "a list of values", "[...]", kind_of(value))
    if not value:
        raise table.wrong(name, "a list of values", "[...]", "empty")
    values = tuple(scalar(v, table, name) for v in value)
    seen: set[Value] = set()
    for each in values:
        if each in seen:
            raise table.fail(twice(f"value of {name}", spell(each), REPEAT))
        seen.add(each)
    return values


def decode_order(table: Table) -> Order:
    """The order of a study, or of `--set order.NAME`."""
    table.only("kind", "seed", "repetitions")
    kind = table.text("kind", "blocked")
    if kind not in ORDERS:
        raise table.wrong("kind", "blocked, interleaved or random", '"blocked"')
    repetitions = table.integer("repetitions", 1)
    if not 1 <= repetitions <= 10_000:
        raise table.wrong("repetitions", "between 1 and 10000", "1")
    seed = table.integer("seed", 0)
    if not 0 <= seed < 2**63:
        raise table.wrong("seed", "between 0 and 2^63 - 1", "1")
    return Order(kind, seed, repetitions)


def _exclude(table: Table, axes: Table) -> Mapping[str, tuple[Value, ...]]:
    table.only(*axes.values)
    if not table.values:
        raise table.fail(
            "an empty exclude would leave nothing to measure",
            remedy="name an axis and its values, or remove it",
        )
    found: dict[str, tuple[Value, ...]] = {}
    for name, value in table.values.items():
        values = value if isinstance(value, list) else [value]
        found[name] = tuple(scalar(v, table, name) for v in values)
    return found


def spell(value: Value) -> str:
    """A value for people: flags as on and off, several values joined by plus."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else "+".join(value) or "none"


def numbered(load: str) -> tuple[str, float] | None:
    """A load's name and the number requested of it: ("hackbench", 10.0). None for a load without a number,
    and for several loads."""
    match = _NUMBERED.fullmatch(load)
    return (f"{match['name']}{match['rest'] or ''}", float(match["number"])) if match else None


def _plain(value: Value) -> str | bool | list[str]:
    return list(value) if isinstance(value, tuple) else value
