"""Measures what each knob buys: `howlate advise`, and the remedies of `howlate why RUN --try`.

Two stages in one run folder, which the same call continues: each flip and the start, turn by turn; then what
helps, all together, and the start measured anew. In virtual time the start would be identical,
so it is measured once, and a single knob that helps is not measured again. Nothing here prints or changes a machine:
the probe sets a knob for the time of a cell, and puts it back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import ExitCode, NotPossibleError, UsageError
from howlate.measure.execute import Tally
from howlate.measure.prepare import NO_SETTINGS, PlannedRun, RunRequest, prepare
from howlate.measure.session import Session, begin
from howlate.model.facts import Aim, Facts
from howlate.model.loaded import RunContent
from howlate.model.plan import Cell, Plan
from howlate.model.run import VIRTUAL
from howlate.model.units import period_ns_of
from howlate.plan.aim import aim_of
from howlate.plan.changes import parse_change
from howlate.plan.settings import Settings
from howlate.sides.sides import fewest_pairs
from howlate.store.loaded import load_run
from howlate.targets import Target
from howlate.why.advise.advice import FIGURES, Advice, Standing, advice_of
from howlate.why.advise.flip import Flip
from howlate.why.advise.flips import Flips, Measuring, flips_of, study_of

BEYOND = 11
"""Samples beyond a quantile: one more than it takes, as some turn may have an overrun."""

Measure = Callable[[PlannedRun, Session], Tally]
"""Measures the cells of a session, and tells the user how far it is."""


class AdviceRequest(Struct, frozen=True):
    measuring: Measuring
    knobs: str = ""
    """The user's choice of knobs, as `--knobs` spells it; "" for every one."""
    pairs: int = 12
    seed: int = 1
    """Orders the sides of each turn."""
    figures: tuple[str, ...] = FIGURES
    changes: tuple[str, ...] = ()
    """The values of `--set`."""
    settings: Settings = NO_SETTINGS

    def check_shows(self, flips: int) -> None:
        """UsageError if the pairs are too few for these comparisons, whatever is measured."""
        comparisons = flips * len(self.measuring.loads) * len(self.figures)
        needed = fewest_pairs(comparisons)
        if self.pairs < needed:
            raise UsageError(
                "--pairs must be at least {needed} to show a difference among {comparisons} comparisons, not {pairs}",
                remedy="measure more pairs; howlate advise tries fewer knobs with --knobs",
                needed=needed,
                comparisons=comparisons,
                pairs=self.pairs,
            )


class Advised(Struct, frozen=True):
    """A run of the study, and what it shows."""

    session: Session
    tally: Tally
    content: RunContent
    advice: Advice

    @property
    def exit_code(self) -> ExitCode:
        """0: every side was measured, but for knobs that turned out not to be possible here; 5: what was measured
        allows no statement about any knob; 4: a cell broke."""
        if any(failure.exit_code != ExitCode.NOT_POSSIBLE for failure in self.tally.failures):
            return ExitCode.BROKEN
        stated = any(knob.standing is not Standing.UNMEASURED for knob in self.advice.knobs)
        return ExitCode.DONE if stated else ExitCode.INCONCLUSIVE


class FirstStage(Struct, frozen=True):
    """The plan of the flips, checked against the target."""

    request: AdviceRequest
    flips: Flips
    planned_run: PlannedRun


def first_stage(asked: AdviceRequest, target: Target) -> FirstStage:
    """Ask the target which knobs it has and what is in force, and plan. Nothing is measured."""
    machine = target.machines[0]
    facts = Facts.from_json(target.facts(machine))
    flips = flips_of(target.capabilities(machine), facts, _aim(asked), asked.knobs)
    if not flips.tried:
        reasons = tuple(each.statement for each in flips.not_tried)
        raise NotPossibleError(
            "no knob can be flipped here: {reasons:items}",
            remedy="`howlate probe list` says what each knob needs; or flip a guest's: `howlate advise "
            "--kernels 6.1-rt`",
            reasons=reasons,
        )
    asked.check_shows(len(flips.tried))
    prepared = _prepared(asked, flips, target)
    _check_samples(asked, prepared.run.plan)
    return FirstStage(asked, flips, prepared)


def _check_samples(asked: AdviceRequest, plan: Plan) -> None:
    """UsageError if the cells are too short for one of the figures, where the period tells the number of samples."""
    counts = [count for cell in plan.cells if (count := _samples(cell))]
    for figure in (name for name in asked.figures if name != "max"):
        needed = math.ceil(BEYOND / (1 - float(figure)))
        if counts and min(counts) < needed:
            raise UsageError(
                "a cell of {samples} samples is too short for the {figure} quantile, which needs {needed}",
                remedy="measure longer cells (--cell-duration), or name another --quantile",
                samples=min(counts),
                figure=figure,
                needed=needed,
            )


def _samples(cell: Cell) -> int:
    """How many samples the cell is to have; 0 if only the measurement shows it."""
    if cell.length.rows:
        return cell.length.rows
    period_ns = period_ns_of(cell.labels)
    return int(cell.length.measuring_s * 1e9 / period_ns) if period_ns else 0


def measured(stage: FirstStage, target: Target, session: Session, measure: Measure) -> Advised:
    """Measure the session of the first stage, then together what helps."""
    tally = measure(stage.planned_run, session)
    advised = _advised(stage, session, tally)
    together = advised.advice.helping
    if len(together) <= (1 if stage.planned_run.run.virtual else 0):
        return advised
    prepared = _prepared(stage.request, stage.flips, target, together)
    session = begin(prepared, session.folder.path, more_points=True)
    return _advised(stage, session, measure(prepared, session))


def _advised(stage: FirstStage, session: Session, tally: Tally) -> Advised:
    content = load_run(session.folder.path)
    return Advised(session, tally, content, advice_of(content, stage.request.figures))


def measuring_of(cell: Cell, *, virtual: bool) -> Measuring:
    """How a measured cell was measured, so that its machine can be measured again in the same way: its test, its
    parameters with its knobs, and its loads. In virtual time seeds set phase and dither anew."""
    loads = cell.parameters.get("load", ())
    apart = {"load", *(("seed", "first") if virtual else ())}
    settings = {name: value for name, value in cell.parameters.items() if name not in apart}
    return Measuring(
        cell.test, settings, ("+".join(loads) if isinstance(loads, tuple) and loads else "none",)
    )


def _aim(asked: AdviceRequest) -> Aim:
    """The measuring task, which decides what "away" is."""
    changed = {name: values[0] for name, values in map(parse_change, asked.changes)}
    parameters = {**asked.measuring.settings, **changed}
    return aim_of(Plan((Cell("", asked.measuring.test, parameters, {}, 1, 0.0),)), {})


def _prepared(
    asked: AdviceRequest, flips: Flips, target: Target, together: Sequence[Flip] = ()
) -> PlannedRun:
    study = study_of(
        asked.measuring, flips.tried, asked.pairs, asked.seed, together, again=target.clock != VIRTUAL
    )
    prepared = prepare(
        RunRequest(
            study,
            asked.changes,
            seeds=asked.pairs if target.clock == VIRTUAL else 0,
            settings=asked.settings,
        ),
        target,
    )
    warnings = (*prepared.run.warnings, *(each.statement for each in flips.not_tried))
    return replace(prepared, run=replace(prepared.run, warnings=warnings))
