"""The verdicts of a run: a row each. What a row rests on is put together here, from summaries alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.loaded import RunContent
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.model.summary import CellSummary
from howlate.sides.gravity import gravity_ns
from howlate.statistics.groups import Group, RowKey, groups_of
from howlate.statistics.labels import row_names
from howlate.verdict.evidence import UNLIKE_DEADLINES, Evidence, at_deadline, evidence_of, views_of
from howlate.verdict.ruling import Question, Verdict, severity
from howlate.verdict.verdict import verdict
from howlate.words.statement import Statement, message

UNTIL_DECIDED = message(
    "run.until-decided",
    "Measured until the verdict was decided, for {at_most_s:seconds} at most: a tolerated rate of "
    "{miss_rate:number}, a horizon of {horizon_s:seconds}, {confidence:level} confidence. It was judged after "
    "each round; the bounds of its rate hold for all these judgements together.",
)
UNTIL_CLUSTER = message(
    "run.until-cluster",
    "Its bounds hold if at most {cluster:number} misses come together (--cluster).",
)
ROUNDS_APART = message(
    "run.rounds-apart",
    "Measured in rounds that began {every_s:seconds} apart. Each round counts as one unit.",
)
LAB = "lab"
"""The target that boots its machine for each repetition."""
NOT_ALL = message(
    "verdict.not-all",
    "{missing:count} of its {planned:count} repetition was not measured.",
    "{missing:count} of its {planned:count} repetitions were not measured.",
    by="planned",
)


class Judged(Struct, frozen=True):
    """One row: the cells of a point, and the verdict on them."""

    point: str
    cells: tuple[str, ...]
    labels: Mapping[str, str]
    verdict: Verdict
    """On the column that is worst."""
    others: tuple[Verdict, ...] = ()
    """On the other columns that answer "how late"."""


def stated(content: RunContent) -> list[Judged]:
    """The verdicts on the deadlines that were stated when the run was measured; rows without one are left out."""
    views = [view for summary in content.summaries for view in views_of(summary)]
    return on_own_deadlines(content, views, question_of(content))


def question_of(content: RunContent) -> Question:
    """What was to be decided while the run was measured; else that no release misses. Without its deadline."""
    limits: dict[str, tuple[float, ...]] = {
        "miss_rate": (0, 1),
        "horizon_s": (),
        "confidence": (0.5, 1),
        "cluster": (1,),
    }
    notes = looked_at(content.run)
    asked: dict[str, Any] = {
        name: value for note in notes for name, ends in limits.items() if (value := note.number(name, *ends))
    }
    return Question(0, **asked)


def until_decided(asked: Question, at_most_s: float) -> list[Statement]:
    """What a run notes that is measured until this is decided."""
    note = UNTIL_DECIDED(
        at_most_s=at_most_s,
        miss_rate=asked.miss_rate,
        horizon_s=asked.horizon_s or 0.0,
        confidence=asked.confidence,
    )
    return [note, *([UNTIL_CLUSTER(cluster=asked.cluster)] if asked.cluster != 1 else [])]


def looked_at(run: Run) -> list[Statement]:
    """What it notes of having been measured until a verdict was decided."""
    ids = (UNTIL_DECIDED.id, "run.until-decided-rate", UNTIL_CLUSTER.id)
    return [note for note in run.warnings if note.rule in ids]


def on_own_deadlines(
    content: RunContent, summaries: Sequence[CellSummary], question: Question
) -> list[Judged]:
    """A verdict for each row on the deadline that its cells were held against. `summaries`: the run's cells, once for
    each column that is judged, with its releases against that."""

    def of_row(group: Group) -> Question | None:
        own = deadlines_of(group.cells)
        return replace(question, deadline_ns=max(own)) if own else None

    return judged(content, summaries, of_row)


def deadlines_of(cells: Sequence[CellSummary]) -> set[int]:
    """Those that were stated, in ns; none of a row that was measured without one."""
    return {cell.deadline.deadline_ns for cell in cells if cell.deadline is not None} - {0}


def judged(
    content: RunContent, summaries: Sequence[CellSummary], question: Callable[[Group], Question | None]
) -> list[Judged]:
    """A verdict for each row that is asked about; of several columns that are judged the worst. `summaries`: the
    run's cells, once for each column that is judged, with its releases against the deadline in question. A test that
    measures no latency has no verdict."""
    by_column: dict[str, list[CellSummary]] = {}
    for summary in summaries:
        for column in summary.judged:
            by_column.setdefault(column, []).append(summary)
    groups = groups_of(content.summaries, content.run)
    names = row_names([group.labels for group in groups])
    rows: dict[RowKey, list[Judged]] = {group.key: [] for group in groups}
    named = {key: name if len(rows) > 1 else "" for key, name in zip(rows, names, strict=True)}
    rows_asked = sum(
        question(group) is not None for cells in by_column.values() for group in groups_of(cells, content.run)
    )

    def with_rows(group: Group) -> Question | None:
        asked = question(group)
        return asked and replace(asked, rows=rows_asked)

    for cells in by_column.values():
        for key, row in _of_column(content, cells, with_rows, named):
            rows[key].append(row)
    return [_worst_column(of_row) for of_row in rows.values() if of_row]


def _worst_column(rows: Sequence[Judged]) -> Judged:
    """The column with the worst verdict; of several such the one that was latest."""
    worst, *others = sorted(
        rows,
        key=lambda row: (
            -severity(row.verdict.outcome),
            -(row.verdict.evidence.max_ns or 0),
            row.verdict.evidence.column,
        ),
    )
    if not others:
        return worst
    evidence = replace(worst.verdict.evidence, of_several=True)
    rest = tuple(
        replace(row.verdict, evidence=replace(row.verdict.evidence, of_several=True)) for row in others
    )
    return replace(worst, verdict=replace(worst.verdict, evidence=evidence), others=rest)


def _of_column(
    content: RunContent,
    summaries: Sequence[CellSummary],
    question: Callable[[Group], Question | None],
    names: Mapping[RowKey, str],
) -> list[tuple[RowKey, Judged]]:
    run = content.run
    groups = groups_of(summaries, run)
    seconds = {cell.summary.id: cell.looked_s for cell in content.cells}
    planned = _planned(run.plan.cells)
    looked = bool(looked_at(run))
    note_cluster = max((note.number("cluster", 1) or 1.0 for note in looked_at(run)), default=1.0)
    apart = any(note.rule == ROUNDS_APART.id for note in run.warnings)
    rows = []
    for group in groups:
        asked = question(group)
        if asked is None:
            continue
        asked = replace(asked, cluster=max(asked.cluster, note_cluster))
        deadlines = {
            cell.id: at_deadline(cell, asked.deadline_ns, cell.deadline.releases)
            for cell in group.cells
            if cell.deadline is not None
        }
        evidence = evidence_of(
            group, deadlines, seconds, names[group.key], virtual=run.virtual, boots=run.target == LAB
        )
        evidence = replace(evidence, until_decided=looked, apart=apart, gravity_ns=gravity_ns(group.cells))
        evidence = replace(evidence, failed_checks=(*_unlike(group), *evidence.failed_checks))
        evidence = _with_missing(evidence, len(group.cells), planned.get(group.point, 0))
        ids = tuple(cell.id for cell in group.cells)
        row = Judged(group.point, ids, group.labels, verdict(evidence, asked))
        rows.append((group.key, row))
    return rows


def _unlike(group: Group) -> tuple[Statement, ...]:
    """No verdict is about all of a row whose repetitions have deadlines of their own."""
    own = deadlines_of(group.cells)
    return (UNLIKE_DEADLINES(least_ns=min(own), most_ns=max(own)),) if len(own) > 1 else ()


def _planned(cells: Sequence[Cell]) -> dict[str, int]:
    planned: dict[str, int] = {}
    for cell in cells:
        planned[cell.point] = planned.get(cell.point, 0) + (not cell.impossible)
    return planned


def _with_missing(evidence: Evidence, measured: int, planned: int) -> Evidence:
    """A repetition that was not measured may be the one that failed."""
    if measured >= planned:
        return evidence
    missing: Statement = NOT_ALL(missing=planned - measured, planned=planned)
    return replace(evidence, failed_checks=(*evidence.failed_checks, missing))
