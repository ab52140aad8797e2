"""Lines of a screen: texts with their styles, cut and folded so that they fit; and blocks of lines with as many empty
lines between them as there is room for."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from rich.cells import cell_len, set_cell_size

from howlate.document.first_screen.on_screen import Reasons, ScreenAdvice, ScreenReason
from howlate.document.sheet import NOTHING
from howlate.document.text import tied, wrapped
from howlate.figures.strip import plain
from howlate.words.language import _
from howlate.words.printable import without_controls
from howlate.words.quantities import NARROW_SPACE, percent, time_text
from howlate.words.say import Text, more_rows_text, text_of
from howlate.words.statement import Caption

Line = tuple[tuple[str, str], ...]
"""Texts, each with its style."""
LINES, COLUMNS, LEAST_COLUMNS = 22, 80, 40
FEW = 3
"""Fewest rows that are worth more than empty lines."""
COLOURS = {"FAIL": "bold red", "PASS": "bold green", "INCONCLUSIVE": "bold yellow", "": "bold"}
MOST_OF_NOTE, MOST_OF_NOTES = 3, 4
"""Lines of a note, and of all notes, at most; of notes that need more, each is cut."""
LEAST_ADVICE = 20
"""Columns for what to try; where it has fewer, what it saves is left out."""
BETWEEN = " · "
"""Between the parts of a name."""
FAINT = "dim"
COPIED = "none"
"""Of paths and commands: as plain text."""


def height(lines: Sequence[Line], width: int) -> int:
    return sum(max(1, math.ceil(sum(cell_len(text) for text, _ in line) / width)) for line in lines)


def spaced(blocks: Sequence[Sequence[Line]], width: int, most: int = LINES) -> list[Line]:
    """One block after the other, with empty lines between them as far as that is not too much."""
    blocks = [block for block in blocks if block]
    gaps = most - sum(height(block, width) for block in blocks)
    lines: list[Line] = []
    for number, block in enumerate(blocks):
        lines += [(), *block] if 0 < number <= gaps else block
    return lines


def fitting(
    make: Callable[[int], Sequence[Sequence[Line]]], most: int, width: int, high: int = LINES
) -> list[Line]:
    """Blocks with at most `most` rows: fewer where they, or empty lines between blocks, lack room."""
    blocks: Sequence[Sequence[Line]] = ()
    for rows in range(most, 0, -1):
        blocks = [block for block in make(rows) if block]
        gaps = len(blocks) - 1 if rows > FEW else 0
        if sum(height(block, width) for block in blocks) + gaps <= high:
            break
    return spaced(blocks, width, high)


def typed(lines: Sequence[Line], *, letters: bool) -> list[Line]:
    """The lines as a terminal writes them; `letters`: it has no UTF-8."""
    return [tuple((_typed(*part, letters=letters), part[1]) for part in line) for line in lines]


def _typed(text: str, style: str, *, letters: bool) -> str:
    """Leaves text that is to be copied unchanged."""
    shown = without_controls(text if style == COPIED else plain(text).replace(NOTHING, "-"))
    if letters and style != COPIED:
        for sign, instead in (("…", "~"), ("·", "-"), ("–", "-"), ("×", "x"), ("≥", ">=")):
            shown = shown.replace(sign, instead)
    return shown


def right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text


def cut(text: str, width: int) -> str:
    """Behind a whole word, where that leaves most of it."""
    if cell_len(text) <= width:
        return text
    kept = set_cell_size(text, width - 1)
    whole = kept if text[len(kept) :].startswith(" ") else kept.rpartition(" ")[0]
    return (whole if 3 * cell_len(whole) >= 2 * width else kept).rstrip(" ,;:(") + "…"


def middle(text: str, width: int) -> str:
    """Both ends of a name that is too long: names differ there."""
    if cell_len(text) <= width:
        return text
    half = (width - 1) // 2
    end = text[-half:]
    while cell_len(end) > half:
        end = end[1:]
    return set_cell_size(text, width - 1 - cell_len(end)) + "…" + end


def apart(names: Sequence[str], room: int) -> list[str]:
    """Names in so much room: both ends of each; where that makes some alike, what differs between them."""
    parts = [name.split(BETWEEN) for name in names]
    if len({*map(len, parts)}) > 1:
        parts = [[name] for name in names]
    without = list(zip(*map(_without_common, zip(*parts, strict=True)), strict=True))
    each = (room - (len(parts[0]) - 1) * cell_len(BETWEEN)) // len(parts[0]) if parts else 0
    tried = [
        [middle(name, room) for name in names],
        [middle(BETWEEN.join(own), room) for own in without],
        [BETWEEN.join(middle(part, max(1, each)) for part in own) for own in without],
    ]
    fit = [short for short in tried if max(map(cell_len, short), default=0) <= room]
    return max(fit, key=lambda short: len({*short}), default=tried[0])


def are_apart(short: Sequence[str], names: Sequence[str]) -> bool:
    return len({*short}) == len({*names})


def _without_common(names: Sequence[str]) -> list[str]:
    """Without the words that all of them begin and end with."""
    if len({*names}) == 1:
        return list(names)
    lead = _common(names)
    tail = _common([name[len(lead) :][::-1] for name in names])[::-1]
    kept = re.sub(r"^.*[^\w](?=\w+\W*$)", "…", lead)
    end = re.sub(r"\W.+$", "…", tail)
    return [kept + name[len(lead) : len(name) - len(tail)] + end for name in names]


def _common(names: Sequence[str]) -> str:
    """The letters that all of them begin with."""
    alike = takewhile(lambda letters: len({*letters}) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in alike)


def shortened(names: Sequence[str], room: int) -> list[str]:
    """Each in so much room, or in as much as tells them apart."""
    while not are_apart(short := apart(names, room), names):
        room += 1
    return short


def under(
    word: str, texts: Sequence[Text], width: int, most: int, indent: int = 0, style: str = ""
) -> Iterator[Line]:
    """A word, and next to it sentences on `most` lines."""
    first = f"{word}  " if word else " " * indent
    if cell_len(first) > width * 2 // 5 and word:
        yield ((cut(word, width), style or COLOURS.get(word, "bold")),)
        first, word = "  ", ""
    text = plain(" ".join(text_of(texts_) for texts_ in texts)).replace("`", "")
    for i, line in enumerate(lines_of(text, width - cell_len(first), most)):
        if word and not i:
            yield ((word, style or COLOURS.get(word, "bold")), (f"  {line}", ""))
        else:
            yield ((" " * cell_len(first) + line, ""),)


def lines_of(text: str, width: int, most: int) -> list[str]:
    lines = [plain(line.replace(NARROW_SPACE, " ")) for line in wrapped(tied(text), width)]
    return lines if len(lines) <= most else [*lines[: most - 1], cut(" ".join(lines[most - 1 :]), width)]


def copied(words: str, what: str, width: int) -> Iterator[Line]:
    """What is copied is whole: on lines of its own where it is long."""
    if cell_len(f"{words}: {what}") <= width:
        yield ((f"{words}: ", ""), (what, COPIED))
        return
    yield ((cut(f"{words}:", width), ""),)
    yield ((what, COPIED),)


def causes_title(samples: int) -> str:
    if samples == 1:
        return text_of(Caption("Why it was late (share of its time)"))
    return text_of(Caption("Why late (the {count} worst, share of their time)", count=samples))


def unexplained_lines(why: Reasons, width: int) -> Iterator[Line]:
    """Why there is no cause, and the command that finds some."""
    yield from under(_("Why it was late"), [why.missing], width, 3, style="bold")
    if why.command:
        yield ((why.command, COPIED),)


def short_lines(why: Reasons, command: str, width: int) -> Iterator[Line]:
    """The largest cause alone, with the command that shows them all."""
    for reason in why.reasons[:1]:
        name = cut(f"{percent(reason.share)} {text_of(reason.name)}", width - cell_len(command) - 2)
        yield ((plain(f"{name}; "), "bold"), (command, COPIED))


def _where(reasons: Sequence[ScreenReason], width: int) -> int:
    return min(max((cell_len(reason.row) for reason in reasons), default=0), width // 4)


def cause_lines(samples: int, reasons: Sequence[ScreenReason], most: int, width: int) -> Iterator[Line]:
    """The title, and over the column of the most in one sample what it is, where there is room; the causes with most
    time, and what the others take."""
    *first, title = lines_of(causes_title(samples), width, 2)
    yield from (((line, "bold"),) for line in first)
    shown = reasons[: most + (len(reasons) == most + 1)]
    what, where = _("the most in one"), _where(shown, width)
    room = width - 2 - where - cell_len(title)
    heading = [] if room < cell_len(what) + 2 else [(right(what, room), FAINT)]
    yield ((title, "bold"), *heading)
    yield from _reason_lines(shown, width)
    if rest := reasons[len(shown) :]:
        share = right(percent(sum(each.share for each in rest)), 6)
        yield ((f"{share}  {more_rows_text(len(rest))}", ""),)


def _reason_lines(reasons: Sequence[ScreenReason], width: int) -> Iterator[Line]:
    """Kinds of causes with their share, and the most in one sample; tasks that have no room are left out."""
    where = _where(reasons, width)
    for reason, row in zip(reasons, apart([reason.row for reason in reasons], where), strict=True):
        share, worst = right(percent(reason.share), 6), right(time_text(reason.worst_ns, space=" "), 9)
        room = width - 8 - 10 - 2 - where
        name = text_of(reason.name)
        named = (f"{name} ({text_of(text)})" for text in reason.brackets)
        name = set_cell_size(cut(next((n for n in named if cell_len(n) <= room), name), room), room)
        yield ((f"{share}  {name} {plain(worst)}  {row}", ""),)


def advice_lines(advice: Sequence[ScreenAdvice], width: int) -> Iterator[Line]:
    word = _("Try")
    for number, each in enumerate(advice, 1):
        first = f"{word if number == 1 else ' ' * cell_len(word)} {number}  "
        text = each.text.replace("`", "")
        room = width - cell_len(first) - cell_len(each.amount) - 2
        if room < min(LEAST_ADVICE, cell_len(text)):
            yield ((cut(f"{first}{text}", width), ""),)
        else:
            yield ((f"{first}{set_cell_size(cut(text, room), room)}  {each.amount}", ""),)


def note_lines(notes: Sequence[str], width: int) -> Iterator[Line]:
    """What must be known before a number is used; short ones share a line."""
    word = _("Trust")
    first = f"{word}: "
    room = width - cell_len(first)
    together = joined(notes, room)
    told = [lines_of(plain(note), room, MOST_OF_NOTE) for note in together]
    if sum(map(len, told)) > MOST_OF_NOTES:
        told = [lines_of(plain(note), room, 1 if width == COLUMNS else 2) for note in together]
    for line in (line for lines in told for line in lines):
        yield ((first + line, ""),)
        first = " " * cell_len(first)


def joined(notes: Sequence[str], width: int) -> list[str]:
    """Notes in their order, with neighbours on one line where both fit."""
    lines: list[str] = []
    for note in notes:
        if lines and cell_len(both := f"{lines[-1]}; {note}") <= width:
            lines[-1] = both
        else:
            lines.append(note)
    return lines
