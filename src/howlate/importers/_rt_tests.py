"""What the programs of rt-tests have in common: the frame of their JSON, and options of cyclictest."""

from __future__ import annotations

import calendar
import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howlate.importers._text import head
from howlate.model.units import format_duration

_PERIOD = re.compile(r"(?:-i|--interval=?)([0-9]{1,9})")
_PRIORITY = re.compile(r"(?:-p|--priority=?|--prio=?)([0-9]{1,2})")
_TAKES = ("-i", "--interval", "-p", "--priority", "--prio")


@dataclass(frozen=True)
class SysInfo:
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


@dataclass(frozen=True)
class RtTestsFile:
    """The members that every program writes around its own."""

    file_version: int
    return_code: int
    num_threads: int
    sysinfo: SysInfo = field(default_factory=SysInfo)
    start_time: str = ""


def is_json_of(path: Path, program: str) -> bool:
    """Whether a file is the JSON of this program of rt-tests."""
    text = head(path)
    return '"file_version"' in text and bool(re.search(rf'"cmdline:?": "[^"]*\b{program}\b', text))


def version_of(value: Mapping[str, Any]) -> str:
    """Both members are spelt with a colon in the versions so far."""
    return str(value.get("rt_test_version:", value.get("rt_test_version", "")))


def options_of(value: Mapping[str, Any]) -> list[str]:
    """The command line's words, a value always in the word of its option."""
    text = str(value.get("cmdline:", value.get("cmdline", "")))
    try:
        words = shlex.split(text)[1:]
    except ValueError:
        words = text.split()[1:]
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] in _TAKES:
            joined[-1] += word if joined[-1].startswith("-") and len(joined[-1]) == 2 else f"={word}"
        else:
            joined.append(word)
    return joined


def period_and_policy(options: list[str]) -> tuple[dict[str, str], str]:
    """Of cyclictest's options: the period as a parameter, and the measuring policy; empty where not said."""
    periods = [found[1] for word in options if (found := _PERIOD.fullmatch(word))]
    priorities = [found[1] for word in options if (found := _PRIORITY.fullmatch(word))]
    nanoseconds = int(periods[-1]) * 1000 if periods else 0
    parameters = {"period": format_duration(nanoseconds)} if nanoseconds else {}
    return parameters, f"fifo:{priorities[-1]}" if priorities and int(priorities[-1]) else ""


def started(text: str) -> float | None:
    """Seconds since 1970 of "Sun, 22 Nov 2026 18:20:15 +0000"; None where it is not so."""
    stamp, _, zone = text.rpartition(" ")
    try:
        seconds = calendar.timegm(time.strptime(stamp, "%a, %d %b %Y %H:%M:%S"))
        sign = -1 if zone.startswith("-") else 1
        return seconds - sign * (int(zone[1:3]) * 3600 + int(zone[3:5]) * 60)
    except ValueError:
        return None
