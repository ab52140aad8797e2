"""What the programs of rt-tests have in common: the frame of their JSON, and options of cyclictest."""

from __future__ import annotations

import calendar
import re
import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field

from howlate.imports.formats._text import at_place, head, typed
from howlate.model.units import format_duration

_SHORT = {
    "A": "aligned",
    "b": "breaktrace",
    "c": "clock",
    "d": "distance",
    "D": "duration",
    "F": "fifo",
    "h": "histogram",
    "H": "histofall",
    "i": "interval",
    "l": "loops",
    "o": "oscope",
    "p": "priority",
    "T": "tracer",
    "y": "policy",
}
"""cyclictest's short options that take a value, by their long names."""
_OPTIONAL = {"a": "affinity", "t": "threads"}
"""Those whose value may be left out."""
_FLAGS = {"N": "nsecs", "S": "smp", "v": "verbose", "q": "quiet"}
_LONG = (
    *(*_SHORT.values(), *_OPTIONAL.values(), *_FLAGS.values()),
    *("json", "latency", "mainaffinity", "prio", "histfile", "secaligned", "spike", "spike-nodes", "smi"),
    *("system", "mlockall", "refresh_on_max", "relative", "resolution", "unbuffered", "priospread", "laptop"),
    *("default-system", "dbg_cyclictest", "posix_timers", "tracemark", "numa", "nanosleep"),
)
_VALUED = {
    *_SHORT.values(),
    "json",
    "latency",
    "mainaffinity",
    "prio",
    "histfile",
    "policy",
    "spike",
    "spike-nodes",
}
DISTANCE_US = 500
"""Between the periods of two threads, unless -d says otherwise; of -S too."""


ThreadOf = TypeVar("ThreadOf")


class SysInfo(Struct, frozen=True):
    """`sysinfo` of the JSON."""

    release: str = ""
    version: str = ""
    machine: str = ""

    def facts(self) -> dict[str, str]:
        return {
            "kernel.release": self.release,
            "kernel.version": self.version,
            "kernel.machine": self.machine,
        }


class RtTestsFile(Struct, frozen=True):
    """The members that every program writes around its own."""

    file_version: int
    return_code: int
    num_threads: int
    sysinfo: SysInfo = field(default_factory=SysInfo)
    start_time: str = ""
    thread: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By number; what a thread has is each program's own."""


def threads_of(kind: type[ThreadOf], file: RtTestsFile, path: Path, text: str) -> dict[str, ThreadOf]:
    """The entries of `thread` by number; an error where they are not as many as the file says."""
    if len(file.thread) != file.num_threads or not file.thread:
        problem = f"{file.num_threads} threads, and {len(file.thread)} follow"
        raise at_place(path, text, "num_threads", problem)
    for number, name in enumerate(file.thread):
        if name != str(number):
            raise at_place(path, text, f"thread.{name}", f"this is not thread {number}")
    return {name: typed(kind, entry, path, text, f"thread.{name}") for name, entry in file.thread.items()}


def ended_with(file: RtTestsFile, path: Path) -> tuple[str, ...]:
    if not file.return_code:
        return ()
    return (f"{path}: the program ended with the return code {file.return_code}",)


def is_json_of(path: Path, program: str) -> bool:
    text = head(path)
    return '"file_version"' in text and bool(re.search(rf'"cmdline:?": "[^"]*\b{program}\b', text))


def version_of(value: Mapping[str, Any]) -> str:
    """Both members are spelt with a colon in the versions so far."""
    return str(value.get("rt_test_version:", value.get("rt_test_version", "")))


def command_of(value: Mapping[str, Any]) -> str:
    """The command line, spelt with a colon in the versions so far."""
    return str(value.get("cmdline:", value.get("cmdline", "")))


def options_of(value: Mapping[str, Any]) -> list[str]:
    return _words(command_of(value))[1:]


LONGEST_COMMAND = 4096
"""What stands behind is not read: shlex takes the square of its length for a word."""


def _words(command: str) -> list[str]:
    command = command[:LONGEST_COMMAND]
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def options(command: str) -> dict[str, str]:
    """The options of a command line of cyclictest by their long names: of clustered letters ("-Sp90") each, and of
    long ones that are shortened ("--nsec") the whole name; a flag is ""."""
    values: dict[str, str] = {}
    words = iter(_words(command)[1:])
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = _whole_name(name)
            values[name] = value if equals or name not in _VALUED else next(words, "")
        elif word.startswith("-"):
            _cluster(word[1:], words, values)
    return values


def _whole_name(name: str) -> str:
    if name in _LONG:
        return name
    return next((known for known in _LONG if name and known.startswith(name)), name)


def _cluster(letters: str, words: Iterator[str], values: dict[str, str]) -> None:
    for at, letter in enumerate(letters):
        rest = letters[at + 1 :].removeprefix("=")
        if letter in _SHORT:
            values[_SHORT[letter]] = rest or next(words, "")
            return
        if letter in _OPTIONAL:
            values[_OPTIONAL[letter]] = rest
            if rest[:1].isdigit():
                return
        else:
            values[_FLAGS.get(letter, letter)] = ""


def period_and_policy(command: str, threads: int = 1) -> tuple[dict[str, str], str]:
    """Of cyclictest's options: the period as a parameter, where all threads have the same, and the measuring policy;
    empty where not said."""
    known = options(command)
    period_us = _number(known.get("interval", ""))
    apart_us = _number(known.get("distance", str(DISTANCE_US)))
    same = threads == 1 or apart_us == 0
    parameters = {"period": format_duration(period_us * 1000)} if period_us and same else {}
    priority = _number(known.get("priority", known.get("prio", "")))
    kind = "rr" if known.get("policy", "").lower() == "rr" else "fifo"
    return parameters, f"{kind}:{priority}" if 0 < priority < 100 else ""


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0


def broken_off(path: Path, value: int | None) -> tuple[str, ...]:
    return () if value is None else (f"{path}: -b ended the measurement at the latency {value}",)


def started(text: str) -> float | None:
    """Seconds since 1970 of "Sun, 22 Nov 2026 18:20:15 +0000"; None where it is not so."""
    stamp, _, zone = text.rpartition(" ")
    try:
        seconds = calendar.timegm(time.strptime(stamp, "%a, %d %b %Y %H:%M:%S"))
        sign = -1 if zone.startswith("-") else 1
        return seconds - sign * (int(zone[1:3]) * 3600 + int(zone[3:5]) * 60)
    except ValueError:
        return None
