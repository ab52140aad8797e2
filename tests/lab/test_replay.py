"""A cell that is played again with a log of what it executes is the same cell, and its latencies are explained
to the last nanosecond."""

import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.errors import NotPossibleError, TargetError
from howlate.lab.bench import Bench, LineResult
from howlate.lab.guests.machine import Machine
from howlate.lab.replay import RecordedCell, ReplayedActivation, activations_of, replay
from howlate.model.cause import Cause, Lateness
from howlate.replay.lateness import lateness_of
from howlate.store.activations import streamed_activations
from lab.guests import LIMITS, RT, STANDARD, bench, cell, stream_of

LOAD = "--load=memory-alloc:100"
KERNELS = [
    pytest.param(RT, 1000, ("--timer=io_uring",), id="idle"),
    pytest.param("6.1[preempt=full]", 1000, ("--load=hackbench:1",), id="full", marks=pytest.mark.sweep),
    pytest.param("6.1[preempt=full]", 250, (LOAD,), id="slower", marks=pytest.mark.sweep),
    pytest.param(RT, 1000, ("--timer=timerfd", LOAD), id="softirq", marks=pytest.mark.sweep),
    pytest.param("6.1@arm64", 1000, (LOAD, "--dither", "--seed=5"), id="arm64", marks=pytest.mark.sweep),
    pytest.param("6.1-rt@arm64", 1000, ("--timer=timer_create",), id="rt-arm64", marks=pytest.mark.sweep),
]
QUICK = (RT, "cpu:100")
RANDOM = [
    pytest.param(kernel, load, id=f"{kernel}-{load}", marks=[pytest.mark.sweep] * ((kernel, load) != QUICK))
    for kernel in (STANDARD, "6.1[preempt=full]", RT, "6.1@arm64")
    for load in ("memory-alloc:100", "cpu:100", "hackbench:1")
]
SAMPLES = 9
"""Of each; 108 in all."""


def recorded(on: Bench, *options: str, activations: int = 100) -> RecordedCell:
    line = cell(activations, *options)
    before = on.lines_for([option.partition("=")[2] for option in options if option.startswith("--load=")])
    return RecordedCell("cell", before, line, streamed_activations(stream_of(on, line, before)))


def explained(done: ReplayedActivation) -> Lateness:
    return lateness_of(done.execution, done.release_ns, done.activation.latency_ns, done.stamp)


def must_add_up(found: Lateness) -> None:
    assert sum(part.ns for part in found.parts) == found.latency_ns
    assert sum(ns for _stack, ns in found.stacks) == found.latency_ns
    assert found.spans[0][0] == 0 and found.spans[-1][1] == found.latency_ns
    assert all(before[1] == after[0] for before, after in zip(found.spans, found.spans[1:], strict=False))


@pytest.mark.long
def test_samples_are_the_same_when_they_are_logged_and_their_parts_add_up(
    tmp_path: Path, booted: Path
) -> None:
    on = bench(tmp_path, STANDARD, snapshots=booted)
    measured = recorded(on, LOAD)
    others = random.Random(1).sample(measured.activations.each, 4)
    for done in replay(on, measured, [*measured.activations.worst(1), *others], LIMITS):
        found = explained(done)
        must_add_up(found)
        assert found.halted_ns == 0 and found.instructions == done.activation.latency_ns
    worst = explained(replay(on, measured, measured.activations.worst(1), LIMITS)[0])
    assert worst.latency_ns > 100_000
    largest = max(worst.parts, key=lambda part: part.ns)
    assert largest.cause in (Cause.IRQ_LATE, Cause.NOT_PREEMPTIBLE)
    names = {each.name: each for each in worst.functions}
    assert names["release_pages"].inclusive_ns > worst.latency_ns / 2
    assert worst.parts[-1].cause is Cause.RETURN and "howlate::measure" in worst.stacks[-1][0]


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "mips", "options"), KERNELS)
def test_the_same_holds_on_other_kernels_with_other_ways_to_sleep(
    tmp_path: Path, booted: Path, kernel: str, mips: int, options: tuple[str, ...]
) -> None:
    arch = kernel.partition("@")[2] or "amd64"
    on = bench(tmp_path, kernel, snapshots=booted, machine=Machine.of(arch, mips=mips))
    measured = recorded(on, *options)
    some = [*measured.activations.worst(1), *random.Random(2).sample(measured.activations.each, 9)]
    for done in replay(on, measured, some, LIMITS):
        must_add_up(explained(done))


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "load"), RANDOM)
def test_random_samples_are_the_same_and_their_parts_add_up(
    tmp_path: Path, booted: Path, kernel: str, load: str
) -> None:
    """`replay` refuses a cell in which a sample changed."""
    on = bench(tmp_path, kernel, snapshots=booted)
    measured = recorded(on, f"--load={load}", "--dither", "--seed=13")
    wanted = random.Random(f"{kernel} {load}").sample(measured.activations.each, SAMPLES)
    done = replay(on, measured, wanted, LIMITS)
    assert [each.activation for each in done] == wanted
    for each in done:
        found = explained(each)
        must_add_up(found)
        assert found.latency_ns == each.activation.latency_ns
        assert found.instructions + found.halted_ns == found.latency_ns
        print(f"{kernel} {load} {each.activation.release} {found.latency_ns}")


@pytest.mark.parametrize("refused", [0, 1])
def test_a_cell_that_the_guest_refuses_cannot_be_played_again(refused: int) -> None:
    """Neither when a line before it failed nor when the probe did: no stream is read then."""
    lines = [LineResult("0", b"", b"", {}), LineResult("0", b"", b"", {"stream": b""})]
    lines[refused] = LineResult("2", b"", b'howlate-probe: there is no option "--kernel"\n', {})
    with pytest.raises(NotPossibleError, match=r"6\.1-6 .*: there is no option"):
        activations_of(lines, "6.1-6")


@pytest.mark.long
def test_a_cell_that_is_another_when_it_is_played_again_is_refused(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path, RT, snapshots=booted)
    measured = recorded(on, activations=20)
    first, *others = measured.activations.each
    changed = replace(first, latency_ns=first.latency_ns + 1)
    other = replace(measured, activations=replace(measured.activations, each=(changed, *others)))
    with pytest.raises(TargetError, match="release 0 is"):
        replay(on, other, [others[3]], LIMITS)
    fewer = replace(measured, activations=replace(measured.activations, each=tuple(others)))
    with pytest.raises(TargetError, match="20 samples, not 19"):
        replay(on, fewer, [others[3]], LIMITS)


def test_several_cpus_are_refused(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path, RT, snapshots=booted)
    measured = recorded(on, activations=20)
    several = replace(on, machine=Machine.of("amd64", cpus=2))
    with pytest.raises(NotPossibleError, match="several CPUs"):
        replay(several, measured, measured.activations.worst(1), LIMITS)
