"""A topic of the comparison: one column of one test in one part of the study, whose blocks statements are about."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from howlate.compare.compare import Block, Comparison
from howlate.sides.sides import SideRow
from howlate.statistics import phrases
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed, Statement

MOST_SAID = 6
"""Loads or pairs that one statement, or one list, tells apart."""


class Topic(Struct, frozen=True, dict=True):
    """The blocks of one column of one test."""

    blocks: tuple[Block, ...]
    sides: tuple[str, ...]
    virtual: bool
    preemption: tuple[str, ...]
    is_published: bool = False
    """Whether a study's document stands beside it."""

    @property
    def column(self) -> str:
        return self.blocks[0].column

    def rows(self, side: int) -> list[tuple[Block, SideRow]]:
        """The side's rows with a valid repetition."""
        rows = [(block, block.row(side)) for block in self.blocks]
        return [(block, row) for block, row in rows if row is not None and row.once]

    @cached_property
    def varying(self) -> tuple[str, ...]:
        names = dict.fromkeys(name for block in self.blocks for name in block.labels)
        return tuple(name for name in names if len({block.labels.get(name) for block in self.blocks}) > 1)

    def where(self, block: Block, without: Sequence[str] = ()) -> Statement | None:
        """The block among the others: "under cpu:50 at a period of 1ms"; None where there is one alone."""
        labels = tuple(
            phrases.label_phrase(name, block.labels[name])
            for name in self.varying
            if name not in without and name in block.labels
        )
        return phrases.PLACE(labels=labels) if labels else None

    @property
    def repetitions(self) -> Caption:
        return phrases.SEEDS if self.virtual else phrases.REPETITIONS

    def counted(self, count: int) -> Statement:
        """ "8 seeds"."""
        return (phrases.SO_MANY_SEEDS if self.virtual else phrases.SO_MANY_REPETITIONS)(count=count)

    @property
    def heading(self) -> Text:
        """The column, with part and test where that helps."""
        part, test = self.blocks[0].labels.get("part", ""), self.blocks[0].test
        what: Text = phrases.column_heading(self.column)
        if test != "cyclic":
            what = Caption("{what}, test {test}", what=what, test=test)
        return Listed((part, what), ": ")


def _is_published(comparison: Comparison) -> bool:
    return bool(comparison.documents) and all(run.study.reference for run in comparison.joined.runs)


def topics_of(comparison: Comparison) -> list[Topic]:
    """The topics that have blocks: one for each part of the study, test and column."""
    groups: dict[tuple[str, str, str], list[Block]] = {}
    for block in comparison.blocks:
        groups.setdefault((block.labels.get("part", ""), block.test, block.column), []).append(block)
    models = tuple(side.preemption for side in comparison.joined.sides)
    return [
        Topic(tuple(blocks), comparison.sides, comparison.joined.virtual, models, _is_published(comparison))
        for blocks in groups.values()
    ]
