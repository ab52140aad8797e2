"""What the lines of a job left, by cell: which stream is believed to be the cell's, and why another is not."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from howlate.errors import DamagedError, ExitCode
from howlate.model.plan import Cell
from howlate.plan.asked_for import deviation, identity
from howlate.store.frames import End, EndKind
from howlate.store.job_folder import StoredLine
from howlate.store.stream import Header, StreamReader
from howlate.targets import Outcome, outcome_of

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
