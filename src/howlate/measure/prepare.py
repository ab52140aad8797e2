"""Turns the command line's request into a plan that was checked against its target, and into the run to
measure."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from howlate import doctor
from howlate.errors import HowlateError, NotPossibleError, UsageError
from howlate.measure.execute import stream_place
from howlate.measure.machines import (
    KnownMachine,
    ask_machines,
    kernel_configs,
    planned_machines,
    unchecked_parameters,
)
from howlate.model.answer import Answer, Command
from howlate.model.capabilities import Capabilities
from howlate.model.decode import NOT_WITH
from howlate.model.facts import Aim, Facts, Finding
from howlate.model.guest_cpus import GuestCpus
from howlate.model.plan import Plan
from howlate.model.run import NOT_EXPLAINED, VIRTUAL, WITHOUT_RIGHT, Run
from howlate.model.study import KERNEL, Study, Value, spell
from howlate.plan.aim import aim_of
from howlate.plan.changes import (
    apply_changes,
    is_length_set,
    parse_change,
    scale_study,
    scaled_words,
    with_every_timer,
    with_shared,
)
from howlate.plan.defaults import InForce, questions_of, refuse_settings, set_by_files, with_settings
from howlate.plan.machines import SEEDS, kernels_of, on_machines, seeded
from howlate.plan.matrix import MOST_CELLS, Draft, Machines, draft_plan, make_plan
from howlate.plan.options import find_test, plain
from howlate.plan.settings import Settings, places, read_settings
from howlate.plan.turns import turns_as_gaps
from howlate.system.paths import SHARE
from howlate.system.version import __version__
from howlate.targets import Target
from howlate.words.statement import Statement, message

SCALED = message("run.scaled", "counts and durations are {scale:number} times the study's (--scale): {rows}")
SCALE_CHANGES_NOTHING = message(
    "run.scale-changes-nothing", "--scale changes nothing: --set says how long the study is"
)
SEED_CHANGES_NOTHING = message(
    "run.seed-changes-nothing",
    "a changed seed changes nothing in virtual time: each point is measured with the seeds 1 to {seeds}",
)

NO_SETTINGS = Settings()
TRACED = "break-trace"
EXPLAIN = "explain"


class RunRequest(Struct, frozen=True):
    study: Study
    changes: tuple[str, ...] = ()
    """The values of `--set`, as given."""
    scale: float = 1.0
    most_cells: int = MOST_CELLS
    given: str = ""
    """The study as the user named it, for the sentence that says how to continue."""
    without_rights: bool = False
    """If a real-time policy is not permitted, measure under SCHED_OTHER and say so."""
    explain: bool = False
    """Record what delays the samples (`explain`), if that is possible; else say why not."""
    seeds: int = 0
    """The number of seeds in virtual time; 0: the default number."""
    command: str = "run"
    """The command, for the sentence that says how to continue."""
    options: tuple[str, ...] = ()
    """Its options other than STUDY, --set, --scale, --target and --out, for the same sentence."""
    settings: Settings = NO_SETTINGS
    """Settings that rank below the study's own."""

    @property
    def parsed(self) -> list[tuple[str, tuple[str | bool, ...]]]:
        return [parse_change(text) for text in self.changes]

    @property
    def changed(self) -> dict[str, str]:
        return dict(text.split("=", 1) for text in self.changes)


class PlannedRun(Struct, frozen=True):
    """A plan that was checked against its target, and the run to measure."""

    run: Run
    can: Capabilities
    target: Target
    broken: Mapping[str, HowlateError] = field(default_factory=dict)
    """Machines that did not answer, with the error; their cells fail with it."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """The text of each machine's kernel configuration, if it is available."""
    notes: tuple[str, ...] = ()
    """The probe's warnings before anything is measured, each sentence once."""
    every_s: float = 0.0
    """From the begin of a round to that of the next, at least."""


def settings_in_force() -> Settings:
    """The settings of the program, the user and the working folder."""
    return read_settings(places(SHARE, os.environ, Path()))


def requested_kernels(asked: RunRequest) -> tuple[str, ...]:
    """The kernels that the study names after its changes: the lab's machines if the target names none."""
    changed = [values for name, values in asked.parsed if name == KERNEL]
    return tuple(map(spell, changed[-1])) if changed else kernels_of(asked.study) or asked.study.kernels


def prepare(asked: RunRequest, target: Target) -> PlannedRun:
    """Ask the target for its facts and capabilities, and make the plan. Nothing is written and nothing
    measured."""
    if asked.study.reference:
        from howlate.sides.printed_figures import find_document

        find_document(asked.study.reference)
    seeds = _seeds(asked, target)
    _refuse_traces(asked, target)
    known, broken = ask_machines(target)
    first = next((machine for machine in known.values() if machine.facts), next(iter(known.values())))
    in_force, scaled = _in_force(asked, _on_target(asked, target, seeds, first.can), first.can)
    machines = None if target.machines == ("",) else planned_machines(target, known, seeds)
    drafted = _Drafted.of(in_force.study, asked, target, first.can, machines)
    study, planned = drafted.study, make_plan(drafted.draft, drafted.answers, _labels(target, first.facts))
    plan, lacking = planned.plan, drafted.lacking
    wanted = spell(in_force.study.settings["policy"]) if lacking else ""
    aim = aim_of(plan, defaults_of(study, first.can), wanted)
    findings = _findings(known, machines, aim, here=target.name == "local")
    now = time.gmtime()
    run = Run(
        id=f"{time.strftime('%Y%m%dT%H%M%S', now)}-{study.id}",
        started=time.strftime("%Y-%m-%dT%H:%M:%SZ", now),
        study=study,
        plan=plan,
        target=target.name,
        facts=first.facts,
        findings=tuple(f.to_json() for f in findings),
        knobs=_knobs(plan),
        versions={"howlate": __version__, "probe": first.can.probe},
        changes={**asked.changed, **({"policy": "other"} if lacking else {})},
        scale=asked.scale,
        stream_place=_stream_places(plan),
        warnings=(
            *set_by_files(asked.settings),
            *scaled,
            *_dropped(asked, seeds),
            *lacking,
            *drafted.unexplained,
            *planned.too_short,
            *turns_as_gaps(plan.cells, first.can),
            *unchecked_parameters(known),
        ),
        machines={label: machine.facts for label, machine in known.items() if label and machine.facts},
        clock=target.clock,
        settings=in_force.settings,
    )
    return PlannedRun(run, first.can, target, broken, kernel_configs(target, known), planned.warnings)


def _on_target(asked: RunRequest, target: Target, seeds: int, can: Capabilities) -> Study:
    """The study after its changes, with the settings that its parts share, on the target's machines.
    UsageError if this target cannot measure it."""
    shared = with_shared(asked.study, can.takes)
    changed = with_every_timer(apply_changes(shared, asked.parsed, can.takes), can)
    study = on_machines(changed, target.machines)
    return seeded(study, seeds) if seeds else study


def _in_force(asked: RunRequest, study: Study, can: Capabilities) -> tuple[InForce, tuple[Statement, ...]]:
    in_force = with_settings(study, asked.settings, can, asked.changed)
    scaled, notes = _scale(in_force.study, asked.scale, can, tuple(asked.changed))
    return replace(in_force, study=scaled), notes


class _Drafted(Struct, frozen=True):
    """A study's points with the target's answers, and the changes that these required."""

    study: Study
    draft: Draft
    answers: Mapping[Command, Answer]
    most_cells: int = MOST_CELLS
    lacking: tuple[Statement, ...] = ()
    """That the policy is another one, and why."""
    unexplained: tuple[Statement, ...] = ()
    """Why nothing tells what delays the samples."""

    @classmethod
    def of(
        cls, study: Study, asked: RunRequest, target: Target, can: Capabilities, machines: Machines | None
    ) -> _Drafted:
        """Ask the target once; a second time if the policy is not permitted and not required."""
        questions = questions_of(asked.settings, can)
        draft = draft_plan(study, can, asked.most_cells, machines)
        commands = list(dict.fromkeys([*questions, *draft.commands]))
        answers = dict(zip(commands, target.answer(commands), strict=True))
        refuse_settings(questions, answers)
        drafted = cls(study, draft, answers, asked.most_cells)
        drafted = drafted._permitted(target, can) if asked.without_rights else drafted
        return drafted._explaining(target, can) if asked.explain else drafted

    def _permitted(self, target: Target, can: Capabilities) -> _Drafted:
        """The study under SCHED_OTHER, if its own policy is refused to this caller and SCHED_OTHER is not."""
        policy = spell(self.study.settings.get("policy", "other"))
        why = self.answers[self.draft.commands[0]].refusal
        if policy == "other" or not isinstance(why, NotPossibleError):
            return self
        other = self._with("policy", "other", target, can)
        if other.answers[other.draft.commands[0]].refusal is not None:
            return self
        return replace(other, lacking=(WITHOUT_RIGHT(policy=policy, reason=why.statement),))

    def _explaining(self, target: Target, can: Capabilities) -> _Drafted:
        """The study with a record of what delays its samples, unless the study or its user says otherwise; without it
        and with the reason where that is not possible."""
        is_told = EXPLAIN in self.study.settings or EXPLAIN in self.study.axes
        if is_told or not all(can.takes(piece.test, EXPLAIN) for piece in self.study.pieces()):
            return self
        other = self._with(EXPLAIN, value=True, target=target, can=can)
        refusals = (other.answers[command].refusal for command in other.draft.commands)
        before = {self.answers[command].refusal for command in self.draft.commands}
        why = next((each for each in refusals if each is not None and before == {None}), None)
        if why is None:
            return replace(other, lacking=self.lacking)
        return replace(self, unexplained=(NOT_EXPLAINED(reason=why.statement),))

    def _with(self, name: str, value: Value, target: Target, can: Capabilities) -> _Drafted:
        other = replace(self.study, settings={**self.study.settings, name: value})
        draft = draft_plan(other, can, self.most_cells, self.draft.machines)
        answers = dict(zip(draft.commands, target.answer(draft.commands), strict=True))
        return _Drafted(other, draft, answers, self.most_cells)


def _labels(target: Target, facts: Mapping[str, Any]) -> dict[str, str]:
    """The labels that all cells have: the kernel of a machine without a name, the CPUs of guests that are not the
    usual ones. Of a machine measured by hand they are not known yet."""
    if not facts:
        return {}
    if target.machines != ("",):
        return GuestCpus.of_facts(Facts.from_json(dict(facts)).values).labels()
    return {KERNEL: Facts.from_json(dict(facts)).text("kernel.release") or "unknown"}


def _findings(
    known: Mapping[str, KnownMachine], machines: Machines | None, aim: Aim, *, here: bool
) -> Sequence[Finding]:
    facts = {label: Facts.from_json(machine.facts) for label, machine in known.items() if machine.facts}
    if machines is not None:
        return doctor.examine_guests(facts, aim)
    return doctor.examine(facts[""], aim, here=here) if facts else ()


def defaults_of(study: Study, can: Capabilities) -> dict[str, str]:
    """The options of the first part's test that the study leaves to the probe."""
    return {p.name: p.default for p in find_test(study.pieces()[0].test, can).params}


def _refuse_traces(asked: RunRequest, target: Target) -> None:
    """Refuse traces in the lab: a trace stays in the kernel's memory, and a guest's memory vanishes with the
    guest."""
    options: dict[str, tuple[Value, ...]] = {}
    for piece in (asked.study, *asked.study.pieces()):
        options |= {f"{piece.part}.{name}": (value,) for name, value in piece.settings.items()}
        options |= {f"{piece.part}.{name}": values for name, values in piece.axes.items()}
    options |= dict(asked.parsed)
    wanted = [
        value for name, values in options.items() if name.rpartition(".")[2] == TRACED for value in values
    ]
    if target.machines != ("",) and any(plain(TRACED, value) is not False for value in wanted):
        raise NotPossibleError(
            "break-trace is not possible in the lab: the trace stays in the guest's memory, which ends with "
            "the guest",
            remedy="leave break-trace out; `howlate why RUN` explains the worst samples",
        )


def _seeds(asked: RunRequest, target: Target) -> int:
    """The number of seeds of a point; 0 in real time, where the study sets the repetitions."""
    if target.clock != VIRTUAL:
        if asked.seeds:
            raise UsageError(
                "seeds are for virtual time; in real time a cell is repeated",
                remedy="write --set order.repetitions={seeds}",
                seeds=asked.seeds,
            )
        return 0
    if any(name == "order.repetitions" for name, _ in asked.parsed):
        raise UsageError(
            "in virtual time a repetition would be identical",
            remedy="write --seeds N instead",
        )
    return asked.seeds or asked.settings.count("seeds") or SEEDS


def _scale(
    study: Study, scale: float, can: Capabilities, changed: tuple[str, ...] = ()
) -> tuple[Study, tuple[Statement, ...]]:
    """The study with its counts scaled, and the notes about that. `changed`: the names that `--set` gave."""
    parts_by_change: dict[str, list[str]] = {}
    set_by_hand: list[str] = []

    def change(piece: Study) -> Study:
        counts = find_test(piece.test, can).counts
        after = scale_study(piece, scale, counts, changed)
        if is_length_set(piece, counts, changed):
            set_by_hand.append(piece.part)
        else:
            parts_by_change.setdefault(scaled_words(piece, after), []).append(piece.part)
        return after

    after = study.each(change)
    if scale == 1:
        return after, ()
    if not parts_by_change:
        return after, (SCALE_CHANGES_NOTHING(),)
    if list(parts_by_change) == [""] and not set_by_hand:
        raise UsageError(NOT_WITH(option="--scale", other="a study without counts"))
    rows = [
        f"{', '.join(parts)}: {words}" if any(parts) else words
        for words, parts in parts_by_change.items()
        if words
    ]
    rows += [f"{', '.join(set_by_hand)}: as --set says"] if set_by_hand else []
    return after, (SCALED(scale=scale, rows="; ".join(rows)),)


def _dropped(asked: RunRequest, seeds: int) -> tuple[Statement, ...]:
    if not seeds or not any(name == "seed" for name, _ in asked.parsed):
        return ()
    return (SEED_CHANGES_NOTHING(seeds=seeds),)


def _stream_places(plan: Plan) -> str:
    places = {stream_place(cell.length.stream_bytes) for cell in plan.cells}
    return " and ".join(sorted(places, reverse=True))


def _knobs(plan: Plan) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    for cell in plan.cells:
        values = cell.parameters.get("knob", ())
        for text in values if isinstance(values, tuple) else ():
            name, _, value = text.partition("=")
            wanted.setdefault(name, value)
    return wanted
