"""The folder of a job that `howlate run STUDY --emit-job` wrote and the probe ran: the run that `run` would have
made there."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from howlate import doctor
from howlate.errors import DamagedError, ExitCode, UsageError
from howlate.execute import Failure
from howlate.importers._by_hand import with_kernel
from howlate.importers._importer import Measured, RunImporter
from howlate.model.facts import Facts
from howlate.model.plan import Cell, Plan
from howlate.model.run import Run
from howlate.model.study import KERNEL
from howlate.plan.aim import aim_of
from howlate.plan.cpus import marked
from howlate.store.elsewhere import job_folder
from howlate.store.frames import Kind
from howlate.store.job_folder import JobFolder, Line
from howlate.store.stream import StreamReader
from howlate.targets._target import Outcome, outcome_of

NOT_RUN = "not run"
INTERRUPTED = Outcome(ExitCode.INCONCLUSIVE, "interrupted")
"""The cell is missing; that somebody ended its measurement says nothing of the machine."""
_ENDED_EARLY = (ExitCode.INCONCLUSIVE, -signal.SIGTERM)
"""How a probe ends that is stopped before it has measured anything: in order, or before it takes signals."""


def recognises(path: Path) -> bool:
    return job_folder(path) is not None


def read(paths: Sequence[Path], labels: Mapping[str, str]) -> Measured:
    """Each cell from the newest results that have it whole."""
    if len(paths) != 1:
        raise UsageError(
            "several jobs cannot be imported at once", "import one after the other, each with its --out"
        )
    path = job_folder(paths[0])
    if path is None:
        raise UsageError(f"{paths[0]} is not the folder of a job", "name the folder that holds cells.job")
    for name in labels:
        if name != KERNEL:
            raise UsageError(
                f'the plan of a job has its labels, and no "{name}"', "leave --label out, or name kernel"
            )
    folder = JobFolder.open(path)
    attempts = folder.attempts()
    if not attempts:
        raise UsageError(
            f"there are no results in {path}",
            "run the job on its machine first (README.txt there says how), and copy the folder back",
        )
    found = _Found()
    for attempt in attempts:
        for number, cell in enumerate(folder.cells):
            if cell:
                found.take(cell, folder.line(attempt, number))
    facts = next((its for its in (folder.facts(one) for one in reversed(attempts)) if its), {})
    boots = _boots(found, Facts.from_json(facts)) if facts else ()
    run = _run(folder, found, Facts.from_json(facts) if facts else None, labels)
    run = replace(run, warnings=(*run.warnings, *boots))
    cells = {cell.id: cell for cell in run.plan.cells}
    failures = tuple(
        Failure(cells[cell], outcome.exit_code, outcome.message)
        for cell, outcome in found.failed.items()
        if outcome.exit_code is not ExitCode.NOT_POSSIBLE
    )
    return Measured(run, found.streams, failures)


@dataclass
class _Found:
    """What the lines left, by cell."""

    streams: dict[str, Path] = field(default_factory=dict)
    failed: dict[str, Outcome] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    """Cells whose stream goes to the end of a measurement; one that does not never replaces it."""

    def take(self, cell: str, line: Line) -> None:
        if line.status in ("", NOT_RUN):
            return
        outcome = outcome_of(_number(line.status), line.errors)
        if outcome.measured and not line.stream.is_file():
            outcome = Outcome(
                ExitCode.BROKEN, f"{line.stream} is not there, although its line says {line.status}"
            )
        reason = _stop_reason(line.stream) if outcome.measured else ""
        if reason == "stopped" or _number(line.status) in _ENDED_EARLY:
            if cell not in self.streams:
                self.failed.setdefault(cell, INTERRUPTED)
        elif outcome.measured:
            self._take_measured(cell, line.stream, reason)
        elif cell not in self.streams:
            self.failed[cell] = outcome

    def _take_measured(self, cell: str, stream: Path, reason: str) -> None:
        whole = reason not in ("", "failed")
        if cell in self.whole and not whole:
            return
        self.streams[cell] = stream
        self.failed.pop(cell, None)
        if whole:
            self.whole.add(cell)


def _stop_reason(path: Path) -> str:
    """Why the measurement ended, by the stream's trailer; "" where the stream does not go so far, or is damaged."""
    with contextlib.suppress(DamagedError), StreamReader.open(path) as stream:
        for _ in stream.batches():
            pass
        if stream.end is not None and stream.end.kind is Kind.WHOLE and stream.trailer is not None:
            return str(stream.trailer.get("stop_reason", ""))
    return ""


def _number(status: str) -> int:
    """A signal is negative, as of a process of ours."""
    word, _, number = status.partition(" ")
    text = number if word == "signal" else word
    if not text.isdecimal():
        return ExitCode.BROKEN
    return -int(text) if word == "signal" else int(text)


def _run(folder: JobFolder, found: _Found, facts: Facts | None, labels: Mapping[str, str]) -> Run:
    """The plan with what its machine said."""
    run = folder.run
    kernel = labels.get(KERNEL) or (facts.text("kernel.release") if facts else None) or "unknown"
    plan = Plan(tuple(_possible(with_kernel(cell, kernel), found) for cell in run.plan.cells))
    if facts is None:
        warning = "nothing is known of the machine: the job's first line, which asks for it, left nothing"
        return _dated(replace(run, plan=plan, warnings=(*run.warnings, warning)), found)
    plan = marked(plan, facts)
    findings = doctor.examine(facts, aim_of(plan, folder.defaults))
    run = replace(run, plan=plan, facts=facts.to_json(), findings=tuple(f.to_json() for f in findings))
    return _dated(run, found)


def _boots(found: _Found, facts: Facts) -> tuple[str, ...]:
    """A sentence where cells were measured in another boot than the facts are of; refuses another kernel's."""
    other = 0
    for path in found.streams.values():
        with (
            contextlib.suppress(DamagedError),
            StreamReader.open(path) as stream,
        ):  # its cell tells what is wrong
            its, release = stream.header.raw, facts.text("kernel.release")
            ran = its.get("facts", {}).get("kernel_release")
            if release and ran and ran != release:
                raise UsageError(
                    f"{path} was measured under the kernel {ran}, and the job's facts are of {release}",
                    "a run is of one kernel: put the results of each into a copy of the job's folder and import both",
                )
            other += its.get("boot_id") != facts.text("kernel.boot_id")
    cells = "1 cell was" if other == 1 else f"{other} cells were"
    said = f"{cells} measured in another boot of the machine than its facts: they may differ by that"
    return (said,) if other else ()


def _possible(cell: Cell, found: _Found) -> Cell:
    outcome = found.failed.get(cell.id)
    if outcome is None or outcome.exit_code is not ExitCode.NOT_POSSIBLE:
        return cell
    return replace(cell, impossible=outcome.message.rstrip("."))


def _dated(run: Run, found: _Found) -> Run:
    """With the time of its first stream, where copies keep it."""
    times = [path.stat().st_mtime for path in found.streams.values()]
    if not times:
        return run
    first = time.gmtime(min(times))
    return replace(
        run,
        id=f"{time.strftime('%Y%m%dT%H%M%S', first)}-{run.study.id}",
        started=time.strftime("%Y-%m-%dT%H:%M:%SZ", first),
    )


IMPORTER = RunImporter("job", "the folder of a job (howlate run --emit-job), as a run", recognises, read)
