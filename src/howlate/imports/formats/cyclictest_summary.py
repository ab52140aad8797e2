"""The line that cyclictest prints of each thread (-q, or the last of a screen): cycles, minimum, mean, maximum."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from howlate.imports.formats._checks import NS, US, UnitEvidence, checked, unit_of
from howlate.imports.formats._foreign import Foreign, ForeignSeries, histogram_known, importer
from howlate.imports.formats._rt_tests import broken_off
from howlate.imports.formats._text import Line, command_in, ended, log_head, log_lines
from howlate.imports.formats.cyclictest import BEGINS
from howlate.model.columns import LATENCY
from howlate.model.stated import Stated
from howlate.model.units import format_duration

_THREAD = re.compile(
    r"T: *([0-9]{1,6}) \( *([0-9]{1,10})\) P: *([0-9]{1,3}) I:([0-9]{1,12}) C: *([0-9]{1,18}) "
    r"Min:( *-?[0-9]{1,18}) Act:( *-?[0-9]{1,18}) Avg:( *-?[0-9]{1,18}) Max:( *-?[0-9]{1,18})"
    r"(?: SMI: *([0-9]{1,18}))?"
)
_BEGINS = re.compile(r"^T: *[0-9]{1,6} \( *[0-9]{1,10}\) P: *[0-9]{1,3} I:", re.MULTILINE)
_SPIKE = re.compile(r"T: *[0-9]{1,6} Spike: ")
_BROKEN = re.compile(r"# Break value: ([0-9]{1,18})")
_WIDTHS = (7, 5, 5, 8)
"""Of the four figures at least, as cyclictest prints them."""
_WIDTH_NS = 8
"""The width of the last and the mean latency with -N, at least."""


class _Thread(Struct, frozen=True):
    line: Line
    number: int
    task: int
    priority: int
    period_us: int
    cycles: int
    figures: tuple[str, ...]
    """Minimum, last, mean and maximum, with the blanks before them."""
    smi: int | None

    @property
    def smallest(self) -> str:
        return self.figures[0].strip()

    @property
    def mean(self) -> str:
        return self.figures[2].strip()

    @property
    def largest(self) -> str:
        return self.figures[3].strip()

    @property
    def unit(self) -> int | None:
        """The unit in nanoseconds that the widths of its figures give away; None where blanks were lost, or where a
        number is as long as either."""
        if any(len(figure) < width for figure, width in zip(self.figures, _WIDTHS, strict=True)):
            return None
        _, last, mean, _ = self.figures
        if min(len(last), len(mean)) < _WIDTH_NS:
            return US
        return NS if any(len(word) == _WIDTH_NS and word.startswith(" ") for word in (last, mean)) else None


def recognises(path: Path) -> bool:
    text = log_head(path)
    return bool(_BEGINS.search(text)) and BEGINS not in text


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    """Of a thread's lines the last: the screen prints it over and over."""
    threads, command, broken = _last_lines(path)
    some = [thread for thread in threads if thread.cycles]
    if not some:
        raise threads[-1].line.wrong("no thread has measured anything")
    unit = _unit(mapping, path, some, command)
    series, contradictions = checked([_series(thread, unit) for thread in some], path)
    priority = max(thread.priority for thread in some)
    periods = {thread.period_us for thread in some}
    period = {"period": format_duration(1000 * min(periods))} if len(periods) == 1 and min(periods) else {}
    return Foreign(
        path,
        "cyclictest",
        (LATENCY,),
        series,
        known=histogram_known(series, unit),
        parameters={**period, "late-policy": "skip"},
        policy=f"fifo:{priority}" if priority else "other",
        contradictions=contradictions,
        notes=(*_asleep(threads), *broken_off(path, broken)),
        outcomes=_smi(some),
    )


def _last_lines(path: Path) -> tuple[list[_Thread], str, int | None]:
    """The last line of each thread, the command line, and the value at which -b ended the measurement."""
    threads: dict[int, _Thread] = {}
    command, broken, last = "", None, None
    for last in log_lines(path):
        text = last.text.strip()
        if text.startswith("T:") and not _SPIKE.match(text):
            thread = _of_thread(last, text)
            _goes_on(threads.get(thread.number), thread)
            threads[thread.number] = thread
        elif found := _BROKEN.fullmatch(text):
            broken = int(found[1])
        else:
            command = command_in(text) or command
    last = ended(path, last, "" if threads else "it has no line of a thread")
    if missing := set(range(max(threads))) - set(threads):
        raise last.wrong(f"the line of thread {min(missing)} is missing")
    return list(threads.values()), command, broken


def _of_thread(line: Line, text: str) -> _Thread:
    match = _THREAD.fullmatch(text)
    if match is None:
        raise line.wrong(f'"{text[:60]}" is not the line of a thread')
    number, task, priority, period, cycles = (int(word) for word in match.groups()[:5])
    smi = match[10]
    return _Thread(
        line, number, task, priority, period, cycles, match.groups()[5:9], None if smi is None else int(smi)
    )


def _goes_on(before: _Thread | None, now: _Thread) -> None:
    """A screen prints a thread's line over and over; one that cannot follow the line before it is of another run."""
    if before is None:
        return
    same = before.period_us == now.period_us and before.task in (0, now.task)
    wider = not before.cycles or (
        int(now.smallest) <= int(before.smallest) and int(now.largest) >= int(before.largest)
    )
    if not same or not wider or now.cycles < before.cycles:
        raise now.line.second()
    if now.cycles == before.cycles and now.cycles and now.line.number == before.line.number + 1:
        raise now.line.wrong(f"the line of thread {now.number} is given twice")


def _unit(mapping: Mapping[str, str], path: Path, threads: Sequence[_Thread], command: str) -> int:
    seen = {thread.unit for thread in threads} - {None}
    evidence = UnitEvidence(
        stated=seen.pop() if len(seen) == 1 else None,
        command=command,
        means=[float(thread.mean) for thread in threads],
        period_us=max(thread.period_us for thread in threads),
    )
    return unit_of(mapping, path, evidence)


def _series(thread: _Thread, unit: int) -> ForeignSeries:
    for figure in (thread.smallest, thread.mean, thread.largest):
        thread.line.ns(figure, unit)
    stated = Stated(
        LATENCY,
        thread.number,
        -1,
        unit,
        min=thread.smallest,
        mean=thread.mean,
        max=thread.largest,
        count=thread.cycles,
        beyond=thread.cycles,
    )
    return ForeignSeries(stated, {}, thread.line.number)


def _asleep(threads: Sequence[_Thread]) -> list[str]:
    return [
        f"{its.line.path}, line {its.line.number}: thread {its.number} never woke and has no latency: it is left out"
        for its in threads
        if not its.cycles
    ]


def _smi(threads: Sequence[_Thread]) -> dict[str, int | float]:
    counted = [thread.smi for thread in threads if thread.smi is not None]
    return {"smi": max(counted)} if counted else {}


IMPORTER = importer(
    "cyclictest-summary", "the lines of cyclictest's threads (-q)", recognises, read_file, ("unit",)
)
