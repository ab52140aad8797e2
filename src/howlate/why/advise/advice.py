"""What each knob buys: every part of the study `advise` against its start, by pairs of the same turn or seed.

The figures of one turn form pairs, because all parts of a turn were measured close together in a random order; in
virtual time the pairs are those of a seed. Holm's step-down covers all knobs, loads and figures of the study at once,
so that the chance of naming any knob that changes nothing is at most 5 %; and a ratio inside the margin is never
called a difference (docs/advise.md, docs/statistics.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from howlate.errors import ExitCode
from howlate.model.decode import members
from howlate.model.loaded import RunContent
from howlate.model.plan import Cell
from howlate.model.study import PART
from howlate.sides.paired import Steps
from howlate.sides.sides import (
    LEVEL,
    Decision,
    Once,
    PairedValues,
    decided_together,
    paired_values,
    steps_of,
)
from howlate.statistics.phrases import under
from howlate.statistics.spread import Spread, spread_of
from howlate.why.advise.flip import AGAIN, START, TOGETHER, Flip, knobs_of
from howlate.words.quantities import time_text
from howlate.words.say import Text, text_of
from howlate.words.say import to_json as statement_json
from howlate.words.statement import Caption, Listed, Statement, message

FIGURES = ("0.99", "max")
"""What is compared unless the user chooses: the tail of each cell, and its largest."""
HEADINGS: Mapping[str, Text] = {"0.5": Caption("median"), "max": Caption("largest")}

NOT_WHOLE = message("advice.not-whole", "it has no whole cell")
INCOMPLETE = message(
    "advice.incomplete",
    "cells not measured yet: {count} of {cells} (run the same command with --out to continue)",
)
CHANGED = message(
    "advice.changed",
    "{place} the {figure} is {ratio:significant} times as large ({low:significant} to {high:significant})",
)
RESULT = message("advice.result", "{knobs:all} {standing}: {changes:items}.")
NOTHING = message(
    "advice.nothing", "No difference is shown for {knobs:all}; the intervals say how large it may be."
)
NONE_HELPS = message("advice.none-helps", "No knob is shown to make it less late.")
TOGETHER_RESULT = message("advice.together", "Together ({knobs:all}), re-measured: {changes:items}.")
UNMEASURED = message("advice.unmeasured", "{knobs:all} could not be measured: {why}.")
AT_START = message("advice.at-start", "As it is, {place}: {figures:items}.")
COUNTED = message(
    "advice.counted",
    "{pairs} pairs; intervals of {confidence:percent} or more; Holm over {tested} comparisons; differences below "
    "10 % are not reported.",
)


class Standing(Enum):
    """What is shown of a knob, the best first."""

    HELPS = "helps"
    BOTH = "both"
    NOTHING = "nothing shown"
    HARMS = "harms"
    UNMEASURED = "not measured"


STANDINGS = {
    Standing.HELPS: Caption("helps"),
    Standing.BOTH: Caption("helps and harms"),
    Standing.NOTHING: Caption("nothing shown"),
    Standing.HARMS: Caption("harms"),
    Standing.UNMEASURED: Caption("not measured"),
}


class Trial(Struct, frozen=True):
    """A knob, or several together, under one load, against the start."""

    load: str
    decisions: tuple[Decision, ...]
    """Of each figure, with the knob relative to without."""

    def named(self, direction: str) -> tuple[Decision, ...]:
        return tuple(decision for decision in self.decisions if decision.direction == direction)

    def to_json(self) -> dict[str, Any]:
        return {"load": self.load, "figures": [decision.to_json() for decision in self.decisions]}


class KnobAdvice(Struct, frozen=True):
    """What is shown of a knob, or of several together."""

    flips: tuple[Flip, ...]
    trials: tuple[Trial, ...]
    why: Statement | None = None
    """Why it was not measured."""

    @property
    def standing(self) -> Standing:
        smaller, larger = (any(t.named(word) for t in self.trials) for word in ("smaller", "larger"))
        if smaller and larger:
            return Standing.BOTH
        if smaller or larger:
            return Standing.HELPS if smaller else Standing.HARMS
        stated = any(decision.interval for trial in self.trials for decision in trial.decisions)
        return Standing.NOTHING if stated else Standing.UNMEASURED

    @property
    def best(self) -> float:
        """The ratio by which it is ranked: the smallest that is shown, else the smallest estimate."""
        every = [d for trial in self.trials for d in trial.decisions if d.interval is not None]
        shown = [d for d in every if d.direction == "smaller"] or every
        return min((d.interval.ratio for d in shown if d.interval), default=float("inf"))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(flip.text for flip in self.flips)

    def changes(self) -> tuple[Statement, ...]:
        """The figures that are shown to differ, the largest effect first."""
        shown = [
            (trial.load, decision)
            for trial in self.trials
            for decision in trial.decisions
            if decision.direction in ("smaller", "larger")
        ]
        return tuple(_changed(load, decision) for load, decision in sorted(shown, key=_effect))

    def to_json(self) -> dict[str, Any]:
        return {
            "knobs": list(self.names),
            "standing": self.standing.value,
            "trials": [trial.to_json() for trial in self.trials],
            "why": None if self.why is None else statement_json(self.why),
        }


class AtStart(Struct, frozen=True):
    """The machine as it is, under one load: each figure over the turns."""

    load: str
    figures: Mapping[str, Spread]


class Advice(Struct, frozen=True):
    """The whole result, the knobs ranked by what they buy."""

    figures: tuple[str, ...]
    starts: tuple[AtStart, ...]
    knobs: tuple[KnobAdvice, ...]
    together: KnobAdvice | None
    tested: int
    """How many comparisons of knobs Holm covered."""
    missing: int = 0
    """Cells of single knobs that are not measured yet: then no knob has a result."""
    planned: int = 0
    """Cells of single knobs in the plan."""

    @property
    def helping(self) -> tuple[Flip, ...]:
        """What is shown to help and to harm nowhere; of several values of a knob the best."""
        flips: dict[str, Flip] = {}
        for knob in self.knobs:
            if knob.standing is Standing.HELPS:
                flips.setdefault(knob.flips[0].knob, knob.flips[0])
        return tuple(flips.values())

    def statements(self) -> Iterator[Statement]:
        """What is said of it, the most important first."""
        if self.missing:
            yield INCOMPLETE(count=self.missing, cells=self.planned)
            return
        for knob in self.knobs:
            if changes := knob.changes():
                yield RESULT(knobs=knob.names, standing=STANDINGS[knob.standing], changes=changes)
        if not self.helping:
            yield NONE_HELPS()
        if self.together is not None:
            shown, names = self.together.changes(), self.together.names
            if self.together.standing is Standing.UNMEASURED:
                reasons = [d.why for trial in self.together.trials for d in trial.decisions if d.why]
                yield UNMEASURED(knobs=names, why=self.together.why or next(iter(reasons), NOT_WHOLE()))
            else:
                yield TOGETHER_RESULT(knobs=names, changes=shown or (STANDINGS[Standing.NOTHING],))
        nothing = [name for k in self.knobs if k.standing is Standing.NOTHING for name in k.names]
        if nothing:
            yield NOTHING(knobs=tuple(nothing))
        for knob in self.knobs:
            if knob.standing is Standing.UNMEASURED:
                yield UNMEASURED(knobs=knob.names, why=knob.why or NOT_WHOLE())

    def to_json(self) -> dict[str, Any]:
        return {
            "figures": list(self.figures),
            **members(self, "tested", "missing"),
            "start": [
                {"load": start.load, **{name: asdict(spread) for name, spread in start.figures.items()}}
                for start in self.starts
            ],
            "knobs": [knob.to_json() for knob in self.knobs],
            "together": None if self.together is None else self.together.to_json(),
            "statements": [statement_json(statement) for statement in self.statements()],
        }


def advice_of(content: RunContent, figures: Sequence[str] = FIGURES) -> Advice:
    """What a run of the study shows, as far as it was measured."""
    measured = _Measured.of(content)
    single, of_all = _cells_of_stages(content)
    missing = _not_yet(content, single)
    flips = {part: measured.flipped(part) for part in measured.parts if part not in (START, AGAIN, TOGETHER)}
    incomplete = INCOMPLETE(count=missing, cells=len(single)) if missing else None
    trials, tested = measured.trials(flips, START, figures, incomplete)
    knobs = [
        KnobAdvice(flipped, trials[part], measured.why(part, content)) for part, flipped in flips.items()
    ]
    order = list(Standing)
    together = None
    if TOGETHER in measured.parts:
        base = AGAIN if AGAIN in measured.parts else START
        if count := _not_yet(content, of_all):
            incomplete = incomplete or INCOMPLETE(count=count, cells=len(of_all))
        tried, _ = measured.trials([TOGETHER], base, figures, incomplete)
        together = KnobAdvice(measured.flipped(TOGETHER), tried[TOGETHER], measured.why(TOGETHER, content))
    return Advice(
        tuple(figures),
        tuple(measured.at_start(load, figures) for load in measured.loads),
        tuple(sorted(knobs, key=lambda knob: (order.index(knob.standing), knob.best))),
        together,
        tested,
        missing,
        len(single),
    )


def _cells_of_stages(content: RunContent) -> tuple[list[Cell], list[Cell]]:
    """Those of single knobs and their start, and those of all that helps together."""
    cells = content.run.plan.cells
    is_together = [cell.labels.get(PART) in (AGAIN, TOGETHER) for cell in cells]
    return (
        [cell for cell, is_last in zip(cells, is_together, strict=True) if not is_last],
        [cell for cell, is_last in zip(cells, is_together, strict=True) if is_last],
    )


def _not_yet(content: RunContent, cells: Sequence[Cell]) -> int:
    """How many can be measured and were not, because the run was interrupted or is still going on."""
    whole = {cell.summary.id for cell in content.cells}
    ended = {
        name for name, error in content.failed.items() if error.get("exit_code") != ExitCode.INCONCLUSIVE
    }
    return sum(not cell.impossible and cell.id not in whole | ended for cell in cells)


class _Measured(Struct, frozen=True):
    """The valid cells of a run by part and load, each by its repetition."""

    once: Mapping[tuple[str, str], Mapping[int, Once]]
    planned: Mapping[str, Cell]

    @classmethod
    def of(cls, content: RunContent) -> _Measured:
        cells = {cell.id: cell for cell in content.run.plan.cells}
        once: dict[tuple[str, str], dict[int, Once]] = {}
        for measured in content.cells:
            cell, summary = cells.get(measured.summary.id), measured.summary
            column = next(iter(summary.columns), "")
            found = Once.of(summary, column) if column and summary.valid else None
            if cell is not None and found is not None:
                key = cell.labels.get(PART, ""), cell.labels.get("load", "none")
                once.setdefault(key, {})[cell.repetition] = found
        planned = {cell.labels.get(PART, ""): cell for cell in reversed(content.run.plan.cells)}
        in_order = [part.id for part in content.run.study.parts if part.id in planned]
        return cls(once, {part: planned[part] for part in in_order})

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.planned)

    @property
    def loads(self) -> tuple[str, ...]:
        """The measured loads by name, no load first: the order of a turn is random."""
        return tuple(sorted({load for _, load in self.once}, key=lambda load: (load != "none", load)))

    def flipped(self, part: str) -> tuple[Flip, ...]:
        before = knobs_of(self.planned[START].parameters)
        return tuple(Flip.of(text) for text in knobs_of(self.planned[part].parameters) if text not in before)

    def at_start(self, load: str, figures: Sequence[str]) -> AtStart:
        found = self.once.get((START, load), {}).values()
        spreads = {
            name: spread_of([v for o in found if (v := o.figure(name)) is not None]) for name in figures
        }
        return AtStart(load, {name: spread for name, spread in spreads.items() if spread is not None})

    def trials(
        self,
        parts: Sequence[str] | Mapping[str, Any],
        base: str,
        figures: Sequence[str],
        incomplete: Statement | None,
    ) -> tuple[dict[str, tuple[Trial, ...]], int]:
        """By part its trials, with Holm over all of them, and the number of comparisons. `incomplete`: cells are not
        measured yet, and no difference is stated."""
        decisions: dict[tuple[str, str, str], Decision] = {}
        values: dict[tuple[str, str, str], PairedValues] = {}
        steps: dict[tuple[str, str, str], Steps] = {}
        keys = [
            (part, load, name) for part in parts for load in self.loads for name in figures
            if (part, load) in self.once
        ]  # fmt: skip
        for key in keys:
            part, load, name = key
            once, start = self.once[part, load], self.once.get((base, load), {})
            paired = incomplete or paired_values(once, start, name)
            if isinstance(paired, Statement):
                decisions[key] = Decision(name, "unstated", why=paired)
            else:
                values[key], steps[key] = paired, steps_of(once, start, name)
        decisions |= decided_together(values, lambda key: key[2], steps)
        by_part = {
            part: tuple(
                Trial(load, tuple(decisions[part, load, name] for name in figures))
                for load in self.loads
                if (part, load) in self.once
            )
            for part in parts
        }
        return by_part, len(values)

    def why(self, part: str, content: RunContent) -> Statement | None:
        """Why nothing of a part was measured; None if something was."""
        if any(key[0] == part for key in self.once):
            return None
        cells = [cell for cell in content.run.plan.cells if cell.labels.get(PART) == part]
        failed = [content.failed[cell.id].get("message") for cell in cells if cell.id in content.failed]
        reasons = [str(reason) for reason in (*(cell.impossible for cell in cells), *failed) if reason]
        return Statement.verbatim(reasons[0].rstrip(".")) if reasons else NOT_WHOLE()


def heading_of(figure: str) -> Text:
    """ "p99", "largest"."""
    return HEADINGS.get(figure) or f"p{float(figure) * 100:.6g}"


def _changed(load: str, decision: Decision) -> Statement:
    interval = decision.interval
    assert interval is not None
    return CHANGED(
        place=under(load),
        figure=_word(decision.figure),
        ratio=interval.ratio,
        low=interval.low,
        high=interval.high,
    )


def _word(figure: str) -> Caption | str:
    heading = heading_of(figure)
    return heading if isinstance(heading, Caption) else text_of(heading)


def _effect(row: tuple[str, Decision]) -> float:
    interval = row[1].interval
    assert interval is not None
    return min(interval.ratio, 1 / interval.ratio)


def at_start_statement(start: AtStart) -> Statement:
    figures = tuple(
        Listed((_word(name), time_text(spread.median, space=" ")), " ")
        for name, spread in start.figures.items()
    )
    return AT_START(place=under(start.load), figures=figures)


def counted_statement(advice: Advice) -> Statement | None:
    """How the differences were found; None if there is no interval."""
    intervals = [
        d.interval for knob in advice.knobs for trial in knob.trials for d in trial.decisions if d.interval
    ]
    if not intervals:
        return None
    return COUNTED(
        pairs=min(interval.pairs for interval in intervals),
        confidence=1 - LEVEL,
        tested=advice.tested,
    )
