"""Whole runs in other formats. ONE FILE = ONE FORMAT with `FORMAT`; files with an underscore are shared."""

from __future__ import annotations

from functools import cache

from howlate.rooms import plugins
from howlate.store.export._rows import Format
from howlate.system.plugins import plugin

__all__ = ["Format", "find_format", "names"]


@cache
def names() -> tuple[str, ...]:
    """All formats; none of them is imported for it."""
    return tuple(plugins(__name__))


def find_format(name: str) -> Format:
    return plugin(plugins(__name__)[name], "FORMAT", Format)
