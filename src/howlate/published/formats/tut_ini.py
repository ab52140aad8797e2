"""The configuration of `tut-2017` (listing 1 of its appendix): an INI file with the parameters of each of its
tests. It becomes settings for howlate (docs/settings.md)."""

from __future__ import annotations

import configparser
from collections.abc import Callable, Mapping

from msgspec import Struct

from howlate.errors import UsageError
from howlate.imports.formats._importer import Imported, Importer
from howlate.model.decode import IN_FILE, Table, unknown
from howlate.model.units import format_duration, parse_count

Spell = Callable[[int], str]


def _time(unit_ns: int) -> Spell:
    return lambda value: format_duration(value * unit_ns)


def _policy(priority: int) -> str:
    return f"fifo:{priority}"


class Option(Struct, frozen=True):
    """A key of the listing: the corresponding parameter of howlate's test, and the unit of its number."""

    parameter: str
    spell: Spell = str


ITERATIONS, PRIORITY = Option("points"), Option("policy", _policy)
_COMMON = {"iterations": ITERATIONS, "priority": PRIORITY, "processor": Option("cpus")}
_TIMER = {**_COMMON, "sleep": Option("sleep", _time(1))}
GENERAL = "the general part"
SECTIONS: Mapping[str, tuple[str, Mapping[str, Option]]] = {
    "PreemptionTest": (
        "preemption",
        {
            "iterations": ITERATIONS,
            "sleepNs": Option("sleep", _time(1)),
            "highPriority": Option("high"),
            "lowPriority": Option("low"),
            "processor": Option("cpus"),
        },
    ),
    "ContextSwitchTest": ("switch", {**_COMMON, "numSwitches": Option("switches-per-point")}),
    "SMITest": (
        "hardware-gap",
        {
            "iterations": ITERATIONS,
            "duration": Option("duration", _time(10**9)),
            "threshold": Option("threshold", _time(1000)),
            "window": Option("window", _time(1000)),
            "width": Option("width", _time(1000)),
        },
    ),
    "TimerAccuracyTestAbs": ("timer", _TIMER),
    "TimerAccuracyTestRel": ("timer", _TIMER),
    "TimerResolutionTest": ("clock", _COMMON),
}
"""Each section's test, and the meaning of its keys there. The general part's keys apply to every section that
has them."""
BOTH = "timer=clock_nanosleep,clock_nanosleep-relative"


def recognises(text: str) -> bool:
    return any(line.strip() in {f"[{name}]" for name in SECTIONS} for line in text.splitlines())


def convert(text: str, file: str) -> Imported:
    """Settings with a table for each test for which the listing has a section."""
    general, sections = _parse(text, file)
    tables: dict[str, dict[str, str]] = {}
    notes: list[str] = []
    for name, values in sections.items():
        test, known = SECTIONS[name]
        own = {**{key: value for key, value in general.items() if key in known}, **values}
        found = {known[key].parameter: known[key].spell(value) for key, value in own.items()}
        if tables.setdefault(test, found) != found:
            notes.append(
                f"{name} has other values than the section before it, and howlate has one test {test} for both: "
                f"these were left out: {_listed(found)}; give them by --set"
            )
    if "timer" in tables:
        notes.append(f"absolute and relative sleeps are one test: a study measures both with --set {BOTH}")
    lines = [f"# From {file.rpartition('/')[2]!r}, the configuration of tut-2017's test environment."]
    for test, parameters in tables.items():
        lines += ["", f"[{test}]", *(f'{name} = "{value}"' for name, value in parameters.items())]
    return Imported("\n".join(lines) + "\n", tuple(notes))


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _parse(text: str, file: str) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """The keys before the first section, and those of each section; keys that the study does not have are
    refused."""
    parser = configparser.RawConfigParser(default_section="", interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # its keys have capitals
    try:
        parser.read_string(f"[{GENERAL}]\n{text}", file)
    except configparser.Error as problem:
        raise UsageError(IN_FILE(file=file, problem=str(problem).splitlines()[0])) from None
    found = {name: dict(parser[name]) for name in parser.sections()}
    general = _numbers(found.pop(GENERAL), {"iterations": ITERATIONS, "priority": PRIORITY}, file, GENERAL)
    for name in found:
        if name not in SECTIONS:
            raise UsageError(IN_FILE(file=file, problem=unknown("section", name, SECTIONS)))
    return general, {name: _numbers(values, SECTIONS[name][1], file, name) for name, values in found.items()}


def _numbers(values: Mapping[str, str], known: Mapping[str, Option], file: str, place: str) -> dict[str, int]:
    Table(values, file, place).only(*known)
    numbers = {}
    for key, value in values.items():
        try:
            numbers[key] = parse_count(value)
        except ValueError as problem:
            raise UsageError(IN_FILE(file=f"{file}, {place}, {key}", problem=str(problem))) from None
    return numbers


IMPORTER = Importer("tut-ini", "the configuration of tut-2017's tests, as settings", recognises, convert)
