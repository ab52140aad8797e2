"""One plug-in by its name, whose failure is an error of the command that needs it."""

from __future__ import annotations

from howlate.errors import REMEDIED, DamagedError
from howlate.rooms import Plugin, load, problem_text, room_of


def plugin(module: str, name: str, kind: type[Plugin] | tuple[type[Plugin], ...]) -> Plugin:
    """What a plug-in's file defines under this name. DamagedError if it cannot be used and is from outside."""
    try:
        return load(module, name, kind)
    except (Exception, SystemExit) as problem:
        if (room := room_of(module)) is None:
            raise
        sentence = room.unusable(problem_text(problem))
        raise DamagedError(REMEDIED(problem=sentence, remedy=room.remedy)) from problem
