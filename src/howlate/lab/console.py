"""A guest's console: what it says of a kernel in trouble, and the lines of it that tell most."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

LINES = 12
BYTES_MOST = 16 << 20
"""Of an endless console the end is kept."""
_FRAMES = 16
_TROUBLE = (
    ("Kernel panic - not syncing", "the guest's kernel panicked"),
    ("Out of memory: Killed process", "the guest's kernel ran out of memory and killed a process"),
    ("Oops", "the guest's kernel oopsed"),
    ("kernel BUG at", "the guest's kernel hit a BUG"),
    ("BUG: ", "the guest's kernel hit a BUG"),
    ("Internal error", "the guest's kernel oopsed"),
    ("Unable to handle kernel", "the guest's kernel oopsed"),
    ("general protection fault", "the guest's kernel oopsed"),
)
_TELLS = re.compile(
    r"CPU: [0-9]+ (?:UID: [0-9]+ )?PID: |RIP: 0010:|pc : |lr : |Call [Tt]race:|Modules linked in:"
)
_FRAME = re.compile(r"(?:\? )?[A-Za-z_][\w.]*\+0x[0-9a-f]+/0x[0-9a-f]+|</?(?:TASK|IRQ|NMI|SOFTIRQ|#[A-Z]+)>")


def console_of(path: Path) -> str:
    """The text of a console's file; of an endless one its end."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - BYTES_MOST))
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def trouble_on(console: str) -> str:
    """What a console says of a kernel in trouble, as a sentence; "" if nothing."""
    for line in console.splitlines():
        for sign, meaning in _TROUBLE:
            if sign in line:
                return f"{meaning}: {_plain(line[line.index(sign) :])}"  # firmware may have begun the line
    return ""


def telling(console: str) -> list[str]:
    """The lines of a console for an error message, below a heading: the report of a kernel in trouble without its
    registers and its guesses, else the last lines."""
    lines = [line for line in map(_plain, console.splitlines()) if line]
    first = next((at for at, line in enumerate(lines) if _is_trouble(line)), None)
    if first is None:
        return ["last lines of the console:", *lines[-LINES:]] if lines else []
    return ["what the console says of it:", *_report(lines[first:])]


def _report(lines: list[str]) -> list[str]:
    """Headers, where the kernel was, how it came there, the modules."""
    found: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if (_is_trouble(line) or _TELLS.match(line)) and line not in found:
            found.append(line)
        if re.match("Call [Tt]race:", line):
            frames = list(itertools.takewhile(_FRAME.match, lines[at:]))
            at += len(frames)
            sure = [frame for frame in frames if frame[0] not in "?<"]
            found += [f"  {frame}" for frame in sure[:_FRAMES]]
    return found[: 3 * LINES]


def _is_trouble(line: str) -> bool:
    return any(sign in line for sign, _meaning in _TROUBLE)


def last_lines(console: str, count: int = LINES) -> list[str]:
    """The end of a console, as it can be shown."""
    lines = [_plain(line) for line in console.splitlines()]
    return [line for line in lines if line][-count:]


_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|.)|[\x00-\x08\x0b-\x1f\x7f]")
_STAMP = re.compile(r"^\[ *[0-9]+\.[0-9]+\] ")


def _plain(line: str) -> str:
    return _STAMP.sub("", _CONTROL.sub("", line)).strip()
