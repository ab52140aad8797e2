"""Measures round after round: until the verdict is decided, or cannot be in time; or each so long after the last."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.measure.execute import Tally
from howlate.measure.prepare import PlannedRun, RunRequest
from howlate.measure.session import Session
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.model.units import period_ns_of
from howlate.store.loaded import load_run
from howlate.store.run_folder import RUN, RunFolder
from howlate.verdict import MOST_ROUNDS
from howlate.verdict.judge import ROUNDS_APART, looked_at, stated, until_decided
from howlate.verdict.promise_sentence import no_verdict
from howlate.verdict.ruling import Question, Ruling
from howlate.verdict.stretch import SEEN
from howlate.verdict.verdict import reach_s
from howlate.words.say import statement_of
from howlate.words.statement import Statement


def possible(prepared: PlannedRun) -> list[Cell]:
    return [cell for cell in prepared.run.plan.cells if not cell.impossible]


def needed_s(question: Question, cells: Sequence[Cell], whole: int) -> float:
    """How long all rows must be measured at least, besides the rounds that are whole."""
    reaches = [reach_s(question, (period_ns_of(c.labels) or 0) / 1e9, c.expected_s) for c in cells]
    return sum(max(0.0, reach - whole * c.expected_s) for reach, c in zip(reaches, cells, strict=True))


def is_decided(folder: Path, run: Run) -> bool:
    """Every row, or one that fails; or one has no verdict, which no further round changes. `run`: with the plan of
    the rounds that were measured."""
    content = replace(load_run(folder, bins=False, kernels=False), run=run)
    verdicts = [row.verdict for row in stated(content)]
    outcomes = [verdict.outcome for verdict in verdicts]
    open_ = [verdict.stretch for verdict in verdicts if verdict.stretch.outcome is Ruling.INCONCLUSIVE]
    missed = any(why.rule == SEEN.id for stretch in open_ for why in stretch.forbids)
    lost = missed or any(no_verdict(verdict) for verdict in verdicts)
    return lost or Ruling.FAIL in outcomes or Ruling.INCONCLUSIVE not in outcomes


def whole_rounds(out: Path | None) -> int:
    """How many rounds of the run at `out` have been measured, the last one perhaps in part; 0 where there is none."""
    if out is None or not (out / RUN).exists():
        return 0
    folder = RunFolder.open(out)
    whole = set(folder.whole_cells())
    return max((cell.repetition for cell in folder.read_run().plan.cells if cell.id in whole), default=0)


def until_round(cells: Sequence[Cell], number: int) -> tuple[Cell, ...]:
    return tuple(cell for cell in cells if cell.repetition <= number)


ROUNDS = ("order.kind", "order.repetitions")
"""What is set of the study."""

Execute = Callable[[PlannedRun, Session], Tally]
"""Measures the cells of a session, and tells the user how far it is."""
Messages = Callable[[Statement], None]


class MeasuredRounds(Struct, frozen=True):
    """Rounds, each over all points."""

    sets: ClassVar = ROUNDS
    options: tuple[str, ...]
    """As given, for the sentence that says how to continue."""

    def whole(self, out: Path | None) -> int:
        return whole_rounds(out)

    def planned(self, prepared: PlannedRun) -> PlannedRun:
        """With the time between rounds."""
        return prepared

    def _more(self, asked: RunRequest, rounds: int) -> RunRequest:
        kind, repetitions = ROUNDS
        changes = (*asked.changes, f"{kind}=interleaved", f"{repetitions}={rounds}")
        return replace(asked, changes=changes, options=(*asked.options, *self.options))


class Until(MeasuredRounds, frozen=True):
    """What is to be decided, and in which time."""

    question: Question
    """Its deadline is the study's."""
    at_most_s: float
    """The time for this call."""

    def rounds(self, asked: RunRequest, prepared: PlannedRun, whole: int = 0) -> RunRequest:
        """The request with as many rounds as there is time for, each over all points, and those that are whole."""
        cells = possible(prepared)
        round_s = sum(cell.expected_s for cell in cells) or 1.0
        most = min(MOST_ROUNDS, asked.most_cells // max(1, len(cells)))
        return self._more(asked, max(1, whole, min(most, whole + int(self.at_most_s / round_s))))

    def out_of_reach(self, prepared: PlannedRun, whole: int = 0) -> Statement | None:
        """That nothing is measured where --at-most does not allow what is needed."""
        if not (missing_s := self.missing_s(prepared, whole)):
            return None
        return statement_of(
            "INCONCLUSIVE: this needs {needed_s:seconds-at-most} of measuring at least, and --at-most "
            "allows {at_most_s:seconds}. Nothing was measured.",
            needed_s=missing_s,
            at_most_s=self.at_most_s,
        )

    def missing_s(self, prepared: PlannedRun, whole: int = 0) -> float:
        """How long all rows must be measured at least, without the rounds that are whole, where --at-most does not
        allow that; 0 where it does."""
        cells = possible(prepared)
        _must_be_real(prepared, "--until-decided")
        if not all(cell.parameters.get("deadline") for cell in cells):
            raise UsageError(
                "the study states no deadline, so there is nothing to decide",
                remedy="state one: `howlate check --deadline 200us`, or `howlate run STUDY --set "
                "deadline=200us`",
            )
        if self.question.miss_rate and any(period_ns_of(cell.labels) is None for cell in cells):
            raise UsageError(
                "--miss-rate needs a study whose cells have a period and a duration",
                remedy="use --horizon instead, or give the study a period and a duration",
            )
        missing_s = needed_s(self.question, cells, whole)
        return missing_s if missing_s > self.at_most_s else 0.0

    def execute(
        self, prepared: PlannedRun, session: Session, execute: Execute, tell: Messages
    ) -> tuple[Session, Tally]:
        """Round after round, after those that are whole; the plan keeps the rounds that were measured."""
        notes = until_decided(self.question, self.at_most_s)
        earlier = looked_at(session.run)
        before = [warning for warning in session.run.warnings if warning not in earlier]
        run = replace(session.run, warnings=(*before, *notes))
        session.folder.write_run(run)
        cells = session.cells
        last = max((cell.repetition for cell in run.plan.cells), default=1)
        for number in range(max(1, whole_rounds(session.folder.path)), last + 1):
            measured = replace(session, run=run, cells=until_round(cells, number))
            tally = execute(prepared, measured)
            shorter = replace(run, plan=replace(run.plan, cells=until_round(run.plan.cells, number)))
            if number == last or tally.failures or is_decided(measured.folder.path, shorter):
                break
        session.folder.write_run(shorter)
        return replace(session, run=shorter), tally


class Apart(MeasuredRounds, frozen=True):
    """A number of rounds over all points, at a fixed distance in time."""

    number: int
    every_s: float

    def planned(self, prepared: PlannedRun) -> PlannedRun:
        return replace(prepared, every_s=self.every_s)

    def out_of_reach(self, prepared: PlannedRun, _: int = 0) -> None:
        """There is always time. UsageError says what is wrong."""
        _must_be_real(prepared, "--every")

    def rounds(self, asked: RunRequest, _: PlannedRun, whole: int = 0) -> RunRequest:
        """The request with as many rounds; no fewer than are whole."""
        return self._more(asked, max(whole, self.number))

    def execute(
        self, prepared: PlannedRun, session: Session, execute: Execute, tell: Messages
    ) -> tuple[Session, Tally]:
        """Round after round, after those that are whole."""
        others = [note for note in session.run.warnings if note.rule != ROUNDS_APART.id]
        run = replace(session.run, warnings=(*others, ROUNDS_APART(every_s=self.every_s)))
        session.folder.write_run(run)
        first = max(1, whole_rounds(session.folder.path))
        last = max((cell.repetition for cell in run.plan.cells), default=1)
        begun = time.monotonic()
        for number in range(first, last + 1):
            left_s = begun + (number - first) * self.every_s - time.monotonic()
            if left_s > 0:
                tell(
                    statement_of(
                        "waiting for round {number} of {of}, which begins in {left_s:seconds}",
                        number=number,
                        of=last,
                        left_s=left_s,
                    )
                )
                time.sleep(left_s)
            measured = replace(session, run=run, cells=until_round(session.cells, number))
            tally = execute(prepared, measured)
            if tally.failures:
                break
        return replace(session, run=run), tally


def _must_be_real(prepared: PlannedRun, option: str) -> None:
    if prepared.run.virtual:
        raise UsageError(
            "{option} has no effect in virtual time, where a seed always gives the same result",
            remedy="run it with --seeds N, and judge it: howlate verdict RUN",
            option=option,
        )
