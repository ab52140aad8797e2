"""What the command line changes in a study: `--set` and `--scale`."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from howlate.errors import UsageError
from howlate.model.decode import kind_of, suggestion
from howlate.model.study import KERNEL, ORDERS, Order, Study, Value, spell
from howlate.model.units import format_duration, parse_count, parse_duration_ns

Takes = Callable[[str, str], bool]
"""Whether the test has the parameter."""
WARM_UP = "warm-up"
COUNTED = ("activations", "points")
"""The counts that a warm-up is part of."""


def parse_change(text: str) -> tuple[str, tuple[str | bool, ...]]:
    """`k=v[,v2...]`; values that hold commas are written as a TOML list: k=["0-1,3"]."""
    name, equals, rest = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f'--set "{text}" has no value', "write --set period=250us or --set load=none,cpu:50")
    if rest.startswith("["):
        return name, _toml_values(text, rest)
    values: list[str] = []
    for part in rest.split(","):
        if name.rpartition(".")[2] == "load" and values and "=" in part:
            values[-1] += f",{part}"  # an option of the load before it: cpu:50,cpus=1
        else:
            values.append(part)
    if any(not v.strip() for v in values):
        raise UsageError(
            f'--set "{text}" has an empty value', "write --set period=250us or --set load=none,cpu:50"
        )
    return name, tuple(values)


def _toml_values(text: str, rest: str) -> tuple[str | bool, ...]:
    try:
        found = tomllib.loads(f"v = {rest}")["v"]
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(
            f'--set "{text}" is not a list: {problem}', 'write --set \'cpus=["0-1","3"]\''
        ) from None
    values: list[str | bool] = []
    for value in found:
        if not isinstance(value, str | int | float | bool):
            raise UsageError(f'--set "{text}": a value cannot be {kind_of(value)}', "use text or numbers")
        values.append(value if isinstance(value, bool) else str(value))
    if not values:
        raise UsageError(f'--set "{text}" has no value', "give at least one")
    return tuple(values)


def with_shared(study: Study, takes: Takes) -> Study:
    """What the parts of a study share, put into each whose test takes it and which does not say otherwise."""
    if not study.parts:
        return study
    for name in study.settings:
        if not any(takes(part.test, name) for part in study.parts):
            raise UsageError(
                f'{study.id}: no test of its parts has the setting "{name}"', "leave it out of [settings]"
            )

    def change(piece: Study) -> Study:
        shared = {
            name: value
            for name, value in study.settings.items()
            if takes(piece.test, name) and name not in piece.axes
        }
        return replace(piece, settings={**shared, **piece.settings})

    return replace(study.each(change), settings={})


def apply_changes(
    study: Study, changes: Iterable[tuple[str, tuple[str | bool, ...]]], takes: Takes | None = None
) -> Study:
    """The study with settings and axes replaced; several values of one name make an axis of it. Where the study
    has parts: of the part that PART.NAME names, else of all whose test `takes` it."""
    for name, values in changes:
        if name.startswith("order."):
            study = replace(study, order=_order(study.order, name.removeprefix("order."), values))
        elif not study.parts:
            study = _apply(study, name, values)
        elif takes is not None:
            study = _apply_to_parts(study, name, values, takes)
    return study


def _apply_to_parts(study: Study, name: str, values: tuple[str | bool, ...], takes: Takes) -> Study:
    ids = [part.id for part in study.parts]
    part, dot, rest = name.partition(".")
    if dot and part not in ids:
        raise UsageError(f'--set {name}: {study.id} has no part "{part}"', suggestion(part, [*ids, "order"]))
    if KERNEL in (name, rest):
        raise UsageError(
            f"--set {name}: the kernels of {study.id} are no parameter of its parts",
            f"write --target lab:6.1,6.1-rt, or `howlate lab run {study.id} --kernels 6.1,6.1-rt`",
        )
    own = rest if dot else name
    meant = {one.id for one in study.parts if (one.id == part if dot else takes(one.test, own))}
    if not meant:
        tests = ", ".join(dict.fromkeys(one.test for one in study.parts))
        raise UsageError(
            f'--set {name}: no test of {study.id} ({tests}) has the parameter "{own}"',
            "`howlate probe list` names what each takes",
        )
    return study.each(lambda piece: _apply(piece, own, values) if piece.part in meant else piece)


def _apply(study: Study, name: str, values: tuple[str | bool, ...]) -> Study:
    settings, axes = dict(study.settings), dict(study.axes)
    if len(set(values)) != len(values):
        raise UsageError(f"--set {name} names a value twice", "repeat cells with --set order.repetitions=N")
    if name in axes or len(values) > 1:
        settings.pop(name, None)
        axes[name] = tuple(values)
    else:
        settings[name] = values[0]
    return replace(study, settings=settings, axes=axes, exclude=_still_meant(study.exclude, name, axes))


def _order(order: Order, name: str, values: tuple[str | bool, ...]) -> Order:
    value = str(values[0])
    if len(values) != 1 or name not in ("kind", "seed", "repetitions"):
        raise UsageError(f"--set order.{name} cannot be", suggestion(name, ("kind", "seed", "repetitions")))
    if name == "kind":
        if value not in ORDERS:
            raise UsageError(f'"{value}" is not an order', "use blocked, interleaved or random")
        return replace(order, kind=value)
    try:
        number = parse_count(value)
    except ValueError as problem:
        raise UsageError(f"--set order.{name}: {problem}") from None
    if name == "seed":
        return replace(order, seed=number)
    if not 1 <= number <= 10_000:
        raise UsageError(f"{number} repetitions cannot be", "use 1 to 10000")
    return replace(order, repetitions=number)


def _still_meant(
    exclude: tuple[Mapping[str, tuple[Value, ...]], ...], changed: str, axes: Mapping[str, tuple[Value, ...]]
) -> tuple[Mapping[str, tuple[Value, ...]], ...]:
    """The exclusions that can still meet a cell after this axis was replaced."""
    there = {_plain(value) for value in axes.get(changed, ())}
    kept = []
    for entry in exclude:
        values = {
            name: tuple(v for v in values if name != changed or _plain(v) in there)
            for name, values in entry.items()
        }
        if all(values.values()):
            kept.append(values)
    return tuple(kept)


def _plain(value: Value) -> Value | int:
    """Equal for equal values, as far as that is known without the probe's list: 1ms and 1000us, on and true."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return parse_duration_ns(value)
    return {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}.get(
        spell(value).lower(), value
    )


def scale_study(
    study: Study, factor: float, counts: Mapping[str, str], changed: Collection[str] = ()
) -> Study:
    """Counts times the factor, one at least. `counts`: the parameters of the test that are scaled, with the probe's
    defaults. `changed`: the names that `--set` gave; a part whose length is among them stays as it was set, because
    its cells end with whichever count comes first. The study is one without parts.

    A study that is cut short gets the warm-up of its [scaled], unless it or `--set` names one. It comes on top of the
    counts, so that as many samples count as the scale says.
    """
    if not 0 < factor <= 1000:
        raise UsageError(f"--scale {factor:g} cannot be", "use a factor such as 0.1")
    if factor == 1 or is_length_set(study, counts, changed):
        return study
    settings, axes = dict(study.settings), dict(study.axes)
    if not any(name in settings or name in axes for name in counts):
        settings.update({name: default for name, default in counts.items() if default})
    own = _settings_when_scaled(study, changed) if factor < 1 else {}
    more = parse_count(spell(own.get(WARM_UP, "0")))

    def shorter(name: str, value: Value) -> str:
        return _scaled(name, value, factor, more)

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
    return replace(study, settings={**settings, **own}, axes=axes, exclude=exclude)


def is_length_set(study: Study, counts: Iterable[str], changed: Collection[str]) -> bool:
    """Whether `--set` says how much of this part is measured."""
    return not _named(study, counts).isdisjoint(changed)


def _named(study: Study, names: Iterable[str]) -> set[str]:
    """What `--set` may call these parameters of the part."""
    return {spelling for name in names for spelling in (name, f"{study.part}.{name}")}


def _settings_when_scaled(study: Study, changed: Collection[str]) -> dict[str, Value]:
    """The study's [scaled], without what it says elsewhere or `--set` named."""
    return {
        name: value
        for name, value in study.scaled.items()
        if name not in study.settings
        and name not in study.axes
        and _named(study, (name,)).isdisjoint(changed)
    }


def scaled_words(before: Study, after: Study) -> str:
    """What a scale did, for a sentence: "activations 1000 for 1000000". The studies are without parts."""
    said = []
    for name in {**after.settings, **after.axes}:
        was = before.axes.get(name) or ((before.settings[name],) if name in before.settings else ())
        now = after.axes.get(name) or (after.settings[name],)
        if was != now:
            said.append(f"{name} {_listed(now)}" + (f" for {_listed(was)}" if was else ""))
    return ", ".join(said)


def _listed(values: Iterable[Value]) -> str:
    return " and ".join(spell(value) for value in values)


def _scaled(name: str, value: Value, factor: float, more: int) -> str:
    """The value times the factor; `more` is added to a count of activations or points."""
    text = value if isinstance(value, str) else str(value)
    exact = Fraction(factor).limit_denominator(10**9)
    try:
        if name == "duration":
            return format_duration(max(1000, int(parse_duration_ns(text) * exact) // 1000 * 1000))
        return str(max(1, int(parse_count(text) * exact)) + (more if name in COUNTED else 0))
    except ValueError as problem:
        raise UsageError(f"{name}: {problem}") from None
