"""The folder of a job that `howlate run STUDY --emit-job` wrote and the probe ran: the run that `run` would have
made there. The lines of the job's results say which stream is believed to be a cell's, and why another is not."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from howlate import doctor
from howlate.errors import REMEDIED, DamagedError, ExitCode
from howlate.imports.formats._by_hand import (
    BRIEF,
    DIFFERS,
    FACTS,
    LITTLE_KNOWN,
    MAY_CHANGE,
    SAME,
    SEVERAL_BOOTS,
    bad_label,
    breaks_off,
    other_machine,
    with_kernel,
)
from howlate.imports.formats._importer import (
    NO_MAP,
    Measured,
    RunImporter,
    date_of,
    not_imported,
    not_together,
)
from howlate.measure.execute import Failure
from howlate.model.facts import Facts
from howlate.model.plan import Cell, Plan
from howlate.model.run import Run
from howlate.model.study import KERNEL
from howlate.plan.aim import aim_of
from howlate.plan.asked_for import deviation, identity
from howlate.store.elsewhere import job_folder
from howlate.store.frames import End, EndKind
from howlate.store.job_folder import JobFolder, StoredLine
from howlate.store.stream import Header, StreamReader
from howlate.targets import Outcome, outcome_of
from howlate.words.statement import Statement

NOT_RUN = "not run"
INTERRUPTED = Outcome(ExitCode.INCONCLUSIVE, "interrupted")
"""The cell is missing; that somebody ended its measurement is not about the machine."""
AGAIN = (
    "copy the results from the machine again; or have the missing cells written (howlate run STUDY --emit-job DIR "
    "--out RUN), measure them, and import them into the same run"
)
_ENDED_EARLY = (ExitCode.INCONCLUSIVE, -signal.SIGTERM)
"""How a probe ends that is stopped before it has measured anything: in order, or before it takes signals."""


class Read(Struct, frozen=True):
    """A stream, read through once."""

    path: Path
    header: Header
    end: End
    stop_reason: str
    """Why the measurement ended, by the stream's trailer; "" where the stream does not go so far, or is damaged."""


def read_stream(path: Path) -> Read | None:
    """None where not even the head can be read: whoever takes the stream says why."""
    try:
        with StreamReader.open(path) as stream:
            for _ in stream.batches():
                pass
            end, trailer = stream.end, stream.trailer
            assert end is not None
            is_whole = end.kind is EndKind.WHOLE and trailer is not None
            return Read(
                path, stream.header, end, str((trailer or {}).get("stop_reason", "")) if is_whole else ""
            )
    except DamagedError:
        return None


class JobResults(Struct):
    """Fills up line by line, the oldest results first."""

    defaults: Mapping[str, Mapping[str, str]]
    """By test what the probe does where the plan says nothing."""
    streams: dict[str, Path] = field(default_factory=dict)
    reads: dict[str, Read] = field(default_factory=dict)
    """Of those streams whose head can be read."""
    failed: dict[str, Outcome] = field(default_factory=dict)
    refused: dict[str, Outcome] = field(default_factory=dict)
    """Cells with a stream that is another measurement's, and the outcome that says so."""
    _whole: set[str] = field(default_factory=set)
    """Cells whose stream goes to the end of a measurement; one that does not never replaces it."""
    _owners: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Whose each measurement is: the first cell that has it."""

    def take(self, cell: Cell, line: StoredLine) -> None:
        if line.linked is not None:
            self._refuse(cell, f"{line.linked} is a symbolic link")
            return
        if line.status in ("", NOT_RUN):
            return
        outcome = outcome_of(_number(line.status), line.errors)
        if outcome.measured and not line.stream.is_file():
            outcome = Outcome(
                ExitCode.BROKEN, f"{line.stream} is missing, although its line ended with {line.status}"
            )
        stream = read_stream(line.stream) if outcome.measured else None
        if (stream is not None and stream.stop_reason == "stopped") or _number(line.status) in _ENDED_EARLY:
            if cell.id not in self.streams:
                self.failed.setdefault(cell.id, INTERRUPTED)
        elif stream is not None and (doubt := self._doubt(cell, stream)):
            self._refuse(cell, doubt)
        elif outcome.measured:
            self._take_measured(cell.id, line.stream, stream)
        elif cell.id not in self.streams:
            self.failed[cell.id] = outcome

    def _doubt(self, cell: Cell, stream: Read) -> str:
        """Why a stream is not this cell's; "" where it is."""
        header = stream.header.raw
        other = deviation(cell, header, self.defaults.get(cell.test, {}))
        if other:
            return f"{stream.path} is of another cell: {other}"
        owner = self._owners.setdefault(identity(header), cell.id)
        return "" if owner == cell.id else f"{stream.path} and the cell {owner} are the same measurement"

    def _refuse(self, cell: Cell, sentence: str) -> None:
        self.refused[cell.id] = Outcome(ExitCode.BROKEN, sentence)
        if cell.id not in self.streams:
            self.failed[cell.id] = self.refused[cell.id]

    def _take_measured(self, cell: str, path: Path, stream: Read | None) -> None:
        whole = stream is not None and stream.stop_reason not in ("", "failed")
        if cell in self.streams and (stream is None or (cell in self._whole and not whole)):
            return
        self.streams[cell] = path
        self.failed.pop(cell, None)
        if stream is not None:
            self.reads[cell] = stream
        if whole:
            self._whole.add(cell)

    def remedy(self, cell: str) -> str:
        outcome = self.failed.get(cell)
        return AGAIN if outcome is not None and outcome is self.refused.get(cell) else ""

    def notes(self) -> tuple[str, ...]:
        left_out = (outcome for cell, outcome in self.refused.items() if cell in self.streams)
        return tuple(f"{outcome.message}; the cell is from other results" for outcome in left_out)


def _number(status: str) -> int:
    """A signal is negative, as of a process of ours."""
    word, _, number = status.partition(" ")
    text = number if word == "signal" else word
    if not text.isdecimal() or len(text) > 3:
        return ExitCode.BROKEN
    return -int(text) if word == "signal" else int(text)


NO_OUTPUT = "the job's first line has no output"


def recognises(path: Path) -> bool:
    return job_folder(path) is not None


def read(paths: Sequence[Path], labels: Mapping[str, str], mapping: Mapping[str, str] = NO_MAP) -> Measured:
    """Each cell from the newest results that have it whole."""
    if len(paths) != 1:
        raise not_together("jobs")
    path = job_folder(paths[0])
    if path is None:
        raise not_imported(paths[0], "it is not the folder of a job", "name the folder that holds cells.job")
    for name in labels:
        if name != KERNEL:
            raise bad_label(name, "the plan of a job has its labels: leave out --label, or name kernel")
    folder = JobFolder.open(path)
    attempts = folder.attempts()
    if not attempts:
        ignored = "".join(f"; {sentence}" for sentence in folder.ignored())
        raise not_imported(
            path,
            f"it has no results{ignored}",
            "run the job on its machine (see its README.txt), and copy the folder back",
        )
    results = JobResults(folder.defaults_by_test)
    planned = {cell.id: cell for cell in folder.run.plan.cells}
    for attempt in attempts:
        for number, cell in enumerate(folder.cells):
            if cell:
                results.take(planned[cell], folder.line(attempt, number))
    facts = next((its for its in (folder.facts(one) for one in reversed(attempts)) if its), {})
    run = _run(folder, results, Facts.from_json(facts) if facts else None, labels)
    run = replace(run, warnings=(*run.warnings, *_boots(results, facts), *_probes(results, run)))
    cells = {cell.id: cell for cell in run.plan.cells}
    failures = tuple(
        Failure(
            cells[cell], outcome.exit_code, REMEDIED(problem=outcome.message, remedy=results.remedy(cell))
        )
        for cell, outcome in results.failed.items()
        if outcome.exit_code is not ExitCode.NOT_POSSIBLE
    )
    broken = [its for its in results.reads.values() if its.end.kind is not EndKind.WHOLE]
    notes = (*folder.ignored(), *results.notes(), *(breaks_off(its.path, its.end) for its in broken))
    return Measured(
        run, results.streams, failures, notes, any(its.end.kind is EndKind.DAMAGED for its in broken)
    )


def _run(folder: JobFolder, results: JobResults, facts: Facts | None, labels: Mapping[str, str]) -> Run:
    run = folder.run
    kernel = labels.get(KERNEL) or (facts.text("kernel.release") if facts else None) or "unknown"
    plan = Plan(tuple(_possible(with_kernel(cell, kernel), results) for cell in run.plan.cells))
    if facts is None:
        return _with_date(
            replace(run, plan=plan, warnings=(*run.warnings, LITTLE_KNOWN(reason=NO_OUTPUT))), results
        )
    findings = doctor.examine(facts, aim_of(plan, folder.defaults), here=False)
    run = replace(run, plan=plan, facts=facts.to_json(), findings=tuple(f.to_json() for f in findings))
    return _with_date(run, results)


def _boots(results: JobResults, facts: Mapping[str, Any]) -> tuple[Statement, ...]:
    """A sentence where cells were measured in another boot than the facts are of, or with other CPUs online; refuses
    another machine's or kernel's."""
    if not facts:
        return ()
    known, parked = Facts.from_json(dict(facts)), []
    boots: set[object] = {known.text("kernel.boot_id")}
    for stream in results.reads.values():
        ran = stream.header.raw.get("facts")
        for name, what in SAME.items():
            ran_with = ran.get(name) if isinstance(ran, dict) else None
            in_facts = known.text(BRIEF[name])
            if not in_facts or not ran_with or ran_with == in_facts:
                continue
            if name == MAY_CHANGE:
                parked.append(
                    DIFFERS(path=stream.path, fact=what, value=ran_with, other=FACTS, before=in_facts)
                )
            else:
                raise other_machine(stream.path, what, ran_with, FACTS, in_facts)
        boots.add(stream.header.raw.get("boot_id"))
    return (*parked, SEVERAL_BOOTS(boots=len(boots))) if len(boots) > 1 else tuple(parked)


def _probes(results: JobResults, run: Run) -> tuple[Statement, ...]:
    """A sentence for each stream of another version of the probe than the job was written for."""
    written = run.versions.get("probe", "")
    versions = {str(stream.header.raw.get("probe", "")): stream.path for stream in results.reads.values()}
    return tuple(
        DIFFERS(path=path, fact="probe version", value=version, other="the job", before=written)
        for version, path in sorted(versions.items())
        if written and version not in (written, "")
    )


def _possible(cell: Cell, results: JobResults) -> Cell:
    outcome = results.failed.get(cell.id)
    if outcome is None or outcome.exit_code is not ExitCode.NOT_POSSIBLE:
        return cell
    return replace(cell, impossible=outcome.message.rstrip("."))


def _with_date(run: Run, results: JobResults) -> Run:
    """With the time of its first stream, where copies keep it."""
    times = [date_of(path.stat().st_mtime, path) for path in results.streams.values()]
    if not times:
        return run
    stamp, started = min(times)
    return replace(run, id=f"{stamp}-{run.study.id}", started=started)


IMPORTER = RunImporter("job", "the folder of a job (howlate run --emit-job), as a run", recognises, read)
