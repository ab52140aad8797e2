"""`--rounds N --every TIME`: measure rounds far apart, so that each of them is a unit of what is stated."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import click

from howlate.verdict.cli._until import ROUNDS
from howlate.words.statement import Statement

if TYPE_CHECKING:
    from pathlib import Path

    from howlate.measure.execute import Tally
    from howlate.measure.prepare import Asked, Prepared
    from howlate.measure.session import Session


@dataclass(frozen=True)
class Apart:
    """So many rounds over all points, the next one so long after the last one began."""

    number: int
    every_s: float
    options: tuple[str, ...]
    """As given, for the sentence that says how to continue."""
    sets: ClassVar = ROUNDS

    def whole(self, out: Path | None) -> int:
        from howlate.verdict.rounds import whole_rounds

        return whole_rounds(out)

    def out_of_reach(self, prepared: Prepared, _: int = 0) -> int | None:
        """There is always time. UsageError says what is wrong."""
        from howlate.errors import UsageError

        if prepared.run.virtual:
            raise UsageError(
                "--every has no meaning in virtual time, where a seed comes out the same each time",
                remedy="run it with --seeds N, and judge it: howlate verdict RUN",
            )
        return None

    def rounds(self, asked: Asked, _: Prepared, whole: int = 0) -> Asked:
        """The request with as many rounds; no fewer than are whole."""
        kind, repetitions = ROUNDS
        changes = (*asked.changes, f"{kind}=interleaved", f"{repetitions}={max(whole, self.number)}")
        return replace(asked, changes=changes, options=(*asked.options, *self.options))

    def execute(self, prepared: Prepared, session: Session) -> tuple[Session, Tally]:
        """Round after round, after those that are whole."""
        from howlate.cli._execute import execute_cells
        from howlate.verdict.judge import ROUNDS_APART
        from howlate.verdict.rounds import until_round, whole_rounds

        others = [note for note in session.run.warnings if note.rule != ROUNDS_APART.id]
        run = replace(session.run, warnings=(*others, ROUNDS_APART(every_s=self.every_s)))
        session.folder.write_run(run)
        first = max(1, whole_rounds(session.folder.path))
        last = max((cell.repetition for cell in run.plan.cells), default=1)
        begun = time.monotonic()
        for number in range(first, last + 1):
            self._wait(number, last, begun + (number - first) * self.every_s)
            measured = replace(session, run=run, cells=until_round(session.cells, number))
            tally = execute_cells(prepared, measured)
            if tally.failures:
                break
        return replace(session, run=run), tally

    def _wait(self, number: int, last: int, due_s: float) -> None:
        from howlate.words.say import english

        left_s = due_s - time.monotonic()
        if left_s > 0:
            click.echo(
                english(
                    Statement.of(
                        "waiting for round {number} of {of}, which begins in {left_s:seconds}",
                        number=number,
                        of=last,
                        left_s=left_s,
                    )
                ),
                err=True,
            )
            time.sleep(left_s)
