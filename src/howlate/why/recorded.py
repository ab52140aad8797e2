"""Rows whose samples were made slower by recording what delays them: what their verdicts hold for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from howlate.model.run import Run
from howlate.model.units import format_duration
from howlate.verdict.judge import Judged
from howlate.why.explained_cells import OWN_SHARE, ExplainedCell
from howlate.words.statement import Statement, message

SLOWER = message(
    "verdict.recorded",
    "Recording what delays the samples took more than {most_ns:time} and {share:percent} of the median of each "
    "wake-up in: {rows:list}. A PASS of these holds without recording too; a FAIL may be due to it. To judge "
    "without it: "
    "`howlate run {study} --set explain=false{deadline}`.",
)


def slower_by_recording(
    run: Run, rows: Sequence[Judged], cells: Iterable[ExplainedCell]
) -> tuple[Statement, ...]:
    """Which of these rows; () if none. `cells`: those of the run whose samples are explained."""
    much = {cell.id: cell for cell in cells if cell.is_own_cost_much}
    slower = [row for row in rows if much.keys() & set(row.cells)]
    if not slower:
        return ()
    deadlines = {row.verdict.question.deadline_ns for row in rows}
    deadline = f" --set deadline={format_duration(deadlines.pop())}" if len(deadlines) == 1 else ""
    return (
        SLOWER(
            most_ns=max(cell.own_most_ns for cell in much.values()),
            share=OWN_SHARE,
            rows=tuple(row.verdict.evidence.name or run.study.id for row in slower),
            study=run.study.id,
            deadline=deadline,
        ),
    )
