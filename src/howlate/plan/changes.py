"""Changes of a study by the command line: `--set` and `--scale`."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction

from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities
from howlate.model.decode import IN_FILE, NOT_A_PAIR, WRONG_OPTION, Table, kind_of, twice, unknown
from howlate.model.study import KERNEL, REPEAT, Order, Study, Value, decode_order, spell
from howlate.model.units import format_duration, parse_count, parse_duration_ns
from howlate.plan.options import plain

Takes = Callable[[str, str], bool]
"""Whether the test has the parameter."""


def parse_change(text: str) -> tuple[str, tuple[str | bool, ...]]:
    """Parse `k=v[,v2...]`; values that contain commas are written as a TOML list: k=["0-1,3"]."""
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise _no_change(text.encode("ascii", "backslashreplace").decode(), "it is not UTF-8")
    name, equals, rest = text.partition("=")
    if not equals or not name.strip():
        raise _no_change(text, "it has no name or no value")
    if rest.startswith("["):
        return name, _toml_values(text, rest)
    values: list[str] = []
    for part in rest.split(","):
        if name.rpartition(".")[2] == "load" and values and "=" in part:
            values[-1] += f",{part}"  # an option of the load before it: cpu:50,cpus=1
        else:
            values.append(part)
    if any(not v.strip() for v in values):
        raise _no_change(text, "a value is empty")
    return name, tuple(values)


def _no_change(text: str, reason: object) -> UsageError:
    example = """period=250us, load=none,cpu:50 or 'cpus=["0-1","3"]'"""
    return UsageError(NOT_A_PAIR(option="--set", text=text, reason=reason, example=example))


def _toml_values(text: str, rest: str) -> tuple[str | bool, ...]:
    try:
        found = tomllib.loads(f"v = {rest}")["v"]
    except tomllib.TOMLDecodeError as problem:
        raise _no_change(text, problem) from None
    values: list[str | bool] = []
    for value in found:
        if not isinstance(value, str | int | float | bool):
            raise _no_change(text, f"a value is {kind_of(value)}")
        values.append(value if isinstance(value, bool) else str(value))
    if not values:
        raise _no_change(text, "the list is empty")
    return tuple(values)


def with_shared(study: Study, takes: Takes) -> Study:
    """Copy the settings that the parts of a study share into each part whose test takes them and which does
    not override them."""
    if not study.parts:
        return study
    for name in study.settings:
        if not any(takes(part.test, name) for part in study.parts):
            raise _no_parameter(study, name)

    def change(piece: Study) -> Study:
        shared = {
            name: value
            for name, value in study.settings.items()
            if takes(piece.test, name) and name not in piece.axes
        }
        return replace(piece, settings={**shared, **piece.settings})

    return replace(study.each(change), settings={})


def _no_parameter(study: Study, name: str) -> UsageError:
    return UsageError(
        'no test of {study} ({tests:all}) has the parameter "{parameter}"',
        remedy="`howlate probe list` lists the parameters of each",
        study=study.id,
        tests=tuple(dict.fromkeys(part.test for part in study.parts)),
        parameter=name,
    )


def apply_changes(
    study: Study, changes: Iterable[tuple[str, tuple[str | bool, ...]]], takes: Takes | None = None
) -> Study:
    """The study with settings and axes replaced; several values of one name become an axis. If the study has
    parts, the change applies to the part that PART.NAME names, else to all parts whose test `takes` it."""
    for name, values in changes:
        if name.startswith("order."):
            study = replace(study, order=_order(study.order, name, values))
        elif not study.parts:
            study = _apply(study, name, values)
        elif takes is not None:
            study = _apply_to_parts(study, name, values, takes)
    return study


def _apply_to_parts(study: Study, name: str, values: tuple[str | bool, ...], takes: Takes) -> Study:
    ids = [part.id for part in study.parts]
    part, dot, rest = name.partition(".")
    if dot and part not in ids:
        raise UsageError(unknown("part", part, [*ids, "order"]))
    if KERNEL in (name, rest):
        raise UsageError(
            "--set {name}: the kernels of {study} are not a parameter of its parts",
            remedy="write --target lab:6.1,6.1-rt, or `howlate lab run {study} --kernels 6.1,6.1-rt`",
            name=name,
            study=study.id,
        )
    own = rest if dot else name
    meant = {one.id for one in study.parts if (one.id == part if dot else takes(one.test, own))}
    if not meant:
        raise _no_parameter(study, own)
    return study.each(lambda piece: _apply(piece, own, values) if piece.part in meant else piece)


def _apply(study: Study, name: str, values: tuple[str | bool, ...]) -> Study:
    settings, axes = dict(study.settings), dict(study.axes)
    if len(set(values)) != len(values):
        again = next(value for value in values if values.count(value) > 1)
        raise UsageError(twice(f"value of {name}", spell(again), REPEAT))
    if name in axes or len(values) > 1:
        settings.pop(name, None)
        axes[name] = tuple(values)
    else:
        settings[name] = values[0]
    return replace(study, settings=settings, axes=axes, exclude=_still_meant(study.exclude, name, axes))


def _order(order: Order, name: str, values: tuple[str | bool, ...]) -> Order:
    text = ",".join(map(spell, values))
    value: str | int = text
    if name != "order.kind":
        with contextlib.suppress(ValueError):
            value = parse_count(text)
    key = name.removeprefix("order.")
    changed = decode_order(Table({key: value}, "--set", "order"))
    return replace(order, **{key: getattr(changed, key)})


def _still_meant(
    exclude: tuple[Mapping[str, tuple[Value, ...]], ...], changed: str, axes: Mapping[str, tuple[Value, ...]]
) -> tuple[Mapping[str, tuple[Value, ...]], ...]:
    there = {plain(changed, value) for value in axes.get(changed, ())}
    kept = []
    for entry in exclude:
        values = {
            name: tuple(v for v in values if name != changed or plain(name, v) in there)
            for name, values in entry.items()
        }
        if all(values.values()):
            kept.append(values)
    return tuple(kept)


def scale_study(
    study: Study, factor: float, counts: Mapping[str, str], changed: Collection[str] = ()
) -> Study:
    """Multiply counts by the factor, to at least one. `counts`: the parameters of the test that are scaled,
    with the probe's defaults. `changed`: the names that `--set` gave; a part whose length is among them keeps
    it, because its cells end with whichever count comes first. The study has no parts."""
    if not 0 < factor <= 1000:
        kind = "above 0 and at most 1000"
        raise UsageError(WRONG_OPTION(option="--scale", kind=kind, given=f"{factor:g}", example="0.1"))
    if factor == 1 or is_length_set(study, counts, changed):
        return study
    settings, axes = dict(study.settings), dict(study.axes)
    if not any(name in settings or name in axes for name in counts):
        settings.update({name: default for name, default in counts.items() if default})

    def shorter(name: str, value: Value) -> str:
        return _scaled(name, value, factor)

    for name in counts:
        if name in settings:
            settings[name] = shorter(name, settings[name])
        if name in axes:
            axes[name] = tuple(shorter(name, v) for v in axes[name])
    exclude = tuple(
        {
            name: tuple(shorter(name, v) for v in values) if name in counts else values
            for name, values in entry.items()
        }
        for entry in study.exclude
    )
    return replace(study, settings=settings, axes=axes, exclude=exclude)


def is_length_set(study: Study, counts: Iterable[str], changed: Collection[str]) -> bool:
    return not _named(study, counts).isdisjoint(changed)


def _named(study: Study, names: Iterable[str]) -> set[str]:
    return {spelling for name in names for spelling in (name, f"{study.part}.{name}")}


def scaled_words(before: Study, after: Study) -> str:
    """The effect of a scale, for a sentence: "activations 1000 for 1000000". The studies have no parts."""
    said = []
    for name in {**after.settings, **after.axes}:
        was = before.axes.get(name) or ((before.settings[name],) if name in before.settings else ())
        now = after.axes.get(name) or (after.settings[name],)
        if was != now:
            said.append(f"{name} {_listed(now)}" + (f" for {_listed(was)}" if was else ""))
    return ", ".join(said)


def _listed(values: Iterable[Value]) -> str:
    return " and ".join(spell(value) for value in values)


def _scaled(name: str, value: Value, factor: float) -> str:
    text = value if isinstance(value, str) else str(value)
    exact = Fraction(factor).limit_denominator(10**9)
    try:
        if name == "duration":
            return format_duration(max(1000, int(parse_duration_ns(text) * exact) // 1000 * 1000))
        return str(max(1, int(parse_count(text) * exact)))
    except ValueError as problem:
        raise UsageError(IN_FILE(file=name, problem=problem)) from None


TIMER, ALL = "timer", "all"


def with_every_timer(study: Study, can: Capabilities) -> Study:
    """The study with an axis of every way to sleep that the probe has where it says `timer = "all"`."""
    every = tuple(sorted(timer.name for timer in can.timers))

    def change(piece: Study) -> Study:
        if piece.axes.get(TIMER, (piece.settings.get(TIMER),)) != (ALL,):
            return piece
        settings = {name: value for name, value in piece.settings.items() if name != TIMER}
        return replace(piece, settings=settings, axes={**piece.axes, TIMER: every})

    return study.each(change)
