"""A study: what is asked, and the matrix of settings that answers it. Decoded strictly (docs/studies.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from howlate.errors import HowlateError, UsageError
from howlate.model.decode import Table, kind_of, parse_toml, read_text
from howlate.model.units import parse_count

ORDERS = ("blocked", "interleaved", "random")
KERNEL = "kernel"
"""The axis and label of a target's machines."""
PART = "part"
"""The label of a study's parts; `--set order.NAME` is the order's, so no part is called that."""

EXPECTED = "expected"
"""The one value of a study's or part's `starvation`."""

_NUMBERED = re.compile(r"(?P<name>[a-z][a-z0-9-]*):(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<rest>,[^+]*)?")

Value = str | bool | tuple[str, ...]
"""A parameter's value as on the command line: text, a flag, or several values of a repeated option."""


@dataclass(frozen=True)
class Order:
    """In which order the cells are measured."""

    kind: str = "blocked"
    seed: int = 0
    repetitions: int = 1


@dataclass(frozen=True)
class Part:
    """One matrix of a study that has several: a test with its settings and axes."""

    id: str
    title: str
    test: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    axes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    exclude: tuple[Mapping[str, tuple[Value, ...]], ...] = ()
    scaled: Mapping[str, Value] = field(default_factory=dict)
    """What holds where `--scale` cuts it short: a warm-up."""
    starvation: str = ""
    """EXPECTED where what is measured may starve the load; "" where the study's own counts."""

    def to_json(self) -> dict[str, Any]:
        own = {"starvation": self.starvation} if self.starvation else {}
        return {"id": self.id, "title": self.title, **own, **_matrix_json(self)}


@dataclass(frozen=True)
class Study:
    """The text of a plan."""

    id: str
    title: str
    question: str
    test: str = ""
    """Empty where the study has parts."""
    settings: Mapping[str, Value] = field(default_factory=dict)
    """Where the study has parts: what they share, each as far as its test takes it."""
    axes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    order: Order = Order()
    exclude: tuple[Mapping[str, tuple[Value, ...]], ...] = ()
    schema: int = 1
    parts: tuple[Part, ...] = ()
    reference: str = ""
    """The published figures beside which its own are shown: the name of a file of reference/."""
    kernels: tuple[str, ...] = ()
    """Where it is measured in the lab and nothing else is said. Not an axis: on a machine it has its kernel."""
    part: str = ""
    """Of what `pieces` gives: which part it is."""
    scaled: Mapping[str, Value] = field(default_factory=dict)
    """What holds where `--scale` cuts it short: a warm-up."""
    starvation: str = ""
    """EXPECTED where what is measured may starve the load: such cells are valid, and nothing is said of them "under
    load"."""

    @property
    def name(self) -> str:
        """For sentences about it."""
        return f"{self.id}, part {self.part}" if self.part else self.id

    @property
    def names_of_axes(self) -> tuple[str, ...]:
        """Those of all parts, the part itself first."""
        every = [name for part in self.parts for name in part.axes]
        return (PART, *dict.fromkeys(every)) if self.parts else tuple(self.axes)

    def pieces(self) -> tuple[Study, ...]:
        """Each part as a study of its own; the study itself where it has none."""
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
                scaled=part.scaled,
                starvation=part.starvation or self.starvation,
            )
            for part in self.parts
        )

    def each(self, change: Callable[[Study], Study]) -> Study:
        """The study with each of its pieces changed."""
        if not self.parts:
            return change(self)
        changed = [change(piece) for piece in self.pieces()]
        parts = (
            replace(part, settings=one.settings, axes=one.axes, exclude=one.exclude)
            for part, one in zip(self.parts, changed, strict=True)
        )
        return replace(self, parts=tuple(parts))

    def to_json(self) -> dict[str, Any]:
        """The study as it stands in run.json; `from_json` is its inverse."""
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
        if self.kernels:
            own["lab"] = {"kernels": list(self.kernels)}
        return own

    @classmethod
    def from_json(cls, value: dict[str, Any], file: str, error: type[HowlateError] = UsageError) -> Study:
        return decode_study(Table(value, file, "", error))


def _matrix_json(of: Study | Part) -> dict[str, Any]:
    scaled = {"scaled": {k: _plain(v) for k, v in of.scaled.items()}} if of.scaled else {}
    return {
        "test": of.test,
        "settings": {k: _plain(v) for k, v in of.settings.items()},
        "axes": {k: [_plain(v) for v in values] for k, values in of.axes.items()},
        "exclude": [{k: [_plain(v) for v in values] for k, values in e.items()} for e in of.exclude],
        **scaled,
    }


def read_study(path: Path) -> Study:
    """A study's file, decoded; the errors name file and place."""
    return decode_study(parse_toml(read_text(path, UsageError), str(path)))


OF_MATRIX = ("test", "axes", "exclude", "scaled")
OF_STUDY = ("schema", "id", "title", "question", "settings", "order", "published", "lab", "starvation")


def decode_study(table: Table) -> Study:
    """Refuses every key that it does not know, with the nearest name."""
    table.only(*OF_STUDY, *OF_MATRIX, PART)
    schema = table.integer("schema")
    if schema != 1:
        raise table.fail(
            f"schema {schema} is not known to this howlate", "use schema = 1, or a newer howlate"
        )
    study_id = table.text("id")
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", study_id):
        raise table.fail(
            f'the id "{study_id}" cannot name a folder', "use small letters, digits, dots and dashes"
        )
    parts = _parts(table) if PART in table.values else ()
    settings = table.table("settings")
    axes = table.table("axes")
    study = Study(
        id=study_id,
        title=table.text("title"),
        question=table.text("question"),
        test="" if parts else table.text("test"),
        settings={name: _setting(settings, name) for name in settings.values},
        axes=_axes(axes, settings),
        order=_order(table.table("order")),
        exclude=tuple(_exclude(t, axes) for t in table.tables("exclude")),
        parts=parts,
        reference=_reference(table.table("published")),
        kernels=_kernels(table.table("lab")),
        scaled=_scaled(table.table("scaled")),
        starvation=_starvation(table),
    )
    if study.kernels and (KERNEL in study.axes or KERNEL in study.settings):
        raise table.fail(
            f'the kernels stand twice: as "{KERNEL}" and in [lab]',
            f"leave {KERNEL} in one of them: as an axis, the study is for the lab alone",
        )
    return study


def _parts(table: Table) -> tuple[Part, ...]:
    """At least one, each with an id of its own; a study with parts has no matrix beside them."""
    for key in OF_MATRIX:
        if key in table.values:
            raise table.fail(f'"{key}" stands beside [[part]]', f"put {key} into the parts that it is of")
    if KERNEL in table.table("settings").values:
        raise table.fail(f'"{KERNEL}" is no setting of parts', "write [lab] kernels = [...]")
    tables = table.tables(PART, required=True)
    if not tables:
        raise table.fail("there is no part in it", "write [[part]], or leave it out")
    parts: list[Part] = []
    for one in tables:
        part = _part(one)
        if any(part.id == other.id for other in parts):
            raise one.fail(f'the part "{part.id}" stands twice', "give each part an id of its own")
        parts.append(part)
    return tuple(parts)


def _part(table: Table) -> Part:
    table.only("id", "title", "settings", "starvation", *OF_MATRIX)
    part_id = table.text("id")
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", part_id) or part_id == "order":
        raise table.fail(
            f'"{part_id}" cannot be the id of a part',
            "use small letters, digits and dashes, at most 40" if part_id != "order" else "choose another",
        )
    table = Table(table.values, table.file, f"the part {part_id}", table.error)
    settings, axes = table.table("settings"), table.table("axes")
    if KERNEL in settings.values or KERNEL in axes.values:
        raise table.fail(f'"{KERNEL}" is not of a part', "the kernels are the study's: [lab] kernels = [...]")
    if PART in axes.values:
        raise axes.fail(f'"{PART}" cannot be an axis', "give it another name")
    return Part(
        part_id,
        table.text("title", part_id),
        table.text("test"),
        {name: _setting(settings, name) for name in settings.values},
        _axes(axes, settings),
        tuple(_exclude(t, axes) for t in table.tables("exclude")),
        _scaled(table.table("scaled")),
        _starvation(table),
    )


def _starvation(table: Table) -> str:
    word = table.text("starvation", "")
    if word not in ("", EXPECTED):
        raise table.fail(
            f'starvation cannot be "{word}"', f'write starvation = "{EXPECTED}", or leave it out'
        )
    return word


def _axes(axes: Table, settings: Table) -> dict[str, tuple[Value, ...]]:
    for name in axes.values:
        if name in settings.values:
            raise axes.fail(f'"{name}" is a setting as well', "leave it in one of [settings] and [axes]")
    return {name: _axis(axes, name) for name in axes.values}


def _scaled(table: Table) -> dict[str, Value]:
    table.only("warm-up")
    found = {name: _setting(table, name) for name in table.values}
    for name, value in found.items():
        try:
            parse_count(spell(value))
        except ValueError as problem:
            raise table.fail(f'"{name}": {problem}') from None
    return found


def _reference(table: Table) -> str:
    table.only("reference")
    name = table.text("reference", "")
    if name and not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name):
        raise table.fail(f'"{name}" is not the name of a reference', "write it as reference/NAME.toml")
    return name


def _kernels(table: Table) -> tuple[str, ...]:
    table.only("kernels")
    return _texts(_axis(table, "kernels")) if "kernels" in table.values else ()


def _texts(values: Iterable[Value]) -> tuple[str, ...]:
    return tuple(spell(value) for value in values)


def scalar(value: object, table: Table, name: str) -> str | bool:
    """A single value; numbers become their spelling on the command line."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if not value.strip() or "\0" in value:
            raise table.fail(f'"{name}" is empty', "leave the key out to keep the probe's default")
        return value
    if isinstance(value, int | float):
        return str(value)
    raise table.fail(
        f'"{name}" cannot be {kind_of(value)}', "write text, a number, true or false, or a list of them"
    )


def _setting(table: Table, name: str) -> Value:
    value = table.values[name]
    if isinstance(value, list):
        return tuple(str(scalar(v, table, name)) for v in value)
    return scalar(value, table, name)


def _axis(table: Table, name: str) -> tuple[Value, ...]:
    value = table.values[name]
    if not isinstance(value, list):
        raise table.fail(f'"{name}" must be a list of values, not {kind_of(value)}', f"write {name} = [...]")
    if not value:
        raise table.fail(f'"{name}" has no values', "give at least one, or leave the axis out")
    values = tuple(scalar(v, table, name) for v in value)
    repeated = [v for i, v in enumerate(values) if v in values[:i]]
    if repeated:
        raise table.fail(f'"{name}" names {spell(repeated[0])} twice', "repeat cells by order.repetitions")
    return values


def _order(table: Table) -> Order:
    table.only("kind", "seed", "repetitions")
    kind = table.text("kind", "blocked")
    if kind not in ORDERS:
        raise table.fail(f'"{kind}" is not an order', "use blocked, interleaved or random")
    repetitions = table.integer("repetitions", 1)
    if not 1 <= repetitions <= 10_000:
        raise table.fail(f"{repetitions} repetitions cannot be", "use 1 to 10000")
    seed = table.integer("seed", 0)
    if not 0 <= seed < 2**63:
        raise table.fail(f"the seed {seed} is out of range", "use a whole number from 0 on")
    return Order(kind, seed, repetitions)


def _exclude(table: Table, axes: Table) -> Mapping[str, tuple[Value, ...]]:
    table.only(*axes.values)
    if not table.values:
        raise table.fail(
            "an empty exclude would leave nothing to measure", "name an axis and its values, or remove it"
        )
    found: dict[str, tuple[Value, ...]] = {}
    for name, value in table.values.items():
        values = value if isinstance(value, list) else [value]
        found[name] = tuple(scalar(v, table, name) for v in values)
    return found


def spell(value: Value) -> str:
    """A value for people: flags as on and off, several joined by plus."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return value if isinstance(value, str) else "+".join(value) or "none"


def numbered(load: str) -> tuple[str, float] | None:
    """A load's name and the number it is asked for: ("hackbench", 10.0). None for one without, and for several
    loads."""
    match = _NUMBERED.fullmatch(load)
    return (f"{match['name']}{match['rest'] or ''}", float(match["number"])) if match else None


def _plain(value: Value) -> str | bool | list[str]:
    return list(value) if isinstance(value, tuple) else value
