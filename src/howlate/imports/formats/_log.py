"""Text as it was captured: without what terminals, journals, CI systems and mails put around a tool's lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from howlate.imports.formats._text import Line, head, lines

CLEARED = "\x1bc"
"""Printed by a tool before it repeats its table."""
_ESCAPE = re.compile(r"\x1b(?:c|\[[0-9;?]{0,16}[A-Za-z])")
_PREFIX = re.compile(
    r"> ?"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]{5,20}(?:Z|[+-][0-9]{2}:?[0-9]{2})? "
    r"|[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [^ ]{1,64} [^ :]{1,64}: "
    r"|\[[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?\] "
)
"""A mail's quote, the time of a CI system, a journal's head, the time of a terminal."""
_PREFIXES = 3
_KERNEL = re.compile(r"(?:<[0-9]{1,3}>)?\[ {0,6}[0-9]{1,8}\.[0-9]{6}\](?:\[ ?[CT][0-9]{1,8}\])? ")
_COMMAND = re.compile(r"\bcyclictest +-[^\n]{0,2000}")


def log_lines(path: Path) -> Iterator[Line]:
    """Each line of the tool's, with its number in the file; messages of the kernel between them are left out."""
    for line in lines(path):
        text = plain(line.text)
        if not _KERNEL.match(text):
            yield replace(line, text=text)


def plain(text: str) -> str:
    """A line without escapes, prefix and blanks at its end."""
    text = _ESCAPE.sub("", text) if "\x1b" in text else text
    for _ in range(_PREFIXES):
        found = _PREFIX.match(text)
        if found is None:
            break
        text = text[found.end() :]
    return text.rstrip()


def log_head(path: Path) -> str:
    """The beginning of a file as `log_lines` gives it, without indentation, for recognising it."""
    text = [plain(line).strip() for line in head(path).splitlines()]
    return "\n".join(line for line in text if not _KERNEL.match(line)) + "\n"


def command_in(text: str) -> str:
    """A command line of cyclictest in a line of a log; "" where there is none."""
    match = _COMMAND.search(text)
    return match[0] if match else ""
