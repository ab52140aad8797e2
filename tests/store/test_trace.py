"""Traces of cells: from the stream through the run folder they come back as they were, and go out for perfetto."""

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from howlate.errors import DamagedError, UsageError
from howlate.model.guest_cpus import GuestCpus
from howlate.model.run import VIRTUAL
from howlate.model.trace import UNKNOWN_PRIO, CellTrace
from howlate.store.export import find_format
from howlate.store.files import read_json, write_json
from howlate.store.loaded import load_run
from howlate.store.run_folder import CELL, RunFolder
from howlate.store.trace import trace_of
from howlate.why.explained_cells import explained_cells, machine_facts
from made_trace import late_samples

from .runs import a_folder
from .streams import TRACE_KINDS, stream, traced_stream

TRACE = late_samples(12)
UNRECORDED = ("local_timer_entry", "local_timer_exit", "hrtimer_expire_exit")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return a_folder(tmp_path / "run", {"traced": traced_stream(TRACE), "plain": stream([10, 20])})


def test_a_trace_comes_back_as_it_was_recorded(folder: RunFolder) -> None:
    found = trace_of(folder.files("traced"))
    assert found is not None
    assert (found.cases, found.events, found.threads[0].pid) == (TRACE.cases, TRACE.events, 100)
    assert found.names.tasks == TRACE.names.tasks and found.names.functions == TRACE.names.functions
    assert found.event_cost_ns == TRACE.event_cost_ns and found.t0_ns == 5_000


def test_a_cell_without_a_trace_has_none(folder: RunFolder) -> None:
    assert trace_of(folder.files("plain")) is None
    content = load_run(folder.path)
    assert [cell.trace is not None for cell in content.cells] == [True, False]
    assert [cell.id for cell in explained_cells(content)] == ["traced"]


@pytest.mark.parametrize(
    ("cpus", "clock", "round_ns"), [(1, VIRTUAL, 0), (4, VIRTUAL, 80_000), (4, "real", 0)]
)
def test_the_round_of_turns_is_that_of_the_guest_in_virtual_time(
    folder: RunFolder, cpus: int, clock: str, round_ns: int
) -> None:
    content = load_run(folder.path)
    guest = GuestCpus(cpus, turn_ns=20_000 if cpus > 1 else 0)
    facts = {"facts": 1, "values": guest.facts(), "missing": {}, "absent": []}
    run = replace(content.run, clock=clock, machines={"": facts})
    assert machine_facts(replace(content, run=run), content.cells[0]).round_ns == round_ns


def test_a_stream_that_was_cut_has_its_events_without_names(folder: RunFolder) -> None:
    path = folder.cell_path("traced") / CELL
    cut = {**read_json(path), "trailer": None}
    write_json(path, cut)
    (folder.cell_path("traced") / "checksums.json").unlink()
    found = trace_of(folder.files("traced"))
    assert found is not None and found.events == TRACE.events and found.threads == {}
    (explained,) = explained_cells(load_run(folder.path))
    assert {part.cause for case in explained.cases for part in case.parts} == {"unknown"}


def test_an_event_that_the_header_does_not_name_is_damage(folder: RunFolder) -> None:
    path = folder.cell_path("traced") / CELL
    record = read_json(path)
    record["header"]["in_force"]["trace"]["events"] = ["sched_switch"]
    write_json(path, record)
    (folder.cell_path("traced") / "checksums.json").unlink()
    with pytest.raises(DamagedError, match="1 of "):
        trace_of(folder.files("traced"))


def slices(folder: RunFolder, out: Path) -> dict[str, list[dict[str, Any]]]:
    """By the names of their tracks."""
    assert find_format("perfetto").write(folder, out, ()) == len(TRACE.cases)
    events = json.loads(out.read_text())["traceEvents"]
    named = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    found = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            found[named[event["tid"]]].append(event)
    return found


def test_perfetto_has_the_parts_of_each_sample_without_gap_or_overlap(
    folder: RunFolder, tmp_path: Path
) -> None:
    found = slices(folder, tmp_path / "x.json")
    late, parts = found["howlate (100): late samples"], found["howlate (100): parts"]
    assert sorted(each["args"]["latency_ns"] for each in late) == sorted(c.latency_ns for c in TRACE.cases)
    assert sum(each["dur"] for each in parts) == pytest.approx(sum(each["dur"] for each in late))
    ends = {round(each["ts"] + each["dur"], 3) for each in (*parts, *late)}
    assert all(round(each["ts"], 3) in ends for each in parts if each["ts"] not in {e["ts"] for e in late})


def test_perfetto_has_tasks_interrupts_and_softirqs_of_each_cpu(folder: RunFolder, tmp_path: Path) -> None:
    found = slices(folder, tmp_path / "x.json")
    tasks = found["CPU 1: tasks"]
    assert {"howlate (100)", "hackbench (200)", "irq/9-acpi (300)"} <= {each["name"] for each in tasks}
    spans = sorted((each["ts"], each["ts"] + each["dur"]) for each in tasks)
    assert all(before[1] <= after[0] + 1e-6 for before, after in pairwise(spans))
    assert {each["name"] for each in found["CPU 1: interrupts"]} == {"acpi", "local_timer", "hrtimer_wakeup"}
    assert {each["name"] for each in found["CPU 1: softirqs"]} == {"NET_RX"}


def test_perfetto_puts_samples_that_overlap_on_tracks_of_their_own(tmp_path: Path) -> None:
    """As a backlog has them: each is due while the one before is still late."""
    backlog = [replace(case, latency_ns=case.latency_ns + 15_000_000) for case in TRACE.cases]
    trace = replace(TRACE, cases=tuple(backlog))
    found = slices(a_folder(tmp_path / "run", {"traced": traced_stream(trace)}), tmp_path / "x.json")
    late = {name: slices for name, slices in found.items() if "late samples" in name}
    assert set(late) == {"howlate (100): late samples", "howlate (100): late samples 2"}
    assert sum(map(len, late.values())) == len(TRACE.cases)
    for name, own in found.items():
        if "late samples" in name or "parts" in name:
            spans = sorted((each["ts"], each["ts"] + each["dur"]) for each in own)
            assert all(before[1] <= after[0] + 1e-6 for before, after in pairwise(spans)), name


def test_perfetto_has_no_priority_that_nobody_knows_and_no_slice_without_a_name(tmp_path: Path) -> None:
    events = tuple(
        replace(event, b=UNKNOWN_PRIO, d=UNKNOWN_PRIO)
        if event.kind == "sched_switch"
        else replace(event, c=0)
        if event.kind == "hrtimer_expire_entry"
        else event
        for event in TRACE.events
    )
    folder = a_folder(tmp_path / "run", {"traced": traced_stream(replace(TRACE, events=events))})
    found = slices(folder, tmp_path / "x.json")
    told = [each["args"]["prio"] for each in found["CPU 1: tasks"] if "prio" in each.get("args", {})]
    assert UNKNOWN_PRIO not in told
    assert all(each["name"] for own in found.values() for each in own)
    assert "timer" in {each["name"] for each in found["CPU 1: interrupts"]}


def test_perfetto_ends_timers_whose_ends_were_not_recorded(tmp_path: Path) -> None:
    few = replace(
        TRACE,
        events=tuple(e for e in TRACE.events if e.kind not in UNRECORDED),
        recorded=tuple(kind for kind in TRACE_KINDS if kind not in UNRECORDED),
    )
    found = slices(a_folder(tmp_path / "run", {"traced": traced_stream(few)}), tmp_path / "x.json")
    assert "hrtimer_wakeup" in {each["name"] for each in found["CPU 1: interrupts"]}
    assert "hrtimer_wakeup" not in {each["name"] for each in found["CPU 1: softirqs"]}


def test_perfetto_has_no_slice_that_its_reader_drops(tmp_path: Path) -> None:
    """Perfetto takes times as whole nanoseconds, drops what has a negative one, and on a track wants each slice
    within the one that is open when it begins."""
    first_ns = min(event.time_ns for event in TRACE.events)
    early = earlier(TRACE, first_ns + 1_234_567)
    found = slices(a_folder(tmp_path / "run", {"traced": traced_stream(early)}), tmp_path / "x.json")
    assert (
        min(each["ts"] for track in found.values() for each in track) < 1_000
    )  # less than another millisecond
    for track, of_track in found.items():
        spans = sorted((round(each["ts"] * 1000), -round(each["dur"] * 1000)) for each in of_track)
        opened: list[int] = []
        for begin_ns, less_ns in spans:
            assert begin_ns >= 0, track
            while opened and opened[-1] <= begin_ns:
                opened.pop()
            assert not opened or begin_ns - less_ns <= opened[-1], track
            opened.append(begin_ns - less_ns)


def earlier(trace: CellTrace, by_ns: int) -> CellTrace:
    """The same so much earlier: its beginning comes before the first release."""
    return replace(
        trace,
        events=tuple(replace(event, time_ns=event.time_ns - by_ns) for event in trace.events),
        cases=tuple(
            replace(
                case,
                release_ns=case.release_ns - by_ns,
                from_ns=case.from_ns - by_ns,
                to_ns=case.to_ns - by_ns,
            )
            for case in trace.cases
        ),
    )


def test_perfetto_needs_events(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="late sample with its events"):
        find_format("perfetto").write(folder, tmp_path / "x.json", ("plain",))
    assert not (tmp_path / "x.json").exists()
