"""Messages, statements and captions. A message has an id, and an English template that stands in the file that uses
it; a statement is the id (`rule`, as in the files) with the values that fill the template. Text is made at the border
(words/say.py), in the reader's language.

    STEAL = message("cell.steal", "the hypervisor took {steal_ns:time} ({share:percent} of its CPUs' time).")
    warnings.append(STEAL(steal_ns=12_000_000, share=0.004))

Captions are the headings, phrases and sentences on tables and charts. Nothing stores them, so they have no id: a
translation is found by the English text.

    Caption("max {largest}", largest=time_text(largest_ns))
"""

from __future__ import annotations

import string
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from msgspec import Struct, field

from howlate.words.printable import printable


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


Value = "str | int | float | Statement | Caption | Listed | Capitalised | tuple[Value, ...]"
"""The values of a statement. A statement or caption inside another one is a phrase of it, a tuple is a list."""

MESSAGES: dict[str, Message] = {}
"""Every message of the imported modules, by its id."""

VERBATIM = ""
"""The id of a text that comes from elsewhere: the probe, another program, an older howlate."""


class Message(Struct, frozen=True, dict=True):
    """A sentence with fields: `{name}`, or `{name:quantity}` for a number with its unit
    (words/quantities.py)."""

    id: str
    text: str
    many: str = ""
    """The template for a value of `by` other than one; "" if there is only one form."""
    by: str = ""
    remedy: str = ""
    """What to do about it, a template over the same values; "" if there is nothing to do."""
    module: str = ""
    """The module that declares it, which decides whether it is translated (words/rooms.py)."""

    @cached_property
    def fields(self) -> frozenset[str]:
        """The names of all values."""
        templates = (self.text, self.many, self.remedy)
        names = {name for text in templates for _, name, _, _ in string.Formatter().parse(text) if name}
        return frozenset(names | ({self.by} if self.by else set()))

    def __call__(self, **values: Any) -> Statement:
        """The statement with these values, which are exactly the message's fields."""
        if values.keys() != self.fields:
            raise TypeError(
                f"the message {self.id} has the fields {sorted(self.fields)}, not {sorted(values)}"
            )
        return Statement(
            self.id, {name: plain(value, is_text=name in TEXTS) for name, value in values.items()}
        )


class OneLine(str):
    """A name on one line: whoever chose it may have put line breaks or escapes into it."""

    exact: str
    """The name itself, for a command (`{path:shell}`)."""

    def __new__(cls, name: str) -> OneLine:
        line = super().__new__(cls, printable(name))
        line.exact = getattr(name, "exact", name)
        return line


TEXTS = ("reason", "problem", "console", "last", "said", "output", "hint", "remedy", "misfit")
"""Values that are sentences of others and may have several lines. All other texts are names, on one line each."""


def plain(value: Any, *, is_text: bool = False) -> Any:
    """A value in the form that a statement stores: paths, errors of the system and the like as text."""
    if isinstance(value, (list, tuple)):
        return tuple(plain(each, is_text=is_text) for each in value)
    if isinstance(value, PurePath) or (type(value) is str and not is_text):
        return OneLine(str(value))
    return (
        value if isinstance(value, (Statement, Caption, Listed, Capitalised, str, int, float)) else str(value)
    )


def message(message_id: str, text: str, many: str = "", *, by: str = "", remedy: str = "") -> Message:
    """Declare a message, once; the id is "room.what-it-says"."""
    if message_id in MESSAGES:
        raise ValueError(f"the message {message_id} is declared twice")
    MESSAGES[message_id] = Message(message_id, text, many, by, remedy, sys._getframe(1).f_globals["__name__"])
    return MESSAGES[message_id]


class Statement(Struct, frozen=True):
    """A message's id, and the values for its template."""

    rule: str
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    """The English text of a statement that no message of this howlate makes; "" otherwise."""
    remedy: str = ""
    """What to do about it, in English, where no message knows it; "" if there is nothing to do."""

    @staticmethod
    def verbatim(text: str, message_id: str = VERBATIM) -> Statement:
        """A text that comes from no message of howlate, under the id that its author gave it."""
        return Statement(message_id, {}, text)

    def number(self, name: str, least: float = 0, below: float = 2**63 / 1e9) -> float | None:
        """A value that may have been altered where it was stored; None unless it is such a number. `below`: unless
        given that of a time in seconds."""
        value = self.values.get(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if value is not None and is_number and least <= value < below else None

    def __hash__(self) -> int:
        return hash((self.rule, self.text, frozenset(self.values)))
