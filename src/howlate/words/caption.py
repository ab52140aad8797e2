"""Captions: the headings, phrases and sentences on tables and charts, as values. Their text is made where it is drawn
(words/say.py), in the reader's language.

    Caption("Largest latency")
    Caption("max {largest}", largest=time_text(largest_ns))

Unlike a message, a caption has no id, because nothing stores it: its translation is found by its English text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct


@dataclass(frozen=True, init=False)
class Caption:
    """An English template and its values, which may be captions or statements themselves."""

    template: str
    values: Mapping[str, Any]

    def __init__(self, template: str, /, **values: Any) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "values", values)

    def __hash__(self) -> int:
        return hash((self.template, frozenset(self.values)))


class Listed(Struct, frozen=True):
    """Several texts in one line, without the empty ones."""

    texts: tuple[Any, ...]
    separator: str = ", "


class Capitalised(Struct, frozen=True):
    """A text whose first letter becomes a capital, as a heading has it."""

    text: Any
