"""Streams made for tests: a thread's activations with what surrounds them, balanced unless a test unbalances
them."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from howlate.errors import DamagedError
from howlate.model.decode import Table
from howlate.model.trace import CellTrace
from howlate.store.frames import BATCH, HEADER, MAGIC, TRAILER, encode_frame
from howlate.store.stream import BATCH_HEAD, TYPES, decode_header

SAMPLE_COLUMNS = [
    {"name": "release", "type": "i64", "help": "index of the release"},
    {"name": "release_ns", "type": "i64", "help": "the release, as an offset from t0"},
    {"name": "latency_ns", "type": "i64", "help": "wake-up latency"},
    {"name": "response_ns", "type": "i64", "help": "response time"},
    {"name": "flags", "type": "u8", "help": "bit 0: warm-up"},
]
CPU_COLUMNS = [
    {"name": "time_ns", "type": "i64"},
    {"name": "cpu", "type": "i32"},
    {"name": "busy_permille", "type": "i32"},
    {"name": "steal_permille", "type": "i32"},
    {"name": "frequency_khz", "type": "i64"},
    {"name": "smi_count", "type": "i64"},
]
LOAD_COLUMNS = [
    {"name": "time_ns", "type": "i64"},
    {"name": "load", "type": "i32"},
    {"name": "cpu_ns", "type": "i64"},
    {"name": "units", "type": "i64"},
]
SECOND = 10**9


class StreamWriter:
    """Encodes a stream; the probe writes the real ones.

    `write` receives the bytes of whole frames, in order.
    """

    def __init__(self, file: BinaryIO, header: Mapping[str, Any]) -> None:
        """Write magic and header; ValueError if the header is invalid."""
        try:
            self.header = decode_header(Table(header, "the stream", "header", DamagedError))
        except DamagedError as problem:
            raise ValueError(problem.message) from None
        self._file = file
        self._rows: dict[int, int] = {}
        file.write(MAGIC + encode_frame(HEADER, 0, _json_bytes(header)))

    def batch(
        self,
        table_id: int,
        columns: Mapping[str, npt.ArrayLike],
        *,
        releases: int = 0,
        overruns: int = 0,
        dropped: int = 0,
    ) -> None:
        """Write one batch: every column of the table, equally long; the totals are those up to its last row."""
        table = self.header.table(table_id)
        if table is None:
            raise ValueError(f"the header has no table {table_id}")
        arrays = [np.asarray(columns[column.name]) for column in table.columns]
        rows = len(arrays[0])
        total = self._rows.get(table_id, 0) + rows
        parts = [BATCH_HEAD.pack(rows, 0, total, releases, overruns, dropped)]
        for column, array in zip(table.columns, arrays, strict=True):
            if array.shape != (rows,):
                raise ValueError(f"column {column.name} has not the {rows} rows of the others")
            data = array.astype(TYPES[column.type]).tobytes()
            parts += [data, bytes(-len(data) % 8)]
        self._rows[table_id] = total
        self._file.write(encode_frame(BATCH, table_id, b"".join(parts)))

    def trailer(self, value: Mapping[str, Any]) -> None:
        """Write the last frame."""
        self._file.write(encode_frame(TRAILER, 0, _json_bytes(value)))


def _json_bytes(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def header(threads: int = 1, **changes: Any) -> dict[str, Any]:
    """The header of `threads` measuring threads on CPUs 0, 1, ...; then tables `cpus` and `loads`."""
    tables = [
        {"id": n, "name": "samples", "cpu": n, "thread": n, "columns": SAMPLE_COLUMNS} for n in range(threads)
    ]
    tables.append({"id": threads, "name": "cpus", "columns": CPU_COLUMNS})
    tables.append({"id": threads + 1, "name": "loads", "columns": LOAD_COLUMNS})
    return {
        "stream": 1,
        "probe": "0.1.0",
        "test": "cyclic",
        "boot_id": "b",
        "parameters": {"period": "1ms", "late-policy": "skip", "policy": "fifo:80"},
        "in_force": {"threads": [{"cpu": 0, "policy": "fifo:80"}]},
        "facts": {"kernel": "6.1", "clocksource": "tsc"},
        "t0_ns": 5_000,
        "tables": tables,
        **changes,
    }


def account(table: int, latencies: Sequence[int], releases: Sequence[int], **changes: int) -> dict[str, int]:
    """The measuring thread's own account of these rows: what is missing between the releases are overruns."""
    due = (max(releases) + 1) if len(releases) else 0
    best = int(np.argmax(latencies)) if len(latencies) else -1
    return {
        "table": table,
        "cpu": table,
        "releases": due,
        "recorded": len(releases),
        "overruns": due - len(releases),
        "dropped": 0,
        "late_starts": 0,
        "early": 0,
        "warm_up": 0,
        "latency_ns_max": int(latencies[best]) if best >= 0 else -(2**63),
        "release_at_max": int(releases[best]) if best >= 0 else -1,
        "minor_faults": 0,
        "major_faults": 0,
        "involuntary_switches": 0,
        "voluntary_switches": len(releases),
        "migrations": 0,
        "phase_before_ns": 0,
        "phase_after_ns": 0,
        **changes,
    }


def trailer(accounts: Sequence[dict[str, int]], **changes: Any) -> dict[str, Any]:
    """A trailer in which nothing is wrong."""
    return {
        "stop_reason": "activations",
        "accounting": list(accounts),
        "clocksource": {"before": "tsc", "after": "tsc"},
        "smi": {"before": None, "after": None},
        "steal_ns": 0,
        "duration_ns": SECOND,
        "loads": [],
        "warnings": [],
        **changes,
    }


def rows(
    latencies: Sequence[int] | npt.NDArray[Any], releases: Sequence[int] | npt.NDArray[Any], warm_up: int = 0
) -> dict[str, Any]:
    """Columns of the table `samples`; the first `warm_up` rows are flagged."""
    n = len(latencies)
    release = np.asarray(releases, np.int64)
    return {
        "release": release,
        "release_ns": release * 1_000_000,
        "latency_ns": np.asarray(latencies, np.int64),
        "response_ns": np.zeros(n, np.int64),
        "flags": (np.arange(n) < warm_up).astype(np.uint8),
    }


def points_stream(
    values: Mapping[str, Sequence[int]],
    *,
    test: str = "made",
    time_ns: Sequence[int] | None = None,
    index: Sequence[int] | None = None,
    flags: Sequence[int] | None = None,
    wanted: int | None = None,
    batch_rows: int = 100_000,
    header_changes: dict[str, Any] | None = None,
    trailer_changes: dict[str, Any] | None = None,
) -> bytes:
    """A whole stream of a test of data points: one thread, these columns (i64), `index`, and what else is given."""
    n = len(next(iter(values.values())))
    kept = np.arange(n) if index is None else np.asarray(index, np.int64)
    columns: dict[str, Any] = {"index": kept}
    if time_ns is not None:
        columns["time_ns"] = np.asarray(time_ns, np.int64)
    columns |= {name: np.asarray(its, np.int64) for name, its in values.items()}
    columns["flags"] = np.zeros(n, np.uint8) if flags is None else np.asarray(flags, np.uint8)
    due = wanted if wanted is not None else (int(kept[-1]) + 1 if n else 0)
    types = [{"name": name, "type": "u8" if name == "flags" else "i64"} for name in columns]
    tables = [{"id": 0, "name": "samples", "cpu": 1, "thread": 0, "columns": types}]
    parameters = {"points": str(due), "policy": "fifo:80"}
    out = io.BytesIO()
    writer = StreamWriter(
        out, header(**{"test": test, "parameters": parameters, "tables": tables, **(header_changes or {})})
    )
    for start in range(0, n, batch_rows):
        end = min(start + batch_rows, n)
        seen = due if end == n else int(kept[end - 1]) + 1
        part = {name: its[start:end] for name, its in columns.items()}
        writer.batch(0, part, releases=seen, overruns=seen - end)
    own = account(0, [], []) | {"releases": due, "recorded": n, "overruns": due - n, "cpu": 1}
    own["warm_up"] = int(np.count_nonzero(columns["flags"] & 1))
    writer.trailer(trailer([own], **{"stop_reason": "points", **(trailer_changes or {})}))
    return out.getvalue()


def stream(
    latencies: Sequence[int],
    releases: Sequence[int] | None = None,
    *,
    batch_rows: int = 100,
    header_changes: dict[str, Any] | None = None,
    account_changes: dict[str, int] | None = None,
    trailer_changes: dict[str, Any] | None = None,
    warm_up: int = 0,
) -> bytes:
    """A whole stream of one thread; missing releases are overruns."""
    if releases is None:
        releases = list(range(len(latencies)))
    out = io.BytesIO()
    writer = StreamWriter(out, header(**(header_changes or {})))
    for start in range(0, len(latencies), batch_rows):
        part = slice(start, start + batch_rows)
        table = rows(latencies[part], releases[part], max(0, warm_up - start))
        last = releases[part][-1]
        total = min(start + batch_rows, len(latencies))
        writer.batch(0, table, releases=last + 1, overruns=last + 1 - total)
    cold = min(warm_up, len(latencies))
    own = account(0, latencies[cold:], releases[cold:]) | {
        "recorded": len(latencies),
        "releases": releases[-1] + 1 if len(latencies) else 0,
        "overruns": releases[-1] + 1 - len(latencies) if len(latencies) else 0,
        "warm_up": cold,
    }
    writer.trailer(trailer([own | (account_changes or {})], **(trailer_changes or {})))
    return out.getvalue()


TRACE_KINDS = (
    "sched_switch",
    "sched_waking",
    "irq_handler_entry",
    "irq_handler_exit",
    "softirq_entry",
    "softirq_exit",
    "local_timer_entry",
    "local_timer_exit",
    "hrtimer_expire_entry",
    "hrtimer_expire_exit",
    "cpu_idle",
    "lost",
)


def traced_stream(trace: CellTrace) -> bytes:
    """A whole stream of one thread that has but the explained samples, or three others where there are none, with the
    tables of `--explain`."""
    latencies, releases = [c.latency_ns for c in trace.cases], [c.release for c in trace.cases]
    begins = [c.release_ns for c in trace.cases]
    if not trace.cases:
        latencies, releases, begins = [1_000] * 3, [1, 2, 3], [10**6, 2 * 10**6, 3 * 10**6]
    recorded = list(trace.recorded or TRACE_KINDS)
    head = header()
    kinds: dict[str, tuple[str, ...]] = {
        "cases": ("thread", "release", "release_ns", "latency_ns", "from_ns", "to_ns", "events", "state")
    }
    kinds["events"] = ("time_ns", "cpu", "event", "flags", "preempt", "pid", "a", "b", "c", "d")
    types = dict.fromkeys(("thread", "cpu", "pid"), "i32")
    types |= dict.fromkeys(("state", "event", "flags", "preempt"), "u8")
    for number, (name, columns) in enumerate(kinds.items(), 3):
        typed = [{"name": column, "type": types.get(column, "i64")} for column in columns]
        head["tables"].append({"id": number, "name": f"trace_{name}", "columns": typed})
    head["in_force"]["trace"] = {
        "events": recorded,
        "absent": list(trace.absent),
        "buffer_bytes": 4096,
        "cpus": "1",
        "worst": 20,
        "above_ns": None,
        "detail": trace.detail or "all",
        "stacks": False,
    }
    out = io.BytesIO()
    writer = StreamWriter(out, head)
    due = releases[-1] + 1
    table = rows(latencies, releases) | {"release_ns": np.array(begins, np.int64)}
    writer.batch(0, table, releases=due, overruns=due - len(releases))
    cases = [
        (c.thread, c.release, c.release_ns, c.latency_ns, c.from_ns, c.to_ns, len(trace.of(c)), c.state)
        for c in trace.cases
    ]
    events = [
        (e.time_ns, e.cpu, recorded.index(e.kind), e.flags, e.preempt, e.pid, e.a, e.b, e.c, e.d)
        for e in trace.events
    ]
    tables: dict[str, Sequence[tuple[int, ...]]] = {"cases": cases, "events": events}
    for number, (name, values) in enumerate(tables.items(), 3):
        if not values:
            continue
        by_column = zip(kinds[name], zip(*values, strict=True), strict=True)
        writer.batch(number, {column: np.asarray(its) for column, its in by_column})
    told = {
        "threads": [{"thread": n, "pid": t.pid, "prio": t.prio} for n, t in trace.threads.items()],
        "tasks": {str(pid): name for pid, name in trace.names.tasks.items()},
        "irqs": {str(irq): name for irq, name in trace.names.irqs.items()},
        "functions": {str(at): name for at, name in trace.names.functions.items()},
        "ipis": list(trace.names.ipis),
        "cases_lost": trace.cases_lost,
        "events_lost": trace.events_lost,
        "events_missed": trace.events_missed,
        "event_cost_ns": trace.event_cost_ns,
    }
    writer.trailer(trailer([account(0, latencies, releases)], trace=told))
    return out.getvalue()
