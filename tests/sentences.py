"""How howlate and its probe tell a mistake, so that both are held to the same."""

from __future__ import annotations

import re

_SUGGESTS = re.compile(
    r'howlate(?:-probe)?: [^\n]*[^.?!]\. Did you mean "(?P<meant>[^"\n]+)"\?(?: [A-Z`][^\n]*[^.?!][.?])?\n'
)


def meant(text: str) -> str | None:
    """The name that one line suggests: `howlate: what is wrong. Did you mean "name"? What else.`"""
    found = _SUGGESTS.fullmatch(text)
    return found["meant"] if found else None
