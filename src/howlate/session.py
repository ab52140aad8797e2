"""From a study to a run folder that is ready to be measured into: a new one, or one that goes on."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import howlate
from howlate import doctor
from howlate.errors import ExitCode, HowlateError, NotPossibleError, UsageError
from howlate.execute import Failure, Tally, locked, stream_place
from howlate.interrupts import interrupts_held
from howlate.lab.cost import cell_cost_s
from howlate.lab.parameters import NOT_CHECKED, not_checked
from howlate.model.capabilities import Capabilities
from howlate.model.decode import read_text, suggestion
from howlate.model.facts import Facts
from howlate.model.finding import Finding
from howlate.model.plan import Cell, Plan
from howlate.model.run import VIRTUAL, Run
from howlate.model.settings import Settings, places, read_settings
from howlate.model.study import Study, Value, read_study, spell
from howlate.places import ROOT, RUNS, STUDIES
from howlate.plan import (
    KERNEL,
    MOST_CELLS,
    SEEDS,
    Machines,
    apply_changes,
    differences,
    expected_stream_bytes,
    is_length_set,
    kernels_of,
    make_plan,
    on_machines,
    parse_change,
    same_plan,
    scale_study,
    scaled_words,
    seeded,
    still_to_measure,
    too_short,
    with_shared,
)
from howlate.plan.aim import aim_of
from howlate.plan.check import find_test
from howlate.plan.cpus import marked
from howlate.plan.defaults import InForce, with_settings
from howlate.reference.load import reference_path
from howlate.same import boots, check_same
from howlate.store.files import measure_again, storing
from howlate.store.run_folder import KERNELS, RUN, SUMMARY, RunFolder, file_name
from howlate.targets import Checked, Outcome, Target

NO_SETTINGS = Settings()
NOTHING: Mapping[str, str] = MappingProxyType({})
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


@dataclass(frozen=True)
class Session:
    """A run folder, and the cells that are still to be measured into it."""

    folder: RunFolder
    run: Run
    cells: tuple[Cell, ...]


def studies(folder: Path = STUDIES) -> dict[str, Path]:
    """The studies that come with howlate, by id."""
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_study(text: str, folder: Path = STUDIES) -> Study:
    """A study by its id or its file."""
    if text.endswith(".toml") or "/" in text:
        return read_study(Path(text))
    known = studies(folder)
    if text not in known:
        remedy = suggestion(text, known)
        raise UsageError(
            f'the study "{text}" is not known',
            f"{remedy.removesuffix('?')}? Or name a file that ends in .toml"
            if remedy.endswith("?")
            else f"{remedy}; or name a file that ends in .toml",
        )
    return read_study(known[text])


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
    study = apply_changes(asked.study, asked.parsed)  # as far as it can be done before the machines are asked
    study = on_machines(study, target.machines)
    seeds = _seeds(asked, target)
    if seeds:
        study = seeded(study, seeds)
    _refuse_traces(study, target)
    known, broken = ask_machines(target)
    first = next((its for its in known.values() if its.facts), next(iter(known.values())))
    in_force, scaled = _in_force(asked, study, first.can)
    study, lacking = (
        permitted(in_force.study, target, first.can) if asked.without_rights else (in_force.study, ())
    )
    machines = None if target.machines == ("",) else _machines(target, known, broken, seeds)
    wanted = spell(in_force.study.settings["policy"]) if lacking else ""
    plan, findings = _planned(study, known, first.can, machines, asked.most_cells, wanted)
    plan, notes = checked_plan(study, plan, target, broken)
    now = time.gmtime()
    places = {stream_place(expected_stream_bytes(cell, first.can)) for cell in plan.cells}
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
        stream_place=" and ".join(sorted(places, reverse=True)),
        warnings=(
            *scaled,
            *_dropped(asked, seeds),
            *lacking,
            *too_short(plan, first.can),
            *_not_checked(known),
        ),
        machines={machine: its.facts for machine, its in known.items() if machine and its.facts},
        clock=target.clock,
        settings=in_force.settings,
    )
    return Prepared(run, first.can, target, broken, _configs(target, known), notes)


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


@dataclass(frozen=True)
class Known:
    """What a machine said of itself."""

    facts: dict[str, Any]
    can: Capabilities
    impossible: str = ""
    """Why nothing can be measured on it; then facts are empty and what it can do is another's."""


def ask_machines(target: Target) -> tuple[dict[str, Known], dict[str, HowlateError]]:
    """Asks every machine of the target, as many at once as it allows; those that did not answer stand in both.

    One that answers is enough; where none does, the first one's error is raised.
    """
    labels = target.machines
    answers: dict[str, Known | HowlateError] = {}
    if target.parallel == 1 or len(labels) == 1:
        answers = {label: _ask(target, label) for label in labels}
    else:
        pool = ThreadPoolExecutor(min(target.parallel, len(labels)), "howlate-ask")
        asked: dict[str, Future[Known | HowlateError]] = {}
        try:
            with interrupts_held():  # one that is not known would not be waited for
                asked = {label: pool.submit(_ask, target, label) for label in labels}
            answers = {label: future.result() for label, future in asked.items()}
        except BaseException:
            target.stop()
            pool.shutdown(wait=False, cancel_futures=True)
            # Each ends its guest and removes what the guest had. One that was cancelled never ends for wait().
            wait(future for future in asked.values() if not future.cancelled())
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    problems = {label: answer for label, answer in answers.items() if isinstance(answer, HowlateError)}
    whole = {label: answer for label, answer in answers.items() if isinstance(answer, Known)}
    if not whole:
        raise next(iter(problems.values()))
    can = next(iter(whole.values())).can
    known = {label: whole.get(label) or _silent(problems[label], can) for label in labels}
    return known, {label: p for label, p in problems.items() if not isinstance(p, NotPossibleError)}


def _not_checked(known: Mapping[str, Known]) -> tuple[str, ...]:
    """Warnings about boot parameters of which nothing is known."""
    words = {label: Facts.from_json(its.facts).text(NOT_CHECKED) for label, its in known.items() if its.facts}
    return tuple(not_checked(label, text) for label, text in words.items() if text)


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


def _ask(target: Target, machine: str) -> Known | HowlateError:
    try:
        return Known(target.facts(machine), target.capabilities(machine))
    except HowlateError as problem:
        return problem


def _silent(problem: HowlateError, can: Capabilities) -> Known:
    return Known({}, can, problem.message if isinstance(problem, NotPossibleError) else "")


def _machines(
    target: Target, known: Mapping[str, Known], broken: Mapping[str, HowlateError], seeds: int
) -> Machines:
    return Machines(
        {label: its.can for label, its in known.items()},
        {label: its.impossible for label, its in known.items() if its.impossible},
        seeds,
        cell_cost_s if target.clock == VIRTUAL else None,
        target.stream_bytes_most,
    )


def _configs(target: Target, known: Mapping[str, Known]) -> dict[str, str]:
    texts = {label: target.config(label) for label, its in known.items() if its.facts}
    return {label: text for label, text in texts.items() if text}


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


def _knobs(plan: Plan) -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    for cell in plan.cells:
        values = cell.parameters.get("knob", ())
        for text in values if isinstance(values, tuple) else ():
            name, _, value = text.partition("=")
            wanted.setdefault(name, value)
    return wanted


def begin(prepared: Prepared, out: Path | None) -> Session:
    """A new run folder, or the one that stands at `out` if it holds the same plan."""
    return begin_run(prepared.run, out, prepared.configs)


def begin_run(run: Run, out: Path | None, configs: Mapping[str, str] = NOTHING) -> Session:
    """The same of a run by itself: one that was measured elsewhere has no target. `configs`: see `Prepared`."""
    path = out if out is not None else _new_name(run.id)
    with storing(path):
        if not path.exists():
            path.mkdir(parents=True, exist_ok=True)
        is_folder = path.is_dir()
    if not is_folder:
        return _begin(run, configs, path)  # which says so
    with locked(path):  # before a word is written: another howlate may be measuring into it
        return _begin(run, configs, path)


def _begin(run: Run, configs: Mapping[str, str], path: Path) -> Session:
    with storing(path):
        holds_a_run = (path / RUN).exists()
    if holds_a_run:
        return _go_on(run, configs, RunFolder.open(path))
    run = replace(run, configs=config_files(configs))
    folder = RunFolder.create(path, run)
    _write_configs(folder, run, configs)
    return Session(folder, run, still_to_measure(run.plan, ()))


def _new_name(run_id: str) -> Path:
    path, number = RUNS / run_id, 2
    with storing(RUNS):
        while path.exists():
            path, number = RUNS / f"{run_id}-{number}", number + 1
    return path


def check_goes_on(before: Run, now: Run, path: Path) -> None:
    """UsageError where what is asked now is another plan than that of the run folder at `path`, or of elsewhere."""
    remedy = "choose another --out, or call it as before"
    if before.study.id != now.study.id:
        raise UsageError(f"{path} holds another plan ({_described(before)})", remedy)
    if not same_plan(before.plan, now.plan):
        differ = "; ".join(differences(before.plan, now.plan))
        raise UsageError(f"{path} holds another plan ({_described(before)}): {differ}", remedy)
    if before.target != now.target:
        raise UsageError(f"{path} was measured on the target {before.target}", remedy)
    if before.clock != now.clock:
        raise UsageError(f"{path} was measured in {before.clock} time", remedy)


def _go_on(now: Run, configs: Mapping[str, str], folder: RunFolder) -> Session:
    before = folder.read_run()
    check_goes_on(before, now, folder.path)
    check_same(folder.path, before, now)
    whole = folder.whole_cells()
    cells = still_to_measure(now.plan, whole)
    if not cells:
        return Session(folder, before, ())
    warnings = [*before.warnings, f"gone on at {now.started} with {len(whole)} cells whole"]
    if before.versions != now.versions:
        warnings.append(f"begun with {_versions(before)}, gone on with {_versions(now)}")
    warnings += boots(before, now)
    run = replace(
        before,
        plan=now.plan,
        warnings=tuple(warnings),
        machines=now.machines if set(now.machines) >= set(before.machines) else before.machines,
        configs=config_files(configs) or before.configs,
    )
    _write_configs(folder, run, configs)
    folder.write_run(run)
    return Session(folder, run, cells)


def config_files(configs: Mapping[str, str]) -> dict[str, str]:
    """For each machine the file of the run folder that takes its configuration; equal ones share a file."""
    files: dict[str, str] = {}
    by_text: dict[str, str] = {}
    for label, text in configs.items():
        if text not in by_text:
            name = file_name(label)
            taken = set(by_text.values())
            tries = (f"{KERNELS}/{name}{'' if i == 1 else f'-{i}'}.config" for i in itertools.count(1))
            by_text[text] = next(file for file in tries if file not in taken)
        files[label] = by_text[text]
    return files


def _write_configs(folder: RunFolder, run: Run, configs: Mapping[str, str]) -> None:
    written = set()
    for label, file in run.configs.items():
        if label in configs and file not in written:
            folder.write_config(file, configs[label])
            written.add(file)


def _versions(run: Run) -> str:
    return ", ".join(f"{name} {version}" for name, version in run.versions.items())


def _described(run: Run) -> str:
    changes = " ".join(f"--set {k}={v}" for k, v in run.changes.items())
    scale = f"--scale {run.scale:g}" if run.scale != 1 else ""
    return " ".join(word for word in (f"study {run.study.id}", changes, scale) if word)


def newest_unfinished(study_id: str, runs: Path = RUNS) -> Path:
    """The newest run of the study below `runs` that is not whole."""
    unfinished: list[tuple[str, Path]] = []
    for path in (p.parent for p in runs.glob(f"*/{RUN}")):
        with contextlib.suppress(HowlateError):
            folder = RunFolder.open(path)
            run = folder.read_run()
            if run.study.id == study_id and still_to_measure(run.plan, folder.whole_cells()):
                unfinished.append((run.started, path))
    if unfinished:
        return max(unfinished)[1]
    raise UsageError(
        f"there is no unfinished run of {study_id} below {runs}/", "leave out --resume, or give --out DIR"
    )


def study_text(text: str, folder: Path = STUDIES) -> str:
    """The TOML of a study that `find_study` finds."""
    return read_text(studies(folder).get(text) or Path(text), UsageError)


def _gone(folder: RunFolder, cell_id: str) -> str:
    """Of a cell that was whole and is not."""
    path = folder.cell_path(cell_id)
    if path.is_dir():
        return (
            f"it was measured, but {path / SUMMARY} is gone; restore it from a copy, or {measure_again(path)}"
        )
    return f"it was measured, but {path} is gone; restore it from a copy, or measure it again with the same --out"


def reopen(folder: RunFolder) -> tuple[Session, Tally]:
    """A run as it stands: what is missing, and what is known of the cells that failed."""
    run = folder.read_run()
    whole, failed, finished = set(folder.whole_cells()), folder.failed_cells(), folder.finished_cells()
    failures = []
    for cell in run.plan.cells:
        if cell.impossible:
            failures.append(Failure(cell, ExitCode.NOT_POSSIBLE, cell.impossible))
        elif cell.id not in whole:
            message = _gone(folder, cell.id) if cell.id in finished else "not measured yet"
            error = failed.get(cell.id, {"exit_code": ExitCode.INCONCLUSIVE, "message": message})
            failures.append(Failure.from_json(cell, error))
    return Session(folder, run, still_to_measure(run.plan, whole)), Tally.of(folder, failures)
