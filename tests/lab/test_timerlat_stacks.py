"""`--explain-stacks` and the kernel's own timerlat tracer, which takes a stack at its own timer's interrupt, name
the same function and the same callers for delays that are made in a known function."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from howlate.model.cause import Cause
from howlate.store.ingest import ingest
from howlate.store.run_folder import STREAM, CellFiles
from howlate.store.trace import trace_of
from howlate.why.case_events import MachineFacts, chain_of
from howlate.why.causes import explain_cases
from lab.equipped import modules_for
from lab.guests import LIMITS, RT, bench, cell
from lacks import KERNEL, skip

TRACER = "/bin/timerlat_stacks"
DELAYED = (
    *("--dither", "--seed=14", "--late-policy=backlog", "--inject=irqs-off", "--inject-size=200us-300us"),
    *("--inject-every=2", "--inject-seed=5", "--explain", "--explain-stacks", "--explain-above=100us"),
)
FACTS = MachineFacts(is_virtual_time=True, preemption="rt")
MAKER = "maker_thread"
"""The function of the module howlate_inject in which interrupts are off."""

Chain = tuple[str, ...]


def compiled(folder: Path) -> bytes:
    source, program = Path(__file__).with_name("timerlat_stacks.c"), folder / "timerlat_stacks"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-static", "-o", str(program), str(source)], check=True)
    return program.read_bytes()


def named_by_timerlat(text: str) -> Iterator[Chain]:
    """Of each stack in the tracer's text, what it interrupted and its callers."""
    frames: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith(" => "):
            name = line.removeprefix(" => ").split()[0].partition("+")[0]
            frames += [name] if name != "0" else []  # the tracer copies more than the stack has
        elif frames:
            yield chain_of(frames)
            frames = []


def named_by_us(folder: Path, stream: bytes) -> Iterator[Chain]:
    """Of each case, the longest part in which interrupts were off."""
    folder.mkdir()
    (folder / STREAM).write_bytes(stream)
    ingest(folder / STREAM, folder)
    trace = trace_of(CellFiles(folder, {}))
    assert trace is not None
    for case in explain_cases(trace, FACTS):
        parts = [part for part in case.parts if part.cause is Cause.IRQ_LATE]
        if parts:
            longest = max(parts, key=lambda part: part.ns)
            yield (longest.function, *longest.callers)


@pytest.mark.long
@pytest.mark.parametrize("kernel", [RT, pytest.param("6.12-rt", marks=pytest.mark.sweep)])
def test_timerlat_names_the_function_and_the_callers_that_the_stacks_name(
    tmp_path: Path, booted: Path, kernel: str
) -> None:
    modules = modules_for(kernel)
    if modules.absent:
        skip(modules.absent[0], KERNEL)
    extra = {**modules.files, TRACER.lstrip("/"): compiled(tmp_path)}
    on = bench(tmp_path / "guest", kernel, extra, snapshots=booted)
    load = ["module", "howlate_inject", "accept_delays=1"]
    lines = on.run([load, [TRACER, "on"], cell(200, *DELAYED), [TRACER, "save"]], LIMITS)
    assert [line.status for line in lines] == ["0"] * 4, [line.stderr for line in lines]
    theirs = Counter(named_by_timerlat(lines[-1].files["trace"].decode()))
    ours = Counter(named_by_us(tmp_path / "cell", lines[-2].files["stream"]))
    print(f"timerlat {theirs}\nhowlate {ours}")
    by_maker = [Counter({chain: n for chain, n in each.items() if MAKER in chain}) for each in (ours, theirs)]
    assert all(sum(each.values()) >= 10 for each in by_maker)
    assert by_maker[0].most_common(1)[0][0] == by_maker[1].most_common(1)[0][0]
    assert set(by_maker[0]) <= set(by_maker[1])
