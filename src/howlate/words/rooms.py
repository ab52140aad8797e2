"""The rooms that state results: only their texts are translated."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from howlate.rooms import hooks
from howlate.words.statement import MESSAGES, Message

RESULTS = ("charts", "document", "figures", "replay", "sides", "statistics", "words")


@functools.cache
def modules_of_results() -> tuple[ModuleType, ...]:
    """Every module of these rooms, and those that rooms which add to howlate name (howlate/rooms.py).
    Importing them registers their messages, which statements read from a file need."""
    rooms = [importlib.import_module(f"howlate.{room}") for room in RESULTS]
    inside = [
        importlib.import_module(module.name)
        for room in rooms
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
    ]
    added = [importlib.import_module(name) for names in hooks("modules_of_results") for name in names()]
    return (*rooms, *inside, *added)


def messages_of_results() -> Iterator[Message]:
    """The messages of these modules that are translated. One with a remedy is an error: English, as its remedy."""
    names = {module.__name__ for module in modules_of_results()}
    return (message for message in MESSAGES.values() if message.module in names and not message.remedy)
