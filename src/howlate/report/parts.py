"""What sentences are made of: the blocks of one column of one test, with the words for places and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from howlate.charts._words import time_text, words_of_column
from howlate.language import _, ngettext
from howlate.model.columns import LATENCY, RESPONSE, things
from howlate.report.compare import Block, Comparison
from howlate.report.join import TEST
from howlate.stats.sides import Row

MOST_SAID = 6
"""So many loads or pairs one sentence, or one list, tells apart."""


@dataclass(frozen=True)
class Said:
    """A sentence and the rule that made it."""

    rule: str
    text: str


@dataclass(frozen=True)
class Part:
    """The blocks of one column of one test: sentences are about them together."""

    blocks: tuple[Block, ...]
    sides: tuple[str, ...]
    virtual: bool
    preemption: tuple[str, ...]
    """Of each side."""

    @property
    def column(self) -> str:
        return self.blocks[0].column

    @property
    def values(self) -> str:
        """What its values are: "wake-ups"."""
        return things(self.column)

    @property
    def are_wake_ups(self) -> bool:
        return self.column in (LATENCY, RESPONSE)

    def rows(self, side: int) -> list[tuple[Block, Row]]:
        """Where the side has a valid repetition."""
        found = [(block, block.row(side)) for block in self.blocks]
        return [(block, row) for block, row in found if row is not None and row.once]

    def varies(self, name: str) -> bool:
        """Whether the blocks differ in this label."""
        return len({block.labels.get(name) for block in self.blocks}) > 1

    def where(self, block: Block, without: Sequence[str] = ()) -> str:
        """The block among the others: "under cpu:50 at a period of 1ms"; "" where there is one alone."""
        names = dict.fromkeys(name for b in self.blocks for name in b.labels)
        vary = [name for name in names if self.varies(name) and name not in without]
        said = [label_words(name, block.labels[name]) for name in vary if name in block.labels]
        return " ".join(said)

    def repetitions(self, count: int = 2) -> str:
        if self.virtual:
            return ngettext("seed", "seeds", count)
        return ngettext("repetition", "repetitions", count)


def parts_of(found: Comparison) -> list[Part]:
    """A part of the study, test and column each, where it has blocks."""
    groups: dict[tuple[str, str, str], list[Block]] = {}
    for block in found.blocks:
        groups.setdefault((block.labels.get("part", ""), block.test, block.column), []).append(block)
    models = tuple(side.preemption for side in found.joined.sides)
    return [Part(tuple(blocks), found.sides, found.joined.virtual, models) for blocks in groups.values()]


def title_of(part: Part) -> str:
    """What the sentences below are about: "Wake-up latency", with part and test where that helps."""
    name = part.blocks[0].labels.get("part", "")
    words = words_of_column(part.column) if part.column else _("what the load's own runs took")
    head = words[:1].upper() + words[1:] if part.column in (LATENCY, RESPONSE) else words
    test = "" if part.blocks[0].test == "cyclic" else _(", test {test}").format(test=part.blocks[0].test)
    return f"{f'{name}: ' if name else ''}{head}{test}"


def time_of(ns: float) -> str:
    return time_text(ns, space=" ")


def under(load: str) -> str:
    return (
        _("without load")
        if load == "none"
        else _("under {load}").format(load=load)
        if load
        else _("over all")
    )


def label_words(name: str, text: str) -> str:
    if name == "load":
        return under(text)
    if name == "period":
        return _("at a period of {text}").format(text=text)
    if name == TEST:
        return _("in the test {text}").format(text=text)
    return _("with {name} {text}").format(name=name, text=text)
