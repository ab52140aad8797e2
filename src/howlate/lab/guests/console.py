"""A guest's console: reports of a kernel in trouble, and the most informative lines."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path

from howlate.words.statement import Statement, message

TROUBLE = message("lab.guest-trouble", "the guest's kernel {what}: {line}")
PANICKED, OUT_OF_MEMORY = "panicked", "ran out of memory and killed a process"
OOPSED, HIT_A_BUG = "oopsed", "hit a BUG"
KERNEL_REPORT, LAST_LINES = "report of the kernel:", "end of the console:"

RESTARTS = "reboot: Restarting system"
"""A kernel's last words before it resets the machine (kernel_restart in kernel/reboot.c)."""
LINES = 12
BYTES_MOST = 16 << 20
"""The end of a longer console is read."""
_FRAMES = 16
_TROUBLE: tuple[tuple[str, str], ...] = (
    ("Kernel panic - not syncing", PANICKED),
    ("Out of memory: Killed process", OUT_OF_MEMORY),
    ("Oops", OOPSED),
    ("kernel BUG at", HIT_A_BUG),
    ("BUG: ", HIT_A_BUG),
    ("Internal error", OOPSED),
    ("Unable to handle kernel", OOPSED),
    ("general protection fault", OOPSED),
)
_TELLS = re.compile(
    r"CPU: [0-9]+ (?:UID: [0-9]+ )?PID: |RIP: 0010:|pc : |lr : |Call [Tt]race:|Modules linked in:"
)
_FRAME = re.compile(r"(?:\? )?[A-Za-z_][\w.]*\+0x[0-9a-f]+/0x[0-9a-f]+|</?(?:TASK|IRQ|NMI|SOFTIRQ|#[A-Z]+)>")


def console_of(path: Path) -> str:
    """The text of a console's file, or the end of a long one."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - BYTES_MOST))
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def trouble_on(console: str) -> Statement | None:
    """What a console says about a kernel in trouble; None if nothing."""
    for line in console.splitlines():
        for sign, meaning in _TROUBLE:
            if sign in line:
                return TROUBLE(
                    what=meaning, line=_plain(line[line.index(sign) :])
                )  # firmware may have begun the line
    return None


def telling(console: str) -> list[str]:
    """The lines of a console for an error message, below a heading: the report of a kernel in trouble without
    its registers and its guesses, else the last lines."""
    lines = [line for line in map(_plain, console.splitlines()) if line]
    first = next((at for at, line in enumerate(lines) if _is_trouble(line)), None)
    if first is None:
        return [LAST_LINES, *lines[-LINES:]] if lines else []
    return [KERNEL_REPORT, *_report(lines[first:])]


def _report(lines: list[str]) -> list[str]:
    """Headers, the place in the kernel, the call trace, the modules."""
    report: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if (_is_trouble(line) or _TELLS.match(line)) and line not in report:
            report.append(line)
        if re.match("Call [Tt]race:", line):
            frames = list(itertools.takewhile(_FRAME.match, lines[at:]))
            at += len(frames)
            sure = [frame for frame in frames if frame[0] not in "?<"]
            report += [f"  {frame}" for frame in sure[:_FRAMES]]
    return report[: 3 * LINES]


def _is_trouble(line: str) -> bool:
    return any(sign in line for sign, _ in _TROUBLE)


def last_lines(console: str, count: int = LINES) -> list[str]:
    """The end of a console, in a form that can be shown."""
    lines = [_plain(line) for line in console.splitlines()]
    return [line for line in lines if line][-count:]


_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|.)|[\x00-\x08\x0b-\x1f\x7f]")
_STAMP = re.compile(r"^\[ *[0-9]+\.[0-9]+\] ")


def _plain(line: str) -> str:
    return _STAMP.sub("", _CONTROL.sub("", line)).strip()
