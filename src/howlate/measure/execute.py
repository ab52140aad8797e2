"""Executes a plan: target to stream, stream to run folder, one cell after another or several at once. It
prints nothing."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import (
    REMEDIED,
    DamagedError,
    ExitCode,
    HowlateError,
    StorageError,
    TargetError,
)
from howlate.measure.pace import Pace
from howlate.model.plan import Cell, Plan
from howlate.plan.cost import kind_of
from howlate.store.files import read_json
from howlate.store.lock import locked
from howlate.store.run_folder import CELL, CONSOLE, KERNELS, STREAM, RunFolder, file_name
from howlate.system.interrupts import interrupts_held, next_of, wait_for
from howlate.system.scratch import MEMORY, free_bytes, held_folder, remove_stale
from howlate.targets import Outcome, Progress, Target
from howlate.words import say
from howlate.words.statement import Statement, message

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from howlate.model.summary import CellSummary
    from howlate.store.stream import Recording

INTERRUPTED = message("run.interrupted", "interrupted")
FAULT = message("run.fault", "{kind}: {problem}")
ENDED_EARLY = message("run.ended-early", "the probe ended early (stop reason: {reason})")

PREFIX = "howlate-"
"""The prefix of folders in memory: streams here, guests in lab/guests/scratch.py."""
MEMORY_BYTES_MOST = 256 * 1024 * 1024
"""A raw stream is kept in memory during the measurement if it is expected to stay below this size, else on
disk."""


class Failure(Struct, frozen=True):
    """Why a cell is not whole."""

    cell: Cell
    exit_code: ExitCode
    statement: Statement
    console: str = ""
    """The file in the run folder with everything that the guest wrote to its console, if there is one."""

    @property
    def message(self) -> str:
        return say.english(self.statement)

    @property
    def remedy(self) -> str:
        """What to do about it; "" if nothing is known, or if the probe's message names it."""
        return say.remedy(self.statement)

    def to_json(self) -> dict[str, Any]:
        """The content of error.json; remedy and console only if there is one."""
        texts = {"remedy": self.remedy, "console": self.console}
        value = say.to_json(self.statement)
        return {
            "exit_code": int(self.exit_code),
            "message": value.pop("text"),
            **{name: text for name, text in texts.items() if text},
            **value,
        }

    @classmethod
    def from_json(cls, cell: Cell, error: Mapping[str, Any]) -> Failure:
        """The inverse of `to_json`; whatever cannot be read counts as broken."""
        code = error.get("exit_code", ExitCode.BROKEN)
        known = isinstance(code, int) and code in set(ExitCode)
        statement = say.from_json({**error, "text": error.get("message", "")})
        if statement.text or not statement.rule:
            statement = REMEDIED(problem=statement.text, remedy=str(error.get("remedy", "")))
        exit_code = ExitCode(code) if known else ExitCode.BROKEN
        return cls(cell, exit_code, statement, str(error.get("console", "")))


class Tally(Struct, frozen=True):
    """The results of the cells in one call."""

    whole: int
    """Whole cells of the plan, including those of earlier calls."""
    failures: tuple[Failure, ...]
    exceeded: int = 0
    """Whole cells that ended at a latency above `--threshold`, including those of earlier calls."""
    inconclusive: int = 0
    """Whole cells without a conclusion: those that watched nothing, or all of them if none is valid."""

    @classmethod
    def of(cls, summaries: Sequence[CellSummary], failures: Iterable[Failure]) -> Tally:
        valid = any(summary.valid for summary in summaries)
        return cls(
            len(summaries),
            tuple(failures),
            sum(summary.at_threshold for summary in summaries),
            sum(summary.watched_nothing or not valid for summary in summaries),
        )

    @property
    def exit_code(self) -> ExitCode:
        """0: everything possible here is whole; 1: and a cell exceeded its threshold; 3: nothing was
        possible; 2: the probe refused all; 5: a cell watched nothing or none is valid, and nothing else is
        wrong; 4: otherwise."""
        codes = {f.exit_code for f in self.failures} - {ExitCode.NOT_POSSIBLE}
        if not codes and self.exceeded:
            return ExitCode.FAILED
        if not codes and self.inconclusive:
            return ExitCode.INCONCLUSIVE
        if not codes:
            return ExitCode.DONE if self.whole else ExitCode.NOT_POSSIBLE
        return ExitCode.USAGE if codes == {ExitCode.USAGE} and not self.whole else ExitCode.BROKEN


class Listener(Protocol):
    """Receives the progress of a run. `left_s` is the expected time to the end of the run, nan if nothing is
    known."""

    def starts(self, cell: Cell, number: int, of: int, left_s: float) -> None: ...

    def progress(self, cell: Cell, progress: Progress, left_s: float) -> None: ...

    def whole(self, cell: Cell, summary: CellSummary) -> None: ...

    def failed(self, failure: Failure) -> None: ...


def execute(
    folder: RunFolder,
    plan: Plan,
    cells: tuple[Cell, ...],
    target: Target,
    listener: Listener,
    broken: Mapping[str, HowlateError] | None = None,
    *,
    ends_early: bool = False,
) -> Tally:
    """Measure the cells in order, as many at once as the target allows. A failed cell is recorded as failed,
    and the rest continue; a full disk ends all. `broken`: machines that did not answer; their cells fail at
    once. `ends_early`: of cells that are measured one after the other none begins after one that its threshold
    ended, or its listener (`Enough`)."""
    failures = [
        Failure(c, ExitCode.NOT_POSSIBLE, Statement.verbatim(c.impossible))
        for c in plan.cells
        if c.impossible
    ]
    for failure in failures:
        listener.failed(failure)
    with locked(folder.path):
        remove_stale(MEMORY, PREFIX)  # streams that a killed howlate left
        # another howlate may have measured here since they were counted
        cells = tuple(c for c in cells if not folder.is_whole(c.id) and not _finished(folder, c, listener))
        for cell in (c for c in cells if broken and c.machine in broken):
            assert broken is not None
            problem = broken[cell.machine]
            console = _keep_console(folder, problem, f"{KERNELS}/{file_name(cell.machine)}.console")
            failures.append(_failed(folder, replace(_failure(cell, problem), console=console)))
            listener.failed(failures[-1])
        cells = tuple(c for c in cells if not broken or c.machine not in broken)
        if target.parallel == 1:
            failures += _one_by_one(folder, cells, target, listener, ends_early=ends_early)
        else:
            failures += _side_by_side(folder, cells, target, listener)
    return Tally.of(folder.summaries(), failures)


def pace_of(cells: Iterable[Cell], target: Target) -> Pace:
    return Pace({cell.id: (kind_of(cell), target.cost_s(cell)) for cell in cells}, target.parallel)


def _one_by_one(
    folder: RunFolder, cells: tuple[Cell, ...], target: Target, listener: Listener, *, ends_early: bool
) -> list[Failure]:
    failures = []
    pace = pace_of(cells, target)
    for number, cell in enumerate(cells, 1):
        listener.starts(cell, number, len(cells), pace.left_s())
        pace.begin(cell.id)
        begun = _Begun.at(folder, cell)

        def report(progress: Progress, cell: Cell = cell) -> None:
            pace.share(cell.id, progress.share)
            listener.progress(cell, progress, pace.left_s())

        def measure(begun: _Begun = begun, report: Callable[[Progress], None] = report) -> Outcome:
            return target.run_cell(begun.cell, begun.stream, report)

        is_last = False
        try:
            listener.whole(cell, summary := begun.finish(measure))
            is_last = ends_early and (summary.at_threshold or summary.stop_reason == "stopped")
        except _NotWhole as problem:
            failures.append(problem.failure)
            listener.failed(problem.failure)
        pace.done(cell.id)
        if is_last:
            break
    return failures


class _Begun(Struct, frozen=True):
    """A cell that is being measured: the folder for its files, and its stream for as long as that exists."""

    folder: RunFolder
    cell: Cell
    part: Path
    stream: Path
    place: contextlib.ExitStack

    @classmethod
    def at(cls, folder: RunFolder, cell: Cell) -> _Begun:
        part = folder.start_cell(cell.id)
        with contextlib.ExitStack() as stack:
            stream = stack.enter_context(_stream_path(part, cell.length.stream_bytes))
            return cls(folder, cell, part, stream, stack.pop_all())

    def finish(self, measure: Callable[[], Outcome]) -> CellSummary:
        """Turn the outcome into a whole cell. A failure is recorded, and raised as `_NotWhole` if it concerns
        only this cell."""
        measured = False
        try:
            with self.place:
                try:
                    outcome = measure()
                    measured = outcome.measured
                    if not measured:
                        refusal = Statement.verbatim(outcome.message)
                        raise _NotWhole(Failure(self.cell, outcome.exit_code, refusal))
                    # this needs numpy and duckdb, for which the measurement need not wait
                    from howlate.store.ingest import ingest

                    ingest(self.stream, self.part)
                except BaseException:
                    measured &= _keep(self.stream, self.part / STREAM)
                    raise
            return _summarised(self.folder, self.part, self.cell, stopped=outcome.is_cut)
        except BaseException as problem:
            again = not isinstance(problem, (KeyboardInterrupt, StorageError))
            console = _keep_console(self.folder, problem, f"cells/{self.part.name}/{CONSOLE}")
            failure = replace(_failure(self.cell, problem), console=console)
            failure = _failed(self.folder, failure, measured=measured and not again)
            if again and isinstance(problem, (_NotWhole, HowlateError)):
                raise _NotWhole(failure) from None
            raise


class _NotWhole(Exception):  # noqa: N818
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _side_by_side(
    folder: RunFolder, cells: tuple[Cell, ...], target: Target, listener: Listener
) -> list[Failure]:
    """Only `run_cell` is called from other threads; run folder and listener belong to this thread alone."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(target.parallel, "howlate-cell")
    work = _Work(folder, cells, target, listener, pool)
    try:
        return work.run()
    except BaseException:
        target.stop()
        work.keep_what_runs()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class _Work:
    """Cells in several threads: those that wait, those that run, and their reports."""

    def __init__(
        self,
        folder: RunFolder,
        cells: tuple[Cell, ...],
        target: Target,
        listener: Listener,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._folder, self._target, self._listener, self._pool = (
            folder,
            target,
            listener,
            pool,
        )
        self._waiting = deque(enumerate(cells, 1))
        self._of = len(cells)
        self._pace = pace_of(cells, target)
        self._busy = 0
        self._running: dict[str, tuple[_Begun, Future[Outcome]]] = {}
        """Includes cells that have ended, until they are finished."""
        self._events: SimpleQueue[tuple[Cell, Progress | None]] = SimpleQueue()
        """Progress of a cell; None: it has ended."""

    def run(self) -> list[Failure]:
        failures = []
        self._fill()
        while self._running:
            cell, progress = next_of(self._events)
            if progress is not None:
                self._pace.share(cell.id, progress.share)
                self._listener.progress(cell, progress, self._pace.left_s())
                continue
            self._pace.done(cell.id)
            self._busy -= 1
            self._fill()  # before the stream is decoded, so that no core is idle meanwhile
            begun, future = self._running.pop(cell.id)
            began = time.monotonic()
            try:
                self._listener.whole(cell, begun.finish(future.result))
            except _NotWhole as problem:
                failures.append(problem.failure)
                self._listener.failed(problem.failure)
            self._pace.finished(cell.id, time.monotonic() - began)
        return failures

    def _fill(self) -> None:
        while self._waiting and self._busy < self._target.parallel:
            number, cell = self._waiting.popleft()
            self._listener.starts(cell, number, self._of, self._pace.left_s())
            self._pace.begin(cell.id)
            with interrupts_held():  # until the future is recorded: nobody would wait for an unrecorded one
                begun = _Begun.at(self._folder, cell)
                self._running[cell.id] = begun, self._pool.submit(self._measure, begun)
                self._busy += 1

    def _measure(self, begun: _Begun) -> Outcome:
        try:
            return self._target.run_cell(
                begun.cell, begun.stream, lambda progress: self._events.put((begun.cell, progress))
            )
        finally:
            self._events.put((begun.cell, None))

    def keep_what_runs(self) -> None:
        """After `stop`: wait for each running cell. Those that became whole meanwhile are kept, the others
        fail."""
        wait_for([future for _, future in self._running.values()])
        for begun, future in self._running.values():
            with contextlib.suppress(_NotWhole, Exception, KeyboardInterrupt):
                begun.finish(future.result)


def _keep_console(folder: RunFolder, problem: BaseException, name: str) -> str:
    """Store what a guest wrote to its console in this file of the run folder; "" if there is nothing to
    store, or no room for it."""
    text = problem.console if isinstance(problem, TargetError) else ""
    if not text:
        return ""
    with contextlib.suppress(StorageError):
        folder.write_console(name, text)
        return name
    return ""


def _failed(folder: RunFolder, failure: Failure, *, measured: bool = False) -> Failure:
    """Record the failure in error.json. `measured`: only the statistics are missing, and everything for them
    is there."""
    if not folder.is_whole(failure.cell.id):  # the disk may have become full just now
        with contextlib.suppress(StorageError):  # a full disk is reported by the error that it caused
            folder.fail_cell(failure.cell.id, failure.to_json() | ({"measured": True} if measured else {}))
    return failure


def _finished(folder: RunFolder, cell: Cell, listener: Listener) -> bool:
    """Finish a cell whose measurement was done when an earlier call ended during its statistics."""
    if not folder.is_measured(cell.id):
        return False
    from howlate.store.ingest import ingest

    part = folder.part_path(cell.id)
    try:
        if not (part / CELL).is_file():
            ingest(part / STREAM, part)
        folder.forget_failure(cell.id)
        listener.whole(cell, _summarised(folder, part, cell))
    except (_NotWhole, DamagedError):
        return False  # it will be measured again
    return True


def _failure(cell: Cell, problem: BaseException) -> Failure:
    if isinstance(problem, _NotWhole):
        return problem.failure
    if isinstance(problem, KeyboardInterrupt):
        return Failure(cell, ExitCode.INCONCLUSIVE, INTERRUPTED())
    if isinstance(problem, HowlateError):
        return Failure(cell, problem.exit_code, problem.statement)
    return Failure(cell, ExitCode.BROKEN, FAULT(kind=type(problem).__name__, problem=problem))


def take(folder: RunFolder, cell: Cell, stream: Path | Recording, *, stopped: bool = False) -> CellSummary:
    """Turn a stream that was measured elsewhere into a whole cell; the stream stays as it is. `stopped`:
    accept a measurement that was stopped before its end. An unusable stream is recorded as failed, and the
    error is raised."""
    from howlate.store.ingest import ingest

    part = folder.start_cell(cell.id)
    try:
        ingest(stream, part)
        return _summarised(folder, part, cell, stopped=stopped)
    except (_NotWhole, DamagedError) as problem:
        raise NotTakenError(_failed(folder, _failure(cell, problem))) from None


class NotTakenError(HowlateError):
    """A stream that cannot become a whole cell."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.statement)
        self.failure = failure


def _summarised(folder: RunFolder, part: Path, cell: Cell, *, stopped: bool = False) -> CellSummary:
    from howlate.store.duck import close_idle
    from howlate.store.summarise import summarise

    try:
        labels = labels_in_force(cell.labels, read_json(part / CELL).get("header"))
        summary = summarise(
            part, cell.id, labels, starvation_expected=cell.starvation_expected, repetition=cell.repetition
        )
    except DamagedError as problem:
        raise _NotWhole(_failure(cell, problem)) from None
    finally:
        if not cell.machine:  # a guest in virtual time does not notice them
            close_idle()  # its threads have no place beside the next measurement
    if summary.stop_reason in ("failed", "") or (summary.stop_reason == "stopped" and not stopped):
        raise _NotWhole(Failure(cell, ExitCode.BROKEN, ENDED_EARLY(reason=summary.stop_reason or "none")))
    folder.finish_cell(cell.id)
    return summary


def labels_in_force(labels: Mapping[str, str], header: object) -> dict[str, str]:
    """A cell's labels with the CPU and the policy that its measuring threads really had."""
    in_force = header.get("in_force") if isinstance(header, dict) else None
    threads = in_force.get("threads") if isinstance(in_force, dict) else None
    shown = dict(labels)
    rows = [t for t in threads if isinstance(t, dict)] if isinstance(threads, list) else []
    cpus = sorted({t["cpu"] for t in rows if isinstance(t.get("cpu"), int)})
    if cpus:
        shown["cpu"] = "not pinned" if cpus == [-1] else ",".join(str(cpu) for cpu in cpus)
    policies = list(dict.fromkeys(t["policy"] for t in rows if isinstance(t.get("policy"), str)))
    if policies:
        shown["policy"] = ", ".join(policies)
    return shown


def _keep(stream: Path, to: Path) -> bool:
    """Keep a failed cell's stream in the run folder, if there is room; return whether all of it is there."""
    with contextlib.suppress(OSError):
        if stream != to and stream.exists():
            shutil.copyfile(stream, to)
        return to.exists()
    return False


def stream_place(expected_bytes: int, memory: Path = MEMORY) -> str:
    """ "memory" or "disk"."""
    needed = 2 * expected_bytes + MEMORY_BYTES_MOST // 4
    return "memory" if expected_bytes <= MEMORY_BYTES_MOST and free_bytes(memory) >= needed else "disk"


@contextlib.contextmanager
def _stream_path(part: Path, expected_bytes: int) -> Iterator[Path]:
    if stream_place(expected_bytes) == "disk":
        stream = part / STREAM
        yield stream
        stream.unlink(missing_ok=True)  # the samples are in Parquet and cell.json now
        return
    with held_folder(PREFIX, MEMORY) as folder:
        yield folder / STREAM
