"""Names that others chose, such as a task's: any user may put escape sequences or line ends into one, which must not
reach a terminal or a page."""

from __future__ import annotations

import re
import unicodedata

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All of Unicode's but the tabulator and the end of a line, which a sentence of several lines has."""


def printable(name: str) -> str:
    """A name on one line, with what is no letter or sign as in Python's literals."""
    return name if name.isprintable() else "".join(map(_shown, name))


def without_controls(text: str) -> str:
    """A text that may have several lines, without control characters that a terminal would obey."""
    return _CONTROLS.sub(lambda found: _escaped(found[0]), text)


def _shown(sign: str) -> str:
    category = unicodedata.category(sign)
    return _escaped(sign) if category.startswith("C") or category in ("Zl", "Zp") else sign


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")
