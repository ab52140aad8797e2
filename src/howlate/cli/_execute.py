"""Measures the cells of a session while it tells how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from howlate.words.printable import printable

if TYPE_CHECKING:
    from howlate.measure.execute import Tally
    from howlate.measure.prepare import Prepared
    from howlate.measure.session import Session


def execute_cells(prepared: Prepared, session: Session, *, ends_early: bool = False) -> Tally:
    """`ends_early`: up to the first cell that its threshold ends. HowlateError names the folder that keeps what is
    complete."""
    from howlate.cli._progress import ProgressLine
    from howlate.errors import REMEDIED, HowlateError
    from howlate.measure.execute import execute

    line = ProgressLine(prepared.run.axes)
    try:
        return execute(
            session.folder,
            session.run.plan,
            session.cells,
            prepared.target,
            line,
            prepared.broken,
            ends_early=ends_early,
        )
    except HowlateError as problem:
        folder = printable(str(session.folder.path))
        kept = f"complete cells are kept in {folder}; the same command with --out continues"
        remedy = "; ".join(filter(None, (problem.remedy, kept)))
        problem.statement = REMEDIED(problem=problem.statement, remedy=remedy)
        raise
    finally:
        line.close()
