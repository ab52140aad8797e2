"""Cells that a run must have by its plan and its finished.txt, and has not: nothing passes without them."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.errors import ExitCode
from howlate.model.loaded import RunContent
from howlate.verdict.ruling import Ruling
from howlate.words.statement import Statement, rule

GONE = rule(
    "missing.gone",
    "The cell {cells:all} was measured, and is gone.",
    "The cells {cells:all} were measured, and are gone.",
    by="count",
)
UNMEASURED = rule(
    "missing.unmeasured",
    "The cell {cells:all} of the plan was not measured.",
    "The cells {cells:all} of the plan were not measured.",
    by="count",
)
NO_PASS = rule(
    "missing.no-pass",
    "INCONCLUSIVE: the rows that are there keep their deadlines, but {count:count} cell of the run is missing.",
    "INCONCLUSIVE: the rows that are there keep their deadlines, but {count:count} cells of the run are missing.",
    by="count",
)


def missing_of(content: RunContent) -> tuple[Statement, ...]:
    """A sentence for those that are gone, and for those that were never measured."""
    return missing_named(content.gone, content.unmeasured)


def missing_named(gone: tuple[str, ...], unmeasured: tuple[str, ...]) -> tuple[Statement, ...]:
    found = ((GONE, gone), (UNMEASURED, unmeasured))
    return tuple(rule(cells=cells, count=len(cells)) for rule, cells in found if cells)


def no_pass(content: RunContent) -> Statement:
    return NO_PASS(count=len(content.gone) + len(content.unmeasured))


def ruling_of(outcome: Ruling, content: RunContent) -> Ruling:
    """A miss that was seen stays one."""
    is_whole = not content.gone and not content.unmeasured
    return Ruling.INCONCLUSIVE if outcome is Ruling.PASS and not is_whole else outcome


def code_of(outcome: Ruling, code: ExitCode, contents: Sequence[RunContent]) -> ExitCode:
    """A measured cell that is gone is a damaged run, unless another cell fails."""
    damaged = outcome is not Ruling.FAIL and any(content.gone for content in contents)
    return ExitCode.BROKEN if damaged else code
