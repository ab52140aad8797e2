"""From what the command line asks for to a plan that was checked against its target, and the run that it makes."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import howlate
from howlate import doctor
from howlate.errors import ExitCode, HowlateError, NotPossibleError, UsageError
from howlate.execute import stream_place
from howlate.machines import Known, ask_machines, kernel_configs, planned_machines, unchecked_parameters
from howlate.model.capabilities import Capabilities
from howlate.model.facts import Facts
from howlate.model.finding import Finding
from howlate.model.plan import Cell, Plan
from howlate.model.run import VIRTUAL, Run
from howlate.model.settings import Settings, places, read_settings
from howlate.model.study import Study, Value, spell
from howlate.places import ROOT
from howlate.plan import (
    KERNEL,
    MOST_CELLS,
    SEEDS,
    Machines,
    apply_changes,
    expected_stream_bytes,
    is_length_set,
    kernels_of,
    make_plan,
    on_machines,
    parse_change,
    scale_study,
    scaled_words,
    seeded,
    too_short,
    with_shared,
)
from howlate.plan.aim import aim_of
from howlate.plan.check import find_test
from howlate.plan.cpus import marked
from howlate.plan.defaults import InForce, with_settings
from howlate.reference.load import reference_path
from howlate.targets import Checked, Outcome, Target

NO_SETTINGS = Settings()
TRACED = "break-trace"


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    study: Study
    changes: tuple[str, ...] = ()
    """`--set`, as given."""
    scale: float = 1.0
    most_cells: int = MOST_CELLS
    given: str = ""
    """The study as it was named, for the sentence that says how to go on."""
    without_rights: bool = False
    """Where a real-time policy is not permitted, measure under SCHED_OTHER and say so."""
    seeds: int = 0
    """So many in virtual time; 0: as many as usual."""
    command: str = "run"
    """The command, for the sentence that says how to go on."""
    options: tuple[str, ...] = ()
    """Its options beside STUDY, --set, --scale, --target and --out, likewise."""
    settings: Settings = NO_SETTINGS
    """What lies below the study's own settings."""

    @property
    def parsed(self) -> list[tuple[str, tuple[str | bool, ...]]]:
        """`changes`, taken apart: name and values."""
        return [parse_change(text) for text in self.changes]

    @property
    def changed(self) -> dict[str, str]:
        """By name what stands behind its "="."""
        return dict(text.split("=", 1) for text in self.changes)


@dataclass(frozen=True)
class Prepared:
    """A plan that was checked against its target, and the run that it makes."""

    run: Run
    can: Capabilities
    target: Target
    broken: Mapping[str, HowlateError] = field(default_factory=dict)
    """Machines that did not answer, and how: their cells fail so."""
    configs: Mapping[str, str] = field(default_factory=dict)
    """The text of each machine's kernel configuration, where it is at hand."""
    notes: tuple[str, ...] = ()
    """What the probe warns of already, before anything is measured: each sentence once."""


def settings_in_force() -> Settings:
    """Those of the program's, the user's and the working folder."""
    return read_settings(places(ROOT, os.environ, Path()))


def kernels_asked(asked: Asked) -> tuple[str, ...]:
    """The kernels that the study names after its changes: the lab's machines, where the target names none."""
    study = apply_changes(asked.study, asked.parsed)
    return kernels_of(study) or study.kernels


def prepare(asked: Asked, target: Target) -> Prepared:
    """Asks the target what it is and can do, and makes the plan; nothing is written and nothing measured."""
    if asked.study.reference:
        reference_path(asked.study.reference)
    seeds = _seeds(asked, target)
    study = _on_target(asked, target, seeds)
    known, broken = ask_machines(target)
    first = next((its for its in known.values() if its.facts), next(iter(known.values())))
    in_force, scaled = _in_force(asked, study, first.can)
    study, lacking = (
        permitted(in_force.study, target, first.can) if asked.without_rights else (in_force.study, ())
    )
    machines = None if target.machines == ("",) else planned_machines(target, known, seeds)
    wanted = spell(in_force.study.settings["policy"]) if lacking else ""
    plan, findings = _planned(study, known, first.can, machines, asked.most_cells, wanted)
    plan, notes = checked_plan(study, plan, target, broken)
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
        versions={"howlate": howlate.__version__, "probe": first.can.probe},
        changes={**asked.changed, **({"policy": "other"} if lacking else {})},
        scale=asked.scale,
        stream_place=_stream_places(plan, first.can),
        warnings=(
            *scaled,
            *_dropped(asked, seeds),
            *lacking,
            *too_short(plan, first.can),
            *unchecked_parameters(known),
        ),
        machines={machine: its.facts for machine, its in known.items() if machine and its.facts},
        clock=target.clock,
        settings=in_force.settings,
    )
    return Prepared(run, first.can, target, broken, kernel_configs(target, known), notes)


def _on_target(asked: Asked, target: Target, seeds: int) -> Study:
    """The study after its changes, as far as they can be made before the machines are asked. UsageError or
    NotPossibleError where this target cannot measure it."""
    study = on_machines(apply_changes(asked.study, asked.parsed), target.machines)
    if seeds:
        study = seeded(study, seeds)
    _refuse_traces(study, target)
    return study


def _in_force(asked: Asked, study: Study, can: Capabilities) -> tuple[InForce, tuple[str, ...]]:
    """The study with what is shared by its parts, the settings below it and its scale; and what is said of that."""
    if study.parts:
        study = apply_changes(with_shared(study, can.takes), asked.parsed, can.takes)
    in_force = with_settings(study, asked.settings, can, asked.changed)
    scaled, said = _scale(in_force.study, asked.scale, can, tuple(asked.changed))
    return replace(in_force, study=scaled), said


def _planned(
    study: Study,
    known: Mapping[str, Known],
    can: Capabilities,
    machines: Machines | None,
    most_cells: int,
    wanted_policy: str,
) -> tuple[Plan, Sequence[Finding]]:
    """The plan, and what the doctor finds on the machine, or on each of them. `wanted_policy`: where the study's own
    is not permitted, so that the missing right is found."""
    facts = {machine: Facts.from_json(its.facts) for machine, its in known.items() if its.facts}
    defaults = defaults_of(study, can)
    if machines is not None:
        plan = make_plan(study, can, None, most_cells, machines)
        return plan, doctor.examine_guests(facts, aim_of(plan, defaults, wanted_policy))
    if not facts:  # the machine is to be measured by hand: it says what it is when it is
        return make_plan(study, can, None, most_cells), ()
    labels = {KERNEL: facts[""].text("kernel.release") or "unknown"}
    plan = marked(make_plan(study, can, labels, most_cells), facts[""])
    return plan, doctor.examine(facts[""], aim_of(plan, defaults, wanted_policy))


def defaults_of(study: Study, can: Capabilities) -> dict[str, str]:
    """Of the first part's test: what the probe does where the study says nothing."""
    return {p.name: p.default for p in find_test(study.pieces()[0].test, can).params}


def checked_plan(
    study: Study, plan: Plan, target: Target, broken: Collection[str] = ()
) -> tuple[Plan, tuple[str, ...]]:
    """The plan with the probe's own word on each point: what it refuses as wrong usage is raised, what is not
    possible there is marked so, with the reason. And what it warns of, each sentence once.

    A point's repetitions differ in nothing that could be refused, so its first one is asked about.
    """
    asked = {
        _point(cell): cell
        for cell in reversed(plan.cells)
        if not cell.impossible and cell.machine not in broken
    }
    checks = dict(zip(asked, target.checked(list(asked.values())), strict=True)) if asked else {}
    for point, check in reversed(checks.items()):
        if isinstance(check.refusal, UsageError):
            raise UsageError(f"{_place(study, asked[point])}: {check.refusal.message}", check.refusal.remedy)
    cells = tuple(_with_check(cell, checks.get(_point(cell))) for cell in plan.cells)
    warnings = dict.fromkeys(text for check in reversed(checks.values()) for text in check.warnings)
    return replace(plan, cells=cells), tuple(warnings)


def _point(cell: Cell) -> str:
    return cell.id.removesuffix(f"-{cell.repetition}")


def _place(study: Study, cell: Cell) -> str:
    """Where in the study a cell stands, for a sentence about it."""
    labels = {name: cell.labels[name] for name in study.names_of_axes if name in cell.labels}
    return ", ".join([study.id, *(f"{name} = {text}" for name, text in labels.items())])


def _with_check(cell: Cell, check: Checked | None) -> Cell:
    if check is None or check.refusal is None:
        return cell
    why = "; ".join(text for text in (check.refusal.message, check.refusal.remedy) if text)
    return replace(cell, impossible=why)


def _refuse_traces(study: Study, target: Target) -> None:
    """A trace stays in the kernel's memory, and a guest's memory goes with the guest."""
    asked: list[tuple[str, Value]] = []
    for piece in (study, *study.pieces()):
        asked += piece.settings.items()
        asked += [(name, value) for name, values in piece.axes.items() for value in values]
    if target.machines != ("",) and any(name == TRACED and spell(v) != "false" for name, v in asked):
        raise NotPossibleError(
            f"{TRACED} is not possible in the lab: the trace stays in the guest's memory, which ends with the guest",
            f"leave {TRACED} out; threshold alone ends a cell, and the exit code 1 tells that one was exceeded",
        )


def _seeds(asked: Asked, target: Target) -> int:
    """How many seeds a point has; 0 in real time, where repetitions are the study's."""
    if target.clock != VIRTUAL:
        if asked.seeds:
            raise UsageError(
                "seeds are for virtual time; in real time a cell is repeated",
                f"write --set order.repetitions={asked.seeds}",
            )
        return 0
    if any(name == "order.repetitions" for name, _ in asked.parsed):
        raise UsageError(
            "in virtual time a repetition would be the same to the last digit", "write --seeds N instead"
        )
    return asked.seeds or asked.settings.count("seeds") or SEEDS


def permitted(study: Study, target: Target, can: Capabilities) -> tuple[Study, tuple[str, ...]]:
    """The study under a policy that this caller may have: its own if a single activation under it succeeds.

    Only a trial tells: rights come from capabilities, limits, cgroups and security modules.
    """
    if "policy" not in study.settings or spell(study.settings["policy"]) == "other":
        return study, ()
    outcome = _trial(study, target, can)
    if outcome.exit_code is not ExitCode.NOT_POSSIBLE:
        return study, ()
    other = replace(study, settings={**study.settings, "policy": "other"})
    if not _trial(other, target, can).measured:
        return study, ()
    policy = spell(study.settings["policy"])
    return other, (f"measured under SCHED_OTHER, because {policy} is not permitted here: {outcome.message}",)


def _trial(study: Study, target: Target, can: Capabilities) -> Outcome:
    cell = next((c for c in make_plan(study, can).cells if not c.impossible), None)
    if cell is None:
        return Outcome(ExitCode.DONE)
    left_out = ("load", "duration", "warm-up")
    parameters = {name: value for name, value in cell.parameters.items() if name not in left_out}
    with tempfile.TemporaryDirectory(prefix="howlate-trial-") as folder:
        known = {p.name for p in find_test(cell.test, can).params}
        counts: dict[str, Value] = {name: "1" for name in ("activations", "points") if name in known}
        trial = replace(cell, parameters={**parameters, **counts})
        return target.run_cell(trial, Path(folder) / "stream", lambda _: None)


def _scale(
    study: Study, scale: float, can: Capabilities, changed: tuple[str, ...] = ()
) -> tuple[Study, tuple[str, ...]]:
    """The study with its counts scaled, and what is said of it. `changed`: the names that `--set` gave."""
    said: dict[str, list[str]] = {}
    set_by_hand: list[str] = []

    def change(piece: Study) -> Study:
        counts = find_test(piece.test, can).counts
        after = scale_study(piece, scale, counts, changed)
        if is_length_set(piece, counts, changed):
            set_by_hand.append(piece.part)
        else:
            said.setdefault(scaled_words(piece, after), []).append(piece.part)
        return after

    after = study.each(change)
    if scale == 1:
        return after, ()
    if not said:
        return after, ("--scale changes nothing: --set says how long the study is",)
    if list(said) == [""] and not set_by_hand:
        raise UsageError(f"{study.id} has no count that --scale could multiply", "leave --scale out")
    rows = [f"{', '.join(parts)}: {words}" if any(parts) else words for words, parts in said.items() if words]
    rows += [f"{', '.join(set_by_hand)}: as --set says"] if set_by_hand else []
    return after, (f"counts and durations are {scale:g} times the study's (--scale): {'; '.join(rows)}",)


def _dropped(asked: Asked, seeds: int) -> tuple[str, ...]:
    if not seeds or not any(name == "seed" for name, _ in asked.parsed):
        return ()
    return (
        f"a changed seed changes nothing in virtual time: each point is measured with the seeds 1 to {seeds}",
    )


def _stream_places(plan: Plan, can: Capabilities) -> str:
    """Where the raw streams go while the cells are measured."""
    places = {stream_place(expected_stream_bytes(cell, can)) for cell in plan.cells}
    return " and ".join(sorted(places, reverse=True))


def _knobs(plan: Plan) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    for cell in plan.cells:
        values = cell.parameters.get("knob", ())
        for text in values if isinstance(values, tuple) else ():
            name, _, value = text.partition("=")
            wanted.setdefault(name, value)
    return wanted
