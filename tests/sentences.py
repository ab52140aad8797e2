"""How howlate and its probe tell a mistake, so that both are held to the same."""

import re
from collections.abc import Iterator
from typing import Any

from howlate.errors import HowlateError
from howlate.words.statement import Statement

_SUGGESTS = re.compile(
    r'howlate(?:-probe)?: [^\n]*[^.?!]\. Did you mean "(?P<meant>[^"\n]+)"\?(?: [A-Z`][^\n]*[^.?!][.?])?\n'
)


def meant(text: str) -> str | None:
    """The name that one line suggests: `howlate: what is wrong. Did you mean "name"? What else.`"""
    found = _SUGGESTS.fullmatch(text)
    return found["meant"] if found else None


def values_of(error: HowlateError) -> dict[str, Any]:
    """The values of its statement, and of the statements inside it."""
    return dict(_values(error.statement))


def _values(statement: Statement) -> Iterator[tuple[str, Any]]:
    for name, value in statement.values.items():
        yield name, value
        if isinstance(value, Statement):
            yield from _values(value)
