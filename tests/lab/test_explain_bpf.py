"""`cyclic --explain` with BPF programs, in virtual time: what they cost a wake-up, that they tell what the kernel's
trace ring tells, and kernels that do not take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from msgspec import Struct

from howlate.lab.bench import Bench
from howlate.lab.replay import RecordedCell, replay
from howlate.replay.lateness import lateness_of
from howlate.store.activations import streamed_activations
from howlate.store.stream import StreamReader
from lab.equipped import Guest
from lab.guests import LIMITS, RT, STANDARD, bench, cell, stream_of, with_cpus

INSTRUCTIONS_MAX = 2000
"""What the events of one wake-up may cost it; one instruction is one nanosecond here."""
RING_MAX = 2400
"""The same to the next sleep, with the trace ring of old kernels: more than is wanted (docs/explain.md)."""
RECORDING = ("bpf_trace_run", "__bpf_trace_", "trace_event_raw_event_")
"""The functions that record, with BPF programs and with the trace ring."""
DITHERED = ("--dither", "--seed=14")
EVERY = ("--explain", "--explain-above=1ns")
COUNT_MASK = 0x0F
"""Of the preemption count in an event."""
ARM64 = "6.1-rt@arm64"
BY_ADDRESS = "bpf-by-address"
BARE = (ARM64, "7.2", "7.2-rt")
"""Nothing of what equipped guests have is needed, and not all of it can be built for these."""
AFTER_NS = 8_000
"""So long after the time stamp events are compared: the switch away and the way into idle."""
ALIKE = 0.93
"""Of the releases so many have the same events on both sides at least: recording takes another time, so that a timer
of the kernel's comes within some releases on one side alone."""
MET = 0.01
"""Of those that have the same events, so many may differ in flags or depth: seen once in 200, as a depth of 1 and 2
at the same interrupt of the idle task. The ring has preemption off while it records: the interrupt may meet that."""
OFTEN = 50
"""Under a load the same instants do not come again: what one side tells so often the other tells too."""
RARE = 8
"""What one side tells so often at most may be due to that too."""
FILES = 60
"""So many open files suffice for all programs, and not for what attaches them as well."""


class Stream(Struct, frozen=True):
    columns: Mapping[str, npt.NDArray[Any]]
    """Of all tables, by "table.column"."""
    in_force: Mapping[str, Any]
    trailer: Mapping[str, Any]
    """Both of the trace."""

    @classmethod
    def of(cls, raw: bytes) -> Stream:
        reader = StreamReader(BytesIO(raw))
        parts: dict[str, list[npt.NDArray[Any]]] = {}
        for batch in reader.batches():
            for name, column in batch.columns.items():
                parts.setdefault(f"{batch.table.name}.{name}", []).append(column)
        assert reader.trailer is not None
        columns = {name: np.concatenate(found) for name, found in parts.items()}
        in_force = reader.header.raw["in_force"].get("trace", {})
        return cls(columns, in_force, reader.trailer.get("trace", {}))

    def events(self) -> list[tuple[Any, ...]]:
        """What each event tells but for its time, with tasks by their names and no addresses of timers; without the
        depth of migrate_disable, which the ring alone tells."""
        tasks = {int(pid): name for pid, name in self.trailer["tasks"].items()}
        names = self.in_force["events"]
        told: list[tuple[Any, ...]] = []
        for event, flags, preempt, pid, *values in zip(
            *(self.columns[f"trace_events.{name}"].tolist() for name in ("event", "flags", "preempt", "pid")),
            *(self.columns[f"trace_events.{name}"].tolist() for name in "abcd"),
            strict=True,
        ):
            name = names[event]
            for at in {"hrtimer_expire_entry": (0, 1), "hrtimer_expire_exit": (0,)}.get(name, ()):
                values[at] = 0  # where the timer is, and when
            for at in {"sched_switch": (2,), "sched_waking": (0,), "sched_migrate_task": (0,)}.get(name, ()):
                values[at] = tasks.get(values[at], values[at])
            told.append((name, tasks.get(pid, pid), *values, flags, preempt & COUNT_MASK))
        return told

    def by_release(self) -> list[list[tuple[Any, ...]]]:
        """From each release on, until a little after its time stamp."""
        told = self.events()
        return [told[at:to] for at, to in zip(*self._from_to(AFTER_NS), strict=True)]

    def events_of_one(self, after_ns: int) -> float:
        """How many come from a release until so long after its time stamp, in the middle."""
        first, end = self._from_to(after_ns)
        return float(np.median(end - first))

    def _from_to(self, after_ns: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        times, begin = self.columns["trace_events.time_ns"], self.columns["trace_cases.release_ns"]
        stamp = begin + self.columns["trace_cases.latency_ns"]
        return np.searchsorted(times, begin), np.searchsorted(times, stamp + after_ns, side="right")


def _bench(tmp_path: Path, booted: Path, equipped: Guest, kernel: str) -> Bench:
    return bench(tmp_path, kernel, snapshots=booted) if kernel in BARE else equipped(kernel)


def _cell(on: Bench, count: int, *more: str) -> Stream:
    return Stream.of(stream_of(on, cell(count, *DITHERED, *more)))


@pytest.mark.parametrize(
    ("kernel", "detail"),
    [
        (RT, "all"),
        *(
            pytest.param(*each, marks=pytest.mark.sweep)
            for each in (
                *((name, "all") for name in (STANDARD, "6.12-rt", "7.2", "7.2-rt")),
                (ARM64, "few"),
            )
        ),
    ],
)
def test_by_default_bpf_records_and_a_wake_up_costs_at_most_2000_instructions_more(
    tmp_path: Path, booted: Path, equipped: Guest, kernel: str, detail: str
) -> None:
    on = _bench(tmp_path, booted, equipped, kernel)
    without, with_it = _cell(on, 200), _cell(on, 200, *EVERY)
    assert (with_it.in_force["with"], with_it.in_force["detail"]) == ("bpf", detail)
    assert "no_bpf" not in with_it.in_force
    assert (without.columns["samples.release_ns"] == with_it.columns["samples.release_ns"]).all()
    more = np.median(with_it.columns["samples.latency_ns"] - without.columns["samples.latency_ns"])
    assert 0 < more <= INSTRUCTIONS_MAX
    assert with_it.events_of_one(0) == (7 if detail == "all" else 3)
    assert with_it.events_of_one(AFTER_NS) == (9 if detail == "all" else 4)
    assert [with_it.trailer[what] for what in ("cases_lost", "events_lost", "events_missed")] == [0, 0, 0]
    assert not with_it.columns["trace_cases.state"].any()
    assert 0 < with_it.trailer["event_cost_ns"] < 400


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "most"),
    [
        (RT, INSTRUCTIONS_MAX),
        *(
            pytest.param(name, INSTRUCTIONS_MAX, marks=pytest.mark.sweep)
            for name in (STANDARD, "6.12", "6.12-rt", "7.2", "7.2-rt", ARM64)
        ),
        *(pytest.param(name, RING_MAX, marks=pytest.mark.sweep) for name in ("5.10", "5.10-rt")),
    ],
)
def test_to_the_next_sleep_an_activation_costs_at_most_so_many_instructions_more(
    tmp_path: Path, booted: Path, kernel: str, most: int
) -> None:
    """After the time stamp come the switch away and the way into idle: what records the switch to the task and the
    way out of idle once more, whose instructions are counted here."""
    on = bench(tmp_path, kernel, snapshots=booted)
    without, line = _cell(on, 200), cell(200, *DITHERED, *EVERY)
    stream = stream_of(on, line)
    with_it, measured = Stream.of(stream), RecordedCell("cell", [], line, streamed_activations(stream))
    more = float(np.median(with_it.columns["samples.latency_ns"] - without.columns["samples.latency_ns"]))
    typical = sorted(measured.activations.each, key=lambda each: each.latency_ns)[100]
    (done,) = replay(on, measured, [typical], LIMITS)
    spans = lateness_of(done.execution, done.release_ns, done.activation.latency_ns, done.stamp).spans
    events = _counted_events(spans)
    assert len(events) >= with_it.events_of_one(0)  # a filter's are counted too
    after = int(with_it.events_of_one(AFTER_NS) - with_it.events_of_one(0))
    assert after == (2 if with_it.in_force["detail"] == "all" else 1)
    around = (more - sum(events)) / len(events)  # what is executed beside the programs
    whole = more + sum(events[-after:]) + after * around
    print(f"{kernel}: {more:.0f} to the time stamp, {whole:.0f} to the next sleep; {events}")
    assert 0 <= around < min(events)
    assert whole <= most


def _counted_events(spans: Sequence[tuple[int, int, tuple[str, ...]]]) -> list[int]:
    """The instructions of what records each event."""
    events: list[int] = []
    before = False
    for from_ns, to_ns, chain in spans:
        within = any(name.startswith(RECORDING) for name in chain)
        if within and not before:
            events.append(0)
        if within:
            events[-1] += to_ns - from_ns
        before = within
    return events


@pytest.mark.parametrize(
    ("kernel", "by"),
    [
        (RT, "bpf"),
        *(
            pytest.param(name, "bpf", marks=pytest.mark.sweep)
            for name in (STANDARD, "6.12-rt", "7.2", "7.2-rt", ARM64)
        ),
        *(
            pytest.param(name, BY_ADDRESS, marks=pytest.mark.sweep)
            for name in ("6.12", "6.12-rt", "7.2", "7.2-rt")
        ),
    ],
)
def test_both_ways_of_recording_tell_the_same_event_by_event(
    tmp_path: Path, booted: Path, equipped: Guest, kernel: str, by: str
) -> None:
    on = _bench(tmp_path, booted, equipped, kernel)
    ring, bpf = (
        _cell(on, 200, *EVERY, "--explain-events=all", f"--explain-with={with_}") for with_ in ("tracefs", by)
    )
    assert (ring.in_force["with"], bpf.in_force["with"]) == ("tracefs", "bpf")
    assert ring.in_force["absent"] == bpf.in_force["absent"]
    pairs = list(zip(ring.by_release(), bpf.by_release(), strict=True))
    assert sum(one == other for one, other in pairs) >= ALIKE * len(pairs)
    # Where the same came, it came in the same context.
    same = [pair for pair in pairs if len({tuple(event[:-2] for event in events) for events in pair}) == 1]
    assert sum(one != other for one, other in same) <= MET * len(same)
    _same_contexts(ring, bpf)


def _same_contexts(ring: Stream, bpf: Stream) -> None:
    """In what contexts an event comes at all: interrupts off, depth of preemption, and the others."""
    counts = [
        Counter((event[0], *event[-2:]) for event in each.events() if event[0] != "lost")
        for each in (ring, bpf)
    ]
    for one, other in (counts, counts[::-1]):
        only = {context: count for context, count in one.items() if context not in other}
        assert not {context: count for context, count in only.items() if count > RARE}


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "load", "count"),
    [
        (STANDARD, "memory-alloc:100", 15),
        pytest.param(STANDARD, "memory-alloc:100", 50, marks=pytest.mark.sweep),
        pytest.param(RT, "hackbench:1", 50, marks=pytest.mark.sweep),
    ],
)
def test_a_load_is_told_in_the_same_contexts(equipped: Guest, kernel: str, load: str, count: int) -> None:
    more = (*EVERY, "--explain-events=all", f"--load={load}")
    ring, bpf = (
        _cell(equipped(kernel), count, *more, f"--explain-with={with_}") for with_ in ("tracefs", "bpf")
    )
    often, told = (Counter((event[0], *event[-2:]) for event in each.events()) for each in (ring, bpf))
    assert not [context for context, count in often.items() if count > OFTEN and context not in told]
    assert not [context for context, count in told.items() if count > OFTEN and context not in often]


@pytest.mark.long
@pytest.mark.parametrize(
    "kernel",
    ["5.10", pytest.param("5.10-rt", marks=pytest.mark.sweep)],
)
def test_an_old_kernels_trace_ring_records_and_bpf_is_refused_with_the_reason(
    equipped: Guest, kernel: str
) -> None:
    on = equipped(kernel)
    fallen_back = _cell(on, 20, *EVERY)
    assert (fallen_back.in_force["with"], fallen_back.in_force["detail"]) == ("tracefs", "few")
    assert "Linux 6.1" in fallen_back.in_force["no_bpf"]
    (refused,) = on.run([cell(20, *EVERY, "--explain-with=bpf")], LIMITS)
    assert refused.status == "3"
    assert fallen_back.in_force["no_bpf"].encode() in refused.stderr


def test_where_bpf_is_refused_late_the_trace_ring_records_and_the_reason_is_told(equipped: Guest) -> None:
    on = equipped(STANDARD)
    few = ["/bin/few_files", str(FILES)]
    fallen_back = Stream.of(stream_of(on, [*few, *cell(20, *EVERY)]))
    assert (fallen_back.in_force["with"], fallen_back.in_force["detail"]) == ("tracefs", "few")
    assert "cannot be attached" in fallen_back.in_force["no_bpf"]
    assert fallen_back.columns["trace_cases.release"].size == 20
    assert not fallen_back.columns["trace_cases.state"].any()
    (refused,) = on.run([[*few, *cell(20, *EVERY, "--explain-with=bpf")]], LIMITS)
    assert refused.status == "3"
    assert b"a BPF program cannot be attached" in refused.stderr


def test_a_killed_probe_leaves_nothing(equipped: Guest) -> None:
    line = ["/bin/killed_bpf", *cell(100_000, "--explain", "--explain-with=bpf")]
    (done,) = equipped(STANDARD).run([line], LIMITS)
    said = {
        when: [int(count) for count in counts]
        for when, *counts in map(str.split, done.stdout.decode().splitlines())
    }
    assert said["while"][0] > 10
    assert said["while"][1] >= 2
    assert said["while"][2] == 0
    assert said["after"] == said["before"]


def test_by_address_is_refused_where_an_address_cannot_be_made_readable(equipped: Guest) -> None:
    (refused,) = equipped(STANDARD).run([cell(20, *EVERY, f"--explain-with={BY_ADDRESS}")], LIMITS)
    assert refused.status == "3"
    assert b"by its address on x86-64 from Linux 6.2 on" in refused.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "by"), [(RT, "bpf"), pytest.param("6.12-rt", BY_ADDRESS, marks=pytest.mark.sweep)]
)
def test_each_of_two_cpus_has_a_ring_of_its_own(tmp_path: Path, booted: Path, kernel: str, by: str) -> None:
    on = bench(tmp_path, kernel, snapshots=booted, machine=with_cpus(2))
    told = _cell(on, 60, "--cpus=0,1", "--explain", "--explain-worst=10", f"--explain-with={by}")
    columns, switch = told.columns, told.in_force["events"].index("sched_switch")
    assert not columns["trace_cases.state"].any()
    for cpu, thread in enumerate(told.trailer["threads"]):
        assert (columns["trace_cases.thread"] == thread["thread"]).sum() == 10
        switched = (columns["trace_events.event"] == switch) & (columns["trace_events.c"] == thread["pid"])
        assert switched.sum() >= 10
        assert (columns["trace_events.cpu"][switched] == cpu).all()
