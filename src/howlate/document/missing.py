"""Cells that a run must have by its plan and its finished.txt, and has not."""

from __future__ import annotations

from howlate.model.loaded import RunContent
from howlate.words.statement import Statement, message

GONE = message(
    "missing.gone",
    "The cell {cells:list} was measured, and is gone.",
    "The cells {cells:list} were measured, and are gone.",
    by="count",
)
UNMEASURED = message(
    "missing.unmeasured",
    "The cell {cells:list} of the plan was not measured.",
    "The cells {cells:list} of the plan were not measured.",
    by="count",
)


def missing_of(content: RunContent) -> tuple[Statement, ...]:
    return missing_named(content.gone, content.unmeasured)


def missing_named(gone: tuple[str, ...], unmeasured: tuple[str, ...]) -> tuple[Statement, ...]:
    found = ((GONE, gone), (UNMEASURED, unmeasured))
    return tuple(of(cells=cells, count=len(cells)) for of, cells in found if cells)
