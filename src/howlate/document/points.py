"""The points of a report whose cells are repetitions: what its charts draw of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.document.coarser import coarser
from howlate.figures.figure import Shows, Subject
from howlate.model.cause import ExplainedCase
from howlate.model.loaded import CellContent, RunContent
from howlate.model.summary import CellSummary, ColumnSummary
from howlate.statistics.bins.pool import pool
from howlate.statistics.groups import Group, groups_of, is_grouped
from howlate.statistics.labels import row_names
from howlate.words.say import Text
from howlate.words.statement import Caption


class Points(Struct, frozen=True):
    groups: tuple[Group, ...]
    names: tuple[str, ...]
    cells: Sequence[CellContent]
    """All that were grouped."""
    cases: Sequence[tuple[ExplainedCase, ...]]

    @classmethod
    def of(
        cls,
        runs: Sequence[RunContent],
        cells: Sequence[CellContent],
        labels: Sequence[Mapping[str, str]],
        cases: Sequence[tuple[ExplainedCase, ...]],
    ) -> Points | None:
        """None where the report is of cells."""
        first = runs[0].run
        groups = groups_of([c.summary for c in cells], first if len(runs) == 1 else None, labels)
        if not is_grouped(first, groups):
            return None
        names = row_names([g.labels for g in groups])
        return cls(groups, tuple(names), cells, cases)

    def subjects(self, most: int, joined: int) -> dict[Shows, Sequence[Subject]]:
        """What each kind of chart draws; of single points at most this number of pictures, the latest."""
        rows: list[tuple[Group, Text]] = [
            (group, name if group.counted else Caption("{name} (invalid)", name=name))
            for group, name in zip(self.groups, self.names, strict=True)
        ]
        by_size = sorted(rows, key=lambda row: -_largest(row[0]))[:most]
        kept = [row for row in rows if row in by_size]
        return {
            "points": [
                replace(s, label=name)
                for group, name in rows
                if (s := self._worst(group, name, 1)) is not None
            ],
            "pooled": [s for group, name in kept if (s := self._pooled(group, name)) is not None],
            "worst": [s for group, name in kept if (s := self._worst(group, name, joined)) is not None],
        }

    def _worst(self, group: Group, name: Text, joined: int) -> Subject | None:
        bins = [self.cells[place].bins for place in group.places]
        at = group.worst_at(next((held.column for held in bins if held is not None), "latency_ns"))
        if at is None:
            return None
        cell = group.cells[at]
        which = cell.id.rpartition("-")[2]
        label = (
            Caption("{name} (of {of} the one with the largest: {which})", name=name, of=group.of, which=which)
            if group.planned > 1
            else name
        )
        return Subject(label, cell, coarser(bins[at], joined), group, cases=self.cases[group.places[at]])

    def _pooled(self, group: Group, name: Text) -> Subject | None:
        behind = {cell.id for cell in group.behind}
        cells = [cell for cell in (self.cells[place] for place in group.places) if cell.summary.id in behind]
        pooled = pool([cell.bins for cell in cells if cell.bins is not None])
        if pooled is None:
            return None
        summary = together([cell.summary for cell in cells if cell.bins is not None])
        label = Caption("{name} (all {of})", name=name, of=group.of) if group.planned > 1 else name
        return Subject(label, summary, pooled, group)


def _largest(group: Group) -> int:
    return max((c.max or 0 for cell in group.cells for c in cell.columns.values()), default=0)


def together(cells: Sequence[CellSummary]) -> CellSummary:
    """A summary that holds what is true of all of them: how many, the smallest and the largest."""
    names = dict.fromkeys(name for cell in cells for name in cell.columns)
    whole = {name: _whole([c.columns[name] for c in cells if name in c.columns]) for name in names}
    return replace(cells[0], columns=whole, loads=())


def _whole(columns: Sequence[ColumnSummary]) -> ColumnSummary:
    return replace(
        columns[0],
        count=sum(c.count or 0 for c in columns),
        min=min((c.min for c in columns if c.min is not None), default=None),
        max=max((c.max for c in columns if c.max is not None), default=None),
        mean=None,
        stddev=None,
        quantiles=dict.fromkeys(columns[0].quantiles),
        intervals={},
        max_at_s=None,
    )
