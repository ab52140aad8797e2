"""Executes a plan: target to stream, stream to run folder, cell after cell. It prints nothing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from howlate.errors import DamagedError, ExitCode, HowlateError, StorageError, TargetError, UsageError
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Cell, Plan
from howlate.model.summary import CellSummary
from howlate.plan import expected_stream_bytes
from howlate.store.files import read_json
from howlate.store.run_folder import CELL, STREAM, RunFolder
from howlate.targets import Progress, Target

MEMORY = Path("/dev/shm")
MEMORY_BYTES_MOST = 256 * 1024 * 1024
"""A raw stream goes to memory while measuring if it is expected to stay below this, else to disk."""


@dataclass(frozen=True)
class Failure:
    """Why a cell is not whole."""

    cell: Cell
    exit_code: ExitCode
    message: str


@dataclass(frozen=True)
class Tally:
    """What became of the cells of one call."""

    whole: int
    """Of the plan, earlier calls included."""
    failures: tuple[Failure, ...]

    @property
    def exit_code(self) -> ExitCode:
        """0: what is possible here is whole; 3: nothing was possible; 2: the probe refused all; 4 else."""
        codes = {f.exit_code for f in self.failures} - {ExitCode.NOT_POSSIBLE}
        if not codes:
            return ExitCode.DONE if self.whole else ExitCode.NOT_POSSIBLE
        return ExitCode.USAGE if codes == {ExitCode.USAGE} and not self.whole else ExitCode.BROKEN


class Interrupted(KeyboardInterrupt):
    """The user or the system asked howlate to end (SIGINT, SIGTERM, SIGHUP)."""


class Listener(Protocol):
    """Is told how far a run is. `left_s` is the expected time to the end of the run."""

    def starts(self, cell: Cell, number: int, of: int, left_s: float) -> None: ...

    def progress(self, cell: Cell, progress: Progress, left_s: float) -> None: ...

    def whole(self, cell: Cell, summary: CellSummary) -> None: ...

    def failed(self, failure: Failure) -> None: ...


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One howlate at a time measures into a run folder; the lock goes with the process."""
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
) -> Tally:
    """Measures the cells in order. One that fails is kept as failed, the rest go on; a full disk ends all."""
    failures = [Failure(c, ExitCode.NOT_POSSIBLE, c.impossible) for c in plan.cells if c.impossible]
    for failure in failures:
        listener.failed(failure)
    left_s = sum(c.expected_s for c in cells)
    with locked(folder.path):
        remove_stale_memory()
        for number, cell in enumerate(cells, 1):
            listener.starts(cell, number, len(cells), left_s)
            try:
                listener.whole(cell, _measure(folder, cell, target, can, listener, left_s))
            except StorageError:
                raise
            except _NotWhole as problem:
                failures.append(problem.failure)
                listener.failed(problem.failure)
            left_s -= cell.expected_s
    return Tally(len(folder.whole_cells()), tuple(failures))


class _NotWhole(Exception):  # noqa: N818
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def _measure(
    folder: RunFolder, cell: Cell, target: Target, can: Capabilities, listener: Listener, left_s: float
) -> CellSummary:
    part = folder.start_cell(cell.id)
    with _stream_path(part, expected_stream_bytes(cell, can)) as stream:
        try:
            outcome = target.run_cell(
                cell, stream, lambda p: listener.progress(cell, p, max(0.0, left_s - p.elapsed_s))
            )
            if not outcome.measured:
                raise _NotWhole(Failure(cell, outcome.exit_code, outcome.message))
            from howlate.store.ingest import (
                ingest,
            )  # needs numpy and duckdb, which measuring need not wait for

            ingest(stream, part)
        except BaseException as problem:
            _keep(stream, part / STREAM)
            failure = _failure(cell, problem)
            folder.fail_cell(cell.id, {"exit_code": int(failure.exit_code), "message": failure.message})
            if isinstance(problem, (TargetError, DamagedError, UsageError)):
                raise _NotWhole(failure) from None
            raise
    return _summarised(folder, part, cell)


def _failure(cell: Cell, problem: BaseException) -> Failure:
    if isinstance(problem, _NotWhole):
        return problem.failure
    if isinstance(problem, KeyboardInterrupt):
        return Failure(cell, ExitCode.INCONCLUSIVE, "interrupted")
    if isinstance(problem, HowlateError):
        return Failure(cell, problem.exit_code, problem.message)
    return Failure(cell, ExitCode.BROKEN, f"{type(problem).__name__}: {problem}")


def _summarised(folder: RunFolder, part: Path, cell: Cell) -> CellSummary:
    from howlate.store.summarise import summarise

    try:
        labels = labels_in_force(cell.labels, read_json(part / CELL).get("header"))
        summary = summarise(part, cell.id, labels)
    except DamagedError as problem:
        failure = Failure(cell, ExitCode.BROKEN, problem.message)
        folder.fail_cell(cell.id, {"exit_code": int(failure.exit_code), "message": failure.message})
        raise _NotWhole(failure) from None
    if summary.stop_reason in ("stopped", "failed", ""):
        failure = Failure(
            cell, ExitCode.BROKEN, f"it ended before its end (stop reason: {summary.stop_reason or 'none'})"
        )
        folder.fail_cell(cell.id, {"exit_code": int(failure.exit_code), "message": failure.message})
        raise _NotWhole(failure)
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


def _keep(stream: Path, to: Path) -> None:
    """What a failed cell has of its stream stays in the run folder, if there is room."""
    if stream != to and stream.exists():
        with contextlib.suppress(OSError):
            shutil.copyfile(stream, to)


def stream_place(expected_bytes: int, memory: Path = MEMORY) -> str:
    """ "memory" or "disk"."""
    try:
        status = os.statvfs(memory)
    except OSError:
        return "disk"
    free = status.f_bavail * status.f_frsize
    fits = expected_bytes <= MEMORY_BYTES_MOST and free >= 2 * expected_bytes + MEMORY_BYTES_MOST // 4
    return "memory" if fits and os.access(memory, os.W_OK) else "disk"


@contextlib.contextmanager
def _stream_path(part: Path, expected_bytes: int) -> Iterator[Path]:
    if stream_place(expected_bytes) == "disk":
        stream = part / STREAM
        yield stream
        stream.unlink(missing_ok=True)  # it is in Parquet and cell.json now
        return
    # The lock tells other howlates that this folder is in use; one that was killed leaves it to the next.
    with tempfile.TemporaryDirectory(prefix="howlate-", dir=MEMORY) as name, locked(Path(name)):
        yield Path(name) / STREAM


def remove_stale_memory(memory: Path = MEMORY) -> None:
    """Streams that a killed howlate left in memory."""
    for folder in memory.glob("howlate-*"):
        with contextlib.suppress(OSError, UsageError), locked(folder):
            if folder.stat().st_uid == os.geteuid() and time.time() - folder.stat().st_mtime > 10:
                shutil.rmtree(folder)
