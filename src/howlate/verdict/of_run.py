"""The verdicts on a run's rows, and what is known against their samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from howlate.document.report_input import explained
from howlate.errors import DamagedError, UsageError
from howlate.model.loaded import RunContent
from howlate.model.run import Run
from howlate.model.summary import CellSummary, JudgedColumn
from howlate.rooms import hooks
from howlate.statistics.labels import numbered, varying
from howlate.statistics.ladder import ladder_of
from howlate.store.continued import go_on_with
from howlate.store.loaded import load_run
from howlate.store.run_folder import RunFolder
from howlate.store.summarise import peaks_of, recounted
from howlate.verdict.document import opening
from howlate.verdict.evidence import misses_without_samples
from howlate.verdict.extrapolate import pooled
from howlate.verdict.judge import Judged, on_own_deadlines
from howlate.verdict.ruling import Question
from howlate.verdict.verdict import with_extrapolation
from howlate.verdict.verdict_json import verdict_json
from howlate.verdict.whole import outcome_of, ruling_of
from howlate.words.say import english, statement_of, to_json
from howlate.words.statement import Statement


def verdicts_of(
    run: Path, content: RunContent, question: Question, *, extrapolate: bool = False
) -> list[Judged]:
    """A verdict for each row of the run; a question without a deadline takes each row's own."""
    if not content.summaries:
        raise (DamagedError if content.gone else UsageError)(
            statement_of(
                "no cell of {run} is whole, so there is nothing to judge",
                remedy="go on with {command}",
                run=run,
                command=go_on_with(content.run, run),
            )
        )
    summaries = against(run, content, question.deadline_ns)
    if not any(summary.judged for summary in content.summaries):
        raise UsageError(_nothing_late(run, content))
    gaps = {each.test for each in content.summaries if each.judged and each.waits_for_gaps}
    if question.miss_rate and gaps:
        raise UsageError(
            "a miss rate is a share of releases, but {tests:items} waits for gaps",
            remedy="leave out --miss-rate: then no gap may be longer than the deadline",
            tests=sorted(gaps),
        )
    rows = on_own_deadlines(content, summaries, question)
    if not rows:
        raise UsageError(_no_deadline(run, content))
    return [_beyond(run, content, row) for row in rows] if extrapolate else rows


def _no_deadline(run: Path, content: RunContent) -> Statement:
    ladder = ladder_of(content)
    return (
        statement_of("{run} was measured without a deadline", remedy="give one: --deadline 200us", run=run)
        if ladder is None
        else statement_of(
            "{run} was measured without a deadline. {seen}",
            remedy="give one: --deadline 200us",
            run=run,
            seen=ladder.statement(),
        )
    )


def _nothing_late(run: Path, content: RunContent) -> Statement:
    return statement_of(
        "{run} has no column that is known to be a latency: {tests:items}",
        remedy="see what was measured: `howlate show {run:shell}`; measure a run of an older howlate again",
        run=run,
        tests=sorted({summary.test for summary in content.summaries}),
    )


def _beyond(run: Path, content: RunContent, row: Judged) -> Judged:
    """The verdict with what a model says beyond the samples, which are read for it where they may be of use."""
    evidence, folder = row.verdict.evidence, RunFolder(run)
    of_use = not evidence.virtual and not evidence.failed_checks
    cells = [summary for summary in content.summaries if of_use and summary.id in row.cells]
    peaks = pooled([peaks_of(folder.files(summary.id), summary, evidence.column) for summary in cells])
    return replace(row, verdict=with_extrapolation(row.verdict, peaks))


def against(run: Path, content: RunContent, deadline_ns: int) -> list[CellSummary]:
    """The cells, once for each column that is judged, with their releases against this deadline (0: the one that was
    stated). Samples are read only where the summary does not say it."""
    folder = RunFolder(run)
    summaries = []
    for whole in content.summaries:
        wanted_ns = deadline_ns or (whole.deadline.deadline_ns if whole.deadline is not None else 0)
        for column in whole.judged:
            summary = whole.of_column(column)
            if not wanted_ns:
                summaries.append(summary)
                continue
            counted = misses_without_samples(summary, wanted_ns)
            if counted is not None and counted.misses and counted.squares is None:
                counted = None  # an older howlate did not say how large the clusters are
            if counted is not None and (summary.tail is not None or not summary.known.time_order):
                summary = replace(summary, deadline=counted)
            else:
                summary = recounted(folder.files(summary.id), summary, wanted_ns)
            summaries.append(summary)
    return summaries


def on_deadline(run: Path, content: RunContent, deadline_ns: int) -> RunContent:
    counted: dict[str, dict[str, CellSummary]] = {}
    for view in against(run, content, deadline_ns):
        counted.setdefault(view.id, {})[view.judged[0]] = view
    cells = [
        replace(cell, summary=_counted(cell.summary, counted[cell.summary.id]))
        if cell.summary.id in counted
        else cell
        for cell in content.cells
    ]
    return replace(content, cells=tuple(cells))


def _counted(summary: CellSummary, views: dict[str, CellSummary]) -> CellSummary:
    latest = views.get(summary.latest) or next(iter(views.values()))
    each = {name: JudgedColumn(view.deadline, view.tail, view.ladder) for name, view in views.items()}
    return replace(summary, deadline=latest.deadline, by_column=each if len(each) > 1 else {})


def case_names(run: Run, rows: Sequence[Judged]) -> list[str]:
    """The name of each row's test case: its values of the study's axes, and of what else varies in the plan. It does
    not depend on which rows could be measured, so a later run of the study gives a row the same name."""
    axes = dict.fromkeys([*run.axes, *varying([cell.labels for cell in run.plan.cells])])
    values = [[row.labels[axis] for axis in axes if row.labels.get(axis)] for row in rows]
    return numbered([" · ".join(each) or run.study.id for each in values])


def doubts_of(run: Path, content: RunContent, rows: Sequence[Judged]) -> Sequence[Statement]:
    """What is known against the samples of these rows; the traces are read only where there are some."""
    if not any(cell.parameters.get("explain") for cell in content.run.plan.cells):
        return ()
    traced = load_run(run, kernels=False)
    return [doubt for doubts in hooks("doubts") for doubt in doubts(traced, rows, explained(traced))]


def json_of(
    run: Path, content: RunContent, rows: Sequence[Judged], slower: Sequence[Statement]
) -> dict[str, Any]:
    """The verdict for programs (docs/verdict.md)."""
    verdicts = [row.verdict for row in rows]
    first = (*opening(verdicts, content), *slower)
    return {
        "schema": 1,
        "run": str(run),
        "outcome": ruling_of(outcome_of(verdicts), content),
        "gone": list(content.gone),
        "unmeasured": list(content.unmeasured),
        "sentence": english(first[0]),
        "statements": [to_json(told) for told in first],
        "rows": [verdict_json(row.verdict, row.others) for row in rows],
    }
