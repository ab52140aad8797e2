"""A study: what is asked, and the matrix of settings that answers it. Decoded strictly (docs/studies.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howlate.errors import HowlateError, UsageError
from howlate.model.decode import Table, kind_of, parse_toml, read_text

ORDERS = ("blocked", "interleaved", "random")

Value = str | bool | tuple[str, ...]
"""A parameter's value as on the command line: text, a flag, or several values of a repeated option."""


@dataclass(frozen=True)
class Order:
    """In which order the cells are measured."""

    kind: str = "blocked"
    seed: int = 0
    repetitions: int = 1


@dataclass(frozen=True)
class Study:
    """The text of a plan."""

    id: str
    title: str
    question: str
    test: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    axes: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    order: Order = Order()
    exclude: tuple[Mapping[str, tuple[Value, ...]], ...] = ()
    schema: int = 1

    def to_json(self) -> dict[str, Any]:
        """The study as it stands in run.json; `from_json` is its inverse."""
        return {
            "schema": self.schema,
            "id": self.id,
            "title": self.title,
            "question": self.question,
            "test": self.test,
            "settings": {k: _plain(v) for k, v in self.settings.items()},
            "axes": {k: [_plain(v) for v in values] for k, values in self.axes.items()},
            "order": {
                "kind": self.order.kind,
                "seed": self.order.seed,
                "repetitions": self.order.repetitions,
            },
            "exclude": [{k: [_plain(v) for v in values] for k, values in e.items()} for e in self.exclude],
        }

    @classmethod
    def from_json(cls, value: dict[str, Any], file: str, error: type[HowlateError] = UsageError) -> Study:
        return decode_study(Table(value, file, "", error))


def read_study(path: Path) -> Study:
    """A study's file, decoded; the errors name file and place."""
    return decode_study(parse_toml(read_text(path, UsageError), str(path)))


def decode_study(table: Table) -> Study:
    """Refuses every key that it does not know, with the nearest name."""
    table.only("schema", "id", "title", "question", "test", "settings", "axes", "order", "exclude")
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
    settings = table.table("settings")
    axes = table.table("axes")
    for name in axes.values:
        if name in settings.values:
            raise axes.fail(f'"{name}" is a setting as well', "leave it in one of [settings] and [axes]")
    return Study(
        id=study_id,
        title=table.text("title"),
        question=table.text("question"),
        test=table.text("test"),
        settings={name: _setting(settings, name) for name in settings.values},
        axes={name: _axis(axes, name) for name in axes.values},
        order=_order(table.table("order")),
        exclude=tuple(_exclude(t, axes) for t in table.tables("exclude")),
    )


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


def _plain(value: Value) -> str | bool | list[str]:
    return list(value) if isinstance(value, tuple) else value
