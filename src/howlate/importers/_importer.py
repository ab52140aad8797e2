"""What a file of this folder gives: a foreign format, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Imported:
    """What a foreign file says, in howlate's own form."""

    text: str
    """TOML."""
    notes: tuple[str, ...] = ()
    """Sentences: what could not be carried over, and how to use the rest."""


@dataclass(frozen=True)
class Importer:
    """A foreign format."""

    name: str
    summary: str
    recognises: Callable[[str], bool] = field(repr=False)
    """Whether a text is of this format, by its content."""
    convert: Callable[[str, str], Imported] = field(repr=False)
    """Text and file name; UsageError names the file and the place of what is wrong."""
