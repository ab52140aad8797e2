"""The probe's options as a study names them. The probe decides which values are valid (`howlate-probe plan`)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities, Parameter, TestKind
from howlate.model.decode import WRONG_VALUE, unknown
from howlate.model.study import Value, spell
from howlate.model.units import parse_count, parse_duration_ns

OURS = frozenset({"stream", "json", "quiet", "progress", "end-with-parent", "parent"})
"""Options that howlate itself passes to the probe."""
OURS_OF_LOADS = frozenset({"duration", "json", "quiet", "report-fd", "slots-fd", "end-with-parent", "parent"})
"""Options of a load that runs alone; during a test the probe sets them itself."""


def find_test(name: str, capabilities: Capabilities) -> TestKind:
    """The test of that name; otherwise an error with the nearest name."""
    for test in capabilities.tests:
        if test.name == name:
            return test
    raise UsageError(unknown("test", name, (t.name for t in capabilities.tests)))


def parameters_of(test: TestKind, capabilities: Capabilities) -> dict[str, Parameter]:
    return {p.name: p for p in (*capabilities.common, *test.params) if p.name not in OURS}


def default_values(test: str, capabilities: Capabilities) -> dict[str, str]:
    """The probe's default by option, for what a study leaves open; "" if there is none, or if the probe
    chooses."""
    known = parameters_of(find_test(test, capabilities), capabilities)
    return {name: parameter.default for name, parameter in known.items()}


def check_options(options: Mapping[str, Value], test: TestKind, capabilities: Capabilities) -> None:
    """Refuse options that a study may not set, with the nearest name."""
    known = parameters_of(test, capabilities)
    for name, value in options.items():
        if name not in known:
            raise UsageError(unknown(f"parameter of {test.name}", name, known))
        if isinstance(value, tuple) and not known[name].repeated:
            raise UsageError(
                '"{name}" takes one value, not several',
                remedy="to measure each of them, make it an axis",
                name=name,
            )


def load_specs(value: Value) -> tuple[str, ...]:
    """The loads of one axis value: "none" means none, a plus joins several."""
    texts: Iterable[str] = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
    if isinstance(value, bool):
        raise UsageError(
            WRONG_VALUE(key="load", kind="text", given="true or false", example='"cpu:50+disk:10MiB/s"')
        )
    return tuple(spec for text in texts for spec in text.split("+") if spec != "none")


def plain(name: str, value: Value) -> object:
    """A text that is equal for equal values of any option: 1ms and 1000us, on and true, 10 and 010."""
    if name == "load":
        with contextlib.suppress(UsageError):
            return load_specs(value)
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return str(parse_count(value))
        with contextlib.suppress(ValueError):
            return parse_duration_ns(value)
    return {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}.get(
        spell(value).lower(), value
    )


def arguments(test: str, options: Mapping[str, Value]) -> tuple[str, ...]:
    """The probe's command line for a test with these options."""
    words = [test]
    for name, value in options.items():
        if value is True:
            words.append(f"--{name}")
        elif isinstance(value, tuple):
            words.extend(f"--{name}={text}" for text in value)
        else:
            words.append(f"--{name}={'false' if value is False else value}")
    return tuple(words)
