"""A run that is measured in rounds, each over all points: which are whole, what is needed yet, what is enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from howlate.measure.prepare import PlannedRun
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.model.units import period_ns_of
from howlate.store.loaded import load_run
from howlate.store.run_folder import RUN, RunFolder
from howlate.verdict.judge import stated
from howlate.verdict.promise_sentence import no_verdict
from howlate.verdict.ruling import Question, Ruling
from howlate.verdict.stretch import SEEN
from howlate.verdict.verdict import reach_s


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
