"""Measures the steps between a good and a bad kernel: by samples, or by proofs (docs/lab/bisect.md)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import GuestError, UnfitKernelError
from howlate.lab.archive.packages import AbsentError
from howlate.lab.targets.lab import LabTarget
from howlate.measure.execute import Tally
from howlate.measure.prepare import PlannedRun, RunRequest, prepare
from howlate.measure.session import Session, begin
from howlate.prove.bisected import SEEDS, Step, StepAnswer, StepRequest, StepSide, proved, sampled
from howlate.prove.flow import LOAD, loads_of
from howlate.prove.landscape import Goal
from howlate.prove.proof import Proof
from howlate.prove.searched import ProofRequest, Showing, searched
from howlate.prove.steps import build
from howlate.store.run_folder import file_name
from howlate.words.say import statement_of

BEGIN_NS = 100_000_000
"""Where the first window of a step begins, after the cell's start."""
APART_NS = 37_000_000
"""Between two windows, so that the load is elsewhere in its course; no multiple of a tick of 4 or 10 ms."""
CHECKS = 8
"""Check instants of a window."""


class MeasuredSteps(Struct, frozen=True):
    request: RunRequest
    limit_ns: int
    window_ns: int
    """The length of a proof's window."""
    build: str
    folder: Path
    opened: Callable[[str, tuple[Path, ...]], LabTarget]
    """The lab with a kernel of the archive, by its label, or with one that was built."""
    execute: Callable[[PlannedRun, Session], Tally]
    showing: Showing

    def sampled(self, step: Step, how: StepRequest) -> StepAnswer:
        """By 8 seeds, or by 8 others."""

        def answered(target: LabTarget) -> StepAnswer:
            prepared = prepare(replace(self.request, seeds=SEEDS * (2 if how.again else 1)), target)
            name = f"{file_name(step.name)}{'-again' if how.again else ''}"
            session = begin(prepared, self.folder / name)
            if session.cells:
                self.execute(prepared, session)
            points = {cell.point for cell in session.run.plan.cells if not cell.impossible}
            return sampled(session.folder.summaries(), points, self.limit_ns, again=how.again)

        return self._answer(step, answered)

    def proved(self, step: Step, how: StepRequest) -> StepAnswer:
        """By 8 windows, or by 8 others; a proof for each load."""
        loads = [value for name, values in self.request.parsed if name == LOAD for value in map(str, values)]

        def proofs(target: LabTarget, number: int, goal: Goal) -> list[Proof]:
            begin_ns = BEGIN_NS + number * (self.window_ns + APART_NS)
            question = ProofRequest(goal, begin_ns, self.window_ns, CHECKS, worst=1)
            (machine,) = target.machines
            return [
                searched(target, machine, load, question, self.showing)[0]
                for load in loads or loads_of(self.request.study)
            ]

        def answered(target: LabTarget) -> StepAnswer:
            return proved(lambda number, goal: proofs(target, number, goal), self.limit_ns, how)

        return self._answer(step, answered)

    def _answer(self, step: Step, answered: Callable[[LabTarget], StepAnswer]) -> StepAnswer:
        """What is wrong with a step's kernel skips the step; what is wrong with howlate, or with this machine, ends
        the search."""
        own: tuple[Path, ...] = ()
        if not step.label:
            kernel = build(self.build, step.name, self.folder / "kernels")
            if kernel is None:
                return StepAnswer(StepSide.SKIP, why=statement_of("its build ended with exit code 125"))
            own = (kernel,)
        try:
            with contextlib.closing(self.opened(step.label, own)) as target:
                return answered(target)
        except (GuestError, UnfitKernelError, AbsentError) as problem:
            return StepAnswer(StepSide.SKIP, why=problem.statement)
