"""Executes a plan: target to stream, stream to run folder, cell after cell or several at once. It prints
nothing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

from howlate.errors import DamagedError, ExitCode, HowlateError, StorageError, TargetError, UsageError
from howlate.interrupts import interrupts_held
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Cell, Plan
from howlate.model.summary import CellSummary
from howlate.pace import Pace
from howlate.plan import expected_stream_bytes
from howlate.plan.cost import kind_of
from howlate.store.files import read_json, storing
from howlate.store.run_folder import CELL, CONSOLE, KERNELS, STREAM, RunFolder, file_name
from howlate.store.scratch import MEMORY, free_bytes, held_folder, remove_stale
from howlate.targets import Outcome, Progress, Target

PREFIX = "howlate-"
"""Of folders in memory: streams here, guests in lab/scratch.py."""
MEMORY_BYTES_MOST = 256 * 1024 * 1024
"""A raw stream goes to memory while measuring if it is expected to stay below this, else to disk."""


@dataclass(frozen=True)
class Failure:
    """Why a cell is not whole."""

    cell: Cell
    exit_code: ExitCode
    message: str
    remedy: str = ""
    """Where the message is howlate's; a probe's names its own."""
    console: str = ""
    """The file in the run folder that holds all that the guest wrote on its console, if there was one."""

    def to_json(self) -> dict[str, Any]:
        """As in error.json; remedy and console only where there is one."""
        found: dict[str, Any] = {"exit_code": int(self.exit_code), "message": self.message}
        more = {"remedy": self.remedy, "console": self.console}
        return found | {name: text for name, text in more.items() if text}

    @classmethod
    def from_json(cls, cell: Cell, error: Mapping[str, Any]) -> Failure:
        """The inverse; what is not readable of it reads as broken."""
        code = error.get("exit_code", ExitCode.BROKEN)
        known = isinstance(code, int) and code in set(ExitCode)
        return cls(
            cell,
            ExitCode(code) if known else ExitCode.BROKEN,
            str(error.get("message", "")),
            str(error.get("remedy", "")),
            str(error.get("console", "")),
        )


@dataclass(frozen=True)
class Tally:
    """What became of the cells of one call."""

    whole: int
    """Of the plan, earlier calls included."""
    failures: tuple[Failure, ...]
    exceeded: int = 0
    """Whole cells that a latency above `--threshold` ended, earlier calls included."""
    inconclusive: int = 0
    """Whole cells that say nothing: those that watched nothing, or all of them where none is valid."""

    @classmethod
    def of(cls, folder: RunFolder, failures: Iterable[Failure]) -> Tally:
        """As the run folder stands now."""
        summaries = folder.summaries()
        valid = any(summary.valid for summary in summaries)
        return cls(
            len(summaries),
            tuple(failures),
            sum(summary.stop_reason == "threshold" for summary in summaries),
            sum(summary.watched_nothing or not valid for summary in summaries),
        )

    @property
    def exit_code(self) -> ExitCode:
        """0: what is possible here is whole; 1: and a cell exceeded its threshold; 3: nothing was possible;
        2: the probe refused all; 5: a cell watched nothing or none is valid, and nothing else is wrong; 4 else."""
        codes = {f.exit_code for f in self.failures} - {ExitCode.NOT_POSSIBLE}
        if not codes and self.exceeded:
            return ExitCode.FAILED
        if not codes and self.inconclusive:
            return ExitCode.INCONCLUSIVE
        if not codes:
            return ExitCode.DONE if self.whole else ExitCode.NOT_POSSIBLE
        return ExitCode.USAGE if codes == {ExitCode.USAGE} and not self.whole else ExitCode.BROKEN


class Listener(Protocol):
    """Is told how far a run is. `left_s` is the expected time to the end of the run, nan where nothing is known."""

    def starts(self, cell: Cell, number: int, of: int, left_s: float) -> None: ...

    def progress(self, cell: Cell, progress: Progress, left_s: float) -> None: ...

    def whole(self, cell: Cell, summary: CellSummary) -> None: ...

    def failed(self, failure: Failure) -> None: ...


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One howlate at a time measures into a run folder; the lock goes with the process."""
    with storing(folder):
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"another howlate is measuring into {folder}", "wait for it, or choose another --out"
            ) from None
        yield
    finally:
        os.close(handle)


def execute(
    folder: RunFolder,
    plan: Plan,
    cells: tuple[Cell, ...],
    target: Target,
    can: Capabilities,
    listener: Listener,
    broken: Mapping[str, HowlateError] | None = None,
) -> Tally:
    """Measures the cells in order, as many at once as the target allows. One that fails is kept as failed, the
    rest go on; a full disk ends all. `broken`: machines that did not answer; their cells fail at once."""
    failures = [Failure(c, ExitCode.NOT_POSSIBLE, c.impossible) for c in plan.cells if c.impossible]
    for failure in failures:
        listener.failed(failure)
    with locked(folder.path):
        remove_stale(MEMORY, PREFIX)  # streams that a killed howlate left
        whole = set(folder.whole_cells())  # another howlate may have measured here since they were counted
        cells = tuple(c for c in cells if c.id not in whole and not _finished(folder, c, listener))
        for cell in (c for c in cells if broken and c.machine in broken):
            assert broken is not None
            problem = broken[cell.machine]
            console = _keep_console(folder, problem, f"{KERNELS}/{file_name(cell.machine)}.console")
            failures.append(_failed(folder, replace(_failure(cell, problem), console=console)))
            listener.failed(failures[-1])
        cells = tuple(c for c in cells if not broken or c.machine not in broken)
        run = _one_by_one if target.parallel == 1 else _side_by_side
        failures += run(folder, cells, target, can, listener)
    return Tally.of(folder, failures)


def _one_by_one(
    folder: RunFolder, cells: tuple[Cell, ...], target: Target, can: Capabilities, listener: Listener
) -> list[Failure]:
    failures = []
    costs = {cell.id: target.cost_s(cell) for cell in cells}
    left_s = sum(costs.values())
    for number, cell in enumerate(cells, 1):
        listener.starts(cell, number, len(cells), left_s)
        begun = _Begun.at(folder, cell, can)

        def measure(begun: _Begun = begun, left_s: float = left_s) -> Outcome:
            return target.run_cell(
                begun.cell,
                begun.stream,
                lambda p: listener.progress(begun.cell, p, max(0.0, left_s - p.elapsed_s)),
            )

        try:
            listener.whole(cell, begun.finish(measure))
        except _NotWhole as problem:
            failures.append(problem.failure)
            listener.failed(problem.failure)
        left_s -= costs[cell.id]
    return failures


@dataclass(frozen=True)
class _Begun:
    """A cell that is being measured: where its files are made, and its stream while it lasts."""

    folder: RunFolder
    cell: Cell
    part: Path
    stream: Path
    place: contextlib.ExitStack

    @classmethod
    def at(cls, folder: RunFolder, cell: Cell, can: Capabilities) -> _Begun:
        part = folder.start_cell(cell.id)
        with contextlib.ExitStack() as stack:
            stream = stack.enter_context(_stream_path(part, expected_stream_bytes(cell, can)))
            return cls(folder, cell, part, stream, stack.pop_all())

    def finish(self, measure: Callable[[], Outcome]) -> CellSummary:
        """From the outcome to a whole cell; what went wrong is kept, and raised as `_NotWhole` if it is the
        cell's alone."""
        measured = False
        try:
            with self.place:
                try:
                    outcome = measure()
                    measured = outcome.measured
                    if not measured:
                        raise _NotWhole(Failure(self.cell, outcome.exit_code, outcome.message))
                    # needs numpy and duckdb, which measuring need not wait for
                    from howlate.store.ingest import ingest

                    ingest(self.stream, self.part)
                except BaseException:
                    measured &= _keep(self.stream, self.part / STREAM)
                    raise
            return _summarised(self.folder, self.part, self.cell)
        except BaseException as problem:
            again = not isinstance(problem, (KeyboardInterrupt, StorageError))
            console = _keep_console(self.folder, problem, f"cells/{self.part.name}/{CONSOLE}")
            failure = replace(_failure(self.cell, problem), console=console)
            failure = _failed(self.folder, failure, measured and not again)
            if again and isinstance(problem, (_NotWhole, HowlateError)):
                raise _NotWhole(failure) from None
            raise


class _NotWhole(Exception):  # noqa: N818
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _side_by_side(
    folder: RunFolder, cells: tuple[Cell, ...], target: Target, can: Capabilities, listener: Listener
) -> list[Failure]:
    """Only `run_cell` is called from other threads; run folder and listener are this thread's alone."""
    pool = ThreadPoolExecutor(target.parallel, "howlate-cell")
    work = _Work(folder, cells, target, can, listener, pool)
    try:
        return work.run()
    except BaseException:
        target.stop()
        work.keep_what_runs()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


class _Work:
    """Cells in several threads: which wait, which run, and what they report."""

    def __init__(
        self,
        folder: RunFolder,
        cells: tuple[Cell, ...],
        target: Target,
        can: Capabilities,
        listener: Listener,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._folder, self._target, self._can, self._listener, self._pool = (
            folder,
            target,
            can,
            listener,
            pool,
        )
        self._waiting = deque(enumerate(cells, 1))
        self._of = len(cells)
        self._pace = Pace({c.id: (kind_of(c), target.cost_s(c)) for c in cells}, target.parallel)
        self._busy = 0
        self._running: dict[str, tuple[_Begun, Future[Outcome]]] = {}
        """Also those that have ended, until they are finished."""
        self._events: SimpleQueue[tuple[Cell, Progress | None]] = SimpleQueue()
        """Progress of a cell; None: it has ended."""

    def run(self) -> list[Failure]:
        failures = []
        self._fill()
        while self._running:
            cell, progress = self._events.get()
            if progress is not None:
                self._pace.share(cell.id, progress.share)
                self._listener.progress(cell, progress, self._pace.left_s())
                continue
            self._pace.done(cell.id)
            self._busy -= 1
            self._fill()  # before the stream is decoded, so that no core waits for that
            begun, future = self._running.pop(cell.id)
            try:
                self._listener.whole(cell, begun.finish(future.result))
            except _NotWhole as problem:
                failures.append(problem.failure)
                self._listener.failed(problem.failure)
        return failures

    def _fill(self) -> None:
        while self._waiting and self._busy < self._target.parallel:
            number, cell = self._waiting.popleft()
            self._listener.starts(cell, number, self._of, self._pace.left_s())
            self._pace.begin(cell.id)
            with interrupts_held():  # until it is in our hands: one that is not known would not be waited for
                begun = _Begun.at(self._folder, cell, self._can)
                self._running[cell.id] = begun, self._pool.submit(self._measure, begun)
                self._busy += 1

    def _measure(self, begun: _Begun) -> Outcome:
        """In a thread of the pool."""
        try:
            return self._target.run_cell(
                begun.cell, begun.stream, lambda progress: self._events.put((begun.cell, progress))
            )
        finally:
            self._events.put((begun.cell, None))

    def keep_what_runs(self) -> None:
        """After `stop`: waits for each cell that ran. What became whole meanwhile is kept, the others fail."""
        wait([future for _, future in self._running.values()])
        for begun, future in self._running.values():
            with contextlib.suppress(_NotWhole, Exception, KeyboardInterrupt):
                begun.finish(future.result)


def _keep_console(folder: RunFolder, problem: BaseException, name: str) -> str:
    """Keeps what a guest wrote on its console in this file of the run folder; "" if there is nothing to keep, or no
    room for it."""
    text = problem.console if isinstance(problem, TargetError) else ""
    if not text:
        return ""
    with contextlib.suppress(StorageError):
        folder.write_console(name, text)
        return name
    return ""


def _failed(folder: RunFolder, failure: Failure, measured: bool = False) -> Failure:
    """Keeps it in error.json. `measured`: only the statistics are missing, and all for them is there."""
    if not folder.is_whole(failure.cell.id):  # it may just have become so
        with contextlib.suppress(StorageError):  # a full disk is told of by what it ended
            folder.fail_cell(failure.cell.id, failure.to_json() | ({"measured": True} if measured else {}))
    return failure


def _finished(folder: RunFolder, cell: Cell, listener: Listener) -> bool:
    """Makes a cell whole whose measurement was done when an earlier call ended amid its statistics."""
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
        return False  # it is measured again
    return True


def _failure(cell: Cell, problem: BaseException) -> Failure:
    if isinstance(problem, _NotWhole):
        return problem.failure
    if isinstance(problem, KeyboardInterrupt):
        return Failure(cell, ExitCode.INCONCLUSIVE, "interrupted")
    if isinstance(problem, HowlateError):
        return Failure(cell, problem.exit_code, problem.message, problem.remedy)
    return Failure(cell, ExitCode.BROKEN, f"{type(problem).__name__}: {problem}")


def take(folder: RunFolder, cell: Cell, stream: Path, stopped: bool = False) -> CellSummary:
    """Makes a cell whole of a stream that was measured elsewhere, which stays as it is. `stopped`: also where the
    measurement was stopped before its end. What cannot be used is kept as failed, and raised."""
    from howlate.store.ingest import ingest

    part = folder.start_cell(cell.id)
    try:
        ingest(stream, part)
        return _summarised(folder, part, cell, stopped)
    except (_NotWhole, DamagedError) as problem:
        raise NotTakenError(_failed(folder, _failure(cell, problem))) from None


class NotTakenError(HowlateError):
    """A stream that makes no whole cell."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, failure.remedy)
        self.failure = failure


def _summarised(folder: RunFolder, part: Path, cell: Cell, stopped: bool = False) -> CellSummary:
    from howlate.store.summarise import summarise

    try:
        labels = labels_in_force(cell.labels, read_json(part / CELL).get("header"))
        summary = summarise(part, cell.id, labels, cell.starvation_expected)
    except DamagedError as problem:
        raise _NotWhole(_failure(cell, problem)) from None
    if summary.stop_reason in ("failed", "") or (summary.stop_reason == "stopped" and not stopped):
        why = f"it ended before its end (stop reason: {summary.stop_reason or 'none'})"
        raise _NotWhole(Failure(cell, ExitCode.BROKEN, why))
    folder.finish_cell(cell.id)
    return summary


def labels_in_force(labels: Mapping[str, str], header: object) -> dict[str, str]:
    """A cell's labels with the CPU and the policy that its measuring threads really had."""
    in_force = header.get("in_force") if isinstance(header, dict) else None
    threads = in_force.get("threads") if isinstance(in_force, dict) else None
    found = dict(labels)
    rows = [t for t in threads if isinstance(t, dict)] if isinstance(threads, list) else []
    cpus = sorted({t["cpu"] for t in rows if isinstance(t.get("cpu"), int)})
    if cpus:
        found["cpu"] = "not pinned" if cpus == [-1] else ",".join(str(cpu) for cpu in cpus)
    policies = list(dict.fromkeys(t["policy"] for t in rows if isinstance(t.get("policy"), str)))
    if policies:
        found["policy"] = ", ".join(policies)
    return found


def _keep(stream: Path, to: Path) -> bool:
    """What a failed cell has of its stream stays in the run folder, if there is room; whether all of it is
    there."""
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
        stream.unlink(missing_ok=True)  # it is in Parquet and cell.json now
        return
    with held_folder(PREFIX, MEMORY) as folder:
        yield folder / STREAM
