"""`lab why` and the kernel's own tracer of functions name the same functions.

The tracer makes a guest some thirty times slower, so it cannot see the sample itself. A late sample of a cell with
the tracer is put beside one of the same cell without it that is as late (without what the tracer took) and called the
same functions as often as any. What the tracer does not see (entries of
interrupts, `notrace` functions) counts as its caller's in both; inlined functions have no name in either.
"""

import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from howlate.lab.bench import Bench
from howlate.lab.kernels.label import Label
from howlate.lab.replay import RecordedCell, ReplayedActivation, replay, symbols_of
from howlate.model.cause import Lateness
from howlate.replay.lateness import lateness_of
from howlate.store.activations import Activation, streamed_activations
from lab.function_graph import UNKNOWN, Traced, traced
from lab.guests import LIMITS, STANDARD, bench, cell
from lacks import KERNEL, skip

TRACER = "/bin/function_graph"
COMPILERS = {"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc"}
LARGE = 0.05
ALIKE = 0.05
MARGIN = 0.02
"""A function so near to the other's share is neither above nor below."""
TRACERS_OWN = frozenset(("__traceiter_sched_switch", "ttwu_do_wakeup"))
"""The tracer notes the names of tasks in them."""
LATEST, EACH, MOST, NEAR = 12, 12, 120, 0.1
ALLOC, LARGER = "memory-alloc:100,size=4MiB", "memory-alloc:100"
SMALLER = tuple(f"memory-alloc:100,size={mib}MiB" for mib in (2, 3))
QUICK = (STANDARD, ALLOC)
CASES = [
    pytest.param(kernel, load, id=f"{kernel}-{load}", marks=[pytest.mark.sweep] * ((kernel, load) != QUICK))
    for kernel, load in (
        *(
            (kernel, load)
            for kernel in (STANDARD, "6.1[preempt=voluntary]")
            for load in (ALLOC, LARGER, *SMALLER)
        ),
        (STANDARD, "memory-fault:100"),
        ("6.1[preempt=full]", ALLOC),
        ("6.1[preempt=full]", LARGER),
        ("6.1@arm64", ALLOC),
        ("6.1@arm64", LARGER),
        ("6.12@arm64", ALLOC),
    )
]


def equipped(folder: Path, kernel: str, booted: Path) -> Bench:
    """A guest that has a program that drives the tracer."""
    arch = Label.parse(kernel).arch
    source, program = Path(__file__).with_name("function_graph.c"), folder / "function_graph"
    argv = [COMPILERS[arch], "-O1", "-Wall", "-Werror", "-static", "-o", str(program), str(source)]
    subprocess.run(argv, check=True)
    return bench(folder, kernel, {TRACER.lstrip("/"): program.read_bytes()}, snapshots=booted)


def options(load: str) -> list[str]:
    return [f"--load={load}", "--dither", "--seed=13"]


def with_tracer(on: Bench, load: str) -> tuple[list[Traced], frozenset[str]]:
    """The samples of a cell with the tracer, those without the tracer's time latest first; and which functions the
    tracer sees."""
    before = on.lines_for([load])
    lines = on.run([*before, [TRACER, "on"], cell(600, *options(load)), [TRACER, "save"]], LIMITS)
    assert lines[-1].status == "0", lines[-1].stderr.decode()
    files = lines[-1].files
    latencies_ns = [each.latency_ns for each in streamed_activations(lines[-2].files["stream"]).each]
    seen = frozenset(line.split()[0] for line in files["functions"].decode().splitlines())
    found = traced(files, symbols_of(on, before), latencies_ns)
    return sorted(found, key=lambda each: -each.whole_ns), seen


def visible(stack: tuple[str, ...], seen: frozenset[str]) -> str:
    """The innermost function that the tracer sees: to it the tracer counts the others' time."""
    return next((name for name in reversed(stack) if name.partition(" [")[0] in seen), UNKNOWN)


def nearest(on: Bench, load: str, to: Sequence[Traced], seen: frozenset[str]) -> tuple[Traced, Lateness]:
    """One of these, and the sample without the tracer that is nearest: as late, and its calls are the same."""
    before, line = on.lines_for([load]), cell(1000, *options(load))
    activations = streamed_activations(on.run([*before, line], LIMITS)[-1].files["stream"])

    def away(each: Activation, other: Traced) -> float:
        return abs(each.latency_ns / other.whole_ns - 1)

    wanted: dict[Activation, None] = {}
    for other in to:
        near = sorted(activations.each, key=lambda each: away(each, other))[:EACH]
        wanted.update(dict.fromkeys(each for each in near if away(each, other) < NEAR))
    done = replay(on, RecordedCell("cell", before, line, activations), list(wanted)[:MOST], LIMITS)
    called = [(each, calls_of(each)) for each in done]
    unlike, theirs, ours = min(
        (
            (difference(calls, other.calls, seen), other, each)
            for other in to
            for each, calls in called
            if away(each.activation, other) < NEAR
        ),
        key=lambda found: found[0],
    )
    print(f"\n{unlike:.1%} of the calls differ")
    if unlike > ALIKE:
        skip(f"an equivalent sample without the tracer ({unlike:.1%} of the calls differ at least)", KERNEL)
    return theirs, lateness_of(ours.execution, ours.release_ns, ours.activation.latency_ns, ours.stamp)


def calls_of(done: ReplayedActivation) -> Counter[str]:
    """How often the first instruction of a function was executed between release and time stamp."""
    execution, end_ns = done.execution, done.release_ns + done.activation.latency_ns
    first, last = np.searchsorted(execution.times_ns, (done.release_ns, end_ns))
    addresses, counts = np.unique(execution.addresses[first:last], return_counts=True)
    begins = np.isin(addresses, execution.symbols.starts)
    names = [execution.symbols.name(int(index)) for index in execution.symbols.indices(addresses[begins])]
    return Counter(dict(zip(names, counts[begins].tolist(), strict=True)))


def difference(ours: Counter[str], theirs: Mapping[str, int], seen: frozenset[str]) -> float:
    names = {name for name in {*ours, *theirs} if name in seen} - TRACERS_OWN
    return sum(abs(ours[name] - theirs.get(name, 0)) for name in names) / sum(theirs.values())


def own_ns(lateness: Lateness, seen: frozenset[str]) -> Counter[str]:
    own: Counter[str] = Counter()
    for stack, ns in lateness.stacks:
        own[visible(stack, seen)] += ns
    return own


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "load"), CASES)
def test_the_functions_above_5_percent_are_those_of_the_kernels_tracer(
    tmp_path: Path, booted: Path, kernel: str, load: str
) -> None:
    on = equipped(tmp_path, kernel, booted)
    all_of_theirs, seen = with_tracer(on, load)
    theirs, ours = nearest(on, load, all_of_theirs[:LATEST], seen)
    own = own_ns(ours, seen)
    print(f"\n{kernel} {load}: {ours.latency_ns} ns, by the tracer {theirs.whole_ns} ns")
    for name in {*own, *theirs.own_ns} - TRACERS_OWN:
        one, other = own[name] / ours.latency_ns, theirs.own_ns.get(name, 0) / theirs.whole_ns
        if max(one, other) > LARGE / 2:
            print(f"    {name:40} {one:6.1%} {other:6.1%}")
        assert (one > LARGE) is (other > LARGE) or abs(one - other) < MARGIN, name
