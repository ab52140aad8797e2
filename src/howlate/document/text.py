"""Lines that fit, in scripts with and without spaces; and text as HTML."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from html import escape

from rich.cells import cell_len

from howlate.sides.side_names import mode_of_all
from howlate.statistics.groups import VIRTUAL_TIME
from howlate.words.language import _, as_called
from howlate.words.printable import without_controls
from howlate.words.quantities import NARROW_SPACE
from howlate.words.say import Text
from howlate.words.statement import Listed, Statement


def escaped(text: str, *, quote: bool = True) -> str:
    """As HTML, without control characters."""
    return escape(without_controls(text), quote)


NOT_FIRST = "、。，．・：；？！」』）〕］｝〉》】ーぁぃぅぇぉっゃゅょァィゥェォッャュョ,.;:!?)]}"
"""Characters that no line begins with."""


def wrapped(text: str, width: int) -> list[str]:
    """As textwrap.wrap; characters that are two columns wide are counted so, and a line may end between them. A
    command between backticks stays on one line if it fits there, and no word of it is ever broken: it is copied."""
    tied = re.sub(r"`[^`]+`", lambda found: _tied(found[0], width), text)
    if cell_len(tied) == len(tied):
        lines = textwrap.wrap(tied, width, break_on_hyphens=False, break_long_words="`" not in tied)
    else:
        lines = _wrapped_wide(tied, width)
    return [line.replace(_TIE, " ") for line in lines]


_TIE = "\ue000"
"""In the place of a blank at which no line ends."""


def _tied(command: str, width: int) -> str:
    return command.replace(" ", _TIE) if cell_len(command) < width else command


def _wrapped_wide(text: str, width: int) -> list[str]:
    """A character that no line begins with takes what stands before it along."""
    lines: list[str] = []
    line: list[str] = []
    for piece in _pieces(text):
        if line and cell_len("".join(line) + piece.rstrip()) > width:
            taken_along = [line.pop()] if piece[0] in NOT_FIRST and len(line) > 1 else []
            if piece[0] not in NOT_FIRST or taken_along:
                lines.append("".join(line).rstrip())
                line = taken_along
        rest = piece if line else piece.lstrip()
        while not line and "`" not in text and cell_len(rest.rstrip()) > width:
            fits = max(1, _fitting(rest, width))
            lines.append(rest[:fits])
            rest = rest[fits:]
        line.append(rest)
    return [*lines, "".join(line).rstrip()] if "".join(line).strip() else lines


def folded(label: str, width: int) -> list[str]:
    """A label in lines that fit: broken behind blanks and commas and before brackets, inside of a word only where it
    alone is too long. Lines after the first are indented, so that the next label is not taken for one of them."""
    lines: list[str] = []
    line = ""
    for piece in re.split(r"(?<=[ ,·])|(?=\[)", label):
        rest = piece
        while _fitting(whole := line + rest.rstrip(), width) < len(whole):
            if line.strip():
                lines.append(line.rstrip())
                line = _indent(width)
                continue
            fits = max(1, _fitting(rest, max(1, width - cell_len(line))))
            lines.append(line + rest[:fits])
            line, rest = _indent(width), rest[fits:]
        line += rest
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _indent(width: int) -> str:
    return "  " if width >= 6 else ""


def _fitting(text: str, width: int) -> int:
    """How many characters of it fit. No more are looked at: a label may have a hundred thousand."""
    cells = 0
    for number, character in enumerate(text):
        cells += cell_len(character)
        if cells > width:
            return number
    return len(text)


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


def virtual_note(*, virtual: bool) -> Text:
    """What must be known at every table and chart of virtual time; "" in real time."""
    return VIRTUAL_TIME() if virtual else ""


def every_note(*, virtual: bool, labels: Iterable[Mapping[str, str]], gravity: Statement | None) -> Text:
    """What must be known at a chart, whose rows may not name it: where the activations are, the gravity of each side,
    and the virtual time."""
    notes = [note for note in (mode_of_all(labels), gravity, virtual_note(virtual=virtual)) if note]
    return Listed(tuple(notes), "; ") if len(notes) > 1 else notes[0] if notes else ""


def listed(reasons: Iterable[str]) -> str:
    """Several reasons as one sentence, without its full stop."""
    return "; ".join(as_called(reason.strip()).rstrip(".。") for reason in reasons)


def coded(text: str) -> str:
    """Escaped, with text between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(text))


def tied(text: str) -> str:
    """No line ends between a number and its unit."""
    return re.sub(r"(?<=\d) (?=(?:ns|µs|us|ms|s|min|h)\b)", NARROW_SPACE, text)


def stopped(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "。", "？")) else _("{sentence}.").format(sentence=text)
