"""Chrome's trace event format (JSON), which https://ui.perfetto.dev and chrome://tracing open: of each cell whose
events were recorded, a track for the tasks, interrupts and softirqs of each CPU, and for each measuring thread its
late samples and their parts. Times are since the cell's first release; where something was recorded before one,
whole milliseconds later, since Perfetto drops what has a negative time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from howlate.errors import UsageError
from howlate.model.cause import ExplainedCase
from howlate.model.trace import UNKNOWN_PRIO, CellTrace
from howlate.store.export._rows import Format, chosen, mark
from howlate.store.files import written_output
from howlate.store.loaded import load_run
from howlate.store.run_folder import RunFolder
from howlate.why.cpu_spans import HandlerFrame, Span, spans_of
from howlate.why.explained_cells import ExplainedCell, explained_cells
from howlate.why.sparse_events import completed

_OF_A_CPU = ("tasks", "interrupts", "softirqs")
"""The tracks of a CPU."""
_FIRST = 1
"""The number of the first track: 0 is the idle task's."""
_MILLISECOND_NS = 1_000_000


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """The late samples of the cells; returns their number."""
    wanted = set(chosen(run, cells))
    content = load_run(run.path)
    traces = {cell.summary.id: cell.trace for cell in content.cells if cell.trace is not None}
    marks = {cell.summary.id: mark(cell.summary) for cell in content.cells}
    explained = [cell for cell in explained_cells(content) if cell.id in wanted]
    if not any(cell.cases for cell in explained):
        raise UsageError(
            "none of these cells of {run} has a late sample with its events",
            remedy="measure with --set explain=true; `howlate why {run:shell}` says why",
            run=run.path,
        )
    shift_ns = _before_ns(traces[cell.id] for cell in explained)
    with written_output(out) as place, place.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        for number, cell in enumerate(explained, 1):
            for i, event in enumerate(_of_cell(number, cell, traces[cell.id], marks[cell.id])):
                file.write("" if number == 1 and not i else ",\n")
                json.dump(_in_us(event, shift_ns), file, ensure_ascii=False)
        file.write("\n]}\n")
    return sum(len(cell.cases) for cell in explained)


def _before_ns(traces: Iterable[CellTrace]) -> int:
    """How long before a first release something was recorded, in whole milliseconds."""
    first_ns = min(case.from_ns for trace in traces for case in trace.cases)
    return max(0, -(first_ns // _MILLISECOND_NS) * _MILLISECOND_NS)


def _in_us(event: dict[str, Any], shift_ns: int) -> dict[str, Any]:
    """The event as the format has it: in microseconds."""
    times = {"ts": event["ts"] + shift_ns} if "ts" in event else {}
    times |= {"dur": event["dur"]} if "dur" in event else {}
    return event | {name: ns / 1000 for name, ns in times.items()}


def _of_cell(pid: int, cell: ExplainedCell, trace: CellTrace, marked: str) -> Iterator[dict[str, Any]]:
    name = f"{cell.id} ({cell.name}){marked}"
    yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}}
    tid = _FIRST
    for thread in sorted({*trace.threads, *(case.case.thread for case in cell.cases)}):
        task = trace.threads.get(thread)
        called = f"{task.name} ({task.pid})" if task is not None else f"thread {thread}"
        for number, cases in enumerate(_in_turn([c for c in cell.cases if c.case.thread == thread])):
            more = f" {number + 1}" if number else ""
            yield _track(pid, tid, f"{called}: late samples{more}")
            yield _track(pid, tid + 1, f"{called}: parts{more}")
            for case in cases:
                yield from _of_case(pid, tid, case)
            tid += 2
    for cpu in sorted({event.cpu for event in trace.events}):
        for i, what in enumerate(_OF_A_CPU):
            yield _track(pid, tid + i, f"CPU {cpu}: {what}")
        for from_ns, to_ns in _windows(trace):
            kept = completed(trace.between(from_ns, to_ns), trace.recorded, trace.t0_ns)
            events = [(i, event) for i, event in enumerate(kept) if event.cpu == cpu]
            spans = spans_of(events, trace.names, from_ns, to_ns, trace.prios)
            yield from _of_spans(pid, tid, spans)
        tid += len(_OF_A_CPU)


def _in_turn(cases: Sequence[ExplainedCase]) -> list[list[ExplainedCase]]:
    """The cases of a thread divided so that those of one list do not overlap: slices of a track must not, and the
    backlog of an overrun has releases before the time stamp of the sample before."""
    tracks: list[list[ExplainedCase]] = [[]]
    for case in sorted(cases, key=lambda each: each.case.release_ns):
        free = (t for t in tracks if not t or t[-1].case.stamp_ns <= case.case.release_ns)
        track = next(free, None)
        if track is None:
            tracks.append([case])
        else:
            track.append(case)
    return tracks


def _track(pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}


def _slice(pid: int, tid: int, name: str, from_ns: int, to_ns: int, **args: Any) -> dict[str, Any]:
    where = {"ph": "X", "pid": pid, "tid": tid, "name": name}
    return {
        **where,
        "ts": from_ns,
        "dur": to_ns - from_ns,
        **({"args": args} if args else {}),
    }


def _of_case(pid: int, tid: int, explained: ExplainedCase) -> Iterator[dict[str, Any]]:
    case = explained.case
    for name, at_ns in ((f"release {case.release}", case.release_ns), ("time stamp", case.stamp_ns)):
        yield {"ph": "i", "s": "t", "pid": pid, "tid": tid, "name": name, "ts": at_ns}
    yield _slice(
        pid, tid, f"release {case.release}", case.release_ns, case.stamp_ns, latency_ns=case.latency_ns
    )
    for part in explained.parts:
        begin_ns = case.release_ns + part.from_ns
        name = " ".join(filter(None, (part.cause, part.key[1])))
        why = {"why": part.why} if part.why is not None else {}
        yield _slice(pid, tid + 1, name, begin_ns, begin_ns + part.ns, **why)


def _windows(trace: CellTrace) -> list[tuple[int, int]]:
    """The stretches whose events were kept; those that overlap are one."""
    found: list[tuple[int, int]] = []
    for case in sorted(trace.cases, key=lambda case: case.from_ns):
        if found and case.from_ns <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], case.to_ns)
        else:
            found.append((case.from_ns, case.to_ns))
    return found


def _of_spans(pid: int, tid: int, spans: Sequence[Span]) -> Iterator[dict[str, Any]]:
    yield from _running(pid, tid, spans)
    for offset, is_hard in ((1, True), (2, False)):
        opened: dict[int, tuple[HandlerFrame, int, int]] = {}
        for span in [*spans, None]:
            now = (
                {frame.number: frame for frame in _of_kind(span, is_hard=is_hard)} if span is not None else {}
            )
            for number in [number for number in opened if number not in now]:
                frame, from_ns, to_ns = opened.pop(number)
                yield _slice(pid, tid + offset, frame.name or frame.kind, from_ns, to_ns)
            if span is not None:
                for number, frame in now.items():
                    first_ns = opened[number][1] if number in opened else span.from_ns
                    opened[number] = frame, first_ns, span.to_ns


def _of_kind(span: Span, *, is_hard: bool) -> Iterator[HandlerFrame]:
    """The interrupts with the timers in them, or the softirqs with theirs."""
    is_inside = False
    for frame in span.frames:
        if frame.event != "hrtimer_expire":
            is_inside = frame.is_hard
        if is_inside is is_hard:
            yield frame


def _running(pid: int, tid: int, spans: Sequence[Span]) -> Iterator[dict[str, Any]]:
    """A slice for each interval in which one task has the CPU."""
    first = 0
    for place in range(1, len(spans) + 1):
        task = spans[first].task
        if place < len(spans) and spans[place].task.pid == task.pid:
            continue
        from_ns, to_ns = spans[first].from_ns, spans[place - 1].to_ns
        if to_ns > from_ns:
            prio = min(span.task.prio for span in spans[first:place])
            known = {} if prio == UNKNOWN_PRIO else {"prio": prio}
            yield _slice(pid, tid, f"{task.name} ({task.pid})", from_ns, to_ns, **known)
        first = place


FORMAT = Format("perfetto", ".json", "the events around the late samples, for https://ui.perfetto.dev", write)
