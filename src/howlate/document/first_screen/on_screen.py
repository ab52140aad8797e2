"""What rooms say on the first screen (screen.py), as values: `ruled` and `reasons` in their hooks.py."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from howlate.words.quantities import percent
from howlate.words.say import Text, text_of
from howlate.words.statement import Caption, Listed


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
    command: str = ""
    """One that may decide it."""


class ScreenAdvice(Struct, frozen=True):
    text: str
    share: float
    """Of the time that the samples were late, what it could buy at most."""
    buys: Text = ""
    """What it bought, where that was measured, or what is not known of it; else it saves up to the share."""
    kernel: str = ""
    """The label of the lab's kernel that it is to boot."""

    @property
    def amount(self) -> str:
        return text_of(self.buys or Caption("saves up to {share}", share=percent(self.share)))


class ScreenReason(Struct, frozen=True):
    """One kind of cause of late samples."""

    name: Text
    share: float
    """Its share of all the time that the samples were late."""
    worst_ns: int
    row: str
    """In which it was the worst."""
    task: str = ""
    """The task, interrupt or the like that has more than half of its time; "" where none has."""
    owner: str = ""
    """The one that the worst is of."""
    tasks: int = 1
    """How many there are of them."""
    are_tasks: bool = True
    advice: ScreenAdvice | None = None
    """The thing to do that takes away the most of it; None where nothing is known."""
    command: str = ""
    """One that does it; "" where there is none."""
    cell: str = ""
    """The id of the cell in which it was the worst."""
    checks: frozenset[str] = frozenset()
    """The doctor's that look at it."""
    rank: int = 1
    """Of that sample in its cell, the worst first."""

    @property
    def brackets(self) -> tuple[Text, ...]:
        """What may stand in brackets behind the name, as there is room, the longest first: a task is only named with
        the owner of the worst."""
        if self.tasks < 2:
            return (self.task,) if self.task else ()
        of_tasks, of_others = (
            Caption("{count} tasks", count=self.tasks),
            Caption("{count} sources", count=self.tasks),
        )
        count = of_tasks if self.are_tasks else of_others
        if not self.owner:
            return (count,)
        mostly = Caption("most time: {task}", task=self.task) if self.task else count
        if self.owner == self.task:
            return mostly, count
        most = Caption("worst: {task}", task=self.owner)
        return Listed((mostly, most)), Listed((count, most)), count

    def look(self, folder: str) -> str:
        """The command that shows its cell's samples down to the worst one with it; none without a folder."""
        return folder and f"howlate why --all {folder} {self.cell} --worst {self.rank}"


class Reasons(Struct, frozen=True):
    samples: int
    """The number of samples explained: the worst."""
    reasons: tuple[ScreenReason, ...] = ()
    """Largest share first."""
    advice: tuple[ScreenAdvice, ...] = ()
    notes: tuple[ScreenNote, ...] = ()
    missing: Text = ""
    """Without reasons: why there are none."""
    command: str = ""
    """Without reasons: the one that finds them, behind `missing`."""
