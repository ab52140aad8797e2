"""Text of others, such as the name of a task, as terminals, pages, shells and spreadsheets may have it: any user may
put escape sequences or line ends into one."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable
from pathlib import PurePath

_SIGNS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all controls but the tabulator and the end of a line
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of the text
    r"\u2028\u2029\ufffe\uffff\ud800-\udfff"  # other ends of lines, and what is no character
)
_CONTROLS = re.compile(f"[{_SIGNS}]")
_STYLES = re.compile(rf"(\A\r\x1b\[K|\x1b\[[0-9;]*m)|[{_SIGNS}]")
"""The same, but for how howlate itself writes bold text, and clears a line before a message."""
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def printable(name: str) -> str:
    """A name on one line, with what is no letter or sign as in Python's literals; what it gives stays as it is."""
    return name if name.isprintable() else "".join(map(_shown, name))


def is_text(text: str) -> bool:
    """Whether it can be written in UTF-8: not with bytes of a command line that are none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shell_word(name: str) -> str:
    """A name as a word on one line of bash, which reads the same bytes from it in any locale."""
    if name.isprintable() and "`" not in name:  # which would end the command within a sentence
        return shlex.quote(name)
    return "$'" + "".join(map(_in_shell, name)) + "'"


def shell_path(path: PurePath | str) -> str:
    """A path as such a word, which no command takes for an option."""
    text = str(path)
    return shell_word(f"./{text}" if text.startswith("-") else text)


def quoted(name: str) -> str:
    """A task's name among words: one may be called as a word is."""
    return f'"{name}"' if name else ""


def shell_line(words: Iterable[str]) -> str:
    """A command on one line, ready to paste."""
    return " ".join(map(shell_word, words))


def _in_shell(sign: str) -> str:
    if sign in "\\'":
        return f"\\{sign}"
    if sign.isprintable() and sign not in " `":  # no line is broken within the word
        return sign
    return "".join(f"\\x{byte:02x}" for byte in sign.encode("utf-8", "surrogateescape"))


def without_controls(text: str) -> str:
    """A text that may have several lines, without control characters that a terminal would obey."""
    return _CONTROLS.sub(lambda found: _escaped(found[0]), text)


def for_terminal(text: str, *, styles: bool) -> str:
    """A text as a terminal may get it: what it would obey is shown, so that JSON stays what it is."""
    pattern = _STYLES if styles else _CONTROLS
    return pattern.sub(lambda found: found[1] if styles and found[1] else f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    """A text of others in which line breaks are blanks, as in a title."""
    return printable(" ".join(text.split()))


def no_formula(text: str) -> str:
    """A cell of CSV that a spreadsheet does not execute. Numbers stay numbers."""
    if not text.startswith(_FORMULAS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _shown(sign: str) -> str:
    category = unicodedata.category(sign)
    return _escaped(sign) if category.startswith("C") or category in ("Zl", "Zp") else sign


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")
