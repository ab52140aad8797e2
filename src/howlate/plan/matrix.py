"""The matrix of a study as cells, in the study's order: its points, the probe's answers to them, and the
plan; with a warning of cells that are over before their load did something."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import HowlateError, NotPossibleError, UsageError
from howlate.model.answer import Answer, Command, FewActions
from howlate.model.capabilities import MODE, Capabilities, TestKind, with_mode
from howlate.model.decode import IN_FILE, Table, twice, unknown
from howlate.model.guest_cpus import GUEST, GuestCpus
from howlate.model.plan import Cell, Length, Plan
from howlate.model.study import EXPECTED, KERNEL, PART, REPEAT, TIMER, Order, Study, Value, spell
from howlate.plan.cost import cell_cost_s, clock_cost_s
from howlate.plan.machines import seeds_differ, with_seed
from howlate.plan.options import (
    arguments,
    check_options,
    default_values,
    find_test,
    load_specs,
    parameters_of,
    plain,
)
from howlate.words.quantities import sentence_case
from howlate.words.statement import Statement, message

TOO_SHORT = message(
    "lasting.too-short",
    "{cells} last {length}, too short for {load}: {many} {actions} fit, {least} are needed",
)
TOO_SHORT_SUPPOSED = message(
    "lasting.too-short-supposed",
    "{cells} last {length}, too short for {load}: about {many} {actions} of {each} fit, {least} are needed",
)


def too_short(cells: Iterable[tuple[Cell, Sequence[FewActions]]]) -> tuple[Statement, ...]:
    """A statement for each load and length of cells that leaves no room for the load's work: a cell that is over
    before the load's first fsync was not under that load."""
    periods: dict[tuple[str, FewActions, float], set[str]] = {}
    for cell, few in cells:
        for actions in few if not cell.impossible else ():
            key = (cell.labels.get(PART, ""), actions, cell.length.measuring_s)
            periods.setdefault(key, set()).add(cell.labels.get("period", ""))
    return tuple(_too_short(*key, at) for key, at in periods.items())


def _too_short(part: str, actions: FewActions, seconds: float, periods: set[str]) -> Statement:
    values = {
        "cells": _cells(part, sorted(periods) if all(periods) else []),
        "length": _lasting(seconds),
        "load": actions.load,
        "many": actions.many,
        "actions": actions.name,
        "least": actions.least,
    }
    if actions.supposed_s:
        return TOO_SHORT_SUPPOSED(**values, each=_lasting(actions.supposed_s))
    return TOO_SHORT(**values)


def _cells(part: str, periods: Sequence[str]) -> str:
    of = f" of the part {part}" if part else ""
    at = f" at {', '.join(periods)}" if periods else ""
    return f"the cells{of}{at}"


def _lasting(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms" if seconds < 1 else f"{seconds:.4g} s"


MOST_CELLS = 10_000
LABELLED = ("load", "period", "policy", "timer", "cpu")


class Machines(Struct, frozen=True):
    """The capabilities of a target's machines, by label; the plan has the axis `kernel` over them."""

    can: Mapping[str, Capabilities]
    impossible: Mapping[str, str]
    """Machines on which nothing can be measured, and why. They are in `can` as well, with another machine's
    capabilities."""
    seeds: int = 0
    """The number of seeds that are the repetitions of a point (virtual time); 0: the study's repetitions."""
    stream_bytes_most: int = 0
    """The largest stream that a machine can return for a cell; 0: no limit."""


class MatrixPoint(Struct, frozen=True):
    """A point of the matrix, before the probe has interpreted its options."""

    study: Study
    """The study, without parts."""
    values: Mapping[str, Value]
    options: Mapping[str, Value]
    """The options as the study spells them."""
    can: Capabilities

    @property
    def command(self) -> Command:
        return arguments(self.study.test, self.options)

    @property
    def machine(self) -> str:
        return spell(self.values.get(KERNEL, ""))


class Draft(Struct, frozen=True):
    """A study's points, before the probe has been asked about them."""

    study: Study
    points: tuple[MatrixPoint, ...]
    machines: Machines | None = None

    @property
    def commands(self) -> list[Command]:
        return list(dict.fromkeys(point.command for point in self.points))


class Planned(Struct, frozen=True):
    """A plan, and the warnings to print before anything is measured."""

    plan: Plan
    warnings: tuple[str, ...] = ()
    """The probe's warnings, each sentence once."""
    too_short: tuple[Statement, ...] = ()
    """Cells that end before their loads have done anything."""


def draft_plan(
    study: Study, can: Capabilities, most: int = MOST_CELLS, machines: Machines | None = None
) -> Draft:
    """All points of the study, which was made for these machines (`on_machines`)."""
    pieces = study.pieces() if machines is None else [_with_kernels(piece) for piece in study.pieces()]
    _not_too_many(pieces, study.order.repetitions, most)
    by_machine = {"": can} if machines is None else machines.can
    return Draft(study, tuple(point for piece in pieces for point in _points(piece, by_machine)), machines)


def make_plan(
    draft: Draft, answers: Mapping[Command, Answer], labels: Mapping[str, str] | None = None
) -> Planned:
    """All cells of the draft, with the probe's answers. `labels` (the kernel of a machine without a name) are
    added to each and are not part of its id. UsageError if an answer is one, with the place in the study."""
    _refuse(draft, answers)
    machines = draft.machines
    answered = [(point, answers[point.command]) for point in draft.points]
    once = [_cell(point, answer, machines, labels or {}) for point, answer in answered]
    if any(MODE in cell.labels for cell in once):
        once = [replace(cell, labels=with_mode(cell.labels)) for cell in once]
    _no_twins(draft.study, once)
    cells = _ordered(once, draft.study.order)
    if machines is not None and machines.seeds:
        cells = _with_seeds(cells, machines.can)
    warnings = dict.fromkeys(text for _, answer in answered for text in answer.warnings)
    few = [(cell, answer.few_actions) for cell, (_, answer) in zip(once, answered, strict=True)]
    return Planned(Plan(tuple(cells)), tuple(warnings), too_short(few))


def _refuse(draft: Draft, answers: Mapping[Command, Answer]) -> None:
    """Raise the first wrong usage. Its place is the point, or the part if every point of the part has it."""
    for point in draft.points:
        why = answers[point.command].refusal
        if not isinstance(why, UsageError):
            continue
        refusals = [
            answers[other.command].refusal for other in draft.points if other.study.part == point.study.part
        ]
        everywhere = all(
            isinstance(other, UsageError) and other.statement == why.statement for other in refusals
        )
        values = {} if everywhere and len(refusals) > 1 else point.values
        where = [point.study.name, *(f"{name} = {spell(value)}" for name, value in values.items())]
        raise UsageError(IN_FILE(file=", ".join(where), problem=why.statement))


def _with_kernels(piece: Study) -> Study:
    if KERNEL in piece.axes:
        return piece
    return replace(piece, axes={KERNEL: piece.kernels, **piece.axes})


def _not_too_many(pieces: Sequence[Study], repetitions: int, most: int) -> None:
    count = 0
    for piece in pieces:
        points = repetitions
        for values in piece.axes.values():
            points *= len(values)
        count += points
    if count > most:
        raise UsageError(
            "the matrix has {count:count} cells, more than {most:count}",
            remedy="allow it with --most-cells {allowed}",
            count=count,
            most=most,
            allowed=count,
        )


def _points(study: Study, can: Mapping[str, Capabilities]) -> list[MatrixPoint]:
    """The points that nothing excludes. The study has no parts."""
    first = next(iter(can.values()))
    try:
        test = find_test(study.test, first)
        given = {**study.settings, **{name: values[0] for name, values in study.axes.items()}}
        check_options({name: value for name, value in given.items() if name != KERNEL}, test, first)
    except UsageError as problem:
        raise UsageError(IN_FILE(file=study.name, problem=problem.statement)) from None
    exclude = [_exclusion(study, entry) for entry in study.exclude]
    points = [
        MatrixPoint(study, values, _options(study, values, first), can[spell(values.get(KERNEL, ""))])
        for values in (
            dict(zip(study.axes, row, strict=True)) for row in itertools.product(*study.axes.values())
        )
        if not any(all(plain(n, values[n]) in meant for n, meant in entry.items()) for entry in exclude)
    ]
    if not points:
        raise UsageError("{study}: every cell is excluded", remedy="remove an [[exclude]]", study=study.name)
    return points


def _options(study: Study, values: Mapping[str, Value], can: Capabilities) -> dict[str, Value]:
    options = {name: value for name, value in {**study.settings, **values}.items() if name != KERNEL}
    if "load" in options:
        try:
            options["load"] = load_specs(options["load"])
        except UsageError as problem:
            raise UsageError(IN_FILE(file=study.name, problem=problem.statement)) from None
    if can.takes(study.test, "dither") and plain("dither", options.get("dither", False)) is False:
        options.pop("seed", None)  # the seed belongs to the dither
    return options


def _with_seeds(cells: Iterable[Cell], can: Mapping[str, Capabilities]) -> Iterable[Cell]:
    """A cell's repetition is its seed; if a seed changes nothing, one is measured."""

    @cache
    def known(test: str, machine: str) -> Mapping[str, str]:
        return default_values(test, can[machine])

    for cell in cells:
        defaults = known(cell.test, cell.machine)
        if seeds_differ(cell.parameters, defaults):
            yield replace(cell, parameters=with_seed(cell.parameters, cell.repetition, defaults))
        elif cell.repetition == 1:
            yield cell


def _exclusion(study: Study, entry: Mapping[str, tuple[Value, ...]]) -> dict[str, set[object]]:
    """The values of an exclusion; a value that its axis does not have is refused. A kernel may be absent,
    because the target decides which kernels are measured."""
    meant: dict[str, set[object]] = {}
    for name, values in entry.items():
        meant[name] = {plain(name, value) for value in values}
        axis = {plain(name, value) for value in study.axes[name]}
        for value in values:
            if plain(name, value) not in axis and name != KERNEL:
                there = [spell(v) for v in study.axes[name]]
                raise Table({}, study.name, "exclude").fail(
                    unknown(f"value of the axis {name}", spell(value), there)
                )
    return meant


def _cell(point: MatrixPoint, answer: Answer, machines: Machines | None, labels: Mapping[str, str]) -> Cell:
    """The point's first repetition."""
    study, test = point.study, find_test(point.study.test, point.can)
    parameters = _parameters(point, answer, machines)
    shown = _labels(parameters, point.values, test, point.can)
    slug = [shown[name] for name in study.axes] or ([] if study.part else [test.name])
    part = {PART: study.part} if study.part else {}
    guest = GuestCpus.parse(labels.get(GUEST, "")) if machines is not None and machines.seeds else None
    length = answer.length if guest is None else answer.length_in_guest(guest.slower)
    cell = Cell(
        id=cell_id(test.name, parameters, [*part.values(), *slug], 1, point.machine),
        test=test.name,
        parameters=parameters,
        labels={**part, **labels, **shown},
        repetition=1,
        expected_s=clock_cost_s(length),
        machine=point.machine,
        starvation_expected=study.starvation == EXPECTED,
        length=length,
    )
    why = machines.impossible.get(cell.machine, "") if machines else ""
    why = why or _refusal(answer.refusal) or lacking(parameters, test, point.can)
    if machines is None:
        return replace(cell, impossible=why)
    if machines.seeds:
        cell = replace(cell, expected_s=cell_cost_s(cell))
    return replace(cell, impossible=why or _too_much(length, machines))


def _parameters(point: MatrixPoint, answer: Answer, machines: Machines | None) -> dict[str, Value]:
    """The options in canonical spelling, without flags that are off and without a seed that is the
    repetition's."""
    parameters = {name: answer.options.get(name, value) for name, value in point.options.items()}
    if machines is not None and machines.seeds:
        parameters.pop("seed", None)
    return {name: value for name, value in parameters.items() if value is not False}


def _refusal(refusal: HowlateError | None) -> str:
    if not isinstance(refusal, NotPossibleError):
        return ""
    return ". ".join(text for text in (refusal.message, sentence_case(refusal.remedy)) if text)


def lacking(parameters: Mapping[str, Value], test: TestKind, can: Capabilities) -> str:
    """The timer and knobs of a cell that its machine lacks according to its own probe's list; "" if it has
    all. A machine whose probe was not asked about the cell reports it while measuring."""
    defaults = {p.name: p.default for p in test.params}
    name = parameters.get("timer", defaults.get("timer"))
    for timer in can.timers:
        if timer.name == name and not timer.available:
            return f"{timer.name}: {timer.reason or 'this kernel does not have it'}"
    if name and can.timers and all(timer.name != name for timer in can.timers):
        return f"{name}: the probe was built without this timer (docs/cores.md says how to build one with it)"
    knobs = parameters.get("knob", ())
    wanted = {text.partition("=")[0] for text in (knobs if isinstance(knobs, tuple) else ())}
    for knob in can.knobs:
        if knob.name in wanted and not knob.available:
            return f"knob {knob.name}: {knob.reason or 'this machine does not have it'}"
    return ""


def _too_much(length: Length, machines: Machines) -> str:
    """Why the machine cannot return the result of this measurement; "" if it can."""
    needed, most = length.stream_bytes, machines.stream_bytes_most
    if not most or needed <= most:
        return ""
    return (
        f"about {needed / 2**20:,.0f} MiB of samples do not fit into a guest's window of {most / 2**20:.0f} MiB; "
        "ask for fewer activations, and for more seeds in their place"
    )


def _labels(
    parameters: Mapping[str, Value], point: Mapping[str, Value], test: TestKind, capabilities: Capabilities
) -> dict[str, str]:
    known = parameters_of(test, capabilities)
    shown: dict[str, str] = {}
    for name in LABELLED:
        if name in known:
            text = spell(parameters[name]) if name in parameters else known[name].default
            if name == "load":
                text = text or "none"
            if text:
                shown[name] = text
    for name, value in point.items():
        shown[name] = spell(
            value if name == KERNEL else parameters.get(name, () if name == "load" else False)
        )
    mode = next((timer.mode for timer in capabilities.timers if timer.name == shown.get(TIMER)), "")
    return {**shown, **({MODE: mode} if mode else {})}


def cell_id(
    test: str, parameters: Mapping[str, Value], words: Iterable[str], repetition: int, machine: str = ""
) -> str:
    """A folder's name that depends only on what is measured, never on the place in the plan."""
    what = [test, sorted(parameters.items()), *([machine] if machine else [])]
    content = json.dumps(what, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(content.encode()).hexdigest()[:10]
    slug = re.sub(r"[^a-z0-9.]+", "-", "-".join(words).lower()).strip("-.")[:60].rstrip("-.")
    return f"{slug or test}-{digest}-{repetition}"


def _no_twins(study: Study, cells: Iterable[Cell]) -> None:
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            what = ", ".join(f"{k} = {cell.labels[k]}" for k in study.names_of_axes if k in cell.labels)
            raise Table({}, study.id).fail(twice("cell", what, REPEAT))
        seen.add(cell.id)


def _ordered(once: list[Cell], order: Order) -> Iterable[Cell]:
    repetitions = range(1, order.repetitions + 1)
    if order.kind == "blocked":
        return [_repeated(cell, r) for cell in once for r in repetitions]
    cells = [[_repeated(cell, r) for cell in once] for r in repetitions]
    if order.kind == "random":
        # By a hash, so that the order is the same in every Python and each repetition is a round of its own.
        cells = [
            sorted(row, key=lambda c: hashlib.sha256(f"{order.seed}:{c.id}".encode()).digest())
            for row in cells
        ]
    return [cell for row in cells for cell in row]


def _repeated(cell: Cell, repetition: int) -> Cell:
    if repetition == cell.repetition:
        return cell
    return replace(
        cell, id=f"{cell.id.removesuffix(f'-{cell.repetition}')}-{repetition}", repetition=repetition
    )
