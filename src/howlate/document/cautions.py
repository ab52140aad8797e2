"""What a reader must know before using the numbers, of runs and of rows: the same sentences on page and terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from howlate.figures.figure import things_of
from howlate.model.columns import LATENCY
from howlate.model.facts import facts_of, is_guest
from howlate.model.loaded import RunContent
from howlate.model.run import Run, policy_without_right
from howlate.model.summary import CellSummary
from howlate.statistics.groups import VIRTUAL_TIME, groups_of, kinds_of
from howlate.statistics.resolution import below_resolution
from howlate.statistics.starts import starts
from howlate.words.quantities import sentence_case
from howlate.words.say import Text, say
from howlate.words.statement import Caption, Statement, message

MOST = 100
"""Sentences before the results, at most."""

AS_PUBLISHED = message(
    "report.as-published",
    "The late policy as-published is the loop that the study printed: after a stall it never returns to the clock, "
    "so every later activation looks late. Compare its numbers with that study only.",
)
ONE_SEED = message(
    "report.one-seed",
    "One seed is one case of phase and dither, not a kernel's value: use several (--seeds, 8 by default).",
)
SCALED = message("report.scaled", "Counts were scaled by {scale:number}: this is not the whole study.")
MISSING = message(
    "report.cells-missing",
    "The cell {cells:list} is missing: {why}",
    "The cells {cells:list} are missing: {why}",
    by="count",
)
NOT_YET = message(
    "report.not-measured-yet",
    "{count} cell of the plan is not measured yet.",
    "{count} cells of the plan are not measured yet.",
    by="count",
)
STEAL = message("report.steal", "The host took {steal_ns:time} of CPU time away while it measured (steal).")
HYPERVISOR = message(
    "report.hypervisor",
    "This is a virtual machine: part of every latency is its host's doing, not this Linux's.",
)
MORE = message(
    "report.more-cautions",
    "{count} more sentence of this kind is in `howlate show --all`.",
    "{count} more sentences of this kind are in `howlate show --all`.",
    by="count",
)
NOT_RECORDED = message(
    "report.not-recorded",
    "{count:count} {things} was not recorded: the statistics of this row are incomplete.",
    "{count:count} {things} were not recorded: the statistics of this row are incomplete.",
    by="count",
)
OF_ROWS = message("report.of-rows", "{rows:items}: {what}")

Named = tuple[str, Sequence[CellSummary]]
"""A row's name, and its cells: the repetitions of a point, or one."""


def of_runs(runs: Sequence[RunContent], rows: Sequence[Named]) -> list[Text]:
    """The first of all is that the requested policy was not permitted."""
    every: list[Text] = [w for content in runs for w in content.run.warnings if policy_without_right(w)]
    every += [text for content in runs for text in _of_run(content)]
    every = list(dict.fromkeys([*every, *of_rows(rows)]))
    return every if len(every) <= MOST else [*every[:MOST], MORE(count=len(every) - MOST)]


def _of_run(content: RunContent) -> Iterable[Text]:
    """What holds for a whole run: its clock, its warnings, and the cells that are missing."""
    run = content.run
    yield from _of_machine(content)
    yield from run.warnings
    if run.scale != 1.0:
        yield SCALED(scale=run.scale)
    for why, cells in _by_reason((cell, _reason(error)) for cell, error in content.failed.items()):
        yield MISSING(cells=cells, why=why, count=len(cells))
    impossible = [(cell.id, cell.impossible) for cell in run.plan.cells if cell.impossible]
    if left := [cell for cell in content.unmeasured if cell not in content.failed]:
        yield NOT_YET(count=len(left))
    for why, cells in _by_reason(impossible):
        reason = Caption("not possible on this machine ({reason}).", reason=why)
        yield MISSING(cells=cells, why=reason, count=len(cells))


def _by_reason(cells: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for cell, why in cells:
        found.setdefault(why, []).append(cell)
    return list(found.items())


def _reason(error: Mapping[str, Any]) -> str:
    message, remedy = str(error.get("message") or "it failed"), str(error.get("remedy", ""))
    return f"{message.rstrip('.')}. {sentence_case(remedy)}." if remedy else message


def _of_machine(content: RunContent) -> list[Text]:
    """A virtual machine's numbers are also its host's; in virtual time they are nobody's hardware's."""
    if content.run.virtual:
        one = any(len(group.counted) == 1 for group in groups_of(content.summaries, content.run))
        return [sentence_case(say(VIRTUAL_TIME())), *([ONE_SEED()] if one else [])]
    steal_ns = sum(int(cell.trailer.get("steal_ns") or 0) for cell in content.cells)
    steal = (STEAL(steal_ns=steal_ns),) if steal_ns else ()
    if is_guest(facts_of(content.run.facts)):
        return [(HYPERVISOR(), *steal)]
    return list(steal)


def of_rows(rows: Sequence[Named]) -> list[Statement]:
    """The warnings of cells, each once with the rows that it is about; those of a point's repetitions that differ in
    numbers alone are one."""
    named: dict[Statement, list[str | Caption]] = {}
    for name, cells in rows:
        invalid = {warning for cell in cells if not cell.valid for warning in cell.warnings}
        for warning, many in kinds_of(warning for cell in cells for warning in cell.warnings):
            row = _row(name, many, len(cells), invalid=warning in invalid)
            named.setdefault(warning, []).append(row)
        for caution in (*below_resolution(cells), *starts(cells)):
            named.setdefault(caution, []).append(name)
        if dropped := sum(cell.accounting.dropped for cell in cells):
            things = things_of(next(iter(cells[0].columns), LATENCY), dropped)
            named.setdefault(NOT_RECORDED(count=dropped, things=things), []).append(name)
    as_published = any(c.accounting.late_policy == "as-published" for _name, cells in rows for c in cells)
    return [*_with_rows(named, rows), *([AS_PUBLISHED()] if as_published else [])]


def of_figures(rows: Sequence[Named]) -> list[Statement]:
    """Which rows have figures that say less than they seem to: below the lab's resolution, or of a start."""
    named: dict[Statement, list[str | Caption]] = {}
    for name, cells in rows:
        for caution in (*below_resolution(cells), *starts(cells)):
            named.setdefault(caution, []).append(name)
    return _with_rows(named, rows)


def _with_rows(named: Mapping[Statement, list[str | Caption]], rows: Sequence[Named]) -> list[Statement]:
    names = [name for name, _cells in rows]
    every = [Caption("every row")]
    return [
        OF_ROWS(rows=every if who == names and len(names) > 1 else who, what=what)
        for what, who in named.items()
    ]


def _row(name: str, many: int, of: int, *, invalid: bool) -> str | Caption:
    if of > 1 and invalid:
        return Caption("{name} ({many} of {count}, invalid)", name=name, many=many, count=of)
    if of > 1:
        return Caption("{name} ({many} of {count})", name=name, many=many, count=of)
    return Caption("{name} (invalid)", name=name) if invalid else name


def one_is_none(run: Run) -> Text:
    """That a row with one repetition has no spread."""
    return ONE_SEED() if run.virtual else Caption("A row of one repetition has no spread.")
