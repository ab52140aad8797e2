"""What `howlate why` makes of the kernel's events, beside the truth: the same samples of the same run, played again
instruction by instruction."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.lab.replay import RecordedCell, replay
from howlate.model.cause import ORDINARY, Cause, Why
from howlate.model.trace import CellTrace
from howlate.replay.lateness import lateness_of
from howlate.store.activations import streamed_activations
from howlate.store.ingest import ingest
from howlate.store.run_folder import STREAM, CellFiles
from howlate.store.trace import trace_of
from howlate.why.case_events import MachineFacts
from howlate.why.causes import explain_cases
from lab.guests import LIMITS, RT, STANDARD, bench, cell, stream_of
from lab.late_truth import SCHEDULER, Compared, Word, compared, held_as_one

KERNELS = (STANDARD, "6.1[preempt=full]", RT, "5.10")
LOADS = ("memory-alloc:100", "hackbench:1", "cpu:100")
OTHER_LOADS = ("memory-fault:100", "memory-access:100", "disk:max", "network:1000")
EACH = 17
"""So many of the worst of each kernel and load: 204 in all."""
AGREED, UNKNOWN = 0.95, 0.05
TICK = ("tick_sched_timer", "tick_nohz_handler")
"""The tick's function, which an undisturbed guest has too: by its names before Linux 6.9 and since then."""
DITHERED = ("--dither", "--seed=14")
COUNT, MASKED = ((Cause.NOT_PREEMPTIBLE, why) for why in (Why.PREEMPTION_OFF, Why.INTERRUPTS_OFF))
SOFTIRQ = (Cause.SOFTIRQ, None)
DETAILS = ("all", "few")
"""Which events are recorded."""


def facts_of(kernel: str) -> MachineFacts:
    model = "rt" if "-rt" in kernel else "full" if "full" in kernel else "voluntary"
    return MachineFacts(is_virtual_time=True, preemption=model)


def traced(folder: Path, stream: bytes) -> CellTrace:
    """Through the store, as a run has it."""
    folder.mkdir()
    (folder / STREAM).write_bytes(stream)
    ingest(folder / STREAM, folder)
    trace = trace_of(CellFiles(folder, {}))
    assert trace is not None
    return trace


def both(folder: Path, booted: Path, kernel: str, load: str, detail: str, count: int) -> Iterator[Compared]:
    """The worst of a cell, by their events and by their instructions."""
    folder.mkdir(exist_ok=True)
    on = bench(folder, kernel, snapshots=booted)
    options = (*DITHERED, "--explain", f"--explain-events={detail}", f"--load={load}")
    line, before = cell(100, *options), on.lines_for([load])
    stream = stream_of(on, line, before)
    measured = RecordedCell("cell", before, line, streamed_activations(stream))
    # What recording took stays in the part in which it was, as the instructions have it.
    trace = replace(traced(folder / "cell", stream), event_cost_ns=0)
    cases = {each.case.release: each for each in explain_cases(trace, facts_of(kernel))}
    kept = [
        each for each in measured.activations.worst(len(measured.activations.each)) if each.release in cases
    ]
    for done in replay(on, measured, kept[:count], LIMITS):
        lateness = lateness_of(done.execution, done.release_ns, done.activation.latency_ns, done.stamp)
        yield compared(lateness, cases[done.activation.release])


@pytest.mark.parametrize(("scheduler_ns", "word"), [(100, COUNT), (129, COUNT), (131, SCHEDULER)])
def test_what_was_held_and_the_scheduler_have_the_word_of_what_took_longer(
    scheduler_ns: int, word: Word
) -> None:
    """All that was held together, by whichever reason."""
    words = Counter({COUNT: 70, MASKED: 60, SOFTIRQ: 500, SCHEDULER: scheduler_ns})
    assert held_as_one(words) == {word: 130 + scheduler_ns, SOFTIRQ: 500}


@pytest.mark.long
@pytest.mark.parametrize("detail", DETAILS)
@pytest.mark.parametrize(
    ("kernels", "loads", "count"),
    [
        pytest.param((STANDARD,), LOADS[:1], 4, id="quick"),
        pytest.param(KERNELS, LOADS, EACH, id="200", marks=pytest.mark.sweep),
    ],
)
def test_of_the_worst_samples_95_percent_have_the_same_largest_part(
    tmp_path: Path, booted: Path, kernels: tuple[str, ...], loads: tuple[str, ...], count: int, detail: str
) -> None:
    found = [
        (kernel, load, each)
        for number, kernel in enumerate(kernels)
        for place, load in enumerate(loads)
        for each in both(tmp_path / f"{number}-{place}", booted, kernel, load, detail, count)
    ]
    differ = [(kernel, load, each) for kernel, load, each in found if not each.agrees]
    for kernel, load, each in differ:
        print(
            f"{kernel} {load}, release {each.release}, {each.latency_ns} ns: {each.true_word}, {each.told_cause}"
        )
        print(f"    by instructions: {dict(each.truth.most_common())}")
        print(f"    by events: {dict(each.told.most_common())}")
    assert len(found) == len(kernels) * len(loads) * count
    assert len(differ) <= (1 - AGREED) * len(found), differ


@pytest.mark.parametrize(
    ("kernel", "load"),
    [
        pytest.param(
            kernel,
            load,
            marks=[] if (kernel, load) in ((RT, "none"), (STANDARD, "cpu:100")) else pytest.mark.sweep,
        )
        for kernel in (*KERNELS, "6.1@arm64")
        for load in ("none", *LOADS, *(OTHER_LOADS if kernel in (STANDARD, RT) else ()))
    ],
)
def test_little_is_unknown_and_an_undisturbed_guest_has_no_invented_cause(
    tmp_path: Path, booted: Path, kernel: str, load: str
) -> None:
    """With the events that are recorded by default."""
    on = bench(tmp_path, kernel, snapshots=booted)
    line = cell(100, *DITHERED, "--explain", *([] if load == "none" else [f"--load={load}"]))
    trace = traced(tmp_path / "cell", stream_of(on, line, on.lines_for([load])))
    explained = explain_cases(trace, facts_of(kernel))
    assert len(explained) == 20
    whole_ns = sum(case.latency_ns for case in trace.cases)
    assert sum(each.ns_of(Cause.UNKNOWN) for each in explained) < UNKNOWN * whole_ns
    if load == "none":
        others = [each.largest for each in explained if each.largest.cause not in ORDINARY]
        assert all(part.name in TICK for part in others), others
