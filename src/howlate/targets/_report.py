"""What another machine reports of sessions and of what ran in them."""

from __future__ import annotations

from msgspec import Struct

from howlate.model.decode import json_value
from howlate.targets._owner import Owner
from howlate.targets._put import is_place


def session_of(line: str) -> tuple[str, Owner | None] | None:
    """A line of `session list`: folder and owner; None if it is none."""
    try:
        session = json_value(line)
        folder, owner = session["folder"], session["state"]["owner"]
        if isinstance(folder, str) and is_place(folder) and isinstance(owner, str):
            return folder, Owner.parse(owner)
    except (ValueError, LookupError, TypeError):
        pass
    return None


class JobLine(Struct, frozen=True):
    status: str = ""
    stderr: str = ""


class Report(Struct, frozen=True):
    """What became of a job (`work_report` in probe/src/job/session_folder.cpp)."""

    lines: tuple[JobLine, ...]
    code: int
    free_bytes: int
    errors: str = ""


def status_of(report: Report) -> int | None:
    """The measuring line's; None if it has none."""
    word, _, number = (report.lines[0].status if report.lines else "").partition(" ")
    text = number if word == "signal" else word
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        return None
    return -int(text) if word == "signal" else int(text)
