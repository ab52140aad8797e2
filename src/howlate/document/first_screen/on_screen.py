"""What rooms say on the first screen (screen.py), as values: `ruled` and `reasons` in their hooks.py."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from howlate.words.say import Text


class ScreenNote(Struct, frozen=True):
    """What must be known before a number is used."""

    rank: int
    """The smallest first."""
    text: Text
    count: int = 1
    """The number of sentences of the whole report that it stands for."""
    rules: tuple[str, ...] = ()
    """How the rules of those sentences begin."""
    more: tuple[Text, ...] = ()
    """More of the kind, which the report's notes do not have."""


class Ruled(Struct, frozen=True):
    """The verdict on a run."""

    outcome: str
    """PASS, FAIL or INCONCLUSIVE."""
    texts: tuple[Text, ...] = ()
    """What may be promised, or why nothing may, and what to do. There may be no room for the last ones."""
    rows: Mapping[str, str] | None = None
    """The outcomes by cell and by point; None: those on the deadlines that were stated."""
    notes: tuple[ScreenNote, ...] = ()


class ScreenReason(Struct, frozen=True):
    """One kind of cause of late samples."""

    name: Text
    share: float
    """Its share of all the time that the samples were late."""
    worst_ns: int
    row: str
    """In which it was the worst."""
    task: str = ""
    remedy: str = ""
    """One thing to do about it; "" where nothing is known."""
    command: str = ""
    """One that does it; "" where there is none."""
    cell: str = ""
    """The id of the cell in which it was the worst."""
    checks: frozenset[str] = frozenset()
    """The doctor's that look at it."""
    rank: int = 1
    """Of that sample in its cell, the worst first."""

    def look(self, folder: str) -> str:
        """The command that shows its cell's samples down to the worst one with it; none without a folder."""
        return folder and f"howlate why --all {folder} {self.cell} --worst {self.rank}"


class ScreenAdvice(Struct, frozen=True):
    text: str
    share: float
    """Of the time that the samples were late, what it could buy at most."""
    buys: Text = ""
    """What it bought, where that was measured."""


class Reasons(Struct, frozen=True):
    samples: int
    """The number of samples explained: the worst."""
    reasons: tuple[ScreenReason, ...] = ()
    """Largest share first."""
    advice: tuple[ScreenAdvice, ...] = ()
    notes: tuple[ScreenNote, ...] = ()
    of_one: bool = False
    """Only the sample that ended the run by its threshold was looked at."""
    missing: Text = ""
    """Without reasons: why there are none."""
    command: str = ""
    """Without reasons: the one that finds them, behind `missing`."""
