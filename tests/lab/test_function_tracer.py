"""`lab why` and the kernel's own tracer of functions name the same functions.

The tracer makes a guest some thirty times slower, so it cannot see the sample itself. The worst sample of a cell with the
tracer is put beside the one of the same cell without it that is nearest: the same function was executed when the release
came, and the latency is that of the other without what the tracer took.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from howlate.analysis.lateness import Lateness, explain
from howlate.lab.bench import Bench
from howlate.lab.label import Label
from howlate.lab.replay import RecordedCell, replay, symbols_of
from howlate.model.activation import Activation, Activations
from howlate.store.activations import streamed_activations
from lab.function_graph import UNKNOWN, Traced, traced
from lab.guests import LIMITS, RT, STANDARD, bench, cell

TRACER = "/bin/function_graph"
COMPILERS = {"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc"}
LARGE = 0.05
CANDIDATES = 12
ALLOC = "memory-alloc:100,size=4MiB"
QUICK = (RT, ALLOC)
CASES = [
    pytest.param(kernel, load, id=f"{kernel}-{load}", marks=[pytest.mark.sweep] * ((kernel, load) != QUICK))
    for kernel, load in (
        (STANDARD, ALLOC),
        ("6.1[preempt=voluntary]", ALLOC),
        ("6.1[preempt=full]", ALLOC),
        (STANDARD, "memory-fault:100"),
        ("6.1[preempt=full]", "hackbench:1"),
        (RT, ALLOC),
        (RT, "hackbench:1"),
        ("6.1@arm64", ALLOC),
        ("6.1-rt@arm64", ALLOC),
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


def with_tracer(on: Bench, load: str, *more: str) -> tuple[Activations, dict[str, bytes]]:
    before = [*on.lines_for([load]), [TRACER, "on"]]
    lines = on.run([*before, cell(1000, *options(load), *more), [TRACER, "save"]], LIMITS)
    assert lines[-1].status == "0", lines[-1].stderr.decode()
    return streamed_activations(lines[-2].files["stream"]), dict(lines[-1].files)


def worst_traced(on: Bench, load: str) -> tuple[Traced, frozenset[str]]:
    """The worst sample of a cell with the tracer, and which functions the tracer sees."""
    limit_ns = with_tracer(on, load)[0].worst(1)[0].latency_ns
    latency_ns = 0
    while latency_ns < limit_ns:  # with a threshold it is another cell
        limit_ns = limit_ns * 3 // 4
        found, files = with_tracer(on, load, f"--threshold={limit_ns}ns", "--break-trace")
        latency_ns = max(found.each, key=lambda each: each.release).latency_ns
    seen = frozenset(line.split()[0] for line in files["functions"].decode().splitlines())
    return traced(files, symbols_of(on, on.lines_for([load])), latency_ns), seen


def visible(stack: tuple[str, ...], seen: frozenset[str]) -> str:
    """The innermost function that the tracer sees: to it the tracer counts the others' time."""
    return next((name for name in reversed(stack) if name.partition(" [")[0] in seen), UNKNOWN)


def nearest(on: Bench, load: str, to: Traced, seen: frozenset[str]) -> Lateness:
    before, line = on.lines_for([load]), cell(1000, *options(load))
    activations = streamed_activations(on.run([*before, line], LIMITS)[-1].files["stream"])

    def away(each: Activation) -> int:
        return abs(each.latency_ns - to.whole_ns)

    wanted = sorted(activations.each, key=away)[:CANDIDATES]
    done = replay(on, RecordedCell("cell", before, line, activations), wanted, LIMITS)
    found = [
        explain(each.execution, each.release_ns, each.activation.latency_ns, each.stamp) for each in done
    ]
    place = to.at_release[-1]
    return next((each for each in found if visible(each.spans[0][2], seen) == place), found[0])


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "load"), CASES)
def test_the_functions_above_5_percent_are_those_of_the_kernels_tracer(
    tmp_path: Path, booted: Path, kernel: str, load: str
) -> None:
    on = equipped(tmp_path, kernel, booted)
    theirs, seen = worst_traced(on, load)
    ours = nearest(on, load, theirs, seen)
    own: Counter[str] = Counter()
    for stack, ns in ours.stacks:
        own[visible(stack, seen)] += ns
    shares = {
        name: (own[name] / ours.latency_ns, theirs.own_ns.get(name, 0) / theirs.whole_ns)
        for name in {*own, *theirs.own_ns}
    }
    print(
        f"\n{kernel} {load}: {ours.latency_ns} ns, {theirs.whole_ns} ns by the tracer, at {theirs.at_release}, {ours.spans[0][2]}"
    )
    for name, (one, other) in sorted(shares.items(), key=lambda each: -max(each[1])):
        if max(one, other) > 0.02:
            print(f"    {name:40} {100 * one:6.1f} {100 * other:6.1f}")
    assert {name for name, (one, _) in shares.items() if one > LARGE} == {
        name for name, (_, other) in shares.items() if other > LARGE
    }
