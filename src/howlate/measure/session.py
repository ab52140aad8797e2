"""A run folder that is ready for measurements: a new one, or one to continue, on the machine, kernel and guest on
which it began."""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import ExitCode, HowlateError, UsageError
from howlate.measure.execute import Failure, Tally
from howlate.measure.prepare import PlannedRun
from howlate.model.facts import Facts
from howlate.model.plan import Cell, Plan
from howlate.model.run import Run
from howlate.plan.resume import differences, has_all_of, has_same_points, is_same_plan, still_to_measure
from howlate.store.files import check_text, measure_again, storing
from howlate.store.lock import locked
from howlate.store.run_folder import KERNELS, RUN, SUMMARY, RunFolder, file_name
from howlate.system.paths import NO_RUN, RUNS
from howlate.words.statement import Statement, message

STARTED_ANEW = message(
    "run.started-anew",
    "the machine was rebooted before {time}: cells measured before and after may differ by that",
)
OTHER_BUILD = "another build of the probe or of QEMU, or other modules"

_SAME = {
    "kernel.release": "kernel",
    "kernel.version": "build of the kernel",
    "kernel.cmdline": "kernel command line",
    "cpu.model": "CPU",
    "cpu.online": "set of CPUs",
}
"""The facts of a machine that must stay the same for its cells. Of a guest only the first two: the lab
determines the rest."""


def check_same(path: Path, before: Run, now: Run) -> None:
    """A run continues only on the machine and under the kernel on which it began."""
    for label in before.machines.keys() & now.machines.keys() or {""}:
        was, is_now = (
            Facts.from_json(dict(run.machines[label] if label else run.facts)) for run in (before, now)
        )
        for key in list(_SAME)[: 2 if label else None]:
            then, today = was.text(key), is_now.text(key)
            if then != today and (key == "kernel.release" or None not in (then, today)):
                what = f"version of the kernel {label}" if label else _SAME[key]
                raise _other(path, what, f"{then} then, {today} now")
        _same_guest(path, label, was, is_now)


_GUEST = {
    "lab.kernel_sha256": "another file of the kernel",
    "lab.emulator": "another version of QEMU",
    "lab.arguments": "other arguments of QEMU",
}


def _same_guest(path: Path, label: str, was: Facts, is_now: Facts) -> None:
    """All cells of a run come from one guest: its key covers kernel, probe, modules and QEMU."""
    if was.text("lab.guest") == is_now.text("lab.guest"):
        return
    differences = [what for key, what in _GUEST.items() if was.text(key) != is_now.text(key)] or [OTHER_BUILD]
    raise _other(path, f"guest of {label}", ", ".join(differences))


def _other(path: Path, what: str, difference: str) -> UsageError:
    return UsageError(
        "{path} was measured on another {what}: {difference}",
        remedy="choose another --out",
        path=path,
        what=what,
        difference=difference,
    )


def boots(before: Run, now: Run) -> list[Statement]:
    """A warning if the machine was rebooted during the run: its state may have changed."""
    if before.machines or now.machines or not before.facts or not now.facts:
        return []
    was, is_now = (Facts.from_json(dict(run.facts)).text("kernel.boot_id") for run in (before, now))
    if None in (was, is_now) or was == is_now:
        return []
    return [STARTED_ANEW(time=now.started)]


if TYPE_CHECKING:
    from howlate.model.loaded import RunContent

GONE_ON = message(
    "run.gone-on",
    "continued at {time} with {count} complete cell",
    "continued at {time} with {count} complete cells",
    by="count",
)
OTHER_VERSIONS = message("run.other-versions", "begun with {before}, continued with {now}")
ENDED_EARLY = message(
    "run.ended-at-threshold",
    "the run ended at the first latency above its threshold, in cell {cells:number} of {planned:number}",
)
NOT_MEASURED = message("run.not-measured", "not measured yet")
CELL_GONE = message(
    "run.cell-gone", "it was measured, but {file} is gone; restore it from a copy, or {remedy}"
)

NOTHING: Mapping[str, str] = MappingProxyType({})


class Session(Struct, frozen=True):
    """A run folder, and the cells that are still to be measured into it."""

    folder: RunFolder
    run: Run
    cells: tuple[Cell, ...]


def begin(
    prepared: PlannedRun, out: Path | None, *, more_rounds: bool = False, more_points: bool = False
) -> Session:
    """A new run folder, or the one at `out` if it holds the same plan. `more_rounds`: or the same points, of which
    other numbers of rounds are planned. `more_points`: or one of which either has more points than the other; then
    the larger one is the run's, and the cells of the given one are measured."""
    return begin_run(prepared.run, out, prepared.configs, more_rounds=more_rounds, more_points=more_points)


def begin_run(
    run: Run,
    out: Path | None,
    configs: Mapping[str, str] = NOTHING,
    *,
    more_rounds: bool = False,
    more_points: bool = False,
) -> Session:
    """The same for a run without a target, which was measured elsewhere. `configs`: see `PlannedRun`."""
    path = out if out is not None else _new_name(run.id)
    check_text(path)
    with storing(path):
        if not path.exists():
            path.mkdir(parents=True, exist_ok=True)
        is_folder = path.is_dir()
    if not is_folder:
        return _begin(
            run, configs, path, _same(more_rounds=more_rounds, more_points=more_points)
        )  # _begin raises the error
    with locked(path):  # before anything is written: another howlate may be measuring into it
        return _begin(run, configs, path, _same(more_rounds=more_rounds, more_points=more_points))


def ended_early(session: Session, *, exceeded: bool = True) -> Session:
    """The run ends with what was measured of its plan. `exceeded`: by a threshold, which is noted."""
    run = session.run
    there = {*session.folder.whole_cells(), *session.folder.failed_cells()}
    left_out = [cell for cell in run.plan.cells if cell.id not in there and not cell.impossible]
    if not left_out:
        return session
    kept = tuple(cell for cell in run.plan.cells if cell not in left_out)
    notes = (ENDED_EARLY(cells=len(kept), planned=len(run.plan.cells)),) if exceeded else ()
    run = replace(run, plan=replace(run.plan, cells=kept), warnings=(*run.warnings, *notes))
    session.folder.write_run(run)
    return replace(session, run=run, cells=())


SamePlan = Callable[[Plan, Plan], bool]
"""Whether a folder's plan may go on as another one."""


def _same(*, more_rounds: bool, more_points: bool) -> SamePlan:
    return _either_has_all if more_points else has_same_points if more_rounds else is_same_plan


def _either_has_all(before: Plan, now: Plan) -> bool:
    return has_all_of(before, now) or has_all_of(now, before)


def _begin(run: Run, configs: Mapping[str, str], path: Path, same: SamePlan) -> Session:
    with storing(path):
        holds_a_run = (path / RUN).exists()
    if holds_a_run:
        return _go_on(run, configs, RunFolder.open(path), same)
    run = replace(run, configs=config_files(configs), token=secrets.token_hex(16))
    folder = RunFolder.create(path, run)
    _write_configs(folder, run, configs)
    return Session(folder, run, still_to_measure(run.plan, ()))


def _new_name(run_id: str) -> Path:
    path, number = RUNS / run_id, 2
    with storing(RUNS):
        while path.exists():
            path, number = RUNS / f"{run_id}-{number}", number + 1
    return path


def check_goes_on(before: Run, now: Run, path: Path, same: SamePlan = is_same_plan) -> None:
    """UsageError if the request is another plan than that of the run folder at `path`, or is for another
    machine."""
    pairs = (
        ("study", before.study.id, now.study.id),
        ("target", before.target, now.target),
        ("clock", before.clock, now.clock),
    )
    differ = [f"{what} {then}, now {today}" for what, then, today in pairs if then != today]
    if not differ and not same(before.plan, now.plan):
        differ = list(differences(before.plan, now.plan))
    if differ:
        raise UsageError(
            "{path} holds another plan ({plan}): {differences}",
            remedy="choose another --out, or call it as before",
            path=path,
            plan=_described(before),
            differences="; ".join(differ),
        )


def _go_on(now: Run, configs: Mapping[str, str], folder: RunFolder, same: SamePlan) -> Session:
    before = folder.read_run()
    check_goes_on(before, now, folder.path, same)
    check_same(folder.path, before, now)
    whole = folder.whole_cells()
    cells = still_to_measure(now.plan, whole)
    if not cells:
        return Session(folder, before, ())
    warnings = [*before.warnings, GONE_ON(time=now.started, count=len(whole))]
    if before.versions != now.versions:
        warnings.append(OTHER_VERSIONS(before=_versions(before), now=_versions(now)))
    warnings += boots(before, now)
    smaller = same is _either_has_all and not has_all_of(now.plan, before.plan)
    larger = before if smaller else now
    run = replace(
        before,
        study=replace(before.study, parts=larger.study.parts),
        plan=larger.plan,
        warnings=tuple(warnings),
        machines=now.machines if set(now.machines) >= set(before.machines) else before.machines,
        configs=config_files(configs) or before.configs,
    )
    _write_configs(folder, run, configs)
    folder.write_run(run)
    return Session(folder, run, cells)


def config_files(configs: Mapping[str, str]) -> dict[str, str]:
    """The file of the run folder for each machine's configuration; equal configurations share a file."""
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
    """The newest unfinished run of the study below `runs`."""
    unfinished: list[tuple[str, Path]] = []
    for path in (p.parent for p in runs.glob(f"*/{RUN}")):
        with contextlib.suppress(HowlateError):
            folder = RunFolder.open(path)
            run = folder.read_run()
            if run.study.id == study_id and still_to_measure(run.plan, folder.whole_cells()):
                unfinished.append((run.started, path))
    if unfinished:
        return max(unfinished)[1]
    hint = "leave out --resume, or give --out DIR"
    raise UsageError(NO_RUN(what=f"unfinished run of {study_id}", runs=runs, hint=hint))


def _gone(folder: RunFolder, cell_id: str) -> Statement:
    path = folder.cell_path(cell_id)
    if path.is_dir():
        return CELL_GONE(file=path / SUMMARY, remedy=measure_again(path))
    return CELL_GONE(file=path, remedy="measure it again with the same --out")


def reopen(folder: RunFolder, content: RunContent | None = None) -> tuple[Session, Tally]:
    """A run as stored: its missing cells, and what is known of the failed ones. `content`: the run, if it is
    already loaded."""
    from howlate.store.loaded import load_run

    content = load_run(folder.path, bins=False, kernels=False) if content is None else content
    run, failed = content.run, content.failed
    whole = {summary.id for summary in content.summaries}
    failures = []
    for cell in run.plan.cells:
        if cell.impossible:
            failures.append(Failure(cell, ExitCode.NOT_POSSIBLE, Statement.verbatim(cell.impossible)))
        elif cell.id not in whole:
            why = _gone(folder, cell.id) if cell.id in content.gone else NOT_MEASURED()
            failures.append(
                Failure.from_json(cell, failed[cell.id])
                if cell.id in failed
                else Failure(cell, ExitCode.INCONCLUSIVE, why)
            )
    return Session(folder, run, still_to_measure(run.plan, whole)), Tally.of(content.summaries, failures)
