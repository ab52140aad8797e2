"""The rows of the first screen as lines, of a run and of one that is being measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Protocol

from msgspec import Struct
from rich.cells import cell_len, set_cell_size

from howlate.document.first_screen.lines import FAINT, Line, apart, are_apart, cut, right
from howlate.document.first_screen.table import LETTERS, legend_lines, mark_of
from howlate.document.sheet import NOTHING
from howlate.figures.strip import BLOCKS, LARGEST, StripAxis, plain, strip
from howlate.figures.strip import LETTERS as LETTER_BLOCKS
from howlate.model.bins import Histogram
from howlate.statistics.labels import axes_that_vary, heading
from howlate.words.language import _
from howlate.words.quantities import given_text, time_text
from howlate.words.say import count_text, text_of
from howlate.words.statement import Caption

LEAST_STRIP, LEAST_NAME = 8, 6
STRIPS = {"in time": "", "late": "red", "deadline": "bold", "max": "bold"}


class StripRow(Protocol):
    """What a line is drawn of."""

    @property
    def name(self) -> str: ...
    @property
    def labels(self) -> Mapping[str, str]: ...
    @property
    def letter(self) -> str: ...
    @property
    def histograms(self) -> tuple[Histogram, ...]: ...
    @property
    def low_ns(self) -> int | None: ...
    @property
    def max_ns(self) -> int | None: ...
    @property
    def later(self) -> int | None: ...
    @property
    def at_least(self) -> bool: ...
    @property
    def is_skipped(self) -> bool:
        """All of them are releases that were never served: the largest value is of those that were."""

    @property
    def is_counted(self) -> bool: ...


class StripRows(Protocol):
    """Those that share an axis."""

    @property
    def rows(self) -> Sequence[StripRow]: ...
    @property
    def deadline_ns(self) -> int: ...
    @property
    def step_ns(self) -> int: ...


def later_text(row: StripRow) -> str:
    if row.later is None:
        return NOTHING
    count = f"{'≥' if row.at_least else ''}{count_text(row.later)}"
    return text_of(Caption("{count} skipped", count=count)) if row.is_skipped else count


class DrawnRows(Struct, frozen=True, dict=True):
    """The rows as lines: letter, name, strip, max, how many later."""

    width: int
    letters: bool
    content: StripRows

    @cached_property
    def mark(self) -> int:
        return mark_of([row.letter for row in self.content.rows])

    @cached_property
    def names(self) -> int:
        names = [row.name for row in self.content.rows]
        longest = max(map(cell_len, names), default=0)
        most = min(self.width // 2, self.width - self.mark - 1 - self.figures - LEAST_STRIP)
        room = max(LEAST_NAME, min(self.width // 4, most))
        while room < most and not are_apart(apart(names, room), names):
            room += 1
        return min(longest, room)

    @cached_property
    def strip(self) -> int:
        """The width of the strip; 0 where there is no room for one."""
        room = self.width - self.mark - self.names - 1 - self.figures
        return room if room >= LEAST_STRIP else 0

    @cached_property
    def figures(self) -> int:
        """The width of both columns of figures."""
        return 9 + (2 + self.later if self.later else 0)

    @cached_property
    def later(self) -> int:
        """The width of the last column; 0 where it is not there."""
        texts = [later_text(row) for row in self.content.rows if row.later is not None]
        return max(map(cell_len, [self.heading, *texts])) if texts else 0

    @cached_property
    def heading(self) -> str:
        return f"> {given_text(self.content.step_ns)}" if self.content.step_ns else _("misses")

    def lines(self) -> tuple[list[Line], list[Line]]:
        """The axis, and a line for each row."""
        if not self.content.rows:
            return [], []
        rows = self.content.rows
        values = [ns for row in rows for ns in (row.low_ns, row.max_ns) if ns is not None]
        axis = StripAxis.around(values, self.strip, self.content.deadline_ns)
        figures = right(" ".join((LARGEST, _("max"))), 9)
        figures += f"  {right(self.heading, self.later)}" if self.later else ""
        axes = axes_that_vary([row.labels for row in rows])
        named = heading(axes[0]) if len(axes) == 1 and len(rows) > 1 else ""
        lead = " " * self.mark + set_cell_size(cut(named, self.names + 1), self.names + 1)
        head: Line = ((f"{lead}{set_cell_size(axis.ticks(), axis.width)}{figures}", FAINT),)
        names = apart([row.name for row in rows], self.names)
        return [head], [self._line(row, name, axis) for row, name in zip(rows, names, strict=True)]

    def legend(self) -> list[Line]:
        """What the signs mean; the largest's stands in the heading."""
        signs = LETTER_BLOCKS if self.letters else BLOCKS
        deadline = "|" if self.letters else "│"
        glyphs = {signs[0]: "1", signs[-1]: _("most")} if any(r.histograms for r in self.content.rows) else {}
        marked = {deadline: _("deadline")} if self.content.deadline_ns else {}
        return legend_lines(
            [row.letter for row in self.content.rows], {**marked, **glyphs} if self.strip else {}, self.width
        )

    def _line(self, row: StripRow, name: str, axis: StripAxis) -> Line:
        largest = NOTHING if row.max_ns is None else time_text(row.max_ns, space=" ")
        figures = right(plain(largest), 9)
        if self.later:
            figures += "  " + right(later_text(row), self.later)
        return (
            *([(row.letter.ljust(self.mark), LETTERS.get(row.letter[0], ""))] if self.mark else []),
            (f"{set_cell_size(name, self.names)} ", ""),
            *(
                (text, STRIPS[kind])
                for text, kind in strip(axis, row.histograms, row.max_ns, letters=self.letters)
            ),
            (figures, "" if row.is_counted else FAINT),
        )
