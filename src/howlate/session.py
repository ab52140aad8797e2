"""A run folder that is ready to be measured into: a new one, or one that goes on."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from howlate.errors import ExitCode, HowlateError, UsageError
from howlate.execute import Failure, Tally, locked
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.places import RUNS
from howlate.plan import differences, same_plan, still_to_measure
from howlate.prepare import Prepared
from howlate.same import boots, check_same
from howlate.store.files import measure_again, storing
from howlate.store.run_folder import KERNELS, RUN, SUMMARY, RunFolder, file_name

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Session:
    """A run folder, and the cells that are still to be measured into it."""

    folder: RunFolder
    run: Run
    cells: tuple[Cell, ...]


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
