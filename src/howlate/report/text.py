"""Lines that fit, in scripts with and without spaces; and text as HTML."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from html import escape

from rich.cells import cell_len

NOT_FIRST = "、。，．・：；？！」』）〕］｝〉》】ーぁぃぅぇぉっゃゅょァィゥェォッャュョ,.;:!?)]}"
"""Characters that no line begins with."""


def wrapped(text: str, width: int) -> list[str]:
    """As textwrap.wrap; characters that are two columns wide are counted so, and a line may end between them."""
    if cell_len(text) == len(text):
        return textwrap.wrap(text, width)
    lines: list[str] = []
    line = ""
    for piece in _pieces(text):
        if line and cell_len(line + piece.rstrip()) > width and piece[0] not in NOT_FIRST:
            lines.append(line.rstrip())
            line = ""
        line += piece if line else piece.lstrip()
    return [*lines, line.rstrip()] if line.strip() else lines


def _pieces(text: str) -> Iterator[str]:
    """Words with the space behind them; each wide character alone."""
    word = ""
    for character in " ".join(text.split()):
        if cell_len(character) > 1:
            if word:
                yield word
            yield character
            word = ""
        elif character == " ":
            yield f"{word} "
            word = ""
        else:
            word += character
    if word:
        yield word


def coded(text: str) -> str:
    """Escaped, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
