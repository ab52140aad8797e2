"""A table of a screen: one line a row. Where it is too wide, the least important columns go; it is never cut into
blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from rich.cells import cell_len, set_cell_size

from howlate.document.first_screen.lines import FAINT, Line, apart, are_apart, cut, right
from howlate.document.sheet import NOTHING
from howlate.figures.strip import plain
from howlate.words.language import N_, _

LEAST_NAME = 6
GAP = "  "
LETTERS = {"F": "bold red", "P": "bold green", "?": "bold yellow", "!": "bold yellow"}
MEANINGS = {"F": "FAIL", "P": "PASS", "?": "INCONCLUSIVE", "!": N_("invalid")}


class ScreenColumn(Struct, frozen=True):
    heading: str
    texts: Sequence[str]
    rank: int = 0
    """Of those that may go, the largest goes first; 0: it stays."""
    words: bool = False
    """From the left; numbers are from the right."""
    styles: Sequence[str] = ()
    """Of each text, if any."""

    @property
    def width(self) -> int:
        return max(map(cell_len, (self.heading, *self.texts)), default=0)

    @property
    def has_some(self) -> bool:
        return any(text not in ("", NOTHING, "-") for text in self.texts)

    def cell(self, text: str) -> str:
        return set_cell_size(text, self.width) if self.words else right(text, self.width)


def mark_of(letters: Sequence[str]) -> int:
    """The width of the letters before rows."""
    longest = max((len(letter.strip()) for letter in letters), default=0)
    return longest and longest + 1


def legend_lines(letters: Sequence[str], signs: Mapping[str, str], width: int) -> list[Line]:
    """What letters before rows, and signs, mean: those that occur."""
    meant = {sign: _(meaning) for sign, meaning in MEANINGS.items() if sign in "".join(letters)} | dict(signs)
    lines = [""]
    for sign, meaning in meant.items():
        text = f"{sign} {meaning}"
        if lines[-1] and cell_len(f"{lines[-1]}{GAP}{text}") > width - 2:
            lines.append("")
        lines[-1] += f"{GAP if lines[-1] else ''}{text}"
    return [((f"  {cut(line, width - 2)}", FAINT),) for line in lines if line]


class ScreenTable(Struct, frozen=True):
    """Rows have names, and before them letters such as F and P, if any."""

    heading: str
    names: Sequence[str]
    columns: Sequence[ScreenColumn]
    letters: Sequence[str] = ()

    def legend(self, width: int) -> list[Line]:
        return legend_lines(self.letters, {}, width)

    def lines(self, width: int) -> tuple[Line, list[Line]]:
        """The headings, and a line for each row."""
        mark = mark_of(self.letters)
        longest = max(map(cell_len, (self.heading, *self.names)), default=0) if any(self.names) else 0
        least = max(LEAST_NAME, width // 4)
        while least < min(longest, width // 2) and not are_apart(apart(self.names, least), self.names):
            least += 1
        least = min(longest, least)
        shown = [_plain(column) for column in self.columns if column.has_some]
        while any(column.rank for column in shown) and mark + least + _width(shown) > width:
            shown.remove(max(shown, key=lambda column: column.rank))
        room = max(1, min(longest, width - mark - _width(shown)))
        lead = " " * mark + (set_cell_size(cut(self.heading, room), room) if longest else "")
        between = GAP if longest else ""
        head = f"{lead}{between}{GAP.join(column.cell(column.heading) for column in shown)}"
        rows: list[Line] = []
        for place, name in enumerate(apart(self.names, room)):
            letter = (self.letters[place] if mark else "").ljust(mark)
            named = set_cell_size(name, room) + between if longest else ""
            line = [*([(letter, LETTERS.get(letter[0], ""))] if mark else []), (named, "")]
            for column in shown:
                gap = GAP if column is not shown[-1] else ""
                text = column.texts[place] if column.words and not gap else column.cell(column.texts[place])
                line.append((text + gap, column.styles[place] if column.styles else ""))
            while len(line) > 1 and not line[-1][0].strip():
                line.pop()
            rows.append((*line[:-1], (line[-1][0].rstrip(), line[-1][1])))
        return ((head.rstrip(), FAINT),), rows


def _plain(column: ScreenColumn) -> ScreenColumn:
    """The column in the letters of a terminal, so that widths are right."""
    texts = [plain(text) for text in column.texts]
    return ScreenColumn(plain(column.heading), texts, column.rank, column.words, column.styles)


def _width(columns: Sequence[ScreenColumn]) -> int:
    return sum(len(GAP) + column.width for column in columns)
