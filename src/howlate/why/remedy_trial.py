"""The measured remedies of `howlate why RUN --try`: which knobs the causes of a run's late samples lead to, the cell
that is measured again with each, and the machine that measures it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from howlate.errors import DamagedError, NotPossibleError, UsageError
from howlate.lab.targets.lab import open_lab
from howlate.measure.prepare import settings_in_force
from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.guest_cpus import GuestCpus
from howlate.model.loaded import CellContent
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.system.paths import probe_path
from howlate.targets import LabOptions, Target, open_target
from howlate.targets.local import LocalTarget
from howlate.why.advise.flips import Measuring
from howlate.why.advise.flow import AdviceRequest, measuring_of
from howlate.why.explained_cells import CauseSum, cause_sums
from howlate.why.flow import ExplainedRun
from howlate.why.remedies import remedies_of

EXPLAINED = "explain"
"""The beginning of the options that record causes, which a trial does not need."""


class RemedyTrial(Struct, frozen=True):
    request: AdviceRequest
    cell: Cell
    causes: Mapping[Cause, tuple[str, ...]]
    """The knobs that each cause leads to."""
    run: Run


def trial_of(found: ExplainedRun, pairs: int) -> RemedyTrial:
    """The knobs of the weighty causes, in the cell with the largest latency among the chosen ones."""
    causes = _knobs(cause_sums(found.cells))
    worst = max(found.content.cells, key=_largest_ns)
    planned = {cell.id: cell for cell in found.content.run.plan.cells}
    run, cell = found.content.run, planned[worst.summary.id]
    measuring = measuring_of(cell, virtual=run.virtual)
    without = {name: value for name, value in measuring.settings.items() if not name.startswith(EXPLAINED)}
    knobs = dict.fromkeys(knob for each in causes.values() for knob in each)
    asked = AdviceRequest(
        Measuring(measuring.test, without, measuring.loads),
        knobs=",".join(knobs),
        pairs=pairs,
        settings=settings_in_force(),
    )
    return RemedyTrial(asked, cell, causes, run)


def _knobs(sums: Sequence[CauseSum]) -> dict[Cause, tuple[str, ...]]:
    """By the weighty causes that have any; in each the knobs of all its remedies."""
    if not sums:
        raise UsageError(
            "no cause of the late samples of this run is known, so no remedy follows from it",
            remedy="measure it with --set explain=true, or try every knob with `howlate advise`",
        )
    knobs: dict[Cause, tuple[str, ...]] = {}
    for each, remedy in remedies_of(sums):
        knobs[each.cause] = tuple(dict.fromkeys((*knobs.get(each.cause, ()), *remedy.knobs)))
    if not any(knobs.values()):
        largest = dict.fromkeys(each.cause for each in sums if each.largest_in)
        raise NotPossibleError(
            "no knob changes what made this run late ({causes:all})",
            remedy="see what to do above, or try every knob with `howlate advise`",
            causes=tuple(map(str, knobs or largest)),
        )
    return {cause: names for cause, names in knobs.items() if names}


def _largest_ns(cell: CellContent) -> int:
    return (cell.column.max or 0) if cell.column is not None else 0


def target_of(trial: RemedyTrial, say: Callable[[str], None]) -> Target:
    """The machine that measured the run: the guest, this machine, or the one that its target names."""
    run, kernel = trial.run, trial.cell.machine
    if kernel:
        guest = GuestCpus.of_facts(Facts.from_json(dict(run.machines.get(kernel, run.facts))).values)
        options = LabOptions(cpus=guest.cpus, mips=guest.mips, turn_ns=guest.turn_ns, clock=run.clock)
        return open_lab(kernel, options, say=say)
    target = (
        LocalTarget(probe_path(), restores_first=True)
        if run.target == "local"
        else open_target(run.target, say=say)
    )
    _same_machine(run, target)
    return target


def is_elsewhere(run: Run) -> bool:
    """Whether `target_of` would refuse a run of this machine, as far as the facts tell at once."""
    if run.target != "local" or any(cell.machine for cell in run.plan.cells):
        return False
    try:
        facts = Facts.from_json(dict(run.facts))
    except DamagedError:
        return True
    release, model = facts.text("kernel.release"), facts.text("cpu.model")
    if release is not None and release != os.uname().release:
        return True
    here = Path("/proc/cpuinfo").read_text(errors="replace")
    return model is not None and "model name" in here and model not in here


def _same_machine(run: Run, target: Target) -> None:
    """NotPossibleError if the run's figures are of another machine or kernel."""
    before, now = Facts.from_json(dict(run.facts)), Facts.from_json(target.facts())
    for key in ("kernel.release", "cpu.model"):
        was, is_now = before.text(key), now.text(key)
        if was is not None and is_now is not None and was != is_now:
            raise NotPossibleError(
                "the run was measured on another machine or kernel than this one ({before}, here {now})",
                remedy="try it there",
                before=was,
                now=is_now,
            )
