"""Parameters against what the probe's list says, before anything runs.

The probe checks again; here the errors come at once,
all values of a matrix are seen, and equal values get one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities, LoadKind, Parameter, TestKind, TimerKind
from howlate.model.decode import suggestion
from howlate.model.study import Value, spell
from howlate.model.units import (
    format_duration,
    parse_bytes,
    parse_count,
    parse_cpus,
    parse_duration_ns,
    parse_integer,
    parse_percent,
    parse_rate,
    parse_real,
)

OURS = frozenset({"stream", "json", "quiet", "progress", "end-with-parent", "parent"})
"""Options that howlate itself gives to the probe."""
OURS_OF_LOADS = frozenset({"duration", "json", "quiet", "report-fd", "slots-fd", "end-with-parent", "parent"})
"""Options of a load that runs alone; beside a test the probe sets them itself."""


def find_test(name: str, capabilities: Capabilities) -> TestKind:
    """The test of that name, or the nearest in the error."""
    for test in capabilities.tests:
        if test.name == name:
            return test
    raise UsageError(
        f'the test "{name}" is not known', suggestion(name, (t.name for t in capabilities.tests))
    )


def parameters_of(test: TestKind, capabilities: Capabilities) -> dict[str, Parameter]:
    """What a study may set, by name."""
    return {p.name: p for p in (*capabilities.common, *test.params) if p.name not in OURS}


def default_values(test: str, capabilities: Capabilities) -> dict[str, str]:
    """By option what the probe does where a study says nothing; "" where it has no default, or chooses itself."""
    known = parameters_of(find_test(test, capabilities), capabilities)
    return {name: parameter.default for name, parameter in known.items()}


def find_parameter(name: str, test: TestKind, capabilities: Capabilities) -> Parameter:
    """The parameter of that name, or the nearest in the error."""
    known = parameters_of(test, capabilities)
    if name in OURS:
        raise UsageError(f'"{name}" is set by howlate itself', "leave it out")
    if name not in known:
        raise UsageError(f'"{name}" is not a parameter of {test.name}', suggestion(name, known))
    return known[name]


def canonical(name: str, value: Value, test: TestKind, capabilities: Capabilities) -> Value | None:
    """One spelling for equal values, checked; None where the option is left out (a flag that is off)."""
    parameter = find_parameter(name, test, capabilities)
    if name == "load":
        return tuple(check_load(spec, capabilities) for spec in load_specs(value))
    if parameter.type == "flag":
        return _flag(name, value)
    if isinstance(value, bool):
        raise UsageError(f'"{name}" cannot be {str(value).lower()}', f"give it {_wanted(parameter)}")
    if parameter.repeated:
        values = (value,) if isinstance(value, str) else value
        return tuple(_one(parameter, v, capabilities) for v in values)
    if not isinstance(value, str):
        raise UsageError(f'"{name}" takes one value, not several', "to measure each of them, make it an axis")
    return _one(parameter, value, capabilities)


def _flag(name: str, value: Value) -> Value | None:
    word = spell(value).lower()
    if word in ("on", "true", "yes"):
        return True
    if word in ("off", "false", "no"):
        return None
    raise UsageError(f'"{name}" is on or off, not "{spell(value)}"', f"write {name} = true or false")


def _wanted(parameter: Parameter) -> str:
    if parameter.choices:
        return "one of " + ", ".join(parameter.choices)
    return f"a {parameter.type} such as {parameter.default}" if parameter.default else f"a {parameter.type}"


def _one(parameter: Parameter, value: str, capabilities: Capabilities) -> str:
    if parameter.name == "timer":
        return find_timer(value, capabilities).name
    if parameter.name == "knob":
        return _knob(value, capabilities)
    return check_typed(parameter, value)


def check_typed(parameter: Parameter, value: str) -> str:
    """A value by its parameter's type, in its one spelling; a sentence where it does not fit."""
    if value in parameter.choices:
        return value
    if parameter.choices and parameter.type not in ("cpus", "rate"):  # these take a list or a rate as well
        raise UsageError(f'{parameter.name}: "{value}" is not a choice', suggestion(value, parameter.choices))
    try:
        return _spelt(parameter.type, value)
    except ValueError as problem:
        raise UsageError(f"{parameter.name}: {problem}") from None


def _spelt(kind: str, value: str) -> str:
    if kind == "duration":
        return format_duration(parse_duration_ns(value))
    if kind == "count":
        return str(parse_count(value))
    if kind == "integer":
        return str(parse_integer(value))
    checks = {"bytes": parse_bytes, "rate": parse_rate, "percent": parse_percent, "real": parse_real}
    if kind in checks:
        checks[kind](value)
    elif kind == "cpus" and value != "all":
        parse_cpus(value)
    return value


def find_timer(name: str, capabilities: Capabilities) -> TimerKind:
    """The way to sleep of that name, or the nearest in the error."""
    for timer in capabilities.timers:
        if timer.name == name:
            return timer
    raise UsageError(
        f'the timer "{name}" is not known', suggestion(name, (t.name for t in capabilities.timers))
    )


def _knob(value: str, capabilities: Capabilities) -> str:
    name, equals, rest = value.partition("=")
    if name not in (k.name for k in capabilities.knobs):
        raise UsageError(
            f'the knob "{name}" is not known', suggestion(name, (k.name for k in capabilities.knobs))
        )
    if not equals or not rest:
        raise UsageError(f'the knob "{name}" has no value', f"write {name}=VALUE")
    return value


def load_specs(value: Value) -> tuple[str, ...]:
    """The loads of one axis value: "none" is none, a plus joins several."""
    texts: Iterable[str] = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
    if isinstance(value, bool):
        raise UsageError("a load cannot be true or false", 'write "none", "cpu:50" or "cpu:50+disk:10MiB/s"')
    return tuple(spec for text in texts for spec in text.split("+") if spec != "none")


def check_load(spec: str, capabilities: Capabilities) -> str:
    """NAME[:TARGET][,option=value...] against the list."""
    head, *options = spec.split(",")
    name, colon, target = head.partition(":")
    load = next((one for one in capabilities.loads if one.name == name), None)
    if load is None:
        raise UsageError(
            f'the load "{name}" is not known', suggestion(name, (n.name for n in capabilities.loads))
        )
    if colon:
        _check_target(load, target)
    known = {p.name: p for p in (*load.params, *capabilities.load_common) if p.name not in OURS_OF_LOADS}
    for key, value in load_options(options):
        if key not in known:
            raise UsageError(f'the load {name} has no option "{key}"', suggestion(key, known))
        if known[key].type == "flag":
            if value is not None:
                raise UsageError(
                    f'the option "{key}" of the load {name} takes no value', f"write {key} alone"
                )
            continue
        if not value:
            raise UsageError(f'the option "{key}" of the load {name} has no value', f"write {key}=VALUE")
        try:
            check_typed(known[key], value)
        except UsageError as problem:
            raise UsageError(f"the load {spec}: {problem.message}", problem.remedy) from None
    return spec


def needs_reference(parameters: Mapping[str, Value], capabilities: Capabilities) -> bool:
    """Whether the probe runs the cell's loads with nothing measured beside them first, to have what it holds them
    against: several loads, or one that asks for as much as the machine gives."""
    specs = load_specs(parameters.get("load", ()))
    if len(specs) != 1:
        return len(specs) > 1
    _, _, target = specs[0].split(",")[0].partition(":")
    load = _load_of(specs[0], capabilities)
    return load is not None and (load.alone == ("*",) or (target or load.target.default) in load.alone)


def alone_least_ns(parameters: Mapping[str, Value], capabilities: Capabilities) -> int:
    """For how long the cell's loads want to run there at least; 0 where they are content with what every load has."""
    loads = (_load_of(spec, capabilities) for spec in load_specs(parameters.get("load", ())))
    return max((load.alone_ns for load in loads if load is not None), default=0)


def _load_of(spec: str, capabilities: Capabilities) -> LoadKind | None:
    name = spec.split(",")[0].partition(":")[0]
    return next((load for load in capabilities.loads if load.name == name), None)


def load_options(words: Iterable[str]) -> Iterable[tuple[str, str | None]]:
    """Names and values, None where there is no "="; a word that begins with a digit goes on with the CPUs
    before it."""
    found: list[tuple[str, str | None]] = []
    for word in words:
        if found and found[-1][0] == "cpus" and word[:1].isdigit():
            found[-1] = ("cpus", f"{found[-1][1]},{word}")
        else:
            key, equals, value = word.partition("=")
            found.append((key, value if equals else None))
    return found


def _check_target(load: LoadKind, target: str) -> None:
    if not target:
        raise UsageError(
            f'the load "{load.name}:" has an empty target', f"write {load.name}:{load.target.default}"
        )
    try:
        check_typed(load.target, target)
    except UsageError as problem:
        raise UsageError(f"the load {load.name}:{target}: {problem.message}", problem.remedy) from None


def check_together(parameters: Mapping[str, Value], test: TestKind, capabilities: Capabilities) -> str:
    """Refuses what can never go together; returns why this cell is not possible here, or nothing."""
    known = parameters_of(test, capabilities)
    impossible = _missing_knob(parameters, capabilities)
    if "timer" not in known or not capabilities.timers:
        return impossible
    timer = find_timer(spell(parameters.get("timer", known["timer"].default)), capabilities)
    dither = parameters.get("dither", False)
    if dither not in (False, "0", "off", "none") and not timer.dither:
        raise UsageError(
            f"{timer.name} cannot dither: it is not armed for each activation",
            "leave dither out, or exclude this timer with [[exclude]]",
        )
    policy = (
        spell(parameters.get("late-policy", known["late-policy"].default)) if "late-policy" in known else ""
    )
    if policy and timer.late_policies and policy not in timer.late_policies:
        raise UsageError(
            f'{timer.name} has no late policy "{policy}"', "it has: " + ", ".join(timer.late_policies)
        )
    if not timer.available:
        return f"{timer.name}: {timer.reason or 'this kernel does not have it'}"
    return impossible


def _missing_knob(parameters: Mapping[str, Value], capabilities: Capabilities) -> str:
    values = parameters.get("knob", ())
    for value in values if isinstance(values, tuple) else ():
        knob = next((k for k in capabilities.knobs if k.name == re.split("=", value)[0]), None)
        if knob is not None and not knob.available:
            return f"knob {knob.name}: {knob.reason or 'this machine does not have it'}"
    return ""
