"""The trace of a whole cell: trace_cases.parquet and trace_events.parquet, with what cell.json says of them."""

from __future__ import annotations

from pathlib import Path

from howlate.errors import DamagedError
from howlate.model.decode import Table
from howlate.model.trace import UNKNOWN_PRIO, CellTrace, TraceCase, TracedTask, TraceEvent, TraceNames
from howlate.store.duck import connection, numbers, reading, scan
from howlate.store.files import measure_again, remedied
from howlate.store.recorded import has_trace
from howlate.store.run_folder import CELL, TRACE_CASES, TRACE_EVENTS, CellFiles
from howlate.words.printable import printable

_CASES = ("thread", "release", "release_ns", "latency_ns", "from_ns", "to_ns", "state")
_EVENTS = ("time_ns", "cpu", "event", "flags", "preempt", "pid", "a", "b", "c", "d")


def trace_of(files: CellFiles) -> CellTrace | None:
    """The trace of a whole cell; None if it was measured without one. DamagedError if it is not what the probe
    writes."""
    record = files.record()
    if not has_trace(record):
        return None
    path = str(files.folder / CELL)
    files.must_be_unchanged(TRACE_CASES, TRACE_EVENTS)
    with remedied(measure_again(files.folder)):
        top = Table(record, path, "", DamagedError)
        header = top.table("header").table("in_force").table("trace")
        known = top.values.get("trailer") is not None
        trailer = top.table("trailer").table("trace") if known else Table({}, path, "trailer", DamagedError)
        kinds = [str(kind) for kind in header.items("events", required=True)]
        return CellTrace(
            _cases(files.folder),
            _events(files.folder, kinds, header),
            _threads(trailer),
            TraceNames(
                _numbered(trailer, "tasks"),
                _numbered(trailer, "irqs"),
                _numbered(trailer, "functions"),
                tuple(printable(str(name)) for name in trailer.items("ipis")),
            ),
            recorded=tuple(kinds),
            detail=header.text("detail", ""),
            absent=tuple(map(str, header.items("absent"))),
            t0_ns=top.table("header").integer("t0_ns", 0),
            event_cost_ns=_cost(trailer),
            cases_lost=trailer.integer("cases_lost", 0),
            events_lost=trailer.integer("events_lost", 0),
            events_missed=trailer.integer("events_missed", 0),
            worst=_known(header, "worst"),
            above_ns=_known(header, "above_ns"),
        )


def _cases(folder: Path) -> tuple[TraceCase, ...]:
    with connection(folder) as database, reading(folder / TRACE_CASES):
        rows = numbers(
            database,
            folder / TRACE_CASES,
            f"SELECT {', '.join(_CASES)} FROM {scan(database, folder / TRACE_CASES)} ORDER BY thread, release",
        )
    return tuple(TraceCase(*row) for row in zip(*(rows[name].tolist() for name in _CASES), strict=True))


def _events(folder: Path, kinds: list[str], header: Table) -> tuple[TraceEvent, ...]:
    """In the order of time; those of one CPU stay as the kernel had them."""
    with connection(folder) as database, reading(folder / TRACE_EVENTS):
        source = f"{scan(database, folder / TRACE_EVENTS).removesuffix(')')}, file_row_number = true)"
        rows = numbers(
            database,
            folder / TRACE_EVENTS,
            f"SELECT {', '.join(_EVENTS)} FROM {source} ORDER BY time_ns, file_row_number",
        )
    columns = {name: rows[name].tolist() for name in _EVENTS}
    if beyond := [number for number in columns["event"] if not 0 <= number < len(kinds)]:
        raise header.wrong("trace_events", "the names of all events", "", f"{len(kinds)} of {beyond[0] + 1}")
    columns["event"] = [kinds[number] for number in columns["event"]]
    return tuple(TraceEvent(*row) for row in zip(*(columns[name] for name in _EVENTS), strict=True))


def _threads(trailer: Table) -> dict[int, TracedTask]:
    tasks = trailer.mapping("tasks")
    return {
        each.integer("thread"): TracedTask(
            each.integer("pid"),
            printable(str(tasks.get(str(each.integer("pid")), "howlate-probe"))),
            each.integer("prio", UNKNOWN_PRIO),
        )
        for each in trailer.tables("threads")
    }


def _numbered(trailer: Table, name: str) -> dict[int, str]:
    """Names by number; addresses of the kernel's half are those of a signed integer, as the events have them."""
    found = {}
    for key, value in trailer.mapping(name).items():
        if not key.removeprefix("-").isdecimal():
            raise trailer.wrong(name, "names by number", "", f"by {key[:40]}")
        number = int(key)
        found[number - (1 << 64) if number >= 1 << 63 else number] = printable(str(value))
    return found


def _known(table: Table, name: str) -> int | None:
    return None if table.values.get(name) is None else table.integer(name)


def _cost(trailer: Table) -> int:
    return 0 if trailer.values.get("event_cost_ns") is None else max(0, trailer.integer("event_cost_ns"))
